/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "print/message.h"
#include "seen/stores.h"
#include "serve/connection_io.h"
#include "stop.h"

enum {
    AHEAD_BYTES = 256 * 1024,  /* of answers that the client of a socket may leave unread */
    AHEAD_CHANGES = 32 * 1024, /* the same where answers may tell of changes */
    SEND_BYTES = 256 * 1024,   /* that the system keeps for a socket */
    PAUSE = 100,               /* milliseconds without new connections, when one failed for lack
                                     * of room; and between looks at a client that holds up
                                     * commits */
    GOODBYE = 1000,            /* milliseconds at the end for clients that still read */
    PATIENCE = 1000,           /* milliseconds that a client may hold up commits */
    FORGETS = 1000,            /* milliseconds between looks at a window when nobody asks */
    ACCEPTS = 32,              /* connections that are taken in a round */
    COMMIT_CHANGES = 32768,
    /* Descriptors that clients leave free: for the file of leases, for what comes in place of an
     * open list or store, and for a newcomer who is turned away. */
    SPARE_FDS = 10,
    FIXED_FDS = 3 /* the listener's, the one that tells of commits, and standard output */
};

struct loop {
    struct service *service;
    struct listener listener;
    struct connection **connections; /* max */
    struct pollfd *fds;              /* FIXED_FDS + max */
    size_t max;
    size_t n;
    bool lacks_fds; /* max is what the limit of open files allows */
    uint64_t round;
    struct text spare; /* lent to a connection while it is served */
    bool has_more;     /* a client's turn was over before its requests */
    bool pauses;       /* no descriptor or memory is left for another connection */
    bool is_held_up;   /* a client leaves answers about changes unread, so nothing is committed */
    bool is_watched;   /* a client is slow */
    bool failed;       /* standard input and output ended early, or poll has failed */
    bool reader_gone;
};

/* ---- Signals --------------------------------------------------------------------------------- */

/* How signals were blocked at the start, and are while the loop waits. A signal that came between
 * the question whether one has come and the wait would be missed, so they are blocked at all other
 * times. */
static sigset_t waiting_mask;

/* A signal handler can reach only globals. */
static volatile sig_atomic_t hangup;

static void note_hangup(int signal_number)
{
    (void)signal_number;
    hangup = 1;
}

void loop_block_signals(bool listens)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, &waiting_mask);
    stop_listen();
    if (listens) {
        /* A server that clients connect to looks for a new list. */
        const struct sigaction action = {.sa_handler = note_hangup};
        sigaction(SIGHUP, &action, NULL);
    }
}

/* ---- Connections ----------------------------------------------------------------------------- */

/* Answers that were never sent are as if they had not been given. */
static void drop_connection(struct loop *l, size_t i)
{
    struct connection *c = l->connections[i];
    news_take_back(&c->news, c->service, c->gone + c->sent);
    if (!c->is_standard) {
        (void)close(c->in_fd); /* the answers that were sent are on their way */
    } else if (!connection_is_complete(c)) {
        l->failed = true;
        l->reader_gone = c->reader_gone;
        if (c->failed) {
            message_error("out of memory for answers");
            /* The client was not told of the last changes. */
            l->is_held_up = !c->is_durable;
        }
    }
    connection_release(c);
    free(c);
    l->connections[i] = l->connections[--l->n];
    l->service->counts.nclients = l->n;
}

static void loop_drop_done(struct loop *l)
{
    for (size_t i = l->n; i-- > 0;) { /* from the end, as drop_connection moves the last */
        const struct connection *c = l->connections[i];
        if (c->broken || c->failed || connection_is_complete(c)) {
            drop_connection(l, i);
        }
    }
}

/* Whether a client may be disconnected when there is no room for another. */
static bool may_be_evicted(const struct connection *c)
{
    const struct protocol *protocol = c->service->protocol;
    return !protocol->may_be_evicted || protocol->may_be_evicted(c);
}

/* Of the connections that may be evicted, the one that has been silent the longest makes room.
 * False if there is none. */
static bool evict_silent(struct loop *l)
{
    size_t silent = l->n;
    for (size_t i = 0; i < l->n; i++) {
        const struct connection *c = l->connections[i];
        if (may_be_evicted(c) && (silent == l->n || c->spoke < l->connections[silent]->spoke)) {
            silent = i;
        }
    }
    if (silent == l->n) {
        return false;
    }
    drop_connection(l, silent);
    return true;
}

