/* SPDX-License-Identifier: MIT
 *
 * Ranges of IP addresses as networks. */
#ifndef UNSEEN_CLI_IP_RANGE_H
#define UNSEEN_CLI_IP_RANGE_H

#include <stdbool.h>

#include <unseen.h>

/* Calls take with the fewest networks that together are the range "192.0.2.1-192.0.2.9", in order
 * and in CIDR notation: at most 62 of IPv4, 254 of IPv6. False if the text is not a range of two
 * addresses in order; take is not called. */
bool ip_range_split(struct unseen_bytes text,
                    void (*take)(void *context, struct unseen_bytes network), void *context);

#endif
