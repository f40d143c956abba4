/* SPDX-License-Identifier: MIT
 *
 * unseen plan: what each filter takes for a number of keys and a rate of wrong answers, or what it
 * gives for its bits. */
#ifndef UNSEEN_CLI_PLAN_H
#define UNSEEN_CLI_PLAN_H

#include "command.h"
#include "options.h"

int plan_run(const struct options *o, enum unseen_cpu cpu);

#endif
