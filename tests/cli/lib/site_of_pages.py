# A web site of N pages on a free port of 127.0.0.1. It notes who fetched which page when.
#
# All pages can be reached from the first. Each has eight links or more: loops, other spellings of one
# URL, a page that is not there and another site. Some pages end in what stops crawlers: a link that is too
# long for anything, a number that Python does not read, and a mark that its HTML parser does not know.
import http.server, posixpath, random, threading, time, urllib.parse


def path_of(url):
    return posixpath.normpath(urllib.parse.urlsplit(url).path)


class Site:
    def __init__(self, npages, seed=1, delay=0.002):
        self.npages, self.seed, self.delay = npages, seed, delay
        self.fetches = []  # (page, who, begin, end)
        self.current = []  # (who, begin)
        self.is_enough = lambda: False  # nothing is answered while this is true
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                site.answer(self)

            def log_message(self, *_):
                pass

        class Threads(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass  # a spider that was killed

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def url(self, page):
        return "http://127.0.0.1:%d/p/%d" % (self.port, page)

    def paths(self):
        """All that a crawl has to find: each page, and the link to a page that is not there."""
        return {"/p/%d" % i for i in range(self.npages)} | {"/missing"}

    def page(self, i):
        rng = random.Random(self.seed * 1000003 + i)
        spellings = ("/p/%d", "%d", "./%d", "../p/%d", "/p/%d#part", "HTTP://127.0.0.1:" + str(self.port) + "/a/../p/%d",
                     "/p/x/../%d")
        to = [2 * i + 1, 2 * i + 2] + [rng.randrange(self.npages) for _ in range(5)]
        links = [rng.choice(spellings) % t for t in to if t < self.npages]
        links += ["/missing", "http://elsewhere.invalid/", "mailto:a@b.invalid"]
        traps = {7: '<a href="/%s">' % ("x" * (1 << 20)), 8: "&#%s;<p>" % ("1" * 5000), 9: "<![odd[ ]]>"}
        return "<html><title>Page %d</title>%s</html>" % (
            i, "".join('<p><a href="%s">a link</a>' % link for link in links) + traps.get(i % 100, ""))

    def feed(self):
        """A feed of all pages, some of them twice, in several spellings."""
        rng = random.Random(self.seed)
        pages = list(range(self.npages)) + [rng.randrange(self.npages) for _ in range(self.npages // 10)]
        rng.shuffle(pages)
        spellings = ("http://127.0.0.1:%d/p/%d", "HTTP://127.0.0.1:%d/a/../p/%d#x", " http://127.0.0.1:%d/./p/%d ")
        links = [rng.choice(spellings) % (self.port, page) for page in pages]
        return "<rss><channel>%s</channel></rss>" % "".join("<item><link>%s</link></item>" % link for link in links)

    def answer(self, request):
        begin, who = time.monotonic(), request.headers.get("User-Agent")
        self.current.append((who, begin))
        time.sleep(self.delay)
        while self.is_enough():
            time.sleep(0.005)
        path = path_of(request.path)
        name = path.rsplit("/", 1)[1]
        found = path == "/feed" or path.startswith("/p/") and name.isdigit() and int(name) < self.npages
        try:
            page = self.feed() if name == "feed" else self.page(int(name)) if found else "no such page"
            data = page.encode()
            request.send_response(200 if found else 404)
            request.send_header("Content-Length", str(len(data)))
            request.end_headers()
            request.wfile.write(data)
        except OSError:
            pass  # the spider was killed
        self.fetches.append((path, who, begin, time.monotonic()))
        self.current.remove((who, begin))

    def overlaps(self):
        """Pages that two were fetching at once."""
        last, found = {}, []
        for path, who, begin, end in sorted(self.fetches, key=lambda f: f[2]):
            if path in last and begin < last[path][0]:
                found.append((path, who, last[path][1]))
            last[path] = (end, who)
        return found
