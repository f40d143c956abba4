/* SPDX-License-Identifier: MIT
 *
 * The commands BF.*, in the dialect of RedisBloom or of valkey-bloom. */
#ifndef UNSEEN_MODULE_BLOOM_H
#define UNSEEN_MODULE_BLOOM_H

#include "server/server.h"

server_handler bloom_reserve;
server_handler bloom_add;
server_handler bloom_madd;
server_handler bloom_insert;
server_handler bloom_exists;
server_handler bloom_mexists;
server_handler bloom_info;
server_handler bloom_card;
server_handler bloom_debug;

#endif
