# SPDX-License-Identifier: MIT
"""The settings of a project that begin with UNSEEN_."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.job import job_dir

from .. import Error
from .._redis_url import is_redis, without_password

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class SeenSettings(NamedTuple):
    """Where the seen requests are kept, and how."""

    store: str | None  #: a path or an address; None: in memory, for this crawl alone
    fpr: float  #: 0: the default of the store
    profile: str | None  #: None: Scrapy's fingerprints are the keys
    window: float | str | None  #: None: nothing is forgotten
    memory: int | str  #: a limit for the set of a store in a file; 0: none
    token: str | None  #: of a server at a port
    commit_interval: float  #: seconds
    lease: int  #: seconds
    stock_seen: str | None  #: what Scrapy's own filter has left in JOBDIR

    @property
    def is_served(self) -> bool:
        """Whether a server has the store."""
        return self.store is not None and is_address(self.store)

    @property
    def is_redis(self) -> bool:
        """Whether that server is Redis or Valkey with the module."""
        return self.store is not None and is_redis(self.store)

    @property
    def shown(self) -> str:
        """The store, for messages."""
        return without_password(self.store or "")


def is_address(store: str) -> bool:
    """unix:PATH, HOST:PORT or redis://, as everywhere in unseen; a path with a colon has a slash."""
    return is_redis(store) or store.startswith("unix:") or re.fullmatch(r"[^/]*:[0-9]+", store) is not None


def read_settings(settings: BaseSettings) -> SeenSettings:
    """Reads the settings, and says which of them cannot be."""
    store = settings.get("UNSEEN_STORE")
    folder = job_dir(settings)
    if store is None and folder:
        store = os.path.join(folder, "seen.unseen")
    if store is not None:
        store = os.fspath(store)
    window = settings.get("UNSEEN_WINDOW")
    if window and store is not None and is_address(store) and not is_redis(store):
        raise Error(
            f"{store} is a server, and UNSEEN_WINDOW is for a store in a file or a key of Redis: the store of `unseen serve` gets "
            "a window by `unseen rewrite --window`"
        )
    memory = settings.get("UNSEEN_MEMORY", 0)
    if memory and (store is None or is_address(store)):
        raise Error("UNSEEN_MEMORY is for a store in a file: UNSEEN_STORE or JOBDIR says where")
    interval = settings.getfloat("UNSEEN_COMMIT_INTERVAL", 1.0)
    lease = settings.getint("UNSEEN_LEASE", 60)
    if interval <= 0 or lease <= 0:
        raise Error("UNSEEN_COMMIT_INTERVAL and UNSEEN_LEASE are seconds, more than 0")
    return SeenSettings(
        store,
        settings.getfloat("UNSEEN_FPR", 0),
        settings.get("UNSEEN_PROFILE"),
        window,
        memory,
        settings.get("UNSEEN_TOKEN"),
        interval,
        lease,
        _stock_seen(folder) if folder else None,
    )


def _stock_seen(folder):
    path = os.path.join(folder, "requests.seen")
    return path if os.path.isfile(path) and os.path.getsize(path) > 0 else None
