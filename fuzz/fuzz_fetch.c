/* SPDX-License-Identifier: MIT
 *
 * Hostile images, whose pages are read when they are first needed. Byte 0 chooses a genuine set
 * with its table. Each 6 bytes that follow are a change: to the table, to a page, to another chunk,
 * or to the length that can be read; the target corrects the checksum of a changed page on demand.
 *
 * The set is opened twice: its pages are kept, or they stay in their file and keys are added to
 * a second set (set/paged.c). A set is refused or open. If it is open, a question is answered
 * or refused as CORRUPT, the same each time, and a member is never taken for absent unless the
 * table, or a page under a right checksum, was changed. If all pages are taken, the set is
 * sound, and a copy of it has the same bytes. */
#include "pages_check.h"

#include "pool.h"
#include "target.h"

enum {
    NBASES = 4,
    CHANGE = 6,
    CHANGES_MAX = 50,
    NMEMBERS = 200,
    NOTE = 16 /* bytes of the table for each page */
};

static struct test_pages bases[NBASES];
static struct test_allocator counting;
static const struct unseen_allocator allocator = {pool_alloc, pool_free, &counting};

/* Both widths; a few groups, of which those of one base are deep, and one group with keys that
 * stand behind it. */
static void setup(void)
{
    static const uint64_t seed = 1;
    if (bases[0].table) {
        return;
    }
    for (unsigned number = 0; number < NBASES; number++) {
        const struct unseen_set_options options = {.size = sizeof(options),
                                                   .profile = "none",
                                                   .fpr = number & 1 ? 2e-6 : 0,
                                                   .seed = &seed,
                                                   .seed_len = sizeof(seed)};
        struct unseen_set *set = NULL;
        require(unseen_set_create(&set, &options, NULL) == UNSEEN_OK);
        for (uint64_t i = 0; i < (number < 2 ? 30000 : 1500); i++) {
            const struct unseen_key crowded = {0x1234, (uint64_t)0x5B << 56 | i << 40};
            struct unseen_key key = number < 2 || i < 1000 ? test_key(i) : crowded;
            key.hi >>= number == 1 && i > 1000 ? 11 : 0;
            uint8_t verdict;
            require(unseen_set_add_keys(set, &key, 1, &verdict, NULL) == UNSEEN_OK);
        }
        test_pages_make(&bases[number], set);
        unseen_set_free(set);
    }
}

/* A copy of a base that may be changed. */
struct lie {
    struct test_pages pages;
    bool resealed;
};

static void *copy_of(const void *bytes, size_t len)
{
    void *copy = malloc(len);
    require(copy != NULL);
    return memcpy(copy, bytes, len);
}

static void lie_start(struct lie *lie, const struct test_pages *base)
{
    *lie = (struct lie){.pages = *base};
    lie->pages.table = copy_of(base->table, base->table_len);
    lie->pages.rest.bytes = copy_of(base->rest.bytes, base->rest.len);
    lie->pages.pages.bytes = copy_of(base->pages.bytes, base->pages.len);
}

/* What the table says of a page. */
static uint8_t *note_of(const struct test_pages *p, size_t page)
{
    const size_t npages = p->pages.len / COMPACT_PAGE;
    return p->table + p->table_len - (npages - page) * NOTE;
}

static void change(struct lie *lie, const uint8_t *c)
{
    struct test_pages *p = &lie->pages;
    const size_t at = load_le16(c + 1);
    const size_t page = c[0] / 8 % (p->pages.len / COMPACT_PAGE);
    uint8_t *bytes = p->pages.bytes + page * COMPACT_PAGE;
    switch (c[0] % 8) {
    case 0:
    case 1:
        p->table[at % p->table_len] = c[3];
        break;
    case 2: /* one more here, one less there: sums stay right */
        p->table[at % p->table_len]++;
        p->table[c[3] % p->table_len]--;
        break;
    case 3:
        p->table_len -= at % p->table_len;
        p->table_len += p->table_len == 0;
        break;
    case 4:
        p->readable = at * (size_t)16 % (p->pages.len + 1);
        break;
    case 5:
        p->rest.bytes[at % p->rest.len] ^= c[3];
        break;
    case 6:
        bytes[at % COMPACT_PAGE] ^= c[3];
        break;
    default: /* a word */
        store_le32(bytes + at / 4 * 4 % COMPACT_PAGE, load_le32(c + 2));
    }
    lie->resealed |= c[0] % 8 < 4; /* the checksum of the table is the caller's */
    if (c[0] % 8 > 5 && (c[5] & 1) && p->table_len > (size_t)(p->pages.len / COMPACT_PAGE) * NOTE) {
        store_le64(note_of(p, page) + 8, unseen__checksum(bytes, COMPACT_PAGE));
        lie->resealed = true;
    }
}

