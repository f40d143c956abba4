# SPDX-License-Identifier: MIT
"""List and Bitmap."""

import os
import pickle
import random
import subprocess
import tempfile
import threading
import unittest
import weakref

import unseen

TOOL = os.environ.get("UNSEEN")


@unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
class List(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "bad.list")

    def build(self, *options, entries, fpr="1e-9"):
        subprocess.run([TOOL, "build", "--fpr", fpr, *options, self.path], input="".join(e + "\n" for e in entries).encode(),
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return unseen.List(self.path)

    def change(self, command, *entries):
        subprocess.run([TOOL, command, self.path], input="".join(e + "\n" for e in entries).encode(), check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def test_urls(self):
        bad = [f"http://bad{i}.example/" for i in range(5000)]
        with self.build(entries=bad) as l:
            self.assertEqual(len(l), 5000)
            self.assertEqual(repr(l), f"<unseen.List '{self.path}' of 5000>")
            self.assertIs(weakref.ref(l)(), l)
            with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                pickle.dumps(l)
            self.assertIs(l.covers("HTTP://Bad7.example:80/#x"), True)
            self.assertIs(l.covers(b"http://good.example/"), False)
            self.assertIn(bad[0], l)
            good = [f"http://good{i}.example/" for i in range(3000)]
            self.assertEqual(l.covers(bad).count(True), 5000)
            self.assertEqual(l.covers(iter(bad + good)), [True] * 5000 + [False] * 3000)
            info = l.info()
            self.assertEqual((info["kind"], info["profile"], info["entries"]), ("url", "crawl/1", 5000))
            self.assertIsNone(l.verify())
        self.assertEqual(repr(l), f"<unseen.List '{self.path}', closed>")

    def test_sites(self):
        with self.build("--expressions", fpr="1e-6", entries=["evil.example/", "shop.example/bad/"]) as l:
            asked = ["http://www.evil.example/x", "http://shop.example/", "http://shop.example/bad/x", "not a URL"]
            self.assertEqual(l.covers(asked).tolist(), [True, False, True, False])
            self.assertIs(l.refresh(), False)
            self.change("allow", "shop.example/bad/x")
            self.assertIs(l.refresh(), True)
            self.assertEqual(l.covers(asked).tolist(), [True, False, False, False])
            self.assertEqual(l.info()["allowed"], 1)

    def test_addresses(self):
        with self.build("--kind", "ip", fpr="1e-6", entries=["10.0.0.0/8", "2001:db8::/32"]) as l:
            self.assertEqual(l.covers(["10.1.2.3", "11.1.2.3", "2001:db8::1", "x"]), [True, False, True, False])

    def test_arrow(self):
        try:
            import pyarrow as pa
        except ImportError:
            self.skipTest("no pyarrow")
        with self.build(entries=["http://bad.example/"]) as l:
            mask = l.covers(pa.array(["http://bad.example/#a", None, "http://e.com/"]))
            self.assertEqual(mask.tolist(), [True, None, False])

    def test_errors(self):
        folder = os.path.dirname(self.path)
        with self.assertRaises(FileNotFoundError):
            unseen.List(self.path)
        with self.assertRaises(unseen.Error):
            unseen.List(folder)
        l = self.build(entries=[f"http://bad{i}.example/" for i in range(100_000)])
        for wrong in 1, None:
            with self.assertRaises(TypeError):
                l.covers(wrong)
        with self.assertRaises(TypeError):
            1 in l
        l.close()
        l.close()
        for call in (lambda: l.covers("a"), lambda: l.covers(["a"]), lambda: len(l), l.info, l.refresh, l.verify,
                     lambda: "a" in l, l.__enter__):
            with self.assertRaisesRegex(unseen.ClosedError, "it is closed"):
                call()
        with open(self.path, "r+b") as file:
            file.seek(50_000)
            file.write(b"damage")
        with unseen.List(self.path) as l:
            with self.assertRaisesRegex(unseen.DamagedError, "damaged"):
                l.verify()
        with open(self.path, "wb") as file:
            file.write(b"http://e.com/\n" * 1000)
        with self.assertRaises(unseen.DamagedError):
            unseen.List(self.path)

    def test_threads_and_fork(self):
        l = self.build(entries=[f"http://bad{i}.example/" for i in range(1000)])
        urls = [f"http://bad{i}.example/" for i in range(3000)]
        counts = []
        ways = [lambda: counts.append(l.covers(urls).count(True)), lambda: [l.refresh() for _ in range(20)]] * 3
        threads = [threading.Thread(target=way) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(counts, [1000] * 3)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if l.covers(urls).count(True) == 1000 else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


class Bitmap(unittest.TestCase):
    def test_against_a_set(self):
        random.seed(5)
        model, b = set(), unseen.Bitmap()
        for _ in range(20_000):
            i = random.choice([random.randrange(3000), random.randrange(2**40)])
            if random.random() < 0.7:
                self.assertIs(b.add(i), i not in model)
                model.add(i)
            else:
                self.assertIs(b.remove(i), i in model)
                model.discard(i)
        self.assertEqual(list(b), sorted(model))
        self.assertEqual(len(b), len(model))
        self.assertEqual([i in b for i in range(3000)], [i in model for i in range(3000)])

    def test_many_and_algebra(self):
        x, y = set(range(0, 9000, 2)), set(range(0, 9000, 3))
        a, b = unseen.Bitmap(x), unseen.Bitmap(iter(y))
        self.assertEqual((set(a | b), set(a & b), set(a - b)), (x | y, x & y, x - y))
        self.assertEqual((set(a), set(b)), (x, y))
        self.assertEqual(a.add_many(y), len(y - x))
        self.assertEqual(a.add_many([]), 0)
        a.add_range(2**40 - 5, 2**40)
        self.assertEqual(list(a)[-5:], list(range(2**40 - 5, 2**40)))
        self.assertEqual(repr(unseen.Bitmap([3, 7])), "<unseen.Bitmap of 2>")
        self.assertGreater(a.memory_bytes, 0)
        for i in iter(a):
            a.remove(i)  # a change while it is read
        self.assertEqual(len(a), 0)

    def test_iterable_that_removes(self):
        b = unseen.Bitmap(range(500))

        def values():
            yield 1000
            for i in range(100):
                b.remove(i)
            yield 99  # was removed: new again
            yield 499

        self.assertEqual(b.add_many(values()), 2)
        self.assertEqual(len(b), 500 - 100 + 2)

    def test_errors(self):
        b = unseen.Bitmap()
        for wrong in -1, 2**40, 2**64, 2**100:
            for call in b.add, b.remove, lambda i: b.add_many([1, i]), lambda i: unseen.Bitmap([i]):
                with self.assertRaisesRegex(unseen.SettingError, "an integer of a bitmap is a number from 0 to 1099511627775, not"):
                    call(wrong)
            self.assertNotIn(wrong, b)
        for wrong in "1", 1.0, None:
            for call in b.add, b.remove, lambda i: b.add_many([i]), lambda i: i in b, b.__contains__:
                with self.assertRaises(TypeError):
                    call(wrong)
        for first, end in (5, 3), (0, 2**40 + 1), (-1, 3), (0, 2**64 + 7):
            with self.assertRaises(unseen.SettingError):
                b.add_range(first, end)
        with self.assertRaises(TypeError):
            b | {1}
        with self.assertRaises(TypeError):
            unseen.Bitmap(1)
        self.assertEqual(len(b), 0)


if __name__ == "__main__":
    unittest.main()
