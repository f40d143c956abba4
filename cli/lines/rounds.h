/* SPDX-License-Identifier: MIT
 *
 * A feed in rounds, for three threads and more. */
#ifndef UNSEEN_CLI_ROUNDS_H
#define UNSEEN_CLI_ROUNDS_H

#include <stdbool.h>

#include "lines/feed.h"
#include "lines/reader.h"

/* Runs the feed with f->input->threads threads, releases the reader, and sets f->failed. False
 * if no thread or no memory can be had: then nothing was read. */
bool rounds_run(struct feed *f, struct reader *reader);

#endif
