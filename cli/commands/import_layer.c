/* SPDX-License-Identifier: MIT */
#include "commands/import_layer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/layer_file.h"
#include "lines/files.h"
#include "lines/input.h"
#include "print/message.h"
#include "seen/layers.h"
#include "seen/stores.h"

enum {
    BUFFER_BYTES = 64 * 1024
};

/* The options of this import, for hints. */
static const char *words_of(const struct options *o)
{
    static const char *const guava[] = {"guava", "guava --funnel bytes", "guava --funnel utf8",
                                        "guava --funnel utf16"};
    return o->source == SOURCE_GUAVA ? guava[o->funnel] : "dcso";
}

/* A layer has what its program chose, and its bytes are compared as they are. */
static bool check_settings(const struct options *o)
{
    const struct seen_options *s = &o->seen;
    if (o->input.nfiles > 1) {
        message_error("one filter becomes one frozen layer");
        message_hint("unseen import --format %s %s %s", words_of(o), s->path, o->input.files[0]);
        return false;
    }
    if ((o->profile.name && strcmp(o->profile.name, "none") != 0 &&
         strcmp(o->profile.name, "none/1") != 0) ||
        o->profile.nrules > 0) {
        message_error(
            "a frozen layer is asked with the bytes of each line, which no profile may rewrite");
    } else if (s->filter || s->fpr > 0 || s->capacity > 0 || s->seed.len || s->key_bits ||
               s->no_log || s->like || s->file_mode || s->bits_per_key > 0 || s->hashes) {
        message_error("a frozen layer has the filter, the size and the seed of its program");
    } else {
        return true;
    }
    message_hint("unseen import --format %s %s FILE", words_of(o), s->path);
    return false;
}

/* A layer may replace a layer, but nothing else. */
static bool check_place(const struct options *o)
{
    const char *path = o->seen.path;
    const enum stores_kind kind = stores_kind_of(path);
    if (kind == STORES_LAYER || access(path, F_OK) != 0) {
        return true;
    }
    message_error("%s is something else than a frozen layer, and stays as it is", path);
    message_hint("unseen import --format %s NEW.layer FILE", words_of(o));
    return false;
}

static enum layer_result read_filter(struct layer_file *l, struct input *in, char *buf,
                                     const char **why, bool *read_all)
{
    enum layer_result result = LAYER_TAKEN;
    ssize_t n = 0;
    while (result == LAYER_TAKEN && (n = input_read(in, buf, BUFFER_BYTES)) > 0) {
        result = layer_file_push(l, buf, (size_t)n, why);
    }
    *read_all = n >= 0;
    return result == LAYER_TAKEN && n == 0 ? layer_file_end(l, why) : result;
}

static bool take_file(struct layer_file *l, const struct options *o)
{
    const char *name = files_shown(o->input.files[0]);
    const char *why = "";
    bool read_all = false;
    char *buf = malloc(BUFFER_BYTES);
    struct input *in =
        buf ? input_open(o->input.files[0], (struct input_wait){.before = NULL}, &o->input) : NULL;
    if (!in) {
        free(buf);
        return buf ? false : message_no_memory();
    }
    const enum layer_result result = read_filter(l, in, buf, &why, &read_all);
    if (read_all && result == LAYER_WRONG) {
        message_error("%s is not a filter of the format %s: %s", name,
                      o->source == SOURCE_GUAVA ? "guava" : "dcso", why);
    } else if (result == LAYER_NOMEM) {
        (void)message_no_memory();
    }
    input_close(in);
    free(buf);
    if (l->nattached > 0) {
        message_warning("%s: %" PRIu64
                        " bytes of data that are attached to the filter were left out",
                        name, l->nattached);
    }
    return read_all && result == LAYER_TAKEN;
}

int import_layer_run(const struct options *o)
{
    struct layer_file l = {.format = o->source == SOURCE_GUAVA ? LAYER_GUAVA : LAYER_DCSO,
                           .text =
                               o->funnel == FUNNEL_UTF16 ? UNSEEN_LAYER_UTF16 : UNSEEN_LAYER_BYTES};
    bool done = check_settings(o) && check_place(o) && take_file(&l, o);
    if (done) {
        struct unseen_error error;
        done = unseen_layer_save(l.layer, o->seen.path, &error) == UNSEEN_OK;
        if (!done) {
            layers_report(o->seen.path, &error);
        }
    }
    unseen_layer_free(l.layer);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
