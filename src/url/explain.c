/* SPDX-License-Identifier: MIT
 *
 * unseen_url_explain: runs the slow path with a trace, and gives each rule in the trace its
 * sentence. */
#include <string.h>

#include "url/whatwg.h"

/* The rules of the standard itself. The names of switchable rules are in profiles.c. */
static const struct unseen_url_entry standard_rules[] = {
    {"outer-space", "spaces and control characters around a URL do not count"},
    {"tab-newline", "tabs and newlines inside a URL do not count"},
    {"scheme-case", "upper and lower case are the same in a scheme"},
    {"slashes", "after http: and its like any number of / and \\ is //"},
    {"userinfo", "user and password are escaped; if both are empty the @ goes"},
    {"host-case", "upper and lower case are the same in a host"},
    {"host-escape", "escapes in a host are the characters they stand for"},
    {"idna", "a name that is not ASCII is its IDNA form, xn--..."},
    {"ipv4", "an IPv4 address is written a.b.c.d"},
    {"ipv6", "an IPv6 address is written compressed and in lower case"},
    {"port", "the scheme's own port, an empty one and leading zeros go"},
    {"empty-path", "an empty path is /"},
    {"backslash", "a \\ in the path is /"},
    {"dot-segments", "the segments . and .. are resolved"},
    {"escape", "what may not stand in a URL as it is is escaped"},
    {"no-keep-fragment", "the fragment is not sent to the server"},
};

static const char *find_sentence(const char *name)
{
    for (size_t i = 0; i < sizeof(standard_rules) / sizeof(standard_rules[0]); i++) {
        if (strcmp(standard_rules[i].name, name) == 0) {
            return standard_rules[i].sentence;
        }
    }
    const struct unseen_url_entry *entry;
    for (size_t i = 0; (entry = unseen_url_rule_at(i)); i++) {
        if (strcmp(entry->name, name) == 0) {
            return entry->sentence;
        }
    }
    return "";
}

void unseen__url_note(const struct unseen__url_trace *trace, const char *rule, const char *before,
                      size_t before_len, const char *after, size_t after_len)
{
    if (!trace ||
        (before_len == after_len && (!after_len || memcmp(before, after, after_len) == 0))) {
        return;
    }
    const struct unseen_url_step step = {
        .rule = rule,
        .sentence = find_sentence(rule),
        .before = {before, before_len},
        .after = {after, after_len},
    };
    trace->step(trace->context, &step);
}

/* Explains a scheme that has no trace, as one step named by its profile. */
static void explain_whole(const struct unseen_url *url, const struct unseen__url_trace *trace,
                          const char *in, size_t len, const struct unseen_canon *canon)
{
    const size_t name_len = strcspn(url->id, "/");
    const struct unseen_url_entry *entry;
    for (size_t i = 0; (entry = unseen_url_profile_at(i)); i++) {
        if (strlen(entry->name) == name_len && memcmp(entry->name, url->id, name_len) == 0) {
            break;
        }
    }
    if (entry && canon->form == UNSEEN_URL_REWRITTEN) {
        const struct unseen_url_step step = {
            .rule = entry->name,
            .sentence = entry->sentence,
            .before = {in, len},
            .after = canon->bytes,
        };
        trace->step(trace->context, &step);
    }
}

enum unseen_status
unseen_url_explain(const struct unseen_url *url, const void *data, size_t len, void *buf,
                   size_t cap, void (*step)(void *context, const struct unseen_url_step *step),
                   void *context, struct unseen_canon *canon_out)
{
    const size_t bound = len > SIZE_MAX / 2 ? 0 : unseen_url_bound(2 * len, 0);
    if (bound == 0 || cap < bound) {
        return UNSEEN_ERR_SPACE;
    }
    const struct unseen__url_trace trace = {step, context};
    if (url->slow == unseen__url_whatwg) {
        return unseen__url_whatwg_traced(url, data, len, buf, bound, &trace, canon_out);
    }
    const enum unseen_status status = url->slow(url, data, len, buf, bound, canon_out);
    if (status == UNSEEN_OK) {
        explain_whole(url, &trace, data, len, canon_out);
    }
    return status;
}
