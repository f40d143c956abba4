/* SPDX-License-Identifier: MIT
 *
 * The file of keys is a row of chunks of one size. A chunk is the buffer of a part that was full;
 * the chunks of a part are linked in their order, and its last keys stay in its buffer. */
#include "seen/beyond.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lines/batch.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"

enum {
    LOOK_LINES = 4096,
    SWEEP_FROM = 3 * 4096, /* bytes of an image: a disk reads and writes so many of them in order in
                            * the time of one page that it has to look for */
    PART_BITS_MAX = 12,    /* more parts would have small buffers, and make the disk jump */
    BUFFER_MIN = 4096,
    BUFFER_MAX = 256 * 1024,
    KEY_MAX = 16,
    ANSWERS_LEN = 64 * 1024
};

#define NO_CHUNK UINT32_MAX

struct beyond_part {
    uint32_t first; /* the first chunk in the file, and the last; or NO_CHUNK */
    uint32_t last;
    uint32_t fill;   /* bytes in the buffer */
    uint64_t nkeys;  /* in all chunks and the buffer; then the answers that are left */
    uint64_t answer; /* the number of the next answer of the file */
};

/* ---- Errors ---------------------------------------------------------------------------------- */

static unsigned long long mebibytes(uint64_t bytes)
{
    return (bytes + ((1 << 20) - 1)) >> 20;
}

/* The bytes that all temporary files are likely to take; 0: not known. */
static uint64_t beyond_needs(const struct beyond *b)
{
    const double share = report_share(b->report) - b->share;
    const double lines = (double)b->nkeys / share * (1 - b->share);
    return b->share >= 0 && share > 0 ? (uint64_t)(lines * (double)b->key_len + lines / 8) : 0;
}

void beyond_report(const struct beyond *b, int code)
{
    const uint64_t needed = beyond_needs(b);
    message_error("cannot write a temporary file in %s: %s", temporary_folder(), strerror(code));
    if (needed > 0) {
        message_hint("about %llu MiB are needed, in another folder with TMPDIR=FOLDER",
                     mebibytes(needed));
    } else {
        message_hint("a line takes %zu bytes, from a pipe also its own, in another folder with "
                     "TMPDIR=FOLDER",
                     b->key_len);
    }
}

bool beyond_check(uint64_t limit)
{
    const long npages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    const uint64_t memory = npages > 0 && page > 0 ? (uint64_t)npages * (uint64_t)page : UINT64_MAX;
    if (limit > memory) {
        message_error("--memory: this machine has %llu MiB", mebibytes(memory));
        message_hint("%s", typed_with("--memory %lluM", mebibytes(memory / 2)));
        return false;
    }
    return true;
}

static bool report_little(const struct beyond *b)
{
    message_error(b->store ? "--memory is too little for a store of so many lines"
                           : "--memory is too little for the keys of so many lines");
    message_hint("%s", typed_with("--memory %lluM", mebibytes(2 * b->limit)));
    return false;
}

/* ---- First reading --------------------------------------------------------------------------- */

static uint64_t memory_of(const struct beyond *b)
{
    return stores_stats(b->set).memory;
}

static const struct unseen_store_info no_info;

bool beyond_is_reached(struct beyond *b, uint64_t nlines)
{
    if (nlines < b->next) {
        return false;
    }
    b->next = nlines + LOOK_LINES;
    /* A pipe may wait for answers: the store gives them one by one, and sweeps itself when it has
     * to. Of files, whose lines do not wait, many are better swept. */
    if (b->store && report_share(b->report) < 0) {
        return false;
    }
    const struct unseen_store_info info = b->store ? stores_info(b->store) : no_info;
    return info.in_parts ? nlines >= info.image_bytes / SWEEP_FROM : memory_of(b) >= b->limit / 2;
}

static uint8_t *buffer_of(const struct beyond *b, size_t part)
{
    return b->buffers + part * b->buffer_len;
}

static size_t part_of(const struct beyond *b, struct unseen_key key)
{
    return (size_t)(key.hi >> (64 - b->part_bits));
}

