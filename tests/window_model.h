/* SPDX-License-Identifier: MIT
 *
 * A set with a window against the dumbest model: for each key, the time at which it was new.
 * unit/window and fuzz_window give it random operations. Whoever includes this file has
 * `require`. */
#ifndef UNSEEN_TESTS_WINDOW_MODEL_H
#define UNSEEN_TESTS_WINDOW_MODEL_H

#include "set_check.h"

enum {
    MODEL_KEYS = 6000,
    MODEL_RUN = 4096,
    MODEL_OPERATION = 4 /* bytes */
};

struct window_model {
    struct unseen_set *set;
    struct test_allocator counting;
    uint64_t window;
    uint64_t late; /* the longest time that a key may stay too long */
    uint64_t step;
    bool exact; /* the clock moves in whole steps, and each call removes all that is due */
    uint64_t clock;
    bool present[MODEL_KEYS];
    uint64_t times[MODEL_KEYS];
    struct unseen_key keys[MODEL_RUN];
    uint8_t verdicts[MODEL_RUN];
};

static const uint64_t model_windows[] = {1, 50, 1000, 20000, 3000000, UINT64_C(31536000000)};

/* head[0] chooses the window, head[1] the filter, the threads and the kind of clock. The context of
 * the allocator is a test_allocator. */
static inline void model_create(struct window_model *m, const uint8_t head[2], enum unseen_cpu cpu,
                                struct unseen_allocator allocator)
{
    static const uint64_t seed = 1;
    memset(m, 0, sizeof(*m));
    allocator.context = &m->counting;
    m->window = model_windows[head[0] % (sizeof(model_windows) / sizeof(model_windows[0]))];
    m->late = m->window / 1000 > 1000 ? m->window / 1000 : 1000;
    m->step = (m->window + 1999) / 2000;
    m->exact = head[1] & 1;
    const struct unseen_set_options options = {
        .size = sizeof(options),
        .profile = "none",
        .filter = head[1] & 2 ? "counting" : "compact",
        .capacity = head[1] & 2 ? MODEL_KEYS : 0,
        .fpr = head[1] & 2   ? 1e-6
               : head[1] & 4 ? 1e-12
                             : UNSEEN_FPR_DEFAULT,
        .key_bits = head[1] & 8 ? 128 : 0,
        .threads = (head[1] & 48) == 48 ? 2 : 1,
        .seed = &seed,
        .seed_len = sizeof(seed),
        .cpu = cpu,
        .allocator = &allocator,
        .window = m->window,
    };
    require(unseen_set_create(&m->set, &options, NULL) == UNSEEN_OK);
}

static inline void model_check_stats(const struct window_model *m)
{
    struct unseen_set_stats stats = {.size = sizeof(stats)};
    require(unseen_set_stats(m->set, &stats) == UNSEEN_OK);
    require(stats.memory == m->counting.bytes);
    require(stats.window == m->window);
}

/* Keys that were noted before the first time count from it. */
static inline void model_expire(struct window_model *m, uint64_t now, size_t max)
{
    uint64_t next = 0;
    for (size_t i = 0; i < MODEL_KEYS && m->clock == 0; i++) {
        m->times[i] = now;
    }
    m->clock = now > m->clock ? now : m->clock;
    require(unseen_set_expire(m->set, now, max, &next) == UNSEEN_OK);
    require(max < SIZE_MAX || next > m->clock);
    const uint64_t nkeys = unseen__set_nkeys(m->set);
    if (next > 0 && !m->exact) {
        /* Before that time, no key leaves. */
        m->clock = next - 1 > m->clock ? next - 1 : m->clock;
        require(unseen_set_expire(m->set, next - 1, SIZE_MAX, NULL) == UNSEEN_OK);
        require(unseen__set_nkeys(m->set) == nkeys);
    }
}

/* Whether a verdict about a key can be true; if both can, the model learns which is. */
static inline void model_learn(struct window_model *m, size_t key, uint8_t verdict)
{
    const uint64_t age = m->clock - m->times[key];
    if (!m->present[key] || age >= m->window + (m->exact ? 0 : m->late)) {
        require(verdict == UNSEEN_NEW);
    } else if (age < m->window) {
        require(verdict == UNSEEN_SEEN);
    }
    m->present[key] = verdict == UNSEEN_SEEN;
}

