/* SPDX-License-Identifier: MIT
 *
 * Profiles and rules: their names, and the object made from them. Both are frozen: a profile whose
 * answer changes for any input gets a new version, because sets of keys outlive programs. */
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "url/url.h"

static const struct unseen_url_entry profile_entries[] = {
    {"none", "plain bytes: no URL is read into them"},
    {"whatwg", "the WHATWG URL standard, as browsers write a URL, with its fragment"},
    {"crawl", "whatwg without the fragment: the same request (the default)"},
    {"scrapy", "w3lib 2.4 canonicalize_url, as Scrapy's duplicate filter"},
    {"safebrowsing", "Safe Browsing v4 canonicalisation, for lists of bad sites"},
    {"aggressive", "probably the same page: http = https, no www, trackers or sessions, sorted"},
};

enum {
    WHATWG_RULES = UNSEEN__RULE_DROP_BLANK_VALUES - 1, /* all rules but scrapy's */
    AGGRESSIVE =
        UNSEEN__RULE_DEFAULT_SCHEME | UNSEEN__RULE_FOLD_SCHEME | UNSEEN__RULE_DROP_USERINFO |
        UNSEEN__RULE_STRIP_WWW | UNSEEN__RULE_UPPER_ESCAPES | UNSEEN__RULE_DECODE_UNRESERVED |
        UNSEEN__RULE_COLLAPSE_SLASHES | UNSEEN__RULE_STRIP_SESSIONS | UNSEEN__RULE_STRIP_SLASH |
        UNSEEN__RULE_STRIP_TRACKERS | UNSEEN__RULE_SORT_QUERY | UNSEEN__RULE_DROP_EMPTY_QUERY
};

/* In the order of profile_entries. */
static const struct profile {
    const char *id;
    unseen__url_slow_fn *slow;
    unseen__url_fast_fn *(*select_fast)(enum unseen_cpu cpu, uint32_t rules);
    uint32_t rules;   /* switched on by default */
    uint32_t allowed; /* can be switched */
} profiles[] = {
    {"none/1", unseen__url_none, NULL, 0, 0},
    {"whatwg/1", unseen__url_whatwg, unseen__url_whatwg_fast, UNSEEN__RULE_KEEP_FRAGMENT,
     WHATWG_RULES},
    {"crawl/1", unseen__url_whatwg, unseen__url_whatwg_fast, 0, WHATWG_RULES},
    {"scrapy/1", unseen__url_scrapy, unseen__url_scrapy_fast, 0,
     UNSEEN__RULE_KEEP_FRAGMENT | UNSEEN__RULE_DROP_BLANK_VALUES | UNSEEN__RULE_SPLIT_SEMICOLONS},
    {"safebrowsing/1", unseen__url_safebrowsing, unseen__url_safebrowsing_fast, 0, 0},
    {"aggressive/1", unseen__url_whatwg, unseen__url_whatwg_fast, AGGRESSIVE, WHATWG_RULES},
};
enum {
    NPROFILES = sizeof(profiles) / sizeof(profiles[0])
};

/* In the order of the bits of enum unseen__url_rule. */
static const struct unseen_url_entry rule_entries[] = {
    {"keep-fragment", "keep #fragment"},
    {"keep-hashbang", "keep a fragment that starts with #!, for applications routed by it"},
    {"default-scheme", "read e.com/a as http://e.com/a"},
    {"fold-scheme", "https without a port is http"},
    {"drop-userinfo", "drop user:password@"},
    {"strip-www", "drop www. and www2. in front of a name that still has a dot"},
    {"upper-escapes", "write %c3 as %C3"},
    {"decode-unreserved", "write %7E as ~, likewise letters, digits, - . _"},
    {"collapse-slashes", "write // in a path as /"},
    {"strip-sessions", "drop jsessionid, phpsessid, sid, aspsessionid, cfid and cftoken"},
    {"strip-index", "drop index.* and default.* at the end of a path"},
    {"strip-slash", "drop / at the end of a path, but not the only one"},
    {"strip-trackers", "drop utm_*, gclid, fbclid, msclkid and their like from the query"},
    {"sort-query", "sort what stands between & in the query, drop empty pieces"},
    {"drop-empty-query", "drop a ? with nothing after it"},
    {"drop-blank-values", "scrapy only: drop pieces of the query without a value"},
    {"split-semicolons", "scrapy only: the query is divided by ; instead of &"},
};
enum {
    NRULES = sizeof(rule_entries) / sizeof(rule_entries[0])
};

const struct unseen_url_entry *unseen_url_profile_at(size_t i)
{
    return i < NPROFILES ? &profile_entries[i] : NULL;
}

const struct unseen_url_entry *unseen_url_rule_at(size_t i)
{
    return i < NRULES ? &rule_entries[i] : NULL;
}

/* Returns the profile whose name begins *text, and moves *text behind the name; NULL if there is
 * none. */
static const struct profile *take_profile(const char **text)
{
    const size_t len = strcspn(*text, "/+");
    for (size_t i = 0; i < NPROFILES; i++) {
        const char *name = profile_entries[i].name;
        if (strlen(name) == len && memcmp(name, *text, len) == 0) {
            *text += len;
            return &profiles[i];
        }
    }
    return NULL;
}

