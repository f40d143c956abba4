"""The memory of a key, beside RedisBloom's: the table of `bench/module.sh memory`.

Both modules have the same names of commands, so each is in a server of its own. One growth gives the sized and both
overfilled cells of a size, and one of each rate all grown cells."""

import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/module"))
import server  # noqa: E402

RATES = 0.1, 0.01, 1e-3, 1e-4, 1e-6
SIZES = 1, 10, 50, 100, 500, 1000, 1025, 2000, 5000, 10000, 20000, 50000, 100000, 1000000
STEP = 1000  # items of a command
ABSENT = 100000
OVERFILLED = 3, 7


def command(*arguments):
    data = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(data) + b"".join(b"$%d\r\n%s\r\n" % (len(d), d) for d in data)


class Module:
    """A server with one of the modules, and a pipelined connection to it. The key of every set is k."""

    def __init__(self, module):
        server.MODULE = module
        self.server = server.Server()
        self.call = self.server.client().execute_command
        self.socket = socket.create_connection(("127.0.0.1", self.server.port))

    def send(self, commands):
        """Sends commands that answer arrays of integers, and returns how many answers are 1."""
        blob = b"".join(commands)
        nlines = sum(1 + int(c[1:c.index(b"\r\n")]) - (4 if b"CF.INSERT" in c[:30] else 2) for c in commands)
        sender = threading.Thread(target=self.socket.sendall, args=(blob,))
        sender.start()
        ones = 0
        rest = b""
        while nlines > 0:
            data = rest + self.socket.recv(1 << 20)
            whole = data.rfind(b"\n") + 1
            rest = data[whole:]
            nlines -= data.count(b"\r\n", 0, whole)
            ones += data.count(b":1\r\n", 0, whole)
            if b"-" in data[:whole]:
                raise RuntimeError(data[:whole][:200])
        sender.join()
        return ones

    def usage(self):
        return self.call("MEMORY", "USAGE", "k", "SAMPLES", "0")

    def rate(self, name):
        return self.send([command(name, "k", *[b"absent%d" % i for i in range(s, s + STEP)])
                          for s in range(0, ABSENT, STEP)]) / ABSENT


def items(start, end):
    return [b"item%d" % i for i in range(start, end)]


def adds(first, last, head):
    """The commands that add the items of a range; each module gets the same bytes."""
    return [command(*head, *items(s, min(s + STEP, last))) for s in range(first, last, STEP)]


class Table:
    def __init__(self):
        self.nabove = self.ncells = 0

    def row(self, name, rate, size, ours, theirs, wrong=None):
        ratio = ours / theirs
        self.ncells += 1
        self.nabove += ratio > 1
        rates = "" if wrong is None else "%10.2g%10.2g" % wrong
        print(f"{name:14}{rate:>8}{size:>9}{ours:12}{theirs:12}{ratio:8.2f}{' *' if ratio > 1 else '  '}{rates}", flush=True)


def fill(both, first, last, head):
    blob = adds(first, last, head)
    for module in both:
        module.send(blob)


def usages(both):
    return [module.usage() for module in both]


def wrong(both, name):
    return tuple(module.rate(name) for module in both)


def sized(both, table, rate, sizes):
    """Reserved for N items and filled with N, and then with 3 N and 7 N."""
    for size in sizes:
        for module in both:
            module.call("FLUSHALL")
            module.call("BF.RESERVE", "k", repr(rate), size)
        done = 0
        for times in (1, *OVERFILLED):
            fill(both, done, times * size, ("BF.MADD", "k"))
            done = times * size
            name = "BF sized" if times == 1 else f"BF {times} times"
            table.row(name, rate, size, *usages(both), wrong(both, "BF.MEXISTS"))


def grown(both, table, rate, sizes):
    for module in both:
        module.call("FLUSHALL")
        module.call("BF.RESERVE", "k", repr(rate), 100)
    done = 0
    for size in sizes:
        fill(both, done, size, ("BF.MADD", "k"))
        done = size
        table.row("BF grown", rate, size, *usages(both), wrong(both, "BF.MEXISTS"))


def cuckoo(both, table, sizes):
    for size in sizes:
        for module in both:
            module.call("FLUSHALL")
            module.call("CF.RESERVE", "k", max(size, 4))
        fill(both, 0, size, ("CF.INSERT", "k", "ITEMS"))
        table.row("CF filled", "", size, *usages(both), wrong(both, "CF.MEXISTS"))
        for module in both:
            module.call("CF.ADD", "k", "item0")
        table.row("CF repeated", "", size, *usages(both))
        for module in both:
            module.call("CF.DEL", "k", "item0")
            module.call("CF.DEL", "k", "item0")
        table.row("CF deleted", "", size, *usages(both))


def main():
    largest = int(sys.argv[1])
    sizes = [size for size in SIZES if size <= largest]
    both = [Module(os.environ["MODULE"]), Module(os.environ["REDISBLOOM"])]
    table = Table()
    try:
        print(f"{'':14}{'rate':>8}{'items':>9}{'bytes':>12}{'RedisBloom':>12}{'ratio':>8}  {'wrong':>10}{'RedisBloom':>10}")
        for rate in RATES:
            sized(both, table, rate, sizes)
            grown(both, table, rate, sizes)
        cuckoo(both, table, sizes)
        print(f"{table.nabove} of {table.ncells} cells are above 1.0")
    finally:
        for module in both:
            module.server.end()


main()