static bool make_buffers(struct beyond *b)
{
    const struct unseen_key none = {0, 0};
    uint8_t packed[KEY_MAX];
    const unsigned bits = unseen_set_part_bits(b->set);
    b->part_bits = bits < PART_BITS_MAX ? bits : PART_BITS_MAX;
    b->nparts = (size_t)1 << b->part_bits;
    b->key_len = unseen_set_pack_keys(b->set, &none, 1, packed);
    const uint64_t share = b->limit / 4 / b->nparts;
    b->buffer_len = (size_t)(share < BUFFER_MIN   ? BUFFER_MIN
                             : share > BUFFER_MAX ? BUFFER_MAX
                                                  : share);
    b->buffer_len -=
        b->buffer_len % (BUFFER_MIN / 16 * b->key_len); /* whole keys and disk blocks */
    b->buffers = malloc(b->nparts * b->buffer_len);
    b->parts = calloc(b->nparts, sizeof(*b->parts));
    for (size_t i = 0; b->parts && i < b->nparts; i++) {
        b->parts[i].first = NO_CHUNK;
    }
    return b->buffers && b->parts;
}

static bool note_chunk(struct beyond *b, struct beyond_part *part)
{
    if (b->nchunks == b->chunks_cap) {
        const size_t cap = b->chunks_cap ? 2 * b->chunks_cap : 1024;
        uint32_t *chunks = realloc(b->chunks, cap * sizeof(*chunks));
        if (!chunks) {
            return message_no_memory();
        }
        b->chunks = chunks;
        b->chunks_cap = cap;
    }
    *(part->first == NO_CHUNK ? &part->first : &b->chunks[part->last]) = b->nchunks;
    b->chunks[b->nchunks] = NO_CHUNK;
    part->last = b->nchunks++;
    return true;
}

/* Makes the full buffer of a part a chunk of the file. */
static bool write_chunk(struct beyond *b, size_t part)
{
    const int code = temporary_append(&b->keys, buffer_of(b, part), b->buffer_len);
    if (code != 0) {
        beyond_report(b, code);
        return false;
    }
    b->parts[part].fill = 0;
    return note_chunk(b, &b->parts[part]);
}

