/* SPDX-License-Identifier: MIT
 *
 * Which filters a value has. A value starts as a small set, unless many keys are reserved: then
 * it is a block filter of that size. With a rate from 5e-7 on that part stays, frozen, and the
 * library puts others behind it ("chain"). A small set for a lower rate keeps the first bits
 * of its keys, from which a "compact" set, which grows by itself, is made as if it had been
 * there from the start. For CF.* a value starts as a small set that counts.
 *
 * Recipes are found by their encoded settings in a table of chains. The server's lazy-free thread
 * frees values, too, so the table has a lock. */
#include "value/recipe.h"

#include <pthread.h>
#include <string.h>

#include "server/memory.h"
#include "server/server.h"
#include "value/checksum.h"

enum {
    NCHAINS = 1024,
    NIDS = 65536,
    /* The most keys that are reserved in a small set: adds take longer the more there are. */
    SMALL_CAPACITY = 20000
};

/* The lowest rate of a small set with layers, and of a block filter in front of a set that grows
 * (unseen_small.h). */
static const double layers_rate_min = 5e-7;
static const double sized_rate_min = 1e-5;

/* The module uses two widths of "compact": this rate in 36 bits, or UNSEEN_FPR_DEFAULT in 45. */
static const double narrow_rate = 1.5e-6;

/* Of CF.*, where RedisBloom has 0.012 to 0.03. */
static const double cuckoo_rate = 0.005;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct recipe *chains[NCHAINS];
static struct recipe *ids[NIDS]; /* a value reads the place of its recipe without the lock */
static uint16_t last_id;
static unsigned nids; /* in use */

/* Recipes are few and belong to the module: their memory has no limit and is in no key's count. */
static struct memory shared_memory;

/* A rate that is not loose enough for a block filter leaves it at "compact". */
static void take_sized(struct recipe *recipe)
{
    const struct settings *s = &recipe->settings;
    struct unseen_plan sized = {.size = sizeof(sized),
                                .filter = "block",
                                .capacity = s->capacity,
                                .fpr = s->fpr - narrow_rate};
    if (unseen_plan(&sized) == UNSEEN_OK) {
        recipe->filter = s->is_fixed ? "block" : "chain";
        recipe->starts_small = false;
        recipe->capacity = s->capacity;
        recipe->bytes = sized.bits / 8;
    }
}

/* A set that counts, for so many keys that a small one would be slow, is "compact" from the
 * start. */
static void take_cuckoo(struct recipe *recipe)
{
    recipe->counts = true;
    recipe->starts_small = recipe->settings.capacity <= SMALL_CAPACITY;
    recipe->filter = recipe->starts_small ? "chain" : "compact";
    recipe->rate = recipe->starts_small ? cuckoo_rate : narrow_rate;
    recipe->layer_capacity = recipe->settings.capacity;
}

/* A rate between narrow_rate and sized_rate_min is better off with a "compact" set of 36 bits a key
 * from the start: behind layers it would have 45. */
static bool is_tight(const struct settings *s)
{
    return s->fpr >= layers_rate_min && s->fpr < narrow_rate && s->capacity <= SMALL_CAPACITY;
}

/* Sets that can forget, or remove URLs, are "compact" at any rate. A small set has no times. */
static enum unseen_status choose(struct recipe *recipe)
{
    const struct settings *s = &recipe->settings;
    const bool has_layers = s->fpr >= sized_rate_min || is_tight(s);
    const bool is_loose = s->family == FAMILY_BLOOM && !s->window && has_layers;
    recipe->starts_small = !s->window;
    recipe->filter = is_loose ? "chain" : "compact";
    recipe->layer_capacity = is_loose ? s->capacity : 0;
    recipe->rate = is_loose || s->fpr < narrow_rate ? s->fpr : narrow_rate;
    if (is_loose && s->capacity > SMALL_CAPACITY) {
        take_sized(recipe);
    }
    if (s->family == FAMILY_CUCKOO) {
        take_cuckoo(recipe);
    }
    return s->fpr >= UNSEEN_FPR_DEFAULT ? UNSEEN_OK : UNSEEN_ERR_FPR;
}

static enum unseen_status make_url(struct recipe *recipe, const struct unseen_allocator *allocator)
{
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = recipe->settings.profile, .allocator = allocator};
    return recipe->settings.profile[0] ? unseen_url_create(&recipe->url, &options, NULL)
                                       : UNSEEN_OK;
}

