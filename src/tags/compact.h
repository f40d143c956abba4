/* SPDX-License-Identifier: MIT
 *
 * The compact filter, which a set has by default: a set of fingerprints (tags). It grows without
 * knowing n, keeps its rate, can remove keys, and takes 4.5, 5.6 or 7.4 bytes per key.
 *
 * Where a key lives. The high word of a key is its path. The top bits of the path choose a group of
 * 8 to 15 pages through the directory (extendible hashing [Fagin79]); the low word gives a home
 * (0..7), some low bits of the tag, and a line number. The last 8 or 7 of the low bits are a
 * remainder r. Home and r choose one page of the group (compact_moves.h). A page is 64 lines of 64
 * bytes. The key's tag is in line a = the line number, or in line b = a ^ offset(r), both in this
 * page:
 *
 *     lo  [ unused ][ home 3 ][ low: 8, 7 or 19 ][ line 6 ]
 *     hi  [ prefix: the group's depth ][ v: 23 or 31 ][ unused ]
 *
 * A tag is low and v. v carries its own length: (bits)(1)(0..0), so the lowest 1 bit is an end mark
 * and 0 is an empty slot. A key matches a tag when low is equal and v agrees above the end mark:
 *
 *     ((tag ^ key) & ~(tag ^ (tag - 1))) == 0  and  tag != 0
 *
 * There are three widths of tag, for three rates:
 *
 *     32 bits: 16 words of 32 bits, low in the top 8, v and its mark in the other 24
 *     39 bits: 13 words of 32 bits for v, then 13 fields of 7 bits for low, 5 bits unused
 *     51 bits: 10 words of 32 bits for v, 2 bits unused, then 10 fields of 19 bits for low
 *
 * The field of an empty slot says nothing.
 *
 * Growing. When both lines are full and no tag in them can change to its own other line, the group
 * takes one more page and an equal share of every page moves there, tag by tag, unchanged, into the
 * line of the same number. A group of 15 pages becomes two, of 8 pages each when keys come in
 * random order: each tag gives the top bit of v to the directory and shifts v left. No key is ever
 * hashed again. A tag never loses information: old tags are short, new tags have full length. Every
 * doubling leaves one more generation of tags, and each generation weighs the same, so the
 * false-positive rate grows with log n (as in InfiniFilter [Dayan23] and Taffy filters [Apple21]).
 * Partial growth in steps of 1/8 to 1/15 keeps memory within 1.05 of the least possible on average.
 *
 * Because only absent keys are added, a present key matches exactly one tag: an older and shorter
 * tag that matched would have made the add a repeat. So removing is exact. After a union
 * (compact_merge.c), and in a filter that counts (compact_count.c), a key may match several tags.
 * They are prefixes of each other, and the longest is removed: every other key that matched it
 * also matches the shorter tags, so each key that is left still has a tag of its own.
 *
 * docs/decisions/ has the measurements, and what was tried and dropped. */
#ifndef UNSEEN_TAGS_COMPACT_H
#define UNSEEN_TAGS_COMPACT_H

#include "base/bytes.h"
#include "base/macros.h"
#include "filter/filter.h"
#include "tags/stash.h"

enum {
    COMPACT_LINE = 64,         /* bytes of a line */
    COMPACT_LINES = 64,        /* lines of a page */
    COMPACT_PAGE = 4096,       /* bytes of a page */
    COMPACT_PAGES_MIN = 8,     /* pages of a fresh group */
    COMPACT_PAGES_MAX = 15,    /* pages of a group before it becomes two */
    COMPACT_CHUNK_PAGES = 512, /* pages of an allocation; the first of them holds the full map */
    COMPACT_SMALL_CHUNKS = 12, /* of mapped memory: the first ones, which have fewer pages */
    COMPACT_LEAF_BITS = 8,     /* a directory leaf has up to 2^8 entries */
    COMPACT_DEPTH_MAX = 48,
    COMPACT_PREFIX_MAX = 8, /* prefix_bits of a filter */
    COMPACT_GENERATIONS = 96,
    COMPACT_STUCK_MAX = 1024, /* of a group's stuck */
    COMPACT_PLACES_SPARE = 8, /* places are written so many at a time */
    COMPACT_PLACES = COMPACT_LINES * 16 + COMPACT_PLACES_SPARE, /* room for the places of a page */
    COMPACT_PIECE_HEAD = 16,
    COMPACT_FULL_LEN = 8 /* a page's word of the full map, in a piece */
};

