/* SPDX-License-Identifier: MIT
 *
 * `unseen serve` sends the JSON object that `unseen info --json` prints of its store or list. This
 * file prints the object as it came, or as text. A set of our module in Redis or Valkey has some of
 * a store's figures, which are printed under the same names. */
#include "commands/info_server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/info_text.h"
#include "lines/json_scan.h"
#include "lines/json_text.h"
#include "print/json.h"
#include "print/message.h"
#include "print/typed.h"
#include "seen/server.h"

/* ---- What `unseen serve` says ---------------------------------------------------------------- */

enum {
    VALUE_BYTES = 4200
};

/* Copies the text of a member. Returns false if the object has no such member, or the text does not
 * fit. */
static bool read_text(struct unseen_bytes json, const char *name, char value[VALUE_BYTES])
{
    const struct json_step step = {{name, strlen(name)}, SIZE_MAX};
    struct unseen_bytes found;
    struct unseen_bytes bytes = {NULL, 0};
    struct text room = {.data = NULL};
    value[0] = '\0';
    const bool is_there = json_find(json, &step, 1, JSON_NO_BYTE, &found) &&
                          json_text(found, &room, &bytes) == UNSEEN_OK && bytes.data &&
                          bytes.len < VALUE_BYTES;
    if (is_there) {
        memcpy(value, bytes.data, bytes.len);
        value[bytes.len] = '\0';
    }
    text_release(&room);
    return is_there;
}

static uint64_t read_count(struct unseen_bytes json, const char *name)
{
    char value[VALUE_BYTES];
    return read_text(json, name, value) ? strtoull(value, NULL, 10) : 0;
}

static double read_real(struct unseen_bytes json, const char *name)
{
    char value[VALUE_BYTES];
    return read_text(json, name, value) ? strtod(value, NULL) : 0;
}

static uint64_t read_seed_id(struct unseen_bytes json)
{
    char value[VALUE_BYTES];
    return read_text(json, "seed_id", value) ? strtoull(value, NULL, 16) : 0;
}

static void print_store(struct output *out, struct unseen_bytes json, const char *address)
{
    char filter[VALUE_BYTES];
    char profile[VALUE_BYTES];
    char written[VALUE_BYTES];
    char log[VALUE_BYTES];
    (void)read_text(json, "filter", filter);
    (void)read_text(json, "profile", profile);
    (void)read_text(json, "log", log);
    const struct info_store store = {
        .path = address,
        .stats = {.size = sizeof(store.stats),
                  .nkeys = read_count(json, "keys"),
                  .memory = read_count(json, "memory_bytes"),
                  .filter = filter,
                  .hashes = (uint32_t)read_count(json, "hashes"),
                  .fill = read_real(json, "fill"),
                  .fpr_promise = read_real(json, "fpr_promise"),
                  .fpr_estimate = read_real(json, "fpr_estimate")},
        .info = {.size = sizeof(store.info),
                 .fpr = read_real(json, "fpr"),
                 .bits_per_key = read_real(json, "bits_per_key_asked"),
                 .log_bytes = read_count(json, "log_bytes"),
                 .dead_bytes = read_count(json, "dead_bytes"),
                 .image_bytes = read_count(json, "image_bytes"),
                 .nallowed = read_count(json, "allowed"),
                 .window = read_count(json, "window_ms"),
                 .oldest = read_count(json, "oldest_ms"),
                 .key_bits = (uint32_t)read_count(json, "key_bits"),
                 .seed_id = read_seed_id(json),
                 .no_log = strcmp(log, "false") == 0},
        .profile = profile,
        .written = read_text(json, "written", written) ? written : NULL,
    };
    info_text_store(out, &store);
}

