#!/bin/bash
# What a byte may cost: the worst inputs that a search finds for each parser, profile, rule and kind
# (bench_worst.c), then whole programs on evil files: formats of input and of entries, the protocols of
# `unseen serve`, and commands of the module, if there is a redis-server. Each figure is CPU time for a
# byte, and its ratio to an ordinary line in the same program or, for bench_worst, in a set.
#
# usage: bench/worst.sh [TRIES [SEED]]      300 changes of each input by default; 5 minutes
#        (UNSEEN: the tool, build/release/unseen; ROUNDS=5; MIB=4: the size of a file)
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
UNSEEN=${UNSEEN:-$build/unseen}
"$build/bench/bench_worst" "${1:-300}" "${2:-1}" || missed=1

echo
echo "whole programs: ns of CPU for a byte, median of ${ROUNDS:-5} rounds, and how many times an ordinary line takes that"
python3 - "$UNSEEN" "${ROUNDS:-5}" "${MIB:-4}" <<'END' || missed=1
import os, resource, shutil, socket, statistics, subprocess, sys, tempfile, threading, time

tool, rounds, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) << 20
work = tempfile.TemporaryDirectory()
missed = False
GOAL = 30


def path(name):
    return os.path.join(work.name, name)


def write(name, start, unit, end, line):
    """A file of lines of about `line` bytes, each of them start, units and end."""
    one = start + unit * max(1, (line - len(start) - len(end)) // len(unit)) + end
    with open(path(name), "wb") as file:
        file.write((one + b"\n") * max(1, size // (len(one) + 1)))


def cpu(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(what, ns, ordinary, goal=GOAL):
    global missed
    missed = missed or ns > goal * ordinary
    print(f"{what:64} {ns:8.2f} ns/byte {ns / ordinary:7.1f} x, goal {goal:3}: {'met' if ns <= goal * ordinary else 'MISSED'}", flush=True)


def measure(options, name):
    """ns for a byte, without what the program takes for an empty file."""
    files = [path(name), os.devnull]
    times = [[cpu([tool, *(o.format(work=work.name) for o in options), file]) for _ in range(rounds)] for file in files]
    full, empty = (statistics.median(t) for t in times)
    return max(full - empty, 0) * 1e9 / os.path.getsize(path(name))


with open(path("ordinary"), "w") as file:
    for i in range(size // 62):
        file.write(f"https://www.example.com/news/{i * 2654435761 % 2**32:016x}/story-{i % 1000000:06}/p\n")
ordinary = measure(["-j1"], "ordinary")
print(f"{'an ordinary line, unseen':64} {ordinary:8.2f} ns/byte", flush=True)

LINES = {
    "lines of one byte": (b"", b"a", b"", 1),
    "empty lines": (b"", b"", b"", 0),
    "CR": (b"", b"\r", b"", 4096),
    "names of one ligature each": (b"http://", "\ufdfa".encode(), b".com/", 99),
    "names of squared words": (b"http://", "\u3300.".encode(), b"com/", 250),
    "full-width zeros": (b"http://198.51.100.", "\uff10".encode(), b"7/", 1560),
    "decomposed letters": (b"http://", "e\u0301\u0323.".encode(), b"com/", 4000),
    "parameters": (b"http://e.com/?b", b"&a", b"", 65000),
    "dots": (b"http://e.com/", b"a/../", b"", 65000),
    "labels": (b"http://", b"a.", b"com/", 65000),
    "escapes": (b"http://e.com/", b"%2525", b"", 65000),
}
for profile in "crawl", "aggressive", "scrapy", "safebrowsing":
    for what, parts in LINES.items():
        if parts[1]:
            write("evil", *parts)
        else:
            with open(path("evil"), "wb") as file:
                file.write(b"\n" * size)
        goal = 100 if max(parts[1], default=0) >= 0x80 or not parts[1] or parts[3] == 1 else GOAL
        report(f"unseen -p {profile}, {what}", measure(["-j1", "-p", profile], "evil"), ordinary, goal)

JSON = {
    "nested arrays": (b'{"a":', b"[", b"", 65000),
    "nested objects": (b"", b'{"url":', b"", 65000),
    "escapes": (b'{"url":"', b"\\u0041", b'"}', 65000),
    "quotes": (b'{"url":1,"a":"', b'\\"', b'"}', 65000),
    "members": (b"{", b'"url":1,', b'"url":2}', 65000),
    "numbers": (b'{"url":1', b"0", b".5e9}", 65000),
}
for what, parts in JSON.items():
    write("evil", *parts)
    report(f"unseen -k .url, {what}", measure(["-j1", "-q", "-k", ".url"], "evil"), ordinary)
FIELDS = {"tabs": (b"a", b"\t", b"b", 65000), "quotes": (b"", b'"",', b"a", 65000), "an open quote": (b'"', b'a""', b"", 65000)}
for what, parts in FIELDS.items():
    write("evil", *parts)
    report(f"unseen -k 30000, {what}", measure(["-j1", "-q", "-k", "30000", "-t", ","], "evil"), ordinary)

ENTRIES = {
    "expressions": [
        (b"||", b"a.", b"com^", 250),
        (b"", b"a/../", b"", 65000),
        (b"||", "\u3300.".encode(), b"com^", 250),
        (b"", b"%25", b".com", 4000),
        (b"0.0.0.0", b" a.b", b"", 65000),
        (b"0.0.0.0 a.b", b"#", b"", 65000),
        (b"||a.b^$", b"all,", b"all", 65000),
        (b"a.b#", b"@", b"#", 65000),
        (b"address=/", b"a.b/", b"", 65000),
        (b"server=", b"/", b"", 65000),
        (b'local-zone: "', b"a.", b'" static', 250),
        (b"", b"a.", b" 60 IN CNAME .", 250),
        (b"a.b", b" IN", b" CNAME .", 65000),
    ],
    "mail": [(b'"', b"\\a", b'"@e.com', 4000), (b"a@", b"b.", b"com", 4000), (b"a@", "e\u0301.".encode(), b"com", 4000)],
    "ip": [(b"1", b"0", b"", 4000), (b"::", b"1:", b"", 4000), (b"1.2.3.", "\uff10".encode(), b"1", 1000)],
    "phone": [(b"+", b"(1)", b"", 4000), (b"+86", b" 1", b"", 4000)],
}
for kind, files in ENTRIES.items():
    options = ["build", "--skip-invalid", "--skip-dangerous", "--force"]
    options += ["--expressions"] if kind == "expressions" else ["--kind", kind]
    for parts in files:
        write("evil", *parts)
        goal = 100 if max(parts[1]) >= 0x80 else GOAL
        report(f"build, {kind}, {parts[1].decode()!a}", measure([*options, "{work}/list"], "evil"), ordinary, goal)

IMPORTS = {
    "lines": [(b"http://e.com/b", b"a", b"", 65000), (b"", b"a", b"", 1)],
    "anew": [(b"http://e.com/", b"a/../", b"", 65000), (b"http://", "\u3300.".encode(), b"com/", 250)],
    "requests.seen": [(b"", b"0", b"", 40), (b"", b"\r", b"", 4000)],
}
for source, files in IMPORTS.items():
    for parts in files:
        write("evil", *parts)
        goal = 100 if max(parts[1]) >= 0x80 or parts[3] == 1 else GOAL
        settings = ["-p", "none"] if source == "requests.seen" else []
        times = []
        for _ in range(rounds):
            for old in os.listdir(work.name):
                if old.startswith("made"):
                    os.remove(path(old))
            times.append(cpu([tool, "import", "--format", source, *settings, path("made"), path("evil")]))
        ns = statistics.median(times) * 1e9 / os.path.getsize(path("evil"))
        report(f"import, {source}, {parts[1].decode()!a}", ns, ordinary, goal)


def used(pid):
    """CPU time of all threads of a process, in ns."""
    threads = f"/proc/{pid}/task"
    return sum(int(open(f"{threads}/{thread}/schedstat").read().split()[0]) for thread in os.listdir(threads))


SOCKET = path("socket")


def ask(command, requests):
    """ns of a server, which listens at SOCKET, for each byte of many requests that come at once."""
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with socket.socket(socket.AF_UNIX) as client:
            while client.connect_ex(SOCKET) != 0:
                if server.poll() is not None:
                    sys.exit(f"{' '.join(command)} has ended")
                time.sleep(0.01)
            began = used(server.pid)
            converse(client, requests)
        return (used(server.pid) - began) / len(requests)
    finally:
        server.terminate()
        server.wait()


def ask_serve(served, options, one):
    return ask([tool, "serve", *options, "--listen", f"unix:{SOCKET}", path(served)], one * (size // len(one)))


def converse(client, requests):
    """Sends all, and reads until the server has nothing more to say."""

    def drain():
        while client.recv(1 << 20):
            pass

    reader = threading.Thread(target=drain)
    reader.start()
    client.sendall(requests)
    client.shutdown(socket.SHUT_WR)
    reader.join()


def make(arguments, text):
    subprocess.run([tool, *arguments], input=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


make(["add", path("store.unseen")], b"http://a.example/\n")
make(["add", "-p", "aggressive", path("aggressive.unseen")], b"http://a.example/\n")
make(["build", path("urls.list")], b"http://bad.example/\n")
make(["build", "--kind", "mail", path("mail.list")], b"bad.example\n")
NAMES = {"ordinary": b"www.example.com", "a name of ligatures": "\ufdfa".encode() * 28 + b".com", "a name of squared words": "\u3300.".encode() * 60 + b"com"}
MIB = 1 << 20
PROTOCOLS = {  # and the longest request
    "lines": ("store.unseen", [], b"C http://%s/news/story\n", MIB),
    "lines, aggressive": ("aggressive.unseen", [], b"C http://%s/news/story\n", MIB),
    "lines, batches": ("store.unseen", [], b"B 2 C\nhttp://%s/news/story\nhttp://%s/news/story\n", 2 * MIB),
    "squid": ("urls.list", ["--protocol", "squid"], b"http://%s/news/story - - GET\n", 64 << 10),
    "squid-rewrite": ("urls.list", ["--protocol", "squid-rewrite", "--redirect", "http://a/"], b"http://%s/news/story - - GET\n", 64 << 10),
    "tcp-table": ("urls.list", ["--protocol", "tcp-table"], b"get http://%s/news/story\n", 4096),
    "socketmap": ("urls.list", ["--protocol", "socketmap"], b"%d:m http://%s/news/story,", 100000),
    "postfix-policy": ("mail.list", ["--protocol", "postfix-policy"], b"request=smtpd_access_policy\nsender=a@%s\n\n", 64 << 10),
    "http-auth": ("urls.list", ["--protocol", "http-auth"], b"GET / HTTP/1.1\r\nHost: a\r\nX-Url: http://%s/news/story\r\n\r\n", 64 << 10),
}


def request(form, name):
    text = form.replace(b"%s", name)
    return text.replace(b"%d", b"%d" % (len(text) - len("%d:,")))


def longest_request(served, options, form, longest):
    """ms of a server for a request of ASCII that is as long as may be, and its unit."""
    found = []
    for start in b"e.com/", b"e.com/?", b"":
        for unit in b"\x7f&", b"&\x7f", b",&<", b"%25", b"\\", b"a/../", b"//a", b"a.":
            one = request(form, start + unit * ((longest - len(form)) // form.count(b"%s") // len(unit) - len(start)))
            ns = statistics.median(ask_serve(served, options, one) for _ in range(rounds))
            found.append((ns * len(one) / 1e6, start + unit))
    return max(found)


for protocol, (served, options, form, longest) in PROTOCOLS.items():
    for what, name in NAMES.items():
        ns = statistics.median(ask_serve(served, options, request(form, name)) for _ in range(rounds))
        base = ns if what == "ordinary" else base
        report(f"serve, {protocol}, {what}", ns, base, 100)
    ms, text = longest_request(served, options, form, longest)
    print(f"serve, {protocol}, the longest request, {text.decode()!a}: {ms:.2f} ms", flush=True)


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def ask_module(one):
    module = os.path.join(os.path.dirname(os.path.abspath(tool)), "unseen.so")
    redis = ["redis-server", "--port", "0", "--unixsocket", SOCKET, "--dir", work.name, "--save", "", "--loadmodule", module]
    return ask(redis, command(b"UNSEEN.ADD", b"key", b"first") + one * (size // len(one)) + command(b"QUIT"))


COMMANDS = {
    "UNSEEN.ADD": lambda url: command(b"UNSEEN.ADD", b"key", *[url] * 16),
    "UNSEEN.EXISTS": lambda url: command(b"UNSEEN.EXISTS", b"key", *[url] * 16),
    "UNSEEN.CLAIM": lambda url: command(b"UNSEEN.CLAIM", b"key", b"60", *[url] * 16),
    "BF.ADD": lambda url: command(b"BF.ADD", b"bloom", url),
    "CF.ADD": lambda url: command(b"CF.ADD", b"cuckoo", url),
}
for name, form in COMMANDS.items() if shutil.which("redis-server") else ():
    for what, host in NAMES.items():
        one = form(b"http://%s/news/story" % host)
        ns = statistics.median(ask_module(one) for _ in range(rounds))
        base = ns if what == "ordinary" else base
        report(f"module, {name}, {what}", ns, base, 100)
sys.exit(missed)
END
exit "${missed:-0}"
