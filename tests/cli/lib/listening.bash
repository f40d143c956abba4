# A server of the tool in the background, stopped by its own process id:
#
#     listening serve ARG...     starts it, and waits until it listens: $server, $port
#     stop_listening             ends it: $server_status
server=
port=
running= # the process ids of all that runs in the background, the last that was started first

listening() {
    : > listening.err
    "$UNSEEN" "$@" < /dev/null > /dev/null 2> listening.err &
    server=$!
    running="$server $running"
    for _ in $(patience); do
        grep -q '^unseen: listening on ' listening.err && break
        kill -0 "$server" 2> /dev/null || break
        sleep 0.01
    done
    port=$(sed -n 's/^unseen: listening on .*:\([0-9]*\)$/\1/p' listening.err)
    grep -q '^unseen: listening on ' listening.err
}

# stop_process PID [SIGNAL]: its exit status.
stop_process() {
    kill "-${2:-TERM}" "$1" 2> /dev/null
    wait "$1" 2> /dev/null
    stopped=$?
    running=$(printf '%s' "$running" | sed "s/\b$1 //")
    return "$stopped"
}

stop_listening() {
    stop_process "$server"
    server_status=$?
}

cleanup_more() {
    for pid in $running; do
        kill "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
    done
}
