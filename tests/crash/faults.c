/* SPDX-License-Identifier: MIT
 *
 * Every system call of the tool fails once: with EIO and with ENOSPC, is interrupted (EINTR), reads
 * or writes a half only, or is the last one of the process (as kill -9 at that very place).
 *
 * After an error the tool says so and ends with status 2, or has done without what failed, and all
 * is right. EINTR and half calls change nothing. Whatever has happened, the next run with the same
 * input, without faults, makes everything right: each URL once with -o, none lost otherwise.
 *
 *     crash_faults TOOL SHIM [PLANT]
 *
 * With UNSEEN_TEST_BRIEF each call fails with EIO and in one of the other ways, by turns.
 *
 * With the name of a plant (shim.c) the tool has that fault as well, and it must be noticed. */
#include "crash.h"

#include <signal.h>
#include <unistd.h>

#include "disk.h"
#include "stream.h"

enum {
    NURLS = 300,
    NKNOWN = 200,
    NMORE = 200,
    NLINES = 4000, /* with times */
    CALLS_MAX = 2000,
    FAILURES_SHOWN = 20,
    LOG_HEADER = 8192,
    LOG_RECORDS = 16384
};

static struct {
    const char *tool;
    const char *shim;
    const char *plant;
    struct crash_tally tally;
    struct disk_state prefilled;
    struct stream stream;
    uint32_t first_line; /* of the run that has the fault */
    uint64_t ncases;
    uint64_t nstatus0;
    uint64_t nstatus2;
    uint64_t nwrong;
} faults;

/* ---- Situations ------------------------------------------------------------------------------ */

static struct crash_job named_job(void)
{
    return (struct crash_job){.args = {faults.tool, "-s", crash_path("s"), "--seed", "7", "-o",
                                       crash_path("out"), crash_path("_in")}};
}

static struct crash_job standard_job(void)
{
    return (struct crash_job){
        .args = {faults.tool, "-s", crash_path("s"), "--seed", "7", crash_path("_in")},
        .out = crash_path("out")};
}

static struct crash_job parts_job(void)
{
    return crash_sweep_parts(crash_path("_in"));
}

static struct crash_job rewrite_job(void)
{
    return (struct crash_job){.args = {faults.tool, "rewrite", crash_path("s")}};
}

static struct crash_job merge_job(void)
{
    return (struct crash_job){.args = {faults.tool, "merge", "--into", crash_path("s"),
                                       crash_path("_store1"), crash_path("_store2")}};
}

/* By time: the log is written anew. */
static struct crash_job merge_year_job(void)
{
    struct crash_job job = merge_job();
    job.args[6] = "--window=1y";
    return job;
}

static struct crash_job repair_job(void)
{
    return (struct crash_job){.args = {faults.tool, "repair", crash_path("s")}};
}

static struct crash_job verify_job(void)
{
    return (struct crash_job){.args = {faults.tool, "verify", crash_path("s")}};
}

static struct crash_job window_job(void)
{
    stream_write(&faults.stream, faults.first_line, faults.stream.n);
    return stream_job(faults.tool, crash_path("_lines"));
}

/* Goes on behind what was committed. */
static struct crash_job window_next(void)
{
    const struct crash_job none = stream_job(faults.tool, NULL);
    (void)crash_run(&none); /* an error shows in the run that follows, too */
    const uint32_t next = stream_next(&faults.stream);
    if (next != UINT32_MAX && stream_removes(&faults.stream, next)) {
        const struct crash_job removal = stream_remove_job(faults.tool);
        (void)crash_run(&removal);
    }
    stream_write(&faults.stream, next < faults.stream.n ? next : 0, faults.stream.n);
    return stream_job(faults.tool, crash_path("_lines"));
}

static void require_run(struct crash_job job)
{
    const int status = crash_run(&job);
    if (status != 0) {
        crash_die("a run without faults ends with status %d: %s", status, crash_messages());
    }
}

static void nothing(void)
{
}

