/* SPDX-License-Identifier: MIT */
#include "seen/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "clock.h"
#include "lines/batch.h"
#include "print/message.h"
#include "seen/redis_link.h"
#include "seen/redis_shards.h"
#include "seen/remote.h"

enum {
    ITEMS_MAX = REMOTE_PIECES * BATCH_LINES,
    /* The server answers nobody else meanwhile: 512 URLs take it about 0.2 ms. */
    COMMAND_ITEMS = 512,
    COMMANDS_MAX = ITEMS_MAX / COMMAND_ITEMS + REDIS_SHARDS_MAX,
    PAUSE_NS = 50 * 1000 * 1000
};

struct redis_set_client {
    struct redis_link link;
    struct redis_shards shards;
    char profile[4200];
    char filter[20];
    struct unseen_bytes items[ITEMS_MAX]; /* of the next question */
    size_t nitems;
    bool is_broken;            /* a question was not answered, which has been reported */
    uint32_t order[ITEMS_MAX]; /* the items by their keys */
    struct redis_command commands[COMMANDS_MAX];
    size_t firsts[COMMANDS_MAX]; /* of each command: its first place in `order` */
    const char *argv[ITEMS_MAX + 2 * COMMANDS_MAX];
    size_t lens[ITEMS_MAX + 2 * COMMANDS_MAX];
};

/* ---- One command for each key ---------------------------------------------------------------- */

/* Sends the words to each key, the key's name in place of NULL. Returns false if one has no reply,
 * which has been reported. The caller releases the commands. */
static bool ask_keys(struct redis_set_client *r, const char *const *words, size_t nwords)
{
    const size_t nkeys = r->shards.nkeys;
    size_t used = 0;
    for (size_t k = 0; k < nkeys; k++) {
        r->commands[k] = (struct redis_command){.argv = r->argv + used,
                                                .lens = r->lens + used,
                                                .argc = nwords,
                                                .node = &r->shards.keys[k].node};
        for (size_t i = 0; i < nwords; i++, used++) {
            r->argv[used] = words[i] ? words[i] : r->shards.keys[k].name;
            r->lens[used] = strlen(r->argv[used]);
        }
    }
    return redis_link_ask(&r->link, r->commands, nkeys);
}

static const char *const info_words[] = {"UNSEEN.INFO", NULL};

/* The value behind a name in a reply of names and values; NULL: it is not there. */
static const struct redisReply *redis_value(const struct redisReply *reply, const char *name)
{
    for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i + 1 < reply->elements; i += 2) {
        const struct redisReply *found = reply->element[i];
        if ((found->type == REDIS_REPLY_STRING || found->type == REDIS_REPLY_STATUS) &&
            strcmp(found->str, name) == 0) {
            return reply->element[i + 1];
        }
    }
    return NULL;
}

static uint64_t count_of(const struct redisReply *reply, const char *name)
{
    const struct redisReply *value = redis_value(reply, name);
    return value && value->type == REDIS_REPLY_INTEGER && value->integer > 0
               ? (uint64_t)value->integer
               : 0;
}

static const char *redis_text(const struct redisReply *reply, const char *name)
{
    const struct redisReply *value = redis_value(reply, name);
    return value && value->type != REDIS_REPLY_INTEGER && value->str ? value->str : "";
}

