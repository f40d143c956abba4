/* SPDX-License-Identifier: MIT
 *
 * Feeds the table of options to getopt_long, and reports a wrong command line with a hint at the
 * right one. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "print/message.h"
#include "print/output.h"
#include "print/suggest.h"
#include "print/typed.h"
#include "redis_url.h"
#include "seen/filter_words.h"
#include "seen/stores.h"

enum {
    LONG_BASE = 256
};

/* ---- Wrong options --------------------------------------------------------------------------- */

/* Shows the form of a value that the option can have. */
static void hint_form(const struct option_row *row)
{
    const char *space = row->example && row->example[0] == '=' ? "" : " ";
    if (row->example) {
        message_hint("such as --%s%s%s", row->name, space, row->example);
    }
}

/* The value that was probably meant; NULL: it is not known. */
static const char *meant(const struct option_row *row, const char *value)
{
    struct suggestion n = {.wanted = value};
    for (size_t i = (size_t)row->min; row->type == OPTION_CHOICE && row->names[i]; i++) {
        suggest_try(&n, row->names[i]);
    }
    return row->nearest ? row->nearest(value) : n.best;
}

static void report_value(const struct option_row *row, const char *value)
{
    if (strcmp(row->name, "seed") == 0) {
        message_error("--seed: its value is not %s",
                      row->expects); /* the value is not shown: it may be a secret */
    } else {
        message_error("--%s: '%s' is not %s", row->name, value, row->expects);
    }
    const char *like = meant(row, value);
    if (like) {
        message_hint("%s", typed_with("--%s%s%s", row->name, row->value[0] == '[' ? "=" : " ",
                                      typed_quoted(like)));
    } else if (row->type != OPTION_CHOICE) { /* else the error has the values */
        hint_form(row);
    }
}

static void report_missing(const struct option_row *row)
{
    message_error("--%s needs a value: %s", row->name, row->value);
    hint_form(row);
}

/* Reports an option that getopt refused. It shows the option as it was written, without a value;
 * getopt has moved a long option past the files in front of it, and itself past the option. */
static void report_getopt(const struct command *command, char **argv)
{
    char text[64];
    const char *word = argv[optind - 1];
    if (optopt > 0 && optopt < LONG_BASE) {
        snprintf(text, sizeof(text), "-%c", optopt);
    } else {
        snprintf(text, sizeof(text), "%.*s", (int)strcspn(word, "="), word);
    }
    if (optopt >= LONG_BASE) {
        message_error("--%s takes no value", option_row_at((size_t)(optopt - LONG_BASE))->name);
        message_hint("%s", typed_line()); /* which is noted without the value */
        return;
    }
    unknown_option(command, text);
}

/* ---- Parsing --------------------------------------------------------------------------------- */

struct getopt_tables {
    struct option longs[OPTION_ROWS_MAX + 1];
    char shorts[3 * OPTION_ROWS_MAX + 4];
};

static void fill_tables(struct getopt_tables *tables, const struct command *command)
{
    char *s = tables->shorts;
    struct option *l = tables->longs;
    const struct option_row *row = NULL;
    *s++ = ':';
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (!(row->commands & command->bit)) {
            continue;
        }
        const bool optional = row->value && row->value[0] == '[';
        const int takes = !row->value ? no_argument
                          : optional  ? optional_argument
                                      : required_argument;
        *l++ = (struct option){row->name, takes, NULL, LONG_BASE + (int)i};
        if (row->letter) {
            *s++ = row->letter;
            if (takes == required_argument) {
                *s++ = ':';
            }
        }
        if (row->letter == 'z') {
            *s++ = '0';
        }
    }
    *l = (struct option){NULL, 0, NULL, 0};
    *s = '\0';
}

static const struct option_row *row_of(const struct command *command, int c)
{
    return c >= LONG_BASE ? option_row_at((size_t)(c - LONG_BASE))
                          : option_row_letter(command, (char)c);
}

