# SPDX-License-Identifier: MIT
"""Prints the lines of standard input that are new, 500 at a time.

usage: demo.py STORE < urls"""

import itertools
import sys

from unseen import Unseen, UnseenError

if len(sys.argv) != 2:
    sys.exit(f"usage: {sys.argv[0]} STORE < urls")
lines = (line.rstrip(b"\n") for line in sys.stdin.buffer)
try:
    with Unseen(sys.argv[1]) as visited:
        while batch := list(itertools.islice(lines, 500)):
            for url, new in zip(batch, visited.new_batch(batch)):
                if new is not False:
                    sys.stdout.buffer.write(url + b"\n")
except UnseenError as error:
    sys.exit(f"demo.py: {error}")
