/* SPDX-License-Identifier: MIT
 *
 * Each sync by itself. A scenario is some runs of the tool, recorded with the shim; a run may be
 * killed, or a sync of it fail. Then the power is cut after each call, in every way that the model
 * of the disk knows (disk.h), and what is left must keep the promise.
 *
 * Then each sync of the recording is left out, one at a time: the same calls, as if that sync had
 * done nothing. Now one of the states after it must break the promise, or the harness is blind for
 * that sync, and the sync could be missing from the code without any test noticing. A sync that
 * comes late does as much harm as the one that is left out, up to the call at which it comes; so
 * the harness also says how many calls may be made before the harm is done. Syncs that no state
 * shows are listed below with the reason; one of these that is noticed is an error of the list.
 * They are looked at in the long run only (UNSEEN_CRASH_SCALE above 1), as it takes all states to
 * see nothing.
 *
 *     crash_syncs TOOL SHIM [PLANT]
 *
 * With the name of a plant (shim.c) the recorded runs have that fault, and it must be noticed. */
#include "crash.h"

#include <signal.h>
#include <unistd.h>

#include "record.h"
#include "stream.h"

enum {
    STEPS_MAX = 3,
    NURLS = 300,
    NLINES = 4000,                  /* with times */
    NPOLICIES = DISK_NPOLICIES + 6, /* with some drawn at random */
    SEEN_CAP = 1 << 16,
    REWRITE_MAX = 1 << 16, /* bytes of a log that has rewritten itself */
    SHOWN = 10
};

enum kind {
    OUTPUT,   /* dedup with -o */
    STANDARD, /* dedup, standard output appended to a file */
    ADD,
    ADD_NO_LOG,
    REMOVE, /* the last URLs of crash_dead_begin */
    MERGE,  /* into a store that does not exist, or that the killed run has made */
    MERGE_INTO,
    MERGE_YEAR, /* by time, into a store that does not exist: no key leaves in a year */
    REWRITE,
    REPAIR,
    UPDATE, /* of a list */
    PARTS,  /* OUTPUT, of a store with a limit of memory, which sweeps itself */
    WINDOW, /* the last run of the stream */
    FOREIGN /* somebody appends lines to the output and syncs nothing */
};

struct step {
    enum kind kind;
    uint32_t end;      /* its input is the URLs before this */
    const char *fault; /* UNSEEN_CRASH_FAULT; NULL: the run ends with success */
};

struct scenario {
    const char *name;
    void (*prepare)(void);
    struct step steps[STEPS_MAX]; /* end 0: no more */
    bool has_others;              /* crash_prefill's URLs are in the store */
    bool has_foreign;             /* lines of somebody else are in the output */
    bool is_damaged;              /* before a repair has ended */
    uint32_t until;               /* 0, or: not all URLs are in the input, but only those before */
    uint32_t first;               /* URLs before this one need not be there */
    uint32_t filled;              /* URLs before this one are in the store from the start */
    bool is_closed;        /* the first run closes the output, so that nothing is cut later */
    const char *redundant; /* "step/file ordinal letter, ...": syncs, and a letter of a reason */
    bool is_elsewhere;     /* the store, which no cut reaches: only the end is looked at */
    unsigned every;        /* the log is long: only each so many-th policy */
};

/* Why no state after a power cut shows that a sync was left out. */
static const struct reason {
    char letter;
    const char *text;
} reasons[] = {
    {'a', "redundant: the folder is synced once more when the store or the output is opened"},
    {'b', "redundant here: there is nothing that the run before has not synced"},
    {'c', "redundant here: the last commit has synced the output"},
    {'d', "redundant here: nobody has appended to the output after it was closed in order"},
    {'e', "redundant here: the log has all that the image has"},
    {'g', "redundant here: the mark only tells that an image was removed by hand"},
    {'h', "redundant here: a later sync of the same run does it"},
    {'i', "redundant here: all that is cut off is new again"},
    {'j', "redundant here: the new log, which takes the name, is synced by itself"},
    {'k', "redundant here: the other copy of the header is on the disk"},
};

static struct {
    const char *tool;
    const char *shim;
    const char *plant;
    const struct scenario *scenario;
    struct record record;
    struct disk_state final;
    struct crash_tally tally;
    struct crash_tally before;
    struct disk_state prefilled;
    struct stream stream;
    uint32_t first_line; /* of the last run */
    uint64_t random;
    uint64_t good[SEEN_CAP]; /* hashes of states that have been judged and are right */
    uint64_t nstates;
    uint64_t nwrong;
    uint64_t nsyncs;
    uint64_t nredundant;
} syncs;

/* ---- Runs ------------------------------------------------------------------------------------ */

static const char *step_input(uint32_t end)
{
    char name[32];
    snprintf(name, sizeof(name), "_in%u", (unsigned)end);
    const char *path = crash_path(name);
    if (!crash_exists(path)) {
        crash_write_urls(path, 0, end);
    }
    return path;
}

