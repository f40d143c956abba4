/* SPDX-License-Identifier: MIT */
#include "seen/asked.h"

#include <stdlib.h>

#include "print/message.h"
#include "print/typed.h"
#include "seen/foreign_filters.h"
#include "seen/stores.h"

void asked_close(struct asked *a)
{
    unseen_set_free(a->own);
    (void)unseen_store_close(a->store, NULL); /* was only read, or the cause has been reported */
    lists_close(&a->list);
    unseen_foreign_free(a->foreign);
    if (a->server) {
        server_close(a->server);
        free(a->server);
    }
    *a = (struct asked){.ops = NULL};
}

/* ---- A set, a store -------------------------------------------------------------------------- */

/* Looks the lines up. Reports that a store could not read a part of its image, and no other
 * error. */
static enum unseen_status look_up(const struct asked *a, struct query *q)
{
    struct unseen_key own[BATCH_LINES];
    for (size_t i = 0; i < q->n && a->makes_keys; i++) {
        own[i] = unseen_set_identity_key(a->set, q->canons[i].data, q->canons[i].len);
    }
    const struct unseen_key *keys = a->makes_keys ? own : q->keys;
    const enum unseen_status status =
        unseen_set_contains_keys(a->set, keys, q->n, q->verdicts, &q->ndone);
    if (status != UNSEEN_ERR_CORRUPT && status != UNSEEN_ERR_IO) {
        return status;
    }
    message_error("%s is damaged: a part of its image cannot be read", a->path);
    message_hint("unseen repair %s", typed_quoted(a->path));
    return UNSEEN_ERR_MISMATCH;
}

static enum unseen_status set_ask(struct asked *a, struct query *q)
{
    return a->adds ? unseen_set_add_keys(a->own, q->keys, q->n, q->verdicts, &q->ndone)
                   : look_up(a, q);
}

static enum unseen_status store_ask(struct asked *a, struct query *q)
{
    return a->adds ? unseen_store_add_keys(a->store, q->keys, q->n, q->verdicts, &q->ndone)
                   : look_up(a, q);
}

static const char *set_stats(const struct asked *a, struct unseen_set_stats *stats)
{
    *stats = stores_stats(a->set);
    return unseen_set_profile(a->set);
}

const struct asked_ops asked_set = {set_ask, set_stats};
const struct asked_ops asked_store = {store_ask, set_stats};

/* ---- A list ---------------------------------------------------------------------------------- */

/* A text that is allowed counts as not listed. A file that was cut within a page reads as zeros
 * there, so lists_check comes before the answers are used. */
static enum unseen_status list_ask(struct asked *a, struct query *q)
{
    const struct opened_list *l = &a->list;
    enum unseen_status status =
        lists_covers(l, l->takes_canons ? q->canons : q->items, q->n, q->verdicts);
    if (status == UNSEEN_OK) {
        status = lists_check(l);
    }
    if (status == UNSEEN_ERR_MISMATCH) {
        lists_report_lost(l->path);
    }
    for (; q->ndone < q->n && status == UNSEEN_OK; q->ndone++) {
        uint8_t *verdict = &q->verdicts[q->ndone];
        *verdict = *verdict == UNSEEN_SEEN ? UNSEEN_SEEN : UNSEEN_NEW;
    }
    return status;
}

static const char *list_stats(const struct asked *a, struct unseen_set_stats *stats)
{
    const struct unseen_list_info info = lists_info(a->list.list);
    stats->nkeys = info.nkeys + info.nadded;
    stats->memory = info.bytes;
    stats->fpr_promise = info.fpr;
    stats->fpr_estimate = info.rate;
    stats->filter = "list";
    return info.profile;
}

const struct asked_ops asked_list = {list_ask, list_stats};

bool asked_open_list(struct asked *a, const char *path, enum unseen_cpu cpu)
{
    a->ops = &asked_list;
    return lists_open(&a->list, path, UNSEEN_LIST_MAP_PREFETCH, cpu);
}

/* ---- A foreign filter ------------------------------------------------------------------------ */

static enum unseen_status foreign_ask(struct asked *a, struct query *q)
{
    unseen_foreign_contains(a->foreign, q->items, q->n, q->verdicts);
    q->ndone = q->n;
    return UNSEEN_OK;
}

static const char *foreign_stats(const struct asked *a, struct unseen_set_stats *stats)
{
    struct unseen_foreign_info info = {.size = sizeof(info)};
    (void)unseen_foreign_info(a->foreign, &info); /* fails for a wrong size only */
    stats->nkeys = info.nkeys_estimate;
    stats->memory = info.memory;
    stats->fpr_promise = info.fpr_estimate;
    stats->fpr_estimate = info.fpr_estimate;
    stats->filter = "foreign";
    return "none/1";
}

const struct asked_ops asked_foreign = {foreign_ask, foreign_stats};

bool asked_open_foreign(struct asked *a, const char *path)
{
    a->ops = &asked_foreign;
    return foreign_open(&a->foreign, path);
}
