# Many clients of one server: who is told that a URL is new, and what kills of either side take away.
#
# UNSEEN_CRASH_SEED draws other cases, UNSEEN_CRASH_SCALE=10 makes ten times as many. The usual run has half of them.
import grp, json, os, random, signal, socket, subprocess, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SEED, TOOL, Client, Server, count, eventually, scaled
from test_clock import hold_time, let_time_go, pass_time

random.seed(SEED)


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


def fork(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(1)
    return pid


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
assert time.time() - began < 300
assert honest.ask("F") == "OK"
assert honest.ask("C http://half/1") == "0"  # its batch is not whole
drip.send("\n")
assert drip.line() == "1"
half.close()
for c in (deaf, drip, honest):
    c.close()
status, errors = server.end()
assert status == -signal.SIGTERM and errors == "", (status, errors)


# ---- A request that was cut off is none -----------------------------------------------------------
server = Server("slow")
cut = Client()
cut.send("A http://cut/1\nA http://cut/2 and mo")
cut.socket.shutdown(socket.SHUT_WR)
assert cut.file.read() == b"1\n"
cut = Client()
cut.send("B 3 A\nhttp://cut/3\nhttp://cut/4\n")
cut.socket.shutdown(socket.SHUT_WR)
assert cut.file.read() == b""
c = Client()
assert c.batch("C", ["http://cut/1", "http://cut/2 and mo", "http://cut/3", "http://cut/4"]) == "1000"
assert c.ask("A http://log.example/ HTTP/1.1") == "1"
server.end()


# ---- Garbage, and what looks like a browser ------------------------------------------------------
server = Server("slow")
web = Client()
web.send("POST /x HTTP/1.1\r\nHost: a\r\n\r\nA http://evil/\n")
assert web.line() == "E this is not a web server, but unseen serve"
assert web.file.readline() == b""
# It does not close, and is let go of.
honest = Client()
assert honest.ask("C http://evil/") == "0"
assert honest.ask("O") .startswith("E unknown request")
assert honest.ask("O fast") == "E unknown option; there is: O durable"
assert honest.ask("T x").startswith("E the token is wrong")
assert honest.ask("B 65537 A") == "E a batch has at most 65536 lines; those of this one are left out"
honest.send("x\n" * 65537)
assert honest.ask("C http://none/") == "0"
assert honest.batch("A", ["http://full/%d" % i for i in range(65536)]) == "1" * 65536
honest.close()


server.end()


# ---- Sessions that end badly, beside honest clients ----------------------------------------------
def connected(data=b""):
    c = socket.socket(socket.AF_UNIX)
    c.connect("sock")
    try:
        c.sendall(data)
    except OSError:
        pass  # the server has heard enough
    return c


def garbage(rng):
    """Random bytes, some of which look like requests. None may change the store."""
    words = (b"C ", b"B 5 C\n", b"B 70000 C\n", b"\n", b"http://", b"X\n", b"T x\n", b"O durable\n", b"F\n", b"I\n",
             b"D 1.1\n", b"HTTP/1.1\r\n", b"\0", b"\xff\xfe")
    harmless = bytes.maketrans(b"ABLR", b"ablr")
    pieces = [rng.choice(words) if rng.random() < 0.7 else rng.randbytes(rng.choice((1, 3, 30))).translate(harmless)
              for _ in range(rng.choice((1, 5, 40)))]
    return [connected(b"#" + b"".join(pieces))]


def half_open(rng):
    """A request, a batch or a line without its end, and a client that waits."""
    return [connected(rng.choice((b"A http://cut.example/", b"B 3 A\nhttp://cut.example/\n", b"B 10", b"", b"L 60 http://cut.example/")))]


def byte_at_a_time(rng):
    c = connected()
    for i in range(rng.randrange(12)):
        c.send(b"A http://cut.example/"[i:i + 1])
    return [c]


def flood(rng):
    """Questions without end whose answers nobody reads."""
    c = connected()
    c.setblocking(False)
    try:
        for _ in range(rng.choice((1, 8, 64))):
            c.send(b"C http://flood.example/\n" * 500)
    except OSError:
        pass
    return [c]


def sessions(n):
    """n of them, up to 100 at a time, while honest clients check each answer that they get."""
    server = Server("sessions")
    stop = threading.Event()
    asked, longest = [0, 0], [0, 0]

    def honest(i):
        client, k = Client(durable=i == 1), 0
        while not stop.is_set() or k == 0:
            began = time.monotonic()
            urls = ["http://honest.example/%d/%d" % (i, k * 50 + j) for j in range(50)]
            assert client.batch("A", urls) == "1" * 50
            assert client.batch("C", urls + [u + "x" for u in urls]) == "1" * 50 + "0" * 50
            assert client.ask("A " + urls[0]) == "0" and client.ask("C http://cut.example/") == "0"
            k += 1
            asked[i] = k
            longest[i] = max(longest[i], time.monotonic() - began)
            time.sleep(0.001)
        client.close()

    def strangers(seed):
        rng = random.Random(seed)
        open_ones, kinds = [], [garbage] * 10 + [half_open] * 10 + [byte_at_a_time] * 3 + [flood]
        for _ in range(n // 2):
            open_ones += rng.choice(kinds)(rng)
            if len(open_ones) > 50:
                open_ones.pop(rng.randrange(len(open_ones))).close()

    def wait_for_strangers(_):
        try:
            for pid in children:
                assert os.waitpid(pid, 0)[1] == 0
        finally:
            stop.set()
    client = Client()
    assert client.ask("D 1.1") == "late"  # opens the file of leases
    fds = server.descriptors()
    children = [fork(lambda i=i: strangers(SEED * 1000 + i)) for i in range(2)]
    in_threads(3, lambda i: (honest if i < 2 else wait_for_strangers)(i))
    eventually(lambda: server.descriptors() == fds)
    stats = json.loads(client.ask("S"))
    assert client.ask("C http://cut.example/") == "0"
    assert stats["new"] == 50 * sum(asked) and min(asked) > 0 and stats["leases"] == 0, (stats, asked)
    client.close()
    status, errors = server.end()
    assert status == -signal.SIGTERM and errors == "", (status, errors)
    assert count("sessions") == 50 * sum(asked)
    os.remove("sessions")
    print("%d sessions of garbage, halves, single bytes and floods: %d honest rounds, the longest %.0f ms" %
          (n, sum(asked), 1000 * max(longest)))


sessions(scaled(10000))
server = Server("slow")


def honest_stats():
    c = Client()
    stats = c.ask("S")
    c.close()
    return stats


# ---- Descriptors and memory ----------------------------------------------------------------------
eventually(lambda: json.loads(honest_stats())["clients"] == 1)
asker = Client()
fds = server.descriptors()
for i in range(scaled(10000)):
    connected().close()
assert asker.ask("C x") == "0"
honest_stats()  # it is taken in behind all of them
eventually(lambda: server.descriptors() == fds)
print("%d connects: no descriptor left" % scaled(10000))
before = server.memory()
idle = [Client() for _ in range(500)]
for c in idle:
    assert c.ask("C http://idle/") == "0"
grown = (server.memory() - before) / len(idle)
# A sanitizer keeps a shadow of all memory, and what was freed.
assert grown < 16 * 1024 or "UNSEEN_SANITIZED" in os.environ, grown
print("memory of an idle client: %d bytes" % grown)

# ---- A full house --------------------------------------------------------------------------------
server.end()
server = Server("slow", "--max-clients", "3")
three = [Client() for _ in range(3)]
for c in three[:2]:
    assert c.ask("C http://idle/") == "0"
third = Client()  # takes the place of the one that has never asked
assert three[2].file.readline() == b""
three[2] = third
assert third.ask("C http://idle/") == "0"
fourth = Client()
assert fourth.greeting == "E the server has as many clients as --max-clients allows"
for c in three:
    assert c.ask("C http://idle/") == "0"
stats = json.loads(three[0].ask("S"))
assert stats["clients"] == 3 and stats["questions"] == 6, stats
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
# --group: root may give the socket to any group, others to one of their own.
mine = os.stat(".").st_gid
others = [g.gr_name for g in grp.getgrall()
          if g.gr_gid != mine and (os.getuid() == 0 or g.gr_gid in os.getgroups())]
if others:
    server = Server("slow", "--mode", "660", "--group", others[-1])
    assert os.stat("sock").st_gid == grp.getgrnam(others[-1]).gr_gid
    assert os.stat("sock").st_mode & 0o777 == 0o660
    server.end()
else:
    print("skipped: --group, this user is in one group only")
refused = subprocess.run([TOOL, "serve", "slow", "--listen", "unix:sock", "--group", "nobody-has-it"],
                         stdin=subprocess.DEVNULL, capture_output=True)
assert refused.returncode == 2, refused
message = b"unseen: error: cannot listen on unix:sock: there is no group nobody-has-it\n"
assert refused.stderr.startswith(message), refused
assert not os.path.exists("sock")

# ---- Kills: of the server nothing is lost, of a client what it had asked for last ---------------
# A client is a process that notes what it asks for, asks, and notes what it was told is new.
URLS = ["http://kill/%d" % i for i in range(100000)]


def client_process(log, seed, durable):
    rng = random.Random(seed)
    client = None
    test = os.getppid()
    with open(log, "ab", buffering=0) as out:
        while os.getppid() == test:
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
    eventually(lambda: any(read_log(log)[0] for log in logs))  # a commit may take longer than all kills
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


kills(scaled(40), of_server=False)
kills(scaled(60), of_server=True)
kills(scaled(20), of_server=True, durable=True)

# ---- Answers that were not sent are as if they had not been given --------------------------------
server = Server("unsent")
gone = [Client() for _ in range(3)]
server.process.send_signal(signal.SIGSTOP)
gone[0].send("B 3 A\nhttp://unsent/1\nhttp://unsent/2\nhttp://unsent/3\n")
gone[1].send("A http://unsent/4\nA http://unsent/5\n")
gone[2].send("L 60 http://unsent/6\n")
for c in gone:
    c.close()
server.process.send_signal(signal.SIGCONT)
c = Client()
eventually(lambda: json.loads(c.ask("S"))["clients"] == 1)
assert c.batch("C", ["http://unsent/%d" % i for i in range(1, 6)]) == "00000"
server.end()

# A server that is killed between an answer and its commit, which would take ten minutes.
slow = subprocess.Popen(["strace", "-f", "-o", "/dev/null", "-P", os.path.abspath("unsent"), "-e", "trace=write,pwrite64",
                         "-e", "inject=write,pwrite64:delay_enter=600000000", TOOL, "serve", "unsent",
                         "--listen", "unix:slow-sock"], stderr=subprocess.PIPE)
if b"listening" in slow.stderr.readline():  # not where tracing is not allowed
    c = Client("unix:slow-sock")
    assert c.batch("A", ["http://unsent/1", "http://unsent/2"]) == "11"
    pids = open("/proc/%d/task/%d/children" % (slow.pid, slow.pid)).read().split()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    slow.kill()  # strace may wait for the end of the ten minutes
    slow.wait()
    server = Server("unsent")
    assert Client().batch("C", ["http://unsent/1", "http://unsent/2"]) == "00"
    server.end()
os.remove("unsent")

# ---- Leases --------------------------------------------------------------------------------------
def lease_of(answer):
    assert answer.startswith("1 "), answer
    return answer[2:]


def handed_out(client, request):
    n = int(client.ask(request))
    return [client.line().split(" ", 1) for _ in range(n)]


hold_time()
server = Server("leased")
c, d = Client(), Client()
token = lease_of(c.ask("L 60 http://lease/a"))
assert d.ask("L 60 HTTP://LEASE/a#x") == "leased"
assert d.ask("A http://lease/a") == "leased"
assert d.ask("C http://lease/a") == "not yet"
assert d.batch("A", ["http://lease/b", "http://lease/a", "http://lease/c"]) == "1L1"
assert d.batch("C", ["http://lease/b", "http://lease/a"]) == "1L"
assert d.ask("R http://lease/a") == "0"
assert d.ask("L 60 http://lease/b") == "0"
assert c.ask("N 50 " + token) == "OK"
assert c.ask("D " + token) == "OK"
assert c.ask("D " + token) == "late" and c.ask("G " + token) == "late"
assert d.ask("C http://lease/a") == "1" and d.ask("L 60 http://lease/a") == "0"
# Changes, leases and F in one piece hold up nobody; the lease is the last that is waited for.
c.send("A http://lease/one\nL 60 http://lease/two\nC http://lease/one\nA http://lease/three\nF\n")
answers = [c.line() for _ in range(5)]
assert answers[0] == "1" and answers[2:] == ["1", "1", "OK"], answers
assert c.ask("D " + lease_of(answers[1])) == "OK" and d.ask("F") == "OK"
c.send("D 0.0\nL 60 http://lease/four\nF\n")
answers = [c.line() for _ in range(3)]
assert answers[0] == "late" and answers[2] == "OK", answers
# Removed and leased again before the end of its first lease is noted.
token = lease_of(c.ask("L 60 http://lease/five"))
c.send("D %s\nR http://lease/five\nL 60 http://lease/five\n" % token)
assert [c.line()[:2] for _ in range(3)] == ["OK", "1", "1 "]
# Its time is over: others get it, and the late worker changes nothing.
late = lease_of(c.ask("L 1 http://lease/late"))
kept = lease_of(c.ask("L 60 http://lease/kept"))
pass_time(1)
assert d.ask("C http://lease/late") == "0"
again = handed_out(d, "X 10 60")
assert [u for _, u in again] == ["http://lease/late"], again
assert c.ask("D " + late) == "late" and d.ask("C http://lease/late") == "not yet"
assert d.ask("G " + again[0][0]) == "OK"
assert lease_of(d.ask("L 60 http://lease/late")) != again[0][0]
# Given back, and then added by somebody who does not work with leases.
back = lease_of(c.ask("L 60 http://lease/back"))
assert c.ask("G " + back) == "OK" and d.ask("A http://lease/back") == "1"
assert handed_out(d, "X 10 60") == []
for wrong in ("L", "L x http://a/", "L 0 http://a/", "L 604801 http://a/", "X 1", "X 0 1", "X 1 1 1",
              "X 1001 1", "N x " + kept, "N 5", "D ", "G "):
    assert c.ask(wrong).startswith("E "), wrong
for wrong in ("D 0.0", "D zz", "D " + "0" * 100, "G " + kept + "0", "D -1.-1", "N 5 ffffffff.1"):
    assert c.ask(wrong) == "late", wrong
# What was answered is on the disk: after a kill all leases are over, and none is lost.
assert c.ask("F") == "OK"
server.end(signal.SIGKILL)
server = Server("leased")
c = Client()
assert c.ask("D " + kept) == "late"
left = ["http://lease/five", "http://lease/four", "http://lease/kept", "http://lease/late"]
assert sorted(u for _, u in handed_out(c, "X 10 60")) == left
assert c.ask("C http://lease/b") in ("0", "1")
server.end()
# A torn end is cut off; another store's file is refused.
with open("leased.leases", "ab") as f:
    f.write(b"\x01\x02\x03")
server = Server("leased")
c = Client()
assert len(handed_out(c, "X 10 1")) == 4
# The log gets another id when it is written anew; the leases stay.
server.end()
subprocess.run([TOOL, "rewrite", "leased"], check=True)
server = Server("leased")
c = Client()
assert len(handed_out(c, "X 10 1")) == 4
server.end()
os.rename("leased.leases", "slow.leases")
server = Server("slow")
assert Client().ask("X 10 1").startswith("E the server cannot open the file of leases")
status, errors = server.end()
assert "slow.leases has the leases of another store" in errors, errors
os.remove("slow.leases")
server = subprocess.run([TOOL, "serve", "leased"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
assert server.returncode == 2 and "leased has leases, but " in server.stderr, server.stderr
subprocess.run([TOOL, "repair", "leased"], check=True)
server = Server("leased", "--filter", "compact")
c = Client()
for part in range(0, 30000, 1000):
    c.send("".join("L 60 http://lease/%d\n" % (part + i) for i in range(1000)))
    tokens = [lease_of(c.line()) for i in range(1000)]
    c.send("".join("D %s\n" % t for t in tokens))
    assert all(c.line() == "OK" for _ in tokens)
assert c.ask("F") == "OK" and json.loads(c.ask("S"))["leases"] == 0
eventually(lambda: os.path.getsize("leased.leases") < 1500000)  # written anew
server.end()
assert not os.path.exists("leased.leases")
let_time_go()


def lease_worker(log, seed):
    """Takes a URL, works, notes that it is done, and says so; or takes what others left."""
    rng = random.Random(seed)
    client = None
    test = os.getppid()
    with open(log, "ab", buffering=0) as out:
        while os.getppid() == test:
            try:
                client = client or Client()
                i = rng.randrange(len(LEASED))
                answer = client.ask("L 1 " + LEASED[i])
                work = [[answer[2:], LEASED[i]]] if answer[0] == "1" else []
                if rng.random() < 0.2:
                    work += handed_out(client, "X 5 1")
                for token, url in work:
                    out.write((url + "\n").encode())
                    client.ask("D " + token)
            except OSError:
                client = None
                time.sleep(0.01)


LEASED = ["http://work/%d" % i for i in range(2000)]


def lease_kills(n):
    server = Server("worked")
    logs, children = [], []

    def start():
        logs.append("work.%d" % len(logs))
        open(logs[-1], "wb").close()
        pid = os.fork()
        if pid == 0:
            try:
                lease_worker(logs[-1], SEED * 31 + len(logs))
            finally:
                os._exit(1)
        children.append(pid)
    for _ in range(4):
        start()
    for i in range(n):
        time.sleep(random.random() * 0.05)
        if i % 3 == 0:
            server.end(signal.SIGKILL)
            server = Server("worked")
        else:
            pid = children.pop(random.randrange(len(children)))
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            start()
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    # One worker does the rest. Whatever the others held comes back.
    client = Client()
    done = []
    until = time.time() + 300
    for url in LEASED:
        answer = client.ask("L 60 " + url)
        if answer[0] == "1":
            done.append(url)
            assert client.ask("D " + answer[2:]) == "OK"
    while json.loads(client.ask("S"))["leases"] > 0 and time.time() < until:
        for token, url in handed_out(client, "X 100 60"):
            done.append(url)
            assert client.ask("D " + token) == "OK"
        time.sleep(0.05)
    noted = done + [line.decode().rstrip("\n") for log in logs for line in open(log, "rb")]
    assert set(noted) == set(LEASED), len(set(LEASED) - set(noted))
    assert client.batch("C", LEASED) == "1" * len(LEASED)
    print("%d kills with leases: %d URLs, all done, %d twice" %
          (n, len(LEASED), len(noted) - len(LEASED)))
    client.close()
    server.end()
    for log in logs:
        os.remove(log)
    os.remove("worked")


lease_kills(scaled(30))

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