/* Refuses a name that asks for another format than lines, and hints at the pipe to type. */
static bool check_output_name(const struct options *o, const char *name, const char *option,
                              const char *hint)
{
    const char *program = name && name != o->plan.svg ? output_format_of(name) : NULL;
    const bool has_store = o->command->bit == COMMAND_DEDUP && o->seen.path;
    char words[8192];
    if (!program) {
        return true;
    }
    message_error("%s would be lines, not what its name says", name);
    if (program[0] != '\0' && name == o->print.output) {
        /* a store continues its output, line by line */
        hint = words;
        (void)snprintf(words, sizeof(words),
                       has_store ? "-o LINES FILE && %s < LINES > %s" : " FILE | %s > %s", program,
                       typed_quoted(name));
    }
    pairs_hint(o, option, hint);
    return false;
}

/* Refuses an output that would destroy a store or the like. */
static bool check_outputs(const struct options *o)
{
    const struct {
        const char *name;
        const char *option;
        const char *hint;
    } outputs[] = {
        {o->print.output, "output", "-o NEW"},
        {o->print.repeats, "repeats", "-D NEW"},
        {o->plan.svg, "svg", "--svg NEW"},
    };
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        if (!check_output_name(o, outputs[i].name, outputs[i].option, outputs[i].hint)) {
            return false;
        }
        if (!stores_check_output(outputs[i].name, &o->seen)) {
            pairs_hint(o, outputs[i].option, outputs[i].hint);
            return false;
        }
    }
    return true;
}

_Static_assert(sizeof(enum when) == sizeof(unsigned) && sizeof(enum stats) == sizeof(unsigned) &&
                   sizeof(enum missing) == sizeof(unsigned) &&
                   sizeof(enum format) == sizeof(unsigned) &&
                   sizeof(enum source) == sizeof(unsigned) &&
                   sizeof(enum funnel) == sizeof(unsigned),
               "a choice is stored as an unsigned");
_Static_assert(WHEN_ALWAYS == 1 && STATS_TEXT == 1, "an option without its value means this one");

static bool choose(const struct option_row *row, const char *value, unsigned *choice)
{
    *choice = 1;
    for (unsigned i = (unsigned)row->min; value && row->names[i]; i++) {
        if (strcmp(value, row->names[i]) == 0) {
            *choice = i;
            return true;
        }
    }
    return !value;
}

/* Refuses a second value where only the last one would count. */
static bool is_first(const struct option_row *row, const struct options *o, const char *value)
{
    if (!row->twice_hint) {
        return true;
    }
    const char *before = *(const char *const *)((const char *)o + row->offset);
    if (!before || strcmp(before, value) == 0) {
        return true;
    }
    char words[8192];
    message_error("--%s is given twice: %s and %s", row->name, before, value);
    snprintf(words, sizeof(words), row->twice_hint, typed_quoted(before), typed_quoted(value));
    pairs_hint(o, row->name, words);
    return false;
}

/* Puts the value (NULL: no value) into the field of its option. False if the row expects another
 * value. */
static bool set_value(const struct option_row *row, struct options *o, char *value)
{
    void *field = (char *)o + row->offset;
    uint64_t n = 0;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_NUL:
        *(char *)field = '\0';
        return true;
    case OPTION_TEXT:
        *(const char **)field = value;
        return value[0] != '\0' || !row->expects;
    case OPTION_RATE:
        return number_rate(value, field);
    case OPTION_REAL:
        return number_positive(value, field) && *(double *)field <= 1e6;
    case OPTION_COUNT:
        return number_count(value, field);
    case OPTION_BYTES:
        return number_bytes(value, field) && *(uint64_t *)field >= row->min &&
               *(uint64_t *)field <= row->max;
    case OPTION_NUMBER:
        if (!number_count(value, &n) || n < row->min || n > row->max) {
            return false;
        }
        *(unsigned *)field = (unsigned)n;
        return true;
    case OPTION_CHOICE:
        return choose(row, value, field);
    default:
        return row->set(o, value);
    }
}

