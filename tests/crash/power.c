/* SPDX-License-Identifier: MIT
 *
 * Power cuts. The tool runs once for real, with the shim recording what it does to the disk. Then
 * the power is cut at every call of that run, in every way the model of the disk knows (disk.h):
 * each state is put into the folder, and the tool runs on it again with all of the input, to its
 * end. Of every few such recoveries a record is made as well, and the power cut in it.
 *
 * With -o each URL must be in the output exactly once. With standard output appended to a file none
 * may be lost, and of a run that had ended before the cut none may be there twice.
 *
 *     crash_power TOOL SHIM [PLANT]
 *
 * With the name of a plant (shim.c) the recorded runs have that fault, and it must be noticed. */
#include "crash.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "disk.h"
#include "record.h"
#include "stream.h"

enum {
    RUNS_MAX = 4,
    NURLS = 300,
    NLINES = 4000, /* with times, of which a window forgets most; */
    NFIRST = 300,  /* but none of these while they are the only ones */
    STATES_CI = 2000,
    STATES_PER_WORKLOAD = 450,
    STATES_BRIEF = 150,  /* the same of the usual run, which has fewer states */
    STATES_DEAD = 50,    /* of a workload with a log of 1 MiB */
    STATES_WINDOW = 100, /* of one with a window */
    NMORE = 200,         /* URLs of the stores that are merged into the other */
    STATES_PLANTED = 1500,
    ROUNDS_MAX = 60,
    SECOND_EVERY = 6, /* states between two whose recovery is cut */
    SECOND_CUTS = 4,
    CLOSER_LOOK_EVERY = 16,
    PROGRESS_EVERY = 20, /* workloads between two lines about it */
    FAILURES_SHOWN = 10
};

static struct {
    const char *tool;
    const char *shim;
    const char *plant;
    uint64_t random;
    uint64_t seed;
    struct crash_tally tally;
    struct crash_tally before;   /* what the cut had left */
    struct disk_state prefilled; /* a store with other URLs */
    struct disk_state dead;      /* a store that its next writer rewrites, */
    struct disk_state dead_too;  /* and one with a window */
    bool merged;                 /* a merge had ended before the cut */
    struct stream stream;
    bool only_window;
    uint64_t *seen; /* hashes of states, an open table */
    size_t cap;
    uint64_t target;
    uint64_t nstates;
    uint64_t nsecond;
    uint64_t ncloser;
    uint64_t nfailed;
    uint64_t nworkloads;
    uint64_t ncalls;
} power;

struct workload {
    bool named;     /* -o; else standard output */
    bool prefilled; /* begins with a store that is about to get its image, */
    bool dead;      /* or with one that is about to rewrite itself */
    bool merges;    /* there is a merge */
    bool window;    /* the input is lines with times, and the store has a window */
    unsigned nruns;
    uint32_t ends[RUNS_MAX]; /* run i has the URLs before ends[i] as its input, */
    unsigned kill[RUNS_MAX]; /* is killed at this call, if not 0, */
    bool rewrite[RUNS_MAX];  /* and then the store is rewritten, */
    bool merge[RUNS_MAX];    /* or two others are merged into it */
};

/* ---- Recording ------------------------------------------------------------------------------- */

/* A run, or RUNS_MAX for a merge, has ended with success. */
static void mark(unsigned run)
{
    struct trace_op op = {.kind = TRACE_MARK, .at = run};
    crash_append(crash_path("_trace"), &op, sizeof(op));
}

/* The tool reading the URLs before `end`, from `in` or else from a file that has them all. */
static struct crash_job dedup_job(bool named, int in_fd)
{
    struct crash_job job = {
        .args = {power.tool, "-s", crash_path("s"), "--seed", "7", named ? "-o" : "-p",
                 named ? crash_path("out") : "crawl", in_fd > 0 ? NULL : crash_path("_in")},
        .in_fd = in_fd,
        .out = named ? NULL : crash_path("out"),
    };
    return job;
}

/* Feeds URLs or lines of the stream, in pieces with pauses, so that they become several commits. */
static void feed(const struct workload *w, int fd, uint32_t at, uint32_t end)
{
    const uint32_t most = w->window ? 400 : 120;
    char *text = malloc((size_t)most * CRASH_URL_MAX);
    crash_require(text != NULL, "malloc");
    while (at < end) {
        size_t len = 0;
        uint32_t n = (uint32_t)(1 + crash_random(&power.random) % most);
        for (; n > 0 && at < end; n--) {
            len +=
                w->window ? stream_line(&power.stream, at, text + len) : crash_url(at, text + len);
            at++;
        }
        if (write(fd, text, len) < 0) {
            break; /* it was killed */
        }
        usleep((useconds_t)(crash_random(&power.random) % 4 * 20000));
    }
    free(text);
}

