/* SPDX-License-Identifier: MIT
 *
 * GUARD.*: a filter, a cache and a lease in front of a database. A key that the filter does not
 * know is absent, a key with a value is answered, and any other key is leased to exactly one
 * loader.
 *
 * A reply of GUARD.GET is an array of a word and what belongs to it:
 *
 *     absent nil    value BYTES    lease TOKEN    busy MILLISECONDS
 *
 * and, if there is no such filter, a third element, "nofilter": then every key may be present.
 *
 * Values are plain strings of the server: they are saved and replicated as such. */
#include "commands/handlers.h"

#include <string.h>

#include "commands/guard_leases.h"
#include "keys/keys.h"
#include "server/errors.h"
#include "server/parse.h"

enum {
    TIME_MAX = 3600000,
    LEASE_DEFAULT = 10000
};

#define PX_MAX 1000000000000

static struct {
    uint64_t nabsent;
    uint64_t nvalues;
    uint64_t nleases;
    uint64_t nbusy;
    uint64_t nwaits;
    uint64_t nunfiltered;
} totals;

void guard_add_info(struct server_info_ctx *info)
{
    (void)server.InfoAddFieldULongLong(info, "guard_leases", guard_leases_count());
    (void)server.InfoAddFieldULongLong(info, "guard_leases_given", totals.nleases);
    (void)server.InfoAddFieldULongLong(info, "guard_leases_expired", guard_leases_expired());
    (void)server.InfoAddFieldULongLong(info, "guard_answered_absent", totals.nabsent);
    (void)server.InfoAddFieldULongLong(info, "guard_answered_value", totals.nvalues);
    (void)server.InfoAddFieldULongLong(info, "guard_answered_busy", totals.nbusy);
    (void)server.InfoAddFieldULongLong(info, "guard_waits", totals.nwaits);
    (void)server.InfoAddFieldULongLong(info, "guard_without_filter", totals.nunfiltered);
}

/* ---- GUARD.GET ---- */

struct question {
    struct server_string *filter;
    struct server_string *name;
    uint64_t lease_ttl;
    uint64_t wait;
};

static enum error parse_question(struct server_string **argv, int argc, struct question *q)
{
    *q = (struct question){.filter = argv[1], .name = argv[2], .lease_ttl = LEASE_DEFAULT};
    for (int i = 3; i < argc; i += 2) {
        if (parse_is(argv[i], "LEASE")) {
            if (!parse_range(argv[i + 1], 1, TIME_MAX, &q->lease_ttl)) {
                return ERROR_GUARD_LEASE;
            }
        } else if (parse_is(argv[i], "WAIT")) {
            if (!parse_range(argv[i + 1], 0, TIME_MAX, &q->wait)) {
                return ERROR_GUARD_WAIT;
            }
        } else {
            return ERROR_SYNTAX;
        }
    }
    return ERROR_NONE;
}

/* What the filter says of a key. */
enum filtered {
    IS_ABSENT,
    MAY_BE_PRESENT,
    HAS_NO_FILTER,
    IS_NO_FILTER,
    FORGETS,
    CANNOT_SAY
};

static enum filtered ask_filter(struct server_ctx *ctx, const struct question *q)
{
    struct server_string *item = q->name;
    struct unseen_key key;
    struct value *value;
    uint8_t verdict;
    const enum found found = key_read_any(ctx, q->filter, &value);
    if (found != FOUND) {
        return found == MISSING ? HAS_NO_FILTER : IS_NO_FILTER;
    }
    if (value_recipe(value)->settings.window > 0) {
        return FORGETS;
    }
    if (recipe_keys(value_recipe(value), &item, 1, &key) != UNSEEN_OK) {
        return CANNOT_SAY;
    }
    value_contains(value, &key, 1, &verdict);
    return verdict == UNSEEN_SEEN ? MAY_BE_PRESENT : IS_ABSENT;
}

/* Begins a reply; the caller adds the second element and calls end_reply. */
static void begin_reply(struct server_ctx *ctx, const char *word, enum filtered filtered)
{
    (void)server.ReplyWithArray(ctx, filtered == HAS_NO_FILTER ? 3 : 2);
    (void)server.ReplyWithSimpleString(ctx, word);
}

static void end_reply(struct server_ctx *ctx, enum filtered filtered)
{
    if (filtered == HAS_NO_FILTER) {
        totals.nunfiltered++;
        (void)server.ReplyWithSimpleString(ctx, "nofilter");
    }
}

