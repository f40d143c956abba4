"""limits.py: each command of the tool under each small limit of the system. It gives the right answer with the right
exit status, or ends with status 2 and a sentence; what it was to change is whole, and the same command without the
limit then does all of it. The commands are those of the tool's help."""
import gzip, os, resource, shutil, subprocess, sys

TOOL = os.environ["UNSEEN"]
SANITIZED = "UNSEEN_SANITIZED" in os.environ
BRIEF = "UNSEEN_TEST_BRIEF" in os.environ  # fewer sizes of addresses
NOBODY = 54321  # a user without a process, so that a limit of processes counts those of the tool only
failures = 0
ncases = 0
nrefused = {}

# What the commands work on, and what they are given. A new command gets what most take.
ARGUMENTS = {
    "dedup": [["-s", "s.unseen", "-o", "new", "in"], ["-j", "4", "in.gz", "-x", "part.unseen", "-x", "few"]],
    "canon": [["in"]],
    "explain": [["http://e.com/a", "http://E.com:80/a"]],
    "merge": [["new.unseen", "s.unseen", "part.unseen"]],
    "info": [["s.unseen"], ["bad.list"]],
    "verify": [["s.unseen", "bad.list", "ids.bits"]],
    "repair": [["hurt.unseen"]],
    "rewrite": [["s.unseen"]],
    "import": [["--format", "anew", "--seed", "1", "new.unseen", "in"]],
    "allow": [["bad.list", "few"]],
    "update": [["bad.list", "--add", "in"]],
    "sort": [["ids"]],
    "bits": [["add", "new.bits", "ids"], ["and", "new.bits", "ids.bits", "ids.bits"]],
    "serve": [["s.unseen"]],
    "count": [["--by", "host", "in"], ["s.unseen", "part.unseen"]],
    "build": [["--seed", "1", "-j", "4", "--known-good", "few", "new.list", "in"]],
    "plan": [["--capacity", "1e6", "--fpr", "1e-4"]],
}
USUAL = [["s.unseen", "in"]]


def complain(text):
    global failures
    failures += 1
    print(text, file=sys.stderr)


def tool(arguments, folder, prepare=None, environment=None):
    """The exit status, the output and the errors; the output is a file, as limits of size are about files."""
    with open(folder + "/requests") as requests, open(folder + "/out", "w") as out:
        p = subprocess.Popen([TOOL, *arguments], cwd=folder, stdin=requests, stdout=out, stderr=subprocess.PIPE,
                             preexec_fn=prepare, env={**os.environ, **(environment or {})})
        try:
            _, err = p.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            p.kill()
            return "hangs", b"", p.communicate()[1].decode()
    with open(folder + "/out", "rb") as out:
        return p.returncode, out.read(), err.decode()


def fresh():
    shutil.rmtree("work", ignore_errors=True)
    shutil.copytree("start", "work")
    if os.getuid() == 0:
        for name in ["", *os.listdir("work")]:
            os.chown("work/" + name, NOBODY, NOBODY)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def damage():
    """What verify says if some file is not whole."""
    names = [name for name in os.listdir("work")
             if name.endswith((".unseen", ".list", ".bits")) and not name.startswith("hurt")]
    status, _, err = tool(["verify", *names], "work")
    return "verify says %s %s" % (status, err) if status != 0 else ""


def contents():
    """What a run leaves: of a store that it changed the answers, as its bytes have times in them."""
    found = {}
    for name in os.listdir("work"):
        if not name.endswith((".image", ".building")) and name != "out":
            found[name] = read("work/" + name)
            if name.endswith(".unseen") and not (os.path.exists("start/" + name) and
                                                 read("start/" + name) == found[name]):
                found[name] = tool(["check", name, "in"], "work")
    return found


def limited(what, limit):
    number = getattr(resource, "RLIMIT_" + what)

    def prepare():
        if what == "NPROC" and os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        resource.setrlimit(number, (limit, limit))
    return prepare


