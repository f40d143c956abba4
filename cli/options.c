/* SPDX-License-Identifier: MIT
 *
 * One table holds every option: how it is written, what it takes, how the help explains it and
 * what it does. getopt_long gets its arguments from the table, and so does the help. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include <unseen.h>

struct row {
    const char *group; /* a heading in front of this row */
    char letter;
    const char *name;
    const char *value;   /* NULL: takes none; "[=X]": may take one */
    const char *expects; /* "... is not <expects>" */
    const char *example; /* a value that is right */
    const char *help;    /* lines separated by \n */
    bool (*set)(struct options *o, const char *value);
};

static bool set_exclude(struct options *o, const char *value)
{
    o->excludes[o->nexcludes++] = value; /* options_parse made room for argc */
    return true;
}

static bool set_dry_run(struct options *o, const char *value)
{
    (void)value;
    o->dry_run = true;
    return true;
}

static bool set_shard(struct options *o, const char *value)
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

static bool set_capacity(struct options *o, const char *value)
{
    return number_count(value, &o->capacity);
}

static bool set_fpr(struct options *o, const char *value)
{
    return number_rate(value, &o->fpr);
}

static bool set_filter(struct options *o, const char *value)
{
    o->filter = value;
    return true;
}

static bool set_seed(struct options *o, const char *value)
{
    o->has_seed = number_seed(value, &o->seed);
    return o->has_seed;
}

static bool set_key(struct options *o, const char *value)
{
    o->key = value;
    o->field = 0;
    o->json_path = NULL;
    if (value[0] == '.') {
        o->json_path = value;
        size_t len = strlen(value);
        return len > 1 && value[len - 1] != '.' && !strstr(value, "..");
    }
    uint64_t field = 0;
    if (!number_count(value, &field) || field == 0 || field > SIZE_MAX) {
        return false;
    }
    o->field = (size_t)field;
    return true;
}

static bool set_separator(struct options *o, const char *value)
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

static bool set_format(struct options *o, const char *value)
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

static bool set_invert(struct options *o, const char *value)
{
    (void)value;
    o->invert = true;
    return true;
}

static bool set_repeats(struct options *o, const char *value)
{
    o->repeats = value;
    return true;
}

static bool set_mark(struct options *o, const char *value)
{
    (void)value;
    o->mark = true;
    return true;
}

static bool set_count(struct options *o, const char *value)
{
    (void)value;
    o->count = true;
    return true;
}

static bool set_quiet(struct options *o, const char *value)
{
    (void)value;
    o->quiet = true;
    return true;
}

static bool set_limit(struct options *o, const char *value)
{
    o->has_limit = number_count(value, &o->limit);
    return o->has_limit;
}

static bool set_output(struct options *o, const char *value)
{
    o->output = value;
    return true;
}

static bool set_null(struct options *o, const char *value)
{
    (void)value;
    o->delimiter = '\0';
    return true;
}

static bool set_line_buffered(struct options *o, const char *value)
{
    (void)value;
    o->line_buffered = true;
    return true;
}

static bool set_max_line(struct options *o, const char *value)
{
    return number_bytes(value, &o->max_line) && o->max_line > 0;
}

static bool set_threads(struct options *o, const char *value)
{
    uint64_t n = 0;
    if (strcmp(value, "auto") != 0 && (!number_count(value, &n) || n < 1 || n > 1024)) {
        return false;
    }
    o->threads = (unsigned)n;
    return true;
}

static bool set_stats(struct options *o, const char *value)
{
    bool json = value && strcmp(value, "json") == 0;
    o->stats = json ? STATS_JSON : STATS_TEXT;
    return !value || json || strcmp(value, "text") == 0;
}

static bool set_when(enum when *out, const char *value)
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

static bool set_progress(struct options *o, const char *value)
{
    return set_when(&o->progress, value);
}

static bool set_color(struct options *o, const char *value)
{
    return set_when(&o->color, value);
}

