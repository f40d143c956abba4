/* SPDX-License-Identifier: MIT */
#include "commands/info_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "lines/times.h"
#include "print/print_utf8.h"
#include "seen/stores.h"

void info_text(struct output *out, const char *name, const char *format, ...)
{
    char value[5000];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    utf8_clean(value); /* a forged file may have any bytes as its profile */
    output_print(out, "%-12s %s\n", name, value);
}

void info_text_written(struct output *out, const char *written)
{
    if (written) {
        info_text(out, "written", "%s", written);
    }
}

double info_bits_per_key(uint64_t bytes, uint64_t nkeys)
{
    return nkeys > 0 ? 8 * (double)bytes / (double)nkeys : 0;
}

void info_text_store(struct output *out, const struct info_store *store)
{
    const struct unseen_set_stats s = store->stats;
    const struct unseen_store_info i = store->info;
    const uint64_t disk = i.log_bytes + i.image_bytes;
    info_text(out, "store", "%s", store->path);
    info_text(out, "keys", "%" PRIu64, s.nkeys);
    info_text(out, "filter", "%s", s.filter);
    if (i.bits_per_key > 0) {
        info_text(out, "bits", "%g per key of the capacity", i.bits_per_key);
    }
    if (s.hashes) {
        info_text(out, "hashes", "%u", s.hashes);
    }
    info_text(out, "wrong seen", "%.2g (at most %.2g; asked for %.2g)", s.fpr_estimate,
              s.fpr_promise, i.fpr);
    info_text(out, "fill", "%.1f %%", 100 * s.fill);
    info_text(out, "memory", "%" PRIu64 " bytes, %.1f bits per key", s.memory,
              info_bits_per_key(s.memory, s.nkeys));
    info_text(out, "disk", "%" PRIu64 " bytes, %.1f bits per key", disk,
              info_bits_per_key(disk, s.nkeys));
    if (i.no_log) {
        info_text(out, "log", "none");
    } else {
        info_text(out, "log", "%" PRIu64 " bytes", i.log_bytes);
        info_text(out, "dead", "%" PRIu64 " bytes of the log are removed keys", i.dead_bytes);
    }
    if (i.window > 0) {
        char window[STORES_WINDOW_CAP];
        char oldest[TIMES_TEXT_MAX] = "";
        char clock[TIMES_TEXT_MAX] = "";
        times_put(i.oldest, oldest);
        times_put(i.clock, clock);
        stores_window_text(i.window, window);
        info_text(out, "window", "%s%s%s", window, i.oldest > 0 ? "; the oldest key is of " : "",
                  i.oldest > 0 ? oldest : "");
        info_text(out, "clock", "%s", i.clock > 0 ? clock : "none");
    }
    if (store->nleaving) {
        info_text(out, "leaving", "%" PRIu64 " keys within the next tenth of the window",
                  *store->nleaving);
    }
    if (i.nallowed > 0) {
        info_text(out, "allowed", "%" PRIu64 " lines, new although the filter has them",
                  i.nallowed);
    }
    info_text(out, "image", "%" PRIu64 " bytes", i.image_bytes);
    info_text(out, "profile", "%s", store->profile);
    info_text(out, "key bits", "%u", i.key_bits);
    info_text(out, "seed id", "%016" PRIx64, i.seed_id);
    info_text_written(out, store->written);
}

void info_text_list(struct output *out, const struct info_list *list)
{
    const struct unseen_list_info i = list->info;
    const uint64_t built = i.bytes - i.changes_bytes - i.torn_bytes;
    info_text(out, "list", "%s", list->path);
    info_text(out, "kind", "%s", list->kind);
    if (UNSEEN_KIND_COUNTRY(list->info.kind) > 0) {
        info_text(out, "country", "%u", UNSEEN_KIND_COUNTRY(list->info.kind));
    }
    info_text(out, "profile", "%s", i.profile);
    info_text(out, "entries", "%" PRIu64 " of %" PRIu64 " given", i.nkeys, i.ngiven);
    info_text(out, "changes", "%" PRIu64 " added, %" PRIu64 " removed, %" PRIu64 " allowed",
              i.nadded, i.nremoved, i.nallowed);
    info_text(out, "wrong listed", "%.2g of questions (asked for %.2g), %.2g of keys", i.rate,
              i.fpr, list->rate_of_key);
    info_text(out, "disk",
              "%" PRIu64 " bytes; %.2f bits per entry, and changes of %" PRIu64 " bytes", i.bytes,
              info_bits_per_key(built, i.nkeys), i.changes_bytes);
    if (i.torn_bytes > 0) {
        info_text(out, "unfinished",
                  "%" PRIu64 " bytes of a change that was interrupted: not obeyed", i.torn_bytes);
    }
    info_text(out, "pages", "%" PRIu64 " of 4096 bytes, in %u layers", i.npages, i.nlayers);
    info_text(out, "on no page", "%" PRIu64, i.nleft);
    info_text(out, "key bits", "%u", i.key_bits);
    info_text(out, "seed id", "%016" PRIx64, i.seed_id);
    info_text_written(out, list->written);
}
