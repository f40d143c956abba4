/* SPDX-License-Identifier: MIT
 *
 * Hostile stores. Byte 0 chooses a genuine pair of log and image, whether the image stays, and
 * whether the store has a window. Each 6 bytes that follow are a change: a file, an offset, an
 * action and a value. On demand the target corrects the checksums of headers and records, so that
 * damage gets past them.
 *
 * A store is refused or open. If the store is open and its image is gone, each key that the log has
 * by docs/format.md must be seen, and none that has left its window: also by a reader that opened
 * the log when it was shorter, and when the store is told a later time. A repaired store takes a
 * key and keeps it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAIR_HUNDREDS 2
#include "crash/pair.h"
#include "hash/checksum.h"
#include "hash/secret.h"
#include "pool.h"
#include "target.h"

enum {
    NPAIRS = 3,
    WITHOUT_IMAGE = 0x80, /* bits of byte 0 */
    WITH_WINDOW = 0x40,
    CHANGE = 6,
    CHANGES_MAX = 50,
    LEN_MAX = 1 << 17,
    KEYS_MAX = LEN_MAX / 8
};

static const int images_after[NPAIRS] = {0, 3, PAIR_NRECORDS};

static struct pair pairs[2][NPAIRS]; /* without and with a window */
static char folder[64];
static char log_path[96];
static char image_path[96];

static struct test_allocator counting;

/* A header may ask for any size, and for many filters. */
static void *limited_alloc(void *context, size_t size, size_t align)
{
    enum {
        LIMIT = 1 << 25
    };
    return size > LIMIT || counting.bytes > LIMIT ? NULL : pool_alloc(context, size, align);
}

static const struct unseen_allocator allocator = {limited_alloc, pool_free, &counting};

static void remove_files(void)
{
    DIR *dir = opendir(folder);
    require(dir != NULL);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') {
            require(unlinkat(dirfd(dir), entry->d_name, 0) == 0);
        }
    }
    (void)closedir(dir);
}

static void remove_folder(void)
{
    remove_files();
    (void)rmdir(folder);
}

static void setup(void)
{
    if (folder[0]) {
        return;
    }
    snprintf(folder, sizeof(folder), "%s/unseen-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    snprintf(log_path, sizeof(log_path), "%s/s", folder);
    snprintf(image_path, sizeof(image_path), "%s/s.image", folder);
    for (int i = 0; i < 2 * NPAIRS; i++) {
        pair_window = i < NPAIRS ? 0 : PAIR_WINDOW;
        pair_make(&pairs[i / NPAIRS][i % NPAIRS], log_path, images_after[i % NPAIRS]);
    }
}

/* ---- Changing -------------------------------------------------------------------------------- */

struct file {
    uint8_t bytes[LEN_MAX];
    size_t len;
};

static struct file log_file;
static struct file image_file;

static void load(struct file *file, const uint8_t *bytes, size_t len)
{
    require(len <= LEN_MAX);
    if (len > 0) {
        memcpy(file->bytes, bytes, len);
    }
    file->len = len;
}

/* The genuine record that contains the offset. Its checksum is corrected for the length
 * that the record now says, if that fits. */
static void reseal(struct file *file, size_t offset, bool is_log, const struct pair *pair)
{
    if (!is_log || offset < PAIR_RECORDS_OFFSET) {
        const size_t len = is_log ? PAIR_HEADER : PAIR_PAGE;
        const size_t header = offset / len * len;
        if (header + len <= file->len && (is_log || header == 0)) {
            pair_seal_header(file->bytes + header, is_log);
        }
        return;
    }
    int record = 0;
    while (record + 1 < PAIR_NRECORDS && offset >= pair->offsets[record + 1]) {
        record++;
    }
    const size_t start = (size_t)pair->offsets[record];
    if (start + PAIR_RECORD_HEAD > file->len) {
        return;
    }
    const size_t len = pair_record_len(file->bytes + start);
    if (len <= file->len - start) {
        pair_reseal(file->bytes, start, len);
    }
}

static void change(const uint8_t *c, const struct pair *pair)
{
    struct file *file = (c[0] & 1) ? &image_file : &log_file;
    const size_t where = (size_t)c[1] | (size_t)c[2] << 8 | (size_t)(c[0] >> 6) << 16;
    if (file->len == 0) {
        return;
    }
    const size_t offset = where % file->len;
    switch (c[0] >> 1 & 7) {
    case 0:
        file->bytes[offset] ^= (uint8_t)(1u << c[3] % 8);
        break;
    case 1:
        file->bytes[offset] = c[3];
        break;
    case 2:
        file->len = offset;
        break;
    case 3: /* another place of the same file */
        for (size_t i = 0; i < c[3] && offset + i < file->len; i++) {
            file->bytes[offset + i] = file->bytes[(offset + i + c[4] * 8u) % file->len];
        }
        break;
    case 4: /* longer */
        for (size_t i = 0; i < c[3] * 8u && file->len < LEN_MAX; i++) {
            file->bytes[file->len++] = c[4];
        }
        break;
    default: /* a field of the header or of a record */
        for (size_t i = 0; i < 4 && offset / 4 * 4 + i < file->len; i++) {
            file->bytes[offset / 4 * 4 + i] = c[2 + i];
        }
    }
    if (c[5] & 1) {
        reseal(file, offset, file == &log_file, pair);
    }
}

static void write_file(const char *path, const struct file *file)
{
    FILE *f = fopen(path, "wb");
    require(f && fwrite(file->bytes, 1, file->len, f) == file->len && fclose(f) == 0);
}

/* ---- The log by the format alone ------------------------------------------------------------- */

/* Whether the runs of a record of that length have all its keys, and later times each. */
static bool runs_fit(const uint8_t *r, size_t len)
{
    const size_t n = pair_le32(r + 28);
    uint32_t end = 0;
    uint64_t time = 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *run = r + len - 8 - 16 * (n - i);
        if (pair_le32(run) <= end || pair_le32(run + 4) != 0 ||
            (i > 0 && pair_le64(run + 8) <= time)) {
            return false;
        }
        end = pair_le32(run);
        time = pair_le64(run + 8);
    }
    return n == 0 || (end == pair_le32(r + 24) && time == pair_le64(r + 48));
}

