/* SPDX-License-Identifier: MIT
 *
 * The bytes of a store's log and image (docs/format.md, "Store"), encoded and decoded field by
 * field. No file is opened here. */
#ifndef UNSEEN_LOG_LOG_FORMAT_H
#define UNSEEN_LOG_LOG_FORMAT_H

#include <stdbool.h>

#include "base/macros.h"
#include "hash/key.h"

enum {
    UNSEEN__ID_LEN = 16,
    UNSEEN__FILTER_NAME_LEN = 16,
    UNSEEN__PROFILE_LEN = UNSEEN_URL_ID_MAX + 1,
    UNSEEN__HEADER_LEN = 4096 + UNSEEN__PROFILE_LEN, /* of the log */
    UNSEEN__IMAGE_HEADER_LEN = 4096,
    UNSEEN__RECORDS_OFFSET = 2 * UNSEEN__HEADER_LEN, /* behind both copies of the header */
    UNSEEN__RECORD_HEAD = 56,
    UNSEEN__RECORD_TAIL = 8,
    UNSEEN__RECORD_KEYS_MAX = 1 << 18,
    UNSEEN__RUN_LEN = 16,
    UNSEEN__NOTE_LEN = 8,
    UNSEEN__OUTPUT_NAME_MAX = 4096,
    UNSEEN__OUTPUT_END_LEN = 4096 /* bytes of the output that a record's checksum covers */
};

/* Times are milliseconds since 1970, cut down to a multiple of a step; 0: not known. */
#define UNSEEN__TIME_STEP      UINT64_C(250)
#define UNSEEN__TIME_MAX       UINT64_C(4102444800000) /* the end of 2099 */
#define UNSEEN__LOG_WINDOW_MIN UINT64_C(1000)
#define UNSEEN__LOG_WINDOW_MAX (UINT64_C(36525) * 24 * 3600 * 1000)

/* ---- header of the log ---- */

enum {
    UNSEEN__FEATURE_NO_LOG = 1
};

/* Where the log begins: at its first record, or, as keys have left a window, at a later one. The
 * records before are not read again; this is what they leave. */
struct unseen__log_head {
    uint64_t offset;        /* of the first record that is read */
    uint64_t number;        /* of the record before; 0: there is none */
    uint64_t nchanges;      /* in all records before */
    uint64_t time;          /* of the record before: all keys before have left the window */
    uint64_t output_offset; /* of the last record before that names an output file; 0: none */
    uint64_t output_len;
    uint64_t output_checksum;
    uint64_t note;
    bool output_closed;
};

struct unseen__log_header {
    uint32_t write_features;
    uint32_t read_features;
    unsigned key_bits;
    struct unseen__secret secret;
    uint8_t id[UNSEEN__ID_LEN];
    double fpr;
    uint64_t capacity;
    double bits_per_key; /* 0: they follow from fpr, and not the other way round */
    unsigned hashes;     /* 0: the best */
    uint64_t window;     /* in milliseconds; 0: none */
    struct unseen__log_head head;
    char filter[UNSEEN__FILTER_NAME_LEN];
    char profile[UNSEEN__PROFILE_LEN];
};

void unseen__header_encode(const struct unseen__log_header *header,
                           uint8_t bytes[UNSEEN__HEADER_LEN]);

/* Errors: FOREIGN (another magic), CORRUPT (a wrong checksum or field), VERSION (another version of
 * the format, or a feature that readers must know). */
enum unseen_status unseen__header_decode(const uint8_t bytes[UNSEEN__HEADER_LEN],
                                         struct unseen__log_header *header_out);

/* True if two intact copies of a header say the same, but for where the log begins. */
bool unseen__headers_agree(const uint8_t a[UNSEEN__HEADER_LEN],
                           const uint8_t b[UNSEEN__HEADER_LEN]);

/* ---- records of the log ---- */

enum {
    UNSEEN__RECORD_CHANGES = 1,
    UNSEEN__RECORD_OUTPUT = 2,
    UNSEEN__RECORD_NOTE = 3,
    UNSEEN__RECORD_ALLOWED = 4,
    UNSEEN__FLAG_REMOVALS = 1,
    UNSEEN__FLAG_CLOSED = 2,
    UNSEEN__FLAG_SKIPPABLE = 0x80
};

#define UNSEEN__NO_OUTPUT UINT64_MAX

