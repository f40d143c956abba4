#!/usr/bin/env python3
"""Checks the links of the documents: each relative link of a page (*.md) leads to a file or folder of the tree, and
each anchor to a heading of its page; and each page is reached from docs/README.md, if there is one.

    links.py ROOT        prints a line for each link that leads nowhere and each page that is not reached; exits with
                         status 1 if there is one"""

import os
import pathlib
import re
import sys
import unicodedata
from urllib.parse import unquote

SKIPPED = {"build", ".git", "node_modules"}


def pages_of(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        yield from (pathlib.Path(folder, name) for name in sorted(names) if name.endswith(".md"))


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"^ {4,}.*$", "", text, flags=re.M)


def anchor_of(heading):
    """As GitHub makes it: letters, digits, hyphens and underscores, in lower case; blanks become hyphens."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    plain = plain.replace("`", "").replace("*", "").strip().lower()
    kept = (c for c in plain if c in "-_ " or unicodedata.category(c)[0] in "LNM")
    return "".join(kept).replace(" ", "-")


def anchors_of(path):
    seen, anchors = {}, set()
    for heading in re.findall(r"^#{1,6} +(.+?)\s*#*$", without_code(path.read_text(encoding="utf-8")), flags=re.M):
        anchor = anchor_of(heading)
        anchors.add(anchor + (f"-{seen[anchor]}" if anchor in seen else ""))
        seen[anchor] = seen.get(anchor, 0) + 1
    return anchors


def links_of(text):
    inline = re.sub(r"`[^`\n]*`", "", without_code(text))
    return re.findall(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)", inline)


def unreached(start, pages, targets):
    """The pages that no row of links leads to from start. A link to a folder leads to its README.md."""
    reached, waiting = set(), [start]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += targets.get(page, [])
    return [page for page in pages if page not in reached]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    nbroken = nlinks = 0
    pages, targets = list(pages_of(root)), {}
    for page in pages:
        for link in links_of(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:", link):
                continue
            nlinks += 1
            path, _, anchor = unquote(link).partition("#")
            to = page.parent / path if path else page
            targets.setdefault(page, []).append((to / "README.md" if to.is_dir() else to).resolve())
            wrong = None
            if not to.exists():
                wrong = "there is no such file"
            elif anchor and to.suffix == ".md" and anchor not in anchors_of(to):
                wrong = "there is no such heading"
            if wrong:
                nbroken += 1
                print(f"{page.relative_to(root)}: {link}: {wrong}")
    start = root / "docs/README.md"
    lost = unreached(start, pages, targets) if start.exists() else []
    for page in lost:
        print(f"{page.relative_to(root)}: not reached from docs/README.md")
    print(f"{nlinks} links, {nbroken} lead nowhere")
    sys.exit(1 if nbroken or lost or not nlinks else 0)


if __name__ == "__main__":
    main()
