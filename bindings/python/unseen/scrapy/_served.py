# SPDX-License-Identifier: MIT
"""The scheduler of spiders that crawl together: `unseen serve` has their set and their queue.

A request goes to the server as the text request:FINGERPRINT#DATA: the name of the spider and the pickle of the request,
which names methods of that spider. The server's profile drops what is behind #, so the fingerprint is the key, and the server keeps the whole text as long as the key is leased. A new request is leased and
given back at once: then it waits at the server, on the disk, and the next spider that asks gets it. A spider renews the
leases of what it has, and says that a request is done when the engine is through with it. If the spider dies, its
leases end, and others get its requests.

What is done is reported once everything that it led to is at the server; but for requests that cannot be there, because
they have no pickle, or too long a one: those are in memory only.

Redis with the module is such a server, too: RedisJobs has the methods of the client."""

from __future__ import annotations

import base64
import logging
import time
import uuid
from typing import TYPE_CHECKING, Any

from scrapy.core import scheduler

from .. import Error, canonicalize, connect
from .._serve import TooLongError
from ._dupefilter import digest_of
from ._progress import close_spider, requests_done, wake_engine
from ._redis_jobs import RedisJobs
from ._requests import dump, load
from ._settings import read_settings
from ._versions import create_looping_call

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_TICK = 0.25  # seconds between two looks at what is done, and for work


