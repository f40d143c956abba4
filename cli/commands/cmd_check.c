/* SPDX-License-Identifier: MIT
 *
 * What is in the store is what a dry run of dedup on it finds repeated. */
#include "commands/commands.h"

int check_run(const struct options *o, enum unseen_cpu cpu)
{
    struct options asking = *o;
    asking.dry_run = true;
    asking.invert = !o->invert;
    return dedup_run(&asking, cpu);
}
