# SPDX-License-Identifier: MIT
"""Every method of the client, with two servers killed on the way (see examples.sh); or with a
number N: how many URLs a second are answered, N one at a time and N in batches of 500."""

import os
import signal
import sys
import time

from unseen import Unseen, UnseenError

tool, store = sys.argv[1:3]


def say(*words):
    print(*(str(word).lower() if isinstance(word, bool) else word for word in words))


def kill(how=signal.SIGKILL):
    with open("pid") as file:
        pid = int(file.read())
    os.kill(pid, how)
    return pid


def end():
    """Sends SIGTERM, and returns when the server has ended. Its exit status is left to the client."""
    os.waitid(os.P_PID, kill(signal.SIGTERM), os.WEXITED | os.WNOWAIT)


def refused(ask):
    try:
        ask()
    except ValueError:
        say("refused")
    except UnseenError as error:
        say("error", error)


def exercise():
    visited = Unseen(store, "--seed", "1", tool=tool)
    say(visited.hello)
    say("new", visited.new("http://e.com/1"), visited.new("HTTP://E.com/1#x"))
    say("seen", visited.seen("http://e.com/1"), visited.seen("http://e.com/2"))
    say("remove", visited.remove("http://e.com/1"), visited.remove("http://e.com/1"))
    say("batch", *visited.new_batch(["http://e.com/1", "http://e.com/é", "http://e.com/1", ""]))
    say("seen batch", *visited.seen_batch(["http://e.com/1", "http://e.com/2"]))
    say("empty", len(visited.new_batch([])))
    say("keys", visited.info()["keys"])
    refused(lambda: visited.new("a\nb"))
    refused(lambda: visited.new_batch(["a", "b\n"]))
    refused(lambda: visited.new("x" * 2000000))
    visited.flush()
    kill()
    say("killed", visited.seen("http://e.com/é"), visited.new("http://e.com/3"))
    visited.flush()
    kill()
    many = [f"http://e.com/{i}" for i in range(100000)]
    say("killed", sum(visited.new_batch(many)))
    visited.close()
    with Unseen(store, tool=tool) as again:
        say("again", sum(again.new_batch(many)))
    try:
        Unseen("missing/store", tool=tool)
    except UnseenError:
        say("not started")
    try:
        Unseen(store, tool="/missing/unseen")
    except UnseenError as error:
        say(str(error).startswith("cannot start /missing/unseen (") and str(error).partition(": ")[2][:10])
    with Unseen(store, tool=tool) as ended:
        end()
        say("ended", ended.seen("http://e.com/1"))
        end()
    say("closed")


def leases():
    with Unseen(store, tool=tool) as visited:
        first = visited.lease("http://lease/1", 60)
        say("lease", bool(first), visited.lease("http://lease/1", 60) is None, visited.lease("http://e.com/1", 60) is False)
        say("renew", visited.renew(60, first), visited.renew(60, "1.1"))
        say("done", visited.done(first, first), visited.lease("http://lease/1", 60) is False)
        many = visited.lease_batch([f"http://lease/\udcff/{i}" for i in range(1200)], 60)
        say("leases", len(set(many)), visited.give_back(*many[1:]), visited.stats()["leases"])
        visited.flush()  # what is done and not on the disk is handed out again
        kill()
        left = visited.take(1000, 60) + visited.take(1000, 60)
        say("take", len(left), ("http://lease/\udcff/0" in (url for _, url in left)), visited.done(many[0]))
        say("done", visited.done(*(token for token, _ in left)), visited.take(10, 60), visited.stats()["leases"])
        refused(lambda: visited.lease("a\nb", 60))
        refused(lambda: visited.lease("http://lease/2", 0))


def measure(n):
    urls = [f"http://www.example.com/section/page-{i}.html" for i in range(2 * n)]
    with Unseen(store, tool=tool) as visited:
        start = time.monotonic()
        for url in urls[:n]:
            visited.new(url)
        middle = time.monotonic()
        for i in range(n, 2 * n, 500):
            visited.new_batch(urls[i : i + 500])
        end = time.monotonic()
    say(f"one at a time {n / (middle - start):.0f}/s, batches {n / (end - middle):.0f}/s")


if len(sys.argv) == 3:
    exercise()
    leases()
else:
    measure(int(sys.argv[3]))
