/* SPDX-License-Identifier: MIT
 *
 * Hostile values of the module for Redis and Valkey, as RESTORE and LOADCHUNK bring them. Byte 0
 * chooses a genuine value. Each 5 bytes that follow are one change of its frames: a frame, an
 * offset, an action and a value. The module's own checksums are made right again. The loader must
 * refuse, or give a whole value: it can be changed, and a copy of it has the same digest. The input
 * is also taken as settings, and as a frame, as it is. */
#include "target.h"

#include "test.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "server/server.h"
#include "value/checksum.h"
#include "value/dump.h"

enum {
    NVALUES = 12,
    NFRAMES = 16,
    CHANGE = 5,
    ALLOC_MAX = 1 << 24
};

struct frames {
    size_t n;
    size_t lens[NFRAMES];
    uint8_t bytes[NFRAMES][DUMP_FRAME_MAX];
};

static struct frames genuine[NVALUES];

/* The server: memory only, and not more than a small set needs. */
static void *try_alloc(size_t size)
{
    return size > ALLOC_MAX ? NULL : malloc(size);
}

static struct unseen_key key_of(const struct value *value, uint64_t number)
{
    return unseen_set_identity_key(value_recipe(value)->keyer, &number, sizeof(number));
}

static struct budget no_limit;

#define START 1000 /* of the time of keys */

static void add_numbers(struct value **value, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const struct unseen_key key = key_of(*value, i);
        uint8_t verdict;
        size_t ndone;
        if (value_recipe(*value)->settings.window > 0) {
            value_expire(*value, START + 10 * i, 0);
        }
        (void)value_add(value, &key, 1, &verdict, &ndone, &no_limit);
    }
}

static void make_genuine(void)
{
    static const struct {
        struct settings settings;
        unsigned nkeys;
        unsigned repeats; /* from 4 on, keys of CF.* have more repeats than copies */
        bool removes;
        bool is_leased;
    } kinds[NVALUES] = {
        {{.family = FAMILY_BLOOM, .fpr = 0.01, .tightening = 0.5, .capacity = 100}, 200, 0, 0, 0},
        {{.family = FAMILY_BLOOM, .fpr = 0.01, .tightening = 0.5, .capacity = 40, .is_fixed = true},
         200,
         0,
         0,
         0},
        {{.family = FAMILY_CUCKOO, .fpr = 1.5e-6, .tightening = 0.5, .capacity = 1024, .bucket = 2},
         200,
         5,
         1,
         0},
        {{.family = FAMILY_URLS, .fpr = 5e-9, .tightening = 0.5, .profile = "crawl"}, 200, 0, 1, 1},
        {{.family = FAMILY_BLOOM, .fpr = 0.01, .tightening = 0.5, .capacity = 20001},
         20100,
         0,
         0,
         0},
        {{.family = FAMILY_BLOOM,
          .fpr = 0.01,
          .tightening = 0.5,
          .capacity = 20001,
          .is_fixed = true},
         200,
         0,
         0,
         0},
        {{.family = FAMILY_CUCKOO, .fpr = 1.5e-6, .tightening = 0.5, .capacity = 1024, .bucket = 2},
         30,
         0,
         0,
         0},
        {{.family = FAMILY_URLS, .fpr = 5e-9, .tightening = 0.5, .profile = "crawl"}, 30, 0, 0, 1},
        {{.family = FAMILY_BLOOM, .fpr = 2e-6, .tightening = 0.5, .capacity = 5000}, 300, 0, 0, 0},
        {{.family = FAMILY_URLS,
          .fpr = 5e-9,
          .tightening = 0.5,
          .profile = "crawl",
          .window = 1000},
         40,
         0,
         1,
         1},
        {{.family = FAMILY_BLOOM, .fpr = 0.01, .tightening = 0.5, .window = 90000, .capacity = 10},
         0,
         0,
         0,
         0},
        /* More keys have repeats than a small set holds. */
        {{.family = FAMILY_CUCKOO, .fpr = 1.5e-6, .tightening = 0.5, .capacity = 50, .bucket = 2},
         120,
         5,
         1,
         0},
    };
    server.TryAlloc = try_alloc;
    server.Free = free;
    memory_probe();
    for (size_t i = 0; i < NVALUES; i++) {
        struct frames *f = &genuine[i];
        struct recipe *recipe;
        struct value *value;
        uint8_t verdict;
        require(recipe_acquire(&recipe, &kinds[i].settings) == UNSEEN_OK);
        require(value_create(&value, recipe) == UNSEEN_OK);
        recipe_release(recipe);
        add_numbers(&value, kinds[i].nkeys);
        for (unsigned k = 0; k < kinds[i].repeats; k++) {
            add_numbers(&value, kinds[i].nkeys);
        }
        require(!kinds[i].removes ||
                value_remove(&value, key_of(value, 5), &verdict, &no_limit) == UNSEEN_OK);
        for (uint64_t k = 1000; kinds[i].is_leased && k < 1100; k++) {
            require(value_lease(&value, key_of(value, k), 0, 5000, &no_limit) == UNSEEN_OK);
        }
        for (int64_t position = DUMP_START; position != DUMP_END; f->n++) {
            require(f->n < NFRAMES);
            f->lens[f->n] = dump_frame(value, &position, f->bytes[f->n]);
        }
        value_free(value);
    }
}

