#!/bin/bash
# A set larger than memory: N lines, half of them distinct, with --memory LIMIT against the same run
# without it, by turns. Prints CPU times and their ratio, the memory that the process had (RssAnon, which
# is to be at most LIMIT and 24 MiB), and what it read and wrote beside its input and its output.
#
# usage: bench/beyond.sh [N [LIMIT]]                (1e8 32M)
#        bench/beyond.sh store [N [LIMIT [LINES]]]  (1e8 64M 1e7)
#
# store: a store of N keys, and then LINES, of which half are known, with --memory LIMIT; and databases in
# its place that do the same (bench/store_peers, those that were built). All of them run in a memory cgroup of
# LIMIT and 64 MiB, the kernel's pages of their files included, after these were dropped: as root only.
#
# Variables: BUILD (build/release), ROUNDS (3), SEED (1), WORK (a folder on a disk, build/beyond), THREADS (1).
# Goals: of the wall time of a database at most a tenth. CPU at most 2.2 times with 32M and 2 times with 64M for 1e8 lines, 2.5 times with 512M for 2e9;
# at most 2 x 16 bytes a line written and read.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-3}
seed=${SEED:-1}
work=${WORK:-build/beyond}
store=
if [ "${1-}" = store ]; then
    store=1
    shift
fi
n=$(printf %.0f "${1:-1e8}")
limit=${2:-${store:+64M}}
limit=${limit:-32M}
for program in unseen bench/make_urls ${store:+bench/measure bench/store_peers}; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
machine() {
    echo "machine   $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
    echo "compiler  $(cc --version | head -n 1)"
    echo "commit    $(git describe --always --dirty)"
}

# ---- a store ----

# A group of processes that have so many bytes, and the kernel's pages of their files with them.
group=/sys/fs/cgroup/memory/unseen-bench.$$
make_group() { # BYTES
    mkdir "$group" || {
        echo "error: no memory cgroup (version 1) can be made" >&2
        exit 2
    }
    echo "$1" > "$group/memory.limit_in_bytes"
    trap 'rmdir "$group"; rm -rf "$work"' EXIT
}

# within NAME COMMAND...: in the group, with a cold disk.
within() {
    sync
    echo 3 > /proc/sys/vm/drop_caches
    (
        echo "$BASHPID" > "$group/cgroup.procs"
        exec "$build/bench/measure" "$work/$1.times" "${@:2}"
    )
}

if [ "$store" ]; then
    nlines=$(printf %.0f "${3:-1e7}")
    make_group "$(($(numfmt --from=iec "$limit") + (64 << 20)))"
    half=$((nlines / 2))
    "$build/bench/make_urls" range 0 "$n" "$seed" > "$work/known"
    "$build/bench/make_urls" range "$n" "$half" "$seed" > "$work/new"
    "$build/bench/make_urls" range 0 "$half" "$seed" $((n / half)) | paste -d '\n' - "$work/new" > "$work/in"
    machine
    echo "run       $n keys, then $nlines lines, half of them known, $limit, seed $seed"
    "$build/unseen" add --seed "$seed" "$work/store" "$work/known"
    within unseen "$build/unseen" --seed "$seed" -s "$work/store" --memory "$limit" "$work/in" > "$work/want"
    for peer in $("$build/bench/store_peers" --list | grep -e 'lmdb-key' -e 'rocksdb-key'); do
        "$build/bench/store_peers" "$peer" "$work/$peer" < "$work/known" > "$work/out"
        within "$peer" "$build/bench/store_peers" "$peer" "$work/$peer" < "$work/in" > "$work/out"
        cmp "$work/want" "$work/out"
        rm -rf "${work:?}/$peer" "$work/$peer-lock"
    done
    for times in "$work"/*.times; do
        name=$(basename "$times" .times)
        paste -d ' ' "$times" "$work/unseen.times" | awk -v name="$name" '{
            printf "%-12s %8.1f s of CPU, %8.1f s; unseen takes %.3f of its time\n", name, $1, $2, $5 / $2 }'
    done
    exit
fi

# ---- a run ----

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

machine
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
