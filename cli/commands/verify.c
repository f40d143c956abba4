/* SPDX-License-Identifier: MIT */
#include "commands/verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "commands/health.h"
#include "print/message.h"
#include "print/output.h"
#include "memory/stores.h"

/* EXIT_DONE, EXIT_NONE for damage, EXIT_TROUBLE. */
static int verify_one(const char *path, const struct options *o, struct output *out)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_store_verify(path, &health, health_report, NULL, &error);
    if (error.status != UNSEEN_OK && error.status != UNSEEN_ERR_CORRUPT) {
        stores_report(path, o, &error);
        return EXIT_TROUBLE;
    }
    health_put(out, path, &health);
    if (error.status == UNSEEN_OK) {
        return EXIT_DONE;
    }
    if (health.ndamages == 0) {
        message_error("%s", error.text);
    }
    message_hint("unseen repair %s", path);
    return EXIT_NONE;
}

int verify_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    int worst = EXIT_DONE;
    (void)cpu;
    if (!output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < o->nfiles; i++) {
        const int status = verify_one(o->files[i], o, &out);
        (void)output_flush(&out); /* remembered in out */
        worst = status > worst ? status : worst;
    }
    return output_close(&out) ? worst : EXIT_TROUBLE;
}
