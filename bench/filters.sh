#!/bin/bash
# Everything that docs/choosing-a-filter.md shows: the speed and the rates of every filter, what
# people do instead, and the pictures.
#
# usage: bench/filters.sh [FOLDER]       where the pictures go ($BUILD/pictures; the page has those
#                                        of docs/img)
#
# Variables: BUILD (build/release), CORE (1), SIZES ("4 16 64 256", MiB), LARGE (2048; 0: not),
# CAPACITIES ("1e5 1e8 1e7": the last is drawn). About 15 minutes and 6 GB on an idle machine.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
core=${CORE:-$(($(nproc) > 1 ? 1 : 0))}
sizes=${SIZES:-4 16 64 256}
large=${LARGE:-2048}
capacities=${CAPACITIES:-1e5 1e8 1e7}
folder=${1:-$build/pictures}
for program in unseen bench/bench_filters bench/plot; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$folder"
filters="taskset -c $core $build/bench/bench_filters"

"$build/unseen" plan --capacity 1e8 --fpr 1e-4 --svg "$folder/plan.svg"
echo
# shellcheck disable=SC2086
$filters speed -o "$folder/speed.svg" $sizes
[ "$large" = 0 ] || $filters speed -f block "$large"
echo
# shellcheck disable=SC2086
$filters rates -o "$folder/rates.svg" $capacities
echo
BUILD=$build SVG=$folder/instead.svg bench/instead.sh
