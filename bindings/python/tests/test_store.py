# SPDX-License-Identifier: MIT
"""Store: what lasts and what is forgotten, and every way to open one wrongly."""

import errno
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import unseen

TOOL = os.environ.get("UNSEEN")


class Store(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "visited.unseen")

    def test_remembers(self):
        with unseen.open(self.path) as s:
            self.assertEqual(s.profile, "crawl/1")
            self.assertEqual(s.add_many(["http://e.com/a", "http://e.com/b", "http://E.com/a"]), [True, True, False])
            self.assertIs(s.add("http://e.com/c"), True)
            self.assertIs(s.remove("http://e.com/c"), True)
        with unseen.open(self.path) as s:
            self.assertEqual(len(s), 2)
            self.assertEqual(s.contains_many(["http://e.com/a", "http://e.com/c"]), [True, False])
            self.assertEqual(s.remove_many(["http://e.com/a"]), [True])
            self.assertIn("http://e.com/b", s)

    def test_larger_than_memory(self):
        known = [str(i) for i in range(1_600_000)]
        with unseen.open(self.path, "none") as s:
            self.assertIs(s.info()["in_parts"], False)
            s.add_many(known)
        size = os.path.getsize(self.path + ".image")
        for memory in size, str(size), f"{size >> 10}K":
            for mode in "r", "w":
                with unseen.open(self.path, mode=mode, memory=memory) as s:
                    self.assertIs(s.info()["in_parts"], True)
                    self.assertLess(s.info()["memory_bytes"], size // 2)
                    self.assertEqual(s.contains_many(["0", "1599999", "new"]), [True, True, False])
        with unseen.open(self.path, memory=size) as s:
            self.assertEqual(s.add_many(["new", "5", "new"]), [True, False, False])
            self.assertRaises(unseen.UnsupportedError, s.remove, "5")
        with unseen.open(self.path, memory="1T") as s:
            self.assertIs(s.info()["in_parts"], False)
            self.assertEqual(len(s), 1_600_001)
            self.assertTrue(all(s.contains_many(["new", *known])))
        for memory in "", "2 G", "G", "2GB", "-1", "1e9", "99999999999999999999", f"{1 << 54}K\0", "16777216T", -1, 1 << 64, "1023K", 1:
            with self.assertRaises(unseen.SettingError):
                unseen.open(self.path, memory=memory)
        for memory in True, 1.5, b"2G", None:
            with self.assertRaises(TypeError):
                unseen.open(self.path, memory=memory)

    def test_an_exception_forgets_what_was_not_committed(self):
        with self.assertRaises(KeyError):
            with unseen.open(self.path) as s:
                s.add("a")
                s.commit()
                s.add("b")
                raise KeyError
        with unseen.open(self.path) as s:
            self.assertEqual(s.contains_many(["a", "b"]), [True, False])

    def test_close(self):
        s = unseen.open(self.path)
        s.add("a")
        s.close()
        s.close()
        self.assertTrue(s.closed)
        s = unseen.open(self.path)
        s.add("b")
        s.close(commit=False)
        with unseen.open(self.path, mode="r") as s:
            self.assertEqual(s.contains_many(["a", "b"]), [True, False])

    def test_a_dropped_store_forgets_what_was_not_committed(self):
        s = unseen.open(self.path)
        s.add("a")
        s.commit(wait=False)
        s.commit()
        s.add("b")
        with self.assertWarns(ResourceWarning):
            del s
        with unseen.open(self.path) as s:
            self.assertEqual(s.contains_many(["a", "b"]), [True, False])

    def test_a_dropped_store_warns(self):
        """If it has changes that were never handed to a commit, and only then."""
        with unseen.open(self.path) as s:
            s.update(["old", "older", "oldest"])

        def fails(s):
            with self.assertRaises(TypeError):
                s.add_many([*map(str, range(1024)), None])

        losing = [lambda s: s.add("a"), lambda s: s.add_many(["old", "a"]), lambda s: s.update(["a"]), lambda s: s.remove("old"),
                  lambda s: s.remove_many(["a", "old"]), lambda s: s.discard("old"), lambda s: (s.add("x"), s.commit(), s.add("a")),
                  lambda s: (s.commit(wait=False), s.add("a")), lambda s: (s.add("a"), s.add("a")), fails]
        for i, change in enumerate(losing):
            s = unseen.open(self.path)
            change(s)
            with self.subTest(i), self.assertWarnsRegex(ResourceWarning, "visited.unseen' was not closed: what was added"):
                del s
        harmless = [lambda s: None, lambda s: s.add("old"), lambda s: s.add_many(["old", "older"]), lambda s: s.remove("never"),
                    lambda s: s.contains_many(["a"]), lambda s: (s.add("a"), s.commit()), lambda s: (s.add("b"), s.commit(wait=False)),
                    lambda s: (s.add("c"), s.close()), lambda s: (s.add("d"), s.close(commit=False)), lambda s: s.refresh()]
        for i, change in enumerate(harmless):
            s = unseen.open(self.path)
            change(s)
            with self.subTest(i), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                del s
            self.assertEqual(caught, [])
        with unseen.open(self.path, mode="r") as s:
            self.assertEqual(s.contains_many(["a", "b", "c", "d", "x"]), [True, True, True, False, True])

    def test_a_store_that_is_left_at_the_end_warns(self):
        """Wherever the program has it; and the warning may be an error."""
        places = {
            "global": "s = unseen.open(path); s.add('a')",
            "list": "kept = [unseen.open(path)]; kept[0].add('a')",
            "class": "class A: s = unseen.open(path)\nA.s.add('a')",
            "module": "import json; json.s = unseen.open(path); json.s.add('a')",
            "cycle": "class A: pass\na = A(); a.a = a; a.s = unseen.open(path); a.s.add('a'); del a",
            "closure": "s = unseen.open(path); f = lambda: s.add('a'); f(); del s",
            "generator": "def g():\n  s = unseen.open(path); s.add('a'); yield\nkept = g(); next(kept)",
            "exit": "s = unseen.open(path); s.add('a'); sys.exit(0)",
            "thread": "import threading\ndef f():\n  s = unseen.open(path); s.add('a')\nt = threading.Thread(target=f); t.start(); t.join()",
        }
        for place, code in places.items():
            for how in "always", "error":
                code = "import sys, unseen\npath = sys.argv[1]\n" + code
                done = subprocess.run([sys.executable, "-W", how, "-c", code, self.path], capture_output=True, text=True)
                with self.subTest(place, how=how):
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stderr.count(f"ResourceWarning: the store '{self.path}' was not closed"), 1, done.stderr)
        with unseen.open(self.path, mode="r") as s:
            self.assertEqual(len(s), 0)

    def test_a_forked_child_warns_of_nothing(self):
        code = ("import os, sys, unseen\ns = unseen.open(sys.argv[1]); s.add('a')\n"
                "if os.fork() == 0: sys.exit(0)\nos.wait(); s.close()")
        done = subprocess.run([sys.executable, "-W", "always", "-c", code, self.path], capture_output=True, text=True)
        self.assertEqual(done.stderr.replace("DeprecationWarning", ""), "")
        with unseen.open(self.path, mode="r") as s:
            self.assertIn("a", s)

    def test_repr(self):
        s = unseen.open(self.path)
        s.add("a")
        self.assertEqual(repr(s), f"<unseen.Store '{self.path}' of 1, crawl/1>")
        if (pid := os.fork()) == 0:
            os._exit(repr(s) != f"<unseen.Store '{self.path}', of the parent process>")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        s.close()
        self.assertEqual(repr(s), f"<unseen.Store '{self.path}', closed>")

    def test_errors_of_files(self):
        """They have the number and the path of an OSError, and the sentence as their text, also behind a pickle."""
        folder = pathlib.Path(self.folder)
        unseen.open(self.path).close()
        busy = unseen.open(self.path)
        self.addCleanup(busy.close)
        (folder / "file").write_text("")
        nothing, below = str(folder / "nothing"), str(folder / "file" / "x")
        cases = [
            (lambda: unseen.open(self.path), unseen.BusyError, errno.EAGAIN, self.path),
            (lambda: unseen.open(nothing, mode="w"), unseen.MissingError, errno.ENOENT, nothing),
            (lambda: unseen.open(os.fsencode(nothing), mode="r"), unseen.MissingError, errno.ENOENT, nothing),
            (lambda: unseen.open(pathlib.Path(below)), unseen.FileError, errno.ENOTDIR, below),
            (lambda: unseen.Set.load(nothing), unseen.MissingError, errno.ENOENT, nothing),
            (lambda: unseen.Set.load(self.folder), unseen.FileError, errno.EISDIR, self.folder),
            (lambda: unseen.Set().save(below), unseen.FileError, errno.ENOTDIR, below),
            (lambda: unseen.List(nothing), unseen.MissingError, errno.ENOENT, nothing),
        ]
        for i, (call, class_, code, path) in enumerate(cases):
            with self.subTest(i):
                with self.assertRaises(class_) as caught:
                    call()
                for error in caught.exception, pickle.loads(pickle.dumps(caught.exception)):
                    self.assertEqual((type(error), error.errno, error.filename), (class_, code, path))
                    self.assertEqual(str(error), error.strerror)
                    self.assertRegex(str(error), re.escape(path) + "|cannot")
        self.assertEqual((str(unseen.FileError("mine")), str(unseen.FileError())), ("mine", ""))

    def test_closed_object_raises(self):
        s = unseen.open(self.path)
        s.close()
        for call in (
            lambda: s.add("a"), lambda: s.contains("a"), lambda: "a" in s, lambda: s.remove("a"), lambda: len(s),
            lambda: s.add_many(["a"]), lambda: s.contains_many(["a"]), lambda: s.remove_many(["a"]), s.info,
            s.commit, s.refresh, s.__enter__, lambda: s.profile,
        ):
            with self.assertRaisesRegex(unseen.ClosedError, "it is closed"):
                call()
        self.assertTrue(issubclass(unseen.ClosedError, ValueError))

    def test_in_use(self):
        with unseen.open(self.path):
            with self.assertRaisesRegex(BlockingIOError, "is being written to by process") as caught:
                unseen.open(self.path)
            self.assertIsInstance(caught.exception, unseen.Error)
            with unseen.open(self.path, mode="r") as reader:
                self.assertEqual(len(reader), 0)

    def test_modes(self):
        with self.assertRaises(FileNotFoundError):
            unseen.open(self.path, mode="w")
        with self.assertRaises(FileNotFoundError):
            unseen.open(self.path, mode="r")
        unseen.open(self.path, mode="c").close()
        with unseen.open(self.path, mode="r") as s:
            for call in (lambda: s.add("a"), lambda: s.add_many(["a"]), lambda: s.remove("a"), s.commit):
                with self.assertRaises(unseen.ReadOnlyError):
                    call()
        for mode in "", "x", "rw":
            with self.assertRaisesRegex(unseen.SettingError, "the mode of a store is"):
                unseen.open(self.path, mode=mode)

    def test_a_reader_follows(self):
        with unseen.open(self.path) as s, unseen.open(self.path, mode="r") as reader:
            s.add("a")
            s.commit()
            self.assertNotIn("a", reader)
            self.assertIsNone(reader.refresh())
            self.assertIn("a", reader)
            s.add("b")
            s.refresh()
            self.assertEqual(s.contains_many(["a", "b"]), [True, True])

    def test_wrong_settings(self):
        unseen.open(self.path, "scrapy").close()
        with self.assertRaisesRegex(unseen.MismatchError, "has the profile scrapy/1, not crawl/1"):
            unseen.open(self.path, "crawl")
        with self.assertRaises(unseen.MismatchError):
            unseen.open(self.path, filter="exact")
        with self.assertRaises(unseen.SettingError):
            unseen.open(self.path, "nosuch")
        with unseen.open(self.path) as s:
            self.assertEqual(s.profile, "scrapy/1")
        with unseen.open(os.path.join(self.folder, "rules"), rules=["strip-trackers"]) as s:
            self.assertIn("strip-trackers", s.profile)
        with self.assertRaises(TypeError):
            unseen.open(7.5)
        with self.assertRaises(ValueError):
            unseen.open("a\0b")

    def test_not_a_store(self):
        with self.assertRaises(unseen.Error):
            unseen.open(self.folder)
        with open(self.path, "w") as file:
            file.write("http://e.com/\n" * 10000)
        with self.assertRaises(unseen.DamagedError) as caught:
            unseen.open(self.path)
        self.assertIn(self.path, str(caught.exception))

    def test_damaged(self):
        with unseen.open(self.path) as s:
            for i in range(3):
                s.add_many(map(str, range(i * 5000, i * 5000 + 5000)))
                s.commit()
        self.assertFalse(os.path.exists(self.path + ".image"))
        with open(self.path, "r+b") as file:
            file.seek(30000)
            file.write(b"damage")
        with self.assertRaisesRegex(unseen.DamagedError, "damaged"):
            unseen.open(self.path)
        with open(self.path, "r+b") as file:  # the version in both headers, see docs/format.md
            for header in 0, 8192:
                file.seek(header + 8)
                file.write((99).to_bytes(4, "little"))
        with self.assertRaises(unseen.DamagedError):
            unseen.open(self.path)

    def test_window(self):
        """A driven clock over three openings: new again after the window, never before."""
        start = 1_700_000_000.0
        with unseen.open(self.path, "none", window="10m", now=start) as s:
            self.assertEqual((s.info()["window"], s.info()["oldest"]), (600, None))
            self.assertNotIn("leaving", s.info())  # counted for those that only read
            self.assertEqual(s.add_many(["a", "b", "a"]).tolist(), [True, True, False])
            s.expire(start + 300)
            self.assertTrue(s.remove("b") and s.add("b"))  # anew from here
            s.expire(start + 599.999)
            self.assertFalse(s.add("a"))
            s.commit()
            s.expire(1)  # the latest time counts
            self.assertIn("a", s)
        with unseen.open(self.path, now=start + 601) as s:
            self.assertEqual(s.contains_many(["a", "b"]).tolist(), [False, True])
            self.assertTrue(s.add("a"))
        with unseen.open(self.path, mode="r", now=start + 880) as s:
            info = s.info()
            self.assertEqual((len(s), info["window"], info["oldest"], info["leaving"]), (2, 600, start + 300, 1))
            s.expire(start + 901)
            self.assertEqual(s.contains_many(["a", "b"]).tolist(), [True, False])

    def test_window_of_the_time_of_day(self):
        """What came two hours ago has left a window of one hour, and is there in one of three."""
        for window, is_new in ("1h", True), (3 * 3600, False):
            path = f"{self.path}-{window}"
            with unseen.open(path, window=window, now=time.time() - 7200) as s:
                s.add_many(["a", "b", "c"])
            with self.subTest(window), unseen.open(path, mode="r") as s:
                self.assertEqual(s.contains_many(["a"]).tolist(), [not is_new])
                self.assertEqual(("b" in s, len(s), s.info()["keys"]), (not is_new, *2 * (0 if is_new else 3,)))
            with self.subTest(window), unseen.open(path, window=window) as s:
                self.assertEqual((s.add("a"), s.add_many(["b"]).tolist(), s.remove("c")), (is_new, [is_new], not is_new))
                self.assertIsNone(s.expire())

    def until_new(self, asks):
        """Asks until the answer is that a key is new."""
        deadline = time.monotonic() + 60
        while asks() and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(asks())

    def test_a_reader_of_a_store_with_a_window_forgets_by_the_clock(self):
        asks = lambda s: "a" in s, lambda s: s.contains_many(["a"])[0], len, lambda s: s.info()["keys"]
        with unseen.open(self.path, window=1) as s:
            s.add("a")
            s.commit()
            readers = [unseen.open(self.path, mode="r") for _ in asks]
            for ask, reader in zip(asks, readers):
                with self.subTest(ask), reader:
                    self.until_new(lambda: ask(reader))
            self.assertTrue(s.add("a"))

    @unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
    def test_a_store_that_gets_a_window(self):
        """Its log has the times of its keys, and a reader that was there before forgets by the new window."""
        def rewrite(window):
            subprocess.run([TOOL, "rewrite", "--window", window, self.path], check=True)
            reader.refresh()

        two_hours_ago = time.time() - 7200
        with unseen.open(self.path, now=two_hours_ago) as s:
            s.add("a")
        with unseen.open(self.path) as s, unseen.open(self.path, mode="r") as reader:
            opened = time.time()
            time.sleep(0.6)  # times are kept to a quarter of a second
            s.add("b")
            s.close()
            rewrite("3h")
            self.assertEqual((reader.info()["window"], len(reader)), (10800, 2))
            self.assertAlmostEqual(reader.info()["oldest"], two_hours_ago, delta=0.3)
            rewrite("1h")
            self.assertEqual(reader.contains_many(["a", "b"]), [False, True])
            self.assertGreater(reader.info()["oldest"], opened + 0.3)
        with unseen.open(self.path, mode="r") as reader:
            rewrite("none")
        with unseen.open(self.path, mode="r") as reader:
            reader.contains("b")
            rewrite("3s")
            self.until_new(lambda: reader.contains_many(["b"])[0])
        with self.assertRaisesRegex(unseen.MismatchError, "has a window of 3 s, not of 2592000 s: "):
            unseen.open(self.path, window="30d")

    def test_a_clock_that_is_ahead(self):
        with unseen.open(self.path, window="1h", now=time.time() + 86400) as s:
            s.add("http://e.com/")
        for mode in "w", "r":
            with self.assertWarnsRegex(RuntimeWarning, f"^{self.path}: its clock is 86[34][0-9][0-9] s ahead of the time of "
                                       "day: until then nothing is forgotten; `unseen rewrite --reset-clock` sets it$"):
                unseen.open(self.path, mode=mode).close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaises(RuntimeWarning):
                unseen.open(self.path)
            # Who drives the clock is not told, and the store is closed in spite of the error.
            unseen.open(self.path, now=time.time()).close()
            with unseen.open(self.path + "-other", window="1h", now=time.time() + 2):
                pass
            unseen.open(self.path + "-other").close()

    def test_window_refused(self):
        unseen.open(self.path, window="1h").close()
        for window in "2h", 7200.0:
            with self.assertRaises(unseen.MismatchError) as caught:
                unseen.open(self.path, window=window)
            self.assertEqual(str(caught.exception), f"{self.path} has a window of 3600 s, not of 7200 s: `unseen rewrite "
                                                    "--window 7200` gives it another")
        for same in "1h", 3600, None, 0:
            unseen.open(self.path, window=same).close()
        other = self.path + "2"
        unseen.open(other).close()
        with self.assertRaisesRegex(unseen.MismatchError, "has no window: `unseen rewrite --window 10`"):
            unseen.open(other, window=10)
        with unseen.open(other) as s:
            self.assertNotIn("window", s.info())
            self.assertIsNone(s.expire())  # it keeps the times for a window that it may get
            with self.assertRaisesRegex(unseen.SettingError, "reads a clock"):
                s.expire(5)
        with self.assertRaises(unseen.ClosedError):
            s.expire()
        missing = self.path + "3"
        for wrong in 0.5, -1, 3.2e9, "0", "1h30m":
            with self.assertRaisesRegex(unseen.SettingError, "window is a time from a second to 100 years"):
                unseen.open(missing, window=wrong)
        for wrong in 0, -1, 4102444800, float("nan"):
            with self.assertRaisesRegex(unseen.SettingError, "now is a number of seconds since 1970"):
                unseen.open(missing, now=wrong)
        with self.assertRaisesRegex(unseen.UnsupportedError, "compact and counting have"):
            unseen.open(missing, filter="bloom", capacity=1000, fpr=1e-3, window="1h")
        self.assertFalse(os.path.exists(missing))
        with unseen.open(missing, window=60, now=1) as s:
            with self.assertRaisesRegex(unseen.SettingError, "reads no clock"):
                s.expire()
            with self.assertRaisesRegex(unseen.SettingError, "now is a number of seconds since 1970"):
                s.expire(0)
        with self.assertRaisesRegex(unseen.SettingError, "has its profile, its rate and its window already"):
            unseen.connect("127.0.0.1:1", window="1h")
        with self.assertRaisesRegex(TypeError, "window is a number, not True"):
            unseen.connect("redis://127.0.0.1:1/crawl", window=True)

    def test_info(self):
        with unseen.open(self.path, fpr=1e-6, filter="block", capacity=1000, file_mode=0o640) as s:
            s.add("a")
            s.commit()
            info = s.info()
            self.assertEqual((info["keys"], info["filter"], info["fpr"], info["log"]), (1, "block", 1e-6, True))
            self.assertGreater(info["log_bytes"], 0)
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)

    def test_a_killed_process_keeps_its_commits(self):
        code = (
            "import os, sys, unseen\n"
            "s = unseen.open(sys.argv[1])\n"
            "s.add_many(['a', 'b']); s.commit(); s.add('c')\n"
            "os.kill(os.getpid(), 9)"
        )
        done = subprocess.run([sys.executable, "-c", code, self.path])
        self.assertEqual(done.returncode, -signal.SIGKILL)
        with unseen.open(self.path) as s:
            self.assertEqual(s.contains_many(["a", "b", "c"]), [True, True, False])

    def test_full_disk(self):
        """A commit that fails raises, and the store then takes nothing until it is opened again."""
        code = (
            "import resource, signal, sys, unseen\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "s = unseen.open(sys.argv[1])\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))\n"
            "s.add_many(map(str, range(50000)))\n"
            "try: s.commit()\n"
            "except unseen.FileError as error: print(error, error.errno, error.filename == sys.argv[1])\n"
            "try: s.add('more')\n"
            "except unseen.StoppedError: print('stopped')\n"
            "try: s.close()\n"
            "except unseen.Error: print('close')\n"
            "s.close()\n"
        )
        done = subprocess.run([sys.executable, "-c", code, self.path], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        self.assertRegex(done.stdout, r"^cannot write .*visited.unseen.*: .* 27 True\nstopped\nclose\n$")
        with unseen.open(self.path) as s:
            self.assertEqual(s.add_many(map(str, range(50000))).count(True), 50000)


if __name__ == "__main__":
    unittest.main()
