/* SPDX-License-Identifier: MIT
 *
 * The allowlist of a store, beside two flags for each key: was it added, is it allowed? Keys come
 * in families of which the filter tells no two members apart, so false hits are frequent. Readers,
 * restarts, rewrites, merges and images must agree with the flags. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "store_check.h"

#include "base/bytes.h"
#include "log/log_format.h"

enum {
    FAMILY = 8,
    NKEYS = 40 * FAMILY,
    MANY = 70000, /* changes that make an image */
    PATH_LEN = 300
};

static char dir[PATH_LEN - 100];
static char path[PATH_LEN];
static char other[PATH_LEN];
static char image[PATH_LEN + 16];
static struct unseen_error error;

static const struct test_store_kind kinds[] = {
    {"compact", 0, 0, true},
    {"counting", 0.05, 2000, true},
    {"block", 0.1, 1000, false},
    {"bloom", 0.3, 400, false},
};

/* Members of a family differ in the last bits of hi, which compact does not keep, and block and
 * counting do not use. */
static struct unseen_key key_of(uint32_t id)
{
    uint64_t family = id / FAMILY + 1;
    struct unseen_key key;
    key.lo = test_random(&family);
    key.hi = (test_random(&family) & ~(uint64_t)(FAMILY - 1)) | id % FAMILY;
    return key;
}

struct flags {
    bool added[NKEYS];
    bool allowed[NKEYS];
};

static struct flags now;     /* of the store that is open to write */
static struct flags durable; /* as of the last commit */

/* ---- one key of a store ---- */

static struct unseen_store *open_at(const char *name, const struct test_store_kind *kind,
                                    enum unseen_store_mode mode)
{
    struct unseen_store_options options = test_store_options(kind, mode);
    options.key_bits = 128;
    return test_store_open(name, &options);
}

static bool contains(const struct unseen_store *store, uint32_t id)
{
    const struct unseen_key key = key_of(id);
    uint8_t verdict = 9;
    CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict == UNSEEN_SEEN;
}

