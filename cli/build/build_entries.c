/* SPDX-License-Identifier: MIT
 *
 * Turns the lines of `unseen build` into keys, and adds the keys to the build. Making lines
 * canonical is most of the work, so threads share it:
 *
 *     reading    one at a time    the next batch of lines, as they stand in the input
 *     preparing  all at once      lines -> entries -> keys
 *     adding     one at a time    keys into the build, batches in the order of the input
 *
 * Every thread does all three. The thread that finishes the next batch in order adds it and all
 * finished batches behind it; the others go on reading. No thread waits while a few slots are
 * free.
 *
 * The order does not matter to the list; it is for the complaints and the progress. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <unseen_list.h>

#include "build/build_job.h"
#include "lines/batch.h"
#include "lines/entries.h"
#include "lines/entry_lines.h"
#include "lines/reader.h"
#include "print/message.h"
#include "stop.h"

enum {
    SLOTS = 32,
    LOOK_NS = 100 * 1000 * 1000
};

/* A batch and its results. */
struct slot {
    struct batch batch;
    struct build_place after;
    const char *name; /* of the file that the lines are in */
    struct build_counts counts;
    uint64_t *keys; /* a line of a hosts file may have several names */
    size_t nkeys;
    size_t keys_cap;
    struct text allowed;          /* the texts of allowed entries, a line each */
    uint16_t faulty[BATCH_LINES]; /* the lines that are not entries, */
    uint8_t faults[BATCH_LINES];  /* and what is wrong with each */
    size_t nfaults;
    bool no_memory;
    bool ready; /* it can be added; under `order` */
};

struct pipeline {
    struct build_job *m;
    struct entry_lines how;
    struct slot *slots;

    pthread_mutex_t reading; /* guards the next fields, */
    struct reader reader;
    uint64_t nread; /* slots filled so far */
    bool ended;

    pthread_mutex_t order; /* guards the next fields, */
    pthread_cond_t moved;  /* nadded has changed */
    pthread_cond_t left;   /* nrunning has changed */
    struct build_done done;
    uint64_t nadded; /* slots emptied so far */
    bool adding;     /* a thread is adding */
    unsigned nrunning;

    struct complaints complaints; /* used by the thread that is adding */
    enum build_ending ending;
    atomic_bool over; /* all threads are to end */
};

