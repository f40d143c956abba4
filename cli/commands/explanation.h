/* SPDX-License-Identifier: MIT
 *
 * The steps from one URL to its canonical form, kept for comparison with those of others. */
#ifndef UNSEEN_CLI_EXPLANATION_H
#define UNSEEN_CLI_EXPLANATION_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

#include "lines/text.h"

struct explanation {
    struct unseen_bytes input; /* borrowed */
    enum unseen_url_form form;
    struct unseen_bytes canon;
    struct unseen_url_step *steps;
    size_t nsteps;
    struct text text; /* where canon and the texts of the steps lie */
    bool failed;      /* no memory */
};

/* Explains input under url; false without memory. Release it in either case. */
bool explanation_make(struct explanation *e, const struct unseen_url *url,
                      struct unseen_bytes input);
void explanation_release(struct explanation *e);

/* Whether n explanations come to the same canonical form. */
bool explanation_is_same(const struct explanation *list, size_t n);

/* Of n explanations, calls take with the name of each rule that does something to one of them that
 * it does not do to all, once and in order: the rules that make the difference go away. */
void explanation_rules(const struct explanation *list, size_t n,
                       void (*take)(void *context, const char *rule), void *context);

#endif
