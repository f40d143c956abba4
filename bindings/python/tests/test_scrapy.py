# SPDX-License-Identifier: MIT
"""unseen.scrapy: the filter and the scheduler beside Scrapy's own, and crawls of a real site that are killed.

UNSEEN_CRASH_SCALE=10: 30 kills on 10,000 pages, and all settings together, of which else each fifth is tried."""

import collections
import importlib
import itertools
import json
import logging
import os
import pathlib
import pickle
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import nullcontext
from importlib import metadata
from unittest import mock

import unseen

try:
    import scrapy
except ModuleNotFoundError:
    raise unittest.SkipTest("no Scrapy") from None

import scrapy_matrix
import scrapy_site
from redis_server import READY, RedisServer, redis, wait_for
import scrapy.utils.reactor
from scrapy import Request, Spider
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.test import get_crawler
from unseen.scrapy import DupeFilter
from unseen.scrapy import Scheduler as UnseenScheduler
from unseen.scrapy._requests import RequestFile

TOOL = os.environ.get("UNSEEN")
VERSION = scrapy.version_info[:2]
FAILED = 1 if VERSION >= (2, 14) else 0  #: the exit status of a spider that could not begin
if VERSION == (2, 13):  # get_crawler() asks for it
    scrapy.utils.reactor.install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
SCALE = int(os.environ.get("UNSEEN_CRASH_SCALE", "1"))
BRIEF = "UNSEEN_TEST_BRIEF" in os.environ
whole_run = unittest.skipIf(BRIEF, "of the whole run")
ADDON = 'ADDONS={"unseen.scrapy.Addon": 0}'
STOCK_SCHEDULER = "scrapy.core.scheduler.Scheduler"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *parts):
        return os.path.join(self.folder, *parts)


class HeaderFingerprinter:
    """A project's own: a header counts."""

    def fingerprint(self, request):
        return scrapy.utils.request.fingerprint(request, include_headers=["X-Id"])


def some_requests():
    e = "http://e.com/"
    yield from (Request(e), Request(e), Request("HTTP://E.com:80/#top"), Request(e + "?b=2&a=1"), Request(e + "?a=1&b=2"))
    yield from (Request(e, method="POST"), Request(e, method="POST", body=b"x"), Request(e, method="POST", body=b"x"))
    yield from (Request(e, headers={"X-Id": "1"}), Request(e, headers={"X-Id": "2"}), Request(e, headers={"X-Id": "1"}))
    yield from (Request(e + "é"), Request(e + "%C3%A9"), Request(e + "%c3%a9"), Request(e, dont_filter=True))
    rng = random.Random(1)
    for _ in range(2000):
        yield Request(f"{e}p/{rng.randrange(500)}", method=rng.choice(["GET", "GET", "HEAD"]))


class Filter(Folder):
    """DupeFilter beside RFPDupeFilter, on the same requests."""

    def verdicts(self, class_, settings):
        crawler = get_crawler(settings_dict={"DUPEFILTER_CLASS": class_, **settings})
        crawler.spider = crawler._create_spider("x")
        df = class_.from_crawler(crawler)
        verdicts = []
        with self.assertLogs("scrapy.dupefilters", logging.DEBUG) as logs:
            df.open()
            for request in some_requests():
                verdicts.append(df.request_seen(request))
                if verdicts[-1]:
                    df.log(request, crawler.spider)
            df.close("finished")
        return verdicts, logs.output, crawler.stats.get_stats()

    def test_beside_stock(self):
        settings = {}, {"DUPEFILTER_DEBUG": True}, {"REQUEST_FINGERPRINTER_CLASS": HeaderFingerprinter}
        for i, more in enumerate(settings):
            stock = self.verdicts(RFPDupeFilter, more)
            self.assertIn(True, stock[0])
            self.assertEqual(self.verdicts(DupeFilter, more), stock)
            for name, place in ("a", "JOBDIR"), ("b", "UNSEEN_STORE"):
                path = self.path(f"{name}{i}")
                first = self.verdicts(DupeFilter, {**more, place: path})
                self.assertEqual(first, stock)
                again = self.verdicts(DupeFilter, {**more, place: path})
                self.assertNotIn(False, again[0])

    def test_subclass(self):
        class Odd(DupeFilter):
            def request_fingerprint(self, request):
                return b"x".hex()

        class Stock(RFPDupeFilter):
            def request_fingerprint(self, request):
                return b"x".hex()

        requests = [Request("http://e.com/a"), Request("http://e.com/b")]
        for class_ in Odd, Stock:
            with self.assertWarns(scrapy.exceptions.ScrapyDeprecationWarning) if VERSION >= (2, 19) else nullcontext():
                df = class_()
            self.assertEqual([df.request_seen(r) for r in requests], [False, True], class_)
        self.assertIsInstance(df, RFPDupeFilter)

    def test_fingerprinters(self):
        """Scrapy's own fingerprinter is called without its wrapper. Every other one is asked itself."""
        own = scrapy.utils.request.RequestFingerprinter

        class Other(own):
            def fingerprint(self, request):
                return request.method.encode()

        changed = own()
        changed._fingerprint = lambda request: request.method.encode()
        requests = [Request("http://e.com/a"), Request("http://e.com/b"), Request("http://e.com/a#x")]
        for fingerprinter, verdicts in (own(), [False, False, True]), (Other(), [False, True, True]), (changed, [False, True, True]):
            for class_ in RFPDupeFilter, DupeFilter:
                df = class_(fingerprinter=fingerprinter)
                self.assertEqual([df.request_seen(r) for r in requests], verdicts, class_)

    def test_profile(self):
        """With UNSEEN_PROFILE the URLs of GETs are the keys, which the tool can ask for."""
        crawler = get_crawler(settings_dict={"UNSEEN_STORE": self.path("s"), "UNSEEN_PROFILE": "crawl"})
        df = DupeFilter.from_crawler(crawler)
        df.open()
        e = "http://e.com/"
        requests = [Request(e), Request(e + "#a"), Request(e, method="POST"), Request(e, method="POST"),
                    Request(e + "?b=1&a=1"), Request(e + "?a=1&b=1"), Request(e, body=b"x"), Request(e, body=b"x"),
                    Request(e, meta={"verbatim_url": True})]
        self.assertEqual([df.request_seen(r) for r in requests],
                         [False, True, False, True, False, False, False, True, False])
        df.close("finished")
        with unseen.open(self.path("s"), mode="r") as store:
            self.assertEqual(store.profile, "crawl/1")
            self.assertIn("HTTP://e.com/", store)

    def test_window(self):
        """A page of three days ago is new in a window of two days, in a store that keeps its window; one of yesterday is not."""
        path = self.path("s")
        settings = {"UNSEEN_STORE": path, "UNSEEN_PROFILE": "crawl", "UNSEEN_WINDOW": "2d"}
        for days in 3, 1:
            with unseen.open(path, "crawl", window="2d", now=time.time() - days * 86400) as store:
                self.assertTrue(store.add(f"http://e.com/{days}"))
        for verdicts in [False, True, False], [True, True, True]:
            df = DupeFilter.from_crawler(get_crawler(settings_dict=settings))
            df.open()
            self.assertEqual([df.request_seen(Request(f"http://e.com/{days}")) for days in (3, 1, 0)], verdicts)
            df.close("finished")
        for place in {}, {"UNSEEN_STORE": self.path("new")}, {"JOBDIR": self.path("job")}:
            df = DupeFilter.from_crawler(get_crawler(settings_dict={"UNSEEN_WINDOW": "604800", **place}))
            df.open()
            self.assertEqual(df._seen.info()["window"], 604800)
            df.close("finished")

    @unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
    def test_import(self):
        """The file of Scrapy's own filter, taken over."""
        stock = self.verdicts(RFPDupeFilter, {"JOBDIR": self.path("job")})
        self.assertIn(False, stock[0])
        subprocess.run([TOOL, "import", "--format", "requests.seen", self.path("job", "seen.unseen"),
                        self.path("job", "requests.seen")], check=True)
        self.assertNotIn(False, self.verdicts(DupeFilter, {"JOBDIR": self.path("job")})[0])

    def test_a_crawl_of_stock_that_is_not_imported(self):
        """The log says that the crawl begins anew, and with which command it does not."""
        self.verdicts(RFPDupeFilter, {"JOBDIR": self.path("job")})
        seen = self.path("job", "requests.seen")

        def opened(**settings):
            df = DupeFilter.from_crawler(get_crawler(settings_dict={"JOBDIR": self.path("job"), **settings}))
            df.open()
            df.close("finished")

        with self.assertLogs("unseen.scrapy", "WARNING") as logs:
            opened()
            opened(UNSEEN_STORE=self.path("other"))
            opened(UNSEEN_STORE=self.path("urls"), UNSEEN_PROFILE="crawl")
        self.assertEqual(len(logs.output), 3)
        for line, store in zip(logs.output, ("job/seen.unseen", "other")):
            self.assertIn(f"{seen} and the queue beside it are of Scrapy's own classes, and are not read", line)
            self.assertIn(f"(unseen import --format requests.seen {self.path(store)} {seen} reads it", line)
        self.assertNotIn("import", logs.output[2])
        with self.assertNoLogs("unseen.scrapy"):
            with unseen.open(self.path("job", "seen.unseen")) as store:
                store.add("x")
            opened()  # a crawl that has begun
            os.truncate(seen, 0)
            opened(UNSEEN_STORE=self.path("third"))


