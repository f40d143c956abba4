# examples/crawler: a crawler in two languages crawls a local site, is killed, and is started again.
#
#     example_crawler.py EXAMPLES GO-CRAWLER      "" without Go
import atexit, collections, http.server, json, os, random, re, subprocess, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from serving import SCALE, SEED, TOOL
from site_of_pages import Site, path_of

EXAMPLES, GO = sys.argv[1:3]
PAGES = 1000 * min(SCALE, 10)
AT_ONCE = 100
PYTHON = [sys.executable, EXAMPLES + "/crawler/crawler.py"]
PROGRAMS = {"python": [PYTHON], "go": [[GO]], "by turns": [PYTHON, [GO]]} if GO else {"python": [PYTHON]}
random.seed(SEED)

# Stands in the PATH for the tool. In the run that the file `when` names, it kills the crawler that called it:
# instead of the tool, behind it, or while the tool goes on without the crawler; or it kills the tool.
INSTEAD = """#!/bin/bash
echo run >> "{folder}/runs"
read -r number what < "{folder}/when"
[ "$(wc -l < "{folder}/runs")" = "$number" ] || exec "{tool}" "$@"
rm "{folder}/when" && echo "0 none" > "{folder}/when"
case $what in
before) kill -9 $PPID ;;
beside) kill -9 $PPID; exec "{tool}" "$@" ;;
behind) "{tool}" "$@"; kill -9 $PPID ;;
tool) timeout -s KILL 0.00$((RANDOM % 10)) "{tool}" "$@"; exit 2 ;;
esac
"""


class Crawl:
    def __init__(self, name, programs):
        self.programs, self.nstarts = programs, 0
        self.site = Site(PAGES, SEED, delay=0)
        self.folder = os.path.abspath(name)
        self.bin = self.folder + ".bin"
        os.mkdir(self.bin)
        self.kill_in_run(0, "none")
        with open(self.bin + "/unseen", "w") as file:
            file.write(INSTEAD.format(folder=self.bin, tool=TOOL))
        os.chmod(self.bin + "/unseen", 0o755)

    def kill_in_run(self, number, what):
        with open(self.bin + "/when", "w") as file:
            file.write("%d %s\n" % (number, what))

    def nruns(self):
        return len(open(self.bin + "/runs").readlines()) if os.path.exists(self.bin + "/runs") else 0

    def start(self):
        program = self.programs[self.nstarts % len(self.programs)]
        self.nstarts += 1
        process = subprocess.Popen([*program, self.folder, self.site.url(0)], stderr=subprocess.PIPE,
                                   env=dict(os.environ, PATH=self.bin + ":" + os.environ["PATH"]))
        atexit.register(process.kill)
        return process

    def run(self):
        process = self.start()
        err = process.communicate(timeout=600)[1].decode()
        return process.returncode, err

    def pages(self):
        with open(self.folder + "/pages.jsonl") as file:
            return [json.loads(line) for line in file]

    def check(self, nkills):
        """Each page was stored once, and none was fetched again but those that were under way at a kill."""
        status, err = self.run()
        assert (status, err) == (0, ""), (status, err)
        nfetches = len(self.site.fetches)
        status, err = self.run()
        assert (status, err, len(self.site.fetches)) == (0, "", nfetches), (status, err)  # a second crawl
        truth = {path: 404 if path == "/missing" else 200 for path in self.site.paths()}
        pages = self.pages()
        stored = collections.Counter(path_of(page["url"]) for page in pages)
        assert stored == collections.Counter(truth.keys()), (stored - collections.Counter(truth.keys()),
                                                             collections.Counter(truth.keys()) - stored)
        assert {path_of(page["url"]): page["status"] for page in pages} == truth
        for page in pages:
            assert page["status"] != 200 or page["text"] == self.site.page(int(page["url"].split("#")[0].rsplit("/", 1)[1]))
        frontier = open(self.folder + "/frontier.txt").read().split("\n")
        assert frontier.pop() == "" and len(frontier) == len(pages), (len(frontier), len(pages))
        assert [page["url"] for page in pages] == [line.strip() for line in frontier]
        assert nfetches - len(pages) <= nkills * AT_ONCE, (nfetches, len(pages))
        return nfetches - len(pages)


