/* SPDX-License-Identifier: MIT
 *
 * The rules for the parts of a URL. rules.c has the order in which they are applied. */
#ifndef UNSEEN_URL_RULES_H
#define UNSEEN_URL_RULES_H

#include "url/ascii.h"
#include "url/params.h"
#include "url/whatwg.h"

/* What a rule knows besides its part. */
struct unseen__rule_context {
    const struct unseen_url *url;
    const struct unseen__param_site *drop_site; /* of the URL's host, in drop-params */
    const struct unseen__param_site *only_site; /* in only-params */
    char *scratch;
    const struct unseen__url_trace *trace;
};

/* A piece of a query, which stands between two &. */
struct unseen__piece {
    const char *text;
    size_t len;
    size_t name_len; /* up to =, or to the end */
};

/* Rewrites s[0..len) in place, never longer, and returns the new length. */
typedef size_t unseen__part_fn(const struct unseen__rule_context *context, char *s, size_t len);

/* Returns true if the piece goes. */
typedef bool unseen__drop_fn(const struct unseen__rule_context *context,
                             const struct unseen__piece *piece);

enum {
    UNSEEN__DROPS_MAX = 8
};

/* Does s start with the lower-case prefix, in any case? */
static inline bool unseen__has_prefix(const char *s, size_t len, const char *prefix)
{
    for (size_t i = 0; prefix[i]; i++) {
        if (i == len || ascii_lower(s[i]) != prefix[i]) {
            return false;
        }
    }
    return true;
}

/* The length of all that the rule strip-www takes off the front of a host. */
size_t unseen__www_len(const char *host, size_t len);

/* rules_path.c */
unseen__part_fn unseen__upper_escapes;
unseen__part_fn unseen__decode_unreserved;
unseen__part_fn unseen__decode_reserved;
unseen__part_fn unseen__collapse_slashes; /* needs no context */
unseen__part_fn unseen__strip_path_sessions;
unseen__part_fn unseen__strip_index;
unseen__part_fn unseen__strip_slash;

/* rules_query.c. A query starts with its ?. */
unseen__drop_fn unseen__drops_param;
unseen__drop_fn unseen__drops_other_param;
unseen__drop_fn unseen__drops_any;
unseen__drop_fn unseen__drops_session;
unseen__drop_fn unseen__drops_tracker;
unseen__part_fn unseen__unescape_amp;
unseen__part_fn unseen__names_only;
unseen__part_fn unseen__sort_query;
unseen__part_fn unseen__drop_empty_query;

/* Drops the pieces that one of the functions drops. If no piece remains, the ? goes, too. */
size_t unseen__filter_query(const struct unseen__rule_context *context,
                            unseen__drop_fn *const *drops, size_t ndrops, char *s, size_t len);

/* The patterns of the names that strip-trackers and strip-sessions look for. */
void unseen__trackers_init(struct unseen__patterns *list);
void unseen__sessions_init(struct unseen__patterns *list);

#endif
