#!/usr/bin/env python3
"""Builds the documents as a site: each page of the tree (*.md) and each manual page becomes HTML, at the same place
below the output folder, and everything that a page links to is there. tools/site.sh calls it.

    site.py OUTPUT PLANNER       PLANNER: the page that tools/planner.sh makes"""

import fnmatch
import functools
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent

# The menu: pages by group. Every other page is reached from these.
MENU = {
    "en": [
        ("Begin", ["README.md", "docs/README.md", "docs/install.md", "docs/comparison.md"]),
        ("Use", ["docs/man/unseen.1", "docs/url-identity.md", "docs/windows.md", "docs/choosing-a-filter.md",
                 "docs/bloom-filters.md", "docs/lists.md", "docs/ten-billion.md", "examples/README.md"]),
        ("Embed", ["docs/c.md", "docs/python.md", "docs/scrapy.md", "docs/recipes.md"]),
        ("Run", ["docs/serve.md", "docs/server.md", "docs/squid.md", "docs/postfix.md"]),
        ("Trust", ["docs/reliability.md", "docs/runs.md", "docs/stability.md", "SECURITY.md", "docs/format.md", "CHANGELOG.md"]),
        ("Read", ["docs/architecture.md", "docs/decisions/README.md", "bench/README.md", "CONTRIBUTING.md"]),
    ],
    "zh": [
        ("开始", ["README.zh.md", "docs/zh/bloom-filters.md"]),
        ("英文文档", ["docs/README.md", "docs/man/unseen.1", "docs/choosing-a-filter.md", "docs/url-identity.md", "docs/windows.md",
                  "docs/lists.md", "docs/python.md", "docs/scrapy.md", "docs/serve.md", "docs/server.md", "docs/reliability.md",
                  "docs/architecture.md"]),
    ],
}
EDITIONS = [("README.md", "README.zh.md"), ("docs/bloom-filters.md", "docs/zh/bloom-filters.md")]


def address(path):
    """Where the page of a file is, below the output folder."""
    path = str(path)
    if path.endswith((".1", ".7")):
        return path + ".html"
    return re.sub(r"\.md$", ".html", re.sub(r"README\.md$", "index.html", path))


@functools.cache
def tree():
    names = subprocess.run(["bash", "-c", ". tools/packages.sh && tree_files"], cwd=ROOT, check=True, text=True,
                           capture_output=True).stdout.split("\0")
    return sorted(name for name in names if name and (ROOT / name).is_file())


def tracked(*patterns):
    """The files of the tree that one of the patterns fits, or that are below a folder of that name."""
    return [name for name in tree() if any(fnmatch.fnmatch(name, p) or name.startswith(p + "/") for p in patterns)]


def title_of(path):
    if path.endswith((".1", ".7")):
        return "Manual pages" if path == "docs/man/unseen.1" else pathlib.Path(path).stem
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(r"^# (.+)$", text, re.M)
    return re.sub(r"[`*]", "", found[1]) if found else pathlib.Path(path).stem


def relative(target, page):
    return os.path.relpath(address(target), os.path.dirname(address(page)) or ".")


def menu_for(page, language):
    parts = []
    for group, pages in MENU[language]:
        links = "".join(
            f'<li><a href="{relative(p, page)}"{" aria-current=page" if p == page else ""}>{html.escape(title_of(p))}</a></li>'
            for p in pages if (ROOT / p).exists())
        parts.append(f"<h2>{group}</h2><ul>{links}</ul>")
    return "\n".join(parts)


def variables_for(page):
    language = "zh" if page in [zh for _, zh in EDITIONS] else "en"
    values = {"lang": "zh-CN" if language == "zh" else "en", "pagetitle": title_of(page), "menu": menu_for(page, language),
              "root": "../" * address(page).count("/")}
    if language == "zh":
        values["zh"] = "1"
    for english, chinese in EDITIONS:
        if page in (english, chinese) and (ROOT / chinese).exists():
            values["other"] = relative(chinese if page == english else english, page)
            values["othername"], values["otherlang"] = ("中文", "zh-CN") if page == english else ("English", "en")
    return [f"--variable={key}={value}" for key, value in values.items()]


