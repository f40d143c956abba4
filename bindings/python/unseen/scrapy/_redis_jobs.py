# SPDX-License-Identifier: MIT
"""The set and the queue of spiders in a Redis or Valkey server with the module, with the methods of a Client that
ServedScheduler uses. Three keys, in one slot of a cluster:

    KEY              the set: the keys of requests that are done, and the claims of those that a spider has
    {KEY}:requests   a hash of the requests that are not done, by their keys
    {KEY}:queue      a list of the keys that wait for a spider, which is only about the order

A spider that takes a request claims it. Done: the key goes into the set and the request out of the hash, in one
transaction. When the list is empty, whatever is in the hash and not claimed belonged to a spider that died."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import Error
from .._redis import RedisClient

if TYPE_CHECKING:
    from ._settings import SeenSettings

_WAITS = "+"  # begins the token of a request that is in the hash and not in the list yet


class RedisJobs(RedisClient):
    """The requests of spiders that crawl together."""

    def __init__(self, wanted: SeenSettings) -> None:
        super().__init__(wanted.store or "", token=wanted.token, profile="none", fpr=wanted.fpr, window=wanted.window)
        if len(self._keys) > 1:
            self.close()
            raise Error(f"{wanted.shown}: the requests of a crawl are in one slot, without ?shards=")
        self._key = self._keys[0]
        name = self._key if b"{" in self._key else b"{%s}" % self._key
        self._requests, self._queue = name + b":requests", name + b":queue"

    def _do(self, *commands, atomic=False):
        answers = self._run(commands, atomic)
        for answer in answers:
            if isinstance(answer, Exception):
                raise self._error(answer)
        return answers

    def lease(self, text: Any, seconds: int, /) -> str | None:
        """Keeps the request KEY#DATA until it is done. None if it is kept already, or done."""
        key, _, data = text.partition("#")
        done, kept = self._do(("UNSEEN.EXISTS", self._key, key), ("HEXISTS", self._requests, key))
        if done[0] == 1 or kept or not self._do(("HSETNX", self._requests, key, data))[0]:
            return None
        return _WAITS + key

    def is_known(self, key: Any, /) -> bool:
        """Whether a request is kept, or done."""
        kept, done = self._do(("HEXISTS", self._requests, key), ("UNSEEN.EXISTS", self._key, key))
        return kept == 1 or done[0] == 1

    def give_back(self, *tokens: Any) -> int:
        """The requests wait for a spider."""
        keys = [token.removeprefix(_WAITS) for token in tokens]
        taken = [token for token in tokens if not token.startswith(_WAITS)]
        commands = [("UNSEEN.RENEW", self._key, 1, *taken)] if taken else []
        commands += [("LPUSH", self._queue, *keys)] if keys else []
        self._do(*commands)
        return len(keys)

    def take(self, n: int, seconds: int, /) -> list[tuple[str, bytes]]:
        """Claims at most n requests: pairs of a token and KEY#DATA."""
        keys = self._do(("RPOP", self._queue, n))[0]
        mine = self._claim(keys, seconds) if keys else self._claim_left(n, seconds)
        texts = self._do(("HMGET", self._requests, *mine))[0] if mine else []
        return [(key.decode(), key + b"#" + text) for key, text in zip(mine, texts) if text is not None]

    def _claim(self, keys, seconds):
        """Those of the keys that are this spider's now."""
        marks = self._do(("UNSEEN.CLAIM", self._key, seconds, *keys))[0]
        done = [key for key, mark in zip(keys, marks) if mark == 0]
        if done:  # somebody kept it again just when it was done
            self._do(("HDEL", self._requests, *done))
        return [key for key, mark in zip(keys, marks) if mark == 1]

    def _claim_left(self, n, seconds):
        """Keys of the hash that belonged to a spider that died, or that a spider has not put into the list yet."""
        cursor = 0
        mine = []
        while True:
            cursor, pairs = self._do(("HSCAN", self._requests, cursor, "COUNT", 100))[0]
            keys = list(pairs) if isinstance(pairs, dict) else pairs[::2]  # redis-py makes it a dict
            for at in range(0, len(keys), n):
                mine += self._claim(keys[at : at + n - len(mine)], seconds)
                if len(mine) == n:
                    return mine
            if int(cursor) == 0:
                return mine

    def done(self, *tokens: Any) -> int:
        """The requests are done. How many were not before."""
        if not tokens:
            return 0
        acks = self._do(("UNSEEN.ACK", self._key, *tokens), ("HDEL", self._requests, *tokens), atomic=True)[0]
        return acks.count(1)

    def stats(self) -> dict[str, Any]:
        """How many requests are not done."""
        return {"leases": self._do(("HLEN", self._requests))[0]}
