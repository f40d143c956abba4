"""Real servers with the module, on free ports of the loopback interface, for the tests beside this file.

SERVER is the path of redis-server or valkey-server, MODULE that of unseen.so."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import redis

SERVER = os.environ.get("SERVER", "redis-server")
MODULE = os.environ["MODULE"]
PRELOAD = os.environ.get("MODULE_PRELOAD", "")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server process with a folder of its own; stopped by its process id."""

    def __init__(self, *options, module_arguments=(), folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="unseen-module-")
        self.options = options
        self.module_arguments = module_arguments
        self.process = None
        self.start()

    def start(self, *more):
        self.port = free_port()
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder]
        command += ["--save", "", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"]
        command += [*self.options, *more, "--loadmodule", MODULE, *self.module_arguments]
        self.log = open(os.path.join(self.folder, "log"), "ab")
        environment = dict(os.environ)
        if PRELOAD:
            environment.update(LD_PRELOAD=PRELOAD, ASAN_OPTIONS="detect_leaks=0")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=environment)
        for _ in range(600):
            try:
                self.client().ping()
                return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError("the server did not start:\n" + self.text())

    def text(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as f:
            return f.read()

    def client(self, protocol=2, db=0):
        return redis.Redis(port=self.port, protocol=protocol, db=db, socket_timeout=60)

    def stop(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.log.close()
            self.process = None

    def end(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Case(unittest.TestCase):
    """Tests with one server for all of them, empty at the start of each."""

    options = ()
    module_arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options, module_arguments=cls.module_arguments)

    @classmethod
    def tearDownClass(cls):
        alive = cls.server.process.poll() is None
        text = cls.server.text()
        cls.server.end()
        if not alive:
            raise AssertionError("the server died:\n" + text[-4000:])

    def setUp(self):
        self.raw = raw_client(self.server)
        self.raw("FLUSHALL")

    def refused(self, text, *command):
        """The command is refused with exactly this sentence."""
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.raw(*command)
        self.assertEqual(str(caught.exception), text, command)


def raw_client(server, protocol=2):
    """A function that sends a command and returns the reply as the server sends it."""
    client = server.client(protocol)
    for name in list(client.response_callbacks):
        client.response_callbacks.pop(name)

    def call(*arguments):
        return client.execute_command(*arguments)

    return call