/* A group of pages: one entry of the directory (several equal ones while the group's depth is
 * less than its leaf's). One cache line. */
struct compact_group {
    uint32_t page[COMPACT_PAGES_MAX]; /* page numbers */
    uint8_t npages;
    uint8_t depth;  /* bits of the path that are the same for all its keys */
    uint16_t stuck; /* after making room failed: number of keys that do not try again */
};

/* The bits of a tag choose the layout of a line. */
enum compact_width {
    COMPACT_32,
    COMPACT_39,
    COMPACT_51,
    COMPACT_WIDTHS
};

struct compact_layout {
    enum compact_width width;
    double promise;        /* the false-positive rate at any number of keys up to 10^10 */
    double mean_bits;      /* per key: the mean over many sizes (docs/decisions/compact.md) */
    unsigned slots;        /* tags of a line */
    unsigned r_bits;       /* bits of the remainder, */
    unsigned low_bits;     /* of low, which ends with it, */
    unsigned v_bits;       /* and of v with its end mark */
    const uint32_t *moves; /* compact_moves.h, [npages - 8][r] */
    const uint8_t (*leaving)[COMPACT_PAGES_MAX][2];
};

struct compact;

/* One bit per slot of a line. */
struct compact_lanes {
    uint32_t match;
    uint32_t empty;
};

/* Where one key may be. */
struct compact_probe {
    uint8_t *a; /* the key's two lines */
    uint8_t *b;
    uint32_t v; /* the bits to compare in a word: of a tag of 32 bits with low, else without */
    uint32_t low;
    uint32_t page; /* the number of their page */
    uint8_t depth;
};

/* The operations of one SIMD level (compact_kernel.h). */
struct compact_kernel {
    enum unseen_status (*add)(struct compact *c, const struct unseen_key *keys, size_t n,
                              uint8_t *verdicts, size_t *ndone_out);
    void (*contains)(const struct compact *c, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts);
    void (*remove)(struct compact *c, const struct unseen_key *keys, size_t n, uint8_t *verdicts);
    /* For each line of a page, the tags whose remainder is in the cyclic interval
     * [first, first + count), as bits. Their places, line * 16 + slot, go to an array of
     * COMPACT_PLACES. Returns the number of places. */
    size_t (*leaving)(const uint8_t *page, unsigned first, unsigned count, uint16_t *slots,
                      uint16_t *places);
    /* Empties the chosen slots of each line of a page. */
    void (*erase)(uint8_t *page, const uint16_t *slots);
    /* Which slots of a line match v, and which are empty. The bits of words that are not slots of
     * this width say nothing. */
    struct compact_lanes (*compare)(const uint8_t *line, uint32_t v);
};

/* A group read by an import, not yet in the directory. */
struct compact_loaded {
    uint64_t path;
    struct compact_group group;
};

/* What a table has of the groups that were saved part by part. */
struct compact_saved {
    uint8_t *groups;
    uint64_t ngroups;
    size_t groups_cap; /* bytes */
    uint8_t *notes;
    uint64_t npages;
    size_t notes_cap; /* bytes */
    unsigned least_depth;
};

/* A group of a table, and where its pages are. */
struct compact_place {
    uint64_t path;
    uint32_t first; /* the number of its first page in the file */
    uint8_t depth;
};

