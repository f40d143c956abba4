/* SPDX-License-Identifier: MIT
 *
 * What the module knows for the whole server: its type, its secret, and the settings of keys that
 * are created later. module.c sets it at the start. Then CONFIG SET changes it, and an RDB file
 * brings its secret (type.c).
 *
 * config.c is the module's part of CONFIG GET, SET and REWRITE and of the server's configuration
 * file: the names, ranges and defaults of the dialect. */
#ifndef UNSEEN_MODULE_CONFIG_H
#define UNSEEN_MODULE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct server_ctx;
struct server_string;
struct server_type;

enum {
    SEED_LEN = 16,
    EXPANSION_MAX = 32768
};

#define CAPACITY_MAX ((uint64_t)1 << 30) /* of BF.* and CF.*, as in RedisBloom */

enum dialect {
    DIALECT_REDISBLOOM,
    DIALECT_VALKEY
};

struct config {
    struct server_type *type; /* of our values */
    enum dialect dialect;
    double fpr; /* of keys that BF.ADD, BF.MADD and BF.INSERT create */
    uint64_t capacity;
    uint32_t expansion;
    uint64_t cuckoo_capacity; /* of keys that CF.ADD and CF.INSERT create */
    uint32_t cuckoo_bucket;
    uint32_t cuckoo_iterations;
    uint32_t cuckoo_expansion;
    uint32_t cuckoo_max_expansions; /* has no effect */
    double tightening;
    bool keeps_place; /* active defragmentation moves nothing */
    uint64_t limit;   /* MAXBYTES of new keys; 0: none */
    uint32_t nshards; /* of UNSEEN.SHARD */
    uint8_t seed[SEED_LEN];
    bool has_seed_file; /* the seed came from seed-file, so an RDB file does not replace it */
};

extern struct config config;

static inline bool is_redisbloom(void)
{
    return config.dialect == DIALECT_REDISBLOOM;
}

/* Takes an argument of the module that is a setting under its name in dialect redisbloom, whichever
 * dialect it is, or under its name in RedisBloom 2. Returns false if there is none of this name.
 * *values_out is NULL if the value was taken, or says which there are. value may be NULL. */
bool config_argument(const struct server_string *name, const struct server_string *value,
                     const char **values_out);

/* Call it once, behind the arguments of the module: they are the defaults. Reads what the
 * configuration file says. Returns false if the server refuses, or the file has a wrong value. */
bool config_init(struct server_ctx *ctx);

#endif
