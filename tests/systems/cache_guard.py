# examples/cache-guard, row by row: P1 to P9 are scenarios of an attack on a cache, or of a day like any other. Each
# counts the statements that PostgreSQL has executed (pg_stat_statements), with a guard and without.
#
#     cache_guard.py test | measure FILE.json      PROGRAM, MODULE, TOOL, SERVER: paths
import atexit, contextlib, json, math, os, pathlib, signal, socket, subprocess, sys, threading, time, urllib.error, urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli" / "lib"))
import psycopg2
from postgres import Postgres

os.environ.setdefault("UNSEEN", os.environ["TOOL"])
from serving import port_to_keep

PROGRAM, MODULE, TOOL, SERVER = (os.environ[name] for name in ("PROGRAM", "MODULE", "TOOL", "SERVER"))
SCALE = float(os.environ.get("CACHE_GUARD_SCALE", "1"))
ROWS = int(20000 * SCALE)
ABSENT = int(100000 * SCALE)  # requests for absent keys
NSERVICES = 3
FILTER = "{article}filter"
ncheck = 0


def check(condition, *what):
    global ncheck
    ncheck += 1
    assert condition, what


def eventually(condition):
    until = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < until, "waited five minutes in vain"
        time.sleep(0.02)


# ---- the parts ----


