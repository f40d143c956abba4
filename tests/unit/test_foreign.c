/* SPDX-License-Identifier: MIT
 *
 * Foreign filters: the hashes of MurmurHash64A against those of libstdc++ (the same algorithm),
 * bits against a model, appends of any length, chains, chunks and damage to them, and a failing
 * allocator at every step. tests/cli/import_foreign.sh has the filters that the real programs
 * made. */

#include "folder_check.h"

#include <math.h>

#include "base/bytes.h"
#include "foreign/foreign.h"
#include "hash/checksum.h"

/* ---- Hashes ---------------------------------------------------------------------------------- */

/* std::_Hash_bytes of libstdc++ 12, with the two seeds. */
static const struct {
    const char *text;
    uint64_t a;
    uint64_t b;
} murmur64a[] = {
    {"", UINT64_C(0x1ab11ea5a7b2c56e), UINT64_C(0xbbddcb5ab56dd547)},
    {"a", UINT64_C(0x4292cee227b9150a), UINT64_C(0x7e9b527031f50c11)},
    {"abcdefg", UINT64_C(0x9fa0b24601c1e9a9), UINT64_C(0x593e9b0945664832)},
    {"abcdefgh", UINT64_C(0xd435df7a565a8af1), UINT64_C(0xbf3d673c0b1029cf)},
    {"http://e.com/a", UINT64_C(0x1ebd1f7349430086), UINT64_C(0xcaf0428e82059a19)},
    {"http://example.com/a/longer/path?with=a&query", UINT64_C(0x172886856e1e6574),
     UINT64_C(0x57ff24fc94ddbd71)},
};

static struct unseen_bytes bytes_of(const char *text)
{
    return (struct unseen_bytes){text, strlen(text)};
}

