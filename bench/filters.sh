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
for program in unseen bench/bench_filter_speed bench/bench_filter_rates bench/plot; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$folder"
speed="taskset -c $core $build/bench/bench_filter_speed"
rates="taskset -c $core $build/bench/bench_filter_rates"
status=0

# heading COLUMN...: the head of a table of the page.
heading() {
    printf '| %s ' "$@"
    printf '|\n'
    printf -- '|---%.0s' "$@"
    printf '|\n'
}

# rows FIELDS PROGRAM [OPTION]...: what an awk program makes of the rows with so many fields, of a program
# that puts tabs between them.
rows() {
    local fields=$1 program=$2
    shift 2
    awk -F ' *\t *' "$@" "{ sub(/^ +/, \"\") } NF == $fields { $program }"
}

# The filters alone: the names of the other ways have blanks.
plan_table() {
    heading filter 'bits per key' memory k 'rate at 10 %' '50 %' '100 %' '200 %' can
    awk 'NF == 9 && $9 ~ /^[grmi-]+$/ {
        for (i = 1; i <= NF; i++) printf "| %s ", $i
        print "|"
    }'
}

speed_table() {
    heading 'size, MiB' filter 'took, MiB' 'bits per key' 'add new' 'add half' hit miss remove classic memory
    rows 11 '
        if ($1 == "size") next
        for (i = 1; i <= NF; i++) printf "| %s ", $i == "-" ? "" : $i
        print "|"'
}

# A row for each filter and capacity that was asked for the rate $1, with its four loads.
rates_table() {
    heading filter capacity '10 %: formula / measured (z)' '50 %' '100 %' '200 %'
    rows 9 '
        if ($3 != asked) next
        if ($4 == "10%") printf "| %s | %g |", $1, $2
        printf " %s / %s (%+.1f) |", $5, $6, $8
        if ($4 == "200%") print ""' -v asked="$1"
}

instead_table() {
    heading way 'bytes per URL' 'M lines/s of CPU' lost
    rows 8 '
        if ($1 == "way") next
        printf "| %s | %s | %s | %s", $8, $2, $3, $6
        if ($6) printf " (%.2g %%)", 100 * $6 / distinct
        print " |"' -v distinct="$1"
}

"$build/unseen" plan --capacity 1e8 --fpr 1e-4 --svg "$folder/plan.svg" | tee "$folder/plan.txt"
plan_table <"$folder/plan.txt" >"$folder/plan.md"
echo
# shellcheck disable=SC2086
$speed -o "$folder/speed.svg" $sizes | tee "$folder/speed.txt"
[ "$large" = 0 ] || $speed -f block "$large" | tee -a "$folder/speed.txt"
speed_table <"$folder/speed.txt" >"$folder/speed.md"
echo
if [ "$huge" != 0 ]; then
    "$build/bench/bench_filter_rates" "$huge" >"$folder/rates-huge.txt" &
fi
# shellcheck disable=SC2086
$rates -o "$folder/rates.svg" $capacities >"$folder/rates.txt" || status=1
if [ "$huge" != 0 ]; then
    wait $! || status=1
    grep -v '^filter' "$folder/rates-huge.txt" >>"$folder/rates.txt"
    rm "$folder/rates-huge.txt"
fi
cat "$folder/rates.txt"
rates_table 0.01 <"$folder/rates.txt" >"$folder/rates.md"
echo
BUILD=$build SVG=$folder/instead.svg bench/instead.sh | tee "$folder/instead.txt"
distinct=$(awk '$1 == "input:" { print $4 }' "$folder/instead.txt")
instead_table "$distinct" <"$folder/instead.txt" >"$folder/instead.md"
exit "$status"
