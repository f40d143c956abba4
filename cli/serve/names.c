/* SPDX-License-Identifier: MIT */
#include "serve/names.h"

#include <string.h>
#include <unseen_list.h>

/* Fills names with the texts of a kind; false if that has none. */
static bool names_of_kind(struct names *names, enum unseen_kind kind, struct unseen_bytes text)
{
    names->is_url = false;
    names->n = 0;
    return text.len <= NAMES_LONGEST &&
           unseen_kind_texts(kind, NULL, text.data, text.len, names->room, sizeof(names->room),
                             names->texts, &names->n) == UNSEEN_OK &&
           names->n > 0;
}

static bool has(struct unseen_bytes text, char c)
{
    return memchr(text.data, c, text.len) != NULL;
}

/* What builds a list refuses "org"; what adds to a store takes any line. So a domain of one label
 * is left out unless it is the whole name: the text before it is that of the address then. */
static void drop_bare_label(struct names *names)
{
    if (names->n > 1 && !has(names->texts[names->n - 1], '.') &&
        !has(names->texts[names->n - 2], '@')) {
        names->n--;
    }
}

/* The text as it is, as of "user@", by which Postfix asks for that user of any domain. */
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

bool names_of_address(struct names *names, struct unseen_bytes address)
{
    if (!names_of_kind(names, UNSEEN_KIND_MAIL, address)) {
        return name_alone(names, address);
    }
    drop_bare_label(names);
    return true;
}

bool names_of_client(struct names *names, struct unseen_bytes client)
{
    return names_of_kind(names, UNSEEN_KIND_IP, client) || names_of_address(names, client);
}

bool names_of_key(struct names *names, struct unseen_bytes key)
{
    for (size_t i = 0; i + 3 <= key.len; i++) {
        if (memcmp(key.data + i, "://", 3) == 0) {
            names->is_url = true;
            names->texts[0] = key;
            names->n = 1;
            return true;
        }
    }
    return names_of_client(names, key);
}
