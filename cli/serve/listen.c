/* SPDX-License-Identifier: MIT
 *
 * Each connection has a buffer for what is not answered yet, which its protocol bounds, and one for
 * answers that were not taken yet: when that is long, nothing is read from it before it is shorter.
 * A connection more than there is room for takes the place of the one that has been silent the
 * longest. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "print/message.h"
#include "serve/session.h"
#include "stop.h"

enum {
    CONNECTIONS = 1000,
    READ_BYTES = 16 * 1024,
    PAUSE = 100,   /* milliseconds without new connections, when there is no room for one */
    GOODBYE = 1000 /* milliseconds at the end for those who still read their answers */
};

struct connection {
    int fd;
    struct talk talk;
    struct text input;
    size_t sent;    /* of talk.out */
    bool at_end;    /* nothing more comes from there */
    bool broken;    /* nothing can be sent there */
    bool farewell;  /* the last answer was sent: what still comes is thrown away */
    uint64_t spoke; /* the round in which it last said something */
};

struct listener {
    int fd;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a local socket; empty: none */
    const struct talk *first;
    struct listed *listed;
    struct connection *connections[CONNECTIONS];
    size_t n;
    uint64_t round;
    bool pauses; /* no descriptor or memory is left for another connection */
};

/* ---- Where ----------------------------------------------------------------------------------- */

static bool report(const char *where)
{
    message_error("cannot listen on %s: %s", where, strerror(errno));
    return false;
}

/* A local socket that nobody listens on was left by a server that was killed. */
static void remove_dead(const struct sockaddr_un *address)
{
    struct stat st;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    if (stat(address->sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
        errno == ECONNREFUSED) {
        (void)unlink(address->sun_path); /* bind says whether it is gone */
    }
    (void)close(fd); /* was only a question */
}

static bool listen_locally(struct listener *l, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path) || !*path) {
        errno = *path ? ENAMETOOLONG : EINVAL;
        return false;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    remove_dead(&address);
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        return false;
    }
    memcpy(l->path, path, strlen(path) + 1);
    return listen(l->fd, SOMAXCONN) == 0;
}

/* Splits "ADDRESS:PORT"; false if that is not what it is. */
static bool split(const char *where, char address[64], const char **port_out)
{
    const char *colon = strrchr(where, ':');
    const char *begin = where;
    size_t len = colon ? (size_t)(colon - where) : 0;
    *port_out = colon ? colon + 1 : where;
    if (len >= 2 && where[0] == '[' && where[len - 1] == ']') {
        begin++;
        len -= 2;
    }
    if (len >= 64 || !**port_out || (*port_out)[strspn(*port_out, "0123456789")]) {
        return false;
    }
    snprintf(address, 64, "%.*s", (int)len, begin);
    if (len == 0) {
        snprintf(address, 64, "127.0.0.1");
    }
    return strtoul(*port_out, NULL, 10) <= UINT16_MAX; /* some libraries take any */
}

static bool bind_to(struct listener *l, const struct addrinfo *info)
{
    const int on = 1;
    l->fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return l->fd >= 0 && setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           bind(l->fd, info->ai_addr, info->ai_addrlen) == 0 && listen(l->fd, SOMAXCONN) == 0;
}

static bool listen_on_port(struct listener *l, const char *where)
{
    char address[64];
    const char *port = NULL;
    struct addrinfo *info = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (!split(where, address, &port) || getaddrinfo(address, port, &hints, &info) != 0) {
        errno = EINVAL;
        return false;
    }
    const bool bound = bind_to(l, info);
    const int error = errno;
    freeaddrinfo(info);
    errno = error;
    return bound;
}

/* Says where, with the port that was chosen. */
static void announce(const struct listener *l, const char *where)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    char host[64];
    char port[16];
    if (l->path[0] || getsockname(l->fd, (struct sockaddr *)&address, &len) != 0 ||
        getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        message_plain("unseen: listening on %s", where);
    } else if (strchr(host, ':')) {
        message_plain("unseen: listening on [%s]:%s", host, port);
    } else {
        message_plain("unseen: listening on %s:%s", host, port);
    }
}

static bool open_socket(struct listener *l, const char *where)
{
    const bool is_local = strncmp(where, "unix:", 5) == 0;
    if (!(is_local ? listen_locally(l, where + 5) : listen_on_port(l, where))) {
        return report(where);
    }
    announce(l, where);
    return true;
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void drop(struct listener *l, size_t i)
{
    struct connection *c = l->connections[i];
    (void)close(c->fd); /* what was sent is on its way */
    talk_release(&c->talk);
    text_release(&c->input);
    free(c);
    l->connections[i] = l->connections[--l->n];
}

static void make_room(struct listener *l)
{
    size_t silent = 0;
    if (l->n < CONNECTIONS) {
        return;
    }
    for (size_t i = 1; i < l->n; i++) {
        if (l->connections[i]->spoke < l->connections[silent]->spoke) {
            silent = i;
        }
    }
    drop(l, silent);
}

static bool add(struct listener *l, int fd)
{
    const int on = 1;
    struct connection *c = calloc(1, sizeof(*c));
    if (!c) {
        return false;
    }
    /* Answers are short and must not wait for each other; a local socket does not know the option. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    *c = (struct connection){.fd = fd, .talk = *l->first, .spoke = l->round};
    make_room(l);
    l->connections[l->n++] = c;
    return true;
}

static void take_connections(struct listener *l)
{
    int fd;
    while ((fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (!add(l, fd)) {
            (void)close(fd); /* nothing was said */
            l->pauses = true;
            return;
        }
    }
    l->pauses = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
}

