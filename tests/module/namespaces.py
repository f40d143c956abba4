"""Two sides of a network that a test can cut: two network namespaces with one link between them.

A namespace lives as long as a descriptor of it, or a process in it. Nothing has a name outside of it, so that a test
that is killed leaves nothing behind."""

import ctypes
import os
import shutil
import subprocess
import threading
import unittest

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
SELF = "/proc/thread-self/ns/net"


def checked(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def in_thread(function):
    """The result of a function that a thread of its own calls: a namespace is that of a thread."""
    results, errors = [], []

    def call():
        try:
            results.append(function())
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def make_namespace():
    checked(libc.unshare(CLONE_NEWNET))
    return os.open(SELF, os.O_RDONLY)


def enter(fd):
    """From now on the sockets that this thread opens are in that namespace, and those of its later threads."""
    checked(libc.setns(fd, CLONE_NEWNET))


class Side:
    """The address is on the loopback interface: the side reaches itself, whatever becomes of the link."""

    def __init__(self, address, link):
        self.address, self.link = address, link
        self.fd = in_thread(make_namespace)
        self.path = f"/proc/{os.getpid()}/fd/{self.fd}"

    def command(self, *words):
        return ["nsenter", f"--net={self.path}", *words]

    def ip(self, *words):
        subprocess.run(self.command("ip", *words), check=True, stderr=subprocess.PIPE, text=True)

    def set_up(self, other):
        self.ip("link", "set", self.link, "up")
        self.ip("route", "replace", other.address, "dev", self.link, "src", self.address)


class Network:
    def __init__(self):
        """Raises SkipTest where this may not be done."""
        for name, package in (("ip", "iproute2"), ("nsenter", "util-linux")):
            if not shutil.which(name):
                raise unittest.SkipTest(f"a partition needs {name}: apt-get install {package}")
        self.home = os.open(SELF, os.O_RDONLY)
        self.sides = []
        try:
            self.sides.append(Side("10.77.0.1", "left"))
            self.sides.append(Side("10.77.0.2", "right"))
            a, b = self.sides
            a.ip("link", "add", a.link, "type", "veth", "peer", "name", b.link, "netns", b.path)
            for side in self.sides:
                side.ip("link", "set", "lo", "up")
                side.ip("address", "add", side.address + "/32", "dev", "lo")
            self.heal()
        except (OSError, subprocess.CalledProcessError) as error:
            self.release()
            reason = (getattr(error, "stderr", None) or str(error)).strip()
            raise unittest.SkipTest(f"a partition needs root and CAP_NET_ADMIN: {reason}")

    def cut(self):
        self.sides[0].ip("link", "set", self.sides[0].link, "down")

    def heal(self):
        """A route goes with its link, and comes back by itself on the other side only."""
        a, b = self.sides
        a.set_up(b)
        b.set_up(a)

    def close(self):
        """The calling thread goes back to where it came from."""
        enter(self.home)
        self.release()

    def release(self):
        for fd in [self.home, *(side.fd for side in self.sides)]:
            os.close(fd)
