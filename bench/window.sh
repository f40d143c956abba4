#!/bin/bash
# A window of ten minutes for NLINES new URLs: unseen --window, and SET with EX and NX in Redis. CPU time
# (of Redis: of the server alone) and memory of each; then bench_window, which has two Bloom filters that
# rotate, wrong answers and the longest calls.
#
# usage: bench/window.sh [NLINES]     needs redis-server and redis-cli; 3 minutes
#
# Variables: BUILD (build/release), WORK (/dev/shm).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
n=${1:-1000000}
work=$(mktemp -d "${WORK:-/dev/shm}/unseen-window.XXXXXX")
trap 'redis-cli -s "$work/redis" shutdown nosave > /dev/null 2>&1 || true; rm -rf "$work"' EXIT
"$build/bench/make_urls" range 0 "$n" > "$work/urls"

"$build/bench/measure" "$work/result" "$build/unseen" -j1 --window 10m --stats "$work/urls" 2> "$work/stats" > /dev/null
awk -v n="$n" '$1 == "memory" { printf "%-20s %.1f bytes a line\n", "unseen --window", $2 / n }' "$work/stats"
printf '%-20s %s\n' "CPU, wall, peak:" "$(cat "$work/result")"

redis-server --port 0 --unixsocket "$work/redis" --save '' --daemonize yes --dir "$work" > /dev/null
until redis-cli -s "$work/redis" ping > /dev/null 2>&1; do sleep 0.1; done
figure() {
    redis-cli -s "$work/redis" info | tr -d '\r' | awk -F: -v name="$1" '$1 == name { print $2 }'
}
memory=$(figure used_memory)
awk '{ printf "*6\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$1\r\n1\r\n$2\r\nNX\r\n$2\r\nEX\r\n$3\r\n600\r\n", length($0), $0 }' \
    "$work/urls" | redis-cli -s "$work/redis" --pipe > /dev/null
awk -v n="$n" -v memory="$(($(figure used_memory) - memory))" -v user="$(figure used_cpu_user)" -v sys="$(figure used_cpu_sys)" \
    'BEGIN { printf "%-20s %.1f bytes a line, CPU %.2f s\n", "Redis, SET NX EX", memory / n, user + sys }'

"$build/bench/bench_window" "$n"
"$build/bench/bench_window" longest "$n"
