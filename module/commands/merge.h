/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.MERGE in steps of one piece each, about 7,000 URLs: other clients are served between
 * them, and the client that merges waits. Replicas get the steps, not the keys:
 *
 *     UNSEEN.MERGESTEP to from cursor */
#ifndef UNSEEN_MODULE_MERGE_H
#define UNSEEN_MODULE_MERGE_H

#include "server/server.h"

server_handler merge_command;
server_handler merge_step_command;

#endif
