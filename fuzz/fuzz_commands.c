/* SPDX-License-Identifier: MIT
 *
 * Commands of the module for Redis and Valkey with any arguments, in a server that this process
 * plays (fake_server.h). Byte 0 chooses the arguments of the module. Then come commands and what a
 * server does by itself: a byte for which, a byte for the key, and arguments, each a word of a list
 * or bytes.
 *
 * Every command answers once. Its effects make the replica equal to the primary, also where an
 * allocation failed. What was added and not removed is there. Payloads come through RESTORE,
 * LOADCHUNK, LOAD and AOF as they were saved, then the copy is equal; or changed, with the module's
 * checksums made right again, then there is a whole value or none. So does what a file has beside
 * the keys: unfinished loads go on. */
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_server.h"
#include "server/config.h"
#include "value/checksum.h"

enum {
    NKEYS = 6,
    NITEMS = 8192, /* that are known by number: "http://e.com/N" */
    FILL = 500,    /* items of a command that fills */
    FILLS_MAX = 8,
    NNAMES = 128,
    TEXT_MAX = 40,
    STEPS_MAX = 60
};

static const char *const keys[NKEYS] = {"a", "b", "c", "d", "e", "f"};

/* In this order in the corpus; a command that is not here has a number behind them. */
static const char *const names[] = {
    "BF.RESERVE",     "BF.ADD",       "BF.MADD",       "BF.INSERT",     "BF.EXISTS",
    "BF.MEXISTS",     "BF.INFO",      "BF.CARD",       "BF.DEBUG",      "BF.SCANDUMP",
    "BF.LOADCHUNK",   "BF.LOAD",      "CF.RESERVE",    "CF.ADD",        "CF.ADDNX",
    "CF.INSERT",      "CF.INSERTNX",  "CF.EXISTS",     "CF.MEXISTS",    "CF.COUNT",
    "CF.DEL",         "CF.COMPACT",   "CF.INFO",       "CF.DEBUG",      "CF.SCANDUMP",
    "CF.LOADCHUNK",   "UNSEEN.LEASE", "UNSEEN.LOAD",   "UNSEEN.CREATE", "UNSEEN.APPLY",
    "UNSEEN.RESERVE", "UNSEEN.ADD",   "UNSEEN.EXISTS", "UNSEEN.REMOVE", "UNSEEN.MERGE",
    "UNSEEN.INFO",    "UNSEEN.CLAIM", "UNSEEN.ACK",    "UNSEEN.RENEW",
};

static const char *const words[] = {
    "ITEMS",
    "CAPACITY",
    "ERROR",
    "EXPANSION",
    "NOCREATE",
    "NONSCALING",
    "BUCKETSIZE",
    "MAXITERATIONS",
    "TIGHTENING",
    "SEED",
    "VALIDATESCALETO",
    "PROFILE",
    "FPR",
    "MAXBYTES",
    "SIZE",
    "FILTERS",
    "FIRST",
    "NEXT",
    "+",
    "-",
    "0",
    "1",
    "2",
    "10",
    "100",
    "4000",
    "60000",
    "1000000",
    "1073741824",
    "1073741825",
    "4611686018427387904",
    "9223372036854775807",
    "9223372036854775808",
    "-1",
    "1.5",
    "0.5",
    "0.25",
    "0.01",
    "0.001",
    "1e-5",
    "1.5e-6",
    "5e-9",
    "1e-300",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "0x10",
    " 1",
    "crawl",
    "none",
    "aggressive",
    "redisbloom",
    "valkey",
    "dialect",
    "bf-error-rate",
    "bf-initial-size",
    "bf-expansion-factor",
    "cf-initial-size",
    "maxbytes",
    "70000",
    "400000",
    "items",
    "i",
    "er",
    "0123456789abcdef0123456789abcdef",
    "",
    "WINDOW",
    "10m",
};

enum {
    NWORDS = sizeof(words) / sizeof(*words),
    NLISTED = sizeof(names) / sizeof(*names)
};

