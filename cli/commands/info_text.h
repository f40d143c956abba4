/* SPDX-License-Identifier: MIT
 *
 * The figures of a store or a list as text, a line for each. They come from the object itself or
 * from a server. */
#ifndef UNSEEN_CLI_INFO_TEXT_H
#define UNSEEN_CLI_INFO_TEXT_H

#include <stdint.h>

#include <unseen.h>
#include <unseen_list.h>

#include "print/output.h"

struct info_store {
    const char *path;
    struct unseen_set_stats stats;
    struct unseen_store_info info;
    const char *profile;
    const char *written;      /* NULL: not known */
    const uint64_t *nleaving; /* the same */
};

struct info_list {
    const char *path;
    struct unseen_list_info info;
    const char *kind;
    double rate_of_key;
    const char *written; /* NULL: not known */
};

void info_text_store(struct output *out, const struct info_store *s);
void info_text_list(struct output *out, const struct info_list *l);

/* One line. */
__attribute__((format(printf, 3, 4))) void info_text(struct output *out, const char *name,
                                                     const char *format, ...);

/* The line that says when; none for NULL. */
void info_text_written(struct output *out, const char *written);

double info_bits_per_key(uint64_t bytes, uint64_t nkeys);

#endif
