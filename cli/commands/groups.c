/* SPDX-License-Identifier: MIT */
#include "commands/groups.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_GROUPS = 64
};

enum unseen_status groups_init(struct groups *g)
{
    *g = (struct groups){0};
    return unseen_set_create(&g->hasher, NULL, NULL);
}

/* The slot of a name, or the free one where it belongs. */
static size_t find_slot(const struct groups *g, struct unseen_key hash, struct unseen_bytes name)
{
    size_t i = (size_t)hash.lo & (g->nslots - 1);
    while (g->slots[i]) {
        const struct group *group = &g->groups[g->slots[i] - 1];
        if (group->hash.hi == hash.hi && group->name_len == name.len &&
            (name.len == 0 || memcmp(g->names.data + group->name_at, name.data, name.len) == 0)) {
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
        slots[find_slot(g, groups[i].hash, groups_name(g, i))] = (uint32_t)i + 1;
    }
    return true;
}

size_t groups_find(struct groups *g, const struct unseen_set *set, struct unseen_bytes name)
{
    const struct unseen_key hash = unseen_set_identity_key(g->hasher, name.data, name.len);
    if (g->n == g->cap && !grow(g)) {
        return SIZE_MAX;
    }
    const size_t slot = find_slot(g, hash, name);
    if (g->slots[slot]) {
        return g->slots[slot] - 1;
    }
    if (!text_reserve(&g->names, name.len)) {
        return SIZE_MAX;
    }
    if (name.len > 0) {
        memcpy(g->names.data + g->names.len, name.data, name.len);
    }
    g->groups[g->n] = (struct group){unseen_set_identity_key(set, name.data, name.len), hash, 0,
                                     g->names.len, name.len};
    g->names.len += name.len;
    g->slots[slot] = (uint32_t)++g->n;
    return g->n - 1;
}

void groups_release(struct groups *g)
{
    unseen_set_free(g->hasher);
    free(g->groups);
    free(g->slots);
    text_release(&g->names);
    *g = (struct groups){0};
}
