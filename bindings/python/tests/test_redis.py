# SPDX-License-Identifier: MIT
"""connect("redis://..."): the methods of a store, against a real Redis with the module."""

import contextlib
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from unittest import mock

import unseen
from redis_server import READY, RedisServer, redis, wait_for
from unseen._redis_url import read_address, without_password

# A machine may stand still for longer than a lease lasts: those URLs are another worker's then, and are counted.
WORKER = """
import os, sys, time, unseen
LEASE = 1
with unseen.connect(sys.argv[1]) as c, open(sys.argv[2], "a") as done, open(sys.argv[2] + ".late", "a") as late:
    urls = [f"http://e.com/{i}" for i in range(int(sys.argv[3]))]
    left = urls
    while left:
        begin = time.monotonic()
        marks = c.claim_many(left[:50], LEASE)
        mine = [url for url, mark in zip(left, marks) if mark == 1]
        for url in mine:
            done.write(url + "\\n")
            done.flush()
        c.done(*mine)
        if time.monotonic() - begin > 0.9 * LEASE:
            late.write("late\\n" * len(mine))
            late.flush()
        left = left[50:] + [url for url, mark in zip(left, marks) if mark == -1]
        if not mine:
            time.sleep(0.02)
"""


def there(host="h", port=6379, username=None, password=None, db=0):
    return {"host": host, "port": port, "username": username, "password": password, "db": db}


def here(path="/p", username=None, db=0):
    return {"unix_socket_path": path, "username": username, "db": db}


# What cli/redis_url.c reads out of an address.
ADDRESSES = {
    "redis://h/crawl": (there(), b"crawl", 1),
    "valkey://h/crawl": (there(), b"crawl", 1),
    "redis://h/crawl#1": (there(), b"crawl#1", 1),
    "redis://h/a+b": (there(), b"a+b", 1),
    "redis://h/a%2Bb%20c%2fd": (there(), b"a+b c/d", 1),
    "redis://h/a%ffb": (there(), b"a\xffb", 1),
    "redis://h/\xfc": (there(), b"\xc3\xbc", 1),
    "redis://h/a\tb\n ": (there(), b"a\tb\n ", 1),
    "redis://h/a/b": (there(), b"a/b", 1),
    "redis://h//a": (there(), b"/a", 1),
    "redis://h/2/crawl": (there(db=2), b"crawl", 1),
    "redis://h/2/3": (there(db=2), b"3", 1),
    "redis://h/%32/crawl": (there(), b"2/crawl", 1),
    "redis://h/%32": (there(), b"2", 1),
    "redis://h/2a": (there(), b"2a", 1),
    "redis://h/1073741825/a": (there(), b"1073741825/a", 1),
    "redis://h/" + 511 * "a": (there(), 511 * b"a", 1),
    "redis://h/a?": (there(), b"a", 1),
    "redis://h/a?shards=64&": (there(), b"a", 64),
    "redis://h/a?shards=64&shards=0002": (there(), b"a", 2),
    "redis://H.Example:77/a": (there("H.Example", 77), b"a", 1),
    "redis://h:/a": (there(), b"a", 1),
    "redis://[::1]/a": (there("::1"), b"a", 1),
    "redis://[::1]:77/a": (there("::1", 77), b"a", 1),
    "redis://a%2eb/a": (there("a.b"), b"a", 1),
    "redis://ann@h/a": (there(username=b"ann"), b"a", 1),
    "redis://@h/a": (there(), b"a", 1),
    "redis://ann:p+w%2F%3f%40%ff@h/a": (there(username=b"ann", password=b"p+w/?@\xff"), b"a", 1),
    "redis://:p:w@h/a": (there(password=b"p:w"), b"a", 1),
    "redis://:p@w@h:7/a": (there(port=7, password=b"p@w"), b"a", 1),
    "redis://:100%@h/a": (there(password=b"100%"), b"a", 1),
    "redis://a%3ab:#[@h/a": (there(username=b"a:b", password=b"#["), b"a", 1),
    "redis+unix:/p?key=a+b": (here(), b"a+b", 1),
    "redis+unix:/p?key=a#b": (here(), b"a#b", 1),
    "redis+unix:///p?key=a=b%26c": (here(), b"a=b&c", 1),
    "redis+unix:p%20+q%3f#?key=a?b&user=a+b&db=7&shards=2": (here("p +q?#", b"a+b", 7), b"a?b", 2),
    "redis+unix:/p?key=a&key=b": (here(), b"b", 1),
    "redis+unix:/p?key=a@b": (here(), b"a@b", 1),
    "redis+unix:/p?key=a;user=b": (here(), b"a;user=b", 1),
}
NO_ADDRESSES = """
redis:// redis://h redis://h/ redis://h/0 redis://h/0/ redis:///a redis://:7/a redis://[]/a redis://[::1/a redis://[::1]7/a
redis://::1/a redis://h:0/a redis://h:65536/a redis://h:+7/a redis://h:7_0/a redis://h/a% redis://h/a%2 redis://h/a%2g
redis://h/a%+2 redis://h/a%00 redis://%/a redis://a%b@h/a redis://h?shards=2 redis://h/a?shards=3 redis://h/a?shards=0
redis://h/a?shards=2048 redis://h/a?shards= redis://h/a?shards=%32 redis://h/a?shards=+2 redis://h/a?ssl=1 redis://h/a?key=b redis://h/a?&
redis://h/a?shards=2&&shards=2 redis://h/a?b?shards=2 redis://h/a@b redis://:p/w@h/a redis://:p?w@h/a rediss://h/a valkeys://h/a
redis+unix: redis+unix:// redis+unix:?key=a redis+unix:/p redis+unix:/p?key= redis+unix:/p?db=1 redis+unix:/p?key=a&db=x
redis+unix:/p?key=a&db=1073741825 redis+unix:/p?key=a&password=b redis+unix:/p?key=%zz redis+unix:/p%00?key=a redis+unix:/p?Key=a
""".split() + ["redis://h/" + 512 * "a", "redis+unix:/p?key=" + 512 * "a", "redis+unix:" + 256 * "p" + "?key=a", "redis://h/a\0"]


