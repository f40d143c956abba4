# The co-process protocol, as docs/serve.md has it.
. "$(dirname "$0")/lib/common.bash"

shopt -s lastpipe # talk sets variables

# talk STORE [OPTION]...: what is answered to standard input, without the greeting.
talk() {
    "$UNSEEN" serve "$@" > out 2> err
    status=$?
    last="unseen serve $*"
    tail -n +2 out > answers
    mv answers out
}

# ---- Every request ------------------------------------------------------------------------------
printf '' > in
run serve s
expect 0 'unseen 1 profile=crawl/1 key=64 items=0\n' ''
rm in
printf 'A http://e.com/\nA HTTP://E.com:80/#x\nC http://e.com/\nC http://e.com/b\n' | talk s
expect 0 '1\n0\n1\n0\n' ''
printf 'R http://e.com/\nR http://e.com/\nC http://e.com/\nA http://e.com/\nF\n' | talk s
expect 0 '1\n0\n0\n1\nOK\n' ''
printf 'B 3 A\nhttp://b/1\nhttp://e.com/\nhttp://b/1\nB 2 C\nhttp://b/1\nq\nB 2 R\nq\nhttp://b/1\n' |
    talk s
expect 0 '100\n10\n01\n' ''
run serve s
expect 0 'unseen 1 profile=crawl/1 key=64 items=1\n' ''
printf 'I\n' | talk s
expect 0 '*' ''
if command -v python3 > /dev/null; then
    cat > info.py << 'END'
import json, sys
info = json.load(sys.stdin)
assert info["keys"] == 1 and info["profile"] == "crawl/1" and info["key_bits"] == 64, info
assert info["filter"] == "compact" and info["log_bytes"] > 0, info
END
    holds python3 info.py < out
fi
# ... and it is what unseen info --json says.
run info --json s
expect 0 '*' ''
mv out info
printf 'I\n' | talk s
same info out

# Bytes are anything but a newline; a last line needs none; an empty URL is one, too.
printf 'A \0\377\r\nC \0\377\r\nC \0\377\nA \nA \nA  \nB 2 A\n\nend' | talk bytes -p none
expect 0 '1\n1\n0\n1\n0\n1\n01\n' ''
printf 'C end' | talk bytes
expect 0 '1\n' ''

# A server that waits takes no processor time (in ticks of 10 ms).
mkfifo waits
"$UNSEEN" serve s < waits > waiting &
server=$!
exec 9> waits
eventually [ -s waiting ]
ticks() { cut -d ' ' -f 14,15 "/proc/$server/stat" | tr ' ' +; }
started=$(($(ticks)))
sleep 1
ticks=$(($(ticks) - started))
exec 9>&-
wait $server
holds [ "$ticks" -lt 20 ]

# ---- Errors: the session goes on ----------------------------------------------------------------
unknown='E unknown request; there are: A URL, C URL, R URL, B N A, F, I, S, O NAME, T TOKEN, L SECONDS URL, D TOKEN, G TOKEN, N SECONDS TOKEN and X N SECONDS'
printf '\nQ\na x\nA\nB\nF \nFF\nI x\nhttp://e.com/\nC x\n' | talk s
expect 0 "$(printf "$unknown\\\\n%.0s" 1 2 3 4 5 6 7 8 9)0\\n" ''
printf 'B x\nB -1 A\nB  5 A\nC x\n' | talk s
number='E B needs a number of lines, such as B 500 A'
expect 0 "$number\\n$number\\n$number\\n0\\n" ''
printf 'D\nN 5\nN 5 \nN x y\nD \nG \nN 5 x\nD x\n' | talk leased
needs='E N needs a number of seconds up to 604800 and a token'
expect 0 "$unknown\\n$needs\\n$needs\\n$needs\\nE D needs a token\\nE G needs a token\\nlate\\nlate\\n" ''

