/* SPDX-License-Identifier: MIT
 *
 * Prints the help from the tables of commands and of options. */
#include <stdio.h>
#include <string.h>

#include "lines/libraries.h"
#include "options/options.h"
#include "print/message.h"
#include "print/suggest.h"
#include "seen/filter_words.h"

enum {
    COLUMNS = 80
};

static void print_usage(FILE *to, const struct command *command)
{
    fprintf(to, "Usage: %s\n", command->usage);
    if (command->usage_too) {
        fprintf(to, "       %s\n", command->usage_too);
    }
}

const char help_summary[] = "explain a command; or the profiles, rules or filters there are";

static void print_commands(void)
{
    const struct command *command = NULL;
    printf("\nCommands\n");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf("  %-8s %s\n", command->name, command->summary);
    }
    printf("  %-8s %s\n", "help", help_summary);
}

static bool end_of_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        message_error("cannot write standard output");
        return false;
    }
    return true;
}

static void print_row(const struct option_row *row)
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

/* What the command reads, what else is to be said, and its exit statuses. */
static void print_ending(const struct command *command)
{
    const bool reads_files = command->bit & (COMMAND_READERS | COMMAND_BITS);
    if (reads_files) {
        printf("With no FILE, or when FILE is -, read standard input. gzip, zstd, xz,\n"
               "bzip2 and UTF-16 are read as well.");
    }
    if (reads_files || command->ending) {
        printf("%s\n", command->ending ? command->ending : "");
    }
    printf("Exit status: %s.\n", command->statuses ? command->statuses : "0 done, 2 trouble");
}

bool help_command(const struct command *command)
{
    print_usage(stdout, command);
    printf("\n%s", command->about);
    if (command == command_at(0)) {
        print_commands();
    }
    const char *group = NULL;
    const struct option_row *row = NULL;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        group = row->group ? row->group : group;
        if (!(row->commands & command->bit)) {
            continue;
        }
        if (group) {
            printf("\n%s\n", group);
            group = NULL;
        }
        print_row(row);
    }
    printf("\nExamples\n%s\n", command->examples);
    print_ending(command);
    return end_of_output();
}

/* Prints the options that the command names. */
static void print_brief(const struct command *command)
{
    for (const char *name = command->brief; *name;) {
        const size_t len = strcspn(name, " ");
        print_row(option_row_find(command, name, len));
        name += len + strspn(name + len, " ");
    }
}

bool help_short(const struct command *command)
{
    const bool lists_commands = command == command_at(0);
    print_usage(stdout, command);
    printf("\n%s", command->about);
    if (lists_commands) {
        print_commands();
    }
    if (command->brief) {
        printf("\nSome options\n");
        print_brief(command);
    }
    if (lists_commands) {
        printf("\nAll options, and examples: unseen --help. Of a command: unseen COMMAND --help\n");
    } else {
        printf("\nExamples\n%s\nAll options: %s --help, man unseen-%s\n", command->examples,
               command->called, command->name);
    }
    return end_of_output();
}

bool help_version(void)
{
    printf("unseen %s\n", unseen_version());
    cpu_print();
    libraries_print();
    return end_of_output();
}

/* The first example that begins with the command, without what is said about it. */
static void print_example(const struct command *command)
{
    const char *example = command->examples + strlen("  ");
    while (strncmp(example, command->called, strlen(command->called)) != 0) {
        example = strchr(example, '\n') + strlen("\n  ");
    }
    const size_t len = strcspn(example, "\n");
    const char *comment = strstr(example, "   ");
    const bool has_comment = comment && comment < example + len;
    fprintf(stderr, "%.*s", has_comment ? (int)(comment - example) : (int)len, example);
}

void help_usage(const struct command *command)
{
    print_usage(stderr, command);
    fprintf(stderr, "%sTry: ", command->about);
    print_example(command);
    fprintf(stderr, ", or: %s --help\n", command->called);
}

/* ---- Topics ---------------------------------------------------------------------------------- */

/* Prints a sentence behind a name, in as many lines as it takes. */
static void print_sentence(const char *name, const char *sentence)
{
    enum {
        INDENT = 21
    };
    int column = printf("  %-18s", name);
    for (const char *word = sentence; *word;) {
        const size_t len = strcspn(word, " ");
        if (column + 1 + (int)len > COLUMNS) {
            column = printf("\n%*s", INDENT - 1, "") - 1;
        }
        column += printf(" %.*s", (int)len, word);
        word += len + strspn(word + len, " ");
    }
    printf("\n");
}

static void print_entries(const struct unseen_url_entry *(*at)(size_t i))
{
    const struct unseen_url_entry *entry = NULL;
    for (size_t i = 0; (entry = at(i)); i++) {
        print_sentence(entry->name, entry->sentence);
    }
}

static bool help_profiles(void)
{
    printf("A profile says which URLs are the same. NAME/1 is its version: the answers of a\n"
           "version never change.\n\n");
    print_entries(unseen_url_profile_at);
    printf("\nIf a line is not a URL under the profile, its bytes are compared.\n"
           "unseen help rules lists the rules that can be switched on and off.\n");
    return end_of_output();
}

static bool help_rules(void)
{
    printf("Rules on top of a profile: unseen --rule NAME, or --rule no-NAME to switch one\n"
           "off.\n\n");
    print_entries(unseen_url_rule_at);
    printf("\nThe profiles whatwg, crawl and aggressive have all these rules but those of\n"
           "scrapy; scrapy has its own and keep-fragment. unseen explain URL URL says which\n"
           "rules would make two URLs the same.\n");
    return end_of_output();
}

static bool help_filters(void)
{
    filters_help();
    return end_of_output();
}

static const struct {
    const char *name;
    bool (*print)(void);
} topics[] = {
    {"profiles", help_profiles},
    {"rules", help_rules},
    {"filters", help_filters},
};

enum {
    NTOPICS = sizeof(topics) / sizeof(topics[0])
};

const char *help_topic_at(size_t i)
{
    return i < NTOPICS ? topics[i].name : NULL;
}

static int report_topic(const char *name)
{
    struct suggestion n = {.wanted = name};
    for (size_t i = 0; i < NTOPICS; i++) {
        suggest_try(&n, topics[i].name);
    }
    const struct command *command = unknown_command_like(name);
    const char *best = n.best || !command ? n.best : command->name;
    message_error("no help on '%s'", name);
    message_hint("unseen help%s%s", best ? " " : "", best ? best : "");
    return EXIT_TROUBLE;
}

int help_run(int argc, char **argv)
{
    if (argc > 2) {
        message_error("help takes one topic");
        message_hint("unseen help %s", argv[1]);
        return EXIT_TROUBLE;
    }
    const char *name = argc == 2 ? argv[1] : command_at(0)->name;
    const struct command *command = command_find(name);
    if (command || strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
        strcmp(name, "-h") == 0) {
        return help_command(command ? command : command_at(0)) ? EXIT_DONE : EXIT_TROUBLE;
    }
    for (size_t i = 0; i < NTOPICS; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            return topics[i].print() ? EXIT_DONE : EXIT_TROUBLE;
        }
    }
    return report_topic(name);
}
