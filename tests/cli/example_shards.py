# examples/shards: 20 machines, each with a store, a server and a router; each URL belongs to one of them. One is
# killed and started again. What all routers wrote, and the union of the stores, are checked against the truth.
#
#     example_shards.py EXAMPLES
import atexit, os, random, signal, subprocess, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SCALE, SEED, TOOL, Server, count, port_to_keep

EXAMPLES = sys.argv[1]
MACHINES = 20
URLS = 40000 * SCALE  # and each machine finds a fifth of them
LEASE = 3
LONG = 3  # the machine that finds a URL that is too long for a server, too
is_killed = threading.Event()  # before that, no router gets its last 1,000 URLs, so that none has ended
random.seed(SEED)
os.environ["PYTHONPATH"] = os.path.join(EXAMPLES, "python")


class Machine:
    def __init__(self, number):
        self.number = number
        self.store = "machine.%d" % number
        self.found = sorted(random.sample(range(URLS), URLS // 5), key=lambda _: random.random())
        with open("found.%d" % number, "w") as f:
            if number == LONG:
                f.write("http://www.site-1.example/%s\n" % ("x" * (1 << 20)))
            for i in self.found:
                f.write(random.choice(("http://www.site-%d.example/page/%d\n", "HTTP://WWW.site-%d.example:80/x/../page/%d#end\n")) % (i % 97, i))
        self.address = "127.0.0.1:%d" % port_to_keep()
        self.serve()

    def serve(self):
        self.server = Server(self.store, "--token-file", "token", "--seed-file", "seed", address=self.address)
        self.address = self.server.address

    def route(self):
        out, into = os.pipe()
        self.router = subprocess.Popen(
            [sys.executable, EXAMPLES + "/shards/router.py", "--token-file", "token", "--lease", str(LEASE), "machines",
             "new.%d" % self.number], stdin=out, stderr=subprocess.PIPE)
        os.close(out)
        atexit.register(self.router.kill)
        threading.Thread(target=self.feed, args=(into,), daemon=True).start()

    def feed(self, into):
        with open("found.%d" % self.number) as f:
            lines = f.readlines()
        try:
            with open(into, "w") as pipe:
                pipe.writelines(lines[:-1000])
                pipe.flush()
                is_killed.wait()
                pipe.writelines(lines[-1000:])
        except BrokenPipeError:
            pass  # the router was killed

    def kill(self):
        self.router.kill()
        self.router.communicate()
        self.server.end(signal.SIGKILL)


def page_of(line):
    """The number of a whole line; None of a line that a killed router had begun."""
    end = line.rsplit("/", 1)[-1]
    return int(end) if end.isdigit() and line == "http://www.site-%d.example/page/%s" % (int(end) % 97, end) else None


with open("token", "w") as f:
    f.write("the token of these machines\n")
with open("seed", "w") as f:
    f.write("%032x" % random.getrandbits(128))
os.chmod("seed", 0o600)
machines = [Machine(i) for i in range(MACHINES)]
with open("machines", "w") as f:
    f.write("".join(m.address + "\n" for m in machines))
truth = set()
for m in machines:
    truth.update(m.found)
for m in machines:
    m.route()

victim = machines[7]
while not all(os.path.exists("new.%d" % m.number) for m in machines) or os.path.getsize("new.7") == 0:
    assert all(m.router.poll() is None for m in machines), "a router has ended before all its URLs were there"
    time.sleep(0.002)
victim.kill()
is_killed.set()
time.sleep(0.3)
victim.serve()
victim.route()
for m in machines:
    error = m.router.communicate(timeout=300)[1]
    if m.number == LONG:
        assert m.router.returncode == 1 and b"left out" in error, error
    else:
        assert m.router.returncode == 0 and error == b"", error
for m in machines:
    status, errors = m.server.end()
    assert status == -signal.SIGTERM and errors == "", (status, errors)

written = []
for m in machines:
    pages = [page_of(line) for line in open("new.%d" % m.number).read().split("\n")]
    written += [page for page in pages if page is not None]
assert set(written) == truth, (len(truth), len(set(written)))
repeats = len(written) - len(truth)
keys = [count(m.store) for m in machines]
assert sum(keys) == len(truth), (keys, len(truth))
assert max(keys) < 1.5 * len(truth) / MACHINES, keys
subprocess.run([TOOL, "merge", "all"] + [m.store for m in machines], check=True)
assert count("all") == len(truth)
with open("truth", "w") as f:
    f.write("".join("http://www.site-%d.example/page/%d\n" % (i % 97, i) for i in truth))
assert subprocess.run([TOOL, "check", "-v", "all", "truth"], stdout=subprocess.PIPE).stdout == b""
print("%d machines, %d URLs found, %d different: %d to %d in a machine, %d written twice" %
      (MACHINES, MACHINES * URLS // 5, len(truth), min(keys), max(keys), repeats))
# What the routers had leased of the dead machine, what it had not remembered, and the dead router's.
assert repeats <= 4000, repeats
