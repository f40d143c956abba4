# Other programs' protocols of unseen serve, without those programs: every request and every answer,
# in pieces and at once, what is broken, too long or too early at its end; sockets, many at once,
# under load, while the store is replaced.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"

shopt -s lastpipe # talk sets variables

# talk PROTOCOL [OPTION]...: what is answered to standard input, from the store bad.
talk() {
    last="unseen serve --protocol $*"
    "$UNSEEN" serve --protocol "$@" bad > out 2> err
    status=$?
}

cat > lines << 'END'
http://evil.example/page
http://evil.example/a b
http://evil.example/%41
https://tunnel.example/
evil.example/
evil.example
bad@corp.example
192.0.2.0/24
198.51.100.7
2001:db8::/32
+15550100
END
holds unseen add --seed 1 -p none bad lines

# ---- Squid's external ACL -------------------------------------------------------------------------
printf 'http://evil.example/page -\nhttp://good.example/ -\nhttp%%3A//evil.example/page\n' | talk squid
expect 0 'OK\nERR\nOK\n' ''
printf '0 http://evil.example/page -\n17 http://good.example/\n4294967295 http%%3A%%2F%%2Fevil.example/a%%20b -\n' |
    talk squid
expect 0 '0 OK\n17 ERR\n4294967295 OK\n' ''
# A URL is taken as it is, one that is escaped as a whole is not.
printf '1 http://evil.example/%%2541 x\n2 http://evil.example/%%41 x\n3 tunnel.example: x\n4 http%%3a%%2f%%2fevil.example/%%2541 x\n5 http://x/%%zz x\n' |
    talk squid
expect 0 '1 ERR\n2 OK\n3 ERR\n4 OK\n5 ERR\n' ''
# Without the last newline, and a tunnel under a profile that knows the port.
printf 'https://tunnel.example/\n' | unseen add --seed 1 crawled
printf '5 tunnel.example:443 -\n6 tunnel.example:8443 -\n7 HTTPS://Tunnel.example/#x' |
    "$UNSEEN" serve --protocol squid crawled > out 2> err
status=$?
expect 0 '5 OK\n6 ERR\n7 OK\n' ''
printf '\n7\n7 \n8 http%%3\n9 %%zz\nhttp://good/\n' | talk squid
none='a line without a URL'
half='a %% without two hexadecimal digits'
expect 0 "BH message=\"$none\"\n7 BH message=\"$none\"\n7 BH message=\"$none\"\n8 BH message=\"$half\"
9 BH message=\"$half\"\nERR\n" ''
{ printf '3 '; head -c 70000 /dev/zero | tr '\0' a; printf '\n4 http://evil.example/page\n'; } | talk squid
expect 0 '3 BH message="the line is too long"\n4 OK\n' ''
head -c 300000 /dev/zero | tr '\0' 9 | talk squid
expect 0 'BH message="the line is too long"\n' ''
# The longest line: 65536 bytes.
{ head -c 65536 /dev/zero | tr '\0' a; echo; head -c 65537 /dev/zero | tr '\0' a; } | talk squid
expect 0 'ERR\nBH message="the line is too long"\n' ''

# 10^5 questions: every number is answered once, in order, and rightly.
awk 'BEGIN { for (i = 0; i < 100000; i++) { print i " http://" (i % 3 ? "good" : "evil") ".example/page -"
    print i, (i % 3 ? "ERR" : "OK") > "want" } }' > questions
talk squid < questions
holds [ "$status" = 0 ]
same want out

# By expressions: sites and folders.
printf '0 http://www.evil.example/x/y?z -\n1 http://evil.example:8080/ -\n2 http://notevil.example/ -\n3 a.evil.example:443 -\n4 x%%20y -\n' |
    talk squid --expressions
expect 0 '0 OK\n1 OK\n2 ERR\n3 OK\n4 ERR\n' ''

