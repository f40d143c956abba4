# Servers of the tool, and clients that send lines to them, for the tests in Python.
import atexit, json, os, random, signal, socket, subprocess, time

TOOL = os.environ["UNSEEN"]
SCALE = int(os.environ.get("UNSEEN_CRASH_SCALE", "1"))
SEED = int(os.environ.get("UNSEEN_CRASH_SEED", "1"))


def scaled(n):
    """So many cases, of which the usual run of tools/test.sh has a half."""
    return n * SCALE // (2 if "UNSEEN_TEST_BRIEF" in os.environ else 1)


class Client:
    def __init__(self, address="unix:sock", token=None, durable=False):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address[5:])
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(60)
        self.file = self.socket.makefile("rb")
        self.greeting = self.line()
        if token:
            assert self.ask("T " + token) == "OK"
        if durable:
            assert self.ask("O durable") == "OK"

    def line(self):
        line = self.file.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the server has gone away")
        return line[:-1].decode()

    def send(self, text):
        self.socket.sendall(text.encode())

    def ask(self, request):
        self.send(request + "\n")
        return self.line()

    def batch(self, letter, urls):
        self.send("B %d %s\n%s" % (len(urls), letter, "".join(u + "\n" for u in urls)))
        return self.line()

    def close(self):
        self.file.close()
        self.socket.close()


class Server:
    def __init__(self, store, *options, address="unix:sock"):
        self.process = subprocess.Popen([TOOL, "serve", store, "--listen", address, *options],
                                        stderr=subprocess.PIPE)
        atexit.register(self.process.kill)  # a test that fails leaves none behind
        line = self.process.stderr.readline().decode()
        while "an unfinished commit of" in line or "never answered" in line:  # the server before this one was killed
            line = self.process.stderr.readline().decode()
        assert line.startswith("unseen: listening on "), line
        self.address = address if address.startswith("unix:") else line.split()[-1]

    def end(self, signal_number=signal.SIGTERM):
        self.process.send_signal(signal_number)
        rest = self.process.stderr.read().decode()
        status = self.process.wait()
        return status, rest

    def memory(self):
        for line in open("/proc/%d/status" % self.process.pid):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))


def port_to_keep():
    """A free port that the system gives to no client, so that a server that is started again finds it free."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as f:
        first, last = map(int, f.read().split())
    while True:
        port = random.SystemRandom().randrange(2000, 65536)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if not first <= port <= last:
            return port


def count(store):
    """The URLs that a store has, one asker later."""
    out = subprocess.run([TOOL, "info", "--json", store], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["keys"]


def eventually(holds):
    """The server notices after a moment that a client has gone."""
    until = time.monotonic() + 300
    while True:
        try:
            if holds():
                return
        except OSError:
            pass
        assert time.monotonic() < until
        time.sleep(0.02)
