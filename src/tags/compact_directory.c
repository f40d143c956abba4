/* SPDX-License-Identifier: MIT
 *
 * The directory of the compact filter: extendible hashing [Fagin79] in two levels, so that no
 * single step copies more than one leaf (16 KiB) and a root of 8 bytes per leaf. Leaves cover
 * disjoint parts of the path space; a leaf that covers 2^k times what the deepest one covers has
 * 2^k equal entries in the root. Groups never span leaves: a leaf only splits when it has entries
 * of full depth, and then every group in it is deeper than the leaf. */
#include "tags/compact.h"

enum {
    LEAF_ALIGN = 64
};

static struct compact_group *leaf_of(uint64_t entry)
{
    return (struct compact_group *)(uintptr_t)(entry & ~(uint64_t)(LEAF_ALIGN - 1));
}

static unsigned spent_bits(uint64_t entry)
{
    return (unsigned)(entry & (LEAF_ALIGN - 1));
}

static uint64_t make_entry(const struct compact_group *leaf, unsigned spent)
{
    return (uint64_t)(uintptr_t)leaf | spent;
}

static struct compact_group *new_leaf(struct compact *c, unsigned bits)
{
    return unseen__compact_alloc(c, sizeof(struct compact_group) << bits, LEAF_ALIGN);
}

static void free_leaf(struct compact *c, struct compact_group *leaf, unsigned bits)
{
    unseen__compact_free(c, leaf, sizeof(*leaf) << bits);
}

static uint64_t *new_root(struct compact *c, unsigned bits)
{
    return unseen__compact_alloc(c, sizeof(uint64_t) << bits, sizeof(uint64_t));
}

static void free_root(struct compact *c)
{
    unseen__compact_free(c, c->root, sizeof(uint64_t) << c->root_bits);
    c->root = NULL;
}

/* Makes a directory of 2^depth groups. If there is one group, it gets two entries in its leaf; if
 * there is one leaf, it gets two entries in the root. So neither index ever has 0 bits. */
enum unseen_status unseen__compact_directory_init(struct compact *c, unsigned depth,
                                                  const struct compact_group *first)
{
    unsigned spent = depth > COMPACT_LEAF_BITS ? depth - COMPACT_LEAF_BITS : 0;
    c->leaf_bits = depth - spent > 1 ? depth - spent : 1;
    c->root_bits = spent > 1 ? spent : 1;
    c->root = new_root(c, c->root_bits);
    if (!c->root) {
        return UNSEEN_ERR_NOMEM;
    }
    size_t nroot = (size_t)1 << c->root_bits;
    size_t leaf_groups = (size_t)1 << c->leaf_bits;
    memset(c->root, 0, nroot * sizeof(*c->root));
    for (size_t i = 0; i < nroot; i += nroot >> spent) {
        struct compact_group *leaf = new_leaf(c, c->leaf_bits);
        if (!leaf) {
            unseen__compact_directory_release(c);
            return UNSEEN_ERR_NOMEM;
        }
        for (size_t k = 0; k < leaf_groups; k++) {
            leaf[k] = first[depth ? i / (nroot >> spent) * leaf_groups + k : 0];
        }
        for (size_t k = 0; k < nroot >> spent; k++) {
            c->root[i + k] = make_entry(leaf, spent);
        }
    }
    return UNSEEN_OK;
}

void unseen__compact_directory_release(struct compact *c)
{
    if (!c->root) {
        return;
    }
    size_t nroot = (size_t)1 << c->root_bits;
    for (size_t i = 0; i < nroot && c->root[i]; i += nroot >> spent_bits(c->root[i])) {
        free_leaf(c, leaf_of(c->root[i]), c->leaf_bits);
    }
    free_root(c);
}

struct compact_group *unseen__compact_directory_find(const struct compact *c, uint64_t path,
                                                     size_t *n_out)
{
    uint64_t entry = c->root[path >> (64 - c->root_bits)];
    struct compact_group *group = compact_find(c, path);
    unsigned copies_bits = spent_bits(entry) + c->leaf_bits - group->depth;
    size_t first = (size_t)(group - leaf_of(entry)) >> copies_bits << copies_bits;
    *n_out = (size_t)1 << copies_bits;
    return leaf_of(entry) + first;
}

