# What a client read stays; what could not be sent to it any more is taken back, and a lease that it had
# ended is handed out again.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"

command -v python3 > /dev/null || exit 77
listening serve s --listen unix:sock
cat > client.py << 'END'
import os, signal, socket, sys, time

server = int(sys.argv[1])
big = b"http://big.example/" + b"x" * 1000000

class Client:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.connect("sock")
        self.f = self.s.makefile("rb")
        assert self.f.readline().startswith(b"unseen 1 ")

    def ask(self, line):
        self.s.sendall(line + b"\n")
        return self.f.readline().rstrip(b"\n")

def give_back(url):
    c = Client()
    new, token = c.ask(b"L 600 " + url).split()
    assert new == b"1" and c.ask(b"G " + token) == b"OK"
    return c

def is_there(url, wanted):
    c = Client()
    for _ in range(6000):
        answer = c.ask(b"C " + url)
        if answer == wanted:
            return
        time.sleep(0.05)
    sys.exit("%s: %s, not %s" % (url, answer, wanted))

def stop_server():
    os.kill(server, signal.SIGSTOP)
    while open("/proc/%d/stat" % server).read().rsplit(")", 1)[1].split()[0] != "T":
        time.sleep(0.001)
END
cat > talk.py << 'END'
from client import *

# The first answer is read; the second is longer than the socket takes.
give_back(big)
c = Client()
c.s.sendall(b"A http://read.example/\nB 2 A\nhttp://batch.example/1\nhttp://batch.example/2\nX 1 600\n"
            b"A http://unread.example/\n")
assert c.f.readline() == b"1\n" and c.f.readline() == b"11\n" and c.f.readline() == b"1\n"
c.s.close()
c.f.close()
is_there(b"http://unread.example/", b"0")
is_there(b"http://read.example/", b"1")
is_there(b"http://batch.example/1", b"1")
is_there(b"http://batch.example/2", b"1")

# Somebody adds a URL that was given back, and is not told.
give_back(big + b"2")
give_back(b"http://lost.example/")
c = Client()
c.s.sendall(b"X 1 600\nA http://lost.example/\n")
assert c.s.recv(1, socket.MSG_PEEK) == b"1"  # the server has begun to answer
c.s.close()
c.f.close()
is_there(b"http://lost.example/", b"0")
c = Client()
assert c.ask(b"X 10 600") == b"1"
assert c.f.readline().split()[1] == b"http://lost.example/"
assert c.ask(b"C http://lost.example/") == b"not yet"

# The same with O durable: the answer comes behind the commit, and the lease is kept until it was sent. The
# server reads the line when its client has gone: a client that is slow to go might get the answer.
for i in range(20):
    url = b"http://durable.example/%d" % i
    give_back(url)
    c = Client()
    assert c.ask(b"O durable") == b"OK"
    stop_server()
    c.s.sendall(b"A " + url + b"\n")
    c.s.close()
    c.f.close()
    os.kill(server, signal.SIGCONT)
    is_there(url, b"0")
    c = Client()
    assert c.ask(b"X 10 600") == b"1", "the lease of %s is gone" % url
    assert c.f.readline().split()[1] == url
END
last='clients that do not read'
holds python3 talk.py $server
run -s unix:sock --stats=json /dev/null
expect 0 '' '*'
holds grep -q '"keys": *3,' err
holds grep -q '"filter": *"compact"' err
lacks '"memory": *0,' err

# The same where the lease is of a server that was killed, and its URL is added by another client,
# while the change waits for the disk: the store's thread syncs nothing while there is a file `gate`.
cat > gate.c << 'END'
#define _GNU_SOURCE 1
#include <unistd.h>

int fdatasync(int fd)
{
    while (gettid() != getpid() && access("gate", F_OK) == 0) {
        usleep(1000);
    }
    return fsync(fd);
}
END
cat > killed.py << 'END'
from client import *

url = b"http://killed.example/"
if sys.argv[2] == "lease":
    assert Client().ask(b"L 600 " + url).startswith(b"1 ")
    sys.exit()
adds = Client()
assert adds.ask(b"O durable") == b"OK"
open("gate", "w").close()
adds.s.sendall(b"A " + url + b"\n")
is_there(url, b"1")
c = Client()
assert c.ask(b"G 0.1") == b"late"
adds.s.close()
adds.f.close()
os.remove("gate")
is_there(url, b"0")
assert c.ask(b"X 10 600") == b"1", "the lease is gone"
assert c.f.readline().split()[1] == url
END
# A co-process that is ended while a change waits for the disk, or whose reader goes: what was not told is not there.
cat > coprocess.py << 'END'
import array, fcntl, os, signal, subprocess, sys, termios, time