/* Where the shim does not look: as if the store were on a disk of its own. */
static const char *elsewhere(const char *suffix)
{
    static char paths[2][CRASH_PATH_MAX];
    char *path = paths[suffix[0] != '\0'];
    snprintf(path, CRASH_PATH_MAX, "%s-store%s", crash_folder(), suffix);
    return path;
}

static void remove_elsewhere(void)
{
    (void)unlink(elsewhere(""));
    (void)unlink(elsewhere(".kept"));
}

static const char *store_path(void)
{
    return syncs.scenario && syncs.scenario->is_elsewhere ? elsewhere("") : crash_path("s");
}

static void require_run(const struct crash_job *job)
{
    const int status = crash_run(job);
    if (status != 0) {
        crash_die("%s: a run without faults ends with status %d: %s", syncs.scenario->name, status,
                  crash_messages());
    }
}

/* A store that has the input of a step. */
static const char *merged_store(uint32_t end)
{
    char name[32];
    snprintf(name, sizeof(name), "_store%u", (unsigned)end);
    const char *path = crash_path(name);
    if (!crash_exists(path)) {
        const struct crash_job add = {
            .args = {syncs.tool, "add", "--seed", "7", path, step_input(end)}};
        require_run(&add);
    }
    return path;
}

/* Two stores, so that a merge that is no draft is several commits. */
static struct crash_job merge_job(const struct step *step)
{
    static char stores[2][CRASH_PATH_MAX]; /* crash_path forgets */
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(stores[i], sizeof(stores[i]), "%s", merged_store(step->end - 100 + 100 * i));
    }
    const char *s = crash_path("s");
    const char *window = step->kind == MERGE_YEAR ? "--window=1y" : NULL;
    if (step->kind == MERGE_INTO || crash_exists(s)) {
        return (struct crash_job){
            .args = {syncs.tool, "merge", "--into", s, stores[0], stores[1], window}};
    }
    return (struct crash_job){.args = {syncs.tool, "merge", s, stores[0], stores[1], window}};
}

static struct crash_job window_job(void)
{
    size_t i = 0;
    stream_write(&syncs.stream, syncs.first_line, syncs.stream.n);
    struct crash_job job = stream_job(syncs.tool, crash_path("_lines"));
    while (job.args[i]) {
        i++;
    }
    job.args[i] = "-j1";
    return job;
}

static struct crash_job step_job(const struct step *step)
{
    const char *store = store_path();
    const char *in = step_input(step->end);
    switch (step->kind) {
    case OUTPUT:
        return (struct crash_job){.args = {syncs.tool, "-j", "1", "--seed", "7", "-s", store, "-o",
                                           crash_path("out"), in}};
    case STANDARD:
        return (struct crash_job){.args = {syncs.tool, "-j", "1", "--seed", "7", "-s", store, in},
                                  .out = crash_path("out")};
    case ADD:
        return (struct crash_job){.args = {syncs.tool, "add", "-j", "1", "--seed", "7", store, in}};
    case ADD_NO_LOG:
        return (struct crash_job){
            .args = {syncs.tool, "add", "--no-log", "-j", "1", "--seed", "7", store, in}};
    case REMOVE:
        return (struct crash_job){
            .args = {syncs.tool, "remove", "-j", "1", store, crash_path("_dead_last")}};
    case MERGE:
    case MERGE_INTO:
    case MERGE_YEAR:
        return merge_job(step);
    case REWRITE:
        return (struct crash_job){.args = {syncs.tool, "rewrite", store}};
    case REPAIR:
        return (struct crash_job){.args = {syncs.tool, "repair", store}};
    case UPDATE:
        return (struct crash_job){.args = {syncs.tool, "update", store, "--add", in}};
    case PARTS:
        return crash_sweep_parts(in);
    case WINDOW:
        return window_job();
    default:
        return (struct crash_job){.args = {syncs.tool, "-p", "none", crash_path("_foreign")},
                                  .out = crash_path("out")};
    }
}

static void run_step(const struct step *step)
{
    const struct crash_job job = step_job(step);
    require_run(&job);
}

/* A run without a trace that has a fault. */
static void run_faulty(const struct step *step)
{
    char fault[96];
    struct crash_job job = step_job(step);
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%s", step->fault);
    job.shim = syncs.shim;
    job.env[0] = fault;
    if (crash_run(&job) == 0) {
        crash_die("%s: the fault %s does not come", syncs.scenario->name, step->fault);
    }
}

