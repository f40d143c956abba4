/* SPDX-License-Identifier: MIT */
#include "keys/keys.h"

#include <errno.h>

#include "keys/effects.h"
#include "server/config.h"

enum found key_open_any(struct server_ctx *ctx, struct server_string *name, int mode,
                        struct server_key **key_out, struct value **value_out)
{
    struct server_key *key = server.OpenKey(ctx, name, mode);
    *key_out = key;
    *value_out = NULL;
    if (!key || server.KeyType(key) == SERVER_KEY_EMPTY) {
        return MISSING;
    }
    if (server.ModuleTypeGetType(key) != config.type) {
        return OF_OTHER_TYPE;
    }
    *value_out = server.ModuleTypeGetValue(key);
    return FOUND;
}

enum found key_open(struct server_ctx *ctx, struct server_string *name, int mode,
                    enum family family, struct server_key **key_out, struct value **value_out)
{
    const enum found found = key_open_any(ctx, name, mode, key_out, value_out);
    if (found == FOUND && value_recipe(*value_out)->settings.family != family) {
        *value_out = NULL;
        return OF_OTHER_TYPE;
    }
    return found;
}

enum found key_read(struct server_ctx *ctx, struct server_string *name, enum family family,
                    struct value **value_out)
{
    struct server_key *key;
    const enum found found = key_open(ctx, name, SERVER_READ, family, &key, value_out);
    server.CloseKey(key);
    return found;
}

enum found key_read_any(struct server_ctx *ctx, struct server_string *name,
                        struct value **value_out)
{
    struct server_key *key;
    const enum found found = key_open_any(ctx, name, SERVER_READ, &key, value_out);
    server.CloseKey(key);
    return found;
}

void key_put(struct server_key *key, struct value *value)
{
    (void)server.ModuleTypeSetValue(key, config.type, value); /* the key is open to be written */
}

void key_fill(struct server_ctx *ctx, struct server_key *key, struct server_string *name,
              struct value *value)
{
    key_put(key, value);
    effect_create(ctx, name, value);
}

void key_moved(struct server_key *key, struct value *value)
{
    if (server.ModuleTypeGetValue(key) != value) {
        (void)server.ModuleTypeReplaceValue(key, config.type, value, NULL); /* open as above */
    }
}

/* No function of every server says who has a slot. But a node of a cluster calls no command with a
 * key of another one. ENOENT: an administrator has taken the command away, so nobody knows. */
bool key_is_ours(struct server_ctx *ctx, struct server_string *name)
{
    if (!(server.GetContextFlags(ctx) & SERVER_IS_CLUSTER)) {
        return true;
    }
    struct server_call_reply *reply = server.Call(ctx, "EXISTS", "s", name);
    if (!reply) {
        return errno == ENOENT;
    }
    server.FreeCallReply(reply);
    return true;
}

struct budget key_budget(const struct value *value)
{
    return (struct budget){value_recipe(value)->settings.limit, 0, false};
}

enum unseen_status key_create(struct server_ctx *ctx, struct server_key *key,
                              struct server_string *name, const struct settings *settings,
                              struct value **value_out)
{
    struct recipe *recipe;
    enum unseen_status status = recipe_acquire(&recipe, settings);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = value_create(value_out, recipe);
    recipe_release(recipe);
    if (status == UNSEEN_OK) {
        key_fill(ctx, key, name, *value_out);
    }
    return status;
}
