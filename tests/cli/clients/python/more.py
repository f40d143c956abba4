# SPDX-License-Identifier: MIT
"""What only the Python client has to show (see examples.sh): threads, Ctrl-C as a terminal sends it or at a bad
moment, and questions that are refused."""

import os
import signal
import subprocess
import sys
import threading
import time

from unseen import Unseen, UnseenError

tool, store = sys.argv[1:3]


def threads():
    """The same URLs asked by eight threads: each is new for one of them."""
    urls = [f"http://e.com/{i}" for i in range(1000)]
    counts = [0] * 8
    with Unseen(store + ".threads", "--seed", "1", tool=tool) as visited:

        def ask(i):
            counts[i] = sum(visited.new(url) for url in urls)

        workers = [threading.Thread(target=ask, args=(i,), daemon=True) for i in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
    print("threads", sum(counts))


def interrupted():
    """Runs this program again in a session of its own, and sends SIGINT to all of it, as Ctrl-C does."""
    wrong = 0
    for i in range(8):
        child = subprocess.Popen(
            [sys.executable, __file__, tool, f"{store}.{i}", "loop"],
            start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        child.stdout.readline()
        time.sleep(0.01 * i)
        os.killpg(child.pid, signal.SIGINT)
        out, err = child.communicate(timeout=60)
        wrong += child.returncode != 0 or out != "good\n" or err != ""
        if out != "good\n" or err:
            print(out, err, file=sys.stderr)
    print("interrupted", wrong)


def loop():
    """Asks until Ctrl-C; then each answer must still be that of its question."""
    urls = [f"http://e.com/{i}" for i in range(100)]
    with Unseen(store, "--seed", "1", tool=tool) as visited:
        visited.new_batch(urls)
        visited.flush()
        try:
            print("ready", flush=True)  # Ctrl-C may come before it has returned
            while True:
                visited.seen_batch(urls)
                visited.new("http://e.com/0")
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        answers = [visited.seen(url) for url in urls] + [not visited.seen(url + "?") for url in urls]
        print("good" if all(answers) else "wrong answers")


def restarted():
    """Ctrl-C before the greeting of a second server, which is not the answer to the next question."""
    with Unseen(store + ".restarted", tool=tool) as visited:
        spawn = visited._spawn

        def spawn_until_ctrl_c():
            spawn()
            raise KeyboardInterrupt

        visited._server.kill()
        visited._spawn = spawn_until_ctrl_c
        try:
            visited.new("http://e.com/")
        except KeyboardInterrupt:
            visited._spawn = spawn
        print("restarted", visited.new("http://e.com/"), visited.new("http://e.com/"))


def refused():
    with Unseen(store, tool=tool) as visited:
        for urls in "http://e.com/", b"http://e.com/":
            try:
                visited.new_batch(urls)
            except TypeError as error:
                print(error)
        sys.stdout.flush()  # or both would write what is not written yet
        pid = os.fork()
        if pid == 0:
            try:
                visited.seen("http://e.com/")
            except UnseenError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(pid, 0)
        print("still", visited.new("http://e.com/"))
    try:
        visited.new("http://e.com/")
    except UnseenError as error:
        print(error)


if len(sys.argv) > 3:
    loop()
else:
    threads()
    interrupted()
    restarted()
    refused()
