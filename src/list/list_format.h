/* SPDX-License-Identifier: MIT
 *
 * The bytes of a list file, except its pages (docs/format.md, "List"): the builder encodes the
 * header, and every reader decodes it and finds the sections by it. */
#ifndef UNSEEN_LIST_LIST_FORMAT_H
#define UNSEEN_LIST_LIST_FORMAT_H

#include "hash/secret.h"
#include "list/geometry.h"

enum {
    UNSEEN__LIST_LAYERS_MAX = 8,
    UNSEEN__LIST_SHARD_BITS_MAX = 20,
    UNSEEN__LIST_PROFILE_LEN = UNSEEN_URL_ID_MAX + 1,
    UNSEEN__LIST_HEADER_LEN = 4096 + UNSEEN__LIST_PROFILE_LEN,
    UNSEEN__LIST_KIND_LEN = 32,
    UNSEEN__LIST_GROUP = 16 /* pages that share a checksum */
};

/* One layer: pages in 2^shard_bits shards, each with its number of pages, at least 1. */
struct unseen__list_layer_info {
    unsigned shard_bits;
    uint64_t npages;
    uint64_t nkeys; /* distinct keys that came to this layer */
};

struct unseen__list_header {
    unsigned key_bits;
    struct unseen__secret secret;
    struct unseen__list_geometry geometry;
    double fpr; /* the rate that was asked for */
    uint64_t ngiven;
    uint64_t ndistinct;
    char profile[UNSEEN__LIST_PROFILE_LEN];
    char kind[UNSEEN__LIST_KIND_LEN];
    unsigned nlayers;
    struct unseen__list_layer_info layers[UNSEEN__LIST_LAYERS_MAX];
    uint64_t nleftover;      /* keys that no layer took */
    uint64_t table_checksum; /* checksums of the three sections behind the pages */
    uint64_t leftover_checksum;
    uint64_t group_checksum;
    uint64_t checksum; /* of the header's bytes; _encode computes it anew */
};

/* The sizes of the sections, and their offsets in the file. */
struct unseen__list_offsets {
    uint64_t npages;
    uint64_t nshards; /* of all layers */
    uint64_t ngroups;
    uint64_t table;
    uint64_t leftover;
    uint64_t groups;
    uint64_t end; /* of the list proper */
};

/* Returns false if the numbers are larger than those of any file. */
bool unseen__list_offsets(const struct unseen__list_header *header,
                          struct unseen__list_offsets *offsets_out);

void unseen__list_header_encode(const struct unseen__list_header *header,
                                uint8_t bytes[UNSEEN__LIST_HEADER_LEN]);

/* FOREIGN: another magic number. CORRUPT: the checksum or a field is wrong. VERSION: another
 * version of the format or of the hash, or a feature that readers must know. */
enum unseen_status unseen__list_header_decode(const uint8_t bytes[UNSEEN__LIST_HEADER_LEN],
                                              struct unseen__list_header *header_out);

#endif
