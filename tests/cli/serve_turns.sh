# A client that asks for names that cost much lets others go first: the work of its turn is counted in names.
# The server is stopped until the requests of both have come, and serves the client that came last first.
# Label: once
. "$(dirname "$0")/lib/common.bash"

command -v python3 > /dev/null || exit 77
"$UNSEEN" add s /dev/null
cat > client.py << 'END'
import json, os, signal, sys

sys.path.insert(0, sys.argv[1])
from serving import Client, Server, eventually

NAMES = 600
URLS = ["http://" + "\u3300." * 15 + "com/%d" % i for i in range(NAMES)]
server = Server("s")
quick, slow = Client(), Client()
pid = server.process.pid


def names_first(requests, nanswers):
    """The names that the server has looked up when it answers the other client."""
    before = json.loads(quick.ask("S"))["questions"]
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: open("/proc/%d/stat" % pid).read().rsplit(") ", 1)[1][0] == "T")
    slow.send(requests)
    quick.send("S\n")
    os.kill(pid, signal.SIGCONT)
    first = json.loads(quick.line())["questions"] - before
    answers = [slow.line() for _ in range(nanswers)]
    assert json.loads(quick.ask("S"))["questions"] - before == NAMES
    return first, "".join(answers)


singles = names_first("".join("C %s\n" % url for url in URLS), NAMES)
batch = names_first("B %d A\n" % NAMES + "".join(url + "\n" for url in URLS), 1)
again = names_first("".join("C %s\n" % url for url in URLS), NAMES)
assert singles[1] == "0" * NAMES and batch[1] == again[1] == "1" * NAMES
print(singles[0], batch[0], again[0])
server.end()
END
holds python3 client.py "$TESTS/cli/lib" > out
holds test "$(cat out)" = "2 0 2"
finish
