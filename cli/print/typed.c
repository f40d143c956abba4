/* SPDX-License-Identifier: MIT */
#include "print/typed.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
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

/* The same for the name of a file, which must not be taken for an option. */
static void put_name(struct text *t, const char *name)
{
    put_text(t, name[0] == '-' && name[1] != '\0' ? "./" : "");
    put_quoted(t, name);
}

const char *typed_quoted(const char *word)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    put_name(t, word);
    return t->data;
}

const char *typed_folder(const char *path)
{
    static _Thread_local struct text made;
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) {
        return NULL;
    }
    (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    made.len = 0;
    put_text(&made, "mkdir -p ");
    put_name(&made, folder);
    return made.data;
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

/* Puts the words that are not options, from `first` to `end` (exclusive), with "-" in place of the
 * input `piped`. */
static void put_files(struct text *t, size_t first, size_t end, const char *piped)
{
    size_t nfiles = 0;
    for (size_t i = 0; i < line.nwords; i++) {
        const char *value = line.words[i].value;
        if (line.words[i].name || nfiles++ < first || nfiles > end) {
            continue;
        }
        const bool is_piped = piped && nfiles > line.nstores && strcmp(value, piped) == 0;
        put_text(t, " ");
        put_name(t, is_piped ? "-" : value);
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

/* How a line is shown. */
struct retyping {
    const char *without; /* options; NULL: none */
    const char *with;    /* other options; NULL: none */
    const char *stores;  /* in place of the words that are not input; NULL: themselves */
    const char *piped;   /* this input is a pipe; NULL: none */
    bool lacks_inputs;
};

static const char *retype(struct retyping r)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    const char *with = r.with ? r.with : "";
    put_text(t, line.called);
    put_text(t, with[0] != '\0' ? " " : "");
    put_text(t, with);
    const size_t len = t->len;
    for (size_t i = 0; i < line.nwords; i++) {
        const struct typed_word *w = &line.words[i];
        const bool is_known = w->name && w->name[0] != '\0';
        if (is_known && !has_name(r.without ? r.without : "", "", w->name) &&
            !has_name(with, "--", w->name)) {
            t->is_cut = t->is_cut || is_secret(w);
            put_option(t, w);
        }
    }
    put_text(t, r.stores ? " " : "");
    put_text(t, r.stores ? r.stores : "");
    put_files(t, r.stores ? line.nstores : 0, r.lacks_inputs ? line.nstores : SIZE_MAX, r.piped);
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
    return retype((struct retyping){.with = NULL});
}

const char *typed_with(const char *options, ...)
{
    char text[TEXT_CAP / 2];
    va_list args;
    va_start(args, options);
    (void)vsnprintf(text, sizeof(text), options, args);
    va_end(args);
    return retype((struct retyping){.with = text});
}

const char *typed_without(const char *names)
{
    return retype((struct retyping){.without = names});
}

const char *typed_changed(const char *names, const char *options, ...)
{
    char text[TEXT_CAP / 2];
    va_list args;
    va_start(args, options);
    (void)vsnprintf(text, sizeof(text), options, args);
    va_end(args);
    return retype((struct retyping){.without = names, .with = text});
}

const char *typed_on(const char *store, const char *options)
{
    return retype((struct retyping){.with = options, .stores = store});
}

const char *typed_piped(const char *input)
{
    size_t nfiles = 0;
    for (size_t i = 0; i < line.nwords; i++) {
        nfiles += !line.words[i].name;
    }
    return retype(
        (struct retyping){.piped = input, .lacks_inputs = !input || nfiles <= line.nstores + 1});
}

const char *typed_inputs(void)
{
    static _Thread_local struct text texts[KEPT];
    static _Thread_local unsigned next;
    struct text *t = next_text(texts, &next);
    put_files(t, line.nstores, SIZE_MAX, NULL);
    if (t->is_cut) {
        memcpy(t->data, " ...", sizeof(" ..."));
    }
    return t->data;
}
