# SPDX-License-Identifier: MIT
"""connect(): a store that `unseen serve` has, for many processes. docs/serve.md has the protocol."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from typing import TYPE_CHECKING, Any

from ._batches import batches
from ._redis import RedisClient
from ._redis_url import is_redis
from ._unseen import ClosedError, Error, FileError, Mask, MissingError, _mask, _strings

if TYPE_CHECKING:
    from ._unseen import _Urls as Urls

_BATCH = 1024
_LINE_MAX = 1 << 20
_AT_ONCE = 256  # requests


class TooLongError(ValueError):
    """A line of the protocol has no room for a URL."""


def connect(
    address: str,
    *,
    token: str | None = None,
    timeout: float | None = None,
    profile: str | None = None,
    fpr: float = 0,
) -> Client | RedisClient:
    """Connects to a server: "unix:/run/unseen.sock", "127.0.0.1:7007", or "redis://127.0.0.1/KEY" for a set of the
    module for Redis and Valkey. A server at a port lets those change the store who have its token; for Redis the token is
    the password. timeout: seconds that an answer may take. profile and fpr are for a key of Redis that does not exist
    yet."""
    if is_redis(address):
        return RedisClient(address, token=token, timeout=timeout, profile=profile, fpr=fpr)
    if profile or fpr:
        raise ValueError(f"{address}: the store of a server has its profile and its rate already")
    return Client(address, token=token, timeout=timeout)


class Client:
    """A served store; made by unseen.connect(). It has the methods of a store.

    Threads may share a client. A child process made by fork must connect itself. After an error of the
    connection, or an interrupt, the client is closed; what the server has not answered was not added.
    """

    def __init__(self, address: str, *, token: str | None = None, timeout: float | None = None) -> None:
        self._closed = True
        self._address = address
        self._lock = threading.Lock()
        self._pid = os.getpid()
        try:
            self._socket = _open(address, timeout)
            self._answers = self._socket.makefile("rb")
            self._closed = False
        except OSError as error:
            raise _connection_error(address, error) from None
        hello = self._exchange(self._line)
        if not hello.startswith(b"unseen 1 "):
            self._end()
            raise Error(f"{address}: {_sentence(hello) or 'the server ended the connection'}")
        pairs = dict(pair.split("=", 1) for pair in hello.decode().split()[2:])
        #: The URL identity of the store, as "crawl/1".
        self.profile = pairs.get("profile", "")
        if token is not None:
            self._ask(b"T " + _item(token))

    # ---- the connection

    def _end(self):
        self._closed = True
        self._answers.close()
        self._socket.close()

    def _line(self):
        line = self._answers.readline()
        if not line.endswith(b"\n"):
            raise Error(f"{self._address}: the server ended the connection")
        return line[:-1]

    def _exchange(self, talk):
        """What talk() returns. Anything that stops it ends the connection, such as a KeyboardInterrupt between two of
        its lines: the next answer would be that of another question."""
        try:
            return talk()
        except BaseException as error:
            # A server that answers too late has to notice: at a port, only a reset tells it that nobody reads any more.
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._end()
            if isinstance(error, OSError):
                raise _connection_error(self._address, error) from None
            raise

    def _ask(self, request):
        return self._ask_all([request])[0]

    def _ask_all(self, requests, lines_after=lambda answer: 0):
        """The answers to several requests. lines_after: how many lines follow the line of an answer; then the
        answer is a list of lines."""
        answers = []

        def talk():
            # Some at a time: the server stops reading when nobody takes its answers.
            for i in range(0, len(requests), _AT_ONCE):
                some = requests[i : i + _AT_ONCE]
                self._socket.sendall(b"".join(request + b"\n" for request in some))
                for _ in some:
                    answer = self._line()
                    n = 0 if answer.startswith(b"E ") else lines_after(answer)
                    answers.append([answer] + [self._line() for _ in range(n)] if n else answer)

        if os.getpid() != self._pid:
            raise RuntimeError("it belongs to the parent process: connect after the fork")
        with self._lock:
            if self._closed:
                raise ClosedError("it is closed")
            self._exchange(talk)
        for answer in answers:
            if answer[:2] == b"E ":
                raise Error(_sentence(answer))
        return answers

    def _ask_one(self, letter, url):
        answer = self._ask(letter + b" " + _item(url))
        return answer == b"1"

    def _ask_many(self, letter, urls):
        answers = bytearray()
        for batch in batches(_strings(urls), _item, _BATCH, _LINE_MAX):
            items = [item for item in batch if item is not None]
            marks = self._ask(b"\n".join([b"B %d %s" % (len(items), letter), *items])) if items else b""
            if len(marks) != len(items) or marks.strip(b"01E"):
                self._end()
                raise Error(f"{self._address}: this answer is not one of `unseen serve`: {_sentence(marks[:60])}")
            left = iter(marks)
            for item in batch:
                mark = None if item is None else next(left)
                if mark == ord("E"):  # asked alone, the URL gets the sentence
                    mark = ord("1" if self._ask_one(letter, item) else "0")
                answers.append(2 if mark is None else mark == ord("1"))
        return _mask(bytes(answers))

    # ---- the methods of a store

    def add(self, url: str | bytes, /) -> bool:
        """Adds the URL. True if it is new."""
        return self._ask_one(b"A", url)

    def contains(self, url: str | bytes, /) -> bool:
        """True if the URL is in the store; as `in`."""
        return self._ask_one(b"C", url)

    __contains__ = contains

    def remove(self, url: str | bytes, /) -> bool:
        """Removes the URL. True if it was there."""
        return self._ask_one(b"R", url)

    def add_many(self, urls: Urls, /) -> Mask:
        """Adds the strings of an iterable, or of an Arrow array, 1,024 at a time. The mask is True for
        each that is new."""
        return self._ask_many(b"A", urls)

    def contains_many(self, urls: Urls, /) -> Mask:
        """The mask is True for each URL that is in the store."""
        return self._ask_many(b"C", urls)

    def remove_many(self, urls: Urls, /) -> Mask:
        """Removes the URLs. The mask is True for each that was there."""
        return self._ask_many(b"R", urls)

    # ---- leases

    def lease(self, url: str | bytes, seconds: int, /) -> str | None:
        """A token if the URL is new: it is yours for so many seconds, and nobody else's. None if it was
        seen, or another worker has it."""
        words = b"L %d " % seconds
        answer = self._ask(words + _item(url, _LINE_MAX - len(words)))
        return answer[2:].decode() if answer.startswith(b"1 ") else None

    def take(self, n: int, seconds: int, /) -> list[tuple[str, bytes]]:
        """Leases at most n (1,000) URLs that were given back, or whose workers died: pairs of a token and a
        URL."""
        answer = self._ask_all([b"X %d %d" % (n, seconds)], int)[0]
        lines = answer[1:] if isinstance(answer, list) else []
        return [(token.decode(), url) for token, url in (line.split(b" ", 1) for line in lines)]

    def done(self, *tokens: str) -> int:
        """The URLs of these leases are seen from now on. How many of the tokens were not late."""
        return self._ask_all([b"D " + _item(token) for token in tokens]).count(b"OK")

    def give_back(self, *tokens: str) -> int:
        """Others may have the URLs of these leases. How many of the tokens were not late."""
        return self._ask_all([b"G " + _item(token) for token in tokens]).count(b"OK")

    def renew(self, seconds: int, /, *tokens: str) -> int:
        """These leases end so many seconds from now. How many of the tokens were not late."""
        return self._ask_all([b"N %d " % seconds + _item(token) for token in tokens]).count(b"OK")

    def stats(self) -> dict[str, Any]:
        """A dict of what the server did: clients, questions, leases, ..."""
        return json.loads(self._ask(b"S"))

    # ---- as a store

    def commit(self) -> None:
        """Returns when everything answered before would survive a power cut. (The server commits by
        itself within some 50 ms.)"""
        self._ask(b"F")

    def info(self) -> dict[str, Any]:
        """A dict of statistics: keys, log_bytes, fpr, ..."""
        return json.loads(self._ask(b"I"))

    def __len__(self) -> int:
        return self.info()["keys"]

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._closed

    def close(self) -> None:
        """Ends the connection. Everything that was answered stays in the store."""
        if os.getpid() == self._pid and not self._closed:
            self._end()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a connection cannot be pickled or copied: call unseen.connect there")

    def __del__(self):
        if not self._closed:
            self._end()


def _open(address, timeout):
    host, _, port = address.rpartition(":")
    if host == "unix":
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.settimeout(timeout)
            connection.connect(port)
        except BaseException:
            connection.close()
            raise
        return connection
    if not port.isdigit():
        raise ValueError(f"{address!r} is not an address: unix:PATH, or HOST:PORT")
    return socket.create_connection((host.strip("[]") or "127.0.0.1", int(port)), timeout)


def _connection_error(address, error):
    class_ = {FileNotFoundError: MissingError}.get(type(error), FileError)
    return class_(f"{address}: {error.strerror or error}")


def _sentence(answer):
    return answer.removeprefix(b"E ").decode(errors="replace")


def _item(url, longest=_LINE_MAX - 2):
    if isinstance(url, str):
        url = url.encode()
    elif not isinstance(url, bytes):
        raise TypeError(f"a URL is str or bytes, not {type(url)!r}")
    if b"\n" in url:
        raise ValueError("a URL with a newline cannot be sent to a server")
    if len(url) > longest:
        raise TooLongError(f"a URL of {len(url)} bytes is too long for a server")
    return url
