/* SPDX-License-Identifier: MIT */
#include "print/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print/message.h"

/* The report that report_poll works on; NULL: none. A global, because every wait in the program
 * polls. */
static struct report *current;

static uint64_t nlines(const struct report *r)
{
    return r->nnew + r->nseen + r->nlong + r->nother + r->nskipped + r->nplain;
}

void report_start(struct report *r, const struct report_options *o, bool to_file)
{
    *r = (struct report){.o = o};
    progress_start(&r->progress, o->progress, o->color, to_file);
    current = r;
}

void report_at(const char *const *files, size_t nfiles, size_t file, uint64_t offset)
{
    if (current) {
        current->files = files;
        current->nfiles = nfiles;
        current->file = file;
        current->offset = offset;
    }
}

/* The size of a regular file; false for others. */
static bool size_of(const char *name, uint64_t *size_out)
{
    struct stat st;
    const bool found = (strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(name, &st)) == 0;
    *size_out = found && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return !found || S_ISREG(st.st_mode); /* a file that is missing has no bytes to read */
}

double report_share(const struct report *r)
{
    uint64_t done = 0;
    uint64_t total = 0;
    for (size_t i = 0; i < r->nfiles; i++) {
        uint64_t size = 0;
        if (!size_of(r->files[i], &size)) {
            return -1;
        }
        total += size;
        done += i < r->file ? size : i > r->file ? 0 : r->offset < size ? r->offset : size;
    }
    return total > 0 ? (double)done / (double)total : -1;
}

static void show(struct report *r)
{
    char text[200];
    char verdicts[80] = "";
    char place[60] = "";
    const double seconds = progress_seconds(&r->progress);
    const uint64_t n = nlines(r);
    if (r->nplain == 0) {
        snprintf(verdicts, sizeof(verdicts), ", %" PRIu64 " new, %" PRIu64 " seen", r->nnew,
                 r->nseen);
    }
    if (r->nfiles > 1) {
        snprintf(place, sizeof(place), ", file %zu of %zu", r->file + 1, r->nfiles);
    }
    snprintf(text, sizeof(text), "%" PRIu64 " lines%s, %.1f s, %.0f lines/s%s", n, verdicts,
             seconds, seconds > 0 ? (double)n / seconds : 0, place);
    progress_put(&r->progress, text, report_share(r));
}

void report_poll(void)
{
    if (current && progress_is_due(&current->progress)) {
        show(current);
    }
}

void figures_print(const struct figure *figures, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!figures[i].is_rare || figures[i].value > 0) {
            message_plain("%-12s %" PRIu64, figures[i].text, figures[i].value);
        }
    }
}

void figures_write_json(const struct figure *figures, size_t n, char json[FIGURES_JSON_CAP])
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(json + len, FIGURES_JSON_CAP - len, "%s\"%s\":%" PRIu64,
                                i > 0 ? "," : "", figures[i].json, figures[i].value);
    }
}

static void print_figures(const struct report *r, const struct unseen_set_stats *s,
                          const char *profile, double seconds)
{
    const struct figure figures[] = {
        {"lines", "lines", nlines(r), false},
        {"new", "new", r->nnew, false},
        {"seen", "seen", r->nseen, false},
        {"too long", "too_long", r->nlong, true},
        {"other shares", "other_shares", r->nother, true},
        {"without key", "without_key", r->nmisses, true},
        {"not a URL", "not_urls", r->nfailed, true},
        {"excluded by", "excluded_by", r->nexcluded, true},
        {"late", "late", r->nlate, true},
        {"bytes", "bytes", r->nbytes, false},
        {"keys", "keys", s->nkeys, false},
        {"memory", "memory", s->memory, false},
    };
    const size_t n = sizeof(figures) / sizeof(figures[0]);
    char json[FIGURES_JSON_CAP];
    if (r->o->stats == STATS_JSON) {
        figures_write_json(figures, n, json);
        message_plain("{%s,\"fpr_estimate\":%.4g,\"fpr_promise\":%.4g"
                      ",\"profile\":\"%s\",\"filter\":\"%s\",\"cpu\":\"%s\",\"seconds\":%.6f}",
                      json, s->fpr_estimate, s->fpr_promise, profile, s->filter, s->cpu, seconds);
        return;
    }
    figures_print(figures, n);
    message_plain("%-12s %s", "profile", profile);
    message_plain("%-12s %.2g (at most %.2g)", "wrong seen", s->fpr_estimate, s->fpr_promise);
    message_plain("%-12s %.3f", "seconds", seconds);
}

void report_end(struct report *r, const struct unseen_set_stats *stats, const char *profile)
{
    if (current != r) {
        return;
    }
    if (progress_is_wanted()) {
        show(r);
    }
    progress_end(&r->progress);
    current = NULL;
    if (stats && r->o->stats != STATS_NONE) {
        print_figures(r, stats, profile, progress_seconds(&r->progress));
    }
}
