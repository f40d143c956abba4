# Redis servers on sockets in the scratch folder and on free ports, stopped by their own process ids; needs
# listening.bash:
#
#     redis NAME [OPTION]...          starts one that listens at NAME.sock
#     redis_port [OPTION]...          starts one at a free port: $redis_port
#     at NAME COMMAND...              what redis-cli answers
redis() {
    local name=$1
    shift
    mkdir -p "$name.dir"
    start_redis "$name" --port 0 --unixsocket "$PWD/$name.sock" --dir "$PWD/$name.dir" "$@"
}

# A port, and one of a cluster's bus 10,000 above it, that systems give to no client by themselves.
redis_port() {
    local try
    for try in 1 2 3 4 5 6 7 8 9; do
        redis_port=$((11000 + RANDOM % 11000))
        mkdir -p "$redis_port.dir"
        start_redis "$redis_port" --port "$redis_port" --bind 127.0.0.1 --dir "$PWD/$redis_port.dir" "$@" && return
    done
    return 1
}

# What the server says itself is asked for: at its port another one may answer.
start_redis() {
    local log=redis.$1.log
    shift
    redis-server --save '' --daemonize no --repl-diskless-sync-delay 0 "$@" > "$log" 2>&1 &
    server=$!
    running="$server $running"
    for _ in $(patience); do
        if grep -q 'eady to accept connections' "$log"; then return 0; fi
        kill -0 "$server" 2> /dev/null || return 1
        sleep 0.01
    done
    return 1
}

at() {
    local name=$1
    shift
    redis-cli -s "$name.sock" "$@"
}
