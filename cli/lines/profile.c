/* SPDX-License-Identifier: MIT */
#include "lines/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/message.h"
#include "print/suggest.h"
#include "print/typed.h"

typedef const struct unseen_url_entry *entry_at_fn(size_t i);

/* True if name is in the list; if not, *like is the most similar name or NULL. A version and
 * patterns behind the name do not count. */
static bool find_name(entry_at_fn *at, const char *name, const char **like)
{
    char bare[64];
    snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(name, "/+("), name);
    struct suggestion n = {.wanted = bare};
    const struct unseen_url_entry *entry = NULL;
    for (size_t i = 0; (entry = at(i)); i++) {
        if (strcmp(entry->name, bare) == 0) {
            return true;
        }
        suggest_try(&n, entry->name);
    }
    *like = n.best;
    return false;
}

static const char *without_no(const char *rule)
{
    return strncmp(rule, "no-", 3) == 0 ? rule + 3 : rule;
}

/* True if the profile has the rule. It is switched off, because then it needs no patterns. */
static bool has_rule(const char *profile, const char *rule)
{
    struct unseen_url *url = NULL;
    char off[64];
    snprintf(off, sizeof(off), "no-%.*s", (int)strcspn(without_no(rule), "/("), without_no(rule));
    const char *const rules[] = {off};
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .rules = rules, .nrules = 1};
    const enum unseen_status status = unseen_url_create(&url, &options, NULL);
    unseen_url_free(url);
    return status != UNSEEN_ERR_ARGUMENT;
}

static void report_profile(const char *name, const char *like)
{
    message_error("no profile '%s'", name);
    if (like) { /* the rules behind the name may be wrong, too: then the next message says it */
        message_hint("%s", typed_with("--profile %s", like));
    } else {
        message_hint("unseen help profiles");
    }
}

/* Hints at the command with another name in place of a rule. */
static void hint_rule(const struct profile_options *o, size_t wrong, const char *no,
                      const char *like)
{
    char rules[1024] = "";
    size_t n = 0;
    for (size_t i = 0; i < o->nrules && n < sizeof(rules); i++) {
        bool is_made = false; /* by another option than --rule */
        for (size_t j = 0; j < o->nmade; j++) {
            is_made = is_made || o->rules[i] == o->made[j];
        }
        if (!is_made) {
            n += (size_t)snprintf(rules + n, sizeof(rules) - n, "%s%s%s", n > 0 ? "," : "",
                                  i == wrong ? no : "", i == wrong ? like : o->rules[i]);
        }
    }
    message_hint("%s", typed_with("--rule %s", typed_quoted(rules)));
}

static void report_rule(const struct profile_options *o, size_t i, const char *like)
{
    const char *rule = o->rules[i];
    message_error("no rule '%s'", rule);
    if (like) {
        hint_rule(o, i, without_no(rule) == rule ? "" : "no-", like);
    } else {
        message_hint("unseen help rules");
    }
}

/* Reports the first name that is wrong; false if all names are right. */
static bool report_names(const struct profile_options *o, const char *profile)
{
    const char *like = NULL;
    if (profile && !find_name(unseen_url_profile_at, profile, &like)) {
        report_profile(profile, like);
        return true;
    }
    for (size_t i = 0; i < o->nrules; i++) {
        const char *rule = o->rules[i];
        if (!find_name(unseen_url_rule_at, without_no(rule), &like)) {
            report_rule(o, i, like);
            return true;
        }
        if (!has_rule(profile, rule)) {
            message_error("the profile %s does not have the rule %.*s", profile ? profile : "crawl",
                          (int)strcspn(without_no(rule), "("), without_no(rule));
            message_hint("%s",
                         typed_with("--profile %s", has_rule("crawl", rule) ? "crawl" : "scrapy"));
            return true;
        }
    }
    return false;
}

bool profile_create(struct unseen_url **url_out, const struct profile_options *o,
                    const char *standard, enum unseen_cpu cpu)
{
    const char *profile = o->name ? o->name : standard;
    const struct unseen_url_options options = {
        .size = sizeof(options),
        .profile = profile,
        .rules = o->rules,
        .nrules = o->nrules,
        .cpu = cpu,
    };
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = unseen_url_create(url_out, &options, &error);
    if (status == UNSEEN_OK) {
        return true;
    }
    if (!report_names(o, profile)) {
        message_error("%s", error.text);
        if (status == UNSEEN_ERR_VERSION) {
            message_hint("unseen help %s",
                         error.setting == UNSEEN_SETTING_PROFILE ? "profiles" : "rules");
        }
    }
    return false;
}

bool profile_is_none(const struct unseen_url *url)
{
    return strncmp(unseen_url_id(url), "none/", 5) == 0;
}

bool profile_check_base(const char *base)
{
    if (!base) {
        return true;
    }
    const size_t len = strlen(base);
    const size_t cap = unseen_url_bound(len, len);
    char *buf = cap ? malloc(cap) : NULL;
    if (!buf) {
        return message_no_memory();
    }
    struct unseen_url *url = NULL;
    struct unseen_canon canon = {UNSEEN_URL_FAILED, {NULL, 0}};
    const struct unseen_url_options options = {.size = sizeof(options), .profile = "whatwg"};
    enum unseen_status status = unseen_url_create(&url, &options, NULL);
    if (status == UNSEEN_OK) {
        status = unseen_url_canon(url, base, len, NULL, buf, cap, &canon);
    }
    unseen_url_free(url);
    free(buf);
    if (status != UNSEEN_OK) {
        message_error("--base: %s", unseen_status_string(status));
        return false;
    }
    if (canon.form == UNSEEN_URL_FAILED) {
        message_error("--base: '%s' is not a URL", base);
        message_hint("%s", typed_with("--base http://e.com/a/"));
        return false;
    }
    return true;
}