static void record_step(const struct step *step, unsigned number)
{
    char trace[CRASH_PATH_MAX];
    char plant[64];
    char fault[96];
    struct crash_job job = step_job(step);
    snprintf(trace, sizeof(trace), "UNSEEN_CRASH_TRACE=%s", crash_path("_trace"));
    snprintf(plant, sizeof(plant), "UNSEEN_CRASH_PLANT=%s", syncs.plant ? syncs.plant : "none");
    snprintf(fault, sizeof(fault), "UNSEEN_CRASH_FAULT=%s", step->fault ? step->fault : "0:EIO");
    job.shim = syncs.shim;
    job.env[0] = trace;
    job.env[1] = plant;
    job.env[2] = fault;
    /* So that the head moves at close, and not now and then earlier. */
    job.env[3] = step->kind == WINDOW ? "UNSEEN_CRASH_SLOW=50000" : NULL;
    const int status = crash_run(&job);
    if ((status == 0) != (step->fault == NULL)) {
        crash_die("%s, step %u ends with status %d: %s", syncs.scenario->name, number + 1, status,
                  crash_messages());
    }
    const struct trace_op op = {.kind = TRACE_MARK, .at = number, .value = status == 0};
    crash_append(crash_path("_trace"), &op, sizeof(op));
}

static void record_scenario(const struct scenario *s)
{
    crash_clear();
    remove_elsewhere();
    if (s->prepare) {
        s->prepare();
    }
    disk_state_read(&syncs.record.base);
    for (unsigned i = 0; i < STEPS_MAX && s->steps[i].end > 0; i++) {
        record_step(&s->steps[i], i);
    }
    record_load(&syncs.record);
    record_check(&syncs.record);
    disk_state_read(&syncs.final);
    if (s->is_elsewhere) {
        crash_require(rename(elsewhere(""), elsewhere(".kept")) == 0, "rename");
    }
}

/* ---- What scenarios begin with --------------------------------------------------------------- */

static void prefilled(void)
{
    disk_state_write(&syncs.prefilled);
}

static void filled(void)
{
    run_step(&(struct step){ADD, 150, NULL});
}

static void filled_output(void)
{
    run_step(&(struct step){OUTPUT, 150, NULL});
}

static void torn_output(void)
{
    filled_output();
    crash_append(crash_path("out"), "by hand", 7);
}

/* A store that sweeps itself in the next run. */
static void nearly_swept(void)
{
    const struct crash_job job = crash_fill_parts(step_input(100));
    require_run(&job);
}

/* A store with its image. */
static void with_image(void)
{
    prefilled();
    run_step(&(struct step){ADD, 250, NULL});
    crash_require(crash_exists(crash_path("s.image")), "s.image");
}

static void damage(uint64_t place)
{
    size_t len = 0;
    char *data = crash_read(crash_path("s"), &len);
    crash_require(data && len > place, "s");
    data[place] ^= 0x20;
    crash_write(crash_path("s"), data, len);
    free(data);
}

static void damaged_record(void)
{
    run_step(&(struct step){ADD, 100, NULL});
    run_step(&(struct step){ADD, 250, NULL});
    damage(16384 + 60);
}

static void damaged_header(void)
{
    filled();
    damage(100);
}

/* A run was killed with lines in the output that no record has, and somebody has written behind. */
static void longer_output(void)
{
    static const char foreign[] = "http://foreign.example/1\nhttp://foreign.example/2\n";
    run_step(&(struct step){OUTPUT, 100, NULL});
    run_faulty(&(struct step){OUTPUT, 200, "fdatasync out 2:DIE"});
    crash_append(crash_path("out"), foreign, sizeof(foreign) - 1);
}

/* A store that its next writer rewrites. */
static void mostly_dead_output(void)
{
    crash_dead_begin(syncs.tool);
    run_step(&(struct step){OUTPUT, 150, NULL});
    crash_dead_end(syncs.tool, syncs.shim);
}

/* A store that rewrites itself as soon as URLs are removed. */
static void to_be_dead(void)
{
    crash_dead_begin(syncs.tool);
    run_step(&(struct step){ADD, 150, NULL});
    crash_dead_most(syncs.tool);
}

static void before_hole(void)
{
    uint64_t random = 1;
    stream_make(&syncs.stream, NLINES, &random);
    syncs.first_line = stream_before_hole(&syncs.stream, syncs.tool);
}

static void a_list(void)
{
    const struct crash_job build = {.args = {syncs.tool, "build", "--seed", "7", "--fpr", "1e-9",
                                             crash_path("s"), step_input(100)}};
    require_run(&build);
}

/* ---- Judging a state ------------------------------------------------------------------------- */

/* Whether none of the lines of a file is missing from the store or list. */
static bool has_all(const char *path)
{
    struct crash_job check = {.args = {syncs.tool, "check", "-v", store_path(), path}};
    return crash_run(&check) == 1;
}

static bool has_none(const char *path)
{
    struct crash_job check = {.args = {syncs.tool, "check", store_path(), path}};
    return crash_run(&check) == 1;
}

static const char *done_urls(uint32_t first, uint32_t end)
{
    const char *path = crash_path("_done");
    crash_write_urls(path, first, end);
    return path;
}

static bool is_intact(void)
{
    struct crash_job verify = {.args = {syncs.tool, "verify", store_path()}};
    return crash_run(&verify) == 0;
}

