"""BF.* in both dialects: replies, errors, rates."""

import redis

from server import PATIENCE, Case, raw_client

ARITY = "wrong number of arguments for 'BF.%s' command"


class RedisBloom(Case):
    def test_add_and_ask(self):
        r = self.raw
        self.assertEqual(r("BF.ADD", "a", "x"), 1)
        self.assertEqual(r("BF.ADD", "a", "x"), 0)
        self.assertEqual(r("BF.MADD", "a", "x", "y", "y", "z"), [0, 1, 0, 1])
        self.assertEqual(r("BF.EXISTS", "a", "y"), 1)
        self.assertEqual(r("BF.EXISTS", "a", "q"), 0)
        self.assertEqual(r("BF.MEXISTS", "a", "x", "q", "z"), [1, 0, 1])
        self.assertEqual(r("BF.CARD", "a"), 3)
        self.assertEqual(r("BF.ADD", "a", b"\0\xff\r\n"), 1)
        self.assertEqual(r("BF.ADD", "a", b""), 1)
        self.assertEqual(r("BF.EXISTS", "a", b"\0\xff\r\n"), 1)
        self.assertEqual(r("BF.ADD", "a", b"u" * 100000), 1)
        self.assertEqual(r("BF.EXISTS", "a", b"u" * 100000), 1)

    def test_missing_and_other_types(self):
        r = self.raw
        r("SET", "s", "1")
        r("CF.ADD", "c", "x")
        for key in "none", "s", "c":
            self.assertEqual(r("BF.EXISTS", key, "x"), 0)
            self.assertEqual(r("BF.MEXISTS", key, "x", "y"), [0, 0])
        self.assertEqual(r("BF.CARD", "none"), 0)
        wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
        for key in "s", "c":
            for command in ("ADD", key, "x"), ("MADD", key, "x"), ("CARD", key), ("INFO", key):
                self.refused(wrong, "BF." + command[0], *command[1:])
            self.refused(wrong, "BF.RESERVE", key, "0.01", "100")
        self.refused("not found", "BF.INFO", "none")
        self.refused("not found", "BF.DEBUG", "none")
        self.refused("not found", "BF.SCANDUMP", "none", 0)

    def test_resp3(self):
        r = raw_client(self.server, 3)
        self.assertIs(r("BF.ADD", "a", "x"), True)
        self.assertIs(r("BF.ADD", "a", "x"), False)
        self.assertEqual(r("BF.MADD", "a", "x", "y"), [False, True])
        self.assertIs(r("BF.EXISTS", "a", "y"), True)
        self.assertEqual(r("BF.MEXISTS", "a", "q", "x"), [False, True])
        self.assertEqual(r("BF.INSERT", "a", "ITEMS", "i"), [True])
        self.assertEqual(r("BF.CARD", "a"), 3)
        info = r("BF.INFO", "a")
        self.assertEqual(list(info), [b"Capacity", b"Size", b"Number of filters",
                                      b"Number of items inserted", b"Expansion rate"])
        self.assertEqual(info[b"Number of items inserted"], 3)
        self.assertEqual(r("BF.INFO", "a", "items"), {b"Number of items inserted": 3})

    def test_reserve(self):
        r = self.raw
        self.assertEqual(r("BF.RESERVE", "a", "0.01", "1000"), b"OK")
        self.assertEqual(r("BF.RESERVE", "e", "0.01", "1000", "EXPANSION", "4"), b"OK")
        self.assertEqual(r("BF.RESERVE", "n", "0.01", "1000", "nonscaling"), b"OK")
        self.assertEqual(r("BF.RESERVE", "z", "0.01", "1000", "NONSCALING", "EXPANSION", "0"), b"OK")
        self.assertEqual(r("BF.RESERVE", "EXPANSION", "0.01", "10"), b"OK")
        self.assertEqual(r("BF.INFO", "e", "EXPANSION"), [4])
        self.assertEqual(r("BF.INFO", "n", "EXPANSION"), [None])
        self.assertEqual(r("BF.INFO", "z", "EXPANSION"), [None])
        self.assertEqual(r("BF.INFO", "a", "CAPACITY"), [1000])
        for arguments, text in (
            (("a", "0.01", "10"), "item exists"),
            (("k", "x", "10"), "bad error rate"),
            (("k", "nan", "10"), "bad error rate"),
            (("k", "0", "10"), "error rate must be in the range (0.000000, 1.000000)"),
            (("k", "1", "10"), "error rate must be in the range (0.000000, 1.000000)"),
            (("k", "-1", "10"), "error rate must be in the range (0.000000, 1.000000)"),
            (("k", "0.1", "x"), "bad capacity"),
            (("k", "0.1", "1.5"), "bad capacity"),
            (("k", "0.1", "0"), "capacity must be in the range [1, 1073741824]"),
            (("k", "0.1", "1073741825"), "capacity must be in the range [1, 1073741824]"),
            (("k", "0.1", str(2**62)), "capacity must be in the range [1, 1073741824]"),
            (("k", "0.1", "10", "EXPANSION"), "no expansion"),
            (("k", "0.1", "10", "EXPANSION", "x"), "bad expansion"),
            (("k", "0.1", "10", "EXPANSION", "-1"), "expansion must be in the range [0, 32768]"),
            (("k", "0.1", "10", "EXPANSION", "32769"), "expansion must be in the range [0, 32768]"),
            (("k", "0.1", "10", "EXPANSION", "2", "NONSCALING"), "Nonscaling filters cannot expand"),
            (("k", "1e-300", "10"), "could not create filter: no rate this low, 5e-9 is the least"),
            (("k", "0.1"), ARITY % "RESERVE"),
            (("k", "0.1", "1", "2", "3", "4", "5"), ARITY % "RESERVE"),
        ):
            self.refused(text, "BF.RESERVE", *arguments)
        self.assertEqual(r("EXISTS", "k"), 0)

    def test_insert(self):
        r = self.raw
        self.assertEqual(r("BF.INSERT", "a", "CAPACITY", "50", "ERROR", "0.001", "EXPANSION", "3",
                           "ITEMS", "x", "y", "x"), [1, 1, 0])
        self.assertEqual(r("BF.INFO", "a", "CAPACITY"), [50])
        self.assertEqual(r("BF.INFO", "a", "EXPANSION"), [3])
        self.assertEqual(r("BF.INSERT", "b", "cap", "50", "err", "0.001", "it", "x"), [1])
        self.assertEqual(r("BF.INSERT", "a", "NOCREATE", "ITEMS", "z"), [1])
        self.refused("not found", "BF.INSERT", "k", "NOCREATE", "ITEMS", "x")
        self.refused("Bad error rate", "BF.INSERT", "k", "ERROR", "x", "ITEMS", "x")
        self.refused("Bad expansion", "BF.INSERT", "k", "EXPANSION", "x", "ITEMS", "x")
        self.refused("Bad capacity", "BF.INSERT", "k", "CAPACITY", "x", "ITEMS", "x")
        self.refused("Unknown argument received", "BF.INSERT", "k", "WHAT", "1", "ITEMS", "x")
        for arguments in (), ("ITEMS",), ("CAPACITY", "1"), ("CAPACITY", "1", "ITEMS"):
            self.refused(ARITY % "INSERT", "BF.INSERT", "k", *arguments)
        self.assertEqual(r("EXISTS", "k"), 0)

    def test_full(self):
        r = self.raw
        r("BF.RESERVE", "n", "0.0001", "5", "NONSCALING")
        answers = r("BF.MADD", "n", *"12345678")
        self.assertEqual(answers[:5], [1] * 5)
        self.assertEqual([str(e) for e in answers[5:]], ["non scaling filter is full"])
        self.refused("non scaling filter is full", "BF.ADD", "n", "9")
        self.assertEqual(r("BF.ADD", "n", "3"), 0)
        self.assertEqual(r("BF.CARD", "n"), 5)

    def test_capacity_grows_as_in_redisbloom(self):
        """RedisBloom adds a filter, larger by the expansion, with the first item that the last filter has no room for.
        RedisBloom 2.8.2 gives these numbers for the same adds."""
        r = self.raw
        r("BF.RESERVE", "four", "0.001", 100, "EXPANSION", 4)
        r("BF.RESERVE", "one", "0.001", 100, "EXPANSION", 1)
        r("BF.RESERVE", "sized", "0.001", 10000)
        r("BF.RESERVE", "fixed", "0.001", 1000, "NONSCALING")
        rows = {"two": ((100, 100, 1), (101, 300, 2), (300, 300, 2), (301, 700, 3), (1501, 3100, 5)),
                "four": ((100, 100, 1), (101, 500, 2), (501, 2100, 3)),
                "one": ((100, 100, 1), (101, 200, 2), (300, 300, 3), (1000, 1000, 10)),
                "sized": ((10000, 10000, 1), (10001, 30000, 2), (30001, 70000, 3)), "fixed": ((900, 1000, 1),)}
        for key, row in rows.items():
            i = 0
            for nitems, capacity, nfilters in row:
                while (left := nitems - (r("BF.CARD", key))) > 0:
                    r("BF.MADD", key, *range(i, i + min(left, 1000)))
                    i += min(left, 1000)
                self.assertEqual([r("BF.INFO", key, field)[0] for field in ("ITEMS", "CAPACITY", "FILTERS")],
                                 [nitems, capacity, nfilters])

    def test_arity(self):
        for name, n in (("ADD", 0), ("ADD", 2), ("MADD", 0), ("EXISTS", 0), ("EXISTS", 2), ("MEXISTS", 0),
                        ("CARD", 1), ("INFO", 2), ("DEBUG", 1), ("SCANDUMP", 0), ("LOADCHUNK", 1), ("LOAD", 0)):
            self.refused(ARITY % name, "BF." + name, "k", *["0"] * n)

    def rate_of(self, key, nkeys):
        """The rate at nkeys keys, from 10^5 questions; nothing that was added is missing."""
        for i in range(0, nkeys, 1000):
            self.raw("BF.MADD", key, *[f"in{k}" for k in range(i, min(nkeys, i + 1000))])
        wrong = 0
        for i in range(0, 100000, 1000):
            wrong += sum(self.raw("BF.MEXISTS", key, *[f"out{k}" for k in range(i, i + 1000)]))
            if i < nkeys:
                known = [f"in{k}" for k in range(i, min(nkeys, i + 1000))]
                self.assertEqual(sum(self.raw("BF.MEXISTS", key, *known)), len(known))
        return wrong / 100000

    def test_rates(self):
        """Within four sigma of the promise, at capacity and far behind it."""
        for rate in 0.01, 0.001, 0.0001:
            for factor in 1, 30:
                self.raw("BF.RESERVE", f"{rate} {factor}", rate, 1000)
                bound = rate + 4 * (rate / 100000) ** 0.5
                self.assertLessEqual(self.rate_of(f"{rate} {factor}", 1000 * factor), bound)
        self.raw("BF.RESERVE", "n", 0.01, 30000, "NONSCALING")
        self.assertLessEqual(self.rate_of("n", 30000), 0.01 + 4 * (0.01 / 100000) ** 0.5)

    def test_effects_are_few(self):
        """A command that changes nothing replicates nothing."""
        self.raw("BF.MADD", "a", "x", "y")
        before = nchanges(self.server)
        self.raw("BF.MADD", "a", "x", "y")
        self.raw("BF.ADD", "a", "x")
        self.raw("BF.EXISTS", "a", "x")
        self.assertEqual(nchanges(self.server), before)
        self.raw("BF.ADD", "a", "new")
        self.assertGreater(nchanges(self.server), before)

    def test_watch(self):
        """WATCH notices an add, and nothing else."""
        client = self.server.client()
        client.execute_command("BF.ADD", "a", "x")
        for item, changed in ("x", False), ("new", True):
            with client.pipeline() as pipe:
                pipe.watch("a")
                client.execute_command("BF.ADD", "a", item)
                pipe.multi()
                pipe.execute_command("BF.CARD", "a")
                if changed:
                    self.assertRaises(redis.exceptions.WatchError, pipe.execute)
                else:
                    pipe.execute()

    def test_transactions_and_scripts(self):
        client = self.server.client()
        with client.pipeline(transaction=True) as pipe:
            pipe.execute_command("BF.ADD", "a", "x")
            pipe.execute_command("BF.EXISTS", "a", "x")
            self.assertEqual([int(x) for x in pipe.execute()], [1, 1])
        script = "return {redis.call('BF.ADD', KEYS[1], 'y'), redis.call('BF.EXISTS', KEYS[1], 'x')}"
        self.assertEqual(client.eval(script, 1, "a"), [1, 1])

    def test_events(self):
        client = self.server.client()
        client.config_set("notify-keyspace-events", "KEA")
        listener = client.pubsub()
        listener.psubscribe("__keyspace@0__:a")
        listener.get_message(timeout=PATIENCE)
        self.raw("BF.RESERVE", "a", "0.01", "100")
        self.raw("BF.ADD", "a", "x")
        self.raw("BF.ADD", "a", "x")
        self.raw("DEL", "a")
        events = [listener.get_message(timeout=PATIENCE)["data"] for _ in range(3)]
        self.assertEqual(events, [b"bloom.reserve", b"bloom.add", b"del"])

    def test_documentation(self):
        docs = self.raw("COMMAND", "DOCS", "bf.add", "cf.del")
        self.assertIn(b"summary", docs[1])
        self.assertEqual(self.raw("COMMAND", "GETKEYS", "BF.ADD", "k", "x"), [b"k"])
        flags = {row[0].lower(): row[2] for row in self.raw("COMMAND", "INFO", "bf.add", "bf.exists")}
        self.assertIn(b"write", flags[b"bf.add"])
        self.assertIn(b"denyoom", flags[b"bf.add"])
        self.assertIn(b"readonly", flags[b"bf.exists"])

    def test_access_lists(self):
        self.raw("ACL", "SETUSER", "reader", "on", ">p", "~a", "+bf.exists")
        self.raw("BF.ADD", "a", "x")
        reader = self.server.client()
        reader.execute_command("AUTH", "reader", "p")
        self.assertTrue(reader.execute_command("BF.EXISTS", "a", "x"))
        for command in ("BF.ADD", "a", "y"), ("BF.EXISTS", "b", "y"), ("UNSEEN.APPLY", "a", "+", ""):
            with self.assertRaises(redis.exceptions.NoPermissionError):
                reader.execute_command(*command)

    def test_module_list_and_info(self):
        row = next(row for row in self.raw("MODULE", "LIST") if b"bf" in row)
        self.assertGreaterEqual(row[row.index(b"ver") + 1], 20400)
        self.raw("BF.ADD", "a", "x")
        self.assertIn(b"bf_sets:1", self.raw("INFO", "bf"))
        self.raw("DEL", "a")
        self.assertIn(b"bf_sets:0", self.raw("INFO", "bf"))

    def test_memory_usage(self):
        small = self.raw("BF.RESERVE", "a", "0.01", "100000") and self.raw("MEMORY", "USAGE", "a")
        large = self.raw("BF.RESERVE", "b", "0.01", "500000") and self.raw("MEMORY", "USAGE", "b")
        self.assertGreater(small, 100000)
        self.assertGreater(large, 4 * small)


