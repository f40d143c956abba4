#!/bin/bash
# Everything that docs/choosing-a-filter.md shows, in one run: what each filter takes and promises, the
# speed and the rates of every filter, and what people do instead; as the page's tables and pictures.
#
# usage: bench/filters.sh [FOLDER]       where they go ($BUILD/choosing): plan.md, speed.md, rates.md,
#                                        instead.md, four .svg (the page has those of docs/img), and
#                                        the programs' own output, .txt
#
# Variables: BUILD (build/release), CORE (1), SIZES ("4 16 64 256", MiB), LARGE (2048; 0: not),
# CAPACITIES ("1e5 1e7": the last is drawn), HUGE (1e8, on another core meanwhile; 0: not).
# About 12 minutes and 6 GB on an idle machine. Ends with status 1 if a rate is off, after all else.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
core=${CORE:-$(($(nproc) > 1 ? 1 : 0))}
sizes=${SIZES:-4 16 64 256}
large=${LARGE:-2048}
capacities=${CAPACITIES:-1e5 1e7}
huge=${HUGE:-1e8}
folder=${1:-$build/choosing}
for program in unseen bench/bench_filters bench/plot; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$folder"
filters="taskset -c $core $build/bench/bench_filters"
status=0

# Each of these makes a table of the page from a program's output.
plan_table() {
    awk '
        $1 == "filter" {
            print "| filter | bits per key | memory | k | rate at 10 % | 50 % | 100 % | 200 % | can |"
            print "|---|---|---|---|---|---|---|---|---|"
            table = 1
            next
        }
        table && NF == 0 { exit }
        table {
            printf "|"
            for (i = 1; i <= 8; i++) printf " %s |", $i
            for (i = 9; i <= NF; i++) printf " %s", $i
            print " |"
        }'
}

# Each size has a heading in the output, and its first row says the MiB.
speed_table() {
    awk '
        function cell(text) { printf " %s |", text == "-" ? "" : text }
        BEGIN {
            print "| size, MiB | filter | took, MiB | bits per key | add new | add half | hit | miss |" \
                " remove | classic | memory |"
            print "|---|---|---|---|---|---|---|---|---|---|---|"
        }
        $1 == "filter" { first = 1; next }
        NF == 0 || !/x +[0-9.]+x$/ { next }
        {
            name = substr($0, 1, 16)
            sub(/ +$/, "", name)
            $0 = substr($0, 17)
            if (first) size = $1
            first = 0
            printf "| %s | %s |", size, name
            for (i = 1; i <= NF; i++) cell($i)
            print ""
        }'
}

# A row for each filter and capacity that was asked for the rate $1, with its four loads.
rates_table() {
    awk -v asked="$1" '
        BEGIN {
            print "| filter | capacity | 10 %: formula / measured (z) | 50 % | 100 % | 200 % |"
            printf "|---|---|---|---|---|---|"
        }
        NF == 9 && $3 == asked {
            if ($4 == "10%") printf "\n| %s | %g |", $1, $2
            printf " %s / %s (%+.1f) |", $5, $6, $8
        }
        END { print "" }'
}

instead_table() {
    awk '
        BEGIN {
            print "| way | bytes per URL | M lines/s of CPU | lost |"
            print "|---|---|---|---|"
        }
        $1 == "input:" { distinct = $4 }
        NF >= 8 && $2 ~ /^[0-9.]+$/ && $7 ~ /^[0-9]+$/ {
            what = $0
            sub(/^[^ ]+( +[0-9.]+)( +[0-9.]+)( +[0-9.]+)( +[0-9.]+)( +[0-9]+)( +[0-9]+) +/, "", what)
            printf "| %s | %s | %s | %s", what, $2, $3, $6
            if ($6) printf " (%.2g %%)", 100 * $6 / distinct
            print " |"
        }'
}

"$build/unseen" plan --capacity 1e8 --fpr 1e-4 --svg "$folder/plan.svg" | tee "$folder/plan.txt"
plan_table <"$folder/plan.txt" >"$folder/plan.md"
echo
# shellcheck disable=SC2086
$filters speed -o "$folder/speed.svg" $sizes | tee "$folder/speed.txt"
[ "$large" = 0 ] || $filters speed -f block "$large" | tee -a "$folder/speed.txt"
speed_table <"$folder/speed.txt" >"$folder/speed.md"
echo
if [ "$huge" != 0 ]; then
    "$build/bench/bench_filters" rates "$huge" >"$folder/rates-huge.txt" &
fi
# shellcheck disable=SC2086
$filters rates -o "$folder/rates.svg" $capacities >"$folder/rates.txt" || status=1
if [ "$huge" != 0 ]; then
    wait $! || status=1
    grep -v '^filter' "$folder/rates-huge.txt" >>"$folder/rates.txt"
    rm "$folder/rates-huge.txt"
fi
cat "$folder/rates.txt"
rates_table 0.01 <"$folder/rates.txt" >"$folder/rates.md"
echo
BUILD=$build SVG=$folder/instead.svg bench/instead.sh | tee "$folder/instead.txt"
instead_table <"$folder/instead.txt" >"$folder/instead.md"
exit "$status"