/* Switches the named rule in *rules. */
static enum unseen_status switch_rule(const struct profile *profile, const char *name,
                                      uint32_t *rules)
{
    const bool off = strncmp(name, "no-", 3) == 0;
    name += off ? 3 : 0;
    for (size_t i = 0; i < NRULES; i++) {
        if (strcmp(rule_entries[i].name, name) == 0) {
            const uint32_t bit = (uint32_t)1 << i;
            *rules = off ? *rules & ~bit : *rules | bit;
            return profile->allowed & bit ? UNSEEN_OK : UNSEEN_ERR_ARGUMENT;
        }
    }
    return UNSEEN_ERR_NAME;
}

/* Returns the bit of the rule whose name begins *text, and moves *text behind the name; 0 if there
 * is none. No name is the start of another. */
static uint32_t take_rule(const char **text)
{
    for (size_t i = 0; i < NRULES; i++) {
        const size_t len = strlen(rule_entries[i].name);
        if (strncmp(rule_entries[i].name, *text, len) == 0) {
            *text += len;
            return (uint32_t)1 << i;
        }
    }
    return 0;
}

/* Reads the name of a profile, or an id in the form of write_id. */
static enum unseen_status read_id(const char *text, const struct profile **profile_out,
                                  uint32_t *rules_out)
{
    const struct profile *profile = take_profile(&text);
    if (!profile) {
        return UNSEEN_ERR_NAME;
    }
    uint32_t rules = profile->rules;
    if (*text == '/') {
        const char *version = strchr(profile->id, '/');
        const size_t len = strlen(version);
        if (strncmp(text, version, len) != 0 || (text[len] >= '0' && text[len] <= '9')) {
            return UNSEEN_ERR_VERSION;
        }
        text += len;
    }
    while (*text == '+' || *text == '-') {
        const bool on = *text++ == '+';
        const uint32_t bit = take_rule(&text);
        if (bit == 0) {
            return UNSEEN_ERR_NAME;
        }
        if (!(profile->allowed & bit)) {
            return UNSEEN_ERR_ARGUMENT;
        }
        rules = on ? rules | bit : rules & ~bit;
    }
    *profile_out = profile;
    *rules_out = rules;
    return *text == '\0' ? UNSEEN_OK : UNSEEN_ERR_NAME;
}

static char *append_text(char *out, const char *text)
{
    const size_t len = strlen(text);
    memcpy(out, text, len + 1);
    return out + len;
}

/* "crawl/1" and, for each rule that differs from the profile's, "+name" or "-name". All names
 * together are shorter than UNSEEN__URL_ID_MAX. */
static void write_id(const struct profile *profile, uint32_t rules, char *out)
{
    out = append_text(out, profile->id);
    for (size_t i = 0; i < NRULES; i++) {
        const uint32_t bit = (uint32_t)1 << i;
        if ((rules ^ profile->rules) & bit) {
            out = append_text(out, rules & bit ? "+" : "-");
            out = append_text(out, rule_entries[i].name);
        }
    }
}

static enum unseen_status profile_error(struct unseen_error *error, enum unseen_status status,
                                        const char *profile)
{
    return status == UNSEEN_ERR_VERSION
               ? unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                       "this version of unseen has no profile \"%s\"", profile)
               : unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                       "there is no profile \"%s\"", profile);
}

static enum unseen_status rule_error(struct unseen_error *error, enum unseen_status status,
                                     const char *profile, const char *rule)
{
    return status == UNSEEN_ERR_ARGUMENT
               ? unseen__error_setting(error, status, UNSEEN_SETTING_RULES,
                                       "the profile %s has no rule \"%s\"", profile, rule)
               : unseen__error_setting(error, status, UNSEEN_SETTING_RULES,
                                       "there is no rule \"%s\"", rule);
}

enum unseen_status unseen_url_create(struct unseen_url **url_out,
                                     const struct unseen_url_options *options,
                                     struct unseen_error *error)
{
    struct unseen_url_options given = {.size = sizeof(given)};
    enum unseen_status status =
        unseen__sized_take(&given, sizeof(given), options, "unseen_url_options", error);
    if (status != UNSEEN_OK) {
        return status;
    }
    if (given.nrules && !given.rules) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                     "rules is NULL, but nrules is %zu", given.nrules);
    }
    const char *name = given.profile ? given.profile : "crawl";
    const struct profile *profile = NULL;
    uint32_t rules = 0;
    status = read_id(name, &profile, &rules);
    if (status != UNSEEN_OK) {
        return profile_error(error, status, name);
    }
    for (size_t i = 0; i < given.nrules; i++) {
        status = switch_rule(profile, given.rules[i], &rules);
        if (status != UNSEEN_OK) {
            return rule_error(error, status, name, given.rules[i]);
        }
    }
    enum unseen_cpu cpu;
    status = unseen__cpu_select(given.cpu, &cpu, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen_allocator allocator = unseen__allocator(given.allocator);
    struct unseen_url *url = unseen__alloc_zero(&allocator, sizeof(*url), _Alignof(max_align_t));
    if (!url) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    url->fast = profile->select_fast ? profile->select_fast(cpu, rules) : NULL;
    url->slow = profile->slow;
    url->rules = rules;
    url->cpu = cpu;
    url->allocator = allocator;
    write_id(profile, rules, url->id);
    *url_out = url;
    return UNSEEN_OK;
}

void unseen_url_free(struct unseen_url *url)
{
    if (url) {
        const struct unseen_allocator allocator = url->allocator;
        unseen__free(&allocator, url, sizeof(*url));
    }
}

const char *unseen_url_id(const struct unseen_url *url)
{
    return url->id;
}
