/* SPDX-License-Identifier: MIT */
#include <zstd.h>

#include "print/encoder.h"

static void zstd_free(void *state)
{
    (void)ZSTD_freeCStream(state);
}

/* With a checksum, as the program zstd writes it. */
static void *zstd_create(void)
{
    ZSTD_CStream *zstd = ZSTD_createCStream();
    if (zstd && ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1))) {
        zstd_free(zstd);
        return NULL;
    }
    return zstd;
}

static enum encoded zstd_step(void *state, struct encoder_flow *flow, bool end)
{
    ZSTD_inBuffer from = {flow->in, flow->nin, 0};
    ZSTD_outBuffer to = {flow->out, flow->nout, 0};
    const size_t status =
        ZSTD_compressStream2(state, &to, &from, end ? ZSTD_e_end : ZSTD_e_continue);
    *flow = (struct encoder_flow){flow->in + from.pos, flow->nin - from.pos, flow->out + to.pos,
                                  flow->nout - to.pos};
    if (ZSTD_isError(status)) {
        return ENCODED_FAILED;
    }
    return end && status == 0 ? ENCODED_DONE : ENCODED_MORE;
}

const struct encoder_kind encode_zstd = {".zst", zstd_create, zstd_step, zstd_free};
