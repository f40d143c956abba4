/* SPDX-License-Identifier: MIT
 *
 * The work that a hostile log can ask for. Work is counted in bytes; no time is measured. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "folder_check.h"

#include "base/memory.h"
#include "hash/key.h"
#include "log/log.h"
#include "log/scan.h"

static char path[300];
static struct unseen_error error;

enum {
    HEADS = 96,   /* without a record, one after the other */
    GROUPS = 200, /* of such heads, with an intact record between two */
    FALSE_KEYS = 1 << 16
};

static size_t put_record(uint8_t *bytes, const struct unseen__log *log, uint64_t offset,
                         uint64_t number, uint32_t nkeys, bool intact)
{
    const struct unseen__record record = {.kind = UNSEEN__RECORD_CHANGES,
                                          .offset = offset,
                                          .number = number,
                                          .n = nkeys,
                                          .output_len = UNSEEN__NO_OUTPUT};
    const size_t len = unseen__record_len(&record, log->header.key_bits);
    unseen__record_encode_head(&record, bytes);
    if (intact) {
        const uint64_t checksum = unseen__record_checksum(bytes, len, log->header.id);
        for (unsigned i = 0; i < 8; i++) {
            bytes[len - 8 + i] = (uint8_t)(checksum >> 8 * i);
        }
    }
    return intact ? len : UNSEEN__RECORD_HEAD;
}

/* Each group is little enough to be searched; all of them are too much. */
static uint64_t forge_heads(const struct unseen__log *log)
{
    static uint8_t bytes[GROUPS * (HEADS + 2) * UNSEEN__RECORD_HEAD];
    size_t at = 0;
    memset(bytes, 0, sizeof(bytes));
    for (uint64_t group = 0; group < GROUPS; group++) {
        for (int i = 0; i < HEADS; i++) {
            at += put_record(bytes + at, log, UNSEEN__RECORDS_OFFSET + at, group + 1, FALSE_KEYS,
                             false);
        }
        at += put_record(bytes + at, log, UNSEEN__RECORDS_OFFSET + at, group + 1, 0, true);
    }
    CHECK(pwrite(log->fd, bytes, at, UNSEEN__RECORDS_OFFSET) == (ssize_t)at);
    return UNSEEN__RECORDS_OFFSET + at;
}

/* The limit of work is of the whole log: a log is as hostile with many damages as with one. */
static void test_heads(void)
{
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__log log = {.fd = -1};
    struct unseen__scan scan;
    struct unseen__log_header header = {
        .key_bits = 64, .fpr = 1e-6, .filter = "compact", .profile = "none/1"};
    bool exists = false;
    CHECK(unseen__log_new_id(header.id) == UNSEEN_OK);
    CHECK(unseen__log_create(&log, path, &header, 0600, &allocator, &exists, &error) == UNSEEN_OK);
    const uint64_t size = forge_heads(&log);
    const uint64_t each = (uint64_t)FALSE_KEYS * 8 + UNSEEN__RECORD_HEAD + UNSEEN__RECORD_TAIL;
    const uint64_t limit = ((uint64_t)64 << 20) + 8 * size;
    CHECK(HEADS * each < limit && GROUPS / 4 * HEADS * each > 4 * limit);
    CHECK(unseen__scan_init(&scan, &log, UNSEEN__RECORDS_OFFSET, 0, &error) == UNSEEN_OK);
    enum unseen__scan_state state = UNSEEN__SCAN_RECORD;
    enum unseen_status status = UNSEEN_OK;
    unsigned ndamages = 0;
    unsigned nrecords = 0;
    while (status == UNSEEN_OK && state != UNSEEN__SCAN_END && state != UNSEEN__SCAN_TORN) {
        status = unseen__scan_next(&scan, &state, &error);
        if (status == UNSEEN_OK && state == UNSEEN__SCAN_DAMAGED) {
            unseen__scan_skip(&scan);
            ndamages++;
        }
        nrecords += status == UNSEEN_OK && state == UNSEEN__SCAN_RECORD;
    }
    CHECK(status == UNSEEN_ERR_CORRUPT && strstr(error.text, "beyond repair"));
    CHECK(ndamages > 0 && nrecords == ndamages);
    CHECK(scan.nhashed > limit && scan.nhashed <= limit + each);
    unseen__scan_release(&scan);
    unseen__log_release(&log);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "beyond repair") != NULL);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "beyond repair") != NULL);
}

