/* SPDX-License-Identifier: MIT
 *
 * The commands UNSEEN.*: sets of URLs, by URL identity. */
#ifndef UNSEEN_MODULE_URLS_H
#define UNSEEN_MODULE_URLS_H

#include "server/server.h"

server_handler urls_reserve;
server_handler urls_add;
server_handler urls_exists;
server_handler urls_remove;
server_handler urls_info;

#endif