class Process:
    def __init__(self, *command, **more):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, **more)
        atexit.register(self.end)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Redis:
    def __init__(self, *options):
        self.options = options
        self.port = port_to_keep()
        while not self.start():  # somebody else has the port now
            self.port = port_to_keep()

    def start(self):
        """Returns False if the server ends at once."""
        command = [SERVER, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--maxmemory-policy", "volatile-lru"]
        self.process = Process(*command, *self.options)
        eventually(lambda: self.answers() or self.process.process.poll() is not None)
        return self.process.process.poll() is None

    def answers(self):
        try:
            return "process_id:%d" % self.process.process.pid in self("INFO", "server").split()
        except (OSError, IndexError):
            return False

    def __call__(self, *command):
        with socket.create_connection(("127.0.0.1", self.port), 20) as s:
            words = [str(word).encode() for word in command]
            s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
            with s.makefile("rb") as answer:
                return self.read(answer)

    def read(self, answer):
        line = answer.readline().decode().rstrip("\r\n")
        if line[0] == "*":
            return [self.read(answer) for _ in range(int(line[1:]))]
        if line[0] == "$":
            return None if line == "$-1" else answer.read(int(line[1:]) + 2)[:-2].decode()
        assert line[0] != "-", line
        return int(line[1:]) if line[0] == ":" else line[1:]

    def calls(self, *names):
        """How often clients have sent these commands."""
        calls = 0
        for line in self("INFO", "commandstats").splitlines():
            if line.lower().split(":")[0] in ["cmdstat_" + name for name in names]:
                calls += int(line.split("calls=")[1].split(",")[0])
        return calls


class Service(Process):
    def __init__(self, kind, redis, *options):
        self.log = open("service.log", "ab")
        super().__init__(PROGRAM, "-guard", kind, "-redis", "127.0.0.1:%d" % redis.port, "-listen", "127.0.0.1:0", *options,
                         "serve", postgres.address, stderr=self.log)
        self.url = self.process.stdout.readline().decode().split()[1]

    def ask(self, id, method="GET", body=None):
        request = urllib.request.Request(self.url + "articles/%d" % id, body and body.encode(), method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, None

    def stats(self):
        with urllib.request.urlopen(self.url + "stats") as answer:
            return json.load(answer)


# No lease of a loader, no wait for it and no value ends while a test counts, on a machine of any speed.
PATIENT = "-lease", "1h", "-wait", "1h", "-ttl", "100h", "-timeout", "5m"

postgres = Postgres("-c", "shared_preload_libraries=pg_stat_statements", "-c", "synchronous_commit=off", "-c",
                    "max_connections=200")
database = psycopg2.connect(postgres.address)
database.autocommit = True
cursor = database.cursor()
cursor.execute("CREATE EXTENSION pg_stat_statements")
cursor.execute("CREATE TABLE articles (id bigint PRIMARY KEY, body text NOT NULL)")


def statements():
    """How many questions for an article the database has answered."""
    cursor.execute("SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE query LIKE 'SELECT body FROM pg_sleep%'")
    return int(cursor.fetchone()[0])


@contextlib.contextmanager
def slow_database(nwaiting):
    """The database answers no question for an article before so many wait for it."""
    with contextlib.closing(psycopg2.connect(postgres.address)) as other:
        other.cursor().execute("LOCK TABLE articles IN ACCESS EXCLUSIVE MODE")
        yield
        eventually(lambda: ndoing("wait_event_type = 'Lock'") >= nwaiting)


def ndoing(what):
    cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND " + what)
    return cursor.fetchone()[0]


def make_rows():
    cursor.execute("TRUNCATE articles")
    cursor.execute("INSERT INTO articles SELECT id, 'text of ' || id FROM generate_series(1, %d) id" % ROWS)


def load(services, *options):
    command = [PROGRAM, "-rows", str(ROWS), *[str(o) for o in options], "load", *[s.url for s in services]]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    result = json.loads(lines[-1])
    check(result["wrong"] == 0 and result["failed"] == 0, result)
    return result


def shell(command):
    done = subprocess.run(["bash", "-o", "pipefail", "-ec", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout.decode()


# ---- the systems ----


class System:
    """A cache, services and, with a guard, a filter."""

    def __init__(self, kind):
        self.kind = kind
        self.redis = Redis(*(["--loadmodule", MODULE] if kind == "module" else []))
        self.filter = FILTER
        self.server = None
        if kind == "plain":
            self.filter = "unix:" + os.path.abspath("filter.sock")
        make_rows()
        self.fill()
        self.services = []
        self.start()

    def fill(self):
        """P1: one command fills the filter from the database."""
        psql = "psql -qAt '%s' -c " % postgres.address
        if self.kind == "module":
            self.redis("UNSEEN.RESERVE", FILTER, "PROFILE", "none", "FPR", "0.0001")
            shell(psql + "\"SELECT 'UNSEEN.ADD %s ' || string_agg('{article}' || id, ' ') FROM articles GROUP BY id / 500\" |"
                  "redis-cli -p %d >/dev/null" % (FILTER, self.redis.port))
            info = self.redis("UNSEEN.INFO", FILTER)
            check(info[info.index("urls") + 1] == ROWS, info)
        elif self.kind == "plain":
            shell("rm -f filter.unseen*; " + psql + "\"SELECT '{article}' || id FROM articles\" |"
                  "%s add -p none --fpr 0.0001 filter.unseen" % TOOL)
            check(json.loads(shell(TOOL + " info --json filter.unseen"))["keys"] == ROWS)
            self.server = Process(TOOL, "serve", "filter.unseen", "--listen", "unix:filter.sock", stderr=subprocess.DEVNULL)
            eventually(lambda: os.path.exists("filter.sock"))

    def start(self, *options, n=NSERVICES):
        for service in self.services:
            service.end()
        self.services = []
        self.start_more(*options, n=n)

    def start_more(self, *options, n):
        self.services += [Service(self.kind, self.redis, "-filter", self.filter, *PATIENT, *options) for _ in range(n)]

    def end(self):
        for service in self.services:
            service.end()
        if self.server:
            self.server.end()
        self.redis.process.end()

    @property
    def has_guard(self):
        return self.kind != "none"

    def nkeys(self):
        """Entries of the cache."""
        return self.redis("DBSIZE") - (self.kind == "module")

    def clear(self):
        """Empties the cache, without its filter."""
        keys = [key for key in self.redis("KEYS", "*") if key != FILTER]
        for start in range(0, len(keys), 1000):
            self.redis("DEL", *keys[start:start + 1000])


def likely(mean):
    """Six sigma: one run in 10^6 has more of what happens so often."""
    return mean + 6 * math.sqrt(mean)


def p2_absent(system):
    n = ABSENT if system.has_guard else ABSENT // 10  # without a guard each is a statement
    before, asked = statements(), system.redis.calls("get", "set")
    result = load(system.services, "-pattern", "absent", "-requests", n, "-first", 1)
    seen, gets = statements() - before, system.redis.calls("get", "set") - asked
    check(result["absent"] == n, result)
    bound = likely(1e-4 * n)
    if system.has_guard:
        check(seen <= bound, seen, bound)
        check(gets <= 4 * bound, gets, bound)  # plain: GET twice and SET for each false positive
    else:
        check(seen == n and gets >= n, seen, gets)
    check(system.nkeys() == 0)  # P5
    return "%d absent keys: %d statements, %d GETs" % (n, seen, gets)


def p3_present(system):
    n = int(30000 * SCALE)
    before = statements()
    result = load(system.services, "-pattern", "present", "-requests", n)
    seen = statements() - before
    check(result["found"] == n, result)
    check(seen == result["distinct"] if system.has_guard else seen >= result["distinct"], seen, result)
    check(system.nkeys() == result["distinct"])  # P5
    return "%d requests for %d present keys, cold: %d statements" % (n, result["distinct"], seen)


def p4_one_hot_key(system):
    out = []
    for n in 1, NSERVICES:
        system.start(n=n)
        system.clear()
        before = statements()
        results = []
        crowd = threading.Thread(target=lambda: results.append(
            load(system.services, "-pattern", "one", "-requests", 100, "-clients", 100)))
        with slow_database(1 if system.has_guard else 20):
            crowd.start()
        crowd.join()
        result, = results
        seen = statements() - before
        check(seen == 1 if system.has_guard else seen >= 20, seen)
        out.append("100 clients of %d processes for one key: %d statements, the longest took %.0f ms" % (n, seen, result["max_ms"]))
    return "; ".join(out)


def p4_loader_killed(system):
    """The process that loads is killed: another one loads when the lease has ended."""
    system.start("-lease", "2500ms", n=1)
    system.start_more(n=NSERVICES - 1)
    system.clear()
    before = statements()
    victim, *others = system.services
    waiting = threading.Thread(target=quietly, args=(victim,))
    results = []
    crowd = threading.Thread(target=lambda: results.append(load(others, "-pattern", "one", "-requests", 50, "-clients", 50)))
    with slow_database(1):
        waiting.start()
        eventually(lambda: victim.stats()["loads"] == 1)
        crowd.start()
        victim.process.send_signal(signal.SIGKILL)
        waiting.join()
    crowd.join()
    check(results and results[0]["found"] == 50, results)
    loads = sum(service.stats()["loads"] for service in others)
    seen = statements() - before
    if system.has_guard:
        check(loads == 1, loads)
        check(seen <= 2, seen)
    return "a loader killed by SIGKILL, 50 clients wait: %d loads by the others" % loads


def quietly(service):
    try:
        service.ask(1)
    except OSError:
        pass


def p6_changes(system):
    """A row is inserted, changed and deleted, and asked for at once, of every process."""
    system.start()
    system.clear()
    a, b, c = system.services
    for i in range(100):
        id = ROWS + 10 ** 6 + i
        check(a.ask(id)[0] == 404)
        check(b.ask(id, "PUT", "text of %d" % id)[0] == 200)
        check(c.ask(id) == (200, "text of %d" % id), id)
        check(a.ask(id, "PUT", "new text")[0] == 200)
        check(b.ask(id) == (200, "new text"), id)
        check(c.ask(id, "DELETE")[0] == 200)
        before = statements()
        check(a.ask(id)[0] == 404)
        check(not system.has_guard or statements() == before)
    # A row is inserted while it is deleted: whatever comes last, the filter knows a row that is there.
    for id in range(ROWS + 10 ** 8, ROWS + 10 ** 8 + 200):  # no flood asks for these
        a.ask(id, "PUT", "first")
        delete = threading.Thread(target=a.ask, args=(id, "DELETE"))
        delete.start()
        b.ask(id, "PUT", "second")
        delete.join()
        cursor.execute("SELECT count(*) FROM articles WHERE id = %s", (id,))
        check((c.ask(id)[0] == 200) == (cursor.fetchone()[0] == 1), id)
    # A change during a slow load: the loader brings the old row, which must not stay.
    system.start("-load-time", "1s")
    a, b, c = system.services
    slow = threading.Thread(target=lambda: a.ask(7))
    slow.start()
    eventually(lambda: ndoing("wait_event = 'PgSleep'") == 1)  # the statement has its snapshot
    b.ask(7, "PUT", "changed")
    slow.join()
    stays = c.ask(7)[1]
    check(stays == "changed" if system.has_guard else True, stays)
    b.ask(7, "PUT", "text of 7")
    return "rows inserted, changed and deleted 100 times; after a change during a load: " + stays


def p7_redis_down(system):
    system.start()
    system.redis.process.end()
    before = statements()
    for service in system.services:
        check(service.ask(5) == (200, "text of 5"))
        check(service.ask(ROWS + 5)[0] == 404)
    seen = statements() - before
    # The filter of the plain recipe is another server, and still answers.
    check(seen == NSERVICES * (1 if system.kind == "plain" else 2), seen)
    if system.has_guard:
        check(all(service.stats()["open"] >= 1 for service in system.services))
        check("the database is asked" in open("service.log").read())
    system.redis.start()  # empty: without its filter
    check(system.services[0].ask(5) == (200, "text of 5"))
    before = statements()
    check(system.services[1].ask(5) == (200, "text of 5"))
    check(statements() == before)
    if system.kind == "module":
        said = system.services[0].stats()["open"]
        check(system.services[0].ask(ROWS + 5)[0] == 404)
        check(system.services[0].stats()["open"] == said + 1)
    return "Redis down, and back without its filter: every answer right, %d statements for %d questions" % (seen, 2 * NSERVICES)


def p8_flood(system):
    """Normal load beside a flood of absent keys: the guard lets none of the flood to the database."""
    system.start("-load-time", "1ms")
    load(system.services, "-pattern", "present", "-requests", int(10000 * SCALE))
    quiet = load(system.services, "-pattern", "present", "-requests", int(5000 * SCALE), "-clients", 10, "-rows", ROWS)
    flood = []
    n = int(30000 * SCALE) if system.has_guard else int(6000 * SCALE)
    thread = threading.Thread(target=lambda: flood.append(load(system.services, "-pattern", "absent", "-requests", n, "-first", 10 ** 7)))
    before, nkeys = statements(), system.nkeys()
    thread.start()
    busy = load(system.services, "-pattern", "present", "-requests", int(5000 * SCALE), "-clients", 10)
    thread.join()
    check(len(flood) == 1)  # a check that fails in a thread ends only the thread
    seen = statements() - before
    if system.has_guard:
        # The normal load's own loads are of keys that it had not asked for before: the cache has them now.
        nloaded = system.nkeys() - nkeys
        check(0 <= seen - nloaded <= likely(1e-4 * n), seen, nloaded)
    else:
        check(seen >= n, seen)
    return ("normal load beside %d absent keys: %d statements, median %.1f ms (alone %.1f), p99 %.1f ms (%.1f)"
            % (n, seen, busy["p50_ms"], quiet["p50_ms"], busy["p99_ms"], quiet["p99_ms"]))


def p9_false_positives(system):
    """A filter with a rate of 1 %: each false positive costs one statement, and the answer is right."""
    n = 5000
    if system.kind != "module":
        return None
    loose = "{article}loose"
    system.redis("BF.RESERVE", loose, "0.01", "1000")
    system.redis("BF.MADD", loose, *["{article}%d" % id for id in range(1, 1001)])
    absent = ["{article}%d" % (ROWS + 2 * 10 ** 6 + i) for i in range(1, n + 1)]
    npositive = sum(system.redis("BF.MEXISTS", loose, *absent))
    system.filter = loose
    system.start()
    before, nkeys = statements(), system.nkeys()
    load(system.services, "-pattern", "absent", "-requests", n, "-first", 2 * 10 ** 6)
    seen = statements() - before
    system.filter = FILTER
    check(npositive > 0 and seen == npositive, seen, npositive)
    check(system.nkeys() == nkeys)
    return "%d absent keys, %d false positives: %d statements" % (n, npositive, seen)


ROWS_OF_THE_TABLE = [
    ("P2 P5", p2_absent), ("P3 P5", p3_present), ("P4", p4_one_hot_key), ("P4", p4_loader_killed), ("P6", p6_changes),
    ("P8", p8_flood), ("P9", p9_false_positives), ("P7", p7_redis_down),
]


def test():
    kinds = "module", "plain", "none"
    print("P1   %d rows" % ROWS)
    for kind in kinds:
        start = time.monotonic()
        system = System(kind)
        for row, run in ROWS_OF_THE_TABLE:
            said = run(system)
            if said:
                print("%-6s %-6s %s" % (row, kind, said), flush=True)
        system.end()
        print("       %-6s %.0f s" % (kind, time.monotonic() - start), flush=True)
    with open("checks", "w") as f:
        f.write(str(ncheck))


# ---- the picture ----

FLOOD = 3, 9  # seconds
END = 12


class Load(Process):
    """A load that runs until it is ended."""

    def __init__(self, system, *options):
        super().__init__(PROGRAM, "-rows", str(ROWS), "-requests", "1000000000", *options, "load",
                         *[s.url for s in system.services])


def measure_one(kind):
    """Normal load, and for some seconds a flood of absent keys beside it."""
    system = System(kind)
    system.start("-load-time", "10ms", "-ttl", "3s")
    load(system.services, "-pattern", "present", "-requests", ROWS)
    normal = Load(system, "-pattern", "present", "-clients", "20", "-every", "20ms")
    flood = None
    start, counts = time.monotonic(), [(0.0, statements())]
    while counts[-1][0] < END:
        time.sleep(0.2)
        now = time.monotonic() - start
        counts.append((now, statements()))
        if flood is None and now >= FLOOD[0]:
            flood = Load(system, "-pattern", "absent", "-clients", "60")
        if flood and now >= FLOOD[1]:
            flood.end()
    normal.end()
    system.end()
    return {"statements": [[round(b, 2), round((y - x) / (b - a))] for (a, x), (b, y) in zip(counts, counts[1:])]}


def measure(path):
    result = {"flood": FLOOD, "end": END, "runs": {kind: measure_one(kind) for kind in ("none", "module")}}
    with open(path, "w") as f:
        json.dump(result, f)
        f.write("\n")


if __name__ == "__main__":
    measure(sys.argv[2]) if sys.argv[1] == "measure" else test()
