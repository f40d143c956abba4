#!/bin/bash
# Sorting integers as text, one core, CPU time, files in memory: unseen sort, a radix sort in memory
# (radix_sort.c), and sort -n. The outputs are compared.
#
# usage: bench/sort.sh [N [MAX]]        (1e8 1e9; needs 3 GB of memory, and 6 more for sort)
#
# Variables: BUILD (build/release), ROUNDS (3), CORE (1), WORK (/dev/shm/unseen-sort), PEERS (yes;
# no: without sort, which takes minutes).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-3}
core=${CORE:-$(($(nproc) > 1 ? 1 : 0))}
work=${WORK:-/dev/shm/unseen-sort}
n=${1:-1e8}
max=${2:-1e9}
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# run NAME COMMAND...: appends the figures to $work/NAME.times; the output is $work/out.
run() {
    name=$1
    shift
    rm -f "$work/out"
    "$build/bench/measure" "$work/$name.times" taskset -c "$core" "$@" <"$work/in" >"$work/out"
}

# keep_or_compare NAME: the first output of a kind stays, the others must be equal to it.
keep_or_compare() {
    if [ -f "$work/$1.want" ]; then
        cmp "$work/out" "$work/$1.want"
    else
        mv "$work/out" "$work/$1.want"
    fi
}

report() {
    sort -g "$work/$1.times" | awk -v name="$1" '{ cpu[NR] = $1; mib = $3 > mib ? $3 : mib }
        END { printf "%-14s %9.3f CPU s %8.1f MiB\n", name, cpu[int((NR + 1) / 2)], mib }'
}

"$build/bench/make_integers" "$n" "$max" >"$work/in"
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); core $core;" \
    "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
echo "$n integers from 1 to $max, $(stat -c %s "$work/in") bytes; medians of $rounds"
for round in $(seq "$rounds"); do
    run unseen-u "$build/unseen" sort -u
    keep_or_compare u
    run radix-u "$build/bench/radix_sort" -u
    keep_or_compare u
done
if [ "${PEERS:-yes}" = yes ]; then
    run sort-n-u sort -n -u --parallel=1 -S 8G
    keep_or_compare u
fi
rm "$work/u.want"
for round in $(seq "$rounds"); do
    run unseen "$build/unseen" sort
    keep_or_compare all
    run radix "$build/bench/radix_sort"
    keep_or_compare all
done
for name in unseen-u radix-u sort-n-u unseen radix; do
    [ ! -f "$work/$name.times" ] || report "$name"
done
