"""What is there after a restart, a reload, a kill, on a replica, in a copy and in another server."""

import os
import random
import signal
import unittest

import redis

from server import Case, Server, follow, raw_client, wait_for, wait_for_replica


def fill(call, seed=1, rounds=40):
    """Keys of every kind, with repeats and removals, over the border between layers."""
    rng = random.Random(seed)
    if not call("EXISTS", "sized"):
        reserve(call)
    for _ in range(rounds):
        items = [f"i{rng.randrange(20000)}" for _ in range(200)]
        for key in "sized", "tight", "fixed", "plain":
            call("BF.MADD", key, *items)
        call("CF.INSERT", "cuckoo", "ITEMS", *items)
        for item in items[:50]:
            call("CF.DEL", "cuckoo", item)
        call("CF.INSERT", "cuckoo", "ITEMS", *["often"] * 10)
        few(call, rng)


def few(call, rng):
    """Small sets, some of which grow because an item repeats or is removed."""
    which = rng.randrange(12)
    for _ in range(10):
        item = rng.randrange(500)
        call("BF.MADD", f"few{which}", item, item + 1)
        call("CF.ADD", f"count{which}", item)
        call("CF.DEL", f"count{which}", rng.randrange(500))
        call("UNSEEN.ADD", f"urls{which}", f"http://e.example/{item}")
    if which % 4 == 0:
        call("UNSEEN.REMOVE", f"urls{which}", f"http://e.example/{item}")
    if which % 3 == 0:
        call("UNSEEN.CLAIM", f"urls{which}", 1000, f"http://f.example/{item}")


def reserve(call):
    call("BF.RESERVE", "sized", "0.01", "21000")
    call("BF.RESERVE", "tight", "0.000001", "1000")
    call("BF.RESERVE", "fixed", "0.01", "100000", "NONSCALING")
    call("CF.RESERVE", "cuckoo", "1000")


