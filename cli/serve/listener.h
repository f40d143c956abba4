/* SPDX-License-Identifier: MIT
 *
 * The socket that clients connect to. */
#ifndef UNSEEN_CLI_LISTENER_H
#define UNSEEN_CLI_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Where to listen, and who may connect. */
struct listen_options {
    /* As in address.h; port 0 is any port that is free. "systemd": the socket that systemd passes
     * on. */
    const char *address;
    unsigned mode;      /* the rights of a local socket, as in chmod */
    const char *group;  /* its group; NULL: as new files have */
    size_t max_clients; /* at once */
};

struct listener {
    int fd;           /* -1: nobody can connect */
    const char *path; /* of a local socket that is removed at the end; NULL: none */
};

/* Listens, says so on standard error and tells a service manager that waits for it. Returns false
 * if it cannot, which has been reported. Either way listener_close follows. */
bool listener_open(struct listener *l, const struct listen_options *o);
void listener_close(struct listener *l);

/* Whether clients may be anybody on this machine: they come through a port, or the socket that
 * systemd passes on has no mode that keeps others out. */
bool listener_is_open(const char *address);

/* Whether other machines reach it. */
bool listener_is_remote(const char *address);

/* Whether the socket is one that systemd passes on. */
static inline bool listener_is_systemd(const char *address)
{
    return strcmp(address, "systemd") == 0;
}

#endif
