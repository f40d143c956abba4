# SPDX-License-Identifier: MIT
"""Canonical forms, explanations, expressions and shares, also against the tool."""

import os
import random
import subprocess
import unittest
from pathlib import Path

import unseen

TOOL = os.environ.get("UNSEEN")
DATA = os.environ.get("UNSEEN_DATA", "")
VECTORS = Path(__file__).resolve().parents[3] / "tests" / "vectors"


def tool(*args, lines):
    text = b"".join(line + b"\n" for line in lines)
    return subprocess.run([TOOL, *args], input=text, capture_output=True, check=True).stdout.splitlines()


def some_urls():
    random.seed(3)
    parts = ["a", "%41", "%2f", "..", ".", "ä", "日", "?", "&", "=", "#", ";", "x=1", "%", "%zz", "//", " ", "~"]
    urls = ["", "http://", "HTTP://E.com:80/", "http://e.com/ä", "mailto:a@b", "//e.com", "http://[::1]/"]
    for _ in range(3000):
        host = random.choice(["e.com", "E.COM:80", "ä.de", "1.2.3", "user@e.com"])
        urls.append(f"http://{host}/" + "".join(random.choices(parts, k=random.randrange(8))))
    return urls


def is_text(line):
    try:
        return bool(line.decode())
    except UnicodeDecodeError:
        return False


class CanonicalForms(unittest.TestCase):
    def test_types(self):
        self.assertEqual(unseen.canonicalize("HTTP://E.com:80/a/../b#c"), "http://e.com/b")
        self.assertEqual(unseen.canonicalize(b"HTTP://E.com:80/a/../b#c"), b"http://e.com/b")
        self.assertEqual(unseen.canonicalize("HTTP://E.com#c", "whatwg"), "http://e.com/#c")
        self.assertEqual(unseen.canonicalize("HTTP://E.com#c", profile="none"), "HTTP://E.com#c")
        self.assertEqual(unseen.canonicalize("http://e.com/?utm_id=1&a", rules=["strip-trackers"]), "http://e.com/?a")
        same = "http://e.com/"
        self.assertIs(unseen.canonicalize(same), same)
        self.assertEqual(unseen.canonicalize("not a URL \0"), "not a URL \0")

    def test_many(self):
        urls = some_urls() + ["http://e.com/" + "ä" * 70_000, "http://e.com/" + "%41b" * 100_000] * 3
        for profile in "crawl", "scrapy", "aggressive", "safebrowsing":
            forms = [unseen.canonicalize(url, profile) for url in urls]
            self.assertEqual(unseen.canonicalize_many(urls, profile), forms)
            self.assertEqual(unseen.canonicalize_many(iter(urls), profile=profile), forms)
            raw = [url.encode() for url in urls]
            self.assertEqual(
                unseen.canonicalize_many(raw, profile), [f.encode(errors="surrogateescape") for f in forms])
        self.assertEqual(unseen.canonicalize_many([]), [])

    def test_arguments(self):
        for wrong in ((), ("a", "crawl", "b"), ("a", 1)):
            with self.assertRaises(TypeError):
                unseen.canonicalize(*wrong)
        for wrong in {"url": "a"}, {"profile": 1}, {"rules": 1}, {"rules": "x"}, {"nosuch": 1}:
            with self.assertRaises(TypeError):
                unseen.canonicalize("a", **wrong)
        with self.assertRaises(unseen.SettingError):
            unseen.canonicalize("a", "nosuch")
        with self.assertRaises(unseen.SettingError):
            unseen.canonicalize("a", rules=["nosuch"])
        for i in range(200):  # more canonicalisers than are kept
            self.assertEqual(unseen.canonicalize(f"http://e.com/?p{i}=1", rules=[f"drop-params(p{i})"]), "http://e.com/")

    @unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
    def test_against_the_tool(self):
        raw = [url.encode() for url in some_urls() if "\n" not in url and "\r" not in url and url]
        for profile in "crawl", "scrapy", "aggressive":
            self.assertEqual(unseen.canonicalize_many(raw, profile), tool("canon", "-p", profile, lines=raw))

    @unittest.skipUnless(os.path.exists(DATA), "UNSEEN_DATA does not name the folder of the lists of URLs")
    def test_against_w3lib(self):
        try:
            from w3lib.url import canonicalize_url
        except ImportError:
            self.skipTest("no w3lib")
        for name in "urls_links.txt.gz", "urls_requests.txt.gz", "debian_homepage.txt.zst":
            lines = tool("--", os.path.join(DATA, name), lines=[])
            urls = [line.decode() for line in lines if is_text(line)]
            self.assertGreater(len(urls), 10_000)
            forms = unseen.canonicalize_many(urls, "scrapy")
            self.assertEqual([(u, f, canonicalize_url(u)) for u, f in zip(urls, forms) if f != canonicalize_url(u)], [])


