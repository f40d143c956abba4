/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "print/encoder.h"

enum {
    GZIP = 15 + 16, /* for deflateInit2 */
    MEMORY = 8      /* the default of zlib */
};

static void *gzip_create(void)
{
    z_stream *z = calloc(1, sizeof(*z));
    if (z && deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
                 Z_OK) {
        free(z);
        return NULL;
    }
    return z;
}

static void gzip_free(void *state)
{
    if (state) {
        (void)deflateEnd(state); /* fails if data is left, which is dropped */
        free(state);
    }
}

static enum encoded gzip_step(void *state, struct encoder_flow *flow, bool end)
{
    z_stream *z = state;
    z->next_in = (unsigned char *)(uintptr_t)flow->in; /* zlib does not write there */
    z->avail_in = (uInt)flow->nin;
    z->next_out = flow->out;
    z->avail_out = (uInt)flow->nout;
    const int status = deflate(z, end ? Z_FINISH : Z_NO_FLUSH);
    *flow = (struct encoder_flow){z->next_in, z->avail_in, z->next_out, z->avail_out};
    switch (status) {
    case Z_STREAM_END:
        return ENCODED_DONE;
    case Z_OK:
    case Z_BUF_ERROR:
        return ENCODED_MORE;
    default:
        return ENCODED_FAILED;
    }
}

const struct encoder_kind encode_gzip = {".gz", gzip_create, gzip_step, gzip_free};