static bool is_intact(const uint8_t *bytes, size_t offset, size_t rest, uint64_t id)
{
    const uint8_t *r = bytes + offset;
    if (rest < PAIR_RECORD_HEAD + 8 || memcmp(r, "UNSR", 4) != 0 || pair_le64(r + 8) != offset ||
        r[6] || r[7] || pair_le32(r + 24) > (1u << 20) ||
        pair_le32(r + 28) > (r[4] == 1 ? pair_le32(r + 24) : 0) ||
        pair_le64(r + 48) > PAIR_TIME_MAX) {
        return false;
    }
    const size_t len = pair_record_len(r);
    return len <= rest && runs_fit(r, len) &&
           (r[4] == 1 || r[4] == 2 || (r[4] == 4 && r[5] == 0)) &&
           XXH3_64bits_withSeed(r, len - 8, id) == pair_le64(r + len - 8);
}

struct model {
    size_t n;
    uint64_t last; /* the time of the last record */
    struct unseen_key keys[KEYS_MAX];
    uint64_t times[KEYS_MAX];
};

/* A removal removes any key that the filter cannot tell apart. A wide tag does not hold all of the
 * low 17 bits of a 64-bit key. If the input changes one of these bits in a removal, the removal
 * takes the genuine key. */
static bool is_taken(uint64_t key, uint64_t removed)
{
    return (key ^ removed) >> 17 == 0;
}

static void remove_key(struct model *model, uint64_t removed)
{
    size_t kept = 0;
    for (size_t k = 0; k < model->n; k++) {
        if (!is_taken(model->keys[k].hi, removed)) {
            model->keys[kept] = model->keys[k];
            model->times[kept++] = model->times[k];
        }
    }
    model->n = kept;
}

static bool has_left(const struct model *model, size_t k, uint64_t time)
{
    const uint64_t age = PAIR_WINDOW + UNSEEN__TIME_STEP;
    return time > age && model->times[k] <= time - age;
}

/* Takes out what has left at a time. A forged key may take one along that the filter cannot tell
 * apart. */
static void let_leave(struct model *model, uint64_t time)
{
    for (size_t k = 0; k < model->n;) {
        if (has_left(model, k, time)) {
            remove_key(model, model->keys[k].hi);
            k = 0;
        } else {
            k++;
        }
    }
}

/* When key i of a record came. */
static uint64_t time_of(const uint8_t *r, size_t i)
{
    const size_t nruns = pair_le32(r + 28);
    const uint8_t *run = r + pair_record_len(r) - 8 - 16 * nruns;
    while (nruns > 0 && pair_le32(run) <= i) {
        run += 16;
    }
    return pair_le64(nruns > 0 ? run + 8 : r + PAIR_RECORD_TIME);
}

/* A key that is allowed behind its add may be either, until it is added again: only a forged record
 * does that, and verify reports it. */
