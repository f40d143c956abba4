/* SPDX-License-Identifier: MIT
 *
 * `unseen verify`, `repair` and `rewrite`: check a store, mend it, write it anew. */
#include <inttypes.h>
#include <stdio.h>

#include <unseen_list.h>

#include "clock.h"
#include "commands/commands.h"
#include "print/json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/typed.h"
#include "seen/beyond.h"
#include "seen/bitmaps.h"
#include "seen/filter_words.h"
#include "seen/foreign_filters.h"
#include "seen/lease_health.h"
#include "seen/lists.h"
#include "seen/stores.h"

static bool is_single(const struct options *o)
{
    if (o->input.nfiles > 1) {
        message_error("one store at a time");
        message_hint("%s %s", typed_piped(NULL), typed_quoted(o->input.files[0]));
    }
    return o->input.nfiles == 1;
}

/* What is printed about a store or a list. With --json it is an object: its errors come first,
 * because they are found first. */
struct finding {
    struct output *out;
    bool json;
    uint64_t nerrors;
    uint64_t nreported;
};

static struct finding finding_start(struct output *out, const struct options *o, const char *what,
                                    const char *path)
{
    if (o->print.json) {
        output_print(out, "{\"%s\":", what);
        json_write_text(out, path);
        json_write(out, ",\"errors\":[");
    }
    return (struct finding){.out = out, .json = o->print.json};
}

static void finding_error(struct finding *f, const char *text)
{
    if (f->json) {
        json_write(f->out, f->nerrors++ > 0 ? "," : "");
        json_write_text(f->out, text);
    }
}

/* `good` is true, false or null (it could not be read). */
static void finding_good(struct finding *f, const char *good)
{
    if (f->json) {
        output_print(f->out, "],\"good\":%s", good);
    }
}

static void finding_end(struct finding *f)
{
    if (f->json) {
        json_write(f->out, "}\n");
    }
}

/* Prints a message for each damage. */
static void report_damage(void *context, const struct unseen_error *damage)
{
    struct finding *f = context;
    message_error("%s", damage->text);
    finding_error(f, damage->text);
    f->nreported++;
}

/* Prints the findings of unseen_store_verify. */
static void put_health(struct finding *f, const char *path, const struct unseen_store_health *h)
{
    if (f->json) {
        finding_good(f, h->ndamages > 0 || f->nerrors > 0 ? "false" : "true");
        output_print(f->out,
                     ",\"added\":%" PRIu64 ",\"removed\":%" PRIu64 ",\"commits\":%" PRIu64
                     ",\"damages\":%" PRIu64 ",\"lost_bytes\":%" PRIu64 ",\"torn_bytes\":%" PRIu64,
                     h->nadded, h->nremoved, h->nrecords, h->ndamages, h->lost_bytes,
                     h->torn_bytes);
        return;
    }
    output_print(f->out,
                 "%s: %s, %" PRIu64 " added and %" PRIu64 " removed, intact commits: %" PRIu64,
                 path, h->ndamages > 0 ? "damaged" : "good", h->nadded, h->nremoved, h->nrecords);
    if (h->ndamages > 0) {
        output_print(f->out, ", damaged places: %" PRIu64 ", bytes lost: %" PRIu64, h->ndamages,
                     h->lost_bytes);
    }
    if (h->torn_bytes > 0) {
        output_print(f->out,
                     "; an unfinished commit of %" PRIu64
                     " bytes at its end, as a crash or a change of the last bytes leaves it",
                     h->torn_bytes);
    }
    json_write(f->out, "\n");
}

/* Prints the counts of a list that is good. */
static void health_put_list(struct finding *f, const char *path,
                            const struct unseen_list_info *info)
{
    if (f->json) {
        finding_good(f, "true");
        output_print(f->out,
                     ",\"entries\":%" PRIu64 ",\"added\":%" PRIu64 ",\"removed\":%" PRIu64
                     ",\"allowed\":%" PRIu64 ",\"torn_bytes\":%" PRIu64,
                     info->nkeys, info->nadded, info->nremoved, info->nallowed, info->torn_bytes);
        return;
    }
    output_print(f->out,
                 "%s: good, %" PRIu64 " entries, %" PRIu64 " added, %" PRIu64 " removed, %" PRIu64
                 " allowed",
                 path, info->nkeys, info->nadded, info->nremoved, info->nallowed);
    if (info->torn_bytes > 0) {
        output_print(f->out, "; an unfinished change of %" PRIu64 " bytes at its end",
                     info->torn_bytes);
    }
    json_write(f->out, "\n");
}

/* ---- unseen verify --------------------------------------------------------------------------- */

/* Each returns EXIT_DONE, or EXIT_NONE for damage, or EXIT_TROUBLE if the file cannot be read. */

/* Prints the finding about a file whose reader has compared all of its checksums; `more` follows
 * the word good. The caller has reported an error. */