static double redis_rate(const struct redisReply *reply, const char *name)
{
    const double rate = strtod(redis_text(reply, name), NULL);
    return rate >= 0 && rate <= 1 ? rate : 1;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Takes the profile of one key. A set whose keys differ was not made as one set. */
static bool take_profile(struct redis_set_client *r, const struct redisReply *reply)
{
    const char *profile = redis_text(reply, "profile");
    const size_t len = strlen(profile);
    if (len == 0 || len >= sizeof(r->profile)) {
        return redis_link_report(&r->link, reply);
    }
    if (r->profile[0] && strcmp(r->profile, profile) != 0) {
        message_error("the keys of %s have the profiles %s and %s", r->link.shown, r->profile,
                      profile);
        message_hint("redis-cli DEL the keys of one of them, or take another name");
        return false;
    }
    memcpy(r->profile, profile, len + 1);
    return true;
}

/* Asks for the profile, which stays empty if the server has none of the keys. */
static bool find_profile(struct redis_set_client *r)
{
    const size_t nkeys = r->shards.nkeys;
    bool done = ask_keys(r, info_words, 2);
    for (size_t k = 0; k < nkeys && done; k++) {
        const struct redisReply *reply = r->commands[k].reply;
        done = redis_link_is_error(reply, "ERR not found") || take_profile(r, reply);
    }
    redis_link_release(r->commands, nkeys);
    return done;
}

/* Waits while the server loads its data, as long as it was told to. */
static bool wait_for_data(struct redis_set_client *r)
{
    const struct timespec pause = {0, PAUSE_NS};
    const double start = clock_now();
    bool is_loading = r->link.wait > 0;
    while (is_loading) {
        if (!ask_keys(r, info_words, 2)) {
            redis_link_release(r->commands, r->shards.nkeys);
            return false;
        }
        is_loading = false;
        for (size_t k = 0; k < r->shards.nkeys; k++) {
            is_loading = is_loading || redis_link_is_error(r->commands[k].reply, "LOADING");
        }
        redis_link_release(r->commands, r->shards.nkeys);
        is_loading = is_loading && clock_now() - start < r->link.wait;
        if (is_loading) {
            (void)nanosleep(&pause, NULL); /* a signal makes it shorter */
        }
    }
    return true;
}

struct redis_set_client *redis_open(const char *address, const char *password, double wait)
{
    struct redis_set_client *r = calloc(1, sizeof(*r));
    if (!r) {
        (void)message_no_memory();
        return NULL;
    }
    bool done = redis_link_open(&r->link, address, password, wait,
                                "redis-server --loadmodule unseen.so starts such a server");
    if (done && !r->link.url.key[0]) {
        message_error("%s names a server and no key", address);
        message_hint("%s%scrawl", address,
                     r->link.url.path[0]                   ? "?key="
                     : address[strlen(address) - 1] == '/' ? ""
                                                           : "/");
        done = false;
    }
    if (!done || !redis_shards_init(&r->shards, r->link.url.key, r->link.url.nshards) ||
        !wait_for_data(r) || !find_profile(r)) {
        redis_close(r);
        return NULL;
    }
    return r;
}

const char *redis_profile(const struct redis_set_client *r)
{
    return r->profile;
}

bool redis_make(struct redis_set_client *r, const char *profile, double fpr)
{
    char rate[40];
    const char *const words[] = {"UNSEEN.RESERVE", NULL, "PROFILE", profile, "FPR", rate};
    const size_t nkeys = r->shards.nkeys;
    snprintf(rate, sizeof(rate), "%.17g", fpr);
    bool done = ask_keys(r, words, fpr > 0 ? 6 : 4);
    for (size_t k = 0; k < nkeys && done; k++) {
        const struct redisReply *reply = r->commands[k].reply;
        done = reply->type != REDIS_REPLY_ERROR || redis_link_is_error(reply, "ERR item exists") ||
               redis_link_report(&r->link, reply);
    }
    redis_link_release(r->commands, nkeys);
    return done && find_profile(r);
}

void redis_close(struct redis_set_client *r)
{
    if (r) {
        redis_link_close(&r->link);
        redis_shards_release(&r->shards);
        free(r);
    }
}

/* ---- Asking ---------------------------------------------------------------------------------- */

bool redis_put(struct redis_set_client *r, const struct unseen_bytes *items, size_t n)
{
    if (n > ITEMS_MAX - r->nitems) {
        return false; /* the caller puts no more than a question takes */
    }
    memcpy(r->items + r->nitems, items, n * sizeof(*items));
    r->nitems += n;
    return true;
}

/* Makes the commands of the question: for each key, commands of at most COMMAND_ITEMS. Returns how
 * many there are. */
static size_t make_commands(struct redis_set_client *r, const char *name)
{
    size_t used = 0;
    size_t ncommands = 0;
    for (size_t k = 0, at = 0; k < r->shards.nkeys; k++) {
        while (at < r->shards.keys[k].end) {
            const size_t left = r->shards.keys[k].end - at;
            const size_t n = left < COMMAND_ITEMS ? left : COMMAND_ITEMS;
            r->firsts[ncommands] = at;
            r->commands[ncommands++] = (struct redis_command){.argv = r->argv + used,
                                                              .lens = r->lens + used,
                                                              .argc = 2 + n,
                                                              .node = &r->shards.keys[k].node};
            r->argv[used] = name;
            r->lens[used++] = strlen(name);
            r->argv[used] = r->shards.keys[k].name;
            r->lens[used++] = strlen(r->shards.keys[k].name);
            for (size_t i = 0; i < n; i++, used++, at++) {
                r->argv[used] = r->items[r->order[at]].data;
                r->lens[used] = r->items[r->order[at]].len;
            }
        }
    }
    return ncommands;
}

/* Takes the answers of one command. Returns NULL, or the reply that is not an answer: the items
 * from there on were not added. An error in the array ends it, as when the key has reached its
 * MAXBYTES. */
static const struct redisReply *take_answers(struct redis_set_client *r, size_t c, bool adds,
                                             uint8_t *verdicts)
{
    const struct redisReply *reply = r->commands[c].reply;
    const size_t n = r->commands[c].argc - 2;
    const uint32_t *places = r->order + r->firsts[c];
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements > n) {
        return reply;
    }
    for (size_t i = 0; i < reply->elements; i++) {
        const struct redisReply *answer = reply->element[i];
        if (answer->type != REDIS_REPLY_INTEGER || answer->integer < 0 || answer->integer > 1) {
            return answer;
        }
        verdicts[places[i]] = (answer->integer == 1) == adds ? UNSEEN_NEW : UNSEEN_SEEN;
    }
    return reply->elements == n ? NULL : reply;
}

