/* SPDX-License-Identifier: MIT */
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>

#include "lines/decoder.h"

enum {
    BESIDE_BYTES = 1 << 20 /* for all but the window, of which liblzma asks for about 100 KB */
};

struct xz {
    lzma_stream stream;
    uint64_t memory;
};

static bool xz_again(void *decoder)
{
    struct xz *xz = decoder;
    return lzma_stream_decoder(&xz->stream, xz->memory, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
}

static void *xz_create(unsigned window_log)
{
    struct xz *xz = malloc(sizeof(*xz));
    if (!xz) {
        return NULL;
    }
    *xz = (struct xz){LZMA_STREAM_INIT, ((uint64_t)1 << window_log) + BESIDE_BYTES};
    if (!xz_again(xz)) {
        free(xz);
        return NULL;
    }
    return xz;
}

static void xz_free(void *decoder)
{
    struct xz *xz = decoder;
    if (xz) {
        lzma_end(&xz->stream);
        free(xz);
    }
}

static enum decoded xz_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    lzma_stream *z = &((struct xz *)decoder)->stream;
    z->next_in = flow->in;
    z->avail_in = flow->nin;
    z->next_out = flow->out;
    z->avail_out = flow->nout;
    const lzma_ret status = lzma_code(z, LZMA_RUN);
    *flow = (struct decoder_flow){z->next_in, z->avail_in, z->next_out, z->avail_out};
    switch (status) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return DECODED_SOME;
    case LZMA_STREAM_END:
        return DECODED_END;
    case LZMA_MEM_ERROR:
        return DECODED_NO_MEMORY;
    case LZMA_MEMLIMIT_ERROR:
        return DECODED_TOO_LARGE;
    case LZMA_UNSUPPORTED_CHECK:
        *why_out = "its checksum is of an unknown kind";
        return DECODED_DAMAGED;
    case LZMA_OPTIONS_ERROR:
        *why_out = "unknown filters or options";
        return DECODED_DAMAGED;
    case LZMA_FORMAT_ERROR:
        *why_out = "wrong beginning";
        return DECODED_DAMAGED;
    default:
        *why_out = "wrong data or checksum";
        return DECODED_DAMAGED;
    }
}

const struct decoder_format decode_xz = {
    .name = "xz data",
    .cut = "the compressed data ends too early",
    .command = "xz -dc",
    .create = xz_create,
    .step = xz_step,
    .again = xz_again,
    .first = 0xfd,
    .free = xz_free,
};
