/* SPDX-License-Identifier: MIT */
#include "log/log_format.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/checksum.h"

enum {
    FORMAT_VERSION = 1,    /* of logs and images */
    PROFILE_OFFSET = 4096, /* the second page of the header */
    PROFILE_CHECKSUM_OFFSET = 4080,
    CHECKSUM_OFFSET = 4088,
    HEAD_OFFSET = 144, /* of struct unseen__log_head */
    HEAD_LEN = 72,
    CHANGES_FLAGS = UNSEEN__FLAG_REMOVALS | UNSEEN__FLAG_CLOSED
};

static const uint8_t log_magic[8] = {0x89, 'U', 'N', 'L', '\r', '\n', 0x1a, '\n'};
static const uint8_t image_magic[8] = {0x89, 'U', 'N', 'I', '\r', '\n', 0x1a, '\n'};

/* ---- headers ---- */

static void seal_header(uint8_t *bytes)
{
    store_le64(bytes + CHECKSUM_OFFSET, unseen__checksum(bytes, CHECKSUM_OFFSET));
}

/* Checks the fields that both headers have: magic, version and checksum. */
static enum unseen_status check_header(const uint8_t *bytes, const uint8_t magic[8])
{
    if (memcmp(bytes, magic, 8) != 0) {
        return UNSEEN_ERR_FOREIGN;
    }
    if (load_le64(bytes + CHECKSUM_OFFSET) != unseen__checksum(bytes, CHECKSUM_OFFSET)) {
        return UNSEEN_ERR_CORRUPT;
    }
    return load_le32(bytes + 8) == FORMAT_VERSION ? UNSEEN_OK : UNSEEN_ERR_VERSION;
}

static void encode_log_head(const struct unseen__log_head *head, uint8_t *bytes)
{
    store_le64(bytes, head->offset);
    store_le64(bytes + 8, head->number);
    store_le64(bytes + 16, head->nchanges);
    store_le64(bytes + 24, head->time);
    store_le64(bytes + 32, head->output_offset);
    store_le64(bytes + 40, head->output_len);
    store_le64(bytes + 48, head->output_checksum);
    store_le64(bytes + 56, head->note);
    store_le64(bytes + 64, head->output_closed);
}

static struct unseen__log_head decode_log_head(const uint8_t *bytes)
{
    return (struct unseen__log_head){
        .offset = load_le64(bytes),
        .number = load_le64(bytes + 8),
        .nchanges = load_le64(bytes + 16),
        .time = load_le64(bytes + 24),
        .output_offset = load_le64(bytes + 32),
        .output_len = load_le64(bytes + 40),
        .output_checksum = load_le64(bytes + 48),
        .note = load_le64(bytes + 56),
        .output_closed = load_le64(bytes + 64) != 0,
    };
}

static bool window_is_valid(uint64_t window, const struct unseen__log_head *head)
{
    const bool is_moved = head->offset > UNSEEN__RECORDS_OFFSET;
    return (window == 0 ||
            (window >= UNSEEN__LOG_WINDOW_MIN && window <= UNSEEN__LOG_WINDOW_MAX)) &&
           head->offset >= UNSEEN__RECORDS_OFFSET && head->offset % 8 == 0 &&
           is_moved == (head->number > 0) && (window > 0 || !is_moved) &&
           head->output_offset < head->offset && head->time <= UNSEEN__TIME_MAX;
}

