# SPDX-License-Identifier: MIT
"""Runs the sessions of the README and of the guide, in an empty folder; compares the stubs with the package; looks for
docstrings."""

import doctest
import importlib.util
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import unseen

HERE = os.path.dirname(os.path.abspath(__file__))
GUIDE = os.path.join(HERE, "..", "..", "..", "docs", "python.md")


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
        if not os.path.exists(GUIDE):
            self.skipTest("no checkout around the package")
        self.run_page(GUIDE)


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

    def test_parameters(self):
        """Each parameter of each function, class and method is in its docstring."""
        ntested = 0
        for name in unseen.__all__:
            thing = getattr(unseen, name)
            calls = {name: thing}
            if name == "__version__" or inspect.isclass(thing) and issubclass(thing, (Exception, tuple)):
                continue
            if inspect.isclass(thing):
                calls = {f"{name}.{method}": value for method, value in inspect.getmembers(thing, callable)
                         if not method.startswith("_")}
                if name in ("Set", "List", "Bitmap"):
                    calls[name] = thing
            for where, call in calls.items():
                for parameter in inspect.signature(call).parameters:
                    with self.subTest(where, parameter=parameter):
                        ntested += parameter != "self"
                        words = inspect.getdoc(call).lower()
                        self.assertTrue(parameter == "self" or re.search(rf"\b{parameter}s?\b", words))
        self.assertGreater(ntested, 100)

    def test_clients_are_stores(self):
        """Whatever a store has, with the same arguments."""
        def parameters(method):
            return [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()][1:]  # without self

        names = [name for name in dir(unseen.Store) if not name.startswith("_")] + [
            "__enter__", "__exit__", "__len__", "__contains__", "__repr__"]
        for name in names:
            mine = getattr(unseen.Store, name)
            for class_ in unseen.Client, unseen.ServeClient, unseen.RedisClient:
                with self.subTest(name, class_=class_):
                    if not callable(mine):
                        self.assertTrue(name in class_.__annotations__ or hasattr(class_, name)
                                        or name in unseen.Client.__annotations__)
                    elif name not in ("__len__", "__contains__", "__repr__"):  # of a type in C these have names of their own
                        self.assertEqual(parameters(getattr(class_, name)), parameters(mine))
        public = {name: value for name, value in vars(unseen.Client).items() if not name.startswith("_")}
        for class_ in unseen.ServeClient, unseen.RedisClient:
            for name, value in public.items():
                if callable(value):
                    self.assertEqual(parameters(getattr(class_, name)), parameters(value), f"{class_}.{name}")
        for name in dir(unseen.Set):
            if not name.startswith("_") and name not in ("save", "load"):
                self.assertIn(name, dir(unseen.Store))


class Typing(unittest.TestCase):
    """The programs of the guide, and a few more, for those who check types."""

    #: What the sections of the guide take for granted.
    GIVEN = """
        urls: list[str] = []
        batches: list[list[str]] = []
        queue: list[str] = []
        table: Any = None
        frame: Any = None
        s = unseen.Set()
    """
    MORE = """
    def sequences() -> None:
        mask = unseen.Set().add_many(["a"])
        answer: bool | None = mask[0]
        part: unseen.Mask = ~mask[::2]
        answers: Sequence[bool | None] = part
        place: int = mask.index(True)
        compressed: list[str] = list(itertools.compress(["a"], part))
        form: str | bytes | None
        for form in unseen.canonicalize_many(frame):
            print(form, answer, answers, place, compressed)

    def clients(address: str) -> Sequence[str | bytes]:
        with unseen.connect(address, timeout=1.5) as client:
            taken: list[tuple[str, bytes]] = client.take(1, 60)
            late = client.done(*(token for token, _ in taken)) + client.give_back("x") + client.renew(60, b"x")
            client.close(commit=late > 0)
        served: unseen.Client = unseen.ServeClient(address)
        return [url for url, mark in zip(["a"], served.claim_many(["a"], 60)) if mark == 1]

    def either(seen: unseen.Set | unseen.Store | unseen.Client | set[str]) -> int:
        seen.update(["a", "b"])
        seen.discard("a")
        return len(seen) + ("a" in seen)

    def errors() -> int | None:
        try:
            unseen.open(Path("a"), mode="r", file_mode=0o640)
        except unseen.BusyError as error:
            return error.errno
        return None
    """

    def program(self):
        with open(GUIDE) as page:
            sections = page.read().split("\n## ")
        imports = ["import itertools", "from collections.abc import Sequence", "from pathlib import Path", "from typing import Any"]
        lines = []
        nblocks = 0
        for i, section in enumerate(sections):
            blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", section, re.M)
            lines += [f"def section_{i}() -> None:", *textwrap.indent(textwrap.dedent(self.GIVEN), "    ").splitlines()]
            for block in map(textwrap.dedent, blocks):
                if ">>>" in block:
                    examples = doctest.DocTestParser().get_examples(block)
                    block = "".join(example.source for example in examples)
                if re.search(r"^(sudo|pip|python3) ", block, re.M):
                    continue
                nblocks += 1
                lines += [f"    {line}" for line in block.splitlines() if not re.match(r"\$ |import ", line)]
                imports += re.findall(r"^import .*", block, re.M)
        self.assertGreater(nblocks, 10)
        return "\n".join([*imports, "frame: Any = None", *lines, textwrap.dedent(self.MORE)])

    def check(self, *command):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.py"), "w") as file:
                file.write(self.program())
            done = subprocess.run([*command, "program.py"], capture_output=True, text=True, cwd=folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(os.path.exists(GUIDE) and importlib.util.find_spec("mypy"), "no checkout around the package, or no mypy")
    def test_mypy(self):
        """unseen alone: no other package has to have types, or to be there."""
        self.check(sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--follow-imports=silent")

    @unittest.skipUnless(os.path.exists(GUIDE) and importlib.util.find_spec("pyright") and shutil.which("node"),
                         "no checkout around the package, or no pyright, which needs node")
    def test_pyright(self):
        self.check(sys.executable, "-m", "pyright", "--pythonpath", sys.executable)


if __name__ == "__main__":
    unittest.main()
