"""A server at its limit of open files: it serves as many clients as the limit allows, says so, refuses newcomers in
the words of the protocol, and still has descriptors for its own work."""
import atexit, errno, os, re, resource, signal, socket, subprocess, sys, time

from serving import TOOL, Client

FILES = 256
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and so would the server


def start(soft, hard, *arguments, environment=None):
    """The process, and what it said up to "listening on" or its end."""
    process = subprocess.Popen([TOOL, "serve", *arguments, "--listen", "unix:sock"], stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)),
                               env={**os.environ, **(environment or {})})
    atexit.register(process.kill)  # a test that fails leaves none behind
    said = ""
    for line in process.stderr:
        if line.startswith("unseen: listening on "):
            break
        said += line
    return process, said


def end(process):
    """In order: it dies of the signal when all is done, and has nothing to say."""
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    assert process.wait() == -signal.SIGTERM and said == "", (process.returncode, said)


def room_of(said, soft, wanted=1000):
    found = re.match(r"unseen: warning: the limit of %d open files has room for (\d+) clients, not for %d\n"
                     r"unseen: hint: ulimit -n \d+, or LimitNOFILE=\d+ in the unit of systemd\n$" % (soft, wanted), said)
    assert found, said
    return int(found[1])


def run(*arguments, **more):
    return subprocess.run([TOOL, *arguments], check=True, capture_output=True, text=True, **more).stdout


# ---- The line protocol ---------------------------------------------------------------------------
process, said = start(FILES, FILES, "--seed", "1", "s")
room = room_of(said, FILES)
assert room > FILES - 30, room
clients = [Client() for _ in range(room)]
for c in clients:
    assert c.ask("C http://e.com/") == "0"
for _ in range(50):
    assert Client().greeting == "E the server has as many clients as its limit of open files allows"
for c in clients:
    assert c.ask("C http://e.com/") == "0"
# With the house full: commits, and leases, whose file is opened only now.
assert clients[0].ask("A http://e.com/") == "1" and clients[0].ask("F") == "OK"
token = clients[1].ask("L 60 http://e.com/lease")
assert token.startswith("1 ") and os.path.exists("s.leases"), token
assert clients[2].ask("D " + token[2:]) == "OK" and clients[2].ask("F") == "OK"
clients[3].close()
while True:  # until the server has seen the end
    newcomer = Client()
    if not newcomer.greeting.startswith("E "):
        break
assert newcomer.ask("C http://e.com/") == "1"
end(process)
for c in clients + [newcomer]:
    c.close()
run("verify", "s")
assert run("check", "-c", "s", input="http://e.com/\nhttp://e.com/lease\n") == "2\n"
print("%d files: %d clients" % (FILES, room))

# The soft limit is raised to the hard limit.
process, said = start(64, 512, "--max-clients", "300", "s")
assert said == "", said
clients = [Client() for _ in range(300)]
for c in clients:
    assert c.ask("C http://e.com/") == "1"
assert Client().greeting == "E the server has as many clients as --max-clients allows"
# The limit is lowered meanwhile: the last clients are disconnected, and the others are served.
resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (128, 128))
for c in clients[:100]:
    assert c.ask("C http://e.com/") == "1"
assert clients[0].ask("A http://e.com/more") == "1" and clients[0].ask("F") == "OK"
assert clients[-1].file.readline() == b""
end(process)
for c in clients:
    c.close()
process, said = start(64, 512, "--max-clients", "3000", "s")
assert 450 < room_of(said, 512, 3000) < 512
end(process)

# However few files there are, the server says that there is no room, or serves a client.
served = 0
for files in range(3, 40):
    process, said = start(files, files, "--seed", "1", "few")
    if process.poll() is None and said.startswith("unseen: warning: "):
        served += 1
        client = Client()
        assert client.ask("A http://e.com/%d" % files) == "1" and client.ask("F") == "OK"
        assert client.ask("L 60 http://e.com/lease").startswith("1 ")
        client.close()
        end(process)
    else:
        status = process.wait()
        assert status == 2 and said.startswith("unseen: error: ") or status == 127, (files, status, said)
        if status == 2 and os.path.exists("few"):
            run("verify", "few")
