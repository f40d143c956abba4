/* SPDX-License-Identifier: MIT
 *
 * Settings as bytes:
 *
 *     version, family | FIXED | WINDOW, seed, fpr
 *     capacity, limit, expansion, bucket, iterations as varints
 *     the window as a varint, if there is WINDOW
 *     tightening
 *     length of the profile, profile
 *     checksum
 *
 * The version also says how a value follows from its settings. The version must go up when the same
 * settings make another set: otherwise old frames would be read as something else.
 *
 * Each key is saved with its settings, even a key of a few items. So the settings are short: 43
 * bytes without a profile. */
#include "value/settings.h"

#include <string.h>

#include "value/bytes.h"
#include "value/checksum.h"

#define WINDOW_MIN 1000
#define WINDOW_MAX (UINT64_C(100) * 365 * 86400 * 1000) /* as unseen_window_parse */

enum {
    VERSION = 1,
    FIXED = 0x10,
    WINDOW = 0x20,
    NNUMBERS = 5,
    HEAD = 2 + SEED_LEN + 8
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
    const uint64_t numbers[NNUMBERS] = {s->capacity, s->limit, s->expansion, s->bucket,
                                        s->iterations};
    size_t len = HEAD;
    buf[0] = VERSION;
    buf[1] = (uint8_t)(s->family | (s->is_fixed ? FIXED : 0) | (s->window ? WINDOW : 0));
    memcpy(buf + 2, s->seed, SEED_LEN);
    put_le(buf + 2 + SEED_LEN, bits_of(s->fpr), 8);
    for (size_t i = 0; i < NNUMBERS; i++) {
        len += put_varint(buf + len, numbers[i]);
    }
    len += s->window ? put_varint(buf + len, s->window) : 0;
    put_le(buf + len, bits_of(s->tightening), 8);
    len += 8;
    buf[len++] = (uint8_t)profile_len;
    memcpy(buf + len, s->profile, profile_len);
    return checksum_append(buf, len + profile_len);
}

static bool are_in_range(const struct settings *s, bool has_window)
{
    const bool fits_window = s->family != FAMILY_CUCKOO && !s->is_fixed &&
                             s->window >= WINDOW_MIN && s->window <= WINDOW_MAX;
    const bool has_limit = s->family == FAMILY_BLOOM || s->family == FAMILY_CUCKOO;
    return s->family >= FAMILY_BLOOM && s->family <= FAMILY_URLS && s->fpr > 0 && s->fpr < 1 &&
           s->tightening > 0 && s->tightening < 1 && (!has_limit || s->capacity <= CAPACITY_MAX) &&
           (!s->is_fixed || s->capacity > 0) && (s->family != FAMILY_CUCKOO || s->bucket > 0) &&
           s->expansion <= EXPANSION_MAX && (has_window ? fits_window : s->window == 0);
}

/* Reads the profile, which ends the settings. */
static bool take_profile(struct settings *s, const uint8_t *data, size_t len)
{
    if (len == 0 || len - 1 != data[0] || memchr(data + 1, 0, len - 1)) {
        return false;
    }
    memcpy(s->profile, data + 1, len - 1);
    return true;
}

enum unseen_status settings_decode(struct settings *settings, const uint8_t *data, size_t len)
{
    uint64_t numbers[NNUMBERS];
    uint64_t window = 0;
    size_t at = HEAD;
    len = checksum_strip(data, len);
    if (len == SIZE_MAX || len == 0) {
        return UNSEEN_ERR_CORRUPT;
    }
    if (data[0] != VERSION) {
        return UNSEEN_ERR_VERSION;
    }
    if (len < HEAD) {
        return UNSEEN_ERR_CORRUPT;
    }
    for (size_t i = 0; i < NNUMBERS; i++) {
        if (!get_varint(data, len, &at, &numbers[i]) || (i > 1 && numbers[i] > UINT32_MAX)) {
            return UNSEEN_ERR_CORRUPT;
        }
    }
    const bool has_window = data[1] & WINDOW;
    if ((has_window && !get_varint(data, len, &at, &window)) || len - at < 8) {
        return UNSEEN_ERR_CORRUPT;
    }
    struct settings s = {
        .family = (enum family)(data[1] & ~(FIXED | WINDOW)),
        .is_fixed = data[1] & FIXED,
        .fpr = number_of(get_le(data + 2 + SEED_LEN, 8)),
        .capacity = numbers[0],
        .limit = numbers[1],
        .window = window,
        .expansion = (uint32_t)numbers[2],
        .bucket = (uint32_t)numbers[3],
        .iterations = (uint32_t)numbers[4],
        .tightening = number_of(get_le(data + at, 8)),
    };
    memcpy(s.seed, data + 2, SEED_LEN);
    if (!take_profile(&s, data + at + 8, len - at - 8) || !are_in_range(&s, has_window)) {
        return UNSEEN_ERR_CORRUPT;
    }
    *settings = s;
    return UNSEEN_OK;
}
