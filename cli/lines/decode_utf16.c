/* SPDX-License-Identifier: MIT
 *
 * UTF-16 to UTF-8. Half a surrogate pair is damage: a replacement character would make two lines
 * equal that are not. */
#include <stdint.h>
#include <stdlib.h>

#include "lines/decoder.h"
#include "print/print_utf8.h"

struct utf16 {
    bool is_big;              /* endian */
    unsigned char pending[4]; /* the first bytes of a character */
    size_t npending;
};

static struct utf16 *utf16_create(bool is_big)
{
    struct utf16 *u = calloc(1, sizeof(*u));
    if (u) {
        u->is_big = is_big;
    }
    return u;
}

static void *utf16le_create(unsigned window_log)
{
    (void)window_log;
    return utf16_create(false);
}

static void *utf16be_create(unsigned window_log)
{
    (void)window_log;
    return utf16_create(true);
}

static uint32_t unit_at(const struct utf16 *u, size_t i)
{
    const unsigned char *p = u->pending + i;
    return u->is_big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

/* Takes a byte. DECODED_END: no character is begun. */
static enum decoded take_byte(struct utf16 *u, unsigned char byte, struct decoder_flow *flow)
{
    u->pending[u->npending++] = byte;
    if (u->npending % 2 == 1) {
        return DECODED_SOME;
    }
    uint32_t c = unit_at(u, 0);
    if (u->npending == 2 && is_high(c)) {
        return DECODED_SOME;
    }
    if (u->npending == 4) {
        const uint32_t low = unit_at(u, 2);
        if (!is_low(low)) {
            return DECODED_DAMAGED;
        }
        c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
    } else if (is_low(c)) {
        return DECODED_DAMAGED;
    }
    const size_t len = utf8_put(c, (char *)flow->out);
    flow->out += len;
    flow->nout -= len;
    u->npending = 0;
    return DECODED_END;
}

/* Most of a list of URLs. */
static void copy_ascii(const struct utf16 *u, struct decoder_flow *flow)
{
    size_t n = flow->nin / 2 < flow->nout ? flow->nin / 2 : flow->nout;
    size_t i = 0;
    while (i < n && flow->in[2 * i + !u->is_big] == 0 && flow->in[2 * i + u->is_big] < 0x80) {
        flow->out[i] = flow->in[2 * i + u->is_big];
        i++;
    }
    flow->in += 2 * i;
    flow->nin -= 2 * i;
    flow->out += i;
    flow->nout -= i;
}

static enum decoded utf16_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    struct utf16 *u = decoder;
    enum decoded status = u->npending == 0 ? DECODED_END : DECODED_SOME;
    while (flow->nin > 0 && flow->nout >= 4 && status != DECODED_DAMAGED) {
        if (u->npending == 0) {
            copy_ascii(u, flow);
        }
        if (flow->nin == 0 || flow->nout < 4) {
            break;
        }
        flow->nin--;
        status = take_byte(u, *flow->in++, flow);
    }
    if (status == DECODED_DAMAGED) {
        *why_out = "half a surrogate pair";
    }
    return status;
}

#define UTF16(create_)                                                                             \
    {                                                                                              \
        .name = "UTF-16 text", .cut = "the UTF-16 text ends within a character",                   \
        .command = "iconv -c -f UTF-16 -t UTF-8", .is_text = true, .create = (create_),            \
        .step = utf16_step, .free = free                                                           \
    }

const struct decoder_format decode_utf16le = UTF16(utf16le_create);
const struct decoder_format decode_utf16be = UTF16(utf16be_create);
