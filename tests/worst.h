/* SPDX-License-Identifier: MIT
 *
 * What parsers, profiles, rules and kinds are given to find their worst input: frames, such as
 * "http://" and "/", with a unit of tokens that is repeated in between. bench/bench_worst.c
 * measures time, unit/test_work.c counts. */
#ifndef UNSEEN_TESTS_WORST_H
#define UNSEEN_TESTS_WORST_H

#include "test.h"

#include <unseen_list.h>

#include "lines/key_option.h"

enum {
    TOKEN_MAX = 32, /* bytes */
    PARTS_MAX = 8,  /* tokens of a unit */
    INPUT_MAX = 1 << 16
};

static char worst_buf[UNSEEN_KIND_TEXTS_MAX * INPUT_MAX + 4096];

/* Keeps the compiler from dropping the work. */
static uint64_t worst_total;

static void worst_check(enum unseen_status status)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "error: %s\n", unseen_status_string(status));
        exit(2);
    }
}

/* ---- Subjects ---------------------------------------------------------------------------------*/

struct subject;
typedef void run_fn(const struct subject *subject, const char *in, size_t len);

struct frame {
    const char *start;
    const char *end;
};

struct subject {
    const char *name;
    run_fn *run;
    const char *identity; /* of the canonicaliser, or the path into JSON */
    const struct frame *frames;
    const char *const *tokens;
    enum unseen_kind kind;
    struct unseen_url *url;
};

static void run_canon(const struct subject *s, const char *in, size_t len)
{
    struct unseen_canon canon;
    worst_check(unseen_url_canon(s->url, in, len, NULL, worst_buf, sizeof(worst_buf), &canon));
    worst_total += canon.bytes.len;
}

static void run_reference(const struct subject *s, const char *in, size_t len)
{
    static const char base[] = "http://e.com/a/b/c?d";
    const struct unseen_bytes document = {base, sizeof(base) - 1};
    struct unseen_canon canon;
    worst_check(unseen_url_canon(s->url, in, len, &document, worst_buf, sizeof(worst_buf), &canon));
    worst_total += canon.bytes.len;
}

static void take_step(void *context, const struct unseen_url_step *step)
{
    (void)context;
    worst_total += step->after.len;
}

static void run_explain(const struct subject *s, const char *in, size_t len)
{
    struct unseen_canon canon;
    worst_check(
        unseen_url_explain(s->url, in, len, worst_buf, sizeof(worst_buf), take_step, NULL, &canon));
    worst_total += canon.bytes.len;
}

static void run_expressions(const struct subject *s, const char *in, size_t len)
{
    struct unseen_bytes texts[UNSEEN_EXPRESSIONS_MAX];
    size_t n;
    worst_check(unseen_url_expressions(s->url, in, len, worst_buf, sizeof(worst_buf), texts, &n));
    worst_total += n;
}

static void run_surt(const struct subject *s, const char *in, size_t len)
{
    struct unseen_bytes surt;
    (void)s;
    worst_check(unseen_url_surt(in, len, false, worst_buf, sizeof(worst_buf), &surt));
    worst_total += surt.len;
}

static void run_entry(const struct subject *s, const char *in, size_t len)
{
    struct unseen_bytes entry;
    enum unseen_entry fitness;
    worst_check(unseen_kind_entry(s->kind, s->url, in, len, worst_buf, sizeof(worst_buf), &entry,
                                  &fitness));
    worst_total += entry.len;
}

static void run_question(const struct subject *s, const char *in, size_t len)
{
    struct unseen_bytes texts[UNSEEN_KIND_TEXTS_MAX];
    size_t n;
    worst_check(
        unseen_kind_texts(s->kind, s->url, in, len, worst_buf, sizeof(worst_buf), texts, &n));
    worst_total += n;
}

static void run_key(const struct subject *s, const char *in, size_t len)
{
    static struct text room;
    struct key key;
    struct unseen_bytes text;
    if (!key_parse(&key, s->identity)) {
        exit(2);
    }
    text_clear(&room);
    worst_check(key_find(&key, 0, '\t', (struct unseen_bytes){in, len}, &room, &text));
    worst_total += text.len;
}

static void run_lines(const struct subject *s, const char *in, size_t len)
{
    static struct unseen_bytes lines[INPUT_MAX + 1];
    size_t consumed;
    (void)s;
    const size_t n = unseen_lines_split(in, len, '\n', lines, INPUT_MAX + 1, &consumed);
    worst_total += unseen_lines_trim(lines, n, lines);
}

