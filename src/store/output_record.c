/* SPDX-License-Identifier: MIT
 *
 * The record that names an output file, and what later records say about the file (docs/format.md,
 * "Output file"); and the record of the note. */
#include "base/posix.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bytes.h"
#include "hash/checksum.h"
#include "store/store.h"

enum {
    IDS_LEN = 1 + 16 /* a 0 behind the name, then the ids of the output and of the log */
};

uint64_t unseen__file_id(int fd)
{
    struct statx st;
    uint8_t bytes[24];
    /* By its number: musl has had the function for a short time only. */
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0 ||
        !(st.stx_mask & STATX_BTIME)) {
        return 0; /* a later file may get the inode number, but not the time of birth */
    }
    store_le64(bytes, st.stx_ino);
    store_le64(bytes + 8, (uint64_t)st.stx_btime.tv_sec);
    store_le64(bytes + 16, st.stx_btime.tv_nsec);
    return unseen__checksum(bytes, sizeof(bytes));
}

/* A record without ids, or of another form, has the whole payload as the name. */
static void follow_name(struct unseen__output *output, const struct unseen__record *record,
                        const uint8_t *payload)
{
    const uint8_t *end = memchr(payload, 0, record->n);
    const size_t len = end ? (size_t)(end - payload) : record->n;
    const bool has_ids = end && record->n == len + IDS_LEN;
    output->name_offset = record->offset;
    output->file_id = has_ids ? load_le64(end + 1) : 0;
    output->log_id = has_ids ? load_le64(end + 9) : 0;
    memcpy(output->name, payload, len);
    output->name[len] = '\0';
}

void unseen__output_follow(struct unseen__output *output, const struct unseen__record *record,
                           const uint8_t *payload)
{
    if (record->kind == UNSEEN__RECORD_NOTE) {
        output->note = load_le64(payload);
        return;
    }
    if (record->kind == UNSEEN__RECORD_OUTPUT) {
        follow_name(output, record, payload);
    } else if (record->kind != UNSEEN__RECORD_CHANGES || record->output_len == UNSEEN__NO_OUTPUT) {
        return;
    }
    output->len = record->output_len;
    output->checksum = record->output_checksum;
    output->closed =
        record->kind == UNSEEN__RECORD_CHANGES && (record->flags & UNSEEN__FLAG_CLOSED) != 0;
}

enum unseen_status unseen__output_append(struct unseen__output *output, struct unseen__log *log,
                                         bool sync, struct unseen_error *error)
{
    uint8_t payload[UNSEEN__OUTPUT_NAME_MAX + IDS_LEN] = {0};
    const size_t len = strlen(output->name);
    struct unseen__record record = {
        .kind = UNSEEN__RECORD_OUTPUT,
        .n = (uint32_t)len,
        .output_len = output->len,
        .output_checksum = output->checksum,
    };
    memcpy(payload, output->name, len);
    if (len + IDS_LEN <= UNSEEN__OUTPUT_NAME_MAX) {
        store_le64(payload + len + 1, output->file_id);
        store_le64(payload + len + 9, output->log_id);
        record.n += IDS_LEN;
    }
    const enum unseen_status status =
        unseen__log_append(log, record, payload, NULL, NULL, sync, error);
    if (status == UNSEEN_OK) {
        output->name_offset = log->last_offset;
    }
    return status;
}

enum unseen_status unseen__note_append(const struct unseen__output *output, struct unseen__log *log,
                                       bool sync, struct unseen_error *error)
{
    uint8_t payload[UNSEEN__NOTE_LEN];
    const struct unseen__record record = {
        .kind = UNSEEN__RECORD_NOTE, .n = sizeof(payload), .output_len = UNSEEN__NO_OUTPUT};
    store_le64(payload, output->note);
    return unseen__log_append(log, record, payload, NULL, NULL, sync, error);
}
