#!/usr/bin/env python3
"""Checks a site: each link of each page leads to a file of the site, and each anchor to an element of its page.

    site.py FOLDER       prints a line for each link that leads nowhere; exits with status 1 if there is one"""

import html.parser
import os
import pathlib
import re
import sys
from urllib.parse import unquote


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def main():
    root = pathlib.Path(sys.argv[1])
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    nbroken = nlinks = 0
    for path, page in pages.items():
        for link in page.links:
            if link.split(":")[0] in ("http", "https", "mailto", "data"):
                continue
            nlinks += 1
            target, _, anchor = unquote(re.sub(r"\?v=\w+", "", link)).partition("#")
            to = pathlib.Path(os.path.normpath(path.parent / target)) if target else path
            is_there = to.is_file() and (not anchor or to not in pages or anchor in pages[to].ids)
            if not is_there:
                nbroken += 1
                print(f"{path.relative_to(root)}: {link} leads nowhere")
    print(f"{len(pages)} pages, {nlinks} links, {nbroken} lead nowhere")
    sys.exit(1 if nbroken or len(pages) < 20 else 0)


if __name__ == "__main__":
    main()
