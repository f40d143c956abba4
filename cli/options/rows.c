/* SPDX-License-Identifier: MIT
 *
 * The table of options. A row says how an option is written, which commands have it, what the help
 * says, and which field of struct options gets its value; options.h explains the columns. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unseen_list.h>

#include "lines/input.h"
#include "options/options.h"
#include "print/message.h"
#include "print/suggest.h"
#include "print/typed.h"

#define SEED_EXPECTS      "a text, or 0x and pairs of hexadecimal digits"
#define SEED_EXAMPLE      "0x$(openssl rand -hex 32)"
#define TWO_OUTPUTS       " FILE | tee %1$s > %2$s"
#define SEED_FILE_EXAMPLE "seed.key"

/* ---- Values with a form of their own --------------------------------------------------------- */

static bool set_exclude(struct options *o, char *value)
{
    o->seen.excludes[o->seen.nexcludes++] = value; /* options_parse made room */
    return true;
}

static bool set_known_good(struct options *o, char *value)
{
    o->list.known_good[o->list.nknown_good++] = value; /* options_parse made room */
    return true;
}

/* The end of the first name of a list. Commas inside parentheses separate patterns,
 * not names. */
static char *end_of_rule(char *list)
{
    bool inside = false;
    while (*list && (*list != ',' || inside)) {
        inside = *list == '(' || (inside && *list != ')');
        list++;
    }
    return list;
}

/* Splits the list in place; options_parse made room for all names. */
static bool set_rule(struct options *o, char *value)
{
    for (char *name = value, *end; name; name = *end ? end + 1 : NULL) {
        end = end_of_rule(name);
        if (end == name) {
            return false; /* before anything is split: the message shows the value */
        }
    }
    for (char *name = value; name;) {
        char *end = end_of_rule(name);
        o->profile.rules[o->profile.nrules++] = name;
        name = *end ? end + 1 : NULL;
        *end = '\0';
    }
    return true;
}

/* Adds the rule NAME(VALUE). */
static bool set_params(struct options *o, const char *name, const char *value)
{
    const size_t size = strlen(name) + strlen(value) + sizeof("()");
    if (value[0] == '\0' || strpbrk(value, "()")) {
        return false;
    }
    char *rule = malloc(size);
    if (!rule) {
        return message_no_memory();
    }
    snprintf(rule, size, "%s(%s)", name, value);
    o->profile.made[o->profile.nmade++] = rule;
    o->profile.rules[o->profile.nrules++] = rule;
    return true;
}

static bool set_drop_params(struct options *o, char *value)
{
    return set_params(o, "drop-params", value);
}

static bool set_only_params(struct options *o, char *value)
{
    return set_params(o, "only-params", value);
}

#define PARAMS_EXPECTS "a list of names of parameters, ( as %28 and ) as %29"

static bool set_add(struct options *o, char *value)
{
    o->list.edits[o->list.nedits++] =
        (struct edit_file){value, false}; /* options_parse made room */
    return true;
}

static bool set_remove(struct options *o, char *value)
{
    o->list.edits[o->list.nedits++] = (struct edit_file){value, true};
    return true;
}

enum {
    SHARES_MAX = 1000000
};

static bool set_shares(struct options *o, char *value)
{
    return number_count(value, &o->key.nshards) && o->key.nshards >= 1 &&
           o->key.nshards <= SHARES_MAX;
}

static bool set_shard(struct options *o, char *value)
{
    char first[24];
    const char *slash = strchr(value, '/');
    if (!slash || (size_t)(slash - value) >= sizeof(first)) {
        return false;
    }
    memcpy(first, value, (size_t)(slash - value));
    first[slash - value] = '\0';
    uint64_t i = 0;
    uint64_t n = 0;
    if (!number_count(first, &i) || !number_count(slash + 1, &n) || i < 1 || i > n ||
        n > SHARES_MAX) {
        return false;
    }
    o->key.shard = i - 1;
    o->key.nshards = n;
    return true;
}

static bool set_seed(struct options *o, char *value)
{
    return seed_parse(&o->seen.seed, value, strlen(value));
}

static bool set_key_bits(struct options *o, char *value)
{
    uint64_t bits = 0;
    if (!number_count(value, &bits) || (bits != 64 && bits != 96 && bits != 128)) {
        return false;
    }
    o->seen.key_bits = (unsigned)bits;
    return true;
}

/* Without a value: as long as it takes. */
static bool set_wait(struct options *o, char *value)
{
    o->seen.waits = true;
    if (!value || strcmp(value, "0") == 0) {
        o->seen.wait = value ? 0 : HUGE_VAL;
        return true;
    }
    return number_positive(value, &o->seen.wait);
}

static bool set_mode(struct options *o, char *value)
{
    return number_mode(value, &o->seen.file_mode);
}

static bool set_kind(struct options *o, char *value)
{
    const char *name;
    for (unsigned i = 0; (name = unseen_kind_name((enum unseen_kind)i)); i++) {
        if (strcmp(name, value) == 0) {
            o->list.kind = (enum unseen_kind)i;
            o->list.has_kind = true;
            return true;
        }
    }
    return false;
}

/* What people call the entries of each kind. */
static const char *nearest_kind(const char *value)
{
    static const struct {
        const char *word;
        const char *kind;
    } words[] = {
        {"mail", "mail"},
        {"sender", "mail"},
        {"address", "mail"},
        {"site", "expressions"},
        {"domain", "expressions"},
        {"host", "expressions"},
        {"page", "expressions"},
        {"expr", "expressions"},
        {"folder", "expressions"},
        {"net", "ip"},
        {"ip", "ip"},
        {"cidr", "ip"},
        {"phone", "phone"},
        {"tel", "phone"},
        {"number", "phone"},
        {"url", "url"},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasestr(value, words[i].word)) {
            return words[i].kind;
        }
    }
    return NULL;
}

/* What was probably meant by a wrong -k, until the next call; NULL: it is not known. A name in the
 * first line of a table is not a path. */
static const char *nearest_key(const char *value)
{
    static char hint[64];
    const char *inputs = typed_inputs();
    const bool is_table =
        typed_has("separator") || strstr(inputs, ".csv") || strstr(inputs, ".tsv");
    return !is_table && key_suggest(value, hint, sizeof(hint)) ? hint : NULL;
}

/* What was probably meant by a wrong --by, until the next call. */
static const char *nearest_group(const char *value)
{
    static const char *const hosts[] = {"domain", "site", "hostname", "Host"};
    static char first[64];
    struct suggestion like = {.wanted = value};
    struct key key;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        if (strcmp(value, hosts[i]) == 0) {
            return "host";
        }
    }
    suggest_try(&like, "host");
    if (like.best) {
        return like.best;
    }
    if (key_parse(&key, value)) { /* several keys: a group has the name of one */
        snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ","), value);
        return first;
    }
    return nearest_key(value);
}

static bool set_key(struct options *o, char *value)
{
    o->key.text = value;
    return key_parse(&o->key.key, value);
}

static bool set_window(struct options *o, char *value)
{
    return unseen_window_parse(value, &o->seen.window) == UNSEEN_OK;
}

static bool set_window_or_none(struct options *o, char *value)
{
    const bool is_none = strcmp(value, "none") == 0;
    o->seen.window = is_none ? UNSEEN_NO_WINDOW : o->seen.window;
    return is_none || set_window(o, value);
}

