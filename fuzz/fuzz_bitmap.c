/* SPDX-License-Identifier: MIT
 *
 * The bitmap under hostile chunks and under any sequence of calls.
 *
 * An input that begins with 'c' is the payloads of chunks (frames.h). If an import accepts the
 * chunks as complete, its export and a second import must give the same bytes. Any other input is
 * operations of 8 bytes, checked against one bit for each of 2^17 integers. */

#include "frames.h"

#include "base/bytes.h"
#include "bitmap/bitmap.h"

enum {
    NMODEL = 1 << 17, /* two pages on either side of a leaf's border */
    OPERATIONS_MAX = 200
};

#define FIRST (((uint64_t)1 << 24) - NMODEL / 2)

static struct unseen_bitmap *fresh(void)
{
    struct unseen_bitmap *b = NULL;
    require(unseen_bitmap_create(&b, NULL, NULL) == UNSEEN_OK);
    return b;
}

/* ---- chunks ---- */

/* Exports x and imports the chunks into a second bitmap, which must export the same bytes. */
static void check_round_trip(const struct unseen_bitmap *x)
{
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    static uint8_t again[UNSEEN_CHUNK_MAX];
    struct unseen_bitmap *y = fresh();
    uint64_t cursor = 0;
    size_t len = 0;
    bool complete = false;
    while (unseen__bitmap_next_chunk(x, &cursor, chunk, sizeof(chunk), &len) == UNSEEN_OK &&
           len > 0) {
        require(!complete);
        require(unseen__bitmap_take_chunk(y, chunk, len, &complete) == UNSEEN_OK);
    }
    require(complete);
    uint64_t cursor_x = 0;
    uint64_t cursor_y = 0;
    size_t len_y = 0;
    do {
        require(unseen__bitmap_next_chunk(x, &cursor_x, chunk, sizeof(chunk), &len) == UNSEEN_OK);
        require(unseen__bitmap_next_chunk(y, &cursor_y, again, sizeof(again), &len_y) == UNSEEN_OK);
        require(len == len_y && memcmp(chunk, again, len) == 0);
    } while (len > 0);
    unseen_bitmap_free(y);
}

static void run_chunks(const uint8_t *data, size_t size)
{
    static const char kinds[3][5] = {"UNBH", "UNBP", "UNBE"};
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    struct frames frames = {kinds, data, size};
    struct unseen_bitmap *b = fresh();
    enum unseen_status status = UNSEEN_OK;
    bool complete = false;
    for (size_t len; status == UNSEEN_OK && !complete && (len = frames_next(&frames, chunk)) > 0;) {
        status = unseen__bitmap_take_chunk(b, chunk, len, &complete);
    }
    if (status == UNSEEN_OK && complete) {
        check_round_trip(b);
    }
    unseen_bitmap_free(b);
}

/* ---- operations ---- */

/* The model: bit i stands for the integer FIRST + i. */
static uint64_t model[NMODEL / 64];

static bool model_has(size_t i)
{
    return model[i / 64] >> i % 64 & 1;
}

static void model_put(size_t first, size_t n, bool present)
{
    for (size_t i = first; i < first + n;) {
        const size_t len = 64 - i % 64 < first + n - i ? 64 - i % 64 : first + n - i;
        const uint64_t bits = (len < 64 ? ((uint64_t)1 << len) - 1 : UINT64_MAX) << i % 64;
        model[i / 64] = (model[i / 64] & ~bits) | (present ? bits : 0);
        i += len;
    }
}

static uint64_t model_count(void)
{
    uint64_t n = 0;
    for (size_t i = 0; i < NMODEL / 64; i++) {
        n += (uint64_t)__builtin_popcountll(model[i]);
    }
    return n;
}

/* Lists the integers a few at a time. They must come in order, and equal those of the model. */
static void check_model(const struct unseen_bitmap *b)
{
    static uint64_t listed[NMODEL / 64];
    static uint64_t values[5000];
    uint64_t from = 0;
    memset(listed, 0, sizeof(listed));
    for (size_t n = 1; n > 0;) {
        n = unseen_bitmap_next(b, from, values, sizeof(values) / sizeof(values[0]));
        for (size_t i = 0; i < n; i++) {
            require(values[i] >= from && values[i] - FIRST < NMODEL);
            listed[(values[i] - FIRST) / 64] |= (uint64_t)1 << (values[i] - FIRST) % 64;
            from = values[i] + 1;
        }
    }
    require(memcmp(listed, model, sizeof(model)) == 0);
    require(unseen_bitmap_count(b, 0, UNSEEN_BITMAP_END) == model_count());
    require(unseen_bitmap_count(b, FIRST, FIRST + NMODEL) == model_count());
}

/* One operation: a code, a length and a place. */
static void run_operation(struct unseen_bitmap *b, const uint8_t *op)
{
    const size_t place = load_le32(op + 4) % NMODEL;
    const size_t wanted = load_le16(op + 2) % (op[1] % 2 ? 65536u : 300u);
    const size_t n = wanted < NMODEL - place ? wanted : NMODEL - place;
    const uint64_t first = FIRST + place;
    uint64_t values[300];
    uint8_t verdicts[300];
    size_t nvalues = n < 300 ? n : 300;
    const size_t step = 1 + op[0] / 8;
    for (size_t i = 0; i < nvalues; i++) {
        values[i] = FIRST + (place + i * step) % NMODEL;
    }
    switch (op[0] % 4) {
    case 0:
    case 1:
        require(unseen_bitmap_set_range(b, first, first + n, op[0] % 4 == 0) == UNSEEN_OK);
        model_put(place, n, op[0] % 4 == 0);
        break;
    default:
        require((op[0] % 4 == 2 ? unseen_bitmap_set : unseen_bitmap_clear)(
                    b, values, nvalues, verdicts, NULL) == UNSEEN_OK);
        for (size_t i = 0; i < nvalues; i++) {
            require((verdicts[i] == UNSEEN_SEEN) == model_has(values[i] - FIRST));
            model_put(values[i] - FIRST, 1, op[0] % 4 == 2);
        }
    }
}

static void run_operations(const uint8_t *data, size_t size)
{
    struct unseen_bitmap *b = fresh();
    memset(model, 0, sizeof(model));
    for (size_t n = 0; size >= 8 && n < OPERATIONS_MAX; data += 8, size -= 8, n++) {
        run_operation(b, data);
    }
    check_model(b);
    check_round_trip(b);
    unseen_bitmap_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'c') {
        run_chunks(data + 1, size - 1);
    } else {
        run_operations(data, size);
    }
    return 0;
}
