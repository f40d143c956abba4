#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes src/url/idna_table.h: what domain to ASCII needs of the Unicode standard.

    python3 -m venv v && v/bin/pip install idna==3.18 unicodedata2==17.0.1
    v/bin/python tools/make_idna_table.py > src/url/idna_table.h

The packages have the tables of Unicode 17: idna the mapping table of UTS 46 and the joining types,
unicodedata2 the rest.
"""

import bisect

import idna.idnadata
import idna.uts46data as uts46
import unicodedata2 as unicode

NPOINTS = 0x33500  # nothing above is valid or mapped, but the selectors in IGNORED are ignored
IGNORED = range(0xE0100, 0xE01F0)
BLOCK = 256
MORE, EVEN = 1 << 31, 1 << 30
BIDI = {"L": 0, "R": 1, "AL": 1, "AN": 2, "EN": 3, "NSM": 5, "ES": 4, "CS": 4, "ET": 4, "ON": 4, "BN": 4}
JOINING = {"T": 1, "D": 2, "L": 3, "R": 4}
WIDTH = 200

assert uts46.__version__ == idna.idnadata.__version__ == unicode.unidata_version == "17.0.0"

joining = {
    point: JOINING[kind]
    for kind, ranges in idna.idnadata.joining_types.items()
    if kind in JOINING
    for pair in ranges
    for point in range(pair >> 32, pair & 0xFFFFFFFF)
}


def status(point):
    """The letter of UTS 46 (valid, deviation, mapped, ignored or disallowed) and the mapping."""
    at = bisect.bisect_right(uts46.uts46_starts, point) - 1
    return chr(uts46.uts46_statuses[at]), uts46.uts46_replacements[at]


def compositions():
    """(first, second, both) of all primary composites, without Hangul."""
    found = []
    for point in range(NPOINTS):
        parts = unicode.decomposition(chr(point)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            first, second = (int(part, 16) for part in parts)
            if unicode.normalize("NFC", chr(first) + chr(second)) == chr(point):
                found.append((first, second, point))
    return sorted(found)


pairs = compositions()
seconds = {second for _, second, _ in pairs} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))


firsts = {first for first, _, _ in pairs} | set(range(0x1100, 0x1113)) | set(range(0xAC00, 0xD7A4, 28))
boths = {both for _, _, both in pairs}


def class_of(point):
    text = chr(point)
    return (
        BIDI.get(unicode.bidirectional(text), 6)
        | (unicode.category(text)[0] == "M") << 3
        | joining.get(point, 0) << 4
        | (point in seconds) << 7
        | unicode.combining(text) << 8
        | (point in firsts) << 16
        | (point in boths) << 17
    )


def kinds():
    """What becomes of each code point: a class, "ignored", "disallowed" or a mapping."""
    table = []
    for point in range(NPOINTS):
        letter, mapping = status(point)
        if letter in "VD":
            table.append(class_of(point))
        elif letter == "M":
            table.append(mapping)
        else:
            table.append("ignored" if letter == "I" else "disallowed")
    return table


table = kinds()
for point in range(NPOINTS, 0x110000):
    assert status(point)[0] == ("I" if point in IGNORED else "X")

classes = [0, 0] + sorted({kind for kind in table if isinstance(kind, int)})
targets = []
place_of = {}


def place(words):
    """The place of the words in targets."""
    if words not in place_of:
        place_of[words] = len(targets)
        targets.extend(words)
    return place_of[words] + len(classes)


def value_of(point):
    """The number that the table has for the code point, and what the next one must be to go on."""
    kind = table[point]
    if kind == "disallowed":
        return 0
    if kind == "ignored":
        return 1
    if isinstance(kind, int):
        return classes.index(kind, 2)
    words = [ord(c) | MORE for c in kind]
    words[-1] &= ~MORE
    return place(tuple(words))


def is_shift(point, shift):
    return isinstance(table[point], str) and len(table[point]) == 1 and ord(table[point]) - point == shift


def is_even_pair(point, kind):
    return point + 1 < NPOINTS and is_shift(point, 1) and table[point + 1] == kind


lows, values, blocks = [], [], []
for start in range(0, NPOINTS, BLOCK):
    blocks.append(len(lows))
    point = start
    while point < start + BLOCK:
        kind = table[point]
        end = point + 1
        if is_even_pair(point, table[point + 1]) and isinstance(table[point + 1], int):
            end = point + 2
            while end < start + BLOCK and is_even_pair(end, table[point + 1]):
                end += 2
            value = place((EVEN | classes.index(table[point + 1], 2),))
        elif isinstance(kind, str) and len(kind) == 1:
            while end < start + BLOCK and is_shift(end, ord(kind) - point) and not (
                ord(kind) - point == 1 and isinstance(table[end + 1 if end + 1 < NPOINTS else end], int)):
                end += 1
            value = value_of(point)
        elif isinstance(kind, str) and kind not in ("ignored", "disallowed"):
            value = value_of(point)
        else:
            while end < start + BLOCK and table[end] == kind:
                end += 1
            value = value_of(point)
        lows.append(point - start)
        values.append(value)
        point = end
blocks.append(len(lows))
assert max(values) < 1 << 16


def look_up(point):
    """As idna.c reads the table."""
    first, last = blocks[point // BLOCK], blocks[point // BLOCK + 1]
    at = first + bisect.bisect_right(lows[first:last], point % BLOCK) - 1
    value = values[at]
    if value < len(classes):
        return ("disallowed", "ignored")[value] if value < 2 else classes[value]
    word = targets[value - len(classes)]
    distance = point % BLOCK - lows[at]
    if word & EVEN:
        return classes[word & ~EVEN] if distance & 1 else chr(point + 1)
    if not word & MORE:
        return chr(word + distance)
    text = ""
    for word in targets[value - len(classes):]:
        text += chr(word & ~MORE)
        if not word & MORE:
            return text


for point in range(NPOINTS):
    assert look_up(point) == table[point], hex(point)


def array(kind, name, numbers, form="{}"):
    print(f"\nstatic const {kind} {name}[] = {{")
    line = ""
    for number in numbers:
        item = form.format(number) + ","
        if len(line) + len(item) > WIDTH:
            print(line)
            line = ""
        line += item
    print(line + "\n};")


print(
    """/* SPDX-License-Identifier: MIT
 *
 * Made by tools/make_idna_table.py from the tables of Unicode 17.
 *
 * What becomes of a code point below IDNA_NPOINTS in a domain (UTS 46, not transitional): the code
 * points of block b, which are 256, have the numbers idna_blocks[b] up to idna_blocks[b + 1] of
 * idna_lows and idna_values; the last one whose low is at most the low byte counts. A value below
 * IDNA_NCLASSES is a class: 0 disallowed, 1 ignored, else valid, and idna_classes[value] says what
 * the code point is. Other values are the place of the mapping in idna_targets, counted from
 * IDNA_NCLASSES: code points that have IDNA_MORE if another one follows. A mapping to one code
 * point holds for a range: the distance to its low is added. With IDNA_EVEN, code points at an even
 * distance are mapped to the next one, which is valid and of the class that is there.
 *
 * idna_pairs has what two code points make when they are composed (NFC), by the two; Hangul is
 * left out. idna_by_both is the order of the pairs by what they make. */
