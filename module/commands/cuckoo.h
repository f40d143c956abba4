/* SPDX-License-Identifier: MIT
 *
 * The commands CF.*, as RedisBloom has them. Items can be deleted, and repeats are counted. */
#ifndef UNSEEN_MODULE_CUCKOO_H
#define UNSEEN_MODULE_CUCKOO_H

#include "server/server.h"

server_handler cuckoo_reserve;
server_handler cuckoo_add;
server_handler cuckoo_addnx;
server_handler cuckoo_insert;
server_handler cuckoo_insertnx;
server_handler cuckoo_exists;
server_handler cuckoo_mexists;
server_handler cuckoo_count;
server_handler cuckoo_del;
server_handler cuckoo_compact;
server_handler cuckoo_info;
server_handler cuckoo_debug;

#endif
