/* SPDX-License-Identifier: MIT
 *
 * `unseen info`: the figures of a store, a list, a frozen layer or a bitmap, as text or as JSON
 * (info_json.h). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "commands/bitmaps.h"
#include "commands/commands.h"
#include "commands/info_json.h"
#include "print/message.h"
#include "print/output.h"
#include "print/print_utf8.h"
#include "seen/layers.h"
#include "seen/lists.h"
#include "seen/stores.h"

__attribute__((format(printf, 3, 4))) static void put(struct output *out, const char *name,
                                                      const char *format, ...)
{
    char value[5000];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    utf8_clean(value); /* a forged file may have any bytes as its profile */
    output_print(out, "%-12s %s\n", name, value);
}

static double bits_per_key(uint64_t bytes, uint64_t nkeys)
{
    return nkeys > 0 ? 8 * (double)bytes / (double)nkeys : 0;
}

static void info_put_written(struct output *out, const char *path)
{
    char text[24];
    if (info_written(path, text)) {
        put(out, "written", "%s", text);
    }
}

/* ---- A store --------------------------------------------------------------------------------- */

static void info_put_text(struct output *out, struct unseen_store *store, const char *path)
{
    const struct unseen_set *set = unseen_store_set(store);
    const struct unseen_set_stats s = stores_stats(set);
    const struct unseen_store_info i = stores_info(store);
    const uint64_t disk = i.log_bytes + i.image_bytes;
    put(out, "store", "%s", path);
    put(out, "keys", "%" PRIu64, s.nkeys);
    put(out, "filter", "%s", s.filter);
    if (i.bits_per_key > 0) {
        put(out, "bits", "%g per key of the capacity", i.bits_per_key);
    }
    if (s.hashes) {
        put(out, "hashes", "%u", s.hashes);
    }
    put(out, "wrong seen", "%.2g (at most %.2g; asked for %.2g)", s.fpr_estimate, s.fpr_promise,
        i.fpr);
    put(out, "fill", "%.1f %%", 100 * s.fill);
    put(out, "memory", "%" PRIu64 " bytes, %.1f bits per key", s.memory,
        bits_per_key(s.memory, s.nkeys));
    put(out, "disk", "%" PRIu64 " bytes, %.1f bits per key", disk, bits_per_key(disk, s.nkeys));
    if (i.no_log) {
        put(out, "log", "none");
    } else {
        put(out, "log", "%" PRIu64 " bytes", i.log_bytes);
        put(out, "dead", "%" PRIu64 " bytes of it are removed keys", i.dead_bytes);
    }
    put(out, "image", "%" PRIu64 " bytes", i.image_bytes);
    put(out, "profile", "%s", unseen_set_profile(set));
    put(out, "key bits", "%u", i.key_bits);
    put(out, "seed id", "%016" PRIx64, i.seed_id);
    info_put_written(out, path);
}

/* ---- A list ---------------------------------------------------------------------------------- */

static void info_put_list(struct output *out, const struct unseen_list *list, const char *path)
{
    struct unseen_list_info i = {.size = sizeof(i), .profile = ""};
    (void)unseen_list_info(list, &i); /* fails for a wrong size only */
    const uint64_t built = i.bytes - i.changes_bytes - i.torn_bytes;
    put(out, "list", "%s", path);
    put(out, "kind", "%s", unseen_kind_name(i.kind));
    put(out, "profile", "%s", i.profile);
    put(out, "entries", "%" PRIu64 " of %" PRIu64 " given", i.nkeys, i.ngiven);
    put(out, "changes", "%" PRIu64 " added, %" PRIu64 " removed, %" PRIu64 " allowed", i.nadded,
        i.nremoved, i.nallowed);
    put(out, "wrong listed", "%.2g of questions (asked for %.2g), %.2g of keys", i.rate, i.fpr,
        i.rate / unseen_kind_texts_max(i.kind));
    put(out, "disk", "%" PRIu64 " bytes; %.2f bits per entry, and changes of %" PRIu64 " bytes",
        i.bytes, bits_per_key(built, i.nkeys), i.changes_bytes);
    if (i.torn_bytes > 0) {
        put(out, "unfinished", "%" PRIu64 " bytes of a change that was interrupted: not obeyed",
            i.torn_bytes);
    }
    put(out, "pages", "%" PRIu64 " of 4096 bytes, in %u layers", i.npages, i.nlayers);
    put(out, "on no page", "%" PRIu64, i.nleft);
    put(out, "key bits", "%u", i.key_bits);
    put(out, "seed id", "%016" PRIx64, i.seed_id);
    info_put_written(out, path);
}

/* ---- A frozen layer -------------------------------------------------------------------------- */

