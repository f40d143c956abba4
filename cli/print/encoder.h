/* SPDX-License-Identifier: MIT
 *
 * Compresses an output whose name asks for it: NAME.gz, NAME.zst, NAME.xz, NAME.bz2. */
#ifndef UNSEEN_CLI_ENCODER_H
#define UNSEEN_CLI_ENCODER_H

#include <stdbool.h>
#include <stddef.h>

struct encoder_flow {
    const unsigned char *in;
    size_t nin;
    unsigned char *out;
    size_t nout;
};

enum encoded {
    ENCODED_MORE, /* all of in was taken, or there is no more room */
    ENCODED_DONE, /* after `end`: the data is complete */
    ENCODED_FAILED
};

/* One table of functions for each format. */
struct encoder_kind {
    const char *suffix;
    void *(*create)(void); /* NULL without memory */
    enum encoded (*step)(void *state, struct encoder_flow *flow, bool end);
    void (*free)(void *state); /* NULL does nothing */
};

extern const struct encoder_kind encode_gzip;
extern const struct encoder_kind encode_zstd;
extern const struct encoder_kind encode_xz;
extern const struct encoder_kind encode_bzip2;

/* Where compressed bytes go; false ends the encoding. */
struct encoder_sink {
    bool (*write)(void *context, const char *data, size_t len);
    void *context;
};

struct encoder;

/* The kind that a name asks for, or NULL. */
const struct encoder_kind *encoder_kind_of(const char *name);

/* True if a name asks for a format that is not written, such as NAME.zip. */
bool encoder_is_foreign(const char *name);

/* NULL without memory. */
struct encoder *encoder_create(const struct encoder_kind *kind);
void encoder_free(struct encoder *e);

/* Compresses data, some of which stays in the encoder until encoder_end. False if the sink said so
 * or memory ran out; *failed_out says that it was not the sink. */
bool encoder_put(struct encoder *e, const char *data, size_t len, struct encoder_sink sink,
                 bool *failed_out);

/* Completes the compressed data, as encoder_put does. */
bool encoder_end(struct encoder *e, struct encoder_sink sink, bool *failed_out);

#endif