# ---- Squid's rewriter -----------------------------------------------------------------------------
printf '0 http://evil.example/page 127.0.0.1/- - GET myip=- myport=1\nhttp://good.example/ ::1/- - GET\n5\n' |
    talk squid-rewrite --redirect http://127.0.0.1/no
expect 0 "0 OK status=302 url=\"http://127.0.0.1/no\"\nERR\n5 BH message=\"$none\"\n" ''

# ---- Postfix's policy service ---------------------------------------------------------------------
# policy NAME=VALUE...: the answer to one request.
policy() {
    printf '%s\n' request=smtpd_access_policy protocol_state=RCPT "$@" '' | talk postfix-policy
}
rejects() {
    policy "$@"
    expect 0 'action=REJECT listed\n\n' ''
}
passes() {
    policy "$@"
    expect 0 'action=DUNNO\n\n' ''
}
rejects sender=bad@corp.example
rejects sender=BAD@Corp.Example client_address=203.0.113.1
rejects sender=any@evil.example
rejects sender=any@a.b.evil.example
rejects sender=jo@good.example client_address=192.0.2.200
rejects sender= client_address=198.51.100.7
rejects client_address=2001:DB8:ffff::1
rejects client_address=::ffff:192.0.2.9
rejects sender=any@evil.example.
rejects sender=bad@corp.example.
passes sender=good@corp.example
passes sender=any@notevil.example
passes sender=evil.example@good.example
passes sender=bad@corp.example.good.example
passes sender= client_address=198.51.100.8
passes sender= client_address=192.0.3.1
passes client_address=2001:db9::1
passes client_address=unknown recipient=bad@corp.example
passes sender=@ client_address=::
labels=$(printf 'a.%.0s' $(seq 300))
rejects "sender=x@${labels}evil.example"
printf 'sender=x@evil.example\n\nfoo\n\n\nrequest=other\n\nsender=x\n\nsender=cut@evil.example\n' |
    talk postfix-policy --reply '550 5.7.1 spam'
defer='action=DEFER_IF_PERMIT broken policy request\n\n'
expect 0 "action=550 5.7.1 spam\n\n$defer$defer${defer}action=DUNNO\n\n" ''
{ head -c 70000 /dev/zero | tr '\0' a; printf '\n\nsender=x\n\n'; } | talk postfix-policy
expect 0 'action=DEFER_IF_PERMIT policy request too long\n\n' ''

# ---- Postfix's tcp_table --------------------------------------------------------------------------
printf 'get %s\n' bad@corp.example BAD@corp.example good@corp.example x@y.evil.example www.evil.example \
    evil.example example 192.0.2.1 192.0.3.1 2001:db8::1 +15550100 +15550101 \
    http://evil.example/a%20b bad%40corp.example | talk tcp-table
yes='200 REJECT%%20listed\n'
no='500 not%%20listed\n'
expect 0 "$yes$yes$no$yes$yes$yes$no$yes$no$yes$yes$no$yes$yes" ''
printf 'get \nget\nput a b\n\nget %%4\nget evil.example\n' | talk tcp-table --reply 'a%b é'
only='400 there%%20is%%20only%%20get%%20KEY\n'
expect 0 "$no$only$only${only}400 a%%20%%25%%20without%%20two%%20hexadecimal%%20digits
200 a%%25b%%20%%C3%%A9\n" ''
{ printf 'get '; head -c 4092 /dev/zero | tr '\0' a; printf '\nget '
    head -c 4093 /dev/zero | tr '\0' a; printf '\nget evil.example\n'; } | talk tcp-table
expect 0 "${no}400 the%%20line%%20is%%20too%%20long\n$yes" ''

