/* SPDX-License-Identifier: MIT
 *
 * From the command line to struct options; and the help.
 *
 * A table (rows.c) holds every option of every command: how it is written, what value it takes,
 * which commands have it, how the help explains it, and to which field its value goes. getopt_long
 * and the help get what they need from the table. */
#ifndef UNSEEN_CLI_OPTIONS_H
#define UNSEEN_CLI_OPTIONS_H

#include "commands/commands.h"
#include "print/typed.h"

/* ---- options_parse.c ------------------------------------------------------------------------- */

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* help or version was printed */
    OPTIONS_WRONG /* the error has been reported */
};

/* Parses argv[1..argc) for a command. The options point into argv, in which lists are split.
 * options_release frees the rest. */
enum options_result options_parse(struct options *o, const struct command *command, int argc,
                                  char **argv);
void options_release(struct options *o);

/* ---- typed_line.c ---------------------------------------------------------------------------- */

/* Notes the command line for hints, before anything of it is changed. False, and reported, without
 * memory. */
bool typed_line_note(const struct command *command, int argc, char **argv);

/* ---- command_table.c ------------------------------------------------------------------------- */

/* The i'th command, the default one first; NULL past the last. */
const struct command *command_at(size_t i);

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);

/* ---- rows.c ---------------------------------------------------------------------------------- */

enum {
    OPTION_ROWS_MAX = 160
};

/* The value that an option takes, and the type of its field. */
enum option_type {
    OPTION_HELP, /* no value: prints, and ends the program */
    OPTION_VERSION,
    OPTION_FLAG,   /* no value: bool, becomes true */
    OPTION_NUL,    /* no value: char, becomes '\0' */
    OPTION_TEXT,   /* const char *; if the row has `expects`, not empty */
    OPTION_RATE,   /* double, above 0 and below 1 */
    OPTION_REAL,   /* double, above 0, at most 1e6 */
    OPTION_COUNT,  /* uint64_t, with suffixes of powers of 1000 */
    OPTION_BYTES,  /* uint64_t from min to max, with suffixes of powers of 1024 */
    OPTION_NUMBER, /* unsigned from min to max */
    OPTION_CHOICE, /* enum: min + the index in names; 1 without a value */
    OPTION_CALL    /* any type: calls set */
};

/* A row with a name is an option; a row with only a group is a heading of the help. */
struct option_row {
    char letter;
    const char *name;
    unsigned commands; /* COMMAND_... bits of the commands that have it */
    const char *help;  /* lines separated by \n */
    const char *group;
    enum option_type type;
    const char *value;                         /* NULL: takes no value; "[=X]": may take one */
    const char *expects;                       /* "... is not <expects>" */
    const char *example;                       /* a valid value, for a hint */
    const char *(*nearest)(const char *value); /* NULL, or: the valid value that was meant */
    const char *twice_hint; /* of an option that may be given once only: what to write instead, for
                             * the values %1$s and %2$s; its field is a const char * */
    const char *needs;      /* options, with spaces between: one of them must be given, too */
    const char *excludes;   /* options: none of them may be given; these rows have `does`, too */
    const char *does;       /* of the option, behind its name, to say why it is excluded */
    const char *usage;      /* what to type in place of a wrong pair; NULL: the option alone */
    const char *more;       /* what the manual page says behind the help: sentences, `names` */
    size_t offset;          /* of the field in struct options */
    uint64_t min;
    uint64_t max;
    const char *const *names; /* of a CHOICE; of another type, values to complete with */
    bool (*set)(struct options *o, char *value);
};

/* The i'th row; NULL past the last. */
const struct option_row *option_row_at(size_t i);
size_t option_row_index(const struct option_row *row);

/* Finds an option of a command by its long name, which has `len` bytes. Returns NULL if the command
 * has no such option. */
const struct option_row *option_row_find(const struct command *command, const char *name,
                                         size_t len);

