/* SPDX-License-Identifier: MIT
 *
 * The requests of unseen's own co-process protocol: from bytes, in any pieces, to requests. Nothing
 * here asks a store or writes an answer, so that a fuzzer can run it alone. docs/serve.md has the
 * protocol.
 *
 * A line of a batch is a request of its own, marked as such: whoever answers puts the answers of a
 * batch on one line. What was announced as lines of a batch is never taken for anything else, not
 * even when the batch is refused: URLs come from strangers, commands must not. */
#ifndef UNSEEN_CLI_PROTOCOL_H
#define UNSEEN_CLI_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#define PROTOCOL_LINE_BYTES  ((size_t)1 << 20) /* the longest line, without its newline */
#define PROTOCOL_BATCH_LINES 1000000

enum request_kind {
    REQUEST_NONE, /* nothing to answer */
    REQUEST_ADD,
    REQUEST_ASK,
    REQUEST_REMOVE,
    REQUEST_BATCH_END, /* all lines of a batch have come, or the input has ended */
    REQUEST_FLUSH,
    REQUEST_INFO,
    REQUEST_WRONG
};

struct request {
    enum request_kind kind;
    bool in_batch;
    struct unseen_bytes url; /* of ADD, ASK and REMOVE */
    const char *wrong;       /* of WRONG: a sentence without a full stop; static text */
};

struct protocol {
    size_t line_bytes; /* longer lines are refused; set by the caller */

    bool in_batch;
    bool refused;           /* the batch was: its lines have no answers */
    enum request_kind each; /* what the lines of the batch ask */
    uint64_t left;          /* lines of the batch still to come */

    bool skips;   /* the rest of a line that was too long */
    size_t known; /* bytes at the front of what is given that are known to have no newline */
};

/* Takes the next request from data[*at..len) and moves *at behind it. False if there is none that
 * is whole: what is left from *at on must be given again, with more behind it. at_end: nothing
 * comes behind it, so a last line needs no newline. */
bool protocol_next(struct protocol *p, const char *data, size_t len, bool at_end, size_t *at,
                   struct request *request_out);

#endif
