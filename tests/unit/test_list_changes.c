/* SPDX-License-Identifier: MIT
 *
 * Changes of lists: what was allowed, added and removed holds over what the list was built of, by
 * comparison with a model; a file cut or damaged at any byte gives whole commits or is refused; no
 * failure of memory, disk or another process leaves half a commit, and readers take up what
 * comes. */
#include "folder_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "hash/checksum.h"
#include "list/list_key.h"
#include "list/texts.h"
#include <unseen_list.h>

enum {
    END = 48, /* bytes of the record without changes that a writer ends with */
    PATH_CAP = 256,
    NTEXTS = 1500, /* of which the first NBUILT are what the list is built of */
    NBUILT = 800,
    LONG_LEN = 70000
};

static char folder[PATH_CAP];
static char path[PATH_CAP + 16];
static struct unseen_bytes texts[NTEXTS];

/* ---- texts ---- */

/* An empty one, one of NUL, a long one, and such as differ in a byte. */
static void make_texts(void)
{
    static char room[NTEXTS][24];
    static char longest[LONG_LEN];
    memset(longest, 'x', sizeof(longest));
    for (size_t i = 0; i < NTEXTS; i++) {
        const int len = snprintf(room[i], sizeof(room[i]), "http://a.example/%zu", i);
        texts[i] = (struct unseen_bytes){room[i], (size_t)len};
    }
    texts[3] = (struct unseen_bytes){NULL, 0};
    texts[4] = (struct unseen_bytes){"\0\xff", 2};
    texts[5] = (struct unseen_bytes){longest, LONG_LEN};
    texts[NBUILT + 3] = (struct unseen_bytes){"\0", 1};
    texts[NBUILT + 5] = (struct unseen_bytes){longest, LONG_LEN - 1};
}

/* ---- lists ---- */

static void check_ok(enum unseen_status status, const struct unseen_error *error)
{
    if (!CHECK(status == UNSEEN_OK)) {
        fprintf(stderr, "%s\n", error->text);
        exit(1);
    }
}

static void build_at(const char *at, uint64_t seed, size_t n)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_build *b = NULL;
    /* at this rate no text below is listed by error */
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .fpr = 1e-9,
                                                      .seed = &seed,
                                                      .seed_len = sizeof(seed),
                                                      .cpu = test_cpu};
    check_ok(unseen_list_build_create(&b, at, &options, &error), &error);
    check_ok(unseen_list_build_add_texts(b, texts, n, &error), &error);
    check_ok(unseen_list_build_finish(b, NULL, NULL, &error), &error);
    unseen_list_build_free(b);
}

static enum unseen_status open_with(struct unseen_list **list_out,
                                    const struct unseen_allocator *allocator,
                                    struct unseen_error *error)
{
    const struct unseen_list_options options = {
        .size = sizeof(options), .cpu = test_cpu, .allocator = allocator};
    return unseen_list_open(list_out, path, &options, error);
}

static struct unseen_list *open_list(void)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list *list = NULL;
    check_ok(open_with(&list, NULL, &error), &error);
    return list;
}

static struct unseen_list_edit *open_edit(void)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_edit *edit = NULL;
    check_ok(unseen_list_edit_open(&edit, path, NULL, &error), &error);
    return edit;
}

static struct unseen_list_info info_of(const struct unseen_list *list)
{
    struct unseen_list_info info = {.size = sizeof(info)};
    CHECK(unseen_list_info(list, &info) == UNSEEN_OK);
    return info;
}

/* One commit of one change for texts[first..first + n). */
static void commit(enum unseen_list_change change, size_t first, size_t n)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_edit *edit = open_edit();
    check_ok(unseen_list_edit_change_texts(edit, change, texts + first, n, NULL, &error), &error);
    check_ok(unseen_list_edit_commit(edit, &error), &error);
    unseen_list_edit_close(edit);
}

/* ---- the model ---- */

struct model {
    bool allowed[NTEXTS];
    int said[NTEXTS]; /* UNSEEN_LIST_ADD, UNSEEN_LIST_REMOVE or 0 */
};

static bool model_change(struct model *model, enum unseen_list_change change, size_t i)
{
    const bool allowed = model->allowed[i];
    const int said = model->said[i];
    if (change == UNSEEN_LIST_ALLOW || change == UNSEEN_LIST_DISALLOW) {
        model->allowed[i] = change == UNSEEN_LIST_ALLOW;
    } else {
        model->said[i] = (int)change;
    }
    return allowed != model->allowed[i] || said != model->said[i];
}

static uint8_t model_verdict(const struct model *model, size_t i)
{
    const bool listed =
        model->said[i] == UNSEEN_LIST_ADD || (i < NBUILT && model->said[i] != UNSEEN_LIST_REMOVE);
    return model->allowed[i] ? UNSEEN_ALLOWED : listed ? UNSEEN_SEEN : UNSEEN_NEW;
}

