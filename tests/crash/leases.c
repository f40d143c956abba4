/* SPDX-License-Identifier: MIT
 *
 * Leases and power cuts. A server answers requests about leases through two pipes, with the shim
 * recording what it does to the disk; some servers die in place of a sync, and the next one goes
 * on. Then the power is cut at every call, in every way that the model of the disk knows, and a
 * server is started on what is left. The power is cut in some of these second runs, too.
 *
 * A URL whose lease was answered is in the store or is handed out again; if it was done and an F
 * was answered behind that, it is in the store and not handed out. No URL is handed out twice, or
 * without having been asked for.
 *
 * Then bits of the file of leases are turned over, it is cut short, and reads of it fail: all
 * leases are handed out, or the server refuses to start, and `repair` brings back all but those of
 * the damaged record. And the store is served under other names, moved and copied with the file and
 * without it.
 *
 *     crash_leases TOOL SHIM [PLANT]
 *
 * With the name of a plant (shim.c) the recorded servers have that fault, and it must be
 * noticed. */
#include "crash.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

enum {
    NURLS = 64,
    LONG_URL = 60000,
    DRAWN = 6,   /* states at each call, beside those of the policies */
    BEHIND = 60, /* calls after the swap, to be cut after */
    SLOW = 20000,
    SECOND_EVERY = 40,
    SECOND_DRAWN = 3,
    STATES_MAX = 16384,
    NLEASED = 10, /* URLs in a file that is damaged, */
    NDONE = 2,    /* of these done */
    FLIPS = 60,   /* bytes with a bit turned over */
    READS = 4,    /* that fail, at most */
    HEADS = 96,   /* bytes before the first record */
    FAILURES_SHOWN = 10,
    STEPS_MAX = 24
};

/* What servers are asked, one step after the other. */
enum step_kind {
    STEP_END, /* of the steps */
    STEP_LEASE,
    STEP_DONE,
    STEP_GIVE_BACK,
    STEP_FLUSH,
    STEP_HAND_OUT, /* all there are */
    STEP_CLOSE,    /* the server ends */
    STEP_DIE       /* the server dies of its fault, if it has not yet */
};

struct step {
    enum step_kind kind;
    unsigned from; /* URLs from..from+n-1, all asked for before the first answer is read */
    unsigned n;
    const char *fault; /* of the server that is started with this step */
};

struct workload {
    const char *name;
    unsigned nlong; /* so many of the URLs are long */
    bool is_swap;   /* the power is cut only while the file is written anew */
    struct step steps[STEPS_MAX];
};

static const struct workload workloads[] = {
    {"leases",
     0,
     false,
     {{STEP_LEASE, 0, 1, NULL},
      {STEP_LEASE, 1, 12, NULL},
      {STEP_DONE, 0, 4, NULL},
      {STEP_FLUSH, 0, 0, NULL},
      {STEP_GIVE_BACK, 4, 4, NULL},
      {STEP_HAND_OUT, 0, 0, NULL},
      {STEP_DONE, 6, 2, NULL},
      {STEP_LEASE, 20, 3, NULL},
      {STEP_FLUSH, 0, 0, NULL},
      {STEP_CLOSE, 0, 0, NULL},
      {STEP_HAND_OUT, 0, 0, NULL},
      {STEP_LEASE, 30, 2, NULL},
      {STEP_CLOSE, 0, 0, NULL}}},
    {"a server that dies before its file has a head",
     0,
     false,
     {{STEP_LEASE, 0, 1, "fdatasync s.leases.new 1:DIE"},
      {STEP_DIE, 0, 0, NULL},
      {STEP_LEASE, 1, 3, NULL},
      {STEP_DONE, 1, 1, NULL},
      {STEP_FLUSH, 0, 0, NULL},
      {STEP_CLOSE, 0, 0, NULL}}},
    {"a server that dies before the name is on the disk",
     0,
     false,
     {{STEP_LEASE, 0, 1, "fsync . 2:DIE"},
      {STEP_DIE, 0, 0, NULL},
      {STEP_LEASE, 1, 3, NULL},
      {STEP_CLOSE, 0, 0, NULL}}},
    {"a server that dies before a lease is synced",
     0,
     false,
     {{STEP_LEASE, 0, 2, "fdatasync s.leases.new 4:DIE"},
      {STEP_LEASE, 2, 8, NULL},
      {STEP_DIE, 0, 0, NULL},
      {STEP_HAND_OUT, 0, 0, NULL},
      {STEP_CLOSE, 0, 0, NULL}}},
    {"a file that is written anew",
     24,
     true,
     {{STEP_LEASE, 0, 24, NULL},
      {STEP_DONE, 0, 23, NULL},
      {STEP_FLUSH, 0, 0, NULL},
      {STEP_LEASE, 30, 8, NULL},
      {STEP_LEASE, 40, 1, NULL},
      {STEP_DONE, 30, 4, NULL},
      {STEP_FLUSH, 0, 0, NULL},
      {STEP_LEASE, 41, 3, NULL},
      {STEP_CLOSE, 0, 0, NULL}}},
};