class Single(Case):
    def test_reload_and_copy(self):
        fill(self.raw)
        before = self.raw("DEBUG", "DIGEST")
        self.raw("DEBUG", "RELOAD")
        self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
        for key in "sized", "tight", "fixed", "plain", "cuckoo":
            self.assertEqual(self.raw("COPY", key, key + "2"), 1)
            a, b = self.raw("DEBUG", "DIGEST-VALUE", key, key + "2")
            self.assertEqual(a, b, key)
            self.raw("RESTORE", key + "3", 0, self.raw("DUMP", key))
            self.assertEqual(self.raw("DEBUG", "DIGEST-VALUE", key + "3"), [a])
        # A copy goes on as the original does.
        fill(self.raw_only("cuckoo"), seed=2, rounds=5)
        a, b = self.raw("DEBUG", "DIGEST-VALUE", "cuckoo", "cuckoo2")
        self.assertNotEqual(a, b)
        fill(self.raw_only("cuckoo2", "cuckoo"), seed=2, rounds=5)
        a, b = self.raw("DEBUG", "DIGEST-VALUE", "cuckoo", "cuckoo2")
        self.assertEqual(a, b)

    def raw_only(self, name, alias=None):
        """Commands on one key, under another name."""

        def call(command, key, *arguments):
            if command == "EXISTS":
                return 1
            return self.raw(command, name, *arguments) if key == (alias or name) else None

        return call

    def test_answers_survive(self):
        self.raw("BF.MADD", "b", *[f"x{i}" for i in range(500)])
        self.raw("CF.INSERT", "c", "ITEMS", *["x"] * 1000, "y")
        self.raw("DEBUG", "RELOAD")
        self.assertEqual(sum(self.raw("BF.MEXISTS", "b", *[f"x{i}" for i in range(500)])), 500)
        self.assertEqual(self.raw("CF.COUNT", "c", "x"), 1000)
        self.assertEqual(self.raw("BF.CARD", "b"), self.raw("BF.INFO", "b", "ITEMS")[0])

    def test_large_first_layer(self):
        self.raw("BF.RESERVE", "large", "0.01", 2**26)
        self.raw("RESTORE", "large2", 0, self.raw("DUMP", "large"))
        self.assertEqual(*self.raw("DEBUG", "DIGEST-VALUE", "large", "large2"))

    def test_dump_by_chunks(self):
        fill(self.raw)
        self.raw("UNSEEN.ADD", "urls", *[f"http://e.com/{i}" for i in range(10000)])
        self.raw("UNSEEN.CLAIM", "urls", 1000, *[f"http://f.com/{i}" for i in range(3000)])
        for key, family in ("sized", "BF"), ("tight", "BF"), ("cuckoo", "CF"), ("urls", "UNSEEN"):
            frames = []
            iterator = 0
            while True:
                iterator, data = self.raw(family + ".SCANDUMP", key, iterator)
                if iterator == 0:
                    break
                self.assertLessEqual(len(data), 65538)
                frames.append((iterator, data))
            self.assertEqual(data, b"")
            for iterator, data in frames:
                self.assertEqual(self.raw("EXISTS", "loaded"), 0)  # shown when it is complete
                self.assertEqual(self.raw(family + ".LOADCHUNK", "loaded", iterator, data), b"OK")
            a, b = self.raw("DEBUG", "DIGEST-VALUE", key, "loaded")
            self.assertEqual(a, b)
            if family == "UNSEEN":
                self.assertEqual(self.raw("UNSEEN.CLAIM", "loaded", 1000, "http://f.com/0", "http://g.com/"), [-1, 1])
            self.refused("item exists", family + ".LOADCHUNK", "loaded", *frames[0])
            self.raw("DEL", "loaded")
            self.refused("received bad data", family + ".LOADCHUNK", "loaded", *frames[1])
            self.assertEqual(self.raw(family + ".LOADCHUNK", "loaded", *frames[0]), b"OK")
            self.refused("received bad data", family + ".LOADCHUNK", "loaded", *frames[-1])
            other = "CF" if family == "BF" else "BF"
            self.refused("received bad data", other + ".LOADCHUNK", "loaded", *frames[0])
            self.refused("received bad data", family + ".LOADCHUNK", "loaded", 1, b"foreign")
            if family == "BF":
                whole = b"".join(len(d).to_bytes(4, "little") + d for _, d in frames)
                self.refused("received bad data", "BF.LOAD", "loaded", whole[:-1])
                self.assertEqual(self.raw("BF.LOAD", "loaded", whole), b"OK")
                a, b = self.raw("DEBUG", "DIGEST-VALUE", key, "loaded")
                self.assertEqual(a, b)
                self.raw("DEL", "loaded")

    def test_dump_loop_in_a_script(self):
        """Numbers in Lua, as in JavaScript, are whole up to 2^53: the position that ends a dump comes back as it went."""
        fill(self.raw)
        self.raw("UNSEEN.CLAIM", "urls0", 1000, *[f"http://f.com/{i}" for i in range(3000)])
        script = """
            local n, it, last = 0, 0, 0
            repeat
                local r = redis.call(ARGV[1] .. '.SCANDUMP', KEYS[1], it)
                it = r[1]
                if it ~= 0 then n, last = n + #r[2], it end
                if last >= 2^53 then return redis.error_reply('a position of ' .. string.format('%.0f', last)) end
            until it == 0
            return n"""
        for key, family in ("few0", "BF"), ("tight", "BF"), ("count0", "CF"), ("cuckoo", "CF"), ("urls0", "UNSEEN"):
            nbytes = 0
            iterator, data = self.raw(family + ".SCANDUMP", key, 0)
            while iterator:
                nbytes += len(data)
                iterator, data = self.raw(family + ".SCANDUMP", key, iterator)
            self.assertEqual(self.raw("EVAL", script, 1, key, family), nbytes)

    def test_limit(self):
        """MAXBYTES refuses, and nothing that was added is lost."""
        server = Server(module_arguments=("maxbytes", "300000"))
        try:
            call = raw_client(server)
            call("BF.RESERVE", "k", "0.000001", "1000")
            added = []
            for i in range(1000):
                items = [f"{i}.{n}" for n in range(100)]
                answers = call("BF.MADD", "k", *items)
                added += items[:sum(1 for a in answers if not isinstance(a, Exception))]
                if isinstance(answers[-1], Exception):
                    break
            self.assertTrue(isinstance(answers[-1], Exception))
            self.assertGreater(len(added), 20000)
            self.assertLessEqual(call("MEMORY", "USAGE", "k"), 300000 + 500)
            self.assertEqual(sum(call("BF.MEXISTS", "k", *added)), len(added))
        finally:
            server.end()


def commands_of_aof(server):
    """The length of each command in a rewritten AOF."""
    folder = os.path.join(server.folder, "appendonlydir")
    lengths = []
    for name in os.listdir(folder):
        if not name.endswith(".base.aof"):
            continue
        with open(os.path.join(folder, name), "rb") as f:
            while line := f.readline():
                begin = f.tell() - len(line)
                for _ in range(int(line[1:])):
                    f.seek(int(f.readline()[1:]) + 2, os.SEEK_CUR)
                lengths.append(f.tell() - begin)
    return lengths


