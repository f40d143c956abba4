# Many clients of one server: who is told that a URL is new, and what kills of either side take away.
#
#     serve_clients.py TOOL SEED
import json, os, random, signal, socket, subprocess, sys, threading, time

TOOL, SEED = sys.argv[1], int(sys.argv[2])
SCALE = int(os.environ.get("UNSEEN_CRASH_SCALE", "1"))
random.seed(SEED)


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
        self.errors = open("server.err", "ab")
        self.process = subprocess.Popen([TOOL, "serve", store, "--listen", address, *options],
                                        stderr=subprocess.PIPE)
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


def count(store):
    """The URLs that a store has, one asker later."""
    out = subprocess.run([TOOL, "info", "--json", store], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)["keys"]


def in_threads(n, work):
    failures = []

    def run(i):
        try:
            work(i)
        except BaseException as error:
            failures.append((i, repr(error)))
    threads = [threading.Thread(target=run, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[:3]


def eventually(holds):
    """The server notices after a moment that a client has gone."""
    until = time.time() + 30
    while True:
        try:
            if holds():
                return
        except OSError:
            pass
        assert time.time() < until
        time.sleep(0.02)


# ---- Of all that ask for one URL, exactly one is told that it is new -----------------------------
def exactly_one_new(durable):
    server = Server("one")
    told = [[] for _ in range(8)]

    def work(i):
        rng = random.Random(SEED * 100 + i)
        client = Client(durable=durable)
        urls = ["http://e.com/%d" % n for n in range(4000)]
        rng.shuffle(urls)
        at = 0
        while at < len(urls):
            n = rng.choice((1, 3, 256, 700))
            part = urls[at:at + n]
            at += n
            if rng.random() < 0.5:
                marks = client.batch("A", part)
            else:
                client.send("".join("A %s\n" % u for u in part))
                marks = "".join(client.line() for _ in part)
            assert len(marks) == len(part)
            told[i] += [u for u, m in zip(part, marks) if m == "1"]
        assert client.ask("F") == "OK"
        client.close()
    in_threads(8, work)
    new = sum(told, [])
    assert len(new) == 4000 and len(set(new)) == 4000, (len(new), len(set(new)))
    status, errors = server.end()
    assert status == -signal.SIGTERM and errors == "", (status, errors)
    assert count("one") == 4000
    os.remove("one")


exactly_one_new(False)
exactly_one_new(True)


# ---- Clients that stop in the middle of everything hold up nobody --------------------------------
server = Server("slow")
half = Client()
half.send("B 1000 A\nhttp://half/1\nhttp://half/2\nhttp://ha")
deaf = Client()  # never reads
deaf.socket.setblocking(False)
try:
    for i in range(200000):
        deaf.socket.send(b"".join(b"A http://deaf/%d\n" % (i * 100 + k) for k in range(100)))
except BlockingIOError:
    pass
drip = Client()
honest = Client(durable=True)
began = time.time()
for i in range(50):
    drip.send("A"[:1] if i == 0 else " " if i == 1 else "x")
    assert honest.batch("A", ["http://honest/%d/%d" % (i, k) for k in range(20)]) == "1" * 20
assert time.time() - began < 30
assert honest.ask("F") == "OK"
assert honest.ask("C http://half/1") == "0"  # its batch is not whole
drip.send("\n")
assert drip.line() == "1"
half.close()
for c in (deaf, drip, honest):
    c.close()
status, errors = server.end()
assert status == -signal.SIGTERM and errors == "", (status, errors)


# ---- Garbage, and what looks like a browser ------------------------------------------------------
server = Server("slow")
web = Client()
web.send("POST /x HTTP/1.1\r\nHost: a\r\n\r\nA http://evil/\n")
assert web.line() == "E this is not a web server, but unseen serve"
assert web.file.readline() == b""
# It does not close, and is let go of.
honest = Client()
assert honest.ask("C http://evil/") == "0"
for i in range(300 * SCALE):
    garbage = Client()
    garbage.socket.sendall(os.urandom(random.choice((1, 10, 1000, 70000))))
    garbage.close()
    if i % 10 == 0:
        assert honest.ask("A http://honest/again/%d" % i) == "1"
        assert honest.ask("C http://honest/again/%d" % i) == "1"
assert honest.ask("O") .startswith("E unknown request")
assert honest.ask("O fast") == "E unknown option; there is: O durable"
assert honest.ask("T x").startswith("E the token is wrong")
assert honest.ask("B 65537 A") == "E a batch has at most 65536 lines; those of this one are left out"
honest.send("x\n" * 65537)
assert honest.ask("C http://none/") == "0"
assert honest.batch("A", ["http://full/%d" % i for i in range(65536)]) == "1" * 65536
honest.close()


def honest_stats():
    c = Client()
    stats = c.ask("S")
    c.close()
    return stats


# ---- Descriptors and memory ----------------------------------------------------------------------
eventually(lambda: json.loads(honest_stats())["clients"] == 1)
fds = server.descriptors()
for i in range(1000 * SCALE):
    c = socket.socket(socket.AF_UNIX)
    c.connect("sock")
    c.close()
asker = Client()
assert asker.ask("C x") == "0"
eventually(lambda: server.descriptors() <= fds + 1)
before = server.memory()
idle = [Client() for _ in range(500)]
for c in idle:
    assert c.ask("C http://idle/") == "0"
grown = (server.memory() - before) / len(idle)
assert grown < 16 * 1024, grown
print("memory of an idle client: %d bytes" % grown)

# ---- A full house --------------------------------------------------------------------------------
server.end()
server = Server("slow", "--max-clients", "3")
three = [Client() for _ in range(3)]
fourth = Client()
assert fourth.greeting == "E the server has as many clients as --max-clients allows"
for c in three:
    assert c.ask("C http://idle/") == "0"
stats = json.loads(three[0].ask("S"))
assert stats["clients"] == 3 and stats["questions"] == 3, stats
three[1].close()
eventually(lambda: Client().ask("C http://honest/0/0") == "1")
server.end()

# ---- Who may -------------------------------------------------------------------------------------
server = Server("slow", address="127.0.0.1:0")
c = Client(server.address)
assert c.ask("C http://honest/0/0") == "1"
assert c.ask("A http://x/").startswith("E here are only answers"), c
assert c.batch("A", ["http://x/"]) == "E" and c.ask("C http://x/") == "0"
server.end()
with open("token", "w") as f:
    f.write("0123456789abcdefghij\n")
server = Server("slow", "--token-file", "token", address="127.0.0.1:0")
c = Client(server.address)
assert c.ask("T 0123456789abcdefghi").startswith("E the token is wrong")
assert c.ask("A http://x/").startswith("E here are only answers")
assert c.ask("T 0123456789abcdefghij") == "OK"
assert c.ask("A http://x/") == "1"
server.end()
server = Server("slow", "--mode", "660")
assert os.stat("sock").st_mode & 0o777 == 0o660
server.end()
assert not os.path.exists("sock")
server = Server("slow")
assert os.stat("sock").st_mode & 0o777 == 0o600
server.end()

# ---- Kills: of the server nothing is lost, of a client what it had asked for last ---------------
# A client is a process that notes what it asks for, asks, and notes what it was told is new.
URLS = ["http://kill/%d" % i for i in range(100000)]


def client_process(log, seed, durable):
    rng = random.Random(seed)
    client = None
    with open(log, "ab", buffering=0) as out:
        while True:
            at = rng.randrange(len(URLS))
            part = URLS[at:at + rng.choice((1, 10, 100))]
            out.write(("?" + " ".join(part) + "\n").encode())
            try:
                client = client or Client(durable=durable)
                marks = client.batch("A", part)
                new = [u for u, m in zip(part, marks) if m == "1"]
                out.write(("!" + " ".join(new) + "\n").encode())
            except OSError:
                client = None
                time.sleep(0.01)


def read_log(log):
    """All that the client was told is new, and what it had asked for when it was killed."""
    told, asked = [], []
    for line in open(log, "rb"):
        words = line.decode().rstrip("\n")
        if not line.endswith(b"\n"):
            break
        if words[0] == "?":
            asked = words[1:].split()
        else:
            told += words[1:].split()
            asked = []
    return told, asked


def kills(n, of_server, durable=False):
    server = Server("killed")
    logs, children, nserver = [], [], 0

    def start():
        log = "log.%d" % len(logs)
        logs.append(log)
        open(log, "wb").close()
        pid = os.fork()
        if pid == 0:
            try:
                client_process(log, SEED * 7919 + len(logs), durable)
            finally:
                os._exit(1)
        children.append(pid)
    for _ in range(4):
        start()
    for _ in range(n):
        time.sleep(random.random() * 0.03)
        if of_server and random.random() < 0.5:
            server.end(signal.SIGKILL)
            server = Server("killed")
            nserver += 1
        else:
            pid = children.pop(random.randrange(len(children)))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            start()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    times, may_be_lost = {}, set()
    for log in logs:
        told, asked = read_log(log)
        may_be_lost.update(asked)
        for u in told:
            times[u] = times.get(u, 0) + 1
        os.remove(log)
    repeats = sum(k - 1 for k in times.values())
    client = Client()
    marks = "".join(client.batch("C", URLS[i:i + 50000]) for i in range(0, len(URLS), 50000))
    lost = [u for u, m in zip(URLS, marks) if m == "1" and u not in times]
    forgotten = sum(1 for u, m in zip(URLS, marks) if m == "0" and u in times)
    client.close()
    server.end()
    os.remove("killed")
    print("%d kills, %d of the server%s: %d URLs told, %d lost with their clients, %d repeated, "
          "%d new again" % (n, nserver, ", durable" if durable else "", len(times), len(lost),
                            repeats, forgotten))
    assert times and (nserver > 0) == of_server
    if not (durable and of_server):  # there a kill between the commit and the answer takes it away
        assert set(lost) <= may_be_lost, len(set(lost) - may_be_lost)
    if not of_server or durable:
        assert repeats == 0 and forgotten == 0, (repeats, forgotten)


kills(40 * SCALE, of_server=False)
kills(60 * SCALE, of_server=True)
kills(20 * SCALE, of_server=True, durable=True)

# ---- Two servers, and a socket in the way --------------------------------------------------------
server = Server("slow")
second = subprocess.run([TOOL, "serve", "slow", "--listen", "unix:other"], stderr=subprocess.PIPE)
assert second.returncode == 2 and b"is being written to by process" in second.stderr, second.stderr
second = subprocess.run([TOOL, "serve", "two", "--listen", "unix:sock"], stderr=subprocess.PIPE)
assert second.returncode == 2 and b"Address already in use" in second.stderr, second.stderr
server.end(signal.SIGKILL)
server = Server("slow")  # takes the place of the dead socket
assert Client().ask("C http://honest/0/0") == "1"
server.end()
