#!/bin/bash
# A list of N made-up URLs of up to 64 bytes, from the text to the answers: generated, piped into
# unseen build, and then asked for a sample of its members and for others. The URLs are never on disk:
# number i is made from the seed and i (make_urls), so the sample is made again.
#
# usage: bench/ten_billion.sh N          such as 1e7 (half a minute), 1e9, 1e10
#
# Variables: BUILD (build/release), SEED (1), FPR (1e-4), MEMORY (1G, of unseen build), THREADS (all),
# QUESTIONS (1e7, that many members and others are asked for), DISK ($BUILD, where the list and its
# work files are made), FLAGS (more options of unseen build), KEEP (a path: the list stays there).
# Prints what it took; ends with 1 if a member is missing, if the list is damaged, or if the measured
# rate is above FPR by more than four standard deviations.
set -eu -o pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
seed=${SEED:-1}
fpr=${FPR:-1e-4}
memory=${MEMORY:-1G}
threads=${THREADS:-$(nproc)}
questions=$(printf '%.0f' "${QUESTIONS:-1e7}")
unseen=$build/unseen
urls=$build/bench/make_urls
[ $# = 1 ] || {
    sed -n '/^# usage/,/^# rate/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
n=$(printf '%.0f' "$1")
for program in unseen bench/make_urls bench/measure; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
work=$(mktemp -d "${DISK:-$build}/unseen-list.XXXXXX")
watcher=
cleanup() {
    [ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
list=$work/list

# measured NAME COMMAND...: CPU, wall and MiB into $work/NAME.times.
measured() {
    "$build/bench/measure" "$work/$1.times" "${@:2}"
}
figure() {
    awk -v column="$2" 'NR == 1 { print $column }' "$work/$1.times"
}

# Bytes taken on the disk: of the whole file system, as work files may have no name.
taken() {
    df --output=used -B 1 "$work" | tail -n 1
}

# The most that were taken above $1, looked at twice a second.
watch_disk() {
    local most=0 now
    while :; do
        now=$(($(taken) - $1))
        if [ "$now" -gt "$most" ]; then
            most=$now
            echo "$most" >"$work/most.new"
            mv "$work/most.new" "$work/most"
        fi
        sleep 0.5
    done
}

# asked FIRST COUNT STEP: how many of these URLs are listed.
asked() {
    { measured generator-asked "$urls" range "$1" "$2" "$seed" "$3" |
        measured "ask-$4" "$unseen" check "$list" || [ $? = 1 ]; } | wc -l
}

echo "machine:   $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores," \
    "$(awk '/^MemTotal/ { printf "%.1f", $2 / 1048576 }' /proc/meminfo) GiB;" \
    "load $(cut -d ' ' -f 1 /proc/loadavg); disk $(stat -f -c %T "$work")"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
echo "compiler:  $("$compiler" --version | head -n 1)"
echo "commit:    $(git rev-parse --short HEAD 2>/dev/null || echo unknown); seed $seed;" \
    "$("$unseen" --version | head -n 1)"
echo "command:   make_urls range 0 $n $seed | unseen build LIST --fpr $fpr --memory $memory" \
    "--capacity $n -j $threads ${FLAGS-}"
date -u '+start:     %F %T UTC'

watch_disk "$(taken)" &
watcher=$!
# shellcheck disable=SC2086 # FLAGS are several words
measured generate "$urls" range 0 "$n" "$seed" |
    measured build "$unseen" build "$list" --fpr "$fpr" --memory "$memory" --capacity "$n" \
        -j "$threads" --seed "$seed" ${FLAGS-}
kill "$watcher"
wait "$watcher" 2>/dev/null || true
watcher=

size=$(stat -c %s "$list")
awk -v n="$n" -v wall="$(figure build 2)" -v cpu="$(figure build 1)" -v mib="$(figure build 3)" \
    -v making="$(figure generate 1)" -v size="$size" \
    -v most="$(cat "$work/most" 2>/dev/null || echo "$size")" 'BEGIN {
        most = most > size ? most : size
        printf "build:     %.1f s end to end (%.1f ns each); CPU of unseen %.1f s (%.1f ns each), of the generator %.1f s\n",
            wall, wall / n * 1e9, cpu, cpu / n * 1e9, making
        printf "memory:    %.1f MiB at most, of unseen\n", mib
        printf "disk:      %.0f bytes more at most, work files and list (%.2f each)\n", most, most / n
        printf "list:      %.0f bytes, %.4f bits each\n", size, 8 * size / n }'
"$unseen" info "$list" | sed 's/^/           /'
measured verify "$unseen" verify "$list" >"$work/verified"

step=$((n / questions > 0 ? n / questions : 1))
nmembers=$((n < questions ? n : questions))
nlisted=$(asked 0 "$nmembers" "$step" members)
nwrong=$(asked "$n" "$questions" 1 others)
awk -v cpu="$(figure verify 1)" -v members="$nmembers" -v listed="$nlisted" -v wrong="$nwrong" \
    -v questions="$questions" -v fpr="$fpr" -v step="$step" -v hit="$(figure ask-members 1)" \
    -v miss="$(figure ask-others 1)" 'BEGIN {
        printf "verify:    fine, %.1f s of CPU\n", cpu
        printf "members:   %d asked (every %dth), %d missing; %.0f ns of CPU a line\n", members, step,
            members - listed, hit / members * 1e9
        deviation = sqrt(fpr * questions) / questions
        printf "others:    %d asked, %d taken for listed: rate %.3g (asked for %g, one standard deviation %.2g); %.0f ns of CPU a line\n",
            questions, wrong, wrong / questions, fpr, deviation, miss / questions * 1e9
        exit listed != members || wrong / questions > fpr + 4 * deviation }'
date -u '+end:       %F %T UTC'
[ -z "${KEEP-}" ] || mv "$list" "$KEEP"
