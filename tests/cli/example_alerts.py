# examples/alerts: two programs get alerts that repeat, and one server says which are let through. The test has the clock,
# and kills the server.
#
#     example_alerts.py EXAMPLES
import atexit, collections, os, random, signal, subprocess, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SCALE, SEED, Server, count, eventually
from test_clock import hold_time, pass_time

ALERTS = sys.argv[1] + "/alerts/alerts.py"
WINDOW = 600
STEP = 250  # an alert is repeated 250, 500 or 750 seconds later, which is far from the end of a window
ROUNDS = 20 * min(SCALE, 10)
random.seed(SEED)


class Program:
    def __init__(self, number):
        self.number, self.lines, self.nends = number, [], 0
        self.process = subprocess.Popen([sys.executable, ALERTS, "sock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.process.kill)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.decode())

    def send(self, names):
        """Events, and one that nobody else has: when it is let through, all are."""
        self.nends += 1
        self.last = "end-%d-%d\n" % (self.number, self.nends)
        events = "".join("%s\tsent to %d\n" % (name, self.number) for name in names) + self.last
        self.process.stdin.write(events.encode())
        self.process.stdin.flush()

    def is_done(self):
        assert self.process.poll() is None
        return self.last in self.lines

    def waits_for_lock(self):
        with open("/proc/locks") as file:
            return any(line.split()[1] == "->" and line.split()[5] == str(self.process.pid) for line in file)


def serve():
    return Server("alerts.unseen", "-p", "none", "--window", "10m")


hold_time()
server = serve()
programs = [Program(0), Program(1)]
let_through = {}  # when each was, last
now = nkills = nevents = nwaits = 0
for i in range(ROUNDS):
    names = ["disk-full on host-%d" % random.randrange(150) for _ in range(40)]
    want = {name for name in names if now - let_through.get(name, -WINDOW) >= WINDOW}
    nbefore = [len(program.lines) for program in programs]

    def passed():
        return sum(len(program.lines) - n for program, n in zip(programs, nbefore))

    for program in programs:
        events = names * 2
        random.shuffle(events)
        nevents += len(events)
        program.send(events)
    at = random.randrange(max(1, len(want)))
    if i % 2:
        # Killed in the middle of it. One program may be stopped just then, and not know.
        while passed() <= at:
            time.sleep(0.0005)
        stopped, other = random.sample(programs, 2) if i % 4 == 1 else (None, None)
        if stopped:
            stopped.process.send_signal(signal.SIGSTOP)
        server.end(signal.SIGKILL)
        nkills += 1
        server = serve()
        if stopped:
            eventually(lambda: other.waits_for_lock() or other.is_done())
            nwaits += other.waits_for_lock()
            stopped.process.send_signal(signal.SIGCONT)
    eventually(lambda: all(program.is_done() for program in programs))
    lines = [line for program, n in zip(programs, nbefore) for line in program.lines[n:] if not line.startswith("end-")]
    found = collections.Counter(line.split("\t")[0] for line in lines)
    assert found == collections.Counter(want), (i, found - collections.Counter(want), collections.Counter(want) - found)
    let_through.update(dict.fromkeys(want, now))
    pass_time(STEP)
    now += STEP

for program in programs:
    program.process.stdin.close()
    assert program.process.wait() == 0
pass_time(WINDOW)
assert server.end()[0] == -signal.SIGTERM
assert count("alerts.unseen") == 0
assert nwaits > 0
print("%d events, %d names, %d kills of the server, one waited for the other %d times" % (nevents, len(let_through), nkills, nwaits))

done = subprocess.run([sys.executable, ALERTS], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
assert (done.returncode, done.stderr) == (1, "usage: alerts.py SOCKET < EVENTS\n"), done
