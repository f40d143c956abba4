# SPDX-License-Identifier: MIT
"""The settings of a project that begin with UNSEEN_."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.job import job_dir

from .. import Error

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class SeenSettings(NamedTuple):
    """Where the seen requests are kept, and how."""

    store: str | None  #: a path or an address; None: in memory, for this crawl alone
    fpr: float  #: 0: the default of the store
    profile: str | None  #: None: Scrapy's fingerprints are the keys
    token: str | None  #: of a server at a port
    commit_interval: float  #: seconds
    lease: int  #: seconds

    @property
    def is_served(self) -> bool:
        """Whether `unseen serve` has the store."""
        return self.store is not None and is_address(self.store)


def is_address(store: str) -> bool:
    """unix:PATH or HOST:PORT, as everywhere in unseen; a path with a colon has a slash."""
    return store.startswith("unix:") or re.fullmatch(r"[^/]*:[0-9]+", store) is not None


def read_settings(settings: BaseSettings) -> SeenSettings:
    """Reads the settings, and says which of them cannot be."""
    store = settings.get("UNSEEN_STORE")
    folder = job_dir(settings)
    if store is None and folder:
        store = os.path.join(folder, "seen.unseen")
    if store is not None:
        store = os.fspath(store)
    if store and re.match("rediss?://", store):
        raise Error(
            f"UNSEEN_STORE is {store}: this version of unseen has no client for Redis. Name a file, "
            "or the address of `unseen serve`, such as unix:/run/unseen.sock"
        )
    interval = settings.getfloat("UNSEEN_COMMIT_INTERVAL", 1.0)
    lease = settings.getint("UNSEEN_LEASE", 60)
    if interval <= 0 or lease <= 0:
        raise Error("UNSEEN_COMMIT_INTERVAL and UNSEEN_LEASE are seconds, more than 0")
    return SeenSettings(
        store,
        settings.getfloat("UNSEEN_FPR", 0),
        settings.get("UNSEEN_PROFILE"),
        settings.get("UNSEEN_TOKEN"),
        interval,
        lease,
    )