def undisturbed(name, programs):
    crawl = Crawl(name, programs)
    assert crawl.check(0) == 0
    print("%s: %d pages, each fetched once, %d runs of the tool" % (name, len(crawl.pages()), crawl.nruns()))
    crawl.site.server.shutdown()


def killed(name, programs):
    """Twice at random, then at each place where the state is half way; a line is torn, too."""
    crawl = Crawl(name, programs)
    for i in range(2):
        until = len(crawl.site.fetches) + random.randrange(20, PAGES // 8)
        crawl.site.is_enough = lambda: len(crawl.site.fetches) >= until  # no crawler is too fast for the kill
        process = crawl.start()
        while not crawl.site.is_enough() and process.poll() is None:
            time.sleep(0.001)
        process.kill()
        assert process.wait() == -9, process.communicate()
        crawl.site.is_enough = lambda: False
    with open(crawl.folder + "/pages.jsonl", "ab") as file:
        file.write(b'{"url": "http://torn.invalid/')
    for what, number in zip(("before", "beside", "behind", "tool"), random.sample((1, 2, 2, 3), 4)):
        # The first run is that of the first URL, each of the next has 100 pages: in all, there are enough of them.
        crawl.kill_in_run(crawl.nruns() + number, what)
        status, err = crawl.run()
        assert status in (-9, 1), (what, status, err)
    # The position is of the last but one save, as after a power cut.
    nkills = 6
    position = json.load(open(crawl.folder + "/position"))
    old = dict(position)
    crawl.kill_in_run(crawl.nruns() + 3, "before")
    crawl.run()
    json.dump(old, open(crawl.folder + "/position", "w"))
    nagain = crawl.check(nkills + 1)
    print("%s: %d pages, %d kills, %d fetched again" % (name, len(crawl.pages()), nkills + 1, nagain))
    crawl.site.server.shutdown()


def refused(name, program):
    """A second crawler in the folder, and a folder without the tool."""
    crawl = Crawl(name, [program])
    crawl.site.is_enough = lambda: len(crawl.site.fetches) >= 20  # the first does not end by itself
    first = crawl.start()
    while not crawl.site.is_enough():
        assert first.poll() is None, first.communicate()
        time.sleep(0.01)
    status, err = crawl.run()
    assert status == 1 and "another crawler" in err, (status, err)
    assert first.poll() is None
    first.kill()
    first.wait()
    crawl.site.is_enough = lambda: False
    os.remove(crawl.bin + "/unseen")
    os.mkdir(name + ".empty")
    done = subprocess.run([*program, name + ".none", crawl.site.url(0)], capture_output=True, text=True,
                          env=dict(os.environ, PATH=name + ".empty"))
    assert done.returncode == 1 and re.search("unseen must be in the PATH", done.stderr), done
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode != 0 and done.stderr.startswith("usage: "), done
    crawl.site.server.shutdown()


class Trap(http.server.BaseHTTPRequestHandler):
    """Pages that drip, that never end, and that break off."""

    def do_GET(self):
        self.send_response(200)
        if self.path == "/short":
            self.send_header("Content-Length", "100")
        self.end_headers()
        try:
            self.wfile.write(b'<a href="/drip">1</a> <a href="/endless">2</a> <a href="/short">3</a>')
            while self.path in ("/drip", "/endless"):
                self.wfile.write(b"x" if self.path == "/drip" else b"x" * 65536)
                time.sleep(0.2 if self.path == "/drip" else 0)
        except OSError:
            pass  # the crawler has enough

    def log_message(self, *_):
        pass


def trapped(name, program):
    """Such pages end no crawl, and have the status 0."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    subprocess.run([*program, name, "http://127.0.0.1:%d/" % server.server_port], check=True, timeout=120,
                   env=dict(os.environ, PATH=os.path.dirname(TOOL) + ":" + os.environ["PATH"]))
    with open(name + "/pages.jsonl") as file:
        pages = {path_of(page["url"]): page["status"] for page in map(json.loads, file)}
    assert pages == {"/": 200, "/drip": 0, "/endless": 0, "/short": 0}, pages
    server.shutdown()


for language, programs in PROGRAMS.items():
    if language != "by turns":
        undisturbed(language, programs)
        refused(language + " refused", programs[0])
        trapped(language + " trapped", programs[0])
    killed(language + " killed", programs)
