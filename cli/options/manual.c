/* SPDX-License-Identifier: MIT
 *
 * The parts of a manual page that stand in the tables of commands and of options, in the language
 * mdoc(7). The pages in docs/man have a line in place of each part:
 *
 *     .\" OPTIONS check add      all options of these commands, in groups
 *     .\" COMMANDS               the commands, with what each does */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "characters.h"
#include "options/options.h"
#include "print/message.h"

enum {
    COLUMNS = 80
};

/* ---- Text ------------------------------------------------------------------------------------ */

/* A word in front of which macros may stand, such as "(--file)," or "`squid`". */
struct word {
    const char *start; /* without punctuation */
    size_t len;
    const char *end; /* with it */
    bool in_parenthesis;
};

static bool is_punctuation(char c)
{
    return c != '\0' && strchr(".,:;)", c);
}

/* The word at `text`; what stands between backticks is one word. */
static struct word word_at(const char *text)
{
    struct word w = {.start = text, .in_parenthesis = text[0] == '(' && text[1] != ' '};
    w.start += w.in_parenthesis;
    const char *quoted = *w.start == '`' ? strchr(w.start + 1, '`') : NULL;
    w.end = (quoted ? quoted : w.start) + strcspn(quoted ? quoted : w.start, " ");
    const char *last = w.end;
    while (last > w.start + 1 && is_punctuation(last[-1])) {
        last--;
    }
    /* the parenthesis of a page, such as unseen(1), is part of the word */
    if (*last == ')' && last - w.start > 2 && is_digit(last[-1]) && last[-2] == '(') {
        last++;
    }
    w.len = (size_t)(last - w.start);
    return w;
}

/* True if the word is one of the names in capitals of `values`, such as "[=SECONDS]". */
static bool is_value(const char *values, const struct word *w)
{
    for (const char *v = values; v && *v;) {
        const size_t len = strspn(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (len > 0 && len == w->len && memcmp(v, w->start, len) == 0) {
            return true;
        }
        v += len + (v[len] != '\0');
    }
    return false;
}

/* The macro that a word gets, or NULL. It stands for the first `*skip` and the last `*cut` bytes of
 * the word. */
static const char *macro_of(const struct word *w, const struct option_row *row, size_t *skip,
                            size_t *cut)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    const char *s = w->start;
    *skip = *cut = 0;
    if (s[0] == '`') {
        *skip = *cut = 1;
        return strspn(s + 1, letters) == w->len - 2 ? "Cm" : "Ql";
    }
    if (s[0] == '-' && s[1] == '-' && w->len > 2) {
        *skip = 2;
        return "Fl Fl";
    }
    if (s[0] == '-' && w->len == 2 && isalnum((unsigned char)s[1])) {
        *skip = 1;
        return "Fl";
    }
    if (w->len > 3 && s[w->len - 1] == ')' && strspn(s, letters) == w->len - 3) {
        return "Xr";
    }
    return is_value(row->value, w) || is_value("STORE LIST FILE KEY BITMAP OLD NEW", w) ? "Ar"
                                                                                        : NULL;
}

static void put_bytes(const char *text, size_t len, bool small)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\') {
            fputs("\\e", stdout);
        } else {
            putchar(small ? tolower((unsigned char)text[i]) : text[i]);
        }
    }
}

/* A line with a macro. Punctuation around the word is not part of what the macro marks. */
static void put_macro(const char *macro, const struct word *w, size_t skip, size_t cut)
{
    const bool is_page = strcmp(macro, "Xr") == 0;
    const size_t len = is_page ? w->len - 3 : w->len - skip - cut;
    printf(".%s ", macro);
    if (w->in_parenthesis) {
        printf("( ");
    }
    put_bytes(w->start + skip, len, strcmp(macro, "Ar") == 0);
    if (is_page) {
        printf(" %c", w->start[w->len - 2]);
    }
    for (const char *c = w->start + w->len; c < w->end; c++) {
        printf(" %c", *c);
    }
    putchar('\n');
}