@contextlib.contextmanager
def lost_answer():
    """The connection breaks when the first answer to UNSEEN.ADD has come."""
    read = redis.Connection.read_response
    is_lost = False

    def read_or_lose(connection, *args, **kwargs):
        nonlocal is_lost
        answer = read(connection, *args, **kwargs)
        if is_lost or not (isinstance(answer, list) and set(answer) == {1}):
            return answer
        is_lost = True
        connection.disconnect()
        raise redis.ConnectionError("the answer is lost")

    with mock.patch.object(redis.Connection, "read_response", read_or_lose):
        yield


class Address(unittest.TestCase):
    def test_parts(self):
        for address, parts in ADDRESSES.items():
            with self.subTest(address):
                self.assertEqual(read_address(address)[1:], parts)

    def test_refused(self):
        for address in NO_ADDRESSES:
            with self.subTest(address), self.assertRaises(unseen.SettingError):
                read_address(address)

    def test_no_password_is_shown(self):
        for address, shown in {
            "redis://ann:p%2Fw@h/a": "redis://ann@h/a",
            "redis://:pw@h/a?shards=2": "redis://h/a?shards=2",
            "redis://a@b:pw@h/a": "redis://a@b@h/a",
            "redis://:p@w@h/a": "redis://h/a",
            "redis://:p/w@h/a": "redis://",
            "rediss://ann:p?w@h/a": "rediss://",
            "redis://h/a#:b": "redis://h/a#:b",
            "redis+unix:/p:q?key=a@b": "redis+unix:/p:q?key=a@b",
            "h:7": "h:7",
        }.items():
            self.assertEqual(without_password(address), shown)
        with self.assertRaisesRegex(ValueError, "^redis:// is not an address"):
            read_address("redis://:p/w@h/a")


