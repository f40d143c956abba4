/* SPDX-License-Identifier: MIT */
#include "commands/info_json.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include <unseen_list.h>

#include "commands/info_text.h"
#include "print/json.h"
#include "seen/lists.h"
#include "seen/stores.h"

static void json_put_text(struct output *out, const char *name, const char *text)
{
    output_print(out, "\"%s\":", name);
    json_write_text(out, text);
    json_write(out, ",");
}

static void put_count(struct output *out, const char *name, uint64_t n)
{
    output_print(out, "\"%s\":%" PRIu64 ",", name, n);
}

static void put_real(struct output *out, const char *name, double x)
{
    output_print(out, "\"%s\":%.6g,", name, x);
}

static void put_seed_id(struct output *out, uint64_t seed_id)
{
    output_print(out, "\"seed_id\":\"%016" PRIx64 "\",", seed_id);
}

bool info_written(const char *path, char text[24])
{
    struct stat st;
    struct tm tm;
    return stat(path, &st) == 0 && gmtime_r(&st.st_mtime, &tm) &&
           strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0;
}

static void put_written(struct output *out, const char *path)
{
    char text[24];
    if (info_written(path, text)) {
        json_put_text(out, "written", text);
    }
}

void info_json(struct output *out, struct unseen_store *store, const char *path)
{
    const struct unseen_set *set = unseen_store_set(store);
    const struct unseen_set_stats stats = stores_stats(set);
    const struct unseen_store_info info = stores_info(store);
    uint64_t nleaving = 0;
    json_write(out, "{");
    json_put_text(out, "store", path);
    put_count(out, "keys", stats.nkeys);
    json_put_text(out, "filter", stats.filter);
    if (info.bits_per_key > 0) {
        put_real(out, "bits_per_key_asked", info.bits_per_key);
    }
    if (stats.hashes) {
        put_count(out, "hashes", stats.hashes);
    }
    put_real(out, "fpr", info.fpr);
    put_real(out, "fpr_promise", stats.fpr_promise);
    put_real(out, "fpr_estimate", stats.fpr_estimate);
    put_real(out, "fill", stats.fill);
    put_real(out, "bits_per_key", info_bits_per_key(stats.memory, stats.nkeys));
    put_count(out, "memory_bytes", stats.memory);
    put_count(out, "log_bytes", info.log_bytes);
    put_count(out, "dead_bytes", info.dead_bytes);
    put_count(out, "image_bytes", info.image_bytes);
    if (info.window > 0) {
        put_count(out, "window_ms", info.window);
        put_count(out, "oldest_ms", info.oldest);
        put_count(out, "clock_ms", info.clock);
        if (unseen_store_leaving(store, &nleaving, NULL) == UNSEEN_OK) {
            put_count(out, "leaving", nleaving);
        }
    }
    put_count(out, "allowed", info.nallowed);
    json_put_text(out, "profile", unseen_set_profile(set));
    put_count(out, "key_bits", info.key_bits);
    put_seed_id(out, info.seed_id);
    put_written(out, path);
    json_write(out, info.no_log ? "\"log\":false}\n" : "\"log\":true}\n");
}

void info_json_list(struct output *out, const struct unseen_list *list, const char *path)
{
    const struct unseen_list_info info = lists_info(list);
    const uint64_t changes = info.changes_bytes + info.torn_bytes;
    json_write(out, "{");
    json_put_text(out, "list", path);
    json_put_text(out, "kind", unseen_kind_name(info.kind));
    if (UNSEEN_KIND_COUNTRY(info.kind) > 0) {
        put_count(out, "country", UNSEEN_KIND_COUNTRY(info.kind));
    }
    json_put_text(out, "profile", info.profile);
    put_count(out, "entries", info.nkeys);
    put_count(out, "given", info.ngiven);
    put_count(out, "added", info.nadded);
    put_count(out, "removed", info.nremoved);
    put_count(out, "allowed", info.nallowed);
    put_real(out, "fpr", info.fpr);
    put_real(out, "fpr_estimate", info.rate);
    put_real(out, "fpr_of_key", info.rate / unseen_kind_texts_max(info.kind));
    put_count(out, "bytes", info.bytes);
    put_count(out, "changes_bytes", info.changes_bytes);
    put_count(out, "torn_bytes", info.torn_bytes);
    put_real(out, "bits_per_entry", info_bits_per_key(info.bytes - changes, info.nkeys));
    put_count(out, "pages", info.npages);
    put_count(out, "layers", info.nlayers);
    put_count(out, "on_no_page", info.nleft);
    put_seed_id(out, info.seed_id);
    put_written(out, path);
    output_print(out, "\"key_bits\":%u}\n", info.key_bits);
}

const char *info_scheme(enum unseen_foreign_scheme scheme)
{
    switch (scheme) {
    case UNSEEN_FOREIGN_GUAVA_32:
        return "Guava's MURMUR128_MITZ_32";
    case UNSEEN_FOREIGN_GUAVA_64:
        return "Guava's MURMUR128_MITZ_64";
    case UNSEEN_FOREIGN_DCSO:
        return "DCSO's";
    case UNSEEN_FOREIGN_MURMUR64A:
        return "MurmurHash64A twice";
    }
    return "";
}

void info_json_foreign(struct output *out, const struct unseen_foreign_info *info, const char *path)
{
    json_write(out, "{");
    json_put_text(out, "foreign", path);
    json_put_text(out, "scheme", info_scheme(info->scheme));
    json_put_text(out, "text", info->text == UNSEEN_FOREIGN_UTF16 ? "utf16" : "bytes");
    put_count(out, "hashes", info->hashes);
    put_count(out, "links", info->nlinks);
    put_count(out, "bits", info->nbits);
    put_count(out, "bits_set", info->nset);
    put_count(out, "keys_said", info->nkeys);
    put_count(out, "keys_estimate", info->nkeys_estimate);
    put_real(out, "fpr_estimate", info->fpr_estimate);
    put_written(out, path);
    output_print(out, "\"memory_bytes\":%" PRIu64 "}\n", info->memory);
}

void info_json_bitmap(struct output *out, const struct info_bitmap *info, const char *path)
{
    json_write(out, "{");
    json_put_text(out, "bitmap", path);
    put_count(out, "integers", info->n);
    if (info->n > 0) {
        put_count(out, "first", info->first);
        put_count(out, "last", info->last);
    }
    put_count(out, "memory_bytes", info->memory);
    put_written(out, path);
    output_print(out, "\"disk_bytes\":%" PRIu64 "}\n", info->disk);
}
