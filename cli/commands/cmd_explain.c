/* SPDX-License-Identifier: MIT
 *
 * Explains each URL and compares the canonical forms. If they differ, tries the other profiles,
 * and each single rule on top of the options, to find what would make them the same.
 *
 * Text and JSON have the same content; the functions that print them come in pairs. */
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/explanation.h"
#include "hex.h"
#include "lines/profile.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/utf8.h"

struct explain {
    const struct options *o;
    struct unseen_url *url;
    enum unseen_cpu cpu;
    struct explanation *list; /* one explanation for each URL */
    size_t nlist;
    struct explanation *tried; /* the explanations under other options */
    struct output out;
    bool first; /* the next item of a printed list is the first */
    const char
        *skip; /* NULL, or a scheme that was explained as one step and must not be named again */
    size_t nfound;
};

/* ---- Text ------------------------------------------------------------------------------------ */

static void explain_put(struct explain *x, const char *text)
{
    json_write(&x->out, text);
}

/* Shows characters that could steer a terminal as \xNN. */
static void put_visible(struct explain *x, struct unseen_bytes bytes)
{
    const unsigned char *s = (const unsigned char *)bytes.data;
    for (size_t i = 0; i < bytes.len;) {
        const size_t n = utf8_visible(s + i, s + bytes.len);
        if (n == 0) {
            const char text[] = {'\\', 'x', hex_digit(s[i] >> 4), hex_digit(s[i])};
            output_write(&x->out, text, sizeof(text));
            i++;
        } else {
            output_write(&x->out, bytes.data + i, n);
            i += n;
        }
    }
}

static void put_part(struct explain *x, struct unseen_bytes part)
{
    if (part.len > 0) {
        put_visible(x, part);
    } else {
        explain_put(x, "(nothing)");
    }
}

static void text_url(struct explain *x, const struct explanation *e)
{
    put_visible(x, e->input);
    explain_put(x, "\n");
    for (size_t i = 0; i < e->nsteps; i++) {
        const struct unseen_url_step *step = &e->steps[i];
        explain_put(x, "  ");
        explain_put(x, step->rule);
        explain_put(x, ": ");
        explain_put(x, step->sentence);
        explain_put(x, "\n    ");
        put_part(x, step->before);
        explain_put(x, " -> ");
        put_part(x, step->after);
        explain_put(x, "\n");
    }
    if (e->form == UNSEEN_URL_FAILED) {
        explain_put(x, "  not a URL: its bytes are its identity\n");
        return;
    }
    explain_put(x, "  = ");
    put_visible(x, e->canon);
    explain_put(x, "\n");
}

static void text_rule(void *context, const char *rule)
{
    struct explain *x = context;
    if (!x->skip || strcmp(rule, x->skip) != 0) {
        explain_put(x, x->first ? ", by " : ", ");
        explain_put(x, rule);
        x->first = false;
    }
}

static void text_verdict(struct explain *x, bool same)
{
    explain_put(x, same ? "same under " : "not the same under ");
    explain_put(x, unseen_url_id(x->url));
    x->first = true;
    if (same) {
        explanation_rules(x->list, x->nlist, text_rule, x);
        explain_put(x, x->first ? ", as they are\n" : "\n");
    } else {
        explain_put(x, "\n");
    }
}