/* Groups that are in the directory and have pages, whose contents may not have been read yet. */
struct compact_unread {
    struct unseen__pages pages;
    struct compact_place *places; /* of all groups of the table, by path */
    size_t nplaces;
    uint8_t *notes; /* for each page of the file, as in the table: its full map and checksum */
    /* The next two are read and written atomically. */
    size_t nleft;   /* pages not read yet */
    uint64_t *bits; /* by the top region_bits bits of a path: 1: a page there may not be read yet */
    unsigned region_bits;
    uint64_t *page_bits; /* by the number of a page: 1: it has not been read */
    size_t npage_words;
    uint8_t *buf;     /* the pages of a group */
    uint32_t scratch; /* the number of a page that is asked and not kept; 0: none yet */
    /* The tags that these pages must have together, as compact.generations. */
    uint64_t generations[COMPACT_GENERATIONS];
};

struct compact {
    struct unseen__filter filter;

    /* Directory: root[path's top root_bits bits] is the address of a leaf of 2^leaf_bits groups,
     * plus, in its low 6 bits, how many path bits are spent before the leaf's own. Neither number
     * of bits is ever 0, so that one shift finds an index. */
    uint64_t *root;
    unsigned root_bits;
    unsigned leaf_bits;
    unsigned prefix_bits; /* top bits of every key's hi that are not part of the path */

    /* Pages by number: chunks[number / 512], page number % 512 in it. */
    uint8_t **chunks;
    uint32_t mark; /* the end mark of a fresh tag: bit 0, or higher in tests */
    const struct compact_layout *layout;
    const struct compact_kernel *kernel;
    struct unseen_allocator allocator;
    struct unseen__stash stash; /* keys without a tag: they found no slot, or were allowed before */

    uint64_t nkeys;
    uint64_t ngroups;
    uint64_t npages; /* pages of all groups */
    /* Number of tags by their known bits: generations[depth + bits of v]. */
    uint64_t generations[COMPACT_GENERATIONS];

    bool is_mapped; /* chunks come from the kernel: a page that is not used takes no memory */
    size_t nchunks;
    size_t chunks_cap;
    size_t nfresh;      /* pages of the chunks that were never used */
    uint32_t next_page; /* the number after the last page taken */
    uint32_t *free_pages;
    size_t nfree;
    size_t free_cap;
    uint64_t memory; /* bytes taken through the allocator */
    uint64_t work;   /* pages that growing has read so far: for tests */

    uint64_t prefix;
    bool counts; /* an item may be there several times (compact_count.c) */

    struct compact_unread *unread; /* NULL: none */
    struct compact_saved saved;

    struct compact_loaded *loaded; /* import: the groups so far */
    size_t nloaded;
    size_t loaded_cap;
};

extern const struct unseen__filter_ops unseen__compact_ops;
extern const struct unseen__filter_ops unseen__compact_count_ops;

/* Adds a key that compact takes for present, though it was not added: keeps the whole key. Errors:
 * NOMEM, RANDOM. */
enum unseen_status unseen__compact_add_whole(struct unseen__filter *filter, struct unseen_key key);

extern const struct compact_layout unseen__compact_layouts[COMPACT_WIDTHS];

extern const struct compact_kernel unseen__compact_32_portable;
extern const struct compact_kernel unseen__compact_39_portable;
extern const struct compact_kernel unseen__compact_51_portable;
#if UNSEEN_X86
extern const struct compact_kernel unseen__compact_32_avx2;
extern const struct compact_kernel unseen__compact_39_avx2;
extern const struct compact_kernel unseen__compact_51_avx2;
extern const struct compact_kernel unseen__compact_32_avx512;
extern const struct compact_kernel unseen__compact_39_avx512;
extern const struct compact_kernel unseen__compact_51_avx512;
#endif

