/* SPDX-License-Identifier: MIT
 *
 * Completes the command line of a shell: offers commands, options and values from the tables. */
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "serve/protocol.h"

/* A text that is completed: what comes before it in the word is kept. */
struct completion {
    const char *word;  /* the whole word */
    const char *start; /* what is completed of it: word, or behind a '=' or ',' */
};

/* Prints a candidate if it begins as the text does: "WORD\tsentence". A sentence of several lines
 * becomes one. */
static void offer(const struct completion *c, const char *before, const char *candidate,
                  const char *sentence)
{
    char whole[128];
    const int len = snprintf(whole, sizeof(whole), "%s%s", before, candidate);
    if (len >= (int)sizeof(whole) || strncmp(whole, c->start, strlen(c->start)) != 0) {
        return;
    }
    printf("%.*s%s\t", (int)(c->start - c->word), c->word, whole);
    for (; *sentence; sentence++) {
        putchar(*sentence == '\n' ? ' ' : *sentence);
    }
    putchar('\n');
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void offer_entries(const struct completion *c, const char *before,
                          const struct unseen_url_entry *(*at)(size_t i))
{
    const struct unseen_url_entry *entry = NULL;
    for (size_t i = 0; (entry = at(i)); i++) {
        offer(c, before, entry->name, entry->sentence);
    }
}

static void offer_profiles(const struct completion *c)
{
    offer_entries(c, "", unseen_url_profile_at);
}

static void offer_rules(const struct completion *c)
{
    offer_entries(c, "", unseen_url_rule_at);
    if (strncmp(c->start, "no-", 3) == 0) {
        offer_entries(c, "no-", unseen_url_rule_at);
    }
}

static void offer_filters(const struct completion *c)
{
    const char *name = NULL;
    for (size_t i = 0; (name = unseen_filter_name(i)); i++) {
        offer(c, "", name, "");
    }
}

static void offer_protocols(const struct completion *c)
{
    const struct protocol *protocol = NULL;
    for (size_t i = 0; (protocol = protocol_at(i)); i++) {
        if (protocol->name) {
            offer(c, "", protocol->name, "");
        }
    }
}

static const struct {
    const char *option;
    void (*offer)(const struct completion *c);
} named_values[] = {
    {"profile", offer_profiles},
    {"rule", offer_rules},
    {"filter", offer_filters},
    {"protocol", offer_protocols},
};

static bool is_file(const char *value)
{
    static const char *const names[] = {"FILE", "STORE", "LIST", "OLD"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Prints what the value of an option can be. */
static void complete_value(struct completion *c, const struct option_row *row)
{
    puts(is_file(row->value) ? "files" : "words");
    for (size_t i = row->min; row->names && row->names[i]; i++) {
        offer(c, "", row->names[i], "");
    }
    const char *comma = strcmp(row->name, "rule") == 0 ? strrchr(c->start, ',') : NULL;
    c->start = comma ? comma + 1 : c->start;
    for (size_t i = 0; i < sizeof(named_values) / sizeof(named_values[0]); i++) {
        if (strcmp(named_values[i].option, row->name) == 0) {
            named_values[i].offer(c);
        }
    }
}

/* ---- Options and words ----------------------------------------------------------------------- */

/* The option whose value is the next word: --output, -o, or the o of -vo. NULL: none. */
static const struct option_row *waits_for_value(const struct command *command, const char *word)
{
    const struct option_row *row = NULL;
    if (strncmp(word, "--", 2) == 0) {
        row = option_row_find(command, word + 2, strlen(word + 2));
    } else if (word[0] == '-' && word[1]) {
        for (word++; *word; word++) {
            row = option_row_letter(command, *word);
            if (row && row->value) {
                break; /* all behind it is its value */
            }
        }
        row = *word && !word[1] ? row : NULL;
    }
    return row && row->value && row->value[0] != '[' ? row : NULL;
}

static void complete_option(const struct completion *c, const struct command *command)
{
    const struct option_row *row = NULL;
    puts("words");
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        if (row->name && (row->commands & command->bit)) {
            offer(c, "--", row->name, row->help);
        }
    }
}

static void offer_commands(const struct completion *c)
{
    const struct command *command = NULL;
    for (size_t i = 0; (command = command_at(i)); i++) {
        offer(c, "", command->name, command->summary);
    }
    offer(c, "", "help", help_summary);
}

static bool has_word(int nwords, char **words, const char *wanted)
{
    for (int i = 0; i < nwords; i++) {
        if (strcmp(words[i], wanted) == 0) {
            return true;
        }
    }
    return false;
}

static void complete_topic(const struct completion *c)
{
    const char *topic = NULL;
    puts("words");
    offer_commands(c);
    for (size_t i = 0; (topic = help_topic_at(i)); i++) {
        offer(c, "", topic, "");
    }
}

static void complete_verb(const struct completion *c)
{
    const char *verb = NULL;
    puts("words");
    for (size_t i = 0; (verb = bits_verb_at(i)); i++) {
        offer(c, "", verb, "");
    }
}

/* The word --NAME=TEXT, with its equals sign. */
static void complete_equals(struct completion *c, const struct command *command, const char *equals)
{
    const struct option_row *row =
        option_row_find(command, c->word + 2, (size_t)(equals - c->word - 2));
    c->start = equals + 1;
    if (row && row->value) {
        complete_value(c, row);
    }
}

/* The first word, which may be a command, or a word that only files can be. */
static void complete_file(const struct completion *c, bool is_first)
{
    puts("files");
    if (is_first) {
        offer_commands(c);
    }
}

int complete_run(int nwords, char **words)
{
    char empty[] = "";
    struct completion c = {.word = nwords > 0 ? words[nwords - 1] : empty};
    c.start = c.word;
    const struct command *command = nwords > 1 ? command_find(words[0]) : NULL;
    command = command ? command : command_at(0);
    const bool is_literal = nwords > 1 && has_word(nwords - 1, words, "--");
    const bool is_option = c.word[0] == '-' && !is_literal;
    const struct option_row *row =
        nwords > 1 && !is_literal ? waits_for_value(command, words[nwords - 2]) : NULL;
    const char *equals = is_option && c.word[1] == '-' ? strchr(c.word, '=') : NULL;
    if (row) {
        complete_value(&c, row);
    } else if (equals) {
        complete_equals(&c, command, equals);
    } else if (is_option) {
        complete_option(&c, command);
    } else if (nwords == 2 && strcmp(words[0], "help") == 0) {
        complete_topic(&c);
    } else if (nwords == 2 && command->bit == COMMAND_BITS) {
        complete_verb(&c);
    } else {
        complete_file(&c, nwords <= 1);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : EXIT_TROUBLE;
}
