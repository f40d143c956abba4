# unseen serve on lists: every protocol and every kind, unseen's own protocol, and lists that are replaced
# and changed while they are asked by many.
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
hold_time # a server looks at its file at most once a second
export PYTHONPATH=$TESTS/cli/lib PYTHONDONTWRITEBYTECODE=1

shopt -s lastpipe # talk sets variables

# talk PROTOCOL [OPTION]... LIST: what is answered to standard input.
talk() {
    last="unseen serve --protocol $*"
    "$UNSEEN" serve --protocol "$@" > out 2> err
    status=$?
}

printf 'http://evil.example/page\nhttps://tunnel.example/\nhttp://evil.example/%%41\n' | "$UNSEEN" build --seed 1 -p none url.list
printf 'evil.example/\nshop.example/bad/\n' | "$UNSEEN" build --seed 1 --expressions sites.list
printf 'bad@corp.example\nevil.example\n' | "$UNSEEN" build --seed 1 --kind mail mail.list
printf '192.0.2.0/24\n198.51.100.7\n2001:db8::/32\n' | "$UNSEEN" build --seed 1 --kind ip ip.list
printf '+15550100\n' | "$UNSEEN" build --seed 1 --kind phone phone.list
echo friend@evil.example | "$UNSEEN" allow mail.list
echo 192.0.2.66 | "$UNSEEN" allow ip.list
echo shop.example/bad/not/ | "$UNSEEN" allow sites.list

# ---- Each protocol --------------------------------------------------------------------------------
printf '1 http://evil.example/page -\n2 http://good.example/ -\n3 tunnel.example -\n4 http://evil.example/%%41 -\n5 \n' | talk squid url.list
expect 0 '1 OK\n2 ERR\n3 OK\n4 OK\n5 BH message="a line without a URL"\n' ''
printf '1 http://www.Evil.example/x?y -\n2 http://shop.example/ -\n3 a.evil.example:443 -\n4 http://shop.example/bad/x\n5 http://shop.example/bad/not/x\n' |
    talk squid sites.list
expect 0 '1 OK\n2 ERR\n3 OK\n4 OK\n5 ERR\n' ''
printf '1 http://www.evil.example/ -\n' | talk squid --expressions sites.list
expect 0 '1 OK\n' ''
# Squid says %23 for the # that it sends on, and that some servers cut off.
printf '1 http://shop.example/bad/x%%23/../../good -\n2 http://shop.example/a%%23/../b%%23\n3 http://shop.example/%s\n' "$(printf '%%23%.0s' {1..17})" |
    talk squid sites.list
expect 0 '1 OK\n2 ERR\n3 OK\n' ''
# %SRC in place of %URI.
printf '1 192.0.2.7 -\n2 192.0.3.7 -\n3 192.0.2.66 -\n4 2001:db8::1\n5 http://192.0.2.7/\n' | talk squid ip.list
expect 0 '1 OK\n2 ERR\n3 ERR\n4 OK\n5 ERR\n' ''
printf '1 http://evil.example/ 10.0.0.1/- - GET\n2 http://good.example/ 10.0.0.1/- - GET\n' |
    talk squid-rewrite --redirect http://127.0.0.1/no sites.list
expect 0 '1 OK status=302 url="http://127.0.0.1/no"\n2 ERR\n' ''

policy() {
    local list=$1
    shift
    printf '%s\n' request=smtpd_access_policy "$@" '' | talk postfix-policy "$list"
}
rejects() {
    policy "$@"
    expect 0 'action=REJECT listed\n\n' ''
}
passes() {
    policy "$@"
    expect 0 'action=DUNNO\n\n' ''
}
rejects mail.list sender=BAD@Corp.example client_address=203.0.113.1
rejects mail.list sender=any@a.b.evil.example
passes mail.list sender=friend@evil.example
passes mail.list sender=good@corp.example client_address=192.0.2.7
passes mail.list sender=
rejects ip.list sender=bad@corp.example client_address=192.0.2.7
rejects ip.list client_address=2001:DB8:ffff::1
rejects ip.list client_address=::ffff:192.0.2.9
passes ip.list sender=bad@corp.example client_address=192.0.2.66
passes ip.list client_address=unknown
printf 'foo\n\nsender=any@evil.example\n\n' | talk postfix-policy mail.list
expect 0 'action=DEFER_IF_PERMIT broken policy request\n\naction=REJECT listed\n\n' ''