/* A store of two runs, so that its log has two records, or more. */
static void known(void)
{
    crash_write_urls(crash_path("_in"), 0, NKNOWN / 2);
    require_run(named_job());
    crash_write_urls(crash_path("_in"), 0, NKNOWN);
    require_run(named_job());
}

/* A store that gets its image in the next run, and one that has it. */
static void image_due(void)
{
    if (faults.prefilled.n == 0) {
        crash_prefill(faults.tool);
        disk_state_read(&faults.prefilled);
    }
    disk_state_write(&faults.prefilled);
}

static void image(void)
{
    image_due();
    crash_write_urls(crash_path("_in"), 0, NKNOWN);
    require_run(named_job());
    crash_require(crash_exists(crash_path("s.image")), "an image");
}

/* A store in memory that goes over its limit in the next run: after some lines of the output. */
static void nearly_swept(void)
{
    crash_write_urls(crash_path("_in"), 0, NKNOWN / 2);
    require_run(crash_fill_parts(crash_path("_in")));
}

static void known_standard(void)
{
    crash_write_urls(crash_path("_in"), 0, NKNOWN);
    require_run(standard_job());
}

/* A store that the next run rewrites. */
static void mostly_dead(void)
{
    crash_dead_begin(faults.tool);
    crash_write_urls(crash_path("_in"), 0, NKNOWN);
    require_run(named_job());
    crash_dead_end(faults.tool, faults.shim);
}

static void window(void)
{
    uint64_t random = 1;
    stream_make(&faults.stream, NLINES, &random);
    faults.first_line = stream_before_hole(&faults.stream, faults.tool);
}

static void two_stores(void)
{
    known();
    crash_write_more(faults.tool, NMORE);
}

/* No key leaves in a year. */
static void stores_of_a_year(void)
{
    struct crash_job job = named_job();
    job.args[8] = "--window=1y";
    crash_write_urls(crash_path("_in"), 0, NKNOWN);
    require_run(job);
    crash_write_more(faults.tool, NMORE);
}

static void damage(size_t at)
{
    size_t len = 0;
    char *log = crash_read(crash_path("s"), &len);
    crash_require(log && at < len, "a log that long");
    log[at] ^= 0x10;
    crash_write(crash_path("s"), log, len);
    free(log);
}

static void torn(void)
{
    known();
    size_t len = 0;
    free(crash_read(crash_path("s"), &len));
    crash_require(truncate(crash_path("s"), (off_t)len - 40) == 0, "s");
}

static void damaged_header(void)
{
    known();
    damage(100);
}

static void damaged_record(void)
{
    known_standard();
    crash_write_urls(crash_path("_in"), 0, NKNOWN + 1);
    require_run(standard_job());
    damage(LOG_RECORDS + 60);
}

/* How the tool is in use when the call fails; how the next run is, and what it is to make right. */
static const struct situation {
    const char *name;
    void (*prepare)(void);
    struct crash_job (*job)(void);
    struct crash_job (*next)(void);
    bool exactly_once;
    const char *from; /* only the calls from the first on a file of that name on, ... */
    unsigned ncalls;  /* ... so many of them; NULL and 0: all */
} situations[] = {
    {"create", nothing, named_job, named_job, true, NULL, 0},
    {"create, to standard output", nothing, standard_job, standard_job, false, NULL, 0},
    {"go on", known, named_job, named_job, true, NULL, 0},
    {"go on, to standard output", known_standard, standard_job, standard_job, false, NULL, 0},
    {"make an image", image_due, named_job, named_job, true, NULL, 0},
    {"use an image", image, named_job, named_job, true, NULL, 0},
    {"sweep itself", nearly_swept, parts_job, parts_job, true, "open s.image.unseen-new", 60},
    {"torn end", torn, named_job, named_job, true, NULL, 0},
    {"damaged header", damaged_header, named_job, named_job, true, NULL, 0},
    {"rewrite", known, rewrite_job, named_job, true, NULL, 0},
    {"rewrite itself", mostly_dead, named_job, named_job, true, "open s.unseen-new", 21},
    {"window", window, window_job, window_next, true, NULL, 0},
    {"merge", two_stores, merge_job, named_job, true, "s.draft.unseen-new", 34},
    {"merge by time", stores_of_a_year, merge_year_job, named_job, true, "s.draft.new.unseen-new",
     0},
    {"verify", known, verify_job, named_job, true, NULL, 0},
    {"repair", damaged_record, repair_job, standard_job, false, NULL, 0},
};

