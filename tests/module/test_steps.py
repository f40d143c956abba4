"""What would hold up a server is made aside or in steps: large values, and loads of many frames."""

import unittest

import redis

from server import Case, Server, raw_client, wait_for

LARGE = 5000000  # items: 6 MB at 0.01


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
        self.refused("could not create filter", "BF.RESERVE", "z", "1e-300", LARGE)
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


class Replicas(unittest.TestCase):
    def frames(self, call, key):
        position, data = call("BF.SCANDUMP", key, 0)
        while position:
            yield position, data
            position, data = call("BF.SCANDUMP", key, position)

    def test_loads(self):
        """A load that began before a full sync, a rewrite of the AOF or a save; one that a replica saw from the
        start; one that failed at its end; and large values."""
        primary = Server("--appendonly", "yes", "--appendfsync", "always")
        replica = Server("--appendonly", "yes")
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
            frames = list(self.frames(call, "k"))
            self.assertGreater(len(frames), 8)

            def rewrite():
                call("BGREWRITEAOF")
                wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence") and
                         b"aof_rewrite_scheduled:0" in call("INFO", "persistence"))

            def join():
                raw_client(late)("REPLICAOF", "127.0.0.1", primary.port)
                wait_for(lambda: b"connected_slaves:2" in call("INFO", "replication"))

            def make_key():
                call("SET", "taken", "x")

            for name, act in ("plain", None), ("rewritten", rewrite), ("joined", join), ("taken", make_key):
                for at, (position, data) in enumerate(frames):
                    try:
                        call("BF.LOADCHUNK", name, position, data)
                    except redis.exceptions.ResponseError as error:
                        self.assertEqual((name, str(error), at), ("taken", "item exists", len(frames) - 1))
                    if at == 4 and act:
                        act()
            call("BF.LOAD", "whole", b"".join(len(d).to_bytes(4, "little") + d for _, d in frames))
            self.assertEqual(len(set(call("DEBUG", "DIGEST-VALUE", "k", "plain", "rewritten", "joined", "whole"))), 1)
            for server in replica, late:
                answer = raw_client(server)
                wait_for(lambda: answer("DEBUG", "DIGEST") == call("DEBUG", "DIGEST"))
            digest = call("DEBUG", "DIGEST")
            for server in primary, replica:
                server.stop()
                server.start()
                self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), digest)
        finally:
            for server in primary, replica, late:
                server.end()
