# SPDX-License-Identifier: MIT
"""The scheduler: Scrapy's own, whose requests on disk survive kill -9.

A request that the engine takes stays in the file until the engine is through with it (_progress.py). Once in a
commit interval _commit() takes out the requests that are done, in one transaction with what they have led to,
and then commits the keys to the store: a key is never durable before its request is."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from functools import partial
from typing import TYPE_CHECKING, Any

from queuelib import queue as queuelib
from scrapy.core import scheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue, DownloaderInterface, ScrapyPriorityQueue
from scrapy.utils.python import global_object_name

from .. import Error
from ._dupefilter import DupeFilter
from ._progress import close_spider, requests_done
from ._requests import RequestFile, RequestQueue
from ._served import ServedScheduler
from ._settings import read_settings
from ._versions import HAS_START_QUEUES, build_from_crawler, create_looping_call

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_FILE = "requests.sqlite"


class Scheduler(scheduler.Scheduler):
    """SCHEDULER = "unseen.scrapy.Scheduler", with DUPEFILTER_CLASS = "unseen.scrapy.DupeFilter".

    With JOBDIR, waiting requests are in JOBDIR/requests.sqlite until they are done. A crawl that is killed
    loses no page of them, and fetches those again that were in flight, or done within the last
    UNSEEN_COMMIT_INTERVAL (1 second).
    """

    df: Any  # a DupeFilter
    _file: Any  # a RequestFile, or None without JOBDIR

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy calls this. If UNSEEN_STORE is the address of a server, the scheduler is a ServedScheduler."""
        if cls is Scheduler and read_settings(crawler.settings).is_served:
            return ServedScheduler.from_crawler(crawler)  # type: ignore[return-value]
        made = super().from_crawler(crawler)
        if not isinstance(made.df, DupeFilter):
            raise Error(
                "unseen.scrapy.Scheduler needs DUPEFILTER_CLASS = 'unseen.scrapy.DupeFilter', and it is "
                f"{global_object_name(type(made.df))}: ADDONS = {{'unseen.scrapy.Addon': 0}} sets both"
            )
        return made

    # ---- open and close

    def open(self, spider: Spider) -> None:
        """Opens the queue and the store. What was in flight when an earlier crawl ended waits again."""
        self._in_flight: dict[Request, int | None] = {}
        self._failed = False
        self._file = None
        self._loop = None
        try:
            super().open(spider)
            self.df.keep_new()
            if self._file:
                self.df.restore(json.loads(self._file.get_state("new") or "[]"))
                self._commit()
        except sqlite3.Error as error:
            self._release()
            raise Error(f"{self._file_path()}: {error}") from None
        except BaseException:
            self._release()
            raise
        self._loop = create_looping_call(self._tick)
        self._loop.start(self.df.settings.commit_interval, now=False)

    def close(self, reason: str) -> None:
        """Commits. Requests that wait stay in the file, if there is one."""
        if self._loop is None:
            return  # Scrapy closes what it could not open, too
        if self._loop.running:
            self._loop.stop()
        self._tick()
        if self._failed:
            self._release()
            return
        if self._file:
            self._file.close()
        self.df.close(reason)

    def _release(self):
        if self._file:
            self._file.close()
        self.df.abandon()

    def _file_path(self):
        return os.path.join(self.dqdir, _FILE)

    def _dqdir(self, jobdir):
        return jobdir or None

    def _dq(self):
        self._file = file = RequestFile(self._file_path(), self.spider)
        by_slot = issubclass(self.pqclass, DownloaderAwarePriorityQueue)
        order = _order(self.dqclass, "SCHEDULER_DISK_QUEUE")
        start_class = self._sdqclass if HAS_START_QUEUES else None
        start_order = start_class and _order(start_class, "SCHEDULER_START_DISK_QUEUE")
        if by_slot:
            file.slot_of = DownloaderInterface(self.crawler).get_slot_key
        build = partial(
            build_from_crawler,
            self.pqclass,
            self.crawler,
            downstream_queue_cls=partial(RequestQueue, file, order),
            key="",
            **{"start_queue_cls": start_order and partial(RequestQueue, file, start_order)} if HAS_START_QUEUES else {},
        )
        names = f"{global_object_name(self.pqclass)} {bool(start_order)}"
        n = file.count_left()
        if by_slot or issubclass(self.pqclass, ScrapyPriorityQueue):
            is_same = file.get_state("queues") == names
        else:
            is_same = False  # what state such a queue begins with is not known
        if n == 0 or not is_same:
            queue = build()
            file.requeue(queue.push)
        else:
            queue = build(startprios=_priorities(file, by_slot))
        file.set_state("queues", names)
        if n:
            logger.info("Resuming crawl (%(queuesize)d requests scheduled)", {"queuesize": n},
                        extra={"spider": self.spider})
        return queue

    # ---- requests

    def enqueue_request(self, request: Request) -> bool:
        """Queues the request, unless it is a duplicate."""
        if self._failed:
            return False
        try:
            return super().enqueue_request(request)
        except (sqlite3.Error, Error) as error:
            self._fail(error)
            return False

    def next_request(self) -> Request | None:
        """The next request to download."""
        if self._failed:
            return None
        try:
            request = super().next_request()
        except (sqlite3.Error, Error) as error:
            self._fail(error)
            return None
        if request is not None:
            self._in_flight.setdefault(request, None)
        return request

    def _dqpop(self):
        request = super()._dqpop()
        if request is not None:
            self._in_flight[request] = self._file.popped
        return request

    def _mqpush(self, request):
        super()._mqpush(request)
        if not request.dont_filter:
            self.df.hold(request)

    # ---- commits

    def _commit(self):
        done = requests_done(self.crawler, self._in_flight)
        for request in done:
            self.df.release(request)
        if self._file:
            self._file.set_state("new", json.dumps(self.df.new_items()))
            self._file.commit([id for id in map(self._in_flight.get, done) if id is not None])
        self.df.commit()
        for request in done:
            del self._in_flight[request]

    def _tick(self):
        if self._failed:
            return
        try:
            self._commit()
        except (sqlite3.Error, Error) as error:
            self._fail(error)

    def _fail(self, error):
        """The disk is full, or the like. Nothing more is committed, so that the next crawl goes on from the last
        commit."""
        self._failed = True
        path = self._file_path() if isinstance(error, sqlite3.Error) else ""
        logger.error(
            "%(path)s%(error)s: the crawl ends; the next one goes on from what was committed",
            {"path": path and path + ": ", "error": error},
            extra={"spider": self.spider},
        )
        close_spider(self.crawler)


def _order(queue_class, setting):
    """How SQLite orders the requests of such a queue."""
    if issubclass(queue_class, (queuelib.LifoDiskQueue, queuelib.LifoSQLiteQueue)):
        return "DESC"
    if issubclass(queue_class, (queuelib.FifoDiskQueue, queuelib.FifoSQLiteQueue)):
        return "ASC"
    raise Error(
        f"{setting} is {global_object_name(queue_class)}: unseen.scrapy.Scheduler knows the order of Scrapy's Fifo and "
        "Lifo queues, such as scrapy.squeues.PickleFifoDiskQueue"
    )


def _priorities(file, by_slot):
    """The state that a priority queue of Scrapy would have written at its end."""
    found = {}
    for name, slot in file.left_queues():
        found.setdefault(slot, set()).add(int(name.rpartition("/")[2].removesuffix("s")))
    if by_slot:
        return {slot: sorted(priorities) for slot, priorities in found.items()}
    return sorted(set().union(*found.values()))