static void print_list(struct output *out, struct unseen_bytes json, const char *address)
{
    char kind[VALUE_BYTES];
    char profile[VALUE_BYTES];
    char written[VALUE_BYTES];
    (void)read_text(json, "kind", kind);
    (void)read_text(json, "profile", profile);
    const struct info_list list = {
        .path = address,
        .info = {.size = sizeof(list.info),
                 .profile = profile,
                 .nkeys = read_count(json, "entries"),
                 .ngiven = read_count(json, "given"),
                 .nadded = read_count(json, "added"),
                 .nremoved = read_count(json, "removed"),
                 .nallowed = read_count(json, "allowed"),
                 .fpr = read_real(json, "fpr"),
                 .rate = read_real(json, "fpr_estimate"),
                 .bytes = read_count(json, "bytes"),
                 .changes_bytes = read_count(json, "changes_bytes"),
                 .torn_bytes = read_count(json, "torn_bytes"),
                 .npages = read_count(json, "pages"),
                 .nlayers = (uint32_t)read_count(json, "layers"),
                 .nleft = read_count(json, "on_no_page"),
                 .key_bits = (uint32_t)read_count(json, "key_bits"),
                 .seed_id = read_seed_id(json)},
        .kind = kind,
        .rate_of_key = read_real(json, "fpr_of_key"),
        .written = read_text(json, "written", written) ? written : NULL,
    };
    info_text_list(out, &list);
}

static bool print_served(struct output *out, struct remote *remote, bool as_json)
{
    struct unseen_bytes json;
    char path[VALUE_BYTES];
    if (!remote_info(remote, &json)) {
        return false;
    }
    if (as_json) {
        output_write(out, json.data, json.len);
        output_write(out, "\n", 1);
    } else if (read_text(json, "list", path)) {
        print_list(out, json, remote->address);
    } else if (read_text(json, "store", path)) {
        print_store(out, json, remote->address);
    } else {
        message_error("what listens at %s is not unseen serve", remote->address);
        return false;
    }
    return true;
}

/* ---- A set in Redis or Valkey ---------------------------------------------------------------- */

static void print_redis(struct output *out, const struct redis_info *i, const char *address,
                        const char *profile)
{
    const struct unseen_set_stats *s = &i->stats;
    info_text(out, "store", "%s", address);
    info_text(out, "keys", "%" PRIu64, s->nkeys);
    info_text(out, "filter", "%s", s->filter);
    info_text(out, "wrong seen", "%.2g (at most %.2g)", s->fpr_estimate, s->fpr_promise);
    info_text(out, "memory", "%" PRIu64 " bytes, %.1f bits per key", s->memory,
              info_bits_per_key(s->memory, s->nkeys));
    if (i->maxbytes > 0) {
        info_text(out, "at most", "%" PRIu64 " bytes", i->maxbytes);
    }
    info_text(out, "profile", "%s", profile);
    if (i->nkeys > 1) {
        info_text(out, "shards", "%zu", i->nkeys);
    }
}

static void print_redis_json(struct output *out, const struct redis_info *i, const char *address,
                             const char *profile)
{
    const struct unseen_set_stats *s = &i->stats;
    json_write(out, "{\"store\":");
    json_write_text(out, address);
    output_print(out,
                 ",\"keys\":%" PRIu64 ",\"filter\":\"%s\",\"fpr_promise\":%.6g,\"fpr_estimate\":"
                 "%.6g,\"bits_per_key\":%.6g,\"memory_bytes\":%" PRIu64 ",\"max_bytes\":%" PRIu64,
                 s->nkeys, s->filter, s->fpr_promise, s->fpr_estimate,
                 info_bits_per_key(s->memory, s->nkeys), s->memory, i->maxbytes);
    json_write(out, ",\"profile\":");
    json_write_text(out, profile);
    output_print(out, ",\"shards\":%zu}\n", i->nkeys);
}

static bool print_set(struct output *out, struct redis_set_client *redis, const char *address,
                      bool as_json)
{
    struct redis_info info;
    if (!redis_profile(redis)[0]) {
        message_error("there is no set at %s yet", address);
        message_hint("to make it: unseen add %s FILE", typed_quoted(address));
        return false;
    }
    if (!redis_info(redis, &info)) {
        return false;
    }
    (as_json ? print_redis_json : print_redis)(out, &info, address, redis_profile(redis));
    return true;
}

bool info_server(const char *address, const struct options *o, struct output *out)
{
    struct server s;
    struct seen_options seen = o->seen;
    seen.path = address;
    const bool done = server_open(&s, &seen, QUESTION_CHECK) &&
                      (s.redis ? print_set(out, s.redis, address, o->print.json)
                               : print_served(out, &s.remote, o->print.json));
    server_close(&s);
    return done;
}