/* compact_pages.c: memory, counted in c->memory; and pages */
void *unseen__compact_alloc(struct compact *c, size_t size, size_t align);
void unseen__compact_free(struct compact *c, void *ptr, size_t size); /* ptr may be NULL */
void unseen__compact_pages_release(struct compact *c);
/* Makes sure that the next n unseen__compact_page_take calls succeed. */
enum unseen_status unseen__compact_pages_reserve(struct compact *c, size_t n);
uint32_t unseen__compact_page_take(struct compact *c); /* contents undefined */
void unseen__compact_page_give(struct compact *c, uint32_t number);
void unseen__compact_give_pages(struct compact *c, const struct compact_group *group);
/* Takes all pages of the last chunk from what page_take gives, if the pages that are in use there
 * have room in other chunks, with nspare pages to spare. Returns the first number of the chunk, or
 * 0. When no page of it is in use any more, drop_chunk gives its memory back. */
uint32_t unseen__compact_pages_close_chunk(struct compact *c, size_t nspare);
void unseen__compact_pages_drop_chunk(struct compact *c);

/* compact_directory.c: path -> group */
enum unseen_status unseen__compact_directory_init(struct compact *c, unsigned depth,
                                                  const struct compact_group *first);
void unseen__compact_directory_release(struct compact *c);
/* The entries of the group that a path leads to: *n_out equal ones in a row. */
struct compact_group *unseen__compact_directory_find(const struct compact *c, uint64_t path,
                                                     size_t *n_out);
/* Makes sure that the group of this path has at least two entries, so that it can split. */
enum unseen_status unseen__compact_directory_deepen(struct compact *c, uint64_t path);

/* Joins the leaf of this path with its sibling as long as no group of both has one entry only. */
void unseen__compact_directory_flatten(struct compact *c, uint64_t path);

/* compact_grow.c: making room */
/* Gives the group of this path more room. NOMEM leaves everything as it was. *stuck_out is true if
 * the group must not grow further, because its keys are not random; the key then belongs in the
 * stash. */
enum unseen_status unseen__compact_grow(struct compact *c, uint64_t path, bool *stuck_out);

/* Grows to groups of this depth, of npages pages each. Groups that are deeper or larger stay.
 * NOMEM: perhaps some groups have grown, and pages are in reserve. */
enum unseen_status unseen__compact_grow_to(struct compact *c, unsigned depth, unsigned npages);

/* Spreads the tags of a group, which has these entries, over npages pages or more. False, with
 * nothing changed, if they do not fit. Needs COMPACT_PAGES_MAX pages in reserve. */
bool unseen__compact_rebuild(struct compact *c, struct compact_group *entries, size_t copies,
                             unsigned npages);

/* A group of this depth or deeper does not split. */
unsigned unseen__compact_depth_limit(const struct compact *c);

/* compact_shrink.c: the operation */
void unseen__compact_remove(struct unseen__filter *filter, const struct unseen_key *keys, size_t n,
                            uint8_t *verdicts);

/* compact_part.c: a part is all groups whose paths begin as this one in `depth` bits, at most the
 * depth of each of them. */
/* Reads what has not been read. Errors: CORRUPT, NOMEM, those of pages->read. */
enum unseen_status unseen__compact_fetch_part(struct unseen__filter *filter, uint64_t path,
                                              unsigned depth);
/* Keeps what the table says about the part. When all parts have been kept, in their order, and
 * dropped, save_table gives the table. Errors: NOMEM. */
enum unseen_status unseen__compact_save_part(struct unseen__filter *filter, uint64_t path,
                                             unsigned depth);
/* Gives back the pages. No key of the part may be asked for again, and no group be saved. Errors:
 * NOMEM, when some groups are left. */
enum unseen_status unseen__compact_drop(struct unseen__filter *filter, uint64_t path,
                                        unsigned depth);
void unseen__compact_saved_release(struct compact *c);

/* compact_save.c: pieces for export and import */
void unseen__compact_save_params(const struct unseen__filter *filter, uint8_t *params);
size_t unseen__compact_save_piece(const struct unseen__filter *filter, uint64_t *position,
                                  uint8_t *buf);