/* Puts sentences, and ends the line. */
static void put_text(const char *text, const struct option_row *row)
{
    size_t column = 0;
    bool ends = false; /* the sentence: the next one begins on a line of its own */
    for (struct word w; *text; text = w.end + strspn(w.end, " ")) {
        size_t skip = 0;
        size_t cut = 0;
        w = word_at(text);
        const char *macro = macro_of(&w, row, &skip, &cut);
        const size_t len = (size_t)(w.end - text);
        const bool new_line = macro || ends || column + 1 + len > COLUMNS;
        if (column > 0) {
            putchar(new_line ? '\n' : ' ');
            column = new_line ? 0 : column + 1;
        }
        ends = w.end[-1] == '.';
        if (macro) {
            put_macro(macro, &w, skip, cut);
            continue;
        }
        if (column == 0 && (text[0] == '.' || text[0] == '\'')) {
            fputs("\\&", stdout);
        }
        put_bytes(text, len, false);
        column += len;
    }
    if (column > 0) {
        putchar('\n');
    }
}

/* ---- Options --------------------------------------------------------------------------------- */

/* The line of the help as a sentence. */
static void put_help(const struct option_row *row)
{
    char sentence[512] = "";
    size_t len = 0;
    for (const char *c = row->help; *c && len < sizeof(sentence) - 2; c++) {
        sentence[len++] = *c == '\n' ? ' ' : *c;
    }
    sentence[0] = (char)toupper((unsigned char)sentence[0]);
    memcpy(sentence + len, ".", 2);
    put_text(sentence, row);
}

static void put_option(const struct option_row *row, unsigned commands)
{
    printf(".It ");
    if (row->letter) {
        printf("Fl %c , ", row->letter);
    }
    printf("Fl Fl %s", row->name);
    if (row->value) {
        const bool optional = row->value[0] == '[';
        const char *value = row->value + (optional ? strlen("[=") : 0);
        printf(optional ? " Ns Op = Ns Ar " : " Ar ");
        put_bytes(value, strcspn(value, "]"), true);
    }
    putchar('\n');
    const struct command *command = NULL;
    const char *before = ".Cm";
    for (size_t i = 0; (row->commands & commands) != commands && (command = command_at(i)); i++) {
        if (row->commands & commands & command->bit) {
            printf("%s %s", before, command->name);
            before = " ,";
        }
    }
    fputs(before[0] == ' ' ? " :\n" : "", stdout);
    put_help(row);
    if (row->more) {
        put_text(row->more, row);
    }
}

static void put_options(unsigned commands)
{
    const char *group = NULL;
    const struct option_row *row = NULL;
    bool in_list = false;
    for (size_t i = 0; (row = option_row_at(i)); i++) {
        group = row->group ? row->group : group;
        if (!(row->commands & commands)) {
            continue;
        }
        if (group) {
            printf("%s.Ss %s\n.Bl -tag -width Ds\n", in_list ? ".El\n" : "", group);
            in_list = true;
            group = NULL;
        }
        put_option(row, commands);
    }
    puts(".El");
}

static void put_commands(void)
{
    const struct command *command = NULL;
    puts(".Bl -tag -width explain");
    for (size_t i = 0; (command = command_at(i)); i++) {
        printf(".It Cm %s\n%s\n", command->name, command->summary);
    }
    printf(".It Cm help\n%s\n.El\n", help_summary);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The commands that a line names; 0 if one of them does not exist. */
static unsigned commands_in(char *names)
{
    unsigned commands = 0;
    char *rest = NULL;
    for (char *name = strtok_r(names, " \n", &rest); name; name = strtok_r(NULL, " \n", &rest)) {
        const struct command *command = command_find(name);
        if (!command) {
            return 0;
        }
        commands |= command->bit;
    }
    return commands;
}

int manual_run(const char *path)
{
    static const char options[] = ".\\\" OPTIONS ";
    static const char commands[] = ".\\\" COMMANDS\n";
    char line[512];
    unsigned shown = COMMAND_ALL;
    FILE *page = fopen(path, "r");
    while (page && shown && fgets(line, sizeof(line), page)) {
        if (strncmp(line, options, sizeof(options) - 1) == 0) {
            shown = commands_in(line + sizeof(options) - 1);
            put_options(shown);
        } else if (strcmp(line, commands) == 0) {
            put_commands();
        } else {
            fputs(line, stdout);
        }
    }
    errno = shown ? errno : EINVAL;
    const bool ok = page && shown && !ferror(page) && fflush(stdout) == 0 && !ferror(stdout);
    if (!ok) {
        message_error("cannot print %s: %s", path, strerror(errno));
    }
    if (page) {
        fclose(page); /* was only read */
    }
    return ok ? EXIT_DONE : EXIT_TROUBLE;
}