class Explanations(unittest.TestCase):
    def test_same(self):
        e = unseen.explain("HTTP://E.com:80/a", "http://e.com/a#b")
        self.assertIs(e.same, True)
        self.assertEqual([u.canonical for u in e.urls], ["http://e.com/a"] * 2)
        self.assertEqual(e.urls[0].form, "rewritten")
        self.assertEqual([step.rule for step in e.urls[0].steps], ["scheme-case", "host-case", "port"])
        self.assertEqual((e.urls[0].steps[2].before, e.urls[0].steps[2].after), (":80", ""))
        self.assertIn("same under crawl/1", str(e))

    def test_not_same(self):
        e = unseen.explain("http://e.com/?a=1&b=2", b"http://e.com/?b=2&a=1")
        self.assertIs(e.same, False)
        self.assertIn("not the same under crawl/1", str(e))
        self.assertIs(unseen.explain("http://e.com/?a=1&b=2", "http://e.com/?b=2&a=1", profile="scrapy").same, True)

    def test_one_and_none(self):
        e = unseen.explain("http://")
        self.assertEqual((len(e.urls), e.urls[0].form), (1, "failed"))
        with self.assertRaises(TypeError):
            unseen.explain()


class Others(unittest.TestCase):
    def test_expressions(self):
        self.assertEqual(unseen.expressions("http://a.b.c/1/2?p"), [
            "a.b.c/1/2?p", "a.b.c/1/2", "a.b.c/", "a.b.c/1/", "b.c/1/2?p", "b.c/1/2", "b.c/", "b.c/1/"])
        self.assertEqual(unseen.expressions(b"http://e.com/"), [b"e.com/"])
        self.assertEqual(unseen.expressions(""), [])

    def test_shard(self):
        self.assertEqual(unseen.shard("http://e.com/a", 20), unseen.shard(b"HTTP://E.com/a#b", 20))
        self.assertEqual(unseen.shard("x", 1), 0)
        self.assertNotEqual({unseen.shard("x", 2**32 - 1), unseen.shard("X", 2**32 - 1, "none")}, {0})
        for wrong in 0, 2**32, -1, 2**70:
            with self.assertRaisesRegex(unseen.SettingError, f"n is a number from 1 to 4294967295, not {wrong}"):
                unseen.shard("x", wrong)
        with self.assertRaises(TypeError):
            unseen.shard("x", "20")

    @unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
    def test_shard_vectors(self):
        rows = VECTORS.joinpath("shards.tsv").read_text().splitlines()
        shards = [row.split("\t") for row in rows if "-" not in row]
        self.assertGreater(len(shards), 100)
        for n, identity, want in shards:
            self.assertEqual(unseen.shard(bytes.fromhex(identity), int(n), "none"), int(want))

    def test_shard_against_the_tool(self):
        raw = [url.encode() for url in some_urls() if "\n" not in url and "\r" not in url and url]
        told = [int(line.split(b"\t")[0]) for line in tool("canon", "--shard", "20", lines=raw)]
        self.assertEqual([unseen.shard(url, 20) + 1 for url in raw], told)


if __name__ == "__main__":
    unittest.main()