/* The answers of the set, kept pages or not; 0xEE: none. */
static void ask(const struct lie *lie, struct unseen_set *set, uint8_t answers[NMEMBERS])
{
    for (uint64_t i = 0; i < NMEMBERS; i++) {
        const struct unseen_key key = test_key(i * 5);
        uint8_t verdicts[2] = {0xEE, 0xEE};
        enum unseen_status status[2];
        for (int k = 0; k < 2; k++) {
            status[k] = unseen_set_contains_keys(set, &key, 1, &verdicts[k], NULL);
        }
        require(status[0] == status[1] && verdicts[0] == verdicts[1]);
        require(status[0] == UNSEEN_OK || (status[0] == UNSEEN_ERR_CORRUPT && verdicts[0] == 0xEE));
        require(status[0] != UNSEEN_OK || lie->resealed || verdicts[0] == UNSEEN_SEEN);
        answers[i] = verdicts[0];
    }
}

/* A key that is added is new once, and no member is added. */
static void add(struct unseen_set *set, const uint8_t answers[NMEMBERS])
{
    for (uint64_t i = 0; i < NMEMBERS; i++) {
        const struct unseen_key keys[2] = {test_key(i * 5), test_key(i + (UINT64_C(1) << 40))};
        uint8_t first[2] = {0xEE, 0xEE};
        uint8_t again[2] = {0xEE, 0xEE};
        for (int k = 0; k < 2; k++) {
            const enum unseen_status added = unseen_set_add_keys(set, &keys[k], 1, &first[k], NULL);
            const enum unseen_status asked =
                unseen_set_contains_keys(set, &keys[k], 1, &again[k], NULL);
            require(added == asked && (added == UNSEEN_OK || added == UNSEEN_ERR_CORRUPT));
            require(added != UNSEEN_OK || again[k] == UNSEEN_SEEN);
        }
        require(first[0] == answers[i]);
    }
}

/* The same image, whose pages stay where they are. */
static void ask_late(struct lie *lie, const struct unseen_set_options *options,
                     const uint8_t answers[NMEMBERS])
{
    struct unseen_set *set = NULL;
    uint8_t late[NMEMBERS];
    lie->pages.is_late = true;
    lie->pages.nreleased = 0;
    require(test_pages_open(&lie->pages, options, &set) == UNSEEN_OK);
    require(unseen__set_create(&set->recent, options, NULL, &set->hasher.secret, NULL, NULL) ==
            UNSEEN_OK);
    ask(lie, set, late);
    for (size_t i = 0; i < NMEMBERS; i++) {
        require(late[i] == answers[i] || answers[i] == 0xEE || late[i] == 0xEE);
        require(lie->resealed || late[i] == answers[i]);
    }
    add(set, late);
    unseen_set_free(set);
    require(lie->pages.nreleased == 1);
}

static void use(struct unseen_set *set, const struct unseen_set_options *options)
{
    if (unseen__set_fetch_all(set) != UNSEEN_OK) {
        return;
    }
    require(test_set_sound(set));
    struct unseen_set *copy = NULL;
    require(test_copy(set, options, &copy) == UNSEEN_OK);
    require(test_compact(set, 0)->stash.nkeys > 0 || test_same_export(set, copy));
    unseen_set_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct unseen_set_options options = {
        .size = sizeof(options), .profile = "none", .allocator = &allocator};
    struct unseen_set *set = NULL;
    struct lie lie;
    setup();
    if (size == 0) {
        return 0;
    }
    lie_start(&lie, &bases[data[0] % NBASES]);
    for (size_t i = 1, n = 0; i + CHANGE <= size && n < CHANGES_MAX; i += CHANGE, n++) {
        change(&lie, data + i);
    }
    uint8_t answers[NMEMBERS];
    const enum unseen_status status = test_pages_open(&lie.pages, &options, &set);
    require(status == UNSEEN_OK || status == UNSEEN_ERR_CORRUPT || status == UNSEEN_ERR_MISMATCH);
    if (status == UNSEEN_OK) {
        ask(&lie, set, answers);
        use(set, &options);
        unseen_set_free(set);
        require(lie.pages.nreleased == 1);
        ask_late(&lie, &options, answers);
    }
    require(counting.nlive == 0);
    free(lie.pages.table);
    free(lie.pages.rest.bytes);
    free(lie.pages.pages.bytes);
    return 0;
}
