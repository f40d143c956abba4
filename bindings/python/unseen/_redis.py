# SPDX-License-Identifier: MIT
"""connect("redis://..."): a set of the module for Redis and Valkey. docs/server.md has the commands, and redis-py, which is
an optional dependency, the protocol."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Any

from ._batches import batches
from ._redis_url import read_address
from ._unseen import ClosedError, Error, FileError, Mask, MissingError, _mask, _strings, shard

if TYPE_CHECKING:
    from ._unseen import _Urls as Urls

_COMMAND = 512  # URLs: the server answers nobody else meanwhile
_QUESTION = 8192  # URLs: commands that are sent together
_QUESTION_BYTES = 1 << 22
_SLOTS = 16384


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


class RedisClient:
    """A set in a Redis or Valkey server with the module; made by unseen.connect(). It has the methods of a store.

    Threads may share a client. A child process made by fork must connect itself. When the connection is lost, the call
    raises FileError: the server may have done what it did not answer. An interrupt in the middle of a call closes the
    client.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        timeout: float | None = None,
        profile: str | None = None,
        fpr: float = 0,
    ) -> None:
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
            #: The URL identity of the set, as "crawl/1".
            self.profile = self._find_profile() or self._make(profile, fpr)
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
            return (MissingError if missing else FileError)(f"{self._address}: {text}")
        if "unknown command" in text and "unseen." in text.lower():
            text += "; the server needs --loadmodule unseen.so"
        return Error(f"{self._address}: {text}")

    def _run(self, commands, atomic=False):
        """The answers to commands, which are sent together. An answer may be an exception of redis-py."""
        if os.getpid() != self._pid:
            raise RuntimeError("it belongs to the parent process: connect after the fork")
        if self._client is None:
            raise ClosedError("it is closed")
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

    def _find_profile(self):
        profiles = set()
        for answer in self._ask_keys("UNSEEN.INFO"):
            if isinstance(answer, Exception):
                if str(answer) != "not found":
                    raise self._error(answer)
                continue
            profiles.add(_pairs(answer)["profile"])
        if len(profiles) > 1:
            raise Error(f"{self._address}: its keys have the profiles {' and '.join(sorted(profiles))}")
        return profiles.pop() if profiles else None

    def _make(self, profile, fpr):
        words = ["PROFILE", profile or "crawl", *(["FPR", repr(fpr)] if fpr else [])]
        for answer in self._ask_keys("UNSEEN.RESERVE", *words):
            if isinstance(answer, Exception) and str(answer) != "item exists":
                raise self._error(answer)
        return self._find_profile()

    def _ask_many(self, command, urls, *words, answers_of=(0, 1)):
        """The answers to the URLs; None for None. The URLs go to their keys."""
        marks = []
        for question in batches(_strings(urls), _item, _QUESTION, _QUESTION_BYTES):
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

    def _ask_mask(self, command, urls):
        return _mask(bytes(2 if mark is None else mark for mark in self._ask_many(command, urls)))

    def _ask_one(self, command, url):
        return self._ask_many(command, [_item(url)])[0] == 1

    # ---- the methods of a store

    def add(self, url: str | bytes, /) -> bool:
        """Adds the URL. True if it is new."""
        return self._ask_one("UNSEEN.ADD", url)

    def contains(self, url: str | bytes, /) -> bool:
        """True if the URL is in the set; as `in`."""
        return self._ask_one("UNSEEN.EXISTS", url)

    __contains__ = contains

    def remove(self, url: str | bytes, /) -> bool:
        """Removes the URL. True if it was there."""
        return self._ask_one("UNSEEN.REMOVE", url)

    def add_many(self, urls: Urls, /) -> Mask:
        """Adds the strings of an iterable, or of an Arrow array, up to 8,192 in one round trip. The mask is True
        for each that is new. After an error, the round trips before are added, and of that round trip any part."""
        return self._ask_mask("UNSEEN.ADD", urls)

    def contains_many(self, urls: Urls, /) -> Mask:
        """The mask is True for each URL that is in the set."""
        return self._ask_mask("UNSEEN.EXISTS", urls)

    def remove_many(self, urls: Urls, /) -> Mask:
        """Removes the URLs. The mask is True for each that was there."""
        return self._ask_mask("UNSEEN.REMOVE", urls)

    # ---- claims

    def claim_many(self, urls: Urls, seconds: int, /) -> list[int | None]:
        """Claims URLs for so many seconds. For each: 1, it is new and yours; 0, it is in the set; -1, another worker has
        it."""
        return self._ask_many("UNSEEN.CLAIM", urls, seconds, answers_of=(-1, 0, 1))

    def lease(self, url: str | bytes, seconds: int, /) -> str | bytes | None:
        """A token if the URL is new: it is yours for so many seconds, and nobody else's. None if it was
        seen, or another worker has it. The token is the URL."""
        return url if self.claim_many([_item(url)], seconds) == [1] else None

    def done(self, *tokens: str | bytes) -> int:
        """The URLs of these leases are seen from now on. How many of them were not before."""
        return self._ask_many("UNSEEN.ACK", tokens).count(1)

    def renew(self, seconds: int, /, *tokens: str | bytes) -> int:
        """These leases end so many seconds from now. How many of them had not ended yet."""
        return self._ask_many("UNSEEN.RENEW", tokens, seconds).count(1)

    def give_back(self, *tokens: str | bytes) -> int:
        """Others may have the URLs of these leases a second from now. How many of the leases had not ended yet."""
        return self.renew(1, *tokens)

    # ---- as a store

    def commit(self) -> None:
        """Does nothing: when the server's data is durable is the server's setting."""

    def info(self) -> dict[str, Any]:
        """A dict of statistics: keys, memory, fpr_promise, ..."""
        found = []
        for answer in self._ask_keys("UNSEEN.INFO"):
            if not isinstance(answer, Exception):
                found.append(_pairs(answer))
            elif str(answer) != "not found":
                raise self._error(answer)
        return {
            "keys": sum(pairs["urls"] for pairs in found),
            "memory": sum(pairs["bytes"] for pairs in found),
            "profile": self.profile,
            "filter": found[0]["filter"] if found else "",
            "fpr_promise": float(found[0]["fpr promised"]) if found else 0.0,
            "fpr_estimate": max((float(pairs["fpr now"]) for pairs in found), default=0.0),
        }

    def __len__(self) -> int:
        return self.info()["keys"]

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._client is None

    def close(self) -> None:
        """Ends the connection. Everything that was answered stays in the set."""
        if self._client is not None and os.getpid() == self._pid:
            self._client.close()
        self._client = None

    def __enter__(self) -> RedisClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a connection cannot be pickled or copied: call unseen.connect there")


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