/* Whether the list answers for all texts as the model does, in each way of asking. */
static bool agrees(const struct unseen_list *list, const struct model *model)
{
    static uint8_t batch[NTEXTS];
    bool same = true;
    unseen_list_contains_texts(list, texts, NTEXTS, batch);
    for (size_t i = 0; i < NTEXTS; i++) {
        const uint8_t expected = model_verdict(model, i);
        same = same && batch[i] == expected &&
               test_list_contains(list, texts[i].data, texts[i].len) == (expected == UNSEEN_SEEN);
    }
    return same;
}

struct told {
    struct model model;
    size_t n;
    size_t at_most;
};

static bool take_told(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct told *told = context;
    size_t i = 0;
    while (i < NTEXTS && (texts[i].len != text.len ||
                          (text.len > 0 && memcmp(texts[i].data, text.data, text.len)))) {
        i++;
    }
    CHECK(i < NTEXTS && change != UNSEEN_LIST_DISALLOW);
    CHECK(model_change(&told->model, change, i)); /* each is told once */
    return ++told->n < told->at_most;
}

/* What the list tells of its changes, and counts, is what the model has. */
static void check_told(const struct unseen_list *list, const struct model *model)
{
    static struct told told;
    uint64_t n[3] = {0};
    memset(&told, 0, sizeof(told));
    told.at_most = SIZE_MAX;
    unseen_list_changes(list, take_told, &told);
    CHECK(memcmp(&told.model, model, sizeof(*model)) == 0);
    for (size_t i = 0; i < NTEXTS; i++) {
        n[0] += model->allowed[i];
        n[1] += model->said[i] == UNSEEN_LIST_ADD;
        n[2] += model->said[i] == UNSEEN_LIST_REMOVE;
    }
    const struct unseen_list_info info = info_of(list);
    CHECK(info.nallowed == n[0] && info.nadded == n[1] && info.nremoved == n[2]);
    CHECK_EQ(told.n, n[0] + n[1] + n[2]);
    if (told.n > 1) {
        memset(&told, 0, sizeof(told));
        told.at_most = 1;
        unseen_list_changes(list, take_told, &told);
        CHECK_EQ(told.n, 1);
    }
}

/* Random changes in commits of random size, some of them dropped, against the model; a reader that
 * is opened at each step, and one that only refreshes. */
static void test_model(void)
{
    static struct model model;
    static struct model dropped;
    struct unseen_error error = {.text = ""};
    uint64_t state = 1;
    memset(&model, 0, sizeof(model));
    build_at(path, 7, NBUILT);
    struct unseen_list *kept = open_list();
    CHECK(agrees(kept, &model));
    for (unsigned step = 0; step < 150; step++) {
        struct unseen_list_edit *edit = open_edit();
        const bool drops = test_random(&state) % 4 == 0;
        bool any = false;
        dropped = model;
        for (size_t n = test_random(&state) % 60; n > 0; n--) {
            const size_t i = test_random(&state) % (step % 2 ? 12 : NTEXTS);
            const enum unseen_list_change change =
                (enum unseen_list_change)(1 + test_random(&state) % 4);
            uint8_t changed = 9;
            check_ok(unseen_list_edit_change_texts(edit, change, &texts[i], 1, &changed, &error),
                     &error);
            const bool expected = model_change(&model, change, i);
            CHECK_EQ(changed, expected);
            any = any || expected;
        }
        bool moved = true;
        CHECK(unseen_list_refresh(kept, &moved, &error) == UNSEEN_OK && !moved);
        if (drops) {
            model = dropped;
            any = false;
        } else {
            check_ok(unseen_list_edit_commit(edit, &error), &error);
        }
        unseen_list_edit_close(edit);
        CHECK(unseen_list_refresh(kept, &moved, &error) == UNSEEN_OK);
        CHECK_EQ(moved, any);
        struct unseen_list *list = open_list();
        CHECK(agrees(list, &model) && agrees(kept, &model));
        if (step % 10 == 0) {
            check_told(list, &model);
            check_told(kept, &model);
            CHECK(unseen_list_verify(kept, &error) == UNSEEN_OK);
        }
        unseen_list_close(list);
    }
    /* a fault put into the model is noticed */
    model.allowed[10] = !model.allowed[10];
    CHECK(!agrees(kept, &model));
    unseen_list_close(kept);
}

/* Several commits of one edit, and many texts in one. */
static void test_commits(void)
{
    static struct model model;
    struct unseen_error error = {.text = ""};
    uint8_t changed[NTEXTS];
    memset(&model, 0, sizeof(model));
    build_at(path, 7, NBUILT);
    struct unseen_list_edit *edit = open_edit();
    check_ok(unseen_list_edit_commit(edit, &error), &error); /* of nothing */
    check_ok(
        unseen_list_edit_change_texts(edit, UNSEEN_LIST_REMOVE, texts, NTEXTS, changed, &error),
        &error);
    CHECK(!memchr(changed, 0, NTEXTS));
    check_ok(
        unseen_list_edit_change_texts(edit, UNSEEN_LIST_REMOVE, texts, NTEXTS, changed, &error),
        &error);
    CHECK(!memchr(changed, 1, NTEXTS));
    check_ok(unseen_list_edit_commit(edit, &error), &error);
    check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, texts + 1, 1, NULL, &error),
             &error);
    check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, NULL, 0, NULL, &error), &error);
    check_ok(unseen_list_edit_commit(edit, &error), &error);
    check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, texts + 2, 1, NULL, &error),
             &error);
    CHECK(unseen_list_edit_change_texts(edit, (enum unseen_list_change)5, texts, 1, NULL, &error) ==
          UNSEEN_ERR_ARGUMENT);
    CHECK(unseen_list_edit_change_texts(edit, (enum unseen_list_change)0, texts, 1, NULL, &error) ==
          UNSEEN_ERR_ARGUMENT);
    unseen_list_edit_close(edit); /* the last is dropped */
    unseen_list_edit_close(NULL);
    for (size_t i = 0; i < NTEXTS; i++) {
        (void)model_change(&model, UNSEEN_LIST_REMOVE, i);
    }
    (void)model_change(&model, UNSEEN_LIST_ALLOW, 1);
    struct unseen_list *list = open_list();
    CHECK(agrees(list, &model));
    check_told(list, &model);
    unseen_list_close(list);
}

