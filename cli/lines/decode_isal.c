/* SPDX-License-Identifier: MIT
 *
 * Decodes gzip with ISA-L, in half the time of zlib. Damaged data ISA-L decodes otherwise: it
 * counts bytes that it has not written if a distance reaches too far back, and keeps the last
 * symbol in front of a cut. So stage.c decodes a member again with zlib if ISA-L does not come to
 * its end, and every sentence about damage is zlib's.
 *
 * On arm64 ISA-L 2.30 takes some blocks for the last one, and can be slower than zlib: the tool has
 * it on x86-64 only. */
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

#include "lines/decoder.h"

enum {
    FLAGS_RESERVED = 0xe0 /* of a header: zlib refuses them, and ISA-L does not look at them */
};

struct isal {
    struct inflate_state state;
    struct isal_gzip_header header;
};

static bool isal_again(void *decoder)
{
    isal_inflate_reset(&((struct isal *)decoder)->state);
    return true;
}

static void *isal_create(unsigned window_log)
{
    (void)window_log; /* 32 KiB at most */
    struct isal *isal = calloc(1, sizeof(*isal));
    if (isal) {
        isal_inflate_init(&isal->state);
        isal->state.crc_flag = ISAL_GZIP;
    }
    return isal;
}

/* isal_inflate would read the header, too, but forgets its flags when two steps share it. */
static int read_header(struct isal *isal)
{
    const int status = isal_read_gzip_header(&isal->state, &isal->header);
    const bool is_known = status != ISAL_DECOMP_OK || !(isal->header.flags & FLAGS_RESERVED);
    return is_known ? status : ISAL_INVALID_WRAPPER;
}

static enum decoded isal_step(void *decoder, struct decoder_flow *flow, const char **why_out)
{
    struct isal *isal = decoder;
    struct inflate_state *z = &isal->state;
    (void)why_out;                                     /* zlib says it */
    z->next_in = (unsigned char *)(uintptr_t)flow->in; /* ISA-L does not write there */
    z->avail_in = (uint32_t)flow->nin;
    z->next_out = flow->out;
    z->avail_out = (uint32_t)flow->nout;
    int status = z->wrapper_flag ? ISAL_DECOMP_OK : read_header(isal);
    if (status == ISAL_DECOMP_OK) {
        status = isal_inflate(z);
    }
    *flow = (struct decoder_flow){z->next_in, z->avail_in, z->next_out, z->avail_out};
    if (status < 0) {
        return DECODED_DAMAGED;
    }
    return z->block_state == ISAL_BLOCK_FINISH ? DECODED_END : DECODED_SOME;
}

const struct decoder_format decode_isal = {
    .create = isal_create,
    .step = isal_step,
    .again = isal_again,
    .free = free,
};
