"""UNSEEN.*: sets of URLs, by URL identity."""

from server import Case, Server, raw_client, wait_for, wait_for_replica

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


class Urls(Case):
    def test_identity(self):
        r = self.raw
        self.assertEqual(r("UNSEEN.ADD", "a", "http://e.com/", "HTTP://E.com:80/#x", "http://e.com/b"), [1, 0, 1])
        self.assertEqual(r("UNSEEN.EXISTS", "a", "http://E.com/x/../b", "http://e.com/c"), [1, 0])
        self.assertEqual(r("UNSEEN.RESERVE", "n", "PROFILE", "none"), b"OK")
        self.assertEqual(r("UNSEEN.ADD", "n", "http://e.com/", "HTTP://E.com:80/#x"), [1, 1])
        self.assertEqual(r("UNSEEN.RESERVE", "g", "PROFILE", "aggressive", "FPR", "1e-6"), b"OK")
        self.assertEqual(r("UNSEEN.ADD", "g", "http://www.e.com/?utm_source=x", "https://e.com/"), [1, 0])

    def test_remove(self):
        r = self.raw
        r("UNSEEN.ADD", "a", "http://e.com/1", "http://e.com/2")
        self.assertEqual(r("UNSEEN.REMOVE", "a", "HTTP://e.com/1", "http://e.com/3"), [1, 0])
        self.assertEqual(r("UNSEEN.EXISTS", "a", "http://e.com/1", "http://e.com/2"), [0, 1])
        self.assertEqual(r("UNSEEN.ADD", "a", "http://e.com/1"), [1])
        self.assertEqual(r("UNSEEN.REMOVE", "none", "x", "y"), [0, 0])
        self.assertEqual(r("EXISTS", "none"), 0)

    def test_merge(self):
        r = self.raw
        urls = [f"http://e.com/{i}" for i in range(6000)]
        r("UNSEEN.ADD", "a", *urls[:3000])
        r("UNSEEN.ADD", "b", *urls[2000:5000])
        r("UNSEEN.ADD", "c", *urls[5000:])
        self.assertEqual(r("UNSEEN.MERGE", "a", "b", "c"), b"OK")
        self.assertEqual(sum(r("UNSEEN.EXISTS", "a", *urls)), 6000)
        self.assertEqual(dict_of(r("UNSEEN.INFO", "a"))["urls"], 6000)
        self.assertEqual(sum(r("UNSEEN.EXISTS", "b", *urls)), 3000)
        r("UNSEEN.RESERVE", "wide", "FPR", "0.001")
        r("UNSEEN.RESERVE", "none", "PROFILE", "none")
        text = "only different sets with one secret, one profile and one rate can be merged"
        for other in "wide", "none", "a":
            self.refused(text, "UNSEEN.MERGE", "a", other)
        self.refused("not found", "UNSEEN.MERGE", "a", "missing")
        self.refused("not found", "UNSEEN.MERGE", "missing", "a")
        self.assertEqual(r("COMMAND", "GETKEYS", "UNSEEN.MERGE", "a", "b", "c"), [b"a", b"b", b"c"])
        r("DEBUG", "RELOAD")
        self.assertEqual(sum(r("UNSEEN.EXISTS", "a", *urls)), 6000)

    def test_merge_is_replicated(self):
        replica = Server("--replicaof", f"127.0.0.1 {self.server.port}")
        try:
            answer = raw_client(replica)
            wait_for_replica(self.server, replica)
            self.raw("UNSEEN.ADD", "a", *[f"http://e.com/{i}" for i in range(20000)])
            self.raw("UNSEEN.ADD", "b", *[f"http://e.com/{i}" for i in range(10000, 40000)])
            self.raw("UNSEEN.REMOVE", "b", *[f"http://e.com/{i}" for i in range(10000, 12000)])
            self.raw("UNSEEN.MERGE", "a", "b")
            self.raw("UNSEEN.ADD", "a", "http://e.com/last")
            wait_for_replica(self.server, replica)
            self.assertEqual(self.raw("DEBUG", "DIGEST"), answer("DEBUG", "DIGEST"))
        finally:
            replica.end()

    def test_claim(self):
        r = self.raw
        r("UNSEEN.RESERVE", "a")
        r("UNSEEN.ADD", "a", "http://e.com/known")
        urls = ["http://e.com/1", "http://e.com/2", "HTTP://e.com/1", "http://e.com/known"]
        self.assertEqual(r("UNSEEN.CLAIM", "a", 36000, *urls), [1, 1, -1, 0])
        self.assertEqual(r("UNSEEN.EXISTS", "a", *urls), [0, 0, 0, 1])
        self.assertEqual(r("UNSEEN.RENEW", "a", 40000, *urls), [1, 1, 1, 0])
        self.assertEqual(r("UNSEEN.ACK", "a", "http://e.com/1"), [1])
        self.assertEqual(r("UNSEEN.ACK", "a", "http://e.com/1"), [0])
        self.assertEqual(r("UNSEEN.CLAIM", "a", 36000, *urls), [0, -1, 0, 0])
        # A lease lasts over a restart, a copy and a rewritten AOF, and goes to the next worker when it has run out.
        r("DEBUG", "RELOAD")
        r("COPY", "a", "b")
        self.assertEqual(r("UNSEEN.CLAIM", "a", 36000, "http://e.com/2"), [-1])
        self.assertEqual(r("UNSEEN.CLAIM", "b", 36000, "http://e.com/2"), [-1])
        self.assertEqual(r("UNSEEN.CLAIM", "a", 1, "http://e.com/3"), [1])
        wait_for(lambda: r("UNSEEN.CLAIM", "a", 1, "http://e.com/3") == [1])
        self.refused("not found", "UNSEEN.CLAIM", "none", 1, "x")
        self.refused("not found", "UNSEEN.ACK", "none", "x")
        for ttl in 0, -1, "x", 1000000001:
            self.refused("the time to live must be 1 to 1000000000 seconds", "UNSEEN.CLAIM", "a", ttl, "x")

    def test_claims_are_replicated(self):
        replica = Server("--replicaof", f"127.0.0.1 {self.server.port}")
        try:
            answer = raw_client(replica)
            self.raw("UNSEEN.RESERVE", "a")
            urls = [f"http://e.com/{i}" for i in range(10000)]
            self.assertEqual(sum(self.raw("UNSEEN.CLAIM", "a", 36000, *urls[:5000])), 5000)
            wait_for_replica(self.server, replica)
            self.assertEqual(sum(self.raw("UNSEEN.CLAIM", "a", 36000, *urls[5000:])), 5000)
            self.raw("UNSEEN.ACK", "a", *urls[::2])
            wait_for_replica(self.server, replica)
            self.assertEqual(self.raw("DEBUG", "DIGEST"), answer("DEBUG", "DIGEST"))
            answer("REPLICAOF", "NO", "ONE")
            self.assertEqual(answer("UNSEEN.CLAIM", "a", 1, *urls), [0, -1] * 5000)
        finally:
            replica.end()

    def test_claims_of_workers_that_die(self):
        """Workers claim ten URLs at a time, and the first of every third batch dies with its claim: each URL is done in the end."""
        urls = [f"http://e.com/{i}" for i in range(200)]
        self.raw("UNSEEN.RESERVE", "a")
        done = []

        dead = set()

        def work():
            """One round over all URLs; the first worker of every third batch dies."""
            for start in range(0, len(urls), 10):
                batch = urls[start:start + 10]
                mine = [u for u, c in zip(batch, self.raw("UNSEEN.CLAIM", "a", 1, *batch)) if c == 1]
                if mine and start % 30 == 0 and start not in dead:
                    dead.add(start)
                elif mine:
                    done.extend(u for u, new in zip(mine, self.raw("UNSEEN.ACK", "a", *mine)) if new)
            return len(done) == len(urls)

        wait_for(work)
        self.assertEqual(len(dead), 7)
        self.assertEqual(sorted(done), sorted(urls))

    def test_info_and_errors(self):
        r = self.raw
        r("UNSEEN.RESERVE", "a", "PROFILE", "crawl", "FPR", "5e-9", "MAXBYTES", "1000000")
        r("UNSEEN.ADD", "a", "http://e.com/")
        info = dict_of(r("UNSEEN.INFO", "a"))
        self.assertEqual(info["urls"], 1)
        self.assertTrue(info["profile"].startswith(b"crawl/"))
        self.assertEqual(info["maxbytes"], 1000000)
        self.assertLess(info["bytes"], 100000)
        self.assertLessEqual(float(info["fpr promised"]), 5e-9)
        r("SET", "s", "x")
        r("BF.ADD", "b", "x")
        for key in "s", "b":
            for command in ("ADD", key, "x"), ("EXISTS", key, "x"), ("REMOVE", key, "x"), ("INFO", key), ("RESERVE", key):
                self.refused(WRONG_TYPE, "UNSEEN." + command[0], *command[1:])
        self.refused("item exists", "UNSEEN.RESERVE", "a")
        self.refused("there is no such profile of URL identity", "UNSEEN.RESERVE", "k", "PROFILE", "what")
        self.refused("bad error rate", "UNSEEN.RESERVE", "k", "FPR", "x")
        self.refused("error rate must be in the range (0.000000, 1.000000)", "UNSEEN.RESERVE", "k", "FPR", "1")
        self.refused("could not create filter: no rate this low, 5e-9 is the least", "UNSEEN.RESERVE", "k", "FPR", "1e-12")
        self.refused("MAXBYTES must be a number of bytes above 0", "UNSEEN.RESERVE", "k", "MAXBYTES", "0")
        self.refused("syntax error", "UNSEEN.RESERVE", "k", "WHAT", "0")
        self.assertEqual(r("EXISTS", "k"), 0)


def dict_of(reply):
    return {name.decode(): value for name, value in zip(reply[::2], reply[1::2])}
