/* SPDX-License-Identifier: MIT
 *
 * Opens what -x names: stores, lists, foreign filters, and files of lines, whose lines count as
 * seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <unseen_list.h>

#include "lines/files.h"
#include "lines/identity.h"
#include "lines/profile.h"
#include "lines/reader.h"
#include "print/message.h"
#include "seen/seen.h"
#include "seen/stores.h"

static bool exclude_store(struct seen *m, const char *path, const struct unseen_store *store)
{
    const struct unseen_set *set = unseen_store_set(store);
    const char *has = unseen_set_profile(set);
    const char *wanted = unseen_set_profile(m->set);
    const char *quote = profile_quote(has);
    if (strcmp(has, wanted) != 0) {
        message_error("%s has the profile %s, %s has %s", path, has,
                      m->store ? m->o->path : "the run", wanted);
        if (m->store && stores_info(m->store).is_new) {
            message_hint("unseen -p %s%s%s -s %s -x %s FILE", quote, has, quote, m->o->path, path);
        } else if (m->store) {
            message_hint("unseen -p %s%s%s -x %s FILE, without -s", quote, has, quote, path);
        } else {
            message_hint("unseen -p %s%s%s -x %s FILE", quote, has, quote, path);
        }
        return false;
    }
    m->excluded[m->nexcluded++] = set;
    return true;
}

static bool exclude_list(struct seen *m, const char *path, enum unseen_cpu cpu)
{
    struct asked_list *a = &m->lists[m->nlists];
    if (!lists_open(&a->list, path, UNSEEN_LIST_MAP_PREFETCH, cpu)) {
        return false;
    }
    m->nlists++;
    const char *has = a->list.url ? unseen_url_id(a->list.url) : "none/1";
    a->takes_canons =
        a->list.kind == UNSEEN_KIND_URL && strcmp(has, unseen_set_profile(m->set)) == 0;
    return true;
}

/* A foreign filter was filled by a program that knew no profile. */
static bool exclude_foreign(struct seen *m, const char *path)
{
    if (m->url) {
        message_error("%s is a foreign filter, asked with the bytes of each line; the profile %s "
                      "rewrites them",
                      path, unseen_set_profile(m->set));
        message_hint("unseen -p none -x %s FILE", path);
        return false;
    }
    if (!foreign_open(&m->filters[m->nfilters], path)) {
        return false;
    }
    m->nfilters++;
    return true;
}

/* The set for the lines of -x: own_set, or with a store a set of their own, as the store must not
 * remember them. */
static struct unseen_set *set_for_lines(struct seen *m, enum unseen_cpu cpu)
{
    if (m->own_set || m->lines) {
        return m->own_set ? m->own_set : m->lines;
    }
    const struct unseen_set_options options = {.size = sizeof(options), .url = m->url, .cpu = cpu};
    const enum unseen_status status = unseen_set_create(&m->lines, &options, NULL);
    if (status != UNSEEN_OK) {
        message_error("cannot make a set: %s", unseen_status_string(status));
        return NULL;
    }
    m->excluded[m->nexcluded++] = m->lines;
    return m->lines;
}

/* Reads a file of lines for -x. Each whole line is an identity: -k is for the input only. */
static bool exclude_lines(struct seen *m, const char *path, enum unseen_cpu cpu,
                          uint64_t *nlines_out)
{
    if (access(path, F_OK) != 0 && errno == ENOENT && !files_is_standard_input(path)) {
        message_error("cannot open %s: %s", path, strerror(ENOENT));
        message_hint("touch %s makes an empty list", path);
        return false;
    }
    struct unseen_set *set = set_for_lines(m, cpu);
    if (!set) {
        return false;
    }
    const struct key_options key = {.shard = m->key->shard, .nshards = m->key->nshards};
    struct identity whole = {
        .url = m->url, .set = set, .key = &key, .delimiter = m->input->delimiter};
    enum unseen_status status = identity_init(&whole);
    struct reader reader = {
        .names = &path,
        .nnames = 1,
        .identity = &whole,
        .options = m->input,
        .nblocks = 1,
    };
    struct batch *b = calloc(1, sizeof(*b));
    if (!b || status != UNSEEN_OK) {
        free(b);
        identity_release(&whole);
        return message_no_memory();
    }
    while (status == UNSEEN_OK && reader_next(&reader, b, true)) {
        uint8_t verdicts[BATCH_LINES];
        status = unseen_set_add_keys(set, b->keys, b->n, verdicts, NULL);
        *nlines_out += b->n + b->nother;
    }
    if (status != UNSEEN_OK) {
        seen_report_full(status);
    }
    reader_summary(&reader);
    reader_release(&reader);
    text_release(&b->text);
    free(b);
    identity_release(&whole);
    return status == UNSEEN_OK && !reader.failed;
}

static bool exclude(struct seen *m, size_t i, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    const char *path = m->o->excludes[i];
    if (m->stores[i]) {
        return exclude_store(m, path, m->stores[i]);
    }
    if (!seen_check_parts(m, path)) {
        return false;
    }
    switch (stores_kind_of(path)) {
    case STORES_LIST:
        return exclude_list(m, path, cpu);
    case STORES_FOREIGN:
        return exclude_foreign(m, path);
    case STORES_BITMAP:
        message_error("%s is a bitmap, which has integers and no lines", path);
        message_hint("unseen bits check -v %s FILE", path);
        return false;
    default:
        return exclude_lines(m, path, cpu, nlines_out);
    }
}

bool seen_exclude(struct seen *m, enum unseen_cpu cpu, uint64_t *nlines_out)
{
    const struct seen_options *o = m->o;
    if (o->nexcludes == 0) {
        return true;
    }
    m->excluded = calloc(o->nexcludes + 1, sizeof(struct unseen_set *));
    m->lists = calloc(o->nexcludes, sizeof(*m->lists));
    m->filters = calloc(o->nexcludes, sizeof(struct unseen_foreign *));
    if (!m->excluded || !m->lists || !m->filters) {
        return message_no_memory();
    }
    for (size_t i = 0; i < o->nexcludes; i++) {
        if (!exclude(m, i, cpu, nlines_out)) {
            return false;
        }
    }
    return true;
}
