/* SPDX-License-Identifier: MIT */
#include "keys/loads.h"

#include <string.h>

#include "keys/effects.h"
#include "keys/type.h"

enum {
    WAITING_BYTES_MAX = 128 << 20 /* for all loads in steps together; a single one may be larger */
};

static struct load *loads; /* in the order of their beginnings */
static uint64_t now;

static uint64_t nended;

uint64_t loads_ended(void)
{
    return nended;
}

void loads_count_ended(void)
{
    nended++;
}

struct load *loads_first(void)
{
    return loads;
}

void load_forget(struct load *load)
{
    struct load **link = &loads;
    while (*link != load) {
        link = &(*link)->next;
    }
    *link = load->next;
    loader_release(&load->loader);
    value_free(load->value);
    if (load->key) {
        server.FreeString(NULL, load->key);
    }
    if (load->data) {
        server.FreeString(NULL, load->data);
    }
    while (load->kept) {
        struct kept *kept = load->kept;
        load->kept = kept->next;
        server.Free(kept);
    }
    server.Free(load->name);
    server.Free(load);
}

void load_send_drop(struct server_ctx *ctx, const struct load *load)
{
    const int db = server.GetSelectedDb(ctx);
    if (load->nframes > 0 && server.SelectDb(ctx, load->db) == SERVER_OK) { /* not of a bad file */
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "bc", load->name, load->name_len, "DROP");
        (void)server.SelectDb(ctx, db);
    }
}

void load_drop(struct server_ctx *ctx, struct load *load)
{
    load_send_drop(ctx, load);
    load_forget(load);
}

static bool is_of(const struct load *load, int db, const char *name, size_t len)
{
    return load->db == db && load->name_len == len && memcmp(load->name, name, len) == 0;
}

struct load *loads_find(int db, const char *name, size_t len)
{
    for (struct load *load = loads; load; load = load->next) {
        if (!load->is_in_steps && is_of(load, db, name, len)) {
            load->last_used = ++now;
            return load;
        }
    }
    return NULL;
}

void loads_replace(struct server_ctx *ctx, int db, const char *name, size_t len)
{
    for (struct load *next, *load = loads; load; load = next) {
        next = load->next;
        if (is_of(load, db, name, len)) {
            if (load->is_in_steps) {
                load_send_drop(ctx, load);
                load->stopped = ERROR_REPLACED;
            } else {
                load_drop(ctx, load);
            }
        }
    }
}

static void make_room(struct server_ctx *ctx, size_t max)
{
    struct load *oldest = NULL;
    size_t n = 0;
    for (struct load *load = loads; load; load = load->next) {
        if (!load->is_in_steps) {
            oldest = oldest && oldest->last_used < load->last_used ? oldest : load;
            n++;
        }
    }
    if (n >= max) {
        load_drop(ctx, oldest);
    }
}

bool loads_may_wait(size_t len)
{
    uint64_t nbytes = len;
    size_t n = 0;
    for (const struct load *load = loads; load; load = load->next) {
        if (load->is_in_steps) {
            nbytes += load->nbytes;
            n++;
        }
    }
    return n == 0 || (n < LOADS_MAX && nbytes <= WAITING_BYTES_MAX);
}

struct load *loads_append(int db, const char *name, size_t len, unsigned family)
{
    struct load **end = &loads;
    struct load *load = server.TryAlloc(sizeof(*load));
    char *copy = server.TryAlloc(len + 1);
    if (!load || !copy) {
        server.Free(load);
        server.Free(copy);
        return NULL;
    }
    memcpy(copy, name, len);
    *load = (struct load){.name = copy,
                          .name_len = len,
                          .db = db,
                          .family = family,
                          .last_used = ++now,
                          .stopped = ERROR_NONE};
    loader_init(&load->loader);
    while (*end) {
        end = &(*end)->next;
    }
    *end = load;
    return load;
}

/* The file of a replica has unfinished loads only if it has a set. */
static bool has_sets(void)
{
    uint64_t n = 0;
    for (const struct load *load = loads; load; load = load->next) {
        n += load->loader.value || load->value;
    }
    return value_total() > n;
}

struct load *loads_begin(struct server_ctx *ctx, struct server_string *key, unsigned family)
{
    size_t len;
    const char *name = server.StringPtrLen(key, &len);
    const int db = server.GetSelectedDb(ctx);
    loads_replace(ctx, db, name, len);
    make_room(ctx, family ? LOADS_MAX : 2 * LOADS_MAX);
    const bool is_saved = has_sets();
    struct load *load = loads_append(db, name, len, family);
    if (load) {
        load->sends_whole = family != 0 && !is_saved;
    }
    return load;
}

/* Ends the loads of the data set that a file replaces. A timer and a client still have a load in
 * steps, so its next step ends it. */
static void end_all(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                    void *data)
{
    (void)ctx;
    (void)event;
    (void)data;
    if (subevent >= SERVER_LOADING_ENDED) {
        return;
    }
    for (struct load *next, *load = loads; load; load = next) {
        next = load->next;
        if (load->is_in_steps) {
            load->stopped = ERROR_NEW_DATA_SET;
        } else {
            load_forget(load);
        }
    }
}

/* ---- frames ---- */

enum error load_take(struct load *load, const void *frame, size_t len)
{
    const enum unseen_status status = loader_take(&load->loader, frame, len);
    if (status != UNSEEN_OK) {
        type_note_refusal(status);
    }
    if (status == UNSEEN_ERR_NOMEM) {
        return ERROR_NO_MEMORY_CREATE;
    }
    if (status == UNSEEN_OK && load->family != 0 &&
        value_recipe(load->loader.value)->settings.window > 0) {
        return ERROR_WINDOW_DUMP;
    }
    const bool is_good =
        status == UNSEEN_OK &&
        (load->family == 0 || value_recipe(load->loader.value)->settings.family == load->family);
    if (is_good && load->loader.is_complete) {
        load->value = loader_value(&load->loader);
    }
    if (is_good) {
        return ERROR_NONE;
    }
    return status == UNSEEN_ERR_VERSION ? ERROR_DATA_VERSION : ERROR_DATA;
}

bool load_keep(struct load *load, const void *frame, size_t len)
{
    struct kept *kept = server.TryAlloc(sizeof(*kept) + len);
    if (!kept) {
        return false;
    }
    *kept = (struct kept){.len = len};
    memcpy(kept->bytes, frame, len);
    if (load->kept) {
        load->last_kept->next = kept;
    } else {
        load->kept = kept;
    }
    load->last_kept = kept;
    return true;
}

/* ---- what makes a load be sent whole ---- */

static void send_whole(struct server_ctx *ctx, struct server_event event, uint64_t subevent,
                       void *data)
{
    (void)ctx;
    (void)subevent;
    (void)data;
    if (event.id == SERVER_EVENT_REPLICA) {
        effects_note_replica();
    }
    for (struct load *load = loads; load; load = load->next) {
        load->sends_whole = true;
        load->position = DUMP_START;
    }
}

bool loads_init(struct server_ctx *ctx)
{
    const struct server_event forked = {SERVER_EVENT_FORK, SERVER_EVENT_VERSION};
    const struct server_event replica = {SERVER_EVENT_REPLICA, SERVER_EVENT_VERSION};
    const struct server_event loading = {SERVER_EVENT_LOADING, SERVER_EVENT_VERSION};
    return server.SubscribeToServerEvent(ctx, loading, end_all) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, forked, send_whole) == SERVER_OK &&
           server.SubscribeToServerEvent(ctx, replica, send_whole) == SERVER_OK;
}
