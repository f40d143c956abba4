/* SPDX-License-Identifier: MIT
 *
 * `unseen explain`: what happens to a URL, and are several URLs the same? Explains each URL and
 * compares the canonical forms. If they differ, finds what would make them the same: tries each
 * single rule on top of the options; if none is enough, tries all rules together and leaves out
 * those that are not needed; tries the other profiles.
 *
 * Text and JSON have the same content; the functions that print them come in pairs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "characters.h"
#include "commands/commands.h"
#include "commands/explanation.h"
#include "lines/profile.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/print_utf8.h"

struct explain {
    const struct options *o;
    struct unseen_url *url;
    struct unseen_url *whatwg; /* resolves references */
    enum unseen_cpu cpu;
    struct explanation *list; /* one explanation for each URL */
    size_t nlist;
    struct explanation *tried; /* the explanations under other options */
    struct output out;
    bool first; /* the next item of a printed list is the first */
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
        if (e->form != UNSEEN_URL_FAILED || i + 1 < e->nsteps) {
            explain_put(x, " -> "); /* the last step of a failure only says why */
            put_part(x, step->after);
        }
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
    explain_put(x, x->first ? ", by " : ", ");
    explain_put(x, rule);
    x->first = false;
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
        explanation_rules(x->tried, x->nlist, text_rule, x);
    }
    explain_put(x, "\n");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_url(struct explain *x, const struct explanation *e)
{
    static const char *const statuses[] = {"unchanged", "rewritten", "failed"};
    explain_put(x, "{\"input\":");
    json_write_string(&x->out, e->input);
    explain_put(x, ",\"status\":");
    json_write_text(&x->out, statuses[e->form]);
    explain_put(x, ",\"canonical\":");
    json_write_string_or_null(&x->out, e->form == UNSEEN_URL_FAILED ? (struct unseen_bytes){NULL, 0}
                                                                    : e->canon);
    explain_put(x, ",\"steps\":[");
    for (size_t i = 0; i < e->nsteps; i++) {
        explain_put(x, i > 0 ? ",{\"rule\":" : "{\"rule\":");
        json_write_text(&x->out, e->steps[i].rule);
        explain_put(x, ",\"sentence\":");
        json_write_text(&x->out, e->steps[i].sentence);
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
    json_write_text(&x->out, rule);
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
    const struct explanation_base base = {x->whatwg, x->o->key.base};
    for (size_t i = 0; i < x->nlist; i++) {
        const struct unseen_bytes input = {x->o->input.files[i], strlen(x->o->input.files[i])};
        explanation_release(&list[i]);
        if (!explanation_make(&list[i], url, &base, input)) {
            return message_no_memory();
        }
    }
    return true;
}

/* *same_out: the URLs are the same under these options. *refused_out: the profile does not have one
 * of the rules, or the rule needs names. */
static bool explain_under(struct explain *x, const struct unseen_url_options *options,
                          bool *refused_out, bool *same_out)
{
    struct unseen_url *url = NULL;
    const enum unseen_status status = unseen_url_create(&url, options, NULL);
    *refused_out = status == UNSEEN_ERR_ARGUMENT;
    *same_out = false;
    if (status != UNSEEN_OK) {
        return *refused_out || message_no_memory();
    }
    const bool done = explain_all(x, url, x->tried);
    *same_out = done && explanation_is_same(x->tried, x->nlist);
    unseen_url_free(url);
    return done;
}

/* If the URLs are the same under these options, says so; `option` and `name` are how to ask for
 * them. */
static bool try_options(struct explain *x, const struct unseen_url_options *options,
                        const char *option, const char *name)
{
    bool refused;
    bool same;
    const bool done = explain_under(x, options, &refused, &same);
    if (same) {
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

/* Rules to try, behind the rules of the command line. */
struct trial {
    const char **rules;
    size_t n;
    size_t nown;   /* of the command line */
    char *negated; /* the names "no-...", 64 bytes each */
};

static bool trial_init(struct trial *t, const struct profile_options *own)
{
    size_t nrules = 0;
    while (unseen_url_rule_at(nrules)) {
        nrules++;
    }
    *t = (struct trial){.n = own->nrules, .nown = own->nrules};
    t->rules = malloc((own->nrules + 2 * nrules + 1) * sizeof(*t->rules));
    t->negated = malloc((nrules + 1) * 64);
    if (!t->rules || !t->negated) {
        return message_no_memory();
    }
    for (size_t i = 0; i < own->nrules; i++) {
        t->rules[i] = own->rules[i];
    }
    for (size_t i = 0; i < nrules; i++) {
        snprintf(t->negated + 64 * i, 64, "no-%s", unseen_url_rule_at(i)->name);
    }
    return true;
}

static void trial_release(struct trial *t)
{
    free(t->rules);
    free(t->negated);
}

static struct unseen_url_options trial_options(const struct explain *x, const struct trial *t)
{
    return (struct unseen_url_options){.size = sizeof(struct unseen_url_options),
                                       .profile = x->o->profile.name,
                                       .rules = t->rules,
                                       .nrules = t->n,
                                       .cpu = x->cpu};
}

static bool try_rule(struct explain *x, struct trial *t, const char *name)
{
    t->rules[t->nown] = name;
    t->n = t->nown + 1;
    const struct unseen_url_options options = trial_options(x, t);
    return try_options(x, &options, "--rule", name);
}

/* Tries each rule, switched on and switched off. */
static bool try_rules(struct explain *x, struct trial *t)
{
    const struct unseen_url_entry *entry = NULL;
    bool done = true;
    for (size_t i = 0; done && (entry = unseen_url_rule_at(i)); i++) {
        done = try_rule(x, t, entry->name) && try_rule(x, t, t->negated + 64 * i);
    }
    return done;
}

static bool try_trial(struct explain *x, const struct trial *t, bool *refused_out, bool *same_out)
{
    const struct unseen_url_options options = trial_options(x, t);
    return explain_under(x, &options, refused_out, same_out);
}

/* Collects every rule that the profile takes beside the others: what keeps something off, all else
 * on. strip-query, which drops most, comes last. */
static bool collect_rules(struct explain *x, struct trial *t)
{
    const struct unseen_url_entry *entry = NULL;
    const char *last = "strip-query";
    bool refused;
    bool same;
    t->n = t->nown;
    for (size_t i = 0; (entry = unseen_url_rule_at(i)) || last; i++) {
        if (entry && strcmp(entry->name, "strip-query") == 0) {
            continue;
        }
        const bool keeps = entry && strncmp(entry->name, "keep-", 5) == 0;
        t->rules[t->n++] = !entry ? last : keeps ? t->negated + 64 * i : entry->name;
        if (!try_trial(x, t, &refused, &same)) {
            return false;
        }
        t->n -= refused;
        if (!entry) {
            break;
        }
    }
    return true;
}

/* Leaves out each rule without which the URLs are still the same; the last first. */
static bool leave_out_rules(struct explain *x, struct trial *t)
{
    for (size_t i = t->n; i-- > t->nown;) {
        const char *rule = t->rules[i];
        bool refused;
        bool same;
        memmove(&t->rules[i], &t->rules[i + 1], (t->n - i - 1) * sizeof(*t->rules));
        t->n--;
        if (!try_trial(x, t, &refused, &same)) {
            return false;
        }
        if (!same) {
            memmove(&t->rules[i + 1], &t->rules[i], (t->n - i) * sizeof(*t->rules));
            t->rules[i] = rule;
            t->n++;
        }
    }
    return true;
}

/* Finds a set of rules of which none can be left out. */
static bool try_together(struct explain *x, struct trial *t)
{
    bool refused;
    bool same;
    if (!collect_rules(x, t) || !try_trial(x, t, &refused, &same)) {
        return false;
    }
    if (!same) {
        return true;
    }
    if (!leave_out_rules(x, t)) {
        return false;
    }
    char names[2048] = "";
    for (size_t i = t->nown, len = 0; i < t->n; i++) {
        len +=
            (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? "," : "", t->rules[i]);
    }
    const struct unseen_url_options options = trial_options(x, t);
    return try_options(x, &options, "--rule", names);
}

static bool try_all(struct explain *x)
{
    struct trial t;
    if (x->o->print.json) {
        explain_put(x, ",\"same_with\":[");
    }
    const bool done = trial_init(&t, &x->o->profile) && try_rules(x, &t) &&
                      (x->nfound > 0 || try_together(x, &t)) && try_profiles(x);
    trial_release(&t);
    if (done && x->o->print.json) {
        explain_put(x, "]");
    } else if (done && x->nfound == 0) {
        explain_put(x, "nor under any other profile, nor with all rules together\n");
    }
    return done;
}

/* ---- The command ----------------------------------------------------------------------------- */

static void put_urls(struct explain *x)
{
    if (x->o->print.json) {
        explain_put(x, "{\"profile\":");
        json_write_text(&x->out, unseen_url_id(x->url));
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

static bool create_whatwg(struct explain *x)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = "whatwg", .cpu = x->cpu};
    return unseen_url_create(&x->whatwg, &options, NULL) == UNSEEN_OK || message_no_memory();
}

int explain_run(const struct options *o, enum unseen_cpu cpu)
{
    struct explain x = {.o = o, .cpu = cpu, .nlist = o->input.nfiles};
    int status = EXIT_TROUBLE;
    x.list = calloc(x.nlist, sizeof(*x.list));
    x.tried = calloc(x.nlist, sizeof(*x.tried));
    if (!x.list || !x.tried) {
        (void)message_no_memory();
    } else if (profile_create(&x.url, &o->profile, NULL, cpu) && create_whatwg(&x) &&
               profile_check_base(o->key.base) && output_open(&x.out, NULL)) {
        status = explain_here(&x);
        status = output_close(&x.out) ? status : EXIT_TROUBLE;
    }
    output_abandon(&x.out);
    release_list(x.list, x.nlist);
    release_list(x.tried, x.nlist);
    unseen_url_free(x.url);
    unseen_url_free(x.whatwg);
    return status;
}
