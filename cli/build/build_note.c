/* SPDX-License-Identifier: MIT
 *
 * Describes a build, its options and its input files, in the text that a checkpoint keeps. A later
 * run goes on with the build only if its own description is the same. The description is compared
 * as text, so that a difference can be shown. A file counts as unchanged if its name, size, inode
 * and time of change are the same. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <unseen_list.h>

#include "build/build_job.h"
#include "print/message.h"

enum {
    PLACE_BYTES = 256 /* more than ten numbers need */
};

__attribute__((format(printf, 2, 3))) static bool put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || !text_reserve(text, (size_t)len + 1)) {
        return false;
    }
    va_start(args, format);
    (void)vsnprintf(text->data + text->len, (size_t)len + 1, format, args);
    va_end(args);
    text->len += (size_t)len;
    return true;
}

/* Puts what identifies the list of --from. Its changes are left out: they may grow meanwhile, and
 * are read again at the end. */
static bool put_old(struct text *text, const char *name, const struct unseen_list_info *info)
{
    return name ? put(text, "--from %s (%" PRIu64 " keys, seed %016" PRIx64 ")\n", name,
                      info->nkeys, info->seed_id)
                : put(text, "--from nothing\n");
}

bool build_note_describe(struct text *text, const struct build_job *m)
{
    const struct options *o = m->o;
    const struct build_inputs *in = &m->inputs;
    bool good = put(text, "unseen build 1\n") &&
                put(text, "--kind %s\n", unseen_kind_name(m->kind)) &&
                put(text, "--profile %s\n", m->profile) && put(text, "--fpr %.17g\n", m->fpr) &&
                put(text, "--capacity %" PRIu64 "\n", o->seen.capacity) &&
                put(text, "--seed %s\n", o->seen.seed.len ? "given" : "random") &&
                put(text, "--key %s\n", o->key.text ? o->key.text : "none") &&
                put(text, "--separator %d\n", o->key.separator) &&
                put(text, "--null %d\n", !o->input.delimiter) &&
                put(text, "--max-line %" PRIu64 "\n", o->input.max_line) &&
                put(text, "--dangerous %d\n", o->list.entries.dangerous) &&
                put(text, "--skip-invalid %d\n", o->list.entries.skip_invalid) &&
                put(text, "--comments %s\n",
                    o->list.entries.comments ? o->list.entries.comments : "by kind") &&
                put_old(text, o->list.from, &m->old.info);
    for (size_t i = 0; i < in->n && good; i++) {
        const struct build_input *f = &in->files[i];
        good =
            put(text, "%s (%" PRIu64 " bytes, changed at %" PRId64 ".%09ld, inode %" PRIu64 ")\n",
                in->names[i], f->nbytes, f->seconds, f->nanoseconds, f->inode);
    }
    return good && put(text, "\n");
}

bool build_note_put(struct text *text, const struct build_place *place,
                    const struct build_counts *counts)
{
    return put(text,
               "%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
               " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
               place->input, place->nbytes, place->nlines, place->nused, counts->nlines,
               counts->nentries, counts->ncomments, counts->ndangerous, counts->nskipped,
               counts->nremoved, counts->nplain);
}

static bool read_place(struct unseen_bytes rest, struct build_place *p, struct build_counts *c)
{
    char line[PLACE_BYTES];
    if (rest.len >= sizeof(line)) {
        return false;
    }
    memcpy(line, rest.data, rest.len);
    line[rest.len] = '\0';
    return sscanf(line,
                  "%zu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                  &p->input, &p->nbytes, &p->nlines, &p->nused, &c->nlines, &c->nentries,
                  &c->ncomments, &c->ndangerous, &c->nskipped, &c->nremoved, &c->nplain) == 11;
}

/* Shows the first line that differs. */
static void report_difference(struct unseen_bytes note, const struct text *now, const char *list)
{
    const char *was = note.data;
    size_t at = 0;
    size_t line = 0; /* where the line begins */
    for (; at < note.len && at < now->len && was[at] == now->data[at]; at++) {
        line = was[at] == '\n' ? at + 1 : line;
    }
    const char *was_end = memchr(was + line, '\n', note.len - line);
    const char *now_end = memchr(now->data + line, '\n', now->len - line);
    const int was_len = was_end ? (int)(was_end - (was + line)) : 0;
    const int now_len = now_end ? (int)(now_end - (now->data + line)) : 0;
    message_error("%s.building holds an interrupted build of another command: '%.*s', now "
                  "'%.*s'",
                  list, was_len, was + line, now_len, now->data + line);
    message_hint("go on with the same command and the same files, or begin anew: unseen build "
                 "--restart %s FILE",
                 list);
}

bool build_note_read(struct unseen_bytes note, const struct text *description, const char *list,
                     struct build_place *place_out, struct build_counts *counts_out)
{
    const size_t len = description->len;
    if (note.len < len || memcmp(note.data, description->data, len) != 0) {
        report_difference(note, description, list);
        return false;
    }
    const struct unseen_bytes rest = {(const char *)note.data + len, note.len - len};
    if (!read_place(rest, place_out, counts_out)) {
        message_error("%s.building does not say how far the build was", list);
        message_hint("unseen build --restart %s FILE", list);
        return false;
    }
    return true;
}
