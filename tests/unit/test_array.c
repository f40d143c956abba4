/* SPDX-License-Identifier: MIT
 *
 * Arrays that grow (base/array.h) and the sort without memory of its own (base/heapsort.h). The
 * model of the sort is qsort. */
#include "test.h"

#include "base/array.h"
#include "base/heapsort.h"

static struct test_allocator counting;
static const struct unseen_allocator allocator = {test_alloc, test_free, &counting};

/* ---- arrays ---- */

static void check_grow(void)
{
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        const size_t old_cap = cap;
        CHECK(array_grow(&allocator, &items, &cap, n + 1, 3, sizeof(*items)));
        CHECK(cap > n && (cap == old_cap || cap == (old_cap ? 2 * old_cap : 3)));
        items[n] = n * n;
    }
    for (uint32_t n = 0; n < 1000; n++) {
        CHECK_EQ(items[n], n * n);
    }
    CHECK_EQ(counting.bytes, cap * sizeof(*items));
    CHECK(array_grow(&allocator, &items, &cap, 0, 3, sizeof(*items)));
    CHECK(array_grow(&allocator, &items, &cap, 50000, 3, sizeof(*items)));
    CHECK(cap == (size_t)3 << 15 && items[999] == 999 * 999);
    array_free(&allocator, &items, &cap, sizeof(*items));
    CHECK(items == NULL && cap == 0 && counting.nlive == 0);
    array_free(&allocator, &items, &cap, sizeof(*items));
}

static void check_resize(void)
{
    struct {
        char bytes[24];
    } *items = NULL;
    size_t cap = 0;
    CHECK(array_resize(&allocator, &items, &cap, 0, sizeof(*items)) && !items);
    CHECK(array_resize(&allocator, &items, &cap, 5, sizeof(*items)));
    CHECK(cap == 5 && (uintptr_t)items % ARRAY_ALIGN == 0);
    memset(items, 7, 5 * sizeof(*items));
    CHECK(array_resize(&allocator, &items, &cap, 4, sizeof(*items)) && cap == 5);
    CHECK(array_resize(&allocator, &items, &cap, 7, sizeof(*items)) && cap == 7);
    CHECK(items[4].bytes[23] == 7);
    array_free(&allocator, &items, &cap, sizeof(*items));
    CHECK_EQ(counting.nlive, 0);
}

/* Detects a size that wraps, and a failure that loses the elements. */
static void check_failure(void)
{
    uint64_t *items = NULL;
    size_t cap = 0;
    CHECK(!array_grow(&allocator, &items, &cap, SIZE_MAX, 1, sizeof(*items)));
    CHECK(!array_grow(&allocator, &items, &cap, SIZE_MAX / 2, 1, sizeof(*items)));
    CHECK(!array_resize(&allocator, &items, &cap, SIZE_MAX / 8 + 2, sizeof(*items)));
    CHECK(items == NULL && cap == 0);
    CHECK(array_grow(&allocator, &items, &cap, 1, 1, sizeof(*items)));
    items[0] = 42;
    counting.fail_at = counting.nallocs + 1;
    CHECK(!array_grow(&allocator, &items, &cap, 2, 1, sizeof(*items)));
    CHECK(cap == 1 && items[0] == 42);
    CHECK(array_grow(&allocator, &items, &cap, 2, 1, sizeof(*items)) && items[0] == 42);
    array_free(&allocator, &items, &cap, sizeof(*items));
    CHECK_EQ(counting.nlive, 0);
}

/* ---- the sort ---- */

struct item {
    uint32_t value;
    char more[HEAP_ITEM_MAX - 4];
};

static int compare(const void *a, const void *b)
{
    const uint32_t x = ((const struct item *)a)->value;
    const uint32_t y = ((const struct item *)b)->value;
    return x < y ? -1 : x > y;
}

enum {
    NITEMS = 300
};

/* n items of random values below `range`. */
static void check_sort(size_t n, uint32_t range)
{
    static struct item items[NITEMS + 1];
    static struct item model[NITEMS + 1];
    uint64_t random = n + range;
    memset(items, 0, sizeof(items));
    for (size_t i = 0; i < n; i++) {
        items[i].value = (uint32_t)test_random(&random) % range;
        items[i].more[sizeof(items[i].more) - 1] = (char)(items[i].value % 100);
    }
    items[n].value = 1; /* behind the end: must stay */
    memcpy(model, items, sizeof(items));
    qsort(model, n, sizeof(model[0]), compare);
    heap_sort(items, n, sizeof(items[0]), compare);
    CHECK(memcmp(items, model, sizeof(items)) == 0);
}

int main(void)
{
    test_start();
    check_grow();
    check_resize();
    check_failure();
    heap_sort(NULL, 0, sizeof(struct item), compare);
    for (size_t n = 0; n <= NITEMS; n++) {
        check_sort(n, 2);
        check_sort(n, 50);
        check_sort(n, UINT32_MAX);
    }
    return test_end();
}
