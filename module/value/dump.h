/* SPDX-License-Identifier: MIT
 *
 * A value as a row of frames, each at most DUMP_FRAME_MAX bytes with its own checksum: what an RDB
 * file, a rewritten AOF, SCANDUMP and LOADCHUNK carry, and how a value is copied.
 *
 *     'S' settings              first; settings.c
 *     'M' small set, checksum   docs/format.md, "Small sets"; or
 *     'C' chunk of an export    docs/format.md, "Chunks": all the chunks of a set
 *     'L' leases, checksum      only if there are some
 *     'Z' counts, checksum      last: the value is complete */
#ifndef UNSEEN_MODULE_DUMP_H
#define UNSEEN_MODULE_DUMP_H

#include "value/value.h"

enum {
    DUMP_FRAME_MAX = 65536 + 1
};

/* The position before the first frame, and behind the last. */
enum {
    DUMP_START = 0,
    DUMP_END = -1
};

/* Writes the frame at *position into buf, of DUMP_FRAME_MAX bytes, and counts *position on. Every
 * position is a number above 0, which SCANDUMP shows to its client; behind the last frame it is
 * DUMP_END. Returns the length, or 0 at a position that no dump of this value has. */
size_t dump_frame(const struct value *value, int64_t *position, uint8_t *buf);

/* A value that is being put together. */
struct loader {
    struct value *value; /* NULL before the settings */
    struct unseen_import *import;
    uint64_t nbytes; /* of all chunks so far */
    bool is_complete;
};

void loader_init(struct loader *loader);

/* Takes the next frame. After an error the loader can only be released.
 *
 * Errors:
 *   - CORRUPT
 *   - VERSION: settings of another version of the module
 *   - NOMEM */
enum unseen_status loader_take(struct loader *loader, const void *frame, size_t len);

/* Takes the value out of a loader that is complete. */
struct value *loader_value(struct loader *loader);

void loader_release(struct loader *loader);

/* A copy of a value, with the same digest. Errors: NOMEM. */
enum unseen_status dump_copy(struct value **copy_out, const struct value *value);

#endif
