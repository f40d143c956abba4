# SPDX-License-Identifier: MIT
"""The spider of the tests, at a time that the test says: NOW, in seconds since 1970."""

import functools
import os

import scrapy_spider
from unseen.scrapy import _dupefilter

_dupefilter.open_store = functools.partial(_dupefilter.open_store, now=float(os.environ["NOW"]))


class Spider(scrapy_spider.Spider):
    pass
