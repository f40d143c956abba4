# examples/recrawl: the pages of a site that changes, fetched again after a window of seven days. The test has the clock,
# and kills the runs.
#
#     example_recrawl.py EXAMPLES
import collections, os, shutil, signal, subprocess, sys, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SEED, TOOL
from site_of_pages import Site, path_of
from test_clock import hold_time, pass_time

RECRAWL = sys.argv[1] + "/recrawl/recrawl.sh"
PAGES = 40
HOUR, DAY = 3600, 86400

# Stands in the PATH for unseen and for curl. Behind the call that the file `when` names, it kills the whole run.
INSTEAD = """#!/bin/bash
{tool} "$@"
status=$?
echo call >> {folder}/{name}.calls
[ "{name} $(wc -l < {folder}/{name}.calls)" != "$(cat {folder}/when)" ] || kill -9 0
exit $status
"""
FOLDER = os.path.abspath("bin")
os.mkdir(FOLDER)
for name, tool in ("unseen", TOOL), ("curl", shutil.which("curl")):
    with open(FOLDER + "/" + name, "w") as file:
        file.write(INSTEAD.format(name=name, tool=tool, folder=FOLDER))
    os.chmod(FOLDER + "/" + name, 0o755)


class Changing(Site):
    version = 0

    def page(self, i):
        return "version %d of %s" % (self.version, super().page(i))


site = Changing(PAGES, SEED, delay=0)
with open("pages.txt", "w") as file:
    file.writelines(site.url(i) + "\n" for i in range(PAGES))
    file.writelines(site.url(i).replace("http:", "HTTP:") + "#top\n" for i in range(PAGES))  # in another spelling


def start(kill_behind="nothing"):
    for name in "unseen", "curl":
        open(FOLDER + "/" + name + ".calls", "w").close()
    with open(FOLDER + "/when", "w") as file:
        file.write(kill_behind)
    with open("pages.txt") as pages:
        return subprocess.Popen([RECRAWL, "shop", "7d"], stdin=pages, stderr=subprocess.PIPE, start_new_session=True,
                                env=dict(os.environ, PATH=FOLDER + ":" + os.environ["PATH"]))


def fetched_since(n):
    return collections.Counter(path for path, *_ in site.fetches[n:])


def run(kill_behind="nothing"):
    """The pages that were fetched, once or more often."""
    nbefore = len(site.fetches)
    process = start(kill_behind)
    error = process.communicate(timeout=300)[1].decode()
    want = (0, "") if kill_behind == "nothing" else (-signal.SIGKILL, "")
    assert (process.returncode, error) == want, (process.returncode, error)
    return fetched_since(nbefore)


def run_killed_at_fetch(n):
    """The same; the run is killed while it waits for the answer behind n others."""
    nbefore = len(site.fetches)
    site.is_enough = lambda: len(site.fetches) >= nbefore + n
    process = start()
    while not (site.is_enough() and site.current):
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    fetched = fetched_since(nbefore)
    site.is_enough = lambda: False
    while site.current:  # nobody reads the answer
        time.sleep(0.001)
    return fetched


def versions():
    """How often each version was stored. The text of each page is what the site had."""
    with open("shop/queue.txt") as file:
        queue = file.read().splitlines()
    found = collections.Counter()
    for name in os.listdir("shop/pages"):
        with open("shop/pages/" + name) as file:
            version, text = file.read().split(" of ", 1)
        assert text == Site.page(site, int(path_of(queue[int(name) - 1]).rsplit("/", 1)[1])), name
        found[version] += 1
    return found


once = collections.Counter("/p/%d" % i for i in range(PAGES))
hold_time()
kills = [(lambda: run("unseen 1"), lambda: run_killed_at_fetch(11)),
         (lambda: run_killed_at_fetch(7), lambda: run_killed_at_fetch(20)),
         (lambda: run("curl 5"), lambda: run("curl 9")),  # curl has the page, and nobody has stored it
         (lambda: run_killed_at_fetch(1), lambda: run("unseen 1"))]
for week, (first, second) in enumerate(kills):
    site.version = week
    fetched = first()
    pass_time(HOUR)
    fetched += second()
    pass_time(HOUR)
    fetched += run()
    again = fetched - once
    assert set(fetched) == set(once) and sum(again.values()) == (2 if week == 2 else 0), (week, fetched)
    for _ in range(6):
        pass_time(DAY)
        assert not run(), week
    assert versions() == {"version %d" % i: PAGES for i in range(week + 1)}, versions()
    pass_time(DAY)

# A run that is killed, and started again when its pages are due once more, fetches each once.
site.version = 4
run_killed_at_fetch(15)
site.version = 5
pass_time(8 * DAY)
assert run() == once
assert (versions()["version 4"], versions()["version 5"]) == (15, PAGES), versions()

# A page without an answer holds up nobody, and the next run tries it again.
with open("pages.txt") as file:
    lines = file.read()
with open("pages.txt", "w") as file:
    file.write("http://127.0.0.1:1/\nhttp://127.0.0.1:%d/missing\n%s" % (site.port, lines))
pass_time(8 * DAY)
for want in once + collections.Counter(["/missing"]), collections.Counter():
    nbefore = len(site.fetches)
    process = start()
    error = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 0 and error.count("\n") == 1 and "127.0.0.1 port 1 " in error, (process.returncode, error)
    assert fetched_since(nbefore) == want

# What cannot be.
for arguments, status, want in ([], 2, "usage: recrawl.sh FOLDER WINDOW < PAGES\n"), (["new", "soon"], 2, "not a time from 1s"), (
        ["shop", "30d"], 2, "unseen rewrite --window 30d visited.unseen"):
    done = subprocess.run([RECRAWL, *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, PATH=FOLDER + ":" + os.environ["PATH"]))
    assert done.returncode == status and want in done.stderr, done
print("%d pages, %d fetches, %d kills" % (PAGES, len(site.fetches), 2 * len(kills) + 1))
