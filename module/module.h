/* SPDX-License-Identifier: MIT
 *
 * What the module knows for the whole server: its type, its configuration and its secret. module.c
 * writes it. type.c writes only the secret, when an RDB file brings one. */
#ifndef UNSEEN_MODULE_MODULE_H
#define UNSEEN_MODULE_MODULE_H

#include "settings.h"

struct server_ctx;
struct server_type;

enum dialect {
    DIALECT_REDISBLOOM,
    DIALECT_VALKEY
};

struct module {
    struct server_type *type;
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
    bool has_seed_file; /* the seed came from a file: that of an RDB file does not replace it */
};

extern struct module module;

static inline bool is_redisbloom(void)
{
    return module.dialect == DIALECT_REDISBLOOM;
}

#endif
