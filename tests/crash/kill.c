/* SPDX-License-Identifier: MIT
 *
 * kill -9 at random times, from the first moment of a store on: the tool is killed and started
 * again with the same input, until it has come to the end of it. Ways of use:
 *
 *     file     -s S -o OUT IN: each URL is in OUT exactly once
 *     pipe     -s S < IN | consumer: the consumer gets all of them. A run begins where the last
 *              commit was: what it prints again is the end of what the one before has printed
 *     window   as file, of lines with times: a run begins behind the last line in OUT. Between the
 *              runs keys are removed
 *     upkeep   as file, with more input each time, and `rewrite` in between, which is killed, too
 *
 *     crash_kill TOOL SHIM [PLANT]
 *
 * With the name of a plant (shim.c) the tool has that fault, and it must be noticed. */
#include "crash.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

enum {
    NURLS = 200000,
    NLINES = 20000, /* with times */
    CYCLES_CI = 100,
    CYCLES_PLANTED = 400,
    NTIMED = 3,                      /* runs that are let alone: the fastest counts */
    NSTEPS = 10,                     /* of the input, in upkeep */
    DEAD_MAX = (1 << 20) + (1 << 16) /* bytes of a log of removed keys that may stay */
};

static struct {
    const char *tool;
    const char *shim; /* NULL: without */
    const char *plant;
    uint64_t seed;
    uint64_t random;
    struct crash_tally tally;
    uint64_t nkills;
    uint64_t ntrials;
    uint64_t nlost;
    uint64_t nrepeated;     /* by pipes, where that is allowed */
    uint64_t most_repeated; /* after one kill */
    uint64_t nwrong;
} kills;

static double now(void)
{
    struct timespec t;
    crash_require(clock_gettime(CLOCK_MONOTONIC, &t) == 0, "clock_gettime");
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wrong(const char *way, const char *what)
{
    fprintf(stderr, "%s, trial %llu: %s (lost %u, extra %u, foreign %u)\n", way,
            (unsigned long long)kills.ntrials, what, kills.tally.nlost, kills.tally.nextra,
            kills.tally.nforeign);
    kills.nwrong++;
}

/* Every third line repeats an earlier URL. */
static void write_input(const char *path, uint32_t n, bool reverse)
{
    char *text = malloc((size_t)n * 2 * 100 + CRASH_URL_MAX); /* a URL has less than 100 bytes */
    crash_require(text != NULL, "malloc");
    size_t len = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = reverse ? n - 1 - k : k;
        len += crash_url(i, text + len);
        if (i % 3 == 2) {
            len += crash_url(i / 2, text + len);
        }
    }
    crash_write(path, text, len);
    free(text);
}

static void write_inputs(uint32_t n)
{
    write_input(crash_path("_in"), n, false);
    write_input(crash_path("_reverse"), n, true);
}

static void prepare(struct crash_job *job, char plant[static 64])
{
    snprintf(plant, 64, "UNSEEN_CRASH_PLANT=%s", kills.plant ? kills.plant : "none");
    job->shim = kills.shim;
    job->env[0] = plant;
    job->env[1] = "UNSEEN_CRASH_SLOW=2000";
}

/* With the input in one of two orders, so that what a kill has left is not just written again. */
static struct crash_job file_job(void)
{
    const char *in = crash_path(crash_random(&kills.random) % 2 ? "_in" : "_reverse");
    return (struct crash_job){
        .args = {kills.tool, "-s", crash_path("s"), "--seed", "7", "-o", crash_path("out"), in}};
}

static struct crash_job rewrite_job(void)
{
    return (struct crash_job){.args = {kills.tool, "rewrite", crash_path("s")}};
}

/* A random part of the time that a run takes; now and then more, to come to an end. */
static double moment(double time)
{
    const double most = crash_random(&kills.random) % 8 == 0 ? 2 : 1;
    return time * most * (double)(1 + crash_random(&kills.random) % 1000) / 1000;
}

/* Each kill makes the next run of a trial a little longer: a trial has an end even if the machine
 * has become slower since the time of a run was measured. */
static const double LONGER = 1.1;

