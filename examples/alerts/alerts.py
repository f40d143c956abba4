# SPDX-License-Identifier: MIT
"""Lets each alert of a stream through once in a window. Any number of these programs share one `unseen serve`, whose
store has the window.

usage: alerts.py SOCKET < EVENTS

An event is a line: the name of an alert, a tab, and whatever else there is to say. Events that are let through go to
standard output."""

import fcntl
import socket
import sys
import time


class Server:
    """What the server says of alerts. It may die: somebody starts it again."""

    def __init__(self, path):
        self.path = path
        self.lock = open(path + ".lock", "w")
        self.connect()

    def connect(self):
        self.is_told = False
        while True:
            try:
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(self.path)
                self.answers = self.socket.makefile("rb")
                self.read()  # its greeting
                return
            except OSError:
                time.sleep(0.1)

    def read(self):
        line = self.answers.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError
        if line.startswith(b"E "):
            sys.exit("alerts.py: %s" % line[2:-1].decode())
        return line

    def ask(self, request):
        self.socket.sendall(request + b"\n")
        return self.read()

    def wait_until_told(self):
        """A server that was killed may have forgotten what it answered last. So nobody asks a new one before all programs
        have told it what they let through: until then they hold the lock."""
        if not self.is_told:
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            self.is_told = True

    def is_new(self, name):
        """True: no other program is told the same within the window. The caller lets the alert through, and calls keep."""
        while True:
            self.wait_until_told()
            fcntl.flock(self.lock, fcntl.LOCK_SH)
            try:
                is_new = self.ask(b"A " + name) == b"1\n"
                break
            except OSError:  # a question without an answer has changed nothing
                fcntl.flock(self.lock, fcntl.LOCK_UN)
                self.connect()
        if not is_new:
            fcntl.flock(self.lock, fcntl.LOCK_UN)
        return is_new

    def keep(self, name):
        """Returns when the server has the alert on its disk."""
        while True:
            try:
                self.ask(b"F")
                break
            except OSError:
                self.connect()
            try:
                self.ask(b"A " + name)
            except OSError:
                pass  # neither does the next question get an answer
        fcntl.flock(self.lock, fcntl.LOCK_UN)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    server = Server(sys.argv[1])
    for event in sys.stdin.buffer:
        name = event.split(b"\t", 1)[0].rstrip(b"\n")
        if server.is_new(name):
            sys.stdout.buffer.write(event)
            sys.stdout.buffer.flush()
            server.keep(name)


main()
