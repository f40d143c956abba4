# SPDX-License-Identifier: MIT
"""The spider of the tests: follows every link. Its pipeline appends the path of each page to the file pages."""

import asyncio
import os

import scrapy


class Write:
    def __init__(self):
        self.file = os.open("pages", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def process_item(self, item, spider=None):
        os.write(self.file, (item["path"] + "\n").encode())
        return item


class SlowWrite(Write):
    """An item takes a while."""

    async def process_item(self, item, spider=None):
        await asyncio.sleep(0.5)
        return super().process_item(item)


class Spider(scrapy.Spider):
    name = "walk"
    custom_settings = {
        "ITEM_PIPELINES": {Write: 0},
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": os.environ.get("LOG_LEVEL", "INFO"),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
        "CONCURRENT_REQUESTS": 16,
        "DOWNLOAD_DELAY": 0,
        "RETRY_TIMES": 3,
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    }

    def __init__(self, start, **more):
        super().__init__(**more)
        self.start_urls = [start]

    def parse(self, response):
        yield {"path": response.url.split("/", 3)[3].partition("?")[0]}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href)
