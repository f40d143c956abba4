/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.MERGE in steps (steps.h) of one piece each, about 7,000 URLs: other clients are served
 * between them, and the client that merges waits. Replicas get the steps, not the keys:
 *
 *     UNSEEN.MERGESTEP to from cursor
 *
 * A merge takes every key that the other set has from the first step to the last. A key that comes
 * or goes meanwhile may be taken or not. If a name stands for another set at the next step, the
 * merge ends with an error, because the cursor belongs to the set before; the keys so far stay. A
 * small set has no number to know it by, so it is merged in one step.
 *
 * A replica has the same sets when a step comes, so the same step gives it the same bytes, and it
 * gets no step of a merge that has ended. A step that runs out of memory is done in part only: then
 * replicas get the whole set instead. */
#include "commands/handlers.h"

#include <string.h>

#include <unseen.h>

#include "keys/frames.h"
#include "keys/keys.h"
#include "server/config.h"
#include "server/errors.h"
#include "server/parse.h"
#include "server/steps.h"

enum {
    SOURCES_MAX = 256
};

struct merge {
    struct steps steps;
    struct server_string *names[1 + SOURCES_MAX]; /* to, from... */
    uint32_t serials[1 + SOURCES_MAX];            /* of their values; 0: not known yet */
    int nsources;
    int source; /* the one that is being merged */
    uint64_t cursor;
};

/* Only sets of one secret, one URL identity and one width can be merged. */
static bool can_merge(const struct value *to, const struct value *from)
{
    const struct recipe *recipe = value_recipe(to);
    const struct settings *a = &recipe->settings;
    const struct settings *b = &value_recipe(from)->settings;
    return to != from && memcmp(a->seed, b->seed, SEED_LEN) == 0 &&
           strcmp(a->profile, b->profile) == 0 && recipe->key_bits == value_recipe(from)->key_bits;
}

static bool is_same(uint32_t serial, const struct value *value)
{
    return serial == 0 || serial == value_serial(value);
}

static enum error merge_error(const struct value *to, const struct value *from)
{
    if (value_recipe(to)->settings.window || value_recipe(from)->settings.window) {
        return ERROR_WINDOW_MERGE;
    }
    return can_merge(to, from) ? ERROR_NONE : ERROR_MERGE;
}

/* Takes one step, and tells replicas. merge is NULL in a replica, which has no limit, either. */
static enum error take_step(struct server_ctx *ctx, struct server_string *to,
                            struct server_string *from, uint64_t *cursor, struct merge *merge)
{
    const uint64_t start = *cursor;
    struct budget budget = {0, 0, false};
    struct server_key *key;
    struct value *value;
    struct value *other;
    enum error error = key_error(key_read(ctx, from, FAMILY_URLS, &other));
    if (error != ERROR_NONE) {
        return error;
    }
    error = key_error(key_open(ctx, to, SERVER_READ | SERVER_WRITE, FAMILY_URLS, &key, &value));
    if (error == ERROR_NONE) {
        error = merge_error(value, other);
    }
    if (error == ERROR_NONE && merge &&
        !(is_same(merge->serials[0], value) && is_same(merge->serials[merge->source], other))) {
        error = ERROR_MERGE_OTHER;
    }
    if (error == ERROR_NONE) {
        budget = merge ? key_budget(value) : budget;
        const enum unseen_status status = value_merge_step(&value, other, cursor, &budget);
        key_moved(key, value);
        if (status == UNSEEN_OK) {
            (void)server.Replicate(ctx, "UNSEEN.MERGESTEP", "ssl", to, from, (long long)start);
        } else {
            frames_replicate(ctx, to, value);
            error = budget.refused ? ERROR_LIMIT : ERROR_NO_MEMORY;
        }
        if (merge) {
            merge->serials[0] = value_serial(value); /* from the first step on it has one */
            merge->serials[merge->source] = value_serial(other);
        }
        (void)server.SignalModifiedKey(ctx, to);
    }
    server.CloseKey(key);
    return error;
}

static bool go_on(struct server_ctx *ctx, struct steps *steps)
{
    struct merge *merge = (struct merge *)steps;
    steps->error =
        take_step(ctx, merge->names[0], merge->names[merge->source], &merge->cursor, merge);
    if (steps->error != ERROR_NONE) {
        return false;
    }
    if (merge->cursor == UNSEEN_MERGE_DONE) {
        merge->source++;
        merge->cursor = 0;
    }
    return merge->source <= merge->nsources;
}

static void announce(struct server_ctx *ctx, struct steps *steps)
{
    const struct merge *merge = (const struct merge *)steps;
    (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "unseen.merge", merge->names[0]);
}

static void free_merge(struct steps *steps)
{
    struct merge *merge = (struct merge *)steps;
    for (int i = 0; i <= merge->nsources; i++) {
        server.FreeString(NULL, merge->names[i]);
    }
    server.Free(merge);
}

static const struct steps_work merge_work = {go_on, announce, free_merge};

/* All sources are checked before anything is changed. */
static enum error check(struct server_ctx *ctx, struct merge *merge)
{
    struct value *to;
    enum error error = key_error(key_read(ctx, merge->names[0], FAMILY_URLS, &to));
    for (int i = 1; i <= merge->nsources && error == ERROR_NONE; i++) {
        struct value *from;
        error = key_error(key_read(ctx, merge->names[i], FAMILY_URLS, &from));
        if (error == ERROR_NONE) {
            error = merge_error(to, from);
        }
        merge->serials[i] = error == ERROR_NONE ? value_serial(from) : 0;
    }
    merge->serials[0] = error == ERROR_NONE ? value_serial(to) : 0;
    return error;
}

int merge_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    if (argc < 3 || argc - 2 > SOURCES_MAX) {
        return server.WrongArity(ctx);
    }
    struct merge *merge = server.TryAlloc(sizeof(*merge));
    if (!merge) {
        return reply_error(ctx, ERROR_NO_MEMORY);
    }
    *merge = (struct merge){.nsources = argc - 2, .source = 1};
    steps_init(&merge->steps, &merge_work);
    for (int i = 1; i < argc; i++) {
        size_t len;
        const char *name = server.StringPtrLen(argv[i], &len);
        merge->names[i - 1] = server.CreateString(NULL, name, len);
    }
    const enum error error = check(ctx, merge);
    if (error != ERROR_NONE) {
        free_merge(&merge->steps);
        return reply_error(ctx, error);
    }
    return steps_run(ctx, &merge->steps, false);
}

int merge_step_command(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    long long start;
    if (argc != 4) {
        return server.WrongArity(ctx);
    }
    if (!parse_number(argv[3], &start)) {
        return reply_error(ctx, ERROR_EFFECT);
    }
    uint64_t cursor = (uint64_t)start;
    const enum error error = take_step(ctx, argv[1], argv[2], &cursor, NULL);
    return error == ERROR_NONE ? server.ReplyWithSimpleString(ctx, "OK") : reply_error(ctx, error);
}
