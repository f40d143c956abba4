/* SPDX-License-Identifier: MIT
 *
 * Keys of 64, 96 and 128 bits: made as docs/format.md says, the same answers from each, and kept by
 * an export. tests/vectors/keys.tsv is made by a second implementation.
 *
 * Label: kernels */
#include "filter_check.h"
#include "hash/key.h"

static struct unseen__hasher hasher_of(const void *seed, size_t len)
{
    struct unseen__secret secret;
    struct unseen__hasher hasher;
    CHECK(unseen__secret_make(seed, len, &secret, NULL) == UNSEEN_OK);
    unseen__hasher_init(&hasher, &secret, test_cpu);
    return hasher;
}

/* Byte i of the inputs of keys.tsv. */
static uint8_t sample_byte(size_t i)
{
    return (uint8_t)(167 * i + 13);
}

static bool is_key(struct unseen_key key, uint64_t hi, uint64_t lo)
{
    return key.hi == hi && key.lo == lo;
}

/* The key of an input, alone and in every lane of a batch, where a read past its end fails. */
static void check_vector(const struct unseen__hasher *hasher, size_t len, uint64_t hi, uint64_t lo)
{
    static uint8_t text[1 << 17];
    struct unseen_key keys[UNSEEN__KEY_LANES];
    for (size_t i = 0; i < len; i++) {
        text[i] = sample_byte(i);
    }
    char *data = test_guarded(text, len);
    CHECK(is_key(unseen__key(hasher, data, len, 128), hi, lo));
    for (size_t n = 1; n <= UNSEEN__KEY_LANES; n++) {
        struct unseen__key_batch batch;
        batch.is_whole = 0;
        for (size_t i = 0; i < n; i++) {
            unseen__key_batch_put(hasher, &batch, i, data, i == n - 1 || len < i ? len : i);
        }
        unseen__key_batch_make(hasher, &batch, n, 128, keys);
        CHECK(is_key(keys[n - 1], hi, lo));
    }
}

static void check_vectors(void)
{
    char path[512];
    CHECK(test_path(path, sizeof(path), "vectors/keys.tsv"));
    FILE *file = fopen(path, "r");
    if (!CHECK(file != NULL)) {
        return;
    }
    static struct unseen__hasher hasher;
    char hex[512];
    char number[16];
    unsigned long long hi;
    unsigned long long lo;
    unsigned nrows = 0;
    while (fscanf(file, "%511s %15s %llx %llx", hex, number, &hi, &lo) == 4) {
        if (strcmp(number, "id") == 0) {
            uint8_t seed[256];
            const size_t len = strlen(hex) / 2;
            for (size_t i = 0; i < len; i++) {
                unsigned byte;
                CHECK(sscanf(hex + 2 * i, "%2x", &byte) == 1);
                seed[i] = (uint8_t)byte;
            }
            hasher = hasher_of(seed, len);
            CHECK_EQ(unseen__secret_id(&hasher.secret), hi);
        } else {
            check_vector(&hasher, strtoul(number, NULL, 10), hi, lo);
        }
        nrows++;
    }
    CHECK(nrows > 300);
    (void)fclose(file);
}

/* Keys of groups whose members have all sorts of lengths are those that each has alone. */
static void check_batches(void)
{
    static uint8_t text[4000];
    const struct unseen__hasher hasher = hasher_of("batches", 7);
    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = sample_byte(i * i);
    }
    uint64_t state = 1;
    for (unsigned round = 0; round < 3000; round++) {
        struct unseen__key_batch batch;
        struct unseen_key keys[UNSEEN__KEY_LANES];
        size_t lens[UNSEEN__KEY_LANES];
        const size_t n = 1 + test_random(&state) % UNSEEN__KEY_LANES;
        batch.is_whole = 0;
        for (size_t i = 0; i < n; i++) {
            lens[i] = test_random(&state) % (test_random(&state) % 4 ? 150 : 3900);
            unseen__key_batch_put(&hasher, &batch, i, text + i, lens[i]);
        }
        unseen__key_batch_make(&hasher, &batch, n, round % 2 ? 128 : 64, keys);
        for (size_t i = 0; i < n; i++) {
            const struct unseen_key want =
                unseen__key(&hasher, text + i, lens[i], round % 2 ? 128 : 64);
            CHECK(is_key(keys[i], want.hi, want.lo));
        }
    }
}