static void test_hashes(void)
{
    struct foreign_hash h;
    for (size_t i = 0; i < sizeof(murmur64a) / sizeof(murmur64a[0]); i++) {
        CHECK(unseen__foreign_hash(UNSEEN_FOREIGN_MURMUR64A, UNSEEN_FOREIGN_BYTES,
                                   bytes_of(murmur64a[i].text), &h));
        CHECK_EQ(h.a, murmur64a[i].a);
        CHECK_EQ(h.b, murmur64a[i].b);
    }
    /* A text as UTF-16 is the bytes of its UTF-16, whatever its length. */
    for (size_t n = 0; n < 40; n++) {
        char utf8[200];
        char utf16[400];
        size_t len8 = 0;
        size_t len16 = 0;
        struct foreign_hash h16;
        for (size_t i = 0; i < n; i++) {
            const bool wide = i % 3 == 2; /* U+1F600 */
            memcpy(utf8 + len8, wide ? "\xf0\x9f\x98\x80" : "\xc3\xa4", wide ? 4 : 2);
            memcpy(utf16 + len16, wide ? "\x3d\xd8\x00\xde" : "\xe4\x00", wide ? 4 : 2);
            len8 += wide ? 4 : 2;
            len16 += wide ? 4 : 2;
        }
        CHECK(unseen__foreign_hash(UNSEEN_FOREIGN_GUAVA_64, UNSEEN_FOREIGN_UTF16,
                                   (struct unseen_bytes){utf8, len8}, &h16));
        CHECK(unseen__foreign_hash(UNSEEN_FOREIGN_GUAVA_64, UNSEEN_FOREIGN_BYTES,
                                   (struct unseen_bytes){utf16, len16}, &h));
        CHECK(h.a == h16.a && h.b == h16.b);
    }
    CHECK(!unseen__foreign_hash(UNSEEN_FOREIGN_GUAVA_64, UNSEEN_FOREIGN_UTF16, bytes_of("a\xff"),
                                &h));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static struct unseen_foreign *make(enum unseen_foreign_scheme scheme,
                                   const struct unseen_foreign_link *links, size_t nlinks,
                                   const struct unseen_allocator *allocator)
{
    const struct unseen_foreign_options options = {.size = sizeof(options),
                                                   .scheme = scheme,
                                                   .links = links,
                                                   .nlinks = nlinks,
                                                   .nkeys = 7,
                                                   .allocator = allocator};
    struct unseen_foreign *f = NULL;
    (void)unseen_foreign_create(&f, &options, NULL);
    return f;
}

static const struct unseen_foreign_link chain[] = {{1000, 3}, {300001, 5}, {600064, 9}};

enum {
    ROW = 128 + 37504 + 75008,
    KEYS = 20000
};

static size_t first_of(size_t link)
{
    return link == 0 ? 0 : link == 1 ? 128 : 128 + 37504;
}

/* Sets the bits of key i in the row of a chain of MurmurHash64A. */
static void put_key(uint8_t *row, size_t link, const char *key)
{
    struct foreign_hash h;
    (void)unseen__foreign_hash(UNSEEN_FOREIGN_MURMUR64A, UNSEEN_FOREIGN_BYTES, bytes_of(key), &h);
    for (unsigned i = 0; i < chain[link].hashes; i++) {
        const uint64_t bit = (h.a + i * h.b) % chain[link].nbits;
        row[first_of(link) + bit / 8] |= (uint8_t)(1u << bit % 8);
    }
}

static void make_row(uint8_t *row)
{
    char key[40];
    memset(row, 0, ROW);
    for (unsigned i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key %u", i);
        put_key(row, i < 50 ? 0 : i < KEYS / 2 ? 1 : 2, key);
    }
}

static size_t count_seen(const struct unseen_foreign *f, unsigned from, unsigned to)
{
    size_t n = 0;
    char key[40];
    for (unsigned i = from; i < to; i++) {
        uint8_t verdict;
        snprintf(key, sizeof(key), "key %u", i);
        const struct unseen_bytes item = bytes_of(key);
        unseen_foreign_contains(f, &item, 1, &verdict);
        n += verdict == UNSEEN_SEEN;
    }
    return n;
}

static bool append_all(struct unseen_foreign *f, const uint8_t *row, size_t len, size_t step)
{
    bool complete = false;
    for (size_t at = 0; at < len; at += step) {
        const size_t n = len - at < step ? len - at : step;
        if (complete || unseen_foreign_append(f, row + at, n, &complete) != UNSEEN_OK) {
            return false;
        }
    }
    return complete;
}

static void test_chain(const uint8_t *row)
{
    static const size_t steps[] = {ROW, 1, 7, 4096, 32768, 99999};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct unseen_foreign *f = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, NULL);
        struct unseen_foreign_info info = {.size = sizeof(info)};
        CHECK_EQ(count_seen(f, 0, 10), 0); /* not complete */
        CHECK(append_all(f, row, ROW, steps[i]));
        CHECK_EQ(count_seen(f, 0, KEYS), KEYS);
        CHECK(unseen_foreign_info(f, &info) == UNSEEN_OK);
        CHECK_EQ(info.nbits, 900000 + 1065);
        CHECK(info.nkeys == 7 && info.nlinks == 3 && info.hashes == 3);
        CHECK(fabs((double)info.nkeys_estimate - KEYS) < 0.02 * KEYS);
        const double wrong = (double)count_seen(f, KEYS, 10 * KEYS) / (9 * KEYS);
        CHECK(fabs(wrong - info.fpr_estimate) <
              4 * sqrt(info.fpr_estimate / (9 * KEYS)) + 0.02 * info.fpr_estimate);
        CHECK(unseen_foreign_append(f, row, 1, NULL) == UNSEEN_ERR_CORRUPT);
        unseen_foreign_free(f);
    }
}

