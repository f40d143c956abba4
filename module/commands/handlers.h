/* SPDX-License-Identifier: MIT
 *
 * The handler of each command, by the files of commands/, and what module.c calls of them. */
#ifndef UNSEEN_MODULE_HANDLERS_H
#define UNSEEN_MODULE_HANDLERS_H

#include "server/server.h"

/* ---- bloom.c ---- */

server_handler bloom_reserve;
server_handler bloom_add;
server_handler bloom_madd;
server_handler bloom_insert;
server_handler bloom_exists;
server_handler bloom_mexists;
server_handler bloom_info;
server_handler bloom_card;
server_handler bloom_debug;

/* ---- cuckoo.c ---- */

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

/* ---- urls.c ---- */

server_handler urls_reserve;
server_handler urls_add;
server_handler urls_exists;
server_handler urls_remove;
server_handler urls_info;

/* ---- claims.c ---- */

server_handler claims_claim;
server_handler claims_ack;
server_handler claims_renew;

/* Adds the counts of claims to the section of INFO. */
void claims_add_info(struct server_info_ctx *info);

/* ---- merge.c ---- */

server_handler merge_command;
server_handler merge_step_command;

/* ---- guard.c ---- */

server_handler guard_get;
server_handler guard_set;
server_handler guard_fail;
server_handler guard_del;

/* Adds the guard's counts to the section of INFO. */
void guard_add_info(struct server_info_ctx *info);

/* ---- shards.c ---- */

server_handler shards_shard;

/* ---- scandump.c ---- */

server_handler scandump_bloom;
server_handler scandump_cuckoo;
server_handler scandump_urls;

/* ---- load.c ---- */

server_handler load_unseen;
server_handler load_bloom_loadchunk;
server_handler load_bloom_load;
server_handler load_cuckoo_loadchunk;
server_handler load_urls_loadchunk;

/* ---- apply.c ---- */

server_handler apply_create;
server_handler apply_changes;
server_handler apply_tick;
server_handler apply_leases;

#endif
