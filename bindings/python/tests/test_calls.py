# SPDX-License-Identifier: MIT
"""What all calls share: items, iterables that raise, signals, threads, forks, leaks, pickling."""

import collections.abc
import copy
import gc
import itertools
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import unittest
import weakref

import unseen


class Items(unittest.TestCase):
    def test_wrong_types(self):
        s = unseen.Set()
        for wrong in bytearray(b"a"), memoryview(b"a"):
            with self.assertRaisesRegex(TypeError, r"not <class '\w+'>: bytes\(url\) makes a copy"):
                s.add(wrong)
        for wrong in None, 1, 1.5, [], bytearray(b"a"), memoryview(b"a"), object():
            for call in s.add, s.contains, s.remove, s.__contains__, unseen.canonicalize, unseen.expressions:
                with self.assertRaisesRegex(TypeError, "a URL is str or bytes, not <class"):
                    call(wrong)
            for call in s.add_many, s.contains_many, s.remove_many, unseen.canonicalize_many:
                with self.assertRaises(TypeError):
                    call([wrong])
        for call in s.add_many, s.contains_many, s.remove_many, unseen.canonicalize_many:
            for one in "http://e.com/", b"http://e.com/":
                with self.assertRaisesRegex(TypeError, "put the one URL into a list"):
                    call(one)
            with self.assertRaises(TypeError):
                call(1)
        self.assertEqual(len(s), 0)

    def test_the_place_of_a_wrong_item(self):
        s = unseen.Set()
        for at in 0, 5, 31, 32, 1023, 1024, 5000:
            urls = [f"http://e.com/{i}" for i in range(6000)]
            urls[at] = None
            for made in urls, tuple(urls), iter(urls), (u for u in urls):
                for call in s.add_many, s.contains_many, s.remove_many, s.update, unseen.canonicalize_many:
                    if iter(made) is made and call != s.add_many:
                        continue
                    with self.assertRaisesRegex(TypeError, f"^item {at}: a URL is str or bytes, not <class 'NoneType'>$"):
                        call(made)

    def test_surrogates(self):
        s = unseen.Set()
        with self.assertRaises(UnicodeEncodeError):
            s.add("http://e.com/\udcff")
        with self.assertRaises(UnicodeEncodeError):
            s.add_many(["a", "\ud800"])
        self.assertEqual(len(s), 0)
        self.assertTrue(s.add("http://e.com/\udcff".encode(errors="surrogateescape")))

    def test_subclasses(self):
        class Url(str):
            pass

        class Raw(bytes):
            pass

        s = unseen.Set()
        self.assertEqual(s.add_many([Url("a"), Raw(b"b"), "a", b"b"]), [True, True, False, False])

    def test_an_iterable_that_raises(self):
        """Whole batches of 1,024 are added, and nothing of the batch that was not whole."""
        for n in 0, 1, 1023, 1024, 1025, 5000:
            def broken():
                yield from map(str, range(n))
                raise LookupError("in the middle")

            s = unseen.Set()
            with self.assertRaisesRegex(LookupError, "in the middle"):
                s.add_many(broken())
            self.assertEqual(len(s), n // 1024 * 1024)
            s = unseen.Set()
            with self.assertRaises(TypeError):
                s.add_many([*map(str, range(n)), None, "more"])
            self.assertEqual(len(s), n // 1024 * 1024)

    def test_an_iterable_that_uses_the_set(self):
        s = unseen.Set()

        def urls():
            for i in range(5000):
                if i % 1000 == 0:
                    s.add("from inside")
                    s.add_many(["from", "inside"])
                yield str(i)

        self.assertEqual(s.add_many(urls()).count(True), 5000)
        self.assertEqual(len(s), 5003)

    def test_a_list_is_read_in_place(self):
        """Every length around the batch and the prefetched strings; each string keeps its references, also if one is wrong."""
        for n in 0, 1, 31, 32, 33, 1023, 1024, 1025, 1055, 1057, 2048:
            urls = [f"http://e.com/{n}/{i}" for i in range(n)]
            before = [sys.getrefcount(url) for url in urls]
            for make in list, tuple:
                s = unseen.Set()
                self.assertEqual(s.add_many(make(urls)).tolist(), [True] * n)
                self.assertEqual(s.add_many(make(reversed(urls))).tolist(), [False] * n)
            for at in {0, n // 2, n} if n else ():
                wrong = [*urls[:at], None, *urls[at:]]
                with self.assertRaises(TypeError):
                    unseen.Set().add_many(wrong)
                del wrong
            self.assertEqual([sys.getrefcount(url) for url in urls], before)

    def test_a_list_that_empties_itself(self):
        """The sentence of the TypeError asks a class for its name, and that code empties the list."""

        class Kind(type):
            def __repr__(cls):
                urls.clear()
                return "Kind"

        class Wrong(metaclass=Kind):
            pass

        for at in 0, 5, 1000, 1500:
            urls = [f"http://e.com/{i}" for i in range(2000)]
            urls[at] = Wrong()
            with self.assertRaisesRegex(TypeError, "not Kind"):
                unseen.Set().add_many(urls)
            self.assertEqual(urls, [])

    def test_a_list_that_shrinks(self):
        s = unseen.Set()
        urls = [str(i) for i in range(200_000)]
        stop = threading.Event()

        def shrink():
            while not stop.is_set() and urls:
                del urls[-1000:]

        thread = threading.Thread(target=shrink)
        thread.start()
        mask = s.add_many(urls)
        stop.set()
        thread.join()
        self.assertEqual(len(s), len(mask))

    def test_a_signal_in_the_middle(self):
        code = (
            "import itertools, os, signal, sys, threading, unseen\n"
            "s = unseen.Set()\n"
            "s.add('a')\n"
            "def parts():\n"
            "    yield 'a'\n"
            "    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "try: s.add_many(itertools.chain(parts(), itertools.repeat('a')))  # the iterator looks for no signals itself\n"
            "except KeyboardInterrupt: print(len(s), s.add('a'), s.add('new'))\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("1 False True\n", ""))

    def test_a_signal_in_the_middle_of_a_bitmap(self):
        code = (
            "import itertools, signal, unseen\n"
            "signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
            "signal.setitimer(signal.ITIMER_REAL, 0.3)\n"
            "b = unseen.Bitmap()\n"
            "try: b.add_many(itertools.count())\n"
            "except KeyboardInterrupt: print(len(b) > 0)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))

    def test_masks(self):
        mask = unseen.Set().add_many(["a", "a", "b"])
        self.assertEqual(mask.tolist(), [True, False, True])
        self.assertEqual(list(mask), [True, False, True])
        self.assertEqual((len(mask), mask[0], mask[1], mask[-1]), (3, True, False, True))
        self.assertEqual((mask.count(True), mask.count(False), mask.count(None)), (2, 1, 0))
        self.assertEqual(bytes(mask), b"\1\0\1")
        self.assertEqual(mask, [True, False, True])
        self.assertEqual(mask, unseen.Set().add_many(["x", "x", "y"]))
        self.assertNotEqual(mask, [True])
        self.assertEqual(repr(mask), "<unseen.Mask of 3: 2 True, 1 False, 0 None>")
        for i in 3, -4, 10**30:
            with self.assertRaises(IndexError):
                mask[i]
        for wrong in "0", 1.0, None:
            with self.assertRaises(TypeError):
                mask[wrong]
        with self.assertRaises(TypeError):
            unseen.Mask()

    def test_a_mask_is_a_sequence(self):
        random.seed(4)
        for n in 0, 1, 2, 17:
            mask = unseen.Set().add_many([f"{random.randrange(9)}" for _ in range(n)])
            model = mask.tolist()
            self.assertIsInstance(mask, collections.abc.Sequence)
            self.assertEqual(list(reversed(mask)), model[::-1])
            self.assertEqual(~mask, [not answer for answer in model])
            for value in True, False, None, 1, 0, "a", 7:
                self.assertEqual((mask.count(value), value in mask), (model.count(value), value in model))
                for bounds in (), (1,), (0, 3), (-2,), (5, 2):
                    try:
                        place = model.index(value, *bounds)
                    except ValueError:
                        with self.assertRaises(ValueError):
                            mask.index(value, *bounds)
                    else:
                        self.assertEqual(mask.index(value, *bounds), place)
            for start, stop, step in itertools.product((None, -30, -2, 0, 1, 5, 10**30), (None, -3, 0, 4, 99), (None, -3, -1, 1, 2)):
                part = mask[start:stop:step]
                self.assertIs(type(part), unseen.Mask)
                self.assertEqual(part.tolist(), model[start:stop:step])
        with self.assertRaises(ValueError):
            mask[::0]

    def test_pickling_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, unseen.open(os.path.join(folder, "s")) as store:
            things = [unseen.Set(), store, unseen.Set().add_many(["a"]), unseen.Bitmap([1]), iter(unseen.Bitmap([1]))]
            for thing in things:
                for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                    with self.assertRaisesRegex(TypeError, "cannot be pickled or copied: save it .*unseen.connect"):
                        pickle.dumps(thing, protocol)
                with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                    pickle.dumps([{"function": thing.__class__.__repr__.__get__(thing)}])
                with self.assertRaises(TypeError):
                    copy.copy(thing)
                with self.assertRaises(TypeError):
                    copy.deepcopy(thing)


    def test_weak_references(self):
        with tempfile.TemporaryDirectory() as folder, unseen.open(os.path.join(folder, "s")) as store:
            cache = weakref.WeakValueDictionary(set=(s := unseen.Set()), store=store, bits=(b := unseen.Bitmap()))
            died = []
            reference = weakref.ref(s, died.append)
            self.assertEqual(len(cache), 3)
            del s, b
            gc.collect()
            self.assertEqual((list(cache), reference(), died), (["store"], None, [reference]))


class Threads(unittest.TestCase):
    def add_in_threads(self, s, ways):
        """Every thread adds all URLs; each URL is new to exactly one of them."""
        urls = [f"http://e.com/{i}" for i in range(30_000)]
        new = []

        def run(way):
            new.append(way(s, urls))

        threads = [threading.Thread(target=run, args=(way,)) for way in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(new), len(ways))
        self.assertEqual(sum(new), len(urls))
        self.assertEqual(len(s), len(urls))

    ways = [
        lambda s, urls: s.add_many(urls).count(True),
        lambda s, urls: s.add_many(iter(urls)).count(True),
        lambda s, urls: sum(map(s.add, urls)),
        lambda s, urls: sum(map(s.add, reversed(urls))),
        lambda s, urls: s.add_many(urls[::-1]).count(True),
        lambda s, urls: 0 * s.contains_many(urls * 3).count(True) + 0 * len(s) + 0 * s.info()["keys"],
    ]

    def test_set(self):
        self.add_in_threads(unseen.Set(), self.ways)

    def test_set_for_many_threads(self):
        self.add_in_threads(unseen.Set(threads=6), self.ways)

    def test_store(self):
        with tempfile.TemporaryDirectory() as folder, unseen.open(os.path.join(folder, "s")) as s:
            commits = lambda s, urls: 0 * len([s.commit() for _ in range(5)])
            self.add_in_threads(s, [*self.ways, commits])

    def test_unions_in_both_directions(self):
        a, b = (unseen.Set(seed="x", filter="block", capacity=100_000) for _ in range(2))
        threads = [
            threading.Thread(target=lambda x=x, y=y: [x | y for _ in range(50)]) for x, y in [(a, b), (b, a)] * 2
        ]
        threads.append(threading.Thread(target=lambda: a.add_many(map(str, range(100_000)))))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(a), 100_000)

    def test_close_while_others_add(self):
        with tempfile.TemporaryDirectory() as folder:
            s = unseen.open(os.path.join(folder, "s"))
            errors = []

            def add():
                try:
                    for i in itertools.count():
                        s.add_many([str(i)] * 100)
                except unseen.ClosedError as error:
                    errors.append(error)

            threads = [threading.Thread(target=add) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(0.05)
            s.close()
            for thread in threads:
                thread.join()
            self.assertEqual(len(errors), 3)


class Forks(unittest.TestCase):
    def run_child(self, check):
        """check() in a child made by fork; it returns the exit status."""
        pid = os.fork()
        if pid == 0:
            status = 99
            try:
                status = check()
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_a_set_is_copied(self):
        s = unseen.Set()
        s.add("a")

        def check():
            fine = "a" in s and s.add("b") and s.add_many(["c", "c"]) == [True, False] and len(s) == 3
            return 0 if fine else 1

        self.assertEqual(self.run_child(check), 0)
        self.assertEqual(len(s), 1)

    def test_a_set_in_use_is_refused(self):
        s = unseen.Set()
        inside = threading.Event()
        urls = [f"http://e.com/{i}/" + "x" * 20_000 for i in range(1024)] * 4

        def add():
            inside.set()
            s.add_many(urls)

        def check():
            try:
                s.add("b")
            except RuntimeError as error:
                return 7 if str(error) == "another thread was using it when the process was forked" else 1
            return 0

        statuses = set()
        for _ in range(30):
            thread = threading.Thread(target=add)
            thread.start()
            inside.wait()
            statuses.add(self.run_child(check))
            thread.join()
        self.assertLessEqual(statuses, {0, 7})
        self.assertIn(7, statuses)

    def test_a_store_is_the_parents(self):
        with tempfile.TemporaryDirectory() as folder:
            stores = [unseen.open(os.path.join(folder, "s"))]
            stores[0].add_many(map(str, range(400_000)))
            stores[0].commit()
            stores[0].add("a")

            def check():
                wrong = 0
                s = stores[0]
                for call in (lambda: s.add("b"), lambda: s.add_many(["b"]), lambda: "a" in s, lambda: len(s),
                             s.commit, s.close):
                    try:
                        call()
                        wrong += 1
                    except RuntimeError as error:
                        wrong += str(error) != "it belongs to the parent process: open it after the fork"
                del s
                stores.clear()  # frees the object: the files stay as they are
                gc.collect()
                return wrong + (os.listdir(folder) != ["s"])

            self.assertEqual(self.run_child(check), 0)
            stores[0].close()
            with unseen.open(os.path.join(folder, "s")) as s:
                self.assertEqual(s.contains_many(["a", "b"]), [True, False])


class Leaks(unittest.TestCase):
    def grown(self, call, n):
        """The bytes that n calls leave behind, in blocks of Python."""
        for _ in range(10):
            call()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(n):
            call()
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return after - before

    def test_calls(self):
        s = unseen.Set()
        url, urls = "http://e.com/ä", ["http://e.com/ä", b"b"]

        def fails(call, *args, **kwargs):
            try:
                call(*args, **kwargs)
            except (unseen.Error, TypeError, ValueError):
                return
            self.fail("no exception")

        calls = [
            (lambda: s.add(url), 100_000), (lambda: s.remove(url), 100_000), (lambda: url in s, 100_000),
            (lambda: s.add_many(urls), 20_000), (lambda: s.add_many(iter(urls)), 20_000),
            (lambda: list(s.contains_many(urls)), 20_000), (lambda: s.info(), 20_000), (lambda: s.profile, 20_000),
            (lambda: fails(s.add, 1), 20_000), (lambda: fails(s.add_many, ["a", 1]), 20_000),
            (lambda: fails(s.add_many, 1), 20_000), (lambda: fails(unseen.Set, filter="x"), 5_000),
            (lambda: fails(unseen.Set, "x"), 5_000), (lambda: unseen.Set(), 2_000),
            (lambda: unseen.canonicalize("HTTP://e.com/a"), 100_000),
            (lambda: unseen.canonicalize("HTTP://e.com/a", "scrapy", rules=()), 20_000),
            (lambda: unseen.canonicalize_many(urls), 20_000), (lambda: fails(unseen.canonicalize_many, [1]), 20_000),
            (lambda: unseen.explain("HTTP://E.com/", "http://e.com/"), 5_000),
            (lambda: unseen.expressions("http://e.com/a"), 20_000), (lambda: unseen.shard(url, 20), 20_000),
            (lambda: s.add_many(urls).__arrow_c_array__(), 5_000),
        ]
        shared = [url, *urls, urls, s, unseen.Set, unseen.Mask, unseen.Error, unseen.SettingError, None, True, ()]
        for i, (call, n) in enumerate(calls):
            references = [sys.getrefcount(thing) for thing in shared]
            # A block that leaks has 16 bytes at least.
            self.assertLess(self.grown(call, n), 8 * n, f"call {i}")
            for thing, before in zip(shared, references):
                self.assertLess(abs(sys.getrefcount(thing) - before), n / 2, f"call {i}: {thing!r}")


class Interpreters(unittest.TestCase):
    def test_the_free_threaded_build_is_refused(self):
        code = (
            "import sys, sysconfig\n"
            "sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n"
            "try: import unseen\n"
            "except ImportError as error: print(error)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
        self.assertRegex(done.stdout, "^unseen relies on the GIL: ", done.stderr)

    def test_import(self):
        try:
            import _xxsubinterpreters as interpreters
        except ImportError:
            try:
                import _interpreters as interpreters
            except ImportError:
                self.skipTest("no subinterpreters in this Python")
        code = (
            "import sys; sys.path[:] = %r\n"
            "import unseen; s = unseen.Set()\n"
            "assert s.add('a') and not s.add('a') and unseen.shard('a', 3) >= 0" % sys.path
        )

        def run(*args, **kwargs):
            interpreter = interpreters.create(*args, **kwargs)
            try:
                return interpreters.run_string(interpreter, code)
            finally:
                interpreters.destroy(interpreter)

        s = unseen.Set()
        s.add("a")
        shared = {"isolated": False} if sys.version_info < (3, 13) else {}
        for _ in range(3):
            self.assertIsNone(run(*(["legacy"] if not shared else []), **shared))
        self.assertIn("a", s)
        if sys.version_info >= (3, 13):  # one with a GIL of its own
            self.assertIn("does not support loading in subinterpreters", str(run("isolated")))
        elif sys.version_info >= (3, 12):
            with self.assertRaisesRegex(Exception, "does not support loading in subinterpreters"):
                run(isolated=True)


if __name__ == "__main__":
    unittest.main()
