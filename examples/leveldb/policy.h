/* SPDX-License-Identifier: MIT
 *
 * A filter policy for LevelDB: a static set of unseen (unseen_small.h) for each block of keys.
 *
 *     leveldb_filterpolicy_t *policy = policy_create("db/unseen.seed", 0.0084);
 *     leveldb_options_set_filter_policy(options, policy);
 *
 * The static sets are in LevelDB's files, beside the keys that they have, so they are never behind
 * them. */
#ifndef LEVELDB_POLICY_H
#define LEVELDB_POLICY_H

#include <leveldb/c.h>

/* The secret of the keys is in the file, which is made if it does not exist; its folder must exist.
 * Without the file the filters that are there are not used: the name of the policy says which
 * secret they belong to. Returns NULL, and has printed why, if that failed.
 * leveldb_filterpolicy_destroy frees the policy, after the database was closed. */
leveldb_filterpolicy_t *policy_create(const char *seed_path, double rate);

#endif
