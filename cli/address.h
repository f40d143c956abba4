/* SPDX-License-Identifier: MIT
 *
 * Where a server listens, as people write it: unix:PATH, ADDRESS:PORT, [ADDRESS]:PORT, or PORT or
 * :PORT, which is that port of 127.0.0.1. Addresses are numbers: no name is looked up. */
#ifndef UNSEEN_CLI_ADDRESS_H
#define UNSEEN_CLI_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage bytes;
    socklen_t len;
    const char *path; /* of a local socket, in the text; NULL: it is a port */
};

/* Reads an address. Returns false if the text is not an address; errno is EINVAL, or
 * ENAMETOOLONG. */
bool address_read(struct address *address, const char *text);

/* Whether the text of a file's place means a server: unix:PATH, redis://..., or ADDRESS:PORT if no
 * file has that name. */
bool address_is_server(const char *text);

/* Whether the text is the name of a host and a port: "localhost:7007". *port_out is that port. The
 * end of a time of day, as in "visited-10:30", is not a port: a port has three digits or more. */
bool address_is_named(const char *text, const char **port_out);

/* Whether the address is of another machine, or of all networks. */
bool address_is_remote(const struct address *address);

#endif
