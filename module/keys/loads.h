/* SPDX-License-Identifier: MIT
 *
 * Loads: values that come in frame by frame, and have no key yet. There is room for LOADS_MAX of
 * them, as a client may go away in the middle; one more takes the place of the load that has been
 * idle for longest. Loads in steps (load_steps.h) have no place among these. At most LOADS_MAX of
 * BF.LOAD, with WAITING_BYTES_MAX of data, wait at once; one more BF.LOAD is refused. A load whose
 * client has gone still counts.
 *
 * The module sends each frame to replicas and the AOF at once, and the last frame costs what the
 * others cost. But a file or a full sync does not hold a client's unfinished load. The module
 * sends the whole value at the end, in steps, if the server has forked a child meanwhile to write
 * a file, if a replica came or went, or if there was no set. */
#ifndef UNSEEN_MODULE_LOADS_H
#define UNSEEN_MODULE_LOADS_H

#include "server/errors.h"
#include "server/server.h"
#include "server/steps.h"
#include "value/dump.h"

enum {
    LOADS_MAX = 16
};

/* A frame that a file will need. */
struct kept {
    struct kept *next;
    size_t len;
    uint8_t bytes[];
};

struct load {
    struct steps steps; /* of the client that waits for the end */
    struct load *next;
    struct loader loader;
    char *name;
    size_t name_len;
    int db;
    unsigned family; /* of the value; 0: any */
    uint64_t last_used;
    uint64_t nframes; /* that were sent */
    bool sends_whole; /* at the end, not each frame */

    /* Of a load that a primary sends: the frames so far. */
    struct kept *kept;
    struct kept *last_kept;

    /* Of a load that goes in steps. */
    bool is_in_steps;
    enum error stopped; /* why the next step ends it; ERROR_NONE: it goes on */
    struct server_string *key;
    struct server_string *data; /* the frames of BF.LOAD until all are taken; NULL: all are */
    size_t nbytes;              /* of data, or of a value that needs none */
    size_t at;                  /* bytes of data that were taken */
    struct value *value;        /* complete, and sent up to: */
    int64_t position;
};

/* Call it once, before all others. Returns false if the server refuses. */
bool loads_init(struct server_ctx *ctx);

/* How many loads have ended well. */
uint64_t loads_ended(void);
void loads_count_ended(void);

/* The oldest load; the others are behind its `next`. */
struct load *loads_first(void);

/* The load that takes the next frame of a key. */
struct load *loads_find(int db, const char *name, size_t len);

/* Begins a load for a key, and ends the older loads of the key. A replica, where family is 0, has
 * room for as many values again: those that its primary sends whole. Returns NULL without
 * memory. */
struct load *loads_begin(struct server_ctx *ctx, struct server_string *key, unsigned family);

/* Adds a load. Returns NULL without memory. */
struct load *loads_append(int db, const char *name, size_t len, unsigned family);

/* Ends the older load of a key. If that load goes in steps, its next step ends it. */
void loads_replace(struct server_ctx *ctx, int db, const char *name, size_t len);

/* Whether one more load of len bytes may go in steps. */
bool loads_may_wait(size_t len);

/* Takes a frame. Behind the last one load->value is the value. */
enum error load_take(struct load *load, const void *frame, size_t len);

/* Keeps a frame for a file. Returns false without memory. */
bool load_keep(struct load *load, const void *frame, size_t len);

/* Frees a load. */
void load_forget(struct load *load);

/* Tells replicas that no more frames of this load come. They would keep its first frames, and might
 * forget another load for it that has more to come. The load may be of another database than the
 * one of this client, which stays in its own. */
void load_send_drop(struct server_ctx *ctx, const struct load *load);

/* Both of the two. */
void load_drop(struct server_ctx *ctx, struct load *load);

#endif