static const struct frame host_frames[] = {{"http://", "/"},
                                           {"http://\xc3\xa4", ".com/"},
                                           {"http://198.51.100.", "7/"},
                                           {"http://\xc3\xa4.xn--", "-9ca/"},
                                           {"http://a", "\xcc\x81/"},
                                           {NULL, NULL}};
static const struct frame url_frames[] = {{"http://u:", "@e.com/"},
                                          {"http://[", "]/"},
                                          {"http://e.com:", "/"},
                                          {"http://e.com/", ""},
                                          {"http://e.com/", "?a"},
                                          {"http://e.com/?", ""},
                                          {"http://e.com/?a=", ""},
                                          {"http://e.com/#", ""},
                                          {"http://e.com/a;", "?b=c#d"},
                                          {"file:///", ""},
                                          {"mailto:", "?a"},
                                          {"", "://e.com/"},
                                          {"", ""},
                                          {"//e.com/a/../", "/.."},
                                          {NULL, NULL}};
static const struct frame text_frames[] = {{"", ""},   {"a@", ""}, {"", "@e.com"}, {"*.", ".com"},
                                           {"[", "]"}, {"+", "1"}, {"||", "^"},    {NULL, NULL}};
static const struct frame json_frames[] = {{"{\"url\":\"", "\"}"},
                                           {"{\"url\":1", "}"},
                                           {"{", "\"url\":1}"},
                                           {"{\"a\":", ",\"url\":1}"},
                                           {"{\"a\":\"", "\",\"url\":1}"},
                                           {"{\"", "\":1}"},
                                           {"", ""},
                                           {NULL, NULL}};

static const char *const url_tokens[] = {
    "a",        "A",          "0",          ".",        "..",      "/",          "//",
    "\\",       "?",          "&",          "=",        "&a=1",    "&a",         ";",
    ";a=1",     "#",          ":",          "@",        "[",       "]",          "-",
    "_",        "~",          "+",          " ",        "\t",      "\n",         "%",
    "%2",       "%2e",        "%2E",        "%25",      "%2525",   "%41",        "%00",
    "%ff",      "%c3%a4",     "%zz",        "'",        "\"",      "<",          "|",
    "^",        "{",          "(",          "!",        "*",       ",",          "$",
    "\x7f",     "\x01",       "\xff",       "\xc3\xa4", "/a",      "/./",        "/../",
    "/%2e%2e/", "a/../",      "/b/..",      "&utm_a=1", "utm_",    "&sid=1",     ";jsessionid=1",
    "/(S(a))",  "index.html", "www.",       "&b=1",     "&=",      "&a%5b%5d=1", "0x",
    "1.",       "::",         "ffff:",      "http://",  "//e.com", "&&",         "/index.html",
    "/(A(",     "sid=",       "phpsessid=", NULL};
static const char *const host_tokens[] = {"a",
                                          "A",
                                          ".",
                                          "-",
                                          "0",
                                          "xn--",
                                          "xn--9ca",
                                          ".xn--9ca",
                                          "%c3%a4",
                                          "%2e",
                                          "%25",
                                          "\xc3\xa4",
                                          "\xc3\x84",
                                          "\xe3\x80\x82",
                                          "\xc2\xad",
                                          "\xcc\x81",
                                          "\xcc\xa3",
                                          "e\xcc\x81",
                                          "\xcd\x85",
                                          "\xe1\xbe\x82",
                                          "\xe1\xbd\x82",
                                          "\xce\xb1\xcc\x93\xcc\x80\xcd\x85",
                                          "\xef\xb7\xba",
                                          "\xe3\x8c\x80",
                                          "\xe3\x8c\x80.",
                                          "\xe3\x8e\xaf",
                                          "\xef\xbc\x90",
                                          "\xe4\xb8\x80",
                                          "\xe4\xb9\x8d",
                                          "\xea\xb0\x80",
                                          "\xe1\x84\x80",
                                          "\xe1\x85\xa1",
                                          "\xe1\x86\xa8",
                                          "\xd7\x90",
                                          "\xd8\xa7",
                                          "\xd9\xa1",
                                          "\xe2\x98\x95",
                                          "\xe2\x98\x95.",
                                          "\xe2\x80\x8c",
                                          "\xe2\x80\x8d",
                                          "\xe0\xa4\x95\xe0\xa5\x8d\xe2\x80\x8d",
                                          "\xf0\x9d\x90\x80",
                                          "\xf0\x96\x84\x9e",
                                          "\xf0\x96\x84\x9f",
                                          "\xf0\xaf\xa0\x80",
                                          "\xe0\xa7\x87\xe0\xa6\xbe",
                                          "\xf3\xa0\x84\x80",
                                          "\xff",
                                          "\xc3\x9f",
                                          "\xcc\xb8",
                                          "=\xcc\xb8",
                                          "\xef\xbc\x8e",
                                          "\xe2\x91\xb4",
                                          "\xc3\x9f\xe2\x98\x95\xe2\x98\x96\xe2\x98\x97.",
                                          "-\xcc\x81\xcc\xa3\xcc\x82.",
                                          "\xd7\x90\xe0\xbc\xba\xd7\x90.",
                                          "\xd7\x90\xe0\xbc\xba\xd7\x91\xe0\xbc\xbb\xd7\x92.",
                                          NULL};