# The lines of a refused batch are never requests.
printf 'B 2 Q\nA 1\nA 2\nB 1\nA 3\nB 1 AA\nA 4\nB 4 C\nA 1\nA 2\nA 3\nA 4\n' | talk s
kinds='E a batch is of A, C or R, such as B 500 A; its lines are left out'
expect 0 "$kinds\\n$kinds\\n$kinds\\n0000\\n" ''
{ echo 'B 1000001 A'; yes 'A x' | head -n 1000001; echo 'C x'; } | talk s
many='E a batch has at most 1000000 lines; those of this one are left out'
expect 0 "$many\\n0\\n" ''
printf 'B 99999999999999999999999999 A\nA x\nF\nI\n' | talk s
expect 0 "$many\\n" ''
{ echo 'B 1000000 C'; yes 'A x' | head -n 1000000; echo 'C x'; } | talk s
holds [ "$status" = 0 ]
holds [ "$(tr -d 0 < out | wc -c)" = 2 ]
holds [ "$(wc -c < out)" = 1000003 ]
# A batch that the end of the input cuts short is answered as far as it goes.
printf 'B 5 A\nhttp://cut/1\nhttp://cut/2' | talk s
expect 0 '11\n' ''
printf 'B 0 A\nB 0 C\nB 1 A\n' | talk s
expect 0 '\n\n\n' ''

# The longest line has 2^20 bytes.
long() { head -c "$1" /dev/zero | tr '\0' x; }
{ printf 'A '; long 1048574; printf '\nA '; long 1048575; printf '\nA y\nA '; long 3000000; } |
    talk long -p none
expect 0 '1\nE the line is too long\n1\nE the line is too long\n' ''
{ printf 'B 3 C\n'; long 1048574; echo; long 1048577; printf '\ny\n'; } | talk long
expect 0 '1E1\n' ''

# ---- The command --------------------------------------------------------------------------------
run serve
expect 2 '' '*'
holds grep -q '^Usage: unseen serve' err
run serve a b
expect 2 '' 'unseen: error: one file is served, and requests come from standard input\nunseen: hint: unseen serve a < b\n'
holds [ ! -e a ]
run serve -x foo s
expect 2 '' '*'
echo http://e.com/ > list
run serve list
expect 2 '' '*'
holds grep -q '^unseen: hint: ' err
run serve -p scrapy s
expect 2 '' '*'
holds grep -q '^unseen: hint: unseen serve s$' err
run serve missing/s
expect 2 '' '*'
holds grep -q 'missing/s' err

# Options make a new store.
run serve -p none --key-bits 96 new
expect 0 'unseen 1 profile=none/1 key=96 items=0\n' ''
run serve --rule strip-www ruled
expect 0 'unseen 1 profile=crawl/1+strip-www key=64 items=0\n' ''

# To ask only: nothing is written, nothing is made.
cp s before
printf 'C http://e.com/\nA http://new/\nB 2 R\nhttp://e.com/\nx\nB 1 C\nhttp://e.com/\nF\n' |
    talk -n s
only='E this server was started with --dry-run: it only answers questions'
expect 0 "1\\n$only\\nEE\\n1\\nOK\\n" ''
same s before
run serve -n none
expect 2 '' '*'
holds [ ! -e none ]

# Without a log only the end makes anything durable, and F says so.
printf 'A x\nF\n' | talk --no-log nolog
expect 0 '1\nE this store has no log: its changes are durable when the server ends\n' ''
printf 'C x\n' | talk nolog
expect 0 '1\n' ''

# A filter that cannot remove.
printf 'A x\nR x\nB 1 R\nx\nC x\n' | talk --filter bloom --capacity 1000 --fpr 1e-4 bloom
expect 0 "1\nE the store's filter cannot remove\nE\n1\n" ''

