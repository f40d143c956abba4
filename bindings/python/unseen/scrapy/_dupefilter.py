# SPDX-License-Identifier: MIT
"""The duplicate filter: Scrapy's own, with a set or store of unseen in place of its Python set.

The key of a request is Scrapy's fingerprint, as hexadecimal digits: `unseen import --format requests.seen`
makes the same. With UNSEEN_PROFILE it is the URL, for a GET without a body. A set in memory that has no URLs takes
the bytes of the fingerprint, as nobody else sees them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy import dupefilters
from scrapy.utils.request import RequestFingerprinter, fingerprint

from .. import Error, Set, canonicalize, connect
from .. import open as open_store
from ._settings import SeenSettings, read_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.utils.request import RequestFingerprinterProtocol
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_NONE = SeenSettings(None, 0, None, None, 0, None, 1, 60, None)


def digest_of(df: dupefilters.RFPDupeFilter) -> Callable[[Request], bytes]:
    """The fingerprint by which the filter knows a request, without the calls that only pass it on."""
    if type(df).request_fingerprint is not dupefilters.RFPDupeFilter.request_fingerprint:  # of a subclass
        return lambda request: bytes.fromhex(df.request_fingerprint(request))
    fingerprinter = df.fingerprinter
    if type(fingerprinter) is RequestFingerprinter and vars(fingerprinter) == {"_fingerprint": fingerprint}:
        return fingerprint
    return fingerprinter.fingerprint


class DupeFilter(dupefilters.RFPDupeFilter):
    """DUPEFILTER_CLASS = "unseen.scrapy.DupeFilter". A request that is known is always filtered; a new
    one is filtered by mistake with a probability of at most UNSEEN_FPR.

    Alone, it remembers when the crawl is closed, as then Scrapy's queue is on the disk, too. With
    unseen.scrapy.Scheduler it remembers what the scheduler has on the disk, about once a second.
    """

    def __init__(
        self,
        settings: SeenSettings = _NONE,
        debug: bool = False,
        *,
        fingerprinter: RequestFingerprinterProtocol | None = None,
    ) -> None:
        super().__init__(None, debug, fingerprinter=fingerprinter)
        self.logger = logging.getLogger(dupefilters.__name__)
        self.settings = settings
        self._digest = digest_of(self)
        self._has_urls = settings.profile is not None
        self._profile = ""  # of the store that is open
        self._held: set[str] = set()  # keys of requests that are in memory only: canonical forms, or fingerprints
        self._new: list[str] = []
        self._keeps_new = False
        self._seen: Any = None  # a Set, a Store or a Client
        self._add_digest: Callable[[bytes], bool] | None = None  # of a set in memory that has no URLs
        if settings.store is None:
            self._seen = Set(settings.profile or "none", fpr=settings.fpr or 5e-9, window=settings.window)
            self._add_digest = None if self._has_urls else self._seen.add

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy calls this. It reads the settings."""
        return cls(
            read_settings(crawler.settings),
            crawler.settings.getbool("DUPEFILTER_DEBUG"),
            fingerprinter=crawler.request_fingerprinter,
        )

    @property
    def is_durable(self) -> bool:
        """Whether what is seen outlives the crawl."""
        return self.settings.store is not None

    def open(self) -> None:
        """Opens the store. Raises BlockingIOError if another crawl has it."""
        wanted = self.settings
        if wanted.store is None or self._seen is not None:
            return
        if wanted.is_served:
            is_new = wanted.is_redis  # a key that does not exist is made
            self._seen = connect(
                wanted.store,
                token=wanted.token,
                profile=wanted.profile or "none" if is_new else None,
                fpr=wanted.fpr if is_new else 0,
                window=wanted.window if is_new else 0,
            )
            profile = self._seen.profile
            if wanted.profile and not profile.startswith(wanted.profile):
                self._seen.close()
                raise Error(f"{wanted.shown} has the profile {profile}, and UNSEEN_PROFILE is {wanted.profile}")
        else:
            self._seen = open_store(
                wanted.store, wanted.profile or "none", fpr=wanted.fpr, window=wanted.window, memory=wanted.memory
            )
            profile = self._seen.profile
        self._profile = profile
        self._has_urls = not profile.startswith("none")
        if wanted.stock_seen and not wanted.is_served and len(self._seen) == 0:
            self._warn_of_stock(wanted.stock_seen)

    def _warn_of_stock(self, path):
        way = "go on without this add-on, or begin anew in an empty JOBDIR"
        if not self._has_urls:
            way = f"unseen import --format requests.seen {self.settings.store} {path} reads it, but not the queue"
        logger.warning(
            "%(path)s and the queue beside it are of Scrapy's own classes, and are not read: this crawl fetches again what"
            " they have seen (%(way)s)",
            {"path": path, "way": way},
        )

    def _item(self, request: Request) -> str:
        if self._has_urls and request.method == "GET" and not request.body and not request.meta.get("verbatim_url"):
            return request.url
        return self._digest(request).hex()

    def _key(self, item: str) -> str:
        """What all spellings of an item have in common."""
        return canonicalize(item, self._profile) if self._has_urls else item

    def request_seen(self, request: Request) -> bool:
        """True if the request was seen; then it is remembered, too."""
        if self._add_digest is not None:
            return not self._add_digest(self._digest(request))
        item = self._item(request) if self._has_urls else self._digest(request).hex()
        if (self._held and self._key(item) in self._held) or not self._seen.add(item):
            return True
        if self._keeps_new:
            self._new.append(item)
        return False

    def close(self, reason: str) -> None:
        """Commits and closes the store."""
        if self.is_durable and self._seen is not None:
            self._seen.close()

    # ---- for the scheduler

    def keep_new(self) -> None:
        """From now on new_items() has what commit() would commit."""
        self._keeps_new = self.is_durable

    def new_items(self) -> list[str]:
        """What was seen since the last commit."""
        return self._new

    def restore(self, items: Iterable[str]) -> None:
        """Takes items that an earlier crawl could not commit any more."""
        self._seen.add_many(items)

    def commit(self) -> None:
        """Makes durable what was seen."""
        if self.is_durable:
            self._seen.commit()
            self._new = []

    def hold(self, request: Request) -> None:
        """Of a request that is in memory only and was just seen: it is seen, but not committed before
        release()."""
        if not self.is_durable:
            return
        item = self._item(request)
        self._seen.remove(item)
        self._held.add(self._key(item))
        if self._new and self._new[-1] == item:
            self._new.pop()

    def release(self, request: Request) -> None:
        """The request is done: if it was held, the next commit has it."""
        if not self._held:
            return
        item = self._item(request)
        if (key := self._key(item)) in self._held:
            self._held.remove(key)
            if self._seen.add(item) and self._keeps_new:
                self._new.append(item)

    def abandon(self) -> None:
        """Closes the store without what was not committed."""
        if self.is_durable and self._seen is not None:
            self._seen.close(commit=False)
