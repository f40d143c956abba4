"""The measurements of bench/module.sh."""

import os
import socket
import statistics
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/module"))
from server import Server  # noqa: E402

ROUNDS, BATCH, GROWTHS = 5, 100000, 3


def encode(*arguments):
    out = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        out.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(out)


def urls(start, n):
    return [b"https://www.example%d.com/articles/2026/11/%d/a-page.html" % (i % 977, i) for i in range(start, start + n)]


class Link:
    """One pipelined connection. run returns the CPU seconds of the server."""

    def __init__(self, server):
        self.server = server
        self.socket = socket.create_connection(("127.0.0.1", server.port))

    def cpu(self):
        info = self.server.client().info("cpu")
        return info["used_cpu_user"] + info["used_cpu_sys"]

    def main_thread(self, command, nlines):
        """The CPU of the server's main thread for one command, in microseconds."""
        blob = encode(*command)
        path = f"/proc/{self.server.process.pid}/task/{self.server.process.pid}/schedstat"
        with open(path) as f:
            before = int(f.read().split()[0])
        self.socket.sendall(blob)
        while nlines > 0:
            nlines -= self.socket.recv(1 << 20).count(b"\r\n")
        with open(path) as f:
            return (int(f.read().split()[0]) - before) / 1000

    def run(self, commands, nlines):
        blob = b"".join(encode(*command) for command in commands)
        before = self.cpu()
        sender = threading.Thread(target=self.socket.sendall, args=(blob,))
        sender.start()
        while nlines > 0:
            nlines -= self.socket.recv(1 << 20).count(b"\r\n")
        sender.join()
        return self.cpu() - before


def hundreds(name, key, items):
    return [(name, key, *items[i:i + 100]) for i in range(0, len(items), 100)]


def ratios(server):
    """Rounds that take turns: each job adds new URLs to a set that the last rounds have filled."""
    link = Link(server)
    call = server.client().execute_command
    call("BF.RESERVE", "tight", "0.0000015", BATCH)
    call("BF.RESERVE", "loose", "0.01", 10 * BATCH)
    call("BF.RESERVE", "grown", "0.01", 100)
    results = {}

    def job(name, commands, nlines, nurls):
        results.setdefault(name, []).append(link.run(commands, nlines) / nurls * 1e6)

    half = BATCH // 2
    for number in range(ROUNDS):
        batch = urls(number * BATCH, BATCH)
        job("empty (BF.CARD, no key)", [("BF.CARD", "none")] * BATCH, BATCH, BATCH)
        for key in "tight", "loose", "grown":
            job("BF.ADD " + key, [("BF.ADD", key, url) for url in batch[:half]], half, half)
            job("BF.MADD x100 " + key, hundreds("BF.MADD", key, batch[half:]), half + half // 100, half)
            job("BF.EXISTS " + key, [("BF.EXISTS", key, url) for url in batch[:half]], half, half)
        job("CF.ADD", [("CF.ADD", "cuckoo", url) for url in batch[:half]], half, half)
        job("UNSEEN.ADD x100", hundreds("UNSEEN.ADD", "urls", batch[:half]), half + half // 100, half)
        job("SADD", [("SADD", "set", url) for url in batch[:half]], half, half)
    empty = statistics.median(next(iter(results.values())))
    print(f"{'command':26}us a URL  ratio")
    for name, values in results.items():
        print(f"{name:26}{statistics.median(values):8.3f}{statistics.median(values) / empty:7.2f}")


def growth(server, n):
    """Grows a set at 1.5e-6 by 1,000 URLs a command, and measures the CPU of the server's main thread for each:
    reading, parsing and answering are in it, waiting for a processor is not. Three times, with one secret, so that
    each command does the same work: the least of the three is free of what else the machine did."""
    link = Link(server)
    call = server.client().execute_command
    costs = []
    for _ in range(GROWTHS):
        call("FLUSHALL")
        call("BF.RESERVE", "k", "0.0000015", 1000)
        bits, these = [], []
        for start in range(0, n, BATCH):
            items = urls(start, min(BATCH, n - start))
            for i in range(0, len(items), 1000):
                these.append(link.main_thread(("BF.MADD", "k", *items[i:i + 1000]), 1 + len(items[i:i + 1000])))
            bits.append(8 * call("MEMORY", "USAGE", "k") / (start + len(items)))
        costs.append(these)
    least = sorted(min(each) for each in zip(*costs))
    print(f"grown to {n}: {sum(bits) / len(bits):.1f} bits on average, {bits[-1]:.1f} at the end")
    print(f"BF.MADD of 1,000, CPU of the main thread in us: median {least[len(least) // 2]:.0f}, longest "
          f"{', '.join(f'{c:.0f}' for c in least[:-6:-1])}; longest of each growth alone "
          f"{', '.join(f'{max(c):.0f}' for c in costs)}")
    wrong = 0
    for start in range(0, n, 10000):
        items = [b"http://absent.example/%d" % i for i in range(start, start + 10000)]
        wrong += sum(call("BF.MEXISTS", "k", *items))
    print(f"rate: {wrong} of {n} wrong, {wrong / n:.2g}")
    for compression in "yes", "no":
        call("CONFIG", "SET", "rdbcompression", compression)
        times = []
        for _ in range(ROUNDS):
            before = link.cpu()
            call("DEBUG", "RELOAD")
            times.append((link.cpu() - before) / n * 1e9)
        print(f"save and load, rdbcompression {compression}: {statistics.median(times):.1f} ns a key")


def chain(server):
    """A key reserved as RedisBloom's default, grown: bits and rate at each size."""
    call = server.client().execute_command
    call("FLUSHALL")
    call("BF.RESERVE", "k", "0.01", 100)
    done = 0
    for size in 100, 1000, 10000, 100000, 1000000:
        for start in range(done, size, 1000):
            call("BF.MADD", "k", *urls(start, min(1000, size - start)))
        done = size
        wrong = sum(sum(call("BF.MEXISTS", "k", *[b"absent%d" % i for i in range(s, s + 10000)])) for s in range(0, 100000, 10000))
        print(f"0.01 from 100, {size} items: {8 * call('MEMORY', 'USAGE', 'k') / size:.1f} bits an item, rate {wrong / 1e5:.2g}")


def main():
    server = Server()
    try:
        ratios(server)
        growth(server, int(sys.argv[1]))
        chain(server)
    finally:
        server.end()


main()