class FakeDownloader:
    """What priority queues ask of the downloader: which slot a request belongs to, and how busy it is."""

    def __init__(self):
        self.slots = {}

    def get_slot_key(self, request):
        return request.meta.get("download_slot") or scrapy.utils.httpobj.urlparse_cached(request).hostname

    def _get_slot_key(self, request, spider):  # before 2.13
        return self.get_slot_key(request)


class Running:
    """A scheduler with as much of an engine as it needs."""

    def __init__(self, test, class_, folder, spider="x", **settings):
        both = {} if class_ == STOCK_SCHEDULER else {"DUPEFILTER_CLASS": DupeFilter}
        self.crawler = get_crawler(settings_dict={"SCHEDULER": class_, "JOBDIR": folder, **both, **settings})
        self.crawler.spider = self.crawler._create_spider(spider)
        self.in_progress = set()
        self.crawler.engine = mock.Mock(downloader=FakeDownloader(), _slot=mock.Mock(inprogress=self.in_progress))
        scheduler = scrapy.utils.misc.load_object(class_)
        self.scheduler = scheduler.from_crawler(self.crawler)
        target = "unseen.scrapy.{}.create_looping_call"
        with mock.patch(target.format("_scheduler")), mock.patch(target.format("_served")):  # a test calls _tick() itself
            self.scheduler.open(self.crawler.spider)

    def push(self, *requests):
        return [self.scheduler.enqueue_request(request) for request in requests]

    def pop(self):
        request = self.scheduler.next_request()
        if request is not None:
            self.in_progress.add(request)
        return request

    def done(self, request):
        self.in_progress.discard(request)

    def close(self):
        self.scheduler.close("shutdown")