/* The least depth of any group of an export. */
unsigned unseen__compact_saved_depth(const uint8_t *params);
/* What the parameters of an export say. Errors: CORRUPT. */
enum unseen_status unseen__compact_read_params(const uint8_t *params,
                                               const struct compact_layout **layout_out,
                                               unsigned *cut_out);
/* Makes an empty filter one into which groups are loaded. */
void unseen__compact_load_start(struct unseen__filter *filter);
/* Whether a piece is a group; else it is whole keys. */
bool unseen__compact_is_group(const uint8_t *piece);
/* Whether the piece may have a key of this filter. */
bool unseen__compact_owns_piece(const struct unseen__filter *filter, const uint8_t *piece,
                                size_t len);
enum unseen_status unseen__compact_load_piece(struct unseen__filter *filter, const uint8_t *piece,
                                              size_t len);
enum unseen_status unseen__compact_load_finish(struct unseen__filter *filter);
void unseen__compact_load_release(struct compact *c);
/* Appends an empty group to the loaded ones, with pages of undefined contents, or with npages times
 * the number 0, which no page has. */
enum unseen_status unseen__compact_load_empty(struct compact *c, uint64_t path, unsigned depth,
                                              unsigned npages, bool takes_pages,
                                              struct compact_group **group_out);
/* Takes the bytes of n pages of a group, from `first` on, with their full maps, and counts the
 * tags. False if a tag cannot be where it is. */
bool unseen__compact_load_pages(struct compact *c, const struct compact_group *group,
                                unsigned first, unsigned n, const uint8_t *bytes,
                                const uint64_t *full, uint64_t generations[COMPACT_GENERATIONS],
                                uint64_t *ntags);

/* compact_fetch.c: pages that are read when they are first needed. The table (table_len bytes) says
 * which groups there are and what is known of each page. */
size_t unseen__compact_table_len(const struct unseen__filter *filter);
/* Of a group: what the table says about it, 4 bytes, and about its pages, 16 bytes each. */
void unseen__compact_save_note(const struct compact *c, const struct compact_group *group,
                               uint8_t *row, uint8_t *notes);
void unseen__compact_save_table(const struct unseen__filter *filter, uint8_t *table);
/* Writes the pages of the next group, in the order of the table, and returns their length; 0 is the
 * end. *position is 0 at first. */
size_t unseen__compact_save_pages(const struct unseen__filter *filter, uint64_t *position,
                                  uint8_t *buf);
/* Takes the place of load_piece for all groups. After success the filter owns *pages, and calls
 * release. Every byte of table and pages may be hostile. */
enum unseen_status unseen__compact_load_table(struct unseen__filter *filter,
                                              const struct unseen__pages *pages,
                                              const uint8_t *table, size_t len);
/* True if the groups of n keys have been read (keys NULL: all groups). It may run beside fetch,
 * contains and itself. The filter must have the groups of the keys before add and remove, their
 * pages before contains, and all groups before the other operations on pieces. */
bool unseen__compact_has_groups(const struct unseen__filter *filter, const struct unseen_key *keys,
                                size_t n);
/* Reads the groups of n keys, or all groups, or for one that only asks, the pages of the keys.
 * Contains may run meanwhile, for keys whose pages have been read. Errors: CORRUPT, those of
 * pages->read. The filter then has no key of that page, and another fetch tries again. */
enum unseen_status unseen__compact_fetch(struct unseen__filter *filter,
                                         const struct unseen_key *keys, size_t n, bool asks_only);
/* contains, of a filter whose pages are late: reads the page of each key whose group has not been
 * read, and keeps none. Nothing else may run meanwhile. Errors: CORRUPT, NOMEM, those of
 * pages->read. */
enum unseen_status unseen__compact_ask(struct unseen__filter *filter, const struct unseen_key *keys,
                                       size_t n, uint8_t *verdicts);
void unseen__compact_unread_release(struct compact *c);