def attempt(arguments, want, name, prepare=None, environment=None):
    """Whether the run with the limit did all of it."""
    global ncases
    ncases += 1
    fresh()
    status, out, err = tool(arguments, "work", prepare, environment)
    says = "unseen %s, %s: " % (" ".join(arguments), name)
    if status == 127:  # the loader had no memory for the libraries or for the first thread
        return False
    if status == want[0]:
        if out != want[1]:
            complain(says + "another output with status %s; it said %s" % (status, err))
        if contents() != want[2]:
            complain(says + "left other files with status %s; it said %s" % (status, err))
        if damage():
            complain(says + damage())
        return True
    kind = name.split()[0]
    nrefused[kind] = nrefused.get(kind, 0) + 1
    if status != 2 or not any(line.startswith("unseen: error: ") for line in err.splitlines()):
        complain(says + "status %s; it said %s" % (status, err))
        return False
    if damage():
        complain(says + damage())
    status, _, err = tool(arguments, "work")
    if status != want[0]:
        complain(says + "then without it status %s; it said %s" % (status, err))
    return False


os.mkdir("start")
lines = ["http://www.site%d.example/a/page-%d.html" % (i % 97, i % 2000) for i in range(3000)]
for name, text in [("in", lines), ("few", lines[1500:1700:20]), ("ids", [str(i * 7919 % 100003) for i in range(3000)]),
                   ("requests", ["A " + line for line in lines[:50]] + ["F"])]:
    with open("start/" + name, "w") as f:
        f.write("\n".join(text) + "\n")
with gzip.open("start/in.gz", "wt") as f:
    f.write("\n".join(lines) + "\n")
for arguments in [["add", "--seed", "1", "s.unseen", "few"], ["add", "--seed", "1", "part.unseen", "in"],
                  ["add", "--seed", "1", "hurt.unseen", "in"], ["build", "--seed", "1", "bad.list", "in"],
                  ["bits", "add", "ids.bits", "ids"]]:
    status, _, err = tool(arguments, "start")
    assert status == 0, (arguments, err)
with open("start/hurt.unseen", "r+b") as f:
    f.seek(5000)
    f.write(b"damage")

help_text = subprocess.run([TOOL, "help"], capture_output=True, text=True).stdout
commands = [line.split()[0] for line in help_text.split("\nCommands\n")[1].split("\n\n")[0].splitlines()]
assert len(commands) >= 20 and "dedup" in commands, commands
os.makedirs("unwritable", 0o500)
full = os.environ.get("FULL_FOLDER")
for command in commands:
    if command == "help":
        continue
    for arguments in ARGUMENTS.get(command, USUAL):
        arguments = [command, *arguments]
        fresh()
        status, out, err = tool(arguments, "work")
        want = status, out, contents()
        assert status in (0, 1), (arguments, status, err)
        for folder in ["missing", "unwritable", *([full] if full else [])]:
            if not attempt(arguments, want, "TMPDIR %s" % folder,
                           environment={"TMPDIR": os.path.abspath(folder)}):
                complain("unseen %s needs TMPDIR" % " ".join(arguments))
        for files in range(3, 64):
            if attempt(arguments, want, "NOFILE %d" % files, limited("NOFILE", files)):
                break
        for processes in [1, 2, 3]:
            attempt(arguments, want, "NPROC %d" % processes, limited("NPROC", processes))
        for size in [0, 1, 100, 4000, 20000, 100000, 1 << 20]:
            attempt(arguments, want, "FSIZE %d" % size, limited("FSIZE", size))
        for size in [] if SANITIZED else [64 << 10, 256 << 10, 1 << 20]:
            attempt(arguments, want, "STACK %d" % size, limited("STACK", size))
        size = 4 << 20
        while not SANITIZED and not attempt(arguments, want, "AS %d" % size, limited("AS", size)):
            size += size // (3 if BRIEF else 8)
print("%d cases, refused: %s" % (ncases, nrefused))
sys.exit(failures > 0)
