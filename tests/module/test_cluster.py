"""Clusters of three primaries and three replicas: a set over several keys, failovers under load, a primary that is cut
off, and workers that are killed. Nothing that WAIT has acknowledged is lost.

MODULE_CLUSTER_SECONDS is how long each load runs at least; without it some hundred acknowledged writes are enough.

Nodes have a minute before they are taken for dead, and a second while a test has killed one: a machine that stands still
for a second is no failover."""

import binascii
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import redis

from server import PATIENCE, Server, raw_client, wait_for

CALM, ALERT = 60000, 1000  # milliseconds
SECONDS = float(os.environ.get("MODULE_CLUSTER_SECONDS", "4"))
LOAD = SECONDS if "MODULE_CLUSTER_SECONDS" in os.environ else 0  # seconds of load beyond what the counts take
NSHARDS = 8
URLS_AT_ONCE = 20


def slot_of(key):
    tag = key[key.index(b"{") + 1:key.index(b"}")]
    return binascii.crc_hqx(tag, 0) % 16384


def load_tests(loader, tests, pattern):
    """MODULE_CLUSTER=0 leaves them out."""
    return unittest.TestSuite() if os.environ.get("MODULE_CLUSTER") == "0" else tests


class ClusterClient:
    """A client of one thread that follows failovers: any node tells where the slots are."""

    def __init__(self, ports):
        self.ports = list(ports)
        self.nodes = {}
        self.ranges = []

    def node(self, port):
        if port not in self.nodes:
            once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
            client = redis.Redis(port=port, socket_timeout=60, retry=once, single_connection_client=True)
            client.response_callbacks.clear()
            self.nodes[port] = client
        return self.nodes[port]

    def refresh(self):
        for port in random.sample(self.ports, len(self.ports)):
            try:
                self.ranges = [(first, last, primary[1]) for first, last, primary, *_ in
                               self.node(port).execute_command("CLUSTER", "SLOTS")]
                return
            except redis.exceptions.RedisError:
                self.nodes.pop(port, None)

    def port_of(self, key):
        slot = slot_of(key)
        return next((port for first, last, port in self.ranges if first <= slot <= last), None)

    def __call__(self, key, *commands):
        """The answers of commands that are sent to the node of a key, on one connection."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            port = self.port_of(key)
            try:
                return [self.node(port).execute_command(*command) for command in commands]
            except redis.exceptions.RedisError as error:
                if isinstance(error, redis.exceptions.ResponseError) and not str(error).startswith(
                        ("MOVED", "CLUSTERDOWN", "READONLY", "TRYAGAIN", "LOADING", "MASTERDOWN", "UNBLOCKED")):
                    if not isinstance(error, (redis.exceptions.ClusterDownError, redis.exceptions.MovedError,
                                              redis.exceptions.ReadOnlyError)):
                        raise
                self.nodes.pop(port, None)
                time.sleep(0.05)
                self.refresh()
        raise AssertionError(f"no node answered for {PATIENCE} s")

    def keys_of(self, name, urls):
        for _ in range(100):
            try:
                return self.node(random.choice(self.ports)).execute_command(
                    "UNSEEN.SHARD", name, "SHARDS", NSHARDS, *urls)
            except redis.exceptions.RedisError:
                self.nodes.clear()
        raise AssertionError("no node says where URLs belong")


class Cluster(unittest.TestCase):
    def setUp(self):
        options = ["--cluster-enabled", "yes", "--cluster-node-timeout", str(ALERT), "--appendonly", "yes",
                   "--cluster-replica-validity-factor", "0"]
        self.servers = [Server(*options) for _ in range(6)]
        self.ports = [server.port for server in self.servers]
        addresses = [f"127.0.0.1:{port}" for port in self.ports]
        tool = shutil.which("redis-cli") or shutil.which("valkey-cli")
        subprocess.run([tool, "--cluster", "create", *addresses, "--cluster-replicas", "1", "--cluster-yes"],
                       check=True, stdout=subprocess.DEVNULL)
        wait_for(lambda: all(self.is_ready(server) for server in self.servers))
        self.be(CALM)
        wait_for(lambda: all(self.is_ready(server) for server in self.servers))
        self.client = ClusterClient(self.ports)
        self.client.refresh()

    def tearDown(self):
        for server in self.servers:
            if server.process:
                server.process.send_signal(signal.SIGCONT)
            server.end()

    def be(self, timeout, without=None):
        """Sets how long the living nodes wait for another."""
        for server in self.servers:
            if server.process and server is not without:
                raw_client(server)("CONFIG", "SET", "cluster-node-timeout", timeout)

    def take_over(self, port, replica, gone):
        """Waits until the replica is the primary of the slots of a node that is gone, and all living nodes know it."""
        others = [server for server in self.servers if server.process and server is not gone]
        slots = {(first, last) for first, last, at in self.client.ranges if at == port}
        self.be(ALERT, gone)
        wait_for(lambda: all(slots <= {(first, last) for first, last, primary, *_ in raw_client(server)("CLUSTER", "SLOTS")
                                       if primary[1] == replica.port} for server in others))
        self.be(CALM, gone)

    def pause(self, server):
        """The signal alone does not say when the process stands still."""
        server.process.send_signal(signal.SIGSTOP)
        stat = pathlib.Path(f"/proc/{server.process.pid}/stat")
        wait_for(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T")

    def wait_for_replica(self, key):
        """Waits until the replica of a key's primary has all that the primary has."""
        primary = raw_client(self.server_at(self.client.port_of(key)))

        def is_level():
            lines = dict(line.split(":", 1) for line in primary("INFO", "replication").decode().split() if ":" in line)
            return "state=online" in lines["slave0"] and f"offset={lines['master_repl_offset']}," in lines["slave0"]

        wait_for(is_level)

    def is_ready(self, server):
        raw = raw_client(server)
        if b"cluster_state:ok" not in raw("CLUSTER", "INFO"):
            return False
        replication = raw("INFO", "replication")
        return b"master_link_status:up" in replication if b"role:slave" in replication else b"state=online" in replication

    def server_at(self, port):
        return next(server for server in self.servers if server.port == port)

    def replica_of(self, port):
        raw = raw_client(self.server_at(port))
        line = next(line for line in raw("INFO", "replication").decode().split() if line.startswith("slave0:"))
        return self.server_at(int(line.split("port=")[1].split(",")[0]))

    def keys(self):
        urls = [f"http://e.com/{i}" for i in range(1000)]
        keys = sorted(set(self.client.keys_of("crawl", urls)))
        self.assertEqual(len(keys), NSHARDS)
        for key in keys:
            self.client(key, ("UNSEEN.RESERVE", key))
        return keys

    def write(self, number, stop, acknowledged, others, wait=1000):
        """Adds URLs until it is told to stop; an add is acknowledged when WAIT says that a replica has it."""
        client = ClusterClient(self.ports)
        client.refresh()
        for i in range(10 ** 9):
            if stop.is_set():
                return
            urls = [f"http://e{number}.com/{i}/{n}" for n in range(URLS_AT_ONCE)]
            for url, key in zip(urls, client.keys_of("crawl", urls)):
                _, nreplicas = client(key, ("UNSEEN.ADD", key, url), ("WAIT", 1, wait))
                (acknowledged if nreplicas >= 1 else others).append((key, url))

    def under_load(self, during):
        """Runs a change of the cluster while three threads write. What was acknowledged must be there after it."""
        self.keys()
        stop, acknowledged, others = threading.Event(), [], []
        errors = []

        def write(number):
            try:
                self.write(number, stop, acknowledged, others)
            except BaseException as error:  # the test must end
                errors.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: len(acknowledged) > 200 or errors)
            time.sleep(LOAD / 4)
            before = len(acknowledged)
            during()
            wait_for(lambda: len(acknowledged) > before + 100 or errors)
            time.sleep(LOAD / 2)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(errors, [])
        self.client.refresh()
        lost = [url for key, url in acknowledged if self.client(key, ("UNSEEN.EXISTS", key, url)) != [[1]]]
        self.assertEqual(lost, [])
        return acknowledged, others

    def test_failover_under_load(self):
        """A primary is killed by SIGKILL, and its replica takes over."""

        def kill():
            port = self.client.ranges[0][2]
            victim = self.server_at(port)
            replica = self.replica_of(port)
            victim.stop()
            self.take_over(port, replica, victim)

        acknowledged, _ = self.under_load(kill)
        self.assertGreater(len(acknowledged), 300)

    def test_a_primary_that_is_cut_off(self):
        """Its replica hears nothing of it any more and takes over; clients are still on its side. What they add there is
        not acknowledged, is lost when the old primary comes back as a replica, and is new again."""
        key = self.keys()[0]
        port = self.client.port_of(key)
        primary, replica = self.server_at(port), self.replica_of(port)
        safe = [f"http://safe.com/{i}" for i in range(500)]
        self.assertEqual(sum(self.client(key, ("UNSEEN.ADD", key, *safe))[0]), 500)
        self.client(key, ("UNSEEN.ADD", key, "http://safe.com/last"))
        wait_for(lambda: self.client(key, ("WAIT", 1, 1000)) == [1])
        self.pause(replica)
        raw_client(primary)("CLIENT", "KILL", "TYPE", "replica")  # nothing waits in its socket
        unsafe = [f"http://unsafe.com/{i}" for i in range(500)]
        added, nreplicas = self.client(key, ("UNSEEN.ADD", key, *unsafe), ("WAIT", 1, 300))
        self.assertEqual((sum(added), nreplicas), (500, 0))
        self.pause(primary)
        replica.process.send_signal(signal.SIGCONT)
        self.take_over(port, replica, primary)
        self.client.nodes.clear()
        self.client.ports = [p for p in self.ports if p != port]
        self.client.refresh()
        self.assertEqual(sum(self.client(key, ("UNSEEN.EXISTS", key, *safe, "http://safe.com/last"))[0]), 501)
        self.assertEqual(sum(self.client(key, ("UNSEEN.ADD", key, *unsafe[:250]))[0]), 250)
        primary.process.send_signal(signal.SIGCONT)
        wait_for(lambda: b"role:slave" in raw_client(primary)("INFO", "replication") and self.is_ready(primary))
        self.client.refresh()
        self.assertEqual(sum(self.client(key, ("UNSEEN.EXISTS", key, *unsafe))[0]), 250)
        self.assertEqual(raw_client(primary)("DEBUG", "DIGEST-VALUE", key), raw_client(replica)("DEBUG", "DIGEST-VALUE", key))

    def test_guard(self):
        """Who waits for a key when its primary dies is told so by an error, and asks the next primary."""
        key = self.keys()[0]
        value = b"v:" + key[key.index(b"{"):]
        self.client(key, ("UNSEEN.ADD", key, value))
        self.wait_for_replica(key)
        self.assertEqual(self.client(key, ("GUARD.GET", key, value, "LEASE", 3600000))[0][0], b"lease")
        answers = []
        waiting = ClusterClient(self.ports)
        waiting.refresh()
        thread = threading.Thread(target=lambda: answers.append(
            waiting(key, ("GUARD.GET", key, value, "WAIT", 3600000, "LEASE", 3600000))[0]))
        thread.start()
        port = self.client.port_of(key)
        victim, replica = self.server_at(port), self.replica_of(port)
        wait_for(lambda: b"blocked_clients:1" in raw_client(victim)("INFO", "clients"))
        victim.stop()
        self.take_over(port, replica, victim)
        thread.join()
        self.assertEqual(answers[0][0], b"lease")  # the lease died with the primary
        self.assertEqual(self.client(key, ("GUARD.SET", value, answers[0][1], "x"))[0], 1)
        self.assertEqual(self.client(key, ("GUARD.GET", key, value))[0], [b"value", b"x"])

    def test_workers_that_are_killed(self):
        """Workers claim URLs, work on them and acknowledge them. They are killed at random, and so is a primary:
        every URL is done in the end."""
        keys = self.keys()
        urls = [f"http://e.com/{i}" for i in range(int(100 * SECONDS))]
        done = tempfile.NamedTemporaryFile()
        random.seed(1)
        # The test has claimed a URL itself, so that the workers, however fast, are not done before the kills.
        last = self.client.keys_of("crawl", urls[-1:])[0]
        self.assertEqual(self.client(last, ("UNSEEN.CLAIM", last, 36000, urls[-1]))[0], [1])
        self.wait_for_replica(last)

        def start():
            worker = subprocess.Popen([sys.executable, __file__, "worker", done.name, str(len(urls)),
                                       ",".join(map(str, self.ports))])
            self.addCleanup(worker.wait)
            self.addCleanup(worker.kill)
            return worker

        def ndone():
            with open(done.name) as f:
                return len(set(f.read().split()))

        workers = [start() for _ in range(4)]
        port = self.client.ranges[0][2]
        victim, replica = self.server_at(port), self.replica_of(port)
        nkilled, before = 0, 0
        while nkilled < 3 * SECONDS:
            # Between two kills something is done, or all is done that can be.
            wait_for(lambda: ndone() > before or ndone() >= len(urls) - 1)
            before = ndone()
            i = random.randrange(len(workers))
            self.assertIsNone(workers[i].poll())
            workers[i].kill()
            workers[i].wait()
            workers[i] = start()
            nkilled += 1
            if nkilled == 5:
                victim.stop()
                self.take_over(port, replica, victim)
                self.client.refresh()
            time.sleep(0.2)  # of the workers' work
        self.client(last, ("UNSEEN.ACK", last, urls[-1]))
        with open(done.name, "a") as f:
            f.write(urls[-1] + "\n")
        codes = [worker.wait(timeout=PATIENCE) for worker in workers]
        self.assertEqual(set(codes), {0})
        with open(done.name) as f:
            lines = f.read().split()
        self.assertEqual(set(lines), set(urls))
        self.client.refresh()
        shards = self.client.keys_of("crawl", urls)
        self.assertEqual(set(shards), set(keys))
        for key, url in zip(shards, urls):
            self.assertEqual(self.client(key, ("UNSEEN.EXISTS", key, url)), [[1]], url)


def work(path, n, ports):
    """A worker: until every URL is done, it claims some, does them and acknowledges them."""
    client = ClusterClient(ports)
    client.refresh()
    urls = [f"http://e.com/{i}" for i in range(n)]
    by_key = {}
    for url, key in zip(urls, client.keys_of("crawl", urls)):
        by_key.setdefault(key, []).append(url)
    left = True
    while left:
        left = False
        for key in random.sample(sorted(by_key), len(by_key)):
            for at in range(0, len(by_key[key]), 5):
                batch = by_key[key][at:at + 5]
                claims = client(key, ("UNSEEN.CLAIM", key, 2, *batch))[0]
                left = left or any(claim != 0 for claim in claims)
                mine = [url for url, claim in zip(batch, claims) if claim == 1]
                if mine:
                    time.sleep(0.02 * len(mine))
                    with open(path, "a") as f:
                        f.write("".join(url + "\n" for url in mine))
                    client(key, ("UNSEEN.ACK", key, *mine))
        time.sleep(0.1)


if __name__ == "__main__":
    work(sys.argv[2], int(sys.argv[3]), [int(port) for port in sys.argv[4].split(",")])