yes='200 REJECT%%20listed\n'
no='500 not%%20listed\n'
printf 'get %s\n' bad@corp.example x@y.evil.example evil.example good@corp.example friend@evil.example 192.0.2.1 |
    talk tcp-table mail.list
expect 0 "$yes$yes$yes$no$no$no" ''
printf 'get %s\n' 192.0.2.1 192.0.2.66 mail.evil.example | talk tcp-table ip.list
expect 0 "$yes$no$no" ''
printf 'get %s\n' +15550100 +1%20555%200100 +15550101 | talk tcp-table phone.list
expect 0 "$yes$yes$no" ''
printf 'get %s\n' http://evil.example/x http://good.example/ | talk tcp-table sites.list
expect 0 "$yes$no" ''
printf '18:x bad@corp.example,21:x friend@evil.example,2:x ,' | talk socketmap mail.list
expect 0 '16:OK REJECT listed,9:NOTFOUND ,9:NOTFOUND ,' ''
printf 'GET /?url=http%%3A%%2F%%2Fevil.example%%2F HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nX-Url: http://good.example/\r\n\r\n' |
    talk http-auth sites.list
expect 0 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n' ''

printf 'GET / HTTP/1.1\r\nX-Url: 192.0.2.7\r\n\r\nGET / HTTP/1.1\r\nX-Url: 192.0.2.66\r\n\r\nGET / HTTP/1.1\r\nX-Url: http://192.0.2.7/\r\n\r\n' |
    talk http-auth ip.list
expect 0 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n' ''

# ---- What does not fit ----------------------------------------------------------------------------
# unfit PROTOCOL LIST KIND BUILD: refused, with a list of what kind would do
unfit() {
    run serve --protocol $1 "$2"
    expect 2 '' "unseen: error: $2 is of the kind $3, and --protocol ${1%% *} asks for nothing of that kind
unseen: hint: unseen build --kind $4 NEW.list FILE\n"
}
unfit squid mail.list mail url
unfit 'squid-rewrite --redirect http://x/' mail.list mail url
unfit postfix-policy url.list url mail
unfit postfix-policy sites.list expressions mail
unfit http-auth phone.list phone url
run serve --protocol squid --expressions url.list
expect 2 '' 'unseen: error: url.list was not built with --expressions\nunseen: hint: unseen build --expressions url.list FILE\n'
run serve --fpr 1e-6 url.list
expect 2 '' 'unseen: error: url.list is a list: it is served as it was built\nunseen: hint: unseen serve url.list\n'

# ---- unseen's own protocol ------------------------------------------------------------------------
changes='E this is a list, which unseen update changes: here are only answers\n'
printf 'C Any@EVIL.example\nC friend@evil.example\nC x\nA y@evil.example\nR any@evil.example\nF\nB 3 C\nbad@corp.example\nfriend@evil.example\na@b.evil.example\nB 2 A\na\nb\nC a@evil.example' |
    "$UNSEEN" serve mail.list > out 2> err
status=$?
last='unseen serve mail.list'
expect 0 "unseen 1 profile=none/1 key=64 items=2 kind=mail\n1\n0\n0\n$changes${changes}OK\n101\nEE\n1\n" ''
echo I | "$UNSEEN" serve url.list 2>&1 | sed 1d > out
unseen info --json url.list > want
same want out

# ---- Replaced and changed while they are asked ----------------------------------------------------
if ! command -v python3 > /dev/null; then
    skip 'no python3'
    finish