static const struct row rows[] = {
    {"Print", 'v', "invert", NULL, NULL, NULL, "print the repeats instead of the new lines",
     set_invert},
    {NULL, 'D', "repeats", "FILE", NULL, NULL, "write the repeats to FILE as well", set_repeats},
    {NULL, 0, "mark", NULL, NULL, NULL, "print every line, after 1 (new) or 0 and a tab", set_mark},
    {NULL, 'c', "count", NULL, NULL, NULL, "print only how many lines would be printed", set_count},
    {NULL, 'q', "quiet", NULL, NULL, NULL,
     "print nothing; exit 0 at the first line that would be\nprinted, 1 if there is none",
     set_quiet},
    {NULL, 'm', "max", "N", "a number of lines", "1000",
     "stop after N new lines (with -v: N repeats)", set_limit},

    {"Memory", 'x', "exclude", "LIST", NULL, NULL,
     "count the lines of the file LIST as seen; repeatable", set_exclude},
    {NULL, 'n', "dry-run", NULL, NULL, NULL, "do not remember: only what -x lists is a repeat",
     set_dry_run},
    {NULL, 0, "shard", "I/N", "a share I/N with I from 1 to N", "1/4",
     "handle only the I-th of N shares of the keys", set_shard},
    {NULL, 0, "fpr", "RATE", "a rate above 0 and below 1", "1e-6",
     "accept this share of new lines taken for repeats\n(default 5e-9; from 1.5e-6 up less memory)",
     set_fpr},
    {NULL, 0, "capacity", "N", "a number of keys", "1e6",
     "make room for N keys at once (it grows anyway)", set_capacity},
    {NULL, 0, "filter", "NAME", NULL, NULL, "the kind of filter (compact)", set_filter},
    {NULL, 0, "seed", "N", "a 64-bit number", "42", "seed of the hash (default: random)", set_seed},

    {"Identity", 'k', "key", "KEY", "a field number or a .path", ".link.url",
     "compare only field KEY (from 1) of each line, or the\nvalue at the path .KEY of a JSON line",
     set_key},
    {NULL, 't', "separator", "CHAR", "a single byte, \\t or \\0", ",",
     "fields are separated by CHAR (default: tab)", set_separator},
    {NULL, 0, "format", "FORMAT", "auto, lines or jsonl", "jsonl",
     "what the lines are: auto, lines or jsonl (auto: jsonl\nif KEY is a path)", set_format},

    {"Input and output", 'o', "output", "FILE", NULL, NULL, "write to FILE, which is emptied first",
     set_output},
    {NULL, 'z', "null", NULL, NULL, NULL, "lines end in NUL instead of newline; also -0", set_null},
    {NULL, 0, "line-buffered", NULL, NULL, NULL, "write each line by itself", set_line_buffered},
    {NULL, 0, "max-line", "N", "a number of bytes above 0", "64K",
     "report and leave out lines longer than N bytes", set_max_line},
    {NULL, 'j', "threads", "N", "a number of threads or auto", "2",
     "threads: 1, 2 (read and hash beside filtering) or auto", set_threads},

    {"Reports, to standard error", 0, "stats", "[=FORMAT]", "text or json", "=json",
     "figures at the end, as text or json", set_stats},
    {NULL, 0, "progress", "[=WHEN]", "auto, always or never", "=never",
     "a progress line, on a terminal only; WHEN is always,\nnever or auto (if the output is a "
     "file)",
     set_progress},
    {NULL, 0, "color", "[=WHEN]", "auto, always or never", "=never",
     "colour in messages: always, never or auto", set_color},
    {NULL, 'h', "help", NULL, NULL, NULL, "print this help", NULL},
    {NULL, 'V', "version", NULL, NULL, NULL, "print the version", NULL},
};

enum {
    NROWS = sizeof(rows) / sizeof(rows[0]),
    LONG_BASE = 256
};

/* ---- Help ------------------------------------------------------------------------------------ */

static const char synopsis[] = "Usage: unseen [dedup] [OPTION]... [FILE]...\n"
                               "       unseen help\n";

static const char examples[] =
    "Examples\n"
    "  unseen urls.txt > new.txt               each line the first time only\n"
    "  zcat crawl.gz | unseen | fetcher        in a pipe, answering at once\n"
    "  unseen -x visited.txt found.txt.zst     what is not in visited.txt, once each\n"
    "  unseen -k 2 -t , log.csv                compare the second field only\n"
    "  unseen -k .link.url pages.jsonl         compare a value inside JSON lines\n"
    "  unseen -c a.txt b.txt                   how many distinct lines\n"
    "  unseen -D again.txt -o new.txt in.txt   split into new lines and repeats\n";

static const char ending[] =
    "With no FILE, or when FILE is -, read standard input. gzip and zstd input is\n"
    "recognised by its first bytes. SIGUSR1 prints a status line.\n"
    "Exit status: 0 done, 1 none (with -q), 2 trouble.\n";

static void print_row(const struct row *row)
{
    char left[64];
    char letter[8] = "    ";
    if (row->letter) {
        snprintf(letter, sizeof(letter), "-%c, ", row->letter);
    }
    const char *space = row->value && row->value[0] != '[' ? " " : "";
    snprintf(left, sizeof(left), "%s--%s%s%s", letter, row->name, space,
             row->value ? row->value : "");
    const char *text = row->help;
    for (const char *first = left; *text; first = "") {
        size_t len = strcspn(text, "\n");
        printf("  %-23s %.*s\n", first, (int)len, text);
        text += len + (text[len] != '\0');
    }
}

