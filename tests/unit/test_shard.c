/* SPDX-License-Identifier: MIT
 *
 * Shards and the tags of a cluster: those of tests/vectors/shards.tsv, which a second
 * implementation makes; as many identities in each shard; and tags in different slots, for every
 * number of shards. */
#include "test.h"

#include <math.h>
#include <unseen.h>

#include "base/bytes.h"

enum {
    IDENTITY_MAX = 4096,
    NSHARDS = 20,
    NIDENTITIES = 200000
};

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
    const size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        bytes[i] = (uint8_t)byte;
    }
    return len;
}

static void check_row(uint32_t n, const char *hex, uint32_t number)
{
    static uint32_t tags[UNSEEN_SHARD_TAGS_MAX];
    uint8_t identity[IDENTITY_MAX];
    if (hex[0] == '-') {
        CHECK(unseen_shard_tags(n, tags) == UNSEEN_OK);
        CHECK_EQ(tags[strtoul(hex + 1, NULL, 10)], number);
    } else {
        const size_t len = bytes_of(hex, identity);
        CHECK_EQ(unseen_shard(identity, len, n), number);
    }
}

static void check_vectors(void)
{
    char path[512];
    char line[2 * IDENTITY_MAX];
    unsigned nrows = 0;
    CHECK(test_path(path, sizeof(path), "vectors/shards.tsv"));
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) {
        return;
    }
    while (fgets(line, sizeof(line), file)) {
        char *hex = strchr(line, '\t');
        char *number = strrchr(line, '\t');
        if (!CHECK(hex && number && hex < number)) {
            break;
        }
        *hex = *number = 0;
        check_row((uint32_t)strtoul(line, NULL, 10), hex + 1,
                  (uint32_t)strtoul(number + 1, NULL, 10));
        nrows++;
    }
    CHECK(nrows > 200);
    (void)fclose(file);
}

static void check_sizes(void)
{
    uint32_t counts[NSHARDS] = {0};
    for (unsigned i = 0; i < NIDENTITIES; i++) {
        char text[40];
        const int len = snprintf(text, sizeof(text), "http://e.com/%u", i);
        counts[unseen_shard(text, (size_t)len, NSHARDS)]++;
    }
    const double mean = (double)NIDENTITIES / NSHARDS;
    for (unsigned i = 0; i < NSHARDS; i++) {
        CHECK(fabs(counts[i] - mean) < 5 * sqrt(mean));
    }
}

static void check_tags(void)
{
    static uint32_t tags[UNSEEN_SHARD_TAGS_MAX + 1];
    static bool has[1000000];
    CHECK(unseen_shard_tags(0, tags) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_shard_tags(UNSEEN_SHARD_TAGS_MAX + 1, tags) == UNSEEN_ERR_ARGUMENT);
    for (uint32_t n = 1; n <= UNSEEN_SHARD_TAGS_MAX; n = n * 5 / 4 + 1) {
        tags[n] = 7;
        CHECK(unseen_shard_tags(n, tags) == UNSEEN_OK);
        CHECK_EQ(tags[n], 7);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(tags[i] < sizeof(has) && !has[tags[i]]);
            has[tags[i]] = true;
        }
        for (uint32_t i = 0; i < n; i++) {
            has[tags[i]] = false;
        }
    }
}

/* The words in src/hash/shard.c are made of the seed: then it gives the keys of a set with it. */
static void check_seed(void)
{
    static const char seed[] = "unseen shards";
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .seed = seed, .seed_len = sizeof(seed) - 1};
    static char text[3000];
    struct unseen_set *set = NULL;
    uint64_t state = 1;
    CHECK(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
    for (size_t len = 0; len < sizeof(text); len += 1 + len / 8) {
        text[len] = (char)test_random(&state);
        uint8_t bytes[16];
        const struct unseen_key key = unseen_set_identity_key(set, text, len);
        store_le64(bytes, key.hi);
        store_le64(bytes + 8, key.lo);
        const struct unseen_key twice = unseen_set_identity_key(set, bytes, sizeof(bytes));
        CHECK_EQ(unseen_shard(text, len, UINT32_MAX), (twice.hi >> 32) * UINT32_MAX >> 32);
    }
    unseen_set_free(set);
}

int main(void)
{
    test_start();
    check_vectors();
    check_sizes();
    check_seed();
    check_tags();
    return test_end();
}
