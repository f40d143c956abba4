"""Clusters of three primaries and three replicas: a set over several keys, failovers under load, a primary that is cut
off, a network that is cut in two, and workers that are killed. Nothing that WAIT has acknowledged is lost, as far as WAIT
can tell.

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

from namespaces import Network, enter
from server import PATIENCE, SERVER, Server, raw_client, wait_for, wait_for_replica
from test_steps import LARGE, make_large, whole

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


def connect(host, port, timeout):
    """A connection on which no command is sent twice, and whose answers are as the server sends them."""
    once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
    client = redis.Redis(host=host, port=port, socket_timeout=timeout, retry=once, single_connection_client=True)
    client.response_callbacks.clear()
    return client


class ClusterClient:
    """A client of one thread that follows failovers: any node tells where the slots are."""

    def __init__(self, ports, hosts=None, timeout=60):
        self.ports = list(ports)
        self.hosts = hosts or {}  # by port, other than 127.0.0.1
        self.timeout = timeout
        self.nodes = {}
        self.ranges = []

    def node(self, port):
        if port not in self.nodes:
            self.nodes[port] = connect(self.hosts.get(port, "127.0.0.1"), port, self.timeout)
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


OPTIONS = ["--cluster-enabled", "yes", "--cluster-node-timeout", str(ALERT), "--appendonly", "yes",
           "--cluster-replica-validity-factor", "0"]


class Nodes(unittest.TestCase):
    """What a test knows about the servers of its cluster."""

    def tearDown(self):
        for server in self.servers:
            if server.process:
                server.process.send_signal(signal.SIGCONT)
            server.end()

    def be(self, timeout, *without):
        """Sets how long the living nodes wait for another."""
        for server in self.servers:
            if server.process and server not in without:
                raw_client(server)("CONFIG", "SET", "cluster-node-timeout", timeout)

    def take_over(self, port, replica, *gone):
        """Waits until the replica is the primary of the slots of a node, and all nodes know it but those that are gone."""
        others = [server for server in self.servers if server.process and server not in gone]
        slots = {(first, last) for first, last, at in self.client.ranges if at == port}
        self.be(ALERT, *gone)
        wait_for(lambda: all(slots <= {(first, last) for first, last, primary, *_ in raw_client(server)("CLUSTER", "SLOTS")
                                       if primary[1] == replica.port} for server in others))
        self.be(CALM, *gone)

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


class Cluster(Nodes):
    def setUp(self):
        self.servers = [Server(*OPTIONS) for _ in range(6)]
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

    def pause(self, server):
        """The signal alone does not say when the process stands still."""
        server.process.send_signal(signal.SIGSTOP)
        stat = pathlib.Path(f"/proc/{server.process.pid}/stat")
        wait_for(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T")

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


class Slots(unittest.TestCase):
    def setUp(self):
        self.nmoves = 0
        self.servers = [Server("--cluster-enabled", "yes") for _ in range(2)]
        a, b = self.calls = [raw_client(server) for server in self.servers]
        self.ids = [call("CLUSTER", "MYID") for call in self.calls]
        a("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        a("CLUSTER", "MEET", "127.0.0.1", self.servers[1].port)
        wait_for(lambda: all(b"cluster_state:ok" in call("CLUSTER", "INFO") for call in self.calls))

    def tearDown(self):
        for server in self.servers:
            server.end()

    def move_during(self, *command):
        """Sends a command with a key in place of None to the first node, and moves the slot of the key to the second one
        while the client waits. Returns key, slot and connection. If the command was too fast, there is another key."""
        a, b = self.calls
        for i in range(100):
            key = b"{%d}%d" % (self.nmoves, i)
            slot = binascii.crc_hqx(b"%d" % self.nmoves, 0) % 16384
            connection = self.servers[0].client().connection_pool.get_connection()
            connection.send_command(*[key if word is None else word for word in command])
            while b"blocked_clients:1" not in a("INFO", "clients") and not connection.can_read(0):
                pass
            with self.servers[0].client().pipeline(transaction=True) as pipe:
                pipe.info("clients")
                pipe.execute_command("CLUSTER", "SETSLOT", slot, "NODE", self.ids[1])
                clients, moved = pipe.execute(raise_on_error=False)
            if clients["blocked_clients"] == 1:
                self.assertFalse(isinstance(moved, Exception), moved)
                b("CLUSTER", "SETSLOT", slot, "IMPORTING", self.ids[0])
                b("CLUSTER", "SETSLOT", slot, "NODE", self.ids[1])
                self.nmoves += 1
                return key, slot, connection
            connection.read_response()
            a("DEL", key)
        self.fail("no work was seen under way")

    def test_moved_meanwhile(self):
        """A node makes no key in a slot that it has no longer, and says so."""
        a, b = self.calls
        data = whole(make_large(a, "large"))
        a("DEL", "large")
        for command in (("BF.RESERVE", None, "0.01", 10 * LARGE), ("BF.INSERT", None, "CAPACITY", 10 * LARGE, "ITEMS", "x"),
                        ("BF.LOAD", None, data)):
            key, slot, connection = self.move_during(*command)
            with self.assertRaises(redis.exceptions.TryAgainError, msg=command[0]):
                connection.read_response()
            self.assertEqual(a("CLUSTER", "COUNTKEYSINSLOT", slot), 0)
            self.assertIn(b(*[key if word is None else word for word in command]), (b"OK", [1]))
        wait_for(lambda: b"bf_memory_bytes:0\r" in a("INFO", "bf"))


class SideServer(Server):
    """A server on one side of a network. The test itself reaches it by a local socket, whatever becomes of the link."""

    def __init__(self, side, port, *options):
        folder = tempfile.mkdtemp(prefix="unseen-module-")
        self.side, self.wanted_port, self.socket = side, port, os.path.join(folder, "socket")
        super().__init__("--bind", side.address, "--protected-mode", "no", "--unixsocket", self.socket,
                         "--cluster-announce-ip", side.address, *options, folder=folder, program=side.command(SERVER))

    def start(self, *more):
        """All ports of the side are free."""
        if not self.start_at(self.wanted_port, more):
            raise RuntimeError(self.text())

    def client(self, protocol=2, db=0):
        return redis.Redis(unix_socket_path=self.socket, protocol=protocol, db=db, socket_timeout=PATIENCE)


class Partition(Nodes):
    """Six nodes on two sides of a network whose link is cut: one primary and one replica are the minority. The minority
    goes on as before, because its nodes wait a minute for the others; on the other side its primary is replaced."""

    def setUp(self):
        network = self.network = Network()
        self.addCleanup(network.close)
        self.left, self.right = network.sides
        enter(self.right.fd)
        self.servers = []
        for i, side in enumerate([self.left, self.right, self.right, self.right, self.right, self.left]):
            self.servers.append(SideServer(side, 7001 + i, *OPTIONS))
            self.addCleanup(self.servers[-1].end)
        self.is_cut = threading.Event()

    def join(self, primaries_of_replicas):
        """Makes a cluster: the first three nodes are primaries, each of the others is a replica of the primary named."""
        nodes = [raw_client(server) for server in self.servers]
        for i, node in enumerate(nodes):
            node("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for i, node in enumerate(nodes[:3]):
            node("CLUSTER", "ADDSLOTSRANGE", 16384 * i // 3, 16384 * (i + 1) // 3 - 1)
        for node in nodes:
            for server in self.servers:
                node("CLUSTER", "MEET", server.side.address, server.port)
        wait_for(lambda: all(node("CLUSTER", "NODES").count(b" connected") == 6 and b"handshake" not in node("CLUSTER", "NODES")
                             for node in nodes))
        for i, node in zip(primaries_of_replicas, nodes[3:]):
            node("CLUSTER", "REPLICATE", nodes[i]("CLUSTER", "MYID"))
        wait_for(lambda: all(b"cluster_state:ok" in node("CLUSTER", "INFO") for node in nodes) and
                 all(b"master_link_status:up" in node("INFO", "replication") for node in nodes[3:]) and
                 all(node("INFO", "replication").count(b"state=online") == primaries_of_replicas.count(i)
                     for i, node in enumerate(nodes[:3])))
        self.be(CALM)
        self.hosts = {server.port: server.side.address for server in self.servers}
        self.ports = [server.port for server in self.servers if server.side is self.right]
        self.client = self.new_client()

    def new_client(self):
        """A client of the majority: it learns from its own side where the slots are, and gives up a node after 2 s."""
        client = ClusterClient(self.ports, self.hosts, timeout=2)
        client.refresh()
        return client

    def cut(self):
        self.network.cut()
        self.is_cut.set()

    def heal(self):
        self.is_cut.clear()
        self.network.heal()

    def is_replica_of(self, server, primary):
        replication = raw_client(server)("INFO", "replication")
        return f"master_port:{primary.port}".encode() in replication and b"master_link_status:up" in replication

    def write_left(self, keys, stop, written):
        """Adds URLs on the side of the minority, to keys of its primary, until it is told to stop."""
        enter(self.left.fd)
        client = connect(self.left.address, self.servers[0].port, PATIENCE)
        for i in range(10 ** 9):
            if stop.is_set():
                return
            key, url, while_cut = keys[i % len(keys)], f"http://left.com/{i}", self.is_cut.is_set()
            try:
                added = client.execute_command("UNSEEN.ADD", key, url)
                nreplicas = client.execute_command("WAIT", 1, 10 if while_cut else 1000)
            except redis.exceptions.RedisError:
                time.sleep(0.05)  # the node is a replica now
                continue
            if added == [1]:
                written.append((key, url, while_cut, nreplicas))

    def write_right(self, number, keys, stop, written):
        """The same on the side of the majority, to all keys. The first answer may have been lost with its connection, so
        that only an add that was new counts."""
        client = self.new_client()
        for i in range(10 ** 9):
            if stop.is_set():
                return
            key, url, while_cut = keys[i % len(keys)], f"http://right{number}.com/{i}", self.is_cut.is_set()
            added, nreplicas = client(key, ("UNSEEN.ADD", key, url), ("WAIT", 1, 10 if while_cut else 1000))
            if added == [1]:
                written.append((key, url, while_cut, nreplicas))

    def test_both_sides_write(self):
        """Each primary has one replica, that of the minority's primary on the other side: WAIT 1 tells what stays."""
        self.join([0, 1, 2])
        primary, replica = self.servers[0], self.servers[3]
        keys = self.keys()
        cut_off = [key for key in keys if self.client.port_of(key) == primary.port]
        stop, left, right, errors = threading.Event(), [], [], []

        def run(write, *arguments):
            try:
                write(*arguments)
            except BaseException as error:  # the test must end
                errors.append(error)

        def wait_until(condition):
            wait_for(lambda: errors or condition())

        def acknowledged(written, while_cut):
            return [(key, url) for key, url, cut, nreplicas in written if nreplicas >= 1 and cut == while_cut]

        threads = [threading.Thread(target=run, args=(self.write_left, cut_off, stop, left))]
        threads += [threading.Thread(target=run, args=(self.write_right, i, keys, stop, right)) for i in range(2)]
        for thread in threads:
            thread.start()
        try:
            wait_until(lambda: min(len(acknowledged(left, False)), len(acknowledged(right, False))) > 100)
            time.sleep(LOAD / 4)
            self.cut()
            wait_until(lambda: sum(cut for _, _, cut, _ in left) > 10)
            self.take_over(primary.port, replica, primary, self.servers[5])
            wait_until(lambda: len(acknowledged(right, True)) > 10)
            time.sleep(LOAD / 4)
            before = len(right)
            self.heal()
            wait_until(lambda: self.is_replica_of(primary, replica) and self.is_replica_of(self.servers[5], self.servers[2]))
            wait_until(lambda: any(key in cut_off for key, _ in acknowledged(right[before:], False)))
            time.sleep(LOAD / 2)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(errors, [])
        self.client.refresh()

        def missing(pairs):
            return [url for key, url in pairs if self.client(key, ("UNSEEN.EXISTS", key, url)) != [[1]]]

        kept = [(key, url) for key, url, _, nreplicas in left + right if nreplicas >= 1]
        self.assertEqual(missing(kept), [])
        # What the minority was told 0 for is new again, all of it.
        self.assertEqual(acknowledged(left, True), [])
        unsafe = [(key, url) for key, url, cut, _ in left if cut]
        self.assertEqual(len(missing(unsafe)), len(unsafe))
        wait_for_replica(replica, primary)
        for key in cut_off:
            self.assertEqual(raw_client(primary)("DEBUG", "DIGEST-VALUE", key), raw_client(replica)("DEBUG", "DIGEST-VALUE", key))

    def test_a_replica_on_the_wrong_side(self):
        """The minority's primary has a replica on either side. WAIT 1 is content with the one beside it, and what it has
        acknowledged is lost; WAIT 2 is not."""
        self.join([0, 1, 0])
        primary, replica, beside = self.servers[0], self.servers[3], self.servers[5]
        key = next(key for key in self.keys() if self.client.port_of(key) == primary.port)
        node = primary.client().client()  # one connection, as WAIT asks for
        self.assertEqual(node.execute_command("UNSEEN.ADD", key, "http://safe.com/"), [1])
        wait_for(lambda: node.execute_command("WAIT", 2, 1000) == 2)
        self.cut()
        self.assertEqual(node.execute_command("UNSEEN.ADD", key, "http://unsafe.com/"), [1])
        wait_for(lambda: node.execute_command("WAIT", 1, 1000) == 1)
        self.assertEqual(node.execute_command("WAIT", 2, 100), 1)
        node.close()
        self.take_over(primary.port, replica, primary, beside)
        self.heal()
        wait_for(lambda: self.is_replica_of(primary, replica) and self.is_replica_of(beside, replica))
        self.client.refresh()
        self.assertEqual(self.client(key, ("UNSEEN.EXISTS", key, "http://safe.com/", "http://unsafe.com/")), [[1, 0]])


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