# ---- socketmap ------------------------------------------------------------------------------------
printf '18:x bad@corp.example,6:x good,2:x ,20:any www.evil.example,20:x bad@corp.exampleXX,' | talk socketmap
expect 0 '16:OK REJECT listed,9:NOTFOUND ,9:NOTFOUND ,16:OK REJECT listed,9:NOTFOUND ,' ''
printf '3:abc,0:,14:x evil.example,9:cut short' | talk socketmap
key='54:PERM a request is the name of a map, a space and a key,'
expect 0 "$key${key}16:OK REJECT listed," ''
for broken in 'x' '-1:a,' ':,' '3:abcd' '3 :abc,' '1234567:' '3:x y;'; do
    printf '%s14:x evil.example,' "$broken" | talk socketmap
    holds grep -qE '^[0-9]+:PERM [a-z ]+,$' out
    [ "$status" = 0 ] || complain "socketmap $broken"
done
{ printf '100000:x '; head -c 99998 /dev/zero | tr '\0' a; printf ',100001:'; } | talk socketmap
expect 0 '9:NOTFOUND ,28:PERM the request is too long,' ''

# ---- auth_request ---------------------------------------------------------------------------------
ok='HTTP/1.1 204 No Content\r\n'
forbidden='HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n'
wrong='HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n'
end='Connection: close\r\n\r\n'
printf 'GET /chk HTTP/1.1\r\nHost: x\r\nx-url:  http://evil.example/page \r\n\r\nHEAD /?a=b&url=http%%3A%%2F%%2Fevil.example%%2Fpage HTTP/1.1\r\n\r\nGET /?url=http://good/ HTTP/1.1\n\nGET / HTTP/1.1\r\n\r\n\r\nGET / HTTP/1.1\r\nX-Url: a\r\nContent-Length: 0\r\n\r\n' |
    talk http-auth
expect 0 "$forbidden\r\n$forbidden\r\n$ok\r\n$wrong\r\n$ok\r\n" ''
# What ends the connection.
after='GET / HTTP/1.1\r\nX-Url: http://evil.example/page\r\n\r\n'
for field in 'Connection: close' 'connection: x, Close' 'Content-Length: 5' 'Transfer-Encoding: chunked'; do
    printf "GET /?url=x HTTP/1.1\r\n$field\r\n\r\n$after" | talk http-auth
    expect 0 "$ok$end" ''
done
printf "GET /?url=x HTTP/1.0\r\n\r\n$after" | talk http-auth
expect 0 "$ok$end" ''
for head in 'GET' 'GET /' 'GET / HTTP/2.0' 'GET /  HTTP/1.1' ' / HTTP/1.1' 'GET /?url=x HTTP/1.1\r\nno field' \
    'GET /?url=x HTTP/1.1\r\nHost: a\r\n X-Url: b' 'GET / HTTP/1.1\r\nX-Url: a\r\nX-Url: b' \
    'GET /?url=x HTTP/1.1\r\nX-Url : b'; do
    printf "$head\r\n\r\n$after" | talk http-auth
    expect 0 "$wrong$end" ''
done
{ printf 'GET /?url='; head -c 70000 /dev/zero | tr '\0' a; } | talk http-auth
expect 0 "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n$end" ''
printf 'GET /?url=x%%f HTTP/1.1\r\n\r\nGET /?url=x HTTP/1.1\r\nX-U' | talk http-auth
expect 0 "$wrong\r\n" ''

# ---- What the tool refuses ------------------------------------------------------------------------
refuses() {
    local words=$1
    shift
    run serve "$@"
    expect 2 '' '*'
    holds grep -q -e "$words" err
    holds grep -q '^unseen: hint: ' err
}
refuses 'unknown protocol icap' --protocol icap bad
refuses 'needs a page' --protocol squid-rewrite bad
refuses 'is for --protocol squid-rewrite' --protocol squid --redirect http://x/ bad
refuses 'has no place for --reply' --protocol http-auth --reply x bad
refuses 'makes no store' --protocol squid --filter bloom bad
refuses 'makes no store' --protocol squid -p crawl bad
refuses 'one file is served' --protocol squid bad lines
for option in '--reply x' '--redirect x' --expressions; do
    refuses 'has no meaning without --protocol' $option bad
