#!/bin/bash
# Lines as data sets have them: plain, gzip, zstd, xz and bzip2, in one and in 40 files, with 1, 2 and 8 threads. Wall and CPU
# time beside those of the decoder alone and of unseen on plain text; medians of interleaved rounds, files in memory. All
# outputs are compared. Peers (zet, runiq, huniq, DuckDB and Polars) take part if they are installed.
#
# usage: bench/inputs.sh [NLINES]        (2000000, half of them distinct; 4 minutes)
#
# Goal: with two threads and two processors the wall time is at most 1.15 times the larger of the decoder alone and unseen on
# plain text with one thread; with 40 files the same, or less.
#
# Variables: BUILD (build/release), ROUNDS (5), WORK (/dev/shm/unseen-inputs).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-5}
work=${WORK:-/dev/shm/unseen-inputs}
n=${1:-2000000}
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

declare -A decoder=([gz]='gzip -dc' [zst]='zstd -qdc' [xz]='xz -dc' [bz2]='bzip2 -dc')
declare -A encoder=([gz]='gzip -c' [zst]='zstd -qc' [xz]='xz -1c' [bz2]='bzip2 -c')
formats=txt
for format in gz zst xz bz2; do
    ! command -v "${encoder[$format]%% *}" >/dev/null || formats="$formats $format"
done
"$build/bench/make_urls" "$n" $((n / 2)) >"$work/one.txt"
split -n l/40 -d --additional-suffix=.txt "$work/one.txt" "$work/part"
for format in ${formats#txt}; do
    for file in "$work"/*.txt; do
        ${encoder[$format]} <"$file" >"${file%.txt}.$format"
    done
done
"$build/unseen" --seed 1 -j 1 "$work/one.txt" >"$work/want"

# What runs in each round: NAME, then a command for bash.
names=()
declare -A command=()
add() {
    names+=("$1")
    command[$1]=$2
}
for format in $formats; do
    [ "$format" = txt ] || add "decoder.$format" "${decoder[$format]} $work/one.$format"
    for files in one part; do
        for j in 1 2 8; do
            add "$files.$format.$j" "$build/unseen --seed 1 -j $j $work/$files*.$format"
        done
    done
done
for peer in zet runiq huniq; do
    case $peer in
    zet) how="zet union $work/one.txt" ;;
    *) how="$peer <$work/one.txt" ;;
    esac
    ! command -v $peer >/dev/null || add "$peer" "$how"
done
if python3 -c 'import duckdb' 2>/dev/null; then
    add duckdb "python3 -c 'import duckdb; duckdb.sql(\"copy (select distinct a from read_csv(\\\"$work/one.txt\\\", header=false, columns={\\\"a\\\": \\\"varchar\\\"}, delim=chr(1))) to \\\"/dev/stdout\\\" (header false)\")'"
fi
if python3 -c 'import polars' 2>/dev/null; then
    add polars "python3 -c 'import polars as p; p.read_csv(\"$work/one.txt\", has_header=False, separator=chr(1)).unique(maintain_order=True).write_csv(\"/dev/stdout\", include_header=False)'"
fi

for ((round = 0; round < rounds; round++)); do
    for name in "${names[@]}"; do
        "$build/bench/measure" "$work/$name.times" bash -c "exec ${command[$name]}" >"$work/out"
        case $name in
        *.*.*) cmp "$work/out" "$work/want" ;;
        esac
    done
done

# median NAME COLUMN
median() {
    sort -n -k "$2" "$work/$1.times" | awk -v k="$2" '{ x[NR] = $k } END { print x[int((NR + 1) / 2)] }'
}
echo "$(grep -m 1 '^model name' /proc/cpuinfo | sed 's/.*: //'), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg); \
commit $(git rev-parse --short HEAD 2>/dev/null); $n lines, median of $rounds"
plain_wall=$(median one.txt.1 2)
plain_cpu=$(median one.txt.1 1)
printf '%-14s %8s %8s %8s %16s %6s\n' what CPU wall MiB 'wall ratio' goal
for name in "${names[@]}"; do
    format=$(echo "$name" | cut -d . -f 2)
    other=0
    [ ! -e "$work/decoder.$format.times" ] || other=$(median "decoder.$format" 2)
    awk -v name="$name" -v cpu="$(median "$name" 1)" -v wall="$(median "$name" 2)" -v mib="$(median "$name" 3)" \
        -v plain="$plain_wall" -v other="$other" 'BEGIN {
            largest = plain > other ? plain : other
            printf "%-14s %8.3f %8.3f %8.0f %16.2f %6s\n", name, cpu, wall, mib, wall / largest,
                   name ~ /[.].*[.][28]$/ && name !~ /txt/ ? "1.15" : ""
        }'
done
echo "CPU of peers and of unseen -j 1 on plain text: 1 is $plain_cpu s"