static void test_options(void)
{
    struct unseen_error error;
    struct unseen_foreign *f = NULL;
    const struct unseen_foreign_link bad[] = {
        {0, 3}, {((uint64_t)1 << 48) + 1, 3}, {64, 0}, {64, 256}};
    for (size_t i = 0; i < 4; i++) {
        CHECK(!make(UNSEEN_FOREIGN_DCSO, &bad[i], 1, NULL));
    }
    CHECK(!make(UNSEEN_FOREIGN_DCSO, chain, 0, NULL));
    CHECK(!make(UNSEEN_FOREIGN_DCSO, chain, UNSEEN_FOREIGN_LINKS_MAX + 1, NULL));
    CHECK(!make((enum unseen_foreign_scheme)5, chain, 1, NULL));
    const struct unseen_foreign_options options = {.size = 3};
    struct unseen_foreign *const kept = make(UNSEEN_FOREIGN_DCSO, chain, 1, NULL);
    f = kept;
    CHECK(unseen_foreign_create(&f, &options, &error) == UNSEEN_ERR_SIZE && f == kept);
    unseen_foreign_free(kept);
    struct unseen_foreign_info info = {.size = 3};
    /* A bit behind the last one. */
    const struct unseen_foreign_link odd = {65, 1};
    uint8_t bytes[16] = {0};
    bytes[8] = 1;
    f = make(UNSEEN_FOREIGN_DCSO, &odd, 1, NULL);
    CHECK(unseen_foreign_info(f, &info) == UNSEEN_ERR_SIZE);
    CHECK(unseen_foreign_append(f, bytes, 16, NULL) == UNSEEN_OK);
    unseen_foreign_free(f);
    for (size_t at = 8; at < 16; at++) {
        memset(bytes, 0, sizeof(bytes));
        bytes[at] = at == 8 ? 2 : 128;
        f = make(UNSEEN_FOREIGN_DCSO, &odd, 1, NULL);
        CHECK(unseen_foreign_append(f, bytes, 16, NULL) == UNSEEN_ERR_CORRUPT);
        unseen_foreign_free(f);
    }
    /* 2^48 bits take no memory before they come. */
    const struct unseen_foreign_link huge = {(uint64_t)1 << 48, 3};
    struct test_allocator t = {0};
    const struct unseen_allocator a = {test_alloc, test_free, &t};
    f = make(UNSEEN_FOREIGN_GUAVA_64, &huge, 1, &a);
    CHECK(f && t.bytes < 1000);
    CHECK(unseen_foreign_append(f, bytes, 8, NULL) == UNSEEN_OK && t.bytes < 40000);
    unseen_foreign_free(f);
    CHECK_EQ(t.nlive, 0);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

struct chunks {
    uint8_t *data;
    size_t at[64];
    size_t n;
};

static void export_all(const struct unseen_foreign *f, struct chunks *c)
{
    uint64_t cursor = 0;
    size_t len = 0;
    c->n = 0;
    c->at[0] = 0;
    c->data = malloc(64 * UNSEEN_CHUNK_MAX);
    while (unseen__foreign_next_chunk(f, &cursor, c->data + c->at[c->n], UNSEEN_CHUNK_MAX, &len) ==
               UNSEEN_OK &&
           len > 0) {
        c->at[c->n + 1] = c->at[c->n] + len;
        c->n++;
    }
}

static enum unseen_status import(const struct chunks *c, struct unseen_foreign **f, bool *complete,
                                 const struct unseen_allocator *allocator)
{
    enum unseen_status status = UNSEEN_OK;
    struct foreign_reading reading = {.allocator = allocator};
    *complete = false;
    for (size_t i = 0; i < c->n && status == UNSEEN_OK; i++) {
        status = unseen__foreign_take_chunk(&reading, c->data + c->at[i], c->at[i + 1] - c->at[i],
                                            complete);
    }
    *f = reading.filter;
    return status;
}

/* Puts the right checksum behind a chunk that was changed. */
static void seal(const struct chunks *c, size_t i)
{
    uint8_t *chunk = c->data + c->at[i];
    const size_t body = c->at[i + 1] - c->at[i] - 8;
    store_le64(chunk + body, unseen__checksum(chunk, body));
}

static void test_chunks(const uint8_t *row)
{
    struct unseen_foreign *f = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, NULL);
    struct unseen_foreign *g = NULL;
    struct chunks c;
    struct chunks again;
    uint8_t buf[UNSEEN_CHUNK_MAX];
    uint64_t cursor = 0;
    size_t len = 0;
    bool complete = false;
    CHECK(unseen__foreign_next_chunk(f, &cursor, buf, sizeof(buf), &len) == UNSEEN_ERR_ARGUMENT);
    CHECK(append_all(f, row, ROW, ROW));
    CHECK(unseen__foreign_next_chunk(f, &cursor, buf, 100, &len) == UNSEEN_ERR_SPACE);
    cursor = UINT64_MAX - 1;
    CHECK(unseen__foreign_next_chunk(f, &cursor, buf, sizeof(buf), &len) == UNSEEN_ERR_ARGUMENT);
    export_all(f, &c);
    CHECK_EQ(c.n, 2 + (ROW + 32767) / 32768);
    CHECK(import(&c, &g, &complete, NULL) == UNSEEN_OK && complete);
    CHECK_EQ(count_seen(g, 0, KEYS), KEYS);
    export_all(g, &again);
    CHECK(again.n == c.n && memcmp(c.data, again.data, c.at[c.n]) == 0);
    free(again.data);
    /* Nothing comes behind the end, and nothing twice. */
    for (size_t i = 0; i < c.n; i++) {
        struct foreign_reading reading = {.filter = g};
        CHECK(unseen__foreign_take_chunk(&reading, c.data + c.at[i], c.at[i + 1] - c.at[i],
                                         &complete) == UNSEEN_ERR_CORRUPT);
        CHECK(reading.filter == g);
    }
    unseen_foreign_free(g);
    /* A byte that is changed: the checksum finds it; with a new checksum the result is an error or
     * a filter that answers. */
    uint64_t state = 1;
    for (unsigned i = 0; i < 2000; i++) {
        const size_t k = test_random(&state) % c.n;
        const size_t from = i % 2 ? c.at[k] : c.at[k] + 24;
        const size_t at = from + test_random(&state) % (i % 3 ? 100 : c.at[k + 1] - from);
        const uint8_t old = c.data[at % c.at[c.n]];
        uint8_t tail[8];
        memcpy(tail, c.data + c.at[k + 1] - 8, 8);
        if (at >= c.at[k + 1] - 8) {
            continue;
        }
        c.data[at] ^= (uint8_t)(1 + test_random(&state) % 255);
        CHECK(import(&c, &g, &complete, NULL) == UNSEEN_ERR_CORRUPT);
        unseen_foreign_free(g);
        seal(&c, k);
        if (import(&c, &g, &complete, NULL) == UNSEEN_OK && complete) {
            (void)count_seen(g, 0, 10);
        }
        unseen_foreign_free(g);
        c.data[at] = old;
        memcpy(c.data + c.at[k + 1] - 8, tail, 8);
    }
    free(c.data);
    unseen_foreign_free(f);
}

