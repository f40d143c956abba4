/* SPDX-License-Identifier: MIT
 *
 * Any bytes are a bitmap: bit i is bit 7 - i % 8 of byte i / 8 in Redis, and bit i % 8 in
 * BitSet.toByteArray of Java. So nothing is taken for compressed or for text. */
#include "import/import_bitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <unseen_bitmap.h>

#include "folder.h"
#include "lines/files.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/bitmaps.h"
#include "seen/stores.h"

enum {
    BUFFER_BYTES = 64 * 1024,
    VALUES = 1024
};

struct import {
    const struct options *o;
    struct unseen_bitmap *bitmap;
    const char *name;
    uint64_t offset; /* of the current file, in bytes */
    uint64_t values[VALUES];
    size_t nvalues;
};

static bool bitmap_flush(struct import *m)
{
    const size_t n = m->nvalues;
    m->nvalues = 0;
    return unseen_bitmap_set(m->bitmap, m->values, n, NULL, NULL) == UNSEEN_OK ||
           message_no_memory();
}

static bool take_byte(struct import *m, unsigned byte)
{
    const bool high_first = m->o->source == SOURCE_REDIS_BITMAP;
    for (unsigned i = 0; i < 8; i++) {
        if (byte >> (high_first ? 7 - i : i) & 1) {
            m->values[m->nvalues++] = 8 * m->offset + i;
        }
    }
    return m->nvalues <= VALUES - 8 || bitmap_flush(m);
}

static bool take_bytes(struct import *m, const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i++, m->offset++) {
        if (data[i] && m->offset >= UNSEEN_BITMAP_END / 8) {
            message_error("%s: a bit at 2^40 or above: a bitmap of unseen has none", m->name);
            return false;
        }
        if (data[i] && !take_byte(m, data[i])) {
            return false;
        }
    }
    return true;
}

static bool bitmap_file(struct import *m, const char *path)
{
    static unsigned char buffer[BUFFER_BYTES];
    const bool standard = files_is_standard_input(path);
    const int fd = standard ? STDIN_FILENO : file_open(path, O_RDONLY);
    ssize_t n = 0;
    bool taken = true;
    m->name = files_shown(path);
    m->offset = 0;
    if (fd < 0) {
        message_error("cannot open %s: %s", m->name, strerror(errno));
        return false;
    }
    while (taken && ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))) {
        taken = n < 0 || take_bytes(m, buffer, (size_t)n);
    }
    if (n < 0) {
        message_error("cannot read %s: %s", m->name, strerror(errno));
    }
    if (!standard) {
        (void)close(fd); /* was only read */
    }
    return taken && n == 0 && bitmap_flush(m);
}

static bool check_settings(const struct options *o)
{
    const struct seen_options *s = &o->seen;
    if (o->profile.name || o->profile.nrules > 0 || s->filter || s->fpr > 0 || s->capacity > 0 ||
        s->seed.len || s->key_bits || s->no_log || s->like || s->file_mode || s->bits_per_key > 0 ||
        s->hashes) {
        message_error("a bitmap has integers, and no profile, filter or seed");
        message_hint("%s", typed_without(STORES_SETTINGS));
        return false;
    }
    return true;
}

int import_bitmap_run(const struct options *o, enum unseen_cpu cpu)
{
    struct import m = {.o = o};
    bool done = check_settings(o) && bitmaps_edit(&m.bitmap, o->seen.path, &o->seen, cpu);
    for (size_t i = 0; i < o->input.nfiles && done; i++) {
        done = bitmap_file(&m, o->input.files[i]);
    }
    done = done && bitmaps_save(m.bitmap, o->seen.path);
    unseen_bitmap_free(m.bitmap);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