static const char *const text_tokens[] = {"a",
                                          "A",
                                          ".",
                                          "..",
                                          "a.",
                                          "@",
                                          "\"",
                                          "\\",
                                          "+",
                                          "-",
                                          "_",
                                          " ",
                                          "\t",
                                          "(",
                                          ")",
                                          "0",
                                          "1.",
                                          "1",
                                          ":",
                                          "::",
                                          "f:",
                                          "/",
                                          "/32",
                                          "%",
                                          "%41",
                                          "*",
                                          "*.",
                                          "|",
                                          "^",
                                          "||",
                                          "[",
                                          "]",
                                          "xn--",
                                          "\xc3\xa4",
                                          "\xe3\x8c\x80",
                                          "\xcc\x81",
                                          "\xff",
                                          "\x01",
                                          "00",
                                          "tel:",
                                          "ext",
                                          "#",
                                          "=",
                                          "<",
                                          ">",
                                          ",",
                                          "'",
                                          "\xef\xbc\x90",
                                          "\xef\xb7\xba",
                                          "mailto:",
                                          "http://",
                                          "?",
                                          "&",
                                          NULL};
static const char *const json_tokens[] = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          "\"",
                                          ":",
                                          ",",
                                          "\\",
                                          "\\\"",
                                          "\\\\",
                                          "\\u0041",
                                          "\\ud83d\\ude00",
                                          "\\ud83d",
                                          "\\n",
                                          "a",
                                          "\xc3\xa4",
                                          "\xff",
                                          "\x01",
                                          "1",
                                          "1e9",
                                          "1.5",
                                          "-",
                                          " ",
                                          "\t",
                                          "\n",
                                          "\r",
                                          "null",
                                          "true",
                                          "\"a\":",
                                          "\"a\":1,",
                                          "\"url\":2,",
                                          "\"url\":{},",
                                          "\"url\":[[],",
                                          "[[",
                                          "{\"a\":",
                                          "{\"url\":",
                                          "]]",
                                          "\"\\u0075rl\":1,",
                                          "e",
                                          "0",
                                          NULL};