/* Chunks of two filters do not make one, though only one bit tells the filters apart: in the first
 * link of a chain, or in another. */
static void test_mixed_chunks(const uint8_t *row)
{
    static uint8_t changed[ROW];
    static const size_t places[] = {0, ROW - 1};
    struct unseen_foreign *f = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, NULL);
    struct chunks c;
    CHECK(append_all(f, row, ROW, ROW));
    export_all(f, &c);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct unseen_foreign *g = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, NULL);
        struct unseen_foreign *mixed = NULL;
        struct chunks d;
        bool complete = false;
        memcpy(changed, row, ROW);
        changed[places[i]] ^= 1;
        CHECK(append_all(g, changed, ROW, ROW));
        export_all(g, &d);
        CHECK_EQ(d.at[d.n], c.at[c.n]);
        memcpy(d.data, c.data, c.at[1]);
        CHECK(import(&d, &mixed, &complete, NULL) == UNSEEN_ERR_CORRUPT && !complete);
        unseen_foreign_free(mixed);
        unseen_foreign_free(g);
        free(d.data);
    }
    free(c.data);
    unseen_foreign_free(f);
}

/* ---- Memory, and files ----------------------------------------------------------------------- */

static bool everything(const uint8_t *row, const char *path, const struct unseen_allocator *a)
{
    struct unseen_foreign *f = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, a);
    struct unseen_foreign *g = NULL;
    bool done = f && append_all(f, row, ROW, 5000) &&
                unseen_foreign_save(f, path, NULL) == UNSEEN_OK &&
                unseen_foreign_open(&g, path, a, NULL) == UNSEEN_OK;
    CHECK(!done || count_seen(g, 0, 100) == 100);
    unseen_foreign_free(f);
    unseen_foreign_free(g);
    return done;
}

