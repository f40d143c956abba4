# SPDX-License-Identifier: MIT
"""A site on loopback for the tests of unseen.scrapy, and crawls of it in processes of their own.

Page i links to pages 2i + 1 and 2i + 2, each in two spellings, and to two pages anywhere; so each page
but those with much luck has one way to be found."""

import asyncio
import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Site:
    """Serves n pages, and counts how often each is fetched. Under /gone, /away/I, /late/I, /cut and /all are an
    error, a redirect to page I, a page that fails twice, a connection that is cut, and links to all pages."""

    def __init__(self, n):
        self.n = n
        self.is_held = False  #: no answer is sent meanwhile
        self.is_enough = lambda: False  #: nor while this is true
        self.fetched = collections.Counter()
        self.log = []  #: (time, path) of each fetch
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._talk, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self.start = f"http://127.0.0.1:{self.port}/p/0"
        self._ready.set()
        self._loop.run_forever()
        server.close()

    async def _talk(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                self.fetched[path.partition("?")[0]] += 1
                self.log.append((time.time(), path.partition("?")[0]))
                while self.is_held or self.is_enough():
                    await asyncio.sleep(0.01)
                answer = self._answer(path)
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, path):
        name, _, rest = path[1:].partition("/")
        if name == "cut":
            return None
        if name == "away":
            return _http("301 Moved", b"", f"Location: /p/{rest}\r\n")
        if name == "late" and self.fetched[path] < 3:
            return _http("503 Not now", b"")
        if name == "late":
            return _http("200 OK", b"late")
        if name == "all":
            return _http("200 OK", _links(range(self.n)))
        number = rest.partition("?")[0]
        if name != "p" or not number.isdigit() or int(number) >= self.n:
            return _http("404 Not found", b"")
        return _http("200 OK", self._page(int(number)))

    def _page(self, i):
        rng = random.Random(i)
        links = [2 * i + 1, 2 * i + 2, rng.randrange(self.n), rng.randrange(self.n)]
        return _links(link for link in links if link < self.n)

    def pages(self):
        """How often each page was fetched."""
        return {path: n for path, n in dict(self.fetched).items() if path.startswith("/p/")}

    def missing(self):
        """The pages that were never fetched."""
        return [i for i in range(self.n) if not self.fetched[f"/p/{i}"]]

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _links(pages):
    links = [f'<a href="/p/{i}?b=2&amp;a=1">x</a><a href="/p/{i}?a=1&amp;b=2#top">x</a>' for i in pages]
    return ("<html><body>" + " ".join(links) + "</body></html>").encode()


def _http(status, body, more=""):
    return (f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{more}\r\n").encode() + body


def command(start, *settings, spider="scrapy_spider.py"):
    """The command that crawls from there."""
    made = [sys.executable, "-m", "scrapy", "runspider", os.path.join(HERE, spider), "-a", f"start={start}"]
    for setting in settings:
        made += ["-s", setting]
    return made


def crawl(start, *settings, folder, spider="scrapy_spider.py", status=0):
    """Crawls until it ends. Returns the log."""
    done = subprocess.run(command(start, *settings, spider=spider), cwd=folder, stderr=subprocess.PIPE, text=True,
                          timeout=600)
    if status is not None and done.returncode != status:
        raise AssertionError(f"status {done.returncode}:\n{done.stderr[-5000:]}")
    return done.stderr


def crawl_and_kill(site, *settings, folder, until, is_ready=lambda: True, before=lambda: None, number=signal.SIGKILL,
                   spider="scrapy_spider.py"):
    """Crawls the site. As soon as until() is true the site answers no more, so that no crawl is too fast for the kill,
    which comes when is_ready() is true, too. before() is called before the kill; with no signal the crawl goes on to its
    end. The log is appended to the file log."""
    site.is_enough = until
    with open(os.path.join(folder, "log"), "a") as log:
        process = subprocess.Popen(command(site.start, *settings, spider=spider), cwd=folder, stderr=log)
        try:
            while process.poll() is None:
                if until() and is_ready():
                    before()
                    if number is not None:
                        process.send_signal(number)
                    site.is_enough = lambda: False
                    if process.wait() == 0 or number is not None:
                        return
                    break
                time.sleep(0.01)
        finally:
            site.is_enough = lambda: False
            if process.poll() is None:
                process.kill()
                process.wait()
    with open(os.path.join(folder, "log")) as log:
        raise AssertionError(f"status {process.returncode}:\n{log.read()[-5000:]}")
