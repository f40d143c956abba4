/* SPDX-License-Identifier: MIT */
#include "disk.h"

#include <dirent.h>

#include "crash.h"

enum {
    SECTOR = 512
};

/* A write, a cut (data is NULL; at is the length), or a change of names. */
struct pending {
    uint64_t when; /* number of the call */
    int file;
    const uint8_t *data;
    uint64_t at;
    size_t len;
    bool is_hole; /* what has not arrived of it is as it was */
};

struct renaming {
    uint64_t when;
    char gone[DISK_NAME_LEN]; /* this name goes, if not empty, ... */
    char name[DISK_NAME_LEN]; /* ... and this one, if not empty, is now that file */
    int file;
};

struct name {
    char name[DISK_NAME_LEN];
    int file;
};

struct open_file {
    int64_t pid;
    int fd;
    int file; /* -1: the folder */
    uint64_t sync_began;
};

struct disk {
    uint64_t now;
    size_t nfiles;
    struct disk_bytes files[DISK_FILES_MAX]; /* certain */
    struct disk_bytes shown[DISK_FILES_MAX]; /* as programs see them */
    struct name names[DISK_NAMES_MAX];       /* certain */
    size_t nnames;
    struct name cached[DISK_NAMES_MAX]; /* as programs see them */
    size_t ncached;
    struct open_file fds[DISK_FDS_MAX];
    size_t nfds;
    struct pending pending[DISK_PENDING_MAX];
    size_t npending;
    struct renaming renamings[DISK_PENDING_MAX];
    size_t nrenamings;
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static void resize(struct disk_bytes *bytes, size_t len)
{
    if (len > bytes->cap) {
        const size_t cap = len + len / 2 + SECTOR;
        bytes->data = realloc(bytes->data, cap);
        crash_require(bytes->data != NULL, "realloc");
        bytes->cap = cap;
    }
    if (len > bytes->len) {
        memset(bytes->data + bytes->len, 0, len - bytes->len);
    }
    bytes->len = len;
}

static void assign(struct disk_bytes *to, const struct disk_bytes *from)
{
    resize(to, 0);
    resize(to, from->len);
    if (from->len) {
        memcpy(to->data, from->data, from->len);
    }
}

static void store(struct disk_bytes *bytes, uint64_t at, const uint8_t *data, size_t len)
{
    if (at + len > bytes->len) {
        resize(bytes, at + len);
    }
    memcpy(bytes->data + at, data, len);
}

static void apply_whole(struct disk_bytes *bytes, const struct pending *p)
{
    if (p->data) {
        store(bytes, p->at, p->data, p->len);
    } else {
        resize(bytes, p->at);
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int find_name(const struct name *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(names[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static void remove_name(struct name *names, size_t *n, const char *name)
{
    int i = find_name(names, *n, name);
    if (i >= 0) {
        names[i] = names[--*n];
    }
}

static void set_name(struct name *names, size_t *n, const char *name, int file)
{
    remove_name(names, n, name);
    crash_require(*n < DISK_NAMES_MAX, "too many names");
    names[*n].file = file;
    snprintf(names[(*n)++].name, DISK_NAME_LEN, "%s", name);
}

static void apply_renaming(struct name *names, size_t *n, const struct renaming *r)
{
    if (r->gone[0]) {
        remove_name(names, n, r->gone);
    }
    if (r->name[0]) {
        set_name(names, n, r->name, r->file);
    }
}

static void change_names(struct disk *disk, const char *gone, const char *name, int file)
{
    crash_require(disk->nrenamings < DISK_PENDING_MAX, "too many changes of names");
    struct renaming *r = &disk->renamings[disk->nrenamings++];
    r->when = disk->now;
    r->file = file;
    snprintf(r->gone, sizeof(r->gone), "%s", gone);
    snprintf(r->name, sizeof(r->name), "%s", name);
    apply_renaming(disk->cached, &disk->ncached, r);
}

/* ---- Following a trace ----------------------------------------------------------------------- */

static int new_file(struct disk *disk)
{
    crash_require(disk->nfiles < DISK_FILES_MAX, "too many files");
    return (int)disk->nfiles++;
}

struct disk *disk_create(const struct disk_state *state)
{
    struct disk *disk = calloc(1, sizeof(*disk));
    crash_require(disk != NULL, "calloc");
    for (size_t i = 0; state && i < state->n; i++) {
        int file = new_file(disk);
        assign(&disk->files[file], &state->files[i].bytes);
        assign(&disk->shown[file], &state->files[i].bytes);
        set_name(disk->names, &disk->nnames, state->files[i].name, file);
        set_name(disk->cached, &disk->ncached, state->files[i].name, file);
    }
    return disk;
}

void disk_free(struct disk *disk)
{
    for (size_t i = 0; disk && i < disk->nfiles; i++) {
        free(disk->files[i].data);
        free(disk->shown[i].data);
    }
    free(disk);
}

static struct open_file *find_fd(struct disk *disk, const struct trace_op *op)
{
    for (size_t i = disk->nfds; i-- > 0;) {
        if (disk->fds[i].pid == op->pid && disk->fds[i].fd == op->fd) {
            return &disk->fds[i];
        }
    }
    crash_die("the trace uses descriptor %d, which is not open", (int)op->fd);
}

static void add_pending(struct disk *disk, const struct trace_op *op, const uint8_t *data)
{
    crash_require(disk->npending < DISK_PENDING_MAX, "too many writes");
    struct pending *p = &disk->pending[disk->npending++];
    *p = (struct pending){.when = disk->now,
                          .file = find_fd(disk, op)->file,
                          .data = data,
                          .at = op->at,
                          .len = (size_t)op->len,
                          .is_hole = op->kind == TRACE_WRITE && op->value == 1};
    apply_whole(&disk->shown[p->file], p);
}

/* A failed sync: these writes will not arrive, whatever is synced later. */
static void lose(struct disk *disk, int file)
{
    size_t kept = 0;
    for (size_t i = 0; i < disk->npending; i++) {
        if (disk->pending[i].file != file || !disk->pending[i].data) {
            disk->pending[kept++] = disk->pending[i];
        }
    }
    disk->npending = kept;
}

static void apply_open(struct disk *disk, const struct trace_op *op, const char *name)
{
    int file = -1;
    if (strcmp(name, ".") != 0) {
        int i = find_name(disk->cached, disk->ncached, name);
        file = i >= 0 ? disk->cached[i].file : new_file(disk);
        if (i < 0) {
            change_names(disk, "", name, file);
        }
    }
    crash_require(disk->nfds < DISK_FDS_MAX, "too many open files");
    disk->fds[disk->nfds++] = (struct open_file){.pid = op->pid, .fd = op->fd, .file = file};
    if (op->value) {
        struct trace_op cut = *op;
        cut.at = 0;
        cut.len = 0;
        add_pending(disk, &cut, NULL);
    }
}

static void make_certain(struct disk *disk, int file, uint64_t before)
{
    size_t kept = 0;
    if (file < 0) {
        for (size_t i = 0; i < disk->nrenamings; i++) {
            if (disk->renamings[i].when < before) {
                apply_renaming(disk->names, &disk->nnames, &disk->renamings[i]);
            } else {
                disk->renamings[kept++] = disk->renamings[i];
            }
        }
        disk->nrenamings = kept;
        return;
    }
    for (size_t i = 0; i < disk->npending; i++) {
        const struct pending p = disk->pending[i];
        if (p.file == file && p.when < before) {
            apply_whole(&disk->files[file], &p);
        } else {
            disk->pending[kept++] = p;
        }
    }
    disk->npending = kept;
}

void disk_apply(struct disk *disk, const struct trace_op *op)
{
    char name[DISK_NAME_LEN] = "";
    char name2[DISK_NAME_LEN] = "";
    const char *behind = (const char *)(op + 1);
    crash_require(op->name_len < DISK_NAME_LEN && op->name2_len < DISK_NAME_LEN, "a long name");
    memcpy(name, behind, op->name_len);
    memcpy(name2, behind + op->name_len, op->name2_len);
    disk->now++;
    switch (op->kind) {
    case TRACE_OPEN:
        apply_open(disk, op, name);
        break;
    case TRACE_CLOSE:
        *find_fd(disk, op) = disk->fds[disk->nfds - 1];
        disk->nfds--;
        break;
    case TRACE_WRITE:
        add_pending(disk, op, (const uint8_t *)behind + op->name_len + op->name2_len);
        break;
    case TRACE_TRUNCATE:
        add_pending(disk, op, NULL);
        break;
    case TRACE_SYNC_BEGIN:
        find_fd(disk, op)->sync_began = disk->now;
        break;
    case TRACE_SYNC_END:
        make_certain(disk, find_fd(disk, op)->file, find_fd(disk, op)->sync_began);
        break;
    case TRACE_LOST:
        lose(disk, find_fd(disk, op)->file);
        break;
    case TRACE_RENAME:
    case TRACE_LINK: {
        int i = find_name(disk->cached, disk->ncached, name);
        crash_require(i >= 0, "the trace renames a file that is not there");
        change_names(disk, op->kind == TRACE_RENAME ? name : "", name2, disk->cached[i].file);
        break;
    }
    case TRACE_UNLINK:
        change_names(disk, name, "", 0);
        break;
    default:
        break;
    }
}

size_t disk_nuncertain(const struct disk *disk)
{
    return disk->npending + disk->nrenamings;
}

static void give_state(const struct name *names, size_t nnames, const struct disk_bytes *files,
                       struct disk_state *out)
{
    *out = (struct disk_state){.n = nnames};
    for (size_t i = 0; i < nnames; i++) {
        memcpy(out->files[i].name, names[i].name, DISK_NAME_LEN);
        assign(&out->files[i].bytes, &files[names[i].file]);
    }
}

void disk_now(const struct disk *disk, struct disk_state *out)
{
    give_state(disk->cached, disk->ncached, disk->shown, out);
}

/* ---- Power cuts ------------------------------------------------------------------------------ */

/* What a sector shows that has not arrived. */
enum rest {
    REST_OLD,   /* what was there; it does not make the file longer */
    REST_ZERO,  /* the length has arrived */
    REST_NOISE, /* the same, and the blocks were never written to ... */
    REST_STALE  /* ... or another file had them */
};

/* Which sectors of a write have arrived. */
enum arrival {
    ARRIVE_ALL,
    ARRIVE_NONE,
    ARRIVE_FIRST, /* the first k */
    ARRIVE_ANY    /* each or not */
};

struct fate {
    enum arrival arrival;
    enum rest rest;
    size_t k;
};

/* A block that the file has already is never another file's: what is written over may be noise. */
static void spoil(const struct disk *disk, const struct disk_bytes *certain,
                  struct disk_bytes *bytes, uint64_t at, size_t len, enum rest rest,
                  uint64_t *random)
{
    uint8_t block[SECTOR] = {0};
    if (rest == REST_OLD) {
        return;
    }
    rest = rest == REST_STALE && at < certain->len ? REST_NOISE : rest;
    const struct disk_bytes *other = &disk->files[crash_random(random) % disk->nfiles];
    const uint64_t shift = crash_random(random) % 3;
    for (size_t i = 0; i < len && rest != REST_ZERO; i++) {
        /* Bytes of another file at the same place, or from elsewhere in it. */
        const size_t from = (size_t)at + i + (size_t)shift * 8;
        block[i] = rest == REST_NOISE ? (uint8_t)crash_random(random)
                   : other->len       ? other->data[from % other->len]
                                      : 0;
    }
    store(bytes, at, block, len);
}

static void apply_fate(const struct disk *disk, struct disk_bytes *bytes, const struct pending *p,
                       struct fate fate, uint64_t *random)
{
    if (!p->data) {
        if (fate.arrival != ARRIVE_NONE) {
            resize(bytes, p->at);
        }
        return;
    }
    size_t number = 0;
    for (size_t done = 0, len; done < p->len; done += len, number++) {
        const uint64_t at = p->at + done;
        len = SECTOR - at % SECTOR;
        len = len < p->len - done ? len : p->len - done;
        const bool arrived = fate.arrival == ARRIVE_ALL ||
                             (fate.arrival == ARRIVE_FIRST && number < fate.k) ||
                             (fate.arrival == ARRIVE_ANY && crash_random(random) % 2);
        if (arrived) {
            store(bytes, at, p->data + done, len);
        } else {
            spoil(disk, &disk->files[p->file], bytes, at, len, p->is_hole ? REST_OLD : fate.rest,
                  random);
        }
    }
}

/* What happens to all writes but the last, to the last one, and to names. */
struct policy {
    struct fate others;
    struct fate last;
    bool names;
};

static const struct policy policies[DISK_NPOLICIES] = {
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_ALL, 0, 0}, true},
    {{ARRIVE_NONE, REST_OLD, 0}, {ARRIVE_NONE, REST_OLD, 0}, false},
    {{ARRIVE_NONE, REST_OLD, 0}, {ARRIVE_NONE, REST_OLD, 0}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_ALL, 0, 0}, false},
    {{ARRIVE_NONE, REST_ZERO, 0}, {ARRIVE_NONE, REST_ZERO, 0}, true},
    {{ARRIVE_NONE, REST_NOISE, 0}, {ARRIVE_NONE, REST_NOISE, 0}, true},
    {{ARRIVE_NONE, REST_STALE, 0}, {ARRIVE_NONE, REST_STALE, 0}, true},
    {{ARRIVE_NONE, REST_OLD, 0}, {ARRIVE_ALL, 0, 0}, true},
    {{ARRIVE_NONE, REST_OLD, 0}, {ARRIVE_ALL, 0, 0}, false},
    {{ARRIVE_NONE, REST_ZERO, 0}, {ARRIVE_ALL, 0, 0}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_OLD, 0}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_OLD, 1}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_OLD, 2}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_OLD, 3}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_ZERO, 0}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_ZERO, 1}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_ZERO, 2}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_NOISE, 1}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_FIRST, REST_STALE, 1}, true},
    {{ARRIVE_ALL, 0, 0}, {ARRIVE_ANY, REST_ZERO, 0}, true},
};

