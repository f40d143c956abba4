/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"

#include "commands/cmd_edit.h"
#include "lines/files.h"
#include "print/message.h"

static bool check_command_line(const struct options *o)
{
    if (o->nfiles > 0) {
        message_error("%s: is it to be added or removed?", o->files[0]);
        message_hint("unseen update %s --add %s", o->store, o->files[0]);
        return false;
    }
    if (o->nedits == 0) {
        message_error("nothing to add or to remove");
        message_hint("unseen update %s --add FILE, or: --remove FILE", o->store);
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < o->nedits; i++) {
        n += files_is_standard_input(o->edits[i].name);
    }
    if (n > 1) {
        message_error("standard input can be read only once");
        message_hint("put what is to be removed in a file");
        return false;
    }
    return true;
}

int update_run(const struct options *o, enum unseen_cpu cpu)
{
    struct edit e;
    if (!check_command_line(o)) {
        return EXIT_TROUBLE;
    }
    bool good = edit_start(&e, o, cpu);
    for (size_t i = 0; i < o->nedits && good; i++) {
        const struct edit_file *file = &o->edits[i];
        /* what is wrong with others is said as well */
        good =
            edit_files(&e, &file->name, 1, file->removes ? UNSEEN_LIST_REMOVE : UNSEEN_LIST_ADD) ||
            e.complaints.n > 0;
    }
    return edit_finish(&e);
}
