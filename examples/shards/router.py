# SPDX-License-Identifier: MIT
"""Writes the URLs of standard input that no machine has seen. Each URL is asked of the machine that it
belongs to.

usage: router.py [--token-file FILE] [--lease SECONDS] MACHINES NEW < urls

MACHINES has a line for each machine, the address of its `unseen serve`. The new URLs are appended to the file
NEW, in their canonical form. A router that was killed is started again with the same input."""

import argparse
import os
import subprocess
import sys
import time

from unseen import Unseen

LONGEST = 300_000  # bytes of a URL


def routed(canon):
    """The lines of standard input as lists of pairs of a shard and a URL: all that have arrived."""
    rest = b""
    while data := canon.stdout.read1(65536):
        *lines, rest = (rest + data).split(b"\n")
        pairs = (line.split(b"\t", 1) for line in lines)
        yield [(int(shard), url) for shard, url in pairs]


def route(machines, pairs, new, lease):
    """Writes the new URLs. Returns the pairs that another router has, which may die."""
    by_shard, tokens, left = {}, [], []
    for shard, url in pairs:
        by_shard.setdefault(shard, {})[url] = True
    for shard, urls in by_shard.items():
        for url, token in zip(urls, machines[shard].lease_batch(urls, lease)):
            if token:
                tokens.append((shard, token))
                new.write(url + b"\n")
            elif token is None:
                left.append((shard, url))
    new.flush()
    os.fsync(new.fileno())
    for shard in by_shard:
        machines[shard].done(*(token for where, token in tokens if where == shard))
    return left


def left_over(machines, new, lease):
    """Writes, perhaps again, what dead routers had leased, and what a machine had not remembered when it died.
    Returns how many leases others have."""
    count = 0
    for visited in machines.values():
        while jobs := visited.take(1000, lease):
            new.writelines(url.encode(errors="surrogateescape") + b"\n" for _, url in jobs)
            new.flush()
            os.fsync(new.fileno())
            visited.done(*(token for token, _ in jobs))
        count += visited.stats()["leases"]
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--token-file")
    parser.add_argument("--lease", type=int, default=30)
    parser.add_argument("machines")
    parser.add_argument("new")
    o = parser.parse_args()
    token = None
    if o.token_file:
        with open(o.token_file) as lines:
            token = lines.readline().rstrip("\n")
    with open(o.machines) as lines:
        addresses = lines.read().split()
    machines = {shard: Unseen(address, token=token) for shard, address in enumerate(addresses, 1)}
    # A canonical form has at most three times the bytes of its URL, and a line of a server 1 MiB.
    canon = subprocess.Popen(
        ["unseen", "canon", "--max-line", str(LONGEST), "--shard", str(len(machines))], stdout=subprocess.PIPE)
    with open(o.new, "ab") as new:
        if new.tell() > 0:
            new.write(b"\n")  # ends a line that a killed router may have begun
        left = []
        for pairs in routed(canon):
            left += route(machines, pairs, new, o.lease)
        while left := route(machines, left, new, o.lease):
            time.sleep(0.2)
        while left := left_over(machines, new, o.lease):
            time.sleep(0.2)
    if canon.wait() != 0:
        sys.exit("router.py: unseen canon has failed, or left out a line")


main()
