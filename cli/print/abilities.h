/* SPDX-License-Identifier: MIT
 *
 * What a filter can do, in words. */
#ifndef UNSEEN_CLI_ABILITIES_H
#define UNSEEN_CLI_ABILITIES_H

/* Writes the bits UNSEEN_CAN_... as words: "grow remove merge". */
void abilities_put(unsigned abilities, char text[40]);

#endif
