"""What would hold up a server is made aside or in steps: large values, and loads of many frames."""

import time
import unittest

import redis

from server import Case, Server, follow, raw_client, wait_for, wait_for_replica

LARGE = 5000000  # items: 6 MB at 0.01


def frames_of(call, key, family="BF"):
    position, data = call(family + ".SCANDUMP", key, 0)
    while position:
        yield position, data
        position, data = call(family + ".SCANDUMP", key, position)


def whole(frames):
    """The argument of BF.LOAD."""
    return b"".join(len(data).to_bytes(4, "little") + data for _, data in frames)


def make_large(call, key, nitems=4 * LARGE):
    """A set whose load takes some 800 steps of a millisecond at least: there is time to see one half way."""
    call("BF.RESERVE", key, "0.01", nitems)
    call("BF.MADD", key, *range(1000))
    return list(frames_of(call, key))


def save(call):
    """Forks a child that saves. A server that still has another child refuses that."""

    def has_begun():
        try:
            return call("BGSAVE")
        except redis.exceptions.ResponseError:
            return False

    wait_for(has_begun)
    wait_for(lambda: b"rdb_bgsave_in_progress:0" in call("INFO", "persistence"))


def during(server, begin, act, undo):
    """Begins what a client waits for, and does something in one transaction with the question whether the client still
    waits: if not, it was too late, and all is done again. Returns the connection of the client."""
    for _ in range(100):
        connection = server.client().connection_pool.get_connection()
        begin(connection)
        while b"blocked_clients:1" not in raw_client(server)("INFO", "clients") and not connection.can_read(0):
            pass
        with server.client().pipeline(transaction=True) as pipe:
            pipe.info("clients")
            act(pipe)
            if pipe.execute()[0]["blocked_clients"] == 1:
                return connection
        connection.read_response()
        connection.disconnect()
        undo()
    raise AssertionError("no work was seen under way")


