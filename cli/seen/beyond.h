/* SPDX-License-Identifier: MIT
 *
 * A set that may become larger than memory (--memory). The input is read twice.
 *
 * First reading: lines are answered as ever until the set takes half of the limit. From then on
 * their keys are gathered in a temporary file, parted by their first bits, the parts of the set
 * (unseen_set_part_bits).
 *
 * Between the readings: the keys of one part after the other are added to the set, in the order of
 * their lines, and the part is dropped. The answers go to a second temporary file, a bit each. So a
 * part is all that has to be in memory beside what the set had when the gathering began.
 *
 * Second reading: the lines that were not answered are asked again, and each takes the next answer
 * of its part.
 *
 * A store whose set is larger than memory is read part by part from its image (unseen.h, "Stores
 * larger than memory"). The keys that its log has behind the image are gathered before those of
 * lines; they get no answers. Each part goes to a new image before it is dropped. The new keys go
 * to the log in the second reading.
 *
 * docs/decisions/beyond-memory.md has the measurements. */
#ifndef UNSEEN_CLI_BEYOND_H
#define UNSEEN_CLI_BEYOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <unseen.h>

#include "print/report.h"
#include "seen/asked.h"
#include "temporary.h"

enum {
    BEYOND_LEAST = 32 << 20 /* of a limit */
};

struct beyond_part;

struct beyond {
    /* set by the caller */
    uint64_t limit; /* of memory, in bytes; 0: none */
    const struct unseen_set *set;
    struct unseen_set *own;     /* the same, if it is a set of the run; */
    struct unseen_store *store; /* else its store, */
    const char *path;           /* and where it is */
    const struct report *report;
    bool only_counts; /* the keys are counted, and not asked for again */

    /* state */
    bool gathers;  /* the keys of lines are gathered, */
    double share;  /* of the input from here on; negative: not known */
    uint64_t next; /* the number of lines at which the memory is looked at again */
    unsigned part_bits;
    size_t nparts;
    size_t key_len;
    size_t buffer_len; /* of a part's buffer */
    uint8_t *buffers;
    struct beyond_part *parts;
    uint32_t *chunks; /* of each chunk of the file: the next one of its part */
    uint32_t nchunks;
    size_t chunks_cap;
    struct temporary keys;
    struct temporary answers;
    uint64_t nnew;    /* with only_counts: of those that were gathered */
    uint64_t nkeys;   /* that were gathered and have not been asked for again; */
    uint64_t sums[2]; /* a hash of the keys of each reading */
};

/* False, and reported, if the limit cannot be. */
bool beyond_check(uint64_t limit);

/* True if the set has reached the limit, or is larger, and keys have to be gathered: after so many
 * lines. */
bool beyond_is_reached(struct beyond *b, uint64_t nlines);

/* Begins to gather: a then only gathers the keys that it is asked for, and its answers mean
 * nothing. False, and reported, if that is not possible. */
bool beyond_gather(struct beyond *b, struct asked *a);

/* Answers the keys that were gathered. From then on a is to be asked for the same keys in the same
 * order. False if that failed, which has been reported. */
bool beyond_answer(struct beyond *b, struct asked *a);

/* False, and reported, if the keys of the second reading were others. */
bool beyond_end(const struct beyond *b);

/* Count distinct keys with a set of the run: n of them, at most BATCH_LINES, are added; with a
 * limit, those that are gathered are counted at the end. MISMATCH has been reported. */
void beyond_count_start(struct beyond *b, struct asked *a, struct unseen_set *set, uint64_t limit,
                        const struct report *report);
enum unseen_status beyond_count(struct beyond *b, struct asked *a, const struct unseen_key *keys,
                                size_t n, uint64_t *ndistinct);
bool beyond_count_end(struct beyond *b, struct asked *a, uint64_t *ndistinct);

/* Reports an error of a temporary file. */
void beyond_report(const struct beyond *b, int code);

void beyond_release(struct beyond *b);

#endif
