/* SPDX-License-Identifier: MIT */
#include "build/build_inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lines/files.h"
#include "lines/input.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/stores.h"

enum {
    SAMPLES = 64, /* files that are sampled */
    SAMPLE_BYTES = 256 * 1024
};

static bool look_at(struct build_inputs *in, size_t i, const struct options *o)
{
    const char *name = in->names[i];
    struct stat st;
    if (files_is_standard_input(name)) {
        in->are_files = false;
        return true;
    }
    if (stat(name, &st) != 0) {
        message_error("cannot open %s: %s", name, strerror(errno));
        return false;
    }
    if (S_ISDIR(st.st_mode)) {
        message_error("cannot read %s: %s", name, strerror(EISDIR));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        in->are_files = false;
        return true;
    }
    const enum stores_type type = stores_refuse(name);
    if (type != STORES_NONE) {
        message_hint(type == STORES_LIST
                         ? "to take over its changes: unseen build --from %s %s FILE"
                         : "give the lines that were added to %s: unseen build %s FILE",
                     typed_quoted(name), typed_quoted(o->seen.path));
        return false;
    }
    in->sizes[i] = (uint64_t)st.st_size;
    in->nbytes += (uint64_t)st.st_size;
    return true;
}

bool build_inputs_look(struct build_inputs *in, const struct options *o)
{
    *in = (struct build_inputs){.names = o->input.files, .n = o->input.nfiles, .are_files = true};
    in->sizes = calloc(in->n, sizeof(*in->sizes));
    if (!in->sizes) {
        return message_no_memory();
    }
    for (size_t i = 0; i < in->n; i++) {
        if (!look_at(in, i, o)) {
            return false;
        }
    }
    return true;
}

void build_inputs_release(struct build_inputs *in)
{
    free(in->sizes);
    in->sizes = NULL;
}

/* Counts the lines at the beginning of a file and the bytes of the file that they take; false if it
 * cannot be read. */
static bool sample(const char *name, const struct options *o, char *room, double *nlines,
                   double *nbytes)
{
    const char delimiter = o->input.delimiter;
    struct input *in = input_open(name, (struct input_wait){.before = NULL}, &o->input);
    if (!in) {
        return false;
    }
    size_t len = 0;
    ssize_t n = 1;
    while (n > 0 && len + INPUT_READ_MIN <= SAMPLE_BYTES) {
        n = input_read(in, room + len, SAMPLE_BYTES - len);
        len += n > 0 ? (size_t)n : 0;
    }
    for (size_t i = 0; i < len; i++) {
        *nlines += room[i] == delimiter;
    }
    *nlines += n == 0 && len > 0 && room[len - 1] != delimiter;
    *nbytes += (double)input_offset(in);
    input_close(in);
    return n >= 0;
}

bool build_inputs_guess_lines(const struct build_inputs *in, const struct options *o,
                              uint64_t *nlines_out)
{
    const size_t step = in->n / SAMPLES + 1;
    double nlines = 0;
    double nbytes = 0;
    char *room = in->are_files ? malloc(SAMPLE_BYTES) : NULL;
    bool good = true;
    for (size_t i = 0; room && i < in->n && good; i += step) {
        good = sample(in->names[i], o, room, &nlines, &nbytes);
    }
    free(room);
    *nlines_out = nbytes > 0 ? (uint64_t)(nlines / nbytes * (double)in->nbytes) : 0;
    return good;
}

double build_inputs_share(const struct build_inputs *in, const struct build_place *place)
{
    uint64_t nbytes = place->nused;
    for (size_t i = 0; i < place->input && i < in->n; i++) {
        nbytes += in->sizes[i];
    }
    return in->nbytes == 0 || nbytes >= in->nbytes ? 1 : (double)nbytes / (double)in->nbytes;
}
