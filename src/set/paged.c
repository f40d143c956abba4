/* SPDX-License-Identifier: MIT
 *
 * A set whose pages stay in their file. A question reads the page of its key and does not keep it;
 * keys that are added go to a second set, in memory. So the memory is that of the table, 1/250 of
 * the pages, and that of what was added since the file was written. */
#include "set/set.h"
#include "tags/compact.h"

enum {
    SLICE = 256 /* keys */
};

static enum unseen_status ask(const struct unseen_set *set, const struct unseen_key *keys, size_t n,
                              uint8_t *verdicts)
{
    struct unseen__shard *shard = &set->shards[0];
    pthread_mutex_lock(&shard->lock);
    const enum unseen_status status = unseen__compact_ask(shard->filter, keys, n, verdicts);
    pthread_mutex_unlock(&shard->lock);
    return status;
}

/* Runs the operation with the recent keys, for those of at most SLICE that the pages lack. */
static enum unseen_status run_recent(const struct unseen_set *set, enum unseen__operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone)
{
    struct unseen_key missing[SLICE];
    uint8_t answers[SLICE];
    size_t places[SLICE] = {0};
    size_t nmissing = 0;
    size_t nanswers = 0;
    for (size_t i = 0; i < n; i++) {
        missing[nmissing] = keys[i];
        places[nmissing] = i;
        nmissing += verdicts[i] == UNSEEN_NEW;
    }
    const enum unseen_status status =
        unseen__set_run(set->recent, operation, missing, nmissing, answers, &nanswers);
    for (size_t i = 0; i < nanswers; i++) {
        verdicts[places[i]] = answers[i];
    }
    *ndone = nanswers < nmissing ? places[nanswers] : n;
    return status;
}

enum unseen_status unseen__paged_run(const struct unseen_set *set, enum unseen__operation operation,
                                     const struct unseen_key *keys, size_t n, uint8_t *verdicts,
                                     size_t *ndone_out)
{
    enum unseen_status status = set->is_lost                  ? UNSEEN_ERR_STOPPED
                                : operation == UNSEEN__REMOVE ? UNSEEN_ERR_UNSUPPORTED
                                                              : UNSEEN_OK;
    size_t done = 0;
    while (done < n && status == UNSEEN_OK) {
        const size_t slice = n - done < SLICE ? n - done : SLICE;
        size_t ndone = 0;
        status = ask(set, keys + done, slice, verdicts + done);
        if (status == UNSEEN_OK) {
            status = run_recent(set, operation, keys + done, slice, verdicts + done, &ndone);
        }
        done += ndone;
    }
    if (ndone_out) {
        *ndone_out = done;
    }
    return status;
}