static void test_memory(const uint8_t *row, const char *path)
{
    bool done = false;
    for (unsigned long i = 1; !done && i < 1000; i++) {
        struct test_allocator t = {.fail_at = i};
        const struct unseen_allocator a = {test_alloc, test_free, &t};
        done = everything(row, path, &a);
        CHECK_EQ(t.nlive, 0);
        CHECK(done || t.nallocs >= i);
    }
    CHECK(done);
}

static void test_files(const uint8_t *row, const char *path)
{
    struct unseen_foreign *f = make(UNSEEN_FOREIGN_MURMUR64A, chain, 3, NULL);
    struct unseen_foreign *g = NULL;
    struct unseen_error error;
    struct chunks c;
    char missing[300];
    snprintf(missing, sizeof(missing), "%s/nowhere", path);
    CHECK(append_all(f, row, ROW, ROW));
    CHECK(unseen_foreign_save(f, missing, &error) == UNSEEN_ERR_IO);
    CHECK(unseen_foreign_save(f, path, &error) == UNSEEN_OK);
    CHECK(unseen_foreign_open(&g, path, NULL, &error) == UNSEEN_OK);
    unseen_foreign_free(g);
    /* A failure leaves the pointer as it is. */
    struct unseen_foreign *const kept = f;
    g = kept;
    snprintf(missing, sizeof(missing), "%s.missing", path);
    CHECK(unseen_foreign_open(&g, missing, NULL, &error) == UNSEEN_ERR_MISSING && g == kept);
    /* Cut anywhere, and longer. */
    export_all(f, &c);
    uint64_t state = 2;
    for (unsigned i = 0; i < 100; i++) {
        const size_t len = i < 40 ? i : test_random(&state) % c.at[c.n];
        test_file_write(path, c.data, len);
        const enum unseen_status status = unseen_foreign_open(&g, path, NULL, &error);
        CHECK(status == UNSEEN_ERR_CORRUPT || (status == UNSEEN_ERR_FOREIGN && len < 4));
        CHECK(g == kept && error.text[0] != '\0');
    }
    c.data[c.at[c.n]] = 0;
    test_file_write(path, c.data, c.at[c.n] + 1);
    CHECK(unseen_foreign_open(&g, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    test_file_write(path, "http://e.com/a\nhttp://e.com/b\nhttp://e.com/c\n", 45);
    CHECK(unseen_foreign_open(&g, path, NULL, &error) == UNSEEN_ERR_FOREIGN);
    /* Each byte of the version, and of the word behind it, which is 0. */
    for (size_t i = 8; i < 16; i++) {
        c.data[24 + i] ^= 2;
        seal(&c, 0);
        test_file_write(path, c.data, c.at[c.n]);
        CHECK(unseen_foreign_open(&g, path, NULL, &error) == UNSEEN_ERR_VERSION);
        c.data[24 + i] ^= 2;
    }
    free(c.data);
    unseen_foreign_free(f);
}

int main(void)
{
    static uint8_t row[ROW];
    char folder[200];
    char path[sizeof(folder) + 8];
    test_start();
    test_folder_make(folder, sizeof(folder), "foreign");
    snprintf(path, sizeof(path), "%s/foreign", folder);
    make_row(row);
    test_hashes();
    test_options();
    test_chain(row);
    test_chunks(row);
    test_mixed_chunks(row);
    test_memory(row, path);
    test_files(row, path);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    return test_end();
}
