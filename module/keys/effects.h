/* SPDX-License-Identifier: MIT
 *
 * What replicas and the AOF get: not the commands of clients, but what they changed. A creation
 * carries all settings with the seed, a change the packed keys, and both a checksum. A command that
 * changes nothing replicates nothing.
 *
 *     UNSEEN.CREATE key settings                    settings.c
 *     UNSEEN.APPLY key operation keys checksum      operation: + add, - remove
 *     UNSEEN.APPLY key + keys checksum now max      in a set with a window: value_expire first
 *     UNSEEN.TICK upto                              value_tick_all (windows.h)
 *     UNSEEN.LEASE key until keys checksum          until: milliseconds since 1970 */
#ifndef UNSEEN_MODULE_EFFECTS_H
#define UNSEEN_MODULE_EFFECTS_H

#include "server/server.h"
#include "value/value.h"

enum operation {
    OPERATION_ADD = '+',
    OPERATION_REMOVE = '-',
    OPERATION_LEASE = 'l'
};

enum {
    EFFECT_MAX = 4096
}; /* keys in one UNSEEN.APPLY */

/* Call it once, before all others. */
void effects_init(void);

/* Call it at each cron event: it looks whether anybody gets effects. */
void effects_cron(struct server_ctx *ctx);

/* Call it when a replica comes or goes (loads.c has the event). */
void effects_note_replica(void);

/* Replicates the creation of a key. */
void effect_create(struct server_ctx *ctx, struct server_string *name, const struct value *value);

/* Changes of one key by one command. */
struct effect {
    struct server_ctx *ctx;
    struct server_string *name;
    const struct recipe *recipe;
    const char *event; /* the keyspace event */
    enum operation operation;
    int64_t until; /* of OPERATION_LEASE */
    uint64_t now;  /* of effect_expire, until it is sent; 0: none */
    uint64_t max;
    bool has_changed;
    bool is_command; /* a replica that runs the client's command makes the same change */
    size_t nkeys;
    struct unseen_key keys[EFFECT_MAX];
};

void effect_begin(struct effect *effect, struct server_ctx *ctx, struct server_string *name,
                  const struct recipe *recipe, enum operation operation, const char *event);

/* Call it only for a command that adds one item to a key that exists, and that no limit can
 * refuse: the command itself may be replicated in place of its effect. */
void effect_is_command(struct effect *effect);

/* value_expire, for what is added next. Call it once. */
void effect_expire(struct effect *effect, struct value *value, uint64_t now, uint64_t max);

/* One key was changed. */
void effect_key(struct effect *effect, struct unseen_key key);

/* Replicates what is left, signals that the key was modified, and raises its event. */
void effect_end(struct effect *effect);

#endif