static bool has_foreign_lines(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 2; i++) {
        size_t len = 0;
        char *text = crash_read(crash_path(i ? "out.cut" : "out"), &len);
        n |= text && memmem(text, len, "http://foreign.example/1\n", 25) ? 1u : 0u;
        n |= text && memmem(text, len, "http://foreign.example/2\n", 25) ? 2u : 0u;
        free(text);
    }
    return n == 3;
}

static bool has_foreign_step(const struct scenario *s)
{
    return s->steps[0].kind == FOREIGN || s->steps[1].kind == FOREIGN;
}

/* The file of that name is as it is at the end of the recording. */
static bool is_final(const struct disk_state *state, const char *name)
{
    const struct disk_bytes *found[2] = {NULL, NULL};
    for (unsigned k = 0; k < 2; k++) {
        const struct disk_state *in = k ? state : &syncs.final;
        for (size_t i = 0; i < in->n; i++) {
            if (strcmp(in->files[i].name, name) == 0) {
                found[k] = &in->files[i].bytes;
            }
        }
    }
    return found[0] && found[1] && found[0]->len == found[1]->len &&
           memcmp(found[0]->data, found[1]->data, found[0]->len) == 0;
}

static size_t length_of(const struct disk_state *state, const char *name)
{
    for (size_t i = 0; i < state->n; i++) {
        if (strcmp(state->files[i].name, name) == 0) {
            return state->files[i].bytes.len;
        }
    }
    return 0;
}

static bool is_merge(enum kind kind)
{
    return kind == MERGE || kind == MERGE_INTO || kind == MERGE_YEAR;
}

/* Such a step leaves a new log in place of the old one. */
static bool is_replacing(enum kind kind)
{
    return kind == REWRITE || kind == REPAIR || kind == REMOVE || kind == MERGE_INTO;
}

static const char *judge_store(uint32_t ndone, bool is_repaired)
{
    const struct scenario *s = syncs.scenario;
    const bool must_be = ndone > 0 || s->prepare != NULL;
    if (!crash_exists(store_path())) {
        return must_be ? "the store is gone" : NULL;
    }
    if ((!s->is_damaged || is_repaired) && !is_intact()) {
        return "verify finds damage";
    }
    if (s->is_damaged && !is_repaired) {
        return NULL;
    }
    if (s->has_others && !has_all(crash_path("_others"))) {
        return "URLs of before are forgotten";
    }
    if (s->filled > 0 && !has_all(done_urls(0, s->filled))) {
        return "URLs of before are forgotten";
    }
    if (is_merge(s->steps[0].kind) && ndone == 0 &&
        !has_none(done_urls(s->filled, s->steps[0].end)) &&
        !has_all(done_urls(s->filled, s->steps[0].end))) {
        return "a part of a merge is there";
    }
    return ndone <= s->first || has_all(done_urls(s->first, ndone))
               ? NULL
               : "what a run had done that ended with success is undone";
}

/* False if this state has been judged before, and was right. */
static bool is_new(uint64_t hash, size_t *slot)
{
    size_t i = (size_t)hash % SEEN_CAP;
    for (size_t n = 0; syncs.good[i] != 0; i = (i + 1) % SEEN_CAP, n++) {
        if (syncs.good[i] == hash) {
            return false;
        }
        crash_require(n < SEEN_CAP / 2, "fewer states");
    }
    *slot = i;
    return true;
}

/* The same before the recovery. Many states have the same store, so what was right is not looked at
 * again. */
static const char *judge_store_of(const struct disk_state *state, uint32_t ndone, bool is_repaired)
{
    struct disk_state store = {.n = 0};
    size_t slot;
    for (size_t i = 0; i < state->n; i++) {
        if (strncmp(state->files[i].name, "out", 3) != 0) {
            store.files[store.n++] = state->files[i]; /* borrowed */
        }
    }
    const uint64_t hash = disk_state_hash(&store) * 16 + ndone * 2048 + is_repaired * 2u;
    const uint64_t key = hash != 0 ? hash : 2; /* even: not that of a whole state */
    if (!is_new(key, &slot)) {
        return NULL;
    }
    const char *wrong = judge_store(ndone, is_repaired);
    syncs.good[slot] = wrong ? 0 : key;
    return wrong;
}

static bool is_exact(enum kind kind)
{
    return kind == OUTPUT || kind == PARTS;
}

static const char *judge_output(const struct step *last, uint32_t ndone)
{
    const uint32_t until = syncs.scenario->until;
    crash_tally_file(&syncs.tally, crash_path("out"));
    if (syncs.tally.nlost > (until ? NURLS - until : 0)) {
        return "URLs are lost";
    }
    if (is_exact(last->kind) && syncs.tally.nextra > 0) {
        return "URLs are repeated";
    }
    for (uint32_t i = 0; i < ndone; i++) {
        if (syncs.tally.counts[i] > syncs.before.counts[i] && syncs.before.counts[i] > 0) {
            return "URLs of a run that had ended are repeated";
        }
        if (syncs.before.counts[i] == 0) {
            return "lines of a run that had ended are gone";
        }
    }
    return NULL;
}

