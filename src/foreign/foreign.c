/* SPDX-License-Identifier: MIT */
#include "foreign/foreign.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"

#define NBITS_MAX  ((uint64_t)1 << 48)
#define HASHES_MAX 255u

/* ---- Making ---------------------------------------------------------------------------------- */

static bool is_known(const struct unseen_foreign_options *o)
{
    return o->scheme >= UNSEEN_FOREIGN_GUAVA_32 && o->scheme <= UNSEEN_FOREIGN_MURMUR64A &&
           (o->text == UNSEEN_FOREIGN_BYTES || o->text == UNSEEN_FOREIGN_UTF16);
}

static bool links_are_possible(const struct unseen_foreign_options *o)
{
    if (o->nlinks == 0 || o->nlinks > UNSEEN_FOREIGN_LINKS_MAX) {
        return false;
    }
    for (size_t i = 0; i < o->nlinks; i++) {
        const struct unseen_foreign_link *link = &o->links[i];
        if (link->nbits == 0 || link->nbits > NBITS_MAX || link->hashes == 0 ||
            link->hashes > HASHES_MAX) {
            return false;
        }
    }
    return true;
}

static bool put_links(struct unseen_foreign *f, const struct unseen_foreign_options *o)
{
    if (!array_resize(&f->allocator, &f->links, &f->links_cap, o->nlinks, sizeof(*f->links))) {
        return false;
    }
    for (; f->nlinks < o->nlinks; f->nlinks++) {
        const struct unseen_foreign_link *link = &o->links[f->nlinks];
        const uint64_t first = f->nbytes;
        f->nbytes += (link->nbits + 63) / 64 * 8;
        f->links[f->nlinks] = (struct foreign_link){
            .nbits = link->nbits, .first = first, .end = f->nbytes, .hashes = link->hashes};
    }
    return true;
}

