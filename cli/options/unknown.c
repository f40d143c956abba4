/* SPDX-License-Identifier: MIT
 *
 * Reports options, commands and files that do not exist, and hints at what to type in their place.
 * A hint names only what does the same job. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "address.h"
#include "options/options.h"
#include "print/message.h"
#include "print/suggest.h"
#include "print/typed.h"
#include "redis_url.h"

/* ---- Options --------------------------------------------------------------------------------- */

/* Options of other tools, or of other commands, and what to write in their place. */
static const struct {
    unsigned commands;
    const char *options; /* with spaces between */
    const char *why;
    const char *with;    /* the options that do it in the same command; NULL: see instead */
    const char *instead; /* what to type; behind options: what follows the command */
} habits[] = {
    {COMMAND_DEDUP, "-d --repeated", "repeats have another name here", "--invert", ""},
    {COMMAND_DEDUP, "-u",
     "each line is printed once anyway; lines that occur only once are not known before "
     "the end of the input",
     "", ""},
    {COMMAND_DEDUP, "-i --ignore-case",
     "the case of scheme and host never matters in a URL, but paths differ by it", "", ""},
    {COMMAND_DEDUP, "-f --skip-fields", "fields are chosen, and a file of lines is named with -x",
     NULL, "the second field is -k 2 -t ' '; for what the file OLD lacks: unseen -x OLD FILE"},
    {COMMAND_DEDUP, "-F --fixed-strings", "lines are never patterns", NULL,
     "for the lines of FILE that OLD lacks: unseen -x OLD FILE"},
    {COMMAND_DEDUP, "--csv --tsv --field --fields --column", "fields are chosen by their numbers",
     NULL, "the second field is -k 2, and -t , or another separator stands between fields"},
    {COMMAND_DEDUP, "-w", "lines are compared whole or by one field", NULL,
     "to compare the first field: unseen -k 1 -t ' ' FILE"},
    {COMMAND_DEDUP, "-r", "the order is always that of the input", "", " | sort -r"},
    {COMMAND_DEDUP, "-a", "an output is continued only with -s", "--store STORE", ""},
    {COMMAND_DEDUP, "-l", "nothing is trimmed", NULL, "sed 's/^[ \\t]*//' FILE | unseen"},
    {COMMAND_DEDUP, "--unique", "each line is printed once anyway", "", ""},
    {COMMAND_DEDUP, "--zero-terminated", "it has a shorter name here", "--null", ""},
    {COMMAND_DEDUP, "--field-separator --delimiter", "it has a shorter name here", NULL,
     "unseen -t CHAR -k KEY FILE"},
    {COMMAND_DEDUP, "--max-count --head", "it has another name here", NULL, "unseen -m N FILE"},
    {COMMAND_DEDUP, "--sort", "the order is always that of the input", "", " | sort"},
    {COMMAND_DEDUP, "--refresh --sliding",
     "a repeat does not prolong a window: a line is seen for "
     "the length of the window after it was last new",
     "--window 10m", ""},
    {COMMAND_DEDUP, "--ttl --expire --forget --max-age", "it has another name here", NULL,
     "unseen --window 10m FILE"},
    {COMMAND_DEDUP, "--json", "lines are printed as they came", NULL,
     "JSON lines are read with -k .url, and --stats=json prints figures"},
    {COMMAND_CHECK, "--explain", "it has another name here", "--why", ""},
    {COMMAND_MERGE, "-o --output", "the new store is the first name", "", ""},
    {COMMAND_BUILD, "-o --output", "the list is the first name", "", ""},
    {COMMAND_BUILD, "--restart --resume --checkpoint", "a build always begins anew", "", ""},
    {COMMAND_SORT, "-n", "integers are sorted by their value anyway", "", ""},
    {COMMAND_SORT, "-r", "the order is always increasing", "", " | tac"},
    {COMMAND_COUNT, "-c", "it counts anyway", "", ""},
    {COMMAND_ALLOW, "--add", "the lines of the input are allowed", "", ""},
    {COMMAND_SERVE, "--port", "it has another name here", NULL, "unseen serve STORE --listen 8080"},
    {COMMAND_MERGE, "--seed", "NEW gets the seed of the first IN", NULL,
     "the inputs must be made with one --seed-file"},
    {COMMAND_REWRITE, "--seed", "a store keeps the seed that it was made with", NULL,
     "to make another store: unseen add --seed-file seed.key NEW.unseen FILE"},
};

const struct option_row *unknown_option_like(const struct command *command, const char *name,
                                             size_t len)
{
    char word[32];
    struct suggestion n = {.wanted = word};
    const struct option_row *row = option_row_find(command, name, len);
    const struct option_row *longer = NULL; /* which begins with the name */
    size_t nlonger = 0;
    if (row || len == 0 || len >= sizeof(word)) {
        return row;
    }
    memcpy(word, name, len);
    word[len] = '\0';
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (!(row->commands & command->bit)) {
            continue;
        }
        suggest_try(&n, row->name);
        if (strncmp(row->name, word, len) == 0) {
            longer = row;
            nlonger++;
        }
    }
    return nlonger == 1 ? longer : n.best ? option_row_find(command, n.best, strlen(n.best)) : NULL;
}

