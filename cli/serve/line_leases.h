/* SPDX-License-Identifier: MIT */
#ifndef UNSEEN_CLI_LINE_LEASES_H
#define UNSEEN_CLI_LINE_LEASES_H

#include "serve/connection.h"

/* Answers a request of type LEASE, DONE, GIVE_BACK, RENEW or HAND_OUT from a client that may change
 * the store. */
void line_lease_request(struct connection *c, const struct request *r);

#endif
