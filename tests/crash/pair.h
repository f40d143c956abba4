/* SPDX-License-Identifier: MIT
 *
 * A small store with all that the format has: records that add, one that also removes, one that
 * allows, an image that covers some of them. The log is read here by docs/format.md alone, so that
 * the library's answers can be compared with it. */
#ifndef UNSEEN_CRASH_PAIR_H
#define UNSEEN_CRASH_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <unseen.h>

#include "one_item.h"
#include "set/set.h"
#include "store/store.h"

/* A program may ask for fewer keys. */
#ifndef PAIR_HUNDREDS
#define PAIR_HUNDREDS 40
#endif

enum {
    PAIR_NKEYS = 100 * PAIR_HUNDREDS,
    PAIR_NRECORDS = 6,
    PAIR_NREMOVED = PAIR_NKEYS / 40,
    PAIR_NALLOWED = 20,
    PAIR_PAGE = 4096,
    PAIR_HEADER = 2 * PAIR_PAGE, /* of the log; the image's is one page */
    PAIR_RECORDS_OFFSET = 2 * PAIR_HEADER,
    PAIR_ID_OFFSET = 40,
    PAIR_SECRET_OFFSET = 56,
    PAIR_PROFILE_CHECKSUM_OFFSET = 4080,
    PAIR_CHECKSUM_OFFSET = 4088,
    PAIR_RECORD_TIME = 48,
    PAIR_RECORD_HEAD = 56,
    PAIR_STEP = 1000,   /* milliseconds between records, with a window */
    PAIR_WINDOW = 4000, /* so that the first record leaves at the time of the last one */
    PAIR_LEAVES_AFTER = 5
};

static const uint64_t PAIR_TIME_MAX = 4102444800000;

/* Record i adds the keys pair_first[i]..pair_first[i + 1]-1. */
static const uint32_t pair_first[PAIR_NRECORDS + 1] = {0,
                                                       PAIR_NKEYS / 8 * 3,
                                                       PAIR_NKEYS / 8 * 5,
                                                       PAIR_NKEYS / 8 * 5,
                                                       PAIR_NKEYS / 5 * 4,
                                                       PAIR_NKEYS / 10 * 9,
                                                       PAIR_NKEYS};

enum {
    PAIR_ALLOWING = 2, /* this one allows PAIR_NALLOWED other keys */
    PAIR_REMOVING = 4  /* this one also removes the first PAIR_NREMOVED keys */
};

/* PAIR_WINDOW if stores are to have that window, else 0. */
static uint64_t pair_window;

/* The number of a record behind all of the pair's whose time the store has; 0: none. */
static int pair_told;

struct pair {
    uint8_t *log;
    size_t log_len;
    uint8_t *image; /* NULL: there is none */
    size_t image_len;
    struct unseen_key keys[PAIR_NKEYS];
    struct unseen_key allowed[PAIR_NALLOWED];
    uint64_t offsets[PAIR_NRECORDS + 2]; /* of the records, of the one that ends the log, its end */
};

static inline void pair_require(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "pair: %s\n", what);
        abort();
    }
}

static inline uint64_t pair_le64(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) {
        v = v << 8 | p[i];
    }
    return v;
}

static inline void pair_put_le64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) {
        p[i] = (uint8_t)(v >> 8 * i);
    }
}

static inline uint32_t pair_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint8_t *pair_read_file(const char *path, size_t *len_out)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    pair_require(fseek(file, 0, SEEK_END) == 0, path);
    const long len = ftell(file);
    uint8_t *data = malloc(len > 0 ? (size_t)len : 1);
    pair_require(len >= 0 && data && fseek(file, 0, SEEK_SET) == 0, path);
    pair_require(fread(data, 1, (size_t)len, file) == (size_t)len && fclose(file) == 0, path);
    *len_out = (size_t)len;
    return data;
}

/* The length of the record at `offset` by its head; its checksum is its last 8 bytes. */
static inline size_t pair_record_len(const uint8_t *record)
{
    const size_t n = pair_le32(record + 24);
    const size_t payload = record[4] == 1 || record[4] == 4 ? 8 * n : (n + 7) / 8 * 8;
    const size_t bits = record[4] == 1 && (record[5] & 1) ? ((n + 7) / 8 + 7) / 8 * 8 : 0;
    const size_t runs = 16 * (size_t)pair_le32(record + 28);
    return PAIR_RECORD_HEAD + payload + bits + runs + 8;
}

/* Makes the checksum of a record of that length right. */
static inline void pair_reseal(uint8_t *log, uint64_t offset, uint64_t len)
{
    const uint64_t checksum =
        XXH3_64bits_withSeed(log + offset, len - 8, pair_le64(log + PAIR_ID_OFFSET));
    pair_put_le64(log + offset + len - 8, checksum);
}

/* The same for a header: of the log, whose second page has a checksum in the first, or of the
 * image. */
static inline void pair_seal_header(uint8_t *header, bool is_log)
{
    if (is_log) {
        pair_put_le64(header + PAIR_PROFILE_CHECKSUM_OFFSET,
                      XXH3_64bits(header + PAIR_PAGE, PAIR_PAGE));
    }
    pair_put_le64(header + PAIR_CHECKSUM_OFFSET, XXH3_64bits(header, PAIR_CHECKSUM_OFFSET));
}

static inline struct unseen_bytes pair_item(uint32_t i, char buf[static 32])
{
    const int len = snprintf(buf, 32, "key %u", (unsigned)i);
    return (struct unseen_bytes){.data = buf, .len = (size_t)len};
}

