/* SPDX-License-Identifier: MIT
 *
 * LevelDB calls create_filter with the keys of some blocks, a few dozen, when it writes a file, and
 * key_may_match with the bytes that create_filter gave. A filter that cannot be made (no memory) is
 * empty, and lets every key pass: an empty filter is not a static set. */
#define _POSIX_C_SOURCE 200809L
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <unseen_small.h>

enum {
    SEED_BYTES = 32
};

struct policy {
    struct unseen_set *keys; /* makes the keys; has none */
    double rate;
    char name[64];
};

/* ---- The three functions --------------------------------------------------------------------- */

static struct unseen_key *make_keys(const struct policy *p, const char *const *data,
                                    const size_t *lens, size_t n)
{
    struct unseen_bytes *items = malloc((n + 1) * sizeof(*items));
    struct unseen_key *keys = malloc((n + 1) * sizeof(*keys));
    bool done = items && keys;
    for (size_t i = 0; i < n && done; i++) {
        items[i] = (struct unseen_bytes){data[i], lens[i]};
    }
    done = done && unseen_set_keys(p->keys, items, n, keys, NULL) == UNSEEN_OK;
    free(items);
    if (!done) {
        free(keys);
        return NULL;
    }
    return keys;
}

static char *create_filter(void *state, const char *const *data, const size_t *lens, int nkeys,
                           size_t *len_out)
{
    const struct policy *p = state;
    const size_t n = (size_t)nkeys;
    const size_t cap = unseen_static_bound(n, p->rate);
    struct unseen_key *keys = make_keys(p, data, lens, n);
    char *filter = malloc(cap + 1); /* LevelDB frees it */
    *len_out = 0;
    if (keys && filter &&
        unseen_static_build(keys, n, p->rate, filter, cap, len_out) != UNSEEN_OK) {
        *len_out = 0;
    }
    free(keys);
    return filter;
}

static uint8_t key_may_match(void *state, const char *data, size_t len, const char *filter,
                             size_t filter_len)
{
    const struct policy *p = state;
    return unseen_static_contains(filter, filter_len, unseen_set_identity_key(p->keys, data, len));
}

static const char *name(void *state)
{
    const struct policy *p = state;
    return p->name;
}

static void destroy(void *state)
{
    struct policy *p = state;
    unseen_set_free(p->keys);
    free(p);
}

/* ---- The seed -------------------------------------------------------------------------------- */

/* Makes the file under another name first: a crash leaves no part of a seed. */
static bool make_seed(const char *path)
{
    unsigned char seed[SEED_BYTES];
    char fresh[4096];
    snprintf(fresh, sizeof(fresh), "%s.new", path);
    FILE *random = fopen("/dev/urandom", "rb");
    bool done = random && fread(seed, 1, sizeof(seed), random) == sizeof(seed);
    if (random) {
        (void)fclose(random);
    }
    const int fd = done ? open(fresh, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    done = fd >= 0 && write(fd, seed, sizeof(seed)) == SEED_BYTES && fsync(fd) == 0;
    done = (fd < 0 || close(fd) == 0) && done;
    return done && rename(fresh, path) == 0;
}

static bool read_seed(const char *path, unsigned char *seed)
{
    if (access(path, F_OK) != 0 && errno == ENOENT && !make_seed(path)) {
        return false;
    }
    FILE *file = fopen(path, "rb");
    const bool done = file && fread(seed, 1, SEED_BYTES, file) == SEED_BYTES;
    if (file) {
        (void)fclose(file);
    }
    return done;
}

leveldb_filterpolicy_t *policy_create(const char *seed_path, double rate)
{
    unsigned char seed[SEED_BYTES];
    const struct unseen_set_options options = {.size = sizeof(options),
                                               .profile = "none",
                                               .seed = seed,
                                               .seed_len = sizeof(seed),
                                               .key_bits = 64};
    struct unseen_error error;
    struct policy *p = calloc(1, sizeof(*p));
    if (!p || !read_seed(seed_path, seed)) {
        fprintf(stderr, "leveldb: cannot read the seed %s: %s\n", seed_path, strerror(errno));
        free(p);
        return NULL;
    }
    if (unseen_set_create(&p->keys, &options, &error) != UNSEEN_OK) {
        fprintf(stderr, "leveldb: %s\n", error.text);
        free(p);
        return NULL;
    }
    p->rate = rate;
    snprintf(p->name, sizeof(p->name), "unseen.static.1.%016" PRIx64,
             unseen_set_identity_key(p->keys, "policy", 6).hi);
    return leveldb_filterpolicy_create(p, destroy, create_filter, key_may_match, name);
}