enum unseen_status unseen_foreign_create(struct unseen_foreign **filter_out,
                                         const struct unseen_foreign_options *options,
                                         struct unseen_error *error)
{
    struct unseen_foreign_options o = {.size = sizeof(o)};
    const enum unseen_status status =
        unseen__sized_take(&o, sizeof(o), options, "unseen_foreign_options", error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (!is_known(&o)) {
        return unseen__error(error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
                             "the scheme or the text of a foreign filter is unknown");
    }
    if (!links_are_possible(&o)) {
        return unseen__error(
            error, UNSEEN_ERR_ARGUMENT, UNSEEN__NO_OFFSET,
            "a foreign filter has 1 to 1024 links, each of 1 to 2^48 bits and 1 to "
            "255 hashes");
    }
    const struct unseen_allocator allocator = unseen__allocator(o.allocator);
    struct unseen_foreign *f = unseen__alloc_zero(&allocator, sizeof(*f), _Alignof(max_align_t));
    if (!f) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    f->allocator = allocator;
    f->scheme = o.scheme;
    f->text = o.text;
    f->nkeys = o.nkeys;
    if (!put_links(f, &o)) {
        unseen_foreign_free(f);
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    *filter_out = f;
    return UNSEEN_OK;
}

void unseen_foreign_free(struct unseen_foreign *f)
{
    if (!f) {
        return;
    }
    const struct unseen_allocator allocator = f->allocator;
    for (size_t i = 0; i < f->npieces; i++) {
        unseen__free(&allocator, f->pieces[i], FOREIGN_PIECE);
    }
    array_free(&allocator, &f->pieces, &f->pieces_cap, sizeof(*f->pieces));
    array_free(&allocator, &f->links, &f->links_cap, sizeof(*f->links));
    unseen__free(&allocator, f, sizeof(*f));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static bool piece_grow(struct unseen_foreign *f)
{
    if (!array_grow(&f->allocator, &f->pieces, &f->pieces_cap, f->npieces + 1, 4,
                    sizeof(*f->pieces))) {
        return false;
    }
    uint8_t *piece = unseen__alloc(&f->allocator, FOREIGN_PIECE, 64);
    if (!piece) {
        return false;
    }
    f->pieces[f->npieces++] = piece;
    return true;
}

/* True if none of the len bytes, the next in the row, has a bit beyond the bits of the link. */
static bool ends_with_zeros(const struct unseen_foreign *f, const struct foreign_link *link,
                            const uint8_t *p, size_t len)
{
    const uint64_t last = link->first + link->nbits / 8; /* the byte with the first bit beyond */
    for (uint64_t at = last > f->nhere ? last - f->nhere : 0; at < len; at++) {
        const unsigned first = f->nhere + at == last ? (unsigned)(link->nbits % 8) : 0;
        if (p[at] >> first) {
            return false;
        }
    }
    return true;
}

/* Takes bytes of one link that lie in one piece; returns how many, 0 without memory. */
static size_t take(struct unseen_foreign *f, const uint8_t *p, size_t len)
{
    const struct foreign_link *link = &f->links[f->current];
    const size_t at = (size_t)(f->nhere % FOREIGN_PIECE);
    if (at == 0 && !piece_grow(f)) {
        return 0;
    }
    len = len < FOREIGN_PIECE - at ? len : FOREIGN_PIECE - at;
    len = len < link->end - f->nhere ? len : (size_t)(link->end - f->nhere);
    memcpy(f->pieces[f->npieces - 1] + at, p, len);
    return len;
}

enum unseen_status unseen_foreign_append(struct unseen_foreign *f, const void *bits, size_t len,
                                         bool *complete_out)
{
    const uint8_t *p = bits;
    if (len > f->nbytes - f->nhere) {
        return UNSEEN_ERR_CORRUPT;
    }
    while (len > 0) {
        struct foreign_link *link = &f->links[f->current];
        const size_t n = take(f, p, len);
        if (n == 0) {
            return UNSEEN_ERR_NOMEM;
        }
        if (!ends_with_zeros(f, link, p, n)) {
            return UNSEEN_ERR_CORRUPT;
        }
        link->nset += popcount_bytes(p, n);
        f->nhere += n;
        f->current += f->nhere == link->end;
        p += n;
        len -= n;
    }
    if (complete_out) {
        *complete_out = foreign_is_complete(f);
    }
    return UNSEEN_OK;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

/* Guava adds in 32 bits, from 1 on, and turns negative sums around. */
static bool guava_32_has(const struct unseen_foreign *f, const struct foreign_link *link,
                         struct foreign_hash h)
{
    uint32_t sum = (uint32_t)h.a;
    for (unsigned i = 0; i < link->hashes; i++) {
        sum += (uint32_t)(h.a >> 32);
        const uint32_t position = sum >> 31 ? ~sum : sum;
        if (!foreign_bit(f, link, position % link->nbits)) {
            return false;
        }
    }
    return true;
}

/* Adds in 64 bits; of each sum the bits of the mask count. */
static bool sums_have(const struct unseen_foreign *f, const struct foreign_link *link,
                      struct foreign_hash h, uint64_t mask)
{
    for (unsigned i = 0; i < link->hashes; i++, h.a += h.b) {
        if (!foreign_bit(f, link, (h.a & mask) % link->nbits)) {
            return false;
        }
    }
    return true;
}

/* A multiplicative generator. The product is cut to 64 bits before the remainder. */
static bool dcso_has(const struct unseen_foreign *f, const struct foreign_link *link,
                     struct foreign_hash h)
{
    const uint64_t modulus = UINT64_C(18446744073709551557);
    const uint64_t factor = UINT64_C(18446744073709550147);
    uint64_t state = h.a % modulus;
    for (unsigned i = 0; i < link->hashes; i++) {
        state = state * factor % modulus;
        if (!foreign_bit(f, link, state % link->nbits)) {
            return false;
        }
    }
    return true;
}

static bool link_has(const struct unseen_foreign *f, const struct foreign_link *link,
                     struct foreign_hash h)
{
    switch (f->scheme) {
    case UNSEEN_FOREIGN_GUAVA_32:
        return guava_32_has(f, link, h);
    case UNSEEN_FOREIGN_GUAVA_64:
        return sums_have(f, link, h, INT64_MAX);
    case UNSEEN_FOREIGN_DCSO:
        return dcso_has(f, link, h);
    case UNSEEN_FOREIGN_MURMUR64A:
        return sums_have(f, link, h, UINT64_MAX);
    }
    return false;
}

static bool has(const struct unseen_foreign *f, struct unseen_bytes item)
{
    struct foreign_hash h;
    if (!unseen__foreign_hash(f->scheme, f->text, item, &h)) {
        return false;
    }
    /* The newest link, which is the largest of a chain, first. */
    for (size_t i = f->nlinks; i > 0; i--) {
        if (link_has(f, &f->links[i - 1], h)) {
            return true;
        }
    }
    return false;
}

void unseen_foreign_contains(const struct unseen_foreign *f, const struct unseen_bytes *items,
                             size_t n, uint8_t *verdicts)
{
    const bool complete = foreign_is_complete(f);
    for (size_t i = 0; i < n; i++) {
        verdicts[i] = complete && has(f, items[i]) ? UNSEEN_SEEN : UNSEEN_NEW;
    }
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* How many keys set that share of the bits: 1 - (1 - 1/m)^(k n), about 1 - e^(-k n / m). */
static double estimate_keys(const struct foreign_link *link)
{
    const double nbits = (double)link->nbits;
    const double left = nbits - (double)link->nset;
    return left < 1 ? HUGE_VAL : -nbits / link->hashes * log(left / nbits);
}

enum unseen_status unseen_foreign_info(const struct unseen_foreign *f,
                                       struct unseen_foreign_info *info_out)
{
    struct unseen_foreign_info info = {.size = sizeof(info),
                                       .scheme = f->scheme,
                                       .text = f->text,
                                       .nlinks = f->nlinks,
                                       .nkeys = f->nkeys,
                                       .hashes = f->links[0].hashes};
    double none = 1;
    double keys = 0;
    for (size_t i = 0; i < f->nlinks; i++) {
        const struct foreign_link *link = &f->links[i];
        none *= 1 - pow((double)link->nset / (double)link->nbits, link->hashes);
        keys += estimate_keys(link);
        info.nbits += link->nbits;
        info.nset += link->nset;
    }
    info.fpr_estimate = 1 - none;
    info.nkeys_estimate = keys < 0x1p63 ? (uint64_t)(keys + 0.5) : UINT64_MAX;
    info.memory = sizeof(*f) + f->links_cap * sizeof(*f->links) +
                  f->pieces_cap * sizeof(*f->pieces) + (uint64_t)f->npieces * FOREIGN_PIECE;
    return unseen__sized_give(info_out, &info, sizeof(info));
}
