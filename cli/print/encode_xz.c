/* SPDX-License-Identifier: MIT */
#include <lzma.h>
#include <stdlib.h>

#include "print/encoder.h"

static void xz_free(void *state)
{
    if (state) {
        lzma_end(state);
        free(state);
    }
}

/* As the program xz writes it. */
static void *xz_create(void)
{
    lzma_stream *z = malloc(sizeof(*z));
    if (!z) {
        return NULL;
    }
    *z = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_easy_encoder(z, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK) {
        xz_free(z);
        return NULL;
    }
    return z;
}

static enum encoded xz_step(void *state, struct encoder_flow *flow, bool end)
{
    lzma_stream *z = state;
    z->next_in = flow->in;
    z->avail_in = flow->nin;
    z->next_out = flow->out;
    z->avail_out = flow->nout;
    const lzma_ret status = lzma_code(z, end ? LZMA_FINISH : LZMA_RUN);
    *flow = (struct encoder_flow){z->next_in, z->avail_in, z->next_out, z->avail_out};
    switch (status) {
    case LZMA_STREAM_END:
        return ENCODED_DONE;
    case LZMA_OK:
    case LZMA_BUF_ERROR:
        return ENCODED_MORE;
    default:
        return ENCODED_FAILED;
    }
}

const struct encoder_kind encode_xz = {".xz", xz_create, xz_step, xz_free};
