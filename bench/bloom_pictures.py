#!/usr/bin/env python3
"""Draws the pictures of docs/bloom-filters.md and of its Chinese edition. The rates come from `unseen plan`.

    bench/bloom_pictures.py UNSEEN FOLDER [LANGUAGE]        en (the default) or zh

writes bloom-idea, bloom-hashes, bloom-fill and bloom-masks (.svg; zh: -zh.svg)."""

import json
import math
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

STYLE = """
text{font:13px system-ui,'Noto Sans','Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;fill:#1f2328}
.code{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:12px}.dim{fill:#656d76}.back{fill:#fff}
.line{stroke:#d0d7de;fill:none}.cell{fill:#f6f8fa;stroke:#d0d7de}.set{fill:#0072b2;stroke:#0072b2}
.one{fill:#fff;font-weight:600}.a{stroke:#0072b2;fill:none}.b{stroke:#009e73;fill:none}.c{stroke:#8c959f;fill:none}
.d{stroke:#d55e00;fill:none}.fa{fill:#0072b2}.fb{fill:#009e73}.fc{fill:#656d76}.fd{fill:#d55e00}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim,.fc{fill:#9198a1}.back{fill:#0d1117}.line{stroke:#3d444d}
.cell{fill:#151b23;stroke:#3d444d}.set{fill:#4aa8e0;stroke:#4aa8e0}.one{fill:#0d1117}.a{stroke:#4aa8e0}.fa{fill:#4aa8e0}
.b{stroke:#35c79a}.fb{fill:#35c79a}.d{stroke:#f0883e}.fd{fill:#f0883e}}
"""

WORDS = {
    "added a": {"zh": "加入 a"},
    "added b": {"zh": "加入 b"},
    "asked for c": {"zh": "查询 c"},
    "asked for d": {"zh": "查询 d"},
    "a bit is 0: c is certainly new": {"zh": "有一位是 0：c 一定没出现过"},
    "all bits are 1: d is taken for seen, wrongly": {"zh": "三位都是 1：d 被误判为见过"},
    "rate of wrong answers": {"zh": "误判率"},
    "k, the number of hashes": {"zh": "哈希个数 k"},
    "bits per key": {"zh": "位/键"},
    "keys added, as a share of those planned": {"zh": "已加入的键占设计容量的比例"},
    "one hash": {"zh": "一个哈希"},
    "seed": {"zh": "种子"},
    "the bits of h that position i keeps": {"zh": "第 i 个位置保留了 h 的哪些位"},
    "bit 31": {"zh": "第 31 位"},
    "bit 0": {"zh": "第 0 位"},
}


class Picture:
    def __init__(self, width, height, title, language):
        self.language = language
        self.size = (width, height)
        self.parts = [f"<title>{escape(title)}</title><rect class='back' width='{width}' height='{height}'/>"]

    def text(self, x, y, text, cls="", anchor="start"):
        shown = WORDS.get(text, {}).get(self.language, text)
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' class='{cls}' text-anchor='{anchor}'>{escape(shown)}</text>")

    def line(self, points, cls, width=1.0):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f"<polyline points='{path}' class='{cls}' stroke-width='{width}' stroke-linejoin='round'/>")

    def curve(self, x0, y0, x1, y1, cls):
        middle = (y0 + y1) / 2
        self.parts.append(f"<path d='M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}'"
                          f" class='{cls}' stroke-width='1.5'/>")

    def box(self, x, y, w, h, cls):
        self.parts.append(f"<rect x='{x:.1f}' y='{y:.1f}' width='{w:.1f}' height='{h:.1f}' rx='2' class='{cls}'/>")

    def __str__(self):
        w, h = self.size
        return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {w} {h}' width='{w}' height='{h}' role='img'>"
                f"<style>{STYLE}</style>" + "\n".join(self.parts) + "</svg>\n")


def idea(language):
    """18 bits; a and b are added, c and d are asked for."""
    picture = Picture(760, 250, "A Bloom filter", language)
    left, top, size = 20, 112, 40
    keys = {"a": ([1, 6, 12], 150, 30, "added a"), "b": ([4, 9, 12], 520, 30, "added b"),
            "c": ([2, 6, 15], 170, 215, "asked for c"), "d": ([4, 6, 9], 540, 215, "asked for d")}
    set_bits = set(keys["a"][0] + keys["b"][0])
    for name, (bits, x, y, words) in keys.items():
        above = y < top
        picture.text(x, y, words, "f" + name, "middle")
        for bit in bits:
            cell = left + bit * size + size / 2
            picture.curve(x, y + 8 if above else y - 16, cell, top - 2 if above else top + size + 2, name)
    picture.text(170, 235, "a bit is 0: c is certainly new", "dim", "middle")
    picture.text(540, 235, "all bits are 1: d is taken for seen, wrongly", "dim", "middle")
    for bit in range(18):
        x = left + bit * size
        picture.box(x + 1, top, size - 2, size, "set" if bit in set_bits else "cell")
        picture.text(x + size / 2, top + 25, "1" if bit in set_bits else "0", "one" if bit in set_bits else "dim", "middle")
    return picture


