/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "commands/info.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "command.h"
#include "commands/info_json.h"
#include "print/message.h"
#include "print/output.h"
#include "memory/stores.h"

__attribute__((format(printf, 3, 4))) static void put(struct output *out, const char *name,
                                                      const char *format, ...)
{
    char value[5000];
    char line[5100];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    const int len = snprintf(line, sizeof(line), "%-12s %s\n", name, value);
    output_write(out, line, (size_t)len);
}

static double bits_per_key(uint64_t bytes, uint64_t nkeys)
{
    return nkeys > 0 ? 8 * (double)bytes / (double)nkeys : 0;
}

static void put_written(struct output *out, const char *path)
{
    struct stat st;
    struct tm tm;
    char text[40];
    if (stat(path, &st) == 0 && gmtime_r(&st.st_mtime, &tm) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0) {
        put(out, "written", "%s", text);
    }
}

static void put_text(struct output *out, struct unseen_store *store, const char *path)
{
    const struct unseen_set *set = unseen_store_set(store);
    struct unseen_set_stats s = {.size = sizeof(s), .filter = ""};
    struct unseen_store_info i = {.size = sizeof(i)};
    (void)unseen_set_stats(set, &s);    /* fails for a wrong size only */
    (void)unseen_store_info(store, &i); /* the same */
    const uint64_t disk = i.log_bytes + i.image_bytes;
    put(out, "store", "%s", path);
    put(out, "keys", "%" PRIu64, s.nkeys);
    put(out, "filter", "%s", s.filter);
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
    }
    put(out, "image", "%" PRIu64 " bytes", i.image_bytes);
    put(out, "profile", "%s", unseen_set_profile(set));
    put(out, "key bits", "%u", i.key_bits);
    put(out, "seed id", "%08" PRIx32, i.seed_id);
    put_written(out, path);
}

int info_run(const struct options *o, enum unseen_cpu cpu)
{
    struct unseen_store *store = NULL;
    struct output out = {.fd = -1};
    if (o->nfiles > 1) {
        message_error("one store at a time");
        message_hint("unseen info %s", o->files[0]);
        return EXIT_TROUBLE;
    }
    if (!stores_open_to_read(&store, o->files[0], o, cpu)) {
        return EXIT_TROUBLE;
    }
    int status = EXIT_TROUBLE;
    if (output_open(&out, NULL)) {
        (o->json ? info_json : put_text)(&out, store, o->files[0]);
        status = output_close(&out) ? EXIT_DONE : EXIT_TROUBLE;
    }
    (void)unseen_store_close(store, NULL); /* was only read */
    return status;
}
