# SPDX-License-Identifier: MIT
"""connect(): the methods of a store, against a real `unseen serve`."""

import errno
import linecache
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import unseen

TOOL = os.environ.get("UNSEEN")


class Server:
    """`unseen serve` on a socket in a folder of its own."""

    def __init__(self, *options, listen=None):
        self.folder = tempfile.TemporaryDirectory()
        self.store = os.path.join(self.folder.name, "store")
        self.process = subprocess.Popen(
            [TOOL, "serve", self.store, *options, "--listen", listen or f"unix:{self.folder.name}/sock"],
            stderr=subprocess.PIPE, text=True)
        self.address = self.process.stderr.readline().rsplit(" ", 1)[1].strip()

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()


@unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
class Client(unittest.TestCase):
    def serve(self, *options, **more):
        server = Server(*options, **more)
        self.addCleanup(server.stop)
        return server

    def test_methods(self):
        server = self.serve()
        with unseen.connect(server.address) as c:
            self.assertEqual(c.profile, "crawl/1")
            self.assertIs(c.add("http://e.com/a"), True)
            self.assertIs(c.add(b"HTTP://E.com:80/a#top"), False)
            self.assertIn("http://e.com/a", c)
            self.assertIs(c.contains("http://e.com/b"), False)
            self.assertEqual(c.add_many(["http://e.com/a", "http://e.com/b", b"", ""]), [False, True, True, False])
            urls = [f"http://e.com/{i}" for i in range(10_000)] + ["x" * 60_000 + str(i) for i in range(100)]
            self.assertEqual(c.add_many(iter(urls)).count(True), len(urls))
            self.assertTrue(all(c.contains_many(urls)))
            self.assertEqual(c.remove_many(["http://e.com/a", "http://e.com/never"]), [True, False])
            self.assertIs(c.remove("http://e.com/a"), False)
            self.assertEqual(c.add_many([]).tolist(), [])
            self.assertIsNone(c.commit())
            self.assertEqual(len(c), len(urls) + 2)
            self.assertEqual(c.info()["profile"], "crawl/1")
            with unseen.connect(server.address) as other:
                self.assertNotIn("http://e.com/a", other)
                self.assertIn("http://e.com/b", other)

    def test_as_a_store(self):
        """The arguments of a store, and what a block does at its end."""
        server = self.serve()

        def durable():
            with unseen.connect(server.address) as other:
                return other.stats()["durable"]

        with unseen.connect(server.address) as c:
            self.assertEqual(repr(c), f"<unseen.ServeClient {server.address!r}, crawl/1>")
            with unseen.open(os.path.join(server.folder.name, "other")) as store:
                store.add("a")
                self.assertLessEqual(set(store.info()) - {"torn_bytes", "in_parts"}, set(c.info()))
            self.assertIsNone(c.update(["a", "b"]))
            self.assertIsNone(c.discard("b"))
            self.assertIsNone(c.refresh())
            self.assertIsNone(c.commit(wait=False))
            self.assertEqual((len(c), "a" in c), (1, True))
            with self.assertRaisesRegex(unseen.UnsupportedError, "has no claims: lease"):
                c.claim_many(["a"], 60)
        self.assertEqual(durable(), 3)
        self.assertEqual(repr(c), f"<unseen.ServeClient {server.address!r}, closed>")
        self.assertIsNone(c.close())
        changes = [lambda c: c.add("c"), lambda c: c.add_many(["d"]), lambda c: c.remove("d"), lambda c: c.done(c.lease("e", 60))]
        for i, change in enumerate(changes):
            with self.subTest(i), unseen.connect(server.address) as c:
                change(c)
            self.assertEqual(durable(), 4 + i)
        c = unseen.connect(server.address)
        c.add("f")
        c.close(commit=False)
        with self.assertRaises(KeyError), unseen.connect(server.address) as c:
            c.add("g")
            raise KeyError
        with unseen.connect(server.address) as c:
            self.assertEqual(c.contains_many(["f", "g"]), [True, True])
        c = unseen.connect(server.address, timeout=0.3)
        c.add("h")
        server.process.send_signal(signal.SIGSTOP)
        with self.assertRaisesRegex(unseen.FileError, "timed out"):
            c.close()
        server.process.send_signal(signal.SIGCONT)
        self.assertTrue(c.closed)

    def test_a_store_without_a_log(self):
        server = self.serve("--no-log")
        with unseen.connect(server.address) as c:
            self.assertTrue(c.add("a"))

    def test_leases(self):
        server = self.serve()
        with unseen.connect(server.address) as a, unseen.connect(server.address) as b:
            token = a.lease("http://e.com/a", 36000)
            self.assertIsInstance(token, str)
            self.assertIsNone(b.lease("http://e.com/a#x", 36000))
            self.assertEqual(a.stats()["leases"], 1)
            self.assertEqual(a.renew(36000, token, "0.0"), 1)
            self.assertEqual(a.give_back(token), 1)
            self.assertEqual(a.done(token), 0)
            (job,) = b.take(10, 36000)
            self.assertEqual(job[1], b"http://e.com/a")
            self.assertEqual(b.take(10, 36000), [])
            self.assertEqual(b.done(job[0]), 1)
            self.assertIsNone(a.lease("http://e.com/a", 36000))
            tokens = [a.lease(f"http://e.com/{i}", 36000) for i in range(1000)]
            self.assertEqual(a.give_back(*tokens), 1000)
            jobs = []
            while got := b.take(1000, 36000):
                jobs += got
            self.assertEqual({url for _, url in jobs}, {b"http://e.com/%d" % i for i in range(1000)})
            self.assertEqual(b.done(*(token for token, _ in jobs)), 1000)
            self.assertEqual((len(a), a.stats()["leases"]), (1001, 0))
            with self.assertRaisesRegex(unseen.Error, "L needs"):
                a.lease("http://e.com/b", 0)
            self.assertIs(a.add("http://e.com/b"), True)
            # The command counts, too: the line may have 1 MiB.
            longest = "http://e.com/" + "x" * ((1 << 20) - len("L 36000 http://e.com/"))
            token = a.lease(longest, 36000)
            with self.assertRaisesRegex(ValueError, "too long"):
                a.lease(longest + "x", 36000)
            self.assertEqual(a.give_back(token), 1)
            self.assertEqual(b.take(1, 36000)[0][1], longest.encode())

    def test_arrow(self):
        try:
            import pyarrow as pa
        except ImportError:
            self.skipTest("no pyarrow")
        with unseen.connect(self.serve().address) as c:
            array = pa.chunked_array([["a", None, "b"], ["a", None]])
            self.assertEqual(c.add_many(array).tolist(), [True, None, True, False, None])
            self.assertEqual(c.add_many(pa.array([None], pa.string())).tolist(), [None])

    def test_many_clients(self):
        server = self.serve()
        urls = [f"http://e.com/{i}" for i in range(5000)]
        new = []

        def add(one_by_one):
            with unseen.connect(server.address) as c:
                new.append(sum(map(c.add, urls[:500])) if one_by_one else c.add_many(urls).count(True))

        threads = [threading.Thread(target=add, args=(i % 2,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(new), len(urls))

    def test_many_threads_of_one_client(self):
        with unseen.connect(self.serve().address) as c:
            new = []
            urls = [f"http://e.com/{i}" for i in range(3000)]
            threads = [threading.Thread(target=lambda: new.append(c.add_many(urls).count(True))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sum(new), len(urls))

    def test_token(self):
        with tempfile.TemporaryDirectory() as folder:
            token_file = os.path.join(folder, "token")
            with open(token_file, "w") as file:
                file.write("secret-enough-token\n")
            os.chmod(token_file, 0o600)
            server = self.serve("--token-file", token_file, listen="127.0.0.1:0")
            with unseen.connect(server.address) as c:
                self.assertNotIn("a", c)
                with self.assertRaisesRegex(unseen.Error, "here are only answers to questions"):
                    c.add("a")
                with self.assertRaisesRegex(unseen.Error, "here are only answers to questions"):
                    c.add_many(["a"])
            with self.assertRaisesRegex(unseen.Error, "the token is wrong"):
                unseen.connect(server.address, token="wrong")
            with unseen.connect(server.address, token="secret-enough-token") as c:
                self.assertTrue(c.add("a"))

    def test_bad_input(self):
        with unseen.connect(self.serve().address) as c:
            with self.assertRaisesRegex(ValueError, "a newline"):
                c.add("a\nA b")
            with self.assertRaisesRegex(ValueError, "too long"):
                c.add("x" * (1 << 20))
            for wrong in None, 1, bytearray(b"a"):
                with self.assertRaises(TypeError):
                    c.add(wrong)
                with self.assertRaises(TypeError):
                    c.add_many(["a", [wrong]])
            with self.assertRaisesRegex(TypeError, "put the one URL into a list"):
                c.add_many("a")
            with self.assertRaises(UnicodeEncodeError):
                c.add("\ud800")
            self.assertEqual(len(c), 0)
            with self.assertRaisesRegex(TypeError, "cannot be pickled or copied: call unseen.connect in the other process"):
                pickle.dumps(c)
            with self.assertRaisesRegex(TypeError, "^item 1: a URL is str or bytes, not <class 'NoneType'>"):
                c.add_many(["a", None])
        for call in (lambda: c.add("a"), lambda: len(c), c.commit, lambda: c.commit(wait=False), lambda: c.add_many(["a"]),
                     c.refresh, c.__enter__):
            with self.assertRaisesRegex(unseen.ClosedError, "it is closed"):
                call()
        c.close()

    def test_addresses(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError):
                unseen.connect(f"unix:{folder}/nobody")
            with self.assertRaisesRegex(unseen.FileError, "127.0.0.1:1: "):
                unseen.connect("127.0.0.1:1")
            for wrong in "", "host", "nope", "host:", "unix", "host:port", "host:65536", "host:-1", "host:٣", "host:7007x", "//h/k":
                with self.assertRaisesRegex(unseen.SettingError, "is not an address"):
                    unseen.connect(wrong)
            for wrong in 0, -1, float("nan"):
                with self.assertRaisesRegex(unseen.SettingError, "timeout is a number of seconds, more than 0"):
                    unseen.connect("127.0.0.1:1", timeout=wrong)
            with self.assertRaisesRegex(unseen.SettingError, "has its profile, its rate and its window already"):
                unseen.connect("127.0.0.1:1", profile="crawl")
            for call, code, path in (
                (lambda: unseen.connect(f"unix:{folder}/nobody"), errno.ENOENT, f"{folder}/nobody"),
                (lambda: unseen.connect(f"unix:{folder}"), errno.ECONNREFUSED, folder),
                (lambda: unseen.connect("127.0.0.1:1"), errno.ECONNREFUSED, None),
                (lambda: unseen.connect("unix:" + "x" * 300), errno.EIO, "x" * 300),
            ):
                with self.assertRaises(OSError) as caught:
                    call()
                for error in caught.exception, pickle.loads(pickle.dumps(caught.exception)):
                    self.assertEqual((error.errno, error.filename), (code, path))
                    self.assertIsInstance(error, unseen.Error)
                    self.assertRegex(str(error), "^(unix|127.0.0.1):")

    def test_a_server_that_dies(self):
        server = Server()
        c = unseen.connect(server.address)
        c.add("a")
        server.stop(signal.SIGKILL)
        with self.assertRaises(unseen.FileError) as caught:
            c.add("b")
        self.assertIn(caught.exception.errno, (errno.ECONNRESET, errno.EPIPE))
        self.assertTrue(c.closed)
        with self.assertRaises(unseen.ClosedError):
            c.add("b")

    def test_a_server_that_is_too_slow(self):
        """What it answers when the client has given up is new again."""
        with tempfile.TemporaryDirectory() as folder:
            token = os.path.join(folder, "token")
            with open(token, "w") as file:
                file.write("secret-enough-token\n")
            os.chmod(token, 0o600)
            for server in self.serve(), self.serve("--token-file", token, listen="127.0.0.1:0"):
                ask = {"token": None if server.address.startswith("unix:") else "secret-enough-token"}
                slow = unseen.connect(server.address, timeout=0.3, **ask)
                server.process.send_signal(signal.SIGSTOP)
                with self.assertRaisesRegex(unseen.FileError, "timed out") as caught:
                    slow.add_many(["a", "b"])
                self.assertEqual(caught.exception.errno, errno.ETIMEDOUT)
                server.process.send_signal(signal.SIGCONT)
                with self.subTest(server.address), unseen.connect(server.address, **ask) as c:
                    while c.stats()["clients"] > 1:
                        pass
                    self.assertEqual(c.add_many(["a", "b"]), [True, True])

    def test_a_server_that_is_none(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer(text):
                connection = server.accept()[0]
                connection.sendall(text)
                connection.close()

            address = "127.0.0.1:%d" % server.getsockname()[1]
            for text in b"", b"220 mail\r\n", b"E the server is full\n", b"unseen 1 profile=crawl/1":
                thread = threading.Thread(target=answer, args=(text,))
                thread.start()
                with self.assertRaises(unseen.Error):
                    unseen.connect(address)
                thread.join()
            with self.assertRaises(unseen.FileError):
                unseen.connect(address, timeout=0.1)

    def test_marks_that_no_server_sends(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer(marks):
                connection = server.accept()[0]
                connection.sendall(b"unseen 1 profile=crawl/1\n")
                connection.recv(1000)
                connection.sendall(marks)
                connection.close()

            for marks in b"1\n", b"111\n", b"1Z\n", b"\n":
                thread = threading.Thread(target=answer, args=(marks,))
                thread.start()
                c = unseen.connect("127.0.0.1:%d" % server.getsockname()[1])
                with self.assertRaisesRegex(unseen.Error, "is not one of"):
                    c.add_many(["a", "b"])
                self.assertTrue(c.closed)
                thread.join()

    def test_an_interrupt_at_each_line(self):
        """A client that goes on after an interrupt has no answer of another question."""
        server = self.serve()
        clients = unseen.ServeClient.__init__.__code__.co_filename

        def interrupt(frame, event, arg):
            if frame.f_code.co_filename != clients:
                return None
            nonlocal left
            # No signal is handled between `with` and the acquired lock, or between `try` and what stands in it.
            line = linecache.getline(clients, frame.f_lineno).strip()
            is_counted = event == "line" and line != "try:" and not line.startswith("with self._lock")
            left -= is_counted
            if is_counted and left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
            return interrupt

        calls = {
            "add": lambda c, url: c.add(url),
            "add_many": lambda c, url: c.add_many([url, url]),
            "lease": lambda c, url: c.lease(url, 36000),
            "take": lambda c, url: c.take(1, 36000),
            "done": lambda c, url: c.done("0.0", "0.1"),
        }
        for name, call in calls.items():
            for n in range(1, 1000):
                url = f"http://e.com/{name}/{n}/"
                with self.subTest(name, n=n), unseen.connect(server.address) as c:
                    left = n
                    try:
                        sys.settrace(interrupt)
                        call(c, url)
                    except KeyboardInterrupt:
                        pass
                    finally:
                        sys.settrace(None)
                    if not c.closed:
                        self.assertEqual([c.add(url + letter) for letter in "aab"], [True, False, True])
                if left > 0:
                    break
            self.assertGreater(n, 10)

    def test_fork(self):
        with unseen.connect(self.serve().address) as c:
            pid = os.fork()
            if pid == 0:
                try:
                    c.add("a")
                except RuntimeError as error:
                    os._exit(0 if "belongs to the parent" in str(error) else 1)
                os._exit(2)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            self.assertTrue(c.add("a"))


if __name__ == "__main__":
    unittest.main()
