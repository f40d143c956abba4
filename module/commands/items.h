/* SPDX-License-Identifier: MIT
 *
 * What the commands BF.*, CF.* and UNSEEN.* share: they create a key, add items to a key, which is
 * created if it is missing, and ask a key for items. The answer is one for each item. */
#ifndef UNSEEN_MODULE_ITEMS_H
#define UNSEEN_MODULE_ITEMS_H

#include "keys/keys.h"
#include "server/errors.h"

/* How answers look. */
enum answer {
    ANSWER_NUMBER, /* 1 or 0 */
    ANSWER_BOOL    /* true or false to a client of RESP3 */
};

enum {
    ITEMS_MAX = 1000000 /* in one command */
};

struct items {
    struct server_string **argv; /* the items */
    size_t n;
    bool is_array; /* answer an array, also to one item */
    enum answer answer;
};

/* The creation of a key that is missing. */
struct creation {
    struct settings settings;
    bool is_forbidden;     /* NOCREATE */
    server_handler *again; /* the command, for when a large value has been made; NULL: at once */
};

/* Reads the value of WINDOW. Returns false if it is not a window. */
bool parse_window(const struct server_string *argument, uint64_t *window_out);

/* Fills in the module's defaults for a family of value. */
void creation_defaults(struct creation *creation, enum family family);

/* Replies with the error of a creation that failed. */
int reply_not_created(struct server_ctx *ctx, enum unseen_status status);

/* Begins a reply of n pairs of a name and a value: a map, which RESP2 has as an array. */
void reply_map(struct server_ctx *ctx, long n);

/* Creates a key that is missing, and replies OK or an error. A large value of BF.RESERVE is made
 * aside (create.h). */
int items_reserve(struct server_ctx *ctx, struct server_string *name,
                  const struct settings *settings);

/* Creates the key if it is missing, and adds items to it. With only_absent an item that is there is
 * not added once more. */
int items_add(struct server_ctx *ctx, struct server_string *name, const struct creation *creation,
              const struct items *items, bool only_absent);

/* Asks for items. A missing key has none. */
int items_ask(struct server_ctx *ctx, struct server_string *name, enum family family,
              const struct items *items);

#endif
