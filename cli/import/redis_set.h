/* SPDX-License-Identifier: MIT
 *
 * The members of a Redis set from what a client prints for SMEMBERS, line by line. Three shapes,
 * told apart by the first line:
 *
 *     http://e.com/a             raw: redis-cli into a pipe, a member a line
 *     1) "http://e.com/a"        quoted: redis-cli on a terminal
 *     *1\r\n$14\r\nhttp://...    the reply as the protocol (RESP 2 and 3) has it
 */
#ifndef UNSEEN_CLI_REDIS_SET_H
#define UNSEEN_CLI_REDIS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

enum redis_shape {
    REDIS_UNKNOWN,
    REDIS_RAW,
    REDIS_QUOTED,
    REDIS_PROTOCOL
};

/* Before each file all zero other than max_len. */
struct redis_set {
    size_t max_len; /* protocol: longer members are left out; 0: any length */
    enum redis_shape shape;
    uint64_t nmembers;   /* members so far; protocol: members that have begun */
    uint64_t nannounced; /* protocol: members that the header announces */
    bool in_member;      /* protocol: inside the bytes of a member or its line end */
    size_t len;          /* protocol: the bytes of that member without its line end */
    uint64_t nskipped;   /* protocol: bytes so far of a member that is too long */
    struct text text;    /* the member, if it is not a part of the line */
};

enum redis_result {
    REDIS_MEMBER,  /* *member_out is a member, valid until the next call */
    REDIS_NOTHING, /* no member ends in this line */
    REDIS_LONG,    /* a member longer than max_len, of r->len bytes, ends here and is left out */
    REDIS_WRONG,   /* the line does not fit the shape and is left out */
    REDIS_NOMEM
};

enum redis_result redis_set_take(struct redis_set *r, struct unseen_bytes line,
                                 struct unseen_bytes *member_out);

/* True if the file may end here. */
bool redis_set_is_whole(const struct redis_set *r);

void redis_set_release(struct redis_set *r);

#endif