/* What became of a URL, and when: so many marks stand in the trace before it. */
struct url {
    char *text;
    char token[64];
    bool is_done;
    unsigned asked; /* UINT_MAX: never */
    unsigned leased;
    unsigned safe; /* done, and an F behind that */
};

static struct {
    const char *tool;
    const char *shim;
    const char *plant;
    const char *workload;
    unsigned slow; /* microseconds that are added to each sync */
    uint64_t random;
    struct url urls[NURLS];
    unsigned nmarks;
    uint64_t seen[STATES_MAX];
    size_t nseen;
    uint64_t ncuts;
    uint64_t nsecond;
    uint64_t nhanded;
    uint64_t nflips;
    uint64_t nwrong;
} all;

static void wrong(const char *what, const char *detail)
{
    if (all.nwrong++ < FAILURES_SHOWN && !all.plant) {
        fprintf(stderr, "%s, cut %llu: %s: %.80s\n", all.workload, (unsigned long long)all.ncuts,
                what, detail);
    }
}

/* ---- A server -------------------------------------------------------------------------------- */

struct session {
    pid_t pid;
    FILE *requests;
    FILE *answers;
    bool is_recorded;
};

static void start_at(struct session *s, const char *path, bool is_recorded, const char *fault)
{
    char trace[CRASH_PATH_MAX];
    char plant[64];
    char strike[128];
    char slow[64];
    int in[2];
    int out[2];
    crash_require(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe2");
    struct crash_job job = {
        .args = {all.tool, "serve", "--wait=0", path}, .in_fd = in[0], .out_fd = out[1]};
    snprintf(trace, sizeof(trace), "UNSEEN_CRASH_TRACE=%s", crash_path("_trace"));
    snprintf(plant, sizeof(plant), "UNSEEN_CRASH_PLANT=%s", all.plant ? all.plant : "none");
    snprintf(strike, sizeof(strike), "UNSEEN_CRASH_FAULT=%s", fault ? fault : "");
    snprintf(slow, sizeof(slow), "UNSEEN_CRASH_SLOW=%u", all.slow);
    if (is_recorded || fault || all.plant) {
        job.shim = all.shim;
        job.env[0] = plant;
        job.env[1] = slow;
        job.env[2] = strike;
        job.env[3] = is_recorded ? trace : NULL;
    }
    *s = (struct session){.pid = crash_start(&job), .is_recorded = is_recorded};
    crash_require(close(in[0]) == 0 && close(out[1]) == 0, "close");
    s->requests = fdopen(in[1], "w");
    s->answers = fdopen(out[0], "r");
    crash_require(s->requests && s->answers, "fdopen");
}

static void start(struct session *s, bool is_recorded, const char *fault)
{
    start_at(s, crash_path("s"), is_recorded, fault);
}

/* The exit status, when nothing more is asked. */
static int stop(struct session *s)
{
    (void)fclose(s->requests); /* the server may be gone */
    while (getc(s->answers) != EOF) {
    }
    crash_require(fclose(s->answers) == 0, "fclose");
    *s = (struct session){.pid = s->pid};
    return crash_wait(s->pid);
}

/* The next answer without its newline, valid until the next call; NULL at the end. */
static char *hear(struct session *s)
{
    static char *line;
    static size_t cap;
    const ssize_t n = getline(&line, &cap, s->answers);
    if (n <= 0 || line[n - 1] != '\n') {
        return NULL;
    }
    line[n - 1] = '\0';
    return line;
}

/* An answer has been read: the trace says so, from now on. */
static void mark(const struct session *s)
{
    const struct trace_op op = {.kind = TRACE_MARK, .at = ++all.nmarks};
    if (s->is_recorded) {
        crash_append(crash_path("_trace"), &op, sizeof(op));
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

static struct url *find_url(const char *text)
{
    for (unsigned i = 0; i < NURLS; i++) {
        if (strcmp(all.urls[i].text, text) == 0) {
            return &all.urls[i];
        }
    }
    return NULL;
}

static void hold(struct url *url, const char *token)
{
    snprintf(url->token, sizeof(url->token), "%.60s", token);
    url->leased = url->leased < all.nmarks ? url->leased : all.nmarks;
}

static void write_request(const struct session *s, const struct step *step, struct url *url)
{
    if (step->kind == STEP_LEASE) {
        url->asked = url->asked < all.nmarks ? url->asked : all.nmarks;
        fprintf(s->requests, "L 1000 %s\n", url->text);
    } else {
        fprintf(s->requests, "%c %s\n", step->kind == STEP_DONE ? 'D' : 'G', url->token);
    }
}

/* Takes an answer. False if it is not the one that must come. */
static bool take_answer(const struct session *s, const struct step *step, struct url *url,
                        const char *answer)
{
    mark(s);
    if (step->kind == STEP_LEASE) {
        hold(url, answer + (*answer == '1' ? 2 : 0));
        return *answer == '1' || strcmp(answer, "leased") == 0;
    }
    url->is_done = url->is_done || step->kind == STEP_DONE;
    return strcmp(answer, "OK") == 0;
}

/* All requests of a step, then their answers as far as they come. */
static void ask_for_urls(struct session *s, const struct step *step)
{
    for (unsigned i = step->from; i < step->from + step->n; i++) {
        write_request(s, step, &all.urls[i]);
    }
    (void)fflush(s->requests); /* the server may be gone */
    for (unsigned i = step->from; i < step->from + step->n; i++) {
        const char *answer = hear(s);
        if (!answer) {
            return;
        }
        if (!take_answer(s, step, &all.urls[i], answer)) {
            crash_die("%s: an answer: %s", all.workload, answer);
        }
    }
}

static void flush(struct session *s)
{
    fputs("F\n", s->requests);
    (void)fflush(s->requests);
    const char *answer = hear(s);
    crash_require(answer && strcmp(answer, "OK") == 0, "an answer to F");
    mark(s);
    for (unsigned i = 0; i < NURLS; i++) {
        struct url *url = &all.urls[i];
        url->safe = url->is_done && url->safe == UINT_MAX ? all.nmarks : url->safe;
    }
}

/* Hands out one URL. False if there is none, or no answer. */
static bool hand_out(struct session *s, struct url **url_out)
{
    fputs("X 1 1000\n", s->requests);
    (void)fflush(s->requests);
    const char *answer = hear(s);
    *url_out = NULL;
    if (!answer || strcmp(answer, "1") != 0) {
        if (!answer || strcmp(answer, "0") != 0) {
            wrong("no URLs are handed out", answer ? answer : crash_messages());
        }
        return false;
    }
    char *line = hear(s);
    char *space = line ? strchr(line, ' ') : NULL;
    crash_require(space != NULL, "a URL that is handed out");
    *space = '\0';
    *url_out = find_url(space + 1);
    if (*url_out) {
        mark(s);
        hold(*url_out, line);
    } else {
        wrong("a URL that nobody asked for is handed out", space + 1);
    }
    return true;
}

static void run_step(struct session *s, const struct step *step)
{
    struct url *url;
    switch (step->kind) {
    case STEP_FLUSH:
        flush(s);
        break;
    case STEP_HAND_OUT:
        while (hand_out(s, &url)) {
        }
        break;
    case STEP_CLOSE:
        crash_require(stop(s) == 0, "a server that ends well");
        break;
    case STEP_DIE:
        crash_require(stop(s) == 128 + SIGKILL, "a server that dies");
        break;
    default:
        ask_for_urls(s, step);
    }
}

/* ---- What must hold -------------------------------------------------------------------------- */

/* Whether the server has each URL in the store. */
static bool ask_all(struct session *s, bool is_stored[NURLS])
{
    fprintf(s->requests, "B %d C\n", NURLS);
    for (unsigned i = 0; i < NURLS; i++) {
        fprintf(s->requests, "%s\n", all.urls[i].text);
    }
    (void)fflush(s->requests);
    const char *marks = hear(s) ? hear(s) : NULL; /* behind the greeting */
    if (!marks || strlen(marks) != NURLS) {
        wrong("no answer", crash_messages());
        return false;
    }
    for (unsigned i = 0; i < NURLS; i++) {
        is_stored[i] = marks[i] == '1';
    }
    return true;
}

/* Looks at what is left of a run when `now` marks had been set. */
static void judge(unsigned now, bool is_recorded)
{
    bool is_stored[NURLS] = {false};
    bool is_handed[NURLS] = {false};
    struct url *url;
    struct session s;
    start(&s, is_recorded, NULL);
    unsigned leased[NURLS];
    for (unsigned i = 0; i < NURLS; i++) {
        leased[i] = all.urls[i].leased;
    }
    if (ask_all(&s, is_stored)) {
        while (hand_out(&s, &url) && url) {
            if (is_handed[url - all.urls]) {
                wrong("a URL is handed out twice", url->text);
                break;
            }
            is_handed[url - all.urls] = true;
            all.nhanded++;
        }
    }
    if (stop(&s) != 0) {
        wrong("the server does not end well", crash_messages());
    }
    for (unsigned i = 0; i < NURLS; i++) {
        const struct url *u = &all.urls[i];
        if (leased[i] <= now && !is_stored[i] && !is_handed[i]) {
            wrong("a URL that was leased is lost", u->text);
        }
        if (u->safe <= now && (!is_stored[i] || is_handed[i])) {
            wrong(is_handed[i] ? "a URL that is done is handed out" : "a URL that is done is lost",
                  u->text);
        }
        if (u->asked > now && (is_stored[i] || is_handed[i])) {
            wrong("a URL is there before it was asked for", u->text);
        }
    }
}

/* ---- Power cuts ------------------------------------------------------------------------------ */

static bool is_known(const struct disk_state *state, unsigned now)
{
    const uint64_t hash = disk_state_hash(state) + now;
    for (size_t i = 0; i < all.nseen; i++) {
        if (all.seen[i] == hash) {
            return true;
        }
    }
    if (all.nseen < STATES_MAX) {
        all.seen[all.nseen++] = hash;
    }
    return false;
}

struct window {
    unsigned nopened;
    unsigned nbehind;
    bool is_behind;
};

static void cut_all(struct record *record, bool is_swap, uint64_t npolicies, bool is_second);

/* Cuts the power in the run that looks at a state. */
static void cut_second(const struct disk_state *state, unsigned now)
{
    struct url before[NURLS];
    const unsigned nmarks = all.nmarks;
    struct record record;
    memcpy(before, all.urls, sizeof(before));
    for (unsigned i = 0; i < NURLS; i++) {
        struct url *u = &all.urls[i];
        u->leased = u->leased <= now ? 0 : UINT_MAX;
        u->safe = u->safe <= now ? 0 : UINT_MAX;
        u->asked = u->asked <= now ? 0 : UINT_MAX;
    }
    all.nmarks = 0;
    disk_state_write(state);
    disk_state_copy(state, &record.base);
    judge(0, true);
    record_load(&record);
    record_check(&record);
    all.nsecond++;
    cut_all(&record, false, DISK_NPOLICIES + SECOND_DRAWN, true);
    record_free(&record);
    memcpy(all.urls, before, sizeof(before));
    all.nmarks = nmarks;
}

/* Whether calls up to op are to be cut after: all, or from the second opening of the new file, the
 * first having made the file, to a few calls behind its rename. */
static bool is_wanted(bool is_swap, const struct trace_op *op, struct window *w)
{
    static const char name[] = "s.leases.new";
    const bool is_new = op->name_len == sizeof(name) - 1 && memcmp(op + 1, name, op->name_len) == 0;
    w->nopened += is_new && op->kind == TRACE_OPEN;
    w->is_behind = w->is_behind || (w->nopened > 1 && is_new && op->kind == TRACE_RENAME);
    w->nbehind += w->is_behind;
    return !is_swap || (w->nopened > 1 && w->nbehind <= BEHIND);
}

static void cut_all(struct record *record, bool is_swap, uint64_t npolicies, bool is_second)
{
    struct disk *disk = disk_create(&record->base);
    unsigned now = 0;
    struct window window = {0};
    for (size_t i = 0; i < record->n && !(all.plant && all.nwrong > 0); i++) {
        disk_apply(disk, record->ops[i]);
        now += record->ops[i]->kind == TRACE_MARK;
        const bool cuts = is_wanted(is_swap, record->ops[i], &window);
        for (unsigned policy = 0; cuts && policy < npolicies; policy++) {
            struct disk_state state;
            disk_cut(disk, policy, &all.random, &state);
            if (!is_known(&state, now)) {
                struct url before[NURLS];
                memcpy(before, all.urls, sizeof(before));
                const unsigned nmarks = all.nmarks;
                all.ncuts++;
                disk_state_write(&state);
                judge(now, false);
                memcpy(all.urls, before, sizeof(before));
                all.nmarks = nmarks;
                if (!is_second && !is_swap && all.ncuts % SECOND_EVERY == 0) {
                    cut_second(&state, now);
                }
            }
            disk_state_free(&state);
        }
    }
    disk_free(disk);
}

/* ---- Workloads ------------------------------------------------------------------------------- */

static void make_urls(unsigned nlong)
{
    for (unsigned i = 0; i < NURLS; i++) {
        const size_t size = i < nlong ? LONG_URL : 120;
        struct url *u = &all.urls[i];
        free(u->text);
        *u = (struct url){
            .text = malloc(size), .asked = UINT_MAX, .leased = UINT_MAX, .safe = UINT_MAX};
        crash_require(u->text != NULL, "malloc");
        const int len = snprintf(u->text, size, "http://e.example/%u/", i);
        memset(u->text + len, 'x', size - (size_t)len);
        u->text[i < nlong ? size - 1 : (size_t)len + 3 * i % 90] = '\0';
    }
}

static void test_workload(const struct workload *w)
{
    struct record record;
    struct session s = {0};
    all.workload = w->name;
    all.slow = w->is_swap ? SLOW : 0; /* so that leases come while the new file is synced */
    all.nmarks = 0;
    all.nseen = 0;
    make_urls(w->nlong);
    crash_clear();
    const struct crash_job make = {
        .args = {all.tool, "add", "--seed", "7", crash_path("s"), "/dev/null"}};
    crash_require(crash_run(&make) == 0, "a store");
    disk_state_read(&record.base);
    for (const struct step *step = w->steps; step->kind != STEP_END; step++) {
        if (!s.requests) {
            start(&s, true, step->fault);
            crash_require(hear(&s) != NULL, "a greeting");
        }
        run_step(&s, step);
    }
    record_load(&record);
    record_check(&record);
    cut_all(&record, w->is_swap, DISK_NPOLICIES + crash_scaled(DRAWN), false);
    record_free(&record);
}

/* ---- Files that are damaged, or elsewhere ---------------------------------------------------- */

static struct files {
    char *log;
    size_t log_len;
    char *leases;
    size_t leases_len;
} files;

/* Makes a store of which the server was killed when it had answered leases, and keeps its files. */
static void make_leased(void)
{
    const struct step steps[] = {{STEP_LEASE, 0, NLEASED - 1, NULL},
                                 {STEP_DONE, 0, NDONE, NULL},
                                 {STEP_FLUSH, 0, 0, NULL},
                                 {STEP_LEASE, NLEASED - 1, 1, NULL}};
    struct session s;
    const struct crash_job make = {
        .args = {all.tool, "add", "--seed", "7", crash_path("s"), "/dev/null"}};
    free(files.log);
    free(files.leases);
    crash_clear();
    make_urls(0);
    crash_require(crash_run(&make) == 0, "a store");
    start(&s, false, NULL);
    crash_require(hear(&s) != NULL, "a greeting");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        run_step(&s, &steps[i]);
    }
    crash_require(kill(s.pid, SIGKILL) == 0 && stop(&s) == 128 + SIGKILL, "kill");
    files.log = crash_read(crash_path("s"), &files.log_len);
    files.leases = crash_read(crash_path("s.leases"), &files.leases_len);
    crash_require(files.log && files.leases, "the files of a killed server");
}

static void write_files(const char *store, const char *leases)
{
    crash_clear();
    crash_write(crash_path(store), files.log, files.log_len);
    if (leases) {
        crash_write(crash_path(leases), files.leases, files.leases_len);
        crash_require(chmod(crash_path(leases), 0600) == 0, "chmod");
    }
}

/* Lets a server hand out all that it has. False if it refuses to start. */
static bool serve_all(const char *store, const char *fault, bool is_handed[NURLS])
{
    struct session s;
    struct url *url;
    memset(is_handed, 0, NURLS * sizeof(is_handed[0]));
    start_at(&s, crash_path(store), false, fault);
    if (!hear(&s)) {
        if (stop(&s) != 2 || !strstr(crash_messages(), "s.leases")) {
            wrong("a refusal without the name of the file", crash_messages());
        }
        return false;
    }
    while (hand_out(&s, &url) && url) {
        is_handed[url - all.urls] = true;
    }
    if (stop(&s) != 0) {
        wrong("the server does not end well", crash_messages());
    }
    return true;
}

/* Checks that what must be handed out was; not the URL of the record that has the byte at. */
static void judge_handed(const char *what, const bool is_handed[NURLS], size_t at)
{
    for (unsigned i = 0; i < NURLS; i++) {
        const size_t len = strlen(all.urls[i].text);
        const char *text = memmem(files.leases, files.leases_len, all.urls[i].text, len);
        const size_t begin = text ? (size_t)(text - files.leases) : 0;
        const bool is_hit = text && at + 28 >= begin && at < begin + len;
        if (is_handed[i] != (i >= NDONE && i < NLEASED) && !is_hit) {
            wrong(what, all.urls[i].text);
        }
    }
}

static void verify_and_repair(void)
{
    const struct crash_job verify = {.args = {all.tool, "verify", crash_path("s")}};
    const struct crash_job repair = {.args = {all.tool, "repair", crash_path("s")}};
    if (crash_run(&verify) != 1) {
        wrong("verify does not find it", crash_messages());
    }
    if (crash_run(&repair) != 0) {
        wrong("repair fails", crash_messages());
    }
}

static void test_damage(void)
{
    bool is_handed[NURLS];
    const size_t step = 1 + files.leases_len / crash_scaled(FLIPS);
    for (size_t at = 0; at < files.leases_len; at += step) {
        files.leases[at] ^= (char)(1 << at % 8);
        write_files("s", "s.leases");
        files.leases[at] ^= (char)(1 << at % 8);
        all.nflips++;
        if (serve_all("s", NULL, is_handed)) {
            judge_handed("a lease is lost without a word", is_handed, SIZE_MAX / 2);
            continue;
        }
        verify_and_repair();
        if (serve_all("s", NULL, is_handed)) {
            judge_handed("a lease is lost in the repair", is_handed, at);
        } else {
            wrong("refused after the repair", crash_messages());
        }
    }
    for (unsigned n = 1; n <= READS; n++) {
        char fault[64];
        size_t len = 0;
        snprintf(fault, sizeof(fault), "pread s.leases %u:EIO", n);
        write_files("s", "s.leases");
        if (serve_all("s", fault, is_handed)) {
            judge_handed("a read that fails loses a lease", is_handed, SIZE_MAX / 2);
            continue;
        }
        if (!strstr(crash_messages(), "Input/output error")) {
            wrong("an error of reading is taken for something else", crash_messages());
        }
        char *now = crash_read(crash_path("s.leases"), &len);
        if (!now || len != files.leases_len || memcmp(now, files.leases, len) != 0) {
            wrong("a file that could not be read was written", fault);
        }
        free(now);
    }
}

/* A file that is cut short, so that an answered lease is missing, is not a torn end. */
static void test_cuts(void)
{
    bool is_handed[NURLS];
    const size_t whole = files.leases_len;
    const size_t step = 1 + whole / crash_scaled(FLIPS);
    for (size_t cut = 1; cut < whole; cut += step) {
        files.leases_len = whole - cut;
        write_files("s", "s.leases");
        files.leases_len = whole;
        all.nflips++;
        if (serve_all("s", NULL, is_handed)) {
            judge_handed("a lease is cut off without a word", is_handed, SIZE_MAX / 2);
        } else if (whole - cut >= HEADS) {
            verify_and_repair();
            if (!serve_all("s", NULL, is_handed)) {
                wrong("refused after the repair of a cut", crash_messages());
            }
        }
    }
}

/* A repair that is killed, and the next one. */
static void test_killed_repair(void)
{
    static const char *const faults[] = {"fdatasync s.leases.new 1:DIE", "link s.leases 1:DIE",
                                         "rename s.leases.new 1:DIE", "fsync . 2:DIE"};
    bool is_handed[NURLS];
    const size_t at = HEADS + 10; /* in the first record */
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        char fault[64];
        snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%s", faults[i]);
        const struct crash_job job = {
            .args = {all.tool, "repair", crash_path("s")}, .env = {fault}, .shim = all.shim};
        files.leases[at] ^= 1;
        write_files("s", "s.leases");
        files.leases[at] ^= 1;
        if (crash_run(&job) != 128 + SIGKILL) {
            wrong("the repair was not killed", faults[i]);
        }
        const struct crash_job again = {.args = {all.tool, "repair", crash_path("s")}};
        if (crash_run(&again) != 0 || !serve_all("s", NULL, is_handed)) {
            wrong("refused after the second repair", crash_messages());
        } else {
            judge_handed("a lease is lost in the second repair", is_handed, at);
        }
    }
}

static void expect_all(const char *what, const char *store)
{
    bool is_handed[NURLS];
    if (serve_all(store, NULL, is_handed)) {
        judge_handed(what, is_handed, SIZE_MAX / 2);
    } else {
        wrong(what, crash_messages());
    }
}

static void expect_refusal(const char *what, const char *store)
{
    bool is_handed[NURLS];
    if (serve_all(store, NULL, is_handed)) {
        wrong(what, "");
    }
}

/* Two servers, by two names of one store. */
static void test_exclusion(const char *name)
{
    struct session first;
    struct session second;
    start(&first, false, NULL);
    crash_require(hear(&first) != NULL, "a greeting");
    start_at(&second, crash_path(name), false, NULL);
    const bool both = hear(&second) != NULL;
    if (stop(&second) == 0 || both || !strstr(crash_messages(), "is being written to")) {
        wrong("two servers of one store", name);
    }
    crash_require(stop(&first) == 0, "a server that ends well");
}

/* A store with leases beside it, and another name of the store. */
static void write_named(int (*make)(const char *, const char *), const char *name)
{
    write_files("s", "s.leases");
    crash_require(make(crash_path("s"), crash_path(name)) == 0, "link");
}

static void test_names(void)
{
    write_named(symlink, "link");
    test_exclusion("link");
    write_named(symlink, "link");
    expect_all("through a symbolic link", "link");
    write_named(link, "hards");
    test_exclusion("hards");
    write_named(link, "hards");
    expect_refusal("by a name beside which there are no leases", "hards");
    expect_all("by the first name", "s");
    write_files("moveds", NULL);
    expect_refusal("a store that was moved alone", "moveds");
    write_files("moveds", "moveds.leases");
    expect_all("a store that was moved with its leases", "moveds");
}

/* A store that has the same seed, and takes the place of the store. */
static void test_other(void)
{
    struct session s;
    size_t len = 0;
    const struct crash_job make = {
        .args = {all.tool, "add", "--seed", "7", crash_path("s"), "/dev/null"}};
    write_files("s", "s.leases");
    crash_require(unlink(crash_path("s")) == 0 && crash_run(&make) == 0, "another store");
    start(&s, false, NULL);
    crash_require(hear(&s) != NULL, "a greeting");
    fputs("X 10 60\n", s.requests);
    (void)fflush(s.requests);
    const char *answer = hear(&s);
    if (!answer || *answer != 'E' || !strstr(crash_messages(), "of another store")) {
        wrong("the leases of another store", answer ? answer : "");
    }
    crash_require(stop(&s) == 0, "a server that ends well");
    char *now = crash_read(crash_path("s.leases"), &len);
    if (!now || len != files.leases_len || memcmp(now, files.leases, len) != 0) {
        wrong("the leases of another store were written", "");
    }
    free(now);
}

int main(int argc, char **argv)
{
    crash_arguments(argc, argv, &all.tool, &all.shim, &all.plant);
    all.random = crash_setting("UNSEEN_CRASH_SEED", 1);
    (void)signal(SIGPIPE, SIG_IGN);
    all.workload = "damage and names";
    make_leased();
    test_damage();
    test_cuts();
    test_killed_repair();
    test_names();
    test_other();
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
        if (!(all.plant && all.nwrong > 0)) {
            test_workload(&workloads[i]);
        }
    }
    printf("%llu power cuts, %llu second runs cut, %llu URLs handed out, %llu flips; %llu failed\n",
           (unsigned long long)all.ncuts, (unsigned long long)all.nsecond,
           (unsigned long long)all.nhanded, (unsigned long long)all.nflips,
           (unsigned long long)all.nwrong);
    return crash_status(all.plant, all.nwrong);
}
