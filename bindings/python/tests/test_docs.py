# SPDX-License-Identifier: MIT
"""Runs the sessions of the README and of the guide, in an empty folder; compares the stubs with the package; looks for
docstrings."""

import doctest
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest

import unseen

HERE = os.path.dirname(os.path.abspath(__file__))


class Sessions(unittest.TestCase):
    def run_page(self, path):
        folder = os.getcwd()
        with tempfile.TemporaryDirectory() as empty:
            os.chdir(empty)
            try:
                result = doctest.testfile(path, module_relative=False, verbose=False)
            finally:
                os.chdir(folder)
        self.assertGreater(result.attempted, 3)
        self.assertEqual(result.failed, 0)

    def test_readme(self):
        self.run_page(os.path.join(HERE, "..", "README.md"))

    def test_guide(self):
        path = os.path.join(HERE, "..", "..", "..", "docs", "python.md")
        if not os.path.exists(path):
            self.skipTest("no checkout around the package")
        self.run_page(path)


class Interface(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("mypy"), "no mypy")
    def test_stubs(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "unseen", "--concise"],
                                  capture_output=True, text=True, cwd=folder)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_docstrings(self):
        for name in unseen.__all__:
            thing = getattr(unseen, name)
            if name != "__version__":
                self.assertTrue(inspect.getdoc(thing), name)
            if not inspect.isclass(thing) or issubclass(thing, Exception):
                continue
            for method, value in inspect.getmembers(thing):
                if not method.startswith("_"):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{method}")
        for function in unseen.canonicalize, unseen.shard, unseen.open, unseen.Set, unseen.Set.load, unseen.Store.commit:
            inspect.signature(function)


if __name__ == "__main__":
    unittest.main()
