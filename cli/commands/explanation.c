/* SPDX-License-Identifier: MIT */
#include "commands/explanation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_equal(struct unseen_bytes a, struct unseen_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Copies bytes to e->text and returns their offset, because the text may move. */
static size_t explanation_save(struct explanation *e, struct unseen_bytes bytes)
{
    const size_t at = e->text.len;
    e->failed = !text_append(&e->text, bytes.data, bytes.len) || e->failed;
    return at;
}

/* Saves the texts of a step: before, then after. */
static void take_step(void *context, const struct unseen_url_step *step)
{
    struct explanation *e = context;
    struct unseen_url_step *steps =
        e->failed ? NULL : realloc(e->steps, (e->nsteps + 1) * sizeof(*steps));
    if (!steps) {
        e->failed = true;
        return;
    }
    e->steps = steps;
    e->steps[e->nsteps++] = *step;
    (void)explanation_save(e, step->before); /* remembered in e->failed */
    (void)explanation_save(e, step->after);
}

static void place_texts(struct explanation *e)
{
    const char *at = e->text.data ? e->text.data : ""; /* NULL if all texts are empty */
    for (size_t i = 0; i < e->nsteps; i++) {
        e->steps[i].before.data = at;
        e->steps[i].after.data = at + e->steps[i].before.len;
        at = e->steps[i].after.data + e->steps[i].after.len;
    }
    e->canon.data = at;
}

/* Explains a text that is not a reference, as the last part of the explanation. */
static enum unseen_status explain_text(struct explanation *e, const struct unseen_url *url,
                                       struct unseen_bytes text)
{
    const size_t cap = text.len <= SIZE_MAX / 2 ? unseen_url_bound(2 * text.len, 0) : 0;
    char *buf = cap ? malloc(cap) : NULL;
    struct unseen_canon canon;
    const enum unseen_status status =
        buf ? unseen_url_explain(url, text.data, text.len, buf, cap, take_step, e, &canon)
            : UNSEEN_ERR_NOMEM;
    if (status == UNSEEN_OK) {
        const bool same = canon.form != UNSEEN_URL_FAILED && is_equal(canon.bytes, e->input);
        e->form = same                              ? UNSEEN_URL_UNCHANGED
                  : canon.form == UNSEEN_URL_FAILED ? UNSEEN_URL_FAILED
                                                    : UNSEEN_URL_REWRITTEN;
        e->canon = canon.form == UNSEEN_URL_FAILED ? e->input : canon.bytes;
        (void)explanation_save(e, e->canon); /* remembered in e->failed */
    }
    free(buf);
    return status;
}

/* Resolves a reference, which is a step of its own, and explains the URL that it stands for. */
static enum unseen_status explain_reference(struct explanation *e, const struct unseen_url *url,
                                            const struct explanation_base *base)
{
    static const char refused[] = "the base does not resolve it";
    static const char sentence[] = "a reference is resolved against the base";
    const struct unseen_bytes document = {base->base, strlen(base->base)};
    const size_t cap = unseen_url_bound(e->input.len, document.len);
    char *buf = cap ? malloc(cap) : NULL;
    struct unseen_canon whole;
    enum unseen_status status = buf ? unseen_url_canon(base->whatwg, e->input.data, e->input.len,
                                                       &document, buf, cap, &whole)
                                    : UNSEEN_ERR_NOMEM;
    if (status == UNSEEN_OK) {
        const bool failed = whole.form == UNSEEN_URL_FAILED;
        struct unseen_url_step step = {.rule = "base", .sentence = failed ? refused : sentence};
        step.before = e->input;
        step.after = failed ? (struct unseen_bytes){"", 0} : whole.bytes;
        if (whole.form != UNSEEN_URL_UNCHANGED) {
            take_step(e, &step);
        }
        if (failed) {
            e->form = UNSEEN_URL_FAILED;
            e->canon = e->input;
            (void)explanation_save(e, e->canon); /* remembered in e->failed */
        } else {
            status = explain_text(e, url, whole.bytes);
        }
    }
    free(buf);
    return status;
}

bool explanation_make(struct explanation *e, const struct unseen_url *url,
                      const struct explanation_base *base, struct unseen_bytes input)
{
    *e = (struct explanation){.input = input};
    const enum unseen_status status = base->base && strncmp(unseen_url_id(url), "none/", 5) != 0
                                          ? explain_reference(e, url, base)
                                          : explain_text(e, url, input);
    e->failed = e->failed || status != UNSEEN_OK;
    if (!e->failed) {
        place_texts(e);
    }
    return !e->failed;
}

void explanation_release(struct explanation *e)
{
    free(e->steps);
    e->steps = NULL;
    text_release(&e->text);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

bool explanation_is_same(const struct explanation *list, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!is_equal(list[i].canon, list[0].canon)) {
            return false;
        }
    }
    return true;
}

static bool has_step(const struct explanation *e, const struct unseen_url_step *step)
{
    for (size_t i = 0; i < e->nsteps; i++) {
        if (strcmp(e->steps[i].rule, step->rule) == 0 &&
            is_equal(e->steps[i].before, step->before) &&
            is_equal(e->steps[i].after, step->after)) {
            return true;
        }
    }
    return false;
}

static bool all_have_step(const struct explanation *list, size_t n,
                          const struct unseen_url_step *step)
{
    for (size_t i = 0; i < n; i++) {
        if (!has_step(&list[i], step)) {
            return false;
        }
    }
    return true;
}

/* True if the rule makes a difference in one of list[0..n). Of the last of them only the first
 * nsteps steps count. */
static bool makes_difference(const struct explanation *list, size_t nall, size_t n, size_t nsteps,
                             const char *rule)
{
    for (size_t i = 0; i < n; i++) {
        const size_t last = i + 1 < n ? list[i].nsteps : nsteps;
        for (size_t j = 0; j < last; j++) {
            if (strcmp(list[i].steps[j].rule, rule) == 0 &&
                !all_have_step(list, nall, &list[i].steps[j])) {
                return true;
            }
        }
    }
    return false;
}

void explanation_rules(const struct explanation *list, size_t n,
                       void (*take)(void *context, const char *rule), void *context)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < list[i].nsteps; j++) {
            const struct unseen_url_step *step = &list[i].steps[j];
            if (!all_have_step(list, n, step) && !makes_difference(list, n, i + 1, j, step->rule)) {
                take(context, step->rule);
            }
        }
    }
}
