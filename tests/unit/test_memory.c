/* SPDX-License-Identifier: MIT
 *
 * The default allocator: alignment and every byte of blocks around the sizes where it changes its
 * source, and that memory given back is given back. */
#include "test.h"

#include "base/memory.h"

static bool is_usable(const struct unseen_allocator *a, size_t size, size_t align)
{
    unsigned char *ptr = unseen__alloc(a, size, align);
    if (!ptr) {
        return false;
    }
    bool ok = (uintptr_t)ptr % align == 0;
    ok = ok && (size % UNSEEN__HUGE_PAGE != 0 || (uintptr_t)ptr % UNSEEN__HUGE_PAGE == 0);
    memset(ptr, 0x5A, size);
    ok = ok && ptr[0] == 0x5A && ptr[size - 1] == 0x5A;
    if (size % UNSEEN__HUGE_PAGE == 0) {
        unseen__memory_large(a, ptr, UNSEEN__HUGE_PAGE);
        ok = ok && ptr[size / 2] == 0x5A;
    }
    unseen__free(a, ptr, size);
    return ok;
}

/* Pages of this process that are in memory. */
static long resident(void)
{
    long size = 0;
    long pages = -1;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &size, &pages) != 2) {
        pages = -1;
    }
    if (file) {
        fclose(file);
    }
    return pages;
}

int main(void)
{
    test_start();
    static const size_t sizes[] = {1,
                                   8,
                                   63,
                                   4096,
                                   65536,
                                   UNSEEN__MAPPING_MIN - 1,
                                   UNSEEN__MAPPING_MIN,
                                   UNSEEN__MAPPING_MIN + 1,
                                   UNSEEN__HUGE_PAGE - 1,
                                   UNSEEN__HUGE_PAGE,
                                   UNSEEN__HUGE_PAGE + 1,
                                   3 * UNSEEN__HUGE_PAGE};
    const struct unseen_allocator a = unseen__allocator(NULL);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t align = 1; align <= 4096; align *= 2) {
            CHECK(is_usable(&a, sizes[i], align));
        }
        unsigned char *zero = unseen__alloc_zero(&a, sizes[i], 8);
        CHECK(zero && zero[0] == 0 && zero[sizes[i] - 1] == 0);
        unseen__free(&a, zero, sizes[i]);
    }
    CHECK(unseen__alloc(&a, SIZE_MAX / 2, 8) == NULL);
    CHECK(unseen__alloc(&a, SIZE_MAX - UNSEEN__HUGE_PAGE + 1, 4096) == NULL);
    unseen__free(&a, NULL, 100);
    /* No address space is that large. */
    CHECK(!unseen__memory_is_plausible(&a, SIZE_MAX / 2));
    CHECK(unseen__memory_is_plausible(&a, 1 << 20));

    long before = resident();
    for (int i = 0; i < 200; i++) {
        CHECK(is_usable(&a, 2 * UNSEEN__HUGE_PAGE, 4096));
    }
    CHECK(before < 0 || resident() < before + 4096);

    struct test_allocator counting = {.fail_at = 2};
    struct unseen_allocator own = {test_alloc, test_free, &counting};
    struct unseen_allocator copy = unseen__allocator(&own);
    void *one = unseen__alloc(&copy, 10, 1);
    CHECK(one && unseen__alloc_zero(&copy, 10, 1) == NULL);
    unseen__memory_large(&copy, one,
                         UNSEEN__HUGE_PAGE); /* not the default allocator's: left alone */
    CHECK(unseen__memory_is_plausible(&copy, SIZE_MAX / 2));
    unseen__free(&copy, one, 10);
    CHECK_EQ(counting.nlive, 0);
    CHECK_EQ(counting.nallocs, 2);
    return test_end();
}
