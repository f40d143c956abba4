# examples/cms: crawlers in Python and upload forms in Go store documents in PostgreSQL, with one set in front;
# they and the set's server are killed.
#
#     example_cms.py EXAMPLES UPLOAD-PROGRAM
import atexit, os, random, signal, subprocess, sys, threading, time, urllib.error, urllib.parse, urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import psycopg2
from postgres import Postgres
from serving import SCALE, SEED, TOOL, Client, Server, eventually
from site_of_pages import Site, path_of

EXAMPLES, UPLOAD = sys.argv[1:3]
DOCUMENTS = 300 * SCALE  # in the feed; as many come through the form, half of them the same
KILLS = 12 * SCALE
LEASE = 3
LONG = 600  # where nobody is killed: no machine is so slow
AT_ONCE = 20
random.seed(SEED)
os.environ["PYTHONPATH"] = os.path.join(EXAMPLES, "python")
postgres = Postgres()
database = psycopg2.connect(postgres.address)
database.autocommit = True
cursor = database.cursor()


def ask(sql):
    cursor.execute(sql)
    return cursor.fetchall()


class Program:
    """A program that is killed and started again."""

    def __init__(self, *command):
        self.command = list(command)
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        atexit.register(self.process.kill)

    def kill(self):
        self.process.kill()
        self.process.communicate()


class Crawler(Program):
    def __init__(self, number, site, lease):
        super().__init__(sys.executable, EXAMPLES + "/cms/crawler.py", "--name", "crawler-%d" % number, "--lease",
                         str(lease), "unix:sock", postgres.address, site.url(0).replace("p/0", "feed"))

    def end(self):
        """A server that dies twice during a request ends the crawler."""
        while True:
            out = self.process.communicate()[0].decode()
            if self.process.returncode == 0:
                return out
            self.start()


class Form(Program):
    def __init__(self, number, lease):
        super().__init__(UPLOAD, "-name", "upload-%d" % number, "-lease", str(lease), "-listen", "127.0.0.1:0",
                         "unix:sock", postgres.address)

    def start(self):
        super().start()
        line = self.process.stdout.readline().decode()
        if line:  # it keeps its port
            self.url = line.split()[1]
            self.command[self.command.index("-listen") + 1] = self.url[7:-1]