/* Tells a store with a window the time of a record. */
static inline enum unseen_status pair_tell_time(struct unseen_store *store, int record)
{
    const uint64_t time = PAIR_TIME_MAX / 2 + (uint64_t)record * PAIR_STEP;
    return pair_window == 0 ? UNSEEN_OK : unseen_store_expire(store, time, SIZE_MAX, NULL);
}

static inline void pair_commit_record(struct unseen_store *store, struct pair *pair, int record)
{
    char buf[32];
    enum unseen_verdict verdict = UNSEEN_ALLOWED;
    pair_require(pair_tell_time(store, record) == UNSEEN_OK, "expire");
    for (uint32_t i = 0; record == PAIR_REMOVING && i < PAIR_NREMOVED; i++) {
        const struct unseen_bytes item = pair_item(i, buf);
        pair_require(test_store_remove(store, item.data, item.len, &verdict) == UNSEEN_OK &&
                         verdict == UNSEEN_SEEN,
                     "remove");
    }
    for (uint32_t i = pair_first[record]; i < pair_first[record + 1]; i++) {
        const struct unseen_bytes item = pair_item(i, buf);
        pair_require(test_set_key(unseen_store_set(store), item.data, item.len, &pair->keys[i]) ==
                             UNSEEN_OK &&
                         test_store_add(store, item.data, item.len, &verdict) == UNSEEN_OK &&
                         verdict == UNSEEN_NEW,
                     "add");
    }
    pair_require(unseen_store_commit(store, NULL) == UNSEEN_OK, "commit");
    for (uint32_t i = 0; record == PAIR_ALLOWING && i < PAIR_NALLOWED; i++) {
        const struct unseen_bytes item = pair_item(PAIR_NKEYS + i, buf);
        pair_require(test_set_key(unseen_store_set(store), item.data, item.len,
                                  &pair->allowed[i]) == UNSEEN_OK,
                     "key");
    }
    pair_require(record != PAIR_ALLOWING ||
                     unseen__store_allow_all(store, pair->allowed, PAIR_NALLOWED, NULL) ==
                         UNSEEN_OK,
                 "allow");
}

/* Options of stores that the harnesses make or open. */
static inline struct unseen_store_options pair_options(enum unseen_store_mode mode)
{
    static const uint64_t seed = 11;
    struct unseen_store_options options = {.size = sizeof(options), .mode = mode};
    if (mode == UNSEEN_STORE_CREATE) {
        options.profile = "none";
        options.window = pair_window;
        options.seed = &seed;
        options.seed_len = sizeof(seed);
    }
    return options;
}

/* Makes the store at path, with an image made after so many records (0: none), and keeps its bytes
 * and keys. */
static inline void pair_make(struct pair *pair, const char *path, int image_after)
{
    const struct unseen_store_options options = pair_options(UNSEEN_STORE_CREATE);
    char image[512];
    struct unseen_store *store;
    snprintf(image, sizeof(image), "%s.image", path);
    (void)remove(path);
    (void)remove(image);
    pair_require(unseen_store_open(&store, path, &options, NULL) == UNSEEN_OK, "open");
    for (int i = 0; i < PAIR_NRECORDS; i++) {
        pair_commit_record(store, pair, i);
        if (i + 1 == image_after) {
            pair_require(unseen__image_save(store, NULL) == UNSEEN_OK, "image");
        }
    }
    pair_require(unseen_store_close(store, NULL) == UNSEEN_OK, "close");
    pair->log = pair_read_file(path, &pair->log_len);
    pair->image = pair_read_file(image, &pair->image_len);
    pair_require(pair->log && !pair->image == !image_after, "the files");
    uint64_t offset = PAIR_RECORDS_OFFSET;
    for (int i = 0; i < PAIR_NRECORDS; i++) {
        pair->offsets[i] = offset;
        offset += pair_record_len(pair->log + offset);
    }
    pair->offsets[PAIR_NRECORDS] = offset;
    pair->offsets[PAIR_NRECORDS + 1] = pair->log_len;
    pair_require(offset + pair_record_len(pair->log + offset) == pair->log_len,
                 "the records do not fill the log");
}

static inline void pair_free(struct pair *pair)
{
    free(pair->log);
    free(pair->image);
}

/* Whether the last one of those records says by its time that a record has left. The one that ends
 * the log has the time of the one before it. */
static inline bool pair_has_left(int record, unsigned records)
{
    const int last = PAIR_NRECORDS - 1;
    const int after = pair_told > last ? pair_told : records >> last > 0 ? last : 0;
    return pair_window > 0 && after - record >= PAIR_LEAVES_AFTER;
}

/* Whether key i is in a store that holds the records of the mask (bit r: record r). */
static inline bool pair_has(uint32_t i, unsigned records)
{
    int record = 0;
    while (i >= pair_first[record + 1]) {
        record++;
    }
    const bool removed = i < PAIR_NREMOVED && (records >> PAIR_REMOVING & 1);
    return (records >> record & 1) && !removed && !pair_has_left(record, records);
}

/* Whether the set answers for all keys as those records demand. */
static inline bool pair_answers(const struct pair *pair, const struct unseen_set *set,
                                unsigned records)
{
    uint8_t verdicts[PAIR_NKEYS];
    if (unseen_set_contains_keys(set, pair->keys, PAIR_NKEYS, verdicts, NULL) != UNSEEN_OK) {
        return false;
    }
    for (uint32_t i = 0; i < PAIR_NALLOWED; i++) {
        const uint64_t count =
            set->allowed ? unseen__stash_count(set->allowed, pair->allowed[i]) : 0;
        if (count != (records >> PAIR_ALLOWING & 1 ? UNSEEN__ALLOWED_ABSENT : 0)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < PAIR_NKEYS; i++) {
        if ((verdicts[i] == UNSEEN_SEEN) != pair_has(i, records)) {
            return false;
        }
    }
    return true;
}

#endif
