# The clients under examples/: the demo of each and every method, against the real tool, with
# servers killed on the way. What a machine has no compiler or interpreter for is skipped.
# Label: once
# Time: long
. "$(dirname "$0")/lib/common.bash"

. "$TESTS/cli/lib/listening.bash"

examples=$TESTS/../examples
clients=$TESTS/cli/clients
nrun=0

# The programs run this tool: it leaves the server's process id, so that they can kill it.
mkdir bin
cat > bin/unseen << END
#!/bin/sh
echo \$\$ > pid
exec "$UNSEEN" "\$@"
END
chmod +x bin/unseen
PATH=$PWD/bin:$PATH

urls 5000 3000 5 > some
printf 'http://e.com/\303\251\nhttp://e.com/%%C3%%A9' >> some
"$UNSEEN" --seed 1 some > demo_want
cat > exercise_want << 'END'
unseen 1 profile=crawl/1 key=64 items=0
new true false
seen true false
remove true false
batch true true false true
seen batch true false
empty 0
keys 3
refused
refused
error the line is too long
killed true true
killed 99998
again 0
not started
install it
ended true
closed
lease true true true
renew 1 0
done 1 true
leases 1200 1199 1200
take 1200 true 0
done 1200 [] 0
refused
error L needs a number of seconds up to 604800 and a URL, such as L 60 http://e.com/
END

# try LANGUAGE: its demo twice, when everything is new and when nothing is; then its exercise.
try() {
    nrun=$((nrun + 1))
    last="the demo of $1"
    "$1_demo" "$1.unseen" < some > out 2> err
    status=$?
    expect 0 '*' ''
    same out demo_want
    "$1_demo" "$1.unseen" < some > out 2> err
    status=$?
    expect 0 '' ''
    last="the demo of $1 without a store"
    "$1_demo" < /dev/null > out 2> err
    status=$?
    [ "$status" = 0 ] && complain "$last: exit status 0"
    holds grep -q "^usage: .* STORE < urls$" err
    holds [ "$(wc -l < err)" = 1 ]
    last="the exercise of $1"
    "$1_exercise" "$PWD/bin/unseen" "$1_2.unseen" > out 2> err
    status=$?
    expect 0 '*' '*'
    [ "$status" = 0 ] || cat err >&2
    same out exercise_want
    try_address "$1"
}

has_first() { [ "$(head -n 2000 some | "$UNSEEN" check -vc "$1" 2> /dev/null)" = 0 ]; }

has_ended() { ! kill -0 "$1" 2> /dev/null; }

# The same demo with a server that others use, too, which is killed and started again on the way. What
# the server had answered and not committed may come twice.
try_address() {
    last="the demo of $1 with an address"
    listening serve "$1.shared" --listen "unix:$1.sock"
    {
        head -n 2000 some
        # A client that has never reached a server does not wait for one; and what is not committed is
        # new again for the question below.
        eventually has_first "$1.shared"
        stop_process "$server" KILL
        eventually has_ended "$server" # this is not the shell that could wait for it
        {
            sleep 0.5 # the client waits for the server
            listening serve "$1.shared" --listen "unix:$1.sock"
            echo "$server" > second
        } &
        tail -n +2001 some
        wait $!
    } 2> /dev/null | "$1_demo" "unix:$1.sock" 2> err | sort -u > out
    sort demo_want > sorted_want
    same out sorted_want
    holds [ ! -s err ]
    "$UNSEEN" -s "unix:$1.sock" some > out
    status=$?
    expect 0 '' '*'
    kill "$(cat second)" && eventually [ ! -e "$1.sock" ]
    "$1_demo" "unix:$1.sock" < some > out 2> err
    status=$?
    [ "$status" = 0 ] && complain "$last, without a server: exit status 0"
    holds grep -q "cannot connect to unix:$1.sock" err
}

if command -v python3 > /dev/null; then
    export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$examples/python
    python_demo() { timeout 120 python3 "$examples/python/demo.py" "$@"; }
    python_exercise() { PYTHONIOENCODING=utf-8 timeout 120 python3 "$clients/python/exercise.py" "$@"; }
    try python
    last='the Python client and its threads'
    timeout 120 python3 "$clients/python/more.py" "$PWD/bin/unseen" "$PWD/more.unseen" > out 2> err
    status=$?
    expect 0 'threads 1000\ninterrupted 0\nrestarted True False\na batch is a list of URLs, not one string\na batch is a list of URLs, not one string\na forked process needs an Unseen of its own: one store, one server\nstill True\nit is closed\n' ''
else
    echo 'skipped: Python, no python3'
fi

if command -v node > /dev/null; then
    node_demo() { timeout 120 node "$examples/node/demo.js" "$@"; }
    node_exercise() { timeout 120 node "$clients/node/exercise.js" "$examples/node" "$@"; }
    try node
else
    echo 'skipped: Node, no node'
fi

if command -v go > /dev/null; then
    mkdir go
    cp "$clients"/go/* go/
    cp -r "$examples/go" go/unseen
    go_demo() { timeout 120 bin/go_demo "$@"; }
    go_exercise() { timeout 120 bin/go_exercise "$@"; }
    export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
    [ -w "${HOME:-/none}" ] || export GOCACHE=$PWD/go/cache
    (cd go/unseen && go build -o ../../bin/go_demo ./demo && cd .. && go build -o ../bin/go_exercise .)
    holds [ $? = 0 ]
    try go
else
    echo 'skipped: Go, no go'
fi

if command -v javac > /dev/null && command -v java > /dev/null; then
    javac -Xlint:all -Werror -encoding UTF-8 -d classes "$examples"/java/*.java "$clients"/java/*.java
    holds [ $? = 0 ]
    java_demo() { timeout 120 java -cp classes Demo "$@"; }
    java_exercise() { timeout 120 java -Dunseen.tool="$1" -cp classes Exercise "$2"; }
    try java
else
    echo 'skipped: Java, no javac'
fi
[ "$nrun" -gt 0 ] || skip 'no language of the examples'
finish
