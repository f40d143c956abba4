/* SPDX-License-Identifier: MIT
 *
 * What cannot be opened to be asked cannot be changed either: lists are forged, with checksums that
 * are right, and both ways of opening say the same. */
#include "folder_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "list/list_format.h"
#include <unseen_list.h>

enum {
    NKEYS = 10000, /* some are left over behind the pages */
    NFORGED = 400,
    SIZE_MAX_HERE = 1 << 20
};

static char path[256];
static uint8_t good[SIZE_MAX_HERE];
static size_t good_len;
static struct unseen__list_header good_header;
static struct unseen__list_offsets offsets;

static void make_list(void)
{
    static uint64_t keys[NKEYS];
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    static const uint8_t seed[8] = {42};
    const struct unseen_list_build_options options = {
        .size = sizeof(options), .seed = seed, .seed_len = sizeof(seed), .cpu = test_cpu};
    uint64_t state = 1;
    for (size_t i = 0; i < NKEYS; i++) {
        keys[i] = test_random(&state);
    }
    CHECK(unseen_list_build_create(&b, path, &options, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_add_keys(b, keys, NKEYS, &error) == UNSEEN_OK);
    CHECK(unseen_list_build_finish(b, NULL, NULL, &error) == UNSEEN_OK);
    unseen_list_build_free(b);
    const int fd = open(path, O_RDONLY);
    const ssize_t n = read(fd, good, sizeof(good));
    CHECK(n > 0 && n < (ssize_t)sizeof(good) && close(fd) == 0);
    good_len = (size_t)n;
    CHECK(unseen__list_header_decode(good, &good_header) == UNSEEN_OK);
    CHECK(unseen__list_offsets(&good_header, &offsets) && offsets.end == good_len);
    CHECK(good_header.nleftover > 0);
}

/* Opens the bytes in both ways; what is refused stays as it is. Returns what both say. */
static enum unseen_status open_both(const uint8_t *bytes, size_t len)
{
    struct unseen_error to_ask = {.status = UNSEEN_OK};
    struct unseen_error to_edit = {.status = UNSEEN_OK};
    struct unseen_list *list = NULL;
    struct unseen_list_edit *edit = NULL;
    const struct unseen_bytes text = {"http://e.com/", 13};
    static uint8_t now[SIZE_MAX_HERE];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
    const enum unseen_status status = unseen_list_open(&list, path, NULL, &to_ask);
    CHECK_EQ(unseen_list_edit_open(&edit, path, NULL, &to_edit), status);
    CHECK(strcmp(to_ask.text, to_edit.text) == 0);
    CHECK((list != NULL) == (status == UNSEEN_OK) && (edit != NULL) == (status == UNSEEN_OK));
    if (edit) {
        CHECK(unseen_list_edit_change_texts(edit, UNSEEN_LIST_ALLOW, &text, 1, NULL, NULL) ==
              UNSEEN_OK);
        CHECK(unseen_list_edit_commit(edit, NULL) == UNSEEN_OK);
    }
    unseen_list_edit_close(edit);
    unseen_list_close(list);
    fd = open(path, O_RDONLY);
    const ssize_t n = read(fd, now, sizeof(now));
    CHECK(n >= (ssize_t)len && memcmp(now, bytes, len) == 0 && close(fd) == 0);
    CHECK((n == (ssize_t)len) == (status != UNSEEN_OK));
    return status;
}

/* The list with this header, and sections that `change` has changed; sealed: with their
 * checksums. */
static enum unseen_status forge(struct unseen__list_header header,
                                void (*change)(uint8_t *bytes, uint64_t random), uint64_t random,
                                bool sealed)
{
    static uint8_t bytes[SIZE_MAX_HERE];
    memcpy(bytes, good, good_len);
    if (change) {
        change(bytes, random);
    }
    if (sealed) {
        header.table_checksum =
            unseen__checksum(bytes + offsets.table, offsets.leftover - offsets.table);
        header.leftover_checksum =
            unseen__checksum(bytes + offsets.leftover, offsets.groups - offsets.leftover);
    }
    unseen__list_header_encode(&header, bytes);
    return open_both(bytes, good_len);
}

static void change_table(uint8_t *bytes, uint64_t random)
{
    uint8_t *at = bytes + offsets.table + 4 * (random % offsets.nshards);
    store_le32(at, random & 256 ? (uint32_t)(random >> 32) : load_le32(at) + 1);
}

static void empty_shard(uint8_t *bytes, uint64_t random)
{
    (void)random;
    store_le32(bytes + offsets.table, 0);
}

static void change_left(uint8_t *bytes, uint64_t random)
{
    bytes[offsets.leftover] ^= (uint8_t)(random | 1);
}

int main(void)
{
    test_start();
    char folder[sizeof(path) - 8];
    test_folder_make(folder, sizeof(folder), "forged");
    snprintf(path, sizeof(path), "%s/list", folder);
    make_list();
    CHECK(forge(good_header, NULL, 0, true) == UNSEEN_OK);
    CHECK(forge(good_header, change_table, 256, false) == UNSEEN_ERR_CORRUPT);
    CHECK(forge(good_header, change_table, 0, true) == UNSEEN_ERR_CORRUPT);
    CHECK(forge(good_header, empty_shard, 0, true) == UNSEEN_ERR_CORRUPT);
    CHECK(forge(good_header, change_left, 0, false) == UNSEEN_ERR_CORRUPT);
    CHECK(forge(good_header, change_left, 0, true) == UNSEEN_OK);

    struct unseen__list_header header = good_header;
    static const char *const kinds[] = {"sound",        "phone/1+",     "phone/1+0",
                                        "phone/1+086",  "phone/1+1000", "phone/1+86x",
                                        "phone/1+86+1", "mail/1+86",    "phone/2+86"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(header.kind, sizeof(header.kind), "%s", kinds[i]);
        CHECK(forge(header, NULL, 0, true) == UNSEEN_ERR_VERSION);
    }
    snprintf(header.kind, sizeof(header.kind), "phone/1+999");
    CHECK(forge(header, NULL, 0, true) == UNSEEN_OK);
    header = good_header;
    header.layers[0].npages--;
    CHECK(forge(header, NULL, 0, true) == UNSEEN_ERR_CORRUPT);
    header = good_header;
    header.nleftover++;
    CHECK(forge(header, NULL, 0, true) == UNSEEN_ERR_CORRUPT);
    header = good_header;
    header.nleftover--;
    CHECK(forge(header, NULL, 0, true) == UNSEEN_ERR_CORRUPT);
    CHECK(open_both(good, good_len - 1) == UNSEEN_ERR_CORRUPT);
    CHECK(open_both(good, 100) == UNSEEN_ERR_CORRUPT);
    CHECK(open_both(good, 0) == UNSEEN_ERR_FOREIGN);

    uint64_t state = 5;
    size_t nrefused = 0;
    for (unsigned i = 0; i < NFORGED; i++) {
        nrefused += forge(good_header, change_table, test_random(&state), true) != UNSEEN_OK;
    }
    CHECK(nrefused > NFORGED / 2);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    return test_end();
}