@unittest.skipUnless(READY, "no redis-server, no redis-py, or UNSEEN_MODULE does not name the module")
class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer()

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def setUp(self):
        self.server.client().flushall()

    def connect(self, key="crawl", **more):
        client = unseen.connect(f"{self.server.address}/{key}", **more)
        self.addCleanup(client.close)
        return client

    def test_an_interrupt_before_the_answer(self):
        """The answer that comes later is not that of the next question."""
        c = self.connect()
        self.server.process.send_signal(signal.SIGSTOP)
        with mock.patch.object(redis.Connection, "read_response", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                c.add("a")
        threading.Timer(0.5, self.server.process.send_signal, [signal.SIGCONT]).start()
        try:
            self.assertIs(c.contains("b"), False)
        except unseen.ClosedError:
            pass
        self.server.client().ping()  # the next test begins when the server goes on

    def test_methods(self):
        with self.connect() as c:
            self.assertEqual(c.profile, "crawl/1")
            self.assertIs(c.add("http://e.com/a"), True)
            self.assertIs(c.add(b"HTTP://E.com:80/a#top"), False)
            self.assertIn("http://e.com/a", c)
            self.assertIs(c.contains("http://e.com/b"), False)
            self.assertEqual(repr(c), f"<unseen.RedisClient '{self.server.address}/crawl', crawl/1>")
            self.assertEqual(c.add_many(["http://e.com/a", "http://e.com/b", b"", ""]), [False, True, True, False])
            with self.assertRaisesRegex(TypeError, "^item 1: a URL is str or bytes, not <class 'NoneType'>"):
                c.add_many(["a", None])
            urls = [f"http://e.com/{i}" for i in range(20_000)] + ["x" * 60_000 + str(i) for i in range(100)]
            self.assertEqual(c.add_many(iter(urls)).count(True), len(urls))
            self.assertTrue(all(c.contains_many(urls)))
            self.assertEqual(c.remove_many(["http://e.com/a", "http://e.com/never"]), [True, False])
            self.assertIs(c.remove("http://e.com/a"), False)
            self.assertEqual(c.add_many([]).tolist(), [])
            self.assertEqual(c.add_many(["a\nb", "a\0b", "ü", "a\nb"]), [True, True, True, False])
            for call in c.commit, lambda: c.commit(wait=False), c.refresh, lambda: c.update([]), lambda: c.discard("never"):
                self.assertIsNone(call())
            self.assertEqual(len(c), len(urls) + 5)
            info = c.info()
            self.assertLessEqual(set(info), set(unseen.Set().info()))
            with self.assertRaisesRegex(unseen.UnsupportedError, "keeps no URLs that could be taken: claim"):
                c.take(1, 60)
            self.assertEqual((info["profile"], info["filter"]), ("crawl/1", "compact"))
            self.assertLessEqual(info["fpr_promise"], 5e-9)
            self.assertFalse(c.closed)
        self.assertTrue(c.closed)
        self.assertEqual(len(self.connect()), len(urls) + 5)
        for call in lambda: c.add("x"), c.commit, c.refresh, c.__enter__:
            with self.assertRaises(unseen.ClosedError):
                call()

    def test_same_answers_as_a_set(self):
        urls = [f"http://e.com/{random.randrange(3000)}" for _ in range(10_000)]
        self.assertEqual(self.connect().add_many(urls).tolist(), unseen.Set().add_many(urls).tolist())

    def test_settings(self):
        c = self.connect("ids", profile="none", fpr=1e-6)
        self.assertEqual(c.profile, "none/1")
        self.assertEqual(c.add_many(["http://e.com/", "HTTP://e.com/"]), [True, True])
        self.assertEqual(self.connect("ids").profile, "none/1")
        with unseen.connect(f"{self.server.address}/3/a%2Fb"):
            pass
        self.assertEqual(redis.Redis(port=self.server.port, db=3).keys(), [b"a/b"])
        with unseen.connect(f"redis+unix:{self.server.socket}?key=crawl&db=3") as c:
            self.assertTrue(c.add("x"))

    def test_window(self):
        """A key is made with a window, which others must agree with; its URLs are new again when the window has ended."""
        with self.connect("w", window="1.5h") as visited:
            self.assertEqual((visited.info()["window"], visited.info()["oldest"]), (5400, None))
            began = time.time() - 1
            self.assertTrue(visited.add("http://e.com/"))
            self.assertTrue(began < visited.info()["oldest"] < time.time() + 1)
        with self.connect("w") as visited, self.connect("w", window=5400):
            self.assertIn("http://e.com/", visited)
        with self.assertRaisesRegex(unseen.SettingError, "/w has the window 5400 s, and window is 604800 s"):
            self.connect("w", window="7d")
        self.connect("none").close()
        with self.assertRaisesRegex(unseen.SettingError, "/none has no window, and window is 1.25 s"):
            self.connect("none", window=1.25)
        for window in "soon", 0.5, -1:
            with self.assertRaises(unseen.SettingError):
                self.connect("other", window=window)
        with self.connect("s", window=1) as visited:
            self.assertTrue(visited.add("http://e.com/"))
            wait_for(lambda: "http://e.com/" not in visited)
            self.assertGreater(time.time() - began, 1)
            self.assertEqual((len(visited), visited.info()["oldest"]), (0, None))
            self.assertTrue(visited.add("http://e.com/"))

    def test_names_of_keys(self):
        """Any bytes are a key, the same as for the tool."""
        names = {"crawl#1": b"crawl#1", "crawl#2": b"crawl#2", "a+b": b"a+b", "a%ffb": b"a\xffb", "%C3%BC": b"\xc3\xbc"}
        for name in names:
            self.assertTrue(self.connect(name).add("http://e.com/"), name)
        self.assertEqual(set(self.server.client().keys()), set(names.values()))
        self.assertTrue(self.connect("wide%ff?shards=2").add("http://e.com/"))
        self.assertEqual(len(self.server.client().keys(b"wide\xff:{*}")), 2)
        with unseen.connect(f"redis+unix:{self.server.socket}?key=crawl#1") as c:
            self.assertIn("http://e.com/", c)
        if tool := os.environ.get("UNSEEN"):
            for name in names:
                found = subprocess.run([tool, "check", "-c", f"{self.server.address}/{name}"], input="http://e.com/\n", text=True,
                                       capture_output=True)
                if "without hiredis" not in found.stderr:
                    self.assertEqual(found.stdout, "1\n", found.stderr)

    def test_leases(self):
        c = self.connect()
        c.add("http://e.com/known")
        self.assertEqual(c.claim_many(["http://e.com/1", "http://e.com/2", "HTTP://e.com/1", "http://e.com/known"], 36000), [1, 1, -1, 0])
        self.assertIsNone(c.lease("http://e.com/1", 36000))
        self.assertEqual(c.renew(36000, "http://e.com/1", "http://e.com/3"), 1)
        self.assertNotIn("http://e.com/1", c)
        self.assertEqual(c.done("http://e.com/1", "http://e.com/1"), 1)
        self.assertIn("http://e.com/1", c)
        token = c.lease("http://e.com/4", 36000)
        self.assertEqual(c.give_back(token), 1)
        wait_for(lambda: c.lease("http://e.com/4", 36000))

    def test_workers_are_killed(self):
        """Each URL is done by somebody, whoever dies; those that nobody was killed over only once."""
        n, done = 4000, os.path.join(self.server.folder, "done")
        c = self.connect("work")
        # The test has a URL itself, so that the workers, however fast, are not done before the kills.
        last = f"http://e.com/{n - 1}"
        token = c.lease(last, 36000)

        def start():
            worker = subprocess.Popen([sys.executable, "-c", WORKER, f"{self.server.address}/work", done, str(n)])
            self.addCleanup(worker.wait)
            self.addCleanup(worker.kill)
            return worker

        def nlines(path):
            with open(path) as f:
                return len(f.readlines())

        open(done, "w").close()
        workers = [start() for _ in range(4)]
        before, nkills = 0, 0
        while nkills < 6:
            # Between two kills something is done, or all is done that can be.
            wait_for(lambda: nlines(done) > before or len(c) == n - 1)
            before = nlines(done)
            at = random.randrange(4)
            self.assertIsNone(workers[at].poll())
            workers[at].kill()
            workers[at].wait()
            nkills += 1
            workers[at] = start()
        with open(done, "a") as f:
            f.write(last + "\n")
        self.assertEqual(c.done(token), 1)
        for worker in workers:
            worker.wait()
        self.assertEqual({worker.returncode for worker in workers}, {0})
        with open(done) as f:
            lines = f.read().split()
        self.assertEqual(len(set(lines)), n)
        self.assertLessEqual(len(lines), n + 50 * nkills + nlines(done + ".late"))
        self.assertEqual(len(c), n)

    def test_errors(self):
        raw = self.server.client()
        raw.set("text", "x")
        with self.assertRaisesRegex(unseen.Error, "^redis://127.0.0.1:[0-9]+/text: .*wrong kind of value"):
            self.connect("text")
        raw.execute_command("UNSEEN.RESERVE", "small", "MAXBYTES", 100000)
        c = self.connect("small")
        added = 0
        with self.assertRaisesRegex(unseen.Error, "MAXBYTES"):
            for i in range(1000):
                added += c.add_many([f"http://e.com/{i}/{k}" for k in range(100)]).count(True)
        self.assertGreaterEqual(len(c), added)
        raw.config_set("maxmemory", 1)
        with self.assertRaisesRegex(unseen.Error, "maxmemory"):
            self.connect("other")
        raw.config_set("maxmemory", 0)
        with self.assertRaises(ValueError):
            unseen.connect("unix:/nowhere", profile="none")
        for address in ("redis://h", "redis://h/", "redis://h/0", "redis://:x:y@h:z/k", "redis:///k", "redis+unix:?key=k",
                        "redis+unix:/s", "redis://h/k?shards=3", "redis://h/k?ssl=1", "rediss://h/k"):
            with self.assertRaises(ValueError):
                unseen.connect(address)
        for call in (c.add, c.contains, c.remove):
            with self.assertRaises(TypeError):
                call(7)
        with self.assertRaises(unseen.FileError):
            unseen.connect("redis://127.0.0.1:1/crawl")
        with self.assertRaises(unseen.MissingError):
            unseen.connect("redis+unix:/nowhere/sock?key=crawl")
        with self.assertRaises(TypeError):
            pickle.dumps(c)

    def test_password(self):
        server = RedisServer("--requirepass", "p/w@x")
        self.addCleanup(server.end)
        address = server.address.replace("//", "//:p%2Fw%40x@")
        with unseen.connect(address + "/crawl") as c:
            self.assertTrue(c.add("x"))
            with unseen.connect(server.address + "/crawl", token="p/w@x") as d:
                self.assertFalse(d.add("x"))
            server.stop()
            for call in (lambda: c.add("y"), lambda: unseen.connect(address + "/crawl")):
                with self.assertRaises(unseen.FileError) as caught:
                    call()
                self.assertNotIn("p%2F", str(caught.exception))
        with self.assertRaises(ValueError) as caught:
            unseen.connect("redis://:p%2Fw@127.0.0.1:1/")
        self.assertNotIn("p%2F", str(caught.exception))
        server = RedisServer("--requirepass", "x")
        self.addCleanup(server.end)
        with self.assertRaisesRegex(unseen.Error, "(?i)authentication"):
            unseen.connect(server.address + "/crawl")

    def test_no_module(self):
        server = RedisServer(module=False)
        self.addCleanup(server.end)
        with self.assertRaisesRegex(unseen.Error, "--loadmodule"):
            unseen.connect(server.address + "/crawl")

    def test_strange_server(self):
        """Answers that cannot be are errors, never answers."""
        info = b"*2\r\n$7\r\nprofile\r\n$6\r\nnone/1\r\n"
        for answer in (b"*2\r\n:1\r\n:1\r\n", b"*3\r\n:1\r\n:2\r\n:0\r\n", b"*3\r\n:1\r\n$1\r\n1\r\n:0\r\n", b"+OK\r\n", b"HTTP/1.1 400\r\n",
                       b"*1\r\n-ERR no\r\n"):
            listener = socket.create_server(("127.0.0.1", 0))

            def serve():
                connection = listener.accept()[0]
                with connection:
                    while data := connection.recv(1 << 16):
                        for word in data.split(b"\r\n"):
                            if word == b"UNSEEN.INFO":
                                connection.sendall(info)
                            elif word == b"UNSEEN.ADD":
                                connection.sendall(answer)
                            elif word in (b"CLIENT", b"HELLO"):
                                connection.sendall(b"+OK\r\n")

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            c = unseen.connect(f"redis://127.0.0.1:{listener.getsockname()[1]}/crawl")
            with self.assertRaises(unseen.Error, msg=answer):
                c.add_many(["a", "b", "c"])
            c.close()
            listener.close()
            thread.join()

    def test_nothing_is_sent_twice(self):
        """An ADD whose answer is lost may have been done: sent again, it would answer 0."""
        listener = socket.create_server(("127.0.0.1", 0))
        adds = []

        def serve():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                with connection:
                    while data := connection.recv(1 << 16):
                        for word in data.split(b"\r\n"):
                            if word == b"UNSEEN.INFO":
                                connection.sendall(b"*2\r\n$7\r\nprofile\r\n$6\r\nnone/1\r\n")
                            elif word in (b"CLIENT", b"HELLO"):
                                connection.sendall(b"+OK\r\n")
                            elif word == b"UNSEEN.ADD":
                                adds.append(data)
                        if adds and data == adds[-1]:
                            if len(adds) == 1:
                                break
                            connection.sendall(b"*1\r\n:0\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with unseen.connect(f"redis://127.0.0.1:{listener.getsockname()[1]}/crawl") as c:
            with self.assertRaises(unseen.FileError):
                c.add("http://e.com/")
        self.assertEqual(len(adds), 1)
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()

    def test_threads(self):
        c = self.connect()
        urls = [f"http://e.com/{i}" for i in range(5000)]
        news = []
        threads = [threading.Thread(target=lambda: news.append(c.add_many(random.sample(urls, len(urls))).count(True))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(news), len(urls))

    def test_fork(self):
        c = self.connect()
        child = os.fork()
        if child == 0:
            try:
                c.add("x")
            except RuntimeError:
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertTrue(c.add("x"))


@unittest.skipUnless(READY, "no redis-server, no redis-py, or UNSEEN_MODULE does not name the module")
class Cluster(unittest.TestCase):
    def test_cluster(self):
        servers = [RedisServer("--cluster-enabled", "yes") for _ in range(3)]
        for server in servers:
            self.addCleanup(server.end)
        made = subprocess.run(["redis-cli", "--cluster", "create", *[f"127.0.0.1:{s.port}" for s in servers], "--cluster-yes"],
                              capture_output=True, text=True)
        self.assertIn("All 16384 slots covered", made.stdout)
        for server in servers:
            while "cluster_state:ok" not in subprocess.run(["redis-cli", "-p", str(server.port), "CLUSTER", "INFO"], capture_output=True, text=True).stdout:
                time.sleep(0.05)
        urls = [f"http://e.com/{i}" for i in range(3000)]
        for server in servers:
            with unseen.connect(f"{server.address}/crawl{server.port}") as c:
                self.assertEqual(c.add_many(urls).count(True), len(urls))
                self.assertEqual(c.add_many(urls).count(True), 0)
                self.assertEqual(c.claim_many(urls[:2], 36000), [0, 0])
        with unseen.connect(f"{servers[0].address}/wide?shards=16") as c:
            self.assertEqual(c.add_many(urls).count(True), len(urls))
            self.assertEqual(c.add_many(url.upper() for url in urls[:10]).count(True), 0)
            self.assertEqual(len(c), len(urls))
        keys = [key for server in servers for key in server.client().keys("wide:*")]
        self.assertEqual(len(keys), 16)
        with unseen.connect(f"{servers[0].address}/lost?shards=16") as c, lost_answer():
            # Sent again, the URLs of that answer would be seen.
            with self.assertRaisesRegex(unseen.FileError, "the answer is lost"):
                c.add_many(urls)
            self.assertEqual(len(c), sum(map(c.contains, urls)))
        self.assertTrue(all(server.client().keys("wide:*") for server in servers))
        if tool := os.environ.get("UNSEEN"):  # the same keys for the tool
            found = subprocess.run([tool, "check", "-c", f"{servers[1].address}/wide?shards=16"], input="\n".join(urls), text=True,
                                   capture_output=True)
            if "without hiredis" not in found.stderr:
                self.assertEqual(found.stdout, f"{len(urls)}\n", found.stderr)