/* Appends four keys in two runs, and scans for the record. */
static enum unseen__scan_state scan_runs(struct unseen__log *log, const struct unseen__run *runs,
                                         struct unseen__scan *scan)
{
    static const uint8_t payload[32] = {0};
    const struct unseen__record record = {.kind = UNSEEN__RECORD_CHANGES,
                                          .n = 4,
                                          .nruns = 2,
                                          .time = 1000,
                                          .output_len = UNSEEN__NO_OUTPUT};
    const uint64_t offset = log->end;
    const uint64_t number = log->number;
    const uint64_t time = log->time;
    enum unseen__scan_state state = UNSEEN__SCAN_END;
    CHECK(unseen__log_append(log, record, payload, NULL, runs, false, &error) == UNSEEN_OK);
    CHECK(unseen__scan_init(scan, log, offset, number, &error) == UNSEEN_OK);
    scan->time = time;
    CHECK(unseen__scan_next(scan, &state, &error) == UNSEEN_OK);
    return state;
}

/* Runs that do not have all keys, or whose times do not rise to that of the record, are no record.
 * A record that is older than the one before is one, and says so. */
static void test_times(void)
{
    static const struct unseen__run right[2] = {{3, 750}, {4, 1000}};
    static const struct unseen__run wrong[][2] = {{{3, 750}, {3, 1000}}, {{3, 750}, {5, 1000}},
                                                  {{0, 750}, {4, 1000}}, {{3, 1000}, {4, 1000}},
                                                  {{3, 750}, {4, 750}},  {{3, 1250}, {4, 1000}}};
    const struct unseen_allocator allocator = unseen__allocator(NULL);
    struct unseen__log log = {.fd = -1};
    struct unseen__scan scan;
    bool exists = false;
    struct unseen__log_header header = {
        .key_bits = 64, .fpr = 1e-6, .filter = "compact", .profile = "none/1"};
    CHECK(unlink(path) == 0);
    CHECK(unseen__log_create(&log, path, &header, 0600, &allocator, &exists, &error) == UNSEEN_OK);
    CHECK(scan_runs(&log, right, &scan) == UNSEEN__SCAN_RECORD);
    CHECK(scan.record.nruns == 2 && scan.record.time == 1000 && !scan.goes_back);
    const struct unseen__run first = unseen__record_run(&scan.record, scan.runs, 0);
    CHECK(first.end == 3 && first.time == 750);
    unseen__scan_release(&scan);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const struct unseen__log before = log;
        CHECK(scan_runs(&log, wrong[i], &scan) == UNSEEN__SCAN_TORN);
        unseen__scan_release(&scan);
        log.end = before.end;
        log.number = before.number;
    }
    log.time = 2000;
    CHECK(unseen__log_append_empty(&log, false, &error) == UNSEEN_OK);
    log.time = 0; /* as no writer does */
    CHECK(scan_runs(&log, right, &scan) == UNSEEN__SCAN_RECORD);
    unseen__scan_release(&scan);
    unseen__log_release(&log);
    struct unseen_store *store = NULL;
    CHECK(unseen_store_open(&store, path, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(strstr(error.text, "older than one before it") != NULL);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_ERR_CORRUPT);
    CHECK(unseen_store_repair(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
    CHECK(unseen_store_verify(path, NULL, NULL, NULL, &error) == UNSEEN_OK);
}

int main(void)
{
    test_start();
    char dir[200];
    test_folder_make(dir, sizeof(dir), "scan");
    snprintf(path, sizeof(path), "%s/store", dir);
    test_heads();
    test_times();
    CHECK(unlink(path) == 0);
    CHECK(unlink(strcat(path, ".damaged")) == 0);
    CHECK(rmdir(dir) == 0);
    return test_end();
}
