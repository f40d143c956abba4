# SPDX-License-Identifier: MIT
"""Stores the documents of a feed in the CMS. Any number of crawlers and upload forms may run at once.

usage: crawler.py [--name NAME] [--lease SECONDS] ADDRESS DATABASE FEED

ADDRESS is that of `unseen serve`, DATABASE a connection string of PostgreSQL, FEED the URL of an RSS feed. The
crawler ends when all documents of the feed are stored; it leaves out those that cannot be fetched."""

import argparse
import re
import subprocess
import time
import urllib.request
import xml.etree.ElementTree

import psycopg2
import psycopg2.extras

from unseen import Unseen

AT_ONCE = 20  # documents of a transaction; a lease lasts longer than they do
TIMEOUT = 5  # seconds for one document
INSERT = "INSERT INTO documents (url, title, body, stored_by) VALUES %s ON CONFLICT DO NOTHING RETURNING url"


def fetch(url):
    with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
        return answer.read().decode(errors="replace")


def links_of(feed):
    """The links of a feed, canonical, each once."""
    links = [item.findtext("link", "").strip() for item in xml.etree.ElementTree.fromstring(fetch(feed)).iter("item")]
    lines = "".join(link + "\n" for link in links if link and "\n" not in link)
    canon = subprocess.run(["unseen", "canon"], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return list(dict.fromkeys(canon.stdout.splitlines()))


def document(url, name):
    text = fetch(url)
    title = re.search("<title>(.*?)</title>", text, re.DOTALL)
    return url, title[1] if title else url, text, name


def store(visited, database, leased, name):
    """Documents go into the database first; then they are done. How many were stored, how many the database
    had, and the URLs that could not be fetched."""
    documents, tokens, failed = [], [], []
    for token, url in leased:
        try:
            documents.append(document(url, name))
            tokens.append(token)
        except (OSError, ValueError):
            visited.give_back(token)
            failed.append(url)
    if not documents:
        return 0, 0, failed
    with database, database.cursor() as cursor:  # commits
        stored = len(psycopg2.extras.execute_values(cursor, INSERT, documents, fetch=True))
    visited.done(*tokens)
    return stored, len(documents) - stored, failed


def crawl(visited, database, feed, name, lease):
    stored, there, failed = 0, 0, set()
    links = links_of(feed)
    while links:
        left = []
        for at in range(0, len(links), AT_ONCE):
            part = links[at : at + AT_ONCE]
            tokens = visited.lease_batch(part, lease)
            counts = store(visited, database, [(t, url) for t, url in zip(tokens, part) if t], name)
            stored, there = stored + counts[0], there + counts[1]
            failed.update(counts[2])
            left += [url for t, url in zip(tokens, part) if t is not False and url not in failed]
        # These are done by now, or others have them: look again until all were seen.
        links = [url for url, seen in zip(left, visited.seen_batch(left)) if not seen]
        if links:
            time.sleep(0.2)
    return stored, there, len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--name", default="crawler")
    parser.add_argument("--lease", type=int, default=(AT_ONCE + 1) * TIMEOUT)
    parser.add_argument("address")
    parser.add_argument("database")
    parser.add_argument("feed")
    o = parser.parse_args()
    with Unseen(o.address) as visited:
        database = psycopg2.connect(o.database)
        stored, there, failed = crawl(visited, database, o.feed, o.name, o.lease)
        database.close()
    print(f"{o.name}: {stored} stored, {there} that the database had, {failed} that could not be fetched")


main()