static bool add(struct unseen_store *store, uint32_t id)
{
    const struct unseen_key key = key_of(id);
    uint8_t verdict = 9;
    CHECK(unseen_store_add_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict == UNSEEN_NEW;
}

static bool take_out(struct unseen_store *store, uint32_t id)
{
    const struct unseen_key key = key_of(id);
    uint8_t verdict = 9;
    CHECK(unseen_store_remove_keys(store, &key, 1, &verdict, NULL) == UNSEEN_OK);
    return verdict == UNSEEN_SEEN;
}

/* True if the store has the key, which is then not allowed. */
static bool allow(struct unseen_store *store, uint32_t id)
{
    const struct unseen_key key = key_of(id);
    uint8_t verdict = 9;
    if (!CHECK(unseen_store_allow(store, &key, 1, &verdict, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error.text);
    }
    return verdict == UNSEEN_SEEN;
}

static void commit(struct unseen_store *store)
{
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
    durable = now;
}

/* ---- the flags and the store ---- */

static void check_all(const struct unseen_store *store, const struct flags *flags, const char *what)
{
    size_t nlost = 0;
    size_t nfalse = 0;
    for (uint32_t id = 0; id < NKEYS; id++) {
        const bool seen = contains(store, id);
        nlost += flags->added[id] && !seen;
        nfalse += !flags->added[id] && flags->allowed[id] && seen;
    }
    if (!CHECK_EQ(nlost, 0) || !CHECK_EQ(nfalse, 0)) {
        fprintf(stderr, "%s\n", what);
    }
}

static void check_counts(struct unseen_store *store, const struct flags *flags)
{
    uint64_t nallowed = 0;
    for (uint32_t id = 0; id < NKEYS; id++) {
        nallowed += flags->allowed[id] && !flags->added[id];
    }
    CHECK_EQ(test_store_info(store).nallowed, nallowed);
}

/* What another process reads, who opens the store at this moment. */
static void check_reader(const struct test_store_kind *kind, const char *what)
{
    struct unseen_store *reader = open_at(path, kind, UNSEEN_STORE_READ);
    check_all(reader, &durable, what);
    check_counts(reader, &durable);
    test_store_close(reader);
}

static void check_verify(const char *what)
{
    if (!CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK)) {
        fprintf(stderr, "%s: %s\n", what, error.text);
    }
}

static void step(struct unseen_store *store, const struct test_store_kind *kind, uint64_t *random)
{
    const uint32_t id = (uint32_t)(test_random(random) % NKEYS);
    const bool was_seen = contains(store, id);
    bool is_new;
    switch (test_random(random) % 4) {
    case 0:
        commit(store);
        CHECK_EQ(allow(store, id), now.added[id]);
        now.allowed[id] = now.allowed[id] || (was_seen && !now.added[id]);
        CHECK(now.added[id] || !contains(store, id));
        durable = now;
        break;
    case 1:
        if (kind->removes) {
            CHECK_EQ(take_out(store, id), now.added[id]);
            now.added[id] = false;
            break;
        }
        /* fallthrough */
    default:
        is_new = add(store, id);
        CHECK_EQ(is_new, !was_seen);
        CHECK(!(is_new && now.added[id]));
        CHECK(is_new || now.added[id] || !now.allowed[id]);
        now.added[id] = now.added[id] || is_new;
        break;
    }
}

static void test_model(const struct test_store_kind *kind)
{
    uint64_t random = 11;
    test_folder_clear(dir);
    now = durable = (struct flags){0};
    struct unseen_store *store = open_at(path, kind, UNSEEN_STORE_CREATE);
    struct unseen_store *follower = open_at(path, kind, UNSEEN_STORE_READ);
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < 100; i++) {
            step(store, kind, &random);
        }
        check_all(store, &now, kind->filter);
        check_counts(store, &now);
        if (test_random(&random) % 2) {
            commit(store);
        }
        check_reader(kind, kind->filter);
        CHECK(unseen_store_refresh(follower, &error) == UNSEEN_OK);
        check_all(follower, &durable, "refreshed");
        if (round % 3 == 0) {
            test_store_close(store);
            now = durable; /* what waits is forgotten */
            check_verify(kind->filter);
            if (round % 2 == 0) {
                CHECK(unseen_store_rewrite(path, NULL, &error) == UNSEEN_OK);
                check_reader(kind, "rewritten");
            }
            store = open_at(path, kind, UNSEEN_STORE_WRITE);
            check_all(store, &now, "opened");
        }
    }
    test_store_close(store);
    test_store_close(follower);
}

/* ---- images ---- */

/* Adds keys of other families, so many that the close writes an image. */
static void add_many(struct unseen_store *store, uint64_t seed)
{
    static struct unseen_key keys[MANY];
    static uint8_t verdicts[MANY];
    for (size_t i = 0; i < MANY; i++) {
        keys[i].lo = test_random(&seed);
        keys[i].hi = test_random(&seed);
    }
    CHECK(unseen_store_add_keys(store, keys, MANY, verdicts, NULL) == UNSEEN_OK);
    CHECK(unseen_store_commit(store, &error) == UNSEEN_OK);
}

/* A false hit is allowed, another one was added since, and a third was removed again. */
static struct unseen_store *make_three(const char *name, const struct test_store_kind *kind)
{
    struct unseen_store *store = open_at(name, kind, UNSEEN_STORE_CREATE);
    now = (struct flags){0};
    CHECK(add(store, 0));
    now.added[0] = true;
    commit(store);
    for (uint32_t id = 1; id < 4; id++) {
        CHECK(contains(store, id) && !allow(store, id) && !contains(store, id));
        now.allowed[id] = true;
    }
    for (uint32_t id = 2; id < 4; id++) {
        CHECK(add(store, id) && !add(store, id));
        now.added[id] = true;
    }
    CHECK(take_out(store, 3));
    now.added[3] = false;
    commit(store);
    return store;
}

/* With tags that stay in the file (`large`), and without. The key that the false hits were taken
 * for is removed at the end. */
