/* SPDX-License-Identifier: MIT
 *
 * The question that a run asks a server about each of its lines. The command of the run says which
 * question it is. */
#ifndef UNSEEN_CLI_SERVER_QUESTION_H
#define UNSEEN_CLI_SERVER_QUESTION_H

enum server_question {
    QUESTION_CHECK, /* whether the set has them */
    QUESTION_DEDUP, /* add them; the run prints those that are new */
    QUESTION_ADD,   /* add them; nothing is printed */
    QUESTION_REMOVE /* a line that the set had is SEEN */
};

#endif