/* ---- Cases ----------------------------------------------------------------------------------- */

struct fault_case {
    const struct situation *situation;
    const char *kind;
    unsigned long number;
    char hit[128]; /* what the shim says: "KIND CALL NAME" */
};

static void wrong(const struct fault_case *c, const char *what, const char *detail)
{
    if (faults.nwrong++ < FAILURES_SHOWN) {
        fprintf(stderr, "%s, %s at call %lu (%s): %s: %.300s\n    lost %u, extra %u, foreign %u\n",
                c->situation->name, c->kind, c->number, c->hit, what, detail, faults.tally.nlost,
                faults.tally.nextra, faults.tally.nforeign);
    }
}

static bool output_is_right(const struct situation *s)
{
    if (s->job == window_job) {
        return stream_is_whole(&faults.stream);
    }
    crash_tally_file(&faults.tally, crash_path("out"));
    return faults.tally.nlost == 0 &&
           (!s->exactly_once || (faults.tally.nextra == 0 && faults.tally.nforeign == 0));
}

/* Without these nothing can be promised: their failure must not be passed over. */
static bool is_essential(const char *hit)
{
    static const char *const calls[] = {"write out",     "pwrite s",  "fdatasync s", "fsync s",
                                        "fdatasync out", "fsync out", "read _in"};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const char *p = strstr(hit, calls[i]);
        if (p && p[-1] == ' ' && p[strlen(calls[i])] == '\n') {
            return true;
        }
    }
    return false;
}

static void judge_faulted(const struct fault_case *c, int status)
{
    const bool is_error = strcmp(c->kind, "EIO") == 0 || strcmp(c->kind, "ENOSPC") == 0;
    const char *messages = crash_messages();
    faults.nstatus0 += status == 0;
    faults.nstatus2 += status == 2;
    if (strcmp(c->kind, "KILL") == 0) {
        if (status != 128 + SIGKILL) {
            wrong(c, "it was not killed", messages);
        }
    } else if (status == 0) {
        if (is_error && is_essential(c->hit)) {
            wrong(c, "an error is passed over", messages);
        }
        if ((c->situation->job == c->situation->next || c->situation->job == window_job) &&
            !output_is_right(c->situation)) {
            wrong(c, "success, but the output is not right", messages);
        }
    } else if (!is_error || status != 2) {
        char text[32];
        snprintf(text, sizeof(text), "status %d", status);
        wrong(c, text, messages);
    } else if (strncmp(messages, "unseen: error: ", 15) != 0 &&
               !strstr(messages, "\nunseen: error: ")) {
        wrong(c, "status 2 without a message", messages);
    }
}

/* A merge changes all or nothing. */
static void judge_merge(const struct fault_case *c, int status)
{
    const unsigned nmissing = crash_missing(faults.tool, "_more");
    if (nmissing != 0 && nmissing != NMORE) {
        wrong(c, "a part of a merge is there", crash_messages());
    } else if (nmissing > 0 && status == 0) {
        wrong(c, "success, but the merge is not there", "");
    }
}

static void judge_next(const struct fault_case *c)
{
    struct crash_job next = c->situation->next();
    struct crash_job repair = repair_job();
    if (c->situation->job == repair_job) {
        (void)crash_run(&repair); /* it was damaged before */
    }
    const int status = crash_run(&next);
    if (status != 0) {
        wrong(c, "the next run fails", crash_messages());
    } else if (!output_is_right(c->situation)) {
        wrong(c, "the next run does not make it right", "");
    } else {
        struct crash_job verify = verify_job();
        if (crash_run(&verify) != 0) {
            wrong(c, "verify finds damage after the next run", crash_messages());
        }
        if (crash_exists(crash_path("s.unseen-new")) ||
            crash_exists(crash_path("s.image.unseen-new"))) {
            wrong(c, "the next run leaves what was being written", "");
        }
    }
}

