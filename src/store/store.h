/* SPDX-License-Identifier: MIT
 *
 * The inside of a store: a set, the log that makes it last, and what connects them. */
#ifndef UNSEEN_STORE_STORE_H
#define UNSEEN_STORE_STORE_H

#include "log/committer.h"
#include "log/image_file.h"
#include "log/log.h"
#include "log/scan.h"

/* The output file as the records say it is. */
struct unseen__output {
    uint64_t name_offset; /* of the record with its name; 0: there is none */
    uint64_t len;
    uint64_t checksum;
    bool closed; /* it was left in order, and may have been changed since */
    char name[UNSEEN__OUTPUT_NAME_MAX + 1];
};

struct unseen_store {
    struct unseen_allocator allocator;
    struct unseen__log log;
    struct unseen_url *url; /* NULL: the bytes are the identity */
    struct unseen_set *set;
    struct unseen__committer committer;
    struct unseen__output output;
    enum unseen_cpu cpu;
    uint64_t capacity;
    uint64_t nchanges; /* in all records */
    uint64_t nkept;    /* of these, in those that the image covers */
    bool is_changed;   /* since it was opened */
    struct unseen_store_info info;
};

/* ---- replay.c: from the log to the set ---- */

/* Reads the records from place on, applies them to the set (NULL: none) and follows the output.
 * On return log.end, number and record_sum are those of the last intact record. Errors: CORRUPT,
 * IO, NOMEM. */
enum unseen_status unseen__replay(struct unseen_store *store, uint64_t offset, uint64_t number,
                                  struct unseen_error *error);

/* What a record says of the output. */
void unseen__output_follow(struct unseen__output *output, const struct unseen__record *record,
                           const uint8_t *payload);

/* Calls each with the keys of a record, in runs of added and of removed ones. False: it did. */
bool unseen__record_each(const struct unseen__record *record, const uint8_t *payload,
                         const uint8_t *bits, unsigned key_bits,
                         bool (*each)(void *context, const struct unseen_key *keys, size_t n,
                                      bool removed),
                         void *context);

/* The sentence for damage in the log. */
enum unseen_status unseen__damaged(struct unseen_error *error, const struct unseen__log *log,
                                   uint64_t offset, uint64_t next);

/* CORRUPT for a log that was cut_short. */
enum unseen_status unseen__check_length(const struct unseen__log *log, struct unseen_error *error);

/* ---- image.c: between the image and the set ---- */

/* Opens the image if it belongs to the log; *output_out is what it says of the output. MISSING if
 * there is none that does. *log_is_damaged_out: the log is not what the image was made from, CORRUPT.
 * Errors: those of unseen__image_open. */
enum unseen_status unseen__image_find(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen__output *output_out, bool *log_is_damaged_out,
                                      struct unseen_error *error);

/* A set from the chunks. Errors: CORRUPT, IO, NOMEM, and others of unseen_import_chunk. */
enum unseen_status unseen__image_load(const struct unseen_store *store, struct unseen__image *image,
                                      struct unseen_set **set_out, struct unseen_error *error);

/* Writes an image of the set, which must be what the log says up to its end. */
enum unseen_status unseen__image_save(struct unseen_store *store, struct unseen_error *error);

/* ---- live.c: which changes still count ---- */

/* The keys that were removed, each with how many changes came before its last removal. */
struct unseen__removals {
    struct unseen_allocator allocator;
    struct unseen__removal {
        struct unseen_key key;
        uint64_t index;
    } * items;
    size_t n;
    size_t cap;
};

enum unseen_status unseen__removals_add(struct unseen__removals *removals, struct unseen_key key,
                                        uint64_t index);
void unseen__removals_sort(struct unseen__removals *removals);

/* Whether the change number index, which added key, was undone later. */
bool unseen__removals_undo(const struct unseen__removals *removals, struct unseen_key key,
                           uint64_t index);
void unseen__removals_release(struct unseen__removals *removals);

/* Calls each with the keys that count, in the order of the log; true: go on. Reads the log up to end,
 * past damaged places if skip_damage, twice: first for removals. */
enum unseen_status unseen__live_each(const struct unseen__log *log, uint64_t end, bool skip_damage,
                                     bool (*each)(void *context, const struct unseen_key *keys,
                                                  size_t n),
                                     void *context, struct unseen_error *error);

/* ---- store.c ---- */

/* Begins to commit everything that waits, with the output as long as it is. */
enum unseen_status unseen__commit_begin_all(struct unseen_store *store, struct unseen_error *error);

/* The header of a new log. */
enum unseen_status unseen__header_make(struct unseen__log_header *header_out,
                                       const struct unseen_store_options *options,
                                       const struct unseen_allocator *allocator, const char *path,
                                       struct unseen_error *error);

/* Fills in what options must have; the caller's struct may be an older, shorter one. */
enum unseen_status unseen__store_options(const struct unseen_store_options *given,
                                         struct unseen_store_options *options_out,
                                         struct unseen_error *error);

/* Makes the URL identity that the header names. */
enum unseen_status unseen__store_url_make(struct unseen_store *store, struct unseen_error *error);

#endif
