/* SPDX-License-Identifier: MIT
 *
 * Profiles and rules: their names, and the object made from them.
 *
 * Profiles and rules are frozen, because sets of keys outlive programs: an answer that has to
 * change for any input is a new version beside the old one. So far every profile and every rule has
 * the version 1. The identity text says it of the profile:
 *
 *     crawl/1+strip-trackers */
#include <string.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sized.h"
#include "url/ascii.h"
#include "url/rules.h"

enum {
    SCRAPY_RULES = UNSEEN__RULE_DROP_BLANK_VALUES | UNSEEN__RULE_SPLIT_SEMICOLONS,
    WHATWG_RULES = INT32_MAX & ~SCRAPY_RULES,
    AGGRESSIVE_RULES =
        UNSEEN__RULE_DEFAULT_SCHEME | UNSEEN__RULE_FOLD_SCHEME | UNSEEN__RULE_DROP_USERINFO |
        UNSEEN__RULE_STRIP_DOT | UNSEEN__RULE_STRIP_WWW | UNSEEN__RULE_UPPER_ESCAPES |
        UNSEEN__RULE_DECODE_UNRESERVED | UNSEEN__RULE_DECODE_RESERVED |
        UNSEEN__RULE_COLLAPSE_SLASHES | UNSEEN__RULE_STRIP_SESSIONS | UNSEEN__RULE_STRIP_SLASH |
        UNSEEN__RULE_STRIP_TRACKERS | UNSEEN__RULE_SORT_QUERY | UNSEEN__RULE_DROP_EMPTY_QUERY
};

/* Of every profile and rule. */
static const char VERSION[] = "/1";

static const struct profile {
    struct unseen_url_entry entry;
    unseen__url_slow_fn *slow;
    unseen__url_fast_fn *(*select_fast)(enum unseen_cpu cpu, uint32_t rules);
    uint32_t rules;   /* switched on by default */
    uint32_t allowed; /* can be switched */
} profiles[] = {
    {{"none", "plain bytes: no URL is read into them"}, unseen__url_none, NULL, 0, 0},
    {{"whatwg", "the WHATWG URL standard, as browsers write a URL, with its fragment"},
     unseen__url_whatwg,
     unseen__url_whatwg_fast,
     UNSEEN__RULE_KEEP_FRAGMENT,
     WHATWG_RULES},
    {{"crawl", "whatwg without the fragment: the same request (the default)"},
     unseen__url_whatwg,
     unseen__url_whatwg_fast,
     0,
     WHATWG_RULES},
    {{"scrapy", "w3lib 2.5 canonicalize_url, as Scrapy's duplicate filter"},
     unseen__url_scrapy,
     unseen__url_scrapy_fast,
     0,
     SCRAPY_RULES | UNSEEN__RULE_KEEP_FRAGMENT},
    {{"safebrowsing", "Safe Browsing v4 canonicalisation, for lists of bad sites"},
     unseen__url_safebrowsing,
     unseen__url_safebrowsing_fast,
     0,
     0},
    {{"aggressive", "probably the same page: http = https, no www, trackers or sessions, sorted"},
     unseen__url_whatwg,
     unseen__url_whatwg_fast,
     AGGRESSIVE_RULES,
     WHATWG_RULES},
};
enum {
    NPROFILES = sizeof(profiles) / sizeof(profiles[0])
};