void unseen__header_encode(const struct unseen__log_header *header,
                           uint8_t bytes[UNSEEN__HEADER_LEN])
{
    memset(bytes, 0, UNSEEN__HEADER_LEN);
    memcpy(bytes, log_magic, sizeof(log_magic));
    store_le32(bytes + 8, FORMAT_VERSION);
    store_le32(bytes + 12, UNSEEN__HEADER_LEN);
    store_le32(bytes + 20, header->write_features);
    store_le32(bytes + 24, header->read_features);
    store_le32(bytes + 28, UNSEEN__HASH_ID);
    store_le32(bytes + 32, header->key_bits);
    memcpy(bytes + 40, header->id, UNSEEN__ID_LEN);
    memcpy(bytes + 56, header->secret.bytes, UNSEEN__SECRET_LEN);
    store_le_double(bytes + 88, header->fpr);
    store_le64(bytes + 96, header->capacity);
    memcpy(bytes + 104, header->filter, UNSEEN__FILTER_NAME_LEN);
    store_le32(bytes + 120, header->hashes);
    store_le_double(bytes + 128, header->bits_per_key);
    store_le64(bytes + 136, header->window);
    encode_log_head(&header->head, bytes + HEAD_OFFSET);
    memcpy(bytes + PROFILE_OFFSET, header->profile, UNSEEN__PROFILE_LEN);
    store_le64(bytes + PROFILE_CHECKSUM_OFFSET,
               unseen__checksum(bytes + PROFILE_OFFSET, UNSEEN__PROFILE_LEN));
    seal_header(bytes);
}

enum unseen_status unseen__header_decode(const uint8_t bytes[UNSEEN__HEADER_LEN],
                                         struct unseen__log_header *header_out)
{
    struct unseen__log_header h;
    enum unseen_status status = check_header(bytes, log_magic);
    if (status != UNSEEN_OK) {
        return status;
    }
    h.write_features = load_le32(bytes + 20);
    h.read_features = load_le32(bytes + 24);
    if ((h.read_features & ~(uint32_t)UNSEEN__FEATURE_NO_LOG) != 0 ||
        load_le32(bytes + 28) != UNSEEN__HASH_ID) {
        return UNSEEN_ERR_VERSION;
    }
    if (load_le64(bytes + PROFILE_CHECKSUM_OFFSET) !=
        unseen__checksum(bytes + PROFILE_OFFSET, UNSEEN__PROFILE_LEN)) {
        return UNSEEN_ERR_CORRUPT;
    }
    h.key_bits = load_le32(bytes + 32);
    memcpy(h.id, bytes + 40, UNSEEN__ID_LEN);
    memcpy(h.secret.bytes, bytes + 56, UNSEEN__SECRET_LEN);
    h.fpr = load_le_double(bytes + 88);
    h.capacity = load_le64(bytes + 96);
    memcpy(h.filter, bytes + 104, UNSEEN__FILTER_NAME_LEN);
    h.hashes = load_le32(bytes + 120);
    h.bits_per_key = load_le_double(bytes + 128);
    h.window = load_le64(bytes + 136);
    h.head = decode_log_head(bytes + HEAD_OFFSET);
    memcpy(h.profile, bytes + PROFILE_OFFSET, UNSEEN__PROFILE_LEN);
    if (load_le32(bytes + 12) != UNSEEN__HEADER_LEN || !unseen__key_bits_are_valid(h.key_bits) ||
        !(h.fpr > 0 && h.fpr < 1) || !(h.bits_per_key >= 0) ||
        !window_is_valid(h.window, &h.head) || h.filter[UNSEEN__FILTER_NAME_LEN - 1] != '\0' ||
        h.profile[UNSEEN__PROFILE_LEN - 1] != '\0') {
        return UNSEEN_ERR_CORRUPT;
    }
    *header_out = h;
    return UNSEEN_OK;
}

bool unseen__headers_agree(const uint8_t a[UNSEEN__HEADER_LEN], const uint8_t b[UNSEEN__HEADER_LEN])
{
    const size_t behind = HEAD_OFFSET + HEAD_LEN;
    return memcmp(a, b, HEAD_OFFSET) == 0 &&
           memcmp(a + behind, b + behind, CHECKSUM_OFFSET - behind) == 0 &&
           memcmp(a + PROFILE_OFFSET, b + PROFILE_OFFSET, UNSEEN__PROFILE_LEN) == 0;
}

