/* SPDX-License-Identifier: MIT
 *
 * What to look up for a name: the entries of a list that would cover it. The servers that ask send
 * a name as it is and leave the rest to us.
 *
 *     Jo@Mail.Evil.example   jo@mail.evil.example, mail.evil.example, evil.example
 *     www.evil.example       www.evil.example, evil.example
 *     192.0.2.7              192.0.2.7, 192.0.2.6/31, ..., 192.0.2.0/24, ..., 192.0.0.0/8
 *     2001:DB8::7            2001:db8::7, 2001:db8::6/127, ..., 2001::/16
 *
 *     ::ffff:192.0.2.7       as 192.0.2.7
 *
 * Letters A to Z become small ones, a dot at the end goes; a domain of one label is looked up only when it is the whole
 * name, as nobody means to block all of .org; networks larger than /8 and /16 are not looked up. */
#ifndef UNSEEN_CLI_NAMES_H
#define UNSEEN_CLI_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <unseen.h>

enum {
    NAMES_LONGEST = 1024, /* the longest name that can be looked up */
    NAMES_TEXTS = 160,    /* the most texts for one */
    NAMES_ROOM = 8 * 1024
};

struct names {
    bool is_url;
    struct unseen_bytes texts[NAMES_TEXTS]; /* most of them point into room */
    size_t n;
    char room[NAMES_ROOM];
    size_t used;
};

/* Each fills names; false if the name is empty or too long to be one. */
bool names_of_address(struct names *names, struct unseen_bytes address);
bool names_of_client(struct names *names, struct unseen_bytes ip);

/* What the text is, is told by its shape: a URL (has "://"; looked up as it is), an e-mail address,
 * an IP address, or else a domain. */
bool names_of_key(struct names *names, struct unseen_bytes key);

#endif
