/* SPDX-License-Identifier: MIT
 *
 * Every filter shared by threads: of all that add a key, exactly one is told that it was new; who
 * asks meanwhile never loses what is there; no data race (run with the thread sanitizer).
 * Label: threads */
#include "filter_check.h"

#include <pthread.h>

enum {
    THREADS = 4,
    KEYS = 20000
};

struct job {
    struct unseen_set *set;
    unsigned number;
    uint64_t nnew;
    uint64_t nadds;
    uint64_t nlost;
};

/* Each thread adds all keys, from another place on and in batches of another size, and asks for
 * those of the batch before. */
static void *run(void *argument)
{
    struct job *job = argument;
    struct unseen_key keys[FILTER_BATCH];
    uint8_t verdicts[FILTER_BATCH];
    const size_t batch = (size_t)1 << (2 * job->number);
    const uint64_t start = (uint64_t)job->number * KEYS / THREADS;
    for (uint64_t done = 0; done < KEYS; done += batch) {
        size_t ndone = 0;
        for (size_t i = 0; i < batch; i++) {
            keys[i] = test_key((start + done + i) % KEYS);
        }
        CHECK(unseen_set_add_keys(job->set, keys, batch, verdicts, &ndone) == UNSEEN_OK);
        CHECK_EQ(ndone, batch);
        for (size_t i = 0; i < batch; i++) {
            job->nnew += verdicts[i] == UNSEEN_NEW;
            job->nadds++;
        }
        CHECK(unseen_set_contains_keys(job->set, keys, batch, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < batch; i++) {
            job->nlost += verdicts[i] == UNSEEN_NEW;
        }
        if (done / batch % 256 == 0) {
            struct unseen_set_stats stats = {.size = sizeof(stats)};
            CHECK(unseen_set_stats(job->set, &stats) == UNSEEN_OK);
        }
    }
    return NULL;
}

static void check_filter(const char *filter)
{
    struct unseen_set_options options = filter_options(filter, 1e-4, KEYS, THREADS);
    options.allocator = NULL; /* the tests' counts for one thread only */
    struct unseen_set *set = filter_make(&options);
    struct job jobs[THREADS];
    pthread_t threads[THREADS];
    uint64_t nnew = 0;
    uint64_t nadds = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.set = set, .number = i};
        if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0) {
            perror("pthread_create");
            exit(2);
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        nnew += jobs[i].nnew;
        nadds += jobs[i].nadds;
        CHECK_EQ(jobs[i].nlost, 0);
    }
    CHECK(nnew <= KEYS && nnew >= KEYS - 20);
    CHECK_EQ(filter_stats(set).nkeys, strcmp(filter, "scalable-count") == 0 ? nadds : nnew);
    CHECK_EQ(filter_seen(set, 0, KEYS), KEYS);
    unseen_set_free(set);
}

int main(void)
{
    test_start();
    const char *name;
    for (size_t i = 0; (name = unseen_filter_name(i)) != NULL; i++) {
        check_filter(name);
    }
    return test_end();
}