static void put_layer(struct output *out, const struct unseen_layer_info *i, const char *path)
{
    put(out, "layer", "%s", path);
    put(out, "hashes", "%u, %s", i->hashes, info_scheme(i->scheme));
    put(out, "text", "%s", i->text == UNSEEN_LAYER_UTF16 ? "as UTF-16" : "as it is");
    put(out, "bits", "%" PRIu64 " in %zu filter%s, %" PRIu64 " of them set", i->nbits, i->nlinks,
        i->nlinks == 1 ? "" : "s", i->nset);
    if (i->nkeys > 0) {
        put(out, "keys", "%" PRIu64 " said, about %" PRIu64 " by the bits", i->nkeys,
            i->nkeys_estimate);
    } else {
        put(out, "keys", "about %" PRIu64 " by the bits", i->nkeys_estimate);
    }
    put(out, "wrong seen", "%.2g by the bits", i->fpr_estimate);
    put(out, "memory", "%" PRIu64 " bytes", i->memory);
    info_put_written(out, path);
}

static int info_layer(const struct options *o)
{
    struct unseen_layer *layer = NULL;
    struct unseen_layer_info info = {.size = sizeof(info)};
    struct output out = {.fd = -1};
    if (!layers_open(&layer, o->input.files[0])) {
        return EXIT_TROUBLE;
    }
    (void)unseen_layer_info(layer, &info); /* fails for a wrong size only */
    unseen_layer_free(layer);
    if (!output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    (o->print.json ? info_json_layer : put_layer)(&out, &info, o->input.files[0]);
    return output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
}

/* ---- A bitmap -------------------------------------------------------------------------------- */

/* The largest integer of a bitmap that has one: of the integers from it on there is one. */
static uint64_t last_of(const struct unseen_bitmap *bitmap)
{
    uint64_t low = 0;
    uint64_t high = UNSEEN_BITMAP_END;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (unseen_bitmap_count(bitmap, middle, UNSEEN_BITMAP_END) > 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static void put_bitmap(struct output *out, const struct info_bitmap *i, const char *path)
{
    put(out, "bitmap", "%s", path);
    put(out, "integers", "%" PRIu64, i->n);
    if (i->n > 0) {
        put(out, "first", "%" PRIu64, i->first);
        put(out, "last", "%" PRIu64, i->last);
    }
    put(out, "memory", "%" PRIu64 " bytes, %.1f bits per integer", i->memory,
        bits_per_key(i->memory, i->n));
    put(out, "disk", "%" PRIu64 " bytes, %.1f bits per integer", i->disk,
        bits_per_key(i->disk, i->n));
    info_put_written(out, path);
}

static int info_bitmap(const struct options *o, enum unseen_cpu cpu)
{
    const char *path = o->input.files[0];
    struct unseen_bitmap *bitmap = NULL;
    struct output out = {.fd = -1};
    struct stat st = {0};
    if (!bitmaps_read(&bitmap, path, cpu)) {
        return EXIT_TROUBLE;
    }
    struct info_bitmap info = {.n = unseen_bitmap_count(bitmap, 0, UNSEEN_BITMAP_END),
                               .memory = unseen_bitmap_memory(bitmap)};
    if (info.n > 0) {
        (void)unseen_bitmap_next(bitmap, 0, &info.first, 1); /* there is one */
        info.last = last_of(bitmap);
    }
    unseen_bitmap_free(bitmap);
    info.disk = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (!output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    (o->print.json ? info_json_bitmap : put_bitmap)(&out, &info, path);
    return output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
}

/* ---- Either ---------------------------------------------------------------------------------- */

/* Prints the figures of the store or of the list; the other is NULL. */
static int info_print(const struct options *o, struct unseen_store *store,
                      const struct unseen_list *list)
{
    struct output out = {.fd = -1};
    if (!output_open(&out, NULL)) {
        return EXIT_TROUBLE;
    }
    if (store) {
        (o->print.json ? info_json : info_put_text)(&out, store, o->input.files[0]);
    } else {
        (o->print.json ? info_json_list : info_put_list)(&out, list, o->input.files[0]);
    }
    return output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
}

static int info_list(const struct options *o, enum unseen_cpu cpu)
{
    struct opened_list l;
    int status = EXIT_TROUBLE;
    if (lists_open(&l, o->input.files[0], UNSEEN_LIST_MAP, cpu)) {
        status = info_print(o, NULL, l.list);
        lists_close(&l);
    }
    return status;
}

static int info_store(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_store *store = NULL;
    int status = EXIT_TROUBLE;
    if (stores_open_to_read(&store, o->input.files[0], &o->seen, cpu)) {
        status = info_print(o, store, NULL);
        (void)unseen_store_close(store, NULL); /* was only read */
    }
    return status;
}

int info_run(const struct options *o, enum unseen_cpu cpu)
{
    if (o->input.nfiles > 1) {
        message_error("one store or list at a time");
        message_hint("unseen info %s", o->input.files[0]);
        return EXIT_TROUBLE;
    }
    switch (stores_kind_of(o->input.files[0])) {
    case STORES_LIST:
        return info_list(o, cpu);
    case STORES_LAYER:
        return info_layer(o);
    case STORES_BITMAP:
        return info_bitmap(o, cpu);
    default:
        return info_store(o, cpu);
    }
}
