# SPDX-License-Identifier: MIT
"""usage: scrapy_costs.py ROUNDS PAGES SEEN (by bench/scrapy.sh)"""

import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bindings", "python", "tests"))

import scrapy_site
from scrapy import Request
from scrapy.dupefilters import RFPDupeFilter
from scrapy.settings import Settings
from unseen.scrapy import DupeFilter
from unseen.scrapy._settings import read_settings

TOOL = os.environ["UNSEEN"]


def row(what, goal, ratio):
    print(f"{what:<72} {goal:>8} {ratio:>8.2f}", flush=True)


def store_filter(path):
    df = DupeFilter(read_settings(Settings({"UNSEEN_STORE": path})))
    df.open()
    return df


def seconds(function, items):
    begin = time.process_time()
    for item in items:
        function(item)
    return time.process_time() - begin


def request_seen():
    """Requests whose fingerprints are cached: new ones, then the same again."""
    n = 100_000
    requests = [Request(f"http://example.com/a/b/{i}?c={i * 7}") for i in range(n)]
    seconds(RFPDupeFilter()._fingerprint, requests)
    ratios = {(kind, state): [] for kind in ("set", "store") for state in ("new", "known")}
    for i in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            filters = {"stock": RFPDupeFilter(), "set": DupeFilter(), "store": store_filter(folder + "/s")}
            for state in "new", "known":
                took = {}
                for name in sorted(filters, reverse=i % 2 == 1):
                    took[name] = seconds(filters[name].request_seen, requests)
                for kind in "set", "store":
                    ratios[kind, state].append(took[kind] / took["stock"])
            filters["store"].close("finished")
    for kind, goal in ("set", "1"), ("store", "1.3"):
        for state in "new", "known":
            row(f"request_seen with a {kind}, {state} : stock", goal, statistics.median(ratios[kind, state]))


class Fingerprints:
    """Of requests that are only numbers."""

    def fingerprint(self, request):
        return hashlib.sha1(b"%d" % request.i).digest()


def in_child(function):
    """What the function prints, in a process of its own."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, str(function()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.wait()
    return float(text)


def largest():
    """The most memory that this process has had. ru_maxrss would also count that of the process which started it."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM:"))


def grown(name, n):
    """The bytes that a request needs in a filter with n of them, while it grows too. In a new process: in an old one there
    is free memory that the filter would take."""
    df = {"stock": RFPDupeFilter, "ours": DupeFilter}[name](fingerprinter=Fingerprints())
    request = SimpleNamespace(i=0)
    begin = largest()
    for request.i in range(n):
        df.request_seen(request)
    return (largest() - begin) / n


def memory():
    for n, goal in (1_000_000, 15), (3_000_000, 20):
        stock, ours = (
            float(subprocess.run([sys.executable, __file__, "grown", name, str(n)], check=True, capture_output=True).stdout)
            for name in ("stock", "ours")
        )
        row(f"memory of stock : ours, {n} requests ({stock:.1f} and {ours:.1f} bytes each)", goal, stock / ours)


def restart():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/requests.seen", "wb") as file:
            for i in range(SEEN):
                file.write(b"\0\x14" + hashlib.sha1(b"%d" % i).digest())
        subprocess.run([TOOL, "import", "--format", "requests.seen", folder + "/s", folder + "/requests.seen"], check=True)
        store_filter(folder + "/s").close("finished")

        def opened(make):
            begin = time.process_time()
            make()
            return time.process_time() - begin

        stock = in_child(lambda: opened(lambda: RFPDupeFilter(folder)))
        ours = in_child(lambda: opened(lambda: store_filter(folder + "/s")))
        row(f"restart with {SEEN} seen requests ({ours:.2f} and {stock:.2f} s), ours : stock", "0.2", ours / stock)


def crawls():
    site = scrapy_site.Site(PAGES)
    took = {"stock": [], "ours": []}
    for i in range(ROUNDS):
        for name in sorted(took, reverse=i % 2 == 1):
            with tempfile.TemporaryDirectory() as folder:
                begin = resource.getrusage(resource.RUSAGE_CHILDREN)
                settings = ['ADDONS={"unseen.scrapy.Addon": 0}'] if name == "ours" else []
                scrapy_site.crawl(site.start, "JOBDIR=job", "LOG_LEVEL=ERROR", *settings, folder=folder)
                end = resource.getrusage(resource.RUSAGE_CHILDREN)
                took[name].append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    site.close()
    ours, stock = statistics.median(took["ours"]), statistics.median(took["stock"])
    row(f"CPU of a crawl of {PAGES} pages ({ours:.1f} and {stock:.1f} s), ours : stock", "1.15", ours / stock)


if sys.argv[1] == "grown":
    print(grown(sys.argv[2], int(sys.argv[3])))
    sys.exit()
ROUNDS, PAGES, SEEN = (int(argument) for argument in sys.argv[1:])
print(f"{'':<72} {'goal':>8} {'measured':>8}")
request_seen()
memory()
restart()
crawls()
