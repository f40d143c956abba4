"""Real Redis servers with the module, on sockets and free ports, for the tests beside this file.

UNSEEN_MODULE is the path of unseen.so."""

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

MODULE = os.environ.get("UNSEEN_MODULE")
SERVER = shutil.which(os.environ.get("SERVER", "redis-server"))
try:
    import redis
except ImportError:
    redis = None
READY = bool(MODULE and SERVER and redis)


PATIENCE = 300  # seconds for something that must happen: only a test that fails waits for so long


def free_port():
    """A port that the system gives to no client, so that a server that is started again finds it free; and 10000 more,
    for the bus of a cluster, too."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
        first, last = map(int, f.read().split())
    while True:
        port = random.SystemRandom().randrange(2000, 55000)
        if first <= port <= last or first <= port + 10000 <= last:
            continue
        with socket.socket() as s, socket.socket() as bus:
            try:
                s.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return port


def wait_for(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"waited {PATIENCE} s in vain")
        time.sleep(0.02)


class RedisServer:
    """A server process with a folder of its own; stopped by its process id."""

    def __init__(self, *options, module=True):
        self.folder = tempfile.mkdtemp(prefix="unseen-redis-")
        self.options = [*options, *(["--loadmodule", MODULE] if module else [])]
        self.port = None
        self.socket = f"{self.folder}/sock"
        self.process = None
        self.start()

    @property
    def address(self):
        return f"redis://127.0.0.1:{self.port}"

    def start(self):
        """Starts the server: at first at a port that nobody has, later at the same."""
        until = time.monotonic() + PATIENCE
        is_new = self.port is None
        while time.monotonic() < until:
            if is_new:
                self.port = free_port()
            said = self.try_to_start(until)
            if said is None:
                return
            if "Address already in use" not in said:
                break
            time.sleep(0.1)
        raise RuntimeError("the server did not start: " + said[-2000:])

    def try_to_start(self, until):
        """Returns what a server said that did not start."""
        with open(f"{self.folder}/log", "ab") as log:
            begin = log.tell()
            self.process = subprocess.Popen(
                [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", self.socket, "--dir", self.folder,
                 "--save", "", *self.options], stdout=log, stderr=log)
        while self.process.poll() is None and time.monotonic() < until:
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.settimeout(PATIENCE)
                    s.connect(self.socket)
                    s.sendall(b"PING\r\n")
                    if s.recv(100).startswith((b"+PONG", b"-NOAUTH")):
                        return None
                except OSError:
                    pass
            time.sleep(0.02)
        self.stop()
        with open(f"{self.folder}/log", errors="replace") as log:
            return log.read()[begin:]

    def client(self):
        return redis.Redis(unix_socket_path=self.socket)

    def stop(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.process = None

    def end(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
