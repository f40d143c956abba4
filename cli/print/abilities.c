/* SPDX-License-Identifier: MIT */
#include "print/abilities.h"

#include <stdio.h>

#include <unseen.h>

void abilities_put(unsigned abilities, char text[40])
{
    static const struct {
        unsigned bit;
        const char *word;
    } words[] = {
        {UNSEEN_CAN_GROW, "grow"},
        {UNSEEN_CAN_REMOVE, "remove"},
        {UNSEEN_CAN_MERGE, "merge"},
    };
    char *to = text;
    *to = '\0';
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (abilities & words[i].bit) {
            to += snprintf(to, 12, "%s%s", to > text ? " " : "", words[i].word);
        }
    }
}