/* Of a run that prints what is new, lines may be missing then. Other runs are repeated. */
static void report_unanswered(const struct redis_set_client *r, size_t ncommands,
                              enum server_question question)
{
    size_t nlost = 0;
    for (size_t c = 0; c < ncommands; c++) {
        if (!r->commands[c].reply && r->commands[c].is_sent) {
            nlost += r->commands[c].argc - 2;
        }
    }
    if (nlost > 0 && question == QUESTION_DEDUP) {
        message_warning(
            "%zu lines were sent and not answered; the server may remember some of them, "
            "although none was printed",
            nlost);
        message_hint("if none may be missing, take the lines behind the last printed one as new, "
                     "and run this again with the rest");
    }
}

bool redis_ask(struct redis_set_client *r, enum server_question question, uint8_t *verdicts)
{
    static const char *const names[] = {
        [QUESTION_CHECK] = "UNSEEN.EXISTS",
        [QUESTION_DEDUP] = "UNSEEN.ADD",
        [QUESTION_ADD] = "UNSEEN.ADD",
        [QUESTION_REMOVE] = "UNSEEN.REMOVE",
    };
    const bool adds = question == QUESTION_DEDUP || question == QUESTION_ADD;
    const size_t n = r->nitems;
    r->nitems = 0;
    memset(verdicts, REMOTE_NO_ANSWER, n);
    if (!redis_shards_sort(&r->shards, r->profile, r->items, n, r->order)) {
        return message_no_memory();
    }
    const size_t ncommands = make_commands(r, names[question]);
    bool done = redis_link_ask(&r->link, r->commands, ncommands);
    if (!done) {
        report_unanswered(r, ncommands, question);
    }
    const struct redisReply *wrong = NULL;
    for (size_t c = 0; c < ncommands; c++) {
        const struct redisReply *bad =
            r->commands[c].reply ? take_answers(r, c, adds, verdicts) : NULL;
        wrong = wrong ? wrong : bad;
    }
    if (wrong) {
        done = redis_link_report(&r->link, wrong);
    }
    redis_link_release(r->commands, ncommands);
    r->is_broken = !done;
    return done;
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Rates of the keys are about equal: each URL asks one key. */
static void add_info(struct redis_set_client *r, const struct redisReply *reply,
                     struct redis_info *info_out)
{
    struct unseen_set_stats *stats = &info_out->stats;
    stats->nkeys += count_of(reply, "urls");
    stats->memory += count_of(reply, "bytes");
    stats->fpr_promise = redis_rate(reply, "fpr promised");
    stats->fpr_estimate = redis_rate(reply, "fpr now");
    snprintf(r->filter, sizeof(r->filter), "%s", redis_text(reply, "filter"));
    stats->filter = r->filter;
    info_out->maxbytes += count_of(reply, "maxbytes");
}

bool redis_info(struct redis_set_client *r, struct redis_info *info_out)
{
    *info_out =
        (struct redis_info){.stats = {.size = sizeof(info_out->stats), .filter = "", .cpu = ""},
                            .nkeys = r->shards.nkeys};
    if (r->is_broken) {
        return false;
    }
    bool done = ask_keys(r, info_words, 2);
    for (size_t k = 0; k < info_out->nkeys && done; k++) {
        const struct redisReply *reply = r->commands[k].reply;
        if (reply->type == REDIS_REPLY_ARRAY) {
            add_info(r, reply, info_out);
        } else if (!redis_link_is_error(reply,
                                        "ERR not found")) { /* a key that was removed meanwhile */
            done = redis_link_report(&r->link, reply);
        }
    }
    redis_link_release(r->commands, info_out->nkeys);
    return done;
}
