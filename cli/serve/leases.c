/* SPDX-License-Identifier: MIT */
#include "serve/leases.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "print/message.h"

enum {
    SLOTS_MIN = 64,
    REWRITE_BYTES =
        1 << 20,            /* the file is written anew when it is larger, and mostly old records */
    COPY_BYTES = 256 << 10, /* of texts that are copied at a time, */
    COPY_LEASES = 4096      /* of so many leases */
};

_Static_assert(sizeof((struct leases){0}.salt) == crypto_shorthash_KEYBYTES, "the salt is a key");

struct lease {
    struct unseen_key key;
    char *text;
    size_t len;
    enum lease_state state;
    uint64_t token;  /* OUT */
    uint64_t until;  /* OUT: milliseconds */
    uint64_t change; /* ENDING: the lease is over when so many changes are durable */
    uint32_t next;   /* in a list: index + 1; 0: none */
    uint32_t before;
};

struct lease_time {
    uint64_t until;
    uint64_t token;
    uint32_t index;
};

/* ---- Lists of leases ------------------------------------------------------------------------- */

static void list_append(struct leases *l, struct lease_list *list, uint32_t i)
{
    l->all[i].next = 0;
    l->all[i].before = list->last;
    if (list->last) {
        l->all[list->last - 1].next = i + 1;
    } else {
        list->first = i + 1;
    }
    list->last = i + 1;
}

static void list_remove(struct leases *l, struct lease_list *list, uint32_t i)
{
    const struct lease *e = &l->all[i];
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a list with leases has memory */
    if (e->before) {
        l->all[e->before - 1].next = e->next;
    } else {
        list->first = e->next;
    }
    if (e->next) {
        l->all[e->next - 1].before = e->before;
    } else {
        list->last = e->before;
    }
}

/* Takes the first; the list is not empty. */
static uint32_t list_take(struct leases *l, struct lease_list *list)
{
    const uint32_t i = list->first - 1;
    list_remove(l, list, i);
    return i;
}

/* ---- The table by key ------------------------------------------------------------------------ */

/* Keys from a forged file may be anything. So the home of a key is a hash under a salt. */
static size_t home_of(const struct leases *l, struct unseen_key key)
{
    uint64_t hash;
    (void)crypto_shorthash((unsigned char *)&hash, (const unsigned char *)&key, sizeof(key),
                           l->salt);
    return (size_t)hash & (l->nslots - 1);
}

/* The slot of the key, or the free slot where it belongs. */
static size_t lease_slot(const struct leases *l, struct unseen_key key)
{
    size_t slot = home_of(l, key);
    while (l->slots[slot]) {
        const struct lease *e = &l->all[l->slots[slot] - 1];
        if (e->key.lo == key.lo && e->key.hi == key.hi) {
            break;
        }
        slot = (slot + 1) & (l->nslots - 1);
    }
    return slot;
}

static struct lease *lease_find(const struct leases *l, struct unseen_key key)
{
    const uint32_t i = l->nslots > 0 ? l->slots[lease_slot(l, key)] : 0;
    return i ? &l->all[i - 1] : NULL;
}

/* Takes a key out; the keys behind it move up, so that each can be found from its home. */
static void forget_key(struct leases *l, struct unseen_key key)
{
    const size_t mask = l->nslots - 1;
    size_t hole = lease_slot(l, key);
    for (size_t slot = (hole + 1) & mask; l->slots[slot]; slot = (slot + 1) & mask) {
        const size_t home = home_of(l, l->all[l->slots[slot] - 1].key);
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            l->slots[hole] = l->slots[slot];
            hole = slot;
        }
    }
    l->slots[hole] = 0;
}

/* Makes room for one key more; at most half of the slots are in use. */
static bool reserve_slot(struct leases *l)
{
    uint32_t *const old = l->slots;
    const size_t nold = l->nslots;
    if (2 * (l->ntable + 1) <= nold) {
        return true;
    }
    const size_t n = nold ? 2 * nold : SLOTS_MIN;
    uint32_t *slots = calloc(n, sizeof(slots[0]));
    if (!slots) {
        return false;
    }
    l->slots = slots;
    l->nslots = n;
    for (size_t i = 0; i < nold; i++) {
        if (old[i]) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a slot in use has a lease */
            slots[lease_slot(l, l->all[old[i] - 1].key)] = old[i];
        }
    }
    free(old);
    return true;
}

