# SPDX-License-Identifier: MIT
"""Crawls a site. The tool `unseen` is the filter, and the file that it writes is the queue.

usage: crawler.py FOLDER FIRST-URL

FOLDER has the state of the crawl: start the crawler again with it after any crash. FOLDER/pages.jsonl gets each
page, as a line of JSON. The crawler ends when no page of the site is left."""

import concurrent.futures
import fcntl
import html.parser
import http.client
import itertools
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

AT_ONCE = 100  # pages from one run of unseen to the next
CONNECTIONS = 8
TIMEOUT = 5  # seconds for one page
PAGE_MAX = 16 << 20  # bytes
LINK_MAX = 65536  # no server takes a longer one, and unseen takes lines of up to 16 MiB


class Links(html.parser.HTMLParser):
    """The URLs of the same site in a page."""

    def __init__(self, page):
        super().__init__()
        self.base, self.found = page["url"], []
        if page["status"] == 200:
            try:
                self.feed(page["text"])
            except (AssertionError, ValueError):
                pass  # the parser gives up, at <![x[ for one: a page can have no more links than it can read

    def handle_starttag(self, tag, attributes):
        href = dict(attributes).get("href") if tag == "a" else None
        if href:
            try:
                link = urllib.parse.urljoin(self.base, href.strip())
                is_here = urllib.parse.urlsplit(link).netloc == urllib.parse.urlsplit(self.base).netloc
                if is_here and len(link) <= LINK_MAX:
                    self.found.append("".join(link.split()))
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


def fetch(url):
    """A page; with the status 0 and the reason if there is no answer."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "crawler.py"})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            return {"url": url, "status": answer.status, "text": text_of(answer)}
    except urllib.error.HTTPError as error:
        return {"url": url, "status": error.code, "text": error.reason}
    except (OSError, http.client.HTTPException, ValueError) as error:
        return {"url": url, "status": 0, "text": str(error)}


def replace(path, text):
    """Writes a file as a whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def put(links):
    """Appends the links that are new to the queue. They are on the disk when unseen ends."""
    replace("links", "".join(link + "\n" for link in links))
    subprocess.run(["unseen", "--wait=60", "-s", "visited.unseen", "-o", "frontier.txt", "links"], check=True)


def stored(file, at, n):
    """Up to n pages of the file from there on, and where they end. What a killed crawler has begun is cut off."""
    file.seek(at)
    pages = []
    for line in itertools.islice(file, n):
        if not line.endswith(b"\n"):
            file.truncate(at)
            break
        pages.append(json.loads(line))
        at += len(line)
    return pages, at


def crawl(first):
    with open("pages.jsonl", "a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        put([first])
        go_on(file)


def go_on(file):
    at = {"frontier": 0, "pages": 0}
    if os.path.exists("position"):
        with open("position") as position:
            at = json.load(position)
    with open("frontier.txt", "rb") as frontier, concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        while True:
            frontier.seek(at["frontier"])
            urls = list(itertools.islice(frontier, AT_ONCE))
            if not urls:
                return
            pages, end = stored(file, at["pages"], len(urls))  # by a crawler that was killed
            for page in pool.map(fetch, (url.decode().strip() for url in urls[len(pages):])):
                line = json.dumps(page).encode() + b"\n"
                file.write(line)
                file.flush()
                pages.append(page)
                end += len(line)
            os.fsync(file.fileno())
            put(link for page in pages for link in Links(page).found)
            at = {"frontier": at["frontier"] + sum(map(len, urls)), "pages": end}
            replace("position", json.dumps(at))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    try:
        os.makedirs(sys.argv[1], exist_ok=True)
        os.chdir(sys.argv[1])
        crawl(sys.argv[2])
    except FileNotFoundError as error:
        sys.exit("crawler.py: %s (unseen must be in the PATH)" % error)
    except BlockingIOError:
        sys.exit("crawler.py: another crawler works in %s" % sys.argv[1])
    except subprocess.CalledProcessError:
        sys.exit("crawler.py: unseen has failed; start the crawler again when its reason is gone")


main()
