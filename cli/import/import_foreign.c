/* SPDX-License-Identifier: MIT */
#include "import/import_foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/foreign_file.h"
#include "lines/files.h"
#include "lines/input.h"
#include "print/message.h"
#include "print/typed.h"
#include "redis_url.h"
#include "seen/foreign_filters.h"
#include "seen/redis_dump.h"
#include "seen/stores.h"
#include "seen/token.h"

enum {
    BUFFER_BYTES = 64 * 1024
};

/* The command that would do, with the name of the foreign filter; behind it comes the name of a
 * file, if the filter is in one. */
static void hint(const struct options *o, const char *filter)
{
    static const char *const funnels[] = {"", " --funnel bytes", " --funnel utf8",
                                          " --funnel utf16"};
    if (o->from_redis) {
        message_hint("unseen import --from-redis %s %s", o->from_redis, filter);
    } else {
        message_hint("unseen import --format %s%s %s %s", import_formats[o->source],
                     funnels[o->funnel], filter, o->input.nfiles > 1 ? o->input.files[0] : "FILE");
    }
}

/* A filter has what its program chose, and its bytes are compared as they are. */
static bool check_settings(const struct options *o)
{
    const struct seen_options *s = &o->seen;
    if (o->input.nfiles > 1) {
        message_error("one filter becomes one foreign filter");
        hint(o, s->path);
        return false;
    }
    if ((o->profile.name && strcmp(o->profile.name, "none") != 0 &&
         strcmp(o->profile.name, "none/1") != 0) ||
        o->profile.nrules > 0) {
        message_error(
            "a foreign filter is asked with the bytes of each line, which no profile may rewrite");
    } else if (s->filter || s->fpr > 0 || s->capacity > 0 || s->seed.len || s->key_bits ||
               s->no_log || s->like || s->file_mode || s->bits_per_key > 0 || s->hashes) {
        message_error("a foreign filter has the filter, the size and the seed of its program");
    } else {
        return true;
    }
    hint(o, s->path);
    return false;
}

/* A filter may replace a filter, but nothing else. */
static bool check_place(const struct options *o)
{
    const char *path = o->seen.path;
    const enum stores_type type = stores_type_of(path);
    if (type == STORES_FOREIGN || access(path, F_OK) != 0) {
        return true;
    }
    message_error("%s is not a foreign filter, and is not replaced", path);
    hint(o, "NEW.filter");
    return false;
}

static enum foreign_result read_filter(struct foreign_file *l, struct input *in, char *buf,
                                       const char **why, bool *read_all)
{
    enum foreign_result result = FOREIGN_TAKEN;
    ssize_t n = 0;
    while (result == FOREIGN_TAKEN && (n = input_read(in, buf, BUFFER_BYTES)) > 0) {
        result = foreign_file_push(l, buf, (size_t)n, why);
    }
    *read_all = n >= 0;
    return result == FOREIGN_TAKEN && n == 0 ? foreign_file_end(l, why) : result;
}

static bool take_file(struct foreign_file *l, const struct options *o)
{
    const char *name = files_shown(o->input.files[0]);
    const char *why = "";
    bool read_all = false;
    char *buf = malloc(BUFFER_BYTES);
    struct input *in =
        buf ? input_open(o->input.files[0], (struct input_wait){.before = NULL}, &o->input) : NULL;
    if (!in) {
        free(buf);
        return buf ? false : message_no_memory();
    }
    const enum foreign_result result = read_filter(l, in, buf, &why, &read_all);
    if (read_all && result == FOREIGN_WRONG) {
        message_error("%s is not a filter of the format %s: %s", name, import_formats[o->source],
                      why);
    } else if (result == FOREIGN_NOMEM) {
        (void)message_no_memory();
    }
    input_close(in);
    free(buf);
    if (l->nattached > 0) {
        message_warning("%s: %" PRIu64
                        " bytes of data that are attached to the filter were left out",
                        name, l->nattached);
    }
    return read_all && result == FOREIGN_TAKEN;
}

/* ---- A server with RedisBloom ---------------------------------------------------------------- */

struct dump {
    struct foreign_file *l;
    const struct options *o;
};

static bool report_dump(const struct options *o, enum foreign_result result, const char *why)
{
    if (result == FOREIGN_NOMEM) {
        return message_no_memory();
    }
    message_error("what %s gave is not a filter of RedisBloom: %s", o->from_redis, why);
    message_hint("if programs add to the filter, let them wait until it has been read; "
                 "a BF key of unseen.so cannot be imported: BF.MEXISTS asks it");
    return false;
}

static bool take_piece(void *context, const void *data, size_t len)
{
    const struct dump *d = context;
    const char *why = "";
    const enum foreign_result result = foreign_file_push(d->l, data, len, &why);
    return result == FOREIGN_TAKEN || report_dump(d->o, result, why);
}

/* The address may be HOST:PORT, with the key in place of a file. */
static bool take_server(struct foreign_file *l, const struct options *o)
{
    char secret[TOKEN_MAX + 2];
    char address[1024];
    const char *why = "";
    struct dump d = {l, o};
    const bool is_whole = redis_url_is(o->from_redis);
    const char *key = o->input.none_named ? NULL : o->input.files[0];
    if (is_whole == (key != NULL)) {
        message_error(is_whole ? "%s has the key already" : "%s names a server and no key",
                      o->from_redis);
        message_hint("%s%s", is_whole ? typed_piped(NULL) : typed_line(), is_whole ? "" : " KEY");
        return false;
    }
    if (!is_whole && strchr(o->from_redis, '@')) {
        message_error("a user and a password stand in an address that begins with redis://");
        message_hint("unseen import --from-redis redis://USER:PASSWORD@HOST/KEY %s",
                     typed_quoted(o->seen.path));
        return false;
    }
    const int len = is_whole ? snprintf(address, sizeof(address), "%s", o->from_redis)
                             : redis_url_make(address, sizeof(address), o->from_redis, key);
    if (len < 0 || (size_t)len >= sizeof(address)) {
        message_error("the name of the key is too long");
        return false;
    }
    if (o->seen.token_file && !token_read(o->seen.token_file, 1, NULL, secret)) {
        return false;
    }
    if (!redis_dump(address, o->seen.token_file ? secret : o->seen.password, take_piece, &d)) {
        return false;
    }
    const enum foreign_result result = foreign_file_end(l, &why);
    return result == FOREIGN_TAKEN || report_dump(o, result, why);
}

int import_foreign_run(const struct options *o, enum unseen_cpu cpu)
{
    (void)cpu;
    struct foreign_file l = {.format = o->from_redis               ? FOREIGN_REDISBLOOM
                                       : o->source == SOURCE_GUAVA ? FOREIGN_GUAVA
                                                                   : FOREIGN_DCSO,
                             .text = o->funnel == FUNNEL_UTF16 ? UNSEEN_FOREIGN_UTF16
                                                               : UNSEEN_FOREIGN_BYTES};
    bool done =
        check_settings(o) && check_place(o) && (o->from_redis ? take_server : take_file)(&l, o);
    if (done) {
        struct unseen_error error;
        done = unseen_foreign_save(l.filter, o->seen.path, &error) == UNSEEN_OK;
        if (!done) {
            foreign_report(o->seen.path, &error);
        }
    }
    unseen_foreign_free(l.filter);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