static void make_hasher(struct unseen__hasher *hasher)
{
    struct unseen__secret secret;
    CHECK(unseen__secret_make("7", 1, &secret, NULL) == UNSEEN_OK);
    unseen__hasher_init(hasher, &secret, test_cpu);
}

/* Texts are compared, and all of their keys. */
static void test_exact(void)
{
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__hasher hasher;
    struct unseen__list_texts table;
    make_hasher(&hasher);
    unseen__list_texts_init(&table, &hasher, &allocator);
    CHECK(unseen__list_texts_reserve(&table, 1, 2) == UNSEEN_OK);
    CHECK(unseen__list_texts_change(&table, UNSEEN_LIST_ADD, "ab", 2));
    const uint64_t key = unseen__list_key(&hasher, "ab", 2);
    CHECK_EQ(unseen__list_texts_state(&table, key, "ab", 2), UNSEEN__TEXT_ADDED);
    CHECK_EQ(unseen__list_texts_state(&table, key, "ac", 2), 0);
    CHECK_EQ(unseen__list_texts_state(&table, key, "a", 1), 0);
    CHECK_EQ(unseen__list_texts_state(&table, key, "abc", 3), 0);
    /* Keys that differ in one bit from the text's; half of them agree in their upper half. */
    for (unsigned bit = 0; bit < 64; bit++) {
        CHECK_EQ(unseen__list_texts_state(&table, key ^ UINT64_C(1) << bit, "ab", 2), 0);
    }
    unseen__list_texts_release(&table);
}

/* The longest way from the first slot of a text to its own. */
static size_t longest_way(const struct unseen__list_texts *t)
{
    size_t longest = 0;
    for (size_t i = 0; i < t->nslots; i++) {
        if (t->by_text[i] != 0) {
            const struct unseen__list_text *text = &t->texts[(uint32_t)t->by_text[i] - 1];
            const size_t way = (i - (size_t)text->hash) & (t->nslots - 1);
            longest = way > longest ? way : longest;
        }
    }
    return longest;
}

/* The i'th order of eight pieces of 16 bytes. */
static void put_order(char text[128], unsigned i)
{
    unsigned pieces[8];
    for (unsigned k = 0; k < 8; k++) {
        pieces[k] = k;
    }
    for (unsigned left = 8; left > 0; i /= left, left--) {
        const unsigned which = i % left;
        char piece[24];
        (void)snprintf(piece, sizeof(piece), "%016u", pieces[which]);
        memcpy(text + (size_t)16 * (left - 1), piece, 16);
        pieces[which] = pieces[left - 1];
    }
}

/* Texts that all have one key, as whoever knows a list's secret can make them. With a hasher whose
 * NH key is 0 the order of the pieces of 16 bytes does not matter. */
static void test_one_key(void)
{
    const unsigned n = 40320; /* 8! */
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__hasher hasher;
    struct unseen__list_texts table;
    char text[128];
    make_hasher(&hasher);
    memset(hasher.nh, 0, sizeof(hasher.nh));
    unseen__list_texts_init(&table, &hasher, &allocator);
    put_order(text, 0);
    const uint64_t key = unseen__list_key(&hasher, text, 128);
    for (unsigned i = 0; i < n; i++) {
        put_order(text, i);
        CHECK_EQ(unseen__list_key(&hasher, text, 128), key);
        CHECK(unseen__list_texts_reserve(&table, 1, 128) == UNSEEN_OK);
        CHECK(unseen__list_texts_change(&table, i % 2 ? UNSEEN_LIST_ADD : UNSEEN_LIST_REMOVE, text,
                                        128));
        CHECK_EQ(unseen__list_texts_state(&table, key, text, 128),
                 i % 2 ? UNSEEN__TEXT_ADDED : UNSEEN__TEXT_REMOVED);
    }
    CHECK_EQ(table.n, n);
    CHECK(longest_way(&table) < 64);
    size_t nkeys = 0;
    for (size_t i = 0; i < table.nslots; i++) {
        nkeys += table.by_key[i] != 0;
    }
    CHECK_EQ(nkeys, 1);
    unseen__list_texts_release(&table);
}

