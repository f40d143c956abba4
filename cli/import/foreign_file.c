/* SPDX-License-Identifier: MIT */
#include "import/foreign_file.h"

#include <string.h>

enum {
    GUAVA_HEAD = 6,
    DCSO_HEAD = 48,
    REDISBLOOM_HEAD = 20,
    REDISBLOOM_LINK = 53,
    REDISBLOOM_FORCE64 = 4, /* an option: the hashes have 64 bits */
    WORD = 8
};

static uint64_t little_of(const uint8_t *p, unsigned nbytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < nbytes; i++) {
        value |= (uint64_t)p[i] << 8 * i;
    }
    return value;
}

static uint64_t little(const uint8_t *p)
{
    return little_of(p, WORD);
}

/* The next part of the head. */
static size_t head_len(const struct foreign_file *l)
{
    switch (l->format) {
    case FOREIGN_GUAVA:
        return GUAVA_HEAD;
    case FOREIGN_DCSO:
        return DCSO_HEAD;
    case FOREIGN_REDISBLOOM:
        return l->nlinks_wanted == 0 ? REDISBLOOM_HEAD : REDISBLOOM_LINK;
    }
    return 0;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

static enum foreign_result make(struct foreign_file *l, enum unseen_foreign_scheme scheme,
                                const struct unseen_foreign_link *links, size_t nlinks,
                                uint64_t nkeys, const char **why_out)
{
    const struct unseen_foreign_options options = {.size = sizeof(options),
                                                   .scheme = scheme,
                                                   .text = l->text,
                                                   .links = links,
                                                   .nlinks = nlinks,
                                                   .nkeys = nkeys};
    switch (unseen_foreign_create(&l->filter, &options, NULL)) {
    case UNSEEN_OK:
        for (size_t i = 0; i < nlinks; i++) { /* at most 2^48 bits each */
            l->nleft += (links[i].nbits + 63) / 64 * WORD;
        }
        return FOREIGN_TAKEN;
    case UNSEEN_ERR_NOMEM:
        return FOREIGN_NOMEM;
    default:
        *why_out = "its number of bits or of hashes cannot be";
        return FOREIGN_WRONG;
    }
}

static enum foreign_result guava_head(struct foreign_file *l, const uint8_t *p,
                                      const char **why_out)
{
    const uint64_t nlongs =
        (uint64_t)p[2] << 24 | (uint64_t)p[3] << 16 | (uint64_t)p[4] << 8 | p[5];
    const struct unseen_foreign_link link = {.nbits = 64 * nlongs, .hashes = p[1]};
    if (p[0] > 1) {
        *why_out = "it does not begin with a strategy of Guava";
        return FOREIGN_WRONG;
    }
    return make(l, p[0] ? UNSEEN_FOREIGN_GUAVA_64 : UNSEEN_FOREIGN_GUAVA_32, &link, 1, 0, why_out);
}

static enum foreign_result dcso_head(struct foreign_file *l, const uint8_t *p, const char **why_out)
{
    const uint64_t hashes = little(p + 24);
    const struct unseen_foreign_link link = {.nbits = little(p + 32),
                                             .hashes = hashes < 256 ? (unsigned)hashes : 0};
    if (little(p) != 1) {
        *why_out = "it does not begin with version 1 of DCSO's format";
        return FOREIGN_WRONG;
    }
    return make(l, UNSEEN_FOREIGN_DCSO, &link, 1, little(p + 40), why_out);
}

/* The numbers of links and of keys, and the options. */
static enum foreign_result redisbloom_head(struct foreign_file *l, const uint8_t *p,
                                           const char **why_out)
{
    l->nkeys = little(p);
    l->nlinks_wanted = (size_t)little_of(p + 8, 4);
    if (l->nlinks_wanted < 1 || l->nlinks_wanted > UNSEEN_FOREIGN_LINKS_MAX) {
        *why_out = "its number of links cannot be";
        return FOREIGN_WRONG;
    }
    if (!(little_of(p + 12, 4) & REDISBLOOM_FORCE64)) {
        *why_out = "its hashes have 32 bits, as in filters of the first versions of RedisBloom";
        return FOREIGN_WRONG;
    }
    return FOREIGN_TAKEN;
}

/* The number of bits is said three times, and has to be the same. */
static enum foreign_result redisbloom_link(struct foreign_file *l, const uint8_t *p,
                                           const char **why_out)
{
    const uint64_t nbits = little(p + 8);
    const unsigned power = p[52];
    const uint64_t hashes = little_of(p + 40, 4);
    l->links[l->nlinks++] =
        (struct unseen_foreign_link){.nbits = nbits, .hashes = hashes < 256 ? (unsigned)hashes : 0};
    if (nbits > UINT64_C(1) << 48 || little(p) != (nbits + 63) / 64 * WORD ||
        (power > 0 && (power > 48 || nbits != UINT64_C(1) << power))) {
        *why_out = "its numbers of bits and of bytes do not fit";
        return FOREIGN_WRONG;
    }
    return l->nlinks < l->nlinks_wanted
               ? FOREIGN_TAKEN
               : make(l, UNSEEN_FOREIGN_MURMUR64A, l->links, l->nlinks, l->nkeys, why_out);
}

static enum foreign_result take_head(struct foreign_file *l, const uint8_t *p, const char **why_out)
{
    switch (l->format) {
    case FOREIGN_GUAVA:
        return guava_head(l, p, why_out);
    case FOREIGN_DCSO:
        return dcso_head(l, p, why_out);
    case FOREIGN_REDISBLOOM:
        return (l->nlinks_wanted == 0 ? redisbloom_head : redisbloom_link)(l, p, why_out);
    }
    return FOREIGN_WRONG;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static enum foreign_result foreign_file_append(struct foreign_file *l, const uint8_t *p, size_t len,
                                               const char **why_out)
{
    switch (unseen_foreign_append(l->filter, p, len, &l->complete)) {
    case UNSEEN_OK:
        return FOREIGN_TAKEN;
    case UNSEEN_ERR_NOMEM:
        return FOREIGN_NOMEM;
    default:
        *why_out = "a bit is set behind its last bit";
        return FOREIGN_WRONG;
    }
}

/* Takes whole words: Guava's have their bytes in the other order. */
static enum foreign_result take_words(struct foreign_file *l, const uint8_t *p, size_t len,
                                      const char **why_out)
{
    uint8_t turned[4096];
    l->nleft -= len;
    if (l->format != FOREIGN_GUAVA) {
        return foreign_file_append(l, p, len, why_out);
    }
    enum foreign_result result = FOREIGN_TAKEN;
    while (len > 0 && result == FOREIGN_TAKEN) {
        const size_t n = len < sizeof(turned) ? len : sizeof(turned);
        for (size_t i = 0; i < n; i++) {
            turned[i] = p[i / WORD * WORD + (WORD - 1 - i % WORD)];
        }
        result = foreign_file_append(l, turned, n, why_out);
        p += n;
        len -= n;
    }
    return result;
}

static enum foreign_result take_rest(struct foreign_file *l, size_t len, const char **why_out)
{
    if (l->format != FOREIGN_DCSO) {
        *why_out = "it goes on behind its bits";
        return FOREIGN_WRONG;
    }
    l->nattached += len;
    return FOREIGN_TAKEN;
}

/* Fills part up to `wanted` bytes; returns how many bytes it took. */
static size_t foreign_file_fill(struct foreign_file *l, const uint8_t *p, size_t len, size_t wanted)
{
    const size_t n = len < wanted - l->nparts ? len : wanted - l->nparts;
    memcpy(l->part + l->nparts, p, n);
    l->nparts += n;
    return n;
}

/* Takes bytes of the head, of a word, or of many words. Sets *used. */
static enum foreign_result step(struct foreign_file *l, const uint8_t *p, size_t len, size_t *used,
                                const char **why_out)
{
    const size_t wanted = l->filter ? WORD : head_len(l);
    if (l->complete) {
        *used = len;
        return take_rest(l, len, why_out);
    }
    if (!l->filter || l->nparts > 0 || len < WORD) {
        *used = foreign_file_fill(l, p, len, wanted);
        if (l->nparts < wanted) {
            return FOREIGN_TAKEN;
        }
        l->nparts = 0;
        if (l->filter) {
            return take_words(l, l->part, WORD, why_out);
        }
        return take_head(l, l->part, why_out);
    }
    *used = l->nleft < len ? (size_t)l->nleft : len / WORD * WORD;
    return take_words(l, p, *used, why_out);
}

enum foreign_result foreign_file_push(struct foreign_file *l, const void *data, size_t len,
                                      const char **why_out)
{
    const uint8_t *p = data;
    enum foreign_result result = FOREIGN_TAKEN;
    while (len > 0 && result == FOREIGN_TAKEN) {
        size_t used = 0;
        result = step(l, p, len, &used, why_out);
        p += used;
        len -= used;
    }
    return result;
}

enum foreign_result foreign_file_end(const struct foreign_file *l, const char **why_out)
{
    *why_out = "it ends too early";
    return l->complete ? FOREIGN_TAKEN : FOREIGN_WRONG;
}
