# examples/spiders: several spiders, in two languages, crawl one local site together, and are killed at
# random.
#
#     example_spiders.py EXAMPLES GO-SPIDER      "" without Go
import atexit, json, os, random, signal, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SCALE, SEED, Server
from site_of_pages import Site, path_of

EXAMPLES, GO = sys.argv[1:3]
PAGES = int(os.environ.get("UNSEEN_SITE_PAGES", 1000 * min(SCALE, 10)))
KILLS = int(os.environ.get("UNSEEN_SITE_KILLS", 10 * SCALE))
LEASE = 4
LONG = 600  # where nobody is killed: no machine is so slow
AT_ONCE = 10
random.seed(SEED)
os.environ["PYTHONPATH"] = os.path.join(EXAMPLES, "python")


class Spider:
    """A spider that keeps its file when it is started again."""

    def __init__(self, number, folder, site, lease):
        self.number, self.pages, self.lease = number, os.path.join(folder, "pages.%d" % number), lease
        self.first = site.url(0)
        self.start()

    def start(self):
        program = [GO] if GO and self.number % 2 else [sys.executable, EXAMPLES + "/spiders/spider.py"]
        self.process = subprocess.Popen(
            [*program, "-name" if GO in program else "--name", "spider-%d" % self.number,
             "-lease" if GO in program else "--lease", str(self.lease), "unix:sock", self.first, self.pages],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        atexit.register(self.process.kill)

    def kill(self):
        """False if it has ended before."""
        if self.process.poll() is not None:
            return False
        self.process.kill()
        self.process.communicate()
        return True

    def end(self):
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, out.decode(), err.decode()


def stop_one_at_work(site, spiders):
    """Stops a spider that waits for a page, so that it has leases."""
    while True:
        for who, begin in list(site.current):
            spider = spiders[int(who.split("-")[1])]
            spider.process.send_signal(signal.SIGSTOP)
            if (who, begin) in site.current:
                return spider
            spider.process.send_signal(signal.SIGCONT)
        time.sleep(0.001)


def crawl(name, nspiders, nkills, kill_server=False, stop_one=False):
    os.mkdir(name)
    site = Site(PAGES, SEED)
    server = Server(name + "/set")
    lease = LEASE if nkills else LONG
    spiders = [Spider(i, name, site, lease) for i in range(nspiders)]
    killed = nserver = 0
    stopped = None
    while killed < nkills:
        # Somewhere in the crawl: kills follow one another as its pages do.
        until = len(site.fetches) + random.randrange(1, 2 * PAGES // (nkills + 2))
        site.is_enough = lambda: len(site.fetches) >= until  # no crawl is too fast for the kill
        began = time.time()
        while len(site.fetches) < until and time.time() < began + 20:
            time.sleep(0.005)
        if stop_one and stopped is None:
            stopped = stop_one_at_work(site, spiders)
            stopped_at = time.time()
        elif kill_server and killed % 2:
            server.end(signal.SIGKILL)
            server = Server(name + "/set")
            nserver += 1
            killed += 1
        else:
            victim = random.choice([s for s in spiders if s is not stopped])
            # Two kills of the server during one request end a spider.
            assert victim.kill() or len(site.fetches) >= PAGES or kill_server, victim.end()
            victim.start()
            killed += 1
        site.is_enough = lambda: False
    if stopped:
        time.sleep(max(0, stopped_at + LEASE + 1 - time.time()))
        stopped.process.send_signal(signal.SIGCONT)
    ends = []
    for spider in spiders:
        status, out, err = spider.end()
        # Two kills of the server during one request end a spider.
        while status != 0 and kill_server:
            spider.start()
            status, out, err = spider.end()
        assert status == 0 and err == "", (status, err)
        ends.append(out)
        assert ", 0 of them late" not in out or spider is not stopped, out
    # A second crawl finds nothing to do, and ends.
    nfetches = len(site.fetches)
    again = Spider(nspiders, name, site, lease)
    status, out, err = again.end()
    assert (status, out, err) == (0, "spider-%d: 0 pages, 0 of them late\n" % nspiders, ""), (out, err)
    assert len(site.fetches) == nfetches
    site.server.shutdown()
    server.end()

    pages = {}
    for spider in spiders:
        for line in open(spider.pages):
            try:
                page = json.loads(line)
            except ValueError:
                continue  # a killed spider's
            # The spider that was stopped may have run into the time limit of a page.
            if page["status"] != 0 or spider is not stopped:
                pages[path_of(page["url"])] = page["status"]
    paths = {}
    for path, who, _, _ in site.fetches:
        paths[path] = paths.get(path, 0) + 1
    more = sum(n - 1 for n in paths.values())
    print("%s: %d pages by %d spiders, %d kills (%d of the server): %d fetched again, late: %s" %
          (name, len(paths), nspiders, killed, nserver, more, "; ".join(e.split(", ")[1].strip() for e in ends)))
    truth = {path: 404 if path == "/missing" else 200 for path in site.paths()}
    assert pages == truth, (len(truth.keys() - pages.keys()), list(pages.keys() - truth.keys())[:3])
    assert set(paths) == set(truth)
    is_late = any(", 0 of them late" not in out for spider, out in zip(spiders, ends) if spider is not stopped)
    if kill_server:
        assert more <= killed * AT_ONCE * nspiders, more
    elif is_late:
        assert nkills
        print("%s: the machine stood still for longer than a lease" % name)
    else:
        assert site.overlaps() == [], site.overlaps()[:3]
        assert more <= (killed + stop_one) * AT_ONCE, more


crawl("together", 4, 0)
crawl("killed", 4, KILLS, stop_one=True)
crawl("servers", 4, KILLS, kill_server=True)