/* Nothing of a list that was built anew under the same seed, or of another list. */
static void test_other_list(void)
{
    struct unseen_error error = {.text = ""};
    build_at(path, 7, NBUILT);
    commit(UNSEEN_LIST_ALLOW, 0, 3);
    struct unseen_list *old = open_list();
    CHECK_EQ(info_of(old).nallowed, 3);
    build_at(path, 7, NBUILT);
    struct unseen_list *list = open_list();
    CHECK_EQ(info_of(list).nallowed, 0);
    unseen_list_close(list);
    commit(UNSEEN_LIST_ADD, NBUILT, 1);
    CHECK(unseen_list_refresh(old, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(info_of(old).nadded, 0); /* it is another file */
    unseen_list_close(old);
    CHECK(unseen_list_edit_open(&(struct unseen_list_edit *){NULL}, folder, NULL, &error) !=
          UNSEEN_OK);
    CHECK(unlink(path) == 0);
    struct unseen_list_edit *edit = NULL;
    CHECK(unseen_list_edit_open(&edit, path, NULL, &error) == UNSEEN_ERR_MISSING);
    CHECK(access(path, F_OK) != 0);
}

/* ---- files ---- */

struct file {
    uint8_t *bytes;
    size_t len;
};

static struct file read_file(void)
{
    struct file file = {0};
    file.bytes = test_file_read(path, &file.len);
    return file;
}

/* A list with three commits, as a writer that was killed leaves it, and where they end: ends[0] is
 * that of the list proper. */
static struct file make_three(size_t ends[4])
{
    struct unseen_error error = {.text = ""};
    struct stat st;
    build_at(path, 7, 40);
    struct unseen_list_edit *edit = open_edit();
    for (size_t k = 0; k < 4; k++) {
        if (k > 0) {
            check_ok(unseen_list_edit_change_texts(edit,
                                                   k == 2 ? UNSEEN_LIST_REMOVE : UNSEEN_LIST_ALLOW,
                                                   texts + 10 * k, k, NULL, &error),
                     &error);
            check_ok(unseen_list_edit_commit(edit, &error), &error);
        }
        CHECK(stat(path, &st) == 0);
        ends[k] = (size_t)st.st_size;
    }
    unseen_list_edit_close(edit);
    CHECK(stat(path, &st) == 0 && (size_t)st.st_size == ends[3] + END);
    CHECK(truncate(path, (off_t)ends[3]) == 0);
    return read_file();
}

/* How many commits of make_three's the open list has; 9 if it has any other state. */
static size_t commits_of(const struct unseen_list *list)
{
    const struct unseen_list_info info = info_of(list);
    const uint64_t expected[4][2] = {{0, 0}, {1, 0}, {1, 2}, {4, 2}};
    for (size_t k = 0; k < 4; k++) {
        if (info.nallowed == expected[k][0] && info.nremoved == expected[k][1] &&
            info.nadded == 0) {
            return k;
        }
    }
    return 9;
}

/* What opening and verifying say; the commits that are there. */
static enum unseen_status try_file(size_t *ncommits_out, struct unseen_error *error)
{
    struct unseen_list *list = NULL;
    enum unseen_status status = open_with(&list, NULL, error);
    if (status == UNSEEN_OK) {
        *ncommits_out = commits_of(list);
        status = unseen_list_verify(list, error);
    }
    unseen_list_close(list);
    return status;
}

/* Each length: whole commits hold, and the next one follows them. */
static void test_cuts(void)
{
    struct unseen_error error = {.text = ""};
    size_t ends[4];
    struct file file = make_three(ends);
    for (size_t len = ends[0]; len <= ends[3]; len++) {
        size_t expected = 3;
        size_t ncommits = 9;
        while (ends[expected] > len) {
            expected--;
        }
        test_file_write(path, file.bytes, len);
        CHECK(try_file(&ncommits, &error) == UNSEEN_OK);
        CHECK_EQ(ncommits, expected);
        struct unseen_list *list = open_list();
        CHECK_EQ(info_of(list).torn_bytes, len - ends[expected]);
        CHECK_EQ(info_of(list).bytes, len);
        CHECK_EQ(info_of(list).changes_bytes, ends[expected] - ends[0]);
        if (expected < 3) {
            commit(expected == 1 ? UNSEEN_LIST_REMOVE : UNSEEN_LIST_ALLOW, 10 * (expected + 1),
                   expected + 1);
            CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
            CHECK_EQ(commits_of(list), expected + 1);
            CHECK_EQ(info_of(list).torn_bytes, 0);
            struct file now = read_file();
            CHECK(now.len == ends[expected + 1] + END &&
                  memcmp(now.bytes, file.bytes, ends[expected + 1]) == 0);
            free(now.bytes);
        }
        unseen_list_close(list);
    }
    for (size_t len = ends[0] - 1; len > ends[0] - 40; len--) {
        size_t ncommits = 9;
        test_file_write(path, file.bytes, len);
        CHECK(try_file(&ncommits, &error) == UNSEEN_ERR_CORRUPT);
    }
    free(file.bytes);
}

/* A long commit was interrupted, and a short one follows: nothing of the long one is left. */
static void test_torn(void)
{
    struct unseen_error error = {.text = ""};
    struct stat st;
    build_at(path, 7, 40);
    commit(UNSEEN_LIST_ALLOW, 0, NTEXTS);
    CHECK(stat(path, &st) == 0 && truncate(path, st.st_size - END - 1) == 0);
    struct unseen_list *list = open_list();
    CHECK(info_of(list).nallowed == 0 && info_of(list).torn_bytes > 100000);
    commit(UNSEEN_LIST_ADD, 50, 1);
    CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
    CHECK(info_of(list).nadded == 1 && info_of(list).torn_bytes == 0);
    CHECK(stat(path, &st) == 0);
    CHECK_EQ(st.st_size, info_of(list).bytes);
    unseen_list_close(list);
    /* looked at once, but again when the file has changed, also if it is as long as before */
    size_t ends[4];
    struct file file = make_three(ends);
    file.bytes[ends[2] + 50] ^= 1;
    test_file_write(path, file.bytes, file.len);
    list = open_list();
    CHECK_EQ(commits_of(list), 2);
    CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(info_of(list).torn_bytes, ends[3] - ends[2]);
    usleep(20000); /* the clock of files ticks slowly */
    file.bytes[ends[2] + 50] ^= 1;
    const int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, file.bytes, file.len, 0) == (ssize_t)file.len && close(fd) == 0);
    CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(commits_of(list), 3);
    unseen_list_close(list);
    free(file.bytes);
}

