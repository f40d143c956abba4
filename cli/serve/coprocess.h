/* SPDX-License-Identifier: MIT
 *
 * The face of unseen's own co-process protocol: requests to answers. docs/serve.md has it. */
#ifndef UNSEEN_CLI_COPROCESS_H
#define UNSEEN_CLI_COPROCESS_H

#include "serve/session.h"

extern const struct face coprocess_face;

struct coprocess;

/* The state of a session with this face; NULL without memory. */
struct coprocess *coprocess_create(void);
void coprocess_free(struct coprocess *c);

#endif
