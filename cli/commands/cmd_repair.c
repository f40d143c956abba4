/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/store_health.h"
#include "print/message.h"
#include "print/output.h"
#include "seen/stores.h"

static void put_result(struct output *out, const char *path, const struct unseen_store_health *h)
{
    char text[300];
    health_put(out, path, h);
    if (h->ndamages == 0) {
        return;
    }
    const int len =
        snprintf(text, sizeof(text),
                 ": usable again; kept what %" PRIu64 " intact commits say, forgot %" PRIu64
                 " bytes of damaged ones, whose lines will be new again\n",
                 h->nrecords, h->lost_bytes);
    output_write(out, path, strlen(path));
    output_write(out, text, (size_t)len);
    if (h->is_rewritten) {
        const char *where = ".damaged is the store as it was\n";
        output_write(out, path, strlen(path));
        output_write(out, where, strlen(where));
    }
}

int repair_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    const char *path = o->input.files[0];
    (void)cpu;
    if (o->input.nfiles > 1) {
        message_error("one store at a time");
        message_hint("unseen repair %s", path);
        return EXIT_TROUBLE;
    }
    error.status = unseen_store_repair(path, &health, health_report, NULL, &error);
    if (error.status == UNSEEN_ERR_CORRUPT) {
        /* The usual hint, to repair it, has just been taken. */
        message_error("%s", error.text);
        message_hint("its URLs have to be added to a new one: unseen add NEW.unseen FILE");
        return EXIT_TROUBLE;
    }
    if (error.status != UNSEEN_OK) {
        stores_report(path, &o->seen, &error);
        return EXIT_TROUBLE;
    }
    if (!output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    put_result(&out, path, &health);
    return output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
}