assert served > 10, served

# ---- Other programs' protocols -------------------------------------------------------------------
# A request for NAME, and how the answer begins if NAME is listed.
LISTED = {
    "squid": (b"http://%s/ -\n", b"OK"),
    "squid-rewrite": (b"http://%s/ -\n", b"OK"),
    "postfix-policy": (b"request=smtpd_access_policy\nsender=jo@%s\n\n", b"action=REJECT"),
    "tcp-table": (b"get http://%s/\n", b"200 "),
    "socketmap": (b"22:x http://%s/,", b"16:OK REJECT"),
    "http-auth": (b"GET / HTTP/1.1\r\nX-Url: http://%s/\r\n\r\n", b"HTTP/1.1 403"),
}
refused = subprocess.run([TOOL, "serve", "--protocol", "unknown", "s"], capture_output=True, text=True).stderr
protocols = re.search("it is one of (.*)", refused)[1].split(", ")
assert len(protocols) >= 6, protocols


def connected():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect("sock")
    return s


def is_listed(s, protocol, name):
    request, listed = LISTED[protocol]
    try:
        s.sendall(request % name)
        answer = s.recv(1000)
    except (BrokenPipeError, ConnectionResetError):
        return None
    return answer.startswith(listed) if answer else None


def build(to, kind, *names):
    run("build", "--seed", "1", "--kind", kind, to, input="".join(name + "\n" for name in names))


for protocol in protocols:
    kind, text = ("mail", "%s") if protocol == "postfix-policy" else ("url", "http://%s/")
    build("list", kind, text % "evil.example")
    more = ["--redirect", "http://127.0.0.1/"] if protocol == "squid-rewrite" else []
    process, said = start(FILES, FILES, "--protocol", protocol, *more, "list")
    room = room_of(said, FILES)
    clients = []
    for _ in range(room + 50):
        clients.append(connected())
        assert is_listed(clients[-1], protocol, b"evil.example") is True, (protocol, len(clients))
    # The oldest have made room for the newcomers.
    answers = [is_listed(c, protocol, b"evil.example") for c in clients]
    assert answers == [None] * 50 + [True] * room, (protocol, answers)
    # Another list comes in place of the open one.
    assert is_listed(clients[-1], protocol, b"last.example") is False
    build("list", kind, text % "last.example")
    process.send_signal(signal.SIGHUP)
    while not is_listed(clients[-1], protocol, b"last.example"):
        pass
    end(process)
    for c in clients:
        c.close()
    print("%s: %d clients" % (protocol, room))

# ---- accept fails --------------------------------------------------------------------------------
# The server neither ends nor spins: it tries again now and then, and serves who is there.
if not os.path.exists("accept.so"):
    sys.exit(0)
for error in [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EPERM]:
    process, said = start(FILES, FILES, "s", environment={"LD_PRELOAD": os.path.abspath("accept.so"),
                                                          "ACCEPT_ERROR": str(error)})
    client = Client()
    open("accepts", "w").close()
    open("refuse", "w").close()
    began = time.monotonic()
    newcomer = connected()
    for i in range(100):
        assert client.ask("C http://e.com/") == "1"
    time.sleep(1)
    # Each request may wake the server for a further try, and so may each tenth of a second.
    count, most = os.path.getsize("accepts"), 110 + 10 * (time.monotonic() - began)
    assert 0 < count < most, (error, count)
    os.unlink("refuse")
    assert newcomer.recv(100).startswith(b"unseen "), error
    client.close()
    newcomer.close()
    end(process)
    print("%s: accept was tried %d times" % (errno.errorcode[error], count))
