/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/store_health.h"
#include "print/message.h"
#include "print/output.h"
#include "seen/lists.h"
#include "seen/stores.h"

/* Each returns EXIT_DONE, EXIT_NONE for damage, EXIT_TROUBLE. */

static int verify_list(const char *path, const struct options *o, struct output *out)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_list *list = NULL;
    struct unseen_list_info info = {.size = sizeof(info)};
    const struct unseen_list_options options = {.size = sizeof(options),
                                                .access = UNSEEN_LIST_COLD};
    char line[300];
    char torn[100] = "";
    (void)o;
    error.status = unseen_list_open(&list, path, &options, &error);
    if (error.status == UNSEEN_OK) {
        (void)unseen_list_info(list, &info); /* fails for a wrong size only */
        error.status = unseen_list_verify(list, &error);
    }
    unseen_list_close(list);
    if (error.status != UNSEEN_OK) {
        lists_report(path, &error);
        return error.status == UNSEEN_ERR_CORRUPT ? EXIT_NONE : EXIT_TROUBLE;
    }
    if (info.torn_bytes > 0) {
        snprintf(torn, sizeof(torn), "; an unfinished change of %" PRIu64 " bytes at its end",
                 info.torn_bytes);
    }
    const int len = snprintf(line, sizeof(line),
                             ": good, %" PRIu64 " entries, %" PRIu64 " added, %" PRIu64
                             " removed, %" PRIu64 " allowed%s\n",
                             info.nkeys, info.nadded, info.nremoved, info.nallowed, torn);
    output_write(out, path, strlen(path));
    output_write(out, line, (size_t)len);
    return EXIT_DONE;
}

static int verify_store(const char *path, const struct options *o, struct output *out)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_store_verify(path, &health, health_report, NULL, &error);
    if (error.status != UNSEEN_OK && error.status != UNSEEN_ERR_CORRUPT) {
        stores_report(path, &o->seen, &error);
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
    for (size_t i = 0; i < o->input.nfiles; i++) {
        const char *path = o->input.files[i];
        const bool is_list = stores_kind_of(path) == STORES_LIST;
        const int status = (is_list ? verify_list : verify_store)(path, o, &out);
        (void)output_flush(&out); /* remembered in out */
        worst = status > worst ? status : worst;
    }
    return output_close(&out) ? worst : EXIT_TROUBLE;
}
