"""UNSEEN.MERGE, whose client waits while others are served, and what replicas get of it."""

import threading
import unittest

import redis

from server import Case, Server, follow, raw_client, wait_for, wait_for_replica
from test_urls import dict_of

NURLS = 60000


def urls(start, end, host="e"):
    return [f"http://{host}.example/{i}" for i in range(start, end)]


def fill(call, key, start, end, fpr="5e-9"):
    if not call("EXISTS", key):
        call("UNSEEN.RESERVE", key, "FPR", fpr)
    for i in range(start, end, 1000):
        call("UNSEEN.ADD", key, *urls(i, min(i + 1000, end)))


class Merge(Case):
    def count(self, key, start, end):
        return sum(sum(self.raw("UNSEEN.EXISTS", key, *urls(i, min(i + 1000, end)))) for i in range(start, end, 1000))

    def is_merging(self):
        return b"blocked_clients:1" in self.raw("INFO", "clients")

    def test_others_are_served(self):
        """While a merge runs, the same sets are changed, and everything is there in the end. Sets of any size may be merged
        before this test asks again: then larger ones are."""
        for fpr in "5e-9", "1.5e-6":
            nurls, nserved = NURLS, 0
            while nserved < 3:
                self.assertLess(nurls, 20 * NURLS, "no change found a merge half way")
                nserved = self.merge_under_changes(fpr, nurls)
                nurls *= 2

    def merge_under_changes(self, fpr, nurls):
        """How many rounds of changes found the merge half way: some URLs of the other sets were there, and not all."""
        self.raw("FLUSHALL")
        fill(self.raw, "a", 0, nurls, fpr)
        fill(self.raw, "b", nurls // 2, 2 * nurls, fpr)
        fill(self.raw, "c", 2 * nurls, 2 * nurls + 50, fpr)
        answers = []
        other = raw_client(self.server)
        thread = threading.Thread(target=lambda: answers.append(other("UNSEEN.MERGE", "a", "b", "c")))
        thread.start()
        nserved, n = 0, 0
        while thread.is_alive():
            self.raw("UNSEEN.ADD", "a", *urls(n, n + 20, "new"))
            self.raw("UNSEEN.ADD", "b", *urls(n, n + 20, "other"))
            self.raw("UNSEEN.REMOVE", "b", f"http://other.example/{n}")
            n += 20
            nserved += nurls < dict_of(self.raw("UNSEEN.INFO", "a"))["urls"] - n < 2 * nurls
        thread.join()
        self.assertEqual(answers, [b"OK"])
        self.assertEqual(self.count("a", 0, 2 * nurls + 50), 2 * nurls + 50)
        self.assertEqual(sum(self.raw("UNSEEN.EXISTS", "a", *urls(0, n, "new"))), n)
        self.raw("COPY", "a", "copy")
        self.assertEqual(*self.raw("DEBUG", "DIGEST-VALUE", "a", "copy"))
        return nserved

    def during_a_merge(self, act):
        """Does something while a merge runs that takes 100 steps or so. Returns its connection. act returns whether the
        merge still ran then: if not, it was too late, and another merge begins."""
        for _ in range(100):
            self.raw("FLUSHALL")
            fill(self.raw, "a", 0, 100)
            fill(self.raw, "b", 0, 5 * NURLS)
            connection = self.server.client().connection_pool.get_connection()
            fill(self.raw, "c", 5 * NURLS, 5 * NURLS + 10000)
            connection.send_command("UNSEEN.MERGE", "a", "b", "c")
            while not self.is_merging() and not connection.can_read(0):
                pass
            if act(connection):
                return connection
            connection.disconnect()
        self.fail("no merge was seen under way")

    def test_set_is_deleted(self):
        for key in "a", "b":

            def delete(_):
                with self.server.client().pipeline(transaction=True) as pipe:  # nothing comes between its commands
                    pipe.info("clients")
                    pipe.delete(key)
                    return pipe.execute()[0]["blocked_clients"] == 1

            connection = self.during_a_merge(delete)
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                connection.read_response()
            self.assertEqual(str(caught.exception), "not found")

    def test_another_set_comes(self):
        """A set that takes the name of one that is being merged, or is to be merged later, is another one, and the client
        is told: not all URLs of the first one are there."""
        for key in "a", "b", "c":
            for old in ("RENAME", key, "old"), ("DEL", key):

                def replace(_):
                    with self.server.client().pipeline(transaction=True) as pipe:
                        pipe.info("clients")
                        pipe.execute_command(*old)
                        pipe.execute_command("UNSEEN.ADD", key, "http://new.example/")
                        return pipe.execute()[0]["blocked_clients"] == 1

                self.is_told(self.during_a_merge(replace), key)

        def swap(_):
            for key in "a", "b":
                self.server.client(db=1).execute_command("UNSEEN.ADD", key, "http://new.example/")
            with self.server.client().pipeline(transaction=True) as pipe:
                pipe.info("clients")
                pipe.swapdb(0, 1)
                return pipe.execute()[0]["blocked_clients"] == 1

        self.is_told(self.during_a_merge(swap), "databases")

    def is_told(self, connection, what):
        with self.assertRaises(redis.exceptions.ResponseError, msg=what) as caught:
            connection.read_response()
        self.assertEqual(str(caught.exception), "a set was renamed or replaced meanwhile: merge again")

    def test_client_goes_away(self):
        def go_away(connection):
            connection.disconnect()
            return self.count("a", 5 * NURLS - 1000, 5 * NURLS) < 1000

        self.during_a_merge(go_away)
        wait_for(lambda: self.count("a", 5 * NURLS - 1000, 5 * NURLS) == 1000)

    def test_where_nobody_waits(self):
        """In a transaction and in a script the merge is done at once."""
        fill(self.raw, "a", 0, 100)
        fill(self.raw, "b", 100, 30000)
        client = self.server.client()
        with client.pipeline(transaction=True) as pipe:
            pipe.execute_command("UNSEEN.MERGE", "a", "b")
            pipe.execute_command("UNSEEN.EXISTS", "a", urls(29999, 30000)[0])
            self.assertEqual(pipe.execute(), [b"OK", [1]])
        fill(self.raw, "c", 30000, 40000)
        self.assertEqual(client.eval("return redis.call('UNSEEN.MERGE', 'c', 'a')", 2, "c", "a"), b"OK")
        self.assertEqual(self.count("c", 0, 40000), 40000)

    def test_refused(self):
        self.raw("UNSEEN.RESERVE", "a")
        self.raw("UNSEEN.RESERVE", "b", "FPR", "0.001")
        self.raw("SET", "s", "x")
        self.refused("not found", "UNSEEN.MERGE", "a", "none")
        self.refused("not found", "UNSEEN.MERGE", "none", "a")
        text = "only different sets with one secret, one profile and one rate can be merged"
        self.refused(text, "UNSEEN.MERGE", "a", "b")
        self.refused(text, "UNSEEN.MERGE", "a", "a")
        self.refused("WRONGTYPE Operation against a key holding the wrong kind of value", "UNSEEN.MERGE", "a", "s")
        for cursor in "x", "-1", "0", str(2**62), "12345":
            with self.assertRaises(redis.exceptions.ResponseError):
                self.raw("UNSEEN.MERGESTEP", "a", "b", cursor)
        fill(self.raw, "c", 0, 20000)
        for cursor in "-1", str(2**62), "12345", str(2**48 + 1), str(2**50 + 1):  # of no merge: an error, or harmless
            try:
                self.raw("UNSEEN.MERGESTEP", "a", "c", cursor)
            except redis.exceptions.ResponseError:
                pass
        self.assertEqual(self.raw("UNSEEN.EXISTS", "c", *urls(0, 3)), [1, 1, 1])


class Replicas(unittest.TestCase):
    def test_time_to_live(self):
        """A key that is full half way is sent whole, and keeps its time to live, in replicas and in the AOF."""
        primary = Server("--appendonly", "yes", "--appendfsync", "always")
        replica = Server()
        try:
            call = raw_client(primary)
            follow(primary, replica)
            call("UNSEEN.RESERVE", "a", "MAXBYTES", 60000)
            call("UNSEEN.ADD", "a", "http://e.example/")
            call("EXPIRE", "a", 100000)
            fill(call, "b", 0, 20000)
            with self.assertRaises(redis.exceptions.ResponseError) as caught:
                call("UNSEEN.MERGE", "a", "b")
            self.assertIn("MAXBYTES", str(caught.exception))
            wait_for_replica(primary, replica)
            until = call("PEXPIRETIME", "a")
            digest = call("DEBUG", "DIGEST")
            self.assertEqual(raw_client(replica)("PEXPIRETIME", "a"), until)
            self.assertEqual(raw_client(replica)("DEBUG", "DIGEST"), digest)
            primary.restart()
            self.assertEqual(raw_client(primary)("PEXPIRETIME", "a"), until)
            self.assertEqual(raw_client(primary)("DEBUG", "DIGEST"), digest)
        finally:
            for server in primary, replica:
                server.end()

    def test_equal(self):
        """Replica and AOF have the same sets after merges with changes and a full sync between the steps."""
        primary = Server("--appendonly", "yes", "--appendfsync", "always")
        replica = Server("--appendonly", "yes", "--appendfsync", "always")
        late = Server()
        try:
            call = raw_client(primary)
            raw_client(replica)("REPLICAOF", "127.0.0.1", primary.port)
            fill(call, "a", 0, 20000)
            fill(call, "b", 10000, NURLS)
            other = raw_client(primary)
            thread = threading.Thread(target=lambda: other("UNSEEN.MERGE", "a", "b"))
            thread.start()
            for i in range(20):
                call("UNSEEN.ADD", "b", *urls(i, i + 20, "other"))
                call("UNSEEN.REMOVE", "b", f"http://other.example/{i}")
                if i == 3:
                    raw_client(late)("REPLICAOF", "127.0.0.1", primary.port)
            thread.join()
            call("UNSEEN.ADD", "a", "http://last.example/")
            wait_for(lambda: b"connected_slaves:2" in call("INFO", "replication"))
            wait_for(lambda: len({call("DEBUG", "DIGEST"), raw_client(replica)("DEBUG", "DIGEST"),
                                  raw_client(late)("DEBUG", "DIGEST")}) == 1)
            digest = call("DEBUG", "DIGEST")
            for server in primary, replica:
                server.restart()
                self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), digest)
        finally:
            for server in primary, replica, late:
                server.end()