/* What the stream demands of a state. */
static const char *judge_stream(bool ended)
{
    const struct stream *s = &syncs.stream;
    const struct crash_job none = stream_job(syncs.tool, NULL);
    if (crash_run(&none) != 0) {
        return "the store cannot be opened";
    }
    if (!is_intact()) { /* the header that was written last may have been torn before */
        return "verify finds damage";
    }
    const uint32_t next = stream_next(s);
    if (next == UINT32_MAX || (ended && !stream_is_whole(s))) {
        return ended ? "lines of a run that had ended are lost"
                     : "the output is not what the window lets through";
    }
    if (!stream_go_on(s, syncs.tool, next, none) || !stream_is_whole(s)) {
        return "the output of the next run is not what the window lets through";
    }
    return NULL;
}

/* What is wrong with a state, or NULL. Runs 0..nended-1 had ended with success. */
static const char *judge_state(const struct disk_state *state, unsigned nended, bool all_ended)
{
    const struct scenario *s = syncs.scenario;
    uint32_t ndone = 0;
    const struct step *last = s->steps;
    bool is_repaired = false;
    for (unsigned i = 0; i < STEPS_MAX && s->steps[i].end > 0; i++) {
        const struct step *step = &s->steps[i];
        if (i < nended && !step->fault && step->end > ndone) {
            ndone = step->end;
        }
        is_repaired = is_repaired || (i < nended && step->kind == REPAIR);
        last = step->kind == FOREIGN ? last : step;
    }
    disk_state_write(state);
    if (last->kind == WINDOW) {
        return judge_stream(all_ended);
    }
    if (s->is_elsewhere) {
        size_t len = 0;
        char *data = crash_read(elsewhere(".kept"), &len);
        crash_write(elsewhere(""), data, len);
        free(data);
    }
    const char *wrong = judge_store_of(state, ndone, is_repaired);
    if (!wrong && s->has_foreign && !has_foreign_lines()) {
        wrong = "lines of somebody else are gone";
    }
    if (!wrong && all_ended && is_replacing(last->kind) &&
        (!is_final(state, "s") || (last->kind == REMOVE && length_of(state, "s") > REWRITE_MAX))) {
        wrong = "the new log is not there";
    }
    if (!wrong && all_ended && (is_exact(last->kind) || last->kind == STANDARD) &&
        !has_foreign_step(s) && !is_final(state, "out")) {
        wrong = "the output is not as it was at the end";
    }
    if (wrong) {
        return wrong;
    }
    const bool prints = is_exact(last->kind) || last->kind == STANDARD;
    if (prints) {
        crash_tally_file(&syncs.before, crash_path("out"));
        if (has_foreign_step(s) && syncs.before.nextra > 0) {
            return NULL; /* stale blocks behind our lines are not our doing */
        }
    }
    /* The recovery: the last run once more. */
    const struct crash_job again = step_job(last);
    const int status = crash_run(&again);
    if (status != 0) {
        static char text[600];
        snprintf(text, sizeof(text), "then status %d: %.500s", status, crash_messages());
        return text;
    }
    wrong = judge_store(last->end, true);
    wrong = wrong || !prints ? wrong : judge_output(last, ndone);
    if (!wrong && s->is_closed && nended > 0 && crash_exists(crash_path("out.cut"))) {
        return "what was written to a closed output is cut";
    }
    return !wrong && s->has_foreign && !has_foreign_lines() ? "lines of somebody else are gone"
                                                            : wrong;
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* All cuts at one moment; what is wrong with the first of them that is wrong. */
static const char *cut(const struct disk *disk, unsigned nended, bool all_ended, unsigned *policy)
{
    const unsigned npolicies = disk_nuncertain(disk) > 0 ? NPOLICIES : 1;
    const unsigned step = syncs.scenario->every ? syncs.scenario->every : 1;
    for (*policy = 0; *policy < npolicies; *policy += step) {
        struct disk_state state;
        size_t slot;
        disk_cut(disk, *policy, &syncs.random, &state);
        const uint64_t hash = disk_state_hash(&state) * 16 + nended * 2 + 1;
        const char *wrong = NULL;
        if (!disk_state_is_confusing(&state) && is_new(hash, &slot)) {
            syncs.nstates++;
            wrong = judge_state(&state, nended, all_ended);
            syncs.good[slot] = wrong ? 0 : hash;
        }
        disk_state_free(&state);
        if (wrong) {
            return wrong;
        }
    }
    return NULL;
}

static bool is_change(const struct trace_op *op)
{
    return op->kind == TRACE_WRITE || op->kind == TRACE_TRUNCATE || op->kind == TRACE_RENAME ||
           op->kind == TRACE_LINK || op->kind == TRACE_UNLINK || op->kind == TRACE_OPEN;
}

struct finding {
    const char *wrong; /* NULL: nothing */
    size_t call;
    unsigned policy;
    unsigned nchanges; /* calls that change the disk between the sync and the cut */
};

/* Cuts the power after each call; without the sync that begins with call `without` and ends with
 * `end`, if it is not SIZE_MAX. */
static struct finding cut_everywhere(size_t without, size_t end)
{
    const struct record *record = &syncs.record;
    struct finding f = {.wrong = NULL};
    struct disk *disk = disk_create(&record->base);
    unsigned nended = 0;
    unsigned nsteps = 0;
    bool all_ended = false;
    while (nsteps < STEPS_MAX && syncs.scenario->steps[nsteps].end > 0) {
        nsteps++;
    }
    for (size_t i = 0; i < record->n && !f.wrong; i++) {
        if (i == without || (without != SIZE_MAX && i == end)) {
            continue;
        }
        disk_apply(disk, record->ops[i]);
        if (record->ops[i]->kind == TRACE_MARK) {
            nended = (unsigned)record->ops[i]->at + 1;
            all_ended = nended == nsteps;
        }
        if ((without == SIZE_MAX || i > end) && (all_ended || !syncs.scenario->is_elsewhere)) {
            f.nchanges += is_change(record->ops[i]);
            f.call = i;
            f.wrong = cut(disk, nended, all_ended, &f.policy);
        }
    }
    disk_free(disk);
    return f;
}

/* ---- Each sync ------------------------------------------------------------------------------- */

/* "step/file" of a sync: the name that the file was opened by, without what is random in it. */
static void name_sync(size_t at, char out[static 64])
{
    const struct trace_op *op = syncs.record.ops[at];
    unsigned step = 1;
    char name[48] = "?";
    for (size_t i = 0; i < at; i++) {
        const struct trace_op *o = syncs.record.ops[i];
        if (o->kind == TRACE_OPEN && o->pid == op->pid && o->fd == op->fd) {
            snprintf(name, sizeof(name), "%.*s", (int)o->name_len, (const char *)(o + 1));
        }
        step += o->kind == TRACE_MARK;
    }
    char *random = strstr(name, "s.");
    if (random && strstr(name, ".unseen-new") && !strstr(name, "image")) {
        snprintf(name, sizeof(name), "s.new");
    }
    snprintf(out, 64, "%u/%s", step, name);
}

static size_t end_of_sync(size_t begin)
{
    const struct trace_op *op = syncs.record.ops[begin];
    for (size_t i = begin + 1; i < syncs.record.n; i++) {
        const struct trace_op *o = syncs.record.ops[i];
        if (o->kind == TRACE_SYNC_END && o->pid == op->pid && o->fd == op->fd) {
            return i;
        }
    }
    return SIZE_MAX; /* it was killed there */
}

/* Why the sync may be left out, or NULL. */
static const char *find_reason(const char *name, unsigned ordinal)
{
    char entry[80];
    const int len = snprintf(entry, sizeof(entry), "%s %u ", name, ordinal);
    const char *list = syncs.scenario->redundant;
    const char *found = list ? strstr(list, entry) : NULL;
    for (size_t i = 0; found && i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].letter == found[len]) {
            return reasons[i].text;
        }
    }
    return NULL;
}

