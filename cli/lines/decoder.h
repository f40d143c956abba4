/* SPDX-License-Identifier: MIT
 *
 * Decoders: compressed bytes, or text in another encoding, to plain bytes. One table of functions
 * for each coding. */
#ifndef UNSEEN_CLI_DECODER_H
#define UNSEEN_CLI_DECODER_H

#include <stdbool.h>
#include <stddef.h>

enum {
    WINDOW_LOG_DEFAULT = 27, /* the limit of zstd -d without --long */
    WINDOW_LOG_MAX = 31
};

/* Where a step takes coded bytes from, and where it puts decoded ones. Both move on. */
struct decoder_flow {
    const unsigned char *in;
    size_t nin;
    unsigned char *out;
    size_t nout; /* at least 4 */
};

enum decoded {
    DECODED_SOME,
    DECODED_END,       /* the data may end here: a member or a frame is complete */
    DECODED_DAMAGED,   /* *why_out says how */
    DECODED_TOO_LARGE, /* it takes more memory than the window log allows */
    DECODED_NO_MEMORY
};

struct decoder_format {
    const char *name;    /* "damaged NAME: ..." */
    const char *cut;     /* what is wrong with data that ends elsewhere */
    const char *command; /* COMMAND FILE decodes it, too; text: as far as it can */
    bool is_text;        /* in another encoding, not compressed */
    /* A decoder for windows of up to 2^window_log bytes. NULL without memory. */
    void *(*create)(unsigned window_log);
    enum decoded (*step)(void *decoder, struct decoder_flow *flow, const char **why_out);
    /* Begins another member; false without memory. NULL: step goes on by itself. */
    bool (*again)(void *decoder);
    unsigned char first; /* with again: the first byte of each member. Zeros between are padding. */
    void (*free)(void *decoder); /* NULL does nothing */
    /* NULL, or functions that take less time. If they do not come to the end of a member, the
     * functions above decode the member again, and say what is wrong. */
    const struct decoder_format *quick;
};

extern const struct decoder_format decode_gzip;
extern const struct decoder_format decode_isal; /* the quick functions of gzip */
extern const struct decoder_format decode_zstd;
extern const struct decoder_format decode_xz;
extern const struct decoder_format decode_bzip2;
extern const struct decoder_format decode_utf16le;
extern const struct decoder_format decode_utf16be;

#endif
