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
    if (current != r) {
        return;
    }
    if (progress_is_wanted()) {
        show(r);
    }
    progress_end(&r->progress);
    current = NULL;
    if (stats && r->o->stats != STATS_NONE) {
        (r->o->stats == STATS_JSON ? print_json : print_text)(r, stats, profile,
                                                              progress_seconds(&r->progress));
    }
}