/* In the order of names in an identity text. */
static const struct rule {
    struct unseen_url_entry entry;
    uint32_t bit;
} rules[] = {
    {{"keep-fragment", "keep #fragment"}, UNSEEN__RULE_KEEP_FRAGMENT},
    {{"keep-hashbang", "keep a fragment that starts with #!, for applications routed by it"},
     UNSEEN__RULE_KEEP_HASHBANG},
    {{"keep-routes", "keep a fragment that starts with #/ or #!: pages of an application"},
     UNSEEN__RULE_KEEP_ROUTES},
    {{"default-scheme", "read e.com/a as http://e.com/a, but not a path such as /a or ../a"},
     UNSEEN__RULE_DEFAULT_SCHEME},
    {{"fold-scheme", "https without a port is http"}, UNSEEN__RULE_FOLD_SCHEME},
    {{"drop-userinfo", "drop user:password@"}, UNSEEN__RULE_DROP_USERINFO},
    {{"strip-dot", "drop the dot at the end of a host"}, UNSEEN__RULE_STRIP_DOT},
    {{"strip-www", "drop www. and www2. in front of a name that still has a dot"},
     UNSEEN__RULE_STRIP_WWW},
    {{"upper-escapes", "write %c3 as %C3"}, UNSEEN__RULE_UPPER_ESCAPES},
    {{"decode-unreserved", "write %7E as ~, likewise letters, digits, - . _"},
     UNSEEN__RULE_DECODE_UNRESERVED},
    {{"decode-reserved", "write %28 in a path as (, likewise ! $ & ' ) * + , ; = : @"},
     UNSEEN__RULE_DECODE_RESERVED},
    {{"collapse-slashes", "write // in a path as /"}, UNSEEN__RULE_COLLAPSE_SLASHES},
    {{"strip-sessions", "drop jsessionid, phpsessid, sid, /(S(...))/ and their like"},
     UNSEEN__RULE_STRIP_SESSIONS},
    {{"strip-index", "drop index.html, default.aspx and their like at the end of a path"},
     UNSEEN__RULE_STRIP_INDEX},
    {{"strip-slash", "drop / at the end of a path, but not the only one"},
     UNSEEN__RULE_STRIP_SLASH},
    {{"strip-trackers", "drop utm_*, gclid, fbclid, msclkid and their like from the query"},
     UNSEEN__RULE_STRIP_TRACKERS},
    {{"unescape-amp",
      "read &amp; and &#38; in the query as &, for URLs copied from HTML and sitemaps"},
     UNSEEN__RULE_UNESCAPE_AMP},
    {{"strip-query", "drop the query"}, UNSEEN__RULE_STRIP_QUERY},
    {{"drop-params", "drop the parameters that option --drop-params names"},
     UNSEEN__RULE_DROP_PARAMS},
    {{"only-params", "drop all parameters but those that option --only-params names"},
     UNSEEN__RULE_ONLY_PARAMS},
    {{"names-only", "compare the names of parameters, without order and values"},
     UNSEEN__RULE_NAMES_ONLY},
    {{"sort-query", "sort what stands between & in the query, drop empty pieces"},
     UNSEEN__RULE_SORT_QUERY},
    {{"drop-empty-query", "drop a ? with nothing after it"}, UNSEEN__RULE_DROP_EMPTY_QUERY},
    {{"drop-blank-values", "scrapy only: drop pieces of the query without a value"},
     UNSEEN__RULE_DROP_BLANK_VALUES},
    {{"split-semicolons", "scrapy only: the query is divided by ; instead of &"},
     UNSEEN__RULE_SPLIT_SEMICOLONS},
};
enum {
    NRULES = sizeof(rules) / sizeof(rules[0])
};

const struct unseen_url_entry *unseen_url_profile_at(size_t i)
{
    return i < NPROFILES ? &profiles[i].entry : NULL;
}

const struct unseen_url_entry *unseen_url_rule_at(size_t i)
{
    return i < NRULES ? &rules[i].entry : NULL;
}

/* ---- Reading identity texts -------------------------------------------------------------------*/

/* A text of at most UNSEEN_URL_ID_MAX bytes. Once it is full, nothing more is put. */
struct text {
    char bytes[UNSEEN_URL_ID_MAX + 1];
    size_t len;
    bool full;
};

struct identity {
    const struct profile *profile;
    uint32_t rules;
    struct text drop_params; /* patterns, if the rules are on */
    struct text only_params;
};

static void put(struct text *text, const char *bytes, size_t len)
{
    text->full = text->full || len > UNSEEN_URL_ID_MAX - text->len;
    if (!text->full) {
        memcpy(text->bytes + text->len, bytes, len);
        text->len += len;
        text->bytes[text->len] = '\0';
    }
}

static void put_string(struct text *text, const char *string)
{
    put(text, string, strlen(string));
}

struct reader {
    const char *at; /* the rest of the text */
    struct identity *identity;
    bool needs_patterns; /* what is wrong is that a rule has no patterns */
};

/* Passes over the version, which may be missing. Returns false if it is another one. */
static bool skip_version(struct reader *r)
{
    if (*r->at != '/') {
        return true;
    }
    const bool is_known = r->at[1] == '1' && !is_ascii_digit(r->at[2]);
    r->at += is_known ? strlen(VERSION) : 0;
    return is_known;
}

