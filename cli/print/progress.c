/* SPDX-License-Identifier: MIT */
#include "print/progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

static const double FIRST = 1.0; /* short runs show nothing */
static const double DRAW_EVERY = 0.25;
static const double PRINT_EVERY = 5.0;
static const double SHARE_MIN = 0.002; /* from a smaller share, no time is predicted */

/* A signal handler can reach only globals. Any thread may look at it. */
static atomic_bool status_wanted;

static void want_status(int signal_number)
{
    (void)signal_number;
    status_wanted = true;
}

void progress_start(struct progress *p, enum when when, enum when color, bool to_file)
{
    /* Without SA_RESTART a signal interrupts a wait for input or output. */
    struct sigaction action = {.sa_handler = want_status};
    const bool terminal = isatty(STDERR_FILENO);
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    *p = (struct progress){.start = clock_now()};
    p->draws = terminal && (when == WHEN_ALWAYS || (when == WHEN_AUTO && to_file));
    p->prints = !terminal && when == WHEN_ALWAYS;
    p->next = p->start + FIRST;
    progress_phase(p, 0, 0);
    message_setup(color, p->draws);
}

void progress_phase(struct progress *p, uint64_t n, double share)
{
    p->phase_n = n;
    p->phase_start = clock_now();
    p->phase_share = share;
}

static void put_time(double seconds, char *text, size_t cap)
{
    const uint64_t s = (uint64_t)(seconds + 0.5);
    if (s >= 3600) {
        snprintf(text, cap, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
    } else if (s >= 60) {
        snprintf(text, cap, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
    } else {
        snprintf(text, cap, "%" PRIu64 " s", s);
    }
}

/* Puts the share and the time that is left, if the phase goes on at its average speed. */
static void put_share(const struct progress *p, double share, char *text, size_t cap)
{
    char left[40];
    const double done = share - p->phase_share;
    if (share < 0) {
        text[0] = '\0';
    } else if (done < SHARE_MIN) {
        snprintf(text, cap, ", %.1f %%", 100 * share);
    } else {
        put_time((clock_now() - p->phase_start) * (1 - share) / done, left, sizeof(left));
        snprintf(text, cap, ", %.1f %%, %s left", 100 * share, left);
    }
}

bool progress_is_due(const struct progress *p)
{
    return status_wanted || ((p->draws || p->prints) && clock_now() >= p->next);
}

bool progress_is_wanted(void)
{
    return status_wanted;
}

void progress_put(struct progress *p, const char *text, double share)
{
    char rest[120];
    const double time = clock_now();
    put_share(p, share, rest, sizeof(rest));
    if (status_wanted || p->prints) {
        message_plain("unseen: %s%s", text, rest);
    }
    status_wanted = false;
    if (time >= p->next) {
        p->next = time + (p->draws ? DRAW_EVERY : PRINT_EVERY);
    }
    if (p->draws) {
        fprintf(stderr, "\r%s%s\033[K\r", text, rest);
    }
}

void progress_show(struct progress *p, const char *doing, uint64_t n, const char *of, double share)
{
    char text[200];
    if (progress_is_due(p)) {
        const double seconds = clock_now() - p->phase_start;
        snprintf(text, sizeof(text), "%s: %" PRIu64 " %s, %.2f million/s", doing, n, of,
                 seconds > 0 ? (double)(n - p->phase_n) / seconds * 1e-6 : 0);
        progress_put(p, text, share);
    }
}

void progress_end(struct progress *p)
{
    if (p->draws) {
        fputs("\r\033[K", stderr);
    }
}

double progress_seconds(const struct progress *p)
{
    return clock_now() - p->start;
}