def post(form, url, method="POST"):
    """The form's status; None if it has died."""
    data = urllib.parse.urlencode({"url": url, "title": "a title", "body": "a text"})
    request = urllib.request.Request(form.url + "documents" + ("?" + data if method == "DELETE" else ""),
                                     data.encode() if method == "POST" else None, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def editor(forms, urls, counts):
    """Uploads each document until the form says that it is stored, or was."""
    for url in urls:
        while True:
            status = post(random.choice(forms), url)
            counts[status] = counts.get(status, 0) + 1
            if status in (201, 409):
                break
            time.sleep(0.02)


def spelled(site, page):
    return random.choice((site.url(page), site.url(page) + "#x", site.url(page).replace("http", "HTTP").replace("/p/", "/x/../p/")))


def check_not_behind():
    """Nothing is in the database that the set does not know, or hands out again."""
    client = Client()
    rows = [url for url, in ask("SELECT url FROM documents")]
    marks = client.batch("C", rows)
    tokens = [client.line().split(" ", 1) for _ in range(int(client.ask("X 1000 60")))]
    behind = {url for url, mark in zip(rows, marks) if mark == "0"} - {url for _, url in tokens}
    assert not behind, (len(behind), len(rows), sorted(behind)[:3])
    for token, _ in tokens:
        assert client.ask("G " + token) == "OK"
    client.close()
    return len(rows)


def run(name, nkills):
    cursor.execute("DROP TABLE IF EXISTS documents, attempts")
    cursor.execute(open(EXAMPLES + "/cms/schema.sql").read())
    # Who tries to insert what: a trigger sees also what the key of the table then refuses. It is slow where
    # programs are killed, so that kills meet transactions.
    cursor.execute("""CREATE TABLE attempts (url text);
        CREATE OR REPLACE FUNCTION note() RETURNS trigger AS
        'BEGIN INSERT INTO attempts VALUES (NEW.url); PERFORM pg_sleep(%s); RETURN NEW; END' LANGUAGE plpgsql;
        CREATE TRIGGER note BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION note()""" %
                   (0.005 if nkills else 0))
    site = Site(DOCUMENTS, SEED, 0.001)
    server = Server(name)
    lease = LEASE if nkills else LONG
    forms = [Form(i, lease) for i in range(2)]
    crawlers = [Crawler(i, site, lease) for i in range(2)]
    counts = [{}, {}]
    editors = []
    for i in range(2):
        urls = [spelled(site, page) for page in range(DOCUMENTS // 2, DOCUMENTS * 3 // 2)]
        random.shuffle(urls)
        editors.append(threading.Thread(target=editor, args=(forms, urls, counts[i]), daemon=True))
        editors[i].start()
    for i in range(nkills):
        time.sleep(random.random() * 0.3)
        victim = (crawlers + forms)[i % 4]
        if i % 3 == 2:
            server.end(signal.SIGKILL)
            server = Server(name)
        elif i == nkills // 2:  # all at once: what is in the database is known
            for program in crawlers + forms:
                program.kill()
            server.end(signal.SIGKILL)
            server = Server(name)
            nrows = check_not_behind()
            for program in crawlers + forms:
                program.start()
        else:
            victim.kill()
            victim.start()
    for thread in editors:
        thread.join(300)
        assert not thread.is_alive()
    out = [crawler.end() for crawler in crawlers]
    rows = [url for url, in ask("SELECT url FROM documents")]
    paths = sorted(path_of(url) for url in rows)
    assert paths == sorted("/p/%d" % i for i in range(DOCUMENTS * 3 // 2)), (len(paths), len(set(paths)))
    (attempts,), = ask("SELECT count(*) FROM attempts")
    print("%s: %d documents, %d kills, %d attempts to insert; forms answered %s%s" %
          (name, len(rows), nkills, attempts, counts, "; %d in the middle" % nrows if nkills else ""))
    by = ask("SELECT stored_by, count(*) FROM documents GROUP BY 1 ORDER BY 1")
    assert len(by) > 2, by
    if nkills:
        assert attempts <= len(rows) + nkills * (2 * AT_ONCE + 2)
    else:
        assert attempts == len(rows) and sum(c.get(201, 0) for c in counts) == sum(n for who, n in by if who[0] == "u")
        assert sum(int(line.split(" ")[1]) for line in out) == sum(n for who, n in by if who[0] == "c"), out
    # The set has all that the database has; a document that is deleted can be stored again.
    lacks = subprocess.run([TOOL, "check", "-v", "unix:sock"], input="".join(u + "\n" for u in rows).encode(),
                           stdout=subprocess.PIPE)
    assert (lacks.returncode, lacks.stdout) == (1, b""), lacks
    assert post(forms[0], spelled(site, 0), "DELETE") == 200
    assert ask("SELECT count(*) FROM documents WHERE url = '%s'" % site.url(0)) == [(0,)]
    assert Client().ask("C " + site.url(0)) == "0"
    assert post(forms[1], spelled(site, 0)) == 201 and post(forms[0], spelled(site, 0)) == 409
    assert post(forms[0], "") == 400
    for form in forms:
        form.kill()
    server.end()
    site.server.shutdown()


def script(name, *arguments):
    return subprocess.run([EXAMPLES + "/cms/" + name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def urls_in(store, urls):
    out = subprocess.run([TOOL, "check", "-c", store], input="".join(u + "\n" for u in urls), stdout=subprocess.PIPE, text=True)
    return int(out.stdout)


def maintain():
    """Import from SQL, nightly rewrite, and a backup that is restored."""
    rows = [url for url, in ask("SELECT url FROM documents")]
    # A database that was there first.
    out = script("import.sh", "fresh.unseen", postgres.address)
    assert (out.returncode, out.stdout) == (0, "%d documents\n" % len(rows)), out
    assert urls_in("fresh.unseen", rows) == len(rows)
    # Deleted documents fill the log, until the night.
    gone = ["http://gone.example/%d" % i for i in range(20000)]
    for command in "add", "remove":
        subprocess.run([TOOL, command, "fresh.unseen"], input="".join(u + "\n" for u in gone), text=True, check=True)
    before = os.path.getsize("fresh.unseen")
    out = script("nightly.sh", "fresh.unseen", "true")
    assert out.returncode == 0 and "good" in out.stdout, out
    assert os.path.getsize("fresh.unseen") < before / 5 and urls_in("fresh.unseen", rows) == len(rows)
    # A backup: the database has other documents than the set now, more and fewer.
    lost, came = rows[:50], ["http://restored.example/%d" % i for i in range(70)]
    cursor.execute("DELETE FROM documents WHERE url = ANY(%s)", (lost,))
    for url in came:
        cursor.execute("INSERT INTO documents VALUES (%s, 'a title', 'a text', 'backup')", (url,))
    server = Server("fresh.unseen")
    out = script("import.sh", "fresh.unseen", postgres.address)
    assert out.returncode != 0 and "is being written to" in out.stderr, out
    server.end()
    settings = subprocess.run([TOOL, "info", "fresh.unseen"], stdout=subprocess.PIPE, text=True).stdout
    out = script("import.sh", "fresh.unseen", postgres.address)
    assert (out.returncode, out.stdout) == (0, "%d documents\n" % (len(rows) + 20)), out
    assert urls_in("fresh.unseen", rows[50:] + came) == len(rows) + 20 and urls_in("fresh.unseen", lost) == 0
    again = subprocess.run([TOOL, "info", "fresh.unseen"], stdout=subprocess.PIPE, text=True).stdout
    assert [line for line in again.split("\n") if line.startswith("seed")] == [line for line in settings.split("\n") if line.startswith("seed")]
    # A database that cannot be asked changes nothing.
    out = script("import.sh", "fresh.unseen", "host=/nowhere dbname=cms")
    assert out.returncode != 0 and urls_in("fresh.unseen", rows[50:] + came) == len(rows) + 20, out
    print("maintained: %d documents imported, log of %d bytes rewritten, backup restored" % (len(rows), before))


run("undisturbed", 0)
maintain()
run("killed", KILLS)