/* Waits until a child has ended, but no longer than until a moment. */
static void wait_until(pid_t pid, double moment)
{
    siginfo_t info = {0};
    while (info.si_pid == 0 && now() < moment) {
        usleep(500);
        crash_require(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0, "waitid");
    }
}

/* Runs a job and kills it after a part of the time it needs when let alone. True if it came to its
 * end by itself. */
static bool run_and_kill(struct crash_job job, double time)
{
    char plant[64];
    prepare(&job, plant);
    const double rest = moment(time);
    pid_t pid = crash_start(&job);
    wait_until(pid, now() + rest);
    crash_require(kill(pid, SIGKILL) == 0, "kill");
    const int status = crash_wait(pid);
    if (status == 128 + SIGKILL) {
        kills.nkills++;
        return false;
    }
    if (status != 0) {
        crash_die("the tool ends with status %d: %s", status, crash_messages());
    }
    return true;
}

static double run_alone(struct crash_job job)
{
    char plant[64];
    prepare(&job, plant);
    const double start = now();
    const int status = crash_run(&job);
    if (status != 0) {
        crash_die("the tool ends with status %d: %s", status, crash_messages());
    }
    return now() - start;
}

/* The less of two times; 0: none yet. */
static double sooner(double a, double b)
{
    return a > 0 && a < b ? a : b;
}

static void judge_file(const char *way)
{
    crash_tally_file(&kills.tally, crash_path("out"));
    kills.nlost += kills.tally.nlost;
    if (kills.tally.nlost > 0 || kills.tally.nextra > 0 || kills.tally.nforeign > 0) {
        wrong(way, "the output is not each URL once");
    }
    kills.ntrials++;
}

static bool enough(uint64_t until)
{
    return kills.nkills >= until || (kills.plant && kills.nwrong > 0);
}

/* ---- file ------------------------------------------------------------------------------------ */

static void kill_file(uint64_t until)
{
    write_inputs(NURLS);
    double least = 0;
    for (int i = 0; i < NTIMED; i++) {
        crash_clear();
        least = sooner(least, run_alone(file_job()));
    }
    while (!enough(until)) {
        crash_clear();
        double time = least;
        while (!run_and_kill(file_job(), time)) {
            time *= LONGER;
        }
        judge_file("file");
    }
}

/* ---- pipe ------------------------------------------------------------------------------------ */

/* What the consumer of a run has got: whole lines. */
struct consumer {
    char *text;
    size_t len;
    size_t cap;
};

/* Reads until the end, or until a moment. False at the end. */
static bool consume(struct consumer *consumer, int fd, double until)
{
    for (;;) {
        if (consumer->cap - consumer->len < 65536) {
            consumer->cap = 2 * consumer->cap + 65536;
            consumer->text = realloc(consumer->text, consumer->cap);
            crash_require(consumer->text != NULL, "realloc");
        }
        const double rest = until - now();
        struct pollfd pfd = {.fd = fd, .events = POLLIN};
        const int ready = poll(&pfd, 1, until == 0 ? -1 : rest > 0 ? (int)(rest * 1e3) : 0);
        if (ready == 0 && rest < 1e-3) {
            return true;
        }
        ssize_t n = ready > 0 ? read(fd, consumer->text + consumer->len, 65536) : 1;
        crash_require(n >= 0, "read");
        if (n == 0) {
            return false;
        }
        consumer->len += ready > 0 ? (size_t)n : 0;
        if (until != 0 && now() >= until) {
            return true;
        }
    }
}

/* One run with a consumer, killed after a while (0: not). True if it came to its end. */
static bool run_pipe(struct consumer *consumer, double after)
{
    int ends[2];
    char plant[64];
    crash_require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    struct crash_job job = {.args = {kills.tool, "-s", crash_path("s"), "--seed", "7"},
                            .in = crash_path("_in"),
                            .out_fd = ends[1]};
    prepare(&job, plant);
    consumer->len = 0;
    pid_t pid = crash_start(&job);
    crash_require(close(ends[1]) == 0, "close");
    if (consume(consumer, ends[0], after > 0 ? now() + after : 0)) {
        crash_require(kill(pid, SIGKILL) == 0, "kill");
        while (consume(consumer, ends[0], 0)) {
        }
    }
    crash_require(close(ends[0]) == 0, "close");
    const int status = crash_wait(pid);
    if (status != 0 && status != 128 + SIGKILL) {
        crash_die("the tool ends with status %d: %s", status, crash_messages());
    }
    /* A line without its end has not been taken. */
    while (consumer->len > 0 && consumer->text[consumer->len - 1] != '\n') {
        consumer->len--;
    }
    return status == 0;
}