static int put_read(struct finding *f, const char *path, const struct unseen_error *error,
                    const char *more)
{
    const bool is_damaged = error->status == UNSEEN_ERR_CORRUPT;
    if (error->status != UNSEEN_OK) {
        finding_error(f, message_of(error));
        finding_good(f, is_damaged ? "false" : "null");
        finding_end(f);
        return is_damaged ? EXIT_NONE : EXIT_TROUBLE;
    }
    finding_good(f, "true");
    if (!f->json) {
        output_print(f->out, "%s: good%s\n", path, more);
    }
    finding_end(f);
    return EXIT_DONE;
}

static int verify_list(const char *path, const struct options *o, struct output *out)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    struct unseen_list *list = NULL;
    struct unseen_list_info info = {.size = 0};
    const struct unseen_list_options options = {.size = sizeof(options), .access = UNSEEN_LIST_MAP};
    error.status = unseen_list_open(&list, path, &options, &error);
    if (error.status == UNSEEN_OK) {
        info = lists_info(list);
        error.status = unseen_list_verify(list, &error);
    }
    unseen_list_close(list);
    struct finding f = finding_start(out, o, "list", path);
    if (error.status != UNSEEN_OK) {
        lists_report(path, &error);
        return put_read(&f, path, &error, "");
    }
    health_put_list(&f, path, &info);
    finding_end(&f);
    return EXIT_DONE;
}

static int verify_store(const char *path, const struct options *o, struct output *out)
{
    struct unseen_store_health health = {.size = sizeof(health), .memory = o->seen.memory};
    struct unseen_error error = {.status = UNSEEN_OK};
    struct finding f = finding_start(out, o, "store", path);
    error.status = unseen_store_verify(path, &health, report_damage, &f, &error);
    if (error.status != UNSEEN_OK && error.status != UNSEEN_ERR_CORRUPT) {
        stores_report(path, &o->seen, &error);
        finding_error(&f, message_of(&error));
        finding_good(&f, "null");
        finding_end(&f);
        return EXIT_TROUBLE;
    }
    if (error.status != UNSEEN_OK && health.ndamages == 0) {
        finding_error(&f, message_of(&error));
    }
    const uint64_t nreported = f.nreported;
    const bool was_read = lease_health_verify(path, health.note, report_damage, &f);
    const bool has_leases_damaged = f.nreported > nreported;
    health.ndamages += f.nreported - nreported;
    put_health(&f, path, &health);
    finding_end(&f);
    if (error.status == UNSEEN_OK && !has_leases_damaged) {
        return was_read ? EXIT_DONE : EXIT_TROUBLE;
    }
    if (error.status != UNSEEN_OK && health.ndamages == 0) {
        message_error("%s", error.text);
    }
    message_hint("unseen repair %s", typed_quoted(path));
    return EXIT_NONE;
}

static int verify_foreign(const char *path, const struct options *o, struct output *out)
{
    struct unseen_foreign *filter = NULL;
    struct unseen_error error;
    struct finding f = finding_start(out, o, "foreign", path);
    error.status = unseen_foreign_open(&filter, path, NULL, &error);
    unseen_foreign_free(filter);
    if (error.status != UNSEEN_OK) {
        foreign_report(path, &error);
    }
    return put_read(&f, path, &error, "");
}

static int verify_bitmap(const char *path, const struct options *o, struct output *out)
{
    struct unseen_bitmap *bitmap = NULL;
    struct unseen_error error;
    char more[48] = "";
    struct finding f = finding_start(out, o, "bitmap", path);
    error.status = unseen_bitmap_open(&bitmap, path, UNSEEN_BITMAP_READ, NULL, &error);
    if (error.status == UNSEEN_OK) {
        snprintf(more, sizeof(more), ", %" PRIu64 " integers",
                 unseen_bitmap_count(bitmap, 0, UNSEEN_BITMAP_END));
    } else {
        (void)bitmaps_report(path, &error); /* false */
    }
    unseen_bitmap_free(bitmap);
    return put_read(&f, path, &error, more);
}

static int verify_one(const char *path, const struct options *o, struct output *out)
{
    switch (stores_type_of(path)) {
    case STORES_LIST:
        return verify_list(path, o, out);
    case STORES_FOREIGN:
        return verify_foreign(path, o, out);
    case STORES_BITMAP:
        return verify_bitmap(path, o, out);
    default:
        return verify_store(path, o, out);
    }
}

int verify_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    int worst = EXIT_DONE;
    (void)cpu;
    if ((o->seen.memory > 0 && !beyond_check(o->seen.memory)) || !output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    for (size_t i = 0; i < o->input.nfiles; i++) {
        const int status = verify_one(o->input.files[i], o, &out);
        (void)output_flush(&out); /* remembered in out */
        worst = status > worst ? status : worst;
    }
    return output_close(&out) ? worst : EXIT_TROUBLE;
}

/* ---- unseen repair --------------------------------------------------------------------------- */

static void health_put_result(struct finding *f, const char *path,
                              const struct unseen_store_health *h)
{
    const bool is_kept = h->ndamages > 0 && h->is_rewritten;
    put_health(f, path, h);
    if (f->json) {
        output_print(f->out, ",\"rewritten\":%s", is_kept ? "true" : "false");
        return;
    }
    if (h->ndamages > 0) {
        output_print(f->out,
                     "%s: usable again; kept what %" PRIu64 " intact commits say, forgot %" PRIu64
                     " bytes of damaged ones, whose lines will be new again\n",
                     path, h->nrecords, h->lost_bytes);
    }
    if (is_kept) {
        output_print(f->out, "%s.damaged is the store as it was\n", path);
    }
}