/* compact_merge.c: union */
/* In a position of save_piece: the whole keys, behind the groups. Growth moves whole keys to
 * groups, and never back. So the pieces of groups can be merged one by one, while the other filter
 * changes, after the whole keys were merged at once. */
#define COMPACT_POSITION_KEYS ((uint64_t)1 << 48)

bool unseen__compact_is_same_shape(const struct unseen__filter *filter,
                                   const struct unseen__filter *other);
enum unseen_status unseen__compact_merge_piece(struct unseen__filter *filter, const uint8_t *piece,
                                               size_t len);
void unseen__compact_merge_finish(struct unseen__filter *filter);
/* Adds the key of which only the low word and the first bits of the high word are known, as many as
 * a tag has in a filter that is empty. UNSUPPORTED: the key found no room among others that are
 * alike; the filter lacks it. */
enum unseen_status unseen__compact_add_prefix(struct unseen__filter *filter, struct unseen_key key);

/* compact_count.c: the operations of a filter that counts */
enum unseen_status unseen__compact_count_add(struct unseen__filter *filter,
                                             const struct unseen_key *keys, size_t n,
                                             uint8_t *verdicts, size_t *ndone_out);
uint64_t unseen__compact_count(const struct unseen__filter *filter, struct unseen_key key);

/* Adds a key once more that need not have a tag here, and how often that was done. The removal of
 * such a key takes this back first. Errors: NOMEM, RANDOM. */
enum unseen_status unseen__compact_repeat(struct unseen__filter *filter, struct unseen_key key);
uint64_t unseen__compact_repeats(const struct unseen__filter *filter, struct unseen_key key);

/* compact.c */
/* Grows at once to the geometry that a filter made for this capacity (of the whole set) has, unless
 * it is larger. Errors: NOMEM, RANDOM; the filter may have grown by some of it. */
enum unseen_status unseen__compact_reserve(struct unseen__filter *filter, uint64_t capacity);

/* For tests: the create operation, but v of each tag is cut bits shorter. The rate is 2^cut times
 * as high and can be measured. */
enum unseen_status unseen__compact_create_cut(struct unseen__filter **filter_out,
                                              const struct unseen__filter_params *params,
                                              unsigned cut);

UNSEEN_INLINE struct compact *compact_from(struct unseen__filter *filter)
{
    return (struct compact *)(void *)filter;
}

UNSEEN_INLINE const struct compact *compact_from_const(const struct unseen__filter *filter)
{
    return (const struct compact *)(const void *)filter;
}

UNSEEN_INLINE uint64_t compact_path(const struct compact *c, struct unseen_key key)
{
    return key.hi << c->prefix_bits;
}

/* The path of the next group, after a group of this path and depth; 0 after the last group. */
UNSEEN_INLINE uint64_t compact_next_path(uint64_t path, unsigned depth)
{
    return depth ? path + ((uint64_t)1 << (64 - depth)) : 0;
}

UNSEEN_INLINE struct compact_group *compact_find(const struct compact *c, uint64_t path)
{
    uint64_t entry = c->root[path >> (64 - c->root_bits)];
    uint64_t rest = path << (entry & 63);
    size_t index = (size_t)(rest >> (64 - c->leaf_bits));
    return (struct compact_group *)(uintptr_t)(entry & ~(uint64_t)63) + index;
}

/* The pages of a chunk of memory that is mapped: 9 (one group and the full map), 8, 16, 16, 32, 32,
 * ... 256, 256, 512, 512, and so on. Each chunk adds 89 % at most, and from the third on 50 % at
 * most, to what is there. */
UNSEEN_INLINE size_t compact_mapped_chunk_pages(size_t chunk)
{
    return chunk == 0                     ? COMPACT_PAGES_MIN + 1
           : chunk < COMPACT_SMALL_CHUNKS ? (size_t)8 << chunk / 2
                                          : COMPACT_CHUNK_PAGES;
}