/* Each bit changed: what comes behind an intact record is damaged; in the last one it is a commit
 * that did not end. */
static void test_flips(void)
{
    struct unseen_error error = {.text = ""};
    size_t ends[4];
    struct file file = make_three(ends);
    for (size_t i = ends[0]; i < ends[3]; i++) {
        size_t ncommits = 9;
        file.bytes[i] ^= (uint8_t)(1u << i % 8);
        test_file_write(path, file.bytes, file.len);
        const enum unseen_status status = try_file(&ncommits, &error);
        if (i < ends[2]) {
            CHECK(status == UNSEEN_ERR_CORRUPT && strstr(error.text, path) != NULL);
            CHECK_EQ(error.offset, i < ends[1] ? ends[0] : ends[1]);
            struct unseen_list_edit *edit = NULL;
            CHECK(unseen_list_edit_open(&edit, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
        } else {
            CHECK(status == UNSEEN_OK);
            CHECK_EQ(ncommits, 2);
        }
        file.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    /* but not if the writer has closed the list */
    test_file_write(path, file.bytes, file.len);
    commit(UNSEEN_LIST_ALLOW, 50, 1);
    struct file closed = read_file();
    for (size_t i = ends[3]; i + END < closed.len; i++) {
        size_t ncommits = 9;
        closed.bytes[i] ^= (uint8_t)(1u << i % 8);
        test_file_write(path, closed.bytes, closed.len);
        CHECK(try_file(&ncommits, &error) == UNSEEN_ERR_CORRUPT && error.offset == ends[3]);
        closed.bytes[i] ^= (uint8_t)(1u << i % 8);
    }
    free(closed.bytes);
    /* a record left out, exchanged, repeated, or of another list */
    const size_t len1 = ends[1] - ends[0];
    size_t ncommits = 9;
    memmove(file.bytes + ends[0], file.bytes + ends[1], ends[3] - ends[1]);
    test_file_write(path, file.bytes, file.len - len1);
    CHECK(try_file(&ncommits, &error) == UNSEEN_OK && ncommits == 0);
    free(file.bytes);
    file = make_three(ends);
    memcpy(file.bytes + ends[3], file.bytes + ends[2], ends[3] - ends[2]);
    test_file_write(path, file.bytes, ends[3] + ends[3] - ends[2]);
    CHECK(try_file(&ncommits, &error) == UNSEEN_OK && ncommits == 3);
    build_at(path, 8, 40);
    struct file other = read_file();
    CHECK_EQ(other.len, ends[0]);
    memcpy(file.bytes, other.bytes, other.len);
    test_file_write(path, file.bytes, ends[3]);
    CHECK(try_file(&ncommits, &error) == UNSEEN_OK && ncommits == 0);
    free(other.bytes);
    free(file.bytes);
}

/* Records with a right checksum, which say what no writer does. */
static void test_forged(void)
{
    struct unseen_error error = {.text = ""};
    size_t ends[4];
    struct file file = make_three(ends);
    struct {
        size_t place; /* in the second record */
        uint8_t value;
        enum unseen_status status;
    } const forged[] = {
        {4, 2, UNSEEN_ERR_VERSION},    {4, 1, UNSEEN_OK},
        {16, 3, UNSEEN_ERR_CORRUPT},   {16, 1, UNSEEN_ERR_CORRUPT},
        {32, 1, UNSEEN_ERR_CORRUPT},   {32, 3, UNSEEN_ERR_CORRUPT},
        {39, 255, UNSEEN_ERR_CORRUPT}, {40, 0, UNSEEN_ERR_CORRUPT},
        {40, 5, UNSEEN_ERR_CORRUPT},   {41, 255, UNSEEN_ERR_CORRUPT},
        {44, 255, UNSEEN_ERR_CORRUPT}, {41, 2, UNSEEN_ERR_CORRUPT},
    };
    for (size_t k = 0; k < sizeof(forged) / sizeof(forged[0]); k++) {
        size_t ncommits = 9;
        uint8_t *record = file.bytes + ends[1];
        const size_t len = ends[2] - ends[1] - 8;
        const uint8_t old = record[forged[k].place];
        record[forged[k].place] = forged[k].value;
        store_le64(record + len,
                   unseen__checksum_seeded(record, len, load_le64(file.bytes + 4088)));
        test_file_write(path, file.bytes, ends[2]);
        CHECK(try_file(&ncommits, &error) == forged[k].status);
        record[forged[k].place] = old;
    }
    free(file.bytes);
}

/* ---- failures ---- */

static void test_memory(void)
{
    struct unseen_error error = {.text = ""};
    unsigned long nfailed = 0;
    for (unsigned long fail_at = 1;; fail_at++) {
        struct test_allocator counting = {.fail_at = fail_at};
        const struct unseen_allocator allocator = {test_alloc, test_free, &counting};
        const struct unseen_list_options options = {.size = sizeof(options),
                                                    .allocator = &allocator};
        struct unseen_list_edit *edit = NULL;
        struct unseen_list *list = NULL;
        build_at(path, 7, 40);
        commit(UNSEEN_LIST_ALLOW, 0, 10);
        enum unseen_status status = open_with(&list, &allocator, &error);
        status = status ? status : unseen_list_edit_open(&edit, path, &options, &error);
        if (status == UNSEEN_OK) {
            status =
                unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, texts, NTEXTS, NULL, &error);
            /* nothing was done: the same can be tried again */
            if (status == UNSEEN_ERR_NOMEM) {
                CHECK(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, texts, 0, NULL,
                                                    &error) == UNSEEN_OK);
                CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_OK);
            }
        }
        status = status ? status : unseen_list_edit_commit(edit, &error);
        unseen_list_edit_close(edit);
        status = status ? status : unseen_list_refresh(list, NULL, &error);
        status = status ? status : unseen_list_verify(list, &error);
        unseen_list_close(list);
        CHECK_EQ(counting.nlive, 0);
        list = open_list();
        const struct unseen_list_info info = info_of(list);
        CHECK(info.nallowed == 10 && (info.nadded == 0 || info.nadded == NTEXTS));
        unseen_list_close(list);
        if (counting.nallocs < fail_at) {
            CHECK(status == UNSEEN_OK && info.nadded == NTEXTS);
            break;
        }
        CHECK(status == UNSEEN_ERR_NOMEM);
        nfailed++;
    }
    CHECK(nfailed > 15);
}

