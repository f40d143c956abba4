/* SPDX-License-Identifier: MIT
 *
 * What `unseen build` says of a finished list: warnings, and the figures of --stats. */
#include <inttypes.h>

#include "build/build_job.h"
#include "print/message.h"

static void build_print_text(const struct build_job *m, const struct unseen_list_info *info,
                             double bits)
{
    const struct build_counts *c = &m->done.counts;
    const struct {
        const char *name;
        uint64_t value;
        bool always;
    } counts[] = {
        {"lines", c->nlines, true},
        {"entries", c->nentries, true},
        {"distinct", info->nkeys, true},
        {"comments", c->ncomments, false},
        {"dangerous", c->ndangerous, false},
        {"left out", c->nskipped, false},
        {"removed", c->nremoved, false},
        {"allowed", info->nallowed, false},
        {"known good", m->known_good.nasked, false},
        {"of them hit", m->known_good.nallowed, false},
        {"bytes", info->bytes, true},
    };
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (counts[i].always || counts[i].value > 0) {
            message_plain("%-12s %" PRIu64, counts[i].name, counts[i].value);
        }
    }
    message_plain("%-12s %.3f", "bits/entry", bits);
    message_plain("%-12s %.3g", "wrong", info->rate);
    message_plain("%-12s %s", "kind", unseen_kind_name(info->kind));
    message_plain("%-12s %s", "profile", info->profile);
    message_plain("%-12s %.3f", "seconds", progress_seconds(&m->progress));
}

static void build_print_json(const struct build_job *m, const struct unseen_list_info *info,
                             double bits)
{
    const struct build_counts *c = &m->done.counts;
    message_plain("{\"lines\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"distinct\":%" PRIu64
                  ",\"comments\":%" PRIu64 ",\"dangerous\":%" PRIu64 ",\"left_out\":%" PRIu64
                  ",\"removed\":%" PRIu64 ",\"allowed\":%" PRIu64 ",\"known_good\":%" PRIu64
                  ",\"known_good_hit\":%" PRIu64 ",\"bytes\":%" PRIu64
                  ",\"bits_per_entry\":%.4f,\"rate\":%.6g"
                  ",\"kind\":\"%s\",\"profile\":\"%s\",\"seconds\":%.6f}",
                  c->nlines, c->nentries, info->nkeys, c->ncomments, c->ndangerous, c->nskipped,
                  c->nremoved, info->nallowed, m->known_good.nasked, m->known_good.nallowed,
                  info->bytes, bits, info->rate, unseen_kind_name(info->kind), info->profile,
                  progress_seconds(&m->progress));
}

/* Counts wrong lines, even without --stats: nobody has looked at each of them. */
static void report_counts(const struct build_counts *c)
{
    if (c->ndangerous > 0) {
        message_warning("%" PRIu64 " dangerous entries were taken", c->ndangerous);
    }
    if (c->nskipped > 0) {
        message_warning("%" PRIu64 " lines that are not entries were left out", c->nskipped);
    }
}

/* Warns of entries that no URL can match, such as names of domains. */
static void report_plain(const struct build_job *m)
{
    const struct build_counts *c = &m->done.counts;
    if (c->nplain > c->nentries / 2) {
        message_warning("%" PRIu64 " of %" PRIu64
                        " entries are not URLs: only a question of the same bytes matches them",
                        c->nplain, c->nentries);
    }
}

bool build_job_report(const struct build_job *m)
{
    struct build_old made;
    report_counts(&m->done.counts);
    report_plain(m);
    if (m->o->report.stats == STATS_NONE && m->known_good.nallowed == 0) {
        return true;
    }
    if (!build_old_open(&made, m->folder.path)) {
        return false;
    }
    if (m->known_good.nallowed > 0 && m->o->report.stats == STATS_NONE) {
        message_plain("unseen: %" PRIu64 " of %" PRIu64
                      " known good lines would be listed, and are allowed now",
                      m->known_good.nallowed, m->known_good.nasked);
    }
    const uint64_t n = made.info.nkeys ? made.info.nkeys : 1;
    const double bits = 8 * (double)(made.info.bytes - made.info.changes_bytes) / (double)n;
    if (m->o->report.stats != STATS_NONE) {
        (m->o->report.stats == STATS_JSON ? build_print_json : build_print_text)(m, &made.info,
                                                                                 bits);
    }
    build_old_close(&made);
    return true;
}
