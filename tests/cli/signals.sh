# SIGUSR1 prints a status line and disturbs nothing. SIGPIPE ends the run.
. "$(dirname "$0")/lib/common.bash"

has_status() { grep -qE "^unseen: $1 lines, $2 new, $3 seen, [0-9.]+ s, [0-9]+ lines/s\$" err; }
has_lines() { [ "$(wc -l < "$1")" -ge "$2" ]; }

mkfifo q
for j in 1 2 3; do
    # while it waits for input
    "$UNSEEN" -j "$j" < q > out 2> err &
    pid=$!
    exec 3> q
    printf 'a\nb\na\n' >&3
    eventually has_lines out 2
    kill -USR1 "$pid"
    eventually has_status 3 2 1
    printf 'c\na\n' >&3
    eventually has_lines out 3
    kill -USR1 "$pid"
    eventually has_status 5 3 2
    exec 3>&-
    wait "$pid"
    holds [ $? = 0 ]
    holds [ "$(cat out)" = "$(printf 'a\nb\nc')" ]
    holds [ "$(wc -l < err)" = 2 ]

    # while it waits for the reader of its output
    urls 30000 30000 1 > big
    mkfifo slow
    "$UNSEEN" --seed 1 -j "$j" big > slow 2> err &
    pid=$!
    exec 4< slow
    read -r first <&4
    holds [ "$first" = "$(head -n 1 big)" ]
    # A signal that comes between two writes is answered after the next one, which may have to wait.
    asked_answers() { kill -USR1 "$pid" && grep -q '^unseen: [0-9]* lines' err; }
    eventually asked_answers
    { echo "$first"; cat <&4; } > out
    exec 4<&-
    wait "$pid"
    holds [ $? = 0 ]
    awk '!seen[$0]++' big > want
    same out want
    rm slow

    # in a storm of them
    urls 200000 150000 2 > big
    awk '!seen[$0]++' big > want
    mkfifo flow
    : > out # a line of it says that the handler is there
    "$UNSEEN" --seed 1 -j "$j" flow > out 2> err &
    pid=$!
    { head -n 100 big; eventually has_lines out 1; tail -n +101 big; } > flow &
    eventually has_lines out 1
    while kill -USR1 "$pid" 2> /dev/null; do :; done
    wait "$pid"
    holds [ $? = 0 ]
    same out want
    rm flow

    # any thread may be the one that writes to a pipe whose reader has gone
    for _ in $(seq 30); do
        "$UNSEEN" -j "$j" big | head -n 1 > /dev/null
        holds [ "${PIPESTATUS[0]}" = 141 ]
    done
done
finish
