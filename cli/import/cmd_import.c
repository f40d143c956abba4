/* SPDX-License-Identifier: MIT
 *
 * `unseen import`: adds to a store what another program remembers. Files of other formats are read
 * as plain lines, one file after the other. A line that does not fit the format is reported with
 * file and line and left out, and the exit status is 2. Nothing is dropped in silence. */
#include <inttypes.h>
#include <string.h>

#include "characters.h"
#include "commands/change.h"
#include "commands/commands.h"
#include "import/import_bitmap.h"
#include "import/import_foreign.h"
#include "import/redis_set.h"
#include "import/requests_seen.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/files.h"
#include "lines/identity.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    REPORTS_MAX = 10,
    SHOWN_MAX = 60 /* bytes of a line */
};

const char *const import_formats[] = {
    [SOURCE_LINES] = "lines",
    [SOURCE_ANEW] = "anew",
    [SOURCE_REQUESTS_SEEN] = "requests.seen",
    [SOURCE_REDIS_SET] = "redis-set",
    [SOURCE_GUAVA] = "guava",
    [SOURCE_DCSO] = "dcso",
    [SOURCE_REDIS_BITMAP] = "redis-bitmap",
    [SOURCE_JAVA_BITSET] = "java-bitset",
    NULL,
};

struct import;

/* A format is read line by line here, or has a function of its own. */
struct import_row {
    bool (*take)(struct import *m, struct unseen_bytes line); /* false: the run ends */
    const char *wanted;                                       /* what a line must be */
    int (*run)(const struct options *o, enum unseen_cpu cpu);
};

struct import {
    const struct import_row *row;
    struct change change;
    const char *name; /* of the current file */
    uint64_t line;    /* number of the current line, from 1 */
    struct redis_set redis;
    struct requests_seen scrapy;
    uint64_t nwrong;
    struct unseen_key keys[BATCH_LINES];
    size_t nkeys;
};

/* Writes the first bytes of a line, those that a terminal does not show as \xHH. */
static void show_bytes(struct unseen_bytes line, char shown[4 * SHOWN_MAX + 1])
{
    char *to = shown;
    for (size_t i = 0; i < line.len && i < SHOWN_MAX; i++) {
        const unsigned char c = (unsigned char)line.data[i];
        if (c >= ' ' && c < 0x7f && c != '\\') {
            *to++ = (char)c;
        } else {
            memcpy(to, (const char[]){'\\', 'x', hex_digit(c >> 4), hex_digit(c)}, 4);
            to += 4;
        }
    }
    *to = '\0';
}

static void import_report_wrong(struct import *m, struct unseen_bytes line)
{
    char shown[4 * SHOWN_MAX + 1];
    m->change.failed = true;
    if (m->nwrong++ < REPORTS_MAX) {
        show_bytes(line, shown);
        message_error("%s:%" PRIu64 ": left out, not %s: '%s'", m->name, m->line, m->row->wanted,
                      shown);
    }
}

static bool import_flush(struct import *m)
{
    const size_t n = m->nkeys;
    m->nkeys = 0;
    return n == 0 || change_keys(&m->change, m->keys, n);
}

static bool import_add(struct import *m, struct unseen_bytes item)
{
    const enum unseen_status status =
        unseen_set_keys(unseen_store_set(m->change.store), &item, 1, &m->keys[m->nkeys], NULL);
    if (status != UNSEEN_OK) {
        message_error("%s:%" PRIu64 ": %s", m->name, m->line, unseen_status_string(status));
        m->change.failed = true;
        return false;
    }
    return ++m->nkeys < BATCH_LINES || import_flush(m);
}

static bool import_report_memory(struct import *m)
{
    message_error("%s:%" PRIu64 ": out of memory", m->name, m->line);
    m->change.failed = true;
    return false;
}

static void report_torn(struct import *m)
{
    const size_t width = m->scrapy.width ? m->scrapy.width : FINGERPRINT_DIGITS / 2;
    m->change.failed = true;
    message_error("%s: left out from byte %" PRIu64 " on: not a fingerprint of %zu bytes", m->name,
                  m->scrapy.offset, width);
}

