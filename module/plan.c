/* SPDX-License-Identifier: MIT
 *
 * Which filters a value has. A value starts as a small set, unless many keys are reserved: then
 * it is a block filter of that size. With a rate from 1e-5 on that part stays, frozen, and the
 * library puts others behind it ("layered"). A small set for a lower rate keeps the first bits
 * of its keys, from which a "compact" set, which grows by itself, is made as if it had been
 * there from the start.
 *
 * Plans are found by their encoded settings in a table of chains. Values are freed by the server's
 * lazy-free thread, too: the table has a lock. */
#include "plan.h"

#include <pthread.h>
#include <string.h>

#include "checksum.h"
#include "memory.h"
#include "server.h"

enum {
    NCHAINS = 1024,
    NIDS = 65536,
    SMALL_CAPACITY = 1024 /* the most keys that are reserved in a small set */
};

/* The lowest rate of a small set with layers (unseen_small.h). */
static const double layered_rate_min = 1e-5;

/* A "compact" set has one of two widths: this rate in 36 bits, or UNSEEN_FPR_DEFAULT in 45. */
static const double narrow_rate = 1.5e-6;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan *chains[NCHAINS];
static struct plan *ids[NIDS]; /* a value reads the place of its plan without the lock */
static uint16_t last_id;
static unsigned nids; /* in use */

/* Plans are few and belong to the module: their memory has no limit and is in no key's count. */
static struct memory shared_memory;

/* A rate that is not loose enough for a block filter leaves it at "compact". */
static void take_sized(struct plan *plan)
{
    const struct settings *s = &plan->settings;
    struct unseen_plan sized = {.size = sizeof(sized),
                                .filter = "block",
                                .capacity = s->capacity,
                                .fpr = s->fpr - narrow_rate};
    if (unseen_plan(&sized) == UNSEEN_OK) {
        plan->filter = s->is_fixed ? "block" : "layered";
        plan->starts_small = false;
        plan->capacity = s->capacity;
        plan->bytes = sized.bits / 8;
    }
}

/* Sets that can remove or count are "compact" at any rate. */
static enum unseen_status choose(struct plan *plan)
{
    const struct settings *s = &plan->settings;
    const bool is_loose = s->kind == KIND_BLOOM && s->fpr >= layered_rate_min;
    plan->starts_small = true;
    plan->filter = s->kind == KIND_CUCKOO ? "compact-count" : is_loose ? "layered" : "compact";
    plan->rate = is_loose || s->fpr < narrow_rate ? s->fpr : narrow_rate;
    if (is_loose && s->capacity > SMALL_CAPACITY) {
        take_sized(plan);
    }
    return s->fpr >= UNSEEN_FPR_DEFAULT ? UNSEEN_OK : UNSEEN_ERR_FPR;
}

static enum unseen_status make_url(struct plan *plan, const struct unseen_allocator *allocator)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = plan->settings.profile, .allocator = allocator};
    return plan->settings.profile[0] ? unseen_url_create(&plan->url, &options, NULL) : UNSEEN_OK;
}

static enum unseen_status make_keyer(struct plan *plan, const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = "block",
                                               .capacity = 1,
                                               .fpr = 0.5,
                                               .seed = plan->settings.seed,
                                               .seed_len = SEED_LEN,
                                               .key_bits = plan->key_bits,
                                               .url = plan->url,
                                               .allocator = allocator};
    return unseen_set_create(&plan->keyer, &options, NULL);
}

/* Gives the plan the next id that is free. */
static void take_id(struct plan *plan)
{
    if (nids == NIDS - 1) {
        return;
    }
    do {
        last_id++;
    } while (last_id == 0 || ids[last_id]);
    nids++;
    ids[last_id] = plan;
    plan->id = last_id;
}

static void give_id_back(struct plan *plan)
{
    if (plan->id != 0) {
        nids--;
        ids[plan->id] = NULL;
    }
}

static void discard(struct plan *plan)
{
    unseen_set_free(plan->keyer);
    unseen_url_free(plan->url);
    server.Free(plan);
}

/* Keys of 64 bits add n / 2^64 to the rate of n keys, which only the lowest rate would feel. */
static enum unseen_status make(struct plan **plan_out, const struct settings *settings)
{
    struct plan *plan = server.TryAlloc(sizeof(*plan));
    if (!plan) {
        return UNSEEN_ERR_NOMEM;
    }
    *plan = (struct plan){.settings = *settings, .nusers = 1};
    plan->key_bits = settings->fpr >= narrow_rate ? 64 : 96;
    const struct unseen_allocator allocator = memory_allocator(&shared_memory);
    enum unseen_status status = choose(plan);
    status = status == UNSEEN_OK ? make_url(plan, &allocator) : status;
    status = status == UNSEEN_OK ? make_keyer(plan, &allocator) : status;
    if (status != UNSEEN_OK) {
        discard(plan);
        return status;
    }
    *plan_out = plan;
    return UNSEEN_OK;
}

static bool are_equal(const struct settings *a, const uint8_t *b, size_t b_len)
{
    uint8_t buf[SETTINGS_MAX];
    return settings_encode(a, buf) == b_len && memcmp(buf, b, b_len) == 0;
}

enum unseen_status plan_acquire(struct plan **plan_out, const struct settings *settings)
{
    uint8_t buf[SETTINGS_MAX];
    const size_t len = settings_encode(settings, buf);
    struct plan **chain = &chains[checksum_of(buf, len - 4) % NCHAINS];
    enum unseen_status status = UNSEEN_OK;
    pthread_mutex_lock(&lock);
    struct plan *plan = *chain;
    while (plan && !are_equal(&plan->settings, buf, len)) {
        plan = plan->next;
    }
    if (plan) {
        plan->nusers++;
    } else {
        status = make(&plan, settings);
        if (status == UNSEEN_OK) {
            plan->next = *chain;
            *chain = plan;
            take_id(plan);
        }
    }
    pthread_mutex_unlock(&lock);
    if (status == UNSEEN_OK) {
        *plan_out = plan;
    }
    return status;
}

void plan_share(struct plan *plan)
{
    pthread_mutex_lock(&lock);
    plan->nusers++;
    pthread_mutex_unlock(&lock);
}

void plan_release(struct plan *plan)
{
    uint8_t buf[SETTINGS_MAX];
    pthread_mutex_lock(&lock);
    if (--plan->nusers == 0) {
        const size_t len = settings_encode(&plan->settings, buf);
        struct plan **link = &chains[checksum_of(buf, len - 4) % NCHAINS];
        while (*link != plan) {
            link = &(*link)->next;
        }
        *link = plan->next;
        give_id_back(plan);
        discard(plan);
    }
    pthread_mutex_unlock(&lock);
}

struct plan *plan_of_id(uint16_t id)
{
    return ids[id];
}
