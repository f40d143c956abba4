/* SPDX-License-Identifier: MIT
 *
 * Notes the command line for hints (print/typed.h), before anything of it is parsed, split or
 * refused. An option that the command lacks is noted as the one that was probably meant, so that a
 * hint can show the whole line. */
#include <stdlib.h>
#include <string.h>

#include "options/options.h"
#include "print/message.h"
#include "print/typed.h"

/* The value of an option for which `next` stands behind it, in a word of its own. Counts that word
 * if it is taken. */
static const char *value_of(const struct option_row *row, char *next, int *nwords)
{
    if (next) {
        *nwords = 2;
        return next;
    }
    return row->example ? row->example : row->value; /* the value is missing */
}

/* Notes --NAME, --NAME=VALUE or --NAME VALUE. Returns the number of words. */
static int note_long(const struct command *command, struct typed_word *to, char **words)
{
    int nwords = 1;
    char *name = words[0] + 2;
    char *value = strchr(name, '=');
    const struct option_row *row =
        unknown_option_like(command, name, value ? (size_t)(value - name) : strlen(name));
    if (!row) {
        *to = (struct typed_word){.name = "", .value = words[0]};
        return 1;
    }
    const bool may_lack = row->value && row->value[0] == '[';
    *to = (struct typed_word){.name = row->name, .is_joined = may_lack};
    if (row->value && value) {
        to->value = value + 1;
    } else if (row->value && !may_lack) {
        to->value = value_of(row, words[1], &nwords);
    }
    return nwords;
}

/* Notes -a, -abc, -kVALUE or -k VALUE. Returns the number of words. */
static int note_letters(const struct command *command, struct typed_word *to, size_t *n,
                        char **words)
{
    int nwords = 1;
    for (char *letter = words[0] + 1; *letter; letter++) {
        const struct option_row *row = option_row_letter(command, *letter);
        if (!row) {
            to[(*n)++] = (struct typed_word){.name = "", .value = words[0]};
            return 1;
        }
        struct typed_word *word = &to[(*n)++];
        *word = (struct typed_word){.name = row->name, .letter = row->letter};
        if (row->value && row->value[0] != '[') {
            word->value = letter[1] ? letter + 1 : value_of(row, words[1], &nwords);
            return nwords;
        }
    }
    return nwords;
}

static size_t note_words(const struct command *command, struct typed_word *to, char **words)
{
    size_t n = 0;
    bool only_files = false;
    while (*words) {
        if (only_files || words[0][0] != '-' || words[0][1] == '\0') {
            to[n++] = (struct typed_word){.value = *words++};
        } else if (strcmp(*words, "--") == 0) {
            only_files = true;
            words++;
        } else if (words[0][1] == '-') {
            words += note_long(command, &to[n++], words);
        } else {
            words += note_letters(command, to, &n, words);
        }
    }
    return n;
}

bool typed_line_note(const struct command *command, int argc, char **argv)
{
    size_t nbytes = 0;
    for (int i = 1; i < argc; i++) {
        nbytes += strlen(argv[i]) + 1;
    }
    /* The words, of which a letter may be one, and behind them their text. They are not freed:
     * messages show them until the end. */
    struct typed_word *words = malloc((nbytes + 1) * (sizeof(*words) + 1));
    char **copies = malloc(((size_t)argc + 1) * sizeof(*copies));
    if (!words || !copies) {
        free(words);
        free(copies);
        return message_no_memory();
    }
    char *bytes = (char *)(words + nbytes + 1);
    for (int i = 1; i < argc; i++) {
        copies[i - 1] = bytes;
        bytes = stpcpy(bytes, argv[i]) + 1;
    }
    copies[argc - 1] = NULL;
    const size_t nstores = command->bit & COMMAND_BITS       ? 2
                           : command->bit & COMMAND_ON_STORE ? 1
                                                             : 0;
    typed_set(command->called, words, note_words(command, words, copies), nstores);
    free(copies); /* NOLINT: words stay */
    return true;
}
