/* SPDX-License-Identifier: MIT
 *
 * Hostile changes behind a list. The input becomes records, right and wrong ones, and other bytes.
 * A reader and a writer that open the list find the same changes. The changes that the list reports
 * are the changes that it answers by. A list that was open before takes up the same changes. After
 * a commit its changes are there, and nothing else has changed.
 *
 * Each record begins with a byte that says what is wrong with the record (one bit for each fault),
 * and one or two bytes that say how long the record is. */
#include "target.h"
#include "test.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include <unseen_list.h>

enum {
    HEAD = 40,
    TAIL = 8,
    LISTED = 20,
    ROOM = 1 << 16,
    WRONG_SUM = 1,
    WRONG_NUMBER = 2,
    WRONG_PLACE = 4,
    WRONG_COUNT = 8,
    WRONG_LENGTH = 16,
    RAW = 32, /* bytes that are not a record */
    IS_LONG = 64,
    HOLE = 128 /* zeros in front of it */
};

static char path[64];
static uint8_t file[ROOM];
static size_t list_len; /* of the list proper, in front of the changes */

static void make_list(void)
{
    struct unseen_list_build *build = NULL;
    struct unseen_error error;
    const uint64_t seed = 3;
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .fpr = 1e-9,
                                                      .memory = 1 << 20,
                                                      .seed = &seed,
                                                      .seed_len = sizeof(seed),
                                                      .profile = "none"};
    require(unseen_list_build_create(&build, path, &options, &error) == UNSEEN_OK);
    for (uint8_t i = 0; i < LISTED; i++) {
        const struct unseen_bytes item = {(const char *)&i, 1};
        require(unseen_list_build_add_texts(build, &item, 1, &error) == UNSEEN_OK);
    }
    require(unseen_list_build_finish(build, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(build);
    const int fd = open(path, O_RDONLY);
    const ssize_t len = fd >= 0 ? read(fd, file, sizeof(file)) : -1;
    require(len > 0 && close(fd) == 0);
    list_len = (size_t)len;
}

static void write_file(size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    require(fd >= 0 && write(fd, file, len) == (ssize_t)len && close(fd) == 0);
}

/* ---- the input ---- */

/* How many changes the bytes hold, up to the first wrong one. */
static uint64_t count_changes(const uint8_t *bytes, size_t len)
{
    uint64_t n = 0;
    for (size_t at = 0; at + 5 <= len && load_le32(bytes + at + 1) <= len - at - 5; n++) {
        at += 5 + load_le32(bytes + at + 1);
    }
    return n;
}

/* Puts a record at `place`; returns its end. */
static size_t put_record(size_t place, uint64_t number, unsigned flags, const uint8_t *bytes,
                         size_t len)
{
    uint8_t *to = file + place;
    const size_t whole = HEAD + (len + 7) / 8 * 8 + TAIL;
    memset(to, 0, whole);
    memcpy(to, "UNTR\1", 5);
    store_le64(to + 8, place + (flags & WRONG_PLACE ? 8 : 0));
    store_le64(to + 16, number + (flags & WRONG_NUMBER ? 1 : 0));
    store_le64(to + 24, len + (flags & WRONG_LENGTH ? 40 : 0));
    store_le64(to + 32, count_changes(bytes, len) + (flags & WRONG_COUNT ? 1 : 0));
    memcpy(to + HEAD, bytes, len);
    store_le64(to + whole - TAIL,
               unseen__checksum_seeded(to, whole - TAIL, load_le64(file + 4088)) ^
                   (flags & WRONG_SUM));
    return place + whole;
}

/* Changes with texts of the input's bytes: what, a length of up to 7, the text. */
static size_t make_changes(const uint8_t *data, size_t size, uint8_t *bytes, size_t cap)
{
    size_t len = 0;
    for (size_t at = 0; at < size && len + 5 + 7 <= cap;) {
        const uint8_t what = data[at++];
        size_t text = what >> 5;
        text = text < size - at ? text : size - at;
        bytes[len] = what & 31;
        store_le32(bytes + len + 1, (uint32_t)text);
        memcpy(bytes + len + 5, data + at, text);
        len += 5 + text;
        at += text;
    }
    return len;
}

static size_t make_file(const uint8_t *data, size_t size)
{
    size_t end = list_len;
    size_t at = 0;
    uint64_t number = 1;
    while (at + 3 <= size && end < ROOM / 2) {
        uint8_t changes[4096];
        const unsigned flags = data[at];
        size_t len = flags & IS_LONG ? load_le16(data + at + 1) : data[at + 1];
        at += flags & IS_LONG ? 3 : 2;
        len = len < size - at ? len : size - at;
        if (flags & HOLE) {
            memset(file + end, 0, 64);
            end += 64;
        }
        if (flags & RAW) {
            len = len < 4096 ? len : 4096;
            memcpy(file + end, data + at, len);
            end += len;
        } else {
            const size_t made = make_changes(data + at, len, changes, sizeof(changes));
            end = put_record(end, number++, flags, changes, made);
        }
        at += len;
    }
    return end;
}

/* ---- what must hold ---- */

struct told {
    const struct unseen_list *list;
    uint64_t n[5];
    uint64_t sum; /* of all texts, in their order */
};

static bool take_told(void *context, enum unseen_list_change change, struct unseen_bytes text)
{
    struct told *told = context;
    uint8_t verdict;
    require(change == UNSEEN_LIST_ALLOW || change == UNSEEN_LIST_ADD ||
            change == UNSEEN_LIST_REMOVE);
    unseen_list_contains_texts(told->list, &text, 1, &verdict);
    require(verdict == UNSEEN_ALLOWED || change != UNSEEN_LIST_ALLOW);
    require(verdict != UNSEEN_NEW || change == UNSEEN_LIST_REMOVE);
    require(verdict != UNSEEN_SEEN || change == UNSEEN_LIST_ADD);
    require(test_list_contains(told->list, text.data, text.len) == (verdict == UNSEEN_SEEN));
    told->n[change]++;
    told->sum = unseen__checksum_seeded(text.data, text.len, told->sum + (uint64_t)change);
    return true;
}

static uint64_t told_of(const struct unseen_list *list)
{
    struct told told = {.list = list};
    struct unseen_list_info info = {.size = sizeof(info)};
    unseen_list_changes(list, take_told, &told);
    require(unseen_list_info(list, &info) == UNSEEN_OK);
    require(info.nallowed == told.n[UNSEEN_LIST_ALLOW] && info.nadded == told.n[UNSEEN_LIST_ADD] &&
            info.nremoved == told.n[UNSEEN_LIST_REMOVE]);
    return told.sum;
}

/* Adds one text that no input is long enough to have. */
static void check_edit(const struct unseen_list *old)
{
    static const char name[] = "a text of its own";
    const struct unseen_bytes item = {name, sizeof(name)};
    struct unseen_list_edit *edit = NULL;
    struct unseen_list *list = NULL;
    struct unseen_error error;
    struct unseen_list_info before = {.size = sizeof(before)};
    struct unseen_list_info after = {.size = sizeof(after)};
    require(unseen_list_edit_open(&edit, path, NULL, &error) == UNSEEN_OK);
    require(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ADD, &item, 1, NULL, &error) ==
            UNSEEN_OK);
    require(unseen_list_edit_commit(edit, &error) == UNSEEN_OK);
    unseen_list_edit_close(edit);
    require(unseen_list_open(&list, path, NULL, &error) == UNSEEN_OK);
    require(test_list_contains(list, name, sizeof(name)));
    require(unseen_list_info(old, &before) == UNSEEN_OK &&
            unseen_list_info(list, &after) == UNSEEN_OK);
    require(after.nadded == before.nadded + 1 && after.nallowed == before.nallowed &&
            after.nremoved == before.nremoved && after.torn_bytes == 0);
    (void)told_of(list);
    unseen_list_close(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unseen_list *early = NULL;
    struct unseen_list *list = NULL;
    struct unseen_list_edit *edit = NULL;
    struct unseen_error error;
    if (!path[0]) {
        snprintf(path, sizeof(path), "%s/unseen-fuzz-changes-%ld",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
        make_list();
    }
    const size_t end = make_file(data, size);
    write_file(list_len);
    require(unseen_list_open(&early, path, NULL, &error) == UNSEEN_OK);
    const int fd = open(path, O_WRONLY | O_APPEND);
    require(fd >= 0 && write(fd, file + list_len, end - list_len) == (ssize_t)(end - list_len) &&
            close(fd) == 0);
    const enum unseen_status status = unseen_list_open(&list, path, NULL, &error);
    require(unseen_list_refresh(early, NULL, &error) == status);
    require(unseen_list_edit_open(&edit, path, NULL, &error) == status);
    if (status == UNSEEN_OK) {
        unseen_list_edit_close(edit);
        require(told_of(list) == told_of(early));
        require(unseen_list_verify(list, &error) == UNSEEN_OK);
        check_edit(list);
        unseen_list_close(list);
        require(unseen_list_refresh(early, NULL, &error) == UNSEEN_OK);
        (void)told_of(early);
    } else {
        require(status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_VERSION);
        (void)told_of(early);
    }
    unseen_list_close(early);
    require(unlink(path) == 0);
    return 0;
}
