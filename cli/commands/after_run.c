/* SPDX-License-Identifier: MIT */
#include "commands/after_run.h"

#include <string.h>

#include "lines/files.h"
#include "print/message.h"

void after_run_unread(const struct options *o)
{
    const bool reads_one_file =
        o->input.nfiles == 1 && !o->input.none_named && !files_is_standard_input(o->input.files[0]);
    if (reads_one_file && !o->seen.path && o->seen.nexcludes == 0 &&
        files_wait_on_standard_input()) {
        message_hint("standard input was not read, because a file is named; its lines that %s "
                     "lacks: unseen -x %s -o %s --tee",
                     o->input.files[0], o->input.files[0], o->input.files[0]);
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
        message_hint("no line has a scheme, so no line is a URL; %s --rule default-scheme FILE "
                     "takes example.com for http://example.com",
                     o->command->called);
    }
    return url_watch_report(w, o->command->called, NULL);
}
