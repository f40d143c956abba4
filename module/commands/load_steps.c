/* SPDX-License-Identifier: MIT */
#include "commands/load_steps.h"

#include "keys/frames.h"
#include "keys/keys.h"
#include "server/config.h"
#include "value/bytes.h"

enum {
    LENGTH_BYTES = 4,
    STEP_FRAMES = LOAD_STEP_BYTES / DUMP_FRAME_MAX /* in one step */
};

bool load_show(struct server_ctx *ctx, struct server_string *name, struct load *load)
{
    struct server_key *key = server.OpenKey(ctx, name, SERVER_READ | SERVER_WRITE);
    const bool is_free = server.KeyType(key) == SERVER_KEY_EMPTY;
    const bool is_ours = load->family == 0 && server.ModuleTypeGetType(key) == config.type;
    if (is_free) {
        key_put(key, load->value);
        load->value = NULL;
    } else if (is_ours) {
        void *old = NULL;
        (void)server.ModuleTypeReplaceValue(key, config.type, load->value, &old); /* is of it */
        load->value = old; /* goes with the load */
    }
    server.CloseKey(key);
    return is_free || is_ours;
}

void load_announce(struct server_ctx *ctx, struct server_string *name)
{
    loads_count_ended();
    (void)server.SignalModifiedKey(ctx, name);
    (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "unseen.load", name);
}

/* Takes some frames of BF.LOAD: each is behind its length in 4 bytes. */
static enum error take_data(struct load *load)
{
    size_t len;
    enum error error = ERROR_NONE;
    const uint8_t *p = (const uint8_t *)server.StringPtrLen(load->data, &len);
    for (size_t i = 0; i < STEP_FRAMES && !load->value && error == ERROR_NONE; i++) {
        const size_t left = len - load->at;
        const size_t frame_len =
            left < LENGTH_BYTES ? SIZE_MAX : (size_t)get_le(p + load->at, LENGTH_BYTES);
        if (left < LENGTH_BYTES || frame_len > left - LENGTH_BYTES) {
            return ERROR_DATA;
        }
        error = load_take(load, p + load->at + LENGTH_BYTES, frame_len);
        load->at += LENGTH_BYTES + frame_len;
    }
    if (load->value) {
        server.FreeString(NULL, load->data);
        load->data = NULL;
        error = load->at == len ? error : ERROR_DATA;
    }
    return error;
}

/* Sends some frames of the complete value. The key gets the value when the last frame is sent. A
 * key that somebody made meanwhile stays as it is, and a key whose slot has moved is not made. */
static enum error send(struct server_ctx *ctx, struct load *load)
{
    struct server_string *frames[STEP_FRAMES];
    enum error error = ERROR_NONE;
    const char *which = load->position == DUMP_START ? "FIRST" : "NEXT";
    const size_t n = frames_next(load->value, &load->position, frames, STEP_FRAMES);
    if (load->position == DUMP_END && load->steps.client && !key_is_ours(ctx, load->key)) {
        error = ERROR_MOVED;
    } else if (load->position == DUMP_END && !load_show(ctx, load->key, load)) {
        error = ERROR_EXISTS;
    }
    if (error == ERROR_NONE) {
        (void)server.Replicate(ctx, "UNSEEN.LOAD", "scv", load->key, which, frames, n);
        load->nframes += n;
    }
    frames_free(frames, n);
    return error;
}

/* Loads whose clients wait take their steps one after the other, so that many do not add up. */
static bool is_next(const struct load *load)
{
    const struct load *first = loads_first();
    while (!first->is_in_steps) {
        first = first->next;
    }
    return first == load;
}

static bool go_on(struct server_ctx *ctx, struct steps *steps)
{
    struct load *load = (struct load *)steps;
    if (load->stopped != ERROR_NONE) {
        steps->error = load->stopped;
        return false;
    }
    if (steps->client && !is_next(load)) {
        return true;
    }
    steps->error = load->data ? take_data(load) : send(ctx, load);
    return steps->error == ERROR_NONE && load->position != DUMP_END;
}

static void end(struct server_ctx *ctx, struct steps *steps)
{
    struct load *load = (struct load *)steps;
    if (steps->error == ERROR_NONE) {
        load_announce(ctx, load->key);
    } else if (steps->error == ERROR_EXISTS || steps->error == ERROR_MOVED ||
               steps->error == ERROR_NEW_DATA_SET) {
        load_send_drop(ctx, load);
    }
}

static void free_load(struct steps *steps)
{
    load_forget((struct load *)steps);
}

static const struct steps_work load_work = {go_on, end, free_load};

int load_run_steps(struct server_ctx *ctx, struct load *load, struct server_string *key,
                   size_t nbytes)
{
    server.RetainString(NULL, key);
    steps_init(&load->steps, &load_work);
    load->key = key;
    load->is_in_steps = true;
    load->nbytes = nbytes;
    return steps_run(ctx, &load->steps, nbytes <= LOAD_STEP_BYTES);
}