static int reply_absent(struct server_ctx *ctx, enum filtered filtered)
{
    totals.nabsent++;
    begin_reply(ctx, "absent", filtered);
    (void)server.ReplyWithNull(ctx);
    end_reply(ctx, filtered);
    return SERVER_OK;
}

/* Replies with the value of the key. Returns false if it has none. */
static bool reply_value(struct server_ctx *ctx, const struct question *q, enum filtered filtered)
{
    struct server_key *key = server.OpenKey(ctx, q->name, SERVER_READ);
    const int type = key ? server.KeyType(key) : SERVER_KEY_EMPTY;
    size_t len;
    if (type == SERVER_KEY_STRING) {
        const char *bytes = server.StringDMA(key, &len, SERVER_READ);
        totals.nvalues++;
        begin_reply(ctx, "value", filtered);
        (void)server.ReplyWithStringBuffer(ctx, bytes, len);
        end_reply(ctx, filtered);
    } else if (type != SERVER_KEY_EMPTY) {
        (void)reply_error(ctx, ERROR_WRONG_TYPE);
    }
    server.CloseKey(key);
    return type != SERVER_KEY_EMPTY;
}

static int reply_lease(struct server_ctx *ctx, const char *token, enum filtered filtered)
{
    totals.nleases++;
    begin_reply(ctx, "lease", filtered);
    (void)server.ReplyWithStringBuffer(ctx, token, GUARD_TOKEN_LEN);
    end_reply(ctx, filtered);
    return SERVER_OK;
}

static int reply_busy(struct server_ctx *ctx, const struct question *q)
{
    const struct guard_lease *lease = guard_lease_find(ctx, q->name);
    const enum filtered filtered = ask_filter(ctx, q);
    const int64_t rest = lease ? lease->until - server_steady() : 0;
    totals.nbusy++;
    begin_reply(ctx, "busy", filtered);
    (void)server.ReplyWithLongLong(ctx, rest > 0 ? rest : 0);
    end_reply(ctx, filtered);
    return SERVER_OK;
}

/* Replies, unless another client is loading the key: then returns its lease. */
static struct guard_lease *answer(struct server_ctx *ctx, const struct question *q)
{
    const enum filtered filtered = ask_filter(ctx, q);
    if (filtered == IS_ABSENT) {
        (void)reply_absent(ctx, filtered);
        return NULL;
    }
    if (filtered == IS_NO_FILTER || filtered == CANNOT_SAY || filtered == FORGETS) {
        (void)reply_error(ctx, filtered == IS_NO_FILTER ? ERROR_WRONG_TYPE
                               : filtered == FORGETS    ? ERROR_WINDOW_GUARD
                                                        : ERROR_NO_MEMORY);
        return NULL;
    }
    if (reply_value(ctx, q, filtered)) {
        return NULL;
    }
    struct guard_lease *lease = guard_lease_find(ctx, q->name);
    if (lease) {
        return lease;
    }
    if (server.GetContextFlags(ctx) & SERVER_IS_FULL) {
        (void)reply_error(ctx, ERROR_GUARD_FULL);
        return NULL;
    }
    lease = guard_lease_take(ctx, q->name, (int64_t)q->lease_ttl);
    (void)(lease ? reply_lease(ctx, lease->token, filtered) : reply_error(ctx, ERROR_NO_MEMORY));
    return NULL;
}

/* A client that has waited is woken. */
static int go_on(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct guard_waiter *waiter = server.GetBlockedClientPrivateData(ctx);
    struct question q;
    (void)parse_question(argv, argc, &q); /* was right before */
    waiter->is_answered = true;
    if (waiter->outcome == GUARD_LEASED) {
        return reply_lease(ctx, waiter->token, ask_filter(ctx, &q));
    }
    if (waiter->outcome == GUARD_ABSENT) {
        return reply_absent(ctx, ask_filter(ctx, &q));
    }
    return answer(ctx, &q) ? reply_busy(ctx, &q) : SERVER_OK;
}

static int give_up(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct question q;
    guard_waiter_gives_up(ctx);
    (void)parse_question(argv, argc, &q);
    return reply_busy(ctx, &q);
}

int guard_get(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    struct question q;
    if (argc < 3 || argc % 2 == 0) {
        return server.WrongArity(ctx);
    }
    const int flags = server.GetContextFlags(ctx);
    const enum error error = parse_question(argv, argc, &q);
    if (error != ERROR_NONE || flags & SERVER_IS_REPLICA) {
        return reply_error(ctx, error != ERROR_NONE ? error : ERROR_GUARD_REPLICA);
    }
    struct guard_lease *lease = answer(ctx, &q);
    if (!lease) {
        return SERVER_OK;
    }
    if (q.wait > 0 && !(flags & (SERVER_DENIES_BLOCKING | SERVER_IS_FULL)) &&
        guard_lease_wait(ctx, lease, (int64_t)q.lease_ttl, (int64_t)q.wait, go_on, give_up)) {
        totals.nwaits++;
        return SERVER_OK;
    }
    return reply_busy(ctx, &q);
}