static void test_image(const struct test_store_kind *kind, int nmany)
{
    test_folder_clear(dir);
    struct unseen_store *store = make_three(path, kind);
    for (int i = 0; i < nmany; i++) {
        add_many(store, 5 + (uint64_t)i);
    }
    CHECK(add(store, 1)); /* waits when the image is written, and is undone */
    test_store_close(store);
    check_verify("image");
    check_reader(kind, "image");
    store = open_at(path, kind, UNSEEN_STORE_WRITE);
    CHECK(test_store_info(store).image_covers > 0);
    check_all(store, &now, "image");
    CHECK(take_out(store, 0));
    now.added[0] = false;
    check_all(store, &now, "the other key is gone");
    CHECK(take_out(store, 2));
    CHECK(!contains(store, 2) && add(store, 2));
    commit(store);
    test_store_close(store);
    check_verify("image behind");
    check_reader(kind, "image behind");
    /* The counts of the allowed keys are checked against the log. */
    FILE *f = fopen(image, "r+b");
    uint8_t header[UNSEEN__IMAGE_HEADER_LEN];
    uint8_t last[UNSEEN__ALLOWED_LEN];
    struct unseen__image_header h;
    CHECK(f && fread(header, sizeof(header), 1, f) == 1);
    CHECK(unseen__image_header_decode(header, &h) == UNSEEN_OK);
    CHECK_EQ(h.nallowed, 3);
    const long at = (long)(unseen__image_body_offset(&h) + h.body_len + h.tail_len - sizeof(last));
    CHECK(fseek(f, at, SEEK_SET) == 0 && fread(last, sizeof(last), 1, f) == 1);
    CHECK_EQ(load_le64(last + 16), 1);
    last[16] = 7;
    CHECK(fseek(f, at, SEEK_SET) == 0 && fwrite(last, sizeof(last), 1, f) == 1);
    CHECK(fclose(f) == 0);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    check_reader(kind, "the log in place of a damaged image");
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    check_verify("repaired");
}

/* ---- other ways ---- */

/* A store rewrites itself when most of its log is dead. */
static void test_self_rewrite(const struct test_store_kind *kind)
{
    test_folder_clear(dir);
    struct unseen_store *store = make_three(path, kind);
    const uint64_t full = test_store_info(store).log_bytes;
    static struct unseen_key keys[MANY];
    static uint8_t verdicts[MANY];
    uint64_t seed = 3;
    for (size_t i = 0; i < MANY; i++) {
        keys[i].lo = test_random(&seed);
        keys[i].hi = test_random(&seed);
    }
    CHECK(unseen_store_add_keys(store, keys, MANY, verdicts, NULL) == UNSEEN_OK);
    commit(store);
    CHECK(unseen_store_remove_keys(store, keys, MANY, verdicts, NULL) == UNSEEN_OK);
    commit(store);
    CHECK(!add(store, 0));
    test_store_close(store);
    store = open_at(path, kind, UNSEEN_STORE_WRITE);
    CHECK(test_store_info(store).log_bytes < full + 4096);
    check_all(store, &now, "rewritten by itself");
    check_counts(store, &now);
    test_store_close(store);
    check_verify("rewritten by itself");
}

/* In a store with a window a key that leaves is allowed again, and the log never begins behind the
 * records that allow keys: it is written anew instead. */
static void test_window(const struct test_store_kind *kind)
{
    enum {
        WINDOW = 10000,
        TURNS = 40,
        FEW = 4000 /* keys of a turn: they are less than what makes a store rewrite itself */
    };
    static struct unseen_key keys[FEW];
    static uint8_t verdicts[FEW];
    struct unseen_store_options options = test_store_options(kind, UNSEEN_STORE_CREATE);
    uint64_t time = 1000000;
    uint64_t seed = 3;
    options.key_bits = 128;
    options.window = WINDOW;
    options.capacity = 4 * FEW;
    test_folder_clear(dir);
    now = (struct flags){0};
    struct unseen_store *store = test_store_open(path, &options);
    for (int turn = 0; turn < TURNS; turn++, time += 2 * WINDOW) {
        CHECK(unseen_store_expire(store, time, SIZE_MAX, NULL) == UNSEEN_OK);
        memset(now.added, 0, sizeof(now.added)); /* all have left */
        check_all(store, &now, "left");
        CHECK(add(store, 0));
        now.added[0] = true;
        commit(store);
        for (uint32_t id = 1; turn == 0 && id < 4; id++) {
            CHECK(contains(store, id) && !allow(store, id));
            now.allowed[id] = true;
        }
        CHECK(add(store, 2) && !contains(store, 1) && !contains(store, 3));
        now.added[2] = true;
        for (size_t i = 0; i < FEW; i++) {
            keys[i].lo = test_random(&seed);
            keys[i].hi = test_random(&seed);
        }
        CHECK(unseen_store_add_keys(store, keys, FEW, verdicts, NULL) == UNSEEN_OK);
        commit(store);
        check_all(store, &now, "window");
        check_counts(store, &now);
        if (turn % 3 == 2) {
            test_store_close(store);
            check_verify("window");
            options.mode = UNSEEN_STORE_READ;
            struct unseen_store *reader = test_store_open(path, &options);
            check_all(reader, &now, "window, read");
            test_store_close(reader);
            options.mode = UNSEEN_STORE_WRITE;
            store = test_store_open(path, &options);
            check_all(store, &now, "window, opened");
        }
    }
    test_store_close(store);
}

