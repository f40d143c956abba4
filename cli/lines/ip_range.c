/* SPDX-License-Identifier: MIT */
#include "lines/ip_range.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "lines/words.h"

enum {
    BYTES_MAX = sizeof(struct in6_addr)
};

struct range {
    int family;
    unsigned nbytes; /* of an address */
    unsigned char first[BYTES_MAX];
    unsigned char last[BYTES_MAX];
};

static bool read_address(struct unseen_bytes in, int family, unsigned char *address)
{
    char text[INET6_ADDRSTRLEN];
    in = without_last_blanks(skip_blanks(in));
    if (in.len >= sizeof(text)) {
        return false;
    }
    memcpy(text, in.data, in.len);
    text[in.len] = '\0';
    return inet_pton(family, text, address) == 1;
}

static bool read_range(struct unseen_bytes text, struct range *r)
{
    const size_t len = length_until(text, "-");
    if (len == text.len) {
        return false;
    }
    const struct unseen_bytes first = first_of(text, len);
    r->family = length_until(first, ":") < len ? AF_INET6 : AF_INET;
    r->nbytes = r->family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
    return read_address(first, r->family, r->first) &&
           read_address(without_first(text, len + 1), r->family, r->last) &&
           memcmp(r->first, r->last, r->nbytes) <= 0;
}

static unsigned char bit_of(unsigned i)
{
    return (unsigned char)(1u << i % 8);
}

/* The byte that has bit i, counted from the lowest one of the address. */
static unsigned byte_of(const struct range *r, unsigned i)
{
    return r->nbytes - 1 - i / 8;
}

/* Stores the last address of the largest network that begins at r->first and is in the range, and
 * returns how many of its bits vary. */
static unsigned largest(const struct range *r, unsigned char *end)
{
    unsigned n = 0;
    memcpy(end, r->first, r->nbytes);
    while (n < 8 * r->nbytes && !(r->first[byte_of(r, n)] & bit_of(n))) {
        end[byte_of(r, n)] |= bit_of(n);
        if (memcmp(end, r->last, r->nbytes) > 0) {
            end[byte_of(r, n)] &= (unsigned char)~bit_of(n);
            break;
        }
        n++;
    }
    return n;
}

/* Moves to the address behind `end`. */
static void move_behind(struct range *r, const unsigned char *end)
{
    memcpy(r->first, end, r->nbytes);
    for (unsigned i = r->nbytes; i > 0 && ++r->first[i - 1] == 0; i--) {
    }
}

bool ip_range_split(struct unseen_bytes text,
                    void (*take)(void *context, struct unseen_bytes network), void *context)
{
    struct range r;
    unsigned char end[BYTES_MAX];
    char address[INET6_ADDRSTRLEN];
    char network[INET6_ADDRSTRLEN + 4];
    if (!read_range(text, &r)) {
        return false;
    }
    for (bool more = true; more; move_behind(&r, end)) {
        const unsigned nvarying = largest(&r, end);
        more = memcmp(end, r.last, r.nbytes) < 0;
        (void)inet_ntop(r.family, r.first, address, sizeof(address)); /* the room is enough */
        const int len =
            snprintf(network, sizeof(network), "%s/%u", address, 8 * r.nbytes - nvarying);
        take(context, (struct unseen_bytes){network, (size_t)len});
    }
    return true;
}
