/* SPDX-License-Identifier: MIT
 *
 * The exact filter: a set of whole keys, from which keys are removed exactly. It keeps 64 bits of
 * each key, and is wrong only where two identities have the same 64 bits of hash, for n / 2^64 of
 * the questions. If a lower rate is asked for, it keeps all 128 bits.
 *
 * A line does not store the bits of a key that follow from its place (quotienting [Knuth73]). The
 * parts of the upper word, from the top of hi:
 *
 *     hi   [ prefix: the group ][ top: the rest of 16 bits ][ word: 32 ][ x: 16 ]
 *
 * The prefix chooses a group of 16 to 31 pages of 64 lines through a directory (extendible hashing
 * [Fagin79]). x is a home page, a line of a page, and a rest:
 *
 *     x    [ home: 4 ][ line: 6 ][ rest: 6 ]
 *
 * In a group of 16 pages a key is on its home page. Pages 16 and up take keys from all home pages:
 * home and rest say to which of them a key moves, if to any, as soon as the group has that page
 * (exact_page). So a group that grows by a page moves the keys of that page and no others. The tag
 * (the fingerprint) is the word, the rest and the top. It is in line a, where x puts it, or in line
 * b, where x puts it after the word has changed home, line and rest (exact_place); one bit of the
 * tag says which. The key can be read back from its place and its tag.
 *
 *     line   s words of 32 bits, 0 for an empty slot; then s fields: [ in b 1 ][ rest 6 ][ top ]
 *
 * The longer the prefix, the shorter the field, and the more tags fit into a line:
 *
 *     bits of the prefix     0..3   4..8    9..12   13 and more
 *     bits of a field          24     19       14            10
 *     tags of a line            9     10       11            12
 *
 * In a set of 128-bit keys, a group has further pages for the lower words (lo). If a line has S
 * tags, the lower word of the key in slot s of line l is word number l S + s on these pages. It is
 * read only if the tag matches, so a question about an absent key costs no more.
 *
 * A group is filled to 95.7 % before it grows: a key has two lines, and tags move aside for it.
 * Keys whose word is 0 (one in 2^32) and keys that were made to collide are kept in the stash
 * (stash.h).
 *
 * The two lines of a key are usually on different pages, so a group fills evenly, however keys fall
 * on pages. docs/decisions/exact.md has the measurements, and why a line cannot hold more than 12
 * of these keys whatever the code. */
#ifndef UNSEEN_FILTER_EXACT_H
#define UNSEEN_FILTER_EXACT_H

#include "base/bytes.h"
#include "base/macros.h"
#include "base/pages.h"
#include "filter/filter.h"
#include "filter/stash.h"

enum {
    EXACT_LINE = 64, /* bytes */
    EXACT_PAGE_LINES = 64,
    EXACT_PAGES_MIN = 16, /* pages of a fresh group */
    EXACT_PAGES_MAX = 31, /* pages of a group before it becomes two */
    EXACT_LINES_MAX = EXACT_PAGES_MAX * EXACT_PAGE_LINES,
    EXACT_SLOTS_MAX = 12,
    EXACT_GROUP_MAX = EXACT_LINES_MAX * EXACT_SLOTS_MAX, /* keys */
    EXACT_X_BITS = 16,
    EXACT_WORD_BITS = 32,
    EXACT_TOP_BITS = 16, /* bits of the key above x and word */
    EXACT_REST_BITS = 6,
    EXACT_REST_MASK = (1 << EXACT_REST_BITS) - 1,
    EXACT_HOME_LINES = EXACT_PAGES_MIN * EXACT_PAGE_LINES,
    EXACT_CLASSES = 4, /* of rests: exact_page */
    EXACT_CLASS_PAGES = 5,
    EXACT_KICKED = 4, /* tags on their way at a time */
    EXACT_DEPTH_MAX = 32,
    EXACT_LOW_PAGE = UNSEEN__PAGE / 8 /* lower words of a page */
};