fi
# Eight connections ask 10^5 questions and more, many at a time, one of them broken now and then. Every
# question has its answer, in order; what both lists say is said throughout; what only one says changes
# once, and ends as the last list and its last change have it.
cat > load.py << 'END'
import os, socket, subprocess, sys, threading, time
from test_clock import pass_time
port, unseen = int(sys.argv[1]), sys.argv[2]
BOTH, NEITHER, OLD, NEW, LATER = ("http://%s.example/x" % name for name in ("both", "neither", "old", "new", "later"))
FIRST = {BOTH: "OK", NEITHER: "ERR", OLD: "OK", NEW: "ERR", LATER: "OK"}
LAST = {BOTH: "OK", NEITHER: "ERR", OLD: "ERR", NEW: "OK", LATER: "ERR"}
BROKEN = 'BH message="a line without a URL"'
over = threading.Event()
asked, faults, last = [0] * 8, [], [False] * 8

def talk(which):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(30)
    f = s.makefile("rb")
    now, n, rounds_after = dict(FIRST), 0, 0
    try:
        while rounds_after < 2:
            rounds_after += over.is_set()
            batch = [(BOTH, NEITHER, OLD, NEW, LATER, "")[(n + i + which) % 6] for i in range(240)]
            s.sendall("".join("%d %s -\n" % (n + i, url) if url else "%d\n" % (n + i) for i, url in enumerate(batch)).encode())
            for i, url in enumerate(batch):
                number, _, answer = f.readline().decode().rstrip("\n").partition(" ")
                if int(number) != n + i:
                    raise ValueError("%d answered as %s" % (n + i, number))
                if not url:
                    if answer != BROKEN:
                        raise ValueError("broken line answered " + answer)
                elif answer != now[url]:
                    if answer != LAST[url]:
                        raise ValueError("%s is %s after %s" % (url, answer, now[url]))
                    now[url] = answer
            n += len(batch)
            asked[which] = n
            last[which] = now == LAST
        if now != LAST:
            raise ValueError("ends with %s" % now)
    except Exception as e:
        faults.append("%d: %r" % (which, e))
        over.set()

def command(*args, lines):
    subprocess.run([unseen, *args], input="".join(line + "\n" for line in lines).encode(), check=True)

def let_ask():
    """Each connection asks on for two batches and more."""
    before = list(asked)
    while any(a < b + 480 for a, b in zip(asked, before)) and not over.is_set():
        time.sleep(0.01)

