/* SPDX-License-Identifier: MIT
 *
 * The members of a Redis set, as a client prints them. Any bytes are harmless, and a member is
 * never longer than the bytes that were read. With a limit, longer members are counted and the
 * others stay the same. Members that are written in one of the shapes come back unchanged: the
 * first byte chooses the shape, the rest is members between zero bytes. */
#include "../cli/import/redis_set.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMBERS_MAX = 16
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Calls take for each line of data, as the reader does. */
static void each_line(const char *data, size_t len,
                      void (*take)(void *context, struct unseen_bytes line), void *context)
{
    for (size_t at = 0; at < len;) {
        const char *end = memchr(data + at, '\n', len - at);
        const size_t n = end ? (size_t)(end - data) - at : len - at;
        take(context, (struct unseen_bytes){data + at, n});
        at += n + 1;
    }
}

struct reading {
    struct redis_set set;
    size_t nread; /* bytes so far */
    const struct unseen_bytes *wanted;
    size_t nwanted; /* SIZE_MAX: anything may come */
    size_t nfound;
    size_t nlong;
};

static void take_line(void *context, struct unseen_bytes line)
{
    struct reading *r = context;
    struct unseen_bytes member = {NULL, 0};
    r->nread += line.len + 1;
    const enum redis_result result = redis_set_take(&r->set, line, &member);
    require(r->nwanted == SIZE_MAX || result == REDIS_MEMBER || result == REDIS_NOTHING);
    r->nlong += result == REDIS_LONG;
    require(!r->set.in_member || r->set.max_len == 0 ||
            r->set.text.len <= r->set.max_len + line.len + 1);
    if (result == REDIS_MEMBER) {
        require(member.len <= r->nread);
        if (r->nwanted != SIZE_MAX) {
            require(r->nfound < r->nwanted && member.len == r->wanted[r->nfound].len);
            require(member.len == 0 ||
                    memcmp(member.data, r->wanted[r->nfound].data, member.len) == 0);
        }
        r->nfound++;
    }
}

/* ---- Writing the shapes ---------------------------------------------------------------------- */

static char *put_quoted(char *to, struct unseen_bytes member, size_t number)
{
    static const char letters[] = "nrtab\"\\";
    static const char meanings[] = "\n\r\t\a\b\"\\";
    to += sprintf(to, "%2zu) \"", number);
    for (size_t i = 0; i < member.len; i++) {
        const unsigned char c = (unsigned char)member.data[i];
        const char *meaning = strchr(meanings, c);
        if (c && meaning) {
            *to++ = '\\';
            *to++ = letters[meaning - meanings];
        } else if (c < 0x20 || c >= 0x7f) {
            to += sprintf(to, "\\x%02x", c);
        } else {
            *to++ = (char)c;
        }
    }
    return to + sprintf(to, "\"\n");
}

static char *put_protocol(char *to, struct unseen_bytes member)
{
    to += sprintf(to, "$%zu\r\n", member.len);
    memcpy(to, member.data, member.len);
    to += member.len;
    return to + sprintf(to, "\r\n");
}

static void check_round_trip(bool quoted, const char *data, size_t len)
{
    struct unseen_bytes members[MEMBERS_MAX];
    size_t n = 0;
    for (size_t at = 0; at <= len && n < MEMBERS_MAX; n++) {
        const char *end = at < len ? memchr(data + at, 0, len - at) : NULL;
        members[n] = (struct unseen_bytes){data + at, end ? (size_t)(end - data) - at : len - at};
        at += members[n].len + 1;
    }
    char *text = malloc(4 * len + 40 * MEMBERS_MAX);
    if (!text) {
        return;
    }
    char *to = text;
    to += quoted ? 0 : sprintf(to, "*%zu\r\n", n);
    for (size_t i = 0; i < n; i++) {
        to = quoted ? put_quoted(to, members[i], i + 1) : put_protocol(to, members[i]);
    }
    struct reading r = {.wanted = members, .nwanted = n};
    each_line(text, (size_t)(to - text), take_line, &r);
    require(r.nfound == n && redis_set_is_whole(&r.set));
    redis_set_release(&r.set);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const char *text = (const char *)data;
    struct reading r = {.nwanted = SIZE_MAX};
    each_line(text, len, take_line, &r);
    struct reading limited = {.nwanted = SIZE_MAX, .set.max_len = 4};
    each_line(text, len, take_line, &limited);
    require(r.set.shape == limited.set.shape && r.nlong == 0);
    require(limited.nfound + limited.nlong == r.nfound);
    redis_set_release(&limited.set);
    redis_set_release(&r.set);
    if (len > 0) {
        check_round_trip(data[0] & 1, text + 1, len - 1);
    }
    return 0;
}
