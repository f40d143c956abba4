# SPDX-License-Identifier: MIT
"""Runs the programs of docs/recipes.md, on a table with repeats in several spellings; compares what they keep with the truth.

UNSEEN_CRASH_SCALE=10: 10^7 rows for PySpark."""

import glob
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import unseen

SCALE = int(os.environ.get("UNSEEN_CRASH_SCALE", "1"))
PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "docs", "recipes.md")


def programs():
    """The programs of the page, by what they import."""
    with open(PAGE) as page:
        text = page.read()
    found = {}
    for block in re.findall(r"<!-- the test runs this -->\n((?:    .*\n|\n)+)", text):
        program = textwrap.dedent(block)
        (name,) = re.findall(r"^(?:import|from) (pyarrow\.parquet|polars|pandas|duckdb|datatrove|pyspark)\b", program, re.M)[:1]
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

    def write_table(self, urls):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table({"url": urls, "row": range(len(urls))})
        pq.write_table(table, self.path("links.parquet"), row_group_size=50_000)

    def write_links(self, n, nnulls=0):
        urls = list(some_urls(n))
        for place in random.Random(4).sample(range(n), nnulls):
            urls[place] = None
        self.write_table(urls)
        return set(unseen.canonicalize_many(filter(None, urls)))

    def run_program(self, program):
        done = subprocess.run([sys.executable, "-c", program], cwd=self.folder, capture_output=True, text=True, timeout=3000,
                              env={**os.environ, "PYSPARK_PYTHON": sys.executable})
        self.assertEqual(done.returncode, 0, done.stderr[-5000:])
        return done.stdout

    def kept(self, name):
        """The canonical forms of the rows that a program wrote, and None for those without a URL."""
        import pyarrow.parquet as pq

        return unseen.canonicalize_many(pq.read_table(self.path(name))["url"]).tolist()

    def check(self, name):
        program = self.program(name)
        truth = self.write_links(100_000, 7)
        self.run_program(program)
        kept = self.kept("new.parquet")
        self.assertEqual(len(kept), len(truth) + 7)
        self.assertEqual(set(kept), truth | {None})
        self.run_program(program)
        self.assertEqual(self.kept("new.parquet"), [None] * 7)

    def test_pyarrow(self):
        self.check("pyarrow.parquet")

    def test_polars(self):
        self.check("polars")

    def test_pandas(self):
        self.check("pandas")

    def test_masks(self):
        """What takes a mask as it is, and what needs a list or an array."""
        self.program("polars")
        import polars as pl

        frame = pl.DataFrame({"url": ["a", "a", "b"]})
        mask = unseen.Set().add_many(frame["url"])
        for made in mask, mask.tolist(), pl.Series(mask):
            self.assertEqual(frame.filter(made)["url"].to_list(), ["a", "b"])
        self.assertEqual(frame.filter(~mask)["url"].to_list(), ["a"])

    def test_duckdb(self):
        self.check("duckdb")

    def test_datatrove(self):
        program = self.program("datatrove") + "\nprint([document.id for document in passed])"
        self.assertEqual(self.run_program(program), "['0', '2']\n")
        self.assertEqual(self.run_program(program), "[]\n")

    def test_pyspark(self):
        """Three runs: all is new; two URLs, most shards get nothing; nothing is new. Tasks of the first run are killed
        in the middle of a batch and after their last, and Spark runs them again."""
        program = self.program("pyspark").replace("local[2]", "local[2,4]")  # four attempts
        kills = """
import signal
def kill_once(place):
    shard = TaskContext.get().partitionId()
    try:
        os.close(os.open(f"killed-{place}-{shard}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if shard % 2 == place:
        os.kill(os.getpid(), signal.SIGKILL)
"""
        line = "yield batch.filter(pa.array(seen.add_many(batch.column(\"url\"))))\n"
        end = "    return run\n\ndef first_seen"
        self.assertTrue(line in program and end in program)
        killed = kills + program.replace(line, line + " " * 16 + "kill_once(0)\n").replace(
            end, "        kill_once(1)\n" + end)
        truth = self.write_links(100_000 if SCALE == 1 else SCALE * 1_000_000)
        self.run_program(killed)
        self.assertEqual(len(glob.glob(self.path("killed-*"))), 16)
        self.assertEqual(len(glob.glob(self.path("stores-of-today/attempt-*"))), 8)
        kept = self.kept("new-today")
        self.assertEqual(len(kept), len(truth))
        self.assertEqual(set(kept), truth)
        self.check_stores(truth)
        self.end_of_the_day()
        os.rename(self.path("links.parquet"), self.path("all.parquet"))
        self.write_table(["http://e.com/never", "http://e.com/a/../never", None])
        self.run_program(program)
        self.assertEqual(self.kept("new-today"), ["http://e.com/never"])
        truth.add("http://e.com/never")
        self.check_stores(truth)
        self.end_of_the_day()
        os.rename(self.path("all.parquet"), self.path("links.parquet"))
        self.run_program(program)
        self.assertEqual(self.kept("new-today"), [])

    def check_stores(self, truth):
        """Each store has the URLs of its shard, and no others."""
        n = 0
        urls = list(truth)
        shards = [unseen.shard(url, 8) for url in urls]
        for shard in range(8):
            with unseen.open(self.path(f"stores-of-today/{shard}/seen.unseen"), mode="r") as store:
                self.assertEqual(store.contains_many(urls).tolist(), [i == shard for i in shards])
                n += len(store)
        self.assertEqual(n, len(truth))

    def end_of_the_day(self):
        shutil.rmtree(self.path("new-today"))
        shutil.rmtree(self.path("stores-of-yesterday"), ignore_errors=True)
        os.rename(self.path("stores-of-today"), self.path("stores-of-yesterday"))


if __name__ == "__main__":
    unittest.main()
