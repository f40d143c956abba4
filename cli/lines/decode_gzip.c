/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "lines/decoder.h"

enum {
    GZIP_ONLY = 15 + 16 /* for inflateInit2 */
};

static void *gzip_create(unsigned window_log)
{
    (void)window_log; /* 32 KiB at most */
    z_stream *z = calloc(1, sizeof(*z));
    if (z && inflateInit2(z, GZIP_ONLY) != Z_OK) {
        free(z);
        return NULL;
    }
    return z;
}

static void gzip_free(void *decoder)
{
    if (decoder) {
        (void)inflateEnd(decoder);
        free(decoder);
    }
}

static bool gzip_again(void *decoder)
{
    return inflateReset(decoder) == Z_OK;
}

static enum decoded gzip_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    z_stream *z = decoder;
    z->next_in = (unsigned char *)(uintptr_t)flow->in; /* zlib does not write there */
    z->avail_in = (uInt)flow->nin;
    z->next_out = flow->out;
    z->avail_out = (uInt)flow->nout;
    const int status = inflate(z, Z_NO_FLUSH);
    *flow = (struct decoder_flow){z->next_in, z->avail_in, z->next_out, z->avail_out};
    switch (status) {
    case Z_OK:
    case Z_BUF_ERROR:
        return DECODED_SOME;
    case Z_STREAM_END:
        return DECODED_END;
    case Z_MEM_ERROR:
        return DECODED_NO_MEMORY;
    default:
        *why_out = z->msg ? z->msg : zError(status);
        return DECODED_DAMAGED;
    }
}

const struct decoder_format decode_gzip = {
    .name = "gzip data",
    .cut = "the compressed data ends too early",
    .command = "gzip -dc",
    .create = gzip_create,
    .step = gzip_step,
    .again = gzip_again,
    .first = 0x1f,
#ifdef UNSEEN_ISAL
    .quick = &decode_isal,
#endif
    .free = gzip_free,
};
