#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws docs/img/cache-guard.svg from what was measured:

    tests/systems/cache_guard.sh measure examples/cache-guard/measured.json
    examples/cache-guard/picture.py examples/cache-guard/measured.json >docs/img/cache-guard.svg
"""

import json
import sys

WIDTH, HEIGHT = 760, 260
LEFT, RIGHT = 70, 640
RUNS = {"none": ("#d55e00", "cache alone"), "module": ("#0072b2", "with the guard")}


def panel(measured, name, title, top, bottom):
    """One figure of all runs over the time."""
    series = {kind: run[name] for kind, run in measured["runs"].items()}
    highest = max(y for points in series.values() for _, y in points)
    step = next(s for s in (m * 10**e for e in range(6) for m in (1, 2, 5)) if s * 5 >= highest)
    limit = step * 5

    def x(t):
        return LEFT + (RIGHT - LEFT) * min(t, measured["end"]) / measured["end"]

    def y(value):
        return bottom - (bottom - top) * value / limit

    begin, end = measured["flood"]
    yield f"<text x='8' y='{top - 12}' font-weight='bold'>{title}</text>"
    yield f"<rect x='{x(begin):.1f}' y='{top}' width='{x(end) - x(begin):.1f}' height='{bottom - top}' fill='#f2f2f2'/>"
    yield f"<text x='{x((begin + end) / 2):.1f}' y='{top + 14}' text-anchor='middle' fill='#777'>flood of absent keys</text>"
    for i in range(6):
        yield f"<line x1='{LEFT}' x2='{RIGHT}' y1='{y(i * step):.1f}' y2='{y(i * step):.1f}' stroke='#ddd'/>"
        yield f"<text x='{LEFT - 6}' y='{y(i * step) + 4:.1f}' text-anchor='end'>{i * step}</text>"
    for t in range(0, measured["end"] + 1, 3):
        yield f"<text x='{x(t):.1f}' y='{bottom + 16}' text-anchor='middle'>{t} s</text>"
    for i, (kind, points) in enumerate(series.items()):
        colour, label = RUNS[kind]
        line = " ".join(f"{x(t):.1f},{y(value):.1f}" for t, value in points if t <= measured["end"] + 0.2)
        yield f"<polyline fill='none' stroke='{colour}' stroke-width='2' points='{line}'/>"
        yield f"<text x='{RIGHT + 8}' y='{top + 16 + 18 * i}' fill='{colour}'>{label}</text>"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        measured = json.load(file)
    print(f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' width='{WIDTH}' height='{HEIGHT}' "
          "font-family='sans-serif' font-size='12'>")
    print(f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>")
    for line in panel(measured, "statements", "Statements per second that reach the database", 36, 226):
        print(line)
    print("</svg>")


if __name__ == "__main__":
    main()
