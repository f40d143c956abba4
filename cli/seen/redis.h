/* SPDX-License-Identifier: MIT
 *
 * A set of the module for Redis and Valkey (docs/server.md), asked by UNSEEN.ADD, UNSEEN.EXISTS and
 * UNSEEN.REMOVE. The address may say that a set is spread over N keys, "crawl:{TAG}" with the tags
 * of unseen_shard_tags. The public share of a URL chooses its key, and each key is on one node of a
 * cluster. */
#ifndef UNSEEN_CLI_REDIS_H
#define UNSEEN_CLI_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "seen/server_question.h"

struct redis_set_client;

/* Connects to the server of an address from which the password was taken. While no server listens,
 * it tries again for `wait` seconds. Returns NULL, and has reported why, if that failed. */
struct redis_set_client *redis_open(const char *address, const char *password, double wait);

/* The profile of the set; "" if the server has no such set yet. */
const char *redis_profile(const struct redis_set_client *r);

/* Makes the set, unless another program has made it meanwhile. fpr is 0 if none was asked for.
 * Returns false if that failed, which has been reported. */
bool redis_make(struct redis_set_client *r, const char *profile, double fpr);

/* As remote_put and remote_ask, for items that may have any bytes. */
bool redis_put(struct redis_set_client *r, const struct unseen_bytes *items, size_t n);
bool redis_ask(struct redis_set_client *r, enum server_question question, uint8_t *verdicts);

/* The figures of a set, of all its keys together. */
struct redis_info {
    struct unseen_set_stats stats; /* the filter's name lasts as long as the client */
    uint64_t maxbytes;             /* 0: no limit */
    size_t nkeys;                  /* 1, or the number of shards */
};

/* Asks for the figures. Returns false if a key has none, which has been reported unless an earlier
 * question was not answered. */
bool redis_info(struct redis_set_client *r, struct redis_info *info_out);

/* r may be NULL. */
void redis_close(struct redis_set_client *r);

#endif