/* Equal seeds give equal secrets, others other ones; none, a random one. */
static void check_secrets(void)
{
    struct unseen__secret a;
    struct unseen__secret b;
    CHECK(unseen__secret_make("ab", 2, &a, NULL) == UNSEEN_OK);
    CHECK(unseen__secret_make("ab", 2, &b, NULL) == UNSEEN_OK);
    CHECK(unseen__secret_equals(&a, &b));
    CHECK_EQ(unseen__secret_id(&a), unseen__secret_id(&b));
    CHECK(unseen__secret_make("ab\0", 3, &b, NULL) == UNSEEN_OK);
    CHECK(!unseen__secret_equals(&a, &b));
    CHECK(unseen__secret_id(&a) != unseen__secret_id(&b));
    CHECK(unseen__secret_make("ab", 0, &b, NULL) == UNSEEN_ERR_ARGUMENT);
    CHECK(unseen__secret_make(NULL, 0, &a, NULL) == UNSEEN_OK);
    CHECK(unseen__secret_make(NULL, 0, &b, NULL) == UNSEEN_OK);
    CHECK(!unseen__secret_equals(&a, &b));
    for (size_t i = 0; i < UNSEEN__SECRET_LEN; i++) {
        struct unseen__secret other = a;
        other.bytes[i] ^= 1;
        CHECK(!unseen__secret_equals(&a, &other));
        CHECK(unseen__secret_id(&a) != unseen__secret_id(&other));
    }
    struct unseen_set_options options = filter_options(NULL, 0, 0, 1);
    struct unseen_set *none = NULL;
    options.seed_len = 0;
    CHECK(unseen_set_create(&none, &options, NULL) == UNSEEN_ERR_ARGUMENT);
}

/* A released hasher leaves nothing in memory. */
static void check_wiped(void)
{
    struct unseen__hasher hasher = hasher_of("wiped", 5);
    const uint8_t zeros[sizeof(hasher)] = {0};
    unseen__hasher_release(&hasher);
    CHECK(memcmp(&hasher, zeros, sizeof(hasher)) == 0);
}

/* docs/format.md, "Keys", word for word. */
static uint64_t f(uint64_t x)
{
    const uint64_t y = UINT64_C(0x9e3779b97f4a7c15) * x;
    return y ^ (y >> 32);
}

static void check_narrow(void)
{
    for (uint64_t i = 0; i < 10000; i++) {
        const struct unseen_key whole = test_key(i);
        struct unseen_key key = whole;
        unseen__key_narrow(128, &key);
        CHECK(key.lo == whole.lo && key.hi == whole.hi);
        unseen__key_narrow(96, &key);
        CHECK_EQ(key.hi, whole.hi);
        CHECK_EQ(key.lo & UINT32_MAX, whole.lo & UINT32_MAX);
        CHECK_EQ(key.lo >> 32, f(whole.hi) & UINT32_MAX);
        key = whole;
        key.lo = ~i; /* says nothing */
        unseen__key_narrow(64, &key);
        CHECK_EQ(key.hi, whole.hi);
        CHECK_EQ(key.lo, whole.hi ^ f(whole.hi >> 17));
    }
}

/* Bytes give the narrowed key, whichever call makes it. */
static void check_calls(unsigned bits)
{
    struct unseen_set_options options = filter_options(NULL, 0, 0, 1);
    struct unseen_set *whole = filter_make(&options);
    options.key_bits = bits;
    struct unseen_set *set = filter_make(&options);
    for (int i = 0; i < 1000; i++) {
        char text[32];
        const size_t len = (size_t)snprintf(text, sizeof(text), "http://e.com/%d", i);
        const struct unseen_bytes item = {text, len};
        struct unseen_key want = unseen_set_identity_key(whole, text, len);
        struct unseen_key one;
        struct unseen_key many;
        unseen__key_narrow(bits ? bits : 128, &want);
        CHECK(test_set_key(set, text, len, &one) == UNSEEN_OK);
        CHECK(unseen_set_keys(set, &item, 1, &many, NULL) == UNSEEN_OK);
        const struct unseen_key identity = unseen_set_identity_key(set, text, len);
        CHECK(one.lo == want.lo && one.hi == want.hi);
        CHECK(many.lo == want.lo && many.hi == want.hi);
        CHECK(identity.lo == want.lo && identity.hi == want.hi);
    }
    unseen_set_free(whole);
    filter_end(set);
}

