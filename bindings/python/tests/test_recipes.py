# SPDX-License-Identifier: MIT
"""Runs the programs of docs/recipes.md, on a table with repeats in several spellings; compares what they keep with the truth."""

import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

import unseen

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "recipes.md")


def programs():
    """The programs of the page, by what they import."""
    with open(PAGE) as page:
        text = page.read()
    found = {}
    for block in re.findall(r"<!-- the test runs this -->\n((?:    .*\n|\n)+)", text):
        program = textwrap.dedent(block)
        (name,) = re.findall(r"^(?:import|from) (pyarrow\.parquet|polars|duckdb|datatrove)\b", program, re.M)[:1]
        found[name] = program
    return found


def some_urls(n):
    """About two thirds of them different, in several spellings."""
    rng = random.Random(3)
    for _ in range(n):
        i = rng.randrange(n)
        yield rng.choice(["http://e.com/%d", "HTTP://E.com:80/%d", "http://e.com/a/../%d#x"]) % i


class Recipes(unittest.TestCase):
    def setUp(self):
        if not os.path.exists(PAGE):
            self.skipTest("no checkout around the package")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def program(self, name):
        if not importlib.util.find_spec(name.partition(".")[0]):
            self.skipTest(f"no {name}")
        return programs()[name]

    def write_links(self, n):
        import pyarrow as pa
        import pyarrow.parquet as pq

        urls = list(some_urls(n))
        pq.write_table(pa.table({"url": urls, "row": range(n)}), self.path("links.parquet"), row_group_size=50_000)
        return set(unseen.canonicalize_many(urls))

    def run_program(self, program):
        done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True, timeout=3000)
        self.assertEqual(done.returncode, 0, done.stderr[-5000:])
        return done.stdout

    def kept(self, name):
        """The canonical forms of the rows that a program wrote."""
        import pyarrow.parquet as pq

        return unseen.canonicalize_many(pq.read_table(self.path(name))["url"].to_pylist())

    def check(self, name):
        program = self.program(name)
        truth = self.write_links(100_000)
        self.run_program(program)
        kept = self.kept("new.parquet")
        self.assertEqual(len(kept), len(truth))
        self.assertEqual(set(kept), truth)
        self.run_program(program)
        self.assertEqual(self.kept("new.parquet"), [])

    def test_pyarrow(self):
        self.check("pyarrow.parquet")

    def test_polars(self):
        self.check("polars")

    def test_duckdb(self):
        self.check("duckdb")

    def test_datatrove(self):
        program = self.program("datatrove") + "\nprint([document.id for document in passed])"
        self.assertEqual(self.run_program(program), "['0', '2']\n")
        self.assertEqual(self.run_program(program), "[]\n")


if __name__ == "__main__":
    unittest.main()
