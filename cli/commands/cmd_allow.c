/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"

#include "commands/cmd_edit.h"
#include "lines/files.h"
#include "seen/lists.h"
#include "print/message.h"
#include "print/output.h"

struct listing {
    struct output out;
    char delimiter;
};

static bool put(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct listing *l = context;
    if (change == UNSEEN_LIST_ALLOW) {
        output_write(&l->out, text.data, text.len);
        output_write(&l->out, &l->delimiter, 1);
    }
    return !l->out.failed;
}

static int print_allowed(const struct options *o, enum unseen_cpu cpu)
{
    struct listing l = {.delimiter = o->delimiter};
    struct opened_list list;
    if (o->undo || o->nfiles > 0) {
        message_error("--list changes nothing, so it takes no lines");
        message_hint("unseen allow --list %s", o->store);
        return EXIT_TROUBLE;
    }
    if (!lists_open(&list, o->store, UNSEEN_LIST_COLD, cpu)) {
        return EXIT_TROUBLE;
    }
    int status = EXIT_TROUBLE;
    if (output_open(&l.out, NULL)) {
        unseen_list_changes(list.list, put, &l);
        status = output_close(&l.out) ? EXIT_DONE : EXIT_TROUBLE;
    }
    lists_close(&list);
    return status;
}

int allow_run(const struct options *o, enum unseen_cpu cpu)
{
    struct edit e;
    const char *const *names = o->files;
    size_t n = o->nfiles;
    if (o->lists_allowed) {
        return print_allowed(o, cpu);
    }
    files_default(&names, &n);
    if (edit_start(&e, o, cpu)) {
        (void)edit_files(&e, names, n, o->undo ? UNSEEN_LIST_DISALLOW : UNSEEN_LIST_ALLOW);
    }
    return edit_finish(&e);
}