/* ---- Leases ---------------------------------------------------------------------------------- */

/* Makes room for one lease more. */
static bool reserve_lease(struct leases *l)
{
    if (l->unused.first || l->n < l->cap) {
        return true;
    }
    const size_t cap = l->cap ? 2 * l->cap : SLOTS_MIN;
    struct lease *all = realloc(l->all, cap * sizeof(all[0]));
    if (!all) {
        return false;
    }
    l->all = all;
    l->cap = cap;
    return true;
}

/* Adds a lease without a state. NULL without memory; nothing has changed then. */
static struct lease *add_lease(struct leases *l, struct unseen_key key, struct unseen_bytes text)
{
    char *copy = malloc(text.len + !text.len);
    if (!copy || !reserve_slot(l) || !reserve_lease(l)) {
        free(copy);
        return NULL;
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    const uint32_t i = l->unused.first ? list_take(l, &l->unused) : (uint32_t)l->n++;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): reserve_lease has made room */
    l->all[i] = (struct lease){.key = key, .text = copy, .len = text.len};
    l->slots[lease_slot(l, key)] = i + 1;
    l->ntable++;
    l->nlive++;
    l->nbytes += text.len;
    return &l->all[i];
}

static uint32_t index_of(const struct leases *l, const struct lease *e)
{
    return (uint32_t)(e - l->all);
}

/* The lease is in no list any more. */
static void remove_lease(struct leases *l, struct lease *e)
{
    forget_key(l, e->key);
    l->ntable--;
    l->nbytes -= e->len;
    free(e->text);
    *e = (struct lease){.state = LEASE_NONE};
    list_append(l, &l->unused, index_of(l, e));
}

/* ---- Time ------------------------------------------------------------------------------------ */

static bool is_earlier(const struct lease_time *a, const struct lease_time *b)
{
    return a->until < b->until;
}

static void swap_times(struct lease_time *a, struct lease_time *b)
{
    const struct lease_time t = *a;
    *a = *b;
    *b = t;
}

static void sift_up(struct lease_time *times, size_t i)
{
    for (; i > 0 && is_earlier(&times[i], &times[(i - 1) / 2]); i = (i - 1) / 2) {
        swap_times(&times[i], &times[(i - 1) / 2]);
    }
}

static bool is_current(const struct leases *l, const struct lease_time *time)
{
    const struct lease *e = &l->all[time->index];
    return e->state == LEASE_OUT && e->token == time->token && e->until == time->until;
}

/* A lease that is renewed or ends leaves its old time in the heap, where it means nothing. */
static void drop_old_times(struct leases *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->ntimes; i++) {
        if (is_current(l, &l->times[i])) {
            l->times[n] = l->times[i];
            sift_up(l->times, n++);
        }
    }
    l->ntimes = n;
}

static bool push_time(struct leases *l, struct lease_time time)
{
    if (l->ntimes == l->times_cap && l->ntimes > 2 * l->n) {
        drop_old_times(l);
    }
    if (l->ntimes == l->times_cap) {
        const size_t cap = l->times_cap ? 2 * l->times_cap : SLOTS_MIN;
        struct lease_time *times = realloc(l->times, cap * sizeof(times[0]));
        if (!times) {
            return false;
        }
        l->times = times;
        l->times_cap = cap;
    }
    l->times[l->ntimes] = time;
    sift_up(l->times, l->ntimes++);
    return true;
}

static void pop_time(struct leases *l)
{
    l->times[0] = l->times[--l->ntimes];
    for (size_t i = 0, child = 1; child < l->ntimes; i = child, child = 2 * i + 1) {
        if (child + 1 < l->ntimes && is_earlier(&l->times[child + 1], &l->times[child])) {
            child++;
        }
        if (!is_earlier(&l->times[child], &l->times[i])) {
            break;
        }
        swap_times(&l->times[i], &l->times[child]);
    }
}

static void set_back(struct leases *l, struct lease *e)
{
    e->state = LEASE_BACK;
    list_append(l, &l->back, index_of(l, e));
}