static void leave_out_each(void)
{
    char names[256][64];
    size_t nnames = 0;
    for (size_t i = 0; i < syncs.record.n; i++) {
        const size_t end =
            syncs.record.ops[i]->kind == TRACE_SYNC_BEGIN ? end_of_sync(i) : SIZE_MAX;
        if (end == SIZE_MAX) {
            continue;
        }
        crash_require(nnames < 256, "fewer syncs");
        name_sync(i, names[nnames]);
        unsigned ordinal = 1;
        for (size_t k = 0; k < nnames; k++) {
            ordinal += strcmp(names[k], names[nnames]) == 0;
        }
        const char *reason = find_reason(names[nnames], ordinal);
        struct finding f = {.wrong = NULL};
        if (!reason || crash_scaled(1) > 1) {
            f = cut_everywhere(i, end);
        }
        syncs.nsyncs++;
        syncs.nredundant += reason != NULL;
        if ((f.wrong == NULL) != (reason != NULL)) {
            syncs.nwrong++;
        }
        printf("  %-14s %u  ", names[nnames], ordinal);
        if (f.wrong) {
            printf("%s%u changes later: %s\n", reason ? "LISTED AS REDUNDANT, but " : "",
                   f.nchanges, f.wrong);
        } else {
            printf("%s\n", reason ? reason : "NOT NOTICED when it is left out");
        }
        nnames++;
    }
}

/* A list takes its place by a rename, and the folder is synced behind it. The model of the disk
 * knows no folder in a folder, as a build has for its work, so only the order of the calls is
 * looked at; crash/list cuts the power in builds by the library. */