static bool set_time(struct options *o, char *value)
{
    o->key.time_text = value;
    o->seen.has_line_times = true;
    o->key.time.nparts = 0;
    return key_parse(&o->key.time, value) && o->key.time.nparts == 1;
}

/* A group has one name, so --by has one part. */
static bool set_by(struct options *o, char *value)
{
    o->group.by = value;
    o->group.by_key.nparts = 0;
    o->group.by_host = strcmp(value, "host") == 0;
    return o->group.by_host || (key_parse(&o->group.by_key, value) && o->group.by_key.nparts == 1);
}

static bool set_separator(struct options *o, char *value)
{
    o->key.has_separator = true;
    o->key.separator = value[0];
    if (strcmp(value, "\\t") == 0) {
        o->key.separator = '\t';
        return true;
    }
    if (strcmp(value, "\\0") == 0) {
        o->key.separator = '\0';
        return true;
    }
    return strlen(value) == 1;
}

static bool set_threads_to(struct options *o, const char *value, uint64_t max)
{
    uint64_t n = 0;
    if (strcmp(value, "auto") != 0 && (!number_count(value, &n) || n < 1 || n > max)) {
        return false;
    }
    o->input.threads = (unsigned)n;
    return true;
}

static bool set_threads(struct options *o, char *value)
{
    return set_threads_to(o, value, INPUTS_AHEAD_MAX);
}

static bool set_build_threads(struct options *o, char *value)
{
    return set_threads_to(o, value, 1024);
}

static bool set_long(struct options *o, char *value)
{
    uint64_t n = 31;
    if (value && (!number_count(value, &n) || n < 10 || n > 31)) {
        return false;
    }
    o->input.window_log = (unsigned)n;
    return true;
}

/* ---- The table ------------------------------------------------------------------------------- */

static const char *const when_names[] = {"auto", "always", "never", NULL};
static const char *const stats_names[] = {"none", "text", "json", NULL};
static const char *const missing_names[] = {"", "whole", "skip", "fail", "empty", NULL};
static const char *const format_names[] = {"auto", "lines", "jsonl", NULL};
static const char *const kind_names[] = {"url", "expressions", "mail", "ip", "phone", NULL};
static const char *const plan_names[] = {"list", NULL}; /* and the filters */
static const char *const funnel_names[] = {"", "bytes", "utf8", "utf16", NULL};

/* The field of an option. A field of another type does not compile. */
#define FIELD(type, field)                                                                         \
    .offset = offsetof(struct options, field) +                                                    \
              0 * sizeof(char[_Generic(((struct options *)NULL)->field, type : 1)])
#define FLAG(field) .type = OPTION_FLAG, FIELD(bool, field)
#define NUL(field)  .type = OPTION_NUL, FIELD(char, field)
#define VALUE(type_, value_, expects_, example_)                                                   \
    .type = type_, .value = value_, .expects = expects_, .example = example_
#define TEXT(value, example, field)                                                                \
    VALUE(OPTION_TEXT, value, NULL, example), FIELD(const char *, field)
#define RATE(example, field)                                                                       \
    VALUE(OPTION_RATE, "RATE", "a rate above 0 and below 1", example), FIELD(double, field)
#define REAL(value, expects, example, field)                                                       \
    VALUE(OPTION_REAL, value, expects, example), FIELD(double, field)
#define COUNT(expects, example, field)                                                             \
    VALUE(OPTION_COUNT, "N", expects, example), FIELD(uint64_t, field)
#define BYTES(value, expects, example, field, from, to)                                            \
    VALUE(OPTION_BYTES, value, expects, example), FIELD(uint64_t, field), .min = from, .max = to
#define NUMBER(value, expects, example, field, from, to)                                           \
    VALUE(OPTION_NUMBER, value, expects, example), FIELD(unsigned, field), .min = from, .max = to
#define CHOICE(value, expects, example, words, first, type, field)                                 \
    VALUE(OPTION_CHOICE, value, expects, example), .names = words, .min = first, FIELD(type, field)
#define WHEN(example, field)                                                                       \
    CHOICE("[=WHEN]", "auto, always or never", example, when_names, 0, enum when, field)
#define CALL(value, expects, example, function)                                                    \
    VALUE(OPTION_CALL, value, expects, example), .set = function

#define FILE_NAME(value, example, field)                                                           \
    VALUE(OPTION_TEXT, value, "a file name", example), FIELD(const char *, field)
#define ONE_FILE(value, field, twice) FILE_NAME(value, NULL, field), .twice_hint = twice

