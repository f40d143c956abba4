# SPDX-License-Identifier: MIT
"""Runs the sessions of the README and of the guide, in an empty folder."""

import doctest
import os
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Sessions(unittest.TestCase):
    def run_page(self, path):
        folder = os.getcwd()
        with tempfile.TemporaryDirectory() as empty:
            os.chdir(empty)
            try:
                result = doctest.testfile(path, module_relative=False, optionflags=doctest.ELLIPSIS)
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


if __name__ == "__main__":
    unittest.main()
