/* SPDX-License-Identifier: MIT
 *
 * An export in memory, and its table: sets whose pieces are read from there when they are first
 * needed. */
#ifndef UNSEEN_TESTS_PIECES_CHECK_H
#define UNSEEN_TESTS_PIECES_CHECK_H

#include "set_check.h"

struct test_pieces {
    struct test_image image;
    uint8_t *table;
    size_t table_len;
    size_t readable; /* bytes of the image that can be read; the file behind was cut off */
    unsigned long nreads;
    unsigned long nreleased;
};

static inline void test_pieces_make(struct test_pieces *p, const struct unseen_set *set)
{
    *p = (struct test_pieces){.image = test_export(set), .table_len = unseen__set_table_len(set)};
    p->readable = p->image.len;
    p->table = malloc(p->table_len);
    if (!p->table) {
        abort();
    }
    unseen__set_save_table(set, p->table);
}

static inline void test_pieces_free(struct test_pieces *p)
{
    test_image_free(&p->image);
    free(p->table);
}

static inline enum unseen_status test_pieces_read(void *context, uint64_t offset, uint8_t *buf,
                                                  size_t len)
{
    struct test_pieces *p = context;
    p->nreads++;
    if (offset > p->readable || len > p->readable - offset) {
        return UNSEEN_ERR_CORRUPT;
    }
    memcpy(buf, p->image.bytes + offset, len);
    return UNSEEN_OK;
}

static inline void test_pieces_release(void *context)
{
    ((struct test_pieces *)context)->nreleased++;
}

/* As src/store/image.c does: the header, the table, and the chunks behind the pieces of the
 * table. */
static inline enum unseen_status test_pieces_open(struct test_pieces *p,
                                                  const struct unseen_set_options *options,
                                                  struct unseen_set **set_out)
{
    struct unseen_import *import;
    uint64_t end = 0;
    const struct unseen__pieces pieces = {.read = test_pieces_read,
                                          .release = test_pieces_release,
                                          .context = p,
                                          .start = p->image.end[0],
                                          .end = p->image.len};
    enum unseen_status status = unseen_import_create(&import, options, NULL);
    if (status != UNSEEN_OK) {
        return status;
    }
    unseen__import_limit(import, p->image.len);
    status = test_import_chunk(import, &p->image, 0);
    if (status == UNSEEN_OK) {
        status = unseen__import_table(import, &pieces, p->table, p->table_len, &end);
    }
    for (size_t i = 1; i < p->image.n && status == UNSEEN_OK; i++) {
        if (p->image.end[i - 1] >= end) {
            status = test_import_chunk(import, &p->image, i);
        }
    }
    if (status != UNSEEN_OK) {
        unseen_import_free(import);
        return status;
    }
    return unseen_import_finish(import, set_out);
}

#endif
