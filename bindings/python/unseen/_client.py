# SPDX-License-Identifier: MIT
"""What the clients of both kinds of servers are: a set that a server has, with the methods of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._unseen import SettingError, _strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from ._unseen import Mask
    from ._unseen import _Urls as Urls


class Client:
    """A set that a server has; made by unseen.connect(). It has the methods of a store, and leases.

    Threads may share a client. A child process made by fork must connect itself. What the server has answered stays in
    the set, whatever becomes of the client. ServeClient and RedisClient say what happens when the connection is lost.
    """

    #: The URL identity of the set, as "crawl/1".
    profile: str
    _address: str

    def _ask_one(self, question: str, url: str | bytes) -> bool:
        raise NotImplementedError

    def _ask_mask(self, question: str, urls: Urls) -> Mask:
        raise NotImplementedError

    # ---- the methods of a store

    def add(self, url: str | bytes, /) -> bool:
        """Adds the URL, str or bytes. True if it is new."""
        return self._ask_one("add", url)

    def contains(self, url: str | bytes, /) -> bool:
        """True if the URL is in the set; as `in`."""
        return self._ask_one("contains", url)

    __contains__ = contains

    def remove(self, url: str | bytes, /) -> bool:
        """Removes the URL. True if it was there; a URL that was not there raises nothing."""
        return self._ask_one("remove", url)

    def add_many(self, urls: Urls, /) -> Mask:
        """Adds the URLs of an iterable, or of an Arrow array: up to 1,024 in one round trip to `unseen serve`, 8,192 to
        Redis. The mask is True for each that is new, and None for a null of an array.

        After an error, or an item that is not a URL (TypeError, which names its place), the round trips before are added,
        and of that round trip any part."""
        return self._ask_mask("add", urls)

    def contains_many(self, urls: Urls, /) -> Mask:
        """The mask is True for each of the URLs that is in the set."""
        return self._ask_mask("contains", urls)

    def remove_many(self, urls: Urls, /) -> Mask:
        """Removes the URLs. The mask is True for each that was there."""
        return self._ask_mask("remove", urls)

    def update(self, urls: Urls, /) -> None:
        """add_many(urls) without an answer, as of a Python set."""
        self.add_many(urls)

    def discard(self, url: str | bytes, /) -> None:
        """remove(url) without an answer, as of a Python set."""
        self.remove(url)

    def expire(self, now: float | None = None, /) -> None:
        """Does nothing: a server lets keys leave by its own clock. SettingError: now is given."""
        self._check_open()
        if now is not None:
            raise SettingError("the server reads a clock: give the time to a store that was opened with now=")

    def commit(self, *, wait: bool = True) -> None:
        """Returns when everything that was answered would survive a power cut. With wait=False it returns at once, as
        `unseen serve` commits by itself, within some 50 ms. In Redis it does nothing: when data is durable is a setting
        of the server."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Does nothing: every answer is of the set as it is then."""
        self._check_open()

    def info(self) -> dict[str, Any]:
        """A dict of statistics: keys, filter, profile, memory_bytes, fpr_promise, fpr_estimate, ..."""
        raise NotImplementedError

    def __len__(self) -> int:
        return self.info()["keys"]

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        raise NotImplementedError

    def _check_open(self) -> None:
        raise NotImplementedError

    def close(self, *, commit: bool = True) -> None:
        """Commits what this client has changed, and ends the connection. With commit=False it does not wait for the
        commit; what was answered stays in the set all the same."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, type: object = None, value: object = None, traceback: object = None, /) -> None:
        self.close(commit=type is None)

    def __repr__(self) -> str:
        return f"<unseen.{type(self).__name__} {self._address!r}, {'closed' if self.closed else self.profile}>"

    def __reduce__(self):
        raise TypeError(
            "a connection cannot be pickled or copied: call unseen.connect in the other process, or in the function that runs"
            " there"
        )

    # ---- leases

    def lease(self, url: str | bytes, seconds: int, /) -> str | bytes | None:
        """A token if the URL is new: it is yours for so many seconds (1 to 604,800), and nobody else's. None if it was seen,
        or another worker has it."""
        raise NotImplementedError

    def done(self, *tokens: str | bytes) -> int:
        """The URLs of the leases with these tokens are seen from now on. How many of the tokens were not late."""
        raise NotImplementedError

    def give_back(self, *tokens: str | bytes) -> int:
        """Others may have the URLs of the leases with these tokens. How many of the tokens were not late."""
        raise NotImplementedError

    def renew(self, seconds: int, /, *tokens: str | bytes) -> int:
        """The leases with these tokens end so many seconds from now. How many of the tokens were not late."""
        raise NotImplementedError

    def take(self, n: int, seconds: int, /) -> list[tuple[str, bytes]]:
        """Leases at most n (1,000) URLs that were given back, or whose workers died, for so many seconds: pairs of a token
        and a URL. UnsupportedError in Redis, which keeps no URLs."""
        raise NotImplementedError

    def claim_many(self, urls: Urls, seconds: int, /) -> list[int | None]:
        """Claims the URLs for so many seconds. For each: 1, it is new and yours; 0, it is in the set; -1, another worker has
        it. The tokens are the URLs. UnsupportedError at `unseen serve`, whose tokens are not."""
        raise NotImplementedError


def batches(
    urls: Urls, item: Callable[[str | bytes], bytes], most: int, most_bytes: int
) -> Iterator[list[bytes | None]]:
    """The URLs as item makes them, or None for a null of an Arrow array, `most` at a time; fewer if they have most_bytes."""
    has_nulls = hasattr(urls, "__arrow_c_array__") or hasattr(urls, "__arrow_c_stream__")
    batch: list[bytes | None] = []
    size = 0
    for place, url in enumerate(_strings(urls)):
        try:
            one = None if url is None and has_nulls else item(url)  # type: ignore[arg-type]
        except TypeError as error:
            raise TypeError(f"item {place}: {error}") from None
        batch.append(one)
        size += len(one or b"")
        if len(batch) == most or size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