class Order(Folder):
    """The scheduler beside Scrapy's: the same requests in the same order, also across a restart."""

    def trace(self, class_, folder, settings, seed):
        rng = random.Random(seed)
        trace = []
        running = None
        for step in range(600):
            if step % 200 == 0:
                if running:
                    running.close()
                running = Running(self, class_, folder, **settings)
                trace.append(len(running.scheduler))
            if rng.random() < 0.55:
                request = Request(f"http://h{rng.randrange(4)}.com/{rng.randrange(400)}", priority=rng.choice([0, 0, 0, 5, -3]),
                                  dont_filter=rng.random() < 0.1,
                                  meta={"is_start_request": True} if rng.random() < 0.2 else {})
                trace += running.push(request)
            else:
                request = running.pop()
                trace.append(request and (request.url, request.priority))
                if request:
                    running.done(request)
            trace.append(running.scheduler.has_pending_requests())
        running.close()
        stats = {name: n for name, n in running.crawler.stats.get_stats().items() if name.startswith("scheduler")}
        return trace, stats

    def test_order(self):
        queues = "scrapy.squeues."
        kinds = [{}, {"SCHEDULER_DISK_QUEUE": queues + "PickleFifoDiskQueue"},
                 {"SCHEDULER_DISK_QUEUE": queues + "MarshalLifoDiskQueue", "SCHEDULER_START_DISK_QUEUE": None},
                 {"SCHEDULER_DISK_QUEUE": queues + "PickleFifoSQLiteQueue",
                  "SCHEDULER_START_DISK_QUEUE": queues + "PickleLifoSQLiteQueue"}]
        if VERSION < (2, 19):
            del kinds[3]  # no such queues
        for i, kind in enumerate(kinds):
            for j, name in enumerate(["DownloaderAwarePriorityQueue", "ScrapyPriorityQueue"]):
                settings = {**kind, "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues." + name}
                if BRIEF and (i + j) % 2:
                    continue
                with self.subTest(settings):
                    stock = self.trace(STOCK_SCHEDULER, self.path(f"stock{i}{j}"), settings, i)
                    ours = self.trace("unseen.scrapy.Scheduler", self.path(f"ours{i}{j}"), settings, i)
                    self.assertEqual(ours, stock)
                    self.assertGreater(len([1 for entry in stock[0] if type(entry) is tuple]), 150)

    def test_another_queue(self):
        """Requests that wait are taken over into a priority queue of another class."""
        first = Running(self, "unseen.scrapy.Scheduler", self.path("job"))
        first.push(*(Request(f"http://h{i % 3}.com/{i}", priority=i % 2) for i in range(10)))
        first.close()
        for name in "ScrapyPriorityQueue", "DownloaderAwarePriorityQueue":
            again = Running(self, "unseen.scrapy.Scheduler", self.path("job"),
                            SCHEDULER_PRIORITY_QUEUE="scrapy.pqueues." + name)
            self.assertEqual(len(again.scheduler), 10)
            again.close()
        again = Running(self, "unseen.scrapy.Scheduler", self.path("job"),
                        SCHEDULER_PRIORITY_QUEUE="scrapy.pqueues.ScrapyPriorityQueue")
        got = [again.pop().url for _ in range(10)]
        self.assertEqual(got, [f"http://h{i % 3}.com/{i}" for i in (9, 7, 5, 3, 1, 8, 6, 4, 2, 0)])
        again.close()


class InFlight(Folder):
    """What is on the disk at each moment."""

    def running(self, **settings):
        return Running(self, "unseen.scrapy.Scheduler", self.path("job"), **settings)

    def die(self, running):
        """The process is killed: nothing more is written."""
        running.scheduler._file.close()
        running.scheduler.df.abandon()

    def test_taken(self):
        one = self.running()
        one.push(Request("http://e.com/a"), Request("http://e.com/b"))
        one.scheduler._tick()
        a = one.pop()
        one.scheduler._tick()
        self.die(one)
        two = self.running()
        self.assertEqual(two.push(Request("http://e.com/a"), Request("http://e.com/b")), [False, False])
        self.assertEqual(len(two.scheduler), 2)
        self.assertEqual(two.pop().url, a.url)
        self.die(two)

    def test_page_and_links(self):
        """A page that is done, its links and their keys: all of them, or none."""
        one = self.running()
        one.push(Request("http://e.com/a"))
        one.scheduler._tick()
        page = one.pop()
        one.push(Request("http://e.com/link"))
        one.done(page)
        self.die(one)
        two = self.running()
        page = two.pop()
        self.assertEqual(page.url, "http://e.com/a")
        self.assertEqual(two.push(Request("http://e.com/link")), [True])
        two.done(page)
        two.scheduler._tick()
        self.die(two)
        three = self.running()
        self.assertEqual([three.pop().url, three.pop()], ["http://e.com/link", None])
        self.assertEqual(three.push(Request("http://e.com/link"), Request("http://e.com/a")), [False, False])
        three.close()

    def test_between_the_files(self):
        """Killed after the requests are committed and before the store: the next run has the keys."""
        one = self.running()
        one.push(Request("http://e.com/a"), Request("http://e.com/b"))
        page = one.pop()
        one.done(page)
        with mock.patch.object(DupeFilter, "commit", side_effect=unseen.Error("killed")), self.assertLogs(level="ERROR"):
            one.scheduler._tick()
        self.die(one)
        two = self.running()
        self.assertEqual(two.push(Request("http://e.com/a"), Request("http://e.com/b")), [False, False])
        self.assertEqual([two.pop().url, two.pop()], ["http://e.com/a", None])
        two.close()

    def test_unserializable(self):
        """A request in memory only is seen, but not after a crash before it was done."""
        request = Request("http://e.com/a", callback=lambda response: None)
        one = self.running(SCHEDULER_DEBUG=True)
        with self.assertLogs("scrapy.core.scheduler", "WARNING"):
            self.assertEqual(one.push(request, request, Request("http://e.com/a")), [True, False, False])
        stats = one.crawler.stats.get_stats()
        self.assertEqual((stats["scheduler/unserializable"], stats["scheduler/enqueued/memory"]), (1, 1))
        one.scheduler._tick()
        self.die(one)
        two = self.running()
        self.assertEqual(two.push(request), [True])
        page = two.pop()
        two.scheduler._tick()
        self.assertEqual(two.push(request), [False])
        two.done(page)
        two.scheduler._tick()
        self.die(two)
        three = self.running()
        self.assertEqual(three.push(request), [False])
        three.close()

    def test_no_jobdir(self):
        """A store without JOBDIR: a key is committed when its request is done."""
        settings = {"JOBDIR": None, "UNSEEN_STORE": self.path("s")}
        one = self.running(**settings)
        one.push(Request("http://e.com/a"), Request("http://e.com/b"))
        one.done(one.pop())
        one.close()
        two = self.running(**settings)
        self.assertEqual(two.push(Request("http://e.com/a"), Request("http://e.com/b")), [True, False])
        two.close()

    def test_no_jobdir_profile(self):
        """With UNSEEN_PROFILE other spellings of a request in memory are duplicates while it waits and when it is done,
        under the rules of a store that is there, too."""
        for name in "rules", "rules2":
            with unseen.open(self.path(name), rules=["strip-trackers"]) as store:
                rules = store.profile
        plain, spelled, tracked = "http://e.com/a", "HTTP://E.com/a#b", "http://e.com/a?utm_source=x"
        for name, profile, first, other in (("s", "crawl", plain, spelled), ("t", "crawl", spelled, plain),
                                            ("rules", rules, plain, tracked), ("rules2", rules, tracked, spelled)):
            settings = {"JOBDIR": None, "UNSEEN_STORE": self.path(name), "UNSEEN_PROFILE": profile}
            one = self.running(**settings)
            self.assertEqual(one.push(Request(first), Request(other), Request("http://e.com/b")), [True, False, True])
            self.assertEqual([one.pop().url, one.pop().url], ["http://e.com/b", Request(first).url])
            self.assertEqual(one.push(Request(other)), [False])
            one.in_progress.clear()
            one.close()
            two = self.running(**settings)
            self.assertEqual(two.push(Request(other), Request("http://e.com/b")), [False, False])
            two.close()