/* The pages of a chunk of memory that counts, used or not: 9, then 8, 10, 12, 14, and so on up to
 * 512, rounded down to 8, 10, 12 or 14 times a power of two, which are sizes of jemalloc's. While
 * chunks grow, a set of p pages has about sqrt(p) of them, and the last chunk has 2 sqrt(p) pages.
 * Half of that chunk is unused on average, and the full maps, a page of each chunk, take as
 * much. */
UNSEEN_INLINE size_t compact_counted_chunk_pages(size_t chunk)
{
    if (chunk == 0) {
        return COMPACT_PAGES_MIN + 1;
    }
    if (chunk > (COMPACT_CHUNK_PAGES - COMPACT_PAGES_MIN) / 2) {
        return COMPACT_CHUNK_PAGES;
    }
    const unsigned npages = COMPACT_PAGES_MIN + 2 * ((unsigned)chunk - 1);
    const unsigned shift = 29 - (unsigned)__builtin_clz(npages); /* 3 bits are left */
    return (size_t)(npages >> shift << shift);
}

UNSEEN_INLINE size_t compact_chunk_pages(const struct compact *c, size_t chunk)
{
    return c->is_mapped ? compact_mapped_chunk_pages(chunk) : compact_counted_chunk_pages(chunk);
}

UNSEEN_INLINE uint8_t *compact_page(const struct compact *c, uint32_t number)
{
    return c->chunks[number / COMPACT_CHUNK_PAGES] +
           (size_t)(number % COMPACT_CHUNK_PAGES) * COMPACT_PAGE;
}

/* The page's word of the full map: bit l says that line l had no free slot after the last tag was
 * added to it. */
UNSEEN_INLINE uint64_t *compact_full(const struct compact *c, uint32_t number)
{
    return (uint64_t *)(void *)c->chunks[number / COMPACT_CHUNK_PAGES] +
           number % COMPACT_CHUNK_PAGES;
}

/* The distance from a line to the other line of the same pair: 1 to 63. */
UNSEEN_INLINE unsigned compact_offset(unsigned r, unsigned r_bits)
{
    return (r * 63 + (1u << r_bits)) >> r_bits;
}

/* The numbers of a layout. If the width is a constant, so are they. */
UNSEEN_INLINE unsigned compact_slots(enum compact_width width)
{
    return width == COMPACT_32 ? 16 : width == COMPACT_39 ? 13 : 10;
}

UNSEEN_INLINE unsigned compact_r_bits(enum compact_width width)
{
    return width == COMPACT_32 ? 8 : 7;
}

UNSEEN_INLINE unsigned compact_low_bits(enum compact_width width)
{
    return width == COMPACT_51 ? 19 : compact_r_bits(width);
}

UNSEEN_INLINE unsigned compact_v_bits(enum compact_width width)
{
    return width == COMPACT_32 ? 24 : 32;
}

/* The remainder at the end of low. */
UNSEEN_INLINE unsigned compact_r(enum compact_width width, unsigned low)
{
    return width == COMPACT_51 ? low & 127 : low;
}

/* The page of (home, r) in a group of npages, and the home of (page, r). */
UNSEEN_INLINE unsigned compact_page_in(const uint32_t *moves, unsigned r_bits, unsigned npages,
                                       unsigned home, unsigned r)
{
    return moves[((npages - COMPACT_PAGES_MIN) << r_bits) + r] >> (4 * home) & 15;
}

UNSEEN_INLINE unsigned compact_page_of(const struct compact_layout *layout, unsigned npages,
                                       unsigned home, unsigned r)
{
    return compact_page_in(layout->moves, layout->r_bits, npages, home, r);
}

#define COMPACT_NO_HOME 8u

UNSEEN_INLINE unsigned compact_home_of(const struct compact_layout *layout, unsigned npages,
                                       unsigned page, unsigned r)
{
    uint32_t word = layout->moves[((npages - COMPACT_PAGES_MIN) << layout->r_bits) + r];
    uint32_t differ = word ^ page * 0x11111111u;
    /* The lowest digit that is 0 has its top bit set here; higher ones may be wrong. */
    uint32_t zero = (differ - 0x11111111u) & ~differ & 0x88888888u;
    return zero ? (unsigned)__builtin_ctz(zero) / 4 : COMPACT_NO_HOME;
}