class Valkey(Case):
    module_arguments = ("dialect", "valkey")

    def test_replies(self):
        for protocol in 2, 3:
            r = raw_client(self.server, protocol)
            r("FLUSHALL")
            self.assertIs(type(r("BF.ADD", "a", "x")), int)
            self.assertEqual(r("BF.MADD", "a", "x", "y"), [0, 1])
            self.assertEqual(r("BF.INSERT", "a"), [])
            self.assertEqual(r("BF.INSERT", "a", "ITEMS", "z"), [1])
            self.assertEqual(r("BF.INFO", "a", "ITEMS"), 3)
            self.assertEqual(r("BF.INFO", "a", "CAPACITY"), 100)
            names = r("BF.INFO", "a")[::2]
            self.assertEqual(names, [b"Capacity", b"Size", b"Number of filters",
                                     b"Number of items inserted", b"Error rate", b"Expansion rate",
                                     b"Tightening ratio", b"Max scaled capacity"])

    def test_errors(self):
        r = self.raw
        r("SET", "s", "1")
        wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
        for command in ("ADD", "s", "x"), ("EXISTS", "s", "x"), ("MEXISTS", "s", "x"), ("CARD", "s"), ("INFO", "s"):
            self.refused(wrong, "BF." + command[0], *command[1:])
        for arguments, text in (
            (("k", "x", "10"), "bad error rate"),
            (("k", "0", "10"), "(0 < error rate range < 1)"),
            (("k", "0.1", "x"), "bad capacity"),
            (("k", "0.1", "0"), "(capacity should be larger than 0)"),
            (("k", "0.1", "10", "EXPANSION", "x"), "bad expansion"),
            (("k", "0.1", "10", "EXPANSION", "0"), "bad expansion"),
        ):
            self.refused(text, "BF.RESERVE", *arguments)
        with self.assertRaises(redis.exceptions.ResponseError):
            r("BF.RESERVE", "k", "0.1", "10", "NONSCALING", "EXPANSION", "2")
        for arguments, text in (
            (("TIGHTENING", "x"), "bad tightening ratio"),
            (("TIGHTENING", "1"), "(0 < tightening ratio range < 1)"),
            (("ERROR", "x"), "bad error rate"),
            (("cap", "1"), "unknown argument received"),
            (("NONSCALING", "VALIDATESCALETO", "1000"),
             "cannot use NONSCALING and VALIDATESCALETO options together"),
        ):
            self.refused(text, "BF.INSERT", "k", *arguments)
        self.refused("invalid information value", "BF.INFO", r("BF.ADD", "a", "x") and "a", "WHAT")
        self.assertEqual(r("EXISTS", "k"), 0)
        self.assertEqual(r("BF.INSERT", "k", "SEED", "s" * 32, "TIGHTENING", "0.5", "VALIDATESCALETO",
                           "1000000", "CAPACITY", "10", "ITEMS", "x"), [1])


def nchanges(server):
    """How many commands the server has replicated, or would have."""
    return server.client().info("persistence")["rdb_changes_since_last_save"]