class ServedScheduler(scheduler.Scheduler):
    """What unseen.scrapy.Scheduler is if UNSEEN_STORE is the address of `unseen serve`. JOBDIR is not used."""

    df: Any  # a DupeFilter, which logs duplicates and knows the fingerprints
    _wanted: Any  # the SeenSettings

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """unseen.scrapy.Scheduler calls this."""
        made = super().from_crawler(crawler)
        made._wanted = read_settings(crawler.settings)
        return made

    def _dqdir(self, jobdir):
        return None

    # ---- open and close

    def open(self, spider: Spider) -> None:
        """Connects to the server."""
        wanted = self._wanted
        self.spider = spider
        self._digest = digest_of(self.df)
        self._name = spider.name.encode("unicode_escape") + b"\n"
        self.mqs = self._mq()
        self.dqs = None
        self._tokens: dict[Request, str | None] = {}  # of the requests that this spider has
        self._returns: list[str] = []  # tokens of new requests, to be given back
        self._in_flight: set[Request] = set()
        self._held: set[str] = set()  # keys of requests that are in memory only
        self._logs_long = True
        self._failed = False
        self._looked = self._renewed = 0.0
        self._loop = None
        self._client = _connect(wanted)
        self._loop = create_looping_call(self._tick)
        self._loop.start(_TICK, now=False)

    def close(self, reason: str) -> None:
        """Reports what is done, and gives back what the spider did not begin."""
        if self._loop is None:
            return  # Scrapy closes what it could not open, too
        if self._loop.running:
            self._loop.stop()
        if not self._failed:
            self._settle()
            self._client.give_back(*filter(None, self._tokens.values()))
        self._client.close(commit=not self._failed)

    # ---- requests

    def enqueue_request(self, request: Request) -> bool:
        """Sends the request to the server, unless somebody has it or had it."""
        if self._failed:
            return False
        try:
            return self._enqueue(request)
        except Error as error:
            self._fail(error)
            return False

    def _enqueue(self, request):
        # A request with dont_filter is never a duplicate, but the others have to be able to take it over.
        key = "request:" + (uuid.uuid4().hex if request.dont_filter else self._digest(request).hex())
        try:
            data = dump(request, self.spider)
        except ValueError as error:
            return self._enqueue_in_memory(request, key, error)
        text = f"{key}#{base64.b64encode(self._name + data).decode()}"
        try:
            token = None if key in self._held else self._client.lease(text, self._wanted.lease)
        except TooLongError as error:
            return self._enqueue_in_memory(request, key, error)
        if token is None:
            self.df.log(request, self.spider)
            return False
        self._returns.append(token)
        self._count("enqueued", "disk")
        return True

    def _enqueue_in_memory(self, request, key, error):
        if not request.dont_filter:
            if key in self._held or self._client.is_known(key):
                self.df.log(request, self.spider)
                return False
            self._held.add(key)
        if isinstance(error, TooLongError):
            self._warn_long(request)
        elif self.logunser:
            logger.warning(
                "Unable to serialize request: %(request)s - reason: %(reason)s - no more unserializable requests will be"
                " logged (stats being collected)",
                {"request": request, "reason": error},
                extra={"spider": self.spider},
            )
            self.logunser = False
        self.stats.inc_value("scheduler/unserializable")
        self.mqs.push(request)
        self._count("enqueued", "memory")
        return True

    def _warn_long(self, request):
        """Says it once, also without SCHEDULER_DEBUG: nothing is wrong with the request itself."""
        if self._logs_long:
            logger.warning(
                "%(request)s is in memory only, and lost if this spider dies: %(store)s has no line for so long a request"
                " - no more long requests will be logged (stats being collected)",
                {"request": request, "store": self._wanted.shown},
                extra={"spider": self.spider},
            )
        self._logs_long = False

    def next_request(self) -> Request | None:
        """A request that the spider has, or gets from the server."""
        if self._failed:
            return None
        try:
            if len(self.mqs) == 0:
                self._take()
        except Error as error:
            self._fail(error)
            return None
        request = self.mqs.pop()
        if request is not None:
            self._in_flight.add(request)
            self._count("dequeued", "disk" if self._tokens.get(request) else "memory")
        return request

    def has_pending_requests(self) -> bool:
        """Whether any spider has a request, or the server: those may lead to more."""
        if self._failed:
            return False
        try:
            return len(self.mqs) > 0 or bool(self._tokens) or self._client.stats()["leases"] > 0
        except Error as error:
            self._fail(error)
            return False

    def __len__(self) -> int:
        return len(self.mqs)

    # ---- the server

    def _take(self):
        """Gets requests from the server, unless it had none a moment ago."""
        now = time.monotonic()
        if now - self._looked < _TICK / 4:
            return
        self._give_back()
        jobs = self._client.take(min(self.crawler.settings.getint("CONCURRENT_REQUESTS"), 1000), self._wanted.lease)
        if not jobs:
            self._looked = now
        for token, text in jobs:
            request = self._load(text.partition(b"#")[2])
            self._tokens[request] = token
            self.mqs.push(request)

    def _load(self, text):
        try:
            name, newline, data = base64.b64decode(text, validate=True).partition(b"\n")
            if name + newline == self._name:
                return load(data, self.spider)
            why = f"has a request of the spider {name.decode('unicode_escape')}, and this is {self.spider.name}"
        except Exception as error:
            why = f"has a request that this spider cannot read ({error})"
        raise Error(
            f"{self._wanted.shown} {why}: only copies of one spider share a server; give each other spider an UNSEEN_STORE "
            "of its own"
        )

    def _give_back(self):
        self._client.give_back(*self._returns)
        self._returns = []

    def _settle(self):
        self._give_back()
        done = requests_done(self.crawler, self._in_flight)
        tokens = [token for request in done if (token := self._tokens.get(request))]
        late = len(tokens) - self._client.done(*tokens)
        if late:
            self.stats.inc_value("unseen/late", late)
            self._warn_late(late)
        for request in done:
            self._in_flight.remove(request)
            if not self._tokens.pop(request, None):
                self._release(request)

    def _release(self, request):
        """A request in memory only is done."""
        key = "request:" + self._digest(request).hex()
        if key in self._held:
            self._client.add(key)
            self._held.remove(key)

    def _tick(self):
        if self._failed:
            return
        try:
            self._settle()
            if time.monotonic() - self._renewed > self._wanted.lease / 4:
                tokens = list(filter(None, self._tokens.values()))
                late = len(tokens) - self._client.renew(self._wanted.lease, *tokens)
                if late:
                    self._warn_late(late)
                self._renewed = time.monotonic()
        except Error as error:
            self._fail(error)
        if len(self.mqs) == 0:
            wake_engine(self.crawler)

    def _warn_late(self, n):
        logger.warning(
            "The leases of %(n)d requests have ended before the requests were done: other spiders fetch them, too"
            " (UNSEEN_LEASE is %(lease)d s)",
            {"n": n, "lease": self._wanted.lease},
            extra={"spider": self.spider},
        )

    def _count(self, what, where):
        self.stats.inc_value(f"scheduler/{what}/{where}")
        self.stats.inc_value(f"scheduler/{what}")

    def _fail(self, error):
        """The server is gone, or the like. The leases of this spider end, and others go on with its requests."""
        self._failed = True
        logger.error(
            "%(store)s: %(error)s: the crawl ends; what it has not done is left to other spiders of the server",
            {"store": self._wanted.shown, "error": error},
            extra={"spider": self.spider},
        )
        close_spider(self.crawler)


def _connect(wanted):
    if wanted.is_redis:
        return RedisJobs(wanted)
    client = connect(wanted.store, token=wanted.token)
    try:
        _check_profile(wanted.store, client.profile)
    except BaseException:
        client.close()
        raise
    return client


def _check_profile(store, profile):
    """The key of request:FINGERPRINT#DATA must not have the data in it."""
    name = profile.split("+")[0].strip()
    if "keep-fragment" in profile or canonicalize("request:0#x", name) != "request:0":
        raise Error(
            f"{store} has the profile {profile}, under which the part behind # counts; spiders need a server that keeps "
            "their requests there: unseen serve -p crawl NEW.unseen --listen ..."
        )
