# SPDX-License-Identifier: MIT
"""connect(), and the client of `unseen serve`. docs/serve.md has the protocol."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import socket
import struct
import threading
from typing import TYPE_CHECKING, Any

from ._client import Client, batches
from ._redis import RedisClient
from ._redis_url import is_redis
from ._unseen import ClosedError, Error, FileError, Mask, MissingError, SettingError, UnsupportedError, _mask

if TYPE_CHECKING:
    from ._unseen import _Urls as Urls

_BATCH = 1024
_LINE_MAX = 1 << 20
_AT_ONCE = 256  # requests
_PORT_MAX = 65535
_LETTERS = {"add": b"A", "contains": b"C", "remove": b"R"}


class TooLongError(ValueError):
    """A line of the protocol has no room for a URL."""


def connect(
    address: str,
    *,
    token: str | None = None,
    timeout: float | None = None,
    profile: str | None = None,
    fpr: float = 0,
    window: float | str | None = 0,
) -> Client:
    """Connects to a server: a ServeClient or a RedisClient.

    address: "unix:/run/unseen.sock" or "127.0.0.1:7007" of `unseen serve`; "redis://127.0.0.1/KEY" or
        "redis+unix:PATH?key=KEY" for a set of the module for Redis and Valkey.
    token: a server at a port lets those change the store who have its token; for Redis it is the password.
    timeout: seconds that an answer may take, more than 0; None: any time.
    profile, fpr: of a key of Redis that does not exist yet, as of Set().
    window: of a key of Redis that does not exist yet; one that exists must have it. The store of a server has its window already.

    SettingError: an address that is none, or a setting that is out of its range. MissingError, FileError: nobody answers
    there."""
    if timeout is not None and not timeout > 0:
        raise SettingError(f"timeout is a number of seconds, more than 0, not {timeout!r}")
    if is_redis(address):
        return RedisClient(address, token=token, timeout=timeout, profile=profile, fpr=fpr, window=window)
    if profile or fpr or window:
        raise SettingError(f"{address}: the store of a server has its profile, its rate and its window already")
    return ServeClient(address, token=token, timeout=timeout)


class ServeClient(Client):
    """The client of `unseen serve`; made by unseen.connect().

    After an error of the connection, or an interrupt, it is closed; what the server has not answered was not added.
    """

    def __init__(self, address: str, *, token: str | None = None, timeout: float | None = None) -> None:
        self._closed = True
        self._has_changed = False
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
            raise ConnectionResetError(errno.ECONNRESET, "the server ended the connection")
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

    def _check_open(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError("it belongs to the parent process: connect after the fork")
        if self._closed:
            raise ClosedError("it is closed")

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

        with self._lock:
            self._check_open()
            self._exchange(talk)
        for answer in answers:
            if answer[:2] == b"E ":
                raise Error(_sentence(answer))
        return answers

    def _ask_one(self, question: str, url: str | bytes) -> bool:
        request = _LETTERS[question] + b" " + _item(url)
        self._has_changed |= question != "contains"
        return self._ask(request) == b"1"

    def _ask_mask(self, question: str, urls: Urls) -> Mask:
        answers = bytearray()
        for batch in batches(urls, _item, _BATCH, _LINE_MAX):
            items = [item for item in batch if item is not None]
            self._has_changed |= question != "contains"
            marks = self._ask(b"\n".join([b"B %d %s" % (len(items), _LETTERS[question]), *items])) if items else b""
            if len(marks) != len(items) or marks.strip(b"01E"):
                self._end()
                raise Error(f"{self._address}: this answer is not one of `unseen serve`: {_sentence(marks[:60])}")
            left = iter(marks)
            for item in batch:
                if item is None:
                    answers.append(2)
                elif (mark := next(left)) == ord("E"):  # asked alone, the URL gets the sentence
                    answers.append(self._ask_one(question, item))
                else:
                    answers.append(mark == ord("1"))
        return _mask(bytes(answers))

    # ---- the methods of a store

    def commit(self, *, wait: bool = True) -> None:
        if not wait:
            self._check_open()
            return
        self._ask(b"F")
        self._has_changed = False

    def info(self) -> dict[str, Any]:
        """A dict of statistics: what `unseen info --json` prints."""
        return json.loads(self._ask(b"I"))

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._closed

    def close(self, *, commit: bool = True) -> None:
        if os.getpid() != self._pid or self._closed:
            return
        try:
            if commit and self._has_changed and self.info().get("log"):
                self.commit()
        finally:
            self._end()

    def __del__(self):
        if not self._closed:
            self._end()

    # ---- leases

    def lease(self, url: str | bytes, seconds: int, /) -> str | None:
        words = b"L %d " % seconds
        answer = self._ask(words + _item(url, _LINE_MAX - len(words)))
        return answer[2:].decode() if answer.startswith(b"1 ") else None

    def take(self, n: int, seconds: int, /) -> list[tuple[str, bytes]]:
        answer = self._ask_all([b"X %d %d" % (n, seconds)], int)[0]
        lines = answer[1:] if isinstance(answer, list) else []
        return [(token.decode(), url) for token, url in (line.split(b" ", 1) for line in lines)]

    def done(self, *tokens: str | bytes) -> int:
        self._has_changed = True
        return self._ask_all([b"D " + _item(token) for token in tokens]).count(b"OK")

    def give_back(self, *tokens: str | bytes) -> int:
        return self._ask_all([b"G " + _item(token) for token in tokens]).count(b"OK")

    def renew(self, seconds: int, /, *tokens: str | bytes) -> int:
        return self._ask_all([b"N %d " % seconds + _item(token) for token in tokens]).count(b"OK")

    def claim_many(self, urls: Urls, seconds: int, /) -> list[int | None]:
        raise UnsupportedError(
            f"{self._address}: `unseen serve` has no claims: lease() gives a token for a URL, and take() the URLs of workers"
            " that died"
        )

    def is_known(self, url: str | bytes, /) -> bool:
        """True if the URL is in the set, or somebody has a lease of it."""
        return self._ask(b"C " + _item(url)) != b"0"

    def stats(self) -> dict[str, Any]:
        """A dict of what the server did: clients, questions, leases, ..."""
        return json.loads(self._ask(b"S"))


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
    if not re.fullmatch("[0-9]{1,5}", port) or int(port) > _PORT_MAX:
        raise SettingError(f"{address!r} is not an address: unix:PATH, HOST:PORT, or redis://HOST:PORT/KEY")
    return socket.create_connection((host.strip("[]") or "127.0.0.1", int(port)), timeout)


def _connection_error(address, error):
    class_ = MissingError if isinstance(error, FileNotFoundError) else FileError
    code = error.errno or (errno.ETIMEDOUT if isinstance(error, TimeoutError) else errno.EIO)
    path = address.removeprefix("unix:")
    return class_(code, f"{address}: {error.strerror or error}", path if path != address else None)


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