static void take_record(struct model *model, const uint8_t *r)
{
    const size_t n = pair_le32(r + 24);
    const uint8_t *bits = r + PAIR_RECORD_HEAD + 8 * n;
    for (size_t i = 0; r[4] != 2 && i < n; i++) {
        const uint64_t hi = pair_le64(r + PAIR_RECORD_HEAD + 8 * i);
        const bool removed = r[4] == 4 || ((r[5] & 1) && (bits[i / 8] >> i % 8 & 1));
        if (removed) {
            remove_key(model, hi);
        } else if (model->n < KEYS_MAX) {
            model->times[model->n] = time_of(r, i);
            model->keys[model->n++].hi = hi;
        }
    }
    model->last = pair_le64(r + PAIR_RECORD_TIME);
}

/* The keys of the intact records from the first on, while they follow one another. The first header
 * may be damaged and have another id; the store has that of the pair. */
static void read_log(struct model *model, const struct pair *pair)
{
    const uint64_t id = pair_le64(pair->log + PAIR_ID_OFFSET);
    uint64_t number = 1;
    model->n = 0;
    model->last = 0;
    for (size_t offset = PAIR_RECORDS_OFFSET; offset < log_file.len; number++) {
        const uint8_t *r = log_file.bytes + offset;
        if (!is_intact(log_file.bytes, offset, log_file.len - offset, id) ||
            pair_le64(r + 16) != number) {
            break;
        }
        take_record(model, r);
        offset += pair_record_len(r);
    }
}

static bool is_key_of_pair(const struct pair *pair, uint64_t hi)
{
    for (size_t i = 0; i < PAIR_NKEYS; i++) {
        if (pair->keys[i].hi == hi) {
            return true;
        }
    }
    return false;
}

/* ---- The library ----------------------------------------------------------------------------- */

static bool may_be_seen(const struct model *model, struct unseen_key key, uint64_t time)
{
    size_t k = 0;
    while (k < model->n && (!is_taken(model->keys[k].hi, key.hi) || has_left(model, k, time))) {
        k++;
    }
    return k < model->n;
}

/* Checks that no key is seen that has left, and takes out what has. */
static void check_left(const struct unseen_store *store, const struct pair *pair,
                       struct model *model, uint64_t time)
{
    for (size_t i = 0; i < PAIR_NKEYS; i++) {
        uint8_t verdict = UNSEEN_NEW;
        require(unseen_set_contains_keys(unseen_store_set(store), &pair->keys[i], 1, &verdict,
                                         NULL) == UNSEEN_OK);
        require(verdict == UNSEEN_NEW || may_be_seen(model, pair->keys[i], time));
    }
    let_leave(model, time);
}

/* Keys of 64 bits: lo follows from hi, as a genuine set computes it. Nothing later than `time` was
 * told, if it is not 0. */
static void check_answers(const struct unseen_store *store, const struct pair *pair, uint64_t time)
{
    static struct model model;
    read_log(&model, pair);
    if (store->log.header.window > 0) {
        check_left(store, pair, &model, time > model.last ? time : model.last);
    }
    for (size_t i = 0, k = 0; i < model.n; i++) {
        uint8_t verdict = UNSEEN_SEEN;
        while (k < PAIR_NKEYS && pair->keys[k].hi != model.keys[i].hi) {
            k++;
        }
        if (k < PAIR_NKEYS) {
            require(unseen_set_contains_keys(unseen_store_set(store), &pair->keys[k], 1, &verdict,
                                             NULL) == UNSEEN_OK &&
                    verdict == UNSEEN_SEEN);
        } else if (is_key_of_pair(pair, model.keys[i].hi)) {
            k = 0; /* out of order: look again from the start */
            i--;
        } else {
            k = 0; /* a made-up key, whose lo is not known here */
        }
    }
}

/* With a changed secret, id or key width under a right checksum the file is another store: it has
 * other keys, and with another id none of these records belongs to it. */
static void check_known(struct unseen_store *store, const struct pair *pair, bool with_image,
                        uint64_t time)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    struct unseen__secret secret;
    require(unseen_store_info(store, &info) == UNSEEN_OK);
    memcpy(secret.bytes, pair->log + PAIR_SECRET_OFFSET, sizeof(secret.bytes));
    const bool has_window = pair >= pairs[1];
    if (!with_image && info.key_bits == 64 && info.seed_id == unseen__secret_id(&secret) &&
        memcmp(info.id, pair->log + PAIR_ID_OFFSET, sizeof(info.id)) == 0 &&
        info.window == (has_window ? PAIR_WINDOW : 0) &&
        store->log.header.head.offset == PAIR_RECORDS_OFFSET) {
        check_answers(store, pair, time);
    }
}