/* What is new and what is seen, for lines of which each number comes three times. */
static void check_answers(const char *filter, unsigned bits, unsigned threads)
{
    const uint64_t n = 60000;
    struct unseen_set_options options = filter_options(filter, 0, n, threads);
    options.fpr = strcmp(filter, "compact") == 0 ? 0 : 1e-6;
    options.key_bits = bits;
    struct unseen_set *set = filter_make(&options);
    uint64_t nnew = 0;
    for (uint64_t i = 0; i < 3 * n; i++) {
        char text[32];
        enum unseen_verdict verdict = UNSEEN_NEW;
        const uint64_t number = i * 7919 % n;
        const int len = snprintf(text, sizeof(text), "line %llu", (unsigned long long)number);
        CHECK(test_set_add(set, text, (size_t)len, &verdict) == UNSEEN_OK);
        nnew += verdict == UNSEEN_NEW;
        CHECK(i < n || verdict == UNSEEN_SEEN);
    }
    CHECK_EQ(nnew, n);
    struct test_image image = test_export(set);
    size_t len;
    uint8_t *header = test_chunk(&image, 0, &len);
    CHECK_EQ(load_le32(header + 24 + 20), bits);
    options = filter_options(NULL, 0, 0, 2);
    struct unseen_set *copy = NULL;
    if (CHECK(test_import(&image, &options, &copy) == UNSEEN_OK)) {
        CHECK_EQ(copy->key_bits, bits);
        const struct unseen_key a = unseen_set_identity_key(set, "x", 1);
        const struct unseen_key b = unseen_set_identity_key(copy, "x", 1);
        CHECK(a.lo == b.lo && a.hi == b.hi);
        enum unseen_verdict verdict = UNSEEN_NEW;
        for (uint64_t i = 0; i < n; i += 17) {
            char text[32];
            const int text_len = snprintf(text, sizeof(text), "line %llu", (unsigned long long)i);
            CHECK(test_set_contains(copy, text, (size_t)text_len, &verdict) == UNSEEN_OK);
            CHECK(verdict == UNSEEN_SEEN);
        }
    }
    unseen_set_free(copy);
    /* Widths that there are not. */
    static const uint32_t wrong[] = {0, 1, 32, 63, 65, 127, 256, UINT32_MAX};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct unseen_import *import = NULL;
        store_le32(header + 24 + 20, wrong[i]);
        test_repair(header, len);
        CHECK(unseen_import_create(&import, &options, NULL) == UNSEEN_OK);
        CHECK(unseen_import_chunk(import, header, len) == UNSEEN_ERR_CORRUPT);
        unseen_import_free(import);
        struct unseen_set *none = NULL;
        struct unseen_set_options bad = filter_options(NULL, 0, 0, 1);
        bad.key_bits = wrong[i];
        CHECK(wrong[i] == 0 || unseen_set_create(&none, &bad, NULL) == UNSEEN_ERR_ARGUMENT);
    }
    test_image_free(&image);
    filter_end(set);
}

int main(void)
{
    static const unsigned widths[] = {64, 96, 128};
    test_start();
    check_narrow();
    check_vectors();
    check_batches();
    check_secrets();
    check_wiped();
    check_calls(0);
    for (size_t i = 0; i < 3; i++) {
        check_calls(widths[i]);
        check_answers("compact", widths[i], 1);
        check_answers("compact", widths[i], 4);
        check_answers("bloom", widths[i], 1);
        check_answers("block", widths[i], 4);
        check_answers("counting", widths[i], 1);
    }
    return test_end();
}
