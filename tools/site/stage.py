#!/usr/bin/env python3
"""Puts the pages of the site into a folder, as tools/site/conf.py reads them: each *.md of the tree and each manual
page, at its place, with what it links to. tools/site.sh calls it.

    stage.py FOLDER

A README.md becomes the index of its folder, and a folder that is linked to and has none gets one. A link whose text is
the name of a page gets the title of that page instead."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# The menu: pages by group. A page that has pages of its own below it is in SUBPAGES.
MENU = {
    "Begin": ["docs/README.md", "docs/install.md", "docs/comparison.md"],
    "Use": ["docs/man/unseen.1", "docs/url-identity.md", "docs/windows.md", "docs/choosing-a-filter.md",
            "docs/bloom-filters.md", "docs/lists.md", "docs/ten-billion.md", "examples/README.md"],
    "Embed": ["docs/c.md", "docs/python.md", "docs/api.md", "docs/scrapy.md", "docs/recipes.md"],
    "Run": ["docs/serve.md", "docs/server.md", "docs/squid.md", "docs/postfix.md"],
    "Trust": ["docs/reliability.md", "docs/runs.md", "docs/stability.md", "SECURITY.md", "docs/format.md", "CHANGELOG.md"],
    "Read": ["docs/architecture.md", "docs/decisions/README.md", "bench/README.md", "CONTRIBUTING.md"],
    "中文": ["README.zh.md", "docs/zh/*.md"],
}
SUBPAGES = {
    "docs/man/unseen.1": ["docs/man/unseen-*"],
    "examples/README.md": ["examples/*/README.md"],
    "docs/decisions/README.md": ["docs/decisions/*.md"],
}
API = """# Reference of the Python package

```{eval-rst}
.. automodule:: unseen
   :members:
   :undoc-members:
```
"""


def tracked(*patterns):
    """The files of the tree that one of the patterns fits; also those that are not committed yet, so that a change can be
    looked at."""
    names = subprocess.run(["bash", "-c", ". tools/packages.sh && tree_files"], cwd=ROOT, check=True, text=True,
                           capture_output=True).stdout.split("\0")
    return sorted(name for name in names
                  if (ROOT / name).is_file() and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns))


PAGES = {
    "docs/man/unseen.1": ["docs/man/unseen-*"],
    "examples/README.md": ["examples/*/README.md"],
    "docs/decisions/README.md": ["docs/decisions/*.md"],
}
API = """# Reference of the Python package

```{eval-rst}
.. automodule:: unseen
   :members:
   :undoc-members:
```
"""


def tracked(*patterns):
    """The files of the tree, also those that are not committed yet, so that a change can be looked at."""
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "--", *patterns], check=True,
                           text=True, capture_output=True).stdout.split("\n")
    return sorted(name for name in names if name and (ROOT / name).is_file())


PAGES = {*tracked("*.md", "docs/man/*.1", "docs/man/*.7"), "docs/api.md"}


def document(page):
    """What Sphinx calls the page: its path without .md."""
    return re.sub(r"(^|/)README$", r"\1index", page.removesuffix(".md"))


def listing(folder):
    """The page of a folder that has no README.md."""
    items = "".join(f"- [{name[len(folder) + 1:]}]({name[len(folder) + 1:]})\n" for name in tracked(folder + "/*"))
    return f"# {folder}\n\n{items}"


def link_in(page, added):
    """Rewrites a link of Markdown; what it leads to is added to the set."""

    def rewrite(found):
        text, target, anchor = found["text"], found["target"], found["anchor"] or ""
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if (ROOT / path).is_dir():
            path = os.path.normpath(f"{path}/README.md")
        if not (ROOT / path).is_file():
            added.add(path)
        elif path not in PAGES:
            added.add(path)
            return f"[{text}]({os.path.relpath(path, os.path.dirname(page) or '.')})"
        to = os.path.relpath(document(path) + ".md", os.path.dirname(page) or ".")
        shown = "" if text.strip("`/") in (target.rstrip("/"), os.path.basename(target)) else text
        return f"[{shown}]({to}{anchor})"

    return rewrite


LINK = re.compile(r"\[(?P<text>[^\[\]]*)\]\((?P<target>(?![a-z]+:)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def manual_page(page):
    """A manual page, by mandoc; the tool has written its options into it."""
    source = ROOT / "build/release/man" / os.path.basename(page)
    if not source.exists():
        source = ROOT / page
    other = re.match(r"\.so man1/(\S+)", source.read_text(encoding="utf-8"))
    if other:  # a page of several commands
        source = source.with_name(other[1])
    made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(source)], check=True, text=True,
                          capture_output=True).stdout

    def known(found):  # a manual page of another package has no page here
        return found[0] if (ROOT / page).with_name(found[2]).exists() else f"<b>{found[3]}</b>"

    made = re.sub(r'<a class="Xr" href="((\S+)\.html)">(.*?)</a>', known, made)
    name, section = os.path.basename(page).rsplit(".", 1)
    return f"# {name}({section})\n\n`````{{raw}} html\n{made}\n`````\n"


def toctree(page, patterns, caption=""):
    """Where the menu has other pages: those that the patterns fit, in their order."""
    names = [name for pattern in patterns for name in sorted(PAGES) if fnmatch.fnmatchcase(name, pattern) and name != page]
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    return f"\n```{{toctree}}\n{options}\n" + "".join(f"/{document(name)}\n" for name in names) + "```\n"


def main():
    output = pathlib.Path(sys.argv[1])
    shutil.rmtree(output, ignore_errors=True)
    added = set()

    def put(page, text):
        to = output / (document(page) + ".md")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    for page in sorted(PAGES):
        if page == "docs/api.md":
            text = API
        elif page.endswith(".md"):
            text = LINK.sub(link_in(page, added), (ROOT / page).read_text(encoding="utf-8"))
        else:
            text = manual_page(page)
        if page == "README.md":
            text += "".join(toctree(page, pages, group) for group, pages in MENU.items())
        elif page in SUBPAGES:
            text += toctree(page, SUBPAGES[page])
        put(page, text)
    while added:
        path = added.pop()
        if (ROOT / path).is_file():
            (output / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, output / path)
        elif os.path.basename(path) == "README.md" and (ROOT / path).parent.is_dir():
            put(path, LINK.sub(link_in(path, added), listing(os.path.dirname(path))))


if __name__ == "__main__":
    main()
