/* SPDX-License-Identifier: MIT
 *
 * The widths of the compact filter's tags, and where tags stand in a group of each size. */
#include "tags/compact.h"
#include "tags/compact_moves.h"

const struct compact_layout unseen__compact_layouts[COMPACT_WIDTHS] = {
    [COMPACT_32] = {.width = COMPACT_32,
                    .promise = 1.5e-6,
                    .mean_bits = 36.2,
                    .slots = 16,
                    .r_bits = 8,
                    .low_bits = 8,
                    .v_bits = 24,
                    .moves = &compact_moves_256[0][0],
                    .leaving = compact_leaving_256},
    [COMPACT_39] = {.width = COMPACT_39,
                    .promise = 5e-9,
                    .mean_bits = 44.8,
                    .slots = 13,
                    .r_bits = 7,
                    .low_bits = 7,
                    .v_bits = 32,
                    .moves = &compact_moves_128[0][0],
                    .leaving = compact_leaving_128},
    [COMPACT_51] = {.width = COMPACT_51,
                    .promise = 1e-12,
                    .mean_bits = 58.9,
                    .slots = 10,
                    .r_bits = 7,
                    .low_bits = 19,
                    .v_bits = 32,
                    .moves = &compact_moves_128[0][0],
                    .leaving = compact_leaving_128},
};
