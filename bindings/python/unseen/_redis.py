# SPDX-License-Identifier: MIT
"""connect("redis://..."): a set of the module for Redis and Valkey. docs/server.md has the commands, and redis-py, which is
an optional dependency, the protocol."""

from __future__ import annotations

import errno
import os
from itertools import count
from typing import TYPE_CHECKING, Any

from ._client import Client, batches
from ._redis_url import read_address
from ._unseen import (
    ClosedError,
    Error,
    FileError,
    Mask,
    MissingError,
    Set,
    SettingError,
    UnsupportedError,
    _mask,
    shard,
)

if TYPE_CHECKING:
    from ._unseen import _Urls as Urls

_COMMAND = 512  # URLs: the server answers nobody else meanwhile
_QUESTION = 8192  # URLs: commands that are sent together
_QUESTION_BYTES = 1 << 22
_SLOTS = 16384
_COMMANDS = {"add": "UNSEEN.ADD", "contains": "UNSEEN.EXISTS", "remove": "UNSEEN.REMOVE"}


def _key_names(key: bytes, n: int, key_slot: Any) -> list[bytes]:
    """The keys of a set over n keys, as unseen_shard_tags makes them."""
    if n == 1:
        return [key]
    tags: dict[int, int] = {}
    for tag in count():
        tags.setdefault(key_slot(b"%d" % tag) * n // _SLOTS, tag)
        if len(tags) == n:
            return [b"%s:{%d}" % (key, tags[i]) for i in range(n)]
    raise AssertionError


class RedisClient(Client):
    """The client of a set in a Redis or Valkey server with the module; made by unseen.connect().

    When the connection is lost, the call raises FileError: the server may have done what it did not answer. An interrupt
    in the middle of a call closes the client.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float | None = None,
        profile: str | None = None,
        fpr: float = 0,
        window: float | str | None = 0,
    ) -> None:
        if isinstance(window, bool):
            raise TypeError(f"window is a number, not {window}")
        wanted = round(1000 * Set("none", window=window).info()["window"]) if window else 0  # in milliseconds
        try:
            import redis
            import redis.crc
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError:
            raise ImportError("unseen.connect('redis://...') needs redis-py: pip install redis") from None
        place = read_address(address)
        self._redis: Any = redis
        self._address = place.shown
        self._pid = os.getpid()
        self._keys = _key_names(place.key, place.nshards, redis.crc.key_slot)
        self._options = {
            **place.options,
            "socket_timeout": timeout,
            "socket_connect_timeout": timeout or 10,
            "protocol": 2,
            # Commands that were sent twice would answer that what they added the first time was seen.
            "retry": Retry(NoBackoff(), 0),
        }
        if token is not None:
            self._options["password"] = token
        if "host" in self._options:
            self._options["socket_keepalive"] = True
        self._client: Any = redis.Redis(**self._options)
        try:
            self.profile, has = self._find() or self._make(profile, fpr, wanted)
            if wanted and wanted != has:
                with_window = f"has the window {has / 1000:.15g} s" if has else "has no window"
                raise SettingError(f"{self._address} {with_window}, and window is {wanted / 1000:.15g} s")
        except BaseException:
            self.close()
            raise

    # ---- the connection

    def _error(self, error):
        redis = self._redis.exceptions
        text = str(error)
        if isinstance(error, (redis.ConnectionError, redis.TimeoutError)) and not isinstance(
            error, redis.AuthenticationError
        ):
            missing = isinstance(error.__context__, FileNotFoundError) or "No such file" in text
            code = errno.ETIMEDOUT if isinstance(error, redis.TimeoutError) else getattr(error.__context__, "errno", None)
            sentence = f"{self._address}: {text}"
            if missing:
                return MissingError(errno.ENOENT, sentence, self._options.get("unix_socket_path"))
            return FileError(code or errno.ECONNRESET, sentence)
        if "unknown command" in text and "unseen." in text.lower():
            text += "; the server needs --loadmodule unseen.so"
        return Error(f"{self._address}: {text}")

    def _check_open(self) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError("it belongs to the parent process: connect after the fork")
        if self._client is None:
            raise ClosedError("it is closed")

    def _run(self, commands, atomic=False):
        """The answers to commands, which are sent together. An answer may be an exception of redis-py."""
        self._check_open()
        try:
            answers = self._send(commands, atomic)
            moved = [i for i, answer in enumerate(answers) if self._is_moved(answer)]
            if moved:  # these were refused: it is a cluster
                self._follow_cluster()
                again = self._send([commands[i] for i in moved], atomic)
                for i, answer in zip(moved, again):
                    answers[i] = answer
            return answers
        except (self._redis.exceptions.RedisError, self._redis.exceptions.RedisClusterException) as error:
            raise self._error(error) from None
        except BaseException:  # such as KeyboardInterrupt: redis-py may use a connection again that has an answer to come
            self.close()
            raise

    def _is_moved(self, answer):
        return isinstance(answer, (self._redis.exceptions.MovedError, self._redis.exceptions.AskError))

    def _send(self, commands, atomic):
        if not atomic and hasattr(self._client, "nodes_manager"):
            return [self._send_to_cluster(command) for command in commands]
        with self._client.pipeline(transaction=atomic) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            try:
                return pipeline.execute(raise_on_error=False)
            except (self._redis.exceptions.MovedError, self._redis.exceptions.AskError) as error:
                return [error] * len(commands)  # the server refuses a transaction as a whole

    def _send_to_cluster(self, command):
        """Alone: a pipeline for a cluster sends again what a lost connection has not answered."""
        try:
            return self._client.execute_command(*command)
        except self._redis.exceptions.ResponseError as error:
            return error

    def _follow_cluster(self):
        from redis.cluster import RedisCluster

        options = {name: value for name, value in self._options.items() if name not in ("db", "unix_socket_path")}
        self._client.close()
        self._client = RedisCluster(**options)

    def _ask_keys(self, *words):
        """The same command to each key, with the name of the key behind the first word."""
        return self._run([(words[0], key, *words[1:]) for key in self._keys])

    def _find(self):
        """The profile and the window of the keys, in milliseconds; None: there are none."""
        found = set()
        for answer in self._ask_keys("UNSEEN.INFO"):
            if isinstance(answer, Exception):
                if str(answer) != "not found":
                    raise self._error(answer)
                continue
            pairs = _pairs(answer)
            found.add((pairs["profile"], pairs.get("window", 0)))
        for name, values in zip(("profiles", "windows (ms)"), map(set, zip(*found))):
            if len(values) > 1:
                raise Error(f"{self._address}: its keys have the {name} {' and '.join(map(str, sorted(values)))}")
        return found.pop() if found else None

    def _make(self, profile, fpr, window):
        words = ["PROFILE", profile or "crawl", *(["FPR", repr(fpr)] if fpr else [])]
        words += ["WINDOW", f"{window / 1000:.3f}"] if window else []
        for answer in self._ask_keys("UNSEEN.RESERVE", *words):
            if isinstance(answer, Exception) and str(answer) != "item exists":
                raise self._error(answer)
        return self._find()

    def _ask_many(self, command, urls, *words, answers_of=(0, 1)):
        """The answers to the URLs; None for None. The URLs go to their keys."""
        marks = []
        for question in batches(urls, _item, _QUESTION, _QUESTION_BYTES):
            commands, places = [], []
            parts = [[] for _ in self._keys]
            for i, item in enumerate(question):
                if item is not None:
                    parts[self._key_of(item)].append(i)
            for key, part in zip(self._keys, parts):
                for at in range(0, len(part), _COMMAND):
                    places.append(part[at : at + _COMMAND])
                    commands.append((command, key, *words, *[question[i] for i in places[-1]]))
            found = [None] * len(question)
            for answers, items in zip(self._run(commands) if commands else (), places):
                if isinstance(answers, Exception):
                    raise self._error(answers)
                for i, answer in zip(items, answers):
                    if isinstance(answer, Exception):
                        raise self._error(answer)
                    found[i] = answer
                if len(answers) != len(items) or not all(found[i] in answers_of for i in items):
                    raise Error(f"{self._address} does not answer as the module of unseen does")
            marks += found
        return marks

    def _key_of(self, item):
        return 0 if len(self._keys) == 1 else shard(item, len(self._keys), self.profile)

    def _ask_mask(self, question: str, urls: Urls) -> Mask:
        return _mask(bytes(2 if mark is None else mark for mark in self._ask_many(_COMMANDS[question], urls)))

    def _ask_one(self, question: str, url: str | bytes) -> bool:
        return self._ask_many(_COMMANDS[question], [_item(url)])[0] == 1

    # ---- the methods of a store

    def commit(self, *, wait: bool = True) -> None:
        self._check_open()

    def info(self) -> dict[str, Any]:
        found = []
        for answer in self._ask_keys("UNSEEN.INFO"):
            if not isinstance(answer, Exception):
                found.append(_pairs(answer))
            elif str(answer) != "not found":
                raise self._error(answer)
        info = {
            "keys": sum(pairs["urls"] for pairs in found),
            "memory_bytes": sum(pairs["bytes"] for pairs in found),
            "profile": self.profile,
            "filter": found[0]["filter"] if found else "",
            "fpr_promise": float(found[0]["fpr promised"]) if found else 0.0,
            "fpr_estimate": max((float(pairs["fpr now"]) for pairs in found), default=0.0),
        }
        if found and "window" in found[0]:
            oldest = [pairs["oldest"] for pairs in found if pairs["oldest"]]
            info["window"] = found[0]["window"] / 1000
            info["oldest"] = min(oldest) / 1000 if oldest else None
        return info

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._client is None

    def close(self, *, commit: bool = True) -> None:
        if self._client is not None and os.getpid() == self._pid:
            self._client.close()
        self._client = None

    # ---- claims

    def claim_many(self, urls: Urls, seconds: int, /) -> list[int | None]:
        return self._ask_many("UNSEEN.CLAIM", urls, seconds, answers_of=(-1, 0, 1))

    def lease(self, url: str | bytes, seconds: int, /) -> str | bytes | None:
        return url if self.claim_many([_item(url)], seconds) == [1] else None

    def done(self, *tokens: str | bytes) -> int:
        return self._ask_many("UNSEEN.ACK", tokens).count(1)

    def renew(self, seconds: int, /, *tokens: str | bytes) -> int:
        return self._ask_many("UNSEEN.RENEW", tokens, seconds).count(1)

    def give_back(self, *tokens: str | bytes) -> int:
        """Others may have the URLs of the leases with these tokens a second from now. How many of the leases had not
        ended yet."""
        return self.renew(1, *tokens)

    def take(self, n: int, seconds: int, /) -> list[tuple[str, bytes]]:
        raise UnsupportedError(
            f"{self._address}: Redis keeps no URLs that could be taken: claim those that you have, with claim_many()"
        )


def _pairs(answer):
    """The reply of UNSEEN.INFO as a dict."""
    try:
        texts = [value.decode() if isinstance(value, bytes) else value for value in answer]
        pairs = dict(zip(texts[::2], texts[1::2]))
        return pairs if isinstance(pairs["profile"], str) else {}
    except (KeyError, TypeError, UnicodeDecodeError):
        raise Error("the server does not answer as the module of unseen does") from None


def _item(url):
    if isinstance(url, str):
        return url.encode()
    if isinstance(url, bytes):
        return url
    raise TypeError(f"a URL is str or bytes, not {type(url)!r}")