bool options_help(void)
{
    printf("%s\nPrint each line of the input the first time it is seen, in input order.\n",
           synopsis);
    for (size_t i = 0; i < NROWS; i++) {
        if (rows[i].group) {
            printf("\n%s\n", rows[i].group);
        }
        print_row(&rows[i]);
    }
    printf("\n%s\n%s", examples, ending);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        message_error("cannot write standard output");
        return false;
    }
    return true;
}

void options_usage(void)
{
    fprintf(stderr,
            "%s"
            "Reads FILE or a pipe and prints each line the first time it is seen.\n"
            "Try: unseen urls.txt, or: unseen --help\n",
            synopsis);
}

/* ---- Wrong options --------------------------------------------------------------------------- */

/* What other tools mean by an option that is none here, and how to say it to this one. */
static const struct {
    const char *option;
    const char *why;
    const char *instead;
} habits[] = {
    {"-d", "uniq prints repeats with it, anew does a dry run",
     "unseen -v prints the repeats; unseen -n asks without remembering"},
    {"-u",
     "each line is printed once anyway; lines that occur only once are not known before "
     "the end of the input",
     "unseen FILE, where others have sort -u FILE"},
    {"-i", "letter case is never ignored: paths differ by it", "tr A-Z a-z < FILE | unseen"},
    {"-f", "fields are chosen, not skipped", "unseen -k 2 -t ' ' FILE compares the second field"},
    {"-w", "lines are compared whole or by one field", "unseen -k 1 -t ' ' FILE"},
    {"-r", "the order is always that of the input", "unseen FILE | sort -r"},
    {"-a", "the output is never appended to by this tool", "unseen -x OLD FILE >> OLD.new"},
    {"-l", "nothing is trimmed", "sed 's/^[ \\t]*//' FILE | unseen"},
    {"--unique", "each line is printed once anyway", "unseen FILE"},
    {"--repeated", "repeats have another name here", "unseen -v FILE"},
    {"--ignore-case", "letter case is never ignored: paths differ by it",
     "tr A-Z a-z < FILE | unseen"},
    {"--skip-fields", "fields are chosen, not skipped", "unseen -k 2 -t ' ' FILE"},
    {"--zero-terminated", "it has a shorter name here", "unseen -z FILE"},
    {"--field-separator", "it has a shorter name here", "unseen -t CHAR -k KEY FILE"},
    {"--max-count", "it has a shorter name here", "unseen -m N FILE"},
};

/* Levenshtein distance, for names of at most 31 bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    size_t len = strlen(b);
    if (len >= 32) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= len; j++) {
            size_t best = diagonal + (a[i] != b[j - 1]);
            diagonal = row[j];
            best = best < row[j] + 1 ? best : row[j] + 1;
            row[j] = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
        }
    }
    return row[len];
}

/* The long option most like name, or NULL. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    size_t best_distance = 3;
    for (size_t i = 0; i < NROWS; i++) {
        size_t d = distance(name, rows[i].name);
        if (d < best_distance) {
            best_distance = d;
            best = rows[i].name;
        }
    }
    return best;
}

static void report_unknown(const char *option)
{
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        if (strcmp(habits[i].option, option) == 0) {
            message_error("%s is no option here: %s", option, habits[i].why);
            message_hint("%s", habits[i].instead);
            return;
        }
    }
    const char *like = option[1] == '-' ? nearest(option + 2) : NULL;
    message_error("unknown option %s", option);
    if (like) {
        message_hint("unseen --%s", like);
    } else {
        message_hint("unseen --help");
    }
}

static void report_value(const struct row *row, const char *value)
{
    const char *space = row->example && row->example[0] == '=' ? "" : " ";
    message_error("--%s: '%s' is not %s", row->name, value, row->expects);
    message_hint("unseen --%s%s%s", row->name, space, row->example);
}

static void report_missing(const struct row *row)
{
    const char *value = row->value ? row->value : "VALUE";
    message_error("--%s needs a value: %s", row->name, value);
    message_hint("unseen --%s %s", row->name, row->example ? row->example : value);
}

/* The option as it was written, without a value: getopt has moved past it. */
static void report_getopt(char **argv, int at)
{
    char text[64];
    const char *word = argv[at];
    if (optopt > 0 && optopt < LONG_BASE) {
        snprintf(text, sizeof(text), "-%c", optopt);
    } else {
        snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "="), word);
    }
    for (size_t i = 0; optopt >= LONG_BASE && i < NROWS; i++) {
        if (optopt == LONG_BASE + (int)i) {
            message_error("--%s takes no value", rows[i].name);
            message_hint("unseen --%s", rows[i].name);
            return;
        }
    }
    report_unknown(text);
}