/* Other settings: a filter that tells all keys apart, shorter keys, a filter that cannot remove. */
static void test_settings(void)
{
    const struct test_store_kind bits96 = {"compact", 0, 0, true};
    const struct test_store_kind bloom = {"bloom", 0.3, 1000, false};
    test_folder_clear(dir);
    test_store_close(make_three(path, &kinds[0]));
    struct unseen_store_options options = {.size = sizeof(options), .filter = "bloom", .fpr = 0.3};
    options.capacity = 1000;
    CHECK(unseen_store_rewrite(path, &options, &error) == UNSEEN_OK);
    check_reader(&bloom, "bloom");
    options = (struct unseen_store_options){.size = sizeof(options), .filter = "compact"};
    options.fpr = 1e-9;
    CHECK(unseen_store_rewrite(path, &options, &error) == UNSEEN_OK);
    options = (struct unseen_store_options){.size = sizeof(options), .key_bits = 96};
    CHECK(unseen_store_rewrite(path, &options, &error) == UNSEEN_OK);
    options = test_store_options(&bits96, UNSEEN_STORE_READ);
    struct unseen_store *store = test_store_open(path, &options);
    for (uint32_t id = 0; id < 4; id++) {
        struct unseen_key key = key_of(id);
        uint8_t verdict = 9;
        unseen__key_narrow(96, &key);
        CHECK(unseen_set_contains_keys(unseen_store_set(store), &key, 1, &verdict, NULL) ==
              UNSEEN_OK);
        CHECK_EQ(verdict == UNSEEN_SEEN, now.added[id]);
    }
    test_store_close(store);
    check_verify("other settings");
}

