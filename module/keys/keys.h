/* SPDX-License-Identifier: MIT
 *
 * Keys of the server that hold our values. */
#ifndef UNSEEN_MODULE_KEYS_H
#define UNSEEN_MODULE_KEYS_H

#include "server/errors.h"
#include "server/server.h"
#include "value/value.h"

enum found {
    FOUND,
    MISSING,
    OF_OTHER_TYPE
};

/* Opens a key. *value_out is NULL unless it holds a value of this family. The caller closes
 * *key_out. */
enum found key_open(struct server_ctx *ctx, struct server_string *name, int mode,
                    enum family family, struct server_key **key_out, struct value **value_out);

/* As key_open, for a value of any family. */
enum found key_open_any(struct server_ctx *ctx, struct server_string *name, int mode,
                        struct server_key **key_out, struct value **value_out);

/* As key_open to read, and closes the key: the value stays valid for the length of the command. */
enum found key_read(struct server_ctx *ctx, struct server_string *name, enum family family,
                    struct value **value_out);

/* As key_read, for a value of any family. */
enum found key_read_any(struct server_ctx *ctx, struct server_string *name,
                        struct value **value_out);

/* Makes the value of settings, puts it into a missing key, and replicates the creation.
 *
 * Errors: those of recipe_acquire. */
enum unseen_status key_create(struct server_ctx *ctx, struct server_key *key,
                              struct server_string *name, const struct settings *settings,
                              struct value **value_out);

/* Puts a value into a missing key that is open, and replicates the creation. */
void key_fill(struct server_ctx *ctx, struct server_key *key, struct server_string *name,
              struct value *value);

/* Puts a value into a missing key. */
void key_put(struct server_key *key, struct value *value);

/* Tells the key where its value is after a change, which may have moved it. */
void key_moved(struct server_key *key, struct value *value);

/* Whether this server has the slot of a key. The server asks before each command; work that goes on
 * behind its command asks before it makes a key. */
bool key_is_ours(struct server_ctx *ctx, struct server_string *name);

/* The memory that a command of a client may take. */
struct budget key_budget(const struct value *value);

/* The error of a command that needs the key. */
static inline enum error key_error(enum found found)
{
    return found == FOUND ? ERROR_NONE : found == MISSING ? ERROR_NOT_FOUND : ERROR_WRONG_TYPE;
}

#endif
