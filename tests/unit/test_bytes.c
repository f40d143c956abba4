/* SPDX-License-Identifier: MIT
 *
 * Numbers as bytes, and products: each against the slow way. */
#include "test.h"

#include "base/bytes.h"

/* The high word of a product, bit by bit. */
static uint64_t slow_high(uint64_t a, uint64_t b)
{
    uint64_t high = 0;
    uint64_t low = 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> i & 1) {
            low += a;
            high += low < a;
        }
    }
    return high;
}

static void test_products(void)
{
    static const uint64_t edges[] = {
        0, 1, 2, UINT32_MAX - 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX - 1, UINT64_MAX};
    const size_t n = sizeof(edges) / sizeof(edges[0]);
    uint64_t state = 1;
    for (size_t i = 0; i < 10000; i++) {
        const bool edge = i < n * n;
        const uint64_t a = edge ? edges[i / n] : test_random(&state) >> i % 64;
        const uint64_t b = edge ? edges[i % n] : test_random(&state) >> i / 64 % 64;
        CHECK_EQ(mul_high(a, b), slow_high(a, b));
        CHECK_EQ(mul_high_portable(a, b), slow_high(a, b));
        size_t product = 0;
        const bool fits = slow_high(a, b) == 0 && a * b <= SIZE_MAX;
        CHECK(size_mul((size_t)a, (size_t)b, &product) == fits);
        CHECK(!fits || product == (size_t)(a * b));
    }
}

/* Little-endian, at any place, and nothing else is touched. */
static void test_numbers(void)
{
    const uint64_t v = UINT64_C(0x8877665544332211);
    for (size_t at = 0; at < 8; at++) {
        uint8_t bytes[24];
        memset(bytes, 0xee, sizeof(bytes));
        store_le64(bytes + at, v);
        for (size_t i = 0; i < sizeof(bytes); i++) {
            const bool inside = i >= at && i < at + 8;
            CHECK_EQ(bytes[i], inside ? 0x11 * (i - at + 1) : 0xee);
        }
        CHECK_EQ(load_le64(bytes + at), v);
        CHECK_EQ(load_le32(bytes + at), v & UINT32_MAX);
        store_le32(bytes + at, 0x0a0b0c0d);
        CHECK_EQ(load_le64(bytes + at), UINT64_C(0x887766550a0b0c0d));
        store_le_double(bytes + at, 1.5);
        CHECK_EQ(load_le64(bytes + at), UINT64_C(0x3ff8000000000000));
        CHECK(load_le_double(bytes + at) == 1.5);
    }
}

int main(void)
{
    test_start();
    test_products();
    test_numbers();
    return test_end();
}