/* The profile whose name begins the text, or NULL. */
static const struct profile *find_profile(const char *text)
{
    const size_t len = strcspn(text, "/+-");
    for (size_t i = 0; i < NPROFILES; i++) {
        const char *name = profiles[i].entry.name;
        if (strlen(name) == len && memcmp(name, text, len) == 0) {
            return &profiles[i];
        }
    }
    return NULL;
}

static enum unseen_status read_profile(struct reader *r)
{
    const struct profile *profile = find_profile(r->at);
    if (!profile) {
        return UNSEEN_ERR_NAME;
    }
    r->at += strlen(profile->entry.name);
    if (!skip_version(r)) {
        return UNSEEN_ERR_VERSION;
    }
    struct identity *identity = r->identity;
    identity->profile = profile;
    identity->rules = profile->rules;
    identity->drop_params.len = identity->only_params.len = 0;
    identity->drop_params.full = identity->only_params.full = false;
    return UNSEEN_OK;
}

/* The rule whose name begins the text, or NULL. No name is the start of another. */
static const struct rule *find_rule(const char *text)
{
    for (size_t i = 0; i < NRULES; i++) {
        const char *name = rules[i].entry.name;
        if (strncmp(name, text, strlen(name)) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* The patterns of the rule with this bit; NULL if it takes none. */
static struct text *patterns_of(struct identity *identity, uint32_t bit)
{
    return bit == UNSEEN__RULE_DROP_PARAMS   ? &identity->drop_params
           : bit == UNSEEN__RULE_ONLY_PARAMS ? &identity->only_params
                                             : NULL;
}

/* Reads patterns in parentheses, and adds them to those that the rule has. */
static enum unseen_status read_patterns(struct reader *r, struct text *patterns)
{
    const char *const start = r->at + 1;
    const char *end = *r->at == '(' ? strchr(start, ')') : NULL;
    if (!end) {
        r->needs_patterns = true;
        return UNSEEN_ERR_ARGUMENT;
    }
    if (patterns->len > 0) {
        put_string(patterns, ",");
    }
    put(patterns, start, (size_t)(end - start));
    r->at = end + 1;
    return UNSEEN_OK;
}

/* Reads the name of a rule, and its version and patterns if the text has them, and switches the
 * rule. */
static enum unseen_status read_rule(struct reader *r, bool on)
{
    const struct rule *rule = find_rule(r->at);
    if (!rule) {
        return UNSEEN_ERR_NAME;
    }
    r->at += strlen(rule->entry.name);
    if (!skip_version(r)) {
        return UNSEEN_ERR_VERSION;
    }
    struct identity *const identity = r->identity;
    if (!(identity->profile->allowed & rule->bit)) {
        return UNSEEN_ERR_ARGUMENT;
    }
    struct text *patterns = patterns_of(identity, rule->bit);
    if (patterns && (!on || !(identity->rules & rule->bit))) {
        patterns->len = 0;
    }
    identity->rules = on ? identity->rules | rule->bit : identity->rules & ~rule->bit;
    return patterns && on ? read_patterns(r, patterns) : UNSEEN_OK;
}

/* Reads the name of a profile, or an identity text in the form of write_id, perhaps without
 * versions. */
static enum unseen_status read_identity(struct reader *r, const char *text)
{
    r->at = text;
    enum unseen_status status = read_profile(r);
    while (status == UNSEEN_OK && (*r->at == '+' || *r->at == '-')) {
        const bool on = *r->at++ == '+';
        status = read_rule(r, on);
    }
    return status == UNSEEN_OK && *r->at != '\0' ? UNSEEN_ERR_NAME : status;
}

/* Switches a rule that the caller named. */
static enum unseen_status read_named_rule(struct reader *r, const char *text)
{
    const bool off = strncmp(text, "no-", 3) == 0;
    r->at = text + (off ? 3 : 0);
    const enum unseen_status status = read_rule(r, !off);
    return status == UNSEEN_OK && *r->at != '\0' ? UNSEEN_ERR_NAME : status;
}

/* ---- Writing identity texts -------------------------------------------------------------------*/

/* Puts the rule if it differs from the profile's. */
static void put_rule(struct text *id, struct identity *identity, const struct rule *rule)
{
    const uint32_t has = identity->rules & rule->bit;
    if (has == (identity->profile->rules & rule->bit)) {
        return;
    }
    put_string(id, has ? "+" : "-");
    put_string(id, rule->entry.name);
    const struct text *patterns = has ? patterns_of(identity, has) : NULL;
    if (patterns) {
        put_string(id, "(");
        put(id, patterns->bytes, patterns->len);
        put_string(id, ")");
    }
}

static void write_id(struct text *id, struct identity *identity)
{
    put_string(id, identity->profile->entry.name);
    put_string(id, VERSION);
    for (size_t i = 0; i < NRULES; i++) {
        put_rule(id, identity, &rules[i]);
    }
}

/* ---- Errors -----------------------------------------------------------------------------------*/

static enum unseen_status patterns_error(struct unseen_error *error, enum unseen_setting setting,
                                         const char *text)
{
    return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, setting,
                                 "\"%.200s\" names no parameters; write drop-params(ref,utm_*)",
                                 text);
}

static enum unseen_status profile_error(struct unseen_error *error, enum unseen_status status,
                                        const char *profile)
{
    switch (status) {
    case UNSEEN_ERR_VERSION:
        return unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                     "this version of unseen has no profile \"%.200s\"", profile);
    case UNSEEN_ERR_ARGUMENT:
        return unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                     "the profile \"%.200s\" has rules that are not for it",
                                     profile);
    default:
        return unseen__error_setting(error, status, UNSEEN_SETTING_PROFILE,
                                     "there is no profile \"%.200s\"", profile);
    }
}

