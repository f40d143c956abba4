/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.CREATE, APPLY and LEASE: a replica or an AOF makes the change that the primary made
 * (keys/effects.h). */
#ifndef UNSEEN_MODULE_APPLY_H
#define UNSEEN_MODULE_APPLY_H

#include "server/server.h"

server_handler apply_create;
server_handler apply_changes;
server_handler apply_leases;

#endif
