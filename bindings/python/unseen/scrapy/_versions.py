# SPDX-License-Identifier: MIT
"""What differs between the versions of Scrapy, 2.11 to 2.19; everything else in this folder is the same for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.core import scheduler

if TYPE_CHECKING:  # with the newest
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import create_looping_call
    from scrapy.utils.misc import build_from_crawler
else:
    try:
        from scrapy.utils.asyncio import create_looping_call
    except ImportError:  # before 2.14
        from twisted.internet.task import LoopingCall as create_looping_call

    try:
        from scrapy.utils.misc import build_from_crawler
    except ImportError:  # before 2.12
        from scrapy.utils.misc import create_instance

        def build_from_crawler(objcls, crawler, /, *args, **kwargs):
            """An object of the class, by its from_crawler() if it has one."""
            return create_instance(objcls, None, crawler, *args, **kwargs)


__all__ = ["HAS_START_QUEUES", "build_from_crawler", "close_spider", "create_looping_call", "engine_slot"]

#: Whether the requests of a spider's start have queues of their own: since 2.13.
HAS_START_QUEUES = hasattr(scheduler.Scheduler, "_get_start_queue_cls")


def engine_slot(crawler: Crawler) -> Any:
    """What the engine has of the crawl, or None: it has the requests in progress, and the next call of the engine."""
    engine: Any = crawler.engine
    return engine and (engine._slot if hasattr(engine, "_slot") else engine.slot)  # before 2.13


def close_spider(crawler: Crawler, reason: str) -> None:
    """Ends the crawl."""
    engine: Any = crawler.engine
    if not hasattr(engine, "close_spider_async"):  # before 2.14
        engine.close_spider(crawler.spider, reason)
        return
    from scrapy.utils.defer import deferred_from_coro

    deferred_from_coro(engine.close_spider_async(reason=reason))