static void add_environment(struct crash_job *job, char trace[static CRASH_PATH_MAX],
                            char slow[static 64], char plant[static 64])
{
    snprintf(trace, CRASH_PATH_MAX, "UNSEEN_CRASH_TRACE=%s", crash_path("_trace"));
    snprintf(slow, 64, "UNSEEN_CRASH_SLOW=%u", (unsigned)(crash_random(&power.random) % 3000));
    snprintf(plant, 64, "UNSEEN_CRASH_PLANT=%s", power.plant ? power.plant : "none");
    job->shim = power.shim;
    job->env[0] = trace;
    job->env[1] = slow;
    job->env[2] = plant;
}

/* Records another command; false if it was killed, which happens at that call if it is not 0. */
static bool record_command(struct crash_job job, unsigned kill)
{
    char trace[CRASH_PATH_MAX];
    char slow[64];
    char plant[64];
    char fault[64];
    add_environment(&job, trace, slow, plant);
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%u:KILL", kill);
    job.env[3] = fault;
    const int status = crash_run(&job);
    if (power.plant && status == 2) {
        power.nfailed++; /* it has noticed it itself */
    } else if (status != 0 && (kill == 0 || status != 128 + SIGKILL)) {
        crash_die("%s ends with status %d: %s", job.args[1], status, crash_messages());
    }
    return status == 0;
}

/* The line with which a run goes on. What a killed one has not committed is cut off first. */
static uint32_t first_line(const struct workload *w, unsigned kill)
{
    if (!w->window || !crash_exists(crash_path("s"))) {
        return 0;
    }
    (void)record_command(stream_job(power.tool, NULL), 0);
    const uint32_t next = stream_next(&power.stream);
    if (next == UINT32_MAX) {
        return 0; /* with a plant; the states will show it */
    }
    if (stream_removes(&power.stream, next) &&
        !record_command(stream_remove_job(power.tool), kill)) {
        (void)record_command(stream_remove_job(power.tool), 0);
    }
    return next;
}

static void record_run(struct workload *w, unsigned run)
{
    char trace[CRASH_PATH_MAX];
    char slow[64];
    char plant[64];
    char fault[64];
    int ends[2];
    const uint32_t first = first_line(w, w->kill[run] / 3);
    w->ends[run] = w->window ? stream_end(&power.stream, first) : w->ends[run];
    crash_require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    struct crash_job job = w->window ? stream_job(power.tool, NULL) : dedup_job(w->named, ends[0]);
    job.in_fd = ends[0];
    add_environment(&job, trace, slow, plant);
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%u:KILL", w->kill[run]);
    job.env[3] = fault;
    pid_t pid = crash_start(&job);
    crash_require(close(ends[0]) == 0, "close");
    feed(w, ends[1], first, w->ends[run]);
    crash_require(close(ends[1]) == 0, "close");
    int status = crash_wait(pid);
    if (status == 0) {
        mark(run);
    } else if (power.plant && status == 2) {
        power.nfailed++;
    } else if (w->kill[run] == 0 || status != 128 + SIGKILL) {
        crash_die("the recorded run ends with status %d: %s", status, crash_messages());
    }
    if (w->rewrite[run] && crash_exists(crash_path("s"))) {
        record_command((struct crash_job){.args = {power.tool, "rewrite", crash_path("s")}}, 0);
    }
    if (w->merge[run] && crash_exists(crash_path("s"))) {
        const struct crash_job merge = {.args = {power.tool, "merge", "--into", crash_path("s"),
                                                 crash_path("_store1"), crash_path("_store2")}};
        if (record_command(merge, w->kill[run] / 2)) {
            mark(RUNS_MAX);
        }
    }
}