/* Doubles the only leaf of a small set. */
static enum unseen_status double_leaf(struct compact *c)
{
    struct compact_group *old = leaf_of(c->root[0]);
    struct compact_group *leaf = new_leaf(c, c->leaf_bits + 1);
    if (!leaf) {
        return UNSEEN_ERR_NOMEM;
    }
    for (size_t i = 0; i < (size_t)2 << c->leaf_bits; i++) {
        leaf[i] = old[i / 2];
    }
    free_leaf(c, old, c->leaf_bits);
    c->leaf_bits++;
    for (size_t i = 0; i < (size_t)1 << c->root_bits; i++) {
        c->root[i] = make_entry(leaf, 0);
    }
    return UNSEEN_OK;
}

static enum unseen_status double_root(struct compact *c)
{
    uint64_t *root = new_root(c, c->root_bits + 1);
    if (!root) {
        return UNSEEN_ERR_NOMEM;
    }
    size_t nroot = (size_t)1 << c->root_bits;
    for (size_t i = 0; i < nroot; i++) {
        root[2 * i] = c->root[i];
        root[2 * i + 1] = c->root[i];
    }
    free_root(c);
    c->root = root;
    c->root_bits++;
    return UNSEEN_OK;
}

/* Splits the leaf at this root index in two. The root has at least two entries for it. */
static enum unseen_status split_leaf(struct compact *c, size_t index)
{
    uint64_t entry = c->root[index];
    unsigned spent = spent_bits(entry);
    struct compact_group *old = leaf_of(entry);
    struct compact_group *halves[2] = {new_leaf(c, c->leaf_bits), new_leaf(c, c->leaf_bits)};
    if (!halves[0] || !halves[1]) {
        free_leaf(c, halves[0], c->leaf_bits);
        free_leaf(c, halves[1], c->leaf_bits);
        return UNSEEN_ERR_NOMEM;
    }
    size_t n = (size_t)1 << c->leaf_bits;
    for (size_t i = 0; i < n; i++) {
        halves[0][i] = old[i / 2];
        halves[1][i] = old[n / 2 + i / 2];
    }
    size_t copies = (size_t)1 << (c->root_bits - spent);
    size_t first = index / copies * copies;
    for (size_t i = 0; i < copies; i++) {
        c->root[first + i] = make_entry(halves[i >= copies / 2], spent + 1);
    }
    free_leaf(c, old, c->leaf_bits);
    return UNSEEN_OK;
}

enum unseen_status unseen__compact_directory_deepen(struct compact *c, uint64_t path)
{
    for (;;) {
        size_t copies;
        unseen__compact_directory_find(c, path, &copies);
        if (copies > 1) {
            return UNSEEN_OK;
        }
        size_t index = (size_t)(path >> (64 - c->root_bits));
        enum unseen_status status;
        if (spent_bits(c->root[index]) == 0 && c->leaf_bits < COMPACT_LEAF_BITS) {
            status = double_leaf(c);
        } else if (spent_bits(c->root[index]) == c->root_bits) {
            status = double_root(c);
        } else {
            status = split_leaf(c, index);
        }
        if (status != UNSEEN_OK) {
            return status;
        }
    }
}

/* Whether a group of the leaf has one entry only. */
static bool has_deep_group(const struct compact *c, const struct compact_group *leaf,
                           unsigned spent)
{
    for (size_t i = 0; i < (size_t)1 << c->leaf_bits; i++) {
        if (leaf[i].depth == spent + c->leaf_bits) {
            return true;
        }
    }
    return false;
}

void unseen__compact_directory_flatten(struct compact *c, uint64_t path)
{
    for (;;) {
        const size_t index = (size_t)(path >> (64 - c->root_bits));
        const unsigned spent = spent_bits(c->root[index]);
        const size_t copies = (size_t)1 << (c->root_bits - spent);
        const size_t first = index / copies * copies;
        const size_t n = (size_t)1 << c->leaf_bits;
        if (spent == 0 || spent_bits(c->root[first ^ copies]) != spent) {
            return;
        }
        struct compact_group *left = leaf_of(c->root[first & ~copies]);
        struct compact_group *right = leaf_of(c->root[first | copies]);
        if (has_deep_group(c, left, spent) || has_deep_group(c, right, spent)) {
            return;
        }
        for (size_t i = 0; i < n / 2; i++) {
            left[i] = left[2 * i];
        }
        for (size_t i = 0; i < n / 2; i++) {
            left[n / 2 + i] = right[2 * i];
        }
        for (size_t i = 0; i < 2 * copies; i++) {
            c->root[(first & ~copies) + i] = make_entry(left, spent - 1);
        }
        free_leaf(c, right, c->leaf_bits);
    }
}
