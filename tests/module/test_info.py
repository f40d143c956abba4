"""What an operator sees: the version, and the counts of INFO; and how much of the log a stranger can fill."""

import time

import redis

from server import Case
from test_payloads import checksum, sealed

REFUSED = "a set is refused"


class Info(Case):
    def setUp(self):
        super().setUp()
        self.before = self.counts()

    def counts(self):
        lines = self.raw("INFO", "bf").decode().split("\r\n")
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def grown(self, name):
        return int(self.counts()["bf_" + name]) - int(self.before["bf_" + name])

    def test_version(self):
        version = self.counts()["bf_unseen_version"]
        self.assertRegex(version, r"^[0-9]+\.[0-9]+\.[0-9]+$")
        self.assertIn(f"version {version} of unseen", self.server.text())

    def test_claims(self):
        self.raw("UNSEEN.RESERVE", "u")
        self.assertEqual(self.raw("UNSEEN.CLAIM", "u", 100, "http://e.com/1", "http://e.com/2", "http://e.com/1"), [1, 1, -1])
        self.raw("UNSEEN.RENEW", "u", 100, "http://e.com/1", "http://e.com/3")
        self.raw("UNSEEN.ACK", "u", "http://e.com/1")
        self.assertEqual([self.grown("claims_" + name) for name in ("given", "busy", "renewed", "acknowledged")], [2, 1, 1, 1])

    def test_loads_and_refusals(self):
        self.raw("BF.ADD", "b", "x")
        frames = [self.raw("BF.SCANDUMP", "b", 0)]
        while frames[-1][0]:
            frames.append(self.raw("BF.SCANDUMP", "b", frames[-1][0]))
        for position, data in frames[:-1]:
            self.raw("BF.LOADCHUNK", "l", position, data)
        self.assertEqual(self.grown("loads"), 1)
        other = bytearray(frames[0][1])
        other[1] = 77
        other[-4:] = checksum(other[1:-4])
        with self.assertRaises(redis.exceptions.ResponseError):
            self.raw("BF.LOADCHUNK", "m", 1, bytes(other))
        with self.assertRaises(redis.exceptions.ResponseError):
            self.raw("BF.LOADCHUNK", "m", 1, b"foreign")
        dump = self.raw("DUMP", "b")
        with self.assertRaises(redis.exceptions.ResponseError):
            self.raw("RESTORE", "m", 0, sealed(dump[:-30] + b"xxxx" + dump[-26:-10], dump[-10:-8]))
        self.assertEqual([self.grown("refused_" + name) for name in ("damaged", "other_version", "no_memory")], [2, 1, 0])
        self.assertEqual(self.grown("loads"), 1)

    def test_log_of_refused_payloads(self):
        self.raw("BF.ADD", "b", "x")
        dump = self.raw("DUMP", "b")
        damaged = sealed(dump[:-30] + b"xxxx" + dump[-26:-10], dump[-10:-8])
        lines = self.server.text().count(REFUSED)
        begin = time.monotonic()
        for _ in range(10):
            with self.server.client().pipeline(transaction=False) as pipe:
                for i in range(100):
                    pipe.execute_command("RESTORE", "k", 0, damaged)
                pipe.execute(raise_on_error=False)
        nseconds = int(time.monotonic() - begin) + 2  # that may have begun meanwhile
        self.assertEqual(self.grown("refused_damaged"), 1000)
        lines = self.server.text().count(REFUSED) - lines
        self.assertGreater(lines, 0)
        self.assertLessEqual(lines, 10 * nseconds)