/* Handles an option from getopt_long. RUN means: go on with the next one. */
static enum options_result parse_take(struct options *o, bool *given, int c, char **argv)
{
    const struct command *command = o->command;
    if (c == '?') {
        report_getopt(command, argv);
        return OPTIONS_WRONG;
    }
    const struct option_row *row = row_of(command, c == ':' ? optopt : c);
    if (c == ':') {
        report_missing(row);
        return OPTIONS_WRONG;
    }
    if (row->type == OPTION_HELP || row->type == OPTION_VERSION) {
        const bool done = row->type == OPTION_VERSION ? help_version()
                          : c == row->letter          ? help_short(command)
                                                      : help_command(command);
        return done ? OPTIONS_DONE : OPTIONS_WRONG;
    }
    if (!is_first(row, o, optarg)) {
        return OPTIONS_WRONG;
    }
    if (!set_value(row, o, optarg)) {
        report_value(row, optarg);
        return OPTIONS_WRONG;
    }
    given[option_row_index(row)] = true;
    return OPTIONS_RUN;
}

/* Refuses abbreviated names. getopt_long takes any beginning of a name that fits only one option,
 * but some options empty a file. `index` is that of the long option just taken, or -1. */
static bool is_written_out(char **argv, const struct option *longs, int index)
{
    if (index < 0) {
        return true;
    }
    const char *word = argv[optind - 1];
    if (optarg && optarg == word) {
        word = argv[optind - 2];
    }
    size_t len = strcspn(word, "=");
    if (len == strlen("--") + strlen(longs[index].name)) {
        return true;
    }
    message_error("unknown option %.*s", (int)len, word);
    message_hint("%s", typed_line()); /* in which the name is written out */
    return false;
}

/* Makes room for a value for each word, and one more for each comma in a list. */
static bool parse_make_room(struct options *o, int argc, char **argv)
{
    size_t n = (size_t)argc;
    for (int i = 0; i < argc; i++) {
        for (const char *p = argv[i]; (p = strchr(p, ',')); p++) {
            n++;
        }
    }
    o->seen.excludes = malloc(n * sizeof(*o->seen.excludes));
    o->profile.rules = malloc(n * sizeof(*o->profile.rules));
    o->profile.made = malloc(n * sizeof(*o->profile.made));
    o->list.known_good = malloc(n * sizeof(*o->list.known_good));
    o->list.edits = malloc(n * sizeof(*o->list.edits));
    if (!o->seen.excludes || !o->profile.rules || !o->profile.made || !o->list.known_good ||
        !o->list.edits) {
        return message_no_memory();
    }
    return true;
}

/* Takes the password out of the address of a Redis server before any message can show it. A run has
 * one such address. False if that failed, which has been reported. */
static bool take_password(struct options *o, int argc, char **argv)
{
    const char *first_why = NULL;
    const bool takes_urls = o->command->bit == COMMAND_EXPLAIN; /* which are not servers */
    for (int i = 1; i < argc && !takes_urls; i++) {
        char *password = NULL;
        const char *why = NULL;
        if (!redis_url_take_password(argv[i], &password, &why)) {
            first_why = first_why ? first_why : why;
        } else if (password) {
            free(o->seen.password);
            o->seen.password = password;
        }
    }
    if (first_why) {
        message_error("%s", first_why);
    }
    return !first_why;
}

/* What becomes of lines without the key if --missing does not say it: a store must not remember a
 * line because its key is mistyped. */
static enum missing usual_missing(const struct options *o)
{
    const unsigned keepers = COMMAND_ADD | COMMAND_REMOVE;
    const bool keeps = o->command->bit == COMMAND_DEDUP && o->seen.path && !o->seen.dry_run;
    return keeps || (o->command->bit & keepers) ? MISSING_FAIL : MISSING_WHOLE;
}

