"""Scripts and transactions on a primary with a replica, and servers that are killed under load."""

import os
import random
import signal
import unittest

import redis

from server import Case, Server, raw_client, wait_for_replica


class Scripts(Case):
    def test_script_and_transaction_on_a_replica(self):
        """Effects of a script or a transaction reach the replica whole, and a transaction that fails none."""
        replica = Server("--replicaof", f"127.0.0.1 {self.server.port}")
        try:
            answer = raw_client(replica)
            wait_for_replica(self.server, replica)
            script = """
                local made = redis.call('BF.MADD', KEYS[1], unpack(ARGV))
                redis.call('CF.INSERT', KEYS[2], 'ITEMS', unpack(ARGV))
                redis.call('UNSEEN.ADD', KEYS[3], unpack(ARGV))
                redis.call('CF.DEL', KEYS[2], ARGV[1])
                return made"""
            items = [f"http://e.com/{i}" for i in range(3000)]
            self.raw("BF.RESERVE", "b", "0.000001", "1000")
            self.assertEqual(self.raw("EVAL", script, 3, "b", "c", "u", *items), [1] * 3000)
            client = self.server.client()
            with client.pipeline(transaction=True) as pipe:
                for i in range(200):
                    pipe.execute_command("BF.ADD", "b", f"more{i}")
                    pipe.execute_command("UNSEEN.REMOVE", "u", items[i])
                    pipe.execute_command("CF.DEL", "c", items[i])
                pipe.execute()
            with client.pipeline(transaction=True) as pipe:
                pipe.execute_command("BF.ADD", "never", "x")
                pipe.execute_command("BF.ADD", "never")
                with self.assertRaises(redis.exceptions.ResponseError):
                    pipe.execute()
            self.assertEqual(self.raw("EXISTS", "never"), 0)
            # An error in a script comes after what the script did before it, on both sides.
            with self.assertRaises(redis.exceptions.ResponseError):
                self.raw("EVAL", "redis.call('BF.ADD', KEYS[1], 'x'); return redis.call('BF.ADD', KEYS[1])", 1, "b2")
            wait_for_replica(self.server, replica)
            self.assertEqual(self.raw("DEBUG", "DIGEST"), answer("DEBUG", "DIGEST"))
            self.assertEqual(answer("BF.EXISTS", "b2", "x"), 1)
            self.assertEqual(sum(answer("UNSEEN.EXISTS", "u", *items)), 2800)
            # A replica that takes no writes says so.
            with self.assertRaises(redis.exceptions.ReadOnlyError):
                answer("BF.ADD", "b", "y")
        finally:
            replica.end()

    def test_script_that_only_reads(self):
        self.raw("BF.ADD", "b", "x")
        self.assertEqual(self.raw("EVAL_RO", "return redis.call('BF.EXISTS', KEYS[1], 'x')", 1, "b"), 1)
        with self.assertRaises(redis.exceptions.ResponseError):
            self.raw("EVAL_RO", "return redis.call('BF.ADD', KEYS[1], 'y')", 1, "b")
        self.assertEqual(self.raw("BF.EXISTS", "b", "y"), 0)


class Killed(unittest.TestCase):
    """kill -9 under load, with both forms of the AOF and rewrites in between: what was acknowledged is there."""

    def run_with(self, preamble):
        rng = random.Random(6)
        server = Server("--appendonly", "yes", "--appendfsync", "no", "--aof-use-rdb-preamble", preamble,
                        "--auto-aof-rewrite-percentage", "0")
        nrounds = int(os.environ.get("MODULE_KILLS", "4"))
        known, removed, count = [], set(), 0
        try:
            for generation in range(nrounds):
                call = raw_client(server)
                for i in range(60):
                    batch = [f"http://e.com/{generation}/{i}/{k}" for k in range(rng.randrange(1, 80))]
                    self.assertEqual(sum(call("UNSEEN.ADD", "u", *batch)), len(batch))
                    call("BF.MADD", "b", *batch)
                    call("BF.MADD", "t", *batch) if call("EXISTS", "t") else call("BF.RESERVE", "t", "0.0001", "500")
                    count += call("CF.INSERT", "c", "ITEMS", "often")[0]
                    known += batch
                    if rng.randrange(3) == 0:
                        url = rng.choice(known)
                        call("UNSEEN.REMOVE", "u", url)
                        removed.add(url)
                    if i == 20 + 10 * generation:
                        call("BGREWRITEAOF")
                digest = call("DEBUG", "DIGEST")
                server.stop(signal.SIGKILL)
                server.start()
                self.assertEqual(raw_client(server)("DEBUG", "DIGEST"), digest)
            call = raw_client(server)
            kept = [url for url in known if url not in removed]
            self.assertEqual(sum(call("UNSEEN.EXISTS", "u", *kept)), len(kept))
            self.assertEqual(sum(call("BF.MEXISTS", "b", *known)), len(known))
            self.assertEqual(call("CF.COUNT", "c", "often"), count)
        finally:
            server.end()

    def test_killed_with_preamble(self):
        self.run_with("yes")

    def test_killed_with_commands(self):
        self.run_with("no")
