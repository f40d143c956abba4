/* SPDX-License-Identifier: MIT
 *
 * The news of a client: keys that were new, and whose answers may not have been sent yet. If the
 * client goes away before that, they are new again. */
#ifndef UNSEEN_CLI_NEWS_H
#define UNSEEN_CLI_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include <unseen.h>

#include "lines/text.h"

struct service;

struct news_item {
    struct unseen_key key;
    uint64_t end; /* of the answer, in all bytes for this client; UINT64_MAX: it was not put yet */
};

struct news {
    struct text items;   /* a struct news_item for each, in the order of the answers */
    uint64_t changed_at; /* at least so many changes of the service were made before the first of
                          * them: exactly so many when there were none the last time */
};

/* Makes room for n items. nmade: how many changes the service has made. Returns false without
 * memory. */
bool news_reserve(struct news *news, size_t n, uint64_t nmade);

/* Adds each of n keys whose mark is '1'. There is room for n. */
void news_add(struct news *news, const struct unseen_key *keys, size_t n, const char *marks);

static inline size_t news_count(const struct news *news)
{
    return news->items.len / sizeof(struct news_item);
}

/* The items from number i on; NULL if there are none. */
struct news_item *news_from(const struct news *news, size_t i);

/* Forgets half of the items if their answers end within the first `sent` bytes. So what is kept is
 * in proportion to what was not sent, even if the client never reads all. */
void news_forget(struct news *news, uint64_t sent);

/* Makes the keys new again whose answers end behind the first `sent` bytes. */
void news_take_back(struct news *news, struct service *service, uint64_t sent);

#endif