/* Nine cache lines. The first has everything but the addresses of the pages and the full map. */
struct exact_group {
    uint64_t prefix; /* the prefix as the top bits of a key; 0 below */
    uint32_t nlines;
    uint32_t npages;
    uint32_t limits;   /* exact_page: 8 bits for each class of rests */
    uint32_t top_mask; /* the bits of the key's upper 16 that a field has */
    uint32_t slots;    /* of a line */
    uint32_t field_bits;
    uint32_t known; /* bits of the prefix, including the filter's prefix_bits */
    uint32_t nkeys;
    uint32_t limit;    /* with this many keys it grows instead of moving tags */
    uint32_t stuck;    /* the number of keys at which growing failed; 0: never */
    uint32_t is_stale; /* tags were removed since the full map was made */
    uint32_t unused;
    uint64_t **low; /* the pages of lower words; NULL if keys have 64 bits */
    uint8_t *page[EXACT_PAGES_MAX + 1];
    /* A bit for each line of a page: it has no free slot, or has had none since the map was made. A
     * line whose bit is 0 has room. */
    uint64_t full[EXACT_PAGES_MAX + 1];
};

struct exact;

/* The operations of one SIMD level (exact_kernel.h). */
struct exact_kernel {
    enum unseen_status (*add)(struct exact *e, const struct unseen_key *keys, size_t n,
                              uint8_t *verdicts, size_t *ndone_out);
    void (*contains)(const struct exact *e, const struct unseen_key *keys, size_t n,
                     uint8_t *verdicts);
    void (*remove)(struct exact *e, const struct unseen_key *keys, size_t n, uint8_t *verdicts);
};

struct exact {
    struct unseen__filter filter;
    struct exact_group *
        *directory; /* indexed by the top dir_bits of the path; dir_bits is never 0 */
    unsigned dir_bits;
    unsigned prefix_bits; /* top bits of every key that are not part of the path */
    const struct exact_kernel *kernel;
    struct unseen__pages pages;
    struct unseen__stash stash;
    uint64_t nkeys;
    uint64_t ngroups;
    uint64_t nlines;
    uint64_t nslots;
    uint64_t prefix;
    bool full_keys;      /* keys of 128 bits */
    unsigned load_known; /* while loading: the geometry that the groups will have at the end */
    unsigned load_npages;
    uint64_t memory; /* groups and directory */
    uint64_t work;   /* keys that growing has read so far: for tests */
};

extern const struct exact_kernel unseen__exact_portable;
#if UNSEEN_X86
extern const struct exact_kernel unseen__exact_avx2;
#endif

/* The two lines where a key may be, and its tag. */
struct exact_probe {
    uint8_t *a;
    uint8_t *b;
    uint32_t word;
    uint32_t field; /* as in line a; in line b it differs by exact_flip */
    struct exact_group *group;
};

/* A tag that a new key has pushed out, on its way to its other line, which has room. */
struct exact_kicked {
    struct exact_group *group; /* NULL: none */
    uint64_t low;
    uint32_t line;
    uint32_t word;
    uint32_t field;
};

/* exact_group.c */
/* Computes the numbers of a group that follow from its prefix and pages. */
void unseen__exact_group_shape(struct exact_group *group);

/* Creates an empty group for keys with this prefix; NULL without memory. */
struct exact_group *unseen__exact_group_create(struct exact *e, uint64_t prefix, unsigned known,
                                               unsigned npages);
void unseen__exact_group_free(struct exact *e, struct exact_group *group);

/* Adds a key and moves tags aside for it. Subtracts the lines that it looks at from *nlines.
 * Returns false if it found no slot. */
bool unseen__exact_group_add(struct exact_group *group, struct unseen_key key, size_t *nlines);

/* Adds an absent key whose lines are full, in the place of a tag whose other line has room. Starts
 * to fetch that line. The caller calls kick_in before the group is looked at again. Returns false
 * if there is no such tag, or the group is to grow. */
bool unseen__exact_kick_out(const struct exact_probe *probe, struct unseen_key key,
                            struct exact_kicked *kicked);

/* Puts the tag, if there is one, into its other line. */
void unseen__exact_kick_in(struct exact_kicked *kicked);

/* The key of a tag, or its upper word. */
uint64_t unseen__exact_key(const struct exact_group *group, uint32_t line, unsigned slot);

