/* SPDX-License-Identifier: MIT */
#include "build/build_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"
#include "print/message.h"
#include "print/report.h"

static const double FIRST = 1.0; /* short builds show nothing */
static const double DRAW_EVERY = 0.25;
static const double PRINT_EVERY = 5.0;
static const double SHARE_MIN = 0.002; /* from a smaller share, no time is predicted */

void build_progress_start(struct build_progress *p, const struct options *o)
{
    const bool terminal = isatty(STDERR_FILENO);
    report_listen();
    *p = (struct build_progress){.start = clock_now()};
    p->draws = terminal && o->report.progress != WHEN_NEVER;
    p->prints = !terminal && o->report.progress == WHEN_ALWAYS;
    p->next = p->start + FIRST;
    build_progress_phase(p, 0, 0);
    message_setup(o->report.color, p->draws);
}

void build_progress_phase(struct build_progress *p, uint64_t n, double share)
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
static void put_share(const struct build_progress *p, double share, double seconds, char *text,
                      size_t cap)
{
    char left[40];
    const double done = share - p->phase_share;
    if (share < 0) {
        text[0] = '\0';
    } else if (done < SHARE_MIN) {
        snprintf(text, cap, ", %.1f %%", 100 * share);
    } else {
        put_time(seconds * (1 - share) / done, left, sizeof(left));
        snprintf(text, cap, ", %.1f %%, %s left", 100 * share, left);
    }
}

void build_progress_show(struct build_progress *p, const char *doing, uint64_t n, const char *of,
                         double share)
{
    const bool wanted = report_is_wanted();
    const double time = clock_now();
    const bool due = (p->draws || p->prints) && time >= p->next;
    if (!wanted && !due) {
        return;
    }
    char rest[120];
    char text[300];
    const double seconds = time - p->phase_start;
    put_share(p, share, seconds, rest, sizeof(rest));
    snprintf(text, sizeof(text), "%s: %" PRIu64 " %s, %.2f million/s%s", doing, n, of,
             seconds > 0 ? (double)(n - p->phase_n) / seconds * 1e-6 : 0, rest);
    if (wanted || p->prints) {
        message_plain("unseen: %s", text);
    }
    if (due) {
        p->next = time + (p->draws ? DRAW_EVERY : PRINT_EVERY);
    }
    if (p->draws) {
        fprintf(stderr, "\r%s\033[K\r", text);
    }
}

void build_progress_end(struct build_progress *p)
{
    if (p->draws) {
        fputs("\r\033[K", stderr);
    }
}

double build_progress_seconds(const struct build_progress *p)
{
    return clock_now() - p->start;
}
