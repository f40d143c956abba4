"""Sets that forget by time. A test drives the clock of a key by what replicas get (UNSEEN.APPLY, UNSEEN.TICK), far in the
future, where the timer of the server finds nothing due. The last classes take the time of day, and windows of seconds."""

import os
import pathlib
import random
import struct
import time

import xxhash

from server import Case, Server, follow, raw_client, wait_for, wait_for_replica

WINDOW = 10000  # milliseconds, of most keys here
STEP = WINDOW // 2000
LATE = 1000
START = int(time.time() * 1000) + 20 * 365 * 86400 * 1000  # of the driven clock


def checksum(data):
    return struct.pack("<I", xxhash.xxh3_64_intdigest(data) & 0xFFFFFFFF)


def tell(call, key, now, most=0):
    """Tells a key the time, as a command of the primary does."""
    call("UNSEEN.APPLY", key, "+", checksum(b""), now, most)


class Model:
    """The dumbest model of a key: for each item, the time at which it was new."""

    def __init__(self, case, key="k", now=START):
        self.case, self.key, self.now, self.times = case, key, now, {}
        self.queued = set()  # the times of the queue, also of items that were removed
        self.all = [self]  # the models of all keys of the server

    def forget(self, upto):
        self.times = {item: t for item, t in self.times.items() if t + WINDOW > upto}
        self.queued = {t for t in self.queued if t + WINDOW > upto}

    def add(self, call, items):
        answers = call("UNSEEN.ADD", self.key, *items)
        expected = []
        for item in items:
            expected.append(int(item not in self.times))
            if item not in self.times:
                self.queued.add(self.now)
                self.times[item] = self.now
        self.case.assertEqual(answers, expected)

    def remove(self, call, item):
        self.case.assertEqual(call("UNSEEN.REMOVE", self.key, item), [int(self.times.pop(item, None) is not None)])

    def ask(self, call, items):
        self.case.assertEqual(call("UNSEEN.EXISTS", self.key, *items), [int(item in self.times) for item in items])

    def tell(self, call, now):
        """In whole steps of time, and with all that is due: what leaves follows from the times alone."""
        self.now = now
        tell(call, self.key, now, 1000000)
        self.forget(now)

    def tick(self, call, upto):
        """What is due leaves. The clock of adds stays behind it: it goes from one due time to the next."""
        call("UNSEEN.TICK", upto)
        for model in self.all:
            model.now = max([model.now, *model.due(upto)])
            model.forget(upto)

    def due(self, upto):
        return {t + WINDOW for t in self.queued if t + WINDOW <= upto}

    def step(self, call, rng, most):
        items = [f"i{rng.randrange(300)}" for _ in range(rng.randrange(1, most))]
        kind = rng.randrange(8)
        if kind < 3:
            self.add(call, items)
        elif kind < 4:
            self.ask(call, items)
        elif kind < 5:
            self.remove(call, items[0])
        elif kind < 7:
            self.tell(call, self.now + rng.choice((0, 1, 7, 100, 700)) * STEP)
        elif all(len(model.due(self.now + 200 * STEP)) <= 4 for model in self.all):  # what one slice takes
            self.tick(call, self.now + 200 * STEP)


