# SPDX-License-Identifier: MIT
"""The requests of a crawl that are not done, in one SQLite file.

A request is inserted when Scrapy queues it, marked when Scrapy takes it, and deleted when it is done. All changes between two
commits are one transaction: a page goes out together with its links coming in. So after a crash the
file is as of one commit: requests that were taken then are not done, and wait again.

The class RequestQueue is what Scrapy's priority queues have at their bottom: one for each priority, or for each
download slot and priority. Its name is kept with each request.

SQLite has no checksums. So each request has one, and a file that an earlier crawl has left is checked before it
is used: a flipped bit stops the crawl, and sends no other request than was queued.

synchronous=FULL: a commit is on the disk before the seen requests are committed to the store. Otherwise
a power cut could leave a request seen and not queued."""

from __future__ import annotations

import errno
import pickle
import sqlite3
import zlib
from typing import TYPE_CHECKING

from scrapy.utils.request import request_from_dict

from .. import BusyError, DamagedError, Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy import Request, Spider

_FORMAT = 2
_APPLICATION = 0x756E7371  # "unsq"

_SCHEMA = (
    """CREATE TABLE request (
        id INTEGER PRIMARY KEY, -- of two requests in a queue, the newer has the higher
        queue TEXT NOT NULL,
        slot TEXT NOT NULL, -- the download slot, if the priority queue has some
        taken INTEGER NOT NULL, -- 1: in flight
        data BLOB NOT NULL,
        sum INTEGER NOT NULL)""",
    "CREATE INDEX waiting ON request (queue, id) WHERE taken = 0",
    "CREATE INDEX in_flight ON request (id) WHERE taken = 1",
    "CREATE TABLE state (name TEXT PRIMARY KEY, value NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
)


