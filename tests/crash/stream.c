/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <limits.h>
#include <unistd.h>

#include "disk.h"

enum {
    WINDOW = 500, /* seconds */
    REPEAT_EVERY = 4,
    REPEAT_AMONG = 800, /* lines: some of them have left */
    REMOVE_EVERY = 3,   /* of those */
    STAND_EVERY = 8,    /* lines that have the time of the one before */
    JUMP_EVERY = 1000,
    JUMP = 200,
    LINE_MAX_LEN = 32,
    RUN = 100,      /* lines */
    LOG_HEAD = 144, /* in the header */
    LOG_RECORDS = 16384
};

/* Later than the time of day, which commands without --time tell the store. */
#define START UINT64_C(4000000000)

static bool is_live(uint64_t came, uint64_t time)
{
    return came > 0 && time - came <= WINDOW;
}

/* Draws some of the keys that came last, and takes them away. */
static char *remove_some(const struct stream *s, uint32_t at, const uint32_t *keys, uint64_t *came,
                         uint64_t *random)
{
    char *text = calloc(REPEAT_AMONG, LINE_MAX_LEN);
    size_t len = 0;
    crash_require(text && at <= s->n, "calloc");
    for (uint32_t i = at > REPEAT_AMONG ? at - REPEAT_AMONG : 0; i < at; i++) {
        if (crash_random(random) % REMOVE_EVERY == 0) {
            len += (size_t)snprintf(text + len, LINE_MAX_LEN, "%u\n", keys[i]);
            came[keys[i]] = 0;
        }
    }
    return text;
}

void stream_make(struct stream *s, uint32_t n, uint64_t *random)
{
    uint64_t time = START;
    uint64_t *came = calloc(n, sizeof(*came));
    uint32_t *keys = calloc(n, sizeof(*keys));
    size_t *ends = calloc(2 * ((size_t)n + 1), sizeof(*ends));
    *s = (struct stream){.n = n,
                         .part = n / STREAM_PARTS,
                         .in = malloc((size_t)n * LINE_MAX_LEN),
                         .out = malloc((size_t)n * LINE_MAX_LEN),
                         .missing = calloc(n, LINE_MAX_LEN)};
    crash_require(came && keys && ends && s->in && s->out && s->missing, "malloc");
    s->in_ends = ends + 1;
    s->out_ends = ends + n + 2;
    for (uint32_t i = 0; i < n; i++) {
        time += i % JUMP_EVERY == JUMP_EVERY - 1         ? JUMP
                : crash_random(random) % STAND_EVERY > 0 ? 1
                                                         : 0;
        keys[i] = i;
        if (i > 0 && i % s->part == 0) {
            s->gone[i / s->part] = remove_some(s, i, keys, came, random);
        }
        if (i >= REPEAT_AMONG && (i + 1) % s->part != 0 &&
            crash_random(random) % REPEAT_EVERY == 0) {
            const uint32_t key = keys[i - 1 - (uint32_t)(crash_random(random) % REPEAT_AMONG)];
            /* At the very end of its window a key may be there or not. */
            keys[i] = time - came[key] == WINDOW ? i : key;
        }
        char *line = s->in + s->in_ends[(int64_t)i - 1];
        const size_t len =
            (size_t)snprintf(line, LINE_MAX_LEN, "%u %llu\n", keys[i], (unsigned long long)time);
        s->in_ends[i] = s->in_ends[(int64_t)i - 1] + len;
        s->out_ends[i] = s->out_ends[(int64_t)i - 1];
        if (!is_live(came[keys[i]], time)) {
            came[keys[i]] = time;
            memcpy(s->out + s->out_ends[i], line, len);
            s->out_ends[i] += len;
        }
    }
    size_t len = 0;
    for (uint32_t key = 0; key < n; key++) {
        if (!is_live(came[key], time)) {
            len += (size_t)snprintf(s->missing + len, LINE_MAX_LEN, "%u\n", key);
        }
    }
    free(came);
    free(keys);
}

void stream_free(struct stream *s)
{
    free(s->in);
    free(s->out);
    free(s->missing);
    for (size_t i = 0; i < STREAM_PARTS; i++) {
        free(s->gone[i]);
    }
    free(s->in_ends - 1);
}

struct crash_job stream_job(const char *tool, const char *in)
{
    return (struct crash_job){.args = {tool, "-s", crash_path("s"), "--seed=7", "-o",
                                       crash_path("out"), "-pnone", "--key-bits=128",
                                       "--window=500", "-k1", "-t ", "--time=2", in}};
}

