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

A worker that may die leases its URLs. What it leaves, others take:

    token = visited.lease(url, 60)
    if token:
        store(fetch(url))
        visited.done(token)
    for token, url in visited.take(10, 60):
        ...

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
AT_ONCE = 500  # requests that are sent before their answers are read


class UnseenError(Exception):
    pass


def _lines(urls):
    lines = [url if isinstance(url, bytes) else url.encode(errors="surrogateescape") for url in urls]
    if any(b"\n" in line for line in lines):
        raise ValueError("a URL with a newline in it")
    return lines


def _batch(urls):
    if isinstance(urls, (str, bytes)):
        raise TypeError("a batch is a list of URLs, not one string")
    return list(urls)


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
        until = time.monotonic() + (RECONNECT if self._connected else 0)
        while True:
            if self._address:
                self._connect(until)
            else:
                self._spawn()
            self.hello = self._greeting()
            if self.hello or not self._address or time.monotonic() >= until:
                break
            self._stop()  # the server has died before its greeting
            time.sleep(0.1)
        self._connected = True
        if not self.hello.startswith("unseen 1 "):
            raise UnseenError(self.hello[2:] or f"{self._command} did not start: exit status {self._stop()}")

    def _greeting(self):
        """Of the server, which has taken the token if there is one; "" if it has died."""
        hello = self._read().decode().rstrip()
        if self._token and hello.startswith("unseen 1 "):
            answer = self._ask_server(b"T %s\n" % self._token.encode())
            if answer.startswith(b"E "):
                raise UnseenError(f"{self._address} does not take the token")
            return hello if answer else ""
        return hello

    def _spawn(self):
        try:
            self._server = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise UnseenError(
                f"cannot start {self._command[0]} ({error.strerror}): install it, or say where it is by tool="
            ) from None
        self._in, self._out = self._server.stdin, self._server.stdout

    def _connect(self, until):
        self._server = None
        host, _, port = self._address.rpartition(":")
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

    def _stop(self):
        try:
            self._in.close()
        except OSError:
            pass  # unsent requests are sent again
        try:
            return self._server.wait() if self._server else 0
        finally:
            self._out.close()

    def _ask_server(self, request):
        self._send([request])
        return self._read()

    def _send(self, requests):
        try:
            self._in.write(b"".join(requests))
            self._in.flush()
        except OSError:
            pass  # the server has ended, perhaps after an answer

    def _read(self):
        try:
            return self._out.readline()
        except ConnectionError:
            return b""

    def _read_answer(self, request):
        """The lines of an answer. Only the answer to X, a number of lines, has more than one."""
        lines = [self._read()]
        if request.startswith(b"X ") and lines[0][:1].isdigit():
            lines += [self._read() for _ in range(int(lines[0]))]
        return lines

    def _ask_all(self, requests):
        """The answers to requests, which are sent many at a time. Asks a second server if the first dies."""
        if os.getpid() != self._pid:
            raise UnseenError("a forked process needs an Unseen of its own: one store, one server")
        answers, tries = [], 0
        with self._lock:
            if self._closed:
                raise UnseenError("it is closed")
            while len(answers) < len(requests):
                part = requests[len(answers) : len(answers) + AT_ONCE]
                try:
                    if self._out.closed:
                        self._start()
                    self._send(part)
                    for request in part:
                        answer = self._read_answer(request)
                        if not answer[-1].endswith(b"\n"):
                            break
                        answers.append([line[:-1] for line in answer])
                        tries = 0
                except BaseException:  # such as KeyboardInterrupt: the next line would be of this request, or a greeting
                    self._out.close()  # the server does not wait until somebody reads
                    self._stop()
                    raise
                if not answer[-1].endswith(b"\n"):
                    self._stop()
                    tries += 1
                    if tries == 2:
                        raise UnseenError("the server died twice of one request")
        for answer in answers:
            if answer[0].startswith(b"E "):
                raise UnseenError(answer[0][2:].decode(errors="replace").rstrip())
        return answers

    def _ask(self, head, *urls):
        return self._ask_all([head + b"\n".join(_lines(urls)) + b"\n"])[0][0].decode()

    def _ask_each(self, head, words):
        return [answer[0].decode() for answer in self._ask_all([head + line + b"\n" for line in _lines(words)])]

    def _ask_batch(self, letter, urls):
        urls = _batch(urls)
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

    def lease(self, url, seconds):
        """A token if url is new, and yours for so many seconds; False if it was seen, None if another
        worker has it."""
        return self.lease_batch([url], seconds)[0]

    def lease_batch(self, urls, seconds):
        """lease() for a list of URLs, many times as fast."""
        answers = self._ask_each(b"L %d " % seconds, _batch(urls))
        return [a[2:] if a.startswith("1 ") else False if a == "0" else None for a in answers]

    def done(self, *tokens):
        """Their URLs are in the store now. The number of tokens that were not late."""
        return self._ask_each(b"D ", tokens).count("OK")

    def give_back(self, *tokens):
        """Others may have their URLs. The number of tokens that were not late."""
        return self._ask_each(b"G ", tokens).count("OK")

    def renew(self, seconds, *tokens):
        """Their leases end so many seconds from now. The number of tokens that were not late."""
        return self._ask_each(b"N %d " % seconds, tokens).count("OK")

    def take(self, n, seconds):
        """Leases at most n (1,000) URLs that were given back or whose workers died: pairs of a token and a
        URL."""
        lines = self._ask_all([b"X %d %d\n" % (n, seconds)])[0][1:]
        return [tuple(line.decode(errors="surrogateescape").split(" ", 1)) for line in lines]

    def flush(self):
        """Returns when everything answered so far would survive a power cut."""
        self._ask(b"F")

    def info(self):
        return json.loads(self._ask(b"I"))

    def stats(self):
        """What the server did: clients, questions, leases and others."""
        return json.loads(self._ask(b"S"))

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
