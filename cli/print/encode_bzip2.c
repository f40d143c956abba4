/* SPDX-License-Identifier: MIT */
#include <bzlib.h>
#include <stdint.h>
#include <stdlib.h>

#include "print/encoder.h"

enum {
    BLOCKS = 9 /* of 100 KB, the default of the program bzip2 */
};

static void *bzip2_create(void)
{
    bz_stream *bz = calloc(1, sizeof(*bz));
    if (bz && BZ2_bzCompressInit(bz, BLOCKS, 0, 0) != BZ_OK) {
        free(bz);
        return NULL;
    }
    return bz;
}

static void bzip2_free(void *state)
{
    if (state) {
        (void)BZ2_bzCompressEnd(state); /* cannot fail */
        free(state);
    }
}

static enum encoded bzip2_step(void *state, struct encoder_flow *flow, bool end)
{
    bz_stream *bz = state;
    const bool is_empty = flow->nin == 0;
    bz->next_in = (char *)(uintptr_t)flow->in; /* libbz2 does not write there */
    bz->avail_in = (unsigned)flow->nin;
    bz->next_out = (char *)flow->out;
    bz->avail_out = (unsigned)flow->nout;
    const int status = BZ2_bzCompress(bz, end ? BZ_FINISH : BZ_RUN);
    *flow = (struct encoder_flow){(unsigned char *)bz->next_in, bz->avail_in,
                                  (unsigned char *)bz->next_out, bz->avail_out};
    switch (status) {
    case BZ_STREAM_END:
        return ENCODED_DONE;
    case BZ_RUN_OK:
    case BZ_FINISH_OK:
        return ENCODED_MORE;
    case BZ_PARAM_ERROR: /* nothing to do */
        return is_empty && !end ? ENCODED_MORE : ENCODED_FAILED;
    default:
        return ENCODED_FAILED;
    }
}

const struct encoder_kind encode_bzip2 = {".bz2", bzip2_create, bzip2_step, bzip2_free};
