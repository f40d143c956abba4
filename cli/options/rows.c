/* SPDX-License-Identifier: MIT */
#include "options/rows.h"

#include <string.h>

#include "commands/commands.h"
#include "options/number.h"
#include "commands/options.h"

#define SEED_EXPECTS      "a text, or 0x and pairs of hexadecimal digits"
#define SEED_EXAMPLE      "0x$(openssl rand -hex 32)"
#define SEED_FILE_EXAMPLE "seed.key"

static bool set_store(struct options *o, char *value)
{
    o->store = value;
    return true;
}

static bool set_exclude(struct options *o, char *value)
{
    o->excludes[o->nexcludes++] = value; /* options_parse made room for argc */
    return true;
}

static bool set_dry_run(struct options *o, char *value)
{
    (void)value;
    o->dry_run = true;
    return true;
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
    if (!number_count(first, &i) || !number_count(slash + 1, &n) || i < 1 || i > n || n > 1000000) {
        return false;
    }
    o->shard = i - 1;
    o->nshards = n;
    return true;
}

static bool set_capacity(struct options *o, char *value)
{
    return number_count(value, &o->capacity);
}

static bool set_fpr(struct options *o, char *value)
{
    return number_rate(value, &o->fpr);
}

static bool set_filter(struct options *o, char *value)
{
    o->filter = value;
    return true;
}

static bool set_seed(struct options *o, char *value)
{
    return seed_parse(&o->seed, value, strlen(value));
}

static bool set_seed_file(struct options *o, char *value)
{
    o->seed_file = value;
    return true;
}

static bool set_key_bits(struct options *o, char *value)
{
    uint64_t bits = 0;
    if (!number_count(value, &bits) || (bits != 64 && bits != 96 && bits != 128)) {
        return false;
    }
    o->key_bits = (unsigned)bits;
    return true;
}

static bool set_bits(struct options *o, char *value)
{
    return number_positive(value, &o->bits_per_key) && o->bits_per_key <= 1e6;
}

static bool set_memory(struct options *o, char *value)
{
    return number_bytes(value, &o->memory) && o->memory > 0 && o->memory <= (uint64_t)1 << 56;
}

static bool set_hashes(struct options *o, char *value)
{
    uint64_t n = 0;
    if (!number_count(value, &n) || n < 1 || n > 1000) {
        return false;
    }
    o->hashes = (unsigned)n;
    return true;
}

static bool set_svg(struct options *o, char *value)
{
    o->svg = value;
    return true;
}

static bool set_no_log(struct options *o, char *value)
{
    (void)value;
    o->no_log = true;
    return true;
}

static bool set_mode(struct options *o, char *value)
{
    return number_mode(value, &o->file_mode);
}

static bool set_kind(struct options *o, char *value)
{
    o->has_kind = unseen_kind_of_name(value, &o->kind) == UNSEEN_OK;
    return o->has_kind;
}

static bool set_from(struct options *o, char *value)
{
    o->from = value;
    return true;
}

static bool set_known_good(struct options *o, char *value)
{
    o->known_good[o->nknown_good++] = value; /* options_parse made room for argc */
    return true;
}

static bool set_force(struct options *o, char *value)
{
    (void)value;
    o->force = true;
    return true;
}

static bool set_add(struct options *o, char *value)
{
    o->edits[o->nedits++] = (struct edit_file){value, false}; /* options_parse made room for argc */
    return true;
}

static bool set_remove(struct options *o, char *value)
{
    o->edits[o->nedits++] = (struct edit_file){value, true}; /* as above */
    return true;
}

static bool set_undo(struct options *o, char *value)
{
    (void)value;
    o->undo = true;
    return true;
}

static bool set_list(struct options *o, char *value)
{
    (void)value;
    o->lists_allowed = true;
    return true;
}

static bool set_restart(struct options *o, char *value)
{
    (void)value;
    o->restart = true;
    return true;
}

static bool set_checkpoint(struct options *o, char *value)
{
    return number_positive(value, &o->checkpoint) && o->checkpoint <= 1e6;
}

static bool set_profile(struct options *o, char *value)
{
    o->profile = value;
    return true;
}

/* Splits the list in place; options_parse made room for all names. */
static bool set_rule(struct options *o, char *value)
{
    const size_t len = strlen(value);
    if (len == 0 || value[0] == ',' || value[len - 1] == ',' || strstr(value, ",,")) {
        return false;
    }
    for (char *comma; (comma = strchr(value, ',')); value = comma + 1) {
        *comma = '\0';
        o->rules[o->nrules++] = value;
    }
    o->rules[o->nrules++] = value;
    return true;
}

