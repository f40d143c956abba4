/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include "effects.h"
#include "module.h"

enum found key_open(struct server_ctx *ctx, struct server_string *name, int mode, enum kind kind,
                    struct server_key **key_out, struct value **value_out)
{
    struct server_key *key = server.OpenKey(ctx, name, mode);
    *key_out = key;
    *value_out = NULL;
    if (!key || server.KeyType(key) == SERVER_KEY_EMPTY) {
        return MISSING;
    }
    if (server.ModuleTypeGetType(key) != module.type) {
        return OF_OTHER_TYPE;
    }
    struct value *value = server.ModuleTypeGetValue(key);
    if (value->plan->settings.kind != kind) {
        return OF_OTHER_TYPE;
    }
    *value_out = value;
    return FOUND;
}

enum found key_read(struct server_ctx *ctx, struct server_string *name, enum kind kind,
                    struct value **value_out)
{
    struct server_key *key;
    const enum found found = key_open(ctx, name, SERVER_READ, kind, &key, value_out);
    server.CloseKey(key);
    return found;
}

void key_put(struct server_key *key, struct value *value)
{
    (void)server.ModuleTypeSetValue(key, module.type, value); /* the key is open to be written */
}

enum unseen_status key_create(struct server_ctx *ctx, struct server_key *key,
                              struct server_string *name, const struct settings *settings,
                              struct value **value_out)
{
    struct plan *plan;
    enum unseen_status status = plan_acquire(&plan, settings);
    if (status != UNSEEN_OK) {
        return status;
    }
    status = value_create(value_out, plan);
    plan_release(plan);
    if (status == UNSEEN_OK) {
        key_put(key, *value_out);
        effect_create(ctx, name, *value_out);
    }
    return status;
}
