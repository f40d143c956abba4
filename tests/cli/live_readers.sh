# Long runs that only read a store follow what other processes commit: -n, -x, check and serve, through
# rewrite and replacement, up to damage.
. "$(dirname "$0")/lib/common.bash"

declare -A pid fd said

# begin NAME COMMAND...: starts a run that is asked through a pipe.
begin() {
    local name=$1 to
    shift
    mkfifo "$name.in"
    ( # without the pipes of the other runs, which must end when they are closed here
        for to in "${fd[@]}"; do exec {to}>&-; done
        exec "$@" < "$name.in" > "$name.out" 2> "$name.err"
    ) &
    pid[$name]=$!
    exec {to}> "$name.in"
    fd[$name]=$to
    said[$name]=
}

# asked NAME LINES ANSWERS: both in printf's notation.
asked() {
    said[$1]+=$3
    last="$1: $2"
    printf '%b' "$2" >&"${fd[$1]}"
    printf '%b' "${said[$1]}" > wanted
    eventually cmp -s "$1.out" wanted
    same "$1.out" wanted
}

# ends NAME STATUS STDERR
ends() {
    local to=${fd[$1]}
    exec {to}>&-
    wait "${pid[$1]}"
    status=$?
    last="$1 ends"
    holds [ $status = "$2" ]
    printf '%b' "$3" > wanted
    same "$1.err" wanted
}

add() { printf '%s\n' "$@" | holds "$UNSEEN" add s > /dev/null; }

# Each run looks at the store at most once a second.
hold_time
later() { pass_time 1; }

add http://e.com/1
begin dry "$UNSEEN" -n -s s --line-buffered
begin exclude "$UNSEEN" -x s --line-buffered
begin check "$UNSEEN" check --mark --line-buffered s
begin serve "$UNSEEN" serve -n s
begin squid "$UNSEEN" serve --protocol squid s
begin socket "$UNSEEN" serve -n s --listen unix:socket
asked dry 'http://e.com/1\nhttp://e.com/2\n' 'http://e.com/2\n'
asked exclude 'http://e.com/1\nhttp://e.com/2\n' 'http://e.com/2\n'
asked check 'http://e.com/1\nhttp://e.com/2\n' '1\thttp://e.com/1\n0\thttp://e.com/2\n'
asked serve 'C http://e.com/1\nC http://e.com/2\n' 'unseen 1 profile=crawl/1 key=64 items=1\n1\n0\n'
asked squid 'http://e.com/1\nhttp://e.com/2\n' 'OK\nERR\n'
printf 'http://e.com/2\n' > in
eventually grep -q listening socket.err
run check unix:socket
expect 1 '' ''

# ---- A commit -----------------------------------------------------------------------------------
add http://e.com/2
later
asked dry 'http://e.com/2\nhttp://e.com/3\n' 'http://e.com/3\n'
asked exclude 'http://e.com/2\nhttp://e.com/4\n' 'http://e.com/4\n'
asked check 'http://e.com/2\nhttp://e.com/3\n' '1\thttp://e.com/2\n0\thttp://e.com/3\n'
asked serve 'C http://e.com/2\nC http://e.com/3\n' '1\n0\n'
asked squid 'http://e.com/2\nhttp://e.com/3\n' 'OK\nERR\n'
run check unix:socket
expect 0 'http://e.com/2\n' ''

# ---- Another log, with another filter, and a commit ---------------------------------------------
last=rewrite
holds "$UNSEEN" rewrite --filter counting --capacity 1e6 --fpr 1e-6 s 2> /dev/null
add http://e.com/5
later
asked dry 'http://e.com/5\nhttp://e.com/6\n' 'http://e.com/6\n'
asked exclude 'http://e.com/5\nhttp://e.com/6\n' 'http://e.com/6\n'
asked check 'http://e.com/1\nhttp://e.com/5\nhttp://e.com/6\n' '1\thttp://e.com/1\n1\thttp://e.com/5\n0\thttp://e.com/6\n'
asked serve 'C http://e.com/1\nC http://e.com/5\nC http://e.com/6\n' '1\n1\n0\n'
asked squid 'http://e.com/5\nhttp://e.com/6\n' 'OK\nERR\n'

# ---- Nothing, and then a store with other keys --------------------------------------------------
mv s kept
later
asked check 'http://e.com/5\nhttp://e.com/7\n' '1\thttp://e.com/5\n0\thttp://e.com/7\n'
add http://e.com/7
later
asked dry 'http://e.com/5\nhttp://e.com/7\n' 'http://e.com/7\n'
asked exclude 'http://e.com/5\nhttp://e.com/7\n' 'http://e.com/7\n'
asked serve 'C http://e.com/5\nC http://e.com/7\n' '1\n0\n'
asked squid 'http://e.com/5\nhttp://e.com/7\n' 'ERR\nOK\n' # it has told nobody about keys
mv kept s
later
asked dry 'http://e.com/7\n' 'http://e.com/7\n'
asked serve 'C http://e.com/5\nC http://e.com/7\n' '1\n0\n'
asked squid 'http://e.com/5\nhttp://e.com/7\n' 'OK\nERR\n'
seed='unseen: error: s has been replaced by a store with another seed\n'
stale='unseen: warning: the answers still come from s as it was\n'
ends dry 2 "$seed$stale"
ends exclude 2 "$seed$stale"

# ---- Damage in a record that came ---------------------------------------------------------------
size=$(stat -c %s s)
add http://e.com/8
add http://e.com/9
flip s $((size + 60))
damage="unseen: error: s is damaged: bytes $size to $((size + 56 + 8 + 8))\nunseen: hint: unseen repair s\n"
later
asked check 'http://e.com/5\nhttp://e.com/8\nhttp://e.com/9\n' '1\thttp://e.com/5\n0\thttp://e.com/8\n0\thttp://e.com/9\n'
asked serve 'C http://e.com/5\nC http://e.com/8\n' '1\n0\n'
ends check 2 "$damage$stale"

holds "$UNSEEN" repair s > /dev/null 2>&1
later
asked serve 'C http://e.com/5\nC http://e.com/8\nC http://e.com/9\n' '1\n0\n1\n'
ends serve 0 "$seed$stale$damage$stale"
asked squid 'http://e.com/9\n' 'OK\n'
ends squid 0 ''
kill "${pid[socket]}"
ends socket 143 'unseen: listening on unix:socket\n'

finish
