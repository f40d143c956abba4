"""UNSEEN.SHARD: the key of a cluster that a URL belongs to, as the library, the tool and Python say it."""

import binascii
import pathlib

from server import Case, Server, raw_client

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors" / "shards.tsv"


def tag_of(shard, n):
    """docs/format.md, "Shares", in another language."""
    tag = 0
    while binascii.crc_hqx(b"%d" % tag, 0) % 16384 * n // 16384 != shard:
        tag += 1
    return tag


class Shards(Case):
    module_arguments = ("shards", "64")

    def test_vectors(self):
        rows = [row.split("\t") for row in VECTORS.read_text().splitlines()]
        nrows = 0
        for n, identity, shard in rows:
            if identity.startswith("-") or int(n) > 1024 or int(n) == 0:
                continue
            reply = self.raw("UNSEEN.SHARD", "crawl", "SHARDS", n, "PROFILE", "none", bytes.fromhex(identity))
            self.assertEqual(reply, [b"crawl:{%d}" % tag_of(int(shard), int(n))])
            nrows += 1
        self.assertGreater(nrows, 100)
        tags = {(n, i[1:]): tag for n, i, tag in rows if i.startswith("-")}
        self.assertEqual(tag_of(15, 16), int(tags["16", "15"]))

    def test_spellings_and_defaults(self):
        r = self.raw
        urls = ["http://e.com/a", "HTTP://E.com:80/x/../a#b"]
        self.assertEqual(len(set(r("UNSEEN.SHARD", "s", *urls))), 1)
        self.assertEqual(len(set(r("UNSEEN.SHARD", "s", "PROFILE", "none", *urls))), 2)
        self.assertEqual(r("UNSEEN.SHARD", "s", *urls), r("UNSEEN.SHARD", "s", "SHARDS", 64, "profile", "crawl", *urls))
        many = [f"http://e.com/{i}" for i in range(5000)] + ["http://e.com/" + "x" * 100000]
        keys = r("UNSEEN.SHARD", "s", *many)
        self.assertEqual(len(set(keys)), 64)
        # A URL may be a word, if it is not in front of another.
        self.assertEqual(len(r("UNSEEN.SHARD", "s", "x", "SHARDS", "2")), 3)
        self.assertEqual(r("DBSIZE"), 0)

    def test_cluster(self):
        """Any node answers, for a key of any slot; the slots of the keys lie in equal parts."""
        server = Server("--cluster-enabled", "yes")
        try:
            raw = raw_client(server)
            keys = sorted(set(raw("UNSEEN.SHARD", "s", "SHARDS", 8, *[f"http://e.com/{i}" for i in range(1000)])))
            slots = sorted(raw("CLUSTER", "KEYSLOT", key) for key in keys)
            self.assertEqual([slot * 8 // 16384 for slot in slots], list(range(8)))
        finally:
            server.end()

    def test_errors(self):
        for n in "0", "16385", "x":
            self.refused("SHARDS must be 1 to 16384", "UNSEEN.SHARD", "s", "SHARDS", n, "x")
        self.refused("there is no such profile of URL identity", "UNSEEN.SHARD", "s", "PROFILE", "what", "x")
        self.refused("a name with a brace would have a tag of its own", "UNSEEN.SHARD", "s{a}", "x")
        self.refused("wrong number of arguments for 'UNSEEN.SHARD' command", "UNSEEN.SHARD", "s")
        with self.assertRaises(RuntimeError):
            Server(module_arguments=("shards", "0"))