class Driven(Case):
    def make(self, call=None, key="k"):
        call = call or self.raw
        call("UNSEEN.RESERVE", key, "PROFILE", "none", "WINDOW", str(WINDOW // 1000))
        tell(call, key, START)
        return Model(self, key)

    def test_meaning(self):
        """A repeat does not prolong, a clock that goes back changes nothing, a removal makes new."""
        for make in ("UNSEEN.RESERVE", "u", "WINDOW", "10s"), ("BF.RESERVE", "b", "0.01", 100, "WINDOW", "10s"), \
                ("BF.RESERVE", "c", "0.01", 100, "EXPANSION", 2, "WINDOW", "10"):
            self.assertEqual(self.raw(*make), b"OK")
            key = make[1]
            add = (lambda x: self.raw("UNSEEN.ADD", "u", x)[0]) if key == "u" else (lambda x: self.raw("BF.ADD", key, x))
            tell(self.raw, key, START)
            self.assertEqual((add("x"), add("x")), (1, 0))
            tell(self.raw, key, START + 9999, 100)
            self.assertEqual((add("x"), add("y")), (0, 1))
            tell(self.raw, key, START, 100)
            self.assertEqual(add("x"), 0)
            tell(self.raw, key, START + 10000, 100)
            self.assertEqual((add("x"), add("y")), (1, 0))

    def test_model(self):
        """Random commands, with everything that a key can go through between them."""
        rng = random.Random(5)
        model = self.make()

        def restore():
            payload = self.raw("DUMP", "k")
            self.raw("RESTORE", "k", 0, payload, "REPLACE")

        def copy():
            self.raw("COPY", "k", "other")
            self.assertEqual(*self.raw("DEBUG", "DIGEST-VALUE", "k", "other"))
            self.raw(rng.choice(("DEL", "UNLINK")), "k")
            self.raw("RENAME", "other", "k")

        ways = restore, copy, lambda: self.raw("DEBUG", "RELOAD")
        for i in range(1500):
            model.step(self.raw, rng, 40)
            if i % 20 == 19:
                before = self.raw("DEBUG", "DIGEST-VALUE", "k")
                rng.choice(ways)()
                self.assertEqual(self.raw("DEBUG", "DIGEST-VALUE", "k"), before)
        self.assertTrue(model.times)
        model.ask(self.raw, [f"i{i}" for i in range(300)])
        model.tell(self.raw, model.now + 2 * WINDOW)
        model.ask(self.raw, [f"i{i}" for i in range(300)])

    def test_removed_and_added_again(self):
        """The entry from before a removal takes nothing, also after a reload."""
        model = self.make()
        model.add(self.raw, ["x", "y"])
        model.remove(self.raw, "x")
        model.tell(self.raw, START + 5000)
        model.add(self.raw, ["x"])
        self.raw("DEBUG", "RELOAD")
        model.tell(self.raw, START + 10000)
        model.ask(self.raw, ["x", "y"])
        self.assertEqual(self.raw("UNSEEN.EXISTS", "k", "x", "y"), [1, 0])

    def test_a_clock_that_is_ahead(self):
        """A load says so; of a key that is at the time of day it says nothing."""
        self.make().add(self.raw, ["a"])
        self.raw("UNSEEN.RESERVE", "now", "WINDOW", "10s")
        self.raw("UNSEEN.ADD", "now", "http://e.com/")
        before = self.server.text().count("ahead of the time of day")
        self.raw("DEBUG", "RELOAD")
        found = self.server.text().split("the clock of a set is ahead of the time of day: until ")[before + 1:]
        self.assertEqual(len(found), 1)
        seconds = int(found[0].split(" s from now it forgets nothing")[0])
        self.assertLess(abs(seconds - (START + WINDOW) / 1000 + time.time()), 60)

    def test_numbers(self):
        model = self.make()
        model.add(self.raw, ["a", "b"])
        model.tell(self.raw, START + 100)
        model.add(self.raw, ["c"])
        info = dict(zip(*[iter(self.raw("UNSEEN.INFO", "k"))] * 2))
        self.assertEqual((info[b"urls"], info[b"window"], info[b"oldest"]), (3, WINDOW, START))
        model.tell(self.raw, START + WINDOW)
        info = dict(zip(*[iter(self.raw("UNSEEN.INFO", "k"))] * 2))
        self.assertEqual((info[b"urls"], info[b"oldest"]), (1, START + 100))
        self.raw("BF.RESERVE", "b", "0.01", 100, "WINDOW", "1.5h")
        tell(self.raw, "b", START)
        self.raw("BF.MADD", "b", 1, 2, 3)
        info = dict(zip(*[iter(self.raw("BF.INFO", "b"))] * 2))
        self.assertEqual((info[b"Number of items inserted"], info[b"Window"], info[b"Oldest item"]), (3, 5400000, START))
        self.assertEqual(self.raw("BF.INFO", "b", "WINDOW"), [5400000])
        self.assertEqual(self.raw("BF.CARD", "b"), 3)
        self.raw("BF.ADD", "plain", 1)
        self.refused("Invalid information value", "BF.INFO", "plain", "WINDOW")

    def test_memory(self):
        """A key of the queue takes at most 9 bytes, and what leaves gives its memory back."""
        self.make()
        plain = ("UNSEEN.RESERVE", "plain", "PROFILE", "none")
        self.raw(*plain)
        n = 400000
        for key in "k", "plain":
            for i in range(0, n, 10000):
                self.raw("UNSEEN.ADD", key, *range(i, i + 10000))
                if key == "k":
                    tell(self.raw, key, START + i // 10000 * STEP)
        sizes = [self.raw("MEMORY", "USAGE", key) for key in ("k", "plain")]
        self.assertLess((sizes[0] - sizes[1]) / n, 9)
        self.assertGreater((sizes[0] - sizes[1]) / n, 7)
        tell(self.raw, "k", START + 2 * WINDOW, n)
        self.assertEqual(self.raw("UNSEEN.EXISTS", "k", 1, n - 1), [0, 0])
        self.assertLess(self.raw("MEMORY", "USAGE", "k"), 200000)
        self.raw("UNLINK", "k", "plain")
        wait_for(lambda: b"bf_memory_bytes:0\r" in self.raw("INFO", "bf"))
        self.raw("UNSEEN.RESERVE", "small", "WINDOW", "1d")
        self.raw("UNSEEN.ADD", "small", *range(10))
        self.assertLess(self.raw("MEMORY", "USAGE", "small"), 45000)

    def test_slices(self):
        """A slice lets 4,096 keys of a value leave, at most, also if all have been due for long."""
        self.make()
        for i in range(0, 20000, 5000):
            self.raw("UNSEEN.ADD", "k", *range(i, i + 5000))
        nleft = []
        for i in range(5):
            self.raw("UNSEEN.TICK", START + 100 * WINDOW + i)
            nleft.append(self.raw("UNSEEN.INFO", "k")[1])
        self.assertEqual(nleft, [15904, 11808, 7712, 3616, 0])

    def test_maxmemory(self):
        """Past maxmemory nothing is added, and keys leave all the same."""
        model = self.make()
        model.add(self.raw, ["a"])
        self.raw("CONFIG", "SET", "maxmemory", "1")
        try:
            self.refused("command not allowed when used memory > 'maxmemory'.", "UNSEEN.ADD", "k", "b")
            model.tick(self.raw, START + WINDOW)
            model.ask(self.raw, ["a"])
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0")

    def test_refused(self):
        """test_replies has the other sentences."""
        sentence = "WINDOW must be 1s to 100y: 90s, 10m, 1.5h, 30d, 2w, 1y or a number of seconds"
        for window in "0", "0.999", "999y", "10x", "", "d", "-1", "1d\0", "1 d":
            self.refused(sentence, "UNSEEN.RESERVE", "k", "WINDOW", window)
            self.refused(sentence, "BF.RESERVE", "k", "0.01", 100, "WINDOW", window)
        self.refused(sentence, "BF.RESERVE", "k", "0.01", 100, "WINDOW")
        self.refused("a NONSCALING set cannot remove, so it has no window; one that scales has",
                     "BF.RESERVE", "k", "0.01", 100, "EXPANSION", 0, "WINDOW", "1d")
        self.assertEqual(self.raw("EXISTS", "k"), 0)
        self.raw("BF.RESERVE", "k", "0.01", 100, "WINDOW", "1d")
        self.raw("UNSEEN.RESERVE", "v")
        self.raw("UNSEEN.RESERVE", "u", "WINDOW", "1d")
        self.refused("a set with a window cannot be merged: its keys have times", "UNSEEN.MERGE", "v", "u")
        self.refused("damaged change", "UNSEEN.APPLY", "v", "+", checksum(b""), START, 1)
        self.refused("damaged change", "UNSEEN.APPLY", "k", "-", checksum(b""), START, 1)
        self.refused("damaged change", "UNSEEN.TICK", 0)

    def test_limit(self):
        """MAXBYTES counts the queue; a key that is refused is not in it."""
        self.raw("UNSEEN.RESERVE", "k", "PROFILE", "none", "MAXBYTES", 100000, "WINDOW", "1d")
        added = 0
        while True:
            answers = self.raw("UNSEEN.ADD", "k", *range(added, added + 100))
            added += sum(1 for a in answers if a == 1)
            if isinstance(answers[-1], Exception):
                break
        self.assertEqual(str(answers[-1]), "the key has reached its MAXBYTES, nothing was lost")
        self.assertEqual(self.raw("UNSEEN.EXISTS", "k", *range(added)), [1] * added)
        self.assertEqual(self.raw("UNSEEN.REMOVE", "k", *range(added)), [1] * added)
        self.raw("DEBUG", "RELOAD")
        self.assertEqual(self.raw("UNSEEN.EXISTS", "k", *range(added)), [0] * added)


class Replicas(Driven):
    """The same on a primary with a replica, an AOF and digests after each command."""

    test_meaning = test_memory = test_slices = test_maxmemory = test_refused = test_limit = test_numbers = None
    test_removed_and_added_again = None

    def test_model(self):
        rng = random.Random(6)
        primary, replica = Server("--appendonly", "yes"), Server("--appendonly", "yes")
        try:
            follow(primary, replica)
            call, other = raw_client(primary), raw_client(replica)
            models = [self.make(call, key) for key in ("k", "l")]
            models[0].all = models[1].all = models
            for i in range(600):
                rng.choice(models).step(call, rng, 20)
                call("WAIT", 1, 0)
                self.assertEqual(call("DEBUG", "DIGEST"), other("DEBUG", "DIGEST"), i)
                if i % 100 == 50:
                    other("REPLICAOF", "NO", "ONE")
                    models[0].step(call, rng, 20)
                    follow(primary, replica)
                    wait_for_replica(primary, replica)
                if i % 100 == 75:
                    call("BGREWRITEAOF")
                if i % 200 == 90:
                    digest = call("DEBUG", "DIGEST")
                    primary.restart()
                    call = raw_client(primary)
                    self.assertEqual(call("DEBUG", "DIGEST"), digest)
                    follow(primary, replica)
                    wait_for_replica(primary, replica)
            digest = call("DEBUG", "DIGEST")
            primary.stop()
            other("REPLICAOF", "NO", "ONE")  # the replica goes on with the queue and the times
            self.assertEqual(other("DEBUG", "DIGEST"), digest)
            for _ in range(200):
                rng.choice(models).step(other, rng, 20)
            replica.restart()
            other = raw_client(replica)
            for model in models:
                model.ask(other, [f"i{i}" for i in range(300)])
        finally:
            primary.end()
            replica.end()


class Moves(Case):
    options = "--appendonly", "yes"

    def replicated(self):
        """The commands of the module that were replicated so far, out of the AOF."""
        wait_for(lambda: b"aof_rewrite_in_progress:0" in self.raw("INFO", "persistence"))
        folder = os.path.join(self.server.folder, "appendonlydir")
        stream = b"".join(pathlib.Path(folder, name).read_bytes() for name in sorted(os.listdir(folder)) if ".incr." in name)
        commands = []
        while stream:
            head, stream = stream.split(b"\r\n", 1)
            words = []
            for _ in range(int(head[1:])):
                head, stream = stream.split(b"\r\n", 1)
                words.append(stream[:int(head[1:])])
                stream = stream[int(head[1:]) + 2:]
            commands.append(words)
        return commands

    def test_migrate(self):
        """A key that moves to another node, and hears of adds but not of ticks, which have no slot, before it is all there."""
        target = Server()
        try:
            other = raw_client(target)
            self.raw("UNSEEN.RESERVE", "k", "PROFILE", "none", "WINDOW", str(WINDOW // 1000))
            tell(self.raw, "k", START)
            self.raw("UNSEEN.ADD", "k", *range(100))
            self.raw("MIGRATE", "127.0.0.1", target.port, "k", 0, 60000, "COPY")
            self.assertEqual(self.raw("DEBUG", "DIGEST-VALUE", "k"), other("DEBUG", "DIGEST-VALUE", "k"))
            nbefore = len(self.replicated())
            self.raw("UNSEEN.TICK", START + WINDOW)
            self.assertEqual(self.raw("UNSEEN.ADD", "k", 99), [1])
            for command in self.replicated()[nbefore:]:
                if command[0] == b"UNSEEN.APPLY":
                    other(*command)
            tell(other, "k", START + WINDOW, 100)
            self.assertEqual(other("UNSEEN.EXISTS", "k", 98, 99), [0, 1])
            tell(other, "k", START + 2 * WINDOW, 100)
            self.assertEqual(other("UNSEEN.EXISTS", "k", 99), [0])
        finally:
            target.end()


class TimeOfDay(Case):
    """Windows of seconds, by the clock of the primary."""

    def test_idle_key(self):
        """Keys leave while no command comes, not before the window ends, and not long after."""
        begin = time.time()
        self.raw("UNSEEN.RESERVE", "k", "WINDOW", "2s")
        self.assertEqual(self.raw("UNSEEN.ADD", "k", "http://e.example/"), [1])
        wait_for(lambda: self.raw("UNSEEN.EXISTS", "k", "http://e.example/") == [0])
        self.assertGreaterEqual(time.time() - begin, 2)
        self.assertEqual(self.raw("UNSEEN.INFO", "k")[1], 0)
        self.assertEqual(self.raw("UNSEEN.ADD", "k", "http://e.example/"), [1])

    def test_many_keys(self):
        """More values than take a slice together, and most of them come by a load."""
        for i in range(100):
            self.raw("UNSEEN.RESERVE", f"k{i}", "WINDOW", "1s")
            self.raw("UNSEEN.ADD", f"k{i}", *range(i + 1))
        self.raw("DEBUG", "RELOAD")
        wait_for(lambda: not any(self.raw("UNSEEN.INFO", f"k{i}")[1] for i in range(100)))

    def test_clock_was_ahead(self):
        """A slice of a primary whose clock was ahead changes nothing for keys that come later."""
        self.raw("UNSEEN.TICK", int(time.time() * 1000) + 86400000)
        for key, window in ("long", "1h"), ("short", "1s"):
            self.raw("UNSEEN.RESERVE", key, "WINDOW", window)
            self.assertEqual(self.raw("UNSEEN.ADD", key, "x"), [1])
        wait_for(lambda: self.raw("UNSEEN.EXISTS", "short", "x") == [0])
        self.assertEqual(self.raw("UNSEEN.EXISTS", "long", "x"), [1])

    def test_replica_has_no_clock(self):
        """A replica whose primary is stopped forgets nothing, and forgets when it becomes a primary."""
        primary, replica = Server(), Server()
        try:
            follow(primary, replica)
            call, other = raw_client(primary), raw_client(replica)
            call("BF.RESERVE", "k", "0.01", 10, "WINDOW", "4s")
            for i in range(20):  # by adds of single items, which might be replicated as they are
                call("BF.ADD", "k", i)
            wait_for_replica(primary, replica)
            primary.stop()
            left = sum(other("BF.MEXISTS", "k", *range(20)))
            other("CONFIG", "SET", "replica-read-only", "no")
            begin = time.time()
            wait_for(lambda: time.time() > begin + 4.5)
            self.assertEqual(sum(other("BF.MEXISTS", "k", *range(20))), left)
            other("REPLICAOF", "NO", "ONE")
            wait_for(lambda: sum(other("BF.MEXISTS", "k", *range(20))) == 0)
        finally:
            primary.end()
            replica.end()

    def test_load(self):
        """Adds by several databases while keys leave: at any offset of the stream a replica has the same digest, and so has
        what the AOF makes of it."""
        primary, replica = Server("--appendonly", "yes"), Server()
        try:
            follow(primary, replica)
            call, other = raw_client(primary), raw_client(replica)
            calls = [raw_client(primary, db=db) for db in (0, 3)]
            for each in calls:
                each("UNSEEN.RESERVE", "k", "PROFILE", "none", "WINDOW", "1s")
                each("BF.RESERVE", "b", "0.01", 100, "WINDOW", "2s")
            begin = time.time()
            i = 0
            while time.time() < begin + 5:
                for each in calls:
                    each("UNSEEN.ADD", "k", *range(i, i + 50))
                    each("BF.ADD", "b", i)
                    each("UNSEEN.REMOVE", "k", i + 3)
                i += 40
            script = "return {redis.call('UNSEEN.INFO', 'k')[2], redis.call('DBSIZE')}"
            self.assertLess(call("EVAL", script, 0)[0], i)

            def same():
                call("CLIENT", "PAUSE", 2000, "WRITE")  # no slice comes meanwhile
                wait_for_replica(primary, replica)
                digests = call("DEBUG", "DIGEST"), other("DEBUG", "DIGEST")
                call("CLIENT", "UNPAUSE")
                self.assertEqual(*digests)

            same()
            primary.restart()
            follow(primary, replica)
            call = raw_client(primary)
            wait_for(lambda: call("UNSEEN.INFO", "k")[1] == 0 and call("BF.CARD", "b") == 0)
            same()
            self.assertEqual(other("UNSEEN.INFO", "k")[1], 0)
        finally:
            primary.end()
            replica.end()
