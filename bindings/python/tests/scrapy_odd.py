# SPDX-License-Identifier: MIT
"""A spider of the tests with everything that can happen to a request: redirects, retries, errors of the server, of the
connection, of the callback and of the errback, requests that cannot be pickled, dont_filter, dropped items."""

import json
import os

import scrapy
from scrapy.exceptions import DropItem


class Pipeline:
    def process_item(self, item, spider=None):
        if item.get("drop"):
            raise DropItem("dropped")
        if item.get("fail"):
            raise ValueError("failed")
        return item


class Spider(scrapy.Spider):
    name = "odd"
    custom_settings = {
        "ITEM_PIPELINES": {Pipeline: 0},
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_TIMES": 3,
        "RETRY_PRIORITY_ADJUST": 0,
    }

    def __init__(self, start, **more):
        super().__init__(**more)
        self.start_urls = [start]
        self.seen = []

    def parse(self, response):
        base = response.url.rpartition("/p/")[0]
        yield scrapy.Request(base + "/away/1", self.note)
        yield scrapy.Request(base + "/late/1", self.note)
        yield scrapy.Request(base + "/gone/1", self.note)
        yield scrapy.Request(base + "/gone/2", self.note, errback=self.error)
        yield scrapy.Request(base + "/cut/1", self.note)
        yield scrapy.Request(base + "/cut/2", self.note, errback=self.error)
        yield scrapy.Request(base + "/cut/3", self.note, errback=self.error_that_fails)
        yield scrapy.Request(base + "/p/2", self.fails)
        yield scrapy.Request(base + "/p/3", self.items)
        yield scrapy.Request(base + "/p/4", lambda response: self.note(response))
        yield scrapy.Request(base + "/p/4", self.note)
        yield scrapy.Request(base + "/p/5", self.note, dont_filter=True)
        yield scrapy.Request(base + "/p/5", self.note, dont_filter=True)
        yield scrapy.Request(base + "/p/6", self.note, method="POST", body=b"a")
        yield scrapy.Request(base + "/p/6", self.note, method="POST", body=b"b")
        yield scrapy.Request(base + "/p/6", self.note, method="POST", body=b"a")
        yield scrapy.Request("http://elsewhere.invalid/", self.note)
        yield scrapy.Request("file:///nothing/there", self.note)

    def note(self, response):
        self.seen.append(response.url.split("/", 3)[3])

    def error(self, failure):
        yield scrapy.Request(failure.request.url.rpartition("/")[0].rpartition("/")[0] + "/p/7?from=errback", self.note)

    def error_that_fails(self, failure):
        raise ValueError("the errback fails")

    def fails(self, response):
        yield scrapy.Request(response.url + "?from=fails", self.note)
        raise ValueError("the callback fails")

    def items(self, response):
        yield {"drop": True}
        yield {"fail": True}
        yield {"keep": True}

    def closed(self, reason):
        stats = self.crawler.stats.get_stats()
        with open("result", "w") as file:
            json.dump({
                "seen": sorted(self.seen),
                "reason": reason,
                "stats": {name: value for name, value in sorted(stats.items())
                          if isinstance(value, int)
                          and name.startswith(("scheduler", "dupefilter", "item_", "retry", "spider_exc", "downloader/ex",
                                               "downloader/response_c"))},
            }, file)