/* The same by its letter; 0 is another letter of z. */
const struct option_row *option_row_letter(const struct command *command, char letter);

/* ---- pairs.c --------------------------------------------------------------------------------- */

/* False, and reported, if options that were given do not go together. `given` has the rows of the
 * options on the command line. */
bool pairs_fit(const struct options *o, const bool *given);

/* Hints at the corrected command: the command line without the options that `drop` names (their
 * long names, with spaces between), with those of `words` that are then missing, such as
 * "-s STORE -o NEW FILE". What follows FILE in `words` follows the command. */
void pairs_hint(const struct options *o, const char *drop, const char *words);

/* ---- unknown.c ------------------------------------------------------------------------------- */

/* The option of the command whose long name is that of `len` bytes, or the only longer one, or
 * the most similar one; NULL: none is similar. */
const struct option_row *unknown_option_like(const struct command *command, const char *name,
                                             size_t len);

/* Reports an option that the command lacks. */
void unknown_option(const struct command *command, const char *option);

/* The command whose name is most like `word`, or which other tools call so; NULL: none. */
const struct command *unknown_command_like(const char *word);

/* True, and reported, if the first word of the command line is neither a file nor a command, but
 * could be the name of a command. */
bool unknown_command(int argc, char **argv);

/* True, and reported, if an input file does not exist and its name is that of a command, a URL or
 * another text that belongs into a line. */
bool unknown_files(const struct options *o);

/* ---- level.c --------------------------------------------------------------------------------- */

/* The level that the environment variable UNSEEN_CPU forces, for tests and measurements; AUTO if it
 * is not set. False, and reported, if the processor lacks the level. */
bool cpu_from_environment(enum unseen_cpu *cpu);

/* Prints the level in use and the levels there are, in a line. */
void cpu_print(void);

/* ---- number.c --------------------------------------------------------------------------------
 * Numbers as people write them on a command line. Each function returns false for anything else:
 * signs, spaces, fractions of one, overflow, letters that mean nothing. */

/* 250000, 1e9, 2.5e6, 10K, 1.5M, 2G, 1T: powers of 1000. */
bool number_count(const char *text, uint64_t *out);

/* 65536, 64K, 1M, 2G, 1T: powers of 1024. */
bool number_bytes(const char *text, uint64_t *out);

/* 0.001, 1e-6: above 0 and below 1. */
bool number_rate(const char *text, double *out);

/* 20, 9.6, 1e3: any number above 0. */
bool number_positive(const char *text, double *out);

/* 600, 0640: the rights of a file in octal. Its owner must be able to read and write it, and nobody
 * may run it. */
bool number_mode(const char *text, unsigned *out);

/* ---- help.c ---------------------------------------------------------------------------------- */

/* Prints all of the help to standard output, or the most important of it, which fits on a screen.
 * False if that failed, which has been reported. */
bool help_command(const struct command *command);
bool help_short(const struct command *command);
bool help_version(void);

/* Prints the short usage to standard error. */
void help_usage(const struct command *command);

/* Runs `unseen help [TOPIC]`; returns the exit status. */
int help_run(int argc, char **argv);

/* The i'th topic of `unseen help` that is not a command; NULL past the last. */
const char *help_topic_at(size_t i);

/* What `unseen help` does, for lists of commands. */
extern const char help_summary[];

/* ---- complete.c ------------------------------------------------------------------------------ */

/* Runs `unseen __complete [WORD]...`, which the files of completions/ call for a shell: prints what
 * the last word could become. The words are those behind the name of the program, up to the cursor.
 * The first line says whether a file name is possible ("files") or not ("words"); each other line
 * is a whole word, a tab, and a sentence, which may be empty. Returns the exit status. */
int complete_run(int nwords, char **words);

/* ---- manual.c -------------------------------------------------------------------------------- */

/* Runs `unseen __man PAGE`, which the build calls: prints a page of docs/man with the options and
 * commands filled in. Returns the exit status. */
int manual_run(const char *path);

#endif