class Refusals(Folder):
    def refused(self, wanted, class_=unseen.Error, **settings):
        with self.assertRaises(class_) as caught:
            Running(self, "unseen.scrapy.Scheduler", self.path("job"), **settings).close()
        self.assertIn(wanted, str(caught.exception))

    def test_settings(self):
        self.refused("ADDONS = {'unseen.scrapy.Addon': 0} sets both", DUPEFILTER_CLASS=RFPDupeFilter, JOBDIR=None)
        self.refused("there is no profile", UNSEEN_PROFILE="nonsense")
        self.refused("seconds", UNSEEN_COMMIT_INTERVAL=0)
        for place in {"JOBDIR": None}, {}:
            for window in "soon", "0", "0.5", "101y", "10min", 0.5, -1, 1e10:
                self.refused("window is a time from a second to 100 years", UNSEEN_WINDOW=window, **place)
        Running(self, "unseen.scrapy.Scheduler", self.path("job"), UNSEEN_WINDOW="7d").close()
        self.refused("`unseen rewrite --window 86400` gives it another", unseen.MismatchError, UNSEEN_WINDOW=86400)
        self.refused("unix:sock is a server, and UNSEEN_WINDOW is for a store in a file or a key of Redis", UNSEEN_STORE="unix:sock",
                     UNSEEN_WINDOW="7d")
        for place in {"UNSEEN_STORE": "unix:sock"}, {"JOBDIR": None}:
            self.refused("UNSEEN_MEMORY is for a store in a file", UNSEEN_MEMORY="2G", **place)
        self.refused("memory is a number of bytes", UNSEEN_MEMORY="2 GB")
        Running(self, "unseen.scrapy.Scheduler", self.path("large"), UNSEEN_MEMORY="2G").close()
        self.refused("knows the order", SCHEDULER_DISK_QUEUE="scrapy.squeues.FifoMemoryQueue")

    def test_in_use(self):
        one = Running(self, "unseen.scrapy.Scheduler", self.path("job"))
        self.refused("another crawl has it", BlockingIOError)
        self.refused("", BlockingIOError, JOBDIR=self.path("other"), UNSEEN_STORE=self.path("job", "seen.unseen"))
        one.close()
        Running(self, "unseen.scrapy.Scheduler", self.path("job")).close()

    def test_files(self):
        os.mkdir(self.path("job"))
        file = pathlib.Path(self.path("job", "requests.sqlite"))
        file.write_bytes(b"not a database" * 1000)
        self.refused("file is not a database")
        file.unlink()
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE a (b)")
        db.close()
        self.refused("of another program")
        file.unlink()
        Running(self, "unseen.scrapy.Scheduler", self.path("job")).close()
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA user_version = 9")
        db.close()
        self.refused("has format 9")
        file.unlink()
        file.mkdir()
        self.refused("unable to open database file")
        file.rmdir()
        pathlib.Path(self.path("job", "seen.unseen")).write_bytes(b"not a store" * 1000)
        self.refused("seen.unseen")

    def test_flips(self):
        """A flipped bit of the file of requests stops the crawl, or does not matter."""
        path = self.path("requests.sqlite")
        spider = Spider("one")
        urls = [f"http://example.com/{i}" for i in range(8)]
        file = RequestFile(path, spider)
        for url in urls:
            file.push("0", Request(url))
        file.set_state("new", "[1, 2]")
        file.commit([])
        self.assertEqual(os.stat(path + "-wal").st_size, 0)
        file.close()
        whole = pathlib.Path(path).read_bytes()
        nrefused = 0
        for at in range(0, len(whole), 7):
            for left in pathlib.Path(path).parent.glob("requests.sqlite*"):
                left.unlink()
            flipped = bytearray(whole)
            flipped[at] ^= 1 << at % 8
            pathlib.Path(path).write_bytes(flipped)
            try:
                file = RequestFile(path, spider)
                try:
                    got = [file.pop("0", "ASC").url for _ in range(file.begin_queue("0"))]
                    self.assertIn(file.get_state("new"), ("[1, 2]", None), at)
                finally:
                    file.close()
            except (unseen.Error, sqlite3.DatabaseError):
                nrefused += 1
            else:
                self.assertEqual(got, urls, at)
        self.assertGreater(nrefused, 100)

    def test_old_scrapy(self):
        names = [name for name in sys.modules if name.startswith("unseen.scrapy")]
        saved = {name: sys.modules.pop(name) for name in names}
        self.addCleanup(sys.modules.update, saved)
        with mock.patch.object(metadata, "version", return_value="2.8.0"), self.assertRaises(ImportError) as caught:
            importlib.import_module("unseen.scrapy")
        self.assertIn("needs Scrapy 2.11 or newer, and this is 2.8.0", str(caught.exception))


def ends_with_commit(wal):
    """Whether the last frame of a log of SQLite is that of a commit (https://sqlite.org/fileformat2.html#walformat)."""
    with open(wal, "rb") as file:
        data = file.read()
    size, salts = int.from_bytes(data[8:12], "big"), data[16:24]
    is_commit = False
    for at in range(32, len(data) - 23 - size, 24 + size):
        if data[at + 8:at + 16] != salts:
            break
        is_commit = data[at + 4:at + 8] != bytes(4)
    return is_commit


