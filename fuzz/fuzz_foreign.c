/* SPDX-License-Identifier: MIT
 *
 * Bloom filters of other programs, and foreign filters, made by somebody else. The first byte says
 * what follows:
 *
 *     g, G, d, r a file of Guava (G: with texts as UTF-16), of DCSO or of RedisBloom's BF.SCANDUMP,
 *                 cut into pieces by the second byte. The result must not depend on the pieces;
 *                 memory is at most the input's and 40 KB
 *     others      the payloads of chunks (frames.h)
 *
 * A filter that comes out must answer, and its export must come back as the same bytes. */
#include "frames.h"

#include "base/bytes.h"
#include "foreign/foreign.h"
#include "import/foreign_file.h"

/* A filter answers the same after an export and an import, and exports the same bytes. */
static void check_filter(const struct unseen_foreign *f, const uint8_t *data, size_t size)
{
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    static uint8_t again[UNSEEN_CHUNK_MAX];
    struct foreign_reading reading = {.filter = NULL};
    uint64_t cursor = 0;
    size_t len = 0;
    bool complete = false;
    do {
        require(unseen__foreign_next_chunk(f, &cursor, chunk, sizeof(chunk), &len) == UNSEEN_OK);
        require(len == 0 ||
                unseen__foreign_take_chunk(&reading, chunk, len, &complete) == UNSEEN_OK);
    } while (len > 0);
    require(complete);
    struct unseen_foreign *g = reading.filter;
    uint64_t cursor_f = 0;
    uint64_t cursor_g = 0;
    size_t len_g = 0;
    do {
        require(unseen__foreign_next_chunk(f, &cursor_f, chunk, sizeof(chunk), &len) == UNSEEN_OK);
        require(unseen__foreign_next_chunk(g, &cursor_g, again, sizeof(again), &len_g) ==
                UNSEEN_OK);
        require(len == len_g);
    } while (len > 0 && memcmp(chunk + 24, again + 24, len - 32) == 0);
    require(len == 0);
    for (size_t i = 0; i < 8; i++) {
        const struct unseen_bytes item = {(const char *)data, size < 3 * i ? size : 3 * i};
        uint8_t verdicts[2];
        unseen_foreign_contains(f, &item, 1, verdicts);
        unseen_foreign_contains(g, &item, 1, verdicts + 1);
        require(verdicts[0] == verdicts[1]);
    }
    unseen_foreign_free(g);
}

static enum foreign_result read_pieces(struct foreign_file *l, const uint8_t *data, size_t size,
                                       size_t step)
{
    enum foreign_result result = FOREIGN_TAKEN;
    const char *why = NULL;
    for (size_t at = 0; at < size && result == FOREIGN_TAKEN; at += step) {
        result = foreign_file_push(l, data + at, size - at < step ? size - at : step, &why);
    }
    result = result == FOREIGN_TAKEN ? foreign_file_end(l, &why) : result;
    require(result != FOREIGN_WRONG || why);
    return result;
}

static void run_file(uint8_t what, const uint8_t *data, size_t size)
{
    const struct foreign_file fresh = {.format = what == 'd'   ? FOREIGN_DCSO
                                                 : what == 'r' ? FOREIGN_REDISBLOOM
                                                               : FOREIGN_GUAVA,
                                       .text = what == 'G' ? UNSEEN_FOREIGN_UTF16
                                                           : UNSEEN_FOREIGN_BYTES};
    struct foreign_file whole = fresh;
    struct foreign_file pieces = fresh;
    const size_t step = size > 0 ? 1 + data[0] % 64u : 1;
    data += size > 0;
    size -= size > 0;
    require(read_pieces(&whole, data, size, size + 1) == read_pieces(&pieces, data, size, step));
    require(whole.nattached == pieces.nattached || !whole.complete);
    if (whole.filter) {
        struct unseen_foreign_info info = {.size = sizeof(info)};
        require(unseen_foreign_info(whole.filter, &info) == UNSEEN_OK);
        require(info.memory < 40000 + 2 * size);
    }
    if (whole.complete) {
        check_filter(whole.filter, data, size);
    }
    unseen_foreign_free(whole.filter);
    unseen_foreign_free(pieces.filter);
}

static void run_chunks(const uint8_t *data, size_t size)
{
    static const char kinds[3][5] = {"UNFH", "UNFP", "UNFE"};
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    struct frames frames = {kinds, data, size};
    struct foreign_reading reading = {.filter = NULL};
    enum unseen_status status = UNSEEN_OK;
    bool complete = false;
    for (size_t len; status == UNSEEN_OK && !complete && (len = frames_next(&frames, chunk)) > 0;) {
        status = unseen__foreign_take_chunk(&reading, chunk, len, &complete);
    }
    if (status == UNSEEN_OK && complete) {
        check_filter(reading.filter, frames.data, frames.size);
    }
    unseen_foreign_free(reading.filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && strchr("gGdr", data[0]) && data[0] != '\0') {
        run_file(data[0], data + 1, size - 1);
    } else {
        run_chunks(data, size);
    }
    return 0;
}