def manual_page(page):
    """The body of a manual page, by mandoc."""
    source = ROOT / page
    if page.endswith(".1"):
        source = ROOT / "build/release/man" / source.name
    other = re.match(r"\.so man1/(\S+)", source.read_text(encoding="utf-8"))
    if other:  # a page of several commands
        source = source.with_name(other[1])
    made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", str(source)], check=True,
                          text=True, capture_output=True).stdout
    # A manual page of another package has no page here.
    def known(found):
        return found[0] if (ROOT / page).with_name(found[2]).exists() else f"<b>{found[3]}</b>"
    made = re.sub(r'<a class="Xr" href="((\S+)\.html)">(.*?)</a>', known, made)
    return f'<div class="man">\n{made}\n</div>\n'


def build(page, output):
    to = output / address(page)
    to.parent.mkdir(parents=True, exist_ok=True)
    common = ["pandoc", "--standalone", f"--template={HERE / 'page.html'}", f"--output={to}", "--wrap=none", *variables_for(page)]
    if page.endswith((".1", ".7")):
        subprocess.run([*common, "--from=html", "--metadata=title:" + title_of(page)], input=manual_page(page), check=True, text=True)
        # pandoc would rewrite what mandoc made: put it back as it was.
        text = to.read_text(encoding="utf-8")
        head, tail = text.index('<main id="content">'), text.rindex("</main>")
        to.write_text(text[:head] + '<main id="content">\n' + manual_page(page) + text[tail:], encoding="utf-8")
        return
    subprocess.run([*common, "--from=gfm", "--to=html5", "--no-highlight", "--toc", "--toc-depth=2", f"--lua-filter={HERE / 'site.lua'}",
                    "--metadata=title:" + title_of(page), str(ROOT / page)], check=True)


def listing(folder, output):
    """A page for a folder that has no README.md, so that a link to it leads somewhere."""
    to = output / folder / "index.html"
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    items = []
    for name in sorted({n[len(folder) + 1:].split("/")[0] for n in tracked(folder)}):
        path = f"{folder}/{name}"
        if (ROOT / path).is_dir():
            listing(path, output)
            items.append(f'<li><a href="{name}/index.html">{name}/</a></li>')
        else:
            place(path, output)
            items.append(f'<li><a href="{os.path.basename(address(path))}">{name}</a></li>')
    body = f"<h1>{html.escape(folder)}</h1><ul>{''.join(items)}</ul>"
    subprocess.run(["pandoc", "--standalone", f"--template={HERE / 'page.html'}", f"--output={to}", "--from=html", "--metadata=title:" + folder,
                    "--variable=lang=en", f"--variable=menu={menu_for(folder + '/README.md', 'en')}",
                    f"--variable=root={'../' * (folder.count('/') + 1)}", f"--variable=pagetitle={folder}"], input=body, check=True, text=True)


def place(path, output):
    """Copies a file that a page links to."""
    if not address(path).endswith(".html") or path.endswith(".html"):
        to = output / path
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, to)


LINK = re.compile(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"')


def complete(output):
    """Brings everything that the pages link to: files are copied, folders are listed."""
    for page in list(output.rglob("*.html")):
        if page.name == "planner.html":
            continue
        text = page.read_text(encoding="utf-8")
        changed = text
        for target in set(LINK.findall(text)):
            to = pathlib.Path(os.path.normpath(page.parent / target))
            source = ROOT / os.path.relpath(to, output)
            if source.is_dir():
                listing(os.path.relpath(to, output), output)
                changed = re.sub(rf'(href=")({re.escape(target)})(#|")', rf'\1{target.rstrip("/")}/index.html\3', changed)
            elif not to.exists() and source.is_file():
                place(os.path.relpath(to, output), output)
        if changed != text:
            page.write_text(changed, encoding="utf-8")


def main():
    output, planner = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    shutil.copyfile(HERE / "site.css", output / "site.css")
    shutil.copyfile(planner, output / "planner.html")
    pages = tracked("*.md", "docs/man/*.1", "docs/man/*.7")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda page: build(page, output), pages))
    complete(output)
    print(f"{output}: {len(pages)} pages")


if __name__ == "__main__":
    main()