done
for text in 'a"b' $'a\nb' '' 'a\b'; do
    run serve --protocol socketmap --reply "$text" bad
    expect 2 '' '*'
    holds grep -q 'must be one line' err
done
run serve --protocol squid missing
expect 2 '' '*'
holds [ ! -e missing ]
for where in x:y 1.2.3:5 127.0.0.1: 127.0.0.1:70000 localhost:80 unix: "unix:$(printf 'a%.0s' {1..200})" \
    [::1:5 203.0.113.77:0 unix:/no/such/folder/s; do
    run serve --protocol squid --listen "$where" bad
    expect 2 '' '*'
    holds grep -q 'cannot listen on' err
done

# ---- Sockets --------------------------------------------------------------------------------------
if ! command -v python3 > /dev/null; then
    skip 'no python3'
    finish
fi
listening serve --protocol tcp-table --listen 0 bad
holds grep -qE '^unseen: listening on 127\.0\.0\.1:[0-9]+$' listening.err
# A second server cannot have the port.
run serve --protocol tcp-table --listen "$port" bad
expect 2 '' '*'

cat > ask.py << 'END'
"""ask.py ADDRESS NCONNECTIONS NQUESTIONS: asks over many connections at once, sends before it reads,
in pieces of odd sizes, and counts the answers that are not what they should be."""
import os, selectors, socket, sys
where, nconnections, nquestions = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
selector = selectors.DefaultSelector()
class Talk: pass
talks = []
for i in range(nconnections):
    t = Talk()
    if where.startswith("unix:"):
        t.socket = socket.socket(socket.AF_UNIX)
        t.socket.connect(where[5:])
    else:
        host, port = where.rsplit(":", 1)
        t.socket = socket.create_connection((host.strip("[]"), int(port)))
    t.socket.setblocking(False)
    n = nquestions // nconnections
    t.want = [b"200 REJECT%20listed" if (i + j) % 3 == 0 else b"500 not%20listed" for j in range(n)]
    t.out = b"".join(b"get a%d@%s.example\n" % (j, b"evil" if (i + j) % 3 == 0 else b"good") for j in range(n))
    t.step = 1 + i * 37 % 1000 if i % 2 else 1 << 20
    t.sent, t.answers = 0, []
    selector.register(t.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, t)
    talks.append(t)
left = nconnections
while left:
    for key, events in selector.select(20):
        t = key.data
        if events & selectors.EVENT_WRITE:
            t.sent += t.socket.send(t.out[t.sent:t.sent + t.step])
            if t.sent == len(t.out):
                t.socket.shutdown(socket.SHUT_WR)
                selector.modify(t.socket, selectors.EVENT_READ, t)
        if events & selectors.EVENT_READ and (t.sent == len(t.out) or t.step < 1 << 20):
            data = t.socket.recv(1 << 16)
            t.answers.append(data)
            if not data:
                selector.unregister(t.socket)
                left -= 1
wrong = sum(b"".join(t.answers) != b"".join(w + b"\n" for w in t.want) for t in talks)
print(sum(len(t.want) for t in talks), wrong)
END
# 10^5 questions, and 100 connections that go on meanwhile.
python3 ask.py "127.0.0.1:$port" 100 100000 > out
holds [ "$(cat out)" = '100000 0' ]
python3 ask.py "127.0.0.1:$port" 1 100000 > out
holds [ "$(cat out)" = '100000 0' ]

# More connections than there is room for: those that were silent the longest make room.
cat > many.py << 'END'
import socket, sys
port, n = int(sys.argv[1]), int(sys.argv[2])
def ask(s):
    try:
        s.sendall(b"get evil.example\n")
        return s.recv(100) == b"200 REJECT%20listed\n"
    except OSError:
        return False
sockets = []
for i in range(n):
    s = socket.create_connection(("127.0.0.1", port))
    s.settimeout(20)
    assert ask(s), i
    sockets.append(s)
answered = [ask(s) for s in sockets[-500:]]
print(sum(answered), ask(sockets[0]))
END
stop_listening
listening serve --protocol tcp-table --listen 0 --max-clients 700 bad
python3 many.py "$port" 900 > out
holds [ "$(cat out)" = '500 False' ]

# What is broken over a socket gets its answer, even if more comes behind it.
stop_listening
listening serve --protocol socketmap --listen '[::1]:0' bad || true
if [ -n "$port" ]; then
    python3 - "$port" > out << 'END'
import socket, sys
s = socket.create_connection(("::1", int(sys.argv[1])))
s.settimeout(20)
s.sendall(b"garbage" + b"x" * 200000)
answer = b""
while True:
    data = s.recv(100)
    if not data:
        break
    answer += data
print(answer)
END
    holds [ "$(cat out)" = "b'20:PERM not a netstring,'" ]
    stop_listening
else
    printf 'skipped: IPv6\n'
fi

# A local socket: one that was left behind is no obstacle, one that is in use is.
listening serve --protocol tcp-table --listen unix:socket bad
run serve --protocol tcp-table --listen unix:socket bad
expect 2 '' '*'
python3 ask.py unix:socket 10 10000 > out
holds [ "$(cat out)" = '10000 0' ]
stop_process "$server" KILL
holds [ -S socket ]
listening serve --protocol tcp-table --listen unix:socket bad
python3 ask.py unix:socket 10 10000 > out
holds [ "$(cat out)" = '10000 0' ]
stop_listening
holds [ ! -e socket ]
echo keep > file
run serve --protocol tcp-table --listen unix:file bad
expect 2 '' '*'
holds [ "$(cat file)" = keep ]

# ---- Another store in its place ------------------------------------------------------------------
# While 10^5 questions are asked the store is replaced three times: no question is lost, and every
# answer is that of one of the stores; in the end it is that of the last.
hold_time # the server looks at its file at most once a second
export PYTHONPATH=$TESTS/cli/lib PYTHONDONTWRITEBYTECODE=1
cp bad served
printf 'new.example\nevil.example\n' > new_lines
cat > swap.py << 'END'
import os, socket, subprocess, sys
from test_clock import pass_time
port, unseen = int(sys.argv[1]), sys.argv[2]
s = socket.create_connection(("127.0.0.1", port))
s.settimeout(20)
f = s.makefile("rb")
def ask(name, n=1):
    s.sendall(b"get " + b"\nget ".join([name] * n) + b"\n")
    return [f.readline()[:3] for _ in range(n)]
wrong = asked = swaps = 0
while swaps < 3 or asked < 100000:
    if swaps < 3 and asked >= 25000 * swaps:
        subprocess.run([unseen, "add", "--seed", str(swaps), "-p", "none", "made", "new_lines"], check=True)
        os.rename("made", "served")
        if os.path.exists("made.image"):
            os.rename("made.image", "served.image")
        swaps += 1
        pass_time(1)
    wrong += sum(a != b"200" for a in ask(b"evil.example", 500))
    wrong += sum(a != b"500" for a in ask(b"good.example", 500))
    asked += 1000
print(wrong, asked >= 100000, ask(b"new.example")[0].decode(), ask(b"bad@corp.example")[0].decode())
END
listening serve --protocol tcp-table --listen 127.0.0.1:0 served
python3 swap.py "$port" "$UNSEEN" new_lines > out 2> swap.err
cat swap.err >&2
holds [ "$(cat out)" = '0 True 200 500' ]
# What is no store does not take its place.
echo garbage > made
mv made served
pass_time 1
python3 ask.py "127.0.0.1:$port" 4 4000 > out
holds [ "$(cat out)" = '4000 0' ]
holds grep -q 'the answers still come from the file that was served before' listening.err
stop_listening
holds [ "$server_status" = 143 ]
finish