/* clang-format off */
static const struct option_row rows[] = {
    {.group = "Print"},
    {'v', "invert", COMMAND_DEDUP, "print the repeats instead of the new lines", FLAG(print.invert),
     .does = "prints the repeats",
     .more = "That is every occurrence of a line but the first."},
    {'v', "invert", COMMAND_CHECK, "print the lines that are not in the store", FLAG(print.invert),
     .does = "prints what is not in the store", .excludes = "mark", .usage = "--mark FILE"},
    {'D', "repeats", COMMAND_DEDUP, "write the repeats to FILE as well",
     ONE_FILE("FILE", print.repeats, "-D %1$s FILE && cp %1$s %2$s"),
     .does = "prints the repeats", .excludes = "invert quiet", .usage = "-o NEW -D REPEATS FILE",
     .more = "FILE is emptied first; `-` is standard output."},
    {0, "mark", COMMAND_DEDUP, "print every line, after 1 (new) or 0 and a tab", FLAG(print.mark),
     .does = "prints every line", .excludes = "invert"},
    {0, "mark", COMMAND_CHECK,
     "print every line, after 1 (in the store) or 0 and a\ntab", FLAG(print.mark),
     .does = "prints every line", .excludes = "why", .usage = "--why --json FILE"},
    {0, "why", COMMAND_CHECK,
     "print, in front of each line, what is in STORE: the\nentry that covers the line, built, added, allowed or\nstored, "
     "and STORE, with tabs between; with --json as\nwhy", FLAG(print.why),
     .does = "prints the lines that are found", .excludes = "count quiet",
     .more = "The text is the entry that covers the line, such as `evil.example/` for any page of that site; for a "
           "list of URLs and for a store it is the canonical form of the line. A line that several entries cover has "
           "a row for each. With -v the rows are about the lines that are not found: `allowed` with the entries "
           "that it outweighs, or `none` after an empty text. With --json the object has the members `in` (STORE), "
           "`kind` (the kind of the list, or `store`) and `why`, an array of objects with `text` and `how`. A false "
           "positive looks like an entry."},
    {'c', "count", COMMAND_DEDUP | COMMAND_CHECK, "print only how many lines would be printed", FLAG(print.count),
     .does = "prints a number", .excludes = "mark quiet tee"},
    {'u', "unique", COMMAND_SORT, "print each integer once", FLAG(print.unique),
     .does = "prints each integer once"},
    {'v', "invert", COMMAND_BITS, "check: print the integers that are not in it", FLAG(print.invert)},
    {'c', "count", COMMAND_BITS, "check: print only how many would be printed", FLAG(print.count)},
    {'c', "count", COMMAND_SORT,
     "print each integer once, after how often it came and\na tab", FLAG(print.count),
     .does = "prints each integer once", .excludes = "unique"},
    {'q', "quiet", COMMAND_DEDUP | COMMAND_CHECK,
     "print nothing; exit 0 at the first line that would be\nprinted, 1 if there is none", FLAG(print.quiet),
     .does = "prints nothing", .excludes = "mark output canonical",
     .more = "It is a question: the run ends at the first such line, so -s is refused without -n. `unseen add` remembers "
           "lines and prints nothing, as `anew -q` does."},
    {'m', "max", COMMAND_DEDUP,
     "stop after N new lines (with -v: N repeats)", COUNT("a number of lines", "1000", print.limit),
     .more = "Exactly the lines up to there are remembered and counted."},
    {'m', "max", COMMAND_CHECK, "stop after N printed lines", COUNT("a number of lines", "1000", print.limit)},
    {0, "canonical", COMMAND_DEDUP | COMMAND_CHECK,
     "print canonical forms (with -k: of the key) instead\nof lines", FLAG(print.canonical),
     .does = "prints canonical forms",
     .more = "A line that is not a URL is printed as it is."},
    {0, "json", COMMAND_CANON,
     "print an object for each line: input, status,\ncanonical", FLAG(print.json)},
    {0, "json", COMMAND_EXPLAIN, "print one object with all of it", FLAG(print.json),
     .more = "Its members are `profile`; `urls`, each with `input`, `status` and `canonical` as in unseen-canon(1) and "
           "`steps`, each with `rule`, `sentence`, `before` and `after`; for two URLs or more `same`, and then "
           "either `by`, the names of rules, or `same_with`, each with `option` and `by`."},
    {0, "json", COMMAND_INFO | COMMAND_REPAIR | COMMAND_MERGE, "print one object, in one line", FLAG(print.json),
     .more = "`merge` prints the store, the number of inputs, of keys that are `new` and that were `seen`, and of all "
           "`keys`; `repair` prints what `verify` prints, and `rewritten`: whether the damaged store was kept."},
    {0, "json", COMMAND_VERIFY, "print an object for each STORE, in a line", FLAG(print.json),
     .more = "The member `store`, `list`, `foreign` or `bitmap` is the name; `errors` are the messages about it; `good` "
           "is true, false, or null if the file could not be read; the counts follow."},
    {0, "json", COMMAND_CHECK, "print an object for each line: input, found", FLAG(print.json),
     .does = "prints an object for each line", .excludes = "invert mark count quiet",
     .more = "`found` is true if the line would be printed without this option."},
    {0, "json", COMMAND_COUNT, "print an object, with --by one for each group", FLAG(print.json),
     .more = "The members are `count`, with --by also `group`, and with --returning also `returning`."},
    {0, "json", COMMAND_PLAN, "print one object, in one line", FLAG(print.json)},
    {0, "plot", COMMAND_PLAN,
     "draw the rates and sizes below: always, never or auto\n(on a terminal)", WHEN("=always", plan.plot),
     .more = "If the locale has UTF-8, curves are drawn in braille."},
    {0, "svg", COMMAND_PLAN, "draw them to FILE (-: standard output, and only them)", TEXT("FILE", "plan.svg", plan.svg)},
    {0, "expressions", COMMAND_CANON,
     "print the up to 30 host and path expressions of each\nURL; the profile is then safebrowsing",
     FLAG(print.expressions),
     .does = "prints several lines for a URL",
     .more = "Expressions are the host suffixes and path prefixes by which a list of sites, folders and pages (Safe "
           "Browsing v4) is asked, the most specific first, one in a line. An empty line ends the expressions of "
           "each input line; if the input is not a URL, there is only the empty line. Expressions are always made "
           "under the profile safebrowsing: from the input line, or with --base from the canonical form."},
    {0, "surt", COMMAND_CANON,
     "print the key under which web archives have each URL:\ncom,example)/path, as in CDX files", FLAG(print.surt),
     .does = "prints keys by rules of its own", .excludes = "expressions profile rule drop-params only-params",
     .more = "With these keys join(1) or -x finds the lines that an archive has. The published rules are used: no "
           "scheme and no www, small letters, sorted parameters."},
    {0, "keep-www", COMMAND_CANON, "with --surt: keep www., as the keys of some CDX files", FLAG(print.keep_www),
     .needs = "surt", .usage = "--surt --keep-www FILE",
     .more = "The indexes of most archives do not keep it; look at a key of the index."},
    {0, "fingerprint", COMMAND_CANON,
     "print Scrapy's fingerprint of a GET of each URL, as in\nrequests.seen; the profile is then scrapy", FLAG(print.fingerprint),
     .does = "prints fingerprints", .excludes = "surt expressions",
     .more = "The GET has no body, and the fingerprint is 40 hexadecimal digits. A line of which Scrapy makes no "
           "request is printed in its canonical form."},
    {0, "shard", COMMAND_CANON,
     "print in front of each line, with a tab between, which\nof N shares it belongs to: I of --shard I/N",
     CALL("N", "a number of shares from 1 to 1000000", "20", set_shares),
     .does = "prints the share of each line", .excludes = "expressions",
     .more = "All spellings of a URL have the same share, on every machine and in every version."},
    {.group = "Memory"},
    {'s', "store", COMMAND_DEDUP,
     "remember across runs, in STORE, which is made if new;\nor at a server: unix:PATH, ADDR:PORT, redis://HOST/KEY",
     ONE_FILE("STORE", seen.path, "-s %1$s -x %2$s"),
     .more = "A line that the store has is a repeat. A store keeps its settings: give profile, rules, rate, filter, "
           "seed and bits of a key only when you make it. Other settings are refused."},
    {0, "token-file", COMMAND_IMPORT,
     "for --from-redis: the first line of FILE is the\npassword", TEXT("FILE", "/etc/redis.password", seen.token_file)},
    {0, "token-file", COMMAND_ADD | COMMAND_REMOVE,
     "for a STORE at ADDR:PORT: the first line of FILE lets\nthis run change it; for redis:// it is the password", TEXT("FILE", "/etc/unseen.token", seen.token_file)},
    {0, "token-file", COMMAND_CHECK | COMMAND_INFO,
     "for a STORE at redis://: the first line of FILE is the\npassword", TEXT("FILE", "/etc/redis.password", seen.token_file)},
    {0, "token-file", COMMAND_DEDUP,
     "for -s ADDR:PORT: the first line of FILE lets this run\nchange the store; for redis:// it is the password", TEXT("FILE", "/etc/unseen.token", seen.token_file),
     .needs = "store", .usage = "-s ADDR:PORT"},
    {'x', "exclude", COMMAND_DEDUP,
     "count what is in LIST as seen: a file of lines, a\nstore, a list or a foreign filter; repeatable",
     CALL("LIST", NULL, NULL, set_exclude),
     .more = "LIST is only read, and its lines are not remembered. A store must have the profile of the run; it is "
           "read again once a second, for what other processes have committed. A list that unseen-build(1) made may have any "
           "kind and profile; every line that it covers counts as seen. A file of lines, which may be compressed, "
           "has one whole URL in each line, whatever -k selects in the input. If LIST cannot be read, nothing is "
           "printed."},
    {0, "memory", COMMAND_DEDUP | COMMAND_CHECK,
     "take SIZE of memory at most, and the disk for more\nkeys than that, in $TMPDIR",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .more = "The lines, their order and the exit status are those without the option. From half of SIZE on, keys go to "
             "temporary files: 8 bytes a line. Then the input is read once more, for the lines that are still to be "
             "printed, so it must not change meanwhile. Lines that come from a pipe from then on are kept in a "
             "temporary file, too. The program itself takes up to 24 MiB beside SIZE, and a decompressor its window. "
             "The set of a store may be larger, too. Then a line reads one page of 4 KiB of its image, STORE.image, and what "
             "is new is kept in memory until it takes a quarter of SIZE; then a new image is written. Many lines of files "
             "are gathered instead, the image is read once and written anew, and no further line is printed before "
             "that. A store with a window, or from which lines were removed since its image was written, cannot be "
             "read like that."},
    {0, "memory", COMMAND_COUNT,
     "take SIZE of memory at most, and the disk for more\nkeys than that, in $TMPDIR",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .does = "counts lines part by part", .excludes = "by both",
     .more = "The count is that without the option. From half of SIZE on, keys go to a temporary file: 8 bytes a line, written and "
             "read once. The input is read once. The program itself takes up to 24 MiB beside SIZE."},
    {0, "memory", COMMAND_RECHECK,
     "take SIZE of memory at most for the store",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .more = "Then a line that is printed reads a page of STORE.image. The lines that are gathered for a reading of the store take 100 MiB "
             "beside that."},
    {0, "memory", COMMAND_MERGE,
     "take SIZE of memory at most, and the disk for more\nkeys than that, in $TMPDIR",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .more = "The merged store has the same keys. From half of SIZE on, keys of the inputs go to temporary files, 8 bytes each, "
             "the merged store is read and written part by part, and the inputs are read once more. The program itself takes up to "
             "24 MiB beside SIZE. Stores with a window or with lines that are allowed cannot be merged like that."},
    {0, "memory", COMMAND_SERVE,
     "take SIZE of memory at most for the store, which is\nonly asked (-n, --protocol)",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .more = "If the set of the store takes more than half of SIZE, a question reads one page of 4 KiB from STORE.image, unless the "
             "kernel has it; up to 64 are read at once for the URLs of a batch. What another process adds "
             "is kept in memory, until it has written a new image."},
    {0, "memory", COMMAND_VERIFY,
     "take SIZE of memory at most for the set of a store",
     BYTES("SIZE", "a number of bytes from 32M up", "2G", seen.memory, 32 << 20, (uint64_t)1 << 56),
     .more = "The findings are those without the option. STORE.image is compared with the store part by part, and STORE is "
             "read once for each half of SIZE that the image has. The program itself takes up to 24 MiB beside SIZE. A set "
             "without parts, as that of another filter than compact, is read whole."},
    {'n', "dry-run", COMMAND_DEDUP, "do not remember: only what -s and -x have is a repeat", FLAG(seen.dry_run),
     .does = "remembers nothing", .needs = "store exclude", .usage = "-n -s STORE FILE"},
    {'n', "dry-run", COMMAND_SERVE,
     "answer C, B N C, F, I and S only: nothing is\nwritten, and another process may write meanwhile", FLAG(seen.dry_run),
     .more = "The store must exist. Once a second the server reads what another process has committed."},
    {0, "into", COMMAND_MERGE,
     "add to STORE, which exists, instead of making a new\nstore",
     ONE_FILE("STORE", merge.into, "--into %1$s")},
    {0, "window", COMMAND_DEDUP,
     "forget: a line is new again TIME after it was last\nnew (90s, 10m, 24h, 30d); a repeat does not prolong it",
     CALL("TIME", "a time from 1s to 100y: 90s, 10m, 1.5h, 30d, 2w, 1y", "10m", set_window),
     .does = "forgets lines that were remembered", .excludes = "dry-run",
     .more = "It is forgotten at most a 1,000th of TIME, or a second, too late, and never too early. Each line that "
             "is remembered takes about 9 bytes more, and leaves its memory when it is forgotten. Lines of -x are not "
             "forgotten. Without a unit TIME is in seconds. With -s the window belongs to the store, which is made "
             "with it and has it from then on: lines take no more memory, and the disk of those that are forgotten "
             "is given back. The clock of a store is the time of day, and never goes back."},
    {0, "window", COMMAND_ADD | COMMAND_IMPORT | COMMAND_SERVE,
     "of a new store: forget each line TIME after it was\nlast new (90s, 10m, 24h, 30d)",
     CALL("TIME", "a time from 1s to 100y: 90s, 10m, 1.5h, 30d, 2w, 1y", "10m", set_window)},
    {0, "window", COMMAND_REWRITE,
     "forget each line TIME after it was last new, or with\n`none` not any more",
     CALL("TIME", "a time from 1s to 100y (90s, 10m, 24h, 30d), or none", "30d", set_window_or_none),
     .more = "A longer window begins now: lines that are forgotten stay new. A shorter one forgets at once."},
    {0, "reset-clock", COMMAND_REWRITE,
     "set the clock of a store that is ahead of the time of\nday to the time of day", FLAG(seen.resets_clock),
     .more = "A store with a window whose machine had a wrong clock once, or that was given a line with a time in the "
             "far future, forgets nothing until that time comes. Lines with a later time get the time of day; "
             "the others keep theirs. A line that was forgotten stays new."},
    {0, "window", COMMAND_MERGE,
     "the window that counts, if those of the stores\ndiffer: as for `dedup`, or none",
     CALL("TIME", "a time from 1s to 100y (90s, 10m, 24h, 30d), or none", "30d", set_window_or_none),
     .more = "Stores with a window are merged by time: each line is forgotten when it would have been, and a line that "
             "several of them have when the last would have forgotten it. A store without a window has the times "
             "of its lines, too."},
    {0, "time", COMMAND_DEDUP,
     "for a window: the time is field FIELD of each line,\nor the value at a path: seconds or milliseconds since\n1970, or a date (2026-11-27T18:30:00Z)",
     CALL("FIELD", "a field number (from 1) or a .path", ".ts", set_time),
     FIELD(const char *, key.time_text), .twice_hint = "--time %1$s",
     .needs = "window store", .usage = "--window 10m --time .ts FILE",
     .more = "So a file that was kept gives the answers that the live stream gave. Lines need not be in order: the "
             "latest time so far counts. A line whose own time is a window or more before it is late: it counts as "
             "seen, a warning names the first one, and --stats counts them. A line without a time, or with one before "
             "1970 or after 2100, is a line without KEY for --missing; `whole` takes it at the latest time."},
    {0, "shard", COMMAND_DEDUP,
     "handle only the I-th of N shares of the keys", CALL("I/N", "a share I/N with I from 1 to N", "1/4", set_shard),
     .more = "The other lines are passed over. All repeats and spellings of a URL belong to the same share, on every "
           "machine and in every run."},
    {0, "fpr", COMMAND_MAKERS | COMMAND_COUNT,
     "accept this share of new lines taken for repeats\n(default 5e-9; from 1.5e-6 up less memory, below 5e-9\nmore; at least 1e-12)",
     RATE("1e-6", seen.fpr),
     .does = "sets the rate",
     .more = "With the default filter the rate holds at any number of lines up to 10^10. It promises 1.5e-6, 5e-9 "
           "or 1e-12: the first that is low enough."},
    {0, "fpr", COMMAND_REWRITE, "from now on accept this rate of wrong answers", RATE("1e-6", seen.fpr),
     .does = "sets the rate",
     .more = "With another filter or rate, the store forgets its --bits and --hashes."},
    {0, "capacity", COMMAND_MAKERS | COMMAND_REWRITE,
     "make room for N keys; not every filter grows past it", COUNT("a number of keys", "1e6", seen.capacity)},
    {0, "capacity", COMMAND_COUNT,
     "make room for N keys, and grow past it as needed", COUNT("a number of keys", "1e6", seen.capacity)},
    {0, "filter", COMMAND_MAKERS | COMMAND_REWRITE,
     "the kind of filter: compact (the default), bloom,\nblock or counting; exact, scalable, scalable-bloom\n"
     "and scalable-count are compact, too; see\nunseen help filters", TEXT("NAME", NULL, seen.filter),
     .more = "A filter that does not grow needs --capacity; with more lines than that it takes more and more new lines "
           "for repeats: an error at the end says how many, and the exit status is 2. unseen-plan(1) says how much "
           "memory each filter takes."},
    {0, "bits", COMMAND_MAKERS | COMMAND_REWRITE,
     "the bits per key of --filter bloom, instead of --fpr;\nunseen plan --bits 20 --hashes 10 says the rate",
     REAL("B", "a number of bits per key above 0", "20", seen.bits_per_key),
     .does = "sets the rate", .excludes = "fpr", .usage = "--filter bloom --bits 20 --hashes 10 --capacity 1e6 FILE",
     .more = "The filter has B times --capacity bits, in whole cache lines of 512."},
    {0, "hashes", COMMAND_MAKERS | COMMAND_REWRITE,
     "the bits that a key sets in --filter bloom (default:\nthe best)",
     NUMBER("K", "a number from 1 to 1000", "10", seen.hashes, 1, 1000)},
    {0, "seed", COMMAND_MAKERS | COMMAND_COUNT,
     "derive the secret of the keys from a text or 0xHEX\n(default: random); who guesses it can make\n"
     "lines that are wrongly taken for seen", CALL("TEXT", SEED_EXPECTS, SEED_EXAMPLE, set_seed),
     .does = "says the seed",
     .more = "Make stores that you want to merge with the same seed."},
    {0, "seed-file", COMMAND_MAKERS | COMMAND_COUNT,
     "derive the secret of the keys from the text in FILE,\nwhich other users cannot see as they see --seed",
     TEXT("FILE", SEED_FILE_EXAMPLE, seen.seed_file),
     .does = "says the seed", .excludes = "seed",
     .more = "The newline at the end of FILE does not count."},
    {0, "key-bits", COMMAND_MAKERS,
     "a new store keeps N bits of each key: 64 (the\ndefault), 96 or 128, for 8, 12 or 16 bytes",
     CALL("N", "64, 96 or 128", "96", set_key_bits),
     .does = "says how long keys are", .needs = "store", .usage = "-s STORE --key-bits 96 FILE",
     .more = "With 64 bits, about 0.03 of 10^9 URLs share the key of another URL, and 2.7 of 10^10."},
    {0, "key-bits", COMMAND_REWRITE,
     "keep only N bits of each key: 64 or 96", CALL("N", "64, 96 or 128", "64", set_key_bits)},
    {0, "no-log", COMMAND_MAKERS,
     "a new store without a log, for those who accept less:\na crash forgets all since the last run's end, and\n"
     "those lines come again; a damaged store cannot be\nrepaired; no exactly-once output. It saves 8 bytes of\n"
     "disk per URL", FLAG(seen.no_log),
     .needs = "store", .usage = "-s STORE --no-log FILE",
     .more = "The image is written under another name when the run ends, synced and renamed; with the filters `bloom` "
           "and `block` it is a file of the bits of the filter. A run whose output fails forgets its lines, too, if "
           "the filter cannot remove. A run that goes on for long, as `serve` does, keeps nothing before it "
           "ends. The store cannot be merged, rewritten or rechecked."},
    {0, "like", COMMAND_MAKERS,
     "a new store gets the settings and the secret of\nSTORE, so that both can be merged",
     ONE_FILE("STORE", seen.like, "--like %1$s"),
     .does = "takes seed, profile and key bits from a store", .needs = "store", .excludes = "seed seed-file profile rule drop-params only-params key-bits", .usage = "-s NEW --like STORE FILE"},
    {0, "wait", COMMAND_BITS,
     "wait up to so many seconds while another process\nchanges BITMAP (default 5; without a number: as long\nas it takes)",
     CALL("[=SECONDS]", "a number of seconds", "=60", set_wait)},
    {0, "wait", COMMAND_ALLOW | COMMAND_UPDATE,
     "wait up to so many seconds while another process\nchanges LIST (default 5; without a number: as long as\n"
     "it takes)", CALL("[=SECONDS]", "a number of seconds", "=60", set_wait)},
    {0, "wait", COMMAND_CHECK | COMMAND_INFO,
     "wait up to so many seconds for a server that is not\nthere yet (without a number: as long as it takes)",
     CALL("[=SECONDS]", "a number of seconds", "=60", set_wait)},
    {0, "wait", COMMAND_WRITERS,
     "wait up to so many seconds for a store that another\nprocess writes to (default 5; without a number: as\n"
     "long as it takes)", CALL("[=SECONDS]", "a number of seconds", "=60", set_wait),
     .needs = "store", .usage = "-s STORE --wait=60 FILE",
     .more = "0 means not at all. A server that is named in place of a store, and is not there, is waited for only "
           "with this option."},
    {0, "mode", COMMAND_SERVE,
     "who may open a new store, or with --listen, who may\nconnect, as in chmod: 640, 660 (default 600: only the\nowner)",
     CALL("MODE", "a 6 for the owner, then 0, 2, 4 or 6 for the group and for others", "660", set_mode)},
    {0, "mode", (COMMAND_MAKERS & ~COMMAND_SERVE) | COMMAND_MERGE,
     "who may open a new store, as in chmod: 640, 660, 644\n(default 600: only its owner)",
     CALL("MODE", "a 6 for the owner, then 0, 2, 4 or 6 for the group and for others", "640", set_mode),
     .needs = "store", .usage = "-s STORE --mode 640 FILE",
     .more = "The umask takes nothing from it. A store that exists and has another mode is refused."},
    {.group = "The list"},
    {0, "fpr", COMMAND_BUILD,
     "the highest share of wrong answers, up to 0.25\n(default 1e-4)", RATE("1e-4", seen.fpr),
     .more = "It may be as low as 1e-9 for URLs and phone numbers, 1e-8 for mail, 4.8e-8 for expressions and 1.3e-7 "
           "for ip. The rate is counted per question; a question of some kinds looks up many texts, up to 48 for "
           "expressions (for each way in which programs read its path)."},
    {0, "kind", COMMAND_BUILD,
     "what the entries are: url (the default), mail\n(addresses and domains), ip (addresses and networks)\nor phone",
     CALL("KIND", "url, expressions, mail, ip or phone", "ip", set_kind), .nearest = nearest_kind, .names = kind_names,
     .more = "A domain covers addresses in it and in its subdomains; networks are in CIDR notation. The fifth "
           "kind, `expressions`, is what --expressions means. The kind is stored in the list; questions follow it."},
    {0, "country", COMMAND_BUILD,
     "phone numbers without + or 00 are in the country with\nthis code, such as 86: they equal their +86 spelling",
     NUMBER("CODE", "a number from 1 to 999", "86", list.country, 1, 999),
     .more = "Entries and questions are read so. The code is stored in the list, with the kind. Without it a national "
           "number equals only the same national number, and `unseen build` says how many entries are such."},
    {0, "expressions", COMMAND_BUILD,
     "an entry is a site, a folder or a page, and covers\nall below it: evil.example/ the whole site",
     FLAG(list.expressions),
     .more = "Entries and questions are read as browsers read URLs, so `http:\\evil.example\\x` is at that site as well."},
    {0, "from", COMMAND_BUILD,
     "take over what was allowed, added and removed in the\nlist OLD, and its kind, profile and rate",
     TEXT("OLD", "old.list", list.from),
     .more = "Added entries are built in, removed entries are left out, and allowed entries stay allowed; --fpr can "
           "set another rate. A list does not keep its entries: give the input files again. A change remains a "
           "change until the lines agree with it: until an added entry is among them, or a removed entry is not. So "
           "building anew from the same files undoes nothing. Changes that are made to OLD during the build are "
           "taken over, too."},
    {0, "known-good", COMMAND_BUILD,
     "no line of FILE shall be listed, not even by error:\nthose that would be are allowed; repeatable",
     CALL("FILE", NULL, "good.txt", set_known_good),
     .more = "The finished list is asked for each line. A line that it has, by error or because the line is an entry, "
           "is allowed in the list, and the number of these lines is reported. Each line is a whole question, "
           "whatever -k selects."},
    {0, "remove", COMMAND_ALLOW, "removes the lines from the allowlist", FLAG(list.undo),
     .more = "The number of lines that were not allowed is reported."},
    {0, "list", COMMAND_ALLOW, "print what is allowed, in the order in which it came", FLAG(list.lists_allowed),
     .more = "Nothing is changed."},
    {0, "add", COMMAND_UPDATE,
     "add the lines of FILE (-: standard input); repeatable", CALL("FILE", NULL, "more.txt", set_add)},
    {0, "remove", COMMAND_UPDATE,
     "remove the lines of FILE; repeatable, and done in the\norder given",
     CALL("FILE", NULL, "gone.txt", set_remove),
     .more = "The number of lines that were not in the list is reported."},
    {0, "comments", COMMAND_ON_LIST,
     "lines that begin with one of BYTES are comments\n(default #;! and with -p none no line)",
     TEXT("BYTES", "'#;!'", list.entries.comments),
     .more = "Blanks in front of them do not matter, and blank lines are always left out. One of BYTES behind a blank "
           "begins a comment behind an entry, too; in a list of URLs or phone numbers only with a blank on either "
           "side. In lists of sites and of mail the lines of hosts files, of dnsmasq, unbound and response policy "
           "zones, and rules such as `||evil.example^` and `@@||good.example^` are read as the names that they block "
           "or allow."},
    {0, "dangerous", COMMAND_ON_LIST,
     "take entries that cover far too much: com, 0.0.0.0/0", FLAG(list.entries.dangerous),
     .does = "takes dangerous entries",
     .more = "So do a bare `/` and a network of half the world. Without this option and --skip-dangerous each of them is "
           "reported, and nothing is written."},
    {0, "skip-dangerous", COMMAND_ON_LIST,
     "leave out dangerous entries", FLAG(list.entries.skip_dangerous),
     .does = "leaves out dangerous entries", .excludes = "dangerous",
     .more = "They are counted, and the first few are shown."},
    {0, "skip-invalid", COMMAND_ON_LIST,
     "leave out lines that are not entries", FLAG(list.entries.skip_invalid),
     .more = "Without this option each of them is reported, and nothing is written. The first line of a web page is "
           "always an error."},
    {0, "force", COMMAND_BUILD,
     "build a list that is empty, less than half of the one\nbefore, mostly not URLs, or too large for the disk",
     FLAG(list.force),
     .more = "Without this option nothing is built."},
    {0, "seed", COMMAND_BUILD,
     "derive the secret of the keys from a text or 0xHEX\n(default: random)",
     CALL("TEXT", SEED_EXPECTS, SEED_EXAMPLE, set_seed),
     .does = "says the seed",
     .more = "The same entries, each given once, with the same settings and seed give the same bytes, in any order. "
           "The list contains the secret: whoever can read the list can make URLs that it takes for listed URLs."},
    {0, "seed-file", COMMAND_BUILD,
     "derive the secret of the keys from the text in FILE,\nwhich other users cannot see as they see --seed", TEXT("FILE", SEED_FILE_EXAMPLE, seen.seed_file),
     .does = "says the seed", .excludes = "seed",
     .more = "The newline at the end of FILE does not count."},
    {.group = "Work"},
    {0, "memory", COMMAND_BUILD,
     "use about this much memory (default 1G); the rest is\non the disk, in LIST.building",
     BYTES("SIZE", "a number of bytes above 0", "4G", list.memory, 1, (uint64_t)1 << 56),
     .more = "64 MiB are enough for 10^9 entries."},
    {0, "capacity", COMMAND_BUILD,
     "about how many entries there are: from 1e9 on it\nsaves disk",
     COUNT("a number of keys", "1e10", seen.capacity)},
    {'j', "threads", COMMAND_BUILD,
     "threads (default auto: one for each processor)", CALL("N", "auto or a number from 1 to 1024", "4", set_build_threads)},
    {.group = "What is known"},
    {0, "capacity", COMMAND_PLAN,
     "how many keys there will be", COUNT("a number of keys", "1e7", plan.question.capacity)},
    {0, "fpr", COMMAND_PLAN, "the share of wrong answers that is accepted", RATE("1e-4", plan.question.fpr)},
    {0, "bits", COMMAND_PLAN,
     "bits per key", REAL("B", "a number of bits per key above 0", "20", plan.question.bits_per_key)},
    {0, "hashes", COMMAND_PLAN,
     "bits or counters that a key sets (default: the best)",
     NUMBER("K", "a number from 1 to 1000", "10", plan.question.hashes, 1, 1000),
     .more = "With --filter bloom, the command that makes this filter is printed."},
    {0, "memory", COMMAND_PLAN,
     "bytes, as 4G; with a rate: how many keys fit",
     BYTES("SIZE", "a number of bytes above 0", "4G", plan.question.memory, 1, (uint64_t)1 << 56),
     .more = "With a number of keys and no rate, the plan says which rate is possible."},
    {0, "filter", COMMAND_PLAN, "only this filter (see unseen help filters), or list", TEXT("NAME", "bloom", plan.filter), .names = plan_names},
    {.group = "Identity"},
    {'p', "profile", COMMAND_IDENTITY,
     "what makes URLs the same (default crawl; none: plain\nbytes); see unseen help profiles",
     TEXT("NAME", "crawl", profile.name),
     .does = "says which spellings are one URL"},
    {0, "rule", COMMAND_IDENTITY,
     "switch a rule of the profile on, or with no-NAME off;\na list a,b, repeatable; see unseen help rules",
     CALL("NAME", "a list of rules", "strip-www", set_rule),
     .does = "says which spellings are one URL",
     .more = "The last word on a rule counts."},
    {0, "drop-params", COMMAND_IDENTITY,
     "these parameters of a URL do not count: a list of\nNAME, START* or HOST:NAME; repeatable",
     CALL("NAMES", PARAMS_EXPECTS, "'utm_*,ref,news.example:page'", set_drop_params),
     .does = "says which spellings are one URL",
     .more = "A host stands for itself and for what is below it. Names are compared percent-decoded, and capitals differ from small letters; a comma, a colon, "
           "a star or a parenthesis in a name is written as an escape."},
    {0, "only-params", COMMAND_IDENTITY,
     "of the parameters of a URL only these count, on hosts\nthat a name is for",
     CALL("NAMES", PARAMS_EXPECTS, "'id,p,shop.example:sku'", set_only_params),
     .does = "says which spellings are one URL",
     .more = "With `id,shop.example:sku` id counts everywhere, and at shop.example also sku; with `shop.example:sku` "
           "alone the parameters of other hosts all count."},
    {'k', "key", COMMAND_LINES,
     "look only at field KEY (from 1) of each line, at the\nvalue at the path .KEY of a JSON line, or at several\n(1,3); 3.url: a path into the JSON in field 3",
     CALL("KEY", "a field number (from 1) or a .path", "2", set_key), .nearest = nearest_key,
     FIELD(const char *, key.text), .twice_hint = "-k %1$s,%2$s",
     .more = "`man unseen` has the forms of KEY."},
    {'k', "key", COMMAND_ON_LIST,
     "the entry is field KEY (from 1) of each line, or the\nvalue at the path .KEY of a JSON line; 3.url: a path\ninto the JSON in field 3",
     CALL("KEY", "a field number (from 1) or a .path", "2", set_key), .nearest = nearest_key,
     FIELD(const char *, key.text), .twice_hint = "-k %1$s",
     .more = "`man unseen` has the forms of KEY. A line without that field or value is refused."},
    {0, "by", COMMAND_COUNT,
     "count apart for each value of KEY: a field, a path,\nor the host of the URL",
     CALL("KEY", "a field number, a .path or host", "2", set_by), .nearest = nearest_group,
     FIELD(const char *, group.by), .twice_hint = "--by %1$s",
     .does = "counts each group apart",
     .more = "The host of a URL has no port. One line is printed for each value, in the order in which "
           "the values first come: the number of distinct lines, a tab, and the value. Lines without a value count "
           "under an empty value; if a field or JSON value is missing, a warning tells how many. A line that comes "
           "in several groups is counted in each. A value takes its text and about 50 bytes of memory; each pair of "
           "a value and a line takes as much as a line."},
    {0, "returning", COMMAND_COUNT,
     "with --by: also print how many lines of each group\nwere in another group before", FLAG(group.returning),
     .needs = "by", .usage = "-k 1 --by 2 --returning FILE",
     .more = "The number stands behind the number of distinct lines and a tab. In a log of visits with a group for each day, "
           "these are the visitors who were there on an earlier day. Each line takes as much memory as one more "
           "pair."},
    {0, "both", COMMAND_COUNT,
     "count only what is in both files, or stores; of three\nand more, what is in all of them", FLAG(group.both),
     .does = "counts what files share", .excludes = "by",
     .more = "Each is counted once. Two sets are in memory at a time: the lines of the first file, and the lines "
           "that the next one shares with it."},
    {0, "missing", COMMAND_LINES,
     "a line without KEY is taken whole, is left out (skip)\nor ends the run (fail, where keys are stored); or a\n"
     "missing part of KEY is an empty text (empty)",
     CHOICE("HOW", "whole, skip, fail or empty", "skip", missing_names, MISSING_WHOLE, enum missing, key.missing),
     .needs = "key time", .usage = "--missing skip -k 1",
     .more = "`whole` and `skip` warn how many such lines there were; the message of `fail` names file and line, and "
           "the lines before it are answered and remembered. Where keys are stored, `fail` is the default, so that "
           "no store remembers the lines of a mistyped key; elsewhere `whole` is. If no line of a file has the key, "
           "the exit status is 2. `empty` is for a key of several parts, such as `.url,.method,.body`: a part that is "
           "null or not there counts as an empty text, so that two requests without a body can be the same. A line "
           "that has none of the parts, or an object or an array as one of them, is still without KEY. A file whose first "
           "line begins a JSON array of records is refused."},
    {'t', "separator", COMMAND_LINES | COMMAND_ON_LIST,
     "fields are separated by CHAR (default: tab)", CALL("CHAR", "a single byte, \\t or \\0", ",", set_separator),
     .needs = "key by time", .usage = "-t , -k 1 FILE",
     .more = "CHAR is one byte, `\\t` or `\\0`. Quotes around a field mean nothing."},
    {0, "format", COMMAND_LINES | COMMAND_ON_LIST,
     "what the lines are: auto, lines or jsonl (auto: jsonl\nif KEY is a path)",
     CHOICE("FORMAT", "auto, lines or jsonl", "jsonl", format_names, 0, enum format, key.format)},
    {0, "format", COMMAND_IMPORT,
     "what FILE is: lines or anew (one URL a line), Scrapy's\n"
     "requests.seen, or redis-set (what redis-cli SMEMBERS\nprints, or the reply as the protocol has it); of guava\nand dcso, Bloom filters, STORE becomes a foreign\nfilter, and of redis-bitmap and java-bitset a bitmap",
     CHOICE("FORMAT", "lines, anew, requests.seen, redis-set, guava, dcso, redis-bitmap or java-bitset", "requests.seen", import_formats, 0, enum source, source),
     .does = "says what a file is",
     .more = "The formats are explained above."},
    {0, "from-redis", COMMAND_IMPORT,
     "make STORE a foreign filter, of a filter of\nRedisBloom read out of a server: HOST:PORT, with the\nkey in place of FILE, or redis://HOST:PORT/KEY", TEXT("ADDRESS", "127.0.0.1:6379", from_redis),
     .does = "reads a filter of RedisBloom", .excludes = "format", .usage = "--from-redis HOST:PORT STORE KEY",
     .more = "It is read by BF.SCANDUMP. Programs that add to the filter have to wait until it has been read."},
    {0, "funnel", COMMAND_IMPORT,
     "what Guava's filter was given: bytes, utf8 (a\nstringFunnel) or utf16 (the unencodedCharsFunnel)",
     CHOICE("FUNNEL", "bytes, utf8 or utf16", "utf8", funnel_names, FUNNEL_BYTES, enum funnel, funnel)},
    {0, "base", COMMAND_CANON | COMMAND_EXPLAIN,
     "the lines are references found in the document at URL", TEXT("URL", "http://e.com/a/", key.base),
     .more = "They are resolved by the WHATWG standard, as `../b` or `//e.com/`, before they are made canonical."},
    {.group = "Input and output"},
    {'o', "output", COMMAND_DEDUP,
     "write to FILE, which is emptied first; with -s, or as\na file of -x, it is continued: each line once",
     ONE_FILE("FILE", print.output, TWO_OUTPUTS),
     .does = "writes lines",
     .more = "FILE is emptied once all options and files are found to be right. It has lines: a name such as new.txt.gz is "
           "refused, and the message has the command that compresses them. With -v it gets the repeats instead, "
           "and with --mark every line behind its mark; with -s both are also continued, and -n and -c are refused "
           "there: with -n the same lines would come again, and -c prints a number. An output file that is also an "
           "input is refused. A FILE that -x names, too, is not emptied but gets the new lines, after its last line was "
           "ended if need be: `program | unseen -x known.txt -o known.txt --tee` is what `program | anew known.txt` is. "
           "FILE need not exist then."},
    {0, "tee", COMMAND_DEDUP,
     "with -o: also print to standard output what FILE\ngets; only FILE is exact after a crash", FLAG(print.tee),
     .does = "prints lines", .needs = "output", .usage = "-o NEW",
     .more = "After a crash with -s, lines that FILE lost are printed again."},
    {'o', "output", COMMAND_CANON | COMMAND_ASKERS | COMMAND_SORT | COMMAND_COUNT | COMMAND_BITS,
     "write to FILE, which is emptied first", ONE_FILE("FILE", print.output, TWO_OUTPUTS),
     .does = "writes lines",
     .more = "An output file that is also an input is refused."},
    {'z', "null", COMMAND_LINES | COMMAND_SORT | COMMAND_BITS | COMMAND_ON_LIST,
     "lines end in NUL instead of newline; also -0", NUL(input.delimiter),
     .more = "A line of the input may then contain newlines. JSON still ends in a newline."},
    {0, "line-buffered", COMMAND_PRINTERS, "write each line by itself", FLAG(print.line_buffered)},
    {0, "max-line", COMMAND_LINES | COMMAND_IMPORT,
     "report and leave out lines longer than N bytes\n(default 16M; 0: no limit)",
     BYTES("N", "a number of bytes", "64K", input.max_line, 0, UINT64_MAX),
     .more = "They are reported with file and line number, and the exit status is 2."},
    {0, "max-line", COMMAND_ON_LIST,
     "refuse lines longer than N bytes (default 16M;\n0: no limit)",
     BYTES("N", "a number of bytes", "64K", input.max_line, 0, UINT64_MAX)},
    {0, "long", COMMAND_LINES | COMMAND_IMPORT | COMMAND_SORT | COMMAND_BITS | COMMAND_ON_LIST,
     "zstd and xz files may take 2^N bytes of memory for\ntheir window (default 27; without =N: 31)",
     CALL("[=N]", "a number from 10 to 31", "=31", set_long),
     .more = "Input that needs more is reported."},
    {'j', "threads", COMMAND_LINES | COMMAND_IMPORT,
     "threads, up to 64 (default auto: 2, or 1 with one\nprocessor)", CALL("N", "auto or a number from 1 to 64", "2", set_threads),
     .more = "1 does everything in one thread. Otherwise N threads, at most 8, share the work of all files. Of several "
           "compressed files, the next ones are decoded meanwhile, each by another thread, which takes at most 32 MiB: "
           "N files at once, with auto one for each processor, at most 8. From 3 on the first file, too, has such a thread. "
           "With --memory there is none."},
    {.group = "Other programs' protocols"},
    {0, "protocol", COMMAND_SERVE,
     "answer another program, from what STORE has: squid,\nsquid-rewrite, postfix-policy, tcp-table, socketmap or\n"
     "http-auth", TEXT("NAME", "squid", serve.protocol)},
    {0, "listen", COMMAND_SERVE,
     "take connections at unix:PATH, ADDR:PORT or PORT\n(of 127.0.0.1)",
     TEXT("ADDRESS", "127.0.0.1:9998", serve.listen),
     .more = "Port 0 is any free port, and `systemd` in place of an address is the socket that systemd passes on. The "
           "server prints its address on standard error and tells the service manager that it is ready. Anybody who "
           "can connect can ask, and nothing is encrypted. Clients of a port can change the store only if --token-file "
           "is given; an address that other machines reach needs --token-file. A server with --protocol has no token: "
           "keep its address behind a firewall."},
    {0, "group", COMMAND_SERVE, "the group of a unix: socket; see --mode", TEXT("GROUP", "www-data", serve.group),
     .needs = "listen", .usage = "--listen unix:PATH STORE"},
    {0, "token-file", COMMAND_SERVE,
     "clients of a port may change STORE after T TOKEN, with\nthe first line of FILE; without, they only ask",
     TEXT("FILE", "/etc/unseen.token", seen.token_file),
     .needs = "listen", .usage = "--listen PORT STORE",
     .more = "The option is refused where it would change nothing: for a unix: socket, with --protocol, and with -n at "
           "an address of this machine."},
    {0, "max-clients", COMMAND_SERVE, "serve at most N clients at once (default 1000)",
     NUMBER("N", "a number from 1 to 100000", "200", serve.max_clients, 1, 100000),
     .needs = "listen", .usage = "--listen unix:PATH STORE",
     .more = "Each client is an open file. The server raises its soft limit of open files to the hard limit. If that has "
           "no room for N clients, the server says at the start how many clients it serves."},
    {0, "expressions", COMMAND_SERVE,
     "look up URLs by host and path: the line evil.example/\nin STORE covers that site", FLAG(serve.expressions),
     .needs = "protocol", .usage = "--protocol squid STORE",
     .more = "The expressions, which unseen-canon(1) prints, are compared as bytes: the line `evil.example/` covers "
           "that site with all hosts below it, the line `evil.example/shop/` a folder. A list is asked by "
           "expressions if, and only if, it was built with --expressions."},
    {0, "reply", COMMAND_SERVE,
     "what mail servers are told of what is listed (default:\nREJECT listed)",
     TEXT("TEXT", "'REJECT spam'", serve.reply),
     .needs = "protocol", .usage = "--protocol tcp-table STORE",
     .more = "That is the answer of `postfix-policy`, `tcp-table` and `socketmap`."},
    {0, "redirect", COMMAND_SERVE,
     "where squid-rewrite sends who asks for a listed page",
     TEXT("URL", "http://127.0.0.1/blocked.html", serve.redirect),
     .needs = "protocol", .usage = "--protocol squid-rewrite STORE"},
    {.group = "Reports, to standard error"},
    {0, "stats", COMMAND_REPORTERS | COMMAND_ON_LIST | COMMAND_COUNT,
     "figures at the end, as text or json",
     CHOICE("[=FORMAT]", "text or json", "=json", stats_names, 1, enum stats, report.stats),
     .more = "They are the numbers of lines, of new, seen and non-URL lines, of bytes, and of keys in the set; the "
           "memory of the set in bytes; the profile with its version and rules; the false-positive rate now and at "
           "most; seconds. For `remove`, seen is the number of removed lines; for `merge`, lines are the keys of all "
           "inputs; for `count`, new is the number of lines that are counted."},
    {0, "progress", COMMAND_REPORTERS | COMMAND_BUILD | COMMAND_COUNT | COMMAND_SORT | COMMAND_RECHECK,
     "how far it is, how fast, and the time left: auto (on\na terminal that the output does not go to), never or\n"
     "always (also in a log: a line every 5 seconds)",
     WHEN("=never", report.progress),
     .more = "The line shows the finished share if the sizes of all inputs are known, and the current file if "
           "there are several."},
    {.group = "General"},
    {0, "color", COMMAND_ALL, "colour in messages: always, never or auto", WHEN("=never", report.color)},
    {'h', "help", COMMAND_ALL, "print this help; -h: the most important of it", .type = OPTION_HELP},
    {'V', "version", COMMAND_ALL, "print the version, the SIMD level and the libraries", .type = OPTION_VERSION},
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= OPTION_ROWS_MAX, "the parser has room for all");

const struct option_row *option_row_at(size_t i)
{
    return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}

size_t option_row_index(const struct option_row *row)
{
    return (size_t)(row - rows);
}

const struct option_row *option_row_find(const struct command *command, const char *name,
                                         size_t len)
{
    const struct option_row *row = NULL;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (row->name && (row->commands & command->bit) && strlen(row->name) == len &&
            memcmp(row->name, name, len) == 0) {
            break;
        }
    }
    return row;
}

const struct option_row *option_row_letter(const struct command *command, char letter)
{
    const struct option_row *row = NULL;
    const char wanted = letter == '0' ? 'z' : letter;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (row->letter == wanted && (row->commands & command->bit)) {
            break;
        }
    }
    return row;
}
