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
    /* Why a text is not a URL. */
    {"no-scheme", "it has no scheme, such as http:"},
    {"byte-order-mark", "it begins with a byte order mark, and so has no scheme"},
    {"no-host", "it has no host"},
    {"bad-host",
     "a host has no blank, no control character and none of # % / : < > ? @ [ \\ ] ^ |"},
    {"bad-name", "IDNA has no such name"},
    {"bad-ipv4", "a host whose last part is a number is an IPv4 address, and this is none"},
    {"bad-ipv6",
     "an address in brackets is an IPv6 address with its ] and a port at most behind it"},
    {"port-digits", "a port is a number"},
    {"port-range", "a port is at most 65535"},
    {"not-read", "the profile does not read it: it has no host, or is of another kind"},
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

void unseen__url_refuse(const struct unseen__url_trace *trace, const char *reason, const char *in,
                        size_t len)
{
    if (trace) {
        const struct unseen_url_step step = {.rule = reason,
                                             .sentence = find_sentence(reason),
                                             .before = {in, len},
                                             .after = {"", 0}};
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
        unseen__url_whatwg_traced(url, data, len, buf, bound, &trace, canon_out);
        return UNSEEN_OK;
    }
    /* The canonical form needs the bound of len; the last bytes are for the cleaned text. */
    const size_t room = bound - len;
    url->slow(url, data, len, buf, room, canon_out);
    if (canon_out->form == UNSEEN_URL_REWRITTEN) {
        unseen__url_explain_parts(url, data, len, canon_out->bytes, (char *)buf + room, &trace);
    } else if (canon_out->form == UNSEEN_URL_FAILED) {
        unseen__url_refuse(&trace, "not-read", data, len);
    }
    return UNSEEN_OK;
}
