/* SPDX-License-Identifier: MIT
 *
 * UNSEEN.CLAIM, ACK and RENEW: a URL that a worker has claimed and not finished comes to another
 * worker when its time has run out, so a worker that dies loses no page. */
#ifndef UNSEEN_MODULE_CLAIMS_H
#define UNSEEN_MODULE_CLAIMS_H

#include "server/server.h"

server_handler claims_claim;
server_handler claims_ack;
server_handler claims_renew;

#endif
