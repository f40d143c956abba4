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
    memcpy(h.profile, bytes + PROFILE_OFFSET, UNSEEN__PROFILE_LEN);
    if (load_le32(bytes + 12) != UNSEEN__HEADER_LEN || !unseen__key_bits_are_valid(h.key_bits) ||
        !(h.fpr > 0 && h.fpr < 1) || !(h.bits_per_key >= 0) ||
        h.filter[UNSEEN__FILTER_NAME_LEN - 1] != '\0' ||
        h.profile[UNSEEN__PROFILE_LEN - 1] != '\0') {
        return UNSEEN_ERR_CORRUPT;
    }
    *header_out = h;
    return UNSEEN_OK;
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
    store_le64(bytes + 104, header->table_len);
    store_le64(bytes + 112, header->table_checksum);
    store_le64(bytes + 120, header->note);
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
    header_out->table_len = load_le64(bytes + 104);
    header_out->table_checksum = load_le64(bytes + 112);
    header_out->note = load_le64(bytes + 120);
    header_out->record_checksum = load_le64(bytes + 4080);
    return UNSEEN_OK;
}

/* ---- records ---- */

size_t unseen__record_bits_offset(const struct unseen__record *record, unsigned key_bits)
{
    const size_t each = record->kind == UNSEEN__RECORD_CHANGES ? unseen__key_bytes(key_bits) : 1;
    return UNSEEN__RECORD_HEAD + round_up_8(record->n * each);
}

size_t unseen__record_len(const struct unseen__record *record, unsigned key_bits)
{
    const bool removals =
        record->kind == UNSEEN__RECORD_CHANGES && (record->flags & UNSEEN__FLAG_REMOVALS);
    return unseen__record_bits_offset(record, key_bits) +
           (removals ? round_up_8(((size_t)record->n + 7) / 8) : 0) + UNSEEN__RECORD_TAIL;
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
    store_le64(bytes + 32, record->output_len);
    store_le64(bytes + 40, record->output_checksum);
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
        .output_len = load_le64(bytes + 32),
        .output_checksum = load_le64(bytes + 40),
    };
    const bool changes = r.kind == UNSEEN__RECORD_CHANGES;
    const uint32_t most = changes ? UNSEEN__RECORD_KEYS_MAX : UNSEEN__OUTPUT_NAME_MAX;
    if (load_le32(bytes) != UNSEEN__RECORD_MARK || load_le16(bytes + 6) != 0 ||
        load_le32(bytes + 28) != 0 || r.offset != offset || r.number == 0 || r.n > most) {
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
