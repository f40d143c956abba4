/* SPDX-License-Identifier: MIT
 *
 * Shards and the tags of a cluster: those of tests/vectors/shards.tsv, which a second
 * implementation makes; as many identities in each shard; and tags in different slots, for every
 * number of shards. */
#include "test.h"

#include <math.h>
#include <unseen.h>

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

static void check_row(const struct unseen_shards *shards, uint32_t n, const char *hex,
                      uint32_t number)
{
    static uint32_t tags[UNSEEN_SHARD_TAGS_MAX];
    uint8_t identity[IDENTITY_MAX];
    if (hex[0] == '-') {
        CHECK(unseen_shard_tags(n, tags) == UNSEEN_OK);
        CHECK_EQ(tags[strtoul(hex + 1, NULL, 10)], number);
    } else {
        const size_t len = bytes_of(hex, identity);
        CHECK_EQ(unseen_shards_find(shards, identity, len, n), number);
    }
}

static void check_vectors(const struct unseen_shards *shards)
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
        check_row(shards, (uint32_t)strtoul(line, NULL, 10), hex + 1,
                  (uint32_t)strtoul(number + 1, NULL, 10));
        nrows++;
    }
    CHECK(nrows > 200);
    (void)fclose(file);
}

static void check_sizes(const struct unseen_shards *shards)
{
    uint32_t counts[NSHARDS] = {0};
    for (unsigned i = 0; i < NIDENTITIES; i++) {
        char text[40];
        const int len = snprintf(text, sizeof(text), "http://e.com/%u", i);
        counts[unseen_shards_find(shards, text, (size_t)len, NSHARDS)]++;
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

static void *no_memory(void *context, size_t size, size_t align)
{
    (void)context;
    (void)size;
    (void)align;
    return NULL;
}

static void free_nothing(void *context, void *ptr, size_t size)
{
    (void)context;
    (void)ptr;
    (void)size;
}

int main(void)
{
    struct unseen_shards *shards;
    const struct unseen_allocator none = {no_memory, free_nothing, NULL};
    test_start();
    CHECK(unseen_shards_create(&shards, &none) == UNSEEN_ERR_NOMEM);
    unseen_shards_free(NULL);
    if (CHECK(unseen_shards_create(&shards, NULL) == UNSEEN_OK)) {
        check_vectors(shards);
        check_sizes(shards);
        unseen_shards_free(shards);
    }
    check_tags();
    return test_end();
}
