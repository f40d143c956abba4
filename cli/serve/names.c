/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/names.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void add(struct names *names, const char *data, size_t len)
{
    names->texts[names->n++] = (struct unseen_bytes){data, len};
}

/* ---- Domains and addresses ------------------------------------------------------------------- */

/* A copy in small letters, without the dot that may end the name of a domain. */
static struct unseen_bytes lower(struct names *names, struct unseen_bytes text)
{
    char *to = names->room + names->used;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        to[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    const size_t len = text.len - (text.len > 1 && text.data[text.len - 1] == '.');
    names->used += text.len;
    return (struct unseen_bytes){to, len};
}

/* The domain and those above it. From the end, so that of a name with more labels than any domain
 * has, those are left out that nobody lists. */
static void add_domain(struct names *names, struct unseen_bytes domain)
{
    size_t ndots = 0;
    add(names, domain.data, domain.len);
    for (size_t i = domain.len; i-- > 1 && names->n < NAMES_TEXTS;) {
        if (domain.data[i] == '.' && ndots++ > 0) {
            add(names, domain.data + i + 1, domain.len - i - 1);
        }
    }
}

static bool is_name(struct unseen_bytes text)
{
    return text.len > 0 && text.len <= NAMES_LONGEST;
}

static void clear(struct names *names)
{
    names->is_url = false;
    names->n = 0;
    names->used = 0;
}

static bool names_of_domain(struct names *names, struct unseen_bytes domain)
{
    add_domain(names, lower(names, domain));
    return true;
}

bool names_of_address(struct names *names, struct unseen_bytes address)
{
    clear(names);
    if (!is_name(address)) {
        return false;
    }
    const struct unseen_bytes whole = lower(names, address);
    size_t at = whole.len;
    while (at > 0 && whole.data[at - 1] != '@') {
        at--;
    }
    add(names, whole.data, whole.len);
    if (at > 0 && at < whole.len) {
        add_domain(names, (struct unseen_bytes){whole.data + at, whole.len - at});
    }
    return true;
}

/* ---- IP addresses ---------------------------------------------------------------------------- */

/* The network of the first nbits bits as text, without a length if it is all of them. */
static void add_network(struct names *names, int family, const unsigned char *bytes, unsigned nbits)
{
    unsigned char network[16] = {0};
    char text[INET6_ADDRSTRLEN];
    const unsigned all = family == AF_INET ? 32 : 128;
    memcpy(network, bytes, nbits / 8);
    if (nbits % 8) {
        network[nbits / 8] = (unsigned char)(bytes[nbits / 8] & (0xff00 >> nbits % 8));
    }
    if (!inet_ntop(family, network, text, sizeof(text))) {
        return; /* the buffer is large enough for any */
    }
    char *to = names->room + names->used;
    const size_t cap = sizeof(names->room) - names->used;
    const int len =
        nbits == all ? snprintf(to, cap, "%s", text) : snprintf(to, cap, "%s/%u", text, nbits);
    if (len > 0 && (size_t)len < cap) {
        add(names, to, (size_t)len);
        names->used += (size_t)len;
    }
}

/* 114 texts of up to 43 bytes, at the most. */
_Static_assert(NAMES_ROOM >= (128 - 16 + 2) * (INET6_ADDRSTRLEN + 4), "room for all networks");
_Static_assert(NAMES_TEXTS >= 128 - 16 + 2, "room for all networks");

static void add_networks(struct names *names, int family, const unsigned char *bytes)
{
    const unsigned shortest = family == AF_INET ? 8 : 16;
    for (unsigned nbits = family == AF_INET ? 32 : 128; nbits >= shortest; nbits--) {
        add_network(names, family, bytes, nbits);
    }
}

static bool names_of_ip(struct names *names, struct unseen_bytes ip)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:192.0.2.7 */
    char text[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    if (ip.len >= sizeof(text) || memchr(ip.data, '\0', ip.len)) {
        return false;
    }
    memcpy(text, ip.data, ip.len);
    text[ip.len] = '\0';
    if (inet_pton(AF_INET, text, bytes) == 1) {
        add_networks(names, AF_INET, bytes);
    } else if (inet_pton(AF_INET6, text, bytes) == 1) {
        const bool is_mapped = memcmp(bytes, mapped, sizeof(mapped)) == 0;
        add_networks(names, is_mapped ? AF_INET : AF_INET6, is_mapped ? bytes + 12 : bytes);
    }
    return names->n > 0;
}

bool names_of_client(struct names *names, struct unseen_bytes ip)
{
    clear(names);
    return is_name(ip) && (names_of_ip(names, ip) || names_of_domain(names, ip));
}

/* ---- Any key --------------------------------------------------------------------------------- */

bool names_of_key(struct names *names, struct unseen_bytes key)
{
    if (key.len > 0 && memmem(key.data, key.len, "://", 3)) {
        clear(names);
        names->is_url = true;
        add(names, key.data, key.len);
        return true;
    }
    if (key.len > 0 && memchr(key.data, '@', key.len)) {
        return names_of_address(names, key);
    }
    return names_of_client(names, key);
}