static bool is_named(const char *options, const char *option)
{
    const size_t len = strlen(option);
    for (const char *o = options; *o; o += strspn(o, " ")) {
        const size_t next = strcspn(o, " ");
        if (next == len && memcmp(o, option, len) == 0) {
            return true;
        }
        o += next;
    }
    return false;
}

void unknown_option(const struct command *command, const char *option)
{
    for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++) {
        if ((habits[i].commands & command->bit) && is_named(habits[i].options, option)) {
            message_error("%s is not an option of %s: %s", option,
                          command->bit == COMMAND_DEDUP ? "this tool" : command->called,
                          habits[i].why);
            message_hint("%s%s", habits[i].with ? typed_with("%s", habits[i].with) : "",
                         habits[i].instead);
            return;
        }
    }
    message_error("unknown option %s", option);
    if (option[1] == '-' && unknown_option_like(command, option + 2, strlen(option + 2))) {
        message_hint("%s", typed_line()); /* which is noted with the option mended */
    } else {
        message_hint("%s --help", command->called);
    }
}

/* ---- Commands -------------------------------------------------------------------------------- */

/* What other tools call a command. */
static const struct {
    const char *word;
    const char *command;
} synonyms[] = {
    {"rm", "remove"},    {"delete", "remove"}, {"del", "remove"},      {"insert", "add"},
    {"put", "add"},      {"query", "check"},   {"test", "check"},      {"contains", "check"},
    {"exists", "check"}, {"stat", "info"},     {"stats", "info"},      {"show", "info"},
    {"fsck", "verify"},  {"fix", "repair"},    {"vacuum", "rewrite"},  {"compact", "rewrite"},
    {"join", "merge"},   {"union", "merge"},   {"uniq", "dedup"},      {"normalize", "canon"},
    {"unique", "dedup"}, {"daemon", "serve"},  {"listen", "serve"},    {"whitelist", "allow"},
    {"wc", "count"},     {"size", "info"},     {"blacklist", "build"}, {"blocklist", "build"},
    {"why", "explain"},  {"grep", "check"},    {"lookup", "check"},
};

const struct command *unknown_command_like(const char *word)
{
    struct suggestion n = {.wanted = word};
    const struct command *command = NULL;
    for (size_t i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
        if (strcmp(synonyms[i].word, word) == 0) {
            return command_find(synonyms[i].command);
        }
    }
    for (size_t i = 0; (command = command_at(i)); i++) {
        suggest_try(&n, command->name);
    }
    return n.best ? command_find(n.best) : NULL;
}

static bool is_missing(const char *name)
{
    struct stat st;
    return lstat(name, &st) != 0 && errno == ENOENT;
}

/* True for a word that could be a command: files usually have a dot or a slash in their names. */
static bool looks_like_command(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    return word[0] != '\0' && word[0] != '-' && word[strspn(word, letters)] == '\0';
}

/* What has the answer to a command that is missing on purpose; NULL: it is not known. */
static const char *answer_to(const char *word)
{
    static const char no_lines[] =
        "a store keeps keys of lines, not the lines; for what is in it: unseen info STORE";
    static const struct {
        const char *word;
        const char *answer;
    } answers[] = {
        {"version", "unseen --version"},
        {"diff", "for the lines of NEW that OLD lacks: unseen -x OLD NEW"},
        {"export", no_lines},
        {"dump", no_lines},
        {"list", no_lines},
        {"cat", no_lines},
        {"ls", no_lines},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (strcmp(answers[i].word, word) == 0) {
            return answers[i].answer;
        }
    }
    return NULL;
}

