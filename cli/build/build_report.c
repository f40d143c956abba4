/* SPDX-License-Identifier: MIT
 *
 * What `unseen build` says of a finished list: warnings, and the figures of --stats. */
#include <inttypes.h>

#include "build/build_job.h"
#include "print/message.h"

static void build_print_figures(const struct build_job *m, const struct unseen_list_info *info)
{
    const struct build_counts *c = &m->done.counts;
    const struct figure figures[] = {
        {"lines", "lines", c->nlines, false},
        {"entries", "entries", c->nentries, false},
        {"distinct", "distinct", info->nkeys, false},
        {"comments", "comments", c->ncomments, true},
        {"dangerous", "dangerous", c->ndangerous, true},
        {"left out", "left_out", c->nskipped, true},
        {"not taken", "not_taken", c->nrules, true},
        {"removed", "removed", c->nremoved, true},
        {"allowed", "allowed", info->nallowed, true},
        {"known good", "known_good", m->known_good.nasked, true},
        {"of them hit", "known_good_hit", m->known_good.nallowed, true},
        {"bytes", "bytes", info->bytes, false},
    };
    const size_t n = sizeof(figures) / sizeof(figures[0]);
    const uint64_t nkeys = info->nkeys ? info->nkeys : 1;
    const double bits = 8 * (double)(info->bytes - info->changes_bytes) / (double)nkeys;
    char json[FIGURES_JSON_CAP];
    if (m->o->report.stats == STATS_JSON) {
        figures_write_json(figures, n, json);
        message_plain("{%s,\"bits_per_entry\":%.4f,\"rate\":%.6g"
                      ",\"kind\":\"%s\",\"profile\":\"%s\",\"seconds\":%.6f}",
                      json, bits, info->rate, unseen_kind_name(info->kind), info->profile,
                      progress_seconds(&m->progress));
        return;
    }
    figures_print(figures, n);
    message_plain("%-12s %.3f", "bits/entry", bits);
    message_plain("%-12s %.3g", "wrong", info->rate);
    message_plain("%-12s %s", "kind", unseen_kind_name(info->kind));
    message_plain("%-12s %s", "profile", info->profile);
    message_plain("%-12s %.3f", "seconds", progress_seconds(&m->progress));
}

/* Counts entries that are not what other entries are, even without --stats: nobody has looked at
 * each of them. */
static void report_counts(const struct build_job *m)
{
    const struct build_counts *c = &m->done.counts;
    if (c->nliteral > 0) {
        message_warning("%" PRIu64 " of %" PRIu64 " entries %s", c->nliteral, c->nentries,
                        entries_literal(m->kind, true));
    }
    if (c->nallowed > 0) {
        message_plain("unseen: %" PRIu64
                      " entries are allowed, and win over what is listed below them",
                      c->nallowed);
    }
}

bool build_job_report(const struct build_job *m)
{
    struct build_old made;
    report_counts(m);
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
    if (m->o->report.stats != STATS_NONE) {
        build_print_figures(m, &made.info);
    }
    build_old_close(&made);
    return true;
}
