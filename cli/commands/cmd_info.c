/* SPDX-License-Identifier: MIT
 *
 * `unseen info`: prints the figures of a store, a list, a foreign filter or a bitmap, as text or as
 * JSON (info_json.h). info_server.h prints the figures of a set that a server has. */
#include <inttypes.h>
#include <sys/stat.h>

#include "address.h"
#include "commands/commands.h"
#include "commands/info_json.h"
#include "commands/info_server.h"
#include "commands/info_text.h"
#include "print/message.h"
#include "print/output.h"
#include "print/typed.h"
#include "seen/bitmaps.h"
#include "seen/foreign_filters.h"
#include "seen/lists.h"
#include "seen/stores.h"

/* ---- A foreign filter ------------------------------------------------------------------------ */

static void put_foreign(struct output *out, const struct unseen_foreign_info *i, const char *path)
{
    info_text(out, "foreign", "%s", path);
    info_text(out, "hashes", "%u, %s", i->hashes, info_scheme(i->scheme));
    info_text(out, "text", "%s", i->text == UNSEEN_FOREIGN_UTF16 ? "as UTF-16" : "as it is");
    info_text(out, "bits", "%" PRIu64 " in %zu filter%s, %" PRIu64 " of them set", i->nbits,
              i->nlinks, i->nlinks == 1 ? "" : "s", i->nset);
    if (i->nkeys > 0) {
        info_text(out, "keys", "%" PRIu64 " said, about %" PRIu64 " by the bits", i->nkeys,
                  i->nkeys_estimate);
    } else {
        info_text(out, "keys", "about %" PRIu64 " by the bits", i->nkeys_estimate);
    }
    info_text(out, "wrong seen", "%.2g by the bits", i->fpr_estimate);
    info_text(out, "memory", "%" PRIu64 " bytes", i->memory);
    char written[24];
    info_text_written(out, info_written(path, written) ? written : NULL);
}

static bool info_foreign(const char *path, const struct options *o, struct output *out)
{
    struct unseen_foreign *filter = NULL;
    struct unseen_foreign_info info = {.size = sizeof(info)};
    if (!foreign_open(&filter, path)) {
        return false;
    }
    (void)unseen_foreign_info(filter, &info); /* fails for a wrong size only */
    unseen_foreign_free(filter);
    (o->print.json ? info_json_foreign : put_foreign)(out, &info, path);
    return true;
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
    info_text(out, "bitmap", "%s", path);
    info_text(out, "integers", "%" PRIu64, i->n);
    if (i->n > 0) {
        info_text(out, "first", "%" PRIu64, i->first);
        info_text(out, "last", "%" PRIu64, i->last);
    }
    info_text(out, "memory", "%" PRIu64 " bytes, %.1f bits per integer", i->memory,
              info_bits_per_key(i->memory, i->n));
    info_text(out, "disk", "%" PRIu64 " bytes, %.1f bits per integer", i->disk,
              info_bits_per_key(i->disk, i->n));
    char written[24];
    info_text_written(out, info_written(path, written) ? written : NULL);
}

static bool info_bitmap(const char *path, const struct options *o, enum unseen_cpu cpu,
                        struct output *out)
{
    struct unseen_bitmap *bitmap = NULL;
    struct stat st = {0};
    if (!bitmaps_read(&bitmap, path, cpu)) {
        return false;
    }
    struct info_bitmap info = {.n = unseen_bitmap_count(bitmap, 0, UNSEEN_BITMAP_END),
                               .memory = unseen_bitmap_memory(bitmap)};
    if (info.n > 0) {
        (void)unseen_bitmap_next(bitmap, 0, &info.first, 1); /* there is one */
        info.last = last_of(bitmap);
    }
    unseen_bitmap_free(bitmap);
    info.disk = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    (o->print.json ? info_json_bitmap : put_bitmap)(out, &info, path);
    return true;
}

/* ---- A list and a store ---------------------------------------------------------------------- */

static void put_list(struct output *out, const struct unseen_list *list, const char *path)
{
    char written[24];
    const struct unseen_list_info info = lists_info(list);
    const struct info_list figures = {
        .path = path,
        .info = info,
        .kind = unseen_kind_name(info.kind),
        .rate_of_key = info.rate / unseen_kind_texts_max(info.kind),
        .written = info_written(path, written) ? written : NULL,
    };
    info_text_list(out, &figures);
}

static bool info_list(const char *path, const struct options *o, enum unseen_cpu cpu,
                      struct output *out)
{
    struct opened_list l;
    if (!lists_open(&l, path, UNSEEN_LIST_MAP, cpu)) {
        return false;
    }
    (o->print.json ? info_json_list : put_list)(out, l.list, path);
    lists_close(&l);
    return true;
}

static void put_store(struct output *out, struct unseen_store *store, const char *path)
{
    char written[24];
    uint64_t nleaving = 0;
    const bool has_window = unseen_store_leaving(store, &nleaving, NULL) == UNSEEN_OK;
    const struct unseen_set *set = unseen_store_set(store);
    const struct info_store figures = {
        .path = path,
        .stats = stores_stats(set),
        .info = stores_info(store),
        .profile = unseen_set_profile(set),
        .written = info_written(path, written) ? written : NULL,
        .nleaving = has_window ? &nleaving : NULL,
    };
    info_text_store(out, &figures);
}

static bool info_store(const char *path, const struct options *o, enum unseen_cpu cpu,
                       struct output *out)
{
    struct unseen_store *store = NULL;
    if (!stores_open_to_read(&store, path, &o->seen, cpu)) {
        return false;
    }
    (o->print.json ? info_json : put_store)(out, store, path);
    (void)unseen_store_close(store, NULL); /* was only read */
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool info_print(const char *path, const struct options *o, enum unseen_cpu cpu,
                       struct output *out)
{
    if (address_is_server(path)) {
        return info_server(path, o, out);
    }
    switch (stores_type_of(path)) {
    case STORES_LIST:
        return info_list(path, o, cpu, out);
    case STORES_FOREIGN:
        return info_foreign(path, o, out);
    case STORES_BITMAP:
        return info_bitmap(path, o, cpu, out);
    default:
        return info_store(path, o, cpu, out);
    }
}

int info_run(const struct options *o, enum unseen_cpu cpu)
{
    struct output out = {.fd = -1};
    if (o->input.nfiles > 1) {
        message_error("one store or list at a time");
        message_hint("unseen info %s", typed_quoted(o->input.files[0]));
        return EXIT_TROUBLE;
    }
    const bool done = output_open(&out, NULL) && info_print(o->input.files[0], o, cpu, &out) &&
                      output_close(&out);
    output_abandon(&out);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
