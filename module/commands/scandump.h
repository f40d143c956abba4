/* SPDX-License-Identifier: MIT
 *
 * BF.SCANDUMP and CF.SCANDUMP: a value goes out frame by frame. */
#ifndef UNSEEN_MODULE_SCANDUMP_H
#define UNSEEN_MODULE_SCANDUMP_H

#include "server/server.h"

server_handler scandump_bloom;
server_handler scandump_cuckoo;

#endif