/* A hash of keys in their order. */
static uint64_t add_sum(uint64_t sum, struct unseen_key key)
{
    return (sum + key.hi) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Puts at most BATCH_LINES keys behind those of their parts. */
static bool put_keys(struct beyond *b, const struct unseen_key *keys, size_t n)
{
    uint8_t packed[BATCH_LINES * KEY_MAX];
    const size_t len = b->key_len;
    (void)unseen_set_pack_keys(b->set, keys, n, packed);
    for (size_t i = 0; i < n; i++) {
        const size_t index = part_of(b, keys[i]);
        struct beyond_part *part = &b->parts[index];
        if (part->fill == b->buffer_len && !write_chunk(b, index)) {
            return false;
        }
        memcpy(buffer_of(b, index) + part->fill, packed + i * len, len);
        part->fill += (uint32_t)len;
        part->nkeys++;
    }
    return true;
}

static enum unseen_status gather_ask(struct asked *a, struct query *q)
{
    struct beyond *b = a->beyond;
    if (!put_keys(b, q->keys, q->n)) {
        return UNSEEN_ERR_MISMATCH;
    }
    for (size_t i = 0; i < q->n; i++) {
        b->sums[0] = add_sum(b->sums[0], q->keys[i]);
    }
    b->nkeys += q->n;
    memset(q->verdicts, UNSEEN_SEEN, q->n);
    q->ndone = q->n;
    return UNSEEN_OK;
}

static const char *beyond_stats(const struct asked *a, struct unseen_set_stats *stats)
{
    return asked_set.stats(a, stats);
}

static const struct asked_ops asked_gathered = {gather_ask, beyond_stats};

static bool report_store(const struct beyond *b, const struct unseen_error *error)
{
    message_error("%s", message_of(error));
    if (error->status == UNSEEN_ERR_CORRUPT) {
        message_hint("unseen repair %s", typed_quoted(b->path));
    }
    return false;
}

bool beyond_gather(struct beyond *b, struct asked *a)
{
    const bool in_parts = b->store && stores_info(b->store).in_parts;
    /* Of a store in parts only the table is there, and the new image needs another one. */
    if (in_parts && memory_of(b) > b->limit / 8 * 3) {
        return report_little(b);
    }
    if (!make_buffers(b)) {
        return message_no_memory();
    }
    int code = temporary_open(&b->keys);
    code = code ? code : temporary_open(&b->answers);
    if (code != 0) {
        beyond_report(b, code);
        return false;
    }
    if (temporary_is_memory()) {
        message_warning("%s is memory: temporary files in it count beside --memory",
                        temporary_folder());
        message_hint("a folder on a disk: TMPDIR=FOLDER");
    }
    b->gathers = true;
    b->share = report_share(b->report);
    a->beyond = b;
    a->ops = &asked_gathered;
    return true;
}

/* ---- Between the readings -------------------------------------------------------------------- */

struct answering {
    struct beyond *b;
    uint8_t *chunk;
    uint8_t *bits; /* ANSWERS_LEN */
    size_t nbits;
};

static bool flush_bits(struct answering *w)
{
    const int code = temporary_append(&w->b->answers, w->bits, w->nbits / 8);
    if (code != 0) {
        beyond_report(w->b, code);
    }
    w->nbits = 0;
    memset(w->bits, 0, ANSWERS_LEN);
    return code == 0;
}

static bool put_answers(struct answering *w, const uint8_t *verdicts, size_t n)
{
    for (size_t i = 0; i < n && w->b->only_counts; i++) {
        w->b->nnew += verdicts[i] == UNSEEN_NEW;
    }
    if (w->b->only_counts) {
        return true;
    }
    for (size_t i = 0; i < n; i++, w->nbits++) {
        if (w->nbits == (size_t)ANSWERS_LEN * 8 && !flush_bits(w)) {
            return false;
        }
        w->bits[w->nbits / 8] |= (uint8_t)((verdicts[i] == UNSEEN_NEW) << w->nbits % 8);
    }
    return true;
}

static enum unseen_status add_keys(const struct beyond *b, const struct unseen_key *keys, size_t n,
                                   uint8_t *verdicts)
{
    return b->store ? unseen_store_add_to_part(b->store, keys, n, verdicts)
                    : unseen_set_add_keys(b->own, keys, n, verdicts, NULL);
}

static bool answer_keys(struct answering *w, const uint8_t *packed, size_t len)
{
    struct unseen_key keys[BATCH_LINES];
    uint8_t verdicts[BATCH_LINES];
    const size_t most = BATCH_LINES * w->b->key_len;
    for (size_t at = 0; at < len; at += most) {
        size_t n = 0;
        (void)unseen_set_unpack_keys(w->b->set, packed + at, len - at < most ? len - at : most,
                                     keys, BATCH_LINES, &n); /* whole keys, and there is room */
        const enum unseen_status status = add_keys(w->b, keys, n, verdicts);
        if (status != UNSEEN_OK) {
            message_error("cannot go on: %s", unseen_status_string(status));
            return false;
        }
        if (!put_answers(w, verdicts, n)) {
            return false;
        }
    }
    report_poll();
    return memory_of(w->b) <= w->b->limit / 4 * 3 || report_little(w->b);
}

static bool load_part(const struct beyond *b, size_t index)
{
    struct unseen_error error;
    return !b->store ||
           unseen_store_load_part(b->store, b->part_bits, index, &error) == UNSEEN_OK ||
           report_store(b, &error);
}

static bool drop_part(const struct beyond *b, size_t index)
{
    struct unseen_error error;
    if (!b->store) {
        return unseen_set_drop_part(b->own, b->part_bits, index) == UNSEEN_OK ||
               message_no_memory();
    }
    return unseen_store_save_part(b->store, b->part_bits, index, &error) == UNSEEN_OK ||
           report_store(b, &error);
}

static bool answer_part(struct answering *w, size_t index)
{
    struct beyond *b = w->b;
    struct beyond_part *part = &b->parts[index];
    w->nbits = (w->nbits + 7) / 8 * 8;
    part->answer = b->answers.end * 8 + w->nbits;
    if (!load_part(b, index)) {
        return false;
    }
    for (uint32_t i = part->first; i != NO_CHUNK; i = b->chunks[i]) {
        const uint64_t offset = (uint64_t)i * b->buffer_len;
        const int code = temporary_read(&b->keys, offset, w->chunk, b->buffer_len);
        if (code != 0) {
            message_error("cannot read a temporary file in %s: %s", temporary_folder(),
                          strerror(code));
            return false;
        }
        temporary_forget(&b->keys, offset, b->buffer_len);
        if (!answer_keys(w, w->chunk, b->buffer_len)) {
            return false;
        }
    }
    return answer_keys(w, buffer_of(b, index), part->fill) && drop_part(b, index);
}

static bool answer_parts(struct answering *w)
{
    bool good = true;
    for (size_t i = 0; i < w->b->nparts && good; i++) {
        good = answer_part(w, i);
    }
    w->nbits = (w->nbits + 7) / 8 * 8;
    return good && flush_bits(w);
}

/* ---- Second reading -------------------------------------------------------------------------- */

static enum unseen_status beyond_changed(void)
{
    message_error("the input has changed: it must stay as it is while it is read twice");
    return UNSEEN_ERR_MISMATCH;
}

/* Reads the next answers of a part. */
static bool read_answers(const struct beyond *b, size_t index, uint64_t at)
{
    const uint64_t left = b->answers.end - at / 8;
    const size_t len = left < b->buffer_len ? (size_t)left : b->buffer_len;
    const int code = temporary_read(&b->answers, at / 8, buffer_of(b, index), len);
    if (code != 0) {
        message_error("cannot read a temporary file in %s: %s", temporary_folder(), strerror(code));
    }
    return code == 0;
}

/* Hands the keys that are new to the log of the store. */
static enum unseen_status note_new(const struct beyond *b, const struct query *q)
{
    struct unseen_key keys[BATCH_LINES];
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++) {
        keys[n] = q->keys[i];
        n += q->verdicts[i] == UNSEEN_NEW;
    }
    return unseen_store_note_keys(b->store, keys, n);
}