static bool set_base(struct options *o, char *value)
{
    o->base = value;
    return true;
}

static bool set_canonical(struct options *o, char *value)
{
    (void)value;
    o->canonical = true;
    return true;
}

static bool set_json(struct options *o, char *value)
{
    (void)value;
    o->json = true;
    return true;
}

static bool set_expressions(struct options *o, char *value)
{
    (void)value;
    o->expressions = true;
    return true;
}

/* A field number, or a path into JSON. */
static bool parse_key(const char *value, size_t *field, const char **path)
{
    *field = 0;
    *path = NULL;
    if (value[0] == '.') {
        *path = value;
        size_t len = strlen(value);
        return len > 1 && value[len - 1] != '.' && !strstr(value, "..");
    }
    uint64_t number = 0;
    if (!number_count(value, &number) || number == 0 || number > SIZE_MAX) {
        return false;
    }
    *field = (size_t)number;
    return true;
}

static bool set_key(struct options *o, char *value)
{
    o->key = value;
    return parse_key(value, &o->field, &o->json_path);
}

static bool set_by(struct options *o, char *value)
{
    o->by = value;
    o->by_field = 0;
    o->by_path = NULL;
    o->by_host = strcmp(value, "host") == 0;
    return o->by_host || parse_key(value, &o->by_field, &o->by_path);
}

static bool set_separator(struct options *o, char *value)
{
    o->has_separator = true;
    o->separator = value[0];
    if (strcmp(value, "\\t") == 0) {
        o->separator = '\t';
        return true;
    }
    if (strcmp(value, "\\0") == 0) {
        o->separator = '\0';
        return true;
    }
    return strlen(value) == 1;
}

static bool set_format(struct options *o, char *value)
{
    static const char *const names[] = {"auto", "lines", "jsonl"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            o->format = (enum format)i;
            return true;
        }
    }
    return false;
}

static bool set_source(struct options *o, char *value)
{
    static const char *const names[] = {"lines", "anew", "requests.seen", "redis-set"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            o->source = (enum source)i;
            return true;
        }
    }
    return false;
}

static bool set_invert(struct options *o, char *value)
{
    (void)value;
    o->invert = true;
    return true;
}

static bool set_repeats(struct options *o, char *value)
{
    o->repeats = value;
    return true;
}

static bool set_mark(struct options *o, char *value)
{
    (void)value;
    o->mark = true;
    return true;
}

static bool set_count(struct options *o, char *value)
{
    (void)value;
    o->count = true;
    return true;
}

static bool set_unique(struct options *o, char *value)
{
    (void)value;
    o->unique = true;
    return true;
}

static bool set_quiet(struct options *o, char *value)
{
    (void)value;
    o->quiet = true;
    return true;
}

static bool set_limit(struct options *o, char *value)
{
    o->has_limit = number_count(value, &o->limit);
    return o->has_limit;
}

static bool set_output(struct options *o, char *value)
{
    o->output = value;
    return true;
}

static bool set_null(struct options *o, char *value)
{
    (void)value;
    o->delimiter = '\0';
    return true;
}

static bool set_line_buffered(struct options *o, char *value)
{
    (void)value;
    o->line_buffered = true;
    return true;
}

static bool set_max_line(struct options *o, char *value)
{
    return number_bytes(value, &o->max_line);
}

static bool set_long(struct options *o, char *value)
{
    (void)value;
    o->long_window = true;
    return true;
}

static bool set_threads(struct options *o, char *value)
{
    uint64_t n = 0;
    if (strcmp(value, "auto") != 0 && (!number_count(value, &n) || n < 1 || n > 1024)) {
        return false;
    }
    o->threads = (unsigned)n;
    return true;
}

static bool set_protocol(struct options *o, char *value)
{
    o->protocol = value;
    return true;
}

static bool set_listen(struct options *o, char *value)
{
    o->listen = value;
    return true;
}

static bool set_reply(struct options *o, char *value)
{
    o->reply = value;
    return true;
}

static bool set_redirect(struct options *o, char *value)
{
    o->redirect = value;
    return true;
}

static bool set_stats(struct options *o, char *value)
{
    bool json = value && strcmp(value, "json") == 0;
    o->stats = json ? STATS_JSON : STATS_TEXT;
    return !value || json || strcmp(value, "text") == 0;
}