bool unknown_command(int argc, char **argv)
{
    const char *word = argv[1];
    if (!looks_like_command(word) || !is_missing(word)) {
        return false;
    }
    const char *answer = answer_to(word);
    const struct command *like = answer ? NULL : unknown_command_like(word);
    message_error("no file and no command %s%s%s%s", word, like ? "; did you mean " : "",
                  like ? like->name : "", like ? "?" : "");
    const bool has_line = like && argc > 2 && typed_line_note(like, argc - 1, argv + 1);
    message_hint("%s", has_line ? typed_line()
                       : answer ? answer
                       : like   ? like->usage
                                : "for the commands: unseen -h");
    return true;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* True for an address of a page, of a person or of a host: people who want to know one thing write
 * it where a file belongs. */
static bool looks_like_entry(const char *name)
{
    const bool is_number = name[0] != '\0' && name[strspn(name, "0123456789.:/+")] == '\0';
    return strstr(name, "://") || (strchr(name, '@') && !strchr(name, '/')) || is_number;
}

/* A URL where the name of a store belongs, which comes in front of the files. */
static bool is_url_for_store(const struct options *o)
{
    const char *name = o->seen.path;
    if (!(o->command->bit & COMMAND_ON_STORE) || !name || !strstr(name, "://") ||
        redis_url_is(name) || !is_missing(name)) {
        return false;
    }
    const char *word = o->command->bit & COMMAND_ON_LIST ? "LIST" : "STORE";
    message_error("%s is a URL: the first name is that of the %s", name,
                  word[0] == 'L' ? "list" : "store");
    message_hint("echo %s | %s %s", typed_quoted(name), o->command->called,
                 o->input.nfiles > 0 && !o->input.none_named ? typed_quoted(o->input.files[0])
                                                             : word);
    return true;
}

/* The name and port of a server, which would become the name of a file. */
static bool is_named_server(const struct options *o)
{
    const char *name = o->seen.path;
    const char *port = NULL;
    if (!name || !address_is_named(name, &port) || !is_missing(name)) {
        return false;
    }
    message_error("%s: the address of a server is in numbers", name);
    message_hint("such as 127.0.0.1:%s, or, if it is the name of a file, ./%s", port, name);
    return true;
}

/* The first name of a server where the file of a store or a list belongs; NULL: there is none. */
static const char *find_server(const struct options *o)
{
    const unsigned takers = COMMAND_DEDUP | COMMAND_CHECK | COMMAND_ADD | COMMAND_REMOVE;
    const char *const names[] = {o->command->bit & takers ? NULL : o->seen.path, o->seen.like,
                                 o->merge.into, o->list.from};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] && address_is_server(names[i])) {
            return names[i];
        }
    }
    for (size_t i = 0; i < o->seen.nexcludes; i++) {
        if (address_is_server(o->seen.excludes[i])) {
            return o->seen.excludes[i];
        }
    }
    const unsigned on_files = COMMAND_MERGE | COMMAND_VERIFY | COMMAND_REPAIR | COMMAND_REWRITE |
                              COMMAND_COUNT | COMMAND_BITS;
    for (size_t i = 0; (o->command->bit & on_files) && i < o->input.nfiles; i++) {
        if (address_is_server(o->input.files[i])) {
            return o->input.files[i];
        }
    }
    return NULL;
}

/* A set that a server has, for a command that needs a file. */
static bool is_server_for_file(const struct options *o)
{
    const char *name = find_server(o);
    if (!name) {
        return false;
    }
    message_error("%s is a server: %s needs a file", name,
                  o->seen.nexcludes > 0 ? "-x"
                  : o->seen.like        ? "--like"
                                        : "this command");
    const char *quoted = typed_quoted(name);
    switch (o->seen.nexcludes > 0 ? COMMAND_CHECK : o->command->bit) {
    case COMMAND_CHECK:
        message_hint("for the lines that it lacks: unseen check -v %s%s", quoted, typed_inputs());
        break;
    case COMMAND_COUNT:
        message_hint("for the number of its keys: unseen info %s", quoted);
        break;
    case COMMAND_IMPORT:
        message_hint("to add lines: unseen add %s FILE", quoted);
        break;
    case COMMAND_MERGE:
        message_hint(redis_url_is(name)
                         ? "to join sets of one server: redis-cli UNSEEN.MERGE KEY OTHER..."
                         : "stop the server, and name the file of its store");
        break;
    default:
        message_hint("the commands that take a server are check, add, remove, info and unseen -s");
    }
    return true;
}

/* A command behind an option or a file, which is taken for a file. */
static bool is_command_for_file(const struct options *o)
{
    for (size_t i = 0; o->command->bit == COMMAND_DEDUP && i < o->input.nfiles; i++) {
        const struct command *command = command_find(o->input.files[i]);
        if (command && is_missing(command->name)) {
            message_error("no file %s, which is the name of a command", command->name);
            message_hint("the command comes first: %s", command->usage);
            return true;
        }
    }
    return false;
}

bool unknown_files(const struct options *o)
{
    if (is_command_for_file(o) || is_url_for_store(o) || is_named_server(o) ||
        is_server_for_file(o)) {
        return true;
    }
    for (size_t i = 0; (o->command->bit & COMMAND_READERS) && i < o->input.nfiles; i++) {
        const char *name = o->input.files[i];
        if ((looks_like_entry(name) || address_is_server(name)) && is_missing(name)) {
            message_error("%s is not a file; lines come from files or from standard input", name);
            if (address_is_server(name)) {
                message_hint("unseen -s %s", typed_quoted(name));
                return true;
            }
            message_hint("echo %s | %s", typed_quoted(name), typed_piped(name));
            return true;
        }
    }
    return false;
}