static void check_open(const struct pair *pair, bool with_image, enum unseen_store_mode mode)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = mode, .allocator = &allocator};
    struct unseen_store *store = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    const enum unseen_status status = unseen_store_open(&store, log_path, &options, &error);
    if (status != UNSEEN_OK) {
        require(error.status == status && strlen(error.text) > 0);
        return;
    }
    check_known(store, pair, with_image, 0);
    const uint64_t later = PAIR_TIME_MAX / 2 + PAIR_NRECORDS * PAIR_STEP;
    if (unseen_store_expire(store, later, SIZE_MAX, NULL) == UNSEEN_OK) {
        check_known(store, pair, with_image, later);
    } else {
        require(with_image); /* it may lie about the log */
    }
    (void)unseen_store_close(store, NULL);
}

/* Opens the log with `share` of 256 parts of its records, and lets the reader follow. */
static void check_follow(const struct pair *pair, bool with_image, size_t share)
{
    const struct unseen_store_options options = {.size = sizeof(options), .allocator = &allocator};
    struct unseen_store *store = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    const size_t len = log_file.len;
    if (len <= PAIR_RECORDS_OFFSET) {
        return;
    }
    log_file.len = PAIR_RECORDS_OFFSET + (len - PAIR_RECORDS_OFFSET) * share / 256;
    write_file(log_path, &log_file);
    log_file.len = len;
    const bool opened = unseen_store_open(&store, log_path, &options, &error) == UNSEEN_OK;
    write_file(log_path, &log_file);
    if (!opened) {
        return;
    }
    const enum unseen_status status = unseen_store_refresh(store, &error);
    if (status == UNSEEN_OK) {
        check_known(store, pair, with_image, 0);
        require(unseen_store_refresh(store, &error) == UNSEEN_OK);
    } else {
        require(error.status == status && strlen(error.text) > 0);
    }
    (void)unseen_store_close(store, NULL);
}

static void check_repaired(bool with_image)
{
    const struct unseen_store_options options = {
        .size = sizeof(options), .mode = UNSEEN_STORE_WRITE, .allocator = &allocator};
    struct unseen_store *store = NULL;
    enum unseen_verdict verdict = UNSEEN_NEW;
    struct unseen_error error;
    const enum unseen_status status = unseen_store_open(&store, log_path, &options, &error);
    if (status != UNSEEN_OK) {
        /* Settings beyond this machine or version, or an image that lies about the log. */
        require((status != UNSEEN_ERR_CORRUPT || with_image) && status != UNSEEN_ERR_FOREIGN &&
                status != UNSEEN_ERR_IO);
        return;
    }
    if (unseen_store_expire(store, PAIR_TIME_MAX, SIZE_MAX, NULL) != UNSEEN_OK) {
        require(with_image); /* it may lie about the log */
        (void)unseen_store_close(store, NULL);
        return;
    }
    require(test_store_add(store, "one more", 8, &verdict) == UNSEEN_OK);
    require(unseen_store_commit(store, NULL) == UNSEEN_OK);
    require(unseen_store_close(store, NULL) == UNSEEN_OK);
    require(unseen_store_open(&store, log_path, NULL, &error) == UNSEEN_OK);
    require(test_set_contains(unseen_store_set(store), "one more", 8, &verdict) == UNSEEN_OK);
    require(verdict == UNSEEN_SEEN);
    require(unseen_store_close(store, NULL) == UNSEEN_OK);
}

/* No file takes the memory that its header asks for before its content does. */
static void check_memory(void)
{
    struct rusage usage;
    require(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss < 1024 * 1024);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unseen_store_health health = {.size = sizeof(health)};
    setup();
    if (size == 0) {
        return 0;
    }
    const struct pair *pair = &pairs[(data[0] & WITH_WINDOW) != 0][data[0] % NPAIRS];
    const bool with_image = pair->image && !(data[0] & WITHOUT_IMAGE);
    load(&log_file, pair->log, pair->log_len);
    load(&image_file, pair->image, with_image ? pair->image_len : 0);
    for (size_t i = 1, n = 0; i + CHANGE <= size && n < CHANGES_MAX; i += CHANGE, n++) {
        change(data + i, pair);
    }
    remove_files();
    write_file(log_path, &log_file);
    if (with_image) {
        write_file(image_path, &image_file);
    }
    check_open(pair, with_image, UNSEEN_STORE_READ);
    check_follow(pair, with_image, data[size - 1]);
    (void)unseen_store_verify(log_path, &health, NULL, NULL, NULL);
    if (size % 4 == 0) {
        check_open(pair, with_image, UNSEEN_STORE_WRITE);
    } else if (unseen_store_repair(log_path, &health, NULL, NULL, NULL) == UNSEEN_OK) {
        check_repaired(with_image);
    }
    require(counting.nlive == 0);
    check_memory();
    return 0;
}