/* Adds a connection. Returns false without memory. */
static bool add_connection(struct loop *l, int in_fd, int out_fd)
{
    struct service *s = l->service;
    struct connection *c = malloc(sizeof(*c));
    struct stat st;
    if (!c) {
        return false;
    }
    const bool is_standard = in_fd != out_fd;
    *c = (struct connection){.service = s,
                             .in = {.longest = s->protocol->longest},
                             .ahead = is_standard     ? SIZE_MAX
                                      : s->may_change ? AHEAD_CHANGES
                                                      : AHEAD_BYTES,
                             .in_fd = in_fd,
                             .out_fd = out_fd,
                             .is_standard = is_standard,
                             .spoke = l->round};
    c->is_shared =
        is_standard && fstat(out_fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    if (s->protocol->begin && !s->protocol->begin(c)) {
        free(c);
        return false;
    }
    l->connections[l->n++] = c;
    s->counts.nclients = l->n;
    connection_flush(c);
    return true;
}

/* Tells a newcomer that the house is full. Only the line protocol turns clients away. */
static void turn_away(const struct loop *l, int fd)
{
    const char *sentence =
        l->lacks_fds ? "E the server has as many clients as its limit of open files allows\n"
                     : "E the server has as many clients as --max-clients allows\n";
    (void)send(fd, sentence, strlen(sentence), MSG_NOSIGNAL); /* fits, or the client is gone */
    (void)close(fd);
}

/* Makes a connection of a client that has come. Returns false without memory. */
static bool take_in(struct loop *l, int fd)
{
    const int on = 1;
    const int bytes = SEND_BYTES;
    /* Answers are short and must not wait for each other. A local socket does not know the
     * option. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes)); /* or what there is */
    if (l->n == l->max && !evict_silent(l)) {
        turn_away(l, fd);
        return true;
    }
    return add_connection(l, fd, fd);
}

/* Some at a time: between rounds those that have gone away make room. */
static void accept_connections(struct loop *l)
{
    for (int i = 0; i < ACCEPTS; i++) {
        const int fd = accept4(l->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            l->pauses = errno != EAGAIN && errno != ECONNABORTED && errno != EINTR;
            return;
        }
        if (!take_in(l, fd)) {
            (void)close(fd); /* nothing was said */
            l->pauses = true;
            return;
        }
    }
}

/* Lends the spare memory to a connection that has none, so that an idle client keeps none. */
static void serve_connection(struct loop *l, struct connection *c, bool is_readable)
{
    if (!c->in.text.data) {
        c->in.text = l->spare;
        l->spare = (struct text){0};
    }
    connection_serve(c, is_readable);
    if (!c->is_standard && c->in.at == c->in.text.len) {
        text_release(&l->spare);
        l->spare = c->in.text;
        text_clear(&l->spare);
        c->in.text = (struct text){0};
        c->in.at = 0;
    }
    if (!c->is_standard && !c->failed && c->out.len == 0) {
        text_release(&c->out);
        text_release(&c->news.items);
    }
}

/* ---- Commits --------------------------------------------------------------------------------- */

/* Whether the client leaves answers about changes unread. Changes are committed in the order in
 * which they were made, so this holds up the commits of all. */
static bool holds_up(const struct connection *c)
{
    return c->has_changed && !c->is_durable && connection_is_behind(c);
}

/* A client that holds up commits, or does not close after the last answer, is dropped after a
 * moment. What it was not told is as if it had not asked. Standard input and output are the only
 * client, and may take their time. */
static void find_slow(struct loop *l)
{
    l->is_held_up = false;
    l->is_watched = false;
    for (size_t i = 0; i < l->n; i++) {
        struct connection *c = l->connections[i];
        l->is_held_up = l->is_held_up || holds_up(c);
        if (!holds_up(c) && !c->farewell) {
            c->slow_since = 0;
            continue;
        }
        l->is_watched = l->is_watched || !c->is_standard;
        c->slow_since = c->slow_since ? c->slow_since : clock_milliseconds();
        c->broken =
            c->broken || (!c->is_standard && clock_milliseconds() - c->slow_since > PATIENCE);
    }
}

static void begin_commit(struct loop *l)
{
    service_commit(l->service);
    for (size_t i = 0; i < l->n; i++) {
        struct connection *c = l->connections[i];
        c->has_changed = false;
        if (c->needs_commit) {
            c->needs_commit = false;
            c->awaits_commit = true;
            c->until = l->service->nbegun;
        }
    }
}

static void begin_sync(struct loop *l)
{
    lease_file_sync(&l->service->leases.file);
    for (size_t i = 0; i < l->n; i++) {
        struct connection *c = l->connections[i];
        if (c->needs_sync) {
            c->needs_sync = false;
            c->awaits_sync = true;
            c->until_lease = l->service->leases.file.written;
        }
    }
}

/* Whether all that the connection waits for is on the disk, or never will be. */
static bool is_ready(const struct connection *c)
{
    const struct service *s = c->service;
    return (c->awaits_commit || c->awaits_sync) && !c->needs_commit && !c->needs_sync &&
           (!c->awaits_commit || s->broken || s->ndurable >= c->until) &&
           (!c->awaits_sync || s->leases_broken || s->nsynced >= c->until_lease);
}

/* Goes on with connections that have waited. Returns whether there were any. */
static bool resume_connections(struct loop *l)
{
    struct service *s = l->service;
    bool any = false;
    for (size_t i = 0; i < l->n; i++) {
        struct connection *c = l->connections[i];
        if (is_ready(c)) {
            const bool durable =
                (!c->awaits_commit || !s->broken) && (!c->awaits_sync || !s->leases_broken);
            c->awaits_commit = false;
            c->awaits_sync = false;
            s->protocol->synced(c, durable);
            serve_connection(l, c, false);
            any = true;
        }
    }
    return any;
}

/* The store's thread takes only so many changes before whoever hands over more has to wait for the
 * disk. It tells when it has done some. */
static bool has_room_for_commit(const struct service *s)
{
    return s->nbegun == s->ndurable || s->nmade - s->ndurable <= COMMIT_CHANGES;
}

/* A change is taken back if the answer that tells of it cannot be sent, also when it is durable
 * already. */
static void note_sent(struct loop *l)
{
    struct service *s = l->service;
    s->nsent = s->nmade;
    for (size_t i = 0; i < l->n; i++) {
        const struct connection *c = l->connections[i];
        if (news_count(&c->news) > 0 && c->news.changed_at < s->nsent) {
            s->nsent = c->news.changed_at;
        }
    }
}

/* Answers that were given make changes to commit, and commits that have ended let more answers be
 * given. */
static void loop_settle(struct loop *l)
{
    do {
        find_slow(l);
        loop_drop_done(l);
        note_sent(l);
        service_poll(l->service);
        if (!l->is_held_up && has_room_for_commit(l->service)) {
            begin_commit(l);
        }
        begin_sync(l);
        service_poll(l->service);
    } while (resume_connections(l));
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void take_notice(const struct service *s)
{
    uint64_t n;
    while (s->notify_fd > 0 && read(s->notify_fd, &n, sizeof(n)) < 0 && errno == EINTR) {
    }
}

/* The system takes no more entries than a process may have open files, so that a socket has one for
 * both directions. */
static size_t fill_fds(struct loop *l, bool accepts)
{
    struct pollfd *fds = l->fds;
    const int notify_fd = l->service->notify_fd;
    fds[0] = (struct pollfd){.fd = accepts && !l->pauses ? l->listener.fd : -1, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = notify_fd > 0 ? notify_fd : -1, .events = POLLIN};
    fds[2] = (struct pollfd){.fd = -1, .events = POLLOUT};
    l->has_more = false;
    for (size_t i = 0; i < l->n; i++) {
        struct connection *c = l->connections[i];
        c->in.work = 0;
        l->has_more = l->has_more || c->has_more;
        const bool reads = connection_wants_input(c);
        const bool writes = connection_is_behind(c) || c->chokes;
        struct pollfd *both = fds + FIXED_FDS + i;
        *both = (struct pollfd){.fd = reads ? c->in_fd : -1, .events = reads ? POLLIN : 0};
        if (writes && c->is_standard) {
            fds[2].fd = c->out_fd;
        } else if (writes) {
            both->fd = c->out_fd;
            both->events |= POLLOUT;
        }
    }
    return l->n;
}

/* Waits, and gives a turn to every connection that has requests or takes answers. */
static void run_round(struct loop *l, bool accepts, int timeout)
{
    const size_t n = fill_fds(l, accepts);
    timeout = l->has_more ? 0 : timeout;
    const struct timespec time = {timeout / 1000, timeout % 1000 * 1000000L};
    l->round++;
    const int nready = ppoll(l->fds, FIXED_FDS + n, timeout < 0 ? NULL : &time, &waiting_mask);
    if (nready < 0 && errno == EINVAL && n > 0) {
        drop_connection(l, n - 1); /* the limit of open files was lowered meanwhile */
        return;
    }
    if (nready < 0 && errno != EINTR) {
        message_error("cannot wait for requests: %s", strerror(errno));
        l->failed = true;
    }
    l->pauses = false;
    if (hangup) {
        hangup = 0;
        service_look(l->service);
    }
    if (nready >= 0) {
        service_refresh(l->service);
    }
    if (nready > 0 && l->fds[1].revents) {
        take_notice(l->service);
    }
    for (size_t i = n; i-- > 0;) {
        const struct pollfd *both = l->fds + FIXED_FDS + i;
        struct connection *c = l->connections[i];
        if (both->revents || c->has_more || (c->is_standard && l->fds[2].revents)) {
            c->spoke = l->round;
            /* An end or an error shows when the client is read from. */
            serve_connection(l, c, both->events & POLLIN && both->revents & ~POLLOUT);
        }
    }
    loop_settle(l);
    loop_drop_done(l);
    if (nready > 0 && l->fds[0].revents) {
        accept_connections(l);
    }
}

/* Clients of a socket that have not taken all answers yet get a moment for it. */
static void say_goodbye(struct loop *l)
{
    for (size_t i = 0; i < l->n; i++) {
        l->connections[i]->in.at_end = true;
    }
    loop_drop_done(l);
    const uint64_t until = clock_milliseconds() + GOODBYE;
    while (l->n > 0 && !l->failed && clock_milliseconds() < until) {
        run_round(l, false, PAUSE);
    }
}

/* Serves fewer clients if the limit of open files says so. The lowest free descriptor tells how
 * many files are open. */
static bool find_room(struct loop *l)
{
    struct rlimit limit = {.rlim_cur = 0};
    const int lowest = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        message_error("cannot make a descriptor: %s", strerror(errno));
        return false;
    }
    (void)close(lowest);                                /* was only a question */
    const rlim_t used = (rlim_t)lowest + SPARE_FDS + 1; /* with the listener's */
    const rlim_t room = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    if (room >= l->max) {
        return true;
    }
    const unsigned long long wanted = l->max + used;
    if (room == 0) {
        message_error("the limit of %llu open files has no room for clients",
                      (unsigned long long)limit.rlim_cur);
    } else {
        message_warning("the limit of %llu open files has room for %llu clients, not for %zu",
                        (unsigned long long)limit.rlim_cur, (unsigned long long)room, l->max);
    }
    message_hint("ulimit -n %llu, or LimitNOFILE=%llu in the unit of systemd", wanted, wanted);
    l->max = (size_t)room;
    l->lacks_fds = true;
    return room > 0;
}

static bool start_loop(struct loop *l, const struct listen_options *where)
{
    l->max = where ? where->max_clients : 1;
    if (where && !find_room(l)) {
        return false;
    }
    l->connections = calloc(l->max, sizeof(struct connection *));
    l->fds = calloc(FIXED_FDS + l->max, sizeof(l->fds[0]));
    if (!l->connections || !l->fds) {
        return message_no_memory();
    }
    if (where) {
        return listener_open(&l->listener, where);
    }
    return add_connection(l, STDIN_FILENO, STDOUT_FILENO) || message_no_memory();
}

bool loop_run(struct service *service, const struct listen_options *where, bool *reader_gone_out)
{
    struct loop l = {.service = service, .listener = {.fd = -1}};
    const bool forgets = service->store && stores_info(service->store).window > 0;
    l.failed = !start_loop(&l, where);
    loop_drop_done(&l);
    while (!l.failed && (where || l.n > 0) && !stop_is_wanted()) {
        run_round(&l, true, l.pauses || l.is_watched ? PAUSE : forgets ? FORGETS : -1);
    }
    pthread_sigmask(SIG_SETMASK, &waiting_mask, NULL); /* a second signal ends the process */
    if (where) {
        say_goodbye(&l);
    }
    while (l.n > 0) {
        drop_connection(&l, l.n - 1);
    }
    note_sent(&l);
    /* The last settle may have had no room for this. Clients of a socket that held it up are gone,
     * and what they were not told is taken back, as behind O durable. */
    if (where || !l.is_held_up) {
        service_commit(service);
    }
    listener_close(&l.listener);
    text_release(&l.spare);
    free(l.connections);
    free(l.fds);
    *reader_gone_out = l.reader_gone;
    return !l.failed;
}
