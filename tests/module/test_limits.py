"""What a server limits: items in a command, memory; and keys that move to another server.

OTHER is the path of a server that takes keys from SERVER, of the same age or newer."""

import os
import unittest

import redis

import server as servers
from server import Case, Server, raw_client, wait_for


class Limits(Case):
    def test_items(self):
        """A million items in a command, and not one more; nothing of them is added."""
        call = self.server.client().execute_command
        items = [b"%d" % i for i in range(1000001)]
        for command in "BF.MADD", "BF.MEXISTS", "UNSEEN.ADD", "UNSEEN.REMOVE":
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                call(command, "k", *items)
            self.assertEqual(str(caught.exception), "more than 1000000 items in one command")
        with self.assertRaises(redis.exceptions.ResponseError):
            call("CF.INSERT", "k", "ITEMS", *items)
        self.assertEqual(self.raw("EXISTS", "k"), 0)
        self.assertEqual(len(call("BF.MEXISTS", "k", *items[:-1])), 1000000)

    def test_maxmemory(self):
        """A full server refuses adds and creations in its own words, and still answers and deletes."""
        self.raw("BF.MADD", "b", *range(300))
        self.raw("CF.INSERT", "c", "ITEMS", *range(300))
        self.raw("UNSEEN.ADD", "u", "http://e.example/")
        before = self.raw("DEBUG", "DIGEST")
        self.raw("CONFIG", "SET", "maxmemory", "1")
        try:
            for command in (("BF.ADD", "b", "x"), ("BF.RESERVE", "n", "0.01", "100"), ("CF.ADD", "c", "x"),
                            ("UNSEEN.ADD", "u", "x"), ("UNSEEN.CLAIM", "u", 1000, "x"), ("UNSEEN.MERGE", "u", "u")):
                with self.assertRaises(redis.exceptions.OutOfMemoryError):
                    self.raw(*command)
            self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
            self.assertEqual(sum(self.raw("BF.MEXISTS", "b", *range(300))), 300)
            self.assertEqual(self.raw("CF.DEL", "c", 7), 1)
            self.assertEqual(self.raw("UNSEEN.REMOVE", "u", "http://e.example/"), [1])
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0")

    def test_eviction(self):
        """Values are evicted whole, and their memory comes back."""
        self.raw("CONFIG", "SET", "maxmemory-policy", "allkeys-random", "lazyfree-lazy-eviction", "no")
        for i in range(200):
            self.raw("CF.RESERVE", f"c{i}", 30000)  # 39 KB each
        memory = int(self.server.client().info("memory")["used_memory"])
        self.raw("CONFIG", "SET", "maxmemory", str(memory - 2000000))
        try:
            self.raw("BF.ADD", "b", "x")
            wait_for(lambda: self.raw("DBSIZE") < 180)  # a slow server evicts for half a millisecond, then in its timer
            self.assertGreater(self.raw("DBSIZE"), 20)
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction")


class Moves(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("OTHER"), "no other server")
    def test_migrate(self):
        """Keys of every form move to another server, with their secret, and go on there."""
        here = Server()
        servers.SERVER, mine = os.environ["OTHER"], servers.SERVER
        try:
            there = Server()
        finally:
            servers.SERVER = mine
        try:
            call, answer = raw_client(here), raw_client(there)
            call("BF.MADD", "small", *range(50))
            call("BF.RESERVE", "sized", "0.001", 5000)
            call("BF.MADD", "sized", *range(8000))
            call("BF.MADD", "grown", *range(30000))
            call("CF.INSERT", "few", "ITEMS", *range(50))
            call("CF.INSERT", "counted", "ITEMS", *range(50), 7, 7)
            call("UNSEEN.ADD", "urls", *[f"http://e.example/{i}" for i in range(9000)])
            call("UNSEEN.CLAIM", "urls", 1000, "http://f.example/")
            keys = ["small", "sized", "grown", "few", "counted", "urls"]
            digests = call("DEBUG", "DIGEST-VALUE", *keys)
            answer("BF.ADD", "own", "x")
            self.assertEqual(call("MIGRATE", "127.0.0.1", there.port, "", 0, 60000, "KEYS", *keys), b"OK")
            self.assertEqual(call("DBSIZE"), 0)
            self.assertEqual(answer("DEBUG", "DIGEST-VALUE", *keys), digests)
            for key, n in ("small", 50), ("sized", 8000), ("grown", 30000):
                self.assertEqual(sum(answer("BF.MEXISTS", key, *range(n))), n)
                self.assertGreater(sum(answer("BF.MADD", key, *[f"new{i}" for i in range(100)])), 90)
            self.assertEqual([answer("CF.COUNT", "counted", i) for i in (7, 8)], [3, 1])
            self.assertEqual(answer("CF.DEL", "few", 8), 1)
            self.assertEqual(answer("UNSEEN.CLAIM", "urls", 10, "http://f.example/", "http://e.example/1"), [-1, 0])
        finally:
            here.end()
            there.end()
