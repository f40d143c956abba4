# SPDX-License-Identifier: MIT
"""Scrapy: a duplicate filter of 6 bytes a request, and a scheduler whose crawl survives kill -9.

    ADDONS = {"unseen.scrapy.Addon": 0}        # settings.py; and JOBDIR as always

docs/scrapy.md of the project is the guide.
"""

from importlib import metadata as _metadata

_LEAST = (2, 11)

try:
    _version = _metadata.version("scrapy")
except _metadata.PackageNotFoundError:
    raise ImportError("unseen.scrapy is for Scrapy, which is not installed: pip install scrapy") from None
if tuple(int(part) for part in _version.split(".")[:2]) < _LEAST:
    raise ImportError(f"unseen.scrapy needs Scrapy 2.11 or newer, and this is {_version}: pip install -U scrapy")

from ._addon import Addon
from ._dupefilter import DupeFilter
from ._scheduler import Scheduler

__all__ = ["Addon", "DupeFilter", "Scheduler"]