static void check_build(void)
{
    static const struct scenario scenario = {.name = "the build of a list"};
    char trace[CRASH_PATH_MAX];
    struct crash_job job = {
        .args = {syncs.tool, "build", "--seed", "7", crash_path("s"), step_input(NURLS)}};
    bool renamed = false;
    int64_t folder = -1;
    bool synced = false;
    syncs.scenario = &scenario;
    crash_clear();
    snprintf(trace, sizeof(trace), "UNSEEN_CRASH_TRACE=%s", crash_path("_trace"));
    job.shim = syncs.shim;
    job.env[0] = trace;
    require_run(&job);
    syncs.record.base = (struct disk_state){0};
    record_load(&syncs.record);
    for (size_t i = 0; i < syncs.record.n; i++) {
        const struct trace_op *op = syncs.record.ops[i];
        const char *name = (const char *)(op + 1);
        if (op->kind == TRACE_RENAME && op->name2_len == 1 && name[op->name_len] == 's') {
            renamed = true;
        } else if (op->kind == TRACE_OPEN) {
            folder = op->name_len == 1 && name[0] == '.' ? op->fd : -1;
        } else if (op->kind == TRACE_SYNC_END && op->fd == folder) {
            synced = synced || renamed;
        }
    }
    printf("%s\n  the folder is %s behind the rename\n", scenario.name,
           synced ? "synced" : "NOT SYNCED");
    syncs.nwrong += !synced;
    record_free(&syncs.record);
}

static void run_scenario(const struct scenario *s)
{
    syncs.scenario = s;
    memset(syncs.good, 0, sizeof(syncs.good));
    record_scenario(s);
    printf("%s\n", s->name);
    const struct finding f = cut_everywhere(SIZE_MAX, 0);
    if (f.wrong) {
        printf("  call %zu, policy %u: %s\n", f.call, f.policy, f.wrong);
        syncs.nwrong++;
    } else if (!syncs.plant) {
        leave_out_each();
    }
    fflush(stdout);
    record_free(&syncs.record);
    disk_state_free(&syncs.final);
}

