# SPDX-License-Identifier: MIT
"""What the schedulers ask of Scrapy's engine.

The engine keeps the set of its requests in progress. It puts a request there when it takes it from the scheduler,
and removes it when everything is over: the download and its errors, the callback or errback, all their output, and the
last item in the pipelines. So a request that was taken and is no more in that set is done. No signal and no middleware
sees all of that: the output of an errback goes past them, and so does a request that a middleware ignores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _versions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler


def requests_done(crawler: Crawler, taken: Iterable[Request]) -> list[Request]:
    """Those of the taken requests that the engine is through with."""
    in_progress = _versions.engine_slot(crawler).inprogress
    return [request for request in taken if request not in in_progress]


def wake_engine(crawler: Crawler) -> None:
    """Makes the engine ask the scheduler soon; by itself it asks every five seconds."""
    if (slot := _versions.engine_slot(crawler)) is not None:
        slot.nextcall.schedule()


def close_spider(crawler: Crawler) -> None:
    """Ends the crawl because the scheduler cannot go on."""
    _versions.close_spider(crawler, "unseen_failed")
