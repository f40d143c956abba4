/* SPDX-License-Identifier: MIT
 *
 * Which filters a value has. A value is a first layer of known size, if the capacity is known and
 * the rate is loose enough for that to be smaller, and behind it a "compact" set that grows by itself.
 * Each gets half of the rate, so a question asks two filters at most, whatever the number of keys.
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
    NCHAINS = 1024
};

/* A "compact" set has one of two widths: this rate in 36 bits, or UNSEEN_FPR_DEFAULT in 45. */
static const double narrow_rate = 1.5e-6;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan *chains[NCHAINS];

/* Plans are few and belong to the module: their memory has no limit and is in no key's count. */
static struct memory shared_memory;

static bool take_sized(struct plan *plan, double rate)
{
    struct unseen_plan sized = {
        .size = sizeof(sized), .filter = "block", .capacity = plan->settings.capacity, .fpr = rate};
    if (unseen_plan(&sized) != UNSEEN_OK) {
        return false;
    }
    plan->filters[0] = sized.filter;
    plan->rates[0] = rate;
    plan->first_max = sized.capacity;
    plan->first_bytes = sized.bits / 8;
    return true;
}

static enum unseen_status choose(struct plan *plan)
{
    const struct settings *s = &plan->settings;
    const double half = s->fpr / 2;
    plan->nlayers = 1;
    plan->rates[0] = s->fpr;
    plan->filters[0] = s->kind == KIND_CUCKOO ? "compact-count" : "compact";
    if (s->kind == KIND_BLOOM && s->capacity > 0 && s->is_fixed && s->fpr > 10 * narrow_rate) {
        return take_sized(plan, s->fpr) ? UNSEEN_OK : UNSEEN_ERR_FPR;
    }
    if (s->kind == KIND_BLOOM && s->capacity > 0 && half > 10 * narrow_rate &&
        take_sized(plan, half)) {
        plan->nlayers = 2;
        plan->filters[1] = "compact";
        plan->rates[1] = half;
        return UNSEEN_OK;
    }
    plan->first_max = s->is_fixed ? s->capacity : 0;
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
        discard(plan);
    }
    pthread_mutex_unlock(&lock);
}