static const struct scenario scenarios[] = {
    {.name = "output",
     .steps = {{OUTPUT, 150, NULL}, {OUTPUT, 300, NULL}},
     .redundant = "1/. 1 a, 1/s.new 2 b, 1/. 2 a, 1/out 1 b, 1/out 3 c, 1/s.new 5 d, "
                  "2/s 1 b, 2/. 1 b, 2/. 2 b, 2/out 1 b, 2/out 3 c, 2/s 4 d"},
    {.name = "standard output",
     .steps = {{STANDARD, 150, NULL}, {STANDARD, 300, NULL}},
     .redundant = "1/. 1 a, 1/s.new 2 b, 1/. 2 a, 1/. 3 a, 2/s 1 b, 2/. 1 b, 2/. 2 b"},
    {.name = "add",
     .steps = {{ADD, 150, NULL}, {ADD, 300, NULL}},
     .redundant = "1/. 1 a, 1/s.new 2 b, 1/. 2 a, 2/s 1 b, 2/. 1 b"},
    {.name = "killed before the new name was synced",
     .steps = {{ADD, 150, "link * 1:KILL"}, {ADD, 150, NULL}, {ADD, 300, NULL}},
     .redundant = "2/s 1 b, 3/s 1 b, 3/. 1 b"},
    {.name = "killed before the log was synced",
     .prepare = filled,
     .steps = {{ADD, 300, "fdatasync s 2:DIE"}, {ADD, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 2/. 1 b"},
    {.name = "killed before the log was synced, then an image",
     .prepare = prefilled,
     .steps = {{ADD, 300, "fdatasync s 2:DIE"}, {ADD, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 2/. 1 b, 2/. 2 e",
     .has_others = true},
    {.name = "killed before the output was synced",
     .prepare = filled_output,
     .steps = {{OUTPUT, 250, "fdatasync out 2:DIE"}, {OUTPUT, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 b, 1/out 1 b, 2/s 1 b, 2/. 1 b, 2/. 2 b, "
                  "2/out.cut 1 i, 2/. 3 i, 2/out 2 c, 2/s 3 d"},
    {.name = "a sync of the log fails",
     .prepare = filled,
     .steps = {{ADD, 250, "fdatasync s 2:LOST"}, {ADD, 250, NULL}, {ADD, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 2/s 1 b, 2/. 1 b, 3/s 1 b, 3/. 1 b"},
    {.name = "an image",
     .prepare = prefilled,
     .steps = {{ADD, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 e",
     .has_others = true},
    {.name = "a store sweeps itself",
     .prepare = nearly_swept,
     .steps = {{PARTS, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/out 1 b, 1/out 2 b, 1/out 3 b, 1/. 2 e, 1/out 8 c, "
                  "1/s 9 d, 1/. 3 e",
     .filled = 100,
     .every = 9},
    {.name = "a longer output",
     .prepare = longer_output,
     .steps = {{OUTPUT, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 b, 1/out 2 c, 1/s 3 d",
     .has_foreign = true},
    {.name = "rewrite", .prepare = with_image, .steps = {{REWRITE, 250, NULL}}, .has_others = true},
    {.name = "a store rewrites itself",
     .prepare = mostly_dead_output,
     .steps = {{OUTPUT, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 b, 1/out 1 b, 1/out 3 c, 1/s.new 3 d",
     .filled = 150,
     .every = 3},
    {.name = "a store rewrites itself at the end",
     .prepare = to_be_dead,
     .steps = {{REMOVE, 150, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/s 2 j",
     .filled = 150,
     .every = 3},
    {.name = "merge",
     .steps = {{MERGE, 300, NULL}},
     .redundant = "1/s.new 1 h, 1/s.new 2 h, 1/s.new 3 h"},
    {.name = "merge into a store",
     .prepare = filled_output,
     .steps = {{MERGE_INTO, 300, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/s.new 1 h, 1/s.new 2 h, 1/s.new 3 h",
     .filled = 150},
    {.name = "merge by time", .steps = {{MERGE_YEAR, 300, NULL}}},
    {.name = "repair of a record",
     .prepare = damaged_record,
     .steps = {{REPAIR, 250, NULL}},
     .first = 100,
     .is_damaged = true},
    {.name = "repair of a header",
     .prepare = damaged_header,
     .steps = {{REPAIR, 150, NULL}},
     .is_damaged = true},
    {.name = "no log",
     .steps = {{ADD_NO_LOG, 150, NULL}, {ADD_NO_LOG, 300, NULL}},
     .redundant = "1/. 1 a, 1/s.new 2 b, 1/. 2 a, 1/s.new 3 g, 2/s 1 b, 2/. 1 b"},
    {.name = "a list", .prepare = a_list, .steps = {{UPDATE, 200, NULL}, {UPDATE, 300, NULL}}},
    {.name = "a sync of a list fails",
     .prepare = a_list,
     .steps = {{UPDATE, 200, "fdatasync s 1:LOST"}, {UPDATE, 200, NULL}, {UPDATE, 300, NULL}}},
    {.name = "output, the store elsewhere",
     .steps = {{OUTPUT, 300, NULL}},
     .redundant = "1/out 1 h, 1/out 2 h, 1/out 3 h",
     .is_elsewhere = true},
    {.name = "standard output, the store elsewhere",
     .steps = {{STANDARD, 300, NULL}},
     .is_elsewhere = true},
    {.name = "nothing new, behind a part of a line",
     .prepare = torn_output,
     .steps = {{OUTPUT, 150, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 b, 1/out 1 b, 1/s 3 d",
     .until = 150},
    {.name = "somebody appends to a closed output",
     .steps = {{OUTPUT, 300, NULL}, {FOREIGN, 1, NULL}},
     .redundant = "1/. 1 a, 1/s.new 2 b, 1/. 2 a, 1/out 1 b, 1/out 3 c",
     .is_closed = true},
    {.name = "somebody appends to the output",
     .prepare = filled_output,
     .steps = {{FOREIGN, 150, NULL}, {OUTPUT, 300, NULL}},
     .redundant = "2/s 1 b, 2/. 1 b, 2/. 2 b, 2/out 3 c, 2/s 4 d"},
    {.name = "window",
     .prepare = before_hole,
     .steps = {{WINDOW, 1, NULL}},
     .redundant = "1/s 1 b, 1/. 1 b, 1/. 2 b, 1/out 1 b, 1/out 3 c, 1/s 4 d, 1/s 6 k"},
};

int main(int argc, char **argv)
{
    crash_arguments(argc, argv, &syncs.tool, &syncs.shim, &syncs.plant);
    syncs.random = crash_setting("UNSEEN_CRASH_SEED", 1);
    crash_write(crash_path("_foreign"), "http://foreign.example/3\n", 25);
    crash_tally_init(&syncs.tally, NURLS);
    crash_tally_init(&syncs.before, NURLS);
    (void)signal(SIGPIPE, SIG_IGN);
    crash_require(atexit(remove_elsewhere) == 0, "atexit");
    crash_prefill(syncs.tool);
    disk_state_read(&syncs.prefilled);
    const char *only = getenv("UNSEEN_CRASH_ONLY"); /* one scenario, or "build" */
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
        if ((!only || strcmp(only, scenarios[i].name) == 0) && !(syncs.plant && syncs.nwrong)) {
            run_scenario(&scenarios[i]);
        }
    }
    if ((!only || strcmp(only, "build") == 0) && !syncs.plant) {
        check_build();
    }
    printf(
        "%llu states after power cuts; %llu syncs left out, %llu of them redundant; %llu wrong\n",
        (unsigned long long)syncs.nstates, (unsigned long long)syncs.nsyncs,
        (unsigned long long)syncs.nredundant, (unsigned long long)syncs.nwrong);
    return crash_status(syncs.plant, syncs.nwrong);
}
