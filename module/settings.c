/* SPDX-License-Identifier: MIT
 *
 *     version kind is_fixed 0 | expansion bucket iterations | fpr tightening capacity limit | seed |
 *     length of the profile, profile | CRC-32C */
#include "settings.h"

#include <string.h>

#include "bytes.h"
#include "checksum.h"

enum {
    VERSION = 1,
    FIXED_LEN = 4 + 3 * 4 + 4 * 8 + SEED_LEN + 1
};

static uint64_t bits_of(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    return bits;
}

static double number_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

size_t settings_encode(const struct settings *s, uint8_t *buf)
{
    const size_t profile_len = strlen(s->profile);
    const uint8_t head[4] = {VERSION, (uint8_t)s->kind, s->is_fixed, 0};
    memcpy(buf, head, sizeof(head));
    put_le(buf + 4, s->expansion, 4);
    put_le(buf + 8, s->bucket, 4);
    put_le(buf + 12, s->iterations, 4);
    put_le(buf + 16, bits_of(s->fpr), 8);
    put_le(buf + 24, bits_of(s->tightening), 8);
    put_le(buf + 32, s->capacity, 8);
    put_le(buf + 40, s->limit, 8);
    memcpy(buf + 48, s->seed, SEED_LEN);
    buf[FIXED_LEN - 1] = (uint8_t)profile_len;
    memcpy(buf + FIXED_LEN, s->profile, profile_len);
    return checksum_append(buf, FIXED_LEN + profile_len);
}

static bool are_in_range(const struct settings *s)
{
    const bool has_limit = s->kind == KIND_BLOOM || s->kind == KIND_CUCKOO;
    return s->kind >= KIND_BLOOM && s->kind <= KIND_URLS && s->fpr > 0 && s->fpr < 1 &&
           s->tightening > 0 && s->tightening < 1 && (!has_limit || s->capacity <= CAPACITY_MAX) &&
           (!s->is_fixed || s->capacity > 0) && (s->kind != KIND_CUCKOO || s->bucket > 0) &&
           s->expansion <= EXPANSION_MAX;
}

bool settings_decode(struct settings *settings, const uint8_t *data, size_t len)
{
    len = checksum_strip(data, len);
    if (len == SIZE_MAX || len < FIXED_LEN || len != (size_t)FIXED_LEN + data[FIXED_LEN - 1] ||
        data[0] != VERSION || data[2] > 1 || data[3] != 0) {
        return false;
    }
    struct settings s = {
        .kind = (enum kind)data[1],
        .is_fixed = data[2],
        .expansion = (uint32_t)get_le(data + 4, 4),
        .bucket = (uint32_t)get_le(data + 8, 4),
        .iterations = (uint32_t)get_le(data + 12, 4),
        .fpr = number_of(get_le(data + 16, 8)),
        .tightening = number_of(get_le(data + 24, 8)),
        .capacity = get_le(data + 32, 8),
        .limit = get_le(data + 40, 8),
    };
    const size_t profile_len = data[FIXED_LEN - 1];
    memcpy(s.seed, data + 48, SEED_LEN);
    memcpy(s.profile, data + FIXED_LEN, profile_len);
    if (memchr(s.profile, 0, profile_len) || !are_in_range(&s)) {
        return false;
    }
    *settings = s;
    return true;
}
