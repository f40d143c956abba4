#!/bin/bash
# unseen serve with many clients, against Redis SADD asked in the same way, and PostgreSQL; one after
# the other in each round. Ratios of the server's CPU time for each URL. And the tool as a client against
# the tool with the file, and the memory of an idle client.
#
# usage: bench/serve.sh [ROUNDS] (default 3). Needs redis-server; PostgreSQL (Debian: postgresql,
# python3-psycopg2) is left out if it is missing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
tool=${UNSEEN:-$here/build/release/unseen}
bench=$here/build/release/bench/bench_serve
rounds=${1:-3}
work=$(mktemp -d)
pids=
cleanup() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait || true
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
# PostgreSQL does not run as root.
pg_bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
as=
[ "$(id -u)" != 0 ] || as="runuser -u postgres --"
has_postgres=
if [ -n "$pg_bin" ] && /usr/bin/python3 -c 'import psycopg2' 2>/dev/null && $as true 2>/dev/null; then
    has_postgres=yes
    chmod 755 "$work"
    mkdir "$work/pg"
    [ -z "$as" ] || chown postgres "$work/pg"
    $as "$pg_bin/initdb" -D "$work/pg/data" -U postgres -A trust >initdb.log 2>&1
fi
start_postgres() {
    $as "$pg_bin/postgres" -D "$work/pg/data" -k "$work/pg" -h '' >postgres.log 2>&1 &
    runner=$!
    for _ in $(seq 200); do
        "$pg_bin/pg_isready" -q -h "$work/pg" -U postgres && break
        sleep 0.1
    done
    server=$(head -n 1 "$work/pg/data/postmaster.pid")
    pids="$pids $server"
}
stop_postgres() {
    kill -INT "$server"
    wait "$runner" || true
}
# cpu_of PID: seconds of a server that still runs.
cpu_of() { awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$1/stat"; }
# The tool with a new file, and as the client of a new server: the same lines, and the CPU of both processes.
tool_as_client() {
    rm -f file.store*
    "$here/build/release/bench/measure" file.cpu "$tool" -s file.store urls >file.out
    start_unseen
    "$here/build/release/bench/measure" client.cpu "$tool" -s "unix:$work/u.sock" urls >client.out
    cpu_of "$server" >server.cpu
    stop
    cmp file.out client.out
    echo "$(tail -n 1 file.cpu) $(tail -n 1 client.cpu) $(cat server.cpu)" |
        awk '{ printf "tool file_s %.3f client_s %.3f server_s %.2f ratio %.2f\n", $1, $4, $7, ($4 + $7) / $1 }'
}
# Resident memory that 500 clients add, each after a question.
idle_client() {
    start_unseen
    python3 - "$work/u.sock" "$server" <<'END'
import socket, sys

def resident():
    return next(int(line.split()[1]) * 1024 for line in open(f"/proc/{sys.argv[2]}/status") if line.startswith("VmRSS"))

def client():
    c = socket.socket(socket.AF_UNIX)
    c.connect(sys.argv[1])
    file = c.makefile("rb")
    file.readline()
    c.sendall(b"C http://idle.example/\n")
    assert file.readline() == b"0\n"
    return c, file

first = client()
before = resident()
idle = [client() for _ in range(500)]
print((resident() - before) / len(idle))
END
    stop
}
value() { tr ' ' '\n' <"$1" | grep -A 1 "^$2\$" | tail -n 1; }
median() { sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }

"$here/build/release/bench/make_urls" 2000000 1000000 >urls
for round in $(seq "$rounds"); do
    if [ -n "$has_postgres" ]; then
        start_postgres
        for way in unique exists; do
            /usr/bin/python3 "$here/bench/serve_postgres.py" $way "$work/pg" "$server" 8 256 40 "$round" >"p.$way"
        done
        stop_postgres
    fi
    tool_as_client >tool
    idle_client >>idle
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
    value tool ratio >>tools
    if [ -n "$has_postgres" ]; then
        for way in unique exists; do
            echo "$(value p.$way cpu_ns) $(value u.batch cpu_ns)" | awk '{ print $1 / $2 }' >>"postgres.$way"
        done
    fi
    echo "$(value r.batch cpu_ns) $(value u.batch cpu_ns)" | awk '{ print $1 / $2 }' >>redis
    echo "$(value u.single p99_us) $(value r.single p99_us)" | awk '{ print $1 / $2 }' >>p99
    echo "$(value u.durable64 per_second) $(value u.plain64 per_second)" | awk '{ print $1 / $2 }' >>durable
done
cat u.batch r.batch u.single r.single u.plain64 u.durable64 tool
[ -z "$has_postgres" ] || cat p.unique p.exists
echo
echo "8 clients, batches of 256: URLs in a second of server CPU   $(median <rate)   (goal 3000000)"
echo "Redis SADD pipelined the same way, CPU of it to ours        $(median <redis)   (goal 5)"
if [ -n "$has_postgres" ]; then
    echo "PostgreSQL, INSERT ON CONFLICT, CPU of it to ours           $(median <postgres.unique)   (goal 20)"
    echo "PostgreSQL, SELECT, then INSERT, the same                   $(median <postgres.exists)   (goal 20)"
fi
echo "50 clients, single questions: p99 of ours to Redis'         $(median <p99)   (goal 1.5 at most)"
echo "64 clients, batches of 256: durable to not, URLs a second   $(median <durable)   (goal 0.5)"
echo "the tool as a client: CPU of both processes to the file's   $(median <tools)   (goal 1.3 at most)"
echo "memory of an idle client, bytes                             $(median <idle)   (goal 16384 at most)"
