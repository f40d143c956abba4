/* SPDX-License-Identifier: MIT
 *
 * Opens what -x names: stores, lists, foreign filters, and files of lines, whose lines count as
 * seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unseen_list.h>

#include "lines/files.h"
#include "lines/identity.h"
#include "lines/profile.h"
#include "lines/reader.h"
#include "lines/url_watch.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/seen.h"
#include "seen/stores.h"

/* Checks a store, which seen_open has opened. */
static bool check_store(const struct seen *m, const struct asked *a)
{
    const struct unseen_store *store = m->asked.store;
    const char *has = unseen_set_profile(a->set);
    const char *wanted = unseen_set_profile(m->asked.set);
    if (strcmp(has, wanted) == 0) {
        return true;
    }
    message_error("%s has the profile %s, %s has %s", a->path, has, store ? m->o->path : "the run",
                  wanted);
    const bool keeps = !store || stores_info(m->asked.store).is_new;
    message_hint("%s", typed_changed(keeps ? "rule drop-params only-params"
                                           : "rule drop-params only-params " STORES_OPTIONS,
                                     "--profile %s", typed_quoted(has)));
    return false;
}

static bool exclude_list(struct seen *m, const char *path, enum unseen_cpu cpu)
{
    struct asked *a = &m->excluded[m->nexcluded++];
    if (!asked_open_list(a, path, cpu)) {
        return false;
    }
    a->list.takes_canons =
        a->list.kind == UNSEEN_KIND_URL &&
        strcmp(lists_info(a->list.list).profile, unseen_set_profile(m->asked.set)) == 0;
    return true;
}

/* A foreign filter was filled by a program that knew no profile. */
static bool exclude_foreign(struct seen *m, const char *path)
{
    if (m->url) {
        message_error("%s is a foreign filter, asked with the bytes of each line; the profile %s "
                      "rewrites them",
                      path, unseen_set_profile(m->asked.set));
        message_hint("%s", typed_changed("rule drop-params only-params", "--profile none"));
        return false;
    }
    return asked_open_foreign(&m->excluded[m->nexcluded++], path);
}

/* The set for the lines of -x: that of the run; with a store or a window a set of their own, as the
 * store must not remember them, and the window must not forget them. */
static struct unseen_set *set_for_lines(struct seen *m, enum unseen_cpu cpu)
{
    if (m->asked.own && m->o->window == 0) {
        return m->asked.own;
    }
    for (size_t i = 0; i < m->nexcluded; i++) {
        if (m->excluded[i].own) {
            return m->excluded[i].own;
        }
    }
    struct asked *a = &m->excluded[m->nexcluded++];
    *a = (struct asked){.ops = &asked_set, .makes_keys = true};
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = m->url ? unseen_url_id(m->url) : "none", .cpu = cpu};
    const enum unseen_status status = unseen_set_create(&a->own, &options, NULL);
    if (status != UNSEEN_OK) {
        message_error("cannot make a set: %s", unseen_status_string(status));
        return NULL;
    }
    a->set = a->own;
    return a->own;
}

/* Warns if the output goes through a pipe, as in `unseen -x FILE | tee -a FILE`, and the last line
 * of the file does not end: what is appended would continue it. */
static void check_end(const struct seen *m, const char *path)
{
    struct stat st;
    const bool to_pipe = fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
    const int fd =
        to_pipe && !files_is_standard_input(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && files_end(fd, m->input->delimiter) == FILE_END_OPEN) {
        message_warning("the last line of %s has no end: what is appended continues it", path);
        message_hint("to end it and append the new lines: %s",
                     typed_with("--output %s --tee", typed_quoted(path)));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* Reads a file of lines for -x. Each whole line is an identity: -k is for the input only. */
static bool exclude_lines(struct seen *m, const char *path, enum unseen_cpu cpu,
                          uint64_t *nlines_out)
{
    if (access(path, F_OK) != 0 && errno == ENOENT && !files_is_standard_input(path)) {
        message_error("cannot open %s: %s", path, strerror(ENOENT));
        message_hint("to make an empty list: touch %s", typed_quoted(path));
        return false;
    }
    struct unseen_set *set = set_for_lines(m, cpu);
    if (!set) {
        return false;
    }
    check_end(m, path);
    const struct key_options key = {.shard = m->key->shard, .nshards = m->key->nshards};
    struct identity whole = {
        .url = m->url, .set = set, .key = &key, .delimiter = m->input->delimiter};
    enum unseen_status status = UNSEEN_OK;
    struct reader reader = {
        .names = &path,
        .nnames = 1,
        .identity = &whole,
        .options = m->input,
        .nblocks = 1,
    };
    struct url_watch watch = {.matters = true};
    struct batch *b = calloc(1, sizeof(*b));
    if (!b) {
        return message_no_memory();
    }
    while (status == UNSEEN_OK && reader_next(&reader, b, true)) {
        uint8_t verdicts[BATCH_LINES];
        status = unseen_set_add_keys(set, b->keys, b->n, verdicts, NULL);
        *nlines_out += b->n + b->nother;
        url_watch_look(&watch, b, 0, b->n);
    }
    if (status != UNSEEN_OK) {
        seen_report_full(status);
    }
    reader_summary(&reader);
    reader_release(&reader);
    text_release(&b->text);
    free(b);
    return status == UNSEEN_OK && !reader.failed && url_watch_report_file(&watch, path);
}

/* The store of -x that seen_open has opened, or NULL. */
static const struct asked *find_store(const struct seen *m, const char *path)
{
    for (size_t i = 0; i < m->nexcluded; i++) {
        if (m->excluded[i].store && m->excluded[i].path == path) {
            return &m->excluded[i];
        }
    }
    return NULL;
}

static bool exclude(struct seen *m, const char *path, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    const struct asked *store = find_store(m, path);
    if (store) {
        return check_store(m, store);
    }
    if (!seen_check_parts(m, path)) {
        return false;
    }
    switch (stores_type_of(path)) {
    case STORES_LIST:
        return exclude_list(m, path, cpu);
    case STORES_FOREIGN:
        return exclude_foreign(m, path);
    case STORES_BITMAP:
        message_error("%s is a bitmap, which has integers and no lines", path);
        message_hint("unseen bits check -v %s%s", typed_quoted(path), typed_inputs());
        return false;
    default:
        return exclude_lines(m, path, cpu, nlines_out);
    }
}

bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    for (size_t i = 0; i < m->o->nexcludes; i++) {
        if (!exclude(m, m->o->excludes[i], cpu, nlines_out)) {
            return false;
        }
    }
    return true;
}