for i, end in enumerate(("signal", "reader") * 3):
    server = subprocess.Popen([os.environ["UNSEEN"], "serve", "coprocess"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "LD_PRELOAD": "./gate.so"}, bufsize=0)
    assert server.stdout.readline().startswith(b"unseen 1 ")
    server.stdin.write(b"O durable\nA http://told.example/%d\n" % i)
    assert server.stdout.readline() == b"OK\n" and server.stdout.readline() == b"1\n"
    open("gate", "w").close()
    server.stdin.write(b"A http://untold.example/%d\n" % i)
    left = array.array("i", [1])
    while left[0] > 0:  # a request that was read is answered before a signal is looked at
        fcntl.ioctl(server.stdin, termios.FIONREAD, left)
    told = b""
    if end == "signal":
        server.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        os.remove("gate")
        told = server.stdout.read()
    else:
        server.stdout.close()
        os.remove("gate")
    server.wait()
    asked = subprocess.run([os.environ["UNSEEN"], "check", "coprocess"], stdout=subprocess.PIPE,
                           input=b"http://told.example/%d\nhttp://untold.example/%d\n" % (i, i))
    assert asked.stdout.count(b"\n") == 1 + told.count(b"1\n"), (end, told, asked)
END
# What is kept to be taken back is in proportion to the answers that were not read, not to all since the last moment
# without one. The client leaves 150,000 answers unread all the time.
cat > backlog.py << 'END'
import os, subprocess, threading

N, BEHIND = 1500000, 150000
server = subprocess.Popen([os.environ["UNSEEN"], "serve", "-p", "none", "backlog"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, bufsize=0)
assert server.stdout.readline().startswith(b"unseen 1 ")
server.stdin.write(b"O durable\n")
assert server.stdout.readline() == b"OK\n"
moved = threading.Condition()
nasked = nread = 0

def ask():
    global nasked
    while nasked < N:
        with moved:
            moved.wait_for(lambda: nasked - nread < BEHIND)
        data = memoryview(b"".join(b"A %d\n" % i for i in range(nasked, nasked + 2000)))
        while data:
            data = data[server.stdin.write(data):]
        with moved:
            nasked += 2000
            moved.notify()

asker = threading.Thread(target=ask)
asker.start()
while nread < N - BEHIND:
    with moved:
        moved.wait_for(lambda: nasked - nread >= BEHIND or nasked == N)
    data = os.read(server.stdout.fileno(), 8192)
    with moved:
        nread += data.count(b"\n")
        moved.notify()
asker.join()
most = [int(line.split()[1]) for line in open("/proc/%d/status" % server.pid) if line.startswith("VmHWM")]
server.kill()
server.wait()
assert most[0] < 32 * 1024, "%d KiB" % most[0]
END
if ! sanitized && cc -shared -fPIC -O1 -o gate.so gate.c 2> cc_err; then
    stop_listening
    last='a lease of a server that was killed'
    listening serve killed --listen unix:sock
    holds python3 killed.py $server lease
    stop_process "$server" KILL
    LD_PRELOAD=./gate.so listening serve killed --listen unix:sock
    holds python3 killed.py $server add
    last='a co-process that is ended'
    holds python3 coprocess.py
    last='a co-process that is never read to the end'
    holds python3 backlog.py
else
    printf 'skipped: what waits for the disk, no C compiler or a sanitizer\n'
fi

# --wait waits for a server, too.
kill $server
wait $server
printf 'http://late.example/\n' > in
run -s unix:sock
expect 2 '' '*'
"$UNSEEN" -s unix:sock --wait=60 < in > late 2> late.err &
client=$!
sleep 0.3
listening serve s --listen unix:sock
wait $client
status=$?
last='--wait'
holds [ $status = 0 ]
same late in
holds [ ! -s late.err ]
rm in

# Whoever reaches the port can ask.
"$UNSEEN" serve --protocol squid --listen 0.0.0.0:0 s > /dev/null 2> warned &
open=$!
eventually grep -q 'listening' warned
kill $open
wait $open
holds grep -q '^unseen: warning: 0\.0\.0\.0:0 accepts connections from other machines, and nothing is encrypted: use a firewall$' warned
finish
