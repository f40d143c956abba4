/* SPDX-License-Identifier: MIT */
#include "commands/layer_file.h"

#include <string.h>

enum {
    GUAVA_HEAD = 6,
    DCSO_HEAD = 48,
    WORD = 8
};

static uint64_t little(const uint8_t *p)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < WORD; i++) {
        value |= (uint64_t)p[i] << 8 * i;
    }
    return value;
}

static size_t head_len(const struct layer_file *l)
{
    return l->format == LAYER_GUAVA ? GUAVA_HEAD : DCSO_HEAD;
}

/* ---- Heads ----------------------------------------------------------------------------------- */

static enum layer_result make(struct layer_file *l, enum unseen_layer_scheme scheme,
                              const struct unseen_layer_link *link, uint64_t nkeys,
                              const char **why_out)
{
    const struct unseen_layer_options options = {.size = sizeof(options),
                                                 .scheme = scheme,
                                                 .text = l->text,
                                                 .links = link,
                                                 .nlinks = 1,
                                                 .nkeys = nkeys};
    switch (unseen_layer_create(&l->layer, &options, NULL)) {
    case UNSEEN_OK:
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
    return make(l, p[0] ? UNSEEN_LAYER_GUAVA_64 : UNSEEN_LAYER_GUAVA_32, &link, 0, why_out);
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
    return make(l, UNSEEN_LAYER_DCSO, &link, little(p + 40), why_out);
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static enum layer_result append(struct layer_file *l, const uint8_t *p, size_t len,
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
    if (l->format == LAYER_DCSO) {
        return append(l, p, len, why_out);
    }
    enum layer_result result = LAYER_TAKEN;
    while (len > 0 && result == LAYER_TAKEN) {
        const size_t n = len < sizeof(turned) ? len : sizeof(turned);
        for (size_t i = 0; i < n; i++) {
            turned[i] = p[i / WORD * WORD + (WORD - 1 - i % WORD)];
        }
        result = append(l, turned, n, why_out);
        p += n;
        len -= n;
    }
    return result;
}

/* Bytes that the bits still lack. */
static uint64_t bytes_left(const struct layer_file *l)
{
    struct unseen_layer_info info = {.size = sizeof(info)};
    (void)unseen_layer_info(l->layer, &info); /* fails for a wrong size only */
    return (info.nbits + 63) / 64 * WORD - (l->offset - l->nparts - head_len(l));
}

static enum layer_result take_rest(struct layer_file *l, size_t len, const char **why_out)
{
    if (l->format == LAYER_GUAVA) {
        *why_out = "it goes on behind its bits";
        return LAYER_WRONG;
    }
    l->nattached += len;
    return LAYER_TAKEN;
}

/* Fills part up to `wanted` bytes; returns how many bytes it took. */
static size_t fill(struct layer_file *l, const uint8_t *p, size_t len, size_t wanted)
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
        *used = fill(l, p, len, wanted);
        l->offset += *used;
        if (l->nparts < wanted) {
            return LAYER_TAKEN;
        }
        l->nparts = 0;
        if (l->layer) {
            return take_words(l, l->part, WORD, why_out);
        }
        return (l->format == LAYER_GUAVA ? guava_head : dcso_head)(l, l->part, why_out);
    }
    const uint64_t left = bytes_left(l);
    *used = left < len ? (size_t)left : len / WORD * WORD;
    l->offset += *used;
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
