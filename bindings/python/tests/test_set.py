# SPDX-License-Identifier: MIT
"""Set: every method, against a Python set of canonical forms."""

import base64
import os
import random
import tempfile
import time
import unittest
import zlib

import unseen


class Methods(unittest.TestCase):
    def test_one(self):
        s = unseen.Set()
        self.assertIs(s.add("http://e.com/a"), True)
        self.assertIs(s.add("HTTP://E.com:80/x/../a#top"), False)
        self.assertIs(s.add(b"http://e.com/a"), False)
        self.assertIn("http://e.com/a", s)
        self.assertNotIn(b"http://e.com/b", s)
        self.assertIs(s.contains("http://e.com/a"), True)
        self.assertEqual(len(s), 1)
        self.assertIs(s.remove("http://e.com/a"), True)
        self.assertIs(s.remove("http://e.com/a"), False)
        self.assertNotIn("http://e.com/a", s)
        self.assertEqual(len(s), 0)

    def test_profiles(self):
        s = unseen.Set("none")
        self.assertEqual(s.profile, "none/1")
        self.assertTrue(s.add("http://e.com/") and s.add("HTTP://e.com/"))
        s = unseen.Set(rules=["strip-trackers"])
        self.assertIn("strip-trackers", s.profile)
        self.assertTrue(s.add("http://e.com/?utm_source=a"))
        self.assertFalse(s.add("http://e.com/"))

    def test_many_is_many_times_one(self):
        random.seed(1)
        urls = [f"http://E{random.randrange(50)}.com/{random.randrange(90)}#{i}" for i in range(5000)]
        one, many = unseen.Set(), unseen.Set()
        self.assertEqual([one.add(url) for url in urls], many.add_many(urls).tolist())
        model = {unseen.canonicalize(url) for url in urls}
        self.assertEqual(len(many), len(model))
        asked = urls[:100] + [f"http://never.com/{i}" for i in range(100)]
        self.assertEqual(many.contains_many(asked), [url in one for url in asked])
        gone = many.remove_many(urls[:100] * 2).tolist()
        distinct = len({unseen.canonicalize(url) for url in urls[:100]})
        self.assertEqual(sum(gone), distinct)
        self.assertEqual(len(many), len(model) - distinct)

    def test_every_kind_of_iterable(self):
        urls = [f"u{i}" for i in range(3000)]
        for made in urls, tuple(urls), iter(urls), (u for u in urls), dict.fromkeys(urls), map(str, urls):
            s = unseen.Set()
            self.assertEqual(s.add_many(made).count(True), 3000)
            self.assertEqual(len(s), 3000)
        self.assertEqual(unseen.Set().add_many([]).tolist(), [])

    def test_window(self):
        s = unseen.Set("none", window="10s", now=1000)
        self.assertEqual(s.info()["window"], 10)
        self.assertEqual(s.add_many(["a", "b", "a"]).tolist(), [True, True, False])
        s.expire(1009.999)
        self.assertFalse(s.add("a"))
        self.assertEqual(s.info()["leaving"], 2)
        s.expire(1010)
        self.assertEqual(len(s), 0)
        self.assertTrue(s.add("a"))
        s.expire(1)  # the latest time counts
        self.assertIn("a", s)
        s.expire(1015)
        self.assertTrue(s.remove("a"))
        self.assertTrue(s.add("a"))
        s.expire(1020)
        self.assertIn("a", s)
        s.expire(1025)
        self.assertNotIn("a", s)

    def test_window_of_the_clock(self):
        for threads in 1, 4:
            s = unseen.Set("none", window=3600, threads=threads)
            self.assertTrue(s.add("a"))
            self.assertEqual(s.contains_many(["a", "b"]), [True, False])
            self.assertFalse(s.add("a"))
            s.expire()
            self.assertEqual(len(s), 1)
        s = unseen.Set("none", window=1)
        self.assertTrue(s.add("a"))
        deadline = time.monotonic() + 60
        while "a" in s and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertNotIn("a", s)
        self.assertEqual(s.contains_many(["a"]), [False])
        self.assertTrue(s.add("a"))

    def test_window_refused(self):
        for wrong in 0.5, -1, 3.2e9, float("nan"), float("inf"), "0", "1h30m", "", "10m\0", "\udc80":
            with self.assertRaisesRegex(unseen.SettingError, "window is a time from a second to 100 years"):
                unseen.Set(window=wrong)
        for wrong in [1], b"10m":
            with self.assertRaises(TypeError):
                unseen.Set(window=wrong)
        with self.assertRaisesRegex(TypeError, "now is a number, not True"):
            unseen.Set(window=1, now=True)
        for none in 0, None, 0.0:
            s = unseen.Set(window=none)
            with self.assertRaises(unseen.UnsupportedError):
                s.expire()
            self.assertNotIn("window", s.info())
        with self.assertRaisesRegex(unseen.SettingError, "now is the time of a set with a window"):
            unseen.Set(now=1)
        with self.assertRaisesRegex(unseen.SettingError, "now is a number of seconds"):
            unseen.Set(window=1, now=-1)
        with self.assertRaisesRegex(unseen.SettingError, "reads a clock"):
            unseen.Set(window=1).expire(5)
        with self.assertRaisesRegex(unseen.SettingError, "reads no clock"):
            unseen.Set(window=1, now=0).expire()
        with self.assertRaisesRegex(unseen.SettingError, "now is a number of seconds"):
            unseen.Set(window=1, now=0).expire(float("nan"))
        with self.assertRaisesRegex(unseen.UnsupportedError, "compact and counting have"):
            unseen.Set(filter="bloom", capacity=1000, fpr=1e-3, window="1h")
        s = unseen.Set(seed="x", window="1h")
        with self.assertRaisesRegex(unseen.UnsupportedError, "cannot be copied"):
            s | s
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(unseen.UnsupportedError, "cannot be saved"):
            s.save(os.path.join(folder, "s"))

    def test_a_file_of_a_set_with_a_window(self):
        """A program in C may write one."""
        saved = zlib.decompress(base64.b85decode(
            "c-rmIF-V(17zW^rAtefR%-|phqJ$t~adC4IbV-6CIGYg6q86H^n_ybnC6j`5DTpAV0clYPC^!iYojQ~{SP%*YakGx4vHT9DMG!Z6"
            "9yne;j(hpIVzw~(I)u=iOSbB%>QsolEoKW(yL!4}(R`ERQQp{C-5UHj@Vz?pGqrkh^=AG2_|<gx;o4|!v+}F-{&1<hIRAXMT)V9c"
            "9pP?IqWt{z!{zqD*|&woh05?qCf>N-kH2WNm&xas{@pSbk^uk!00000000000000UyK-%}@4jz3d>a4&0000000000000000002+"
            "0Ex5or?Hi*cg1XBroTNm=aQ{@sycOhe>B+nCx67lUm0tkY-=P_s_pjmUR<2!b`me!9TUm_bi|@uF6=!EU($)+qqj&n"
        ))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "s")
            with open(path, "wb") as file:
                file.write(saved)
            with self.assertRaisesRegex(unseen.UnsupportedError, "^a set with a window cannot be loaded$"):
                unseen.Set.load(path)

    def test_a_bool_is_no_number(self):
        for name in "window", "fpr", "bits_per_key", "capacity", "key_bits", "threads", "hashes":
            for value in True, False:
                with self.subTest(name), self.assertRaisesRegex(TypeError, f"^{name} is a number, not {value}$"):
                    unseen.Set(**{name: value})

    def test_odd_strings(self):
        odd = ["", b"", "\0", b"\0a", "x\0y", "ä", "日本", b"\xff\xfe", "http://e.com/\x7f", "a" * 65536, b"b" * 65536]
        for profile in "none", "crawl":
            s = unseen.Set(profile)
            kept = {u if isinstance(u, bytes) else u.encode() for u in odd}
            self.assertEqual(s.add_many(odd).count(True), len(kept))
            for url in odd:
                self.assertIn(url, s)
        long = "http://e.com/" + "%41" * 40000
        s = unseen.Set()
        self.assertTrue(s.add(long))
        self.assertFalse(s.add(long.replace("http", "HTTP", 1)))

    def test_as_of_a_python_set(self):
        """A program that only adds, asks and removes may have a Python set or one of these."""
        for seen in set(), unseen.Set():
            self.assertIsNone(seen.update(["http://e.com/a", "http://e.com/b"]))
            self.assertIsNone(seen.discard("http://e.com/a"))
            self.assertIsNone(seen.discard("http://e.com/a"))
            seen.add("http://e.com/c")
            self.assertEqual((len(seen), bool(seen), "http://e.com/a" in seen), (2, True, False))
            with self.assertRaises(TypeError):
                seen.update(1)
        with self.assertRaises(TypeError):
            iter(seen)
        self.assertEqual(repr(seen), "<unseen.Set of 2, crawl/1>")

    def test_info(self):
        s = unseen.Set(fpr=1e-5, filter="block", capacity=1000)
        s.add("a")
        info = s.info()
        self.assertEqual((info["keys"], info["filter"], info["profile"]), (1, "block", "crawl/1"))
        self.assertGreater(info["memory_bytes"], 0)

    def test_settings(self):
        for wrong in (
            {"profile": "nosuch"}, {"rules": ["nosuch"]}, {"filter": "nosuch"}, {"fpr": -1}, {"fpr": 2},
            {"fpr": 1e-30}, {"key_bits": 65}, {"filter": "block"}, {"seed": ""}, {"hashes": 3},
            {"profile": "crawl\0"}, {"rules": ["x"] * 300},
        ):


            with self.assertRaises(unseen.Error, msg=wrong) as caught:
                unseen.Set(**wrong)
            self.assertGreater(len(str(caught.exception)), 10)
        for wrong in ({"profile": 1}, {"rules": "strip-trackers"}, {"rules": [1]}, {"fpr": "x"}, {"nosuch": 1}):
            with self.assertRaises(TypeError, msg=wrong):
                unseen.Set(**wrong)
        for wrong in ({"key_bits": 2**32 + 64}, {"threads": 2**32}, {"capacity": 2**64}, {"capacity": -1}, {"hashes": -1},
                      {"threads": -1}, {"key_bits": -(2**80)}):
            (name, value), = wrong.items()
            with self.assertRaisesRegex(unseen.SettingError, f"^{name} is a number from 0 to [0-9]+, not {value}$"):
                unseen.Set(**wrong)
        for wrong in {"fpr": float("nan")}, {"fpr": float("inf")}, {"filter": "bloom", "capacity": 9, "bits_per_key": -1}, {
                "filter": "bloom", "capacity": 9, "bits_per_key": float("nan")}:
            with self.assertRaises(ValueError, msg=wrong):
                unseen.Set(**wrong)
        for urls in ["http://e.com/"], ("a", "b"), {"a"}, iter("ab"), b"crawl":
            with self.assertRaisesRegex(TypeError, r"begins with the name of a profile, .* add URLs by update\(\)"):
                unseen.Set(urls)
        with self.assertRaisesRegex(unseen.SettingError, "there is no filter \"nosuch\""):
            unseen.Set(filter="nosuch")