static enum unseen_status rule_error(struct unseen_error *error, enum unseen_status status,
                                     const char *profile, const char *rule)
{
    switch (status) {
    case UNSEEN_ERR_ARGUMENT:
        return unseen__error_setting(error, status, UNSEEN_SETTING_RULES,
                                     "the profile %.200s has no rule \"%.200s\"", profile, rule);
    case UNSEEN_ERR_VERSION:
        return unseen__error_setting(error, status, UNSEEN_SETTING_RULES,
                                     "this version of unseen has no rule \"%.200s\"", rule);
    default:
        return unseen__error_setting(error, status, UNSEEN_SETTING_RULES,
                                     "there is no rule \"%.200s\"", rule);
    }
}

/* ---- The object -------------------------------------------------------------------------------*/

/* Reads the profile and the rules of the options. */
static enum unseen_status read_options(struct identity *identity,
                                       const struct unseen_url_options *options,
                                       struct unseen_error *error)
{
    if (options->nrules && !options->rules) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                     "rules is NULL, but nrules is %zu", options->nrules);
    }
    struct reader r = {.identity = identity};
    const char *name = options->profile ? options->profile : "crawl";
    enum unseen_status status = read_identity(&r, name);
    if (status != UNSEEN_OK) {
        return r.needs_patterns ? patterns_error(error, UNSEEN_SETTING_PROFILE, name)
                                : profile_error(error, status, name);
    }
    for (size_t i = 0; i < options->nrules; i++) {
        status = read_named_rule(&r, options->rules[i]);
        if (status != UNSEEN_OK) {
            return r.needs_patterns ? patterns_error(error, UNSEEN_SETTING_RULES, options->rules[i])
                                    : rule_error(error, status, name, options->rules[i]);
        }
    }
    return UNSEEN_OK;
}

static enum unseen_status length_error(struct unseen_error *error)
{
    return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                 "the profile and its rules make a text of more than %d bytes",
                                 UNSEEN_URL_ID_MAX);
}

/* Makes the patterns of a rule, if it is on, and writes them in their one spelling. */
static enum unseen_status make_params(struct unseen_url *url, struct identity *identity,
                                      uint32_t bit, const char *rule,
                                      struct unseen__params **params_out,
                                      struct unseen_error *error)
{
    struct text *patterns = patterns_of(identity, bit);
    if (!(identity->rules & bit)) {
        return UNSEEN_OK;
    }
    if (patterns->full) {
        return length_error(error);
    }
    char spelling[UNSEEN_URL_ID_MAX + 1];
    const enum unseen_status status =
        unseen__params_create(params_out, rule, patterns->bytes, &url->allocator, spelling, error);
    if (status == UNSEEN_OK) {
        patterns->len = 0;
        put_string(patterns, spelling);
    }
    return status;
}

/* Refuses rules of which one leaves another nothing to do. */
static enum unseen_status check_contradictions(const struct unseen_url *url,
                                               struct unseen_error *error)
{
    char pattern[UNSEEN_URL_ID_MAX + 1];
    if ((url->rules & UNSEEN__RULE_STRIP_QUERY) && (url->drop_params || url->only_params)) {
        return unseen__error_setting(
            error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
            "strip-query drops every parameter, so %s has nothing left to choose from",
            url->drop_params ? "drop-params" : "only-params");
    }
    if (url->drop_params && url->only_params &&
        unseen__params_contradict(url->drop_params, url->only_params, pattern)) {
        return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                     "only-params keeps \"%.200s\", and drop-params drops it",
                                     pattern);
    }
    return UNSEEN_OK;
}

