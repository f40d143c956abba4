/* SPDX-License-Identifier: MIT */
#include "commands/after_run.h"

#include <string.h>

#include "lines/files.h"
#include "print/message.h"
#include "print/typed.h"

void after_run_unread(const struct options *o)
{
    const bool reads_one_file =
        o->input.nfiles == 1 && !o->input.none_named && !files_is_standard_input(o->input.files[0]);
    if (reads_one_file && !o->seen.path && o->seen.nexcludes == 0 &&
        files_wait_on_standard_input()) {
        const char *name = typed_quoted(o->input.files[0]);
        message_hint("standard input was not read, because a file is named; its lines that %s "
                     "lacks: unseen -x %s -o %s --tee",
                     o->input.files[0], name, name);
    }
}

bool after_run_urls(const struct url_watch *w, const struct options *o, const char *profile)
{
    static const char *const profiles[] = {"crawl/", "whatwg/", "aggressive/"};
    bool has_rule = false;
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        has_rule = has_rule || strncmp(profile, profiles[i], strlen(profiles[i])) == 0;
    }
    if (has_rule && !w->matters && !w->has_url && w->look == LOOK_HOST) {
        message_hint("no line has a scheme, so no line is a URL; to take example.com for "
                     "http://example.com: %s",
                     typed_with("--rule default-scheme"));
    }
    return url_watch_report(w, o->command->called, NULL);
}