/* Applies one change. */
static void change(struct frames *f, const uint8_t *p)
{
    const size_t i = p[0] % f->n;
    const size_t at = (size_t)p[1] << 8 | p[2];
    uint8_t *frame = f->bytes[i];
    switch (p[3] % 5) {
    case 0:
        frame[at % f->lens[i]] ^= p[4];
        break;
    case 1:
        frame[at % f->lens[i]] = p[4];
        break;
    case 2:
        f->lens[i] = 1 + at % f->lens[i];
        break;
    case 3:
        memcpy(frame, f->bytes[p[4] % f->n], DUMP_FRAME_MAX);
        f->lens[i] = f->lens[p[4] % f->n];
        break;
    default:
        memset(frame + at % f->lens[i], p[4], at % f->lens[i] + 8 <= f->lens[i] ? 8 : 1);
    }
}

static void seal(uint8_t *frame, size_t len)
{
    const size_t start = frame[0] == 'S';
    if ((frame[0] == 'S' || frame[0] == 'L' || frame[0] == 'M' || frame[0] == 'Z') &&
        len > start + 4) {
        (void)checksum_append(frame + start, len - start - 4);
    }
    if (len > 32 && memcmp(frame + 1, "UNSW", 4) == 0) { /* a chunk of a window */
        store_le64(frame + len - 8, unseen__checksum(frame + 1, len - 9));
    }
}

static void use(struct value *value)
{
    const struct unseen_key key = key_of(value, 7);
    struct value *copy;
    uint64_t nfilters;
    uint8_t verdict;
    add_numbers(&value, 20);
    (void)value_remove(&value, key, &verdict, &no_limit);
    (void)value_count(value, key);
    (void)value_renew(&value, key_of(value, 1001), 1, 9000, &no_limit);
    value_contains(value, &key, 1, &verdict);
    if (value_recipe(value)->settings.window > 0) {
        value_tick_all(START + 1100);
        value_expire(value, START + 2000, 3);
        value_tick_all(UINT64_MAX / 8);
    }
    require(value_capacity(value, &nfilters) > 0 && nfilters > 0 && value_effort(value) > 0);
    const enum unseen_status status = dump_copy(&copy, value);
    require(status == UNSEEN_OK || status == UNSEEN_ERR_NOMEM);
    if (status == UNSEEN_OK) {
        require(value_digest(copy) == value_digest(value));
        value_free(copy);
    }
    value_free(value);
}

static void load(const struct frames *f)
{
    struct loader loader;
    enum unseen_status status = UNSEEN_OK;
    loader_init(&loader);
    for (size_t i = 0; i < f->n && status == UNSEEN_OK; i++) {
        status = loader_take(&loader, f->bytes[i], f->lens[i]);
    }
    if (status == UNSEEN_OK && loader.is_complete) {
        use(loader_value(&loader));
    }
    loader_release(&loader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct frames f;
    struct settings settings;
    struct loader loader;
    if (genuine[0].n == 0) {
        make_genuine();
    }
    if (settings_decode(&settings, data, size) == UNSEEN_OK) {
        uint8_t buf[SETTINGS_MAX];
        require(settings_encode(&settings, buf) == size && memcmp(buf, data, size) == 0);
    }
    loader_init(&loader);
    (void)loader_take(&loader, data, size);
    loader_release(&loader);
    if (size > 0) {
        f = genuine[data[0] % NVALUES];
        for (size_t at = 1; at + CHANGE <= size; at += CHANGE) {
            change(&f, data + at);
        }
        for (size_t i = 0; i < f.n; i++) {
            seal(f.bytes[i], f.lens[i]);
        }
        load(&f);
    }
    return 0;
}
