/* SPDX-License-Identifier: MIT
 *
 * Forged files of leases. Bit 0 of byte 0: the heads are genuine; bit 1: the CRCs are corrected;
 * bit 2: one head is damaged; bit 3: the heads say how many bytes are on the disk, by the last two
 * bytes of the input. The rest is the file, or its records.
 *
 * A file with another head is refused, and so is a damaged one, which stays as it was. Otherwise
 * the leases are those that a plain reading of docs/format.md finds, each with the text of its
 * first record; X hands out each once, a torn end is cut off, and a second start finds the
 * same. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "print/message.h"
#include "serve/leases.h"
#include "target.h"

enum {
    HEAD = 96, /* both copies */
    RECORD = 28,
    LEN_MAX = 1 << 16,
    NMAX = LEN_MAX / RECORD + 1
};

static const struct lease_head genuine = {
    .id = 7, .seed_id = 8, .key_bits = 64, .salt = 9, .synced = HEAD};
static char folder[64];
static char store[80];
static char path[96];
static struct unseen_set *set;
static struct leases leases;

static uint8_t file[HEAD + LEN_MAX];
static size_t file_len;
static size_t synced; /* so many of its bytes are on the disk */

void message_say(enum message_level kind, const char *format, ...)
{
    (void)kind;
    (void)format;
}

bool message_no_memory(void)
{
    abort();
}

static void remove_folder(void)
{
    (void)unlink(path);
    (void)rmdir(folder);
}

static void setup(void)
{
    const struct unseen_set_options options = {.size = sizeof(options), .profile = "none"};
    if (set) {
        return;
    }
    snprintf(folder, sizeof(folder), "%s/unseen-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    require(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    snprintf(store, sizeof(store), "%s/s", folder);
    snprintf(path, sizeof(path), "%s.leases", store);
    require(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t get64(const uint8_t *p)
{
    return get32(p) | (uint64_t)get32(p + 4) << 32;
}

static void put32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(value >> 8 * i);
    }
}

/* The CRC of a record, as docs/format.md has it. */
static uint32_t sum_at(size_t at, size_t text)
{
    uint8_t where[16] = {(uint8_t)genuine.salt};
    put32(where + 8, (uint32_t)at);
    return (uint32_t)crc32(crc32(0, where, sizeof(where)), file + at + 4,
                           (unsigned)(RECORD - 4 + text));
}

static void make_file(const uint8_t *data, size_t size)
{
    const bool has_head = data[0] & 1;
    const size_t len = size - 1 < LEN_MAX ? size - 1 : LEN_MAX;
    file_len = (has_head ? HEAD : 0) + len;
    memset(file, 0, sizeof(file));
    synced = data[0] & 8 && size > 2 ? HEAD + data[size - 1] + 256u * data[size - 2] : HEAD;
    struct lease_head head = genuine;
    head.synced = synced;
    lease_head_encode(&head, file);
    if (len > 0) {
        memcpy(file + (has_head ? HEAD : 0), data + 1, len);
    }
    if (data[0] & 4) {
        file[data[size - 1] % HEAD] ^= 1;
    }
    for (size_t at = HEAD; (data[0] & 2) && at + RECORD <= file_len;) {
        uint8_t *r = file + at;
        r[8] = (uint8_t)(1 + r[8] % 3);                /* 3: no kind */
        const size_t text = r[8] == 1 ? r[4] % 16 : 0; /* short, so that many records fit */
        put32(r + 4, (uint32_t)text);
        if (at + RECORD + text > file_len) {
            break;
        }
        r[9] = r[9] == 7; /* now and then a record is not intact */
        memset(r + 10, 0, 2);
        memset(r + 13, 0, 15); /* few keys, so that leases end */
        put32(r, sum_at(at, text));
        at += RECORD + text;
    }
}

/* ---- The model ------------------------------------------------------------------------------- */

static struct {
    const uint8_t *record;
    bool handed_out;
} found[NMAX];
static size_t nfound;
static size_t end;

static bool is_key(size_t i, const uint8_t *r)
{
    return memcmp(found[i].record + 12, r + 12, 16) == 0;
}

/* The length of the intact record; 0: there is none. */
static size_t intact_at(size_t at)
{
    const uint8_t *r = file + at;
    if (at + RECORD > file_len || r[8] < 1 || r[8] > 2 || r[9] || r[10] || r[11]) {
        return 0;
    }
    const uint64_t len = get32(r + 4);
    return len <= (r[8] == 1 ? 1u << 20 : 0) && at + RECORD + len <= file_len &&
                   get32(r) == sum_at(at, (size_t)len)
               ? RECORD + (size_t)len
               : 0;
}

static void read_file(void)
{
    size_t len = 0;
    nfound = 0;
    for (end = HEAD; (len = intact_at(end)) > 0; end += len) {
        const uint8_t *r = file + end;
        size_t i = 0;
        while (i < nfound && !is_key(i, r)) {
            i++;
        }
        if (r[8] == 2 && i < nfound) {
            found[i] = found[--nfound];
        } else if (r[8] == 1 && i == nfound) {
            found[nfound++].record = r;
        }
    }
}

static void check_leases(void)
{
    char token[LEASE_TOKEN_BYTES];
    struct unseen_bytes text;
    struct unseen_key key;
    struct stat st;
    require(stat(path, &st) == 0 && (size_t)st.st_size == end && leases.nlive == nfound);
    for (size_t i = 0; i < nfound; i++) {
        found[i].handed_out = false;
    }
    for (size_t n = 0; n < nfound; n++) {
        require(leases_take_back(&leases, 1, 1000, token, &text));
        require(leases_find(&leases, (struct unseen_bytes){token, strlen(token)}, 1, &key));
        size_t i = 0;
        while (i < nfound &&
               (get64(found[i].record + 12) != key.lo || get64(found[i].record + 20) != key.hi)) {
            i++;
        }
        require(i < nfound && !found[i].handed_out && text.len == get32(found[i].record + 4) &&
                memcmp(text.data, found[i].record + RECORD, text.len) == 0);
        found[i].handed_out = true;
    }
    require(!leases_take_back(&leases, 1, 1000, token, &text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    setup();
    if (size == 0) {
        return 0;
    }
    make_file(data, size);
    FILE *f = fopen(path, "wb");
    require(f && fwrite(file, 1, file_len, f) == file_len && fclose(f) == 0 &&
            chmod(path, 0600) == 0);
    const bool is_ours = data[0] & 1;
    read_file();
    const bool is_good = is_ours && end >= synced;
    for (int start = 0; start < 2; start++) {
        const bool opened = leases_open(&leases, store, &genuine, set, 0);
        require(opened == is_good || !is_ours);
        if (!opened) {
            struct stat st;
            require(stat(path, &st) == 0 && (size_t)st.st_size == file_len);
            break;
        }
        if (is_ours) {
            check_leases();
        }
        leases_close(&leases, nfound == 0);
        require(!is_ours || (access(path, F_OK) == 0) == (nfound > 0));
        if (nfound == 0 || !is_ours) {
            break;
        }
    }
    (void)unlink(path);
    return 0;
}