class Creation(Case):
    def test_reserve(self):
        for protocol in 2, 3:
            call = raw_client(self.server, protocol)
            call("FLUSHALL")
            self.assertEqual(call("BF.RESERVE", "k", "0.01", LARGE), b"OK")
            self.refused("item exists", "BF.RESERVE", "k", "0.01", LARGE)
            self.assertEqual(int(call("BF.ADD", "k", "x")), 1)
            self.assertGreater(call("MEMORY", "USAGE", "k"), LARGE)
            answers = call("BF.INSERT", "i", "CAPACITY", LARGE, "ITEMS", "x", "y", "x")
            self.assertEqual([int(x) for x in answers], [1, 1, 0])
            self.assertEqual(call("BF.CARD", "i"), 2)
        self.assertEqual(self.raw("BF.RESERVE", "n", "0.01", LARGE, "NONSCALING"), b"OK")
        self.refused("could not create filter: no rate this low, 5e-9 is the least", "BF.RESERVE", "z", "1e-300", LARGE)
        self.assertEqual(self.raw("EXISTS", "z"), 0)

    def test_where_nobody_waits(self):
        client = self.server.client()
        with client.pipeline(transaction=True) as pipe:
            pipe.execute_command("BF.RESERVE", "k", "0.01", LARGE)
            pipe.execute_command("BF.ADD", "k", "x")
            pipe.execute_command("BF.INSERT", "i", "CAPACITY", LARGE, "ITEMS", "x")
            self.assertEqual([x if isinstance(x, bytes) else str(x) for x in pipe.execute()][1:], ["1", "[1]"])
        script = "return {redis.call('BF.RESERVE', KEYS[1], '0.01', ARGV[1]), redis.call('BF.ADD', KEYS[1], 'y')}"
        self.assertEqual(client.eval(script, 1, "s", LARGE)[1], 1)

    def test_huge_where_nobody_waits(self):
        """What would hold the server up for longer than 10 ms is refused there, and nothing is made."""
        said = "a set this large cannot be made in a transaction or script: reserve it before"
        client = self.server.client()
        for command in ("BF.RESERVE", "k", "0.01", 10 * LARGE), ("BF.INSERT", "k", "CAPACITY", 10 * LARGE, "ITEMS", "x"):
            with client.pipeline(transaction=True) as pipe:
                pipe.execute_command(*command)
                pipe.execute_command("BF.ADD", "other", "x")
                answers = pipe.execute(raise_on_error=False)
            self.assertEqual(str(answers[0]), said)
            self.assertEqual(int(answers[1]), 1)
            self.raw("DEL", "other")
            script = "return redis.pcall(unpack(ARGV))"
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                client.eval(script, 1, "k", *command)
            self.assertIn(said, str(caught.exception))
            self.assertEqual(self.raw("EXISTS", "k"), 0)

    def test_another_client_is_faster(self):
        """Whoever made the key, one set is there, and it answers as reserved or as not. A client that makes the key while
        the set is being made, which the transaction sees, is always the faster one."""
        nlate = {"BF.ADD": 0, "SET": 0}
        for i in range(1000):
            name = "SET" if i % 4 == 3 else "BF.ADD"
            self.raw("DEL", "k")
            connection = self.server.client().connection_pool.get_connection()
            connection.send_command("BF.RESERVE", "k", "0.01", 10 * LARGE)
            if i % 2:
                while b"blocked_clients:1" not in self.raw("INFO", "clients") and not self.raw("EXISTS", "k"):
                    pass
            with self.server.client().pipeline(transaction=True) as pipe:
                pipe.info("clients")
                pipe.execute_command(name, "k", "x")
                is_late = pipe.execute()[0]["blocked_clients"] == 1
            try:
                connection.read_response()
                self.assertFalse(is_late)
                self.assertTrue(name == "SET" or self.raw("BF.INFO", "k", "CAPACITY") == [10 * LARGE])
            except redis.exceptions.ResponseError as error:
                self.assertEqual(str(error), "item exists")
                self.assertTrue(name == "SET" or self.raw("BF.INFO", "k", "CAPACITY") == [100])
            connection.disconnect()
            nlate[name] += is_late
            if i >= 20 and all(nlate.values()):
                return
        self.fail(f"not seen: {nlate}")

    def at_once(self, n, command):
        """Connections of n clients whose commands the server reads together."""
        sleeper, *connections = [self.server.client().connection_pool.get_connection() for _ in range(1 + n)]
        sleeper.send_command("DEBUG", "SLEEP", "0.2")
        for i, connection in enumerate(connections):
            connection.send_command(*command(i))
        sleeper.read_response()
        return connections

    def answers(self, connections):
        answers = []
        for connection in connections:
            try:
                answers.append(connection.read_response())
            except redis.exceptions.ResponseError as error:
                answers.append(str(error))
            connection.disconnect()
        return answers

    def test_many_at_once(self):
        """One set is made at a time, also for clients that want the same key."""
        for command in (lambda i: ("BF.RESERVE", "k", "0.01", 10 * LARGE),
                        lambda i: ("BF.INSERT", "k", "CAPACITY", 10 * LARGE, "ITEMS", i),
                        lambda i: ("BF.RESERVE", f"k{i}", "0.01", 10 * LARGE)):
            for _ in range(100):
                self.raw("FLUSHALL", "SYNC")
                connections = self.at_once(8, command)
                with self.server.client().pipeline(transaction=True) as pipe:  # so that sets that are made stay aside
                    pipe.info("clients")
                    pipe.execute_command("CLIENT", "PAUSE", "600000", "WRITE")
                    nwaiting = pipe.execute()[0]["blocked_clients"]
                nsets = 0
                for _ in range(100 * (nwaiting == 8)):
                    nsets = max(nsets, int(self.raw("INFO", "bf").split(b"bf_sets:")[1].split()[0]))
                    time.sleep(0.002)
                self.raw("CLIENT", "UNPAUSE")
                answers = self.answers(connections)
                if nwaiting == 8:
                    break
            else:
                self.fail("the clients were not seen to wait")
            self.assertEqual(nsets, 1)
            if command(0)[0] == "BF.INSERT":
                self.assertEqual(answers, [[1]] * 8)
                self.assertEqual(self.raw("BF.CARD", "k"), 8)
            elif command(0)[1] == "k":
                self.assertEqual(sorted(answers, key=str), [b"OK"] + ["item exists"] * 7)
            else:
                self.assertEqual(answers, [b"OK"] * 8)

    def test_maxmemory(self):
        """Clients that wait together do not go further past it than one set."""
        one = 10 * LARGE
        limit = self.server.client().info("memory")["used_memory"] + 2 * one
        self.raw("CONFIG", "SET", "maxmemory", limit)
        try:
            answers = self.answers(self.at_once(8, lambda i: ("BF.RESERVE", f"k{i}", "0.01", one)))
            self.assertEqual(sum(answer == b"OK" for answer in answers), 2)
            self.assertEqual(set(answers) - {b"OK"}, {"command not allowed when used memory > 'maxmemory'."})
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0")

    def test_client_goes_away(self):
        for i in range(10):
            connection = self.server.client().connection_pool.get_connection()
            connection.send_command("BF.INSERT", f"k{i}", "CAPACITY", LARGE, "ITEMS", "x")
            connection.disconnect()
        wait_for(lambda: b"blocked_clients:0" in self.raw("INFO", "clients"))

        def are_gone():  # also those whose command came behind all
            self.raw("FLUSHALL", "SYNC")
            return b"bf_sets:0\r" in self.raw("INFO", "bf")

        wait_for(are_gone)
        wait_for(lambda: b"bf_memory_bytes:0\r" in self.raw("INFO", "bf"))

    def test_paused(self):
        """The key is made when the pause ends: a server that changes a key in a pause ends itself."""
        server = Server("--appendonly", "yes")
        try:
            call = raw_client(server)
            for command in ("BF.RESERVE", "k", "0.01", 10 * LARGE), ("BF.INSERT", "k", "CAPACITY", 10 * LARGE, "ITEMS", "x"):
                connection = during(server, lambda connection: connection.send_command(*command),
                                    lambda pipe: pipe.execute_command("CLIENT", "PAUSE", "600000", "WRITE"),
                                    lambda: call("CLIENT", "UNPAUSE") and call("DEL", "k"))
                wait_for(lambda: b"bf_sets:1\r" in call("INFO", "bf"))  # the thread has made it
                for _ in range(50):
                    time.sleep(0.002)
                    self.assertEqual(call("EXISTS", "k"), 0)
                call("CLIENT", "UNPAUSE")
                self.assertIn(connection.read_response(), (b"OK", [1]))
                self.assertEqual(call("BF.INFO", "k", "CAPACITY"), [10 * LARGE])
                connection.disconnect()
                call("DEL", "k")
                wait_for(lambda: b"bf_sets:0\r" in call("INFO", "bf"))
        finally:
            server.end()

    def test_server_becomes_a_replica(self):
        for command in ("BF.RESERVE", "k", "0.01", 10 * LARGE), ("BF.INSERT", "k", "CAPACITY", 10 * LARGE, "ITEMS", "x"):
            connection = during(self.server, lambda connection: connection.send_command(*command),
                                lambda pipe: pipe.execute_command("REPLICAOF", "127.0.0.1", "1"),
                                lambda: self.raw("REPLICAOF", "NO", "ONE") and self.raw("DEL", "k"))
            try:
                with self.assertRaises(redis.exceptions.ResponseError):
                    connection.read_response()
                wait_for(lambda: b"bf_sets:0\r" in self.raw("INFO", "bf"))
            finally:
                self.raw("REPLICAOF", "NO", "ONE")
            self.assertEqual(self.raw("EXISTS", "k"), 0)

    def test_limit(self):
        server = Server(module_arguments=("maxbytes", "2000000"))
        try:
            call = raw_client(server)
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                call("BF.RESERVE", "k", "0.01", LARGE)
            self.assertEqual(str(caught.exception), "Insufficient memory to create filter")
            self.assertEqual(call("EXISTS", "k"), 0)
        finally:
            server.end()