/* Takes the words of the command line that are options. */
static enum options_result parse_options(struct options *o, bool *given, int argc, char **argv)
{
    struct getopt_tables tables;
    fill_tables(&tables, o->command);
    opterr = 0;
    for (;;) {
        int index = -1;
        const int c = getopt_long(argc, argv, tables.shorts, tables.longs, &index);
        if (c == -1) {
            return OPTIONS_RUN;
        }
        if (!is_written_out(argv, tables.longs, c == '?' || c == ':' ? -1 : index)) {
            return OPTIONS_WRONG;
        }
        const enum options_result result = parse_take(o, given, c, argv);
        if (result != OPTIONS_RUN) {
            return result;
        }
    }
}

/* Takes the other words: the store or list of a command that is on one, and the files. */
static bool parse_files(struct options *o, int nwords, char **words)
{
    static const char *const standard_input[] = {"-"};
    const struct command *command = o->command;
    o->input.files = (const char *const *)words;
    o->input.nfiles = (size_t)nwords;
    o->input.has_limit = o->seen.memory > 0;
    if ((command->bit & COMMAND_ON_STORE) && o->input.nfiles > 0) {
        o->seen.path = *o->input.files++;
        o->input.nfiles--;
        if (o->seen.path[0] == '\0' && !(command->bit & COMMAND_ON_LIST)) {
            message_error("the name of the store is empty");
            message_hint("%s", command->usage);
            return false;
        }
    }
    if ((command->bit & COMMAND_READERS) && o->input.nfiles == 0) {
        o->input.files = standard_input;
        o->input.nfiles = 1;
        o->input.none_named = true;
    }
    return true;
}

enum options_result options_parse(struct options *o, const struct command *command, int argc,
                                  char **argv)
{
    *o = (struct options){
        .command = command,
        .key.separator = '\t',
        .input = {.delimiter = '\n', .max_line = MAX_LINE_DEFAULT},
        .seen = {.use = &command->use, .wait = WAIT_DEFAULT},
        .print.limit = UINT64_MAX,
    };
    bool given[OPTION_ROWS_MAX] = {false};
    if (!parse_make_room(o, argc, argv) || !take_password(o, argc, argv) ||
        !typed_line_note(command, argc, argv)) {
        return OPTIONS_WRONG;
    }
    const enum options_result result = parse_options(o, given, argc, argv);
    if (result != OPTIONS_RUN) {
        return result;
    }
    if (!parse_files(o, argc - optind, argv + optind)) {
        return OPTIONS_WRONG;
    }
    if (o->source == SOURCE_REQUESTS_SEEN) {
        o->seen.profile = "none"; /* fingerprints are not URLs */
        o->seen.profile_hint = "unseen import --format requests.seen NEW.unseen FILE";
    }
    o->seen.takes_list = command->use.takes_list || o->serve.protocol;
    if (!pairs_fit(o, given) || (o->seen.filter && !filters_check_name(o->seen.filter)) ||
        unknown_files(o) || !check_outputs(o) ||
        (o->seen.seed_file && !seed_read(&o->seen.seed, o->seen.seed_file))) {
        return OPTIONS_WRONG;
    }
    o->key.takes_empty = o->key.missing == MISSING_EMPTY;
    if (o->key.missing == MISSING_USUAL || o->key.takes_empty) {
        o->key.missing = usual_missing(o);
    }
    return OPTIONS_RUN;
}

void options_release(struct options *o)
{
    free(o->seen.password);
    free(o->seen.excludes);
    for (size_t i = 0; i < o->profile.nmade; i++) {
        free(o->profile.made[i]);
    }
    free(o->profile.made);
    free(o->profile.rules);
    free(o->list.known_good);
    free(o->list.edits);
}
