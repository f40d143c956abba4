# SPDX-License-Identifier: MIT
"""What a call from Python costs, as ratios of CPU time in one run, by turns; see python.sh.

    python_calls.py LIBUNSEEN.so ONE_AT_A_TIME.so URLS [ROUNDS]

LIBUNSEEN.so is the library as CMake builds it, called through ctypes with 1,024 strings at a time:
the C library's batch add on the same bytes. ONE_AT_A_TIME.so has add_each, a loop in C that calls the
library once for each string. URLS is a file of URLs, one a line, for the canonical forms.

The floor of a single call is the loop of Python around a builtin that does nothing with its one argument
(`callable`). No `add` takes less than that and a single add in C together."""

import ctypes
import itertools
import statistics
import sys
import time

import unseen

try:
    import pyarrow
except ImportError:
    pyarrow = print("pyarrow is missing: no figures for Arrow")
try:
    import rbloom
except ImportError:
    rbloom = print("rbloom is missing: no figures beside it")

N = 1_000_000
BATCH = 1024
lib = ctypes.CDLL(sys.argv[1])
one_at_a_time = ctypes.CDLL(sys.argv[2])
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 5


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def check(status):
    if status:
        sys.exit(f"the C library failed: status {status}")


class CSet:
    """A set of the C library, with the profile crawl or none."""

    def __init__(self, profile):
        self.url = ctypes.c_void_p()
        if profile != "none":
            check(lib.unseen_url_create(ctypes.byref(self.url), None, None))
        options = (ctypes.c_uint64 * 64)()
        options[0] = C_OPTIONS_LEN
        options[C_OPTIONS_URL // 8] = self.url.value or 0
        self.set = ctypes.c_void_p()
        check(lib.unseen_set_create(ctypes.byref(self.set), options, None))

    def add_all(self, items):
        verdicts = ctypes.create_string_buffer(len(items))
        base, size = ctypes.addressof(items), ctypes.sizeof(Bytes)
        at_verdicts = ctypes.addressof(verdicts)
        for i in range(0, len(items), BATCH):
            n = min(BATCH, len(items) - i)
            check(lib.unseen_set_add(self.set, ctypes.c_void_p(base + i * size), ctypes.c_size_t(n),
                                     ctypes.c_void_p(at_verdicts + i), None))
        return verdicts

    def add_each(self, items):
        check(one_at_a_time.add_each(lib.unseen_set_add, self.set, items, ctypes.c_size_t(len(items))))

    def __del__(self):
        lib.unseen_set_free(self.set)
        lib.unseen_url_free(self.url)


# struct unseen_set_options up to the field that is needed: size, fpr, capacity, filter, seed, seed_len,
# key_bits, url.
C_OPTIONS_URL = 7 * 8
C_OPTIONS_LEN = 8 * 8


def cpu(function, *args):
    begin = time.process_time()
    result = function(*args)
    return time.process_time() - begin, result


def by_turns(ways):
    """The seconds of each way, a list for each: one after the other in each round. A way is a function
    that returns seconds, by name."""
    seconds = {}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            for part, value in way().items():
                seconds.setdefault((name, part), []).append(value)
    return {key: statistics.median(values) for key, values in seconds.items()}


def each(function, items):
    for item in items:
        function(item)


def new_and_known(make, run, items=lambda: None):
    def way():
        made = make()
        return {part: cpu(run, made, items())[0] for part in ("new", "known")}

    return way


def fresh():
    """Strings as a crawler gets them: just made, so their hash is not known yet."""
    return [f"http://example{i % 977}.com/path/{i:08d}/page.html" for i in range(N)]


def c_items(pointers):
    return (Bytes * N)(*pointers)


def report(what, ratio, goal, at_least=True):
    ok = ratio >= goal if at_least else ratio <= goal
    print(f"{what:58} {ratio:8.2f}   goal {'>=' if at_least else '<='} {goal:<5} {'' if ok else 'MISSED'}")


def calls():
    urls = fresh()
    raw = [url.encode() for url in urls]
    text = b"".join(raw)  # as in an Arrow array
    begin = ctypes.cast(text, ctypes.c_void_p).value
    offsets = itertools.accumulate((len(url) for url in raw), initial=0)
    scattered = c_items((ctypes.cast(url, ctypes.c_void_p), len(url)) for url in raw)
    adjacent = c_items((begin + at, len(url)) for at, url in zip(offsets, raw))
    ways = {}
    for profile in "crawl", "none":
        def make(profile=profile):
            return unseen.Set(profile)

        def make_c(profile=profile):
            return CSet(profile)

        ways[f"C {profile}"] = new_and_known(make_c, lambda s, _: s.add_all(scattered))
        ways[f"list {profile}"] = new_and_known(make, lambda s, _: s.add_many(urls))
        ways[f"C adjacent {profile}"] = new_and_known(make_c, lambda s, _: s.add_all(adjacent))
        if pyarrow:
            array = pyarrow.array(urls)
            ways[f"Arrow {profile}"] = new_and_known(make, lambda s, _: s.add_many(array))
        ways[f"C one {profile}"] = new_and_known(make_c, lambda s, _: s.add_each(scattered))
        ways[f"add {profile}"] = new_and_known(make, lambda s, items: each(s.add, items), fresh)
    ways["floor"] = new_and_known(lambda: None, lambda _, items: each(callable, items), fresh)
    ways["set.add"] = new_and_known(set, lambda s, items: each(s.add, items), fresh)
    if rbloom:
        # The rate that a set promises. Its size is fixed: it is told how many will come.
        ways["rbloom"] = new_and_known(
            lambda: rbloom.Bloom(N, 5e-9), lambda s, items: each(s.add, items), fresh)
        ways["rbloom update"] = new_and_known(
            lambda: rbloom.Bloom(N, 5e-9), lambda s, items: s.update(items), fresh)
    t = by_turns(ways)
    for (name, part), seconds in t.items():
        print(f"{name + ', ' + part:30} {N / seconds / 1e6:8.2f} M/s")
    for profile in "crawl", "none":
        for way, c, goals in ("list", "C", (0.85, 0.8)), ("Arrow", "C adjacent", (0.95, 0.95)):
            for part, goal in zip(("new", "known"), goals):
                if (f"{way} {profile}", part) in t:
                    report(f"add_many, {way}, {profile}, {part} : C batch add",
                           t[f"{c} {profile}", part] / t[f"{way} {profile}", part], goal)
        for part, goal in ("new", 1.1), ("known", 0.8):
            report(f"add, {profile}, {part} : set.add",
                   t["set.add", part] / t[f"add {profile}", part], goal)
            if rbloom:
                report(f"add, {profile}, {part} : rbloom add",
                       t["rbloom", part] / t[f"add {profile}", part], 2)
                # What an `add` of no cost of its own would reach.
                least = t["floor", part] + t[f"C one {profile}", part]
                print(f"{f'floor + one add in C, {profile}, {part} : rbloom add':58} {t['rbloom', part] / least:8.2f}")
                report(f"add_many, list, {profile}, {part} : rbloom update",
                       t["rbloom update", part] / t[f"list {profile}", part], 2)


def canonical_forms():
    try:
        from w3lib.url import canonicalize_url
    except ImportError:
        print("w3lib is missing: no figures of canonical forms")
        return
    with open(sys.argv[3], encoding="utf-8", errors="surrogateescape") as file:
        urls = [line.rstrip("\n") for line in file][:200_000]
    urls = [url for url in urls if url.isprintable()]
    few = urls[:: max(1, len(urls) // 10_000)]
    one = unseen.canonicalize
    t = by_turns({
        "w3lib": lambda: {"": cpu(each, canonicalize_url, few)[0] / len(few)},
        "one": lambda: {"": cpu(each, lambda url: one(url, "scrapy"), urls)[0] / len(urls)},
        "many": lambda: {"": cpu(unseen.canonicalize_many, urls, "scrapy")[0] / len(urls)},
    })
    print(f"w3lib's canonicalize_url: {t['w3lib', ''] * 1e6:.2f} us each, {len(few)} URLs")
    report("canonicalize_many(profile='scrapy') : w3lib", t["w3lib", ""] / t["many", ""], 60)
    report("canonicalize(profile='scrapy') : w3lib", t["w3lib", ""] / t["one", ""], 20)


calls()
canonical_forms()
