/* SPDX-License-Identifier: MIT */
#include "commands/shared_keys.h"

/* The input at hand is over: what it shares with those before it is asked by the next one. */
static enum unseen_status begin_input(struct shared_keys *s)
{
    struct unseen_set *set;
    const enum unseen_status status = unseen_set_create(&set, &s->options, NULL);
    if (status == UNSEEN_OK) {
        unseen_set_free(s->before);
        s->before = s->now;
        s->now = set;
        s->nshared = 0;
    }
    return status;
}

static enum unseen_status begin_inputs(struct shared_keys *s, size_t input)
{
    enum unseen_status status = s->now ? UNSEEN_OK : begin_input(s);
    while (status == UNSEEN_OK && s->input < input) {
        status = begin_input(s);
        s->input += status == UNSEEN_OK;
    }
    return status;
}

enum unseen_status shared_keys_take(struct shared_keys *s, size_t input,
                                    const struct unseen_key *keys, size_t n)
{
    uint8_t verdicts[SHARED_KEYS_MAX];
    struct unseen_key shared[SHARED_KEYS_MAX];
    size_t nshared = 0;
    enum unseen_status status = begin_inputs(s, input);
    if (status == UNSEEN_OK && s->before) {
        status = unseen_set_contains_keys(s->before, keys, n, verdicts, NULL);
        for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
            if (verdicts[i] == UNSEEN_SEEN) {
                shared[nshared++] = keys[i];
            }
        }
        keys = shared;
        n = nshared;
    }
    if (status == UNSEEN_OK) {
        status = unseen_set_add_keys(s->now, keys, n, verdicts, NULL);
    }
    for (size_t i = 0; i < n && status == UNSEEN_OK; i++) {
        s->nshared += verdicts[i] == UNSEEN_NEW;
    }
    return status;
}

uint64_t shared_keys_count(const struct shared_keys *s, size_t ninputs)
{
    return s->input + 1 == ninputs ? s->nshared : 0;
}

void shared_keys_release(struct shared_keys *s)
{
    unseen_set_free(s->before);
    unseen_set_free(s->now);
    s->before = NULL;
    s->now = NULL;
}
