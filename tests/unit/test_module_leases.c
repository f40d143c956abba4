/* SPDX-License-Identifier: MIT
 *
 * The leases of a set in Redis or Valkey, beside a plain array of the time until which each key is
 * leased: random requests while time passes, keys that were chosen to collide, and memory that
 * fails. */
#include "test.h"

#include "longest_run.h"
#include "value/leases.h"

enum {
    NKEYS = 500,
    NSTEPS = 200000,
    NCHOSEN = 80000
};

static struct test_allocator counting;
static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
static struct lease_table leases;
static int64_t until_of[NKEYS]; /* 0: not leased */
static int64_t now = 1;

/* Keys with one home in a table without a salt. */
static struct unseen_key key_of(uint64_t i)
{
    return (struct unseen_key){.hi = i + 1, .lo = 0};
}

static enum unseen_status put(uint64_t i, int64_t until)
{
    return leases_put(&leases, &allocator, key_of(i), until, now);
}

/* A lease that has run out may be gone. */
static void check_key(size_t i)
{
    const int64_t until = leases_until(&leases, key_of(i));
    if (until != 0 || until_of[i] > now) {
        CHECK_EQ(until, until_of[i]);
    }
}

static void release(void)
{
    lease_table_release(&leases, &allocator);
    CHECK_EQ(counting.bytes, 0);
    memset(until_of, 0, sizeof(until_of));
}

static void test_model(void)
{
    uint64_t random = 1;
    for (int step = 0; step < NSTEPS; step++) {
        const size_t i = test_random(&random) % NKEYS;
        const unsigned percent = (unsigned)(test_random(&random) % 100);
        if (percent < 40) {
            until_of[i] = now + 1 + (int64_t)(test_random(&random) % 2000);
            CHECK_EQ(put(i, until_of[i]), UNSEEN_OK);
        } else if (percent < 70) {
            leases_remove(&leases, key_of(i));
            until_of[i] = 0;
        }
        check_key(i);
        now += percent == 99;
        if (step % 1000 == 0) {
            for (size_t j = 0; j < NKEYS; j++) {
                check_key(j);
            }
        }
    }
    release();
}

/* Half of the slots are free, so that random homes leave short runs. Nobody can choose keys for a
 * salt that is drawn for each table. */
static void test_chosen_keys(void)
{
    for (uint64_t i = 0; i < NCHOSEN; i++) {
        CHECK_EQ(put(i, now + 1), UNSEEN_OK);
    }
    uint8_t salt[sizeof(leases.salt)];
    CHECK_EQ(leases.n, NCHOSEN);
    CHECK(longest_run(leases.slots, leases.nslots) < 1000);
    memcpy(salt, leases.salt, sizeof(salt));
    release();
    CHECK_EQ(put(0, now + 1), UNSEEN_OK);
    CHECK(memcmp(salt, leases.salt, sizeof(salt)) != 0); /* each table has its own */
    release();
}

/* The table does not grow with all leases ever, only with those that last. */
static void test_expiry(void)
{
    for (uint64_t i = 0; i < NCHOSEN; i++) {
        CHECK_EQ(put(i, now + 10), UNSEEN_OK);
        now++;
    }
    CHECK(leases.nslots <= 64);
    release();
}

/* Each allocation fails once; what was leased before is as it was, and the next call succeeds. */
static void test_no_memory(void)
{
    size_t nfailures = 0;
    for (uint64_t i = 0; i < NKEYS; i++) {
        counting.fail_at = counting.nallocs + 1 + nfailures % 2;
        const enum unseen_status status = put(i, now + 1);
        if (status != UNSEEN_OK) {
            CHECK_EQ(status, UNSEEN_ERR_NOMEM);
            CHECK_EQ(leases.n, i);
            CHECK_EQ(leases_until(&leases, key_of(i)), 0);
            nfailures++;
        }
        counting.fail_at = 0;
        CHECK_EQ(put(i, now + 1), UNSEEN_OK);
        until_of[i] = now + 1;
        for (size_t j = 0; j < NKEYS; j++) {
            check_key(j);
        }
    }
    CHECK(nfailures >= 6);
    release();
}

/* The table itself, as `unseen serve` and the cache guard use it: it grows while it has entries,
 * and an entry is 0 behind its key, in new memory and in that of an entry that was removed. */
static void test_table(void)
{
    leases = (struct lease_table){.entry_size = sizeof(struct lease)};
    for (uint64_t i = 0; i < NKEYS; i++) {
        CHECK_EQ(lease_table_reserve(&leases, &allocator, 1), UNSEEN_OK);
        struct lease *lease = lease_table_add(&leases, key_of(i));
        CHECK_EQ(lease->until, 0);
        lease->until = (int64_t)i + 1;
        if (i % 3 == 2) {
            lease_table_remove(&leases, lease_table_find(&leases, key_of(i - 1)));
        }
    }
    for (uint64_t i = 0; i < NKEYS; i++) {
        const struct lease *lease = lease_table_find(&leases, key_of(i));
        const bool is_removed = i % 3 == 1 && i + 1 < NKEYS;
        CHECK_EQ(lease ? lease->until : 0, is_removed ? 0 : (int64_t)i + 1);
    }
    CHECK(leases.end < NKEYS);
    release();
}

int main(void)
{
    test_start();
    test_table();
    test_model();
    test_chosen_keys();
    test_expiry();
    test_no_memory();
    return test_end();
}
