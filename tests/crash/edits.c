/* SPDX-License-Identifier: MIT
 *
 * Changes of a list, by `unseen update`, and of a store, by `unseen allow`. Every system call
 * fails once: with EIO and with ENOSPC, is interrupted, reads or writes a half only, or is the last
 * one of the process. And the power is cut at every call that changes the disk, in every way that
 * the model of the disk knows.
 *
 * Whatever has happened, the file opens, verify finds nothing, it has all of the commit or nothing
 * of it, and the same command makes it have all. A run that ended with success has made it durable.
 *
 *     crash_edits TOOL SHIM [PLANT]
 *
 * With UNSEEN_TEST_BRIEF each call fails with EIO and in one of the other ways, by turns.
 *
 * With the name of a plant (shim.c) the tool has that fault as well, and it must be noticed. */
#include "crash.h"

#include <signal.h>
#include <unistd.h>

#include "record.h"

enum {
    NALLOWED = 10, /* of the URLs that the list is built of, by the commit before */
    NBUILT = 100,
    NURLS = 160,    /* with those that are added */
    NMEMBERS = 400, /* URLs of the store, */
    NASKED = 300,   /* and others, of which its filter has some */
    CALLS_MAX = 1000,
    DRAWN = 100, /* states at each call, beside those of the policies */
    STATES_MAX = 4096,
    FAILURES_SHOWN = 20
};

enum state {
    STATE_OLD,
    STATE_NEW,
    STATE_WRONG
};

struct situation {
    const char *name;
    void (*prepare)(void);
    struct crash_job (*job)(void);
    enum state (*state)(void);
};

static struct {
    const struct situation *now;
    unsigned nfalse; /* lines of _in that the store takes for seen by error */
    const char *tool;
    const char *shim;
    const char *plant;
    struct crash_tally tally;
    uint64_t random;
    uint64_t nfaults;
    uint64_t ncuts;
    uint64_t nnew; /* cases that have left the new state */
    uint64_t nwrong;
} edits;

/* Which case it is. */
struct edit_case {
    const char *situation;
    const char *kind;
    unsigned long number;
    char hit[128]; /* what the shim says: "KIND CALL NAME" */
};

