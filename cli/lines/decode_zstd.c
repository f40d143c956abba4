/* SPDX-License-Identifier: MIT */
#include <zstd.h>
#include <zstd_errors.h>

#include "lines/decoder.h"

static void *zstd_create(unsigned window_log)
{
    ZSTD_DStream *zstd = ZSTD_createDStream();
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int wanted = (int)window_log;
    const int most =
        ZSTD_isError(bounds.error) || wanted < bounds.upperBound ? wanted : bounds.upperBound;
    if (zstd && ZSTD_isError(ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, most))) {
        (void)ZSTD_freeDStream(zstd);
        return NULL;
    }
    return zstd;
}

static void zstd_free(void *decoder)
{
    (void)ZSTD_freeDStream(decoder);
}

static enum decoded zstd_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    ZSTD_inBuffer from = {flow->in, flow->nin, 0};
    ZSTD_outBuffer to = {flow->out, flow->nout, 0};
    const size_t status = ZSTD_decompressStream(decoder, &to, &from);
    *flow = (struct decoder_flow){flow->in + from.pos, flow->nin - from.pos, flow->out + to.pos,
                                  flow->nout - to.pos};
    switch (ZSTD_getErrorCode(status)) {
    case ZSTD_error_no_error:
        return status == 0 ? DECODED_END : DECODED_SOME;
    case ZSTD_error_frameParameter_windowTooLarge:
        return DECODED_TOO_LARGE;
    case ZSTD_error_memory_allocation:
        return DECODED_NO_MEMORY;
    default:
        *why_out = ZSTD_getErrorName(status);
        return DECODED_DAMAGED;
    }
}

const struct decoder_format decode_zstd = {
    .name = "zstd data",
    .cut = "the compressed data ends too early",
    .command = "zstd -dc",
    .create = zstd_create,
    .step = zstd_step,
    .free = zstd_free,
};
