# SPDX-License-Identifier: MIT
"""Have I seen this URL before? A client of `unseen serve`, whose protocol is in docs/serve.md.

    with Unseen("visited.unseen") as visited:
        if visited.new(url):
            fetch(url)

The client starts a server of its own for the store. Unseen("unix:/run/unseen.sock") and
Unseen("127.0.0.1:7007", token="...") connect to a server that many programs use.

If the server dies, the client starts a new server, or connects again, and sends all unanswered requests
again: the old server had not remembered them. Ctrl-C and SIGTERM, which often reach the server too, end
it in order.
Any number of threads may use an object; a process that is forked needs an object of its own. URLs are
str or bytes."""

import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

RECONNECT = 10  # seconds that a server may take to come back


class UnseenError(Exception):
    pass


class Unseen:
    def __init__(self, store, *options, tool="unseen", token=None):
        self._command = [tool, "serve", *options, store]
        self._address = store if re.fullmatch(r"unix:.+|(\[[0-9a-f:.]+\]|[0-9.]*):[0-9]+", store) else None
        self._token = token
        self._connected = False
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._closed = False
        self._start()

    def _start(self):
        if self._address:
            self._connect()
        else:
            self._spawn()
        self.hello = self._out.readline().decode().rstrip()
        if not self.hello.startswith("unseen 1 "):
            raise UnseenError(self.hello[2:] or f"{self._command} did not start: exit status {self._stop()}")
        if self._token and self._ask_server(b"T %s\n" % self._token.encode()) != b"OK\n":
            raise UnseenError(f"{self._address} does not take the token")

    def _spawn(self):
        try:
            self._server = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise UnseenError(
                f"cannot start {self._command[0]} ({error.strerror}): install it, or say where it is by tool="
            ) from None
        self._in, self._out = self._server.stdin, self._server.stdout

    def _connect(self):
        self._server = None
        host, _, port = self._address.rpartition(":")
        until = time.monotonic() + (RECONNECT if self._connected else 0)
        while True:
            try:
                if host == "unix":
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect(port)
                else:
                    connection = socket.create_connection((host.strip("[]") or "127.0.0.1", int(port)))
                break
            except OSError as error:
                if time.monotonic() >= until:
                    raise UnseenError(f"cannot connect to {self._address} ({error.strerror})") from None
                time.sleep(0.1)
        with connection:  # the files keep it open
            self._in, self._out = connection.makefile("wb"), connection.makefile("rb")
        self._connected = True

    def _stop(self):
        try:
            self._in.close()
        except OSError:
            pass  # unsent requests are sent again
        with self._out:
            return self._server.wait() if self._server else 0

    def _ask_server(self, request):
        try:
            self._in.write(request)
            self._in.flush()
        except OSError:
            pass  # the server has ended, perhaps after an answer
        try:
            return self._out.readline()
        except ConnectionError:
            return b""

    def _ask(self, head, *urls):
        lines = [url if isinstance(url, bytes) else url.encode() for url in urls]
        if any(b"\n" in line for line in lines):
            raise ValueError("a URL with a newline in it")
        if os.getpid() != self._pid:
            raise UnseenError("a forked process needs an Unseen of its own: one store, one server")
        request = head + b"\n".join(lines) + b"\n"
        with self._lock:
            if self._closed:
                raise UnseenError("it is closed")
            for _ in range(2):
                if self._out.closed:
                    self._start()
                try:
                    answer = self._ask_server(request)
                except BaseException:  # such as KeyboardInterrupt: the next answer would be of this request
                    self._stop()
                    raise
                if answer.startswith(b"E "):
                    raise UnseenError(answer[2:].decode(errors="replace").rstrip())
                if answer.endswith(b"\n"):
                    return answer[:-1].decode()
                self._stop()
        raise UnseenError("the server died twice of one request")

    def _ask_batch(self, letter, urls):
        if isinstance(urls, (str, bytes)):
            raise TypeError("a batch is a list of URLs, not one string")
        urls = list(urls)
        marks = self._ask(b"B %d %s\n" % (len(urls), letter), *urls) if urls else ""
        return [{"1": True, "0": False, "L": False}.get(mark) for mark in marks]

    def new(self, url):
        """Whether url is new. From now on it is not."""
        return self._ask(b"A ", url) == "1"

    def seen(self, url):
        """True if url is in the store. Changes nothing."""
        return self._ask(b"C ", url) == "1"

    def remove(self, url):
        """Forgets url; True if it was there."""
        return self._ask(b"R ", url) == "1"

    def new_batch(self, urls):
        """new() for a list of up to 10**6 URLs (65,536 of a server that many programs use), many times as
        fast; None for a URL it cannot take."""
        return self._ask_batch(b"A", urls)

    def seen_batch(self, urls):
        """seen() for a list of up to 10**6 URLs, many times as fast; None for a URL it cannot take."""
        return self._ask_batch(b"C", urls)

    def flush(self):
        """Returns when everything answered so far would survive a power cut."""
        self._ask(b"F")

    def info(self):
        return json.loads(self._ask(b"I"))

    def close(self):
        """Ends the server, which remembers everything first, or the connection."""
        with self._lock:
            if self._closed or os.getpid() != self._pid:
                return
            self._closed = True
            status = 0 if self._out.closed else self._stop()
        # SIGINT and SIGTERM end a server in order, and then it dies of the signal.
        if status not in (0, -signal.SIGINT, -signal.SIGTERM):
            raise UnseenError(f"the server ended with status {status}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
