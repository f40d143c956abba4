/* SPDX-License-Identifier: MIT */
#include "serve/news.h"

#include <string.h>

#include "serve/service.h"

bool news_reserve(struct news *news, size_t n, uint64_t nmade)
{
    if (news->items.len == 0) {
        news->changed_at = nmade;
    }
    return text_reserve(&news->items, n * sizeof(struct news_item));
}

/* Writes every key, and moves the end behind a new one only: a branch would be mispredicted. */
void news_add(struct news *news, const struct unseen_key *keys, size_t n, const char *marks)
{
    struct news_item *to = (struct news_item *)(void *)(news->items.data + news->items.len);
    size_t nnew = 0;
    for (size_t i = 0; i < n; i++) {
        to[nnew] = (struct news_item){keys[i], UINT64_MAX};
        nnew += marks[i] == '1';
    }
    news->items.len += nnew * sizeof(*to);
}

struct news_item *news_from(const struct news *news, size_t i)
{
    return i < news_count(news) ? (struct news_item *)(void *)news->items.data + i : NULL;
}

void news_forget(struct news *news, uint64_t sent)
{
    struct news_item *items = news_from(news, 0);
    const size_t n = news_count(news);
    const size_t nsent = n / 2 + 1;
    if (items && items[nsent - 1].end <= sent) {
        memmove(items, items + nsent, (n - nsent) * sizeof(*items));
        news->items.len = (n - nsent) * sizeof(*items);
    }
}

void news_take_back(struct news *news, struct service *service, uint64_t sent)
{
    struct news_item *items = news_from(news, 0);
    const size_t n = news_count(news);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (items[i].end > sent) {
            service_take_back(service, &items[i].key, 1);
        } else {
            items[kept++] = items[i];
        }
    }
    news->items.len = kept * sizeof(struct news_item);
}