class Union(unittest.TestCase):
    def make(self, urls, **settings):
        s = unseen.Set(**{"seed": "s", "filter": "block", "capacity": 1000, **settings})
        s.add_many(urls)
        return s

    def test_union(self):
        a, b = self.make(["a", "both"]), self.make(["b", "both"])
        both = a | b
        self.assertEqual(both.contains_many(["a", "b", "both", "c"]), [True, True, True, False])
        self.assertNotIn("b", a)
        self.assertEqual((a | a).contains_many(["a", "b"]), [True, False])

    def test_union_of_compact_sets(self):
        a, b = (self.make([], filter="compact", capacity=0) for _ in range(2))
        a.add_many(map(str, range(0, 30_000)))
        b.add_many(map(str, range(20_000, 50_000)))
        both = a | b
        self.assertEqual(len(both), 50_000)
        self.assertTrue(all(both.contains_many(map(str, range(50_000)))))

    def test_mismatch(self):
        with self.assertRaisesRegex(unseen.MismatchError, "seed"):
            self.make([]) | self.make([], seed="t")
        with self.assertRaises(unseen.MismatchError):
            self.make([]) | self.make([], profile="none")
        for other in 1, None, {"a"}:
            with self.assertRaises(TypeError):
                self.make([]) | other
            with self.assertRaises(TypeError):
                other | self.make([])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "a.set")

    def test_save_and_load(self):
        for settings in {}, {"filter": "exact"}, {"profile": "none"}, {"rules": ["strip-trackers"]}, {"threads": 4}:
            s = unseen.Set(**settings)
            urls = [f"http://e.com/{i}" for i in range(20000)]
            s.add_many(urls)
            self.assertIsNone(s.save(self.path))
            self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)
            t = unseen.Set.load(self.path)
            self.assertEqual((len(t), t.profile), (len(s), s.profile))
            self.assertTrue(all(t.contains_many(urls)))
            self.assertTrue(t.add("http://e.com/new"))
        self.assertEqual(os.listdir(self.folder), ["a.set"])

    def test_profile_is_a_check(self):
        unseen.Set().save(self.path)
        unseen.Set.load(self.path, "crawl")
        with self.assertRaisesRegex(unseen.MismatchError, "another profile"):
            unseen.Set.load(self.path, "scrapy")

    def test_bad_files(self):
        with self.assertRaises(FileNotFoundError):
            unseen.Set.load(self.path)
        with self.assertRaisesRegex(unseen.FileError, "Is a directory"):
            unseen.Set.load(self.folder)
        s = unseen.Set(seed="x")
        s.add_many(map(str, range(5000)))
        s.save(self.path)
        with open(self.path, "rb") as file:
            good = file.read()
        random.seed(2)
        cases = [good[:n] for n in (0, 1, 40, 200, len(good) // 2, len(good) - 1)]
        cases += [good + b"x", b"no set\n" * 100, good + good]
        for _ in range(200):
            bad = bytearray(good)
            bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
            cases.append(bytes(bad))
        for bad in cases:
            with open(self.path, "wb") as file:
                file.write(bad)
            with self.assertRaises(unseen.Error) as caught:
                unseen.Set.load(self.path)
            self.assertIn(self.path, str(caught.exception))

    def test_save_fails_whole(self):
        s = unseen.Set()
        s.add("a")
        with self.assertRaises(FileNotFoundError):
            s.save(os.path.join(self.folder, "no", "folder"))
        s.save(self.path)
        os.mkdir(self.path + ".d")
        with self.assertRaises(unseen.FileError):
            s.save(self.path + ".d")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.set", "a.set.d"])
        with self.assertRaises(TypeError):
            s.save(1.5)


if __name__ == "__main__":
    unittest.main()