static bool set_when(enum when *out, char *value)
{
    static const char *const names[] = {"auto", "always", "never"};
    *out = WHEN_ALWAYS;
    for (size_t i = 0; value && i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            *out = (enum when)i;
            return true;
        }
    }
    return !value;
}

static bool set_progress(struct options *o, char *value)
{
    return set_when(&o->progress, value);
}

static bool set_plot(struct options *o, char *value)
{
    return set_when(&o->plot, value);
}

static bool set_color(struct options *o, char *value)
{
    return set_when(&o->color, value);
}

/* clang-format off */
static const struct option_row rows[] = {
    {"Print", 'v', "invert", NULL, NULL, NULL, COMMAND_DEDUP,
     "print the repeats instead of the new lines", set_invert},
    {NULL, 'v', "invert", NULL, NULL, NULL, COMMAND_CHECK,
     "print the lines that are not in the store", set_invert},
    {NULL, 'D', "repeats", "FILE", NULL, NULL, COMMAND_DEDUP,
     "write the repeats to FILE as well", set_repeats},
    {NULL, 0, "mark", NULL, NULL, NULL, COMMAND_DEDUP,
     "print every line, after 1 (new) or 0 and a tab", set_mark},
    {NULL, 0, "mark", NULL, NULL, NULL, COMMAND_CHECK,
     "print every line, after 1 (in the store) or 0 and a\ntab", set_mark},
    {NULL, 'c', "count", NULL, NULL, NULL, COMMAND_DEDUP | COMMAND_CHECK,
     "print only how many lines would be printed", set_count},
    {NULL, 'u', "unique", NULL, NULL, NULL, COMMAND_SORT,
     "print each integer once", set_unique},
    {NULL, 'c', "count", NULL, NULL, NULL, COMMAND_SORT,
     "print each integer once, after how often it came and\na tab", set_count},
    {NULL, 'q', "quiet", NULL, NULL, NULL, COMMAND_DEDUP | COMMAND_CHECK,
     "print nothing; exit 0 at the first line that would be\nprinted, 1 if there is none",
     set_quiet},
    {NULL, 'm', "max", "N", "a number of lines", "1000", COMMAND_DEDUP,
     "stop after N new lines (with -v: N repeats)", set_limit},
    {NULL, 'm', "max", "N", "a number of lines", "1000", COMMAND_CHECK,
     "stop after N printed lines", set_limit},
    {NULL, 0, "canonical", NULL, NULL, NULL, COMMAND_DEDUP | COMMAND_CHECK,
     "print canonical forms (with -k: of the key) instead\nof lines", set_canonical},
    {NULL, 0, "json", NULL, NULL, NULL, COMMAND_CANON,
     "print an object for each line: input, status,\ncanonical", set_json},
    {NULL, 0, "json", NULL, NULL, NULL, COMMAND_EXPLAIN,
     "print one object with all of it", set_json},
    {NULL, 0, "json", NULL, NULL, NULL, COMMAND_INFO,
     "print one object, in one line", set_json},
    {NULL, 0, "json", NULL, NULL, NULL, COMMAND_PLAN, "print one object, in one line", set_json},
    {NULL, 0, "plot", "[=WHEN]", "auto, always or never", "=always", COMMAND_PLAN,
     "draw the rates and sizes below: always, never or auto\n(on a terminal)", set_plot},
    {NULL, 0, "svg", "FILE", NULL, "plan.svg", COMMAND_PLAN, "draw them to FILE", set_svg},
    {NULL, 0, "expressions", NULL, NULL, NULL, COMMAND_CANON,
     "print the up to 30 host and path expressions of each\nURL; the profile is then safebrowsing",
     set_expressions},

    {"Memory", 's', "store", "STORE", NULL, NULL, COMMAND_DEDUP,
     "remember across runs, in the file STORE, which is made\nif it does not exist", set_store},
    {NULL, 'x', "exclude", "LIST", NULL, NULL, COMMAND_DEDUP,
     "count what is in LIST, a file of lines, a store or a\nlist (unseen build), as seen; repeatable", set_exclude},
    {NULL, 'n', "dry-run", NULL, NULL, NULL, COMMAND_DEDUP,
     "do not remember: only what -s and -x have is a repeat", set_dry_run},
    {NULL, 'n', "dry-run", NULL, NULL, NULL, COMMAND_SERVE,
     "answer C and I only: nothing is written, and another\nprocess may write meanwhile",
     set_dry_run},
    {NULL, 0, "shard", "I/N", "a share I/N with I from 1 to N", "1/4", COMMAND_DEDUP,
     "handle only the I-th of N shares of the keys", set_shard},
    {NULL, 0, "fpr", "RATE", "a rate above 0 and below 1", "1e-6", COMMAND_MAKERS | COMMAND_COUNT,
     "accept this share of new lines taken for repeats\n(default 5e-9; from 1.5e-6 up less memory)",
     set_fpr},
    {NULL, 0, "fpr", "RATE", "a rate above 0 and below 1", "1e-6", COMMAND_COMPACT,
     "from now on accept this rate of wrong answers", set_fpr},
    {NULL, 0, "capacity", "N", "a number of keys", "1e6", COMMAND_MAKERS | COMMAND_COMPACT,
     "make room for N keys; not every filter grows past it", set_capacity},
    {NULL, 0, "capacity", "N", "a number of keys", "1e6", COMMAND_COUNT,
     "make room for N keys, and grow past it as needed", set_capacity},
    {NULL, 0, "filter", "NAME", NULL, NULL, COMMAND_MAKERS | COMMAND_COMPACT,
     "the kind of filter: compact (the default), bloom,\nblock, counting, scalable or exact; see unseen help\nfilters", set_filter},
    {NULL, 0, "seed", "TEXT", SEED_EXPECTS, SEED_EXAMPLE, COMMAND_MAKERS | COMMAND_COUNT,
     "derive the secret of the keys from a text or 0xHEX\n(default: random); who guesses it can make\nlines that "
     "are wrongly taken for seen", set_seed},
    {NULL, 0, "seed-file", "FILE", NULL, SEED_FILE_EXAMPLE, COMMAND_MAKERS | COMMAND_COUNT,
     "the same, read from FILE: a command line can be seen\nby every user", set_seed_file},
    {NULL, 0, "key-bits", "N", "64, 96 or 128", "96", COMMAND_MAKERS,
     "a new store keeps N bits of each key: 64 (the\ndefault), 96 or 128, for 8, 12 or 16 bytes",
     set_key_bits},
    {NULL, 0, "key-bits", "N", "64, 96 or 128", "64", COMMAND_COMPACT,
     "keep only N bits of each key: 64 or 96", set_key_bits},
    {NULL, 0, "no-log", NULL, NULL, NULL, COMMAND_MAKERS,
     "a new store without a log, for those who accept less:\na crash forgets all since the last "
     "run's end, and\nthose lines come again; a damaged store cannot be\nrepaired; no exactly-once "
     "output. It saves 8 bytes of\ndisk per URL", set_no_log},
    {NULL, 0, "mode", "MODE", "a 6 for the owner, then 0, 2, 4 or 6 for the group and for others", "640",
     COMMAND_MAKERS | COMMAND_MERGE,
     "who may open a new store, as in chmod: 640, 660, 644\n(default 600: only its owner)", set_mode},

    {"The list", 0, "fpr", "RATE", "a rate above 0 and below 1", "1e-4", COMMAND_BUILD,
     "the highest share of wrong answers, up to 0.25\n(default 1e-4)", set_fpr},
    {NULL, 0, "kind", "KIND", "url, expressions, mail, ip or phone", "ip", COMMAND_BUILD,
     "what the entries are: url (the default), mail\n(addresses and domains), ip (addresses and "
     "networks)\nor phone", set_kind},
    {NULL, 0, "expressions", NULL, NULL, NULL, COMMAND_BUILD,
     "an entry is a site, a folder or a page, and covers\nall below it: evil.example/ the whole site",
     set_expressions},
    {NULL, 0, "from", "OLD", NULL, "old.list", COMMAND_BUILD,
     "take over what was allowed, added and removed in the\nlist OLD, and its kind, profile and rate",
     set_from},
    {NULL, 0, "known-good", "FILE", NULL, "good.txt", COMMAND_BUILD,
     "no line of FILE shall be listed, not even by error:\nthose that would be are allowed; repeatable",
     set_known_good},
    {NULL, 0, "remove", NULL, NULL, NULL, COMMAND_ALLOW,
     "the lines are no longer allowed", set_undo},
    {NULL, 0, "list", NULL, NULL, NULL, COMMAND_ALLOW,
     "print what is allowed, in the order in which it came", set_list},
    {NULL, 0, "add", "FILE", NULL, "more.txt", COMMAND_UPDATE,
     "add the lines of FILE (-: standard input); repeatable", set_add},
    {NULL, 0, "remove", "FILE", NULL, "gone.txt", COMMAND_UPDATE,
     "remove the lines of FILE; repeatable, and done in the\norder given", set_remove},
    {NULL, 0, "force", NULL, NULL, NULL, COMMAND_ON_LIST,
     "take dangerous entries, and leave out lines that are\nno entries", set_force},
    {NULL, 0, "seed", "TEXT", SEED_EXPECTS, SEED_EXAMPLE, COMMAND_BUILD,
     "derive the secret of the keys from a text or 0xHEX\n(default: random)", set_seed},
    {NULL, 0, "seed-file", "FILE", NULL, SEED_FILE_EXAMPLE, COMMAND_BUILD,
     "the same, read from FILE", set_seed_file},
    {"Work", 0, "memory", "SIZE", "a number of bytes above 0", "4G", COMMAND_BUILD,
     "use about this much memory (default 1G); the rest is\nin files in LIST.building", set_memory},
    {NULL, 0, "capacity", "N", "a number of keys", "1e10", COMMAND_BUILD,
     "about how many entries there are: from 1e9 on it\nsaves disk", set_capacity},
    {NULL, 'j', "threads", "N", "a number of threads or auto", "4", COMMAND_BUILD,
     "threads (default auto: one for each processor)", set_threads},
    {NULL, 0, "checkpoint", "N", "a number above 0", "60", COMMAND_BUILD,
     "save every N seconds how far it is (default 20)", set_checkpoint},
    {NULL, 0, "restart", NULL, NULL, NULL, COMMAND_BUILD,
     "begin anew, whatever an interrupted run has left", set_restart},

    {"What is known", 0, "capacity", "N", "a number of keys", "1e7", COMMAND_PLAN,
     "how many keys there will be", set_capacity},
    {NULL, 0, "fpr", "RATE", "a rate above 0 and below 1", "1e-4", COMMAND_PLAN,
     "the share of wrong answers that is accepted", set_fpr},
    {NULL, 0, "bits", "B", "a number of bits per key above 0", "20", COMMAND_PLAN,
     "bits per key", set_bits},
    {NULL, 0, "hashes", "K", "a number from 1 to 1000", "10", COMMAND_PLAN,
     "bits or counters that a key sets (default: the best)", set_hashes},
    {NULL, 0, "memory", "SIZE", "a number of bytes above 0", "4G", COMMAND_PLAN,
     "bytes, as 4G; with a rate: how many keys fit", set_memory},
    {NULL, 0, "filter", "NAME", NULL, "bloom", COMMAND_PLAN,
     "only this filter; see unseen help filters", set_filter},

    {"Identity", 'p', "profile", "NAME", NULL, "crawl", COMMAND_IDENTITY,
     "what makes URLs the same (default crawl; none: plain\nbytes); see unseen help profiles",
     set_profile},
    {NULL, 0, "rule", "NAME", "a list of rules", "strip-www", COMMAND_IDENTITY,
     "switch a rule of the profile on, or with no-NAME off;\na list a,b, repeatable; see unseen "
     "help rules", set_rule},
    {NULL, 'k', "key", "KEY", "a field number or a .path", ".link.url", COMMAND_LINES | COMMAND_ON_LIST,
     "look only at field KEY (from 1) of each line, or at\nthe value at the path .KEY of a JSON line",
     set_key},
    {NULL, 0, "by", "KEY", "a field number, a .path or host", "2", COMMAND_COUNT,
     "count apart for each value of KEY: a field, a path,\nor the host of the URL", set_by},
    {NULL, 't', "separator", "CHAR", "a single byte, \\t or \\0", ",", COMMAND_LINES | COMMAND_ON_LIST,
     "fields are separated by CHAR (default: tab)", set_separator},
    {NULL, 0, "format", "FORMAT", "auto, lines or jsonl", "jsonl", COMMAND_LINES | COMMAND_ON_LIST,
     "what the lines are: auto, lines or jsonl (auto: jsonl\nif KEY is a path)", set_format},
    {NULL, 0, "format", "FORMAT", "lines, anew, requests.seen or redis-set", "requests.seen",
     COMMAND_IMPORT, "what FILE is: lines or anew (one URL a line), Scrapy's\nrequests.seen, or "
     "redis-set (what redis-cli SMEMBERS\nprints, or the reply as the protocol has it)",
     set_source},
    {NULL, 0, "base", "URL", NULL, "http://e.com/a/", COMMAND_CANON,
     "the lines are references found in the document at URL", set_base},

    {"Input and output", 'o', "output", "FILE", NULL, NULL, COMMAND_DEDUP,
     "write to FILE, which is emptied first; with -s it is\ncontinued, never emptied: each line "
     "exactly once", set_output},
    {NULL, 'o', "output", "FILE", NULL, NULL, COMMAND_CANON | COMMAND_ASKERS | COMMAND_SORT | COMMAND_COUNT,
     "write to FILE, which is emptied first", set_output},
    {NULL, 'z', "null", NULL, NULL, NULL, COMMAND_LINES | COMMAND_SORT | COMMAND_ON_LIST,
     "lines end in NUL instead of newline; also -0", set_null},
    {NULL, 0, "line-buffered", NULL, NULL, NULL, COMMAND_PRINTERS,
     "write each line by itself", set_line_buffered},
    {NULL, 0, "max-line", "N", "a number of bytes", "64K", COMMAND_LINES | COMMAND_IMPORT,
     "report and leave out lines longer than N bytes\n(default 16M; 0: no limit)", set_max_line},
    {NULL, 0, "max-line", "N", "a number of bytes", "64K", COMMAND_ON_LIST,
     "refuse lines longer than N bytes (default 16M;\n0: no limit)", set_max_line},
    {NULL, 0, "long", NULL, NULL, NULL,
     COMMAND_LINES | COMMAND_IMPORT | COMMAND_SORT | COMMAND_ON_LIST,
     "zstd files may take up to 2 GiB of memory for their\nwindow, not 128 MiB", set_long},
    {NULL, 'j', "threads", "N", "a number of threads or auto", "2",
     COMMAND_LINES | COMMAND_IMPORT,
     "threads: 1, 2 (reading beside the rest) or auto", set_threads},

    {"Other programs' protocols", 0, "protocol", "NAME", NULL, "squid", COMMAND_SERVE,
     "answer another program, from what STORE has: squid,\nsquid-rewrite, postfix-policy, tcp-table, socketmap or\nhttp-auth", set_protocol},
    {NULL, 0, "listen", "ADDRESS", NULL, "127.0.0.1:9998", COMMAND_SERVE,
     "take connections at unix:PATH, ADDR:PORT or PORT\n(of 127.0.0.1)", set_listen},
    {NULL, 0, "expressions", NULL, NULL, NULL, COMMAND_SERVE,
     "look up URLs by host and path: the line evil.example/\nin STORE covers that site",
     set_expressions},
    {NULL, 0, "reply", "TEXT", NULL, "'REJECT spam'", COMMAND_SERVE,
     "what mail servers are told of what is listed (default:\nREJECT listed)", set_reply},
    {NULL, 0, "redirect", "URL", NULL, "http://127.0.0.1/blocked.html", COMMAND_SERVE,
     "where squid-rewrite sends who asks for a listed page", set_redirect},

    {"Reports, to standard error", 0, "stats", "[=FORMAT]", "text or json", "=json",
     COMMAND_REPORTERS | COMMAND_ON_LIST, "figures at the end, as text or json", set_stats},
    {NULL, 0, "progress", "[=WHEN]", "auto, always or never", "=never", COMMAND_BUILD,
     "how far it is, how fast, and the time left: always,\nnever or auto (on a terminal)",
     set_progress},
    {NULL, 0, "progress", "[=WHEN]", "auto, always or never", "=never", COMMAND_REPORTERS,
     "a progress line, on a terminal only; WHEN is always,\nnever or auto (if the output is a "
     "file)", set_progress},

    {"General", 0, "color", "[=WHEN]", "auto, always or never", "=never", COMMAND_ALL,
     "colour in messages: always, never or auto", set_color},
    {NULL, 'h', "help", NULL, NULL, NULL, COMMAND_ALL, "print this help", NULL},
    {NULL, 'V', "version", NULL, NULL, NULL, COMMAND_ALL, "print the version", NULL},
};
/* clang-format on */

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= OPTION_ROWS_MAX, "options.c has room for all");

const struct option_row *option_row_at(size_t i)
{
    return i < sizeof(rows) / sizeof(rows[0]) ? &rows[i] : NULL;
}
