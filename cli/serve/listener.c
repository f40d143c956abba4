/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "address.h"
#include "print/message.h"
#include "print/typed.h"

enum {
    SYSTEMD_FD = 3 /* the first that systemd passes on */
};

/* A local socket that nobody listens on was left by a server that was killed. */
static void remove_dead(const struct address *address)
{
    struct stat st;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return;
    }
    if (stat(address->path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        connect(fd, (const struct sockaddr *)&address->bytes, address->len) != 0 &&
        errno == ECONNREFUSED) {
        (void)unlink(address->path); /* bind says whether it is gone */
    }
    (void)close(fd); /* was only a question */
}

static bool bind_at(struct listener *l, const struct address *address)
{
    const int on = 1;
    l->fd = socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return l->fd >= 0 && setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           bind(l->fd, (const struct sockaddr *)&address->bytes, address->len) == 0;
}

/* The group of a name, or NULL. A program that is linked statically cannot load the modules of the
 * name service: it reads the file. */
static const struct group *find_group(const char *name)
{
#ifdef UNSEEN_STATIC
    struct group *group = NULL;
    FILE *file = fopen("/etc/group", "re");
    while (file && (group = fgetgrent(file)) && strcmp(group->gr_name, name) != 0) {
    }
    if (file) {
        (void)fclose(file); /* was only read; the group stays */
    }
    return group;
#else
    return getgrnam(name);
#endif
}

/* Gives the socket its group before anybody can connect. bind has given it its mode, unless the
 * folder says what its files get. In a folder that others may write to, the name may stand for
 * another file by now: a link is not followed. */
static bool let_in(const char *path, const struct listen_options *o)
{
    struct stat st;
    const struct group *group = o->group ? find_group(o->group) : NULL;
    if (o->group && !group) {
        errno = ESRCH; /* of a group; see report_failure */
        return false;
    }
    return (!group || lchown(path, (uid_t)-1, group->gr_gid) == 0) && lstat(path, &st) == 0 &&
           ((st.st_mode & 0777) == o->mode ||
            fchmodat(AT_FDCWD, path, o->mode, AT_SYMLINK_NOFOLLOW) == 0);
}

static bool listen_locally(struct listener *l, const struct listen_options *o,
                           const struct address *address)
{
    remove_dead(address);
    const mode_t mask = umask(0777 & ~o->mode);
    const bool is_bound = bind_at(l, address);
    (void)umask(mask); /* cannot fail */
    l->path = is_bound ? address->path : NULL;
    return is_bound && let_in(address->path, o) && listen(l->fd, SOMAXCONN) == 0;
}

static bool listen_on(struct listener *l, const struct listen_options *o)
{
    struct address address;
    if (!address_read(&address, o->address)) {
        return false;
    }
    return address.path ? listen_locally(l, o, &address)
                        : bind_at(l, &address) && listen(l->fd, SOMAXCONN) == 0;
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

/* The socket that a service manager has opened [sd_listen_fds(3)]. */
static bool take_over(struct listener *l)
{
    const char *pid = getenv("LISTEN_PID");
    const char *n = getenv("LISTEN_FDS");
    int listens = 0;
    socklen_t len = sizeof(listens);
    if (!pid || !n || strtoul(pid, NULL, 10) != (unsigned long)getpid() || strcmp(n, "1") != 0) {
        message_error("systemd has passed on no socket, or more than one");
        message_hint("a unit with one ListenStream= beside the service, or --listen unix:PATH");
        return false;
    }
    l->fd = SYSTEMD_FD;
    return getsockopt(l->fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens &&
           fcntl(l->fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(l->fd, F_SETFL, O_NONBLOCK) == 0;
}

/* Tells a service manager that clients can connect [sd_notify(3)]. If there is none, or it does not
 * listen, nothing is lost. */
static void tell_ready(void)
{
    static const char ready[] = "READY=1";
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t len = path ? strlen(path) : 0;
    if (len < 2 || len >= sizeof(address.sun_path)) {
        return;
    }
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') {
        address.sun_path[0] = '\0'; /* a name that is in no folder */
    }
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)sendto(fd, ready, sizeof(ready) - 1, MSG_NOSIGNAL, (const struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
        (void)close(fd); /* only a word was sent */
    }
}

static bool is_taken_by_file(const char *path)
{
    struct stat st;
    return path && stat(path, &st) == 0 && !S_ISSOCK(st.st_mode);
}

/* What to do about an address that the system does not take. */
static void hint_address(const char *where)
{
    const char *port = NULL;
    if (address_is_named(where, &port)) {
        message_hint("an address in numbers: %s", typed_with("--listen 127.0.0.1:%s", port));
    } else if (strchr(where, '/') || strstr(where, ".sock")) {
        message_hint("%s", typed_with("--listen unix:%s", typed_quoted(where)));
    } else {
        message_hint("--listen unix:PATH, or an address in numbers: --listen 127.0.0.1:7007");
    }
}

/* Says why it cannot listen, and what to do. */
static void report_failure(const struct listen_options *o, int error)
{
    struct address address;
    const char *where = o->address;
    const char *path = address_read(&address, where) ? address.path : NULL;
    const char *folder = path ? typed_folder(path) : NULL;
    if (error == EADDRINUSE && is_taken_by_file(path)) {
        message_error("cannot listen on %s: %s is there, and is not a socket", where, path);
        message_hint("--listen unix:PATH with the name of a file that does not exist");
        return;
    }
    if (error == ESRCH && o->group) {
        message_error("cannot listen on %s: there is no group %s", where, o->group);
        return;
    }
    message_error("cannot listen on %s: %s", where,
                  error ? strerror(error) : "no socket was passed on");
    if (error == EADDRINUSE) {
        message_hint("another server listens there; to ask it: unseen -s %s FILE",
                     typed_quoted(where));
    } else if (error == ENOENT && folder) {
        message_hint("%s", folder);
    } else if (error == EINVAL) {
        hint_address(where);
    }
}

bool listener_open(struct listener *l, const struct listen_options *o)
{
    const char *where = o->address;
    *l = (struct listener){.fd = -1};
    errno = 0;
    if (!(listener_is_systemd(where) ? take_over(l) : listen_on(l, o))) {
        report_failure(o, errno);
        return false;
    }
    announce(l, where);
    tell_ready();
    return true;
}

/* The address of the socket that systemd passes on. */
static bool read_passed(struct address *address)
{
    *address = (struct address){.len = sizeof(address->bytes)};
    return getsockname(SYSTEMD_FD, (struct sockaddr *)&address->bytes, &address->len) == 0;
}

/* Whether anybody on this machine may connect to a local socket. */
static bool is_open_to_all(const struct address *address)
{
    const struct sockaddr_un *local = (const struct sockaddr_un *)(const void *)&address->bytes;
    struct stat st;
    return local->sun_path[0] == '\0' || stat(local->sun_path, &st) != 0 || (st.st_mode & S_IWOTH);
}

bool listener_is_open(const char *where)
{
    struct address address;
    if (!listener_is_systemd(where)) {
        return address_read(&address, where) && !address.path;
    }
    return !read_passed(&address) || address.bytes.ss_family != AF_UNIX || is_open_to_all(&address);
}

bool listener_is_remote(const char *where)
{
    struct address address;
    if (!listener_is_systemd(where)) {
        return address_read(&address, where) && address_is_remote(&address);
    }
    return read_passed(&address) && address.bytes.ss_family != AF_UNIX &&
           address_is_remote(&address);
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