/* What one store allows is allowed in the other, unless that has added it. */
static void test_merge(const struct test_store_kind *kind)
{
    uint64_t nnew = 0;
    test_folder_clear(dir);
    struct unseen_store *from = make_three(other, kind);
    struct unseen_store *store = open_at(path, kind, UNSEEN_STORE_CREATE);
    CHECK(add(store, 1)); /* allowed in `from`: stays SEEN */
    CHECK(add(store, FAMILY + 1));
    commit(store);
    CHECK(!allow(store, FAMILY + 2) && !allow(store, FAMILY + 3));
    test_store_close(store);
    commit(from);
    CHECK(add(from, FAMILY + 2)); /* allowed in `store`: becomes SEEN */
    CHECK(unseen_store_commit(from, &error) == UNSEEN_OK);
    now.added[1] = now.added[FAMILY + 1] = now.added[FAMILY + 2] = true;
    now.allowed[FAMILY + 2] = now.allowed[FAMILY + 3] = true;
    struct unseen_store *draft = open_at(path, kind, UNSEEN_STORE_DRAFT);
    /* Keys 0 and 1 look alike, and the store has 1: so 0 is not added. */
    CHECK(unseen_store_merge(draft, from, &nnew, NULL, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(nnew, 2); /* 2 and FAMILY + 2 */
    CHECK(unseen_store_publish(draft, &error) == UNSEEN_OK);
    now.allowed[1] = false;
    durable = now;
    check_all(draft, &now, "merged");
    test_store_close(draft);
    test_store_close(from);
    check_reader(kind, "merged");
    check_verify("merged");
}

/* Refused, and nothing has changed. */
static void test_errors(void)
{
    const struct unseen_key key = key_of(1);
    uint8_t verdict;
    test_folder_clear(dir);
    struct unseen_store *store = open_at(path, &kinds[0], UNSEEN_STORE_CREATE);
    CHECK(add(store, 0));
    CHECK(unseen_store_allow(store, &key, 1, &verdict, &error) == UNSEEN_ERR_ARGUMENT);
    commit(store);
    CHECK(unseen_store_allow(store, NULL, 0, NULL, &error) == UNSEEN_OK);
    test_store_close(store);
    store = open_at(path, &kinds[0], UNSEEN_STORE_READ);
    CHECK(unseen_store_allow(store, &key, 1, &verdict, &error) == UNSEEN_ERR_READONLY);
    CHECK(contains(store, 1));
    test_store_close(store);
    struct unseen_store_options options = test_store_options(&kinds[0], UNSEEN_STORE_CREATE);
    store = test_store_open(other, &options);
    CHECK(unseen_store_allow(store, &key, 1, &verdict, &error) == UNSEEN_ERR_ARGUMENT);
    test_store_close(store);
    CHECK(unlink(other) == 0);
    options.no_log = true;
    store = test_store_open(other, &options);
    CHECK(unseen_store_allow(store, &key, 1, &verdict, &error) == UNSEEN_ERR_UNSUPPORTED);
    test_store_close(store);
}

/* Makes a record that allows a key which the log has, as no writer does. */
static void append_forged(uint32_t id)
{
    struct unseen_store *store = open_at(path, &kinds[0], UNSEEN_STORE_READ);
    const struct unseen_store_info info = test_store_info(store);
    test_store_close(store);
    uint8_t bytes[UNSEEN__RECORD_HEAD + 16 + UNSEEN__RECORD_TAIL] = {0};
    const struct unseen_key key = key_of(id);
    struct unseen__record record = {.kind = UNSEEN__RECORD_ALLOWED,
                                    .offset = info.log_bytes,
                                    .number = 0,
                                    .n = 1,
                                    .output_len = UNSEEN__NO_OUTPUT};
    FILE *f = fopen(path, "r+b");
    uint8_t head[UNSEEN__RECORD_HEAD];
    for (uint64_t at = UNSEEN__RECORDS_OFFSET; at < info.log_bytes;) {
        struct unseen__record last;
        CHECK(f && fseek(f, (long)at, SEEK_SET) == 0 && fread(head, sizeof(head), 1, f) == 1);
        CHECK(unseen__record_decode_head(head, at, &last));
        record.number = last.number + 1;
        at += unseen__record_len(&last, 128);
    }
    unseen__record_encode_head(&record, bytes);
    unseen__keys_pack(&key, 1, 128, bytes + UNSEEN__RECORD_HEAD);
    store_le64(bytes + sizeof(bytes) - UNSEEN__RECORD_TAIL,
               unseen__record_checksum(bytes, sizeof(bytes), info.id));
    CHECK(f && fseek(f, (long)info.log_bytes, SEEK_SET) == 0 &&
          fwrite(bytes, sizeof(bytes), 1, f) == 1);
    CHECK(f && fclose(f) == 0);
}

static void test_forged(void)
{
    test_folder_clear(dir);
    test_store_close(make_three(path, &kinds[0]));
    check_verify("honest");
    append_forged(0);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    check_verify("repaired");
    struct unseen_store *store = open_at(path, &kinds[0], UNSEEN_STORE_READ);
    check_all(store, &now, "repaired");
    CHECK(contains(store, 0));
    test_store_close(store);
}

int main(void)
{
    test_folder_make(dir, sizeof(dir), "allow");
    snprintf(path, sizeof(path), "%s/store", dir);
    snprintf(other, sizeof(other), "%s/other", dir);
    snprintf(image, sizeof(image), "%s.image", path);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        test_model(&kinds[i]);
    }
    test_image(&kinds[0], 1);
    test_image(&kinds[0], 24);
    test_self_rewrite(&kinds[0]);
    test_window(&kinds[0]);
    test_window(&kinds[1]);
    test_settings();
    test_merge(&kinds[0]);
    test_errors();
    test_forged();
    test_folder_remove(dir);
    return test_end();
}
