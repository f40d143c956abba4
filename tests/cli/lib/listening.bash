# A server of the tool in the background, stopped by its own process id:
#
#     listening serve ARG...     starts it, and waits until it listens: $server, $port
#     stop_listening             ends it: $server_status
server=
port=

listening() {
    : > listening.err
    "$UNSEEN" "$@" < /dev/null > /dev/null 2> listening.err &
    server=$!
    for _ in $(seq 2000); do
        grep -q '^unseen: listening on ' listening.err && break
        kill -0 "$server" 2> /dev/null || break
        sleep 0.01
    done
    port=$(sed -n 's/^unseen: listening on .*:\([0-9]*\)$/\1/p' listening.err)
    grep -q '^unseen: listening on ' listening.err
}

stop_listening() {
    kill "$server"
    wait "$server" 2> /dev/null
    server_status=$?
    server=
}

cleanup_more() {
    [ -z "$server" ] || kill -9 "$server" 2> /dev/null
}
