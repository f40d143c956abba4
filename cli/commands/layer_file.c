/* SPDX-License-Identifier: MIT */
#include "commands/layer_file.h"

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
static size_t head_len(const struct layer_file *l)
{
    switch (l->format) {
    case LAYER_GUAVA:
        return GUAVA_HEAD;
    case LAYER_DCSO:
        return DCSO_HEAD;
    case LAYER_REDISBLOOM:
        return l->nlinks_wanted == 0 ? REDISBLOOM_HEAD : REDISBLOOM_LINK;
    }
    return 0;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

static enum layer_result make(struct layer_file *l, enum unseen_layer_scheme scheme,
                              const struct unseen_layer_link *links, size_t nlinks, uint64_t nkeys,
                              const char **why_out)
{
    const struct unseen_layer_options options = {.size = sizeof(options),
                                                 .scheme = scheme,
                                                 .text = l->text,
                                                 .links = links,
                                                 .nlinks = nlinks,
                                                 .nkeys = nkeys};
    switch (unseen_layer_create(&l->layer, &options, NULL)) {
    case UNSEEN_OK:
        for (size_t i = 0; i < nlinks; i++) { /* at most 2^48 bits each */
            l->nleft += (links[i].nbits + 63) / 64 * WORD;
        }
        return LAYER_TAKEN;
    case UNSEEN_ERR_NOMEM:
        return LAYER_NOMEM;
    default:
        *why_out = "its number of bits or of hashes cannot be";
        return LAYER_WRONG;
    }
}

static enum layer_result guava_head(struct layer_file *l, const uint8_t *p, const char **why_out)
{
    const uint64_t nlongs =
        (uint64_t)p[2] << 24 | (uint64_t)p[3] << 16 | (uint64_t)p[4] << 8 | p[5];
    const struct unseen_layer_link link = {.nbits = 64 * nlongs, .hashes = p[1]};
    if (p[0] > 1) {
        *why_out = "it does not begin with a strategy of Guava";
        return LAYER_WRONG;
    }
    return make(l, p[0] ? UNSEEN_LAYER_GUAVA_64 : UNSEEN_LAYER_GUAVA_32, &link, 1, 0, why_out);
}

static enum layer_result dcso_head(struct layer_file *l, const uint8_t *p, const char **why_out)
{
    const uint64_t hashes = little(p + 24);
    const struct unseen_layer_link link = {.nbits = little(p + 32),
                                           .hashes = hashes < 256 ? (unsigned)hashes : 0};
    if (little(p) != 1) {
        *why_out = "it does not begin with version 1 of DCSO's format";
        return LAYER_WRONG;
    }
    return make(l, UNSEEN_LAYER_DCSO, &link, 1, little(p + 40), why_out);
}

/* The numbers of links and of keys, and the options. */
static enum layer_result redisbloom_head(struct layer_file *l, const uint8_t *p,
                                         const char **why_out)
{
    l->nkeys = little(p);
    l->nlinks_wanted = (size_t)little_of(p + 8, 4);
    if (l->nlinks_wanted < 1 || l->nlinks_wanted > UNSEEN_LAYER_LINKS_MAX) {
        *why_out = "its number of links cannot be";
        return LAYER_WRONG;
    }
    if (!(little_of(p + 12, 4) & REDISBLOOM_FORCE64)) {
        *why_out = "its hashes have 32 bits, as in filters of the first versions of RedisBloom";
        return LAYER_WRONG;
    }
    return LAYER_TAKEN;
}

/* The number of bits is said three times, and has to be the same. */
static enum layer_result redisbloom_link(struct layer_file *l, const uint8_t *p,
                                         const char **why_out)
{
    const uint64_t nbits = little(p + 8);
    const unsigned power = p[52];
    const uint64_t hashes = little_of(p + 40, 4);
    l->links[l->nlinks++] =
        (struct unseen_layer_link){.nbits = nbits, .hashes = hashes < 256 ? (unsigned)hashes : 0};
    if (nbits > UINT64_C(1) << 48 || little(p) != (nbits + 63) / 64 * WORD ||
        (power > 0 && (power > 48 || nbits != UINT64_C(1) << power))) {
        *why_out = "its numbers of bits and of bytes do not fit";
        return LAYER_WRONG;
    }
    return l->nlinks < l->nlinks_wanted
               ? LAYER_TAKEN
               : make(l, UNSEEN_LAYER_MURMUR64A, l->links, l->nlinks, l->nkeys, why_out);
}

static enum layer_result take_head(struct layer_file *l, const uint8_t *p, const char **why_out)
{
    switch (l->format) {
    case LAYER_GUAVA:
        return guava_head(l, p, why_out);
    case LAYER_DCSO:
        return dcso_head(l, p, why_out);
    case LAYER_REDISBLOOM:
        return (l->nlinks_wanted == 0 ? redisbloom_head : redisbloom_link)(l, p, why_out);
    }
    return LAYER_WRONG;
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static enum layer_result layer_file_append(struct layer_file *l, const uint8_t *p, size_t len,
                                           const char **why_out)
{
    switch (unseen_layer_append(l->layer, p, len, &l->complete)) {
    case UNSEEN_OK:
        return LAYER_TAKEN;
    case UNSEEN_ERR_NOMEM:
        return LAYER_NOMEM;
    default:
        *why_out = "a bit is set behind its last bit";
        return LAYER_WRONG;
    }
}

/* Takes whole words: Guava's have their bytes in the other order. */
static enum layer_result take_words(struct layer_file *l, const uint8_t *p, size_t len,
                                    const char **why_out)
{
    uint8_t turned[4096];
    l->nleft -= len;
    if (l->format != LAYER_GUAVA) {
        return layer_file_append(l, p, len, why_out);
    }
    enum layer_result result = LAYER_TAKEN;
    while (len > 0 && result == LAYER_TAKEN) {
        const size_t n = len < sizeof(turned) ? len : sizeof(turned);
        for (size_t i = 0; i < n; i++) {
            turned[i] = p[i / WORD * WORD + (WORD - 1 - i % WORD)];
        }
        result = layer_file_append(l, turned, n, why_out);
        p += n;
        len -= n;
    }
    return result;
}

static enum layer_result take_rest(struct layer_file *l, size_t len, const char **why_out)
{
    if (l->format != LAYER_DCSO) {
        *why_out = "it goes on behind its bits";
        return LAYER_WRONG;
    }
    l->nattached += len;
    return LAYER_TAKEN;
}

/* Fills part up to `wanted` bytes; returns how many bytes it took. */
static size_t layer_file_fill(struct layer_file *l, const uint8_t *p, size_t len, size_t wanted)
{
    const size_t n = len < wanted - l->nparts ? len : wanted - l->nparts;
    memcpy(l->part + l->nparts, p, n);
    l->nparts += n;
    return n;
}

/* Takes bytes of the head, of a word, or of many words. Sets *used. */
static enum layer_result step(struct layer_file *l, const uint8_t *p, size_t len, size_t *used,
                              const char **why_out)
{
    const size_t wanted = l->layer ? WORD : head_len(l);
    if (l->complete) {
        *used = len;
        return take_rest(l, len, why_out);
    }
    if (!l->layer || l->nparts > 0 || len < WORD) {
        *used = layer_file_fill(l, p, len, wanted);
        if (l->nparts < wanted) {
            return LAYER_TAKEN;
        }
        l->nparts = 0;
        if (l->layer) {
            return take_words(l, l->part, WORD, why_out);
        }
        return take_head(l, l->part, why_out);
    }
    *used = l->nleft < len ? (size_t)l->nleft : len / WORD * WORD;
    return take_words(l, p, *used, why_out);
}

enum layer_result layer_file_push(struct layer_file *l, const void *data, size_t len,
                                  const char **why_out)
{
    const uint8_t *p = data;
    enum layer_result result = LAYER_TAKEN;
    while (len > 0 && result == LAYER_TAKEN) {
        size_t used = 0;
        result = step(l, p, len, &used, why_out);
        p += used;
        len -= used;
    }
    return result;
}

enum layer_result layer_file_end(const struct layer_file *l, const char **why_out)
{
    *why_out = "it ends too early";
    return l->complete ? LAYER_TAKEN : LAYER_WRONG;
}