/* The consumer of a run must have got URLs one after the other, beginning with one that is not
 * behind the first that nobody has got, nor before where the last run began. */
static void judge_pipe(const struct consumer *consumer, uint32_t *first, uint32_t *end)
{
    const char *text = consumer->text;
    size_t rest = consumer->len;
    if (rest == 0) {
        return;
    }
    const char *number = memmem(text, rest, ".example/", 9);
    uint32_t i = number ? (uint32_t)strtoul(number + 9, NULL, 10) : NURLS;
    if (i > *end || i < *first) {
        wrong("pipe", i > *end ? "a run begins after what is missing" : "a commit is forgotten");
    }
    const uint64_t repeated = i < *end ? *end - i : 0;
    kills.nrepeated += repeated;
    kills.most_repeated = repeated > kills.most_repeated ? repeated : kills.most_repeated;
    *first = i;
    for (char url[CRASH_URL_MAX]; rest > 0; i++) {
        const size_t len = crash_url(i, url);
        if (len > rest || memcmp(url, text, len) != 0) {
            wrong("pipe", "the lines of a run are not one after the other");
            break;
        }
        text += len;
        rest -= len;
    }
    *end = i > *end ? i : *end;
    crash_tally_add(&kills.tally, consumer->text, consumer->len);
}

static void kill_pipe(uint64_t until)
{
    struct consumer consumer = {0};
    write_inputs(NURLS);
    double least = 0;
    for (int i = 0; i < NTIMED; i++) {
        crash_clear();
        const double start = now();
        crash_require(run_pipe(&consumer, 0), "a run that is let alone");
        least = sooner(least, now() - start);
    }
    while (!enough(until)) {
        double time = least;
        crash_clear();
        crash_tally_clear(&kills.tally);
        uint32_t first = 0;
        uint32_t end = 0;
        for (bool ended = false; !ended;) {
            ended = run_pipe(&consumer, moment(time));
            kills.nkills += !ended;
            time *= LONGER;
            judge_pipe(&consumer, &first, &end);
        }
        crash_tally_finish(&kills.tally);
        kills.nlost += kills.tally.nlost;
        if (kills.tally.nlost > 0 || kills.tally.nforeign > 0) {
            wrong("pipe", "the consumer has not got all URLs");
        }
        kills.ntrials++;
    }
    free(consumer.text);
}

/* ---- upkeep ---------------------------------------------------------------------------------- */

static void kill_upkeep(uint64_t until)
{
    while (!enough(until)) {
        crash_clear();
        double time = 0.05;
        for (uint32_t step = 1; step <= NSTEPS; step++) {
            write_inputs(NURLS / NSTEPS * step);
            while (crash_random(&kills.random) % 4 != 0) {
                (void)run_and_kill(file_job(), time);
                if (crash_exists(crash_path("s")) && crash_random(&kills.random) % 2 == 0) {
                    (void)run_and_kill(rewrite_job(), time);
                }
            }
            time = run_alone(file_job());
        }
        judge_file("upkeep");
    }
}

/* ---- churn ----------------------------------------------------------------------------------- */

static struct crash_job change_job(const char *command)
{
    return (struct crash_job){.args = {kills.tool, command, crash_path("s"), crash_path("_in")}};
}

/* The status of `unseen check` with two options: 1 says that it would print no line. */
static int check_status(const char *options, const char *in)
{
    struct crash_job job = {.args = {kills.tool, "check", options, crash_path("s"), in}};
    return crash_run(&job);
}