/* What a server does by itself: numbers from 200 on. */
enum action {
    ACTION_FILL = 200,
    ACTION_DELETE,
    ACTION_TEXT,
    ACTION_COPY,
    ACTION_RESTORE,
    ACTION_FORGED_RESTORE,
    ACTION_LOADCHUNK,
    ACTION_FORGED_LOADCHUNK,
    ACTION_LOAD,
    ACTION_FORGED_LOAD,
    ACTION_REWRITE,
    ACTION_DEFRAG,
    ACTION_WAIT,
    ACTION_FAIL,
    ACTION_FILE,
    ACTION_FORGED_FILE
};

static const char *all_names[NNAMES];
static size_t nnames;
static uint16_t counts[NKEYS][NITEMS]; /* how often each item is there, at least */
static char families[NKEYS];           /* 'B', 'C' or 'U': of the last item that came */
static bool has_window;                /* a command had the word WINDOW, */
static bool forgets;                   /* and time has passed since: items leave */

/* ---- the input ---- */

struct input {
    const uint8_t *at;
    const uint8_t *end;
};

static unsigned next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

static struct fake_text text_of(const char *text)
{
    return (struct fake_text){text, strlen(text)};
}

static struct fake_text item_of(unsigned number, char *buf)
{
    return (struct fake_text){buf, (size_t)snprintf(buf, TEXT_MAX, "http://e.com/%u", number)};
}

/* The number of an item that item_of made; NITEMS for other bytes. */
static unsigned number_of(struct fake_text item)
{
    char buf[TEXT_MAX];
    unsigned number;
    if (item.len >= sizeof(buf)) {
        return NITEMS;
    }
    memcpy(buf, item.data, item.len);
    buf[item.len] = 0;
    if (sscanf(buf, "http://e.com/%u", &number) != 1 || number >= NITEMS) {
        return NITEMS;
    }
    char again[TEXT_MAX];
    const struct fake_text same = item_of(number, again);
    return same.len == item.len && memcmp(again, buf, item.len) == 0 ? number : NITEMS;
}

/* An argument: an item, a word, a key, or bytes of the input. */
static struct fake_text take_argument(struct input *in, char *buf)
{
    const unsigned which = next(in);
    if (which < 100) {
        return item_of(which, buf);
    }
    if (which < 100 + NWORDS) {
        has_window = has_window || strcmp(words[which - 100], "WINDOW") == 0;
        return text_of(words[which - 100]);
    }
    if (which < 240) {
        return text_of(keys[which % NKEYS]);
    }
    const size_t left = (size_t)(in->end - in->at);
    const size_t len = which - 240 < left ? which - 240 : left;
    const struct fake_text bytes = {in->at, len};
    in->at += len;
    return bytes;
}

static int take_arguments(struct input *in, int max, struct fake_text *argv, char (*bufs)[TEXT_MAX])
{
    const int n = (int)next(in) % (max + 1);
    for (int i = 0; i < n; i++) {
        argv[i] = take_argument(in, bufs[i]);
    }
    return n;
}

/* ---- what a reply must say ---- */

