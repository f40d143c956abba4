/* SPDX-License-Identifier: MIT */
#include "lines/entry_formats.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "characters.h"
#include "lines/words.h"

/* In front of names that are to be blocked, and of the machine's own names. */
static const char *const local_addresses[] = {
    "0.0.0.0",     "127.0.0.1", "::",      "::0",     "::1",     "0",
    "fe80::1%lo0", "ff00::0",   "ff02::1", "ff02::2", "ff02::3", "255.255.255.255"};

/* The names that hosts files give to the machine itself. */
static const char *const local_names[] = {
    "localhost",     "localhost.localdomain", "localhost4",   "localhost6",   "local",
    "broadcasthost", "ip6-localhost",         "ip6-loopback", "ip6-localnet", "ip6-mcastprefix",
    "ip6-allnodes",  "ip6-allrouters",        "ip6-allhosts", "0.0.0.0",
};

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof(*(words)))

static bool is_one_of(struct unseen_bytes word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == word.len && strncasecmp(words[i], word.data, word.len) == 0) {
            return true;
        }
    }
    return false;
}

/* Drops the word at the start of the text; false if it is not there. */
static bool take_start(struct unseen_bytes *in, const char *start)
{
    const size_t len = strlen(start);
    if (in->len < len || strncasecmp(in->data, start, len) != 0) {
        return false;
    }
    *in = without_first(*in, len);
    return true;
}

static bool has_any(struct unseen_bytes in, const char *set)
{
    return length_until(in, set) < in.len;
}

static bool says(struct entry_line *result, enum entry_line_type type, enum fault fault)
{
    *result = (struct entry_line){type, fault};
    return true;
}

static bool skips(struct entry_line *result)
{
    return says(result, ENTRY_LINE_SKIPPED, FAULT_EMPTY);
}

static bool refuses(struct entry_line *result, enum fault fault)
{
    return says(result, ENTRY_LINE_WRONG, fault);
}

static bool takes(struct entry_line *result, const struct entry_sink *sink,
                  struct unseen_bytes item, bool allows)
{
    sink->take(sink->context, item, allows);
    return says(result, ENTRY_LINE_TAKEN, FAULT_EMPTY);
}

/* ---- Hosts files ----------------------------------------------------------------------------- */

/* "0.0.0.0 evil.example www.evil.example#why" */
static bool read_hosts_line(struct unseen_bytes line, const struct entry_sink *sink,
                            struct entry_line *result)
{
    struct unseen_bytes rest = line;
    const struct unseen_bytes address = next_word(&rest);
    struct unseen_bytes name = next_word(&rest);
    if (name.len == 0 || !IS_ONE_OF(address, local_addresses)) {
        return false;
    }
    (void)skips(result);
    for (; name.len > 0; name = next_word(&rest)) {
        const size_t len = length_until(name, "#");
        if (len > 0 && !IS_ONE_OF(first_of(name, len), local_names)) {
            (void)takes(result, sink, first_of(name, len), false);
        }
        if (len < name.len) {
            break;
        }
    }
    return true;
}

/* ---- dnsmasq --------------------------------------------------------------------------------- */

/* "address=/evil.example/www.evil.example/0.0.0.0", "server=/evil.example/", "local=/evil.example/"
 *
 * The name is not blocked by the address of another machine, which is an answer, nor by another
 * server. The server # is the usual one: the name is allowed. */
static bool read_dnsmasq(struct unseen_bytes line, const struct entry_sink *sink,
                         struct entry_line *result)
{
    const bool is_address = take_start(&line, "address=");
    const bool is_server =
        !is_address && (take_start(&line, "server=") || take_start(&line, "local="));
    size_t end = line.len; /* of the names */
    while (end > 0 && byte_at(line, end - 1) != '/') {
        end--;
    }
    if ((!is_address && !is_server) || end < 2 || byte_at(line, 0) != '/') {
        return false;
    }
    const struct unseen_bytes value = without_first(line, end);
    const bool is_usual = value.len == 1 && byte_at(value, 0) == '#';
    const bool is_null = is_address && (is_usual || IS_ONE_OF(value, local_addresses));
    if (value.len > 0 && !is_null && !(is_server && is_usual)) {
        return refuses(result, FAULT_ANSWER);
    }
    bool found = false;
    for (size_t at = 1; at < end; at++) {
        const struct unseen_bytes rest = without_first(line, at);
        const size_t len = length_until(rest, "/");
        if (len > 0) {
            found = takes(result, sink, first_of(rest, len), is_server && is_usual);
        }
        at += len;
    }
    return found;
}

/* ---- Zones ----------------------------------------------------------------------------------- */

static const char *const zone_directives[] = {"$TTL", "$ORIGIN"};

/* Types of records that say something about the zone. */
static const char *const zone_types[] = {"SOA", "NS", "TXT"};

/* The answers of response policy zones that block: there is no such name, it has no records, and no
 * answer at all. */
static const char *const policies[] = {".", "*.", "rpz-drop."};

static const char *const passthru[] = {"rpz-passthru.", "rpz-passthru"};

