/* SPDX-License-Identifier: MIT
 *
 * The kind "ip": an entry is an IPv4 or IPv6 address, or a network in CIDR notation, which covers
 * all addresses and networks in it. The canonical text is the first address of the network, in the
 * form of RFC 5952, and the length of the prefix unless that is all bits.
 *
 *     192.0.2.7/24        192.0.2.0/24       bits of the host are cut off
 *     192.0.2.0/255.255.255.0                the same network
 *     2001:DB8:0::7       2001:db8::7
 *     ::ffff:192.0.2.7    192.0.2.7          the same address, mapped
 *
 * A question makes the text of every network that its address is in, from the longest prefix to /0:
 * 33 of IPv4, 129 of IPv6. In entries numbers are decimal without leading zeros, because programs
 * disagree on what 010 is. A question may be written as anything that a program takes for an
 * address; with leading zeros it is asked for as both addresses that it may be:
 *
 *     0300.0.2.7, 0xC0000207, 3221225991      192.0.2.7
 *     192.000.002.010                         192.0.2.8, 192.0.2.10
 *     [2001:db8::7]:443, 2001:db8::7%eth0     2001:db8::7
 *     192.0.2.7:443, 192.0.2.7., full-width digits
 *
 * The largest networks that registries were given are /8 and /16. Larger ones are refused unless
 * the user insists: one wrong digit, /2 for /24, makes such a network. So are those that all of
 * IPv4 is in, mapped: they do not cover it, because questions about it are questions about IPv4. */
#include "kind/kind.h"

#include <stdint.h>
#include <string.h>

#include "url/ascii.h"
#include "url/host.h"
#include "url/percent.h"

enum {
    PIECES = 8, /* of 16 bits */
    V4_BITS = 32,
    V6_BITS = 128,
    V4_SHORTEST = 8, /* the shortest prefix that is not dangerous */
    V6_SHORTEST = 16,
    V4_TEXT = 15 + 3, /* 255.255.255.255 and /32 */
    V6_TEXT = 39 + 4,
    V4_MAPPED = 96 /* the length of ::ffff:0:0/96 */
};

/* An IPv4 address is in the last two pieces. */
struct network {
    uint16_t pieces[PIECES];
    unsigned nbits;
    bool v4;
};

/* ---- Reading --------------------------------------------------------------------------------- */

static bool read_length(struct unseen_bytes in, unsigned *nbits_out)
{
    return in.len > 0 && !(in.len > 1 && in.data[0] == '0') &&
           ascii_read_number(in.data, in.len, V6_BITS, nbits_out);
}

static struct network network_v4(uint32_t address)
{
    struct network network = {.nbits = V4_BITS, .v4 = true};
    network.pieces[PIECES - 2] = (uint16_t)(address >> 16);
    network.pieces[PIECES - 1] = (uint16_t)address;
    return network;
}

static bool read_address(struct unseen_bytes in, struct network *network)
{
    uint32_t address;
    network->v4 = !has_byte(in, ':');
    if (!network->v4) {
        return unseen__ipv6_parse(in.data, in.len, network->pieces);
    }
    if (!unseen__ipv4_parse_strict(in.data, in.len, &address)) {
        return false;
    }
    *network = network_v4(address);
    return true;
}

static bool is_mapped(const struct network *network)
{
    static const uint16_t mapped[V4_MAPPED / 16] = {[5] = 0xffff};
    return !network->v4 && network->nbits >= V4_MAPPED &&
           memcmp(network->pieces, mapped, sizeof(mapped)) == 0;
}

/* Clears the bits behind the first nbits. */
static void mask(uint16_t *pieces, size_t npieces, unsigned nbits)
{
    for (size_t i = 0; i < npieces; i++) {
        const unsigned nkept = nbits < 16 ? nbits : 16;
        pieces[i] &= (uint16_t)(0xffff0000u >> nkept);
        nbits -= nkept;
    }
}

static uint16_t *pieces_of(struct network *network)
{
    return network->pieces + (network->v4 ? PIECES - 2 : 0);
}

static size_t npieces_of(const struct network *network)
{
    return network->v4 ? 2 : PIECES;
}

/* Is ::ffff:0:0/96 in the network? */
static bool holds_mapped(const struct network *network)
{
    uint16_t mapped[PIECES] = {[5] = 0xffff};
    mask(mapped, PIECES, network->nbits);
    return !network->v4 && memcmp(network->pieces, mapped, sizeof(mapped)) == 0;
}