struct unseen__record {
    unsigned kind;
    unsigned flags;
    uint64_t offset;
    uint64_t number;
    uint32_t n;
    uint32_t nruns; /* 0: all keys have the time of the record */
    uint64_t time;
    uint64_t output_len;
    uint64_t output_checksum;
};

/* Keys of a record that have one time. */
struct unseen__run {
    uint32_t end; /* the index of the key behind the last one */
    uint64_t time;
};

/* True if the payload of the record is keys; else it is bytes. */
bool unseen__record_has_keys(const struct unseen__record *record);

/* The length of a record in the file, from its head. */
size_t unseen__record_len(const struct unseen__record *record, unsigned key_bits);

/* The offset, within the record, of the bits that say which keys are removed. */
size_t unseen__record_bits_offset(const struct unseen__record *record, unsigned key_bits);

/* The offset, within the record, of its runs. */
size_t unseen__record_runs_offset(const struct unseen__record *record, unsigned key_bits);

/* The run at index i of a record whose runs begin at `runs`; with no runs, that of all keys. */
struct unseen__run unseen__record_run(const struct unseen__record *record, const uint8_t *runs,
                                      uint32_t i);
void unseen__record_run_encode(const struct unseen__run *run, uint8_t bytes[UNSEEN__RUN_LEN]);

/* True if the runs have all keys, in the order of time, and end with the time of the record. */
bool unseen__record_runs_are_valid(const struct unseen__record *record, const uint8_t *runs);

void unseen__record_encode_head(const struct unseen__record *record,
                                uint8_t bytes[UNSEEN__RECORD_HEAD]);

/* The first four bytes of a record, as a number. */
#define UNSEEN__RECORD_MARK 0x52534e55u /* "UNSR" */

/* False if these bytes cannot be the head of a record at this offset of the file. */
bool unseen__record_decode_head(const uint8_t bytes[UNSEEN__RECORD_HEAD], uint64_t offset,
                                struct unseen__record *record_out);

/* True if this version knows the record's kind and flags, or may skip the record. */
bool unseen__record_is_known(const struct unseen__record *record);

/* The checksum of a record of len bytes. It is stored in the last 8 of them. */
uint64_t unseen__record_checksum(const uint8_t *bytes, size_t len,
                                 const uint8_t id[UNSEEN__ID_LEN]);

/* ---- header of the image ---- */

enum {
    UNSEEN__ALLOWED_LEN = 24, /* each allowed key, behind the table */
    UNSEEN__IMAGE_PAGE = 4096 /* pages stand at multiples of it, behind the header */
};

struct unseen__image_header {
    uint8_t id[UNSEEN__ID_LEN];
    uint64_t log_end;         /* the image covers the records before this offset of the log */
    uint64_t last_offset;     /* of the last record that is covered; 0: it covers no record */
    uint64_t number;          /* of that record */
    uint64_t record_checksum; /* of that record */
    uint64_t nchanges;        /* in all records that are covered */
    uint64_t body_len;        /* of the chunks */
    uint64_t npages;          /* of the set that are not in chunks, but in front of them */
    uint64_t tail_len;        /* of what is behind the chunks: the table, then the allowed keys */
    uint64_t tail_checksum;
    uint64_t nallowed;
    uint64_t output_offset; /* of the record that names the output file; 0: no such record */
    uint64_t output_len;
    uint64_t output_checksum;
    bool output_closed;
    uint64_t note;
    uint64_t horizon;  /* keys of this time and before have left the window */
    uint64_t nremoved; /* removed keys whose time is later; 0 without a window */
};

/* The length of the table. In the tail the allowed keys follow it. */
UNSEEN_INLINE uint64_t unseen__image_table_len(const struct unseen__image_header *header)
{
    return header->tail_len - header->nallowed * UNSEEN__ALLOWED_LEN;
}

/* Where the chunks begin: behind the pages. */
UNSEEN_INLINE uint64_t unseen__image_body_offset(const struct unseen__image_header *header)
{
    return UNSEEN__IMAGE_HEADER_LEN + header->npages * UNSEEN__IMAGE_PAGE;
}

void unseen__image_header_encode(const struct unseen__image_header *header,
                                 uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN]);
enum unseen_status unseen__image_header_decode(const uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN],
                                               struct unseen__image_header *header_out);

#endif