static enum unseen_status recorded_ask(struct asked *a, struct query *q)
{
    struct beyond *b = a->beyond;
    const uint32_t nbits = (uint32_t)b->buffer_len * 8;
    for (; q->ndone < q->n; q->ndone++) {
        const struct unseen_key key = q->keys[q->ndone];
        const size_t index = part_of(b, key);
        struct beyond_part *part = &b->parts[index];
        if (part->nkeys == 0) {
            return beyond_changed();
        }
        if (part->fill == nbits) { /* bits of the buffer that were used */
            if (!read_answers(b, index, part->answer)) {
                return UNSEEN_ERR_MISMATCH;
            }
            part->answer += nbits;
            part->fill = 0;
        }
        const uint8_t byte = buffer_of(b, index)[part->fill / 8];
        q->verdicts[q->ndone] = byte >> part->fill % 8 & 1 ? UNSEEN_NEW : UNSEEN_SEEN;
        part->fill++;
        part->nkeys--;
        b->sums[1] = add_sum(b->sums[1], key);
    }
    b->nkeys -= q->n;
    return b->store ? note_new(b, q) : UNSEEN_OK;
}

static const struct asked_ops asked_recorded = {recorded_ask, beyond_stats};

bool beyond_answer(struct beyond *b, struct asked *a)
{
    struct answering w = {.b = b, .chunk = malloc(b->buffer_len), .bits = calloc(1, ANSWERS_LEN)};
    const bool good = w.chunk && w.bits ? answer_parts(&w) : message_no_memory();
    free(w.chunk);
    free(w.bits);
    temporary_close(&b->keys);
    free(b->chunks);
    b->chunks = NULL;
    for (size_t i = 0; i < b->nparts; i++) {
        b->parts[i].fill = (uint32_t)b->buffer_len * 8;
    }
    a->ops = &asked_recorded;
    return good;
}

void beyond_count_start(struct beyond *b, struct asked *a, struct unseen_set *set, uint64_t limit,
                        const struct report *report)
{
    *a = (struct asked){.ops = &asked_set, .adds = true, .set = set, .own = set};
    *b = (struct beyond){
        .limit = limit, .set = set, .own = set, .report = report, .only_counts = true};
}

enum unseen_status beyond_count(struct beyond *b, struct asked *a, const struct unseen_key *keys,
                                size_t n, uint64_t *ndistinct)
{
    uint8_t verdicts[BATCH_LINES];
    struct query q = {.keys = keys, .n = n, .verdicts = verdicts};
    if (b->limit > 0 && !b->gathers && beyond_is_reached(b, b->report->nnew + b->report->nseen) &&
        !beyond_gather(b, a)) {
        return UNSEEN_ERR_MISMATCH;
    }
    const enum unseen_status status = a->ops->ask(a, &q);
    for (size_t i = 0; i < n && status == UNSEEN_OK && !b->gathers; i++) {
        *ndistinct += verdicts[i] == UNSEEN_NEW;
    }
    return status;
}

bool beyond_count_end(struct beyond *b, struct asked *a, uint64_t *ndistinct)
{
    const bool good = !b->gathers || beyond_answer(b, a);
    *ndistinct += b->nnew;
    return good;
}

bool beyond_end(const struct beyond *b)
{
    return (b->nkeys == 0 && b->sums[0] == b->sums[1]) || beyond_changed() == UNSEEN_OK;
}

void beyond_release(struct beyond *b)
{
    free(b->buffers);
    free(b->parts);
    free(b->chunks);
    temporary_close(&b->keys);
    temporary_close(&b->answers);
    *b = (struct beyond){.gathers = false};
}
