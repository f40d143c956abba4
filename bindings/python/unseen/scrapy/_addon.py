# SPDX-License-Identifier: MIT
"""The add-on: one setting switches the filter and the scheduler on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """ADDONS = {"unseen.scrapy.Addon": 0} sets DUPEFILTER_CLASS and SCHEDULER. A project that sets
    one of them itself keeps it."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Scrapy calls this before the crawl."""
        settings.set("DUPEFILTER_CLASS", "unseen.scrapy.DupeFilter", "addon")
        settings.set("SCHEDULER", "unseen.scrapy.Scheduler", "addon")