/* A commit that does not fit: the list is as it was, and after the limit is gone it can be
 * changed. */
static void test_no_space(void)
{
    struct unseen_error error = {.text = ""};
    struct rlimit old;
    struct stat st;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
    build_at(path, 7, NBUILT);
    commit(UNSEEN_LIST_ALLOW, 0, 2);
    CHECK(stat(path, &st) == 0);
    const off_t size = st.st_size;
    for (rlim_t more = 0; more < 20000; more += 3000) {
        const struct rlimit low = {(rlim_t)size + more, old.rlim_max};
        struct unseen_list_edit *edit = open_edit();
        check_ok(
            unseen_list_edit_change_texts(edit, UNSEEN_LIST_REMOVE, texts, NTEXTS, NULL, &error),
            &error);
        CHECK(setrlimit(RLIMIT_FSIZE, &low) == 0);
        const enum unseen_status status = unseen_list_edit_commit(edit, &error);
        CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
        CHECK(status == UNSEEN_ERR_IO && strstr(error.text, path) != NULL);
        CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_STOPPED);
        CHECK(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, texts, 1, NULL, &error) ==
              UNSEEN_ERR_STOPPED);
        unseen_list_edit_close(edit);
        CHECK(stat(path, &st) == 0);
        CHECK_EQ(st.st_size, size);
    }
    commit(UNSEEN_LIST_REMOVE, 0, NTEXTS);
    struct unseen_list *list = open_list();
    CHECK(info_of(list).nremoved == NTEXTS && info_of(list).nallowed == 2);
    unseen_list_close(list);
}

/* The same on a full disk. */
static void test_full_disk(void)
{
    struct unseen_error error = {.text = ""};
    if (mount("tmpfs", folder, "tmpfs", 0, "size=64k") != 0) {
        test_skip("right to mount a small disk");
        return;
    }
    build_at(path, 7, 40);
    commit(UNSEEN_LIST_ALLOW, 0, 2);
    struct unseen_list_edit *edit = open_edit();
    check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, texts, NTEXTS, NULL, &error),
             &error);
    CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_IO);
    unseen_list_edit_close(edit);
    struct unseen_list *list = open_list();
    CHECK(info_of(list).nallowed == 2 && info_of(list).nadded == 0);
    CHECK_EQ(info_of(list).torn_bytes, 0);
    CHECK(mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=4m") == 0);
    commit(UNSEEN_LIST_ADD, 0, NTEXTS);
    CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
    CHECK_EQ(info_of(list).nadded, NTEXTS);
    unseen_list_close(list);
    CHECK(umount(folder) == 0);
}

