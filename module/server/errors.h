/* SPDX-License-Identifier: MIT
 *
 * The sentences of errors in both dialects. Clients compare these sentences. A row is
 * X(name, sentence of RedisBloom, sentence of valkey-bloom). */
#ifndef UNSEEN_MODULE_ERRORS_H
#define UNSEEN_MODULE_ERRORS_H

#include <unseen.h>

struct server_ctx;

#define ERRORS_SAME(X, name, text) X(name, text, text)

#define ERRORS(X)                                                                                  \
    ERRORS_SAME(X, WRONG_TYPE,                                                                     \
                "WRONGTYPE Operation against a key holding the wrong kind of value")               \
    ERRORS_SAME(X, NOT_FOUND, "ERR not found")                                                     \
    ERRORS_SAME(X, EXISTS, "ERR item exists")                                                      \
    ERRORS_SAME(X, RATE, "ERR bad error rate")                                                     \
    X(RATE_RANGE, "ERR error rate must be in the range (0.000000, 1.000000)",                      \
      "ERR (0 < error rate range < 1)")                                                            \
    ERRORS_SAME(X, CAPACITY, "ERR bad capacity")                                                   \
    X(CAPACITY_RANGE, "ERR capacity must be in the range [1, 1073741824]",                         \
      "ERR (capacity should be larger than 0)")                                                    \
    X(NO_EXPANSION, "ERR no expansion", "ERROR")                                                   \
    ERRORS_SAME(X, EXPANSION, "ERR bad expansion")                                                 \
    X(EXPANSION_RANGE, "ERR expansion must be in the range [0, 32768]", "ERR bad expansion")       \
    X(FIXED_EXPANDS, "Nonscaling filters cannot expand", "ERROR")                                  \
    X(RESERVE_SYNTAX, "ERR unknown argument received", "ERROR")                                    \
    X(INSERT_RATE, "Bad error rate", "ERR bad error rate")                                         \
    X(INSERT_EXPANSION, "Bad expansion", "ERR bad expansion")                                      \
    X(INSERT_CAPACITY, "Bad capacity", "ERR bad capacity")                                         \
    X(INSERT_SYNTAX, "Unknown argument received", "ERR unknown argument received")                 \
    ERRORS_SAME(X, TIGHTENING, "ERR bad tightening ratio")                                         \
    ERRORS_SAME(X, TIGHTENING_RANGE, "ERR (0 < tightening ratio range < 1)")                       \
    ERRORS_SAME(X, SEED, "ERR invalid seed")                                                       \
    ERRORS_SAME(X, SCALE_TO, "ERR bad validate scale to")                                          \
    ERRORS_SAME(X, SCALE_FIXED, "ERR cannot use NONSCALING and VALIDATESCALETO options together")  \
    ERRORS_SAME(X, SCALE_LIMIT,                                                                    \
                "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")         \
    X(INFORMATION, "Invalid information value", "ERR invalid information value")                   \
    ERRORS_SAME(X, FULL, "ERR non scaling filter is full")                                         \
    X(NO_MEMORY, "ERR problem inserting into filter",                                              \
      "ERR operation exceeds bloom object memory limit")                                           \
    X(LIMIT, "ERR the key has reached its MAXBYTES, nothing was lost",                             \
      "ERR operation exceeds bloom object memory limit")                                           \
    X(NO_MEMORY_CREATE, "ERR Insufficient memory to create filter",                                \
      "ERR operation exceeds bloom object memory limit")                                           \
    ERRORS_SAME(X, OUT_OF_MEMORY, "OOM command not allowed when used memory > 'maxmemory'.")       \
    ERRORS_SAME(X, NOT_CREATED, "ERR could not create filter")                                     \
    ERRORS_SAME(X, RATE_LOW, "ERR could not create filter: no rate this low, 5e-9 is the least")   \
    ERRORS_SAME(                                                                                   \
        X, HUGE,                                                                                   \
        "ERR a set this large cannot be made in a transaction or script: reserve it before")       \
    ERRORS_SAME(X, TOO_MANY, "ERR more than 1000000 items in one command")                         \
    ERRORS_SAME(X, POSITION, "Second argument must be numeric")                                    \
    ERRORS_SAME(X, LOAD_POSITION, "ERR Second argument must be numeric")                           \
    ERRORS_SAME(X, DATA, "ERR received bad data")                                                  \
    ERRORS_SAME(X, DATA_VERSION, "ERR the data was written by another version of this module")     \
    ERRORS_SAME(X, CF_NOT_FOUND, "Not found")                                                      \
    ERRORS_SAME(X, CF_NO_FILTER, "Cuckoo filter was not found")                                    \
    ERRORS_SAME(X, CF_CAPACITY, "Bad capacity")                                                    \
    ERRORS_SAME(X, CF_CAPACITY_RANGE,                                                              \
                "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]")                      \
    ERRORS_SAME(X, CF_INSERT_CAPACITY_RANGE,                                                       \
                "Capacity must be in the range [cf-bucket-size * 2, 1073741824]")                  \
    ERRORS_SAME(X, CF_ITERATIONS, "Couldn't parse MAXITERATIONS")                                  \
    ERRORS_SAME(X, CF_BUCKET, "Couldn't parse BUCKETSIZE")                                         \
    ERRORS_SAME(X, CF_EXPANSION, "Couldn't parse EXPANSION")                                       \
    ERRORS_SAME(X, CF_ITERATIONS_RANGE, "MAXITERATIONS: value must be in the range [1, 65535]")    \
    ERRORS_SAME(X, CF_BUCKET_RANGE, "BUCKETSIZE: value must be in the range [1, 255]")             \
    ERRORS_SAME(X, CF_EXPANSION_RANGE, "EXPANSION: value must be in the range [0, 32768]")         \
    ERRORS_SAME(X, CF_SYNTAX, "Unknown argument received")                                         \
    ERRORS_SAME(X, CF_NO_MEMORY, "ERR Insufficient memory")                                        \
    ERRORS_SAME(X, CF_POSITION, "Invalid position")                                                \
    ERRORS_SAME(X, MAXBYTES, "ERR MAXBYTES must be a number of bytes above 0")                     \
    ERRORS_SAME(X, PROFILE, "ERR there is no such profile of URL identity")                        \
    ERRORS_SAME(                                                                                   \
        X, WINDOW,                                                                                 \
        "ERR WINDOW must be 1s to 100y: 90s, 10m, 1.5h, 30d, 2w, 1y or a number of seconds")       \
    ERRORS_SAME(X, WINDOW_FIXED,                                                                   \
                "ERR a NONSCALING set cannot remove, so it has no window; one that scales has")    \
    ERRORS_SAME(                                                                                   \
        X, WINDOW_COUNTS,                                                                          \
        "ERR a set that counts has no window; those of BF.RESERVE and UNSEEN.RESERVE have")        \
    ERRORS_SAME(X, WINDOW_DUMP,                                                                    \
                "ERR a set with a window changes between its chunks: DUMP and RESTORE it")         \
    ERRORS_SAME(X, WINDOW_MERGE, "ERR a set with a window cannot be merged: its keys have times")  \
    ERRORS_SAME(X, WINDOW_GUARD,                                                                   \
                "ERR a set with a window forgets keys that exist: it cannot guard them")           \
    ERRORS_SAME(X, EFFECT, "ERR damaged change")                                                   \
    ERRORS_SAME(X, TTL, "ERR the time to live must be 1 to 1000000000 seconds")                    \
    ERRORS_SAME(X, MERGE,                                                                          \
                "ERR only different sets with one secret, one profile and one rate can be merged") \
    ERRORS_SAME(X, MERGE_OTHER, "ERR a set was renamed or replaced meanwhile: merge again")        \
    ERRORS_SAME(X, SHARDS, "ERR SHARDS must be 1 to 16384")                                        \
    ERRORS_SAME(X, SHARD_NAME, "ERR a name with a brace would have a tag of its own")              \
    ERRORS_SAME(X, GUARD_LEASE, "ERR LEASE must be 1 to 3600000 milliseconds")                     \
    ERRORS_SAME(X, GUARD_WAIT, "ERR WAIT must be 0 to 3600000 milliseconds")                       \
    ERRORS_SAME(X, GUARD_PX, "ERR PX must be 1 to 1000000000000 milliseconds")                     \
    ERRORS_SAME(X, GUARD_REPLICA, "READONLY a replica may be behind: ask the primary")             \
    ERRORS_SAME(X, GUARD_FULL, "OOM no lease past maxmemory: load the value without one")          \
    ERRORS_SAME(X, REPLICA, "ERR the server has become a replica: ask its primary again")          \
    ERRORS_SAME(X, MOVED, "TRYAGAIN the slot of the key moves to another node: ask again")         \
    ERRORS_SAME(X, REPLACED, "ERR another load of this key has begun")                             \
    ERRORS_SAME(X, MIXED, "ERR another command began this load: begin again with the first chunk") \
    ERRORS_SAME(X, NEW_DATA_SET, "ERR the server has loaded another data set: load again")         \
    ERRORS_SAME(X, LOADS, "ERR too many loads at once: try again when one has ended")              \
    ERRORS_SAME(X, SYNTAX, "ERR syntax error")

enum error {
    ERROR_NONE = -1,
#define ERRORS_ENUM(name, redisbloom, valkey) ERROR_##name,
    ERRORS(ERRORS_ENUM)
#undef ERRORS_ENUM
};

/* Replies with the sentence of an error, in the dialect of the module. Returns what a command
 * returns. */
int reply_error(struct server_ctx *ctx, enum error error);

#endif
