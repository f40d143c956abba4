#!/bin/bash
# A set larger than memory: N lines, half of them distinct, with --memory LIMIT against the same run
# without it, by turns. Prints CPU times and their ratio, the memory that the process had (RssAnon, which
# is to be at most LIMIT and 24 MiB), and what it read and wrote beside its input and its output.
#
# usage: bench/beyond.sh [N [LIMIT]]       (1e8 32M)
#
# Variables: BUILD (build/release), ROUNDS (3), SEED (1), WORK (a folder on a disk, build/beyond), THREADS (1).
# Goals: CPU at most 2.2 times with 32M and 2 times with 64M for 1e8 lines, 2.5 times with 512M for 2e9;
# at most 2 x 16 bytes a line written and read.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-3}
seed=${SEED:-1}
work=${WORK:-build/beyond}
n=$(printf %.0f "${1:-1e8}")
limit=${2:-32M}
for program in unseen bench/make_urls; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
"$build/bench/make_urls" "$n" "$((n / 2))" "$seed" > "$work/in"

# run NAME OPTION...: one line for each run: seconds of CPU, largest RssAnon in KiB, bytes read and written.
run() {
    local name=$1
    shift
    python3 - "$work/$name" "$build/unseen" -j "${THREADS:-1}" --seed "$seed" --stats=json "$@" "$work/in" << 'END'
import os, subprocess, sys, time, json
with open(sys.argv[1] + ".out", "wb") as out:
    p = subprocess.Popen(sys.argv[2:], stdout=out, stderr=subprocess.PIPE)
    most, io = 0, {}
    while True:
        try:
            with open("/proc/%d/status" % p.pid) as f:
                most = max([most] + [int(l.split()[1]) for l in f if l.startswith("RssAnon")])
            with open("/proc/%d/io" % p.pid) as f:
                io = dict(l.split(": ") for l in f) or io
        except (OSError, ValueError):
            pass
        pid, status, usage = os.wait4(p.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.01)
    p.returncode = os.waitstatus_to_exitcode(status)
    stats = json.loads(p.stderr.read().splitlines()[-1])
    cpu = usage.ru_utime + usage.ru_stime
    print("%.3f %.3f %d %d %d %d %d" % (cpu, stats["seconds"], most, int(io.get("rchar", 0)), int(io.get("wchar", 0)),
                                        out.tell() or os.path.getsize(sys.argv[1] + ".out"), p.returncode))
END
}

for ((i = 0; i < rounds; i++)); do
    run whole >> "$work/whole.runs"
    run limited --memory "$limit" >> "$work/limited.runs"
    cmp "$work/whole.out" "$work/limited.out"
done

# The median of a column.
median() { # NAME COLUMN
    awk -v c="$2" '{ print $c }' "$work/$1.runs" | sort -g | sed -n "$(((rounds + 1) / 2))p"
}

echo "machine   $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "compiler  $(cc --version | head -n 1)"
echo "commit    $(git describe --always --dirty)"
echo "run       $n lines, $((n / 2)) distinct, --memory $limit, seed $seed, medians of $rounds rounds"
in=$(wc -c < "$work/in")
awk -v n="$n" -v in_bytes="$in" -v limit="$limit" \
    -v cpu0="$(median whole 1)" -v cpu1="$(median limited 1)" -v wall0="$(median whole 2)" -v wall1="$(median limited 2)" \
    -v rss0="$(median whole 3)" -v rss1="$(median limited 3)" -v read1="$(median limited 4)" \
    -v wrote1="$(median limited 5)" -v out="$(median limited 6)" 'BEGIN {
    unit = limit ~ /G$/ ? 1048576 : limit ~ /M$/ ? 1024 : limit ~ /K$/ ? 1 : 1 / 1024
    printf "CPU       %.2f s without, %.2f s with the limit: %.2f times; %.1f and %.1f ns a line\n", cpu0, cpu1,
           cpu1 / cpu0, cpu0 / n * 1e9, cpu1 / n * 1e9
    printf "wall      %.2f and %.2f s\n", wall0, wall1
    printf "RssAnon   %.1f MiB without, %.1f MiB with the limit (at most %.1f)\n", rss0 / 1024, rss1 / 1024,
           limit * unit / 1024 + 24
    printf "disk      %.2f bytes a line written, %.2f read, beside output and two readings of the input\n",
           (wrote1 - out) / n, (read1 - 2 * in_bytes) / n
}'