static bool begins(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* The items of a command, or the numbers of its reply do not belong to items one by one. */
static int first_item(const char *name, const struct fake_text *argv, int argc)
{
    if (begins(name, "BF.INSERT") || begins(name, "CF.INSERT")) {
        for (int i = 1; i < argc; i++) {
            if (argv[i].len == 5 && memcmp(argv[i].data, "ITEMS", 5) == 0) {
                return i + 1;
            }
        }
        return argc;
    }
    return begins(name, "UNSEEN.CLAIM") ? 2 : 1;
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

/* What a command does with the count of an item, and what a filter must answer about an item that
 * is there. */
enum effect {
    EFFECT_ADDS,   /* the item once; 0 if it is there */
    EFFECT_AGAIN,  /* one more, unless the filter is full */
    EFFECT_ABSENT, /* the same, if the item is not there */
    EFFECT_ASKS,   /* 1 if it is there */
    EFFECT_TAKES,  /* one less; 1 if it is there */
    EFFECT_COUNTS, /* the count or more */
    EFFECT_CLAIMS  /* 0 if it is there */
};

static const struct {
    const char *name;
    enum effect effect;
} effects[] = {
    {"BF.ADD", EFFECT_ADDS},        {"BF.MADD", EFFECT_ADDS},
    {"BF.INSERT", EFFECT_ADDS},     {"UNSEEN.ADD", EFFECT_ADDS},
    {"UNSEEN.ACK", EFFECT_ADDS},    {"CF.ADD", EFFECT_AGAIN},
    {"CF.INSERT", EFFECT_AGAIN},    {"CF.ADDNX", EFFECT_ABSENT},
    {"CF.INSERTNX", EFFECT_ABSENT}, {"BF.EXISTS", EFFECT_ASKS},
    {"BF.MEXISTS", EFFECT_ASKS},    {"CF.EXISTS", EFFECT_ASKS},
    {"CF.MEXISTS", EFFECT_ASKS},    {"UNSEEN.EXISTS", EFFECT_ASKS},
    {"CF.DEL", EFFECT_TAKES},       {"UNSEEN.REMOVE", EFFECT_TAKES},
    {"CF.COUNT", EFFECT_COUNTS},    {"UNSEEN.CLAIM", EFFECT_CLAIMS},
};

static void check_effect(enum effect effect, uint16_t *count, long long answer)
{
    const bool is_there = *count > 0;
    switch (effect) {
    case EFFECT_ADDS:
        require(!is_there || answer == 0);
        *count = 1;
        break;
    case EFFECT_ABSENT:
        require(!is_there || answer != 1);
        *count = (uint16_t)(*count + (answer == 1));
        break;
    case EFFECT_AGAIN:
        *count = (uint16_t)(*count + (answer == 1));
        break;
    case EFFECT_ASKS:
        require(!is_there || answer == 1);
        break;
    case EFFECT_TAKES:
        require(!is_there || answer == 1);
        *count = (uint16_t)(*count - is_there);
        break;
    case EFFECT_COUNTS:
        require(answer >= *count);
        break;
    case EFFECT_CLAIMS:
        require(!is_there || answer == 0);
        break;
    }
}

/* One item, and the number that the reply has for it. */
static void check_item(const char *name, uint16_t *count, long long answer)
{
    for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++) {
        if (strcmp(name, effects[i].name) == 0) {
            check_effect(effects[i].effect, count, answer);
        }
    }
}

static void check_reply(const char *name, const struct fake_text *argv, int argc, unsigned key,
                        const struct fake_reply *reply)
{
    const int first = first_item(name, argv, argc);
    if (reply->is_error || reply->nvalues > (size_t)(argc - first)) {
        return;
    }
    for (size_t i = 0; i < reply->nvalues; i++) {
        const unsigned number = number_of(argv[first + (int)i]);
        if (reply->values[i] < 0 && strcmp(name, "UNSEEN.CLAIM") != 0) {
            continue; /* had no room */
        }
        if (number < NITEMS && (counts[key][number] == 0 || families[key] == name[0])) {
            check_item(name, &counts[key][number], reply->values[i]);
            families[key] = counts[key][number] > 0 ? name[0] : families[key];
        } else if (strcmp(name, "UNSEEN.REMOVE") == 0) {
            memset(counts[key], 0, sizeof(counts[key])); /* another spelling of an item */
        }
    }
}

/* A command that puts a value there from outside, or changes one. */
static bool is_foreign(const char *name)
{
    static const char *const foreign[] = {
        "BF.LOADCHUNK", "BF.LOAD", "CF.LOADCHUNK", "UNSEEN.LOAD", "UNSEEN.CREATE",
        "UNSEEN.APPLY", NULL};
    return is_one_of(name, foreign);
}

static void check_equal(unsigned key)
{
    const struct fake_text name = text_of(keys[key]);
    const bool has_value = fake_has_value(FAKE_PRIMARY, name);
    require(has_value == fake_has_value(FAKE_REPLICA, name));
    if (has_value) {
        require(fake_digest(FAKE_PRIMARY, name) == fake_digest(FAKE_REPLICA, name));
    }
}

static void run_checked(const char *name, const struct fake_text *argv, int argc, unsigned key,
                        bool may_fail)
{
    static struct fake_reply reply;
    const struct fake_text key_name = text_of(keys[key]);
    const bool was_there = fake_has_key(key_name);
    fake_run(name, argv, argc, &reply);
    if (argc > 0 && reply.is_error && !was_there && !may_fail && config.limit == 0 &&
        !strstr(reply.error, "memory") && !strstr(reply.error, "inserting")) {
        require(!fake_has_key(key_name)); /* nothing half made */
    }
    forgets = forgets || (has_window && strcmp(name, "UNSEEN.TICK") == 0);
    if (forgets) {
        memset(counts, 0, sizeof(counts));
    }
    if (is_foreign(name) && !reply.is_error) {
        memset(counts[key], 0, sizeof(counts[key]));
    } else if (argc > 0) {
        check_reply(name, argv, argc, key, &reply);
    }
    check_equal(key);
}

static void run_command(const char *name, struct input *in, unsigned key, bool may_fail)
{
    enum {
        ARGUMENTS = 12
    };
    struct fake_text argv[ARGUMENTS + 1];
    char bufs[ARGUMENTS][TEXT_MAX];
    argv[0] = text_of(keys[key]);
    const int n = take_arguments(in, ARGUMENTS, argv + 1, bufs);
    run_checked(name, argv, n + 1, key, may_fail);
}

/* ---- what the server does ---- */

static void fill(unsigned key, unsigned family, unsigned nfills)
{
    static struct fake_text argv[FILL + 2];
    static char bufs[FILL][TEXT_MAX];
    static const char *const fills[] = {"BF.MADD", "UNSEEN.ADD", "CF.INSERT"};
    const char *name = fills[family % 3];
    int argc = 0;
    argv[argc++] = text_of(keys[key]);
    if (family % 3 == 2) {
        argv[argc++] = text_of("ITEMS");
    }
    for (unsigned i = 0; i < nfills % FILLS_MAX; i++) {
        for (unsigned k = 0; k < FILL; k++) {
            argv[argc + (int)k] = item_of(i * FILL + k, bufs[k]);
        }
        run_checked(name, argv, argc + FILL, key, true);
    }
}

/* Makes the module's own checksum of a string right again. */
static void seal(char *frame, size_t len)
{
    const size_t start = frame[0] == 'S';
    if (frame[0] != 'C' && len > start + 4) {
        (void)checksum_append((uint8_t *)frame + start, len - start - 4);
    }
}

/* Changes string i of a payload, or the row of strings, in one of six ways. */
static void forge_string(struct fake_stream *stream, size_t i, unsigned action, size_t at,
                         uint8_t value)
{
    char *string = stream->data[i];
    const size_t len = stream->len[i];
    const size_t last = stream->n - 1;
    const size_t other = value % stream->n;
    at %= len;
    switch (action) {
    case 0:
        string[at] = (char)(string[at] ^ (value ? value : 1));
        break;
    case 1:
        memset(string + at, value, at + 8 <= len ? 8 : 1);
        break;
    case 2:
        stream->len[i] = at;
        break;
    case 3:
        if (stream->len[other] <= len) {
            stream->len[i] = stream->len[other];
            memmove(string, stream->data[other], stream->len[i]);
        }
        break;
    case 4:
        stream->data[i] = stream->data[last];
        stream->len[i] = stream->len[last];
        stream->data[last] = string;
        stream->len[last] = len;
        break;
    default:
        free(stream->data[last]);
        stream->n--;
    }
}

/* Changes strings of a payload as the input says, and drops or repeats some. */
static void forge(struct fake_stream *stream, struct input *in)
{
    for (unsigned n = next(in) % 6; n > 0 && stream->n > 0; n--) {
        const size_t i = next(in) % stream->n;
        const size_t at = next(in) << 8 | next(in);
        const unsigned action = next(in) % 6;
        const uint8_t value = (uint8_t)next(in);
        if (stream->len[i] > 0) {
            forge_string(stream, i, action, at, value);
        }
    }
    for (size_t i = 0; i < stream->n; i++) {
        const bool is_number = stream->len[i] == sizeof(uint64_t);
        if (stream->len[i] > 0 && !is_number) {
            seal(stream->data[i], stream->len[i]);
        }
    }
}

/* By commands, frame by frame or all in one. The empty string at the end of a stream is not
 * sent. */
static void load_by_commands(unsigned to, const struct fake_stream *stream, bool in_one,
                             unsigned family)
{
    static struct fake_reply reply;
    static const char *const loads[] = {"BF.LOADCHUNK", "CF.LOADCHUNK", "UNSEEN.LOAD"};
    const char *name = loads[family % 3];
    size_t total = 0;
    struct fake_text argv[3] = {text_of(keys[to])};
    for (size_t i = 0; i < stream->n; i++) {
        argv[1] = text_of(family % 3 == 2 ? (i ? "NEXT" : "FIRST") : (i ? "2" : "1"));
        argv[2] = (struct fake_text){stream->data[i], stream->len[i]};
        total += 4 + stream->len[i];
        if (!in_one && stream->len[i] > 0) {
            fake_run(name, argv, 3, &reply);
            require(reply.is_error || i > 0 || !fake_has_value(FAKE_PRIMARY, argv[0]) ||
                    family % 3 == 2);
        }
    }
    if (in_one) {
        char *whole = malloc(total + 1);
        char *p = whole;
        require(whole);
        for (size_t i = 0; i < stream->n; i++) {
            const uint32_t len = (uint32_t)stream->len[i];
            const uint8_t bytes[4] = {(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16),
                                      (uint8_t)(len >> 24)};
            memcpy(p, bytes, 4);
            memcpy(p + 4, stream->data[i], len);
            p += len ? 4 + len : 0;
        }
        argv[1] = (struct fake_text){whole, (size_t)(p - whole)};
        fake_run("BF.LOAD", argv, 2, &reply);
        free(whole);
    }
}

static void check_copy(unsigned from, unsigned to)
{
    require(fake_digest(FAKE_PRIMARY, text_of(keys[from])) ==
            fake_digest(FAKE_PRIMARY, text_of(keys[to])));
    memcpy(counts[to], counts[from], sizeof(counts[to]));
    families[to] = families[from];
}

/* Brings the value of a key to a key that has none. */
static void transfer(enum action action, unsigned from, unsigned to, struct input *in)
{
    struct fake_stream stream;
    const bool is_forged = action == ACTION_FORGED_RESTORE || action == ACTION_FORGED_LOADCHUNK ||
                           action == ACTION_FORGED_LOAD;
    if (from == to || fake_has_key(text_of(keys[to])) ||
        !fake_save(FAKE_PRIMARY, text_of(keys[from]), &stream)) {
        return;
    }
    memset(counts[to], 0, sizeof(counts[to]));
    if (is_forged) {
        forge(&stream, in);
    }
    if (action == ACTION_RESTORE || action == ACTION_FORGED_RESTORE) {
        const bool is_good = fake_restore(text_of(keys[to]), &stream);
        require(is_good == fake_has_value(FAKE_PRIMARY, text_of(keys[to])));
    } else {
        load_by_commands(to, &stream, action == ACTION_LOAD || action == ACTION_FORGED_LOAD,
                         next(in));
    }
    fake_stream_release(&stream);
    if (!is_forged && fake_has_value(FAKE_PRIMARY, text_of(keys[to]))) {
        check_copy(from, to);
    }
}

/* What a file has beside the keys, as it is read when a server starts again: unfinished loads go
 * on. */
static void reload(bool is_forged, struct input *in)
{
    struct fake_stream stream;
    struct fake_stream again;
    if (fake_save_beside(&stream)) {
        if (is_forged && fake_save_beside(&again)) {
            forge(&again, in);
            (void)fake_load_beside(&again);
        }
        if (is_forged) {
            fake_stream_release(&again);
        }
        require(fake_load_beside(&stream) && fake_save_beside(&again) && again.n == stream.n);
        for (size_t i = 0; i < stream.n; i++) {
            require(again.len[i] == stream.len[i] &&
                    memcmp(again.data[i], stream.data[i], again.len[i]) == 0);
        }
        fake_stream_release(&again);
    }
    fake_stream_release(&stream);
}

static void act(enum action action, unsigned key, struct input *in, bool *may_fail)
{
    const struct fake_text name = text_of(keys[key]);
    const unsigned other = (key + 1) % NKEYS;
    const bool fails = action == ACTION_FAIL;
    switch (action) {
    case ACTION_FILL:
        fill(key, next(in), next(in));
        break;
    case ACTION_DELETE:
    case ACTION_TEXT:
        (action == ACTION_TEXT ? fake_set_text : fake_delete)(name);
        memset(counts[key], 0, sizeof(counts[key]));
        break;
    case ACTION_COPY:
        if (fake_copy(name, text_of(keys[other]))) {
            check_copy(key, other);
        }
        break;
    case ACTION_RESTORE:
    case ACTION_FORGED_RESTORE:
    case ACTION_LOADCHUNK:
    case ACTION_FORGED_LOADCHUNK:
    case ACTION_LOAD:
    case ACTION_FORGED_LOAD:
        transfer(action, key, other, in);
        break;
    case ACTION_REWRITE:
        if (fake_has_value(FAKE_PRIMARY, name) && !fake_has_key(text_of(keys[other]))) {
            fake_rewrite(name, text_of(keys[other]));
            check_copy(key, other);
        }
        break;
    case ACTION_DEFRAG:
        fake_defrag(name);
        break;
    case ACTION_WAIT:
        fake_advance(100 * (int64_t)next(in));
        forgets = forgets || has_window;
        break;
    case ACTION_FAIL:
        fake_fail_allocation(1 + next(in) % 40);
        break;
    case ACTION_FILE:
    case ACTION_FORGED_FILE:
        reload(action == ACTION_FORGED_FILE, in);
        break;
    default:
        break;
    }
    *may_fail = fails;
    check_equal(key);
    check_equal(other);
}

/* ---- a run ---- */

/* Commands of a guard wait for other clients, and UNSEEN.SHARD has no set: tests/module has
 * them. */
static void list_names(void)
{
    nnames = 0;
    for (size_t i = 0; i < NLISTED; i++) {
        all_names[nnames++] = names[i];
    }
    for (size_t i = 0; i < fake_ncommands(); i++) {
        const char *name = fake_command_name(i);
        bool is_known = begins(name, "GUARD.") || strcmp(name, "UNSEEN.SHARD") == 0;
        for (size_t k = 0; k < NLISTED; k++) {
            is_known = is_known || strcmp(name, names[k]) == 0;
        }
        if (!is_known && nnames < NNAMES) {
            all_names[nnames++] = name;
        }
    }
}

static bool start(struct input *in)
{
    static struct config defaults;
    static bool has_defaults;
    static struct fake_reply reply;
    const unsigned which = next(in);
    struct fake_text argv[8];
    char bufs[8][TEXT_MAX];
    int argc = 0;
    if (!has_defaults) {
        defaults = config;
        has_defaults = true;
    }
    config = defaults;
    memset(counts, 0, sizeof(counts));
    has_window = false;
    forgets = false;
    if (which & 1) {
        argv[argc++] = text_of("dialect");
        argv[argc++] = text_of("valkey");
    }
    if (which & 2) {
        argv[argc++] = text_of("maxbytes");
        argv[argc++] = text_of("100000");
    }
    if (which & 4) {
        argc += take_arguments(in, 4, argv + argc, bufs);
    }
    if (!fake_load_module(argv, argc)) {
        return false;
    }
    list_names();
    for (unsigned key = 0; key < NKEYS; key++) { /* ends the loads of the input before */
        const struct fake_text end[] = {text_of(keys[key]), text_of("FIRST"), text_of("x")};
        fake_run("UNSEEN.LOAD", end, 3, &reply);
        require(reply.is_error);
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    bool may_fail = false;
    if (!start(&in)) {
        return 0;
    }
    for (unsigned i = 0; i < STEPS_MAX && in.at < in.end; i++) {
        const unsigned what = next(&in);
        const unsigned key = next(&in) % NKEYS;
        if (what >= ACTION_FILL && what <= ACTION_FORGED_FILE) {
            act((enum action)what, key, &in, &may_fail);
        } else {
            run_command(all_names[what % nnames], &in, key, may_fail);
            may_fail = false;
        }
    }
    for (unsigned key = 0; key < NKEYS; key++) {
        check_equal(key);
    }
    return 0;
}