/* Reads the keys of pages first..end of a group: upper words into keys, lower words into lows
 * unless lows is NULL. Returns the number of keys. Both arrays need room for one key more. */
size_t unseen__exact_keys(const struct exact_group *group, unsigned first, unsigned end,
                          uint64_t *keys, uint64_t *lows);

/* exact_grow.c */
/* Adds an absent key whose lines are full, or whose word is 0. *moved_out is set if groups changed,
 * so that the probes of other keys are stale. Errors: NOMEM, RANDOM; the key is not added then. */
enum unseen_status unseen__exact_add_slowly(struct exact *e, struct unseen_key key,
                                            bool *moved_out);

/* Grows to groups with this many known bits, of npages pages each. Groups that know more or are
 * larger stay. Errors: NOMEM, RANDOM; some groups have grown. */
enum unseen_status unseen__exact_grow_to(struct exact *e, unsigned known, unsigned npages);

/* Called while loading, before a key is added: parts its group, if that is empty, until the group
 * is as small as it will be at the end. So the keys of an export, which come group by group, are
 * put where they stay. Errors: NOMEM. */
enum unseen_status unseen__exact_part_empty(struct exact *e, uint64_t key);

/* ---- shapes ---- */

/* How a line is divided. The longer the prefix, the more slots. */
struct exact_shape {
    unsigned known; /* bits of the prefix, at least */
    unsigned slots;
    unsigned field_bits;
};

static const struct exact_shape exact_shapes[] = {
    {13, 12, 10}, {9, 11, 14}, {4, 10, 19}, {0, 9, 24}};

/* The shape of a line in a group with this many bits of prefix. */
UNSEEN_INLINE const struct exact_shape *exact_shape_of(unsigned known)
{
    const struct exact_shape *shape = exact_shapes;
    while (known < shape->known) {
        shape++;
    }
    return shape;
}

/* ---- keys ---- */

/* A key as the stash has it: two keys are equal if the filter cannot tell them apart. */
UNSEEN_INLINE struct unseen_key exact_whole(const struct exact *e, struct unseen_key key)
{
    return (struct unseen_key){e->full_keys ? key.lo : ~key.hi, key.hi};
}

UNSEEN_INLINE struct exact_group *exact_find(const struct exact *e, uint64_t key)
{
    return e->directory[key << e->prefix_bits >> (64 - e->dir_bits)];
}

/* The page of a key with this home page and this rest. A quarter of the rests, class 0, keeps its
 * keys at home. A key of another class moves to page 16 + p, if the group has that page and p is
 * below 5 times its class. p is such that each home page gives as many of its keys to each page: 3
 * of 64 rests to pages 16 to 20, 2 to pages 21 to 25, 1 to pages 26 to 30. So all pages have about
 * as many keys, and two lines of a key make up for the difference. limits has the least of 5 times
 * the class and the number of pages above 16. */
UNSEEN_INLINE uint32_t exact_page(const struct exact_group *group, uint32_t home, uint32_t rest)
{
    const uint32_t p = (home - rest / EXACT_CLASSES) % EXACT_PAGES_MIN;
    const uint32_t limit = group->limits >> rest % EXACT_CLASSES * 8 & 255;
    return p < limit ? EXACT_PAGES_MIN + p : home;
}

/* The home page of a key on this page. */
UNSEEN_INLINE uint32_t exact_home(uint32_t page, uint32_t rest)
{
    return page < EXACT_PAGES_MIN ? page : (page + rest / EXACT_CLASSES) % EXACT_PAGES_MIN;
}

/* The distance from line a to line b, both with home pages: 1 to 1023. It depends on every bit of
 * the word. */
UNSEEN_INLINE uint32_t exact_offset(uint32_t word)
{
    const uint32_t mixed = word * 0x9e3779b1u;
    return 1 + (uint32_t)((uint64_t)mixed * (EXACT_HOME_LINES - 1) >> 32);
}

/* The bits in which the fields of a tag in line a and in line b differ: in b, and the rest. */
UNSEEN_INLINE uint32_t exact_flip(uint32_t word)
{
    return (word & EXACT_REST_MASK) << 1 | 1;
}