/* Reads a netmask, such as 255.255.255.0, for the length of the prefix. */
static bool read_netmask(struct unseen_bytes in, bool v4, unsigned *nbits_out)
{
    struct network ones = {.nbits = 0};
    unsigned n = 0;
    if (!read_address(in, &ones) || ones.v4 != v4) {
        return false;
    }
    const uint16_t *const pieces = pieces_of(&ones);
    while (n < 16 * npieces_of(&ones) && (pieces[n / 16] << n % 16 & 0x8000)) {
        n++;
    }
    struct network prefix = ones;
    mask(pieces_of(&prefix), npieces_of(&prefix), n);
    *nbits_out = n;
    return memcmp(prefix.pieces, ones.pieces, sizeof(ones.pieces)) == 0;
}

static bool read_network(struct unseen_bytes in, struct network *network)
{
    in = without_blanks(in);
    const char *const slash = memchr(in.data, '/', in.len);
    const struct unseen_bytes address = {in.data, slash ? (size_t)(slash - in.data) : in.len};
    *network = (struct network){.nbits = 0};
    if (!read_address(address, network)) {
        return false;
    }
    const unsigned all = network->v4 ? V4_BITS : V6_BITS;
    network->nbits = all;
    if (slash) {
        const struct unseen_bytes length = without_first(in, address.len + 1);
        if ((!read_length(length, &network->nbits) &&
             !read_netmask(length, network->v4, &network->nbits)) ||
            network->nbits > all) {
            return false;
        }
    }
    if (is_mapped(network)) {
        network->v4 = true;
        network->nbits -= V4_MAPPED;
    }
    mask(pieces_of(network), npieces_of(network), network->nbits);
    return true;
}

/* ---- Reading questions ----------------------------------------------------------------------- */

enum {
    QUESTION_LONGEST = 200, /* without surplus zeros, with a port or a zone, in any script */
    READINGS_MAX = 2
};

/* Drops the brackets of an IPv6 address and a port. */
static struct unseen_bytes without_port(struct unseen_bytes in)
{
    const bool bracketed = in.len > 0 && in.data[0] == '[';
    const char *const end = in.len > 0 ? memchr(in.data, bracketed ? ']' : ':', in.len) : NULL;
    if (!end) {
        return in;
    }
    const struct unseen_bytes address = {in.data + bracketed, (size_t)(end - in.data) - bracketed};
    const struct unseen_bytes rest = without_first(in, (size_t)(end - in.data) + bracketed);
    const bool is_port =
        rest.len > 1 && rest.data[0] == ':' && is_ascii_digits(rest.data + 1, rest.len - 1);
    if (bracketed) {
        return is_port || rest.len == 0 ? address : in;
    }
    return is_port && has_byte(address, '.') ? address : in;
}

/* Drops the zone of an IPv6 address. */
static struct unseen_bytes without_zone(struct unseen_bytes in)
{
    const char *const zone = in.len > 0 ? memchr(in.data, '%', in.len) : NULL;
    return zone ? (struct unseen_bytes){in.data, (size_t)(zone - in.data)} : in;
}

/* Copies a question without the zeros that say nothing more: those behind a 0 or 0x that begins a
 * number. Any number of them must not make it too long to be read. Returns false if it is. */
static bool copy_short(struct unseen_bytes in, char out[QUESTION_LONGEST], size_t *len_out)
{
    size_t n = 0;
    size_t start = 0; /* of the number, in out */
    for (size_t i = 0; i < in.len; i++) {
        const char c = in.data[i];
        const char next = i + 1 < in.len ? in.data[i + 1] : '.';
        const bool has_zero = n > start && out[start] == '0';
        const bool is_octal = has_zero && n == start + 1 && is_ascii_digit(next);
        const bool is_hex = has_zero && n == start + 2 && ascii_lower(out[start + 1]) == 'x' &&
                            unseen__hex_value(next) >= 0;
        if (c == '0' && (is_octal || is_hex)) {
            continue;
        }
        if (n == QUESTION_LONGEST) {
            return false;
        }
        out[n++] = c;
        start = c == '.' || c == ':' ? n : start;
    }
    *len_out = n;
    return true;
}

/* Reads a.b.c.d of decimal numbers with any number of leading zeros. */
static bool read_padded(struct unseen_bytes in, uint32_t *address_out)
{
    char text[QUESTION_LONGEST];
    size_t n = 0;
    for (size_t i = 0; i < in.len; i++) {
        const bool starts = n == 0 || text[n - 1] == '.';
        const bool more = i + 1 < in.len && is_ascii_digit(in.data[i + 1]);
        if (!(in.data[i] == '0' && starts && more)) {
            text[n++] = in.data[i];
        }
    }
    return unseen__ipv4_parse_strict(text, n, address_out);
}