void unseen__image_header_encode(const struct unseen__image_header *header,
                                 uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN])
{
    memset(bytes, 0, UNSEEN__IMAGE_HEADER_LEN);
    memcpy(bytes, image_magic, sizeof(image_magic));
    store_le32(bytes + 8, FORMAT_VERSION);
    memcpy(bytes + 16, header->id, UNSEEN__ID_LEN);
    store_le64(bytes + 32, header->log_end);
    store_le64(bytes + 40, header->number);
    store_le64(bytes + 48, header->body_len);
    store_le64(bytes + 56, header->nchanges);
    store_le64(bytes + 64, header->output_offset);
    store_le64(bytes + 72, header->output_len);
    store_le64(bytes + 80, header->output_checksum);
    store_le64(bytes + 88, header->output_closed);
    store_le64(bytes + 96, header->last_offset);
    store_le64(bytes + 104, header->tail_len);
    store_le64(bytes + 112, header->tail_checksum);
    store_le64(bytes + 120, header->note);
    store_le64(bytes + 128, header->horizon);
    store_le64(bytes + 136, header->nremoved);
    store_le64(bytes + 144, header->nallowed);
    store_le64(bytes + 152, header->npages);
    store_le64(bytes + 4080, header->record_checksum);
    seal_header(bytes);
}