static struct workload choose_workload(void)
{
    struct workload w = {.window = power.only_window || power.nworkloads % 5 == 2};
    w.named = w.window || power.nworkloads % 2 == 0;
    w.prefilled = !w.window && power.nworkloads % 8 / 2 == 1;
    w.dead = w.window ? crash_random(&power.random) % 4 == 0 : power.nworkloads % 5 == 0;
    if (power.plant && strcmp(power.plant, "persist-first") == 0) {
        w.named = false; /* a file with a name is read by the tool, so that it cannot be late */
    }
    w.nruns = 1 + (unsigned)(crash_random(&power.random) % RUNS_MAX);
    w.nruns = w.window ? RUNS_MAX : w.nruns; /* a part of the stream each, or what is left of it */
    for (unsigned i = 0; i < w.nruns; i++) {
        w.ends[i] = i + 1 == w.nruns ? NURLS : NURLS * (i + 1) / w.nruns;
        const uint64_t then = crash_random(&power.random) % 4;
        w.rewrite[i] = then == 0;
        if (!w.dead && !w.window) { /* its keys have another length */
            w.merge[i] = then == 1 || (i == 0 && power.nworkloads % 2 == 1);
        }
        w.merges = w.merges || w.merge[i];
        if (crash_random(&power.random) % 3 == 0) {
            w.kill[i] = 1 + (unsigned)(crash_random(&power.random) % 80);
        }
    }
    return w;
}

static void record_workload(struct workload *w, struct record *record)
{
    if (w->dead || w->prefilled) {
        disk_state_write(!w->dead ? &power.prefilled : w->window ? &power.dead_too : &power.dead);
    } else {
        crash_clear();
    }
    disk_state_read(&record->base);
    for (unsigned i = 0; i < w->nruns; i++) {
        record_run(w, i);
    }
    record_load(record);
    record_check(record);
    power.ncalls += record->n;
}

/* ---- Judging a state ------------------------------------------------------------------------- */

/* Whether the state is a new one. */
static bool remember(const struct disk_state *state)
{
    const uint64_t hash = disk_state_hash(state) | 1;
    size_t i = (size_t)hash & (power.cap - 1);
    for (; power.seen[i] != 0; i = (i + 1) & (power.cap - 1)) {
        if (power.seen[i] == hash) {
            return false;
        }
    }
    power.seen[i] = hash;
    return true;
}

/* What is wrong with the output, or NULL. URLs before ndone were certain before the cut. */
static const char *judge_output(const struct workload *w, uint32_t ndone)
{
    struct crash_tally *tally = &power.tally;
    crash_tally_file(tally, crash_path("out"));
    if (tally->nlost > 0) {
        return "URLs are lost";
    }
    if (w->named && (tally->nextra > 0 || tally->nforeign > 0)) {
        return tally->nextra > 0 ? "URLs are repeated" : "there are lines that are no input";
    }
    for (uint32_t i = 0; i < ndone; i++) {
        if (tally->counts[i] > power.before.counts[i]) {
            return "URLs of a run that had ended are repeated";
        }
    }
    return NULL;
}

static bool others_are_there(void)
{
    struct crash_job check = {
        .args = {power.tool, "check", "-v", crash_path("s"), crash_path("_others")}};
    return crash_run(&check) == 1; /* none is missing */
}

/* A merge changes all or nothing. */
static const char *judge_merge(void)
{
    const unsigned nmissing = crash_missing(power.tool, "_more");
    if (nmissing != 0 && nmissing != NMORE) {
        return "a part of a merge is there";
    }
    return nmissing > 0 && power.merged ? "a merge that had ended is gone" : NULL;
}

/* The store is whole, and another run finds nothing new. */
static const char *look_closer(const struct workload *w)
{
    size_t before = 0;
    size_t after = 0;
    power.ncloser++;
    free(crash_read(crash_path("out"), &before));
    struct crash_job verify = {.args = {power.tool, "verify", crash_path("s")}};
    if (crash_run(&verify) != 0) {
        return "verify finds damage after the recovery";
    }
    if (w->prefilled && !w->dead && !others_are_there()) {
        return "URLs of before are forgotten";
    }
    struct crash_job again = dedup_job(w->named, 0);
    if (crash_run(&again) != 0) {
        return "the run after the recovery fails";
    }
    free(crash_read(crash_path("out"), &after));
    return before == after ? NULL : "the run after the recovery repeats URLs";
}

/* Counts what a cut has left. A last line without its end, which stale blocks may have put there,
 * gets one when the tool goes on behind it. */
static void tally_before(void)
{
    size_t len = 0;
    char *text = crash_read(crash_path("out"), &len);
    crash_tally_clear(&power.before);
    if (text) {
        text[len] = '\n';
        crash_tally_add(&power.before, text, len + (len > 0 && text[len - 1] != '\n'));
    }
    free(text);
}