static struct fate random_fate(const struct pending *p, uint64_t *random)
{
    struct fate fate = {.arrival = (enum arrival)(crash_random(random) % 4),
                        .rest = (enum rest)(crash_random(random) % 4)};
    fate.k = (size_t)(crash_random(random) % (p->len / SECTOR + 2));
    return fate;
}

void disk_cut(const struct disk *disk, unsigned policy, uint64_t *random, struct disk_state *out)
{
    const struct policy *fixed = policy < DISK_NPOLICIES ? &policies[policy] : NULL;
    struct disk_bytes files[DISK_FILES_MAX] = {{0}};
    for (size_t i = 0; i < disk->nfiles; i++) {
        assign(&files[i], &disk->files[i]);
    }
    for (size_t i = 0; i < disk->npending; i++) {
        const struct pending *p = &disk->pending[i];
        const struct fate fate = !fixed                    ? random_fate(p, random)
                                 : i + 1 == disk->npending ? fixed->last
                                                           : fixed->others;
        apply_fate(disk, &files[p->file], p, fate, random);
    }
    struct name names[DISK_NAMES_MAX];
    size_t nnames = disk->nnames;
    memcpy(names, disk->names, sizeof(names));
    for (size_t i = 0; i < disk->nrenamings; i++) {
        if (fixed ? fixed->names : crash_random(random) % 2) {
            apply_renaming(names, &nnames, &disk->renamings[i]);
        }
    }
    give_state(names, nnames, files, out);
    for (size_t i = 0; i < disk->nfiles; i++) {
        free(files[i].data);
    }
}