/* A time or a number of a zone, such as 3600 or 1w. The last one of an SOA record has a parenthesis
 * behind it. */
static bool is_number(struct unseen_bytes word)
{
    static const char units[] = "smhdwSMHDW";
    size_t n = 0;
    while (n < word.len && is_digit(byte_at(word, n))) {
        n++;
    }
    const bool has_digits = n > 0;
    n += has_digits && n < word.len && memchr(units, byte_at(word, n), sizeof(units) - 1);
    n += n < word.len && (byte_at(word, n) == ')' || (n == 0 && byte_at(word, n) == '('));
    return n == word.len && n > 0;
}

/* The numbers of an SOA record that goes over several lines, and its parentheses. Numbers are
 * indented: one that is not may be anything. */
static bool is_soa_rest(struct unseen_bytes line, bool indented)
{
    struct unseen_bytes rest = line;
    struct unseen_bytes word;
    while ((word = next_word(&rest)).len > 0) {
        if (!is_number(word) || (!indented && is_digit(byte_at(word, 0)))) {
            return false;
        }
    }
    return true;
}

static bool is_address(struct unseen_bytes word, bool v6)
{
    char text[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    if (word.len >= sizeof(text)) {
        return false;
    }
    memcpy(text, word.data, word.len);
    text[word.len] = '\0';
    return inet_pton(v6 ? AF_INET6 : AF_INET, text, address) == 1;
}

/* Is the last label one of the triggers that are not about names, such as rpz-ip? */
static bool is_other_trigger(struct unseen_bytes name)
{
    size_t at = name.len;
    while (at > 0 && byte_at(name, at - 1) != '.') {
        at--;
    }
    struct unseen_bytes label = without_first(name, at);
    return take_start(&label, "rpz-");
}

/* What the name of a record is blocked or allowed by, or FAULT_ANSWER. */
static bool read_answer(struct unseen_bytes name, bool in_zone, bool blocks, bool allows,
                        const struct entry_sink *sink, struct entry_line *result)
{
    if (name.len == 1 && byte_at(name, 0) == '@') {
        return skips(result); /* the zone itself */
    }
    return is_other_trigger(name)            ? refuses(result, FAULT_PATTERN)
           : in_zone && ends_with(name, '.') ? refuses(result, FAULT_ZONE)
           : blocks || allows                ? takes(result, sink, name, allows)
                                             : refuses(result, FAULT_ANSWER);
}

/* "evil.example 300 IN CNAME ."
 * In a zone, a name with a final dot has the name of the zone in it. */
static bool read_record(struct unseen_bytes line, bool in_zone, const struct entry_sink *sink,
                        struct entry_line *result)
{
    struct unseen_bytes rest = line;
    const struct unseen_bytes name = next_word(&rest);
    struct unseen_bytes type = next_word(&rest);
    for (unsigned i = 0; i < 2 && type.len > 0; i++) { /* a time and a class, in either order */
        static const char *const class[] = {"IN"};
        if (is_number(type) || IS_ONE_OF(type, class)) {
            type = next_word(&rest);
        }
    }
    static const char *const cname[] = {"CNAME"};
    static const char *const addresses[] = {"A", "AAAA"};
    const struct unseen_bytes answer = next_word(&rest);
    if (in_zone && answer.len > 0 && IS_ONE_OF(type, zone_types)) {
        return skips(result);
    }
    if (answer.len == 0 || next_word(&rest).len > 0) {
        return false;
    }
    if (IS_ONE_OF(type, cname)) {
        return read_answer(name, in_zone, IS_ONE_OF(answer, policies), IS_ONE_OF(answer, passthru),
                           sink, result);
    }
    return IS_ONE_OF(type, addresses) && is_address(answer, type.len == 4) &&
           read_answer(name, in_zone, IS_ONE_OF(answer, local_addresses), false, sink, result);
}

/* ---- unbound --------------------------------------------------------------------------------- */

static const char *const blocking_zones[] = {
    "always_nxdomain", "always_null", "always_nodata", "always_refuse", "always_deny",    "static",
    "refuse",          "redirect",    "deny",          "inform_deny",   "inform_redirect"};

/* Of other transparent zones names are often blocked by data, which an allowed zone would undo. */
static const char *const open_zones[] = {"always_transparent"};

/* Drops quotes around the text. */
static struct unseen_bytes without_quotes(struct unseen_bytes in)
{
    const char first = in.len >= 2 ? byte_at(in, 0) : '\0';
    return (first == '"' || first == '\'') && ends_with(in, first)
               ? first_of(without_first(in, 1), in.len - 2)
               : in;
}

/* 'local-zone: "evil.example." static', 'local-data: "evil.example A 0.0.0.0"' */
static bool read_unbound(struct unseen_bytes line, const struct entry_sink *sink,
                         struct entry_line *result)
{
    if (take_start(&line, "local-data:")) {
        return read_record(without_quotes(without_last_blanks(skip_blanks(line))), false, sink,
                           result);
    }
    if (!take_start(&line, "local-zone:")) {
        return take_start(&line, "server:") && line.len == 0 && skips(result);
    }
    const struct unseen_bytes name = without_quotes(next_word(&line));
    const struct unseen_bytes type = without_quotes(next_word(&line));
    if (name.len == 0 || type.len == 0 || next_word(&line).len > 0) {
        return false;
    }
    const bool allows = IS_ONE_OF(type, open_zones);
    return allows || IS_ONE_OF(type, blocking_zones) ? takes(result, sink, name, allows)
                                                     : refuses(result, FAULT_ANSWER);
}

/* ---- Rules of ad blockers -------------------------------------------------------------------- */

static const char *const rule_headers[] = {"[Adblock", "[AdGuard", "[uBlock"};

/* Options of a rule that do not restrict the rule. (An allowed entry wins here in any case.) */
static const char *const open_options[] = {"important", "all"};

/* "example.com##.ad", also "#@#", "#?#", "#$#", "#%#" and their like, and "example.com$$script". */
static bool is_hiding_rule(struct unseen_bytes line)
{
    struct unseen_bytes rest = without_first(line, length_until(line, "#$/|@\"! \t"));
    const bool hides = rest.len > 0 && byte_at(rest, 0) == '#';
    if (rest.len == 0 || (!hides && byte_at(rest, 0) != '$')) {
        return false;
    }
    rest = without_first(rest, 1);
    for (unsigned i = 0; i < 3 && rest.len > 0 && strchr(hides ? "@?$%" : "@", byte_at(rest, 0));
         i++) {
        rest = without_first(rest, 1);
    }
    return rest.len > 0 && byte_at(rest, 0) == (hides ? '#' : '$');
}

static bool are_open_options(struct unseen_bytes options)
{
    for (size_t at = 0; at <= options.len; at++) {
        const struct unseen_bytes rest = without_first(options, at);
        const size_t len = length_until(rest, ",");
        if (!IS_ONE_OF(first_of(rest, len), open_options)) {
            return false;
        }
        at += len;
    }
    return true;
}

/* Drops what means "and anything behind it" at the end of a rule. */
static struct unseen_bytes without_end(struct unseen_bytes rule)
{
    while (ends_with(rule, '*')) {
        rule.len--;
    }
    rule.len -= ends_with(rule, '|');
    rule.len -= ends_with(rule, '^');
    return rule;
}

/* Is it a site, a folder or a page, as in a plain entry? */
static bool is_plain_rule(struct unseen_bytes rule)
{
    (void)take_start(&rule, "*.");
    const struct unseen_bytes host = first_of(rule, length_until(rule, "/?"));
    return host.len > 0 && !ends_with(host, '.') && !has_any(host, ":") && !has_any(rule, "*^|");
}

/* "||evil.example^", "@@||good.example^$important", and the rules that a list cannot keep. */
static bool read_rule(struct unseen_bytes line, const struct entry_sink *sink,
                      struct entry_line *result)
{
    struct unseen_bytes rule = line;
    const bool allows = take_start(&rule, "@@");
    const bool is_pattern = byte_at(line, 0) == '/' && line.len > 2 && byte_at(line, 1) != '/' &&
                            (ends_with(line, '/') || has_any(line, "*^$"));
    if (!allows && !is_pattern && byte_at(line, 0) != '|') {
        return false;
    }
    if (!take_start(&rule, "||")) {
        return refuses(result, FAULT_PATTERN);
    }
    const size_t len = length_until(rule, "$");
    if (len < rule.len && !are_open_options(without_first(rule, len + 1))) {
        return refuses(result, FAULT_OPTIONS);
    }
    rule = without_end(first_of(rule, len));
    return is_plain_rule(rule) ? takes(result, sink, rule, allows) : refuses(result, FAULT_PATTERN);
}

static bool is_rule_header(struct unseen_bytes line)
{
    for (size_t i = 0; i < sizeof(rule_headers) / sizeof(*rule_headers); i++) {
        struct unseen_bytes rest = line;
        if (take_start(&rest, rule_headers[i])) {
            return true;
        }
    }
    return false;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Most lines are names, and of no format. */
static bool is_name(struct unseen_bytes line)
{
    size_t n = 0;
    while (n < line.len && (is_letter(byte_at(line, n)) || is_digit(byte_at(line, n)) ||
                            byte_at(line, n) == '.' || byte_at(line, n) == '-')) {
        n++;
    }
    return n == line.len;
}

bool entry_formats_read(struct unseen_bytes line, bool indented, const struct entry_sink *sink,
                        struct entry_line *result)
{
    struct unseen_bytes rest = line;
    if (is_name(line) && !(indented && is_digit(byte_at(line, 0)))) {
        return false;
    }
    const struct unseen_bytes word = next_word(&rest);
    if (is_rule_header(line) || IS_ONE_OF(word, zone_directives) || is_soa_rest(line, indented)) {
        return skips(result);
    }
    struct unseen_bytes scoped = line;
    if (is_hiding_rule(line) || take_start(&scoped, "[$")) {
        return refuses(result, FAULT_HIDING);
    }
    return read_rule(line, sink, result) || read_dnsmasq(line, sink, result) ||
           read_unbound(line, sink, result) || read_hosts_line(line, sink, result) ||
           read_record(line, true, sink, result);
}