/* A run of no line leaves whole commits of the stream, and the next run goes on behind them. */
static const char *recover_window(struct crash_job job, uint32_t ndone, bool closer)
{
    const struct stream *s = &power.stream;
    if (crash_run(&job) != 0) {
        return crash_messages();
    }
    const uint32_t next = stream_next(s);
    if (next == UINT32_MAX) {
        return "the output is not what the window lets through";
    }
    if (ndone > 0 && (next == 0 || s->out_ends[next - 1] < s->out_ends[ndone - 1])) {
        return "lines of a run that had ended are lost";
    }
    if (!stream_go_on(s, power.tool, next, job)) {
        return crash_messages();
    }
    if (!stream_is_whole(s)) {
        return "the output of the next run is not what the window lets through";
    }
    return closer ? stream_check_store(s, power.tool) : NULL;
}

/* Runs the tool on what is in the folder. */
static const char *recover(const struct workload *w, uint32_t ndone, bool traced, bool closer)
{
    char trace[CRASH_PATH_MAX];
    char slow[64];
    char plant[64];
    struct crash_job job = w->window ? stream_job(power.tool, NULL) : dedup_job(w->named, 0);
    if (traced) {
        add_environment(&job, trace, slow, plant);
    }
    if (w->window) {
        power.ncloser += closer;
        return recover_window(job, ndone, closer);
    }
    tally_before();
    const int status = crash_run(&job);
    if (status != 0) {
        static char text[1024];
        snprintf(text, sizeof(text), "status %d: %.900s", status, crash_messages());
        return text;
    }
    const char *wrong = judge_output(w, ndone);
    if (!wrong && w->merges) {
        wrong = judge_merge();
    }
    return wrong || !closer ? wrong : look_closer(w);
}

static void keep(const struct disk_state *state)
{
    const char *folder = getenv("UNSEEN_CRASH_KEEP");
    if (folder) {
        disk_state_write(state);
        crash_copy_all(crash_folder(), folder);
    }
}

static void report(const struct workload *w, const struct disk_state *state, size_t call,
                   unsigned policy, const char *cut, const char *wrong)
{
    if (power.nfailed++ < FAILURES_SHOWN) {
        fprintf(
            stderr,
            "workload %llu (%s%s, %u runs), call %zu, policy %u, %s: %s\n    lost %u, extra %u, "
            "foreign %u\n",
            (unsigned long long)power.nworkloads, w->named ? "-o" : "standard output",
            w->window      ? ", window"
            : w->dead      ? ", mostly dead"
            : w->prefilled ? ", prefilled"
                           : "",
            w->nruns, call, policy, cut, wrong, power.tally.nlost, power.tally.nextra,
            power.tally.nforeign);
        if (power.nfailed == 1) {
            keep(state);
        }
    }
}

/* Cuts the power once more, in a recovery from state. */
static void cut_again(const struct workload *w, const struct disk_state *state, uint32_t ndone)
{
    struct record record;
    disk_state_copy(state, &record.base);
    disk_state_write(state);
    const char *wrong = recover(w, ndone, true, false);
    record_load(&record);
    if (!wrong) {
        record_check(&record);
    }
    for (unsigned cut = 0; cut < SECOND_CUTS && !wrong; cut++) {
        struct disk *disk = disk_create(&record.base);
        const size_t call = (size_t)(crash_random(&power.random) % record.n);
        const unsigned policy = (unsigned)(crash_random(&power.random) % (2 * DISK_NPOLICIES));
        struct disk_state again;
        for (size_t i = 0; i <= call; i++) {
            disk_apply(disk, record.ops[i]);
        }
        disk_cut(disk, policy, &power.random, &again);
        if (!disk_state_is_confusing(&again) && remember(&again)) {
            power.nstates++;
            power.nsecond++;
            disk_state_write(&again);
            const char *wrong_again = recover(w, ndone, false, cut == 0);
            if (wrong_again) {
                report(w, &again, call, policy, "second cut", wrong_again);
            }
        }
        disk_state_free(&again);
        disk_free(disk);
    }
    record_free(&record);
}

static void judge(const struct workload *w, const struct disk_state *state, uint32_t ndone,
                  size_t call, unsigned policy)
{
    if (disk_state_is_confusing(state) || !remember(state)) {
        return;
    }
    power.nstates++;
    disk_state_write(state);
    const char *wrong = recover(w, ndone, false, power.nstates % CLOSER_LOOK_EVERY == 0);
    if (wrong) {
        report(w, state, call, policy, "first cut", wrong);
    } else if (power.nstates % SECOND_EVERY == 0 && !power.plant) {
        cut_again(w, state, ndone);
    }
}

