/* SPDX-License-Identifier: MIT */
#include "commands/groups.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_GROUPS = 64
};

/* The slot of a key, or the free one where it belongs. */
static size_t find_slot(const struct groups *g, struct unseen_key key)
{
    size_t i = (size_t)key.lo & (g->nslots - 1);
    while (g->slots[i]) {
        const struct group *group = &g->groups[g->slots[i] - 1];
        if (group->key.lo == key.lo && group->key.hi == key.hi) {
            break;
        }
        i = (i + 1) & (g->nslots - 1);
    }
    return i;
}

/* Room for twice as many groups. */
static bool grow(struct groups *g)
{
    const size_t cap = g->cap ? g->cap * 2 : FIRST_GROUPS;
    if (cap > UINT32_MAX / 2) {
        return false;
    }
    struct group *groups = realloc(g->groups, cap * sizeof(*groups));
    if (!groups) {
        return false;
    }
    g->groups = groups;
    uint32_t *slots = calloc(2 * cap, sizeof(*slots));
    if (!slots) {
        return false;
    }
    free(g->slots);
    g->slots = slots;
    g->nslots = 2 * cap;
    g->cap = cap;
    for (size_t i = 0; i < g->n; i++) {
        slots[find_slot(g, groups[i].key)] = (uint32_t)i + 1;
    }
    return true;
}

size_t groups_find(struct groups *g, struct unseen_key key, struct unseen_bytes name)
{
    if (g->n == g->cap && !grow(g)) {
        return SIZE_MAX;
    }
    const size_t slot = find_slot(g, key);
    if (g->slots[slot]) {
        return g->slots[slot] - 1;
    }
    if (!text_reserve(&g->names, name.len)) {
        return SIZE_MAX;
    }
    if (name.len > 0) {
        memcpy(g->names.data + g->names.len, name.data, name.len);
    }
    g->groups[g->n] = (struct group){key, 0, g->names.len, name.len};
    g->names.len += name.len;
    g->slots[slot] = (uint32_t)++g->n;
    return g->n - 1;
}

void groups_release(struct groups *g)
{
    free(g->groups);
    free(g->slots);
    text_release(&g->names);
    *g = (struct groups){0};
}
