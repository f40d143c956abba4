/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"

#include "print/message.h"
#include "seen/stores.h"

int compact_run(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {
        .size = sizeof(options),
        .filter = o->filter,
        .fpr = o->fpr,
        .key_bits = o->key_bits,
        .capacity = o->capacity,
        .cpu = cpu,
    };
    if (o->nfiles > 1) {
        message_error("one store at a time");
        message_hint("unseen compact %s", o->files[0]);
        return EXIT_TROUBLE;
    }
    error.status = unseen_store_rewrite(o->files[0], &options, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(o->files[0], o, &error);
        return EXIT_TROUBLE;
    }
    return EXIT_DONE;
}
