/* SPDX-License-Identifier: MIT
 *
 * Decodes bzip2. libbz2 takes at most 3.7 MB for a decoder, whatever the data says. So the limit of
 * --long, which other decoders obey, does not matter here. */
#include <bzlib.h>
#include <stdint.h>
#include <stdlib.h>

#include "lines/decoder.h"

static bool bzip2_start(bz_stream *bz)
{
    return BZ2_bzDecompressInit(bz, 0, 0) == BZ_OK;
}

static void *bzip2_create(unsigned window_log)
{
    (void)window_log;
    bz_stream *bz = calloc(1, sizeof(*bz));
    if (bz && !bzip2_start(bz)) {
        free(bz);
        return NULL;
    }
    return bz;
}

static void bzip2_free(void *decoder)
{
    if (decoder) {
        (void)BZ2_bzDecompressEnd(decoder); /* fails if bzip2_again has failed: nothing to free */
        free(decoder);
    }
}

static bool bzip2_again(void *decoder)
{
    return BZ2_bzDecompressEnd(decoder) == BZ_OK && bzip2_start(decoder);
}

static enum decoded bzip2_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    bz_stream *bz = decoder;
    bz->next_in = (char *)(uintptr_t)flow->in; /* libbz2 does not write there */
    bz->avail_in = (unsigned)flow->nin;
    bz->next_out = (char *)flow->out;
    bz->avail_out = (unsigned)flow->nout;
    const int status = BZ2_bzDecompress(bz);
    *flow = (struct decoder_flow){(unsigned char *)bz->next_in, bz->avail_in,
                                  (unsigned char *)bz->next_out, bz->avail_out};
    switch (status) {
    case BZ_OK:
        return DECODED_SOME;
    case BZ_STREAM_END:
        return DECODED_END;
    case BZ_MEM_ERROR:
        return DECODED_NO_MEMORY;
    default:
        *why_out = status == BZ_DATA_ERROR_MAGIC ? "wrong beginning" : "wrong data or checksum";
        return DECODED_DAMAGED;
    }
}

const struct decoder_format decode_bzip2 = {
    .name = "bzip2 data",
    .cut = "the compressed data ends too early",
    .command = "bzip2 -dc",
    .create = bzip2_create,
    .step = bzip2_step,
    .again = bzip2_again,
    .first = 'B',
    .free = bzip2_free,
};
