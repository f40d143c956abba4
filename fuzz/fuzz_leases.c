/* SPDX-License-Identifier: MIT
 *
 * Forged files of leases. Bit 0 of byte 0: the head is genuine; bit 1: the CRCs are corrected. The
 * rest is the file, or its records.
 *
 * A file with another head is refused. Otherwise the leases are those that a plain reading of
 * docs/format.md finds, each with the text of its first record; X hands out each once, what stands
 * behind the whole records is cut off, and a second start finds the same. */
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
    HEAD = 28,
    RECORD = 28,
    LEN_MAX = 1 << 16,
    NMAX = LEN_MAX / RECORD + 1
};

static const uint8_t id[16] = "a store";
static char folder[64];
static char store[80];
static char path[96];
static struct unseen_set *set;
static struct leases leases;

static uint8_t file[HEAD + LEN_MAX];
static size_t file_len;

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

static void make_file(const uint8_t *data, size_t size)
{
    static const uint8_t magic[8] = {0x89, 'U', 'N', 'E', 0x0d, 0x0a, 0x1a, 0x0a};
    const bool has_head = data[0] & 1;
    const size_t len = size - 1 < LEN_MAX ? size - 1 : LEN_MAX;
    file_len = (has_head ? HEAD : 0) + len;
    memcpy(file, magic, 8);
    memcpy(file + 8, id, 16);
    put32(file + 24, (uint32_t)crc32(0, file, 24));
    if (len > 0) {
        memcpy(file + (has_head ? HEAD : 0), data + 1, len);
    }
    for (size_t at = HEAD; (data[0] & 2) && at + RECORD <= file_len;) {
        uint8_t *r = file + at;
        const size_t text = r[4] % 16; /* short, so that many records fit */
        put32(r + 4, (uint32_t)text);
        if (at + RECORD + text > file_len) {
            break;
        }
        r[8] = (uint8_t)(1 + r[8] % 3); /* 3: no kind */
        memset(r + 13, 0, 15);          /* few keys, so that leases end */
        put32(r, (uint32_t)crc32(0, r + 4, (unsigned)(RECORD - 4 + text)));
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

static void read_file(void)
{
    nfound = 0;
    for (end = HEAD; end + RECORD <= file_len;) {
        const uint8_t *r = file + end;
        const uint64_t len = get32(r + 4);
        if (end + RECORD + len > file_len || (r[8] != 1 && r[8] != 2) ||
            get32(r) != crc32(0, r + 4, (unsigned)(RECORD - 4 + len))) {
            return;
        }
        size_t i = 0;
        while (i < nfound && !is_key(i, r)) {
            i++;
        }
        if (r[8] == 2 && i < nfound) {
            found[i] = found[--nfound];
        } else if (r[8] == 1 && i == nfound) {
            found[nfound++].record = r;
        }
        end += RECORD + (size_t)len;
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
    for (int start = 0; start < 2; start++) {
        const bool opened = leases_open(&leases, store, id, set, 0);
        require(opened || !is_ours);
        if (!opened) {
            break;
        }
        check_leases();
        leases_close(&leases);
        require((access(path, F_OK) == 0) == (nfound > 0));
        if (nfound == 0) {
            break;
        }
    }
    (void)unlink(path);
    return 0;
}
