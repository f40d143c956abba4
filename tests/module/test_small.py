"""Values that start as small sets: their memory, the sizes at which they change their form, what makes them grow, and
that nobody notices."""

import math
import unittest
from collections import Counter
from random import Random

import redis

from server import Case, Server, follow, raw_client, wait_for, wait_for_replica

SIZES = [0, 1, 10, 64, 65, 320, 1000, 1345, 7100, 21000, 23000]


def filter_of(call, key):
    return call("BF.DEBUG", key)[1].rsplit(b":", 1)[1].decode()


class Small(Case):
    def digest(self, *keys):
        return self.raw("DEBUG", "DIGEST-VALUE", *keys)

    def check_copies(self, key):
        """A copy, a payload and a reload have the same bytes, and go on in the same way."""
        digest = self.digest(key)[0]
        self.raw("DEL", "copy", "restored")
        self.raw("COPY", key, "copy")
        self.raw("RESTORE", "restored", 0, self.raw("DUMP", key))
        self.assertEqual(self.digest("copy", "restored"), [digest, digest], key)

    def test_growth(self):
        """From one item to a set behind five layers: all that was added is there, and the rate holds."""
        for rate, last, room in ("0.01", "chain", 21824), ("0.0001", "chain", 21824), ("0.000001", "chain", 13664), \
                ("0.000002", "compact", 7000), ("0.00000001", "compact", 7000):
            key = "k" + rate
            self.raw("BF.RESERVE", key, rate, 100)
            done = 0
            for size in SIZES:
                while done < size:
                    n = min(500, size - done)
                    self.raw("BF.MADD", key, *[f"in{i}" for i in range(done, done + n)])
                    done += n
                self.check_copies(key)
                self.assertEqual(filter_of(self.raw, key), last if size > room else "small")
            for start in range(0, done, 1000):
                items = [f"in{i}" for i in range(start, min(start + 1000, done))]
                self.assertEqual(sum(self.raw("BF.MEXISTS", key, *items)), len(items))
            wrong = sum(sum(self.raw("BF.MEXISTS", key, *[f"out{i}" for i in range(s, s + 1000)])) for s in range(0, 20000, 1000))
            self.assertLessEqual(wrong, 20000 * float(rate) + 4 * (20000 * float(rate)) ** 0.5 + 1)
        before = self.raw("DEBUG", "DIGEST")
        self.raw("DEBUG", "RELOAD")
        self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
        for rate in "0.01", "0.000002":
            self.assertGreater(sum(self.raw("BF.MADD", "k" + rate, *[f"more{i}" for i in range(100)])), 90)

    def test_chain(self):
        """A loose rate, grown: fewer bits than RedisBloom's chain, here, after a restart, in copies and on a replica,
        which makes the same links."""
        replica = Server()
        try:
            answer = raw_client(replica)
            answer("REPLICAOF", "127.0.0.1", self.server.port)
            done = 0
            for rate in "0.01", "0.001":
                self.raw("BF.RESERVE", "k" + rate, rate, 100)
            for size in 24000, 51100, 54000, 100000, 102300, 110000:
                for start in range(done, size, 1000):
                    for rate in "0.01", "0.001":
                        self.raw("BF.MADD", "k" + rate, *[f"in{i}" for i in range(start, min(start + 1000, size))])
                done = size
                self.check_copies("k0.01")
                for rate in "0.01", "0.001":
                    self.check_chain("k" + rate, float(rate), size)
            wait_for(lambda: answer("DEBUG", "DIGEST") == self.raw("DEBUG", "DIGEST"))
            before = self.raw("DEBUG", "DIGEST")
            self.raw("DEBUG", "RELOAD")
            self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
            for call in self.raw, answer:
                for rate in "0.01", "0.001":
                    items = [f"in{i}" for i in range(0, done, 37)]
                    self.assertEqual(sum(call("BF.MEXISTS", "k" + rate, *items)), len(items))
            self.raw("BF.MADD", "k0.01", *[f"more{i}" for i in range(1000)])
            wait_for(lambda: answer("DEBUG", "DIGEST") == self.raw("DEBUG", "DIGEST"))
        finally:
            replica.end()

    def check_chain(self, key, rate, size):
        bits, room, link, fpr = 0, 0, 100, rate
        while room < size:
            fpr /= 2
            bits -= link * math.log(fpr) / math.log(2) ** 2
            room += link
            link *= 2
        # Some items are taken for seen and not in it, so it is a little behind.
        if size < room * 0.95 or size == room:
            self.assertLess(8 * self.raw("MEMORY", "USAGE", key), bits)
        wrong = sum(sum(self.raw("BF.MEXISTS", key, *[f"out{i}" for i in range(s, s + 1000)])) for s in range(0, 30000, 1000))
        self.assertLessEqual(wrong, 30000 * rate + 4 * (30000 * rate) ** 0.5)

    def test_one_at_a_time(self):
        """Single adds and batches make the same bytes."""
        for i in range(1500):
            self.raw("BF.ADD", "a", i)
        for start in range(0, 1500, 300):
            self.raw("BF.MADD", "b", *range(start, start + 300))
        self.assertEqual(*self.digest("a", "b"))
        self.assertEqual(self.raw("BF.CARD", "a"), self.raw("BF.CARD", "b"))

    def test_fixed(self):
        self.raw("BF.RESERVE", "n", "0.01", 100, "NONSCALING")
        answers = self.raw("BF.MADD", "n", *range(200))
        self.assertEqual(str(answers[-1]), "non scaling filter is full")
        self.assertEqual(self.raw("BF.CARD", "n"), 100)
        self.assertEqual(self.raw("BF.MADD", "n", *range(100)), [0] * 100)
        self.check_copies("n")

    def test_cuckoo(self):
        """A set that counts stays small, whatever is repeated and deleted."""
        for key in "repeat", "delete", "insert":
            self.assertEqual(self.raw("CF.INSERT", key, "ITEMS", *range(40)), [1] * 40)
            self.assertLess(self.raw("MEMORY", "USAGE", key), 400)
            self.check_copies(key)
        self.assertEqual(self.raw("CF.ADDNX", "repeat", 7), 0)
        self.assertEqual(self.raw("CF.DEL", "repeat", "absent"), 0)
        self.assertLess(self.raw("MEMORY", "USAGE", "repeat"), 400)
        self.assertEqual(self.raw("CF.ADD", "repeat", 7), 1)
        self.assertEqual([self.raw("CF.COUNT", "repeat", i) for i in (7, 8, "absent")], [2, 1, 0])
        self.assertEqual(self.raw("CF.DEL", "delete", 7), 1)
        self.assertEqual(self.raw("CF.MEXISTS", "delete", 6, 7, 8), [1, 0, 1])
        self.assertEqual(self.raw("CF.INSERT", "insert", "ITEMS", "x", "x", "y"), [1, 1, 1])
        self.assertEqual([self.raw("CF.COUNT", "insert", i) for i in ("x", "y", 3)], [2, 1, 1])
        for key, n in ("repeat", 41), ("delete", 39), ("insert", 43):
            self.assertLess(self.raw("MEMORY", "USAGE", key), 400)
            info = self.raw("CF.INFO", key)
            self.assertEqual(info[info.index(b"Number of items inserted") + 1], n)
            self.check_copies(key)

    def test_cuckoo_changes(self):
        """Adds, repeats and deletions in any order, in small sets and behind them: no item has fewer adds than it was
        given, and a copy, a reload and a replica have the same bytes."""
        replica = Server()
        try:
            answer = raw_client(replica)
            answer("REPLICAOF", "127.0.0.1", self.server.port)
            for key, capacity, nitems in ("few", 50, 60), ("some", 1024, 3000), ("many", 1024, 60000), ("large", 30000, 300):
                self.raw("CF.RESERVE", key, capacity)
                counts = Counter()
                for start in range(0, nitems, 500):
                    items = list(range(start, min(start + 500, nitems)))
                    self.assertEqual(self.raw("CF.INSERT", key, "ITEMS", *items), [1] * len(items))
                    counts.update(items)
                random = Random(nitems)
                with self.server.client().pipeline(transaction=False) as pipe:
                    for _ in range(3000):
                        item = random.randrange(nitems if random.random() < 0.5 else 20)
                        if random.random() < 0.5:
                            counts[item] += 1
                            pipe.execute_command("CF.ADD", key, item)
                        elif counts[item] > 0:
                            counts[item] -= 1
                            pipe.execute_command("CF.DEL", key, item)
                    self.assertEqual(set(pipe.execute()), {1})
                with self.server.client().pipeline(transaction=False) as pipe:
                    for item in range(0, nitems, 1 + nitems // 3000):
                        pipe.execute_command("CF.COUNT", key, item)
                    had = pipe.execute()
                wanted = [counts[item] for item in range(0, nitems, 1 + nitems // 3000)]
                self.assertTrue(all(h >= w for h, w in zip(had, wanted)), key)
                self.assertLess(sum(h > w for h, w in zip(had, wanted)), 2 + len(had) / 50)
                info = self.raw("CF.INFO", key)
                self.assertEqual(info[info.index(b"Number of items inserted") + 1], counts.total())
                self.check_copies(key)
            wait_for(lambda: answer("DEBUG", "DIGEST") == self.raw("DEBUG", "DIGEST"))
            before = self.raw("DEBUG", "DIGEST")
            self.raw("DEBUG", "RELOAD")
            self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
        finally:
            replica.end()

    def test_sized_memory(self):
        """A key that is filled to the size it was reserved for, and to 7 times that, takes at most RedisBloom's bytes
        (`bench/module.sh memory`), at its rate."""
        for rate, size, *most in (("0.1", 2000, 1688, 14784), ("0.01", 1025, 1544, 12008), ("0.01", 5000, 7024, 57528),
                                  ("0.0001", 2000, 5288, 39952), ("0.000001", 1000, 3904, 28488)):
            self.raw("BF.RESERVE", "k", rate, size)
            done = 0
            for times, limit in zip((1, 7), most):
                for start in range(done, times * size, 500):
                    self.raw("BF.MADD", "k", *range(start, min(start + 500, times * size)))
                done = times * size
                self.assertLessEqual(self.raw("MEMORY", "USAGE", "k"), limit, (rate, size, times))
                wrong = sum(sum(self.raw("BF.MEXISTS", "k", *[f"absent{i}" for i in range(s, s + 1000)]))
                            for s in range(0, 20000, 1000))
                self.assertLessEqual(wrong, 20000 * float(rate) + 4 * (20000 * float(rate)) ** 0.5 + 1)
            self.check_copies("k")
            self.raw("FLUSHALL")

    def test_cuckoo_memory(self):
        """No more memory than RedisBloom's table of buckets (`bench/module.sh memory`), also when deletions and repeats
        have come; and deletions make no set grow: past maxmemory they go on."""
        for size, most in (1, 92), (10, 104), (50, 232), (100, 360), (500, 1128), (1000, 2152), (2000, 4200), (5000, 8280), \
                (20000, 32856):
            self.raw("CF.RESERVE", "k", max(size, 4))
            for start in range(0, size, 500):
                self.raw("CF.INSERT", "k", "ITEMS", *range(start, min(start + 500, size)))
            self.assertLessEqual(self.raw("MEMORY", "USAGE", "k"), most, size)
            self.raw("CF.ADD", "k", 0)
            self.assertLessEqual(self.raw("MEMORY", "USAGE", "k"), most, size)
            self.assertEqual([self.raw("CF.DEL", "k", 0) for _ in range(2)], [1, 1])
            self.assertLessEqual(self.raw("MEMORY", "USAGE", "k"), most, size)
            wrong = sum(sum(self.raw("CF.MEXISTS", "k", *[f"absent{i}" for i in range(s, s + 1000)]))
                        for s in range(0, 20000, 1000))
            self.assertLessEqual(wrong, 100 + 40)
            self.raw("DEL", "k")
        client = self.server.client()
        for family in "CF", "UNSEEN":
            with client.pipeline(transaction=False) as pipe:
                for i in range(2000):
                    items = [f"http://e/{k}" for k in range(50)]
                    pipe.execute_command(*(["CF.INSERT", f"k{i}", "ITEMS"] if family == "CF" else ["UNSEEN.ADD", f"k{i}"]), *items)
                pipe.execute()
            before = client.info("memory")["used_memory"]
            self.raw("CONFIG", "SET", "maxmemory", before // 2)
            try:
                add, remove = ("CF.ADD", "CF.DEL") if family == "CF" else ("UNSEEN.ADD", "UNSEEN.REMOVE")
                self.assertRaisesRegex(redis.exceptions.OutOfMemoryError, "command not allowed", self.raw, add, "k0", "x")
                with client.pipeline(transaction=False) as pipe:
                    for i in range(2000):
                        pipe.execute_command(remove, f"k{i}", "http://e/7")
                    self.assertEqual({str(answer) for answer in pipe.execute()}, {"1" if family == "CF" else "[1]"})
            finally:
                self.raw("CONFIG", "SET", "maxmemory", 0)
            self.assertLess(client.info("memory")["used_memory"] - before, 1 << 20)
            self.raw("FLUSHALL")

    def test_urls(self):
        for key in "a", "b", "c":
            self.raw("UNSEEN.ADD", key, *[f"http://{key}.example/{i}" for i in range(30)], "http://all.example/")
            self.assertLess(self.raw("MEMORY", "USAGE", key), 500)
        self.assertEqual(self.raw("UNSEEN.REMOVE", "a", "http://absent.example/"), [0])
        self.assertLess(self.raw("MEMORY", "USAGE", "a"), 500)
        self.assertEqual(self.raw("UNSEEN.REMOVE", "a", "HTTP://a.example/7", "http://a.example/8"), [1, 1])
        self.assertEqual(self.raw("UNSEEN.EXISTS", "a", "http://a.example/7", "http://a.example/9"), [0, 1])
        self.assertLess(self.raw("MEMORY", "USAGE", "a"), 500)
        self.check_copies("a")
        # Claims: a lease makes no set of it.
        self.assertEqual(self.raw("UNSEEN.CLAIM", "b", 36000, "http://b.example/new", "http://b.example/1"), [1, 0])
        self.assertLess(self.raw("MEMORY", "USAGE", "b"), 2000)
        self.check_copies("b")
        self.assertEqual(self.raw("UNSEEN.CLAIM", "b", 36000, "http://b.example/new"), [-1])
        self.assertEqual(self.raw("UNSEEN.CLAIM", "copy", 36000, "http://b.example/new"), [-1])
        self.assertEqual(self.raw("UNSEEN.ACK", "b", "http://b.example/new"), [1])
        self.assertEqual(self.raw("UNSEEN.CLAIM", "b", 36000, "http://b.example/new"), [0])
        # Merges of small sets into one that is small, and one that is not.
        self.assertEqual(self.raw("UNSEEN.MERGE", "c", "b", "a"), b"OK")
        self.assertEqual(sum(self.raw("UNSEEN.EXISTS", "c", *[f"http://{k}.example/{i}" for k in "abc" for i in range(30)])), 88)
        self.assertEqual(self.raw("UNSEEN.MERGE", "a", "b"), b"OK")
        self.check_copies("a")
        self.check_copies("c")

    def test_foreign_secret(self):
        """A value of another server answers here, beside values with the secret of this one."""
        other = Server()
        try:
            call = raw_client(other)
            call("BF.MADD", "k", *range(50))
            call("CF.INSERT", "c", "ITEMS", *range(50))
            self.raw("BF.MADD", "own", *range(50))
            for key in "k", "c":
                self.raw("RESTORE", key, 0, call("DUMP", key))
            self.assertEqual(self.raw("BF.MEXISTS", "k", *range(50)), [1] * 50)
            self.assertEqual(self.raw("CF.DEL", "c", 3), 1)
            self.assertEqual(self.raw("BF.MADD", "k", *range(100, 400)), call("BF.MADD", "k", *range(100, 400)))
            self.assertEqual(self.digest("k"), call("DEBUG", "DIGEST-VALUE", "k"))
            self.assertNotEqual(*self.digest("k", "own"))
            self.raw("DEBUG", "RELOAD")
            self.assertEqual(self.raw("BF.MEXISTS", "k", *range(50)), [1] * 50)
            self.assertEqual(self.raw("BF.MEXISTS", "own", *range(50)), [1] * 50)
        finally:
            other.end()

    def test_many_settings(self):
        """More settings than marks: the last keys are structs, and as good."""
        client = self.server.client()
        with client.pipeline(transaction=False) as pipe:
            for i in range(66000):
                pipe.execute_command("BF.INSERT", f"s{i}", "EXPANSION", 1 + i % 32768, "CAPACITY", 100 + i // 32768,
                                     "ITEMS", i, "x")
            pipe.execute()
        self.assertGreater(self.raw("MEMORY", "USAGE", "s65990"), self.raw("MEMORY", "USAGE", "s5"))
        for key in "s5", "s65990":
            self.raw("BF.MADD", key, *range(100000, 100200))
            self.check_copies(key)
            self.assertEqual(self.raw("BF.MEXISTS", key, key[1:], "x", 100000), [1, 1, 1])
        self.raw("FLUSHALL")
        self.raw("BF.ADD", "k", "x")
        self.assertLess(self.raw("MEMORY", "USAGE", "k"), 100)
        wait_for(lambda: b"bf_sets:1\r" in self.raw("INFO", "bf"))  # a server may free in the background

    def test_bytes(self):
        """50 items at 0.01 take at most 160 bytes with their key, where the allocator is jemalloc. A key of 12 bytes and
        no value takes 88 of them in Redis 7.0 and 104 in Valkey 8.0, which so may have 16 more."""
        client = self.server.client()
        most = 176 if client.info("server").get("valkey_version", "").startswith("8.") else 160
        if "jemalloc" not in client.info("memory")["mem_allocator"]:
            self.skipTest("the server has no jemalloc")
        nkeys = 16384
        before = client.info("memory")["used_memory"]
        with client.pipeline(transaction=False) as pipe:
            for i in range(nkeys):
                pipe.execute_command("BF.MADD", f"key{i:09}", *[f"{i}.{k}" for k in range(50)])
                if i % 256 == 255:
                    pipe.execute()
        # The server gives the buffers of the pipeline back when they have been idle for some seconds.
        wait_for(lambda: (client.info("memory")["used_memory"] - before) / nkeys <= most)

    def test_memory_is_given_back(self):
        for i in range(300):
            self.raw("BF.MADD", f"b{i % 7}", *range(i * 100, i * 100 + 100))
            self.raw("CF.INSERT", f"c{i % 5}", "ITEMS", *range(i * 20, i * 20 + 20), i)
            self.raw("UNSEEN.ADD", f"u{i % 3}", f"http://e/{i}")
            self.raw("UNSEEN.CLAIM", f"u{i % 3}", 60, f"http://f/{i}")
            self.raw("UNSEEN.REMOVE", "u1", f"http://e/{i // 2}")
        self.raw("FLUSHALL", "SYNC")
        wait_for(lambda: b"bf_sets:0\r" in self.raw("INFO", "bf"))
        wait_for(lambda: b"bf_memory_bytes:0\r" in self.raw("INFO", "bf"))


class Limits(unittest.TestCase):
    def test_limit(self):
        """MAXBYTES of a small set: refused at the limit or where it would have to grow, nothing lost, and the
        replica has the same."""
        for limit in 300, 20000, 40000:
            server = Server(module_arguments=("maxbytes", str(limit)))
            replica = Server(module_arguments=("maxbytes", str(limit)))
            try:
                call = raw_client(server)
                raw_client(replica)("REPLICAOF", "127.0.0.1", server.port)
                added = []
                for name, key in ("BF.ADD", "b"), ("CF.ADD", "c"):
                    for i in range(60000):
                        try:
                            if call(name, key, i) == 1:
                                added.append((key, i))
                        except redis.exceptions.ResponseError as error:
                            self.assertIn("MAXBYTES", str(error))
                            break
                    else:
                        self.fail("no limit")
                for _ in range(3):  # again: nothing changes
                    self.assertRaises(redis.exceptions.ResponseError, call, "CF.ADD", "c", i)
                self.assertGreater(call("BF.CARD", "b"), limit / 4)
                for key in "b", "c":
                    self.assertLessEqual(call("MEMORY", "USAGE", key), limit + 500)
                for key, i in added[::7]:
                    self.assertEqual(call("BF.EXISTS" if key == "b" else "CF.EXISTS", key, i), 1)
                answer = raw_client(replica)
                wait_for(lambda: answer("DEBUG", "DIGEST") == call("DEBUG", "DIGEST"))
            finally:
                server.end()
                replica.end()

    def test_removals_at_the_limit(self):
        """Where MAXBYTES has no room for another block, a removal takes place all the same, and is the replica's, too."""
        server, replica = Server(module_arguments=("maxbytes", "120000")), Server()
        self.addCleanup(replica.end)
        self.addCleanup(server.end)
        call, answer = raw_client(server), raw_client(replica)
        follow(server, replica)
        call("CF.RESERVE", "c", 20000)
        n = 0
        while all(answered == 1 for answered in call("CF.INSERT", "c", "ITEMS", *range(n, n + 1000))):
            n += 1000
        self.assertGreater(n, 15000)
        self.assertEqual([call("CF.DEL", "c", i) for i in range(2000)], [1] * 2000)
        wait_for_replica(server, replica)
        self.assertEqual(answer("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
