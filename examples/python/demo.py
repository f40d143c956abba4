# SPDX-License-Identifier: MIT
"""Prints the lines of standard input that are new, 500 at a time.

usage: demo.py STORE < urls"""

import itertools
import sys

from unseen import Unseen

lines = (line.rstrip(b"\n") for line in sys.stdin.buffer)
with Unseen(sys.argv[1]) as visited:
    while batch := list(itertools.islice(lines, 500)):
        for url, new in zip(batch, visited.new_batch(batch)):
            if new is not False:
                sys.stdout.buffer.write(url + b"\n")