enum unseen_status unseen__image_header_decode(const uint8_t bytes[UNSEEN__IMAGE_HEADER_LEN],
                                               struct unseen__image_header *header_out)
{
    enum unseen_status status = check_header(bytes, image_magic);
    if (status == UNSEEN_OK && load_le32(bytes + 12) != 0) {
        status = UNSEEN_ERR_VERSION;
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    memcpy(header_out->id, bytes + 16, UNSEEN__ID_LEN);
    header_out->log_end = load_le64(bytes + 32);
    header_out->number = load_le64(bytes + 40);
    header_out->body_len = load_le64(bytes + 48);
    header_out->nchanges = load_le64(bytes + 56);
    header_out->output_offset = load_le64(bytes + 64);
    header_out->output_len = load_le64(bytes + 72);
    header_out->output_checksum = load_le64(bytes + 80);
    header_out->output_closed = load_le64(bytes + 88) != 0;
    header_out->last_offset = load_le64(bytes + 96);
    header_out->tail_len = load_le64(bytes + 104);
    header_out->tail_checksum = load_le64(bytes + 112);
    header_out->note = load_le64(bytes + 120);
    header_out->horizon = load_le64(bytes + 128);
    header_out->nremoved = load_le64(bytes + 136);
    header_out->nallowed = load_le64(bytes + 144);
    header_out->npages = load_le64(bytes + 152);
    header_out->record_checksum = load_le64(bytes + 4080);
    return header_out->nallowed <= header_out->tail_len / UNSEEN__ALLOWED_LEN ? UNSEEN_OK
                                                                              : UNSEEN_ERR_CORRUPT;
}

/* ---- records ---- */

bool unseen__record_has_keys(const struct unseen__record *record)
{
    return record->kind == UNSEEN__RECORD_CHANGES || record->kind == UNSEEN__RECORD_ALLOWED;
}

size_t unseen__record_bits_offset(const struct unseen__record *record, unsigned key_bits)
{
    const size_t each = unseen__record_has_keys(record) ? unseen__key_bytes(key_bits) : 1;
    return UNSEEN__RECORD_HEAD + round_up_8(record->n * each);
}

size_t unseen__record_runs_offset(const struct unseen__record *record, unsigned key_bits)
{
    const bool removals =
        record->kind == UNSEEN__RECORD_CHANGES && (record->flags & UNSEEN__FLAG_REMOVALS);
    return unseen__record_bits_offset(record, key_bits) +
           (removals ? round_up_8(((size_t)record->n + 7) / 8) : 0);
}

size_t unseen__record_len(const struct unseen__record *record, unsigned key_bits)
{
    return unseen__record_runs_offset(record, key_bits) + (size_t)record->nruns * UNSEEN__RUN_LEN +
           UNSEEN__RECORD_TAIL;
}

struct unseen__run unseen__record_run(const struct unseen__record *record, const uint8_t *runs,
                                      uint32_t i)
{
    if (record->nruns == 0) {
        return (struct unseen__run){.end = record->n, .time = record->time};
    }
    const uint8_t *bytes = runs + (size_t)i * UNSEEN__RUN_LEN;
    return (struct unseen__run){.end = load_le32(bytes), .time = load_le64(bytes + 8)};
}

void unseen__record_run_encode(const struct unseen__run *run, uint8_t bytes[UNSEEN__RUN_LEN])
{
    store_le32(bytes, run->end);
    store_le32(bytes + 4, 0);
    store_le64(bytes + 8, run->time);
}

bool unseen__record_runs_are_valid(const struct unseen__record *record, const uint8_t *runs)
{
    struct unseen__run last = {0};
    for (uint32_t i = 0; i < record->nruns; i++) {
        const struct unseen__run run = unseen__record_run(record, runs, i);
        if (run.end <= last.end || (i > 0 && run.time <= last.time) ||
            load_le32(runs + (size_t)i * UNSEEN__RUN_LEN + 4) != 0) {
            return false;
        }
        last = run;
    }
    return record->nruns == 0 || (last.end == record->n && last.time == record->time);
}

void unseen__record_encode_head(const struct unseen__record *record,
                                uint8_t bytes[UNSEEN__RECORD_HEAD])
{
    memset(bytes, 0, UNSEEN__RECORD_HEAD);
    store_le32(bytes, UNSEEN__RECORD_MARK);
    bytes[4] = (uint8_t)record->kind;
    bytes[5] = (uint8_t)record->flags;
    store_le64(bytes + 8, record->offset);
    store_le64(bytes + 16, record->number);
    store_le32(bytes + 24, record->n);
    store_le32(bytes + 28, record->nruns);
    store_le64(bytes + 32, record->output_len);
    store_le64(bytes + 40, record->output_checksum);
    store_le64(bytes + 48, record->time);
}

bool unseen__record_decode_head(const uint8_t bytes[UNSEEN__RECORD_HEAD], uint64_t offset,
                                struct unseen__record *record_out)
{
    const struct unseen__record r = {
        .kind = bytes[4],
        .flags = bytes[5],
        .offset = load_le64(bytes + 8),
        .number = load_le64(bytes + 16),
        .n = load_le32(bytes + 24),
        .nruns = load_le32(bytes + 28),
        .time = load_le64(bytes + 48),
        .output_len = load_le64(bytes + 32),
        .output_checksum = load_le64(bytes + 40),
    };
    const bool changes = r.kind == UNSEEN__RECORD_CHANGES;
    const uint32_t most =
        unseen__record_has_keys(&r) ? UNSEEN__RECORD_KEYS_MAX : UNSEEN__OUTPUT_NAME_MAX;
    if (load_le32(bytes) != UNSEEN__RECORD_MARK || load_le16(bytes + 6) != 0 ||
        r.nruns > (changes ? r.n : 0) || r.time > UNSEEN__TIME_MAX || r.offset != offset ||
        r.number == 0 || r.n > most) {
        return false;
    }
    *record_out = r;
    return true;
}

bool unseen__record_is_known(const struct unseen__record *record)
{
    switch (record->kind) {
    case UNSEEN__RECORD_CHANGES:
        return (record->flags & ~(unsigned)CHANGES_FLAGS) == 0;
    case UNSEEN__RECORD_OUTPUT:
    case UNSEEN__RECORD_ALLOWED:
        return record->flags == 0;
    case UNSEEN__RECORD_NOTE:
        return record->flags == 0 && record->n == UNSEEN__NOTE_LEN;
    default:
        return (record->flags & UNSEEN__FLAG_SKIPPABLE) != 0;
    }
}

uint64_t unseen__record_checksum(const uint8_t *bytes, size_t len, const uint8_t id[UNSEEN__ID_LEN])
{
    return unseen__checksum_seeded(bytes, len - UNSEEN__RECORD_TAIL, load_le64(id));
}
