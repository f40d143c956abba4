/* SPDX-License-Identifier: MIT
 *
 * The socket that clients connect to. */
#ifndef UNSEEN_CLI_LISTENER_H
#define UNSEEN_CLI_LISTENER_H

#include <stdbool.h>
#include <sys/un.h>

struct listener {
    int fd;                                                 /* -1: nobody can connect */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* of a local socket; empty: none */
};

/* Listens on unix:PATH, ADDRESS:PORT, [ADDRESS]:PORT, or PORT or :PORT, which is that port of 127.0.0.1. Port 0
 * is any port that is free. Says on standard error where it listens. Returns false if it cannot, which
 * has been reported. Either way listener_close follows. */
bool listener_open(struct listener *l, const char *where);
void listener_close(struct listener *l);

#endif
