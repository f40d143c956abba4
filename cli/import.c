/* SPDX-License-Identifier: MIT
 *
 * Files with a shape of their own are read as plain lines, one file after the other, and each line
 * must be what the shape says: what is not is named with file and line, left out, and makes the exit
 * status 2. Nothing is dropped in silence. */
#include "import.h"

#include <inttypes.h>
#include <string.h>

#include "batch.h"
#include "change.h"
#include "command.h"
#include "feed.h"
#include "files.h"
#include "identity.h"
#include "message.h"
#include "redis_set.h"

enum {
    FINGERPRINT_DIGITS = 40, /* Scrapy's: SHA-1 */
    REPORTS_MAX = 10
};

struct import {
    struct change change;
    const char *name; /* of the file at hand */
    uint64_t line;    /* number of its line at hand, from 1 */
    struct redis_set redis;
    uint64_t nwrong;
    struct unseen_key keys[BATCH_LINES];
    size_t nkeys;
};

static void report_wrong(struct import *m, struct unseen_bytes line)
{
    const int shown = line.len < 60 ? (int)line.len : 60;
    m->change.failed = true;
    if (m->nwrong++ < REPORTS_MAX) {
        message_error("%s:%" PRIu64 ": left out, not %s: '%.*s'", m->name, m->line,
                      m->change.o.source == SOURCE_REQUESTS_SEEN ? "40 hexadecimal digits"
                                                                 : "part of a reply of SMEMBERS",
                      shown, line.data);
    }
}

static bool is_fingerprint(struct unseen_bytes line)
{
    for (size_t i = 0; i < line.len; i++) {
        const char c = line.data[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
    }
    return line.len == FINGERPRINT_DIGITS;
}

static struct unseen_bytes without_return(struct unseen_bytes line)
{
    line.len -= line.len > 0 && line.data[line.len - 1] == '\r';
    return line;
}

static bool flush(struct import *m)
{
    const size_t n = m->nkeys;
    m->nkeys = 0;
    return n == 0 || change_keys(&m->change, m->keys, n);
}

static bool add(struct import *m, struct unseen_bytes item)
{
    const enum unseen_status status =
        unseen_set_key(unseen_store_set(m->change.store), item.data, item.len, &m->keys[m->nkeys]);
    if (status != UNSEEN_OK) {
        message_error("%s:%" PRIu64 ": %s", m->name, m->line, unseen_status_string(status));
        m->change.failed = true;
        return false;
    }
    return ++m->nkeys < BATCH_LINES || flush(m);
}

static bool take_line(struct import *m, struct unseen_bytes line)
{
    struct unseen_bytes item = without_return(line);
    if (m->change.o.source == SOURCE_REQUESTS_SEEN) {
        if (is_fingerprint(item)) {
            return add(m, item);
        }
        report_wrong(m, line);
        return true;
    }
    switch (redis_set_take(&m->redis, line, &item)) {
    case REDIS_MEMBER:
        return add(m, item);
    case REDIS_WRONG:
        report_wrong(m, line);
        break;
    case REDIS_NOMEM:
        message_error("%s:%" PRIu64 ": out of memory", m->name, m->line);
        m->change.failed = true;
        return false;
    case REDIS_NOTHING:
        break;
    }
    return true;
}

static bool take_batch(void *context, const struct batch *b)
{
    struct import *m = context;
    m->change.report.nbytes += b->nbytes;
    for (size_t i = 0; i < b->n; i++) {
        m->line++;
        if (!take_line(m, b->lines[i])) {
            return false;
        }
    }
    report_poll(&m->change.report);
    return flush(m);
}

static void poll_report(void *context)
{
    struct import *m = context;
    report_poll(&m->change.report);
}

static bool read_file(struct import *m, const char *name)
{
    struct output none = {.fd = -1};
    const struct identity plain = {.delimiter = '\n'};
    struct options o = m->change.o;
    o.files = &name;
    o.nfiles = 1;
    struct feed feed = {
        .o = &o,
        .identity = &plain,
        .out = &none,
        .take = take_batch,
        .poll = poll_report,
        .context = m,
    };
    m->name = files_is_standard_input(name) ? "standard input" : name;
    m->line = 0;
    feed_run(&feed);
    if (!redis_set_is_whole(&m->redis)) {
        message_error("%s: the reply ends too early", m->name);
        m->change.failed = true;
    }
    redis_set_release(&m->redis);
    m->change.failed = m->change.failed || feed.failed;
    return flush(m);
}

static void read_files(struct import *m)
{
    const char *const *names = m->change.o.files;
    size_t n = m->change.o.nfiles;
    files_default(&names, &n);
    for (size_t i = 0; i < n && read_file(m, names[i]); i++) {
    }
    if (m->nwrong > REPORTS_MAX) {
        message_error("%" PRIu64 " more lines left out", m->nwrong - REPORTS_MAX);
    }
}

/* Fingerprints are no URLs. */
static bool check_profile(const struct options *o)
{
    if (o->source == SOURCE_REQUESTS_SEEN &&
        ((o->profile && strncmp(o->profile, "none", 4) != 0) || o->nrules > 0)) {
        message_error("requests.seen holds fingerprints, which no profile reads as URLs");
        message_hint("unseen import -p none --format requests.seen %s FILE", o->store);
        return false;
    }
    return true;
}

int import_run(const struct options *o, enum unseen_cpu cpu)
{
    if (o->source == SOURCE_LINES || o->source == SOURCE_ANEW) {
        return change_run(o, cpu);
    }
    struct import m = {.name = NULL};
    if (check_profile(o) &&
        change_start(&m.change, o, o->source == SOURCE_REQUESTS_SEEN ? "none" : NULL, cpu)) {
        read_files(&m);
    }
    return change_finish(&m.change);
}