/* ---- All cuts of a workload ------------------------------------------------------------------ */

static bool enough(const struct workload *w, uint64_t in_workload)
{
    return power.nstates >= power.target ||
           in_workload >= (w->dead         ? STATES_DEAD
                           : w->window     ? STATES_WINDOW
                           : crash_brief() ? STATES_BRIEF
                                           : STATES_PER_WORKLOAD) ||
           (power.plant && power.nfailed > 0);
}

/* One round: the power cut after each call, in one way. */
static void cut_everywhere(const struct workload *w, const struct record *record, unsigned policy,
                           uint64_t first_state)
{
    struct disk *disk = disk_create(&record->base);
    uint32_t ndone = 0;
    power.merged = false;
    for (size_t i = 0; i < record->n && !enough(w, power.nstates - first_state); i++) {
        disk_apply(disk, record->ops[i]);
        if (record->ops[i]->kind == TRACE_MARK) {
            const uint64_t ended = record->ops[i]->at;
            ndone = ended < RUNS_MAX ? w->ends[ended] : ndone;
            power.merged = power.merged || ended == RUNS_MAX;
        }
        if (policy == 0 || disk_nuncertain(disk) > 0) {
            struct disk_state state;
            disk_cut(disk, policy, &power.random, &state);
            judge(w, &state, ndone, i, policy);
            disk_state_free(&state);
        }
    }
    disk_free(disk);
}

static void run_workload(void)
{
    struct record record;
    struct workload w = choose_workload();
    const uint64_t first_state = power.nstates;
    record_workload(&w, &record);
    for (unsigned round = 0; round < ROUNDS_MAX && !enough(&w, power.nstates - first_state);
         round++) {
        cut_everywhere(&w, &record, round, first_state);
    }
    record_free(&record);
    if (++power.nworkloads % PROGRESS_EVERY == 0) {
        fprintf(stderr, "%llu states, %llu failed\n", (unsigned long long)power.nstates,
                (unsigned long long)power.nfailed);
    }
}

/* Stores that their next writer rewrites; one has a window, and keys that have not left it. */
static void make_dead(void)
{
    for (int window = 0; window < 2; window++) {
        crash_clear();
        if (window) {
            stream_write(&power.stream, 0, NFIRST);
            const struct crash_job first = stream_job(power.tool, crash_path("_lines"));
            crash_require(crash_run(&first) == 0, "the first lines of the stream");
        }
        crash_dead_begin(power.tool);
        crash_dead_end(power.tool, power.shim);
        disk_state_read(window ? &power.dead_too : &power.dead);
    }
}

int main(int argc, char **argv)
{
    crash_arguments(argc, argv, &power.tool, &power.shim, &power.plant);
    power.seed = crash_setting("UNSEEN_CRASH_SEED", 1);
    power.random = power.seed;
    power.target = power.plant ? STATES_PLANTED : crash_scaled(STATES_CI);
    power.cap = 4096;
    while (power.cap < 4 * power.target) {
        power.cap *= 2;
    }
    power.seen = calloc(power.cap, sizeof(*power.seen));
    crash_require(power.seen != NULL, "calloc");
    crash_tally_init(&power.tally, NURLS);
    crash_tally_init(&power.before, NURLS);
    crash_write_urls(crash_path("_in"), 0, NURLS);
    (void)signal(SIGPIPE, SIG_IGN);
    stream_make(&power.stream, NLINES, &power.random);
    crash_prefill(power.tool);
    disk_state_read(&power.prefilled);
    make_dead();
    crash_write_more(power.tool, NMORE);
    const char *only = getenv("UNSEEN_CRASH_ONLY");
    power.only_window = only && strcmp(only, "window") == 0;
    while (power.nstates < power.target && !(power.plant && power.nfailed > 0)) {
        run_workload();
    }
    printf("seed %llu: %llu different states after power cuts, %llu of them second cuts; from %llu "
           "recorded workloads of %llu calls; %llu looked at closely; %llu failed\n",
           (unsigned long long)power.seed, (unsigned long long)power.nstates,
           (unsigned long long)power.nsecond, (unsigned long long)power.nworkloads,
           (unsigned long long)power.ncalls, (unsigned long long)power.ncloser,
           (unsigned long long)power.nfailed);
    return crash_status(power.plant, power.nfailed);
}