/* ---- States ---------------------------------------------------------------------------------- */

void disk_state_free(struct disk_state *state)
{
    for (size_t i = 0; i < state->n; i++) {
        free(state->files[i].bytes.data);
    }
    state->n = 0;
}

void disk_state_copy(const struct disk_state *from, struct disk_state *to)
{
    *to = (struct disk_state){.n = from->n};
    for (size_t i = 0; i < from->n; i++) {
        memcpy(to->files[i].name, from->files[i].name, DISK_NAME_LEN);
        assign(&to->files[i].bytes, &from->files[i].bytes);
    }
}

/* The order of names does not count. */
uint64_t disk_state_hash(const struct disk_state *state)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < state->n; i++) {
        const struct disk_bytes *bytes = &state->files[i].bytes;
        uint64_t h = 0xcbf29ce484222325u;
        for (const char *p = state->files[i].name; *p; p++) {
            h = (h ^ (uint8_t)*p) * 0x100000001b3u;
        }
        h = (h ^ bytes->len) * 0x100000001b3u;
        size_t at = 0;
        for (uint64_t word; at + 8 <= bytes->len; at += 8) {
            memcpy(&word, bytes->data + at, 8);
            h = (h ^ word) * 0x9e3779b97f4a7c15u;
            h ^= h >> 32;
        }
        for (; at < bytes->len; at++) {
            h = (h ^ bytes->data[at]) * 0x100000001b3u;
        }
        sum += crash_random(&h);
    }
    return sum;
}