static bool take_scrapy(struct import *m, struct unseen_bytes line)
{
    if (!requests_seen_push(&m->scrapy, line)) {
        return import_report_memory(m);
    }
    for (;;) {
        struct unseen_bytes digits;
        switch (requests_seen_next(&m->scrapy, &digits)) {
        case REQUESTS_SEEN_FINGERPRINT:
            if (!import_add(m, digits)) {
                return false;
            }
            break;
        case REQUESTS_SEEN_WRONG:
            if (m->scrapy.shape == REQUESTS_SEEN_BYTES) {
                report_torn(m);
            } else {
                import_report_wrong(m, line);
            }
            break;
        case REQUESTS_SEEN_NOTHING:
            return true;
        }
    }
}

static void import_report_long(struct import *m)
{
    m->change.failed = true;
    if (m->nwrong++ < REPORTS_MAX) {
        message_error("%s:%" PRIu64 ": member of %zu bytes left out: --max-line is %" PRIu64,
                      m->name, m->line, m->redis.len, m->change.o->input.max_line);
    }
}

static bool take_redis(struct import *m, struct unseen_bytes line)
{
    struct unseen_bytes member;
    switch (redis_set_take(&m->redis, line, &member)) {
    case REDIS_MEMBER:
        return import_add(m, member);
    case REDIS_LONG:
        import_report_long(m);
        break;
    case REDIS_WRONG:
        import_report_wrong(m, line);
        break;
    case REDIS_NOMEM:
        return import_report_memory(m);
    case REDIS_NOTHING:
        break;
    }
    return true;
}

static bool import_take_batch(void *context, const struct batch *b)
{
    struct import *m = context;
    m->change.report.nbytes += b->nbytes;
    for (size_t i = 0; i < b->n; i++) {
        m->line++;
        if (!m->row->take(m, b->lines[i])) {
            return false;
        }
    }
    report_poll();
    return import_flush(m);
}

static bool import_file(struct import *m, const char *name)
{
    struct output none = {.fd = -1};
    const uint64_t max_len = m->change.o->input.max_line;
    struct feed feed = {
        .input = &m->change.o->input,
        .file = name,
        .out = &none,
        .take = import_take_batch,
        .context = m,
    };
    m->name = files_shown(name);
    m->line = 0;
    m->redis.max_len = max_len < SIZE_MAX ? (size_t)max_len : 0;
    feed_run(&feed);
    if (!redis_set_is_whole(&m->redis)) {
        message_error("%s: the reply ends too early", m->name);
        m->change.failed = true;
    }
    if (!requests_seen_is_whole(&m->scrapy)) {
        report_torn(m);
    }
    redis_set_release(&m->redis);
    requests_seen_release(&m->scrapy);
    m->change.failed = m->change.failed || feed.failed;
    return import_flush(m);
}

static void read_files(struct import *m)
{
    const struct input_options *input = &m->change.o->input;
    for (size_t i = 0; i < input->nfiles && import_file(m, input->files[i]); i++) {
    }
    if (m->nwrong > REPORTS_MAX) {
        message_error("%" PRIu64 " more lines left out", m->nwrong - REPORTS_MAX);
    }
}

/* Fingerprints are not URLs: -p none is the only profile for them. */
static bool check_profile(const struct options *o)
{
    if (o->source == SOURCE_REQUESTS_SEEN &&
        ((o->profile.name && strncmp(o->profile.name, "none", 4) != 0) || o->profile.nrules > 0)) {
        message_error("requests.seen holds fingerprints, which no profile reads as URLs");
        message_hint("%s", typed_changed("rule drop-params only-params", "--profile none"));
        return false;
    }
    return true;
}

static const struct import_row rows[] = {
    [SOURCE_LINES] = {.run = change_run},
    [SOURCE_ANEW] = {.run = change_run},
    [SOURCE_REQUESTS_SEEN] = {.take = take_scrapy, .wanted = "40 hexadecimal digits"},
    [SOURCE_REDIS_SET] = {.take = take_redis, .wanted = "part of a reply of SMEMBERS"},
    [SOURCE_GUAVA] = {.run = import_foreign_run},
    [SOURCE_DCSO] = {.run = import_foreign_run},
    [SOURCE_REDIS_BITMAP] = {.run = import_bitmap_run},
    [SOURCE_JAVA_BITSET] = {.run = import_bitmap_run},
};

int import_run(const struct options *o, enum unseen_cpu cpu)
{
    const struct import_row *row = &rows[o->source];
    if (o->from_redis) {
        return import_foreign_run(o, cpu);
    }
    if (row->run) {
        return row->run(o, cpu);
    }
    struct import m = {.row = row};
    if (check_profile(o) && change_start(&m.change, o, cpu)) {
        read_files(&m);
    }
    return change_finish(&m.change);
}