# A filter that is too small: a warning when it is noticed, an error at the end, and what to do about it.
last='a filter that is too small'
seq 3000 | sed 's/^/A /' > many
"$UNSEEN" serve --filter bloom --capacity 500 --fpr 1e-3 --seed 1 full < many > out 2> err
status=$?
expect 2 '*' '*'
warning='unseen: warning: full has more URLs than its filter was made for: more and more new URLs are taken for seen'
error='unseen: error: the bloom filter has [0-9]+ keys and was made for 500: now it takes a new line for a repeat with a probability of 0\.[0-9]+, not 1e-3'
holds [ "$(head -n 1 err)" = "$warning" ]
holds [ "$(grep -c warning err)" = 1 ]
holds grep -qxE "$error" err
holds grep -qxE 'unseen: hint: unseen rewrite --capacity [34][0-9]+ full' err
for options in '' -n '--protocol tcp-table'; do
    printf 'get x\n' > asked
    "$UNSEEN" serve $options full < asked > out 2> err
    status=$?
    expect 2 '*' '*'
    holds [ "$(head -n 1 err)" = "$warning" ]
    holds grep -qxE "$error" err
done
run rewrite --capacity 5000 full
expect 0 '*' ''
printf 'C 1\n' | talk full
expect 0 '1\n' ''
"$UNSEEN" serve --filter bloom --capacity 5000 --fpr 1e-3 --seed 1 fits < many > out 2> err
status=$?
expect 0 '*' ''

# ---- Answers come at once, and nobody waits in a circle -----------------------------------------
mkfifo ask answer
"$UNSEEN" serve pingpong < ask > answer 2> err &
pid=$!
exec 3> ask 4< answer
read -r -t 20 hello <&4
holds [ "${hello%items=*}" = "unseen 1 profile=crawl/1 key=64 " ]
for i in 1 2 3; do
    printf 'A %s\nC %s\nA part' "$i" "$i" >&3
    read -r -t 20 first <&4
    read -r -t 20 second <&4
    holds [ "$first$second" = 11 ]
    printf ' %s\nB 2 A\nb%s\n' "$i" "$i" >&3
    read -r -t 20 first <&4
    holds [ "$first" = 1 ]
    printf 'b%s\n' "$i" >&3
    read -r -t 20 first <&4
    holds [ "$first" = 10 ]
done
# A second writer is refused while this one works; asking is not.
run serve pingpong
expect 2 '' '*'
holds grep -q '^unseen: error: .*pingpong' err
# What was answered is committed without an F, too, and another process finds it.
is_known() { [ "$(echo "C $1" | "$UNSEEN" serve -n pingpong | tail -n 1)" = 1 ]; }
eventually is_known b3
exec 3>&-
wait "$pid"
holds [ $? = 0 ]
holds [ -z "$(cat <&4)" ]
exec 4<&-
rm ask answer

# Everything is asked before the first answer is read: more than the pipes hold, and F in between.
{
    awk 'BEGIN { for (i = 0; i < 200000; i++) { print "A http://e/" i % 150000
                                                 if (i % 50000 == 49999) print "F" } }'
} > requests
awk 'BEGIN { for (i = 0; i < 200000; i++) { print i < 150000
                                             if (i % 50000 == 49999) print "OK" } }' > want
mkfifo ask answer
timeout 120 "$UNSEEN" serve --seed 1 flood < ask > answer 2> err &
pid=$!
exec 3> ask 4< answer
timeout 60 cat requests >&3
holds [ $? = 0 ]
exec 3>&-
tail -n +2 <&4 > out
wait "$pid"
holds [ $? = 0 ]
exec 4<&-
same out want
rm ask answer

# The same through a pair of sockets, which some programs use as pipes.
if command -v python3 > /dev/null; then
    cat > sockets.py << 'END'
import socket, subprocess, sys

ours, theirs = socket.socketpair()
server = subprocess.Popen([sys.argv[1], "serve", "--seed", "1", "sockets"],
                          stdin=theirs, stdout=theirs)
