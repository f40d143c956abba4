/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/loop.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "print/message.h"

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

static bool listen_at(struct listener *l, const struct sockaddr *address, socklen_t len)
{
    const int on = 1;
    l->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return l->fd >= 0 && setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           bind(l->fd, address, len) == 0 && listen(l->fd, SOMAXCONN) == 0;
}

static bool listen_locally(struct listener *l, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t size = strlen(path) + 1;
    if (size > sizeof(address.sun_path) || size == 1) {
        errno = size == 1 ? EINVAL : ENAMETOOLONG;
        return false;
    }
    memcpy(address.sun_path, path, size);
    remove_dead(&address);
    if (!listen_at(l, (const struct sockaddr *)&address, sizeof(address))) {
        return false;
    }
    l->path = path;
    return true;
}

/* Splits "ADDRESS:PORT"; false if the text is something else. */
static bool split_address(const char *where, char address[64], const char **port_out)
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
    snprintf(address, 64, "%.*s", len ? (int)len : 9, len ? begin : "127.0.0.1");
    return strtoul(*port_out, NULL, 10) <= UINT16_MAX; /* some libraries take any */
}

static bool listen_on_port(struct listener *l, const char *where)
{
    char address[64];
    const char *port = NULL;
    struct addrinfo *info = NULL;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    if (!split_address(where, address, &port) || getaddrinfo(address, port, &hints, &info) != 0) {
        errno = EINVAL;
        return false;
    }
    const bool listens = listen_at(l, info->ai_addr, info->ai_addrlen);
    const int error = errno;
    freeaddrinfo(info);
    errno = error;
    return listens;
}

/* Says where the clients can connect, with the port that was chosen. */
static void announce(const struct listener *l, const char *where)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    char host[64];
    char port[16];
    if (l->path || getsockname(l->fd, (struct sockaddr *)&address, &len) != 0 ||
        getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        message_plain("unseen: listening on %s", where);
    } else if (strchr(host, ':')) {
        message_plain("unseen: listening on [%s]:%s", host, port);
    } else {
        message_plain("unseen: listening on %s:%s", host, port);
    }
}

bool listener_open(struct listener *l, const char *where)
{
    const bool is_local = strncmp(where, "unix:", 5) == 0;
    *l = (struct listener){.fd = -1};
    if (!(is_local ? listen_locally(l, where + 5) : listen_on_port(l, where))) {
        message_error("cannot listen on %s: %s", where, strerror(errno));
        return false;
    }
    announce(l, where);
    return true;
}

void listener_close(struct listener *l)
{
    if (l->fd >= 0) {
        (void)close(l->fd); /* takes no data */
    }
    if (l->path) {
        (void)unlink(l->path); /* if it is gone, so be it */
    }
}