static bool is_over(const struct pipeline *l)
{
    return atomic_load_explicit(&l->over, memory_order_relaxed) || stop_is_wanted();
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The reader calls it before it waits for input. */
static int before_input(void *context)
{
    return is_over(context) ? INPUT_STOP : INPUT_NOTHING;
}

/* Waits until n slots are empty again. True: whether to stop is asked before each wait for
 * input. */
static bool wait_added(void *context, uint64_t n)
{
    struct pipeline *l = context;
    pthread_mutex_lock(&l->order);
    while (l->nadded < n) {
        pthread_cond_wait(&l->moved, &l->order);
    }
    pthread_mutex_unlock(&l->order);
    return true;
}

/* Notes the place in the inputs behind a batch. */
static void note_place(struct pipeline *l, struct slot *s)
{
    const struct reader *r = &l->reader;
    const size_t input = (size_t)(r->names - l->m->inputs.names) - 1;
    s->after.input = input;
    s->after.nused = r->input ? input_offset(r->input) : l->m->inputs.sizes[input];
    s->name = r->name;
}

/* Returns a slot with the next lines; NULL at the end. */
static struct slot *pipeline_read_lines(struct pipeline *l)
{
    struct slot *s = NULL;
    pthread_mutex_lock(&l->reading);
    if (!l->ended) {
        s = &l->slots[l->nread % SLOTS];
        (void)wait_added(l, l->nread < SLOTS ? 0 : l->nread - SLOTS + 1);
        l->ended = is_over(l) || !reader_next(&l->reader, &s->batch, true);
        if (!l->ended) {
            note_place(l, s);
            l->nread++;
        }
    }
    s = l->ended ? NULL : s;
    pthread_mutex_unlock(&l->reading);
    return s;
}

/* ---- Preparing ------------------------------------------------------------------------------- */

struct worker {
    struct pipeline *l;
    struct slot *slot;
    size_t i; /* the line */
    struct text room;
};

/* Notes what is wrong with the line: one fault, and an error before a warning. */
static void entries_complain(struct worker *w, enum fault fault)
{
    const struct entry_options *o = &w->l->m->o->list.entries;
    struct slot *s = w->slot;
    const bool again = s->nfaults > 0 && s->faulty[s->nfaults - 1] == w->i;
    if (again && (entries_take(o, fault) || entries_leave_out(o, fault))) {
        return;
    }
    s->nfaults += !again;
    s->faulty[s->nfaults - 1] = (uint16_t)w->i;
    s->faults[s->nfaults - 1] = (uint8_t)fault;
}

/* Appends a key; without memory the slot says so. */
static void put_key(struct slot *s, uint64_t key)
{
    if (s->nkeys == s->keys_cap) {
        const size_t cap = s->keys_cap > 0 ? 2 * s->keys_cap : BATCH_LINES;
        uint64_t *keys = realloc(s->keys, cap * sizeof(*keys));
        if (!keys) {
            s->no_memory = true;
            return;
        }
        s->keys = keys;
        s->keys_cap = cap;
    }
    s->keys[s->nkeys++] = key;
}

/* Appends the text of an allowed entry. Such texts have no line ends: their kinds refuse those. */
static void put_allowed(struct slot *s, struct unseen_bytes text)
{
    if (!text_append(&s->allowed, text.data, text.len) || !text_append(&s->allowed, "\n", 1)) {
        s->no_memory = true;
    }
    s->counts.nallowed++;
}

static void pipeline_take_item(void *context, struct unseen_bytes item, bool allows)
{
    struct worker *w = context;
    struct slot *s = w->slot;
    struct build_job *m = w->l->m;
    struct unseen_list_entry entry;
    const size_t need = unseen_kind_bound(m->kind, item.len);
    if (need == 0 || !text_reserve(&w->room, need) ||
        unseen_list_build_entry(m->build, item.data, item.len, w->room.data, w->room.cap, &entry) !=
            UNSEEN_OK) {
        s->no_memory = true;
        return;
    }
    if (entry.fitness != UNSEEN_ENTRY_FINE) {
        const bool taken = entries_take(&m->o->list.entries, (enum fault)entry.fitness);
        entries_complain(w, (enum fault)entry.fitness);
        s->counts.ndangerous += taken;
        s->counts.nskipped += !taken;
        if (!taken) {
            return;
        }
    }
    if (allows) {
        put_allowed(s, entry.text);
        return;
    }
    if (build_old_meet(&m->old, entry.text)) {
        s->counts.nremoved++;
        return;
    }
    if (entries_is_literal(m->kind, m->takes_bytes, entry.text)) {
        s->counts.nliteral++;
        entries_complain(w, FAULT_LITERAL);
    }
    put_key(s, entry.key);
}

static void take_line(struct worker *w)
{
    struct slot *s = w->slot;
    const struct entry_sink sink = {pipeline_take_item, w};
    const struct entry_line line = entry_lines_read(&w->l->how, s->batch.texts[w->i], &sink);
    s->counts.ncomments += line.type == ENTRY_LINE_SKIPPED;
    if (line.type == ENTRY_LINE_WRONG) {
        entries_complain(w, line.fault);
        s->counts.nskipped += line.fault == FAULT_NO_KEY;
        s->counts.nrules += entries_is_rule(line.fault);
    }
}

static void pipeline_prepare(struct worker *w, struct slot *s)
{
    w->slot = s;
    s->counts = (struct build_counts){.nlines = s->batch.n};
    s->nkeys = 0;
    text_clear(&s->allowed);
    s->nfaults = 0;
    s->no_memory = false;
    text_clear(&w->room);
    for (w->i = 0; w->i < s->batch.n && !s->no_memory; w->i++) {
        take_line(w);
    }
    s->counts.nentries = s->nkeys;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Counts the lines before it to find its number. */
static void report_fault(const struct pipeline *l, const struct slot *s, size_t i)
{
    const struct unseen_bytes line = s->batch.texts[s->faulty[i]];
    const uint64_t number = reader_line_number(&s->batch, line.data, l->m->o->input.delimiter);
    complaints_show(&l->complaints, s->name, number, line, (enum fault)s->faults[i]);
}

static void report_faults(struct pipeline *l, const struct slot *s)
{
    for (size_t i = 0; i < s->nfaults; i++) {
        if (s->faults[i] == FAULT_LITERAL) {
            url_watch_look_line(&l->m->watch, s->batch.texts[s->faulty[i]]);
        }
        if (complaints_count(&l->complaints, (enum fault)s->faults[i])) {
            report_fault(l, s, i);
        }
    }
}

static void pipeline_give_up(struct pipeline *l, enum build_ending ending)
{
    l->ending = ending;
    atomic_store(&l->over, true);
}

/* Returns false if no more keys can be added. */
static bool add_keys(struct pipeline *l, const struct slot *s)
{
    struct unseen_error error = {.status = UNSEEN_OK};
    error.status = s->no_memory
                       ? UNSEEN_ERR_NOMEM
                       : unseen_list_build_add_keys(l->m->build, s->keys, s->nkeys, &error);
    if (error.status == UNSEEN_OK) {
        return true;
    }
    message_error("%s:%" PRIu64 ": %s", s->name, s->batch.line + 1, message_of(&error));
    pipeline_give_up(l, BUILD_BROKEN);
    return false;
}

/* Returns false without memory. */
static bool add_allowed(struct pipeline *l, const struct slot *s)
{
    struct text *allowed = &l->m->allowed;
    if (text_append(allowed, s->allowed.data, s->allowed.len)) {
        return true;
    }
    (void)message_no_memory();
    pipeline_give_up(l, BUILD_BROKEN);
    return false;
}

static bool is_refused(const struct pipeline *l)
{
    return l->complaints.nrefused > 0;
}

/* Adds a batch; false if the build cannot go on. Once a line is refused, later lines are only
 * checked. */
static bool pipeline_add(struct pipeline *l, const struct slot *s)
{
    if (atomic_load_explicit(&l->over, memory_order_relaxed)) {
        return false;
    }
    if (s->batch.failed) {
        pipeline_give_up(l, BUILD_UNREADABLE);
        return false;
    }
    report_faults(l, s);
    return is_refused(l) || (add_keys(l, s) && add_allowed(l, s));
}

static void count(struct build_done *done, const struct slot *s)
{
    const struct build_counts *c = &s->counts;
    done->place = s->after;
    done->counts.nlines += c->nlines;
    done->counts.nentries += c->nentries;
    done->counts.ncomments += c->ncomments;
    done->counts.ndangerous += c->ndangerous;
    done->counts.nskipped += c->nskipped;
    done->counts.nremoved += c->nremoved;
    done->counts.nliteral += c->nliteral;
    done->counts.nrules += c->nrules;
    done->counts.nallowed += c->nallowed;
}

/* Adds the slots whose turn it is. The caller holds `order`, which is released while a slot is
 * added. */
static void add_ready(struct pipeline *l)
{
    struct slot *next = NULL;
    l->adding = true;
    while ((next = &l->slots[l->nadded % SLOTS])->ready) {
        struct build_done done = l->done;
        pthread_mutex_unlock(&l->order);
        if (pipeline_add(l, next)) {
            count(&done, next);
        }
        pthread_mutex_lock(&l->order);
        l->done = done;
        next->ready = false;
        l->nadded++;
        pthread_cond_broadcast(&l->moved);
    }
    l->adding = false;
}

/* A thread that is adding now will see the slot when it takes `order` again. */
static void hand_over(struct pipeline *l, struct slot *s)
{
    pthread_mutex_lock(&l->order);
    s->ready = true;
    if (!l->adding) {
        add_ready(l);
    }
    pthread_mutex_unlock(&l->order);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *work(void *context)
{
    struct worker w = {.l = context};
    struct slot *s = NULL;
    while ((s = pipeline_read_lines(w.l))) {
        pipeline_prepare(&w, s);
        hand_over(w.l, s);
    }
    text_release(&w.room);
    pthread_mutex_lock(&w.l->order);
    w.l->nrunning--;
    pthread_cond_signal(&w.l->left);
    pthread_mutex_unlock(&w.l->order);
    return NULL;
}

/* Starts the threads, which block all signals: they are for the caller's thread. Returns the number
 * of threads. */
static unsigned start_threads(struct pipeline *l, pthread_t *threads)
{
    sigset_t all;
    sigset_t old;
    unsigned n = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (bool more = true; more && n < l->m->nthreads; n += more) {
        pthread_mutex_lock(&l->order);
        more = pthread_create(&threads[n], NULL, work, l) == 0;
        l->nrunning += more;
        pthread_mutex_unlock(&l->order);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n;
}

/* Shows the progress until all threads have ended. */
static void look_on(struct pipeline *l)
{
    pthread_mutex_lock(&l->order);
    while (l->nrunning > 0) {
        struct timespec until = {0, 0};
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += LOOK_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&l->left, &l->order, &until); /* a timeout is not an error */
        const struct build_done done = l->done;
        pthread_mutex_unlock(&l->order);
        build_job_look(l->m, &done);
        pthread_mutex_lock(&l->order);
    }
    pthread_mutex_unlock(&l->order);
}

static enum build_ending ending_of(const struct pipeline *l)
{
    complaints_summary(&l->complaints);
    if (l->ending != BUILD_ALL) {
        return l->ending;
    }
    if (stop_is_wanted() || l->reader.failed) {
        return stop_is_wanted() ? BUILD_INTERRUPTED : BUILD_UNREADABLE;
    }
    if (is_refused(l)) {
        message_error("nothing was built");
        complaints_hint(&l->complaints);
        return BUILD_REFUSED;
    }
    return BUILD_ALL;
}

static enum build_ending pipeline_run(struct pipeline *l)
{
    pthread_t *threads = calloc(l->m->nthreads, sizeof(*threads));
    const unsigned n = threads ? start_threads(l, threads) : 0;
    if (n == 0) {
        message_error("cannot start a thread");
        free(threads);
        return BUILD_BROKEN;
    }
    look_on(l);
    for (unsigned i = 0; i < n; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    free(threads);
    return ending_of(l);
}

enum build_ending build_entries_run(struct build_job *m)
{
    struct pipeline l = {
        .m = m,
        .how = entry_lines_of(&m->o->list.entries, &m->o->key, m->kind, m->takes_bytes),
        .complaints = {.key = &m->o->key, .options = &m->o->list.entries, .kind = m->kind},
        .reader =
            {
                .names = m->inputs.names,
                .nnames = m->inputs.n,
                .options = &m->o->input,
                .nblocks = BLOCKS_MAX,
                .wait = {before_input, wait_added, &l},
            },
    };
    if (pthread_mutex_init(&l.reading, NULL) != 0 || pthread_mutex_init(&l.order, NULL) != 0 ||
        pthread_cond_init(&l.moved, NULL) != 0 || pthread_cond_init(&l.left, NULL) != 0) {
        (void)message_no_memory();
        return BUILD_BROKEN;
    }
    l.slots = calloc(SLOTS, sizeof(*l.slots));
    enum build_ending ending = BUILD_BROKEN;
    if (l.slots) {
        ending = pipeline_run(&l);
        reader_summary(&l.reader);
        m->done = l.done;
    } else {
        (void)message_no_memory();
    }
    reader_release(&l.reader);
    for (size_t i = 0; l.slots && i < SLOTS; i++) {
        free(l.slots[i].keys);
        text_release(&l.slots[i].allowed);
    }
    free(l.slots);
    pthread_cond_destroy(&l.left);
    pthread_cond_destroy(&l.moved);
    pthread_mutex_destroy(&l.order);
    pthread_mutex_destroy(&l.reading);
    return ending;
}