static void judge_churn(bool is_removed)
{
    struct crash_job verify = {.args = {kills.tool, "verify", crash_path("s")}};
    size_t len = 0;
    free(crash_read(crash_path("s"), &len));
    if (crash_run(&verify) != 0) {
        wrong("churn", "the store is damaged");
    }
    if (check_status("-vq", crash_path("_kept")) != 1) {
        wrong("churn", "a kept URL is forgotten");
    }
    if (check_status(is_removed ? "-q" : "-vq", crash_path("_in")) != 1) {
        wrong("churn", is_removed ? "a removed URL is there" : "an added URL is forgotten");
    }
    if (is_removed && len > DEAD_MAX) {
        wrong("churn", "the store was not rewritten");
    }
    kills.ntrials++;
}

/* Each URL is added and removed, so that the store rewrites itself; most runs are killed. */
static void kill_churn(uint64_t until)
{
    write_inputs(NURLS);
    crash_clear();
    crash_write_urls(crash_path("_kept"), NURLS, NURLS + NURLS / 100);
    struct crash_job kept = {.args = {kills.tool, "add", crash_path("s"), crash_path("_kept")}};
    (void)run_alone(kept);
    const double alone = run_alone(change_job("add"));
    for (bool is_removed = true; !enough(until); is_removed = !is_removed) {
        double time = alone;
        while (!run_and_kill(change_job(is_removed ? "remove" : "add"), time)) {
            time *= LONGER;
        }
        judge_churn(is_removed);
    }
}

/* ---- window ---------------------------------------------------------------------------------- */

static void kill_window(uint64_t until)
{
    struct stream s;
    stream_make(&s, NLINES, &kills.random);
    stream_write(&s, 0, stream_end(&s, 0));
    crash_clear();
    const double alone = run_alone(stream_job(kills.tool, crash_path("_lines")));
    while (!enough(until)) {
        uint32_t next = 0;
        double time = alone;
        crash_clear();
        for (bool ended = false; !ended && next != UINT32_MAX; time *= LONGER) {
            while (stream_removes(&s, next) && !run_and_kill(stream_remove_job(kills.tool), time)) {
            }
            const uint32_t end = stream_end(&s, next);
            stream_write(&s, next, end);
            ended = run_and_kill(stream_job(kills.tool, crash_path("_lines")), time) && end == s.n;
            (void)run_alone(stream_job(kills.tool, NULL));
            next = stream_next(&s);
        }
        const char *what = stream_is_whole(&s) ? stream_check_store(&s, kills.tool)
                                               : "the output is not what the window lets through";
        if (what) {
            wrong("window", what);
        }
        kills.ntrials++;
    }
    stream_free(&s);
}

static void kill_all(uint64_t cycles)
{
    if (!kills.plant || strcmp(kills.plant, "persist-first") != 0) {
        kill_file(cycles * 4 / 10);
    }
    if (!kills.plant || strcmp(kills.plant, "no-output-cut") != 0) {
        kill_pipe(cycles * 8 / 10);
    }
    if (!kills.plant) {
        kill_upkeep(cycles);
        kill_churn(2 * cycles);
        kill_window(2 * cycles + cycles / 2);
    }
}

int main(int argc, char **argv)
{
    crash_arguments(argc, argv, &kills.tool, &kills.shim, &kills.plant);
    kills.shim = kills.plant ? kills.shim : NULL;
    kills.seed = crash_setting("UNSEEN_CRASH_SEED", 1);
    kills.random = kills.seed;
    crash_tally_init(&kills.tally, NURLS);
    const uint64_t cycles = kills.plant ? CYCLES_PLANTED : crash_scaled(CYCLES_CI);
    const char *only = getenv("UNSEEN_CRASH_ONLY");
    if (only && strcmp(only, "window") == 0) {
        kill_window(cycles / 2);
    } else {
        kill_all(cycles);
    }
    printf(
        "seed %llu: killed %llu times in %llu trials of %u URLs; %llu lost; pipes repeated %llu, "
        "%llu at most after one kill; %llu failed\n",
        (unsigned long long)kills.seed, (unsigned long long)kills.nkills,
        (unsigned long long)kills.ntrials, (unsigned)NURLS, (unsigned long long)kills.nlost,
        (unsigned long long)kills.nrepeated, (unsigned long long)kills.most_repeated,
        (unsigned long long)kills.nwrong);
    return crash_status(kills.plant, kills.nwrong);
}