threads = [threading.Thread(target=talk, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
let_ask()
command("build", "--seed", "2", "served.list", lines=[BOTH, NEW, LATER])    # replaces it
pass_time(1)
let_ask()
command("allow", "served.list", lines=[LATER])                              # changes it
pass_time(1)
limit = time.monotonic() + 300
while (sum(asked) < 100000 or not all(last)) and not over.is_set() and time.monotonic() < limit:
    time.sleep(0.05)
over.set()
for t in threads:
    t.join()
print(sum(asked) >= 100000, *faults)
END
printf 'http://%s.example/x\n' both old later | "$UNSEEN" build --seed 1 served.list
listening serve --protocol squid --listen 127.0.0.1:0 served.list
python3 load.py "$port" "$UNSEEN" > out
holds [ "$(cat out)" = True ]
stop_listening
holds [ "$server_status" = 143 ]
lacks 'error\|warning' listening.err

# What is no list of that kind does not take its place; the old one goes on answering, and so it does when
# the file is gone for a while.
cat > ask.py << 'END'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.settimeout(20)
s.sendall(b"get a@evil.example\nget " + sys.argv[2].encode() + b"\n")
f = s.makefile("rb")
print(f.readline()[:3].decode(), f.readline()[:3].decode())
END
cp mail.list served
listening serve --protocol tcp-table --listen 0 served
answer() { python3 ask.py "$port" "$1"; }
holds [ "$(answer new@good.example)" = '200 500' ]
echo garbage > made
mv made served
pass_time 1
holds [ "$(answer new@good.example)" = '200 500' ]
holds grep -q 'the answers still come from the file that was served before' listening.err
rm served
pass_time 1
holds [ "$(answer new@good.example)" = '200 500' ]
printf 'evil.example\nnew@good.example\n' | "$UNSEEN" build --kind mail served 2> err
pass_time 1
holds [ "$(answer new@good.example)" = '200 200' ]
# Changes, one by one, while the server has the file open.
echo new@good.example | "$UNSEEN" update served --remove -
pass_time 1
holds [ "$(answer new@good.example)" = '200 500' ]
echo other.example | "$UNSEEN" update served --add -
pass_time 1
holds [ "$(answer x@mail.other.example)" = '200 200' ]
echo evil.example | "$UNSEEN" allow served
pass_time 1
holds [ "$(answer x)" = '500 500' ]
echo evil.example | "$UNSEEN" allow --remove served
pass_time 1
holds [ "$(answer x)" = '200 500' ]
stop_listening

# Written over in place, cut short, and a new file that comes slowly: none of them is good practice, and
# none ends the server or gives an answer that neither list has; once the file is whole it is taken up.
urls 60000 50000 1 | sort -u > many
awk 'NR % 2' many > half
awk '!(NR % 2)' many > other_half
holds unseen build --seed 1 --fpr 1e-9 half.list half
holds unseen build --seed 2 --fpr 1e-9 other.list other_half
cat > misuse.py << 'END'
import os, subprocess, sys, time
from test_clock import pass_time
unseen, how = sys.argv[1:]
def lines(name):
    return [line.rstrip("\n") for line in open(name)][:20000:7]
half, other = lines("half"), lines("other_half")
new = open("other.list", "rb").read()
for name in ("served", "beside"):
    if os.path.exists(name):
        os.remove(name)
subprocess.run(["cp", "half.list", "served"], check=True)
p = subprocess.Popen([unseen, "serve", "--protocol", "squid", "served"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True, bufsize=1 << 20)
def ask(urls):
    p.stdin.write("".join(url + " -\n" for url in urls))
    p.stdin.flush()
    answers = [p.stdout.readline().split(" ")[0].strip() for _ in urls]
    assert all(a in ("OK", "ERR", "BH") for a in answers), answers[:5]
    return "/".join(sorted(set(answers)))
said = [ask(half), ask(other)]
middle = None
if how == "cut":
    os.truncate("served", 0)
    middle = ask(half + other)
    pass_time(1)
    middle = ask(half + other)
    subprocess.run(["cp", "other.list", "served"], check=True)
elif how == "over":
    with open("served", "r+b") as f:
        f.write(new)
elif how == "slow":
    os.remove("served")
    with open("served", "wb") as f:
        f.write(new[:len(new) // 2])
        f.flush()
        pass_time(1)
        middle = ask(half)
        pass_time(1)
        middle += ask(half)
        f.write(new[len(new) // 2:])
limit = time.monotonic() + 300
while ask(other) != "OK" and time.monotonic() < limit:
    pass_time(1)
said += [ask(half), ask(other)]
p.stdin.close()
print(*said, middle, p.wait())
END
# misuse HOW: what is said of the old list's lines and the new one's, before and after, and meanwhile
misuse() { python3 misuse.py "$UNSEEN" "$1" 2> misuse.err || cat misuse.err >&2; }
holds [ "$(misuse cut)" = 'OK ERR ERR OK BH 0' ]
holds [ "$(misuse over)" = 'OK ERR ERR OK None 0' ]
holds [ "$(misuse slow)" = 'OK ERR ERR OK OKOK 0' ]

# unseen's own protocol takes up lists and changes, too.
cp mail.list served
coproc "$UNSEEN" serve served 2> err
ask() {
    echo "C $1" >&"${COPROC[1]}"
    read -r said <&"${COPROC[0]}"
}
read -r said <&"${COPROC[0]}"
ask new@good.example
holds [ "$said" = 0 ]
printf 'new@good.example\n' | "$UNSEEN" build --kind mail served 2> build_err
pass_time 1
ask new@good.example
holds [ "$said" = 1 ]
echo new@good.example | "$UNSEEN" allow served
pass_time 1
ask new@good.example
holds [ "$said" = 0 ]
pid=$COPROC_PID
# shellcheck disable=SC2093,SC1083 # exec closes a descriptor here
exec {COPROC[1]}>&-
holds wait "$pid"
holds [ ! -s err ]
finish