static void let_expire(struct leases *l, uint64_t now)
{
    while (l->ntimes > 0 && l->times[0].until <= now) {
        const struct lease_time time = l->times[0];
        const bool is_over = is_current(l, &time);
        pop_time(l);
        if (is_over) {
            set_back(l, &l->all[time.index]);
        }
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

struct loading {
    struct leases *leases;
    const struct unseen_set *set;
};

/* The state while the file is read is NONE. */
static bool load_record(void *context, struct unseen_key key, struct unseen_bytes text, bool ends)
{
    struct leases *l = ((struct loading *)context)->leases;
    struct lease *e = lease_find(l, key);
    if (ends && e) {
        l->nlive--;
        remove_lease(l, e);
    }
    return ends || e || add_lease(l, key, text);
}

/* A lease whose key is in the store has ended. Either the server was killed before it could note
 * that, or a change of this run has ended it, which may not be durable yet and can be taken back.
 * Nobody knows which, so it is noted when all changes so far are durable and told. */
static void find_done(struct leases *l, const struct unseen_set *set)
{
    for (size_t i = 0; i < l->n; i++) {
        struct lease *e = &l->all[i];
        uint8_t verdict = UNSEEN_NEW;
        if (!e->text) {
            continue;
        }
        set_back(l, e);
        if (unseen_set_contains_keys(set, &e->key, 1, &verdict, NULL) == UNSEEN_OK &&
            verdict == UNSEEN_SEEN) {
            leases_end(l, e->key, l->opened_at);
        }
    }
}

bool leases_open(struct leases *l, const char *store, const uint8_t id[16],
                 const struct unseen_set *set, int notify_fd)
{
    struct loading loading = {l, set};
    *l = (struct leases){.opened_at = l->opened_at};
    /* Tokens of another run are late. */
    if (getrandom(&l->last_token, sizeof(l->last_token), 0) != (ssize_t)sizeof(l->last_token) ||
        getrandom(l->salt, sizeof(l->salt), 0) != (ssize_t)sizeof(l->salt)) {
        message_error("there is no source of randomness");
        return false;
    }
    if (!lease_file_open(&l->file, store, id, notify_fd, load_record, &loading)) {
        leases_close(l);
        return false;
    }
    find_done(l, set);
    return true;
}

void leases_close(struct leases *l)
{
    bool is_empty = true;
    for (size_t i = 0; i < l->n; i++) {
        is_empty = is_empty && !l->all[i].text;
        free(l->all[i].text);
    }
    lease_file_close(&l->file, is_empty);
    free(l->all);
    free(l->slots);
    free(l->times);
    *l = (struct leases){0};
}

/* ---- Requests -------------------------------------------------------------------------------- */

enum lease_state leases_state(struct leases *l, struct unseen_key key, uint64_t now)
{
    let_expire(l, now);
    const struct lease *e = lease_find(l, key);
    return e ? e->state : LEASE_NONE;
}

/* Hands a lease out under a new token. Its time has a place in the heap. */
static bool set_out(struct leases *l, struct lease *e, uint64_t until,
                    char token[LEASE_TOKEN_BYTES])
{
    const struct lease_time time = {until, l->last_token + 1, index_of(l, e)};
    if (!push_time(l, time)) {
        return false;
    }
    l->last_token++;
    e->state = LEASE_OUT;
    e->until = until;
    e->token = time.token;
    snprintf(token, LEASE_TOKEN_BYTES, "%" PRIx32 ".%" PRIx64, time.index, time.token);
    return true;
}

bool leases_grant(struct leases *l, struct unseen_key key, struct unseen_bytes text, uint64_t now,
                  uint64_t until, char token[LEASE_TOKEN_BYTES], const char **why_out)
{
    static const char no_memory[] = "out of memory";
    let_expire(l, now);
    struct lease *e = lease_find(l, key);
    if (e) { /* an ENDING lease whose URL was removed from the store is as good as a new one */
        leases_undo_end(l, key);
        list_remove(l, &l->back, index_of(l, e));
        if (set_out(l, e, until, token)) {
            return true;
        }
        set_back(l, e);
        *why_out = no_memory;
        return false;
    }
    if (l->nlive >= LEASES_MAX || l->nbytes + text.len > LEASES_BYTES) {
        *why_out =
            "too many URLs are leased: workers must say D TOKEN or G TOKEN, or take what X N "
            "SECONDS hands out again";
        return false;
    }
    e = add_lease(l, key, text);
    *why_out = e ? "cannot write the leases" : no_memory;
    if (!e) {
        return false;
    }
    if (!lease_file_append(&l->file, key, text, false) || !set_out(l, e, until, token)) {
        l->nlive--;
        remove_lease(l, e);
        return false;
    }
    return true;
}

bool leases_take_back(struct leases *l, uint64_t now, uint64_t until, char token[LEASE_TOKEN_BYTES],
                      struct unseen_bytes *text_out)
{
    let_expire(l, now);
    if (!l->back.first) {
        return false;
    }
    struct lease *e = &l->all[list_take(l, &l->back)];
    if (!set_out(l, e, until, token)) {
        set_back(l, e);
        return false;
    }
    *text_out = (struct unseen_bytes){e->text, e->len};
    return true;
}

/* Reads "INDEX.TOKEN", both in hexadecimal. */
static bool read_token(struct unseen_bytes text, uint64_t *index_out, uint64_t *token_out)
{
    char copy[LEASE_TOKEN_BYTES];
    int end = 0;
    if (text.len >= sizeof(copy) || memchr(text.data, '\0', text.len)) {
        return false;
    }
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    return strspn(copy, "0123456789abcdef.") == text.len &&
           sscanf(copy, "%16" SCNx64 ".%16" SCNx64 "%n", index_out, token_out, &end) == 2 &&
           (size_t)end == text.len;
}

bool leases_find(struct leases *l, struct unseen_bytes text, uint64_t now,
                 struct unseen_key *key_out)
{
    uint64_t i = 0;
    uint64_t token = 0;
    let_expire(l, now);
    if (!read_token(text, &i, &token) || i >= l->n || l->all[i].state != LEASE_OUT ||
        l->all[i].token != token) {
        return false;
    }
    *key_out = l->all[i].key;
    return true;
}

bool leases_renew(struct leases *l, struct unseen_key key, uint64_t until)
{
    struct lease *e = lease_find(l, key);
    if (!push_time(l, (struct lease_time){until, e->token, index_of(l, e)})) {
        return false;
    }
    e->until = until;
    return true;
}

void leases_give_back(struct leases *l, struct unseen_key key)
{
    set_back(l, lease_find(l, key));
}

void leases_end(struct leases *l, struct unseen_key key, uint64_t change)
{
    struct lease *e = lease_find(l, key);
    if (e->state == LEASE_BACK) {
        list_remove(l, &l->back, index_of(l, e));
    }
    l->nlive--;
    e->state = LEASE_ENDING;
    e->change = change;
    list_append(l, &l->ending, index_of(l, e));
}

void leases_undo_end(struct leases *l, struct unseen_key key)
{
    struct lease *e = lease_find(l, key);
    if (e && e->state == LEASE_ENDING) {
        list_remove(l, &l->ending, index_of(l, e));
        l->nlive++;
        set_back(l, e);
    }
}

/* The file mostly has leases that have ended. If it cannot be written anew, it grows on. */
static bool is_wasteful(const struct leases *l)
{
    return l->file.end > REWRITE_BYTES && l->file.end > l->file.retry_at &&
           l->file.end / 4 > l->nbytes + 32 * (uint64_t)l->nlive;
}

/* Copies some leases to the new file. What is leased or ends meanwhile is appended there, too; to
 * have a lease there twice does no harm. */
static void copy_some(struct leases *l)
{
    size_t nbytes = 0;
    const size_t end = l->n - l->copied < COPY_LEASES ? l->n : l->copied + COPY_LEASES;
    for (; l->copied < end && nbytes < COPY_BYTES; l->copied++) {
        const struct lease *e = &l->all[l->copied];
        if (e->text && !lease_file_copy(&l->file, e->key, (struct unseen_bytes){e->text, e->len})) {
            return; /* the old file stays */
        }
        nbytes += e->len;
    }
    if (l->copied == l->n) {
        (void)lease_file_end_copy(&l->file); /* or the old file stays */
    }
}

static void write_anew(struct leases *l)
{
    if (!lease_file_is_copied(&l->file) && is_wasteful(l) && lease_file_begin_copy(&l->file)) {
        l->copied = 0;
    }
    if (lease_file_takes_copies(&l->file)) {
        copy_some(l);
    }
}

void leases_settle(struct leases *l, uint64_t ndurable)
{
    while (l->ending.first && l->all[l->ending.first - 1].change <= ndurable) {
        struct lease *e = &l->all[list_take(l, &l->ending)];
        /* Without this record the next start finds the key in the store, unless the URL has been
         * removed: then it is handed out once more. */
        (void)lease_file_append(&l->file, e->key, (struct unseen_bytes){NULL, 0}, true);
        remove_lease(l, e);
    }
    if (l->file.path) {
        write_anew(l);
    }
}