static struct subject subjects[] = {
    {"lines", run_lines, NULL, json_frames, json_tokens, 0, NULL},
    {"field 300", run_key, "300", json_frames, json_tokens, 0, NULL},
    {"JSON .url", run_key, ".url", json_frames, json_tokens, 0, NULL},
    {"JSON .url[9].a", run_key, ".url[9].a", json_frames, json_tokens, 0, NULL},
    {"crawl, hosts", run_canon, "crawl", host_frames, host_tokens, 0, NULL},
    {"aggressive, hosts", run_canon, "aggressive", host_frames, host_tokens, 0, NULL},
    {"scrapy, hosts", run_canon, "scrapy", host_frames, host_tokens, 0, NULL},
    {"safebrowsing, hosts", run_canon, "safebrowsing", host_frames, host_tokens, 0, NULL},
    {"whatwg", run_canon, "whatwg", url_frames, url_tokens, 0, NULL},
    {"crawl", run_canon, "crawl", url_frames, url_tokens, 0, NULL},
    {"aggressive", run_canon, "aggressive", url_frames, url_tokens, 0, NULL},
    {"scrapy", run_canon, "scrapy", url_frames, url_tokens, 0, NULL},
    {"scrapy+split-semicolons+drop-blank-values", run_canon,
     "scrapy+split-semicolons+drop-blank-values", url_frames, url_tokens, 0, NULL},
    {"safebrowsing", run_canon, "safebrowsing", url_frames, url_tokens, 0, NULL},
    {"crawl+default-scheme", run_canon, "crawl+default-scheme", url_frames, url_tokens, 0, NULL},
    {"crawl+keep-routes", run_canon, "crawl+keep-routes", url_frames, url_tokens, 0, NULL},
    {"crawl+decode-*+upper-escapes", run_canon,
     "crawl+decode-unreserved+decode-reserved+upper-escapes", url_frames, url_tokens, 0, NULL},
    {"crawl+collapse-slashes+strip-*", run_canon,
     "crawl+collapse-slashes+strip-index+strip-slash+strip-www+strip-dot", url_frames, url_tokens,
     0, NULL},
    {"crawl+strip-sessions", run_canon, "crawl+strip-sessions", url_frames, url_tokens, 0, NULL},
    {"crawl+strip-trackers", run_canon, "crawl+strip-trackers", url_frames, url_tokens, 0, NULL},
    {"crawl+sort-query", run_canon, "crawl+sort-query", url_frames, url_tokens, 0, NULL},
    {"crawl+drop-params", run_canon, "crawl+drop-params(a*,utm_*,sid,e.com:c*,com:x)", url_frames,
     url_tokens, 0, NULL},
    {"crawl+only-params", run_canon, "crawl+only-params(a*,utm_*,sid,e.com:c*,com:x)", url_frames,
     url_tokens, 0, NULL},
    {"crawl, a reference", run_reference, "crawl", url_frames, url_tokens, 0, NULL},
    {"explain aggressive", run_explain, "aggressive", url_frames, url_tokens, 0, NULL},
    {"explain safebrowsing", run_explain, "safebrowsing", url_frames, url_tokens, 0, NULL},
    {"expressions", run_expressions, "safebrowsing", url_frames, url_tokens, 0, NULL},
    {"expressions, hosts", run_expressions, "safebrowsing", host_frames, host_tokens, 0, NULL},
    {"SURT", run_surt, NULL, url_frames, url_tokens, 0, NULL},
    {"entry of expressions", run_entry, "safebrowsing", url_frames, url_tokens,
     UNSEEN_KIND_EXPRESSIONS, NULL},
    {"entry of expressions, notations", run_entry, "safebrowsing", text_frames, text_tokens,
     UNSEEN_KIND_EXPRESSIONS, NULL},
    {"entry of mail", run_entry, NULL, text_frames, text_tokens, UNSEEN_KIND_MAIL, NULL},
    {"entry of ip", run_entry, NULL, text_frames, text_tokens, UNSEEN_KIND_IP, NULL},
    {"entry of phone", run_entry, NULL, text_frames, text_tokens, UNSEEN_KIND_PHONE, NULL},
    {"question of expressions", run_question, "safebrowsing", url_frames, url_tokens,
     UNSEEN_KIND_EXPRESSIONS, NULL},
    {"question of mail", run_question, NULL, text_frames, text_tokens, UNSEEN_KIND_MAIL, NULL},
    {"question of ip", run_question, NULL, text_frames, text_tokens, UNSEEN_KIND_IP, NULL},
    {"question of phone", run_question, NULL, text_frames, text_tokens, UNSEEN_KIND_PHONE, NULL},
};

/* ---- Inputs ----------------------------------------------------------------------------------*/

struct input {
    const struct frame *frame;
    const char *parts[PARTS_MAX];
    size_t nparts;
    size_t len; /* wanted */
};

static size_t write_input(const struct input *input, char *out)
{
    char unit[PARTS_MAX * TOKEN_MAX];
    size_t unit_len = 0;
    size_t n = strlen(input->frame->start);
    const size_t end_len = strlen(input->frame->end);
    for (size_t i = 0; i < input->nparts; i++) {
        const size_t len = strlen(input->parts[i]);
        memcpy(unit + unit_len, input->parts[i], len);
        unit_len += len;
    }
    memcpy(out, input->frame->start, n);
    while (n + unit_len + end_len <= input->len) {
        memcpy(out + n, unit, unit_len);
        n += unit_len;
    }
    memcpy(out + n, input->frame->end, end_len);
    return n + end_len;
}

/* Makes the canonicaliser of a subject, if it has one. */
static void worst_start(struct subject *s)
{
    if (s->identity && s->run != run_key) {
        const struct unseen_url_options options = {.size = sizeof(options), .profile = s->identity};
        worst_check(unseen_url_create(&s->url, &options, NULL));
    }
}

static void worst_print(FILE *to, const struct input *input)
{
    const char *texts[PARTS_MAX + 4] = {input->frame->start, " {"};
    size_t n = 2;
    for (size_t i = 0; i < input->nparts; i++) {
        texts[n++] = input->parts[i];
    }
    texts[n++] = "} ";
    texts[n++] = input->frame->end;
    for (size_t i = 0; i < n; i++) {
        for (const char *c = texts[i]; *c; c++) {
            const unsigned char byte = (unsigned char)*c;
            fprintf(to, byte < ' ' || byte > '~' || byte == '\\' ? "\\x%02x" : "%c", byte);
        }
    }
    fputc('\n', to);
}

#endif