/* clang-format off */
#ifndef UNSEEN_URL_IDNA_TABLE_H
#define UNSEEN_URL_IDNA_TABLE_H

#include <stdint.h>
"""
)
print(f"#define IDNA_NPOINTS  {NPOINTS:#x}")
print(f"#define IDNA_NCLASSES {len(classes)}")
print(f"#define IDNA_NPAIRS   {len(pairs)}")
print(f"#define IDNA_MORE     0x{MORE:x}u")
print(f"#define IDNA_EVEN     0x{EVEN:x}u")
print(
    """
/* A class: bits 0 to 2 are the direction, 3 is set for a mark, 4 to 6 are the joining type, 7 is
 * set if the code point may be the second of a pair, 8 to 15 are the combining class,
 * 16 is set if the code point may be the first of a pair, 17 if a pair makes it. */
enum idna_direction { IDNA_LEFT, IDNA_RIGHT, IDNA_ARABIC_NUMBER, IDNA_NUMBER, IDNA_NEUTRAL, IDNA_NONSPACING };
enum idna_joining { IDNA_TRANSPARENT = 1, IDNA_DUAL, IDNA_LEFT_JOINING, IDNA_RIGHT_JOINING };"""
)
array("uint32_t", "idna_classes", classes)
array("uint16_t", "idna_blocks", blocks)
array("uint8_t", "idna_lows", lows)
array("uint16_t", "idna_values", values)
array("uint32_t", "idna_targets", targets, "{:#x}")
print("\nstruct idna_pair { uint32_t first, second, both; };")
array("struct idna_pair", "idna_pairs", [f"{{{a:#x},{b:#x},{c:#x}}}" for a, b, c in pairs])
array("uint16_t", "idna_by_both", sorted(range(len(pairs)), key=lambda i: pairs[i][2]))
print("\n#endif")
