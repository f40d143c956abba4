/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "options/options.h"
#include "print/message.h"
#include "print/suggest.h"
#include "seen/filter_words.h"

static const char help_line[] = "unseen help [COMMAND | profiles | rules | filters]";

/* Prints the usage line. The default command also names the other commands. */
static void print_usage(FILE *to, const struct command *command)
{
    const struct command *other = NULL;
    fprintf(to, "Usage: %s\n", command->usage);
    if (command != command_at(0)) {
        return;
    }
    for (size_t i = 1; (other = command_at(i)); i++) {
        fprintf(to, "       %s\n", other->usage);
    }
    fprintf(to, "       %s\n", help_line);
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

bool help_command(const struct command *command)
{
    print_usage(stdout, command);
    printf("\n%s", command->about);
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
    printf("\nExamples\n%s\n%s", command->examples, command->ending);
    return end_of_output();
}

bool help_version(void)
{
    printf("unseen %s\n", unseen_version());
    return end_of_output();
}

void help_usage(const struct command *command)
{
    print_usage(stderr, command);
    fprintf(stderr, "%sTry: %s\n", command->about, command->try_this);
}

/* ---- Topics ---------------------------------------------------------------------------------- */

static void print_entries(const struct unseen_url_entry *(*at)(size_t i))
{
    const struct unseen_url_entry *entry = NULL;
    for (size_t i = 0; (entry = at(i)); i++) {
        printf("  %-18s %s\n", entry->name, entry->sentence);
    }
}

static bool help_profiles(void)
{
    printf("What makes two URLs the same: unseen -p NAME\n\n");
    print_entries(unseen_url_profile_at);
    printf("\nA line that is no URL under the profile is compared byte by byte.\n"
           "unseen help rules lists what can be switched in a profile.\n");
    return end_of_output();
}

static bool help_rules(void)
{
    printf(
        "Rules on top of a profile: unseen --rule NAME, or --rule no-NAME to switch one off\n\n");
    print_entries(unseen_url_rule_at);
    printf("\nwhatwg, crawl and aggressive have all but those of scrapy; scrapy has its own and\n"
           "keep-fragment. unseen explain URL URL tries which of them makes two URLs the same.\n");
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

static int report_topic(const char *name)
{
    struct suggestion n = {.wanted = name};
    const struct command *command = NULL;
    for (size_t i = 0; (command = command_at(i)); i++) {
        suggest_try(&n, command->name);
    }
    for (size_t i = 0; i < NTOPICS; i++) {
        suggest_try(&n, topics[i].name);
    }
    message_error("no help on '%s'", name);
    message_hint("unseen help%s%s", n.best ? " " : "", n.best ? n.best : "");
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
    if (command || strcmp(name, "help") == 0) {
        return help_command(command ? command : command_at(0)) ? EXIT_DONE : EXIT_TROUBLE;
    }
    for (size_t i = 0; i < NTOPICS; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            return topics[i].print() ? EXIT_DONE : EXIT_TROUBLE;
        }
    }
    return report_topic(name);
}