/* ---- Parsing --------------------------------------------------------------------------------- */

struct getopt_tables {
    struct option longs[NROWS + 1];
    char shorts[3 * NROWS + 4];
};

static void fill_tables(struct getopt_tables *tables)
{
    char *s = tables->shorts;
    *s++ = ':';
    *s++ = '0';
    for (size_t i = 0; i < NROWS; i++) {
        bool optional = rows[i].value && rows[i].value[0] == '[';
        int takes = !rows[i].value ? no_argument : optional ? optional_argument : required_argument;
        tables->longs[i] = (struct option){rows[i].name, takes, NULL, LONG_BASE + (int)i};
        if (rows[i].letter) {
            *s++ = rows[i].letter;
            if (takes == required_argument) {
                *s++ = ':';
            }
        }
    }
    tables->longs[NROWS] = (struct option){NULL, 0, NULL, 0};
    *s = '\0';
}

static const struct row *find_row(int c)
{
    for (size_t i = 0; i < NROWS; i++) {
        if (c == LONG_BASE + (int)i || (rows[i].letter && c == rows[i].letter) ||
            (c == '0' && rows[i].letter == 'z')) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Two options of which the second would be pointless or contradict the first. */
static bool check_pairs(const struct options *o)
{
    const struct {
        bool both;
        const char *text;
        const char *hint;
    } pairs[] = {
        {o->mark && o->invert, "--mark prints every line, -v only some", "unseen --mark FILE"},
        {o->mark && o->count, "-c prints a number, --mark lines", "unseen -c FILE"},
        {o->quiet && o->count, "-q prints nothing, -c a number", "unseen -c FILE"},
        {o->quiet && o->mark, "-q prints nothing, --mark lines", "unseen --mark FILE"},
        {o->quiet && o->output, "-q prints nothing, -o FILE would stay empty", "unseen -q FILE"},
        {o->quiet && o->repeats, "-q stops early, -D FILE would miss repeats",
         "unseen -c -D REPEATS FILE"},
        {o->invert && o->repeats, "-v and -D both print the repeats",
         "unseen -o NEW -D REPEATS FILE"},
        {o->has_separator && !o->key, "-t has no meaning without -k", "unseen -t , -k 1 FILE"},
        {o->has_separator && o->json_path, "-t has no meaning with a JSON path",
         "unseen -k .url FILE"},
        {o->format == FORMAT_JSONL && !o->json_path, "--format jsonl needs a path: -k .PATH",
         "unseen --format jsonl -k .url FILE"},
        {o->format == FORMAT_LINES && o->json_path, "a line has numbered fields, not a path",
         "unseen --format lines -k 1 FILE"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (pairs[i].both) {
            message_error("%s", pairs[i].text);
            message_hint("%s", pairs[i].hint);
            return false;
        }
    }
    return true;
}

/* One option from getopt_long; RUN means go on with the next. */
static enum options_result take(struct options *o, int c, char **argv, int at)
{
    if (c == '?') {
        report_getopt(argv, at);
        return OPTIONS_WRONG;
    }
    const struct row *row = find_row(c == ':' ? optopt : c);
    if (c == ':') {
        report_missing(row);
        return OPTIONS_WRONG;
    }
    if (!row->set && row->letter == 'h') {
        return options_help() ? OPTIONS_DONE : OPTIONS_WRONG;
    }
    if (!row->set) {
        if (printf("unseen %s\n", unseen_version()) < 0 || fflush(stdout) != 0) {
            message_error("cannot write standard output");
            return OPTIONS_WRONG;
        }
        return OPTIONS_DONE;
    }
    if (!row->set(o, optarg)) {
        report_value(row, optarg);
        return OPTIONS_WRONG;
    }
    return OPTIONS_RUN;
}

enum options_result options_parse(struct options *o, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(&tables);
    *o = (struct options){.delimiter = '\n', .separator = '\t'};
    o->excludes = malloc((size_t)argc * sizeof(*o->excludes));
    if (!o->excludes) {
        message_error("out of memory");
        return OPTIONS_WRONG;
    }
    opterr = 0;
    for (;;) {
        int at = optind;
        int c = getopt_long(argc, argv, tables.shorts, tables.longs, NULL);
        if (c == -1) {
            break;
        }
        enum options_result result = take(o, c, argv, at);
        if (result != OPTIONS_RUN) {
            return result;
        }
    }
    o->files = (const char *const *)argv + optind;
    o->nfiles = (size_t)(argc - optind);
    return check_pairs(o) ? OPTIONS_RUN : OPTIONS_WRONG;
}

void options_release(struct options *o)
{
    free(o->excludes);
    o->excludes = NULL;
}
