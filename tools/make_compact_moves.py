#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/tags/compact_moves.h: where a fingerprint lives in a group of 8 to 15 pages.

A key has a home (0..7) and a remainder r. For each number of pages m and each r, the 8 homes are
placed on 8 different pages of the m: then (page, r) determines (home, r), and a tag needs to hold
r only. From m to m + 1 at most one home of each r moves, always to the new page; every page ends
with the same share of all (home, r) pairs, plus or minus one; and what leaves a page is all it has
in one (cyclic) interval of r, so that a vector comparison finds it.

usage: tools/make_compact_moves.py > src/tags/compact_moves.h
"""

import itertools
import random

HOMES = 8
REPEATS = [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64, 128]  # Rn(w) of the header is n words w


def sweep(place, m, quota, order, start):
    """Moves quota[p] remainders of each page p to page m, page after page in this order, going
    once around from start. Returns the places and each page's interval (first, count), or None
    when one round is not enough."""
    place = [list(row) for row in place]
    intervals = [(0, 0)] * m
    at = start
    for p in order:
        first = at
        for _ in range(quota[p]):
            while p not in place[at % len(place)]:
                at += 1
            row = place[at % len(place)]
            row[row.index(p)] = m
            at += 1
            if at - start > len(place):
                return None
        intervals[p] = (first % len(place), at - first)
    return place, intervals


def placements(remainders):
    """[m - HOMES][r] -> list of the page of each home; [m - HOMES][page] -> its interval."""
    rng = random.Random(1)
    place = [list(range(HOMES)) for _ in range(remainders)]
    places = [place]
    leaving = []
    for m in range(HOMES, 2 * HOMES - 1):
        owned = [sum(p in row for row in place) for p in range(m)]
        share, more = divmod(HOMES * remainders, m + 1)
        by_size = sorted(range(m), key=lambda p: -owned[p])
        quota = {p: owned[p] - share - (i < more) for i, p in enumerate(by_size)}
        # Any order of pages and any start will do that fits into one round.
        moved = None
        for _ in range(100000):
            order = rng.sample(range(m), m)
            moved = sweep(place, m, quota, order, rng.randrange(remainders))
            if moved:
                break
        assert moved, m
        place, intervals = moved
        sizes = [sum(p in row for row in place) for p in range(m + 1)]
        assert max(sizes) - min(sizes) <= 1, sizes
        assert all(len(set(row)) == HOMES for row in place)
        places.append(place)
        leaving.append(intervals)
    return places, leaving


def repeated(word, n):
    """The macro calls that stand for n equal words."""
    terms = []
    while n:
        most = max(count for count in REPEATS if count <= n)
        terms.append(f"R{most}(0x{word:08x})," if most > 1 else f"0x{word:08x},")
        n -= most
    return terms


def table(remainders):
    places, leaving = placements(remainders)
    print(f"static const uint32_t compact_moves_{remainders}[COMPACT_HOMES][{remainders}] = {{")
    for m, rows in enumerate(places, HOMES):
        print(f"    {{ /* {m} pages */")
        words = [sum(page << (4 * home) for home, page in enumerate(row)) for row in rows]
        terms = [term for word, run in itertools.groupby(words) for term in repeated(word, len(list(run)))]
        for i in range(0, len(terms), 6):
            print("        " + " ".join(terms[i:i + 6]))
        print("    },")
    print("};\n")
    print(f"static const uint8_t compact_leaving_{remainders}[COMPACT_HOMES - 1][15][2] = {{")
    for m, intervals in enumerate(leaving, HOMES):
        print(f"    {{ /* from {m} pages to {m + 1} */")
        for i in range(0, m, 8):
            print("        " + " ".join(f"{{{a}, {n}}}," for a, n in intervals[i:i + 8]))
        print("    },")
    print("};")


print("""/* SPDX-License-Identifier: MIT
 *
 * Made by tools/make_compact_moves.py; its comment says what the numbers are. Hexadecimal digit h
 * (from the right) of moves[m - 8][r] is the page of home h for remainder r in a group of m pages.
 * Neighbouring remainders often have the same word: Rn(w) is n words w.
 * leaving[m - 8][p] is the first and the length of the cyclic interval of r that leaves page p
 * when the group grows to m + 1 pages.
 * tests/unit/test_compact.c checks every property the filter relies on. */
/* clang-format off */
#ifndef UNSEEN_TAGS_COMPACT_MOVES_H
#define UNSEEN_TAGS_COMPACT_MOVES_H

#include <stdint.h>

#define COMPACT_HOMES 8
""")
for n, less in zip(REPEATS[1:], REPEATS):
    terms = f"R{less}(w), R{n - less}(w)" if less > 1 else "w, w"
    print(f"#define R{n}(w) {terms}".replace("R1(w)", "w"))
print()
table(256)
print()
table(128)
print("""
#endif
/* clang-format on */""")