# A killed server loses what it has not written, never what it has not synced: test_kill syncs each command, which takes
# most of its time, the others none.
class Restarts(unittest.TestCase):
    def run_with(self, *options):
        server = Server(*options)
        try:
            call = raw_client(server)
            fill(call)
            yield server, call
            before = call("DEBUG", "DIGEST")
            server.stop()
            server.start()
            self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), before, options)
        finally:
            server.end()

    def test_rdb(self):
        for _, call in self.run_with("--rdbchecksum", "yes"):
            call("SAVE")

    def test_aof_as_commands(self):
        for _ in self.run_with("--appendonly", "yes", "--appendfsync", "no"):
            pass

    def test_aof_rewritten(self):
        for preamble in "yes", "no":
            options = ("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", preamble)
            for server, call in self.run_with(*options):
                call("BF.RESERVE", "large", "0.01", 2**21)
                call("BGREWRITEAOF")
                wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence") and
                         b"aof_rewrite_scheduled:0" in call("INFO", "persistence"))
                if preamble == "no":
                    lengths = commands_of_aof(server)
                    self.assertGreater(sum(lengths), 2**21)
                    self.assertGreater(max(lengths), 2**18)
                    self.assertLessEqual(max(lengths), 2**20)

    def test_command_in_place_of_effect(self):
        """Where nobody listened, the server takes a little while to see that somebody does. Until then an add of
        one item is replicated as it came, and does the same."""
        server = Server("--hz", "500", "--appendfsync", "always")
        try:
            call = raw_client(server)
            client = server.client()
            reserve(call)
            folder = os.path.join(server.folder, "appendonlydir")
            text = b""
            # Adds keep the server busy until its cron event has looked; then an AOF begins, and the next adds are in it.
            for number in range(100):
                with client.pipeline(transaction=False) as pipe:
                    for i in range(20000):
                        pipe.execute_command("BF.ADD", "sized", f"b{number}.{i}")
                    pipe.execute_command("CONFIG", "SET", "appendonly", "yes")
                    for i in range(20):
                        for key in "sized", "tight", "fixed", "new":
                            pipe.execute_command("BF.ADD", key, f"t{number}.{i % 15}")
                        pipe.execute_command("CF.ADD", "cuckoo", f"t{number}.{i % 7}")
                        pipe.execute_command("CF.ADDNX", "cuckoo", f"t{number}.{i}")
                    pipe.execute()
                wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence") and
                         b"aof_rewrite_scheduled:0" in call("INFO", "persistence"))
                before = call("DEBUG", "DIGEST")
                call("DEBUG", "LOADAOF")
                self.assertEqual(call("DEBUG", "DIGEST"), before)
                for name in os.listdir(folder):
                    with open(os.path.join(folder, name), "rb") as f:
                        text += f.read() if name.endswith(".incr.aof") else b""
                if b"BF.ADD" in text and b"CF.ADD" in text:
                    break
                call("CONFIG", "SET", "appendonly", "no")
            self.assertIn(b"BF.ADD", text)
            self.assertIn(b"CF.ADD", text)
        finally:
            server.end()

    def test_bad_unfinished_load(self):
        """A damaged load in a file is dropped. The keys of the file and its other loads are there."""
        server = Server("--rdbcompression", "no", "--rdbchecksum", "no")
        try:
            call = raw_client(server)
            call("BF.MADD", "k", *range(20))
            frames = []
            position, data = call("BF.SCANDUMP", "k", 0)
            while position:
                frames.append(data)
                position, data = call("BF.SCANDUMP", "k", position)
            for key in "bad", "good":
                call("UNSEEN.LOAD", key, "FIRST", *frames[:-1])
            call("SAVE")
            server.stop()
            path = os.path.join(server.folder, "dump.rdb")
            with open(path, "rb") as f:
                saved = f.read()
            self.assertEqual(saved.count(frames[1]), 3)
            with open(path, "wb") as f:
                f.write(saved.replace(frames[1], frames[1][:-1] + bytes([frames[1][-1] ^ 1]), 1))
            server.start()
            call = raw_client(server)
            self.assertIn("an unfinished load is damaged, and is dropped", server.text())
            self.assertEqual(sum(call("BF.MEXISTS", "k", *range(20))), 20)
            self.assertEqual(call("UNSEEN.LOAD", "good", "NEXT", frames[-1]), b"OK")
            self.assertEqual(*call("DEBUG", "DIGEST-VALUE", "k", "good"))
            with self.assertRaises(redis.exceptions.ResponseError):
                call("UNSEEN.LOAD", "bad", "NEXT", frames[-1])
        finally:
            server.end()

    def test_kill(self):
        """What was acknowledged under appendfsync always is there after kill -9."""
        server = Server("--appendonly", "yes", "--appendfsync", "always")
        try:
            for generation in range(3):
                call = raw_client(server)
                for i in range(100):
                    call("BF.ADD", "k", f"{generation}.{i}")
                    call("CF.ADD", "c", f"{generation}.{i % 10}")
                server.stop(signal.SIGKILL)
                server.start()
            call = raw_client(server)
            items = [f"{g}.{i}" for g in range(3) for i in range(100)]
            self.assertEqual(sum(call("BF.MEXISTS", "k", *items)), len(items))
            self.assertEqual(call("CF.COUNT", "c", "1.3"), 10)
        finally:
            server.end()


