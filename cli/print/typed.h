/* SPDX-License-Identifier: MIT
 *
 * The command line of the run as the user typed it, for hints: a hint shows the same command with
 * one change. Names and values are quoted for a POSIX shell. */
#ifndef UNSEEN_CLI_TYPED_H
#define UNSEEN_CLI_TYPED_H

#include <stdbool.h>
#include <stddef.h>

/* An option, or a word that is not one: a file or a store. */
struct typed_word {
    const char *name;  /* the long name of the option; "": an unknown one; NULL: not an option */
    char letter;       /* if it was written as -k, this is k */
    const char *value; /* of the option, or the word; NULL: the option has none */
    bool is_joined;    /* --name=value */
};

/* Sets the command line. The words stay where they are until the program ends. `called` is how the
 * command begins, and the first `nstores` words that are not options are not input. */
void typed_set(const char *called, const struct typed_word *words, size_t nwords, size_t nstores);

/* True if the option of that long name was typed; NULL: a word that is not an option. */
bool typed_has(const char *name);

/* Each of these functions returns a text that stays until the third call after it of the same
 * function. */

/* The command line. */
const char *typed_line(void);

/* The command line with other options: long names and quoted values ("--force --fpr 1e-6"). An
 * option that was typed is replaced. "..." stands for what is too long or secret. */
__attribute__((format(printf, 1, 2))) const char *typed_with(const char *options, ...);

/* The command line without some options: their long names, with spaces between ("fpr seed"). */
const char *typed_without(const char *names);

/* The same with other options. */
__attribute__((format(printf, 2, 3))) const char *typed_changed(const char *names,
                                                                const char *options, ...);

/* The command line with other words, which are quoted, in place of those that are not input, and
 * with other options, or "". */
const char *typed_on(const char *store, const char *options);

/* The command line for a pipe in place of the input file of that name; NULL: of all input files. */
const char *typed_piped(const char *input);

/* The input files, with a space in front of each; "" for standard input. */
const char *typed_inputs(void);

/* The word, quoted if a shell would take it apart; "./-a" for a file whose name begins with "-". */
const char *typed_quoted(const char *word);

/* "mkdir -p" of the folder that a file is to be in; NULL if the path names none. */
const char *typed_folder(const char *path);

#endif