UNSEEN_INLINE uint8_t *exact_line(const struct exact_group *group, uint32_t line)
{
    return group->page[line / EXACT_PAGE_LINES] + (size_t)(line % EXACT_PAGE_LINES) * EXACT_LINE;
}

/* The line of a key with this line of its home page (0 to 1023) and this rest. */
UNSEEN_INLINE uint32_t exact_line_of(const struct exact_group *group, uint32_t home_line,
                                     uint32_t rest)
{
    const uint32_t page = exact_page(group, home_line / EXACT_PAGE_LINES, rest);
    return page * EXACT_PAGE_LINES + home_line % EXACT_PAGE_LINES;
}

/* The lines a and b of a key (seldom the same line), and its tag; the field is that in line a. */
UNSEEN_INLINE void exact_place(const struct exact_group *group, uint64_t key, uint32_t *a,
                               uint32_t *b, uint32_t *word, uint32_t *field)
{
    const uint32_t home_line = (uint32_t)key >> EXACT_REST_BITS & (EXACT_HOME_LINES - 1);
    const uint32_t rest = (uint32_t)key & EXACT_REST_MASK;
    const uint32_t top = (uint32_t)(key >> (EXACT_X_BITS + EXACT_WORD_BITS)) & group->top_mask;
    *word = (uint32_t)(key >> EXACT_X_BITS);
    *field = rest << 1 | top << (1 + EXACT_REST_BITS);
    const uint32_t home_line_b = (home_line + exact_offset(*word)) % EXACT_HOME_LINES;
    *a = exact_line_of(group, home_line, rest);
    *b = exact_line_of(group, home_line_b, rest ^ (*word & EXACT_REST_MASK));
}

UNSEEN_INLINE void exact_set_full(struct exact_group *group, uint32_t line)
{
    group->full[line / EXACT_PAGE_LINES] |= (uint64_t)1 << line % EXACT_PAGE_LINES;
}

/* Where the lower word of a slot is. */
UNSEEN_INLINE uint64_t *exact_low(const struct exact_group *group, uint32_t line, unsigned slot)
{
    const uint32_t at = line * group->slots + slot;
    return &group->low[at / EXACT_LOW_PAGE][at % EXACT_LOW_PAGE];
}

/* How many pages the lower words of a group take. */
UNSEEN_INLINE size_t exact_low_pages(const struct exact_group *group)
{
    const size_t n = (size_t)group->nlines * group->slots;
    return (n + EXACT_LOW_PAGE - 1) / EXACT_LOW_PAGE;
}

/* The rest of the tag with this field, in the line where the tag is. */
UNSEEN_INLINE uint32_t exact_rest(uint32_t field)
{
    return field >> 1 & EXACT_REST_MASK;
}

UNSEEN_INLINE uint32_t exact_word(const uint8_t *line, unsigned slot)
{
    return load_le32(line + (size_t)4 * slot);
}

/* The byte at which 32 bits are loaded that contain a field: at most 7 + 24 bits of them are used,
 * or 12 + 19 at the end of the line. */
UNSEEN_INLINE unsigned exact_field_byte(const struct exact_group *group, unsigned slot,
                                        unsigned *shift)
{
    const unsigned bit = 32 * group->slots + slot * group->field_bits;
    const unsigned byte = bit / 8 < EXACT_LINE - 4 ? bit / 8 : EXACT_LINE - 4;
    *shift = bit - 8 * byte;
    return byte;
}

UNSEEN_INLINE uint32_t exact_field(const struct exact_group *group, const uint8_t *line,
                                   unsigned slot)
{
    unsigned shift;
    const unsigned byte = exact_field_byte(group, slot, &shift);
    return load_le32(line + byte) >> shift & (((uint32_t)1 << group->field_bits) - 1);
}

UNSEEN_INLINE void exact_put(const struct exact_group *group, uint8_t *line, unsigned slot,
                             uint32_t word, uint32_t field)
{
    unsigned shift;
    const unsigned byte = exact_field_byte(group, slot, &shift);
    const uint32_t mask = (((uint32_t)1 << group->field_bits) - 1) << shift;
    store_le32(line + (size_t)4 * slot, word);
    store_le32(line + byte, (load_le32(line + byte) & ~mask) | field << shift);
}

#endif
