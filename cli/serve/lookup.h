/* SPDX-License-Identifier: MIT
 *
 * Who knows whether something is listed, as the protocols see it: one question. Behind it stands
 * whatever can answer, and a fuzzer puts a fake there. */
#ifndef UNSEEN_CLI_LOOKUP_H
#define UNSEEN_CLI_LOOKUP_H

#include <stddef.h>

#include <unseen.h>

enum lookup_answer {
    LOOKUP_ABSENT,
    LOOKUP_LISTED,
    LOOKUP_TROUBLE /* it could not be found out; reported */
};

enum {
    LOOKUP_TEXTS = 160 /* the most texts in one question */
};

enum lookup_kind {
    LOOKUP_URL, /* one URL, in any form */
    LOOKUP_NAME /* names.h: what would cover a name, one text each */
};

struct lookup {
    /* Whether any of n texts is listed. */
    enum lookup_answer (*any)(void *context, enum lookup_kind kind,
                              const struct unseen_bytes *texts, size_t n);
    void *context;
};

static inline enum lookup_answer lookup_url(const struct lookup *l, struct unseen_bytes url)
{
    return l->any(l->context, LOOKUP_URL, &url, 1);
}

#endif