/* ---- Conversations --------------------------------------------------------------------------- */

static bool would_wait(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void send_answers(struct connection *c)
{
    struct text *out = &c->talk.out;
    while (c->sent < out->len && !c->broken) {
        const ssize_t n = send(c->fd, out->data + c->sent, out->len - c->sent, MSG_NOSIGNAL);
        if (n < 0) {
            c->broken = !would_wait();
            if (!c->broken) {
                break;
            }
        } else {
            c->sent += (size_t)n;
        }
    }
    if (c->sent == out->len) {
        c->sent = 0;
        text_clear(out);
    } else if (c->sent > 0) {
        memmove(out->data, out->data + c->sent, out->len - c->sent);
        out->len -= c->sent;
        c->sent = 0;
    }
}

/* Answers what is there until that is all, or the other side has to take answers first. */
static void answer(struct connection *c)
{
    struct text *in = &c->input;
    size_t at = 0;
    size_t n;
    do {
        n = talk_take(&c->talk, in->data + at, in->len - at, c->at_end);
        at += n;
        send_answers(c);
    } while (n > 0 && !c->broken);
    if (at == in->len) {
        text_clear(in);
    } else if (at > 0) {
        memmove(in->data, in->data + at, in->len - at);
        in->len -= at;
    }
}

static void read_more(struct connection *c)
{
    struct text *in = &c->input;
    if (!text_reserve(in, READ_BYTES)) {
        c->broken = true;
        return;
    }
    const ssize_t n = recv(c->fd, in->data + in->len, in->cap - in->len, 0);
    if (n >= 0) {
        in->len += (size_t)n;
        c->at_end = n == 0;
    } else if (!would_wait()) {
        c->broken = true;
    }
}

static bool is_behind(const struct connection *c)
{
    return c->talk.out.len > 0;
}

static bool is_done(const struct connection *c)
{
    return c->broken || c->talk.failed || (c->at_end && !is_behind(c));
}

static short wanted_of(const struct connection *c)
{
    const bool reads = !c->at_end && c->talk.out.len < TALK_AHEAD;
    return (short)((reads ? POLLIN : 0) | (is_behind(c) ? POLLOUT : 0));
}

/* The protocol has ended the conversation. Closing while the other side still sends would take the
 * last answer away from it, so it is told that nothing more comes, and closes. */
static void end_talk(struct connection *c)
{
    text_clear(&c->input);
    if (!is_behind(c) && !c->farewell) {
        c->farewell = true;
        c->broken = shutdown(c->fd, SHUT_WR) != 0;
    }
}

/* Reading first, so that what came together with the end of a connection is answered. */
static void serve(struct connection *c, short events)
{
    if ((wanted_of(c) & POLLIN) && (events & (POLLIN | POLLHUP | POLLERR))) {
        read_more(c);
    } else if (events & POLLERR) {
        c->broken = true;
    }
    if (c->broken) {
        return;
    }
    send_answers(c);
    if (!c->talk.over) {
        answer(c);
    }
    if (c->talk.over) {
        end_talk(c);
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Waits, and serves whoever has something to say or to take. */
static bool serve_round(struct listener *l, bool takes_connections, int timeout)
{
    struct pollfd fds[1 + CONNECTIONS];
    const size_t n = l->n;
    fds[0] = (struct pollfd){.fd = takes_connections && !l->pauses ? l->fd : -1, .events = POLLIN};
    for (size_t i = 0; i < n; i++) {
        const struct connection *c = l->connections[i];
        fds[1 + i] = (struct pollfd){.fd = c->fd, .events = wanted_of(c)};
    }
    l->round++;
    const int nready = session_poll(fds, 1 + n, timeout);
    if (nready < 0 && errno != EINTR) {
        message_error("cannot wait for requests: %s", strerror(errno));
        return false;
    }
    l->pauses = false;
    if (nready <= 0) {
        return true;
    }
    listed_refresh(l->listed);
    for (size_t i = n; i-- > 0;) { /* from the end, as drop moves the last */
        struct connection *c = l->connections[i];
        if (fds[1 + i].revents) {
            c->spoke = l->round;
            serve(c, fds[1 + i].revents);
        }
        if (is_done(c)) {
            drop(l, i);
        }
    }
    if (fds[0].revents) {
        take_connections(l);
    }
    return true;
}

/* Those who have not taken all answers yet get a moment for it. */
static void say_goodbye(struct listener *l)
{
    for (size_t i = l->n; i-- > 0;) {
        l->connections[i]->at_end = true;
        if (is_done(l->connections[i])) {
            drop(l, i);
        }
    }
    for (int waited = 0; l->n > 0 && waited < GOODBYE; waited += PAUSE) {
        if (!serve_round(l, false, PAUSE)) {
            break;
        }
    }
    while (l->n > 0) {
        drop(l, l->n - 1);
    }
}

bool listen_run(const char *where, const struct talk *first, struct listed *listed)
{
    struct listener *l = calloc(1, sizeof(*l));
    if (!l) {
        message_error("out of memory");
        return false;
    }
    *l = (struct listener){.fd = -1, .first = first, .listed = listed};
    bool works = open_socket(l, where);
    while (works && !stop_is_wanted()) {
        works = serve_round(l, true, l->pauses ? PAUSE : -1);
    }
    session_leave();
    say_goodbye(l);
    if (l->fd >= 0) {
        (void)close(l->fd); /* takes no data */
    }
    if (l->path[0]) {
        (void)unlink(l->path); /* if it is gone, so be it */
    }
    free(l);
    return works;
}