static void text_found(struct explain *x, const char *option, const char *name)
{
    explain_put(x, strcmp(option, "-p") == 0 ? "the same under -p " : "the same with --rule ");
    explain_put(x, name);
    if (strcmp(option, "-p") == 0) {
        x->first = true;
        x->skip = name;
        explanation_rules(x->tried, x->nlist, text_rule, x);
    }
    explain_put(x, "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_text(struct explain *x, const char *text)
{
    json_write_string(&x->out, (struct unseen_bytes){text, strlen(text)});
}

static void json_url(struct explain *x, const struct explanation *e)
{
    static const char *const statuses[] = {"unchanged", "rewritten", "failed"};
    explain_put(x, "{\"input\":");
    json_write_string(&x->out, e->input);
    explain_put(x, ",\"status\":");
    json_text(x, statuses[e->form]);
    explain_put(x, ",\"canonical\":");
    if (e->form == UNSEEN_URL_FAILED) {
        explain_put(x, "null");
    } else {
        json_write_string(&x->out, e->canon);
    }
    explain_put(x, ",\"steps\":[");
    for (size_t i = 0; i < e->nsteps; i++) {
        explain_put(x, i > 0 ? ",{\"rule\":" : "{\"rule\":");
        json_text(x, e->steps[i].rule);
        explain_put(x, ",\"sentence\":");
        json_text(x, e->steps[i].sentence);
        explain_put(x, ",\"before\":");
        json_write_string(&x->out, e->steps[i].before);
        explain_put(x, ",\"after\":");
        json_write_string(&x->out, e->steps[i].after);
        explain_put(x, "}");
    }
    explain_put(x, "]}");
}

static void json_rule(void *context, const char *rule)
{
    struct explain *x = context;
    explain_put(x, x->first ? "" : ",");
    json_text(x, rule);
    x->first = false;
}

static void json_rules(struct explain *x, const struct explanation *list)
{
    explain_put(x, ",\"by\":[");
    x->first = true;
    explanation_rules(list, x->nlist, json_rule, x);
    explain_put(x, "]");
}

static void json_verdict(struct explain *x, bool same)
{
    explain_put(x, same ? ",\"same\":true" : ",\"same\":false");
    if (same) {
        json_rules(x, x->list);
    }
}

static void json_found(struct explain *x, const char *option, const char *name)
{
    explain_put(x, x->nfound > 0 ? ",{\"option\":\"" : "{\"option\":\"");
    explain_put(x, option);
    explain_put(x, " ");
    explain_put(x, name);
    explain_put(x, "\"");
    json_rules(x, x->tried);
    explain_put(x, "}");
}

/* ---- Trying ---------------------------------------------------------------------------------- */

static bool explain_all(const struct explain *x, const struct unseen_url *url,
                        struct explanation *list)
{
    for (size_t i = 0; i < x->nlist; i++) {
        const struct unseen_bytes input = {x->o->input.files[i], strlen(x->o->input.files[i])};
        explanation_release(&list[i]);
        if (!explanation_make(&list[i], url, input)) {
            return message_no_memory();
        }
    }
    return true;
}

/* If the URLs are the same under these options, says so; `option` and `name` are how to ask for
 * them. Skips a rule that the profile does not have. */
static bool try_options(struct explain *x, const struct unseen_url_options *options,
                        const char *option, const char *name)
{
    struct unseen_url *url = NULL;
    const enum unseen_status status = unseen_url_create(&url, options, NULL);
    if (status == UNSEEN_ERR_ARGUMENT) {
        return true;
    }
    if (status != UNSEEN_OK) {
        message_error("cannot try %s %s: %s", option, name, unseen_status_string(status));
        return false;
    }
    const bool done = explain_all(x, url, x->tried);
    unseen_url_free(url);
    if (done && explanation_is_same(x->tried, x->nlist)) {
        (x->o->print.json ? json_found : text_found)(x, option, name);
        x->nfound++;
    }
    return done;
}

static bool try_profiles(struct explain *x)
{
    const char *own = unseen_url_id(x->url);
    const struct unseen_url_entry *entry = NULL;
    bool done = true;
    for (size_t i = 0; done && (entry = unseen_url_profile_at(i)); i++) {
        const struct unseen_url_options options = {
            .size = sizeof(options), .profile = entry->name, .cpu = x->cpu};
        const size_t len = strlen(entry->name);
        if (x->o->profile.nrules > 0 || strncmp(own, entry->name, len) != 0 || own[len] != '/') {
            done = try_options(x, &options, "-p", entry->name);
        }
    }
    return done;
}

/* Tries each rule, switched on and switched off, behind the rules of the command line. */
static bool try_rules(struct explain *x)
{
    const struct unseen_url_entry *entry = NULL;
    const char **rules = malloc((x->o->profile.nrules + 1) * sizeof(*rules));
    if (!rules) {
        return message_no_memory();
    }
    for (size_t i = 0; i < x->o->profile.nrules; i++) {
        rules[i] = x->o->profile.rules[i];
    }
    bool done = true;
    for (size_t i = 0; done && (entry = unseen_url_rule_at(i / 2)); i++) {
        char name[64] = "no-";
        const size_t len = strlen(entry->name);
        if (len >= sizeof(name) - 3) {
            continue;
        }
        memcpy(name + 3, entry->name, len + 1);
        const struct unseen_url_options options = {.size = sizeof(options),
                                                   .profile = x->o->profile.name,
                                                   .rules = rules,
                                                   .nrules = x->o->profile.nrules + 1,
                                                   .cpu = x->cpu};
        rules[x->o->profile.nrules] = i % 2 == 0 ? entry->name : name;
        done = try_options(x, &options, "--rule", rules[x->o->profile.nrules]);
    }
    free(rules);
    return done;
}

static bool try_all(struct explain *x)
{
    if (x->o->print.json) {
        explain_put(x, ",\"same_with\":[");
    }
    if (!try_rules(x) || !try_profiles(x)) {
        return false;
    }
    if (x->o->print.json) {
        explain_put(x, "]");
    } else if (x->nfound == 0) {
        explain_put(x, "nor under any other profile, nor with any one rule more\n");
    }
    return true;
}

/* ---- The command ----------------------------------------------------------------------------- */

static void put_urls(struct explain *x)
{
    if (x->o->print.json) {
        explain_put(x, "{\"profile\":");
        json_text(x, unseen_url_id(x->url));
        explain_put(x, ",\"urls\":[");
    }
    for (size_t i = 0; i < x->nlist; i++) {
        if (x->o->print.json) {
            explain_put(x, i > 0 ? "," : "");
            json_url(x, &x->list[i]);
        } else {
            text_url(x, &x->list[i]);
        }
    }
    explain_put(x, x->o->print.json ? "]" : "");
}

static int explain_here(struct explain *x)
{
    if (!explain_all(x, x->url, x->list)) {
        return EXIT_TROUBLE;
    }
    const bool same = explanation_is_same(x->list, x->nlist);
    put_urls(x);
    if (x->nlist > 1) {
        (x->o->print.json ? json_verdict : text_verdict)(x, same);
    }
    if (!same && !try_all(x)) {
        return EXIT_TROUBLE;
    }
    explain_put(x, x->o->print.json ? "}\n" : "");
    return same ? EXIT_DONE : EXIT_NONE;
}

static void release_list(struct explanation *list, size_t n)
{
    for (size_t i = 0; list && i < n; i++) {
        explanation_release(&list[i]);
    }
    free(list);
}

int explain_run(const struct options *o, enum unseen_cpu cpu)
{
    struct explain x = {.o = o, .cpu = cpu, .nlist = o->input.nfiles};
    int status = EXIT_TROUBLE;
    x.list = calloc(x.nlist, sizeof(*x.list));
    x.tried = calloc(x.nlist, sizeof(*x.tried));
    if (!x.list || !x.tried) {
        (void)message_no_memory();
    } else if (profile_create(&x.url, &o->profile, NULL, cpu) && output_open(&x.out, NULL)) {
        status = explain_here(&x);
        status = output_close(&x.out) ? status : EXIT_TROUBLE;
    }
    output_abandon(&x.out);
    release_list(x.list, x.nlist);
    release_list(x.tried, x.nlist);
    unseen_url_free(x.url);
    return status;
}
