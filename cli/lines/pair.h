/* SPDX-License-Identifier: MIT
 *
 * A feed for two threads. */
#ifndef UNSEEN_CLI_PAIR_H
#define UNSEEN_CLI_PAIR_H

#include <stdbool.h>

#include "lines/feed.h"
#include "lines/reader.h"

/* Runs the feed with two threads, releases the reader, and sets f->failed. False if no thread or
 * no memory can be had: then nothing was read. */
bool pair_run(struct feed *f, struct reader *reader);

#endif