uint32_t stream_next(const struct stream *s)
{
    size_t len = 0;
    uint32_t i = 0;
    char *out = crash_read(crash_path("out"), &len);
    while (i < s->n && s->out_ends[i] < len) {
        i++;
    }
    const bool is_right =
        len == 0 || (i < s->n && s->out_ends[i] == len && memcmp(out, s->out, len) == 0);
    free(out);
    return !is_right ? UINT32_MAX : len == 0 ? 0 : i + 1;
}

bool stream_is_whole(const struct stream *s)
{
    const uint32_t next = stream_next(s);
    return next > 0 && next <= s->n && s->out_ends[next - 1] == s->out_ends[s->n - 1];
}

size_t stream_line(const struct stream *s, uint32_t i, char *buf)
{
    const size_t begin = s->in_ends[(int64_t)i - 1];
    memcpy(buf, s->in + begin, s->in_ends[i] - begin);
    return s->in_ends[i] - begin;
}

void stream_write(const struct stream *s, uint32_t from, uint32_t to)
{
    const size_t begin = s->in_ends[(int64_t)from - 1];
    crash_write(crash_path("_lines"), s->in + begin, s->in_ends[(int64_t)to - 1] - begin);
}

uint32_t stream_end(const struct stream *s, uint32_t i)
{
    const uint32_t end = (i / s->part + 1) * s->part;
    return end < s->n ? end : s->n;
}

bool stream_removes(const struct stream *s, uint32_t i)
{
    const char *gone = i % s->part == 0 && i / s->part < STREAM_PARTS ? s->gone[i / s->part] : NULL;
    if (gone) {
        crash_write(crash_path("_gone"), gone, strlen(gone));
    }
    return gone != NULL;
}

struct crash_job stream_remove_job(const char *tool)
{
    return (struct crash_job){.args = {tool, "remove", crash_path("s"), crash_path("_gone")}};
}

bool stream_go_on(const struct stream *s, const char *tool, uint32_t i, struct crash_job job)
{
    int status = 0;
    do {
        if (stream_removes(s, i)) {
            const struct crash_job removal = stream_remove_job(tool);
            memcpy(job.args, removal.args, sizeof(job.args));
            status = crash_run(&job);
        }
        const struct crash_job lines = stream_job(tool, crash_path("_lines"));
        const uint32_t end = stream_end(s, i);
        stream_write(s, i, end);
        memcpy(job.args, lines.args, sizeof(job.args));
        status = status == 0 ? crash_run(&job) : status;
        i = end;
    } while (status == 0 && i < s->n);
    return status == 0;
}

static uint64_t head_of_log(void)
{
    uint64_t head = 0;
    size_t len = 0;
    char *log = crash_read(crash_path("s"), &len);
    if (len >= LOG_RECORDS) {
        memcpy(&head, log + LOG_HEAD, sizeof(head));
    }
    free(log);
    return head;
}

static void require_run(struct crash_job job)
{
    const int status = crash_run(&job);
    if (status != 0) {
        crash_die("a run without faults ends with status %d: %s", status, crash_messages());
    }
}

uint32_t stream_before_hole(struct stream *s, const char *tool)
{
    const uint32_t n = s->n;
    uint64_t head = 0;
    uint32_t from = 0;
    struct disk_state before = {0};
    for (;; from += RUN) {
        crash_require(from + RUN <= n, "a hole");
        if (stream_removes(s, from)) {
            require_run(stream_remove_job(tool));
        }
        disk_state_free(&before);
        disk_state_read(&before);
        s->n = from + RUN;
        stream_write(s, from, s->n);
        require_run(stream_job(tool, crash_path("_lines")));
        if (head > LOG_RECORDS && head_of_log() > head) {
            break;
        }
        head = head_of_log();
    }
    disk_state_write(&before);
    disk_state_free(&before);
    return from;
}

const char *stream_check_store(const struct stream *s, const char *tool)
{
    const struct crash_job verify = {.args = {tool, "verify", crash_path("s")}};
    const struct crash_job check = {
        .args = {tool, "check", "-v", crash_path("s"), crash_path("_keys")},
        .out = crash_path("_missing")};
    FILE *file = fopen(crash_path("_keys"), "w");
    crash_require(file != NULL, "_keys");
    for (uint32_t key = 0; key < s->n; key++) {
        fprintf(file, "%u\n", key);
    }
    crash_require(fclose(file) == 0, "_keys");
    if (crash_run(&verify) != 0) {
        return "verify finds damage";
    }
    (void)unlink(crash_path("_missing"));
    if (crash_run(&check) > 1) {
        return "the store cannot be asked";
    }
    size_t len = 0;
    char *missing = crash_read(crash_path("_missing"), &len);
    const bool is_right =
        missing && len == strlen(s->missing) && memcmp(missing, s->missing, len) == 0;
    free(missing);
    return is_right ? NULL : "the store has other keys";
}
