/* SPDX-License-Identifier: MIT
 *
 * What the image of a large set has, in memory: chunks, a table, and pages that are read from there
 * when they are first needed. */
#ifndef UNSEEN_TESTS_PAGES_CHECK_H
#define UNSEEN_TESTS_PAGES_CHECK_H

#include "set_check.h"

struct test_pages {
    struct test_image rest;
    uint8_t *table;
    size_t table_len;
    struct test_image pages; /* a chunk is the pages of a group */
    size_t readable;         /* bytes of the pages that can be read; the file behind was cut off */
    unsigned long nreads;
    unsigned long nread; /* pages */
    unsigned long nreleased;
    bool is_late; /* groups take memory when they are read */
};

static inline void test_pages_make(struct test_pages *p, const struct unseen_set *set)
{
    *p = (struct test_pages){.rest = test_export_by(unseen__set_next_rest, set),
                             .table_len = unseen__set_table_len(set),
                             .pages = test_export_by(unseen__set_next_pages, set)};
    p->readable = p->pages.len;
    p->table = malloc(p->table_len);
    if (!p->table) {
        abort();
    }
    unseen__set_save_table(set, p->table);
}

static inline void test_pages_free(struct test_pages *p)
{
    test_image_free(&p->rest);
    test_image_free(&p->pages);
    free(p->table);
}

static inline enum unseen_status test_pages_read(void *context, uint64_t offset, uint8_t *buf,
                                                 size_t len)
{
    struct test_pages *p = context;
    p->nreads++;
    p->nread += len / COMPACT_PAGE;
    if (offset > p->readable || len > p->readable - offset) {
        return UNSEEN_ERR_CORRUPT;
    }
    memcpy(buf, p->pages.bytes + offset, len);
    return UNSEEN_OK;
}

static inline void test_pages_release(void *context)
{
    ((struct test_pages *)context)->nreleased++;
}

/* As src/store/image.c does: the header, the table, and the other chunks. */
static inline enum unseen_status test_pages_open(struct test_pages *p,
                                                 const struct unseen_set_options *options,
                                                 struct unseen_set **set_out)
{
    struct unseen_import *import;
    const struct unseen__pages pages = {.read = test_pages_read,
                                        .release = test_pages_release,
                                        .context = p,
                                        .n = p->pages.len / COMPACT_PAGE,
                                        .is_late = p->is_late};
    enum unseen_status status = unseen_import_create(&import, options, NULL);
    if (status != UNSEEN_OK) {
        return status;
    }
    unseen__import_limit(import, p->rest.len + p->table_len + p->pages.len);
    status = test_import_chunk(import, &p->rest, 0);
    if (status == UNSEEN_OK) {
        status = unseen__import_table(import, &pages, p->table, p->table_len);
    }
    for (size_t i = 1; i < p->rest.n && status == UNSEEN_OK; i++) {
        status = test_import_chunk(import, &p->rest, i);
    }
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    return unseen_import_finish(import, set_out);
}

#endif