class Loads(Case):
    """BF.LOAD, and the end of a load that a save has interrupted."""

    def setUp(self):
        super().setUp()
        self.frames = make_large(self.raw, "k")
        self.data = whole(self.frames)

    def load(self, act, key="l"):
        return during(self.server, lambda connection: connection.send_command("BF.LOAD", key, self.data), act,
                      lambda: self.raw("DEL", key))

    def equal(self, *keys):
        self.assertEqual(len(set(self.raw("DEBUG", "DIGEST-VALUE", "k", *keys))), 1)

    def interrupted(self, connection):
        """All frames of a load but the last, with a save between them; sends the last one."""
        for position, data in self.frames[:-1]:
            self.raw("BF.LOADCHUNK", "l", position, data)
        save(self.raw)
        connection.send_command("BF.LOADCHUNK", "l", *self.frames[-1])

    def test_others_are_served(self):
        for begin in self.interrupted, lambda connection: connection.send_command("BF.LOAD", "l", self.data):
            seen = []

            def look(pipe):
                pipe.exists("l")
                pipe.execute_command("BF.ADD", "other", "x")
                seen.append(pipe)

            connection = during(self.server, begin, look, lambda: self.raw("DEL", "l"))
            self.assertEqual(connection.read_response(), b"OK")
            self.equal("l")
            self.assertEqual(self.raw("BF.EXISTS", "other", "x"), 1)
            self.raw("DEL", "l", "other")

    def test_key_is_made(self):
        connection = self.load(lambda pipe: pipe.set("l", "x"))
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            connection.read_response()
        self.assertEqual(str(caught.exception), "item exists")
        self.assertEqual(self.raw("GET", "l"), b"x")
        self.refused("item exists", "BF.LOAD", "k", self.data)

    def test_another_load(self):
        """The newer load of a key takes the place of the older one; loads of other keys go on."""
        other = self.server.client().connection_pool.get_connection()
        other.send_command("BF.LOAD", "o", self.data)
        wait_for(lambda: b"blocked_clients:1" in self.raw("INFO", "clients") or self.raw("EXISTS", "o"))
        self.assertEqual(other.read_response(), b"OK")
        connection = self.load(lambda pipe: pipe.execute_command("BF.LOADCHUNK", "l", *self.frames[0]))
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            connection.read_response()
        self.assertEqual(str(caught.exception), "another load of this key has begun")
        for position, data in self.frames[1:]:
            self.assertEqual(self.raw("BF.LOADCHUNK", "l", position, data), b"OK")
        self.equal("l", "o")

    def test_many_at_once(self):
        connections = [self.server.client().connection_pool.get_connection() for _ in range(5)]
        small = whole(make_large(self.raw, "s", LARGE // 2))
        for i, connection in enumerate(connections):
            connection.send_command("BF.LOAD", f"l{i}", small)
        self.assertEqual([connection.read_response() for connection in connections], [b"OK"] * 5)
        self.assertEqual(len(set(self.raw("DEBUG", "DIGEST-VALUE", "s", *[f"l{i}" for i in range(5)]))), 1)

    def refused_of(self, n, data):
        """Sends n loads of data behind a long one, in front of which none is done. Returns how many were refused; the
        others are there in the end."""
        connections = [self.server.client().connection_pool.get_connection() for _ in range(1 + n)]
        connections[0].send_command("BF.LOAD", "l0", self.data)
        wait_for(lambda: b"blocked_clients:1" in self.raw("INFO", "clients") or self.raw("EXISTS", "l0"))
        for i in range(n):
            connections[1 + i].send_command("BF.LOAD", f"l{1 + i}", data)
        nrefused = 0
        for i, connection in enumerate(connections):
            try:
                self.assertEqual(connection.read_response(), b"OK")
                self.assertEqual(self.raw("DEL", f"l{i}"), 1)
            except redis.exceptions.ResponseError as error:
                self.assertEqual(str(error), "too many loads at once: try again when one has ended")
                self.assertEqual(self.raw("EXISTS", f"l{i}"), 0)
                nrefused += 1
            connection.disconnect()
        return nrefused

    def test_too_many_at_once(self):
        """What waits is bounded, in number and in bytes. A test that is slower than the long load tries again."""
        small = whole(make_large(self.raw, "s", LARGE // 4))
        self.assertGreater(len(small), 300000)
        most = 128 * 2**20 // len(self.data) - 1  # behind the first
        for n, data, room in (20, small, 15), (most + 2, self.data, most):
            for _ in range(100):
                nrefused = self.refused_of(n, data)
                self.assertLessEqual(nrefused, n - room)
                if nrefused == n - room:
                    break
            else:
                self.fail("no load was refused")

    def test_where_nobody_waits(self):
        client = self.server.client()
        with client.pipeline(transaction=True) as pipe:
            pipe.execute_command("BF.LOAD", "l", self.data)
            pipe.execute_command("BF.EXISTS", "l", "5")
            self.assertEqual([x if isinstance(x, bytes) else int(x) for x in pipe.execute()], [b"OK", 1])
        self.assertEqual(client.eval("return redis.call('BF.LOAD', KEYS[1], ARGV[1])", 1, "m", self.data), b"OK")
        self.equal("l", "m")

    def test_while_another_waits(self):
        """In a transaction all is done at once, also when another client's load is half way."""
        connection = self.load(lambda pipe: pipe.execute_command("BF.LOAD", "m", self.data))
        self.assertEqual(connection.read_response(), b"OK")
        self.equal("l", "m")

    def test_bad_data(self):
        for data in self.data[:-1], self.data + b"x", self.data[:len(self.data) // 2], self.data[:-3] + b"abc":
            self.refused("received bad data", "BF.LOAD", "l", data)
        self.assertEqual(self.raw("EXISTS", "l"), 0)

    def test_client_goes_away(self):
        connection = self.load(lambda pipe: pipe.ping())
        connection.disconnect()
        wait_for(lambda: self.raw("EXISTS", "l"))
        self.equal("l")

    def test_mixed_commands(self):
        """A load takes the frames of the command that began it, and no others."""
        said = "another command began this load: begin again with the first chunk"

        def chunk(name):
            return lambda at: (name + ".LOADCHUNK", "l", *self.frames[at])

        def by_a_primary(at):
            return "UNSEEN.LOAD", "l", "NEXT" if at else "FIRST", self.frames[at][1]

        for right, wrong in (chunk("BF"), by_a_primary), (by_a_primary, chunk("BF")), (chunk("BF"), chunk("CF")):
            self.assertEqual(self.raw(*right(0)), b"OK")
            self.refused(said, *wrong(1))
            for at in range(1, len(self.frames)):
                self.assertEqual(self.raw(*right(at)), b"OK")
            self.equal("l")
            self.raw("DEL", "l")

    def test_data_set_is_loaded(self):
        """A load ends when the server loads another data set: its client is told, and the server lives."""
        for begin in self.interrupted, lambda connection: connection.send_command("BF.LOAD", "l", self.data):
            connection = during(self.server, begin, lambda pipe: pipe.execute_command("DEBUG", "RELOAD"),
                                lambda: self.raw("DEL", "l"))
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                connection.read_response()
            self.assertEqual(str(caught.exception), "the server has loaded another data set: load again")
            self.assertEqual(self.raw("EXISTS", "l"), 0)
            wait_for(lambda: b"bf_sets:1\r" in self.raw("INFO", "bf"))  # the half one has gone
        self.raw("BF.LOADCHUNK", "l", *self.frames[0])
        self.raw("DEBUG", "RELOAD")
        self.refused("received bad data", "BF.LOADCHUNK", "l", *self.frames[1])
        self.assertEqual(self.raw("BF.LOAD", "l", self.data), b"OK")
        self.equal("l")

    def test_memory_is_given_back(self):
        """Also when the server becomes a replica half way."""
        for begin in self.interrupted, lambda connection: connection.send_command("BF.LOAD", "l", self.data):
            connection = during(self.server, begin, lambda pipe: pipe.execute_command("REPLICAOF", "127.0.0.1", "1"),
                                lambda: self.raw("REPLICAOF", "NO", "ONE") and self.raw("DEL", "l"))
            try:
                with self.assertRaises(redis.exceptions.ResponseError):
                    connection.read_response()
                wait_for(lambda: b"bf_sets:1\r" in self.raw("INFO", "bf"))  # the half one has gone
            finally:
                self.raw("REPLICAOF", "NO", "ONE")
            self.assertEqual(self.raw("EXISTS", "l"), 0)
        self.raw("FLUSHALL", "SYNC")
        wait_for(lambda: b"bf_memory_bytes:0\r" in self.raw("INFO", "bf"))


class Replicas(unittest.TestCase):
    def test_loads(self):
        """A load that began before a full sync, a rewrite of the AOF or a save; one that a replica saw from the
        start; one that failed at its end; and large values."""
        primary = Server("--appendonly", "yes", "--appendfsync", "always")
        replica = Server("--appendonly", "yes", "--appendfsync", "always")
        late = Server()
        try:
            call = raw_client(primary)
            raw_client(replica)("REPLICAOF", "127.0.0.1", primary.port)
            wait_for(lambda: b"connected_slaves:1" in call("INFO", "replication"))
            call("BF.RESERVE", "k", "0.001", 500000)
            for i in range(0, 30000, 1000):
                call("BF.MADD", "k", *range(i, i + 1000))
            call("BF.RESERVE", "large", "0.01", LARGE)
            call("BF.INSERT", "large2", "CAPACITY", LARGE, "ITEMS", *range(100))
            frames = list(frames_of(call, "k"))
            self.assertGreater(len(frames), 8)

            def rewrite(each=call):
                each("BGREWRITEAOF")
                wait_for(lambda: b"aof_rewrite_in_progress:0" in each("INFO", "persistence") and
                         b"aof_rewrite_scheduled:0" in each("INFO", "persistence"))

            def rewrite_of_replica():
                rewrite(raw_client(replica))

            def join():
                raw_client(late)("REPLICAOF", "127.0.0.1", primary.port)
                wait_for(lambda: b"connected_slaves:2" in call("INFO", "replication"))

            def make_key():
                call("SET", "taken", "x")

            for name, act in ("plain", None), ("rewritten", rewrite), ("replica", rewrite_of_replica), ("joined", join), ("taken", make_key):
                for at, (position, data) in enumerate(frames):
                    try:
                        call("BF.LOADCHUNK", name, position, data)
                    except redis.exceptions.ResponseError as error:
                        self.assertEqual((name, str(error), at), ("taken", "item exists", len(frames) - 1))
                    if at == 4 and act:
                        act()
            call("BF.LOAD", "whole", whole(frames))
            self.assertEqual(len(set(call("DEBUG", "DIGEST-VALUE", "k", "plain", "rewritten", "replica", "joined", "whole"))), 1)
            for server in replica, late:
                answer = raw_client(server)
                wait_for(lambda: answer("DEBUG", "DIGEST") == call("DEBUG", "DIGEST"))
            digest = call("DEBUG", "DIGEST")
            for server in primary, replica:
                server.restart()
                self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), digest)
        finally:
            for server in primary, replica, late:
                server.end()

    def test_loads_in_steps(self):
        """A full sync, a rewrite of the AOF and changes to the key while a load is sent in steps."""
        primary = Server("--appendonly", "yes", "--appendfsync", "always")
        replica = Server()
        late = Server()
        try:
            call = raw_client(primary)
            raw_client(replica)("REPLICAOF", "127.0.0.1", primary.port)
            wait_for(lambda: b"connected_slaves:1" in call("INFO", "replication"))
            frames = make_large(call, "k")

            def load(connection):
                connection.send_command("BF.LOAD", "l", whole(frames))

            def end_interrupted(connection):
                for position, data in frames[:-1]:
                    call("BF.LOADCHUNK", "l", position, data)
                save(call)
                connection.send_command("BF.LOADCHUNK", "l", *frames[-1])

            def check(key):
                self.assertEqual(len(set(call("DEBUG", "DIGEST-VALUE", "k", key))), 1)

            for number, begin in enumerate((load, end_interrupted)):
                connection = during(primary, begin, lambda pipe: pipe.execute_command("BGREWRITEAOF"),
                                    lambda: call("DEL", "l"))
                self.assertEqual(connection.read_response(), b"OK")
                check("l")
                call("RENAME", "l", f"rewritten{number}")
                wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence"))

            def full_syncs():
                return primary.client().info("stats")["sync_full"]

            for number, begin in enumerate((load, end_interrupted)):
                for _ in range(100):
                    connection = primary.client().connection_pool.get_connection()
                    begin(connection)
                    before = full_syncs()
                    raw_client(late)("REPLICAOF", "127.0.0.1", primary.port)
                    wait_for(lambda: full_syncs() > before)
                    with primary.client().pipeline(transaction=True) as pipe:
                        is_half_way = pipe.info("clients").ping().execute()[0]["blocked_clients"] == 1
                    self.assertEqual(connection.read_response(), b"OK")
                    check("l")
                    for server in replica, late:
                        wait_for_replica(primary, server)
                        self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
                    raw_client(late)("REPLICAOF", "NO", "ONE")
                    if is_half_way:
                        break
                    call("DEL", "l")
                else:
                    self.fail("no full sync half way")
                call("RENAME", "l", f"joined{number}")
            during(primary, load, lambda pipe: pipe.set("l", "x"), lambda: call("DEL", "l"))
            wait_for(lambda: b"blocked_clients:0" in call("INFO", "clients"))
            wait_for_replica(primary, replica)
            digest = call("DEBUG", "DIGEST")
            self.assertEqual(raw_client(replica)("DEBUG", "DIGEST"), digest)
            primary.stop()
            primary.start()
            self.assertEqual(raw_client(primary)("DEBUG", "DIGEST"), digest)
        finally:
            for server in primary, replica, late:
                server.end()

    def test_files_half_way(self):
        """A replica is saved in the middle of two loads, is killed when they have ended, and starts again from that file.
        The primary sends it only what comes behind the file."""
        primary = Server("--repl-backlog-size", "64mb")
        replica = Server("--repl-backlog-size", "64mb", "--replicaof", f"127.0.0.1 {primary.port}")
        try:
            call = raw_client(primary)
            frames = make_large(call, "k", 500000)
            self.assertGreater(len(frames), 6)
            wait_for_replica(primary, replica)
            for key in "lm":
                for position, data in frames[:5]:
                    call("BF.LOADCHUNK", key, position, data)
            wait_for_replica(primary, replica)
            save(raw_client(replica))
            for key in "lm":
                for position, data in frames[5:]:
                    call("BF.LOADCHUNK", key, position, data)
            wait_for_replica(primary, replica)
            self.assertEqual(len(set(call("DEBUG", "DIGEST-VALUE", "k", "l", "m"))), 1)
            syncs = primary.client().info("stats")["sync_full"]
            replica.stop()
            replica.start()
            wait_for_replica(primary, replica)
            self.assertEqual(primary.client().info("stats")["sync_full"], syncs)
            self.assertEqual(raw_client(replica)("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
        finally:
            for server in primary, replica:
                server.end()

    def test_replica_of_a_replica(self):
        """It comes in the middle of a load, and gets the load with its full sync."""
        primary = Server("--repl-backlog-size", "64mb")
        replica = Server("--repl-backlog-size", "64mb", "--replicaof", f"127.0.0.1 {primary.port}")
        after = Server()
        try:
            call = raw_client(primary)
            frames = make_large(call, "k", 500000)
            self.assertGreater(len(frames), 6)
            wait_for_replica(primary, replica)
            for position, data in frames[:5]:
                call("BF.LOADCHUNK", "l", position, data)
            wait_for_replica(primary, replica)
            raw_client(after)("REPLICAOF", "127.0.0.1", replica.port)
            wait_for_replica(replica, after)
            for position, data in frames[5:]:
                call("BF.LOADCHUNK", "l", position, data)
            wait_for_replica(primary, replica)
            wait_for_replica(replica, after)
            for server in replica, after:
                self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
        finally:
            for server in primary, replica, after:
                server.end()

    def test_databases(self):
        """A load that is forgotten for another one may be of another database than the client of that one: replicas forget
        this load, and no other of its name."""
        primary = Server()
        replica = Server()
        try:
            call, other = (raw_client(primary, db=db) for db in range(2))
            follow(primary, replica)
            call("BF.ADD", "source", "x")
            frames = list(frames_of(call, "source"))
            call("BF.LOADCHUNK", "k", *frames[0])
            other("BF.LOADCHUNK", "k", *frames[0])
            for i in range(15):
                other("BF.LOADCHUNK", f"l{i}", *frames[0])
            with self.assertRaises(redis.exceptions.ResponseError):
                call("BF.LOADCHUNK", "k", *frames[1])  # has made room
            for position, data in frames[1:]:
                other("BF.LOADCHUNK", "k", position, data)
            self.assertEqual([each("EXISTS", "k") for each in (call, other)], [0, 1])
            wait_for_replica(primary, replica)
            self.assertEqual(raw_client(replica)("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
        finally:
            for server in primary, replica:
                server.end()

    def test_bad_loads_beside(self):
        """Replicas forget the loads that the primary has forgotten, and not those that have more to come."""
        primary = Server()
        replica = Server()
        try:
            call = raw_client(primary)
            follow(primary, replica)
            call("BF.ADD", "k", "x")
            frames = list(frames_of(call, "k"))
            call("BF.LOADCHUNK", "l", *frames[0])
            for i in range(100):
                call("BF.LOADCHUNK", f"bad{i}", *frames[0])
                with self.assertRaises(redis.exceptions.ResponseError):
                    call("BF.LOADCHUNK", f"bad{i}", frames[1][0], b"bad")
            for position, data in frames[1:]:
                call("BF.LOADCHUNK", "l", position, data)
            wait_for_replica(primary, replica)
            self.assertEqual(call("EXISTS", "l"), 1)
            self.assertEqual(raw_client(replica)("DEBUG", "DIGEST"), call("DEBUG", "DIGEST"))
        finally:
            for server in primary, replica:
                server.end()