/* ---- GUARD.SET, GUARD.FAIL, GUARD.DEL ---- */

/* The lease of a key, if it has this token. */
static struct guard_lease *lease_of(struct server_ctx *ctx, const struct server_string *name,
                                    const struct server_string *token)
{
    size_t len;
    const char *text = server.StringPtrLen(token, &len);
    struct guard_lease *lease = guard_lease_find(ctx, name);
    const bool is_loader =
        lease && len == GUARD_TOKEN_LEN && memcmp(lease->token, text, GUARD_TOKEN_LEN) == 0;
    return is_loader ? lease : NULL;
}

/* Returns false if the key has a value: not every way to write a key raises an event, which would
 * have ended the lease. */
static bool put_value(struct server_ctx *ctx, struct server_string *name,
                      struct server_string *value, uint64_t ttl)
{
    struct server_key *key = server.OpenKey(ctx, name, SERVER_READ | SERVER_WRITE);
    if (server.KeyType(key) != SERVER_KEY_EMPTY) {
        server.CloseKey(key);
        return false;
    }
    (void)server.StringSet(key, value); /* the key is open to be written */
    if (ttl > 0) {
        const long long until = server.Milliseconds() + (long long)ttl;
        (void)server.SetAbsExpire(key, until);
        (void)server.Replicate(ctx, "SET", "sscl", name, value, "PXAT", until);
    } else {
        (void)server.Replicate(ctx, "SET", "ss", name, value);
    }
    server.CloseKey(key);
    return true;
}

int guard_set(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    uint64_t ttl = 0;
    if (argc != 4 && argc != 6) {
        return server.WrongArity(ctx);
    }
    if (argc == 6 && !parse_is(argv[4], "PX")) {
        return reply_error(ctx, ERROR_SYNTAX);
    }
    if (argc == 6 && !parse_range(argv[5], 1, PX_MAX, &ttl)) {
        return reply_error(ctx, ERROR_GUARD_PX);
    }
    struct guard_lease *lease = lease_of(ctx, argv[1], argv[2]);
    if (!lease) {
        return server.ReplyWithLongLong(ctx, 0);
    }
    const bool is_put = put_value(ctx, argv[1], argv[3], ttl);
    guard_lease_end(ctx, lease, GUARD_ASK_AGAIN);
    if (!is_put) {
        return server.ReplyWithLongLong(ctx, 0);
    }
    (void)server.SignalModifiedKey(ctx, argv[1]);
    (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_STRING, "set", argv[1]);
    if (ttl > 0) {
        (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "expire", argv[1]);
    }
    return server.ReplyWithLongLong(ctx, 1);
}

int guard_fail(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    if (argc != 3 && argc != 4) {
        return server.WrongArity(ctx);
    }
    if (argc == 4 && !parse_is(argv[3], "ABSENT")) {
        return reply_error(ctx, ERROR_SYNTAX);
    }
    struct guard_lease *lease = lease_of(ctx, argv[1], argv[2]);
    if (lease) {
        guard_lease_end(ctx, lease, argc == 4 ? GUARD_ABSENT : GUARD_LEASED);
    }
    return server.ReplyWithLongLong(ctx, lease != NULL);
}

int guard_del(struct server_ctx *ctx, struct server_string **argv, int argc)
{
    if (argc != 2) {
        return server.WrongArity(ctx);
    }
    struct server_key *key = server.OpenKey(ctx, argv[1], SERVER_READ | SERVER_WRITE);
    const bool has_value = key && server.KeyType(key) != SERVER_KEY_EMPTY;
    struct guard_lease *lease = guard_lease_find(ctx, argv[1]);
    if (lease) {
        guard_lease_end(ctx, lease, GUARD_LEASED);
    }
    if (has_value) {
        (void)server.DeleteKey(key); /* it is open to be written */
        (void)server.Replicate(ctx, "DEL", "s", argv[1]);
    }
    server.CloseKey(key);
    if (has_value) {
        (void)server.SignalModifiedKey(ctx, argv[1]);
        (void)server.NotifyKeyspaceEvent(ctx, SERVER_NOTIFY_GENERIC, "del", argv[1]);
    }
    return server.ReplyWithLongLong(ctx, has_value);
}