class RequestFile:
    """Opens the file, or makes it. Raises BlockingIOError if another process has it."""

    def __init__(self, path: str, spider: Spider) -> None:
        self.path = path
        self._spider = spider
        #: The id of the request that was popped last.
        self.popped = 0
        #: The download slot of a request, for priority queues that have slots.
        self.slot_of: Callable[[Request], str] | None = None
        self._moving: int | None = None
        self._db = sqlite3.connect(path, timeout=0, isolation_level=None)
        try:
            self._open()
        except BaseException as error:
            self._db.close()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                raise BusyError(errno.EAGAIN, f"{path}: another crawl has it; two crawls need a JOBDIR each", path) from None
            if isinstance(error, sqlite3.Error):
                raise Error(f"{path}: {error}") from None
            if isinstance(error, UnicodeDecodeError):  # in SQLite's own sentence
                raise DamagedError(f"{path} is damaged") from None
            raise
        self._counts = dict(
            self._db.execute("SELECT queue, count(*) FROM request WHERE taken = 0 GROUP BY queue").fetchall()
        )

    def _open(self):
        db = self._db
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("BEGIN EXCLUSIVE")
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if application == 0 and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {_FORMAT}")
        elif application != _APPLICATION:
            raise Error(f"{self.path} is a database of another program")
        elif version != _FORMAT:
            raise Error(f"{self.path} has format {version}; this version of unseen reads format {_FORMAT}")
        elif (fault := db.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
            raise DamagedError(
                f"{self.path} is damaged: {fault}; sqlite3 {self.path} .recover | sqlite3 NEW.sqlite makes "
                "a new file with the requests that can be read"
            )
        db.execute("UPDATE request SET taken = 0 WHERE taken = 1")

    def count_left(self) -> int:
        """How many requests an earlier crawl has left, in queues that nobody has asked for yet."""
        return sum(self._counts.values())

    # ---- queues

    def push(self, queue: str, request: Request) -> None:
        """Adds the request to a queue. Raises ValueError if it cannot be pickled, as Scrapy's queues do."""
        slot = self.slot_of(request) if self.slot_of else ""
        if self._moving is not None:
            self._db.execute(
                "UPDATE request SET queue = ?, slot = ?, sum = ? WHERE id = ?",
                (queue, slot, _sum(queue, slot, self._data(self._moving)), self._moving),
            )
            return
        data = dump(request, self._spider)
        self._db.execute(
            "INSERT INTO request (queue, slot, taken, data, sum) VALUES (?, ?, 0, ?, ?)",
            (queue, slot, data, _sum(queue, slot, data)),
        )

    def pop(self, queue: str, order: str) -> Request:
        """Takes the first request of a queue that is not empty."""
        id = self._first(queue, order)
        data = self._data(id)
        self._db.execute("UPDATE request SET taken = 1 WHERE id = ?", (id,))
        self.popped = id
        return load(data, self._spider)

    def peek(self, queue: str, order: str) -> Request:
        """The request that pop() would take."""
        return load(self._data(self._first(queue, order)), self._spider)

    def _first(self, queue, order):
        return self._db.execute(
            f"SELECT id FROM request WHERE queue = ? AND taken = 0 ORDER BY id {order} LIMIT 1", (queue,)
        ).fetchone()[0]

    def _data(self, id):
        queue, slot, data, sum = self._db.execute("SELECT queue, slot, data, sum FROM request WHERE id = ?", (id,)).fetchone()
        if sum != _sum(queue, slot, data):
            raise DamagedError(
                f"{self.path} is damaged: request {id}; sqlite3 {self.path} 'DELETE FROM request WHERE id = {id}' "
                "leaves it out"
            )
        return data

    def begin_queue(self, queue: str) -> int:
        """How many requests are in a queue that an earlier crawl has left, the first time it is asked for."""
        return self._counts.pop(queue, 0)

    def left_queues(self) -> Iterator[tuple[str, str]]:
        """The queues that an earlier crawl has left, with their slots."""
        for queue in self._counts:
            yield queue, self._db.execute("SELECT slot FROM request WHERE queue = ? AND taken = 0 LIMIT 1", (queue,)).fetchone()[0]

    def requeue(self, push: Callable[[Request], None]) -> None:
        """Pushes all requests again, the oldest first: for priority queues with other names of queues."""
        self._counts.clear()
        for (self._moving,) in self._db.execute("SELECT id FROM request ORDER BY id").fetchall():
            push(load(self._data(self._moving), self._spider))
        self._moving = None

    # ---- commits

    def get_state(self, name: str) -> str | None:
        """A text that set_state() set."""
        row = self._db.execute("SELECT value, sum FROM state WHERE name = ?", (name,)).fetchone()
        if row and row[1] != _sum(name, "", row[0].encode()):
            raise DamagedError(f"{self.path} is damaged: {name}")
        return row[0] if row else None

    def set_state(self, name: str, value: str) -> None:
        """Sets a text, with the next commit."""
        self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?)", (name, value, _sum(name, "", value.encode())))

    def commit(self, done: Iterable[int]) -> None:
        """Deletes the requests that are done, and makes durable everything since the last commit."""
        self._db.executemany("DELETE FROM request WHERE id = ?", [(id,) for id in done])
        self._db.execute("COMMIT")
        # SQLite takes damage in the middle of the WAL for its end: nothing is left in it.
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Closes the file without what was not committed."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._db.close()


class RequestQueue:
    """One queue of the file; order: ASC (the oldest first) or DESC."""

    def __init__(self, file: RequestFile, order: str, name: str) -> None:
        self._file, self._order, self._name = file, order, name
        self._n = file.begin_queue(name)

    def push(self, request: Request) -> None:
        """Adds a request."""
        self._file.push(self._name, request)
        self._n += 1

    def pop(self) -> Request | None:
        """Takes the first request."""
        if self._n == 0:
            return None
        request = self._file.pop(self._name, self._order)
        self._n -= 1
        return request

    def peek(self) -> Request | None:
        """The first request."""
        return self._file.peek(self._name, self._order) if self._n else None

    def close(self) -> None:
        """The requests stay in the file."""

    def __len__(self) -> int:
        return self._n


def _sum(queue, slot, data):
    return zlib.crc32(data, zlib.crc32(f"{queue}\0{slot}".encode()))


def dump(request: Request, spider: Spider) -> bytes:
    """The bytes of a request, as of Scrapy's own disk queues. Raises ValueError if it has none."""
    try:
        return pickle.dumps(request.to_dict(spider=spider), protocol=4)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(str(error)) from error


def load(data: bytes, spider: Spider) -> Request:
    """The request of such bytes."""
    return request_from_dict(pickle.loads(data), spider=spider)