theirs.close()
ours.settimeout(60)
ours.sendall(b"".join(b"A http://e/%d\n" % (i // 2) for i in range(400000)) + b"F\n")
ours.shutdown(socket.SHUT_WR)
answers = b"".join(iter(lambda: ours.recv(65536), b""))
assert answers.split(b"\n", 1)[1] == b"1\n0\n" * 200000 + b"OK\n"
assert server.wait() == 0
END
    holds timeout 100 python3 sockets.py "$UNSEEN"
fi

# ---- How it ends --------------------------------------------------------------------------------
# kill -9: what was answered after the last F may be new again; what was answered before it, and
# what was never answered, is as a client has to expect.
crash() {
    mkfifo ask answer
    "$UNSEEN" serve --seed 1 crash < ask > answer 2> err &
    pid=$!
    exec 3> ask 4< answer
    read -r -t 20 hello <&4
}
hang_up() {
    exec 3>&- 4<&-
    rm ask answer
}
crash
printf 'A safe\nF\nA late\nB 3 A\nhalf-1\nhalf-2\n' >&3
for want in 1 OK 1; do
    read -r -t 20 reply <&4
    holds [ "$reply" = "$want" ]
done
{ kill -9 "$pid" && wait "$pid"; } 2> /dev/null
holds [ $? = 137 ]
read -r -t 20 reply <&4
holds [ $? != 0 ]
holds [ -z "$reply" ]
hang_up
crash
# Nothing of a batch that was not answered is remembered: it is sent again as it was.
printf 'C safe\nB 3 A\nhalf-1\nhalf-2\nhalf-3\nA late\n' >&3
for want in 1 111; do
    read -r -t 20 reply <&4
    holds [ "$reply" = "$want" ]
done
read -r -t 20 reply <&4
holds grep -qx '[01]' <<< "$reply"
# SIGTERM: what was answered is committed, the unanswered batch is not.
printf 'A term\nB 2 A\nbatch-1\n' >&3
read -r -t 20 reply <&4
holds [ "$reply" = 1 ]
kill -TERM "$pid"
read -r -t 20 reply <&4
holds [ $? != 0 ]
wait "$pid" 2> /dev/null
holds [ $? = 143 ]
hang_up
holds [ ! -s err ]
printf 'C term\nC half-3\nC batch-1\n' | talk crash
expect 0 '1\n1\n0\n' ''

# Many changes and a slow disk: what was answered is committed at the end, although a commit is running that
# takes no more.
cat > slow.c << 'END'
#include <unistd.h>

int fdatasync(int fd)
{
    return usleep(200000) != 0 ? -1 : fsync(fd);
}
END
slow= # without the shim a commit may be over before the end
if ! sanitized && cc -shared -fPIC -O1 -o slow.so slow.c 2> cc_err; then
    slow=./slow.so
fi
has_keys() {
    run info --json "$1"
    holds grep -q "\"keys\": *$2," out
}
seq 200000 | sed 's/^/A /' > requests
yes 1 | head -n 200000 > want
LD_PRELOAD=$slow "$UNSEEN" serve --seed 1 -p none many.unseen < requests > out 2> err
status=$?
last='the end of many requests'
expect 0 '*' ''
tail -n +2 out > answers
same answers want
has_keys many.unseen 200000
mkfifo ask answer
LD_PRELOAD=$slow "$UNSEEN" serve many.unseen < ask > answer 2> err &
pid=$!
exec 3> ask 4< answer
read -r -t 20 hello <&4
sed 's/^A/R/' requests >&3 &
head -n 200000 <&4 > answers
kill -TERM "$pid"
wait "$pid" 2> /dev/null
holds [ $? = 143 ]
same answers want
hang_up
has_keys many.unseen 0

# A client that goes away without reading: what was not written is not committed.
mkfifo ask answer
"$UNSEEN" serve --seed 1 gone < ask > answer 2> err &
pid=$!
exec 3> ask 4< answer
printf 'A kept\n' >&3
read -r -t 20 hello <&4
read -r -t 20 reply <&4
exec 4<&-
printf 'A unread\n' >&3
exec 3>&-
wait "$pid"
holds [ $? = 141 ]
holds [ ! -s err ]
rm ask answer
printf 'C kept\nC unread\n' | talk gone
expect 0 '1\n0\n' ''

# Output that cannot be written is an error, and commits nothing.
if [ -c /dev/full ]; then
    echo 'A x' | "$UNSEEN" serve full > /dev/full 2> err
    holds [ $? = 2 ]
    holds grep -q '^unseen: error: cannot write standard output' err
    printf 'C x\n' | talk full
    expect 0 '0\n' ''
fi

# A commit that fails: F says so, what was committed stays, nothing more is taken, questions are.
if command -v strace > /dev/null && strace -o trace -e inject=getppid:error=EPERM:when=1 true 2> /dev/null; then
    echo 'A old' | talk broken
    printf 'A x\nF\nA y\nF\nA z\nB 2 A\na\nb\nR x\nC x\nC z\nF\n' > in
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e inject=fdatasync:error=EIO:when=2+ \
        "$UNSEEN" serve broken < in > out 2> err
    status=$?
    last='unseen serve broken, where the second commit fails'
    rm in
    tail -n +2 out > answers && mv answers out
    broken='E cannot write broken: Input/output error'
    expect 2 "1\nOK\n1\n$broken\n$broken\nEE\n$broken\n1\n0\n$broken\n" '*'
    holds [ "$(head -n 1 err)" = 'unseen: error: cannot remember: cannot write broken: Input/output error' ]
    holds [ "$(grep -c '^unseen: hint: ' err)" = 1 ]
    holds [ "$(wc -l < err)" = 2 ]
    printf 'C old\nC x\nC z\nA z\nF\n' | talk broken
    expect 0 '1\n1\n0\n1\nOK\n' ''
else
    printf 'skipped: injected errors, strace cannot run here\n'
fi

# To a file: all of it.
printf 'A 1\nB 2 A\n1\n2\nF\n' > in
run serve file
expect 0 'unseen 1 profile=crawl/1 key=64 items=0\n1\n01\nOK\n' ''
rm in

# Nothing lost in 20 kills at random times: what was answered before the last F that was answered
# is in the store; what was not answered is asked again.
if command -v python3 > /dev/null; then
    cat > kills.py << 'END'
import random, subprocess, sys, time

tool, store = sys.argv[1:]
random.seed(4)
safe, late, total, repeated = set(), set(), 0, 0

def start():
    server = subprocess.Popen([tool, "serve", "--seed", "1", "-p", "none", store],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout.readline().startswith(b"unseen 1 ")
    return server

for cycle in range(20):
    server = start()
    for url in sorted(safe)[:200]:
        server.stdin.write(b"C %d\n" % url)
    server.stdin.flush()
    for _ in range(min(200, len(safe))):
        assert server.stdout.readline() == b"1\n", "a URL was lost"
    # Ask for a while without looking, kill, then read what had been answered.
    asked = []
    for _ in range(random.randrange(1, 400)):
        if random.random() < 0.02:
            asked.append(None)
            server.stdin.write(b"F\n")
        else:
            total += 1
            asked.append(total)
            server.stdin.write(b"A %d\n" % total)
    server.stdin.flush()
    if random.random() < 0.8:
        server.stdout.peek(1)
        time.sleep(random.random() * 0.1)
    server.kill()
    answers = server.stdout.read().split(b"\n")[:-1]
    server.wait()
    for what, answer in zip(asked, answers):
        if what is None:
            assert answer == b"OK", answer
            safe |= late
            late = set()
        else:
            assert answer == b"1", answer
            late.add(what)
    # What was not answered was not remembered: it is new, and is answered now.
    server = start()
    rest = [what for what in asked[len(answers):] if what]
    for what in rest:
        server.stdin.write(b"A %d\n" % what)
    known = sorted(late)
    for what in known:
        server.stdin.write(b"C %d\n" % what)
    server.stdin.close()
    for what in rest:
        assert server.stdout.readline() == b"1\n", "an unanswered URL was remembered"
    for what in known:
        if server.stdout.readline() == b"0\n":
            repeated += 1
            late.discard(what)
    assert server.wait() == 0
    safe |= late | set(rest)
    late = set()
print(total, "URLs,", repeated, "would be repeated, 0 lost")
END
    holds python3 kills.py "$UNSEEN" "$scratch/kills"
fi
finish