/* Prints nothing if the store could not be repaired, which has been reported. */
static bool repair(const struct options *o, struct output *out, enum unseen_cpu cpu)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    struct unseen_error error = {.status = UNSEEN_OK};
    const char *path = o->input.files[0];
    struct finding f = finding_start(out, o, "store", path);
    double start = 0;
    do {
        error.status = unseen_store_repair(path, &health, report_damage, &f, &error);
    } while (stores_wait(&o->seen, &start, &error));
    if (error.status == UNSEEN_ERR_CORRUPT) {
        /* The usual hint, `unseen repair`, is no use here. */
        message_error("%s", error.text);
        message_hint("to add its URLs to a new one: unseen add NEW.unseen FILE");
        return false;
    }
    if (error.status != UNSEEN_OK) {
        stores_report(path, &o->seen, &error);
        return false;
    }
    if (!lease_health_repair(path, &o->seen, cpu, &health, report_damage, &f)) {
        return false;
    }
    health_put_result(&f, path, &health);
    finding_end(&f);
    return true;
}

int repair_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    if (!is_single(o) || !output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    const bool repaired = repair(o, &out, cpu);
    if (!repaired) {
        output_abandon(&out);
    }
    return repaired && output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
}

/* ---- unseen rewrite -------------------------------------------------------------------------- */

/* False, and reported, if the store was given a filter that is too small for its keys. The log has
 * them all: with a larger filter the store answers well again. */
static bool rewrite_check_fill(const struct options *o, enum unseen_cpu cpu)
{
    const char *path = o->input.files[0];
    struct unseen_store *store = NULL;
    if (!o->seen.filter && o->seen.capacity == 0 && o->seen.fpr <= 0 && o->seen.bits_per_key <= 0) {
        return true;
    }
    if (!stores_open_to_read(&store, path, &o->seen, cpu)) {
        return false;
    }
    const struct unseen_set *set = unseen_store_set(store);
    const uint64_t nfit = stores_stats(set).nkeys;
    const uint64_t nkeys = stores_info(store).replayed; /* there is no image yet */
    const uint64_t capacity = filters_report_full(set, nfit, nkeys > nfit ? nkeys - nfit : 0);
    if (capacity > 0) {
        message_hint("%s", typed_with("--capacity %" PRIu64, capacity));
    }
    (void)unseen_store_close(store, NULL); /* was only read */
    return capacity == 0;
}

/* False, and reported, if the store has leases: their keys would not be those of the store. */
static bool rewrite_check_leases(const struct options *o, enum unseen_cpu cpu)
{
    const char *path = o->input.files[0];
    struct unseen_store *store = NULL;
    if (!o->seen.key_bits) {
        return true;
    }
    if (!stores_open_to_read(&store, path, &o->seen, cpu)) {
        return false;
    }
    const struct unseen_store_info info = stores_info(store);
    (void)unseen_store_close(store, NULL); /* was only read */
    if (info.note == 0 || info.key_bits == o->seen.key_bits) {
        return true;
    }
    message_error("%s has leases, whose keys have %u bits", path, info.key_bits);
    message_hint("to hand them out (X) until all are done (D): unseen serve %s",
                 typed_quoted(path));
    message_hint("and then: %s", typed_line());
    return false;
}

/* The usual hint, --key-bits 96, is for a new store: the keys of this one cannot get longer. */
static void rewrite_report(const struct options *o, const struct unseen_error *error)
{
    const char *path = o->input.files[0];
    if (error->status != UNSEEN_ERR_FPR || error->setting != UNSEEN_SETTING_KEY_BITS) {
        stores_report(path, &o->seen, error);
        return;
    }
    message_error("%s", error->text);
    message_hint("%s", typed_with("--fpr 1e-9%s", o->seen.filter ? " --filter compact" : ""));
}

int rewrite_run(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    const struct unseen_store_options options = {
        .size = sizeof(options),
        .filter = o->seen.filter,
        .fpr = o->seen.fpr,
        .bits_per_key = o->seen.bits_per_key,
        .hashes = o->seen.hashes,
        .key_bits = o->seen.key_bits,
        .capacity = o->seen.capacity,
        .cpu = cpu,
        .window = o->seen.window,
        .now = clock_since_1970(),
        .resets_clock = o->seen.resets_clock,
    };
    if (!is_single(o) || !rewrite_check_leases(o, cpu)) {
        return EXIT_TROUBLE;
    }
    double start = 0;
    do {
        error.status = unseen_store_rewrite(o->input.files[0], &options, &error);
    } while (stores_wait(&o->seen, &start, &error));
    if (error.status != UNSEEN_OK) {
        rewrite_report(o, &error);
    }
    return error.status == UNSEEN_OK && rewrite_check_fill(o, cpu) ? EXIT_DONE : EXIT_TROUBLE;
}
