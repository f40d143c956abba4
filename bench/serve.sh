#!/bin/bash
# unseen serve with many clients, against Redis SADD asked in the same way, and PostgreSQL; one after
# the other in each round. Ratios of the server's CPU time for each URL.
#
# usage: bench/serve.sh [ROUNDS] (default 3). Needs redis-server; PostgreSQL (postgresql, in /usr/lib)
# is left out if it is missing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
tool=${UNSEEN:-$here/build/release/unseen}
bench=$here/build/release/bench/bench_serve
rounds=${1:-3}
work=$(mktemp -d)
pids=
cleanup() {
    for pid in $pids; do kill "$pid" 2>/dev/null; done
    wait
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

echo "machine:  $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2 | sed 's/^ //'), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "commit:   $(git -C "$here" rev-parse --short HEAD), $("$tool" --version | head -n 1)"

start_unseen() {
    rm -f store*
    "$tool" serve store --listen "unix:$work/u.sock" 2>/dev/null &
    server=$!
    pids="$pids $server"
    while [ ! -S u.sock ]; do sleep 0.01; done
}
start_redis() {
    redis-server --port 0 --unixsocket "$work/r.sock" --save '' --appendonly no --dir "$work" >/dev/null &
    server=$!
    pids="$pids $server"
    while [ ! -S r.sock ]; do sleep 0.01; done
}
stop() {
    kill "$server"
    wait "$server" 2>/dev/null || true
    rm -f ./*.sock
}
value() { tr ' ' '\n' <"$1" | grep -A 1 "^$2\$" | tail -n 1; }
median() { sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

for round in $(seq "$rounds"); do
    start_unseen
    "$bench" unseen u.sock "$server" 8 256 1000 "$round" >u.batch
    stop
    start_redis
    "$bench" redis r.sock "$server" 8 256 200 "$round" >r.batch
    stop
    start_unseen
    "$bench" unseen u.sock "$server" 50 1 2000 "$round" >u.single
    stop
    start_redis
    "$bench" redis r.sock "$server" 50 1 2000 "$round" >r.single
    stop
    start_unseen
    "$bench" unseen u.sock "$server" 64 256 60 "$round" >u.plain64
    stop
    start_unseen
    "$bench" unseen u.sock "$server" 64 256 60 "$round" durable >u.durable64
    stop
    value u.batch per_cpu_second >>rate
    echo "$(value r.batch cpu_ns) $(value u.batch cpu_ns)" | awk '{ print $1 / $2 }' >>redis
    echo "$(value u.single p99_us) $(value r.single p99_us)" | awk '{ print $1 / $2 }' >>p99
    echo "$(value u.durable64 per_second) $(value u.plain64 per_second)" | awk '{ print $1 / $2 }' >>durable
done
cat u.batch r.batch u.single r.single u.plain64 u.durable64
echo
echo "8 clients, batches of 256: URLs in a second of server CPU   $(median <rate)   (goal 3000000)"
echo "Redis SADD pipelined the same way, CPU of it to ours        $(median <redis)   (goal 5)"
echo "50 clients, single questions: p99 of ours to Redis'         $(median <p99)   (goal 1.5 at most)"
echo "64 clients, batches of 256: durable to not, URLs a second   $(median <durable)   (goal 0.5)"
