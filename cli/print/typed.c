/* SPDX-License-Identifier: MIT */
#include "print/typed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    TEXT_CAP = 4096, /* of a hint; input that does not fit becomes "..." */
    KEPT = 3
};

struct text {
    char data[TEXT_CAP];
    size_t len;
    bool is_cut;
};

/* Only typed_set writes it, before a second thread exists. */
static struct {
    const char *called;
    const struct typed_word *words;
    size_t nwords;
    size_t nstores;
} line = {.called = "unseen"};

void typed_set(const char *called, const struct typed_word *words, size_t nwords, size_t nstores)
{
    line.called = called;
    line.words = words;
    line.nwords = nwords;
    line.nstores = nstores;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void put(struct text *t, const char *bytes, size_t len)
{
    if (len >= sizeof(t->data) - t->len) {
        t->is_cut = true;
        return;
    }
    memcpy(t->data + t->len, bytes, len);
    t->len += len;
    t->data[t->len] = '\0';
}

static void put_text(struct text *t, const char *text)
{
    put(t, text, strlen(text));
}

static void put_quoted(struct text *t, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        put_text(t, word);
        return;
    }
    put_text(t, "'");
    for (;;) {
        const size_t n = strcspn(word, "'");
        put(t, word, n);
        if (word[n] == '\0') {
            break;
        }
        put_text(t, "'\\''");
        word += n + 1;
    }
    put_text(t, "'");
}

static struct text *next_text(struct text texts[KEPT], unsigned *next)
{
    struct text *t = &texts[(*next)++ % KEPT];
    t->len = 0;
    t->data[0] = '\0';
    t->is_cut = false;
    return t;
}

const char *typed_quoted(const char *word)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    put_quoted(t, word);
    return t->data;
}

/* ---- The line -------------------------------------------------------------------------------- */

/* True if `names` has the name: as one of the words, behind `prefix`, without what follows "=". */
static bool has_name(const char *names, const char *prefix, const char *name)
{
    const size_t nprefix = strlen(prefix);
    const size_t len = strlen(name);
    for (const char *at = names; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        if (n >= nprefix + len && memcmp(at, prefix, nprefix) == 0 &&
            memcmp(at + nprefix, name, len) == 0 &&
            (n == nprefix + len || at[nprefix + len] == '=')) {
            return true;
        }
        at += n;
    }
    return false;
}

/* Puts the words that are not options, behind the first `nbefore`. */
static void put_files(struct text *t, size_t nbefore)
{
    bool is_marked = false;
    size_t nfiles = 0;
    for (size_t i = 0; i < line.nwords; i++) {
        const char *value = line.words[i].value;
        if (line.words[i].name || nfiles++ < nbefore) {
            continue;
        }
        if (value[0] == '-' && value[1] != '\0' && !is_marked) {
            put_text(t, " --");
            is_marked = true;
        }
        put_text(t, " ");
        put_quoted(t, value);
    }
}

static void put_option(struct text *t, const struct typed_word *w)
{
    const char letter[] = {w->letter, '\0'};
    const char *space = " ";
    if (w->name[0] != '\0') {
        put_text(t, w->letter ? " -" : " --");
        put_text(t, w->letter ? letter : w->name);
        space = w->is_joined ? "=" : " ";
    }
    if (w->value) {
        put_text(t, space);
        put_quoted(t, w->value);
    }
}

/* True for a word whose value no message shows, as messages are kept in logs. */
static bool is_secret(const struct typed_word *w)
{
    return w->name && strcmp(w->name, "seed") == 0;
}

static const char *retype(const char *names, const char *options, const char *store, size_t nbefore)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    put_text(t, line.called);
    put_text(t, options[0] != '\0' ? " " : "");
    put_text(t, options);
    const size_t len = t->len;
    for (size_t i = 0; i < line.nwords; i++) {
        const struct typed_word *w = &line.words[i];
        const bool is_known = w->name && w->name[0] != '\0';
        if (is_known && !has_name(names, "", w->name) && !has_name(options, "--", w->name)) {
            t->is_cut = t->is_cut || is_secret(w);
            put_option(t, w);
        }
    }
    put_text(t, store ? " " : "");
    put_text(t, store ? store : "");
    put_files(t, nbefore);
    if (t->is_cut) {
        memcpy(t->data + len, " ...", sizeof(" ..."));
    }
    return t->data;
}

bool typed_has(const char *name)
{
    for (size_t i = 0; i < line.nwords; i++) {
        const char *has = line.words[i].name;
        if (name && has ? strcmp(has, name) == 0 : name == has) {
            return true;
        }
    }
    return false;
}

const char *typed_line(void)
{
    return retype("", "", NULL, 0);
}

const char *typed_with(const char *options, ...)
{
    char text[TEXT_CAP / 2];
    va_list args;
    va_start(args, options);
    (void)vsnprintf(text, sizeof(text), options, args);
    va_end(args);
    return retype("", text, NULL, 0);
}

const char *typed_without(const char *names)
{
    return retype(names, "", NULL, 0);
}

const char *typed_changed(const char *names, const char *options, ...)
{
    char text[TEXT_CAP / 2];
    va_list args;
    va_start(args, options);
    (void)vsnprintf(text, sizeof(text), options, args);
    va_end(args);
    return retype(names, text, NULL, 0);
}

const char *typed_on(const char *store, const char *options)
{
    return retype("", options, store, line.nstores);
}

const char *typed_piped(void)
{
    size_t nfiles = 0;
    const char *last = NULL;
    for (size_t i = 0; i < line.nwords; i++) {
        if (!line.words[i].name && nfiles++ < line.nstores) {
            last = line.words[i].value;
        }
    }
    return nfiles > line.nstores + 1 ? NULL
                                     : retype("", "", last ? typed_quoted(last) : NULL, nfiles);
}

const char *typed_inputs(void)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    put_files(t, line.nstores);
    if (t->is_cut) {
        memcpy(t->data, " ...", sizeof(" ..."));
    }
    return t->data;
}