/* Stores the addresses that a question may mean, and returns their number. */
static size_t read_question(struct unseen_bytes in, struct network networks[READINGS_MAX])
{
    char copy[QUESTION_LONGEST];
    char text[QUESTION_LONGEST];
    size_t n = 0;
    size_t len;
    uint32_t address;
    if (read_network(in, &networks[0])) {
        return 1;
    }
    if (!copy_short(without_blanks(in), copy, &len) ||
        !unseen__idna_to_ascii(copy, len, text, sizeof(text), &len)) {
        return 0;
    }
    in = without_port((struct unseen_bytes){text, len});
    if (has_byte(in, ':')) {
        return read_network(without_zone(in), &networks[0]);
    }
    if (unseen__ipv4_parse(in.data, in.len, &address)) {
        networks[n++] = network_v4(address);
    }
    if (read_padded(in, &address)) {
        networks[n++] = network_v4(address);
    }
    return n;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static char *write_length(unsigned nbits, char *out)
{
    *out++ = '/';
    if (nbits >= 100) {
        *out++ = '1';
    }
    if (nbits >= 10) {
        *out++ = (char)('0' + nbits / 10 % 10);
    }
    *out++ = (char)('0' + nbits % 10);
    return out;
}

static struct unseen_bytes write_network(const struct network *network, char *out)
{
    char *end = out;
    if (network->v4) {
        const uint32_t high = network->pieces[PIECES - 2];
        end += unseen__ipv4_write(high << 16 | network->pieces[PIECES - 1], out);
    } else {
        end += unseen__ipv6_write(network->pieces, out);
    }
    if (network->nbits < (network->v4 ? V4_BITS : V6_BITS)) {
        end = write_length(network->nbits, end);
    }
    return (struct unseen_bytes){out, (size_t)(end - out)};
}

/* ---- The kind -------------------------------------------------------------------------------- */

static enum unseen_status ip_entry(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                                   size_t cap, struct unseen_bytes *entry_out,
                                   enum unseen_entry *fitness_out)
{
    (void)url;
    struct network network;
    if (!read_network(in, &network)) {
        return refuse_entry(UNSEEN_ENTRY_INVALID, entry_out, fitness_out);
    }
    if (cap < V6_TEXT) {
        return UNSEEN_ERR_SPACE;
    }
    const unsigned shortest = network.v4 ? V4_SHORTEST : V6_SHORTEST;
    *entry_out = write_network(&network, buf);
    const bool is_dangerous = network.nbits < shortest || holds_mapped(&network);
    *fitness_out = is_dangerous ? UNSEEN_ENTRY_DANGEROUS : UNSEEN_ENTRY_FINE;
    return UNSEEN_OK;
}

/* Adds the texts of all networks that the given one is in, from itself to /0. Those that `other` is
 * in, too, unless that is NULL, are the last ones already: they are of both readings. Returns the
 * end of the bytes. */
static char *add_networks(struct network network, const struct network *other, char *buf,
                          struct unseen_bytes *texts, uint16_t *readings, size_t *n)
{
    const size_t nbefore = *n;
    for (;; network.nbits--) {
        mask(pieces_of(&network), npieces_of(&network), network.nbits);
        if (other) {
            struct network above = *other;
            mask(pieces_of(&above), npieces_of(&above), network.nbits);
            if (memcmp(above.pieces, network.pieces, sizeof(above.pieces)) == 0) {
                for (size_t i = nbefore - 1 - network.nbits; i < nbefore; i++) {
                    readings[i] = 3;
                }
                return buf;
            }
        }
        texts[*n] = write_network(&network, buf);
        readings[*n] = other ? 2 : 1;
        buf += texts[(*n)++].len;
        if (network.nbits == 0) {
            return buf;
        }
    }
}

static enum unseen_status ip_texts(const struct unseen_url *url, struct unseen_bytes in, char *buf,
                                   size_t cap, struct unseen_bytes *texts_out,
                                   uint16_t *readings_out, size_t *n_out)
{
    (void)url;
    struct network networks[READINGS_MAX];
    const size_t nreadings = read_question(in, networks);
    size_t need = 0;
    size_t n = 0;
    for (size_t i = 0; i < nreadings; i++) {
        need += (networks[i].nbits + 1) * (size_t)(networks[i].v4 ? V4_TEXT : V6_TEXT);
    }
    if (cap < need) {
        return UNSEEN_ERR_SPACE;
    }
    for (size_t i = 0; i < nreadings; i++) {
        buf = add_networks(networks[i], i > 0 ? &networks[0] : NULL, buf, texts_out, readings_out,
                           &n);
    }
    *n_out = n;
    return UNSEEN_OK;
}

const struct unseen__kind unseen__kind_ip = {
    .name = "ip",
    .id = "ip/1",
    .texts_max = V6_BITS + 1,
    .bound_factor = 0,
    .bound_extra = (V6_BITS + 1) * V6_TEXT,
    .invalid = "is not an IP address or a network",
    .dangerous = "is a network so large that it is most likely a mistake",
    .entry = ip_entry,
    .texts = ip_texts,
};