/* Refuses sites of only-params that strip-www takes away: of such a URL more parameters would be
 * kept than of its canonical form, which would not be its own. */
static enum unseen_status check_sites(const struct unseen_url *url, struct unseen_error *error)
{
    const size_t n =
        url->only_params && (url->rules & UNSEEN__RULE_STRIP_WWW) ? url->only_params->nsites : 0;
    for (size_t i = 0; i < n; i++) {
        const struct unseen__param_site *site = &url->only_params->sites[i];
        const size_t www = unseen__www_len(site->host, site->len);
        if (www > 0) {
            const char *const rest = site->host + www;
            const int len = (int)(site->len - www < 60 ? site->len - www : 60);
            return unseen__error_setting(error, UNSEEN_ERR_ARGUMENT, UNSEEN_SETTING_RULES,
                                         "strip-www makes %.*s%.*s %.*s: write the patterns of "
                                         "only-params for %.*s",
                                         (int)(www < 60 ? www : 60), site->host, len, rest, len,
                                         rest, len, rest);
        }
    }
    return UNSEEN_OK;
}

/* Makes the parts of the object. What was made until an error is freed with the object. */
static enum unseen_status make_parts(struct unseen_url *url, struct identity *identity,
                                     struct unseen_error *error)
{
    enum unseen_status status = make_params(url, identity, UNSEEN__RULE_DROP_PARAMS, "drop-params",
                                            &url->drop_params, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = make_params(url, identity, UNSEEN__RULE_ONLY_PARAMS, "only-params", &url->only_params,
                         error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = check_contradictions(url, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = check_sites(url, error);
    if (status != UNSEEN_OK) {
        return status;
    }
    struct text id = {.len = 0};
    write_id(&id, identity);
    if (id.full) {
        return length_error(error);
    }
    url->id = unseen__alloc(&url->allocator, id.len + 1, 1);
    if (!url->id) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    memcpy(url->id, id.bytes, id.len + 1);
    unseen__trackers_init(&url->trackers);
    unseen__sessions_init(&url->sessions);
    return UNSEEN_OK;
}

enum unseen_status unseen_url_create(struct unseen_url **url_out,
                                     const struct unseen_url_options *options,
                                     struct unseen_error *error)
{
    struct unseen_url_options given = {.size = sizeof(given)};
    struct identity identity;
    enum unseen_cpu cpu;
    enum unseen_status status =
        unseen__sized_take(&given, sizeof(given), options, "unseen_url_options", error);
    if (status == UNSEEN_OK) {
        status = read_options(&identity, &given, error);
    }
    if (status == UNSEEN_OK) {
        status = unseen__cpu_select(given.cpu, &cpu, error);
    }
    if (status != UNSEEN_OK) {
        return status;
    }
    const struct unseen_allocator allocator = unseen__allocator(given.allocator);
    struct unseen_url *url = unseen__alloc_zero(&allocator, sizeof(*url), _Alignof(max_align_t));
    if (!url) {
        return unseen__error_plain(error, UNSEEN_ERR_NOMEM);
    }
    const struct profile *profile = identity.profile;
    url->fast = profile->select_fast ? profile->select_fast(cpu, identity.rules) : NULL;
    url->scan = unseen__url_whatwg_scan(cpu);
    url->slow = profile->slow;
    url->rules = identity.rules;
    url->allocator = allocator;
    status = make_parts(url, &identity, error);
    if (status != UNSEEN_OK) {
        unseen_url_free(url);
        return status;
    }
    *url_out = url;
    return UNSEEN_OK;
}

void unseen_url_free(struct unseen_url *url)
{
    if (url) {
        const struct unseen_allocator allocator = url->allocator;
        unseen__params_free(url->drop_params, &allocator);
        unseen__params_free(url->only_params, &allocator);
        unseen__free(&allocator, url->id, url->id ? strlen(url->id) + 1 : 0);
        unseen__free(&allocator, url, sizeof(*url));
    }
}

const char *unseen_url_id(const struct unseen_url *url)
{
    return url->id;
}