static inline void model_run_keys(struct window_model *m, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = (first + i) % MODEL_KEYS;
        m->keys[i] = unseen_set_identity_key(m->set, &number, sizeof(number));
    }
}

static inline void model_add(struct window_model *m, size_t first, size_t n)
{
    size_t ndone = 9999;
    model_run_keys(m, first, n);
    const enum unseen_status status = unseen_set_add_keys(m->set, m->keys, n, m->verdicts, &ndone);
    require(status == UNSEEN_OK ? ndone == n : status == UNSEEN_ERR_NOMEM && ndone < n);
    for (size_t i = 0; i < ndone; i++) {
        const size_t key = (first + i) % MODEL_KEYS;
        model_learn(m, key, m->verdicts[i]);
        if (m->verdicts[i] == UNSEEN_NEW) {
            m->present[key] = true;
            m->times[key] = m->clock;
        }
    }
}

static inline void model_ask(struct window_model *m, size_t first, size_t n)
{
    model_run_keys(m, first, n);
    require(unseen_set_contains_keys(m->set, m->keys, n, m->verdicts, NULL) == UNSEEN_OK);
    for (size_t i = 0; i < n; i++) {
        model_learn(m, (first + i) % MODEL_KEYS, m->verdicts[i]);
    }
}

static inline void model_remove(struct window_model *m, size_t first, size_t n)
{
    size_t ndone = 0;
    model_run_keys(m, first, n);
    require(unseen_set_remove_keys(m->set, m->keys, n, m->verdicts, &ndone) == UNSEEN_OK);
    require(ndone == n);
    for (size_t i = 0; i < n; i++) {
        model_learn(m, (first + i) % MODEL_KEYS, m->verdicts[i]);
        m->present[(first + i) % MODEL_KEYS] = false;
    }
}

/* Moves the clock by a share of the window, or tells it an earlier time. */
static inline void model_tick(struct window_model *m, const uint8_t *bytes)
{
    static const uint64_t shares[] = {1 << 22, 1 << 19, 1 << 16, 1 << 14};
    const uint64_t part = (uint64_t)bytes[1] << 8 | bytes[2];
    uint64_t delta = m->window / shares[bytes[3] % 4] * part +
                     m->window % shares[bytes[3] % 4] * part / shares[bytes[3] % 4];
    if (bytes[3] & 8) {
        model_expire(m, m->clock > delta ? m->clock - delta : 1, SIZE_MAX);
    } else if (m->exact) {
        delta += m->step - delta % m->step;
        model_expire(m, m->clock + delta, SIZE_MAX);
    } else {
        model_expire(m, m->clock + delta + 1, bytes[3] & 128 ? SIZE_MAX : bytes[3] & 64 ? 0 : 7);
    }
}

/* An operation of MODEL_OPERATION bytes. */
static inline void model_step(struct window_model *m, const uint8_t *bytes)
{
    const size_t first = ((size_t)bytes[1] << 8 | bytes[2]) % MODEL_KEYS;
    const size_t n = (size_t)bytes[3] + 1;
    if (bytes[0] & 8) {
        m->counting.fail_at = m->counting.nallocs + 1 + bytes[3] % 3;
        m->counting.fail_after = bytes[3] & 4;
    }
    switch (bytes[0] % 8) {
    case 0:
    case 1:
        model_add(m, first, n);
        break;
    case 2:
        model_add(m, first, n * (MODEL_RUN / 256));
        break;
    case 3:
        model_ask(m, first, n);
        break;
    case 4:
        model_remove(m, first, n);
        break;
    default:
        model_tick(m, bytes);
    }
    m->counting.fail_at = 0;
    model_check_stats(m);
}

/* Checks all keys, lets all of them leave, and frees the set. */
static inline void model_end(struct window_model *m)
{
    model_ask(m, 0, MODEL_RUN);
    model_ask(m, MODEL_RUN, MODEL_KEYS - MODEL_RUN);
    model_expire(m, m->clock + 1, 0); /* if no time was told, keys count from now */
    model_expire(m, m->clock + 2 * m->window + 2 * m->late, 0);
    model_ask(m, 0, MODEL_RUN);
    require(unseen__set_nkeys(m->set) == 0);
    unseen_set_free(m->set);
    require(m->counting.nlive == 0);
}

#endif