def rate(unseen, bits_per_key, hashes):
    command = [unseen, "plan", "--filter", "bloom", "--json", "--bits", f"{bits_per_key:.9g}", "--hashes", str(hashes)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["filters"][0]["rates"]["100"]


def axes(picture, frame, x_label, xs, y_low, x_text):
    """Draws a frame with logarithmic rates from 1 down to y_low; returns the function that places a point."""
    left, top, right, bottom = frame
    decades = -round(math.log10(y_low))
    for i in range(decades + 1):
        y = top + (bottom - top) * i / decades
        picture.line([(left, y), (right, y)], "line")
        picture.text(left - 8, y + 4, "1" if i == 0 else f"1e-{i}", "dim", "end")
    low, high = xs[0], xs[-1]
    for x in xs:
        picture.text(left + (right - left) * (x - low) / (high - low), bottom + 20, x_text(x), "dim", "middle")
    picture.text((left + right) / 2, bottom + 42, x_label, "", "middle")
    picture.text(left - 48, top - 16, "rate of wrong answers")

    def place(x, y):
        depth = min(max(-math.log10(max(y, 1e-99)) / decades, 0), 1)
        return left + (right - left) * (x - low) / (high - low), top + (bottom - top) * depth

    return place


def hashes(unseen, language):
    """The rate over k: one curve for each number of bits per key, with its best k marked."""
    picture = Picture(760, 380, "The rate for each number of hashes", language)
    place = axes(picture, (68, 40, 640, 320), "k, the number of hashes", [1, 4, 8, 12, 16, 20], 1e-5, str)
    picture.text(656, 36, "bits per key", "dim")
    for bits, cls in ((8, "d"), (10, "b"), (16, "a"), (20, "c")):
        rates = [rate(unseen, bits, k) for k in range(1, 21)]
        picture.line([place(k + 1, r) for k, r in enumerate(rates)], cls, 2)
        best = min(range(20), key=rates.__getitem__)
        x, y = place(best + 1, rates[best])
        picture.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' class='f{cls}'/>")
        picture.text(656, place(20, rates[-1])[1] + 4, str(bits), "f" + cls)
    return picture


def fill(unseen, language):
    """The rate over the load of a filter with 10 bits per key: k = 7, and one hash."""
    picture = Picture(760, 380, "The rate as a filter fills", language)
    text = lambda x: f"{100 * x:.0f} %"
    place = axes(picture, (68, 40, 640, 320), "keys added, as a share of those planned", [0, 0.5, 1, 1.5, 2], 1e-6, text)
    loads = [i / 50 for i in range(1, 101)]
    for k, cls, name in ((7, "a", "k = 7"), (1, "d", "one hash")):
        points = [place(load, rate(unseen, 10 / load, k)) for load in loads]
        points = [p for p, load in zip(points, loads) if rate(unseen, 10 / load, k) >= 1e-6]
        picture.line(points, cls, 2)
        picture.text(650, points[-1][1] + (14 if k == 7 else -4), name, "f" + cls)
    x, y = place(1, rate(unseen, 10, 7))
    picture.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' class='fa'/>")
    picture.text(x + 10, y + 18, "8.19e-3", "fa")
    return picture


def masks(language):
    """Which bits of the number h each position of bench/HandMade.java keeps."""
    picture = Picture(760, 250, "Six masks", language)
    left, top, size = 92, 58, 20
    picture.text(left, 22, "the bits of h that position i keeps")
    picture.text(left, 46, "bit 31", "dim")
    picture.text(left + 32 * size, 46, "bit 0", "dim", "end")
    for row, seed in enumerate((3, 13, 46, 71, 91, 134)):
        mask = seed * ((1 << 25) - 1) & 0xFFFFFFFF
        y = top + row * (size + 8)
        picture.text(left - 12, y + 15, f"seed {seed}" if picture.language == "en" else f"种子 {seed}", "dim", "end")
        for bit in range(32):
            kept = mask >> (31 - bit) & 1
            picture.box(left + bit * size + 1, y, size - 2, size, "set" if kept else "cell")
    return picture


def main():
    unseen, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    language = sys.argv[3] if len(sys.argv) > 3 else "en"
    suffix = "" if language == "en" else "-" + language
    pictures = {"idea": idea(language), "hashes": hashes(unseen, language), "fill": fill(unseen, language),
                "masks": masks(language)}
    for name, picture in pictures.items():
        (folder / f"bloom-{name}{suffix}.svg").write_text(str(picture), encoding="utf-8")


if __name__ == "__main__":
    main()
