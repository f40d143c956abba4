"""The secret of a cluster: servers with one seed-file make sets that can be merged."""

import os
import shutil
import subprocess
import tempfile
import unittest

import redis

from server import MODULE, PATIENCE, SERVER, Server, environment, follow, raw_client, wait_for_replica
from test_payloads import checksum, sealed

SECRET = "00112233445566778899aAbBcCdDeEfF"


class Secret(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="unseen-secret-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text):
        path = os.path.join(self.folder, "seed")
        with open(path, "wb") as f:
            f.write(text.encode())
        return path

    def start(self, *arguments, **named):
        server = Server(module_arguments=arguments, **named)
        self.addCleanup(server.end)
        return server, raw_client(server)

    def carry(self, call, other, name):
        """A set of one server, with one URL, as a key of another."""
        call("UNSEEN.ADD", name, "http://e.example/" + name)
        other("RESTORE", name, 0, call("DUMP", name))

    def test_merge(self):
        path = self.write(SECRET + "\n")
        _, one = self.start("seed-file", path)
        _, two = self.start("seed-file", path)
        _, alone = self.start()
        self.carry(one, two, "one")
        two("UNSEEN.ADD", "own", "http://e.example/own")
        self.assertEqual(two("UNSEEN.MERGE", "own", "one"), b"OK")
        self.assertEqual(two("UNSEEN.EXISTS", "own", "http://e.example/one"), [1])
        self.carry(alone, two, "alone")
        with self.assertRaises(redis.exceptions.ResponseError):
            two("UNSEEN.MERGE", "own", "alone")
        self.assertEqual(two("UNSEEN.EXISTS", "alone", "http://e.example/alone"), [1])

    def test_file_before_rdb(self):
        """An RDB file has a secret, too. It does not replace that of the file, and its sets keep theirs."""
        first, call = self.start()
        call("UNSEEN.ADD", "old", "http://e.example/old")
        call("SAVE")
        path = self.write(SECRET)
        first.stop()
        first.module_arguments = "seed-file", path
        first.start()
        call = raw_client(first)
        _, other = self.start("seed-file", path)
        self.carry(other, call, "other")
        call("UNSEEN.ADD", "new", "http://e.example/new")
        self.assertEqual(call("UNSEEN.MERGE", "new", "other"), b"OK")
        self.assertEqual(call("UNSEEN.EXISTS", "old", "http://e.example/old"), [1])
        with self.assertRaises(redis.exceptions.ResponseError):
            call("UNSEEN.MERGE", "new", "old")

    def test_first_set(self):
        """A file without a set has no secret. A replica gets that of its primary with the first set, and an AOF keeps it."""
        primary = Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        self.addCleanup(primary.end)
        call = raw_client(primary)
        replica, answer = self.start()
        follow(primary, replica)
        for i in range(2):
            call("UNSEEN.ADD", f"old{i}", f"http://e.example/{i}")
        wait_for_replica(primary, replica)
        answer("REPLICAOF", "NO", "ONE")
        primary.restart()
        for each in answer, raw_client(primary):
            each("UNSEEN.ADD", "new", "http://e.example/new")
            self.assertEqual(each("UNSEEN.MERGE", "new", "old0", "old1"), b"OK")

    def test_none_from_a_key(self):
        """The secret of one key, which a client has named, is neither the replica's nor that of a restart from an AOF."""
        known = bytes(range(100, 116))
        primary = Server("--appendonly", "yes", module_arguments=("dialect", "valkey"))
        self.addCleanup(primary.end)
        call = raw_client(primary)
        replica, answer = self.start("dialect", "valkey")
        follow(primary, replica)
        call("BF.ADD", "own", "a")
        call("BF.INSERT", "named", "SEED", known + bytes(16), "ITEMS", "a")
        wait_for_replica(primary, replica)
        answer("REPLICAOF", "NO", "ONE")
        primary.restart()
        for each in answer, raw_client(primary):
            each("BF.ADD", "later", "a")
            self.assertIn(known, each("DUMP", "named"))
            self.assertNotIn(known, each("DUMP", "later"))
            self.assertEqual(each("DUMP", "later"), each("DUMP", "own"))

    def test_restart(self):
        """The secret is beside the first set of a file, also of a full sync, whoever made that set."""
        _, foreign = self.start()
        foreign("UNSEEN.ADD", "foreign", "http://e.example/foreign")
        server, call = self.start()
        call("UNSEEN.ADD", "old", "http://e.example/old")
        dump = call("DUMP", "old")
        call("DEL", "old")
        call("RESTORE", "foreign", 0, foreign("DUMP", "foreign"))
        call("SAVE")
        replica, answer = self.start()
        follow(server, replica)
        wait_for_replica(server, replica)
        answer("REPLICAOF", "NO", "ONE")
        server.stop()
        server.start()
        for each in answer, raw_client(server):
            each("RESTORE", "old", 0, dump)
            each("UNSEEN.ADD", "new", "http://e.example/new")
            self.assertEqual(each("UNSEEN.MERGE", "new", "old"), b"OK")

    def test_none_from_clients(self):
        """A payload of RESTORE brings a server no secret, nor does a command that only its primary sends."""
        _, call = self.start()
        call("UNSEEN.ADD", "old", "http://e.example/old")
        dump = call("DUMP", "old")
        self.assertEqual(dump[10:13], b"\x02\x00\x05")
        body = dump[:10] + b"\x02\x01\x05\x10" + b"a secret of mine" + dump[10:-10]
        with self.assertRaises(redis.exceptions.ResponseError):
            call("RESTORE", "k", 0, sealed(body, dump[-10:-8]))
        settings = bytearray(call("UNSEEN.SCANDUMP", "old", 0)[1][1:-4])
        settings[2:18] = b"a secret of mine"
        call("UNSEEN.CREATE", "k", bytes(settings) + checksum(settings))
        call("UNSEEN.ADD", "new", "http://e.example/new")
        self.assertEqual(call("UNSEEN.MERGE", "new", "old"), b"OK")

    def test_is_not_shown(self):
        server, call = self.start("seed-file", self.write(SECRET))
        for reply in call("INFO", "everything"), b" ".join(call("CONFIG", "GET", "*")), server.text().encode():
            self.assertNotIn(SECRET.lower().encode(), reply.lower())
            self.assertNotIn(bytes.fromhex(SECRET), reply)

    def refused_start(self, path):
        """What a server says that does not start; it would listen on a socket only."""
        command = [SERVER, "--port", "0", "--unixsocket", self.folder + "/s", "--save", "", "--dir", self.folder, "--loadmodule", MODULE, "seed-file", path]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
                                 env=environment())
        self.assertNotEqual(process.returncode, 0)
        return process.stdout.decode(errors="replace")

    def test_wrong_files(self):
        for text in "", SECRET[:-1], SECRET + "0", SECRET + "\n\n", SECRET[:-1] + "g", SECRET[:-1] + "\0", "0x" + SECRET:
            said = self.refused_start(self.write(text))
            self.assertIn("seed-file needs a value: a file of 32 hexadecimal digits", said, repr(text))
            self.assertNotIn(SECRET[:-1], said)
        self.refused_start(os.path.join(self.folder, "missing"))