class WithoutModule(unittest.TestCase):
    """With no set the module leaves no trace, so there is a way back."""

    def test_restart(self):
        for preamble in "yes", "no":
            server = Server("--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
            try:
                call = raw_client(server)
                call("SET", "text", "x")
                call("BF.ADD", "b", "x")
                call("UNSEEN.CLAIM", "u", 10, "x") if call("UNSEEN.RESERVE", "u") else None
                call("BF.LOADCHUNK", "l", *call("BF.SCANDUMP", "b", 0))  # an unfinished load
                call("DEL", "b", "u")
                call("SAVE")
                call("BGREWRITEAOF")
                wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence") and
                         b"aof_rewrite_scheduled:0" in call("INFO", "persistence"))
                for aof in "yes", "no":
                    server.stop()
                    server.has_module = False
                    server.start("--appendonly", aof)
                    self.assertEqual(raw_client(server)("GET", "text"), b"x")
            finally:
                server.end()

    def test_replica(self):
        primary = Server()
        replica = Server(has_module=False)
        try:
            call = raw_client(primary)
            call("SET", "text", "x")
            call("BF.ADD", "b", "x")
            call("DEL", "b")
            follow(primary, replica)
            wait_for_replica(primary, replica)
            call("SET", "more", "y")
            wait_for_replica(primary, replica)
            self.assertEqual(raw_client(replica)("MGET", "text", "more"), [b"x", b"y"])
        finally:
            for server in primary, replica:
                server.end()


class Replicas(unittest.TestCase):
    def test_leases(self):
        """A primary and its replica save the same bytes, though each hashes leases under a secret of its own."""
        primary = Server()
        replica = Server()
        try:
            call = raw_client(primary)
            follow(primary, replica)
            rng = random.Random(5)
            urls = [f"http://e.example/{i}" for i in range(1000)]
            call("UNSEEN.RESERVE", "urls")
            for _ in range(20):
                call("UNSEEN.CLAIM", "urls", 1000, *rng.sample(urls, 100))
                call("UNSEEN.ADD", "urls", *rng.sample(urls, 20))
            wait_for_replica(primary, replica)
            dump = call("DUMP", "urls")
            self.assertGreater(len(dump), 24 * 400)
            self.assertEqual(raw_client(replica)("DUMP", "urls"), dump)
        finally:
            for server in primary, replica:
                server.end()

    def test_equal(self):
        """After random changes with full syncs in between, a replica has the same bytes."""
        primary = Server()
        replica = Server()
        try:
            call = raw_client(primary)
            answer = raw_client(replica)

            nrounds = int(os.environ.get("MODULE_SYNC_ROUNDS", "3"))
            for generation in range(nrounds):
                fill(call, seed=generation, rounds=20)
                answer("REPLICAOF", "127.0.0.1", primary.port)
                wait_for_replica(primary, replica)
                fill_more(call, seed=100 + generation)
                wait_for_replica(primary, replica)
                self.assertEqual(call("DEBUG", "DIGEST"), answer("DEBUG", "DIGEST"))
                if generation < nrounds - 1:
                    answer("REPLICAOF", "NO", "ONE")
                    answer("FLUSHALL")
            self.assertEqual(call("BF.CARD", "sized"), answer("BF.CARD", "sized"))
        finally:
            primary.end()
            replica.end()


def fill_more(call, seed):
    rng = random.Random(seed)
    for i in range(int(os.environ.get("MODULE_CHANGES", "200"))):
        items = [f"m{rng.randrange(100000)}" for _ in range(100)]
        call("BF.MADD", rng.choice(["sized", "tight", "plain", "fresh"]), *items)
        few(call, rng)
        call("CF.INSERT", "cuckoo", "ITEMS", *items)
        for item in items[::3]:
            call("CF.DEL", "cuckoo", item)
        if i % 50 == 0:
            call("BF.INSERT", f"made{seed}.{i}", "ERROR", "0.001", "CAPACITY", "10", "ITEMS", *items)
            call("COPY", "cuckoo", f"copied{seed}.{i}")
            state = call("CF.SCANDUMP", "cuckoo", 0)
            while state[0] != 0:
                call("CF.LOADCHUNK", f"loaded{seed}.{i}", *state)
                state = call("CF.SCANDUMP", "cuckoo", state[0])
