/* SPDX-License-Identifier: MIT
 *
 * Watches whether the lines of a run are URLs. Under a URL profile a line that is not a URL is
 * compared as it stands. That is right for a few lines, and wrong if the user forgot to say which
 * part of a line is the URL: a store would remember whole records. So a run with a store or -x
 * fails, and remembers nothing, if none of its lines is a URL but one of them seems to hold one. */
#ifndef UNSEEN_CLI_URL_WATCH_H
#define UNSEEN_CLI_URL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lines/batch.h"

/* What a line is that is not a URL. */
enum line_look {
    LOOK_OTHER,
    LOOK_HOST,   /* e.com or www.e.com/a: a URL without its scheme */
    LOOK_JSON,   /* a record */
    LOOK_WARC,   /* the first line of a record of an archive */
    LOOK_FIELDS, /* a URL stands behind a separator */
    LOOK_TEXT    /* a URL stands somewhere else */
};

struct url_watch {
    /* set by the caller */
    bool matters;                 /* whole lines are asked or remembered */
    const struct unseen_url *url; /* if the batches lack forms: makes them; else NULL */

    bool has_url;
    uint64_t nlines;     /* so far, while there is no URL */
    enum line_look look; /* of the first line that is not OTHER */
    char text[1024];     /* the beginning of that line */
    size_t len;
};

/* Looks at n lines of b, from `first` on. Cheap once a URL has come. */
void url_watch_look(struct url_watch *w, const struct batch *b, size_t first, size_t n);

/* Looks at a line that is not a URL. */
void url_watch_look_line(struct url_watch *w, struct unseen_bytes line);

/* True if the run seems to be wrong so far: nothing may be remembered yet. */
bool url_watch_doubts(const struct url_watch *w);

/* True if so many lines have come that the run need not go on. */
bool url_watch_stops(const struct url_watch *w);

/* Reports, at the end of a run, that it was wrong; false if it was. Hints at names without a scheme
 * if nothing was remembered or looked up. `is_fixed`: the lines are for a store that was there, so
 * the profile cannot be chosen. */
bool url_watch_report(const struct url_watch *w, const char *profile, bool is_fixed);

/* Hints at what makes URLs of the lines, which are like w->text. */
void url_watch_hint(const struct url_watch *w, const char *profile, bool is_fixed);

/* The same for the lines of a file of -x. */
bool url_watch_report_file(const struct url_watch *w, const char *path);

#endif