static void wrong(const struct edit_case *c, const char *what, const char *detail)
{
    if (edits.nwrong++ < FAILURES_SHOWN) {
        fprintf(stderr, "%s, %s at call %lu (%s): %s: %.300s\n", c->situation, c->kind, c->number,
                c->hit, what, detail);
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static struct crash_job update_job(void)
{
    return (struct crash_job){
        .args = {edits.tool, "update", crash_path("s"), "--add", crash_path("_in")}};
}

static void require_run(struct crash_job job)
{
    const int status = crash_run(&job);
    if (status != 0) {
        crash_die("a run without faults ends with status %d: %s", status, crash_messages());
    }
}

/* A list, and a commit behind it. */
static void changed_list(void)
{
    crash_clear();
    crash_write_urls(crash_path("_in"), 0, NBUILT);
    require_run((struct crash_job){.args = {edits.tool, "build", "--seed", "7", "--fpr", "1e-9",
                                            crash_path("s"), crash_path("_in")}});
    crash_write_urls(crash_path("_in"), 0, NALLOWED);
    require_run(
        (struct crash_job){.args = {edits.tool, "allow", crash_path("s"), crash_path("_in")}});
    crash_write_urls(crash_path("_in"), NBUILT, NURLS);
}

/* Runs the command, and leaves the greater part of its commit. `end` bytes are the record that a
 * writer ends with. */
static void tear(struct crash_job job, size_t end)
{
    size_t before = 0;
    size_t after = 0;
    free(crash_read(crash_path("s"), &before));
    require_run(job);
    free(crash_read(crash_path("s"), &after));
    crash_require(after > before + end + 40 &&
                      truncate(crash_path("s"), (off_t)(after - end - 30)) == 0,
                  "s");
}

static void torn_list(void)
{
    changed_list();
    tear(update_job(), 48);
}

/* What the list has. */
static enum state list_state(void)
{
    struct crash_job job = {.args = {edits.tool, "check", crash_path("s"), crash_path("_all")},
                            .out = crash_path("_listed")};
    (void)unlink(crash_path("_listed"));
    if (crash_run(&job) != 0) {
        return STATE_WRONG;
    }
    crash_tally_file(&edits.tally, crash_path("_listed"));
    uint32_t nright[2] = {0, 0};
    for (uint32_t i = 0; i < NURLS; i++) {
        const uint32_t n = edits.tally.counts[i];
        nright[STATE_OLD] += n == (i >= NALLOWED && i < NBUILT);
        nright[STATE_NEW] += n == (i >= NALLOWED);
    }
    return nright[STATE_OLD] == NURLS   ? STATE_OLD
           : nright[STATE_NEW] == NURLS ? STATE_NEW
                                        : STATE_WRONG;
}

/* ---- Stores ---------------------------------------------------------------------------------- */

static struct crash_job allow_job(void)
{
    return (struct crash_job){.args = {edits.tool, "allow", crash_path("s"), crash_path("_in")}};
}

/* A store whose false hits, in the file _in, are not allowed, but for one in the file _one. The
 * file _members has what was added. */
static void store_with(const char *option)
{
    crash_clear();
    (void)unlink(crash_path("_members"));
    (void)unlink(crash_path("_in"));
    (void)unlink(crash_path("_one"));
    crash_write_urls(crash_path("_some"), 0, NMEMBERS);
    require_run((struct crash_job){.args = {edits.tool, "--seed", "7", "--filter", "counting",
                                            "--capacity", "400", "--fpr", "0.2", option, "-s",
                                            crash_path("s"), crash_path("_some")},
                                   .out = crash_path("_members")});
    crash_write_urls(crash_path("_some"), NMEMBERS, NMEMBERS + NASKED);
    require_run((struct crash_job){
        .args = {edits.tool, "check", "-m", "1", crash_path("s"), crash_path("_some")},
        .out = crash_path("_one")});
    require_run(
        (struct crash_job){.args = {edits.tool, "allow", crash_path("s"), crash_path("_one")}});
    require_run(
        (struct crash_job){.args = {edits.tool, "check", crash_path("s"), crash_path("_some")},
                           .out = crash_path("_in")});
    size_t len = 0;
    char *in = crash_read(crash_path("_in"), &len);
    edits.nfalse = 0;
    for (size_t i = 0; i < len; i++) {
        edits.nfalse += in[i] == '\n';
    }
    free(in);
    crash_require(edits.nfalse > 10, "false hits");
}

static void store(void)
{
    store_with("-j1");
}

static void store_with_window(void)
{
    store_with("--window=30d");
}

static void torn_store(void)
{
    store();
    tear(allow_job(), 64);
}

/* Which of its false hits the store allows. Whatever was added is there, in any state. */
static enum state store_state(void)
{
    if (crash_missing(edits.tool, "_members") != 0 || crash_missing(edits.tool, "_one") != 1) {
        return STATE_WRONG;
    }
    const unsigned nmissing = crash_missing(edits.tool, "_in");
    return nmissing == 0 ? STATE_OLD : nmissing == edits.nfalse ? STATE_NEW : STATE_WRONG;
}

/* ---- Judging --------------------------------------------------------------------------------- */

/* What must hold whatever has happened. */
static void judge_file(const struct edit_case *c, bool must_be_new)
{
    const enum state state = edits.now->state();
    struct crash_job verify = {.args = {edits.tool, "verify", crash_path("s")}};
    struct crash_job again = edits.now->job();
    edits.nnew += state == STATE_NEW;
    if (state == STATE_WRONG) {
        wrong(c, "neither all of the commit nor nothing of it", crash_messages());
    } else if (must_be_new && state != STATE_NEW) {
        wrong(c, "a commit that was made is not there", "");
    } else if (crash_run(&verify) != 0) {
        wrong(c, "verify finds damage", crash_messages());
    } else if (crash_run(&again) != 0) {
        wrong(c, "the next run fails", crash_messages());
    } else if (edits.now->state() != STATE_NEW) {
        wrong(c, "the next run does not make it right", "");
    }
}

/* ---- Failing calls --------------------------------------------------------------------------- */

static void judge_status(const struct edit_case *c, int status)
{
    const bool is_error = strcmp(c->kind, "EIO") == 0 || strcmp(c->kind, "ENOSPC") == 0;
    /* A write that fails leaves the old state; the last one only guards what was committed. */
    const bool is_essential = strstr(c->hit, " fdatasync s\n") || strstr(c->hit, " read _in\n");
    const char *messages = crash_messages();
    if (strcmp(c->kind, "KILL") == 0) {
        if (status != 128 + SIGKILL) {
            wrong(c, "it was not killed", messages);
        }
    } else if (status == 0 && is_error && is_essential) {
        wrong(c, "an error is passed over", messages);
    } else if (status != 0 && (!is_error || status != 2)) {
        wrong(c, "the exit status", messages);
    } else if (status == 2 && !strstr(messages, "unseen: error: ")) {
        wrong(c, "status 2 without a message", messages);
    }
}

/* False if the run has fewer calls than that. */
static bool run_case(struct edit_case *c, const struct disk_state *base)
{
    char fault[64];
    char report[CRASH_PATH_MAX];
    char plant[64];
    struct crash_job job = edits.now->job();
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%lu:%s", c->number, c->kind);
    snprintf(report, sizeof(report), "UNSEEN_CRASH_REPORT=%s", crash_path("_hit"));
    snprintf(plant, sizeof(plant), "UNSEEN_CRASH_PLANT=%s", edits.plant ? edits.plant : "none");
    job.shim = edits.shim;
    job.env[0] = fault;
    job.env[1] = report;
    job.env[2] = plant;
    disk_state_write(base);
    const int status = crash_run(&job);
    size_t len = 0;
    char *hit = crash_read(crash_path("_hit"), &len);
    if (!hit) {
        return false;
    }
    snprintf(c->hit, sizeof(c->hit), "%.*s", (int)len, hit);
    free(hit);
    crash_require(unlink(crash_path("_hit")) == 0, "_hit");
    if (c->hit[0] != '-') {
        edits.nfaults++;
        judge_status(c, status);
        judge_file(c, status == 0);
    }
    return true;
}

static void fail_calls(const char *situation, const struct disk_state *base)
{
    static const char *const kinds[] = {"EIO", "ENOSPC", "EINTR", "SHORT", "KILL"};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        const unsigned long step = k > 0 && crash_brief() ? 4 : 1;
        struct edit_case c = {.situation = situation, .kind = kinds[k], .number = 1 + k % step};
        while (run_case(&c, base) && !(edits.plant && edits.nwrong > 0)) {
            crash_require((c.number += step) < CALLS_MAX, "an end of the calls");
        }
        crash_require(c.number > 1 || edits.nwrong > 0, "calls");
    }
}

/* ---- Power cuts ------------------------------------------------------------------------------ */

static void record_run(struct record *record, const struct disk_state *base)
{
    char trace[CRASH_PATH_MAX];
    char plant[64];
    struct crash_job job = edits.now->job();
    const struct trace_op end = {.kind = TRACE_MARK};
    snprintf(trace, sizeof(trace), "UNSEEN_CRASH_TRACE=%s", crash_path("_trace"));
    snprintf(plant, sizeof(plant), "UNSEEN_CRASH_PLANT=%s", edits.plant ? edits.plant : "none");
    job.shim = edits.shim;
    job.env[0] = trace;
    job.env[1] = plant;
    disk_state_write(base);
    disk_state_copy(base, &record->base);
    require_run(job);
    crash_append(crash_path("_trace"), &end, sizeof(end));
    record_load(record);
    record_check(record);
}

/* Whether the disk was in this state before, after a call of the same side of the end. */
static bool is_known(const struct disk_state *state, bool ended, uint64_t *seen, size_t *n)
{
    const uint64_t hash = disk_state_hash(state) + ended;
    for (size_t i = 0; i < *n; i++) {
        if (seen[i] == hash) {
            return true;
        }
    }
    if (*n < STATES_MAX) {
        seen[(*n)++] = hash;
    }
    return false;
}

static void cut_power(const char *situation, const struct disk_state *base)
{
    static uint64_t seen[STATES_MAX];
    size_t nseen = 0;
    struct record record;
    const uint64_t npolicies = DISK_NPOLICIES + crash_scaled(DRAWN);
    record_run(&record, base);
    struct disk *disk = disk_create(&record.base);
    bool ended = false;
    for (size_t i = 0; i < record.n && !(edits.plant && edits.nwrong > 0); i++) {
        disk_apply(disk, record.ops[i]);
        ended = ended || record.ops[i]->kind == TRACE_MARK;
        for (unsigned policy = 0; policy < npolicies; policy++) {
            struct edit_case c = {.situation = situation, .kind = "power cut", .number = i};
            struct disk_state state;
            snprintf(c.hit, sizeof(c.hit), "policy %u", policy);
            disk_cut(disk, policy, &edits.random, &state);
            if (!is_known(&state, ended, seen, &nseen)) {
                disk_state_write(&state);
                edits.ncuts++;
                judge_file(&c, ended);
            }
            disk_state_free(&state);
        }
    }
    crash_require(ended || edits.nwrong > 0, "an end of the run");
    disk_free(disk);
    record_free(&record);
}

int main(int argc, char **argv)
{
    static const struct situation situations[] = {
        {"a list with changes", changed_list, update_job, list_state},
        {"an interrupted commit", torn_list, update_job, list_state},
        {"a store", store, allow_job, store_state},
        {"a store with an interrupted commit", torn_store, allow_job, store_state},
        {"a store with a window", store_with_window, allow_job, store_state},
    };
    crash_arguments(argc, argv, &edits.tool, &edits.shim, &edits.plant);
    edits.random = crash_setting("UNSEEN_CRASH_SEED", 1);
    crash_tally_init(&edits.tally, NURLS);
    crash_write_urls(crash_path("_all"), 0, NURLS);
    for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
        struct disk_state base;
        edits.now = &situations[i];
        edits.now->prepare();
        disk_state_read(&base);
        crash_require(edits.now->state() == STATE_OLD, "the old state");
        /* each plant is for one of the two */
        if (!edits.plant || strcmp(edits.plant, "swallow-errors") == 0) {
            fail_calls(situations[i].name, &base);
        }
        if (!edits.plant || strcmp(edits.plant, "swallow-errors") != 0) {
            cut_power(situations[i].name, &base);
        }
        disk_state_free(&base);
    }
    printf("%llu failing calls, %llu power cuts, %llu with all of the commit; %llu failed\n",
           (unsigned long long)edits.nfaults, (unsigned long long)edits.ncuts,
           (unsigned long long)edits.nnew, (unsigned long long)edits.nwrong);
    return crash_status(edits.plant, edits.nwrong);
}
