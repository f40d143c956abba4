/* SPDX-License-Identifier: MIT */
#include "commands/after_run.h"

#include <string.h>

#include "characters.h"
#include "lines/files.h"
#include "print/message.h"

void after_run_unread(const struct options *o)
{
    const bool reads_one_file =
        o->input.nfiles == 1 && !o->input.none_named && !files_is_standard_input(o->input.files[0]);
    if (reads_one_file && !o->seen.path && o->seen.nexcludes == 0 &&
        files_wait_on_standard_input()) {
        message_hint("standard input was not read, because a file is named; its lines that %s "
                     "lacks: unseen -x %s | tee -a %s",
                     o->input.files[0], o->input.files[0], o->input.files[0]);
    }
}

static bool is_of_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
}

/* True for www.e.com and e.com/a, but not for 10.5, a@e.com or words with blanks. */
static bool is_host(struct unseen_bytes line)
{
    size_t end = 0;
    size_t dots = 0;
    while (end < line.len && is_of_name(line.data[end])) {
        dots += line.data[end++] == '.';
    }
    return dots > 0 && line.data[0] != '.' && is_letter(line.data[end - 1]) &&
           (end == line.len || strchr("/?#\r", line.data[end]));
}

void after_run_look(struct first_failed *first, const struct batch *b)
{
    for (size_t i = 0; i < b->n && !first->has_come; i++) {
        if (b->forms[i] == UNSEEN_URL_FAILED) {
            first->has_come = true;
            first->is_host = is_host(b->lines[i]);
        }
    }
}

void after_run_schemes(const struct first_failed *first, const struct report *r,
                       const struct options *o, const struct unseen_set_stats *stats,
                       const char *profile)
{
    static const char *const profiles[] = {"crawl/", "whatwg/", "aggressive/"};
    bool has_rule = false;
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        has_rule = has_rule || strncmp(profile, profiles[i], strlen(profiles[i])) == 0;
    }
    const bool is_made = !o->seen.path || stats->nkeys == r->nnew;
    if (has_rule && is_made && first->is_host && r->nfailed == r->nnew + r->nseen) {
        message_hint("no line has a scheme, so no line is a URL; %s%s --rule default-scheme FILE "
                     "takes example.com for http://example.com",
                     o->command->called,
                     !o->seen.path             ? ""
                     : o->seen.use->prints_new ? " -s NEW.unseen"
                                               : " NEW.unseen");
    }
}
