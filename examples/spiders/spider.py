# SPDX-License-Identifier: MIT
"""One of any number of spiders that crawl a site together. The server `unseen serve` is their set and
their queue.

usage: spider.py [--name NAME] [--lease SECONDS] ADDRESS FIRST-URL PAGES

ADDRESS is that of the server. Each page becomes a line of JSON in the file PAGES, which is this spider's own.
The spider ends when no page of the site is left."""

import argparse
import html.parser
import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request

from unseen import Unseen

AT_ONCE = 10  # pages from one take() to the next; a lease lasts longer than they do
TIMEOUT = 5  # seconds for one page
PAGE_MAX = 16 << 20  # bytes
LINK_MAX = 65536  # no server takes a longer one, and a line of `unseen serve` has 1 MiB


class Links(html.parser.HTMLParser):
    def __init__(self, base, page):
        super().__init__()
        self.base, self.found = base, {}
        try:
            self.feed(page)
        except (AssertionError, ValueError):
            pass  # the parser gives up, at <![x[ for one: a page can have no more links than it can read

    def handle_starttag(self, tag, attributes):
        href = dict(attributes).get("href") if tag == "a" else None
        if href:
            try:
                link = urllib.parse.urljoin(self.base, href.strip())
                is_here = urllib.parse.urlsplit(link).netloc == urllib.parse.urlsplit(self.base).netloc
                if is_here and len(link) <= LINK_MAX:
                    self.found["".join(link.split())] = True
            except ValueError:
                pass  # not a URL


def text_of(answer):
    """The text of a page, of which a slow or endless server is not given more time."""
    until, length, data = time.monotonic() + TIMEOUT, answer.length, bytearray()
    while part := answer.read1(65536):
        data += part
        if time.monotonic() > until or len(data) > PAGE_MAX:
            raise TimeoutError("the page is too slow or too long")
    if length is not None and len(data) < length:
        raise http.client.IncompleteRead(data)
    return data.decode(errors="replace")


def fetch(url, name):
    """The status of a page and its text; 0 and the reason if there is no answer."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": name})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return answer.status, text_of(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.reason
    except (OSError, http.client.HTTPException, ValueError) as error:
        return 0, str(error)


def put(visited, urls):
    """Puts the new URLs among them into the queue: leased, so that the server keeps them, and given back."""
    visited.give_back(*filter(None, visited.lease_batch(urls, 1)))


def crawl(visited, first, pages, name, lease):
    fetched = late = 0
    put(visited, [first])
    while True:
        jobs = visited.take(AT_ONCE, lease)
        if not jobs:
            if visited.stats()["leases"] == 0:
                return fetched, late
            time.sleep(0.05)  # others are at their last pages, or have died
            continue
        links = {}
        for _, url in jobs:
            status, text = fetch(url, name)
            pages.write(json.dumps({"url": url, "status": status, "text": text}) + "\n")
            links.update(Links(url, text).found if status == 200 else {})
        pages.flush()
        os.fsync(pages.fileno())
        put(visited, links)
        fetched += len(jobs)
        late += len(jobs) - visited.done(*(token for token, _ in jobs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--name", default="spider")
    parser.add_argument("--lease", type=int, default=(AT_ONCE + 1) * TIMEOUT)
    parser.add_argument("address")
    parser.add_argument("first")
    parser.add_argument("pages")
    o = parser.parse_args()
    with Unseen(o.address) as visited, open(o.pages, "a") as pages:
        if pages.tell() > 0:
            pages.write("\n")  # ends a line that a killed spider may have begun
        fetched, late = crawl(visited, o.first, pages, o.name, o.lease)
    print(f"{o.name}: {fetched} pages, {late} of them late")


main()