/* ---- others ---- */

static void test_busy(void)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_edit *second = NULL;
    build_at(path, 7, 40);
    struct unseen_list_edit *first = open_edit();
    CHECK(unseen_list_edit_open(&second, path, NULL, &error) == UNSEEN_ERR_BUSY);
    CHECK(strstr(error.text, path) != NULL);
    struct unseen_list *list = open_list(); /* readers do not wait */
    unseen_list_close(list);
    unseen_list_edit_close(first);
    unseen_list_edit_close(open_edit());
    CHECK(chmod(path, 0444) == 0);
    if (geteuid() != 0) {
        CHECK(unseen_list_edit_open(&second, path, NULL, &error) == UNSEEN_ERR_IO);
    }
}

/* A reader has seen a record that its writer had to take back: it does not stay. */
static void test_taken_back(void)
{
    struct unseen_error error = {.text = ""};
    size_t ends[4];
    bool moved = false;
    struct file file = make_three(ends);
    struct unseen_list *list = open_list();
    CHECK_EQ(commits_of(list), 3);
    CHECK(truncate(path, (off_t)ends[2]) == 0);
    CHECK(unseen_list_refresh(list, &moved, &error) == UNSEEN_OK && moved);
    CHECK_EQ(commits_of(list), 2);
    test_file_write(path, file.bytes, ends[3]);
    CHECK(unseen_list_refresh(list, &moved, &error) == UNSEEN_OK && moved);
    CHECK_EQ(commits_of(list), 3);
    /* another commit of the same length */
    CHECK(truncate(path, (off_t)ends[2]) == 0);
    commit(UNSEEN_LIST_ADD, 30, 3);
    CHECK(unseen_list_refresh(list, &moved, &error) == UNSEEN_OK && moved);
    CHECK(info_of(list).nadded == 3 && info_of(list).nallowed == 1);
    CHECK(unseen_list_refresh(list, &moved, &error) == UNSEEN_OK && !moved);
    unseen_list_close(list);
    free(file.bytes);
}

/* Writers in other processes, while readers refresh: each sees commits whole, 100 texts at a
 * time. */
static void test_processes(void)
{
    struct unseen_error error = {.text = ""};
    uint64_t nbefore = 0;
    int status = 0;
    build_at(path, 7, 40);
    struct unseen_list *list = open_list();
    const pid_t child = fork();
    if (child == 0) {
        for (size_t k = 0; k < 14; k++) {
            commit(UNSEEN_LIST_ADD, 100 * k, 100);
        }
        _exit(test_nfailed > 0);
    }
    CHECK(child > 0);
    bool over = false;
    do {
        over = waitpid(child, &status, WNOHANG) != 0;
        CHECK(unseen_list_refresh(list, NULL, &error) == UNSEEN_OK);
        const uint64_t n = info_of(list).nadded;
        CHECK(n % 100 == 0 && n >= nbefore);
        nbefore = n;
    } while (!over);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(nbefore, 1400);
    unseen_list_close(list);
}

static struct unseen_list_edit *wait_for_edit(void)
{
    struct unseen_error error = {.text = ""};
    struct unseen_list_edit *edit = NULL;
    enum unseen_status status;
    while ((status = unseen_list_edit_open(&edit, path, NULL, &error)) == UNSEEN_ERR_BUSY) {
    }
    check_ok(status, &error);
    return edit;
}

/* Two processes that meet: neither is done before the other has had its turns. */
struct meeting {
    atomic_uint nreplaced;
    atomic_bool over;
};

/* Puts a copy in the list's place, again and again, under its lock, as one who builds it anew. */
static void replace(const char *copy_path, struct meeting *meeting)
{
    while (!atomic_load(&meeting->over)) {
        struct unseen_list_edit *edit = wait_for_edit();
        struct file file = read_file();
        const int fd = open(copy_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        CHECK(fd >= 0 && write(fd, file.bytes, file.len) == (ssize_t)file.len && close(fd) == 0);
        CHECK(rename(copy_path, path) == 0);
        unseen_list_edit_close(edit);
        free(file.bytes);
        atomic_fetch_add(&meeting->nreplaced, 1);
    }
}

/* No commit goes into a file that has lost its name between being opened and being locked. */
static void test_replaced(void)
{
    enum {
        NREPLACED = 200,
        NCOMMITTED = 200
    };
    struct unseen_error error = {.text = ""};
    char copy_path[PATH_CAP + 24];
    int status = 0;
    struct meeting *meeting =
        mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(meeting != MAP_FAILED);
    snprintf(copy_path, sizeof(copy_path), "%s.copy", path);
    build_at(path, 7, 40);
    const pid_t child = fork();
    if (child == 0) {
        replace(copy_path, meeting);
        _exit(test_nfailed > 0);
    }
    CHECK(child > 0);
    size_t n = 0;
    while (n < NTEXTS && (n < NCOMMITTED || atomic_load(&meeting->nreplaced) < NREPLACED)) {
        struct unseen_list_edit *edit = wait_for_edit();
        check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, &texts[n++], 1, NULL, &error),
                 &error);
        check_ok(unseen_list_edit_commit(edit, &error), &error);
        unseen_list_edit_close(edit);
    }
    atomic_store(&meeting->over, true);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct unseen_list *list = open_list();
    CHECK_EQ(info_of(list).nadded, n);
    unseen_list_close(list);
    CHECK(munmap(meeting, sizeof(*meeting)) == 0);
}

