/* SPDX-License-Identifier: MIT
 *
 * Counts the keys that are in each of several inputs. The inputs come one after the other. Two sets
 * are kept: the keys that all earlier inputs have, and those of them that the current input has,
 * too. */
#ifndef UNSEEN_CLI_SHARED_KEYS_H
#define UNSEEN_CLI_SHARED_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

enum {
    SHARED_KEYS_MAX = 512
};

/* The caller sets options; all else is zero at first. The keys need not be of a set with these
 * options. */
struct shared_keys {
    struct unseen_set_options options; /* of each set */
    size_t input;                      /* the index of the input at hand */
    struct unseen_set *before;         /* NULL: the first input is at hand */
    struct unseen_set *now;            /* NULL before the first key */
    uint64_t nshared;                  /* keys in `now` */
};

/* Takes up to SHARED_KEYS_MAX keys of an input; its index is never lower than before. An input that
 * is skipped has no keys. */
enum unseen_status shared_keys_take(struct shared_keys *s, size_t input,
                                    const struct unseen_key *keys, size_t n);

/* The number of keys that each of so many inputs has, after all of their keys were taken. */
uint64_t shared_keys_count(const struct shared_keys *s, size_t ninputs);

void shared_keys_release(struct shared_keys *s);

#endif
