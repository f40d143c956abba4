"""Active defragmentation moves small sets, which answer as before. Only a server with its own jemalloc can do that."""

import redis

from server import Case, wait_for

NKEYS = 60000


class Defrag(Case):
    def setUp(self):
        super().setUp()
        try:
            self.raw("CONFIG", "SET", "activedefrag", "yes")
        except redis.exceptions.ResponseError as error:
            self.skipTest(str(error))
        self.raw("CONFIG", "SET", "active-defrag-threshold-lower", "1", "active-defrag-ignore-bytes", "1",
                 "active-defrag-cycle-min", "90", "active-defrag-cycle-max", "95", "active-defrag-threshold-upper", "2")
        self.raw("CONFIG", "SET", "activedefrag", "no")

    def test_values_move(self):
        client = self.server.client()
        for start in range(0, NKEYS, 1000):
            with client.pipeline(transaction=False) as pipe:
                for i in range(start, start + 1000):
                    pipe.execute_command("BF.MADD", f"b{i}", i, *range(i % 60))
                    pipe.execute_command("CF.ADD", f"c{i}", i)
                    if i % 50 == 0:
                        pipe.execute_command("UNSEEN.ADD", f"u{i}", f"http://e.example/{i}")
                        pipe.execute_command("UNSEEN.CLAIM", f"u{i}", 36000, "http://f.example/")
                pipe.execute()
        # Holes between the values that stay.
        for start in range(0, NKEYS, 1000):
            self.raw("DEL", *[f"{k}{i}" for k in "bc" for i in range(start, start + 1000) if i % 8])
        before = self.raw("DEBUG", "DIGEST")
        self.raw("CONFIG", "RESETSTAT")
        self.raw("CONFIG", "SET", "activedefrag", "yes")
        wait_for(lambda: client.info("bf")["bf_defragmented_sets"] > NKEYS // 16)
        self.raw("CONFIG", "SET", "activedefrag", "no")
        self.assertEqual(self.raw("DEBUG", "DIGEST"), before)
        for i in range(0, NKEYS, 8):
            self.assertEqual(self.raw("BF.EXISTS", f"b{i}", i), 1)
        for i in range(0, NKEYS, 200):
            self.assertEqual(self.raw("UNSEEN.CLAIM", f"u{i}", 36000, "http://f.example/"), [-1])
        self.raw("FLUSHALL", "SYNC")
        wait_for(lambda: b"bf_memory_bytes:0\r" in self.raw("INFO", "bf"))
