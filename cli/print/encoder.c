/* SPDX-License-Identifier: MIT */
#include "print/encoder.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    ROOM_BYTES = 64 * 1024,
    PIECE_BYTES = 1 << 30 /* zlib and libbz2 count in unsigned int */
};

struct encoder {
    const struct encoder_kind *kind;
    void *state;
    unsigned char room[ROOM_BYTES];
};

/* In capitals or not. */
static bool ends_with(const char *name, const char *suffix)
{
    const size_t len = strlen(name);
    const size_t n = strlen(suffix);
    return len > n && strcasecmp(name + len - n, suffix) == 0;
}

const struct encoder_kind *encoder_kind_of(const char *name)
{
    static const struct encoder_kind *const kinds[] = {&encode_gzip, &encode_zstd, &encode_xz,
                                                       &encode_bzip2};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (ends_with(name, kinds[i]->suffix)) {
            return kinds[i];
        }
    }
    return NULL;
}

bool encoder_is_foreign(const char *name)
{
    static const char *const suffixes[] = {
        ".7z", ".Z",   ".br",  ".lz",   ".lz4",  ".lzma", ".lzo", ".rar",
        ".sz", ".tar", ".tgz", ".tbz2", ".tzst", ".txz",  ".zip",
    };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (ends_with(name, suffixes[i])) {
            return true;
        }
    }
    return ends_with(name, ".tar.gz") || ends_with(name, ".tar.zst") ||
           ends_with(name, ".tar.xz") || ends_with(name, ".tar.bz2");
}

struct encoder *encoder_create(const struct encoder_kind *kind)
{
    struct encoder *e = malloc(sizeof(*e));
    if (!e) {
        return NULL;
    }
    e->kind = kind;
    e->state = kind->create();
    if (!e->state) {
        free(e);
        return NULL;
    }
    return e;
}

void encoder_free(struct encoder *e)
{
    if (e) {
        e->kind->free(e->state);
        free(e);
    }
}

static bool encoder_run(struct encoder *e, const char *data, size_t len, bool end,
                        struct encoder_sink sink, bool *failed_out)
{
    struct encoder_flow flow = {.in = (const unsigned char *)data, .nin = len};
    enum encoded status = ENCODED_MORE;
    do {
        flow.out = e->room;
        flow.nout = ROOM_BYTES;
        status = e->kind->step(e->state, &flow, end);
        if (status == ENCODED_FAILED) {
            *failed_out = true;
            return false;
        }
        const size_t n = ROOM_BYTES - flow.nout;
        if (n > 0 && !sink.write(sink.context, (const char *)e->room, n)) {
            return false;
        }
    } while (end ? status != ENCODED_DONE : flow.nin > 0 || flow.nout == 0);
    return true;
}

bool encoder_put(struct encoder *e, const char *data, size_t len, struct encoder_sink sink,
                 bool *failed_out)
{
    bool good = true;
    while (len > 0 && good) {
        const size_t n = len < PIECE_BYTES ? len : PIECE_BYTES;
        good = encoder_run(e, data, n, false, sink, failed_out);
        data += n;
        len -= n;
    }
    return good;
}

bool encoder_end(struct encoder *e, struct encoder_sink sink, bool *failed_out)
{
    return encoder_run(e, "", 0, true, sink, failed_out);
}
