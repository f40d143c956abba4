/* SPDX-License-Identifier: MIT
 *
 * Keeps the steps from a URL to its canonical form, to compare them with those of other URLs. */
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
    struct text text; /* holds canon and the texts of the steps */
    bool failed;      /* no memory */
};

/* Where references are resolved: a canonicaliser of the profile whatwg, and the URL of the
 * document. base is NULL if the texts are not references. */
struct explanation_base {
    const struct unseen_url *whatwg;
    const char *base;
};

/* Explains input under url; false without memory. The caller releases the explanation in either
 * case. */
bool explanation_make(struct explanation *e, const struct unseen_url *url,
                      const struct explanation_base *base, struct unseen_bytes input);
void explanation_release(struct explanation *e);

/* True if n explanations have the same canonical form. */
bool explanation_is_same(const struct explanation *list, size_t n);

/* Calls take with the name of each rule that makes the canonical forms of n explanations the
 * same: rules that change one of the URLs in a way in which they do not change all. In order,
 * each once. */
void explanation_rules(const struct explanation *list, size_t n,
                       void (*take)(void *context, const char *rule), void *context);

#endif
