/* SPDX-License-Identifier: MIT
 *
 * Bloom filters of other programs, and frozen layers, made by somebody else. The first byte says
 * what follows:
 *
 *     g, G, d, r a file of Guava (G: with texts as UTF-16), of DCSO or of RedisBloom's BF.SCANDUMP,
 *                 cut into pieces by the second byte. The result must not depend on the pieces;
 *                 memory is at most the input's and 40 KB
 *     others      the payloads of chunks (frames.h)
 *
 * A layer that comes out must answer, and its export must come back as the same bytes. */
#include "frames.h"

#include "base/bytes.h"
#include "commands/layer_file.h"
#include "layer/layer.h"

/* A layer answers the same after an export and an import, and exports the same bytes. */
static void check_layer(const struct unseen_layer *f, const uint8_t *data, size_t size)
{
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    static uint8_t again[UNSEEN_CHUNK_MAX];
    struct layer_reading reading = {.layer = NULL};
    uint64_t cursor = 0;
    size_t len = 0;
    bool complete = false;
    do {
        require(unseen__layer_next_chunk(f, &cursor, chunk, sizeof(chunk), &len) == UNSEEN_OK);
        require(len == 0 || unseen__layer_take_chunk(&reading, chunk, len, &complete) == UNSEEN_OK);
    } while (len > 0);
    require(complete);
    struct unseen_layer *g = reading.layer;
    uint64_t cursor_f = 0;
    uint64_t cursor_g = 0;
    size_t len_g = 0;
    do {
        require(unseen__layer_next_chunk(f, &cursor_f, chunk, sizeof(chunk), &len) == UNSEEN_OK);
        require(unseen__layer_next_chunk(g, &cursor_g, again, sizeof(again), &len_g) == UNSEEN_OK);
        require(len == len_g);
    } while (len > 0 && memcmp(chunk + 24, again + 24, len - 32) == 0);
    require(len == 0);
    for (size_t i = 0; i < 8; i++) {
        const struct unseen_bytes item = {(const char *)data, size < 3 * i ? size : 3 * i};
        uint8_t verdicts[2];
        unseen_layer_contains(f, &item, 1, verdicts);
        unseen_layer_contains(g, &item, 1, verdicts + 1);
        require(verdicts[0] == verdicts[1]);
    }
    unseen_layer_free(g);
}

static enum layer_result read_pieces(struct layer_file *l, const uint8_t *data, size_t size,
                                     size_t step)
{
    enum layer_result result = LAYER_TAKEN;
    const char *why = NULL;
    for (size_t at = 0; at < size && result == LAYER_TAKEN; at += step) {
        result = layer_file_push(l, data + at, size - at < step ? size - at : step, &why);
    }
    result = result == LAYER_TAKEN ? layer_file_end(l, &why) : result;
    require(result != LAYER_WRONG || why);
    return result;
}

static void run_file(uint8_t what, const uint8_t *data, size_t size)
{
    const struct layer_file fresh = {.format = what == 'd'   ? LAYER_DCSO
                                               : what == 'r' ? LAYER_REDISBLOOM
                                                             : LAYER_GUAVA,
                                     .text = what == 'G' ? UNSEEN_LAYER_UTF16 : UNSEEN_LAYER_BYTES};
    struct layer_file whole = fresh;
    struct layer_file pieces = fresh;
    const size_t step = size > 0 ? 1 + data[0] % 64u : 1;
    data += size > 0;
    size -= size > 0;
    require(read_pieces(&whole, data, size, size + 1) == read_pieces(&pieces, data, size, step));
    require(whole.nattached == pieces.nattached || !whole.complete);
    if (whole.layer) {
        struct unseen_layer_info info = {.size = sizeof(info)};
        require(unseen_layer_info(whole.layer, &info) == UNSEEN_OK);
        require(info.memory < 40000 + 2 * size);
    }
    if (whole.complete) {
        check_layer(whole.layer, data, size);
    }
    unseen_layer_free(whole.layer);
    unseen_layer_free(pieces.layer);
}

static void run_chunks(const uint8_t *data, size_t size)
{
    static const char kinds[3][5] = {"UNFH", "UNFP", "UNFE"};
    static uint8_t chunk[UNSEEN_CHUNK_MAX];
    struct frames frames = {kinds, data, size};
    struct layer_reading reading = {.layer = NULL};
    enum unseen_status status = UNSEEN_OK;
    bool complete = false;
    for (size_t len; status == UNSEEN_OK && !complete && (len = frames_next(&frames, chunk)) > 0;) {
        status = unseen__layer_take_chunk(&reading, chunk, len, &complete);
    }
    if (status == UNSEEN_OK && complete) {
        check_layer(reading.layer, frames.data, frames.size);
    }
    unseen_layer_free(reading.layer);
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