/* Another file is renamed over the list while it is changed: the commit says so, before it or
 * after. */
static void test_renamed_over(void)
{
    struct unseen_error error = {.text = ""};
    char other_path[PATH_CAP + 24];
    snprintf(other_path, sizeof(other_path), "%s.other", path);
    for (unsigned removed = 0; removed < 2; removed++) {
        build_at(path, 7, 40);
        struct unseen_list_edit *edit = open_edit();
        check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, texts, 1, NULL, &error),
                 &error);
        check_ok(unseen_list_edit_commit(edit, &error), &error);
        check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, texts, 3, NULL, &error),
                 &error);
        build_at(other_path, 8, 50);
        CHECK(rename(other_path, path) == 0 && (!removed || unlink(path) == 0));
        CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_MISMATCH);
        CHECK(strstr(error.text, path) != NULL);
        CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_STOPPED);
        unseen_list_edit_close(edit);
        if (!removed) {
            struct unseen_list *list = open_list();
            CHECK_EQ(info_of(list).nallowed, 0);
            unseen_list_close(list);
        }
    }
}

static const char *renamed_in_sync; /* is renamed over the list in the next sync */

/* In place of the C library's. */
int fdatasync(int fd)
{
    if (renamed_in_sync) {
        CHECK(rename(renamed_in_sync, path) == 0);
        renamed_in_sync = NULL;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

/* The same in the middle of a commit: the list had its name before, and the record was written. */
static void test_renamed_in_commit(void)
{
    struct unseen_error error = {.text = ""};
    char other_path[PATH_CAP + 24];
    snprintf(other_path, sizeof(other_path), "%s.other", path);
    build_at(path, 7, 40);
    struct unseen_list_edit *edit = open_edit();
    check_ok(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, texts, 3, NULL, &error),
             &error);
    build_at(other_path, 8, 50);
    renamed_in_sync = other_path;
    CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_MISMATCH);
    CHECK(renamed_in_sync == NULL && strstr(error.text, path) != NULL);
    CHECK(unseen_list_edit_commit(edit, &error) == UNSEEN_ERR_STOPPED);
    unseen_list_edit_close(edit);
    struct unseen_list *list = open_list();
    CHECK_EQ(info_of(list).nallowed, 0);
    unseen_list_close(list);
}

/* Killed at any moment: what was acknowledged is there, and of the next commit all or nothing. */
static void test_kills(void)
{
    struct unseen_error error = {.text = ""};
    const unsigned nkills = (unsigned)(40 * test_scale());
    uint64_t state = 5;
    build_at(path, 7, 40);
    for (unsigned k = 0; k < nkills; k++) {
        int pipe_ends[2];
        uint64_t told = 0;
        uint64_t n = 0;
        CHECK(pipe(pipe_ends) == 0);
        struct unseen_list *list = open_list();
        const uint64_t before = info_of(list).nadded;
        unseen_list_close(list);
        const pid_t child = fork();
        if (child == 0) {
            for (n = before + 1;; n++) {
                char name[32];
                const int len = snprintf(name, sizeof(name), "%llu", (unsigned long long)n);
                const struct unseen_bytes item = {name, (size_t)len};
                struct unseen_list_edit *edit = NULL;
                if (unseen_list_edit_open(&edit, path, NULL, &error) != UNSEEN_OK ||
                    unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, &item, 1, NULL, &error) !=
                        UNSEEN_OK ||
                    unseen_list_edit_commit(edit, &error) != UNSEEN_OK ||
                    write(pipe_ends[1], &n, sizeof(n)) != sizeof(n)) {
                    _exit(1);
                }
                unseen_list_edit_close(edit);
            }
        }
        CHECK(child > 0 && close(pipe_ends[1]) == 0);
        usleep((useconds_t)(test_random(&state) % 4000));
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        while (read(pipe_ends[0], &n, sizeof(n)) == sizeof(n)) {
            told = n;
        }
        CHECK(close(pipe_ends[0]) == 0);
        list = open_list();
        const uint64_t after = info_of(list).nadded;
        CHECK(after >= before && (told == 0 || (after >= told && after <= told + 1)));
        CHECK(unseen_list_verify(list, &error) == UNSEEN_OK);
        unseen_list_close(list);
    }
}

int main(void)
{
    test_start();
    test_folder_make(folder, sizeof(folder), "changes");
    snprintf(path, sizeof(path), "%s/a.list", folder);
    make_texts();
    test_model();
    test_commits();
    test_exact();
    test_one_key();
    test_other_list();
    test_cuts();
    test_torn();
    test_flips();
    test_forged();
    test_memory();
    test_no_space();
    test_busy();
    test_taken_back();
    test_processes();
    test_replaced();
    test_renamed_over();
    test_renamed_in_commit();
    test_kills();
    test_full_disk();
    (void)unlink(path);
    CHECK(rmdir(folder) == 0);
    return test_end();
}