/* The field of a slot of a line of 39-bit tags: 7 bits. */
UNSEEN_INLINE unsigned compact_low_39(const uint8_t *line, unsigned slot)
{
    return (unsigned)load_le16(line + 52 + slot * 7 / 8) >> (slot * 7 % 8) & 127;
}

UNSEEN_INLINE void compact_set_low_39(uint8_t *line, unsigned slot, unsigned low)
{
    uint8_t *p = line + 52 + slot * 7 / 8;
    unsigned shift = slot * 7 % 8;
    store_le16(p, (uint16_t)((load_le16(p) & ~(127u << shift)) | low << shift));
}

/* The field of a slot of a line of 51-bit tags: the last byte of its 19 bits, and the three bytes
 * before. The first field begins in a byte of the last word. */
UNSEEN_INLINE unsigned compact_low_51(const uint8_t *line, unsigned slot)
{
    const unsigned last = 19 * slot + 20; /* the last bit of the field, from byte 40 on */
    return load_le32(line + 37 + last / 8) >> (6 + last % 8) & 0x7ffff;
}

UNSEEN_INLINE void compact_set_low_51(uint8_t *line, unsigned slot, unsigned low)
{
    const unsigned last = 19 * slot + 20;
    uint8_t *p = line + 37 + last / 8;
    const unsigned shift = 6 + last % 8;
    store_le32(p, (load_le32(p) & ~(UINT32_C(0x7ffff) << shift)) | low << shift);
}

/* A tag of any width is passed as (word, low). In a tag of 32 bits the word contains low, too. */
UNSEEN_INLINE uint32_t compact_word(const uint8_t *line, unsigned slot)
{
    return load_le32(line + 4 * slot);
}

UNSEEN_INLINE unsigned compact_low(enum compact_width width, const uint8_t *line, unsigned slot)
{
    return width == COMPACT_32   ? compact_word(line, slot) >> 24
           : width == COMPACT_39 ? compact_low_39(line, slot)
                                 : compact_low_51(line, slot);
}

UNSEEN_INLINE void compact_put(enum compact_width width, uint8_t *line, unsigned slot,
                               uint32_t word, unsigned low)
{
    store_le32(line + 4 * slot, word);
    if (width == COMPACT_39) {
        compact_set_low_39(line, slot, low);
    } else if (width == COMPACT_51) {
        compact_set_low_51(line, slot, low);
    }
}

/* Whether the low of a tag whose word matches is that of the probe. The word of a 32-bit tag has
 * told already. */
UNSEEN_INLINE bool compact_low_agrees(enum compact_width width, const uint8_t *line, unsigned slot,
                                      const struct compact_probe *probe)
{
    return width == COMPACT_32 || compact_low(width, line, slot) == probe->low;
}

/* The length of the piece of a group. */
UNSEEN_INLINE size_t compact_piece_len(unsigned npages)
{
    return COMPACT_PIECE_HEAD + npages * ((size_t)COMPACT_PAGE + COMPACT_FULL_LEN);
}

/* The top bit of v in the word of a tag, and all its bits with their end mark. */
UNSEEN_INLINE uint32_t compact_v_top(enum compact_width width)
{
    return 1u << (compact_v_bits(width) - 1);
}

UNSEEN_INLINE uint32_t compact_v_mask(enum compact_width width)
{
    return compact_v_top(width) | (compact_v_top(width) - 1);
}

/* How many bits of v a tag has. */
UNSEEN_INLINE unsigned compact_v_len(const struct compact *c, uint32_t word)
{
    return c->layout->v_bits - 1 - (unsigned)__builtin_ctz(word);
}

#endif
