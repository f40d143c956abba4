/* SPDX-License-Identifier: MIT
 *
 * Hostile values and static sets. Byte 0 chooses: the rest of the input is a value, or a static
 * set, or changes (an offset of 2 bytes and a byte) to a genuine value. Bits choose whether a value
 * grows, and whether its new keys crowd. Whatever is accepted behaves as a value: it keeps its
 * bytes, takes keys until it is full, never loses one, and grows into a set. */
#include "target.h"
#include "test.h"

#include <unseen_small.h>

enum {
    NBASES = 8,
    NKEYS = 300,
    CROWD = 2000
};

/* Keys from CROWD on are alike in their low words, as no hashed keys are. */
static struct unseen_key key_of(uint64_t i)
{
    uint64_t low = i < CROWD ? i : CROWD;
    uint64_t high = ~i;
    return (struct unseen_key){test_random(&low), test_random(&high)};
}

static void add(void **value, uint64_t first, uint64_t n)
{
    for (uint64_t i = first; i < first + n; i++) {
        const struct unseen_key key = key_of(i);
        uint8_t verdict = 9;
        size_t ndone;
        const enum unseen_status status = unseen_small_add(value, &key, 1, &verdict, &ndone, NULL);
        if (status == UNSEEN_ERR_SPACE) {
            require(ndone == 0);
            return;
        }
        require(status == UNSEEN_OK && ndone == 1);
        unseen_small_contains(*value, &key, 1, &verdict);
        require(verdict == UNSEEN_SEEN && unseen_small_count(*value, key) > 0);
    }
}

/* Takes one add of a key back, and gives it again. */
static void remove_one(void **value, struct unseen_key key)
{
    const uint64_t count = unseen_small_count(*value, key);
    uint8_t verdict = 9;
    const enum unseen_status status = unseen_small_remove(value, key, &verdict, NULL);
    require(status == UNSEEN_OK || status == UNSEEN_ERR_SPACE || status == UNSEEN_ERR_UNSUPPORTED);
    if (status == UNSEEN_OK) {
        require((verdict == UNSEEN_SEEN) == (count > 0));
        if (count > 0) {
            require(unseen_small_add(value, &key, 1, &verdict, NULL, NULL) != UNSEEN_ERR_NOMEM);
        }
    }
}

/* Uses a value as its owner would, with 40 keys from `first` on. */
static void use(void *value, bool grow, uint64_t first)
{
    struct unseen_small_stats before = {.size = sizeof(before)};
    struct unseen_small_stats after = {.size = sizeof(after)};
    require(unseen_small_stats(value, &before) == UNSEEN_OK);
    add(&value, first, 40);
    remove_one(&value, key_of(first));
    require(unseen_small_stats(value, &after) == UNSEEN_OK);
    require(after.nkeys + 1 >= before.nkeys && after.nkeys <= before.nkeys + 40);
    require(after.fpr_promise == before.fpr_promise && after.memory >= after.len);
    void *copy = NULL;
    require(unseen_small_load(&copy, value, after.len, NULL) == UNSEEN_OK);
    require(memcmp(copy, value, after.len) == 0);
    unseen_small_free(copy, NULL);
    if (grow) {
        const struct unseen_set_options options = {
            .size = sizeof(options), .profile = "none", .seed = "s", .seed_len = 1};
        struct unseen_set *set = NULL;
        const enum unseen_status status = unseen_small_grow(&set, value, &options, NULL);
        require(status == UNSEEN_OK ||
                (status == UNSEEN_ERR_UNSUPPORTED && after.fpr_promise < 1e-5));
        for (uint64_t i = first; i < first + 40 && status == UNSEEN_OK; i++) {
            const struct unseen_key key = key_of(i);
            uint8_t in_value;
            uint8_t in_set;
            unseen_small_contains(value, &key, 1, &in_value);
            require(unseen_set_contains_keys(set, &key, 1, &in_set, NULL) == UNSEEN_OK);
            require(in_value == UNSEEN_NEW || in_set == UNSEEN_SEEN);
        }
        unseen_set_free(set);
    }
    unseen_small_free(value, NULL);
}

static void try_value(const uint8_t *data, size_t size, uint8_t choice)
{
    void *value = NULL;
    if (unseen_small_load(&value, data, size, NULL) == UNSEEN_OK) {
        require(unseen_small_len(value) == size);
        use(value, choice & 0x80, choice & 0x40 ? CROWD : 1000);
    }
}

/* Genuine values with both forms, one and two layers, and without keys. */
static void try_changed(const uint8_t *data, size_t size)
{
    static const struct {
        double fpr;
        uint64_t nkeys;
        uint64_t capacity;
        bool counts;
    } bases[NBASES] = {{0.01, 30, 0, false},    {0.01, NKEYS, 0, false}, {1e-5, 100, 0, false},
                       {2e-6, 100, 0, false},   {5e-9, NKEYS, 0, false}, {0.5, 0, 0, false},
                       {0.005, NKEYS, 0, true}, {0.01, NKEYS, 200, true}};
    const unsigned base = data[0] % NBASES;
    void *value = NULL;
    uint8_t bytes[4096];
    const struct unseen_small_options options = {.size = sizeof(options),
                                                 .fpr = bases[base].fpr,
                                                 .capacity = bases[base].capacity,
                                                 .counts = bases[base].counts};
    require(unseen_small_create_with(&value, &options) == UNSEEN_OK);
    add(&value, 0, bases[base].nkeys);
    for (unsigned i = 0; bases[base].counts && i < 5; i++) {
        add(&value, 0, 10);
    }
    const size_t len = unseen_small_len(value);
    require(len <= sizeof(bytes));
    memcpy(bytes, value, len);
    unseen_small_free(value, NULL);
    for (size_t i = 1; i + 3 <= size && i < 60; i += 3) {
        bytes[(data[i] | (size_t)data[i + 1] << 8) % len] = data[i + 2];
    }
    try_value(bytes, len, data[0]);
}

static void try_static(const uint8_t *data, size_t size)
{
    for (uint64_t i = 0; i < 20; i++) {
        (void)unseen_static_contains(data, size, key_of(i));
    }
    /* A static set of keys that the input chooses, also such as no set makes. */
    struct unseen_key keys[200];
    uint8_t buf[2048];
    size_t n = 0;
    size_t len;
    for (; n < 200 && n + 8 <= size; n++) {
        memcpy(&keys[n].hi, data + n, sizeof(keys[n].hi));
        keys[n].lo = n;
    }
    if (unseen_static_build(keys, n, 0.01, buf, sizeof(buf), &len) == UNSEEN_OK) {
        require(len <= unseen_static_bound(n, 0.01));
        for (size_t i = 0; i < n; i++) {
            require(unseen_static_contains(buf, len, keys[i]));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    switch (data[0] & 3) {
    case 0:
        try_value(data + 1, size - 1, data[0]);
        break;
    case 1:
        try_static(data + 1, size - 1);
        break;
    default:
        try_changed(data + 1, size - 1);
        break;
    }
    return 0;
}
