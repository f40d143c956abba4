"""GUARD.*: a filter, a cache and leases in front of a database."""

import os
import shutil
import struct
import subprocess
import tempfile
import threading
import time
import unittest

import redis

from server import PATIENCE, Case, Server, raw_client, wait_for, wait_for_replica

LONG = 3600000  # milliseconds that no test takes: such a lease does not run out, such a wait does not end
WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


def guard_info(raw):
    lines = raw("INFO", "bf").decode().replace("bf_", "").split()
    return {name: int(number) for name, number in (line.split(":") for line in lines if line.startswith("guard_"))}


class Guard(Case):
    def setUp(self):
        super().setUp()
        self.raw("BF.RESERVE", "f", "0.00001", "10000")
        self.raw("BF.MADD", "f", *[f"k{i}" for i in range(100)])
        self.clients = []
        self.before = guard_info(self.raw)

    def tearDown(self):
        until = time.monotonic() + PATIENCE
        for client in self.clients:
            client.join(max(0, until - time.monotonic()))
            self.assertFalse(client.is_alive())

    def grown(self, name):
        return guard_info(self.raw)[name] - self.before[name]

    def ask(self, answers, *arguments, protocol=2, db=0):
        """Asks in a thread with a connection of its own; the answer goes behind the others."""

        def run():
            client = self.server.client(protocol, db)
            try:
                answers.append(client.execute_command("GUARD.GET", *arguments))
            except redis.exceptions.RedisError as error:
                answers.append(error)
            finally:
                client.close()

        thread = threading.Thread(target=run)
        thread.start()
        self.clients.append(thread)

    def ask_all(self, n, *arguments, **more):
        """n clients that wait for a key that is leased."""
        answers = []
        waiting = self.blocked()
        for _ in range(n):
            self.ask(answers, *arguments, **more)
        wait_for(lambda: self.blocked() == waiting + n)
        return answers

    def lease_that_ends(self, n, **more):
        """A lease on k1 that ran out by itself while n clients waited for it. Returns its token, the answers, one of which
        is the next lease, and how many leases that took. The first lease may be too short for a slow machine, and ends
        before all wait: then a longer one follows."""
        nleases, milliseconds = 0, 200
        while True:
            answers = []
            token = self.raw("GUARD.GET", "f", "k1", "LEASE", milliseconds)[1]
            nleases += 1
            for _ in range(n):
                self.ask(answers, "f", "k1", "LEASE", LONG, "WAIT", LONG, **more)
            most = []  # clients that were seen waiting

            def has_ended():
                most.append(self.blocked())
                return answers

            wait_for(has_ended)
            if max(most) == n:
                return token, answers, nleases
            self.raw("GUARD.SET", "k1", answers[0][1], "v")
            wait_for(lambda: len(answers) == n)
            self.raw("GUARD.DEL", "k1")
            milliseconds *= 2

    def blocked(self):
        return int(self.raw("INFO", "clients").split(b"blocked_clients:")[1].split()[0])

    def test_words(self):
        for protocol in 2, 3:
            raw = raw_client(self.server, protocol)
            self.assertEqual(raw("GUARD.GET", "f", "other"), [b"absent", None])
            word, token = raw("GUARD.GET", "f", "k1", "LEASE", LONG)
            self.assertEqual((word, len(token)), (b"lease", 16))
            word, rest = raw("GUARD.GET", "f", "k1")
            self.assertEqual(word, b"busy")
            self.assertTrue(0 < rest <= LONG, rest)
            self.assertEqual(raw("GUARD.SET", "k1", b"0" * 16, "wrong"), 0)
            self.assertEqual(raw("GUARD.SET", "k1", token, b"a\0\xff"), 1)
            self.assertEqual(raw("GUARD.GET", "f", "k1"), [b"value", b"a\0\xff"])
            self.assertEqual(raw("GET", "k1"), b"a\0\xff")
            self.assertEqual(raw("GUARD.SET", "k1", token, "again"), 0)
            self.assertEqual(raw("GUARD.DEL", "k1"), 1)
            self.assertEqual(raw("GUARD.DEL", "k1"), 0)
            raw("SET", "k2", "")
            self.assertEqual(raw("GUARD.GET", "f", "k2"), [b"value", b""])
            self.assertEqual(raw("DBSIZE"), 2)
            raw("DEL", "k2")

    def test_length_of_leases(self):
        """The rest of a lease is what was asked for, or ten seconds, without the time since."""
        for milliseconds, *words in (10000,), (700000, "LEASE", 700000):
            for i in range(100):  # until the machine does not stand still for seconds between two commands
                start = time.monotonic()
                self.assertEqual(self.raw("GUARD.GET", "f", f"k{i}", *words)[0], b"lease")
                word, rest = self.raw("GUARD.GET", "f", f"k{i}")
                took = 1000 * (time.monotonic() - start)
                self.raw("GUARD.DEL", f"k{i}")
                if took < 5000:
                    break
            self.assertEqual(word, b"busy")
            self.assertTrue(milliseconds - took - 100 < rest <= milliseconds, (rest, took))

    def test_every_kind_of_filter(self):
        self.raw("CF.ADD", "c", "k1")
        self.raw("UNSEEN.ADD", "u", "http://e.com/1")
        self.assertEqual(self.raw("GUARD.GET", "c", "k1")[0], b"lease")
        self.assertEqual(self.raw("GUARD.GET", "c", "k2"), [b"absent", None])
        self.assertEqual(self.raw("GUARD.GET", "u", "HTTP://e.com/1")[0], b"lease")
        self.assertEqual(self.raw("GUARD.GET", "u", "http://e.com/2"), [b"absent", None])
        # What is removed from the filter is absent, whatever the cache has.
        self.raw("SET", "k1", "x")
        self.raw("CF.DEL", "c", "k1")
        self.assertEqual(self.raw("GUARD.GET", "c", "k1"), [b"absent", None])

    def test_no_filter_fails_open(self):
        word, token, why = self.raw("GUARD.GET", "none", "k", "LEASE", LONG)
        self.assertEqual((word, why), (b"lease", b"nofilter"))
        self.assertEqual(self.raw("GUARD.GET", "none", "k")[::2], [b"busy", b"nofilter"])
        self.raw("GUARD.SET", "k", token, "v")
        self.assertEqual(self.raw("GUARD.GET", "none", "k"), [b"value", b"v", b"nofilter"])
        self.assertEqual(self.grown("guard_without_filter"), 3)
        self.assertEqual(self.raw("EXISTS", "none"), 0)

    def test_one_loader(self):
        """50 clients at once for an empty key: one gets the lease, the others its value."""
        answers = []
        for _ in range(50):
            self.ask(answers, "f", "k1", "LEASE", LONG, "WAIT", LONG)
        wait_for(lambda: self.blocked() == 49 and len(answers) == 1)
        self.assertEqual(answers[0][0], b"lease")
        self.assertEqual(self.raw("GUARD.SET", "k1", answers[0][1], "v"), 1)
        wait_for(lambda: len(answers) == 50)
        self.assertEqual(answers[1:], [[b"value", b"v"]] * 49)
        self.assertEqual(self.grown("guard_leases_given"), 1)
        self.assertEqual(self.grown("guard_waits"), 49)
        self.assertEqual(guard_info(self.raw)["guard_leases"], 0)

    def test_loader_dies(self):
        """The lease runs out: one of those who wait is the next loader, also in another database."""
        nleases = 0
        for db in 0, 3:
            self.raw("SELECT", db)
            self.raw("BF.ADD", "f", "k1")
            first, answers, n = self.lease_that_ends(10, db=db)
            nleases += n
            self.assertEqual(answers[0][0], b"lease")
            self.assertNotEqual(answers[0][1], first)
            self.assertEqual(self.raw("GUARD.SET", "k1", first, "late"), 0)
            self.assertEqual(self.raw("EXISTS", "k1"), 0)
            self.assertEqual(len(answers), 1)
            self.assertEqual(self.raw("GUARD.SET", "k1", answers[0][1], "v"), 1)
            wait_for(lambda: len(answers) == 10)
            self.assertEqual(answers[1:], [[b"value", b"v"]] * 9)
        self.assertEqual(self.grown("guard_leases_expired"), nleases)
        # With nobody waiting, the next one who asks is the loader.
        self.raw("SELECT", 0)
        self.raw("GUARD.GET", "f", "k2", "LEASE", 1)
        wait_for(lambda: self.raw("GUARD.GET", "f", "k2", "LEASE", LONG)[0] == b"lease")

    def test_fail(self):
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        answers = self.ask_all(3, "f", "k1", "WAIT", LONG, "LEASE", LONG)
        self.assertEqual(self.raw("GUARD.FAIL", "k1", "x"), 0)
        for i in range(3):  # one after the other
            self.assertEqual(self.raw("GUARD.FAIL", "k1", token), 1)
            wait_for(lambda: len(answers) == i + 1)
            self.assertEqual(answers[i][0], b"lease")
            self.assertEqual(self.blocked(), 2 - i)
            token = answers[i][1]
        self.assertEqual(self.raw("GUARD.FAIL", "k1", token), 1)
        self.assertEqual(self.raw("GUARD.FAIL", "k1", token), 0)

    def test_fail_absent(self):
        """A false positive: all who wait learn of it, nothing is stored, and the next one asks again."""
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        answers = self.ask_all(10, "f", "k1", "WAIT", LONG)
        self.assertEqual(self.raw("GUARD.FAIL", "k1", token, "ABSENT"), 1)
        wait_for(lambda: len(answers) == 10)
        self.assertEqual(answers, [[b"absent", None]] * 10)
        self.assertEqual(self.raw("GUARD.SET", "k1", token, "v"), 0)
        self.assertEqual(self.raw("EXISTS", "k1"), 0)
        self.assertEqual(self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[0], b"lease")
        wait_for(lambda: guard_info(self.raw)["guard_leases"] == 1)

    def test_changes_during_a_load(self):
        """What a loader brings is refused if the key was written or deleted since: it may be older."""
        for change in (["GUARD.DEL", "k1"], ["SET", "k1", "newer"], ["SETEX", "k1", LONG, "newer"],
                       ["RENAME", "newer", "k1"], ["FLUSHDB"], ["FLUSHALL"]):
            self.raw("BF.ADD", "f", "k1")
            self.raw("SET", "newer", "newer")
            token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
            answers = self.ask_all(1, "f", "k1", "WAIT", LONG, "LEASE", LONG)
            self.raw(*change)
            self.assertEqual(self.raw("GUARD.SET", "k1", token, "older"), 0, change)
            wait_for(lambda: answers)
            if self.raw("EXISTS", "k1"):
                self.assertEqual(answers, [[b"value", b"newer"]])
            else:
                self.assertEqual(answers[0][0], b"lease", change)
            self.raw("FLUSHALL")
            self.raw("GUARD.DEL", "k1")

    def test_other_values_during_a_load(self):
        """A value of any type that came into the key stays, and who waits is told at once."""
        for change in (["HSET", "k1", "field", "precious"], ["RPUSH", "k1", "x"], ["SADD", "k1", "x"], ["ZADD", "k1", "1", "x"],
                       ["XADD", "k1", "*", "field", "x"], ["CF.ADD", "k1", "x"]):
            token = self.raw("GUARD.GET", "none", "k1", "LEASE", LONG)[1]
            answers = self.ask_all(1, "none", "k1", "WAIT", LONG)
            self.raw(*change)
            wait_for(lambda: answers)
            self.assertIn("wrong kind of value", str(answers[0]), change)
            value = self.raw("DUMP", "k1")
            self.assertEqual(self.raw("GUARD.SET", "k1", token, "older"), 0, change)
            self.assertEqual(self.raw("DUMP", "k1"), value)
            self.raw("DEL", "k1")
        token = self.raw("GUARD.GET", "none", "k1:0", "LEASE", LONG)[1]
        self.raw("DEBUG", "POPULATE", "1", "k1")  # raises no event
        self.assertEqual(self.raw("GUARD.SET", "k1:0", token, "older"), 0)
        self.assertEqual(self.raw("GET", "k1:0"), b"value:0")
        self.assertEqual(guard_info(self.raw)["guard_leases"], 0)

    def test_databases_are_swapped(self):
        token = self.raw("GUARD.GET", "none", "k1", "LEASE", LONG)[1]
        other = self.server.client(db=1)
        other.set("k1", "newer")
        answers = self.ask_all(1, "none", "k1", "WAIT", LONG)
        other.swapdb(0, 1)
        self.assertEqual(self.raw("GUARD.SET", "k1", token, "older"), 0)
        wait_for(lambda: answers)
        self.assertEqual(answers, [[b"value", b"newer", b"nofilter"]])
        self.assertEqual(self.raw("GET", "k1"), b"newer")

    def test_does_not_block(self):
        self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)
        self.assertEqual(self.raw("GUARD.GET", "f", "k1", "WAIT", 0)[0], b"busy")
        self.assertEqual(self.raw("GUARD.GET", "f", "k1", "WAIT", 20)[0], b"busy")
        script = "return redis.call('GUARD.GET', KEYS[1], KEYS[2], 'WAIT', '3600000', 'LEASE', '3600000')"
        self.assertEqual(self.raw("EVAL", script, 2, "f", "k1")[0], b"busy")
        token = self.raw("EVAL", script, 2, "f", "k2")[1]
        self.assertEqual(self.raw("EVAL", "return redis.call('GUARD.SET', KEYS[1], ARGV[1], 'v')", 1, "k2", token), 1)
        with self.server.client().pipeline(transaction=True) as p:
            p.execute_command("GUARD.GET", "f", "k1", "WAIT", LONG)
            p.execute_command("GUARD.GET", "f", "k2", "WAIT", LONG)
            p.execute_command("GUARD.GET", "f", "k3", "WAIT", LONG)
            self.assertEqual([word for word, _ in p.execute()], [b"busy", b"value", b"lease"])

    def test_clients_that_go(self):
        """A client that is unblocked, or killed, while it waits takes nothing with it."""
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        answers = self.ask_all(3, "f", "k1", "WAIT", LONG)
        ids = [int(line.split()[0][3:]) for line in self.raw("CLIENT", "LIST").splitlines() if b"cmd=guard.get" in line.lower()]
        self.assertEqual(len(ids), 3)
        self.raw("CLIENT", "UNBLOCK", ids[0])
        wait_for(lambda: len(answers) == 1)
        self.assertEqual(answers[0][0], b"busy")
        self.raw("CLIENT", "KILL", "ID", ids[1])
        wait_for(lambda: len(answers) == 2)
        self.assertIsInstance(answers[1], redis.exceptions.ConnectionError)
        self.raw("GUARD.SET", "k1", token, "v")
        wait_for(lambda: len(answers) == 3)
        self.assertEqual(answers[2], [b"value", b"v"])

    def test_memory_of_clients_that_go(self):
        """What the server has for a client that waits is given back when the client is gone, not when the lease ends."""
        self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)
        nwaiting = 100
        before = self.server.client().info("memory")["used_memory"]
        client = self.server.client()
        connections = [client.connection_pool.get_connection() for _ in range(nwaiting)]
        for connection in connections:
            connection.send_command("GUARD.GET", "f", "k1", "WAIT", LONG)
        wait_for(lambda: self.blocked() == nwaiting)
        self.assertGreater(self.server.client().info("memory")["used_memory"], before + nwaiting * 20000)
        for connection in connections:
            connection.disconnect()
        wait_for(lambda: self.server.client().info("memory")["used_memory"] < before + nwaiting * 5000)
        self.assertEqual(guard_info(self.raw)["guard_leases"], 1)

    def test_next_loader_is_killed(self):
        """A client that gets the lease and is gone before it learns of it: the next one is the loader."""
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        answers = self.ask_all(1, "f", "k1", "WAIT", LONG, "LEASE", LONG)
        line = [line for line in self.raw("CLIENT", "LIST").splitlines() if b"cmd=guard.get" in line.lower()][0]
        answers_too = self.ask_all(2, "f", "k1", "WAIT", LONG, "LEASE", LONG)
        with self.server.client().pipeline(transaction=False) as p:
            p.execute_command("GUARD.FAIL", "k1", token)
            p.execute_command("CLIENT", "KILL", "ID", line.split()[0][3:])
            p.execute()
        wait_for(lambda: answers and answers_too)
        self.assertIsInstance(answers[0], redis.exceptions.ConnectionError)
        self.assertEqual((len(answers_too), answers_too[0][0]), (1, b"lease"))
        self.raw("GUARD.SET", "k1", answers_too[0][1], "v")
        wait_for(lambda: len(answers_too) == 2)

    def test_monitor_and_events(self):
        events = self.server.client().pubsub()
        self.raw("CONFIG", "SET", "notify-keyspace-events", "KA")
        events.psubscribe("__keyspace@0__:k1")
        self.assertEqual(events.get_message(timeout=PATIENCE)["type"], "psubscribe")
        with self.server.client().monitor() as monitor:
            token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
            answers = self.ask_all(2, "f", "k1", "WAIT", LONG)
            self.raw("GUARD.SET", "k1", token, "v", "PX", LONG)
            wait_for(lambda: len(answers) == 2)
            self.raw("GUARD.DEL", "k1")
            self.raw("ECHO", "end")
            seen = []
            while not seen or "end" not in seen[-1]:
                seen.append(monitor.next_command()["command"])
        self.assertEqual(sum(c.startswith("GUARD.GET") for c in seen), 3)
        self.assertEqual(sum(c.startswith("GUARD.SET") for c in seen), 1)
        heard = []
        while b"del" not in heard:
            heard.append(events.get_message(timeout=PATIENCE)["data"])
        self.assertEqual([h for h in heard if h != b"new"], [b"set", b"expire", b"del"])
        self.raw("CONFIG", "SET", "notify-keyspace-events", "")

    def test_many_leases_end(self):
        """Leases of keys that nobody asks for again take no memory, whatever the length of the names."""
        with self.server.client().pipeline(transaction=False) as p:
            for i in range(20000):
                p.execute_command("GUARD.GET", "none", f"k{i}" * (1 + 100 * (i % 7 == 0)), "LEASE", 100 + i % 50)
            words = [reply[0] for reply in p.execute()]
        self.assertEqual(set(words), {b"lease"})
        wait_for(lambda: guard_info(self.raw)["guard_leases"] == 0)

    def test_replica_and_restart(self):
        replica = Server("--replicaof", f"127.0.0.1 {self.server.port}")
        try:
            answer = raw_client(replica)
            wait_for_replica(self.server, replica)
            for key, more in ("k1", ["PX", LONG]), ("k2", []):
                token = self.raw("GUARD.GET", "f", key, "LEASE", LONG)[1]
                self.raw("GUARD.SET", key, token, "v", *more)
            self.raw("SET", "k3", "x")
            self.raw("GUARD.DEL", "k3")
            leased = self.raw("GUARD.GET", "f", "k4", "LEASE", LONG)[1]
            wait_for_replica(self.server, replica)
            self.assertEqual(answer("PEXPIRETIME", "k1"), self.raw("PEXPIRETIME", "k1"))
            self.assertEqual((answer("GET", "k2"), answer("TTL", "k2"), answer("EXISTS", "k3")), (b"v", -1, 0))
            self.assertEqual(self.raw("DEBUG", "DIGEST"), answer("DEBUG", "DIGEST"))
            with self.assertRaises(redis.exceptions.ReadOnlyError):
                answer("GUARD.GET", "f", "k1")
            # A failover: values are there, a lease is not, and the token of the old primary stores nothing.
            answer("REPLICAOF", "NO", "ONE")
            self.assertEqual(answer("GUARD.GET", "f", "k1"), [b"value", b"v"])
            self.assertEqual(answer("GUARD.SET", "k4", leased, "v"), 0)
            self.assertEqual(answer("GUARD.GET", "f", "k4")[0], b"lease")
        finally:
            replica.end()

    def test_aof(self):
        server = Server("--appendonly", "yes", "--appendfsync", "always", "--aof-use-rdb-preamble", "no")
        try:
            raw = raw_client(server)
            raw("BF.ADD", "f", "k1")
            raw("GUARD.SET", "k1", raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1], "v", "PX", LONG)
            raw("GUARD.GET", "f", "k2")
            at = raw("PEXPIRETIME", "k1")
            server.stop()
            server.start()
            raw = raw_client(server)
            self.assertEqual(raw("GUARD.GET", "f", "k1"), [b"value", b"v"])
            self.assertEqual(raw("PEXPIRETIME", "k1"), at)
        finally:
            server.end()

    def test_memory_is_full(self):
        """No value is stored; the loader has it all the same, and gives the lease back."""
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        self.raw("CONFIG", "SET", "maxmemory", "1")
        try:
            with self.assertRaises(redis.exceptions.OutOfMemoryError):
                self.raw("GUARD.SET", "k1", token, "v" * 100000)
            self.assertEqual(self.raw("GUARD.FAIL", "k1", token), 1)
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0")

    def test_maxmemory(self):
        """Past maxmemory nobody gets a new lease. All other answers are the same."""
        token = self.raw("GUARD.GET", "f", "k1", "LEASE", LONG)[1]
        self.raw("SET", "k2", "v")
        self.raw("CONFIG", "SET", "maxmemory", "1")
        try:
            with self.assertRaises(redis.exceptions.OutOfMemoryError) as caught:
                self.raw("GUARD.GET", "f", "k3", "WAIT", LONG)
            self.assertIn("no lease past maxmemory: load the value without one", str(caught.exception))
            self.assertEqual(guard_info(self.raw)["guard_leases"], 1)
            self.assertEqual(self.raw("GUARD.GET", "f", "nobody")[0], b"absent")
            self.assertEqual(self.raw("GUARD.GET", "f", "k2")[1], b"v")
            self.assertEqual(self.raw("GUARD.GET", "f", "k1", "WAIT", LONG)[0], b"busy")  # nobody waits
            self.assertEqual(self.raw("GUARD.FAIL", "k1", token), 1)
        finally:
            self.raw("CONFIG", "SET", "maxmemory", "0")
        self.assertEqual(self.raw("GUARD.GET", "f", "k3")[0], b"lease")

    def test_errors(self):
        r = self.refused
        self.raw("LPUSH", "list", "x")
        self.raw("BF.ADD", "f", "list")
        r(WRONG_TYPE, "GUARD.GET", "list", "k1")
        r(WRONG_TYPE, "GUARD.GET", "f", "list")
        r("LEASE must be 1 to 3600000 milliseconds", "GUARD.GET", "f", "k1", "LEASE", "0")
        r("LEASE must be 1 to 3600000 milliseconds", "GUARD.GET", "f", "k1", "lease", "x")
        r("WAIT must be 0 to 3600000 milliseconds", "GUARD.GET", "f", "k1", "WAIT", "3600001")
        r("syntax error", "GUARD.GET", "f", "k1", "WHAT", "1")
        r("PX must be 1 to 1000000000000 milliseconds", "GUARD.SET", "k1", "t", "v", "PX", "0")
        r("syntax error", "GUARD.SET", "k1", "t", "v", "EX", "1")
        r("syntax error", "GUARD.FAIL", "k1", "t", "GONE")
        for command in (["GET", "f"], ["GET", "f", "k1", "WAIT"], ["SET", "k1", "t"], ["SET", "k1", "t", "v", "PX"],
                        ["FAIL", "k1"], ["FAIL", "k1", "t", "ABSENT", "x"], ["DEL"], ["DEL", "k1", "k2"]):
            r(f"wrong number of arguments for 'GUARD.{command[0]}' command", "GUARD." + command[0], *command[1:])
        self.assertEqual(self.raw("GUARD.GET", "f", "k1")[0], b"lease")

    def test_documents_and_acl(self):
        self.assertEqual(self.raw("COMMAND", "GETKEYS", "GUARD.GET", "f", "k", "WAIT", 1), [b"f", b"k"])
        self.assertEqual(self.raw("COMMAND", "GETKEYS", "GUARD.SET", "k", "t", "v"), [b"k"])
        docs = self.raw("COMMAND", "DOCS", "GUARD.GET")
        self.assertIn(b"leases it to one loader", docs[1][docs[1].index(b"summary") + 1])
        rights = ["+@read"]
        if b"unseen" in self.raw("ACL", "CAT"):
            self.assertEqual(sorted(self.raw("COMMAND", "INFO", "GUARD.GET")[0][6]), [b"@fast", b"@read", b"@unseen"])
            self.assertEqual(sorted(self.raw("COMMAND", "INFO", "BF.ADD")[0][6]), [b"@bloom", b"@fast", b"@write"])
        else:  # Redis 7.0 puts the commands of modules into no category
            rights = ["+guard.get", "+guard.fail"]
        self.raw("ACL", "SETUSER", "reader", "on", ">word", "~k*", "~f", *rights)
        reader = redis.Redis(port=self.server.port, username="reader", password="word")
        self.assertEqual(reader.execute_command("GUARD.GET", "f", "k1")[0], b"lease")
        for command in (["GUARD.SET", "k1", "t", "v"], ["GUARD.DEL", "k1"], ["GUARD.GET", "f", "other"]):
            with self.assertRaises(redis.exceptions.NoPermissionError):
                reader.execute_command(*command)

    def test_cluster(self):
        """A filter and its values share a tag."""
        server = Server("--cluster-enabled", "yes")
        try:
            raw = raw_client(server)
            raw("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            wait_for(lambda: b"cluster_state:ok" in raw("CLUSTER", "INFO"))
            raw("BF.ADD", "{a}f", "{a}k")
            self.assertEqual(raw("GUARD.GET", "{a}f", "{a}k")[0], b"lease")
            with self.assertRaisesRegex(redis.exceptions.ResponseError, "hash to the same slot|CROSSSLOT"):
                raw("GUARD.GET", "{a}f", "{b}k")
        finally:
            server.end()

    def test_time(self):
        """A lease ends by its timer also when nobody asks: who waits longer than it is the next loader."""
        token, answers, _ = self.lease_that_ends(1)
        self.assertEqual(answers[0][0], b"lease")
        self.assertNotEqual(answers[0][1], token)


class Clock(unittest.TestCase):
    """Leases last as long as they were given for, whatever happens to the time of day."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="unseen-clock-")
        self.addCleanup(shutil.rmtree, self.folder)
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clock.c")
        library = os.path.join(self.folder, "clock.so")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        self.set_clock(0)
        server = Server(preload=library, CLOCK_SHIFT=os.path.join(self.folder, "shift"))
        self.addCleanup(server.end)
        self.call = raw_client(server)
        self.call("BF.RESERVE", "f", "0.0001", "100")
        self.call("BF.MADD", "f", "k1", "k2", "k3")

    def set_clock(self, hours):
        with open(os.path.join(self.folder, "shift"), "r+b" if hours else "wb") as f:
            f.write(struct.pack("<q", hours * 3600))

    def test_set_back(self):
        self.assertEqual(self.call("GUARD.GET", "f", "k1", "LEASE", 500)[0], b"lease")
        before = int(self.call("TIME")[0])
        self.set_clock(-2)
        wait_for(lambda: int(self.call("TIME")[0]) < before)
        answer = self.call("GUARD.GET", "f", "k1")
        self.assertTrue(answer[0] == b"lease" or answer[1] <= 500, answer)
        wait_for(lambda: self.call("GUARD.GET", "f", "k1")[0] == b"lease")

    def test_set_forward(self):
        self.assertEqual(self.call("GUARD.GET", "f", "k1", "LEASE", LONG)[0], b"lease")
        self.assertEqual(self.call("GUARD.GET", "f", "k2", "LEASE", 1)[0], b"lease")
        self.set_clock(2)
        self.assertEqual(self.call("GUARD.GET", "f", "k3", "LEASE", 1)[0], b"lease")
        for key in "k2", "k3":  # the timers of all leases have come when these have
            wait_for(lambda: self.call("GUARD.GET", "f", key, "LEASE", 1)[0] == b"lease")
        word, rest = self.call("GUARD.GET", "f", "k1")
        self.assertEqual(word, b"busy")
        self.assertLessEqual(rest, LONG)
