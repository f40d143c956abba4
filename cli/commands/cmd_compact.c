/* SPDX-License-Identifier: MIT */
#include "commands/commands.h"
#include "print/message.h"
#include "seen/stores.h"

int compact_run(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {
        .size = sizeof(options),
        .filter = o->seen.filter,
        .fpr = o->seen.fpr,
        .key_bits = o->seen.key_bits,
        .capacity = o->seen.capacity,
        .cpu = cpu,
    };
    if (o->input.nfiles > 1) {
        message_error("one store at a time");
        message_hint("unseen compact %s", o->input.files[0]);
        return EXIT_TROUBLE;
    }
    error.status = unseen_store_rewrite(o->input.files[0], &options, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(o->input.files[0], &o->seen, &error);
        return EXIT_TROUBLE;
    }
    return EXIT_DONE;
}
