/* SPDX-License-Identifier: MIT
 *
 * `unseen verify`, `repair` and `compact`: check a store, mend it, write it anew. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <unseen_list.h>

#include "commands/commands.h"
#include "print/message.h"
#include "print/output.h"
#include "seen/lists.h"
#include "seen/stores.h"

static bool is_single(const struct options *o)
{
    if (o->input.nfiles > 1) {
        message_error("one store at a time");
        message_hint("%s %s", o->command->called, o->input.files[0]);
    }
    return o->input.nfiles == 1;
}

/* Prints a message for each damage. */
static void report_damage(void *context, const struct unseen_error *damage)
{
    (void)context;
    message_error("%s", damage->text);
}

/* Prints the findings of unseen_store_verify. */
static void put_health(struct output *out, const char *path, const struct unseen_store_health *h)
{
    output_print(out,
                 "%s: %s, %" PRIu64 " added and %" PRIu64 " removed in %" PRIu64
                 " intact commits, %" PRIu64 " damages, %" PRIu64 " bytes lost",
                 path, h->ndamages > 0 ? "damaged" : "good", h->nadded, h->nremoved, h->nrecords,
                 h->ndamages, h->lost_bytes);
    if (h->torn_bytes > 0) {
        output_print(out, "; an unfinished commit of %" PRIu64 " bytes at its end", h->torn_bytes);
    }
    output_write(out, "\n", 1);
}

/* ---- unseen verify --------------------------------------------------------------------------- */

/* Each returns EXIT_DONE, EXIT_NONE for damage, EXIT_TROUBLE. */

static int verify_list(const char *path, const struct options *o, struct output *out)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_list *list = NULL;
    struct unseen_list_info info = {.size = sizeof(info)};
    const struct unseen_list_options options = {.size = sizeof(options), .access = UNSEEN_LIST_MAP};
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
    output_print(out,
                 "%s: good, %" PRIu64 " entries, %" PRIu64 " added, %" PRIu64 " removed, %" PRIu64
                 " allowed",
                 path, info.nkeys, info.nadded, info.nremoved, info.nallowed);
    if (info.torn_bytes > 0) {
        output_print(out, "; an unfinished change of %" PRIu64 " bytes at its end",
                     info.torn_bytes);
    }
    output_write(out, "\n", 1);
    return EXIT_DONE;
}

static int verify_store(const char *path, const struct options *o, struct output *out)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = unseen_store_verify(path, &health, report_damage, NULL, &error);
    if (error.status != UNSEEN_OK && error.status != UNSEEN_ERR_CORRUPT) {
        stores_report(path, &o->seen, &error);
        return EXIT_TROUBLE;
    }
    put_health(out, path, &health);
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

/* ---- unseen repair --------------------------------------------------------------------------- */

static void put_result(struct output *out, const char *path, const struct unseen_store_health *h)
{
    put_health(out, path, h);
    if (h->ndamages > 0) {
        output_print(out,
                     "%s: usable again; kept what %" PRIu64 " intact commits say, forgot %" PRIu64
                     " bytes of damaged ones, whose lines will be new again\n",
                     path, h->nrecords, h->lost_bytes);
    }
    if (h->ndamages > 0 && h->is_rewritten) {
        output_print(out, "%s.damaged is the store as it was\n", path);
    }
}

int repair_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    const char *path = o->input.files[0];
    (void)cpu;
    if (!is_single(o)) {
        return EXIT_TROUBLE;
    }
    error.status = unseen_store_repair(path, &health, report_damage, NULL, &error);
    if (error.status == UNSEEN_ERR_CORRUPT) {
        /* The usual hint, `unseen repair`, is no use here. */
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

/* ---- unseen compact -------------------------------------------------------------------------- */

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
    if (!is_single(o)) {
        return EXIT_TROUBLE;
    }
    error.status = unseen_store_rewrite(o->input.files[0], &options, &error);
    if (error.status != UNSEEN_OK) {
        stores_report(o->input.files[0], &o->seen, &error);
    }
    return error.status == UNSEEN_OK ? EXIT_DONE : EXIT_TROUBLE;
}