/* Runs the tool with the fault, and fills in what was hit. The exit status; -1 if the run has fewer
 * calls than that. */
static int strike(struct fault_case *c, const struct disk_state *base)
{
    char fault[64];
    char report[CRASH_PATH_MAX];
    char plant[64];
    disk_state_write(base); /* first: crash_path forgets */
    struct crash_job job = c->situation->job();
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%lu:%s", c->number, c->kind);
    snprintf(report, sizeof(report), "UNSEEN_CRASH_REPORT=%s", crash_path("_hit"));
    snprintf(plant, sizeof(plant), "UNSEEN_CRASH_PLANT=%s", faults.plant ? faults.plant : "none");
    job.shim = faults.shim;
    job.env[0] = fault;
    job.env[1] = report;
    job.env[2] = plant;
    const int status = crash_run(&job);
    size_t len = 0;
    char *hit = crash_read(crash_path("_hit"), &len);
    if (!hit) {
        return -1;
    }
    snprintf(c->hit, sizeof(c->hit), "%.*s", (int)len, hit);
    free(hit);
    crash_require(unlink(crash_path("_hit")) == 0, "_hit");
    return status;
}

/* False if the run has fewer calls than that. */
static bool run_case(struct fault_case *c, const struct disk_state *base)
{
    const int status = strike(c, base);
    if (status < 0) {
        return false;
    }
    if (c->hit[0] != '-') {
        faults.ncases++;
        judge_faulted(c, status);
        if (c->situation->job == merge_job || c->situation->job == merge_year_job) {
            judge_merge(c, status);
        }
        judge_next(c);
    }
    return true;
}

/* The number of the first call on a file of that name. */
static unsigned long first_call(const struct situation *s, const char *name,
                                const struct disk_state *base)
{
    struct fault_case c = {.situation = s, .kind = "DIE", .number = 1};
    while (strike(&c, base) >= 0 && !strstr(c.hit, name)) {
        crash_require(++c.number < CALLS_MAX, name);
    }
    return c.number;
}

static void run_situation(const struct situation *s)
{
    static const char *const kinds[] = {"EIO", "ENOSPC", "EINTR", "SHORT", "KILL"};
    struct disk_state base;
    crash_clear();
    s->prepare();
    crash_write_urls(crash_path("_in"), 0, NURLS);
    disk_state_read(&base);
    const unsigned long first = s->from ? first_call(s, s->from, &base) : 1;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        const unsigned long step = k > 0 && crash_brief() ? 4 : 1;
        struct fault_case c = {.situation = s, .kind = kinds[k], .number = first + k % step};
        while ((s->ncalls == 0 || c.number < first + s->ncalls) && run_case(&c, &base) &&
               !(faults.plant && faults.nwrong > 0)) {
            crash_require((c.number += step) < CALLS_MAX, "an end of the calls");
        }
        crash_require(c.number > first || faults.nwrong > 0, "calls");
    }
    disk_state_free(&base);
}

int main(int argc, char **argv)
{
    crash_arguments(argc, argv, &faults.tool, &faults.shim, &faults.plant);
    crash_tally_init(&faults.tally, NURLS);
    const char *only = getenv("UNSEEN_CRASH_ONLY");
    for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
        if (!only || strcmp(only, situations[i].name) == 0) {
            run_situation(&situations[i]);
        }
    }
    printf("%llu cases: %llu ended with an error, %llu did without what failed; %llu failed\n",
           (unsigned long long)faults.ncases, (unsigned long long)faults.nstatus2,
           (unsigned long long)faults.nstatus0, (unsigned long long)faults.nwrong);
    return crash_status(faults.plant, faults.nwrong);
}
