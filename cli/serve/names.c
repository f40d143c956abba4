/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "serve/names.h"

#include <string.h>

/* Fills names with the texts of a kind. False: a text of that kind does not look like this. */
static bool names_of_kind(struct names *names, enum unseen_kind kind, struct unseen_bytes text)
{
    names->n = 0;
    return text.len <= NAMES_LONGEST &&
           unseen_kind_texts(kind, NULL, text.data, text.len, names->room, sizeof(names->room),
                             names->texts, &names->n) == UNSEEN_OK &&
           names->n > 0;
}

/* Is the text an IP address as people write it? A key may be any text, such as a number, and as the
 * address of a client a number would be taken for an IP address. */
static bool is_address(struct names *names, struct unseen_bytes text)
{
    struct unseen_bytes entry;
    enum unseen_entry fitness;
    return unseen_kind_entry(UNSEEN_KIND_IP, NULL, text.data, text.len, names->room,
                             sizeof(names->room), &entry, &fitness) == UNSEEN_OK &&
           entry.len > 0;
}

/* `unseen build` refuses the line "org"; `unseen add` takes any line. So a domain of one label is
 * left out, unless it stands for the whole name: then the text before it is the address. */
static void drop_bare_label(struct names *names)
{
    const struct unseen_bytes *last = &names->texts[names->n - 1];
    if (names->n > 1 && !memchr(last->data, '.', last->len) &&
        !memchr(last[-1].data, '@', last[-1].len)) {
        names->n--;
    }
}

/* The text as it is, such as "user@", by which Postfix asks for that user of any domain. */
static bool name_alone(struct names *names, struct unseen_bytes text)
{
    if (text.len == 0 || text.len > NAMES_LONGEST) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.data[i];
        names->room[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    names->texts[0] = (struct unseen_bytes){names->room, text.len};
    names->n = 1;
    return true;
}

bool names_of(struct names *names, enum find_type type, struct unseen_bytes text)
{
    names->is_url = type == FIND_URL || type == FIND_HOST ||
                    (type == FIND_KEY && memmem(text.data, text.len, "://", 3));
    if (names->is_url) {
        names->texts[0] = text;
        names->n = 1;
        return true;
    }
    if ((type == FIND_KEY ? is_address(names, text) : type != FIND_SENDER) &&
        names_of_kind(names, UNSEEN_KIND_IP, text)) {
        return true;
    }
    if (!names_of_kind(names, UNSEEN_KIND_MAIL, text)) {
        return name_alone(names, text);
    }
    drop_bare_label(names);
    return true;
}