bool disk_state_is_confusing(const struct disk_state *state)
{
    static const char magic[] = "\x89UN";
    static const size_t places[] = {0, 8192};
    for (size_t i = 0; i < 2 * state->n; i++) {
        const struct disk_bytes *bytes = &state->files[i / 2].bytes;
        const size_t place = places[i % 2];
        if (strcmp(state->files[i / 2].name, "out") == 0 && bytes->len >= place + 3 &&
            memcmp(bytes->data + place, magic, 3) == 0) {
            return true;
        }
    }
    return false;
}

void disk_state_read(struct disk_state *state)
{
    DIR *dir = opendir(crash_folder());
    crash_require(dir != NULL, crash_folder());
    *state = (struct disk_state){0};
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_') {
            continue;
        }
        crash_require(state->n < DISK_NAMES_MAX && strlen(entry->d_name) < DISK_NAME_LEN,
                      "too many files, or a long name");
        size_t len = 0;
        char *data = crash_read(crash_path(entry->d_name), &len);
        snprintf(state->files[state->n].name, DISK_NAME_LEN, "%.31s", entry->d_name);
        state->files[state->n++].bytes =
            (struct disk_bytes){.data = (uint8_t *)data, .len = len, .cap = len};
    }
    closedir(dir);
}

void disk_state_write(const struct disk_state *state)
{
    crash_clear();
    for (size_t i = 0; i < state->n; i++) {
        const struct disk_bytes *bytes = &state->files[i].bytes;
        crash_write(crash_path(state->files[i].name), bytes->data, bytes->len);
    }
}

const char *disk_state_difference(const struct disk_state *a, const struct disk_state *b)
{
    for (size_t i = 0; i < a->n; i++) {
        size_t j = 0;
        while (j < b->n && strcmp(a->files[i].name, b->files[j].name) != 0) {
            j++;
        }
        const struct disk_bytes *x = &a->files[i].bytes;
        if (j == b->n || x->len != b->files[j].bytes.len ||
            (x->len && memcmp(x->data, b->files[j].bytes.data, x->len) != 0)) {
            return a->files[i].name;
        }
    }
    return a->n == b->n ? NULL : "(a name)";
}
