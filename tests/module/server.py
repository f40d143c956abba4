"""Real servers with the module, on free ports of the loopback interface, for the tests beside this file.

SERVER is the path of redis-server or valkey-server, OTHER that of another server, MODULE that of unseen.so."""

import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import redis

SERVER = os.environ.get("SERVER", "redis-server")
OTHER = os.environ.get("OTHER") or SERVER
MODULE = os.environ["MODULE"]
PRELOAD = os.environ.get("MODULE_PRELOAD", "")
PATIENCE = 300  # seconds for something that must happen: only a test that fails waits for so long
SECRET = b"tests of unseen."


def wait_for(condition):
    """Waits until the condition holds. Every test that changes several processes waits in this way, and for no time."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise AssertionError(f"waited {PATIENCE} s in vain")
        time.sleep(0.01)


def free_port():
    """A port whose bus port of a cluster, 10,000 above, is a port and free, too."""
    while True:
        with socket.socket() as s, socket.socket() as bus:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
            try:
                bus.bind(("127.0.0.1", port + 10000))
            except (OSError, OverflowError):
                continue
            return port


def environment():
    """That of every server, also of one that a test starts itself."""
    if not PRELOAD:
        return dict(os.environ)
    return dict(os.environ, LD_PRELOAD=PRELOAD, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")


class Server:
    """A server process with a folder of its own; stopped by its process id."""

    def __init__(self, *options, module_arguments=(), folder=None, program=SERVER, has_module=True, preload=None, **variables):
        self.folder = folder or tempfile.mkdtemp(prefix="unseen-module-")
        self.options = options
        self.program = program
        self.module_arguments = module_arguments
        self.has_module = has_module
        self.environment = dict(environment(), **variables)
        if preload:
            self.environment["LD_PRELOAD"] = f"{PRELOAD}:{preload}".strip(":")
        self.process = None
        self.start()

    def start(self, *more):
        """Starts the server. Another program may have taken the port since it was free: then at another port."""
        for _ in range(20):
            if self.start_at(free_port(), more):
                return
        raise RuntimeError("the server found no port:\n" + self.text())

    def start_at(self, port, more):
        """Returns False if the port is in use."""
        self.port = port
        program = self.program if isinstance(self.program, list) else [self.program]
        command = [*program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder]
        command += ["--save", "", "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"]
        command += [*self.options, *more, *(["--loadmodule", MODULE, *self.module_arguments] if self.has_module else [])]
        self.log = open(os.path.join(self.folder, "log"), "ab")
        begin = self.log.tell()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, env=self.environment)
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < until:
            try:
                client = self.client()
                client.ping()
                if client.info("server")["process_id"] == self.process.pid:  # not a server that has the port already
                    return True
            except redis.exceptions.RedisError:
                pass  # it does not listen yet, or is loading
            time.sleep(0.01)
        self.stop()
        said = self.text()[begin:]
        if "Address already in use" in said:
            return False
        raise RuntimeError("the server did not start:\n" + said)

    def fix_secret(self):
        """Gives an empty server the same secret in each run, so that its false positives are the same in each run: they
        are rare in small filters, and not impossible. The secret comes from the file of a save, as after a restart."""
        self.client().execute_command("BF.ADD", "first", "x")
        self.client().save()
        path = os.path.join(self.folder, "dump.rdb")
        with open(path, "rb") as f:
            saved = f.read()
        # Before the frames of the first set: the number 1, a string of 16 bytes, the number 0 (no loads).
        changed, n = re.subn(rb"(?s)(\x02\x01\x05\x10).{16}(\x02\x00\x05)", lambda found: found[1] + SECRET + found[2], saved,
                             count=1)
        if n != 1:
            raise RuntimeError(f"no secret in {saved!r}")
        with open(path, "wb") as f:
            f.write(changed)
        self.client().flushall()
        self.client().execute_command("DEBUG", "RELOAD", "NOSAVE", "NOFLUSH")
        self.client().flushall()
        os.remove(path)

    def text(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as f:
            return f.read()

    def client(self, protocol=2, db=0):
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)  # no command is sent twice
        return redis.Redis(port=self.port, protocol=protocol, db=db, socket_timeout=PATIENCE, retry=once)

    def stop(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait()
            self.log.close()
            self.process = None

    def restart(self):
        """Kills the server and starts it again from its AOF. After a full sync a replica writes its AOF anew, and has
        none until that has ended."""
        call = raw_client(self)
        wait_for(lambda: b"aof_rewrite_in_progress:0" in call("INFO", "persistence") and
                 b"aof_rewrite_scheduled:0" in call("INFO", "persistence"))
        self.stop()
        self.start()

    def end(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Case(unittest.TestCase):
    """Tests with one server for all of them, empty at the start of each."""

    options = ()
    module_arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--rdbchecksum", "no", *cls.options, module_arguments=cls.module_arguments)
        cls.server.fix_secret()

    @classmethod
    def tearDownClass(cls):
        alive = cls.server.process.poll() is None
        text = cls.server.text()
        cls.server.end()
        if not alive:
            raise AssertionError("the server died:\n" + text[-4000:])

    def setUp(self):
        self.raw = raw_client(self.server)
        self.raw("FLUSHALL", "SYNC")

    def refused(self, text, *command):
        """The command is refused with exactly this sentence."""
        with self.assertRaises(redis.exceptions.ResponseError) as caught:
            self.raw(*command)
        self.assertEqual(str(caught.exception), text, command)


def follow(primary, replica):
    """Makes a server a replica, and waits until the primary sends it each change."""
    raw_client(replica)("REPLICAOF", "127.0.0.1", primary.port)
    wait_for(lambda: b"state=online" in raw_client(primary)("INFO", "replication"))


def wait_for_replica(primary, replica):
    """Waits until a replica has all that its primary has. WAIT alone does not tell: it counts a replica that has
    been sent the file of a full sync, and not loaded it yet."""

    def is_level():
        a = primary.client().info("replication")
        b = replica.client().info("replication")
        return b["role"] == "slave" and b["master_link_status"] == "up" and \
            b.get("slave_repl_offset") == a["master_repl_offset"]

    wait_for(is_level)


def raw_client(server, protocol=2, db=0):
    """A function that sends a command and returns the reply as the server sends it."""
    client = server.client(protocol, db)
    for name in list(client.response_callbacks):
        client.response_callbacks.pop(name)

    def call(*arguments):
        return client.execute_command(*arguments)

    return call
