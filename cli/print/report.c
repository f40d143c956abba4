/* SPDX-License-Identifier: MIT */
#include "print/report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "print/message.h"

static const double PROGRESS_FIRST = 1.0; /* short runs draw nothing */
static const double PROGRESS_EVERY = 0.25;

/* A signal handler can reach only globals. */
static volatile sig_atomic_t status_wanted;

/* The report that report_poll works on; NULL: none. A global, because every wait in the program
 * polls. */
static struct report *current;

static void want_status(int signal_number)
{
    (void)signal_number;
    status_wanted = 1;
}

static uint64_t nlines(const struct report *r)
{
    return r->nnew + r->nseen + r->nlong + r->nother;
}

void report_listen(void)
{
    /* Without SA_RESTART a signal interrupts a wait for input or output. */
    struct sigaction action = {.sa_handler = want_status};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
}

bool report_is_wanted(void)
{
    const bool wanted = status_wanted != 0;
    status_wanted = 0;
    return wanted;
}

void report_start(struct report *r, const struct report_options *o, bool to_file)
{
    report_listen();
    *r = (struct report){.o = o, .start = clock_now()};
    r->progress = o->progress != WHEN_NEVER && (to_file || o->progress == WHEN_ALWAYS) &&
                  isatty(STDERR_FILENO);
    r->next_progress = r->start + PROGRESS_FIRST;
    message_setup(o->color, r->progress);
    current = r;
}

static void status_text(const struct report *r, char *text, size_t cap)
{
    double seconds = clock_now() - r->start;
    uint64_t n = nlines(r);
    snprintf(text, cap,
             "%" PRIu64 " lines, %" PRIu64 " new, %" PRIu64 " seen, %.1f s, %.0f lines/s", n,
             r->nnew, r->nseen, seconds, seconds > 0 ? (double)n / seconds : 0);
}

void report_poll(void)
{
    char text[200];
    struct report *r = current;
    if (!r) {
        return;
    }
    if (report_is_wanted()) {
        status_text(r, text, sizeof(text));
        message_plain("unseen: %s", text);
    }
    if (r->progress && clock_now() >= r->next_progress) {
        r->next_progress = clock_now() + PROGRESS_EVERY;
        status_text(r, text, sizeof(text));
        fprintf(stderr, "\r%s\033[K\r", text);
    }
}

static void print_text(const struct report *r, const struct unseen_set_stats *s,
                       const char *profile, double seconds)
{
    const struct {
        const char *name;
        uint64_t value;
        bool always;
    } counts[] = {
        {"lines", nlines(r), true},         {"new", r->nnew, true},
        {"seen", r->nseen, true},           {"too long", r->nlong, false},
        {"other shares", r->nother, false}, {"without key", r->nmisses, false},
        {"not a URL", r->nfailed, false},   {"excluded by", r->nexcluded, false},
        {"bytes", r->nbytes, true},         {"keys", s->nkeys, true},
        {"memory", s->memory, true},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].always || counts[i].value > 0) {
            message_plain("%-12s %" PRIu64, counts[i].name, counts[i].value);
        }
    }
    message_plain("%-12s %s", "profile", profile);
    message_plain("%-12s %.2g (at most %.2g)", "wrong seen", s->fpr_estimate, s->fpr_promise);
    message_plain("%-12s %.3f", "seconds", seconds);
}

static void print_json(const struct report *r, const struct unseen_set_stats *s,
                       const char *profile, double seconds)
{
    message_plain("{\"lines\":%" PRIu64 ",\"new\":%" PRIu64 ",\"seen\":%" PRIu64
                  ",\"too_long\":%" PRIu64 ",\"other_shares\":%" PRIu64 ",\"without_key\":%" PRIu64
                  ",\"not_urls\":%" PRIu64 ",\"excluded_by\":%" PRIu64 ",\"bytes\":%" PRIu64
                  ",\"keys\":%" PRIu64 ",\"memory\":%" PRIu64
                  ",\"fpr_estimate\":%.4g,\"fpr_promise\":%.4g"
                  ",\"profile\":\"%s\",\"filter\":\"%s\",\"cpu\":\"%s\",\"seconds\":%.6f}",
                  nlines(r), r->nnew, r->nseen, r->nlong, r->nother, r->nmisses, r->nfailed,
                  r->nexcluded, r->nbytes, s->nkeys, s->memory, s->fpr_estimate, s->fpr_promise,
                  profile, s->filter, s->cpu, seconds);
}

void report_end(struct report *r, const struct unseen_set_stats *stats, const char *profile)
{
    if (r->progress) {
        fputs("\r\033[K", stderr);
        r->progress = false;
    }
    if (status_wanted) {
        report_poll();
    }
    current = NULL;
    if (r->o->stats != STATS_NONE) {
        (r->o->stats == STATS_JSON ? print_json : print_text)(r, stats, profile,
                                                              clock_now() - r->start);
    }
}