class Crawls(Folder):
    """Whole crawls of a site, in processes of their own."""

    def site(self, n):
        site = scrapy_site.Site(n)
        self.addCleanup(site.close)
        return site

    def left(self, *parts):
        """The requests in the file."""
        db = sqlite3.connect(self.path(*(parts or ("job",)), "requests.sqlite"))
        try:
            return db.execute("SELECT count(*) FROM request").fetchone()[0]
        finally:
            db.close()

    def in_flight(self):
        """The paths of the requests that were in flight at the last commit of a crawl that was killed; and when
        that was, 0 if it was killed while it wrote the next one."""
        with tempfile.TemporaryDirectory() as copy:
            for name in "requests.sqlite", "requests.sqlite-wal":
                if os.path.exists(self.path("job", name)):
                    shutil.copy2(self.path("job", name), copy)
            wal = os.path.join(copy, "requests.sqlite-wal")
            when = os.stat(wal).st_mtime if os.path.exists(wal) and ends_with_commit(wal) else 0
            db = sqlite3.connect(os.path.join(copy, "requests.sqlite"))
            rows = db.execute("SELECT data FROM request WHERE taken = 1").fetchall()
            db.close()
        return {"/" + pickle.loads(data)["url"].split("/", 3)[3].partition("?")[0] for (data,) in rows}, when

    def kill_and_go_on(self, site, nkills, *settings):
        """Crawls with kills at random."""
        rng = random.Random(7)
        kills = []
        for _ in range(nkills):
            begin = len(site.log)
            at = sum(site.pages().values()) + rng.randrange(10, site.n // nkills)
            scrapy_site.crawl_and_kill(site, "JOBDIR=job", *settings, folder=self.folder,
                                       until=lambda at=at: sum(site.pages().values()) >= at)
            kills.append((begin, len(site.log), *(self.in_flight() if settings else ((), 0))))
        scrapy_site.crawl(site.start, "JOBDIR=job", *settings, folder=self.folder)
        if settings:
            for begin, end, in_flight, when in kills:
                before = {path for at, path in site.log[begin:end] if at < when - 0.01}
                again = before & {path for _, path in site.log[end:]} - {"/p/0"}
                self.assertLessEqual(again, in_flight)
                self.assertLess(len(in_flight), 100)  # 16 at once, and what Scrapy has not parsed yet

    def test_kill(self):
        """Each page is fetched. A page that was fetched before the last commit before a kill is fetched again only if
        it was in flight at that commit."""
        site = self.site(1000 * SCALE)
        self.kill_and_go_on(site, 3 * SCALE, ADDON, "UNSEEN_COMMIT_INTERVAL=0.3")
        self.assertEqual(site.missing(), [])
        with open(self.path("pages")) as pages:
            self.assertEqual({line.strip() for line in pages}, {f"p/{i}" for i in range(site.n)})
        self.assertEqual(self.left(), 0)

    @whole_run
    def test_window(self):
        """Three days, and a crawl every six hours: each page is fetched once a day. Crawls are stopped and killed."""
        site = self.site(60)
        site.start = site.start.replace("/p/0", "/all")
        settings = [ADDON, "JOBDIR=job", "UNSEEN_WINDOW=1d", "UNSEEN_COMMIT_INTERVAL=0.05"]
        crawls = {0: (20, signal.SIGKILL), 1: (20, signal.SIGINT), 4: (25, signal.SIGINT), 8: (10, signal.SIGKILL),
                  9: (10, signal.SIGKILL)}  # number: killed at how many pages
        twice = collections.Counter()
        for number in range(12):
            pages = [path for _, path in site.log if path.startswith("/p/")]
            n, kill = crawls.get(number, (0, None))

            def held(first=len(pages) + n - 1):
                return [path for _, path in site.log if path.startswith("/p/")][first:]

            def is_committed(held=held):
                """What was answered is on the disk."""
                return self.in_flight()[0] == set(held())

            with mock.patch.dict(os.environ, NOW=str(1764268200 + number * 21601)):
                if kill is None:
                    scrapy_site.crawl(site.start, *settings, folder=self.folder, spider="scrapy_spider_at.py")
                else:
                    scrapy_site.crawl_and_kill(site, *settings, folder=self.folder, until=held, number=kill,
                                               is_ready=is_committed, spider="scrapy_spider_at.py")
            if kill == signal.SIGKILL:
                twice.update(held())  # without an answer
            if number % 4 > 1:
                days = number // 4 + 1
                self.assertEqual(site.pages(), {f"/p/{i}": days + twice[f"/p/{i}"] for i in range(site.n)}, number)

    def test_kill_in_a_slow_pipeline(self):
        """A page is in flight until its last item has left the pipelines."""
        site = self.site(400)
        settings = [ADDON, "JOBDIR=job", "UNSEEN_COMMIT_INTERVAL=0.05", 'ITEM_PIPELINES={"scrapy_spider.SlowWrite": 0}']
        for at in 60, 200, 320:
            scrapy_site.crawl_and_kill(site, *settings, folder=self.folder, until=lambda at=at: len(site.pages()) >= at)
        scrapy_site.crawl(site.start, *settings, folder=self.folder)
        self.assertEqual(site.missing(), [])
        with open(self.path("pages")) as pages:
            self.assertEqual({line.strip() for line in pages}, {f"p/{i}" for i in range(site.n)})

    def test_kill_stock(self):
        """The same with Scrapy's own scheduler loses pages: the test above can fail."""
        site = self.site(1000)
        self.kill_and_go_on(site, 1)
        self.assertGreater(len(site.missing()), 20)

    def test_clean_stop(self):
        site = self.site(600)
        settings = [ADDON, "JOBDIR=job"]
        for at in 150, 350:
            scrapy_site.crawl_and_kill(site, *settings, folder=self.folder, number=signal.SIGINT,
                                       until=lambda at=at: len(site.pages()) >= at)
            self.assertGreater(self.left(), 0)
        log = scrapy_site.crawl(site.start, *settings, folder=self.folder)
        self.assertIn("Resuming crawl", log)
        self.assertEqual(site.missing(), [])
        pages = site.pages()
        pages.pop("/p/0")  # a start request, which Scrapy sends each time
        self.assertEqual(set(pages.values()), {1})
        self.assertEqual(self.left(), 0)

    @whole_run
    def test_second_spider(self):
        site = self.site(100)
        logs = []

        def start_second():
            logs.append(scrapy_site.crawl(site.start, ADDON, "JOBDIR=job", folder=self.folder, status=FAILED))

        scrapy_site.crawl_and_kill(site, ADDON, "JOBDIR=job", folder=self.folder, number=signal.SIGINT,
                                   until=lambda: len(site.pages()) >= 20, before=start_second)
        self.assertIn("requests.sqlite: another crawl has it; two crawls need a JOBDIR each", logs[0])
        if VERSION >= (2, 13):  # older ones have one of their own then
            self.assertNotIn("AttributeError", logs[0])
        scrapy_site.crawl(site.start, ADDON, "JOBDIR=job", folder=self.folder)
        self.assertEqual(site.missing(), [])

    def test_full_disk(self):
        """No file may grow past a limit: the crawl ends with a sentence, and the next loses nothing."""
        site = self.site(600)
        command = scrapy_site.command(site.start, ADDON, "JOBDIR=job", "UNSEEN_COMMIT_INTERVAL=0.1")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        done = subprocess.run(command, cwd=self.folder, stderr=subprocess.PIPE, text=True, preexec_fn=limit, timeout=300)
        self.assertIn("the crawl ends; the next one goes on from what was committed", done.stderr)
        self.assertIn("'finish_reason': 'unseen_failed'", done.stderr)
        self.assertNotEqual(site.missing(), [])
        scrapy_site.crawl(site.start, ADDON, "JOBDIR=job", folder=self.folder)
        self.assertEqual(site.missing(), [])

    def test_odd_requests(self):
        """Whatever happens to a request, in the end it is done; and all is as with Scrapy's own."""
        results = []
        for settings in [], [ADDON]:
            folder = self.path(f"odd{len(settings)}")
            os.mkdir(folder)
            site = self.site(10)
            scrapy_site.crawl(site.start, "JOBDIR=job", *settings, folder=folder, spider="scrapy_odd.py")
            with open(os.path.join(folder, "result")) as file:
                fetched = {path: n for path, n in site.fetched.items() if not path.startswith("/cut")}
                results.append((json.load(file), fetched))
        self.assertEqual(results[1], results[0])
        self.assertEqual(results[1][0]["reason"], "finished")
        self.assertEqual(results[1][0]["stats"]["scheduler/unserializable"], 1)
        self.assertIn("p/7?from=errback", results[1][0]["seen"])
        self.assertEqual(self.left("odd1", "job"), 0)


@unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
class Matrix(Folder):
    """Undisturbed crawls under all settings that say where requests and keys are: each page is fetched as often as by
    Scrapy's own classes."""

    def stores(self, cases):
        """The setting UNSEEN_STORE of each case; None: it has none."""
        database = None
        for i, case in enumerate(cases):
            if case["store"] == "server":
                path = self.path(f"sock{i}")
                server = subprocess.Popen([TOOL, "serve", self.path(f"served{i}"), "--listen", f"unix:{path}"],
                                          stderr=subprocess.PIPE, text=True)
                self.addCleanup(lambda server=server: (server.kill(), server.wait(), server.stderr.close()))
                server.stderr.readline()
                yield f"unix:{path}"
            elif case["store"] == "redis":
                if database is None:
                    database = RedisServer()
                    self.addCleanup(database.end)
                yield f"redis://127.0.0.1:{database.port}/crawl{i}"
            else:
                yield self.path(f"file{i}") if case["store"] == "file" else None

    def test_all_settings(self):
        axes = {
            "store": ["memory", "file", "server"] + ["redis"] * READY,
            "jobdir": [False, True],
            "profile": [None, "crawl"],
            "way": ["addon", "filter"],
            "callbacks": ["method", "lambda", "both"],
        }
        cases = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
        # `unseen serve` does not tell whether a page waits there: a request that cannot be there fetches it again.
        cases = [case for case in cases if (case["store"], case["way"], case["callbacks"]) != ("server", "addon", "both")]
        cases = cases[:: 5 if SCALE == 1 else 1]
        cases += [{"store": "memory", "jobdir": jobdir, "profile": None, "way": "stock", "callbacks": callbacks}
                  for jobdir in axes["jobdir"] for callbacks in axes["callbacks"]]
        sites, crawls = [], []
        for i, (case, store) in enumerate(zip(cases, self.stores(cases))):
            sites.append(scrapy_site.Site(scrapy_matrix.PAGES))
            self.addCleanup(sites[-1].close)
            settings = {
                "JOBDIR": self.path(f"job{i}") if case["jobdir"] else None,
                "UNSEEN_STORE": store,
                "UNSEEN_PROFILE": case["profile"],
                **{"addon": {"ADDONS": {"unseen.scrapy.Addon": 0}}, "stock": {},
                   "filter": {"DUPEFILTER_CLASS": "unseen.scrapy.DupeFilter"}}[case["way"]],
            }
            crawls.append([sites[-1].start, case["callbacks"], {k: v for k, v in settings.items() if v is not None}])
        with open(self.path("crawls"), "w") as file:
            json.dump(crawls, file)
        done = subprocess.run([sys.executable, scrapy_matrix.__file__, self.path("crawls")], cwd=self.folder, text=True,
                              capture_output=True, timeout=1200)
        self.assertEqual(done.returncode, 0, done.stderr[-5000:])
        self.assertEqual(set(json.loads(done.stdout)), {"finished"}, done.stderr[-5000:])
        stock = sites[-1].fetched
        self.assertEqual((stock["/p/0"], stock["/p/3"], stock["/late/1"], len(stock)), (2, 1, 3, scrapy_matrix.PAGES + 5))
        for case, site in zip(cases, sites):
            with self.subTest(**case):
                self.assertEqual(site.fetched, stock)


@unittest.skipUnless(TOOL, "UNSEEN does not name the tool")
class Together(Folder):
    """Spiders that share a server."""

    def serve(self, *options):
        server = subprocess.Popen([TOOL, "serve", self.path("s"), *options, "--listen", f"unix:{self.path('sock')}"],
                                  stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        server.stderr.readline()
        self.setting = f"UNSEEN_STORE=unix:{self.path('sock')}"
        return server

    def nleft(self):
        """How many requests the server still has."""
        with unseen.connect(self.setting.partition("=")[2]) as client:
            return client.stats()["leases"]

    def site(self, n):
        site = scrapy_site.Site(n)
        self.addCleanup(site.close)
        return site

    def test_four_and_kills(self):
        """Four spiders; now and then one is killed, and another comes in its place."""
        self.serve()
        site = self.site(600 * SCALE)
        rng = random.Random(5)
        command = scrapy_site.command(site.start, ADDON, self.setting, "UNSEEN_LEASE=10", "LOG_LEVEL=INFO")
        log = open(self.path("log"), "w")
        self.addCleanup(log.close)
        spiders = []
        self.addCleanup(lambda: [(spider.kill(), spider.wait()) for spider in spiders if spider.poll() is None])

        def start():
            spiders.append(subprocess.Popen(command, cwd=self.folder, stderr=log))

        for _ in range(4):
            start()
        nkills = 0
        while nkills < 3 * SCALE:
            at = len(site.pages()) + rng.randrange(20, site.n // (4 * SCALE))
            site.is_enough = lambda at=at: len(site.pages()) >= at  # no spider is too fast for the kill
            while not site.is_enough():
                self.assertTrue(any(spider.poll() is None for spider in spiders))
                time.sleep(0.01)
            rng.choice([spider for spider in spiders if spider.poll() is None]).kill()
            nkills += 1
            site.is_enough = lambda: False
            start()
        for spider in spiders:
            self.assertIn(spider.wait(timeout=300), (0, -signal.SIGKILL), self.path("log"))
        self.assertEqual(site.missing(), [])
        pages = site.pages()
        pages.pop("/p/0")
        with open(self.path("log")) as file:
            is_late = "have ended before the requests were done" in file.read()
        if not is_late:  # no spider stood still for longer than its lease
            # A spider has 16 requests at once, 16 that it took and did not begin, and what it parses.
            self.assertLessEqual(sum(n - 1 for n in pages.values()), nkills * 50)
        self.assertEqual(self.nleft(), 0)

    def test_each_once(self):
        """Undisturbed spiders fetch each page once, and share the work."""
        self.serve()
        site = self.site(400)
        command = scrapy_site.command(site.start, ADDON, self.setting)
        spiders = [subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        logs = [spider.communicate(timeout=300)[1] for spider in spiders]
        self.assertEqual([spider.returncode for spider in spiders], [0, 0], logs)
        self.assertEqual(site.missing(), [])
        pages = site.pages()
        pages.pop("/p/0")
        self.assertEqual(set(pages.values()), {1})

    def test_another_spider(self):
        """A request of another spider ends the crawl with a sentence, and stays at the server."""
        self.serve()
        settings = {"UNSEEN_STORE": self.setting.partition("=")[2]}
        one = Running(self, "unseen.scrapy.Scheduler", None, **settings)
        self.assertEqual(one.push(Request("http://e.com/a")), [True])
        one.scheduler._tick()
        two = Running(self, "unseen.scrapy.Scheduler", None, "a\nname", **settings)
        with self.assertLogs("unseen.scrapy._served", "ERROR") as log:
            self.assertIsNone(two.pop())
        self.assertIn("has a request of the spider x, and this is a\nname: only copies of one spider share", log.output[0])
        two.close()
        one.close()
        self.assertEqual(self.nleft(), 1)

    def test_in_memory_and_at_the_server(self):
        """One page, wanted by a request that can be at the server and by one that cannot: the first has it."""
        self.serve()
        one = Running(self, "unseen.scrapy.Scheduler", None, UNSEEN_STORE=self.setting.partition("=")[2])
        self.addCleanup(one.close)
        kept = [Request(f"http://e.com/{i}") for i in range(2)]
        lost = [request.replace(callback=lambda response: None) for request in kept]
        self.assertEqual(one.push(kept[0], lost[0], lost[1], kept[1]), [True, False, True, False])
        self.assertEqual(one.push(*lost, *kept), [False] * 4)
        pages = [one.pop(), one.pop()]
        self.assertEqual({page.url for page in pages}, {request.url for request in kept})
        self.assertEqual(one.push(*lost, *kept), [False] * 4)  # in flight
        for page in pages:
            one.done(page)
        one.scheduler._tick()
        self.assertEqual(one.push(*lost, *kept), [False] * 4)  # done

    def test_an_error_ends_the_crawl(self):
        """A request that the server did not take is not lost in silence: no more are taken, and the spider ends."""
        self.serve()
        one = Running(self, "unseen.scrapy.Scheduler", None, UNSEEN_STORE=self.setting.partition("=")[2])
        self.addCleanup(one.close)
        self.assertEqual(one.push(Request("http://e.com/a")), [True])
        with mock.patch.object(one.scheduler._client, "lease", side_effect=unseen.Error("no")), self.assertLogs(level="ERROR"):
            self.assertEqual(one.push(Request("http://e.com/b")), [False])
        self.assertEqual(one.push(Request("http://e.com/c")), [False])
        self.assertIsNone(one.pop())
        self.assertFalse(one.scheduler.has_pending_requests())

    def test_late(self):
        """A spider that stands still for longer than its lease says so, and every page is fetched."""
        self.serve()
        site = self.site(50)
        site.is_enough = lambda: len(site.pages()) >= 5
        command = scrapy_site.command(site.start, ADDON, self.setting, "UNSEEN_LEASE=1", "LOG_LEVEL=INFO")
        process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while not site.is_enough():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)
        time.sleep(3)
        process.send_signal(signal.SIGCONT)
        site.is_enough = lambda: False
        log = process.communicate(timeout=300)[1]
        self.assertEqual(process.returncode, 0, log)
        self.assertRegex(log, "The leases of [0-9]+ requests have ended before the requests were done")
        self.assertEqual(site.missing(), [])
        self.assertEqual(self.nleft(), 0)

    def test_odd_requests(self):
        self.serve()
        site = self.site(10)
        scrapy_site.crawl(site.start, ADDON, self.setting, folder=self.folder, spider="scrapy_odd.py")
        with open(self.path("result")) as file:
            result = json.load(file)
        self.assertEqual(result["reason"], "finished")
        self.assertIn("p/7?from=errback", result["seen"])
        self.assertIn("p/1", result["seen"])
        self.assertIn("late/1", result["seen"])
        self.assertEqual(result["stats"]["scheduler/unserializable"], 1)

    def test_long_requests(self):
        """A request that is longer than a line of the server is done by its spider, from memory."""
        self.serve()

        def running():
            one = Running(self, "unseen.scrapy.Scheduler", None, UNSEEN_STORE=self.setting.partition("=")[2])
            self.addCleanup(one.close)
            return one

        one = running()
        fits, long = Request("http://e.com/fits", body=b"x" * 780_000), Request("http://e.com/long", body=b"x" * 790_000)
        more = [long.replace(url=f"http://e.com/{i}", dont_filter=i == 1) for i in range(2)]
        with self.assertLogs("unseen.scrapy", "WARNING") as logs:
            self.assertEqual(one.push(fits, long, long, *more), [True, True, False, True, True])
        self.assertEqual([line for line in logs.output if "http://e.com/long> is in memory only" not in line], [])
        self.assertEqual(len(logs.output), 1)
        stats = one.crawler.stats.get_stats()
        self.assertEqual((stats["scheduler/unserializable"], stats["scheduler/enqueued/memory"]), (3, 3))
        self.assertEqual(stats["scheduler/enqueued/disk"], 1)
        one.scheduler._tick()
        pages = [one.pop() for _ in range(4)]
        self.assertEqual({page.url for page in pages}, {request.url for request in (fits, long, *more)})
        one.scheduler._tick()
        self.assertEqual(one.push(long), [False])
        for page in pages:
            one.done(page)
        one.scheduler._tick()
        self.assertFalse(one.scheduler.has_pending_requests())
        self.assertEqual(running().push(fits, long, more[0]), [False, False, False])

    def test_server_gone(self):
        server = self.serve()
        site = self.site(400)

        def kill_server():
            server.kill()
            server.wait()

        scrapy_site.crawl_and_kill(site, ADDON, self.setting, folder=self.folder, number=None,
                                   until=lambda: len(site.pages()) >= 50, before=kill_server)
        with open(self.path("log")) as log:
            self.assertIn("the crawl ends; what it has not done is left to other spiders", log.read())
        self.serve()
        scrapy_site.crawl(site.start, ADDON, self.setting, folder=self.folder)
        self.assertEqual(site.missing(), [])

    def test_profile(self):
        self.serve("-p", "none")
        site = self.site(1)
        log = scrapy_site.crawl(site.start, ADDON, self.setting, folder=self.folder, status=FAILED)
        self.assertIn("under which the part behind # counts", log)
        self.assertNotIn("AttributeError", log)


@unittest.skipUnless(READY, "no redis-server, no redis-py, or UNSEEN_MODULE does not name the module")
class TogetherInRedis(Together):
    """The same in Redis: the queue and the set are keys of one server, which saves each change."""

    database = None
    test_four_and_kills = whole_run(Together.test_four_and_kills)
    test_server_gone = whole_run(Together.test_server_gone)

    def serve(self, *options):
        if self.database is None:
            self.database = RedisServer("--appendonly", "yes", "--appendfsync", "always", "--requirepass", "secret")
            self.addCleanup(self.database.end)
        else:
            self.database.start()
        self.setting = f"UNSEEN_STORE=redis://:secret@127.0.0.1:{self.database.port}/crawl"
        return self.database.process

    def nleft(self):
        client = redis.Redis(port=self.database.port, password="secret")
        self.addCleanup(client.close)
        n = client.hlen("{crawl}:requests")
        self.assertEqual(sorted(client.keys()), [b"crawl"] + [b"{crawl}:requests"] * (n > 0))
        return n

    def test_long_requests(self):
        """A request has no greatest length."""
        self.serve()
        one = Running(self, "unseen.scrapy.Scheduler", None, UNSEEN_STORE=self.setting.partition("=")[2])
        self.addCleanup(one.close)
        self.assertEqual(one.push(Request("http://e.com/long", body=b"x" * 790_000)), [True])
        self.assertEqual(one.crawler.stats.get_stats()["scheduler/enqueued/disk"], 1)

    def test_profile(self):
        """Any profile will do: a request is known by its key."""
        self.serve()
        with unseen.connect(self.setting.partition("=")[2], profile="crawl"):
            pass
        site = self.site(20)
        scrapy_site.crawl(site.start, ADDON, self.setting, folder=self.folder)
        self.assertEqual(site.missing(), [])

    def test_password(self):
        self.serve()
        site = self.site(1)
        log = scrapy_site.crawl(site.start, ADDON, self.setting.replace("secret", "wr0ng"), folder=self.folder, status=FAILED)
        self.assertIn("invalid username-password pair", log)
        self.assertNotIn("wr0ng@", log)

    def test_window(self):
        """Pages are new again when the window of the key has ended, and not before; the queue knows the same window."""
        self.serve()
        settings = {"UNSEEN_STORE": self.setting.partition("=")[2], "UNSEEN_WINDOW": "2s"}

        def is_seen():
            df = DupeFilter.from_crawler(get_crawler(settings_dict=settings))
            df.open()
            seen = df.request_seen(Request("http://e.com/"))
            df.close("finished")
            return seen

        began = time.monotonic()
        self.assertFalse(is_seen())
        self.assertTrue(is_seen() or time.monotonic() > began + 2)
        wait_for(lambda: not is_seen())
        self.assertGreaterEqual(time.monotonic(), began + 2)
        Running(self, "unseen.scrapy.Scheduler", None, **settings).close()
        settings["UNSEEN_WINDOW"] = 3600
        with self.assertRaisesRegex(unseen.SettingError, "/crawl has the window 2 s, and window is 3600 s"):
            Running(self, "unseen.scrapy.Scheduler", None, **settings).close()

    def test_filter_alone(self):
        self.serve()
        site = self.site(50)
        for _ in range(2):
            scrapy_site.crawl(site.start, "DUPEFILTER_CLASS=unseen.scrapy.DupeFilter", self.setting, folder=self.folder)
        pages = site.pages()
        pages.pop("/p/0")
        self.assertEqual(set(pages.values()), {1})
        self.assertEqual(site.missing(), [])


if __name__ == "__main__":
    unittest.main()