static enum unseen_status make_keyer(struct recipe *recipe,
                                     const struct unseen_allocator *allocator)
{
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .filter = "block",
                                               .capacity = 1,
                                               .fpr = 0.5,
                                               .seed = recipe->settings.seed,
                                               .seed_len = SEED_LEN,
                                               .key_bits = recipe->key_bits,
                                               .profile = recipe->url ? unseen_url_id(recipe->url)
                                                                      : "none",
                                               .allocator = allocator};
    return unseen_set_create(&recipe->keyer, &options, NULL);
}

/* Gives the recipe the next id that is free. */
static void take_id(struct recipe *recipe)
{
    if (nids == NIDS - 1) {
        return;
    }
    do {
        last_id++;
    } while (last_id == 0 || ids[last_id]);
    nids++;
    ids[last_id] = recipe;
    recipe->id = last_id;
}

static void give_id_back(struct recipe *recipe)
{
    if (recipe->id != 0) {
        nids--;
        ids[recipe->id] = NULL;
    }
}

static void discard(struct recipe *recipe)
{
    unseen_set_free(recipe->keyer);
    unseen_url_free(recipe->url);
    server.Free(recipe);
}

/* Keys of 64 bits add n / 2^64 to the rate of n keys, which only the lowest rate would feel. The
 * queue of a window would feel 12 bytes for each key. */
static enum unseen_status make(struct recipe **recipe_out, const struct settings *settings)
{
    struct recipe *recipe = server.TryAlloc(sizeof(*recipe));
    if (!recipe) {
        return UNSEEN_ERR_NOMEM;
    }
    *recipe = (struct recipe){.settings = *settings, .nusers = 1};
    recipe->key_bits = settings->fpr >= narrow_rate || settings->window ? 64 : 96;
    const struct unseen_allocator allocator = memory_allocator(&shared_memory);
    enum unseen_status status = choose(recipe);
    status = status == UNSEEN_OK ? make_url(recipe, &allocator) : status;
    status = status == UNSEEN_OK ? make_keyer(recipe, &allocator) : status;
    if (status != UNSEEN_OK) {
        discard(recipe);
        return status;
    }
    *recipe_out = recipe;
    return UNSEEN_OK;
}

static bool are_equal(const struct settings *a, const uint8_t *b, size_t b_len)
{
    uint8_t buf[SETTINGS_MAX];
    return settings_encode(a, buf) == b_len && memcmp(buf, b, b_len) == 0;
}

enum unseen_status recipe_acquire(struct recipe **recipe_out, const struct settings *settings)
{
    uint8_t buf[SETTINGS_MAX];
    const size_t len = settings_encode(settings, buf);
    struct recipe **chain = &chains[checksum_of(buf, len - CHECKSUM_LEN) % NCHAINS];
    enum unseen_status status = UNSEEN_OK;
    pthread_mutex_lock(&lock);
    struct recipe *recipe = *chain;
    while (recipe && !are_equal(&recipe->settings, buf, len)) {
        recipe = recipe->next;
    }
    if (recipe) {
        recipe->nusers++;
    } else {
        status = make(&recipe, settings);
        if (status == UNSEEN_OK) {
            recipe->next = *chain;
            *chain = recipe;
            take_id(recipe);
        }
    }
    pthread_mutex_unlock(&lock);
    if (status == UNSEEN_OK) {
        *recipe_out = recipe;
    }
    return status;
}

void recipe_share(struct recipe *recipe)
{
    pthread_mutex_lock(&lock);
    recipe->nusers++;
    pthread_mutex_unlock(&lock);
}

void recipe_release(struct recipe *recipe)
{
    uint8_t buf[SETTINGS_MAX];
    pthread_mutex_lock(&lock);
    if (--recipe->nusers == 0) {
        const size_t len = settings_encode(&recipe->settings, buf);
        struct recipe **link = &chains[checksum_of(buf, len - CHECKSUM_LEN) % NCHAINS];
        while (*link != recipe) {
            link = &(*link)->next;
        }
        *link = recipe->next;
        give_id_back(recipe);
        discard(recipe);
    }
    pthread_mutex_unlock(&lock);
}

struct recipe *recipe_of_id(uint16_t id)
{
    return ids[id];
}

enum unseen_status recipe_keys(const struct recipe *recipe, struct server_string **items, size_t n,
                               struct unseen_key *keys)
{
    struct unseen_bytes texts[ITEMS_BATCH];
    for (size_t i = 0; i < n; i++) {
        texts[i].data = server.StringPtrLen(items[i], &texts[i].len);
    }
    return unseen_set_keys(recipe->keyer, texts, n, keys, NULL);
}
