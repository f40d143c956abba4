/* SPDX-License-Identifier: MIT */
#include "serve/leases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "print/message.h"

enum {
    TIMES_MIN = 64,
    REWRITE_BYTES =
        1 << 20,            /* the file is written anew when it is larger, and mostly old records */
    COPY_BYTES = 256 << 10, /* of texts that are copied at a time, */
    COPY_LEASES = 4096      /* of so many leases */
};

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

/* ---- Leases ---------------------------------------------------------------------------------- */

static struct lease *lease_at(const struct leases *l, size_t i)
{
    return lease_table_at(&l->table, i);
}

static uint32_t index_of(const struct leases *l, const struct lease *e)
{
    return lease_table_index(&l->table, e);
}

/* Adds a lease without a state. NULL without memory; nothing has changed then. */
static struct lease *add_lease(struct leases *l, struct unseen_key key, struct unseen_bytes text)
{
    char *copy = malloc(text.len + !text.len);
    if (!copy || lease_table_reserve(&l->table, NULL, 1) != UNSEEN_OK) {
        free(copy);
        return NULL;
    }
    if (text.len > 0) {
        memcpy(copy, text.data, text.len);
    }
    struct lease *e = lease_table_add(&l->table, key);
    e->text = copy;
    e->len = text.len;
    l->nlive++;
    l->nbytes += text.len;
    return e;
}

/* The lease is in no list any more. */
static void remove_lease(struct leases *l, struct lease *e)
{
    l->nbytes -= e->len;
    free(e->text);
    lease_table_remove(&l->table, e);
}

/* ---- Lists of leases ------------------------------------------------------------------------- */

static void list_append(struct leases *l, struct lease_list *list, uint32_t i)
{
    struct lease *e = lease_at(l, i);
    e->next = 0;
    e->before = list->last;
    if (list->last) {
        lease_at(l, list->last - 1)->next = i + 1;
    } else {
        list->first = i + 1;
    }
    list->last = i + 1;
}

static void list_remove(struct leases *l, struct lease_list *list, uint32_t i)
{
    const struct lease *e = lease_at(l, i);
    if (e->before) {
        lease_at(l, e->before - 1)->next = e->next;
    } else {
        list->first = e->next;
    }
    if (e->next) {
        lease_at(l, e->next - 1)->before = e->before;
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
    const struct lease *e = lease_at(l, time->index);
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
    if (l->ntimes == l->times_cap && l->ntimes > 2 * l->table.end) {
        drop_old_times(l);
    }
    if (l->ntimes == l->times_cap) {
        const size_t cap = l->times_cap ? 2 * l->times_cap : TIMES_MIN;
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
            set_back(l, lease_at(l, time.index));
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
    struct lease *e = lease_table_find(&l->table, key);
    if (ends && e) {
        l->nlive--;
        remove_lease(l, e);
    }
    return ends || e || add_lease(l, key, text);
}

/* A lease whose key is in the store has ended: the server was killed before it could note that. */
static void find_done(struct leases *l, const struct unseen_set *set)
{
    for (size_t i = 0; i < l->table.end; i++) {
        struct lease *e = lease_at(l, i);
        uint8_t verdict = UNSEEN_NEW;
        if (!e->text) {
            continue;
        }
        set_back(l, e);
        if (unseen_set_contains_keys(set, &e->key, 1, &verdict, NULL) == UNSEEN_OK &&
            verdict == UNSEEN_SEEN) {
            leases_end(l, e->key, 0);
        }
    }
}

bool leases_open(struct leases *l, const char *store, const struct lease_head *head,
                 const struct unseen_set *set, int notify_fd)
{
    struct loading loading = {l, set};
    *l = (struct leases){.table = {.entry_size = sizeof(struct lease)}};
    /* Tokens of another run are late. */
    if (getrandom(&l->last_token, sizeof(l->last_token), 0) != (ssize_t)sizeof(l->last_token)) {
        message_error("there is no source of randomness");
        return false;
    }
    if (!lease_file_open(&l->file, store, head, notify_fd, load_record, &loading, &l->nlive)) {
        leases_close(l, false);
        return false;
    }
    find_done(l, set);
    return true;
}

bool leases_are_over(struct leases *l)
{
    return l->file.path && l->table.n == 0 && lease_file_flush(&l->file);
}

void leases_close(struct leases *l, bool are_over)
{
    for (size_t i = 0; i < l->table.end; i++) {
        free(lease_at(l, i)->text);
    }
    lease_file_close(&l->file, are_over);
    lease_table_release(&l->table, NULL);
    free(l->times);
    *l = (struct leases){0};
}

/* ---- Requests -------------------------------------------------------------------------------- */

enum lease_state leases_state(struct leases *l, struct unseen_key key, uint64_t now)
{
    let_expire(l, now);
    const struct lease *e = lease_table_find(&l->table, key);
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
    struct lease *e = lease_table_find(&l->table, key);
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
    struct lease *e = lease_at(l, list_take(l, &l->back));
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
    if (!read_token(text, &i, &token) || i >= l->table.end || lease_at(l, i)->state != LEASE_OUT ||
        lease_at(l, i)->token != token) {
        return false;
    }
    *key_out = lease_at(l, i)->key;
    return true;
}

bool leases_renew(struct leases *l, struct unseen_key key, uint64_t until)
{
    struct lease *e = lease_table_find(&l->table, key);
    if (!push_time(l, (struct lease_time){until, e->token, index_of(l, e)})) {
        return false;
    }
    e->until = until;
    return true;
}

void leases_give_back(struct leases *l, struct unseen_key key)
{
    set_back(l, lease_table_find(&l->table, key));
}

void leases_end(struct leases *l, struct unseen_key key, uint64_t change)
{
    struct lease *e = lease_table_find(&l->table, key);
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
    struct lease *e = lease_table_find(&l->table, key);
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
    const size_t end =
        l->table.end - l->copied < COPY_LEASES ? l->table.end : l->copied + COPY_LEASES;
    for (; l->copied < end && nbytes < COPY_BYTES; l->copied++) {
        const struct lease *e = lease_at(l, l->copied);
        if (e->text && !lease_file_copy(&l->file, e->key, (struct unseen_bytes){e->text, e->len})) {
            return; /* the old file stays */
        }
        nbytes += e->len;
    }
    if (l->copied == l->table.end) {
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
    while (l->ending.first && lease_at(l, l->ending.first - 1)->change <= ndurable) {
        struct lease *e = lease_at(l, list_take(l, &l->ending));
        /* Without this record the next start finds the key in the store, unless the URL has been
         * removed: then it is handed out once more. */
        (void)lease_file_append(&l->file, e->key, (struct unseen_bytes){NULL, 0}, true);
        remove_lease(l, e);
    }
    if (l->file.path) {
        write_anew(l);
    }
}
