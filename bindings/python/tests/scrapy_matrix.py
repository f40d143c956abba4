# SPDX-License-Identifier: MIT
"""Many crawls in one process, eight at a time, for the test that compares settings. The argument is a file with a list of
[start, callbacks, settings]; prints the reasons for which the crawls ended."""

import asyncio
import json
import sys

import scrapy
from scrapy.crawler import Crawler
from scrapy.utils.reactor import install_reactor

try:
    from scrapy.crawler import AsyncCrawlerRunner
except ImportError:  # before 2.14
    from scrapy.crawler import CrawlerRunner

    class AsyncCrawlerRunner(CrawlerRunner):
        async def crawl(self, *arguments, **more):
            await super().crawl(*arguments, **more).asFuture(asyncio.get_running_loop())


PAGES = 12


class Spider(scrapy.Spider):
    """Links each page to two others and to the first, each in three spellings, one of them before the others are done; with
    requests that are never duplicates, other methods, redirects and retries. callbacks: method, lambda, or both by turns."""

    name = "matrix"

    def __init__(self, start, callbacks, **more):
        super().__init__(**more)
        self.start_urls = [start]
        self.callbacks = callbacks
        self.nmade = 0

    def request(self, url, **more):
        self.nmade += 1
        is_method = self.callbacks == "method" or self.callbacks == "both" and self.nmade % 2
        return scrapy.Request(url, self.parse if is_method else lambda response: self.parse(response), **more)

    def parse(self, response):
        base, _, number = response.url.partition("?")[0].rpartition("/p/")
        if not number:
            return
        i = int(number)
        upper = base.replace("http://", "HTTP://")
        for j in {2 * i + 1, 2 * i + 2, 0, i * 7 % PAGES}:
            if j < PAGES:
                yield self.request(f"{upper}/p/{j}#top")
                yield self.request(f"{base}/p/{j}")
        for j in {2 * i + 1, 2 * i + 2, 0, i * 7 % PAGES}:
            if j < PAGES:
                yield self.request(f"{base}/p/{j}#end", priority=j % 3)
        if i == 0:
            for _ in range(2):
                yield self.request(f"{base}/away/5")
                yield self.request(f"{base}/late/1#x")
                yield self.request(f"{base}/gone/1")
                yield self.request(f"{base}/late/2", dont_filter=True)
                yield self.request(f"{base}/late/3", method="POST", body=b"a")
                yield self.request(f"{upper}/late/3", method="POST", body=b"b")


async def run(cases):
    # Not the same eight at once: a slow crawl holds up nobody.
    runner = AsyncCrawlerRunner()
    limit = asyncio.Semaphore(8)

    async def crawl(start, callbacks, settings):
        async with limit:
            crawler = Crawler(Spider, {"TELNETCONSOLE_ENABLED": False, "RETRY_TIMES": 3, "CONCURRENT_REQUESTS": 4, **settings})
            await runner.crawl(crawler, start=start, callbacks=callbacks)
            return crawler.stats.get_value("finish_reason")

    return await asyncio.gather(*(crawl(*case) for case in cases))


def main():
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor
    from twisted.internet.defer import Deferred

    with open(sys.argv[1]) as file:
        done = Deferred.fromFuture(asyncio.ensure_future(run(json.load(file)), loop=reactor._asyncioEventloop))
    done.addCallback(lambda reasons: print(json.dumps(reasons)))
    done.addErrback(lambda failure: failure.printTraceback())
    done.addBoth(lambda _: reactor.stop())
    reactor.run()


if __name__ == "__main__":
    main()
