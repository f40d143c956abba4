#!/bin/bash
# Measures the store: what remembering costs a run, a small run against a large store, opening, and
# what people use instead. CPU time is that of all threads; rounds are interleaved and the tables
# have the medians; ratios are medians of the rounds' own.
#
# usage: bench/store.sh [pipe] [incremental] [peers] [open]
#     pipe          10 M lines, 5 M distinct: with and without -s, output by -o and by >,
#                   in memory and on disk
#     incremental   5 M known, then 100,000 lines of which half are new
#     peers         the lines of pipe into databases (a round takes 5 minutes), and grep -vxFf
#                   with a tenth of the known lines, as its memory allows no more
#     open          a store of 10^8 keys, from its image and from its log (bench_store)
#
# Variables: BUILD (build/release), ROUNDS (5), PEER_ROUNDS (1), SEED (1), NLINES (10000000) of
# which half are distinct, CORES (all); MEMORY (/dev/shm) and DISK ($BUILD), the folders in which
# scratch folders are made.
# Peers that are not in PATH or were not built are left out and named: anew, and bloom (Debian:
# golang-github-dcso-bloom-cli).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-5}
peer_rounds=${PEER_ROUNDS:-1}
seed=${SEED:-1}
nlines=${NLINES:-10000000}
cores=${CORES:-0-$(($(nproc) - 1))}
nknown=$((nlines / 2))
nadded=$((nknown / 100))
unseen=$build/unseen

sections=
for argument in "$@"; do
    case $argument in
    pipe | incremental | peers | open) sections="$sections $argument" ;;
    *)
        sed -n '/^# usage/,/^# golang/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done
sections=${sections:-pipe incremental open peers}
for program in unseen bench/make_urls bench/measure bench/bench_store bench/store_peers; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
memory=$(mktemp -d "${MEMORY:-/dev/shm}/unseen-bench.XXXXXX")
trap 'rm -rf "$memory"' EXIT
disk=$(mktemp -d "${DISK:-$build}/unseen-bench.XXXXXX")
trap 'rm -rf "$memory" "$disk"' EXIT

# timed NAME COMMAND...: one run; appends "CPU wall MiB" to NAME.times. Redirect it for the command.
timed() {
    "$build/bench/measure" "$memory/$1.times" taskset -c "$cores" "${@:2}" || {
        echo "error: $1 failed: ${*:2}" >&2
        exit 1
    }
}

# column NAME COLUMN: the values of all rounds. median: of the values read.
column() {
    awk -v column="$2" '{ print $column }' "$memory/$1.times"
}
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'
}

# ratio A B COLUMN: the median of the rounds' ratios A / B.
ratio() {
    paste <(column "$1" "$3") <(column "$2" "$3") | awk '{ print $1 / $2 }' | median
}

require() {
    [ "$1" = "$2" ] || {
        echo "error: $3: $1, not $2" >&2
        exit 1
    }
}

# size_of FILE: 0 without one.
size_of() {
    if [ -e "$1" ]; then
        stat -c %s "$1"
    else
        echo 0
    fi
}

# ---- what remembering costs ----

# check_printed FILE: each distinct line once. In one run of 300 a new line is taken for a seen one.
check_printed() {
    local nprinted
    nprinted=$(wc -l <"$1")
    [ "$nprinted" = $((nknown - 1)) ] || require "$nprinted" "$nknown" "lines in $1"
}

# is_alike FILE FILE: but for such a line.
is_alike() {
    cmp -s "$1" "$2" || [ "$(diff "$1" "$2" | grep -c '^[<>]')" = 1 ]
}

# run_pipe PLACE: all ways once, into fresh files in $memory or $disk.
run_pipe() {
    local dir=${!1}
    rm -f "$dir"/st* "$dir"/out*
    timed "$1-plain" "$unseen" <"$memory/input" >"$dir/out"
    timed "$1-store" "$unseen" -s "$dir/st" <"$memory/input" >"$dir/out-store"
    timed "$1-plain-o" "$unseen" -o "$dir/out-o" "$memory/input"
    timed "$1-store-o" "$unseen" -s "$dir/st-o" -o "$dir/out-store-o" "$memory/input"
    timed "$1-again" "$unseen" -s "$dir/st" <"$memory/input" >"$dir/out-again"
    check_printed "$dir/out"
    for file in out-store out-o out-store-o; do
        check_printed "$dir/$file"
        is_alike "$dir/out" "$dir/$file" || {
            echo "error: $dir/$file is not what the tool prints without a store" >&2
            exit 1
        }
    done
    require "$(size_of "$dir/out-again")" 0 "bytes printed in the second run"
}

print_pipe() {
    printf '%-8s %-22s %8s %8s %8s %12s %12s\n' place run 'CPU s' 'wall s' MiB '/ plain CPU' \
        '/ plain wall'
    for place in memory disk; do
        for run in plain store plain-o store-o again; do
            local name=$place-$run
            local plain=$place-plain
            case $run in *-o) plain=$place-plain-o ;; esac
            printf '%-8s %-22s %8.3f %8.3f %8.1f %12.2f %12.2f\n' "$place" "${title[$run]}" \
                "$(column "$name" 1 | median)" "$(column "$name" 2 | median)" \
                "$(column "$name" 3 | median)" "$(ratio "$name" "$plain" 1)" \
                "$(ratio "$name" "$plain" 2)"
        done
    done
    awk -v logged="$(size_of "$memory/st")" -v image="$(size_of "$memory/st.image")" -v n="$nknown" \
        'BEGIN { printf "bytes a new URL: log %.3f, image %.3f\n", logged / n, image / n }'
}
declare -A title=([plain]='> file' [store]='-s STORE > file' [plain-o]='-o FILE'
    [store-o]='-s STORE -o FILE' [again]='-s, all known')

pipe() {
    echo
    echo "pipe: $nlines lines, $nknown distinct, $(($(size_of "$memory/input") / nlines)) bytes a" \
        "line; input in memory, output and store in the place; medians of $rounds"
    for _ in $(seq "$rounds"); do
        run_pipe memory
        run_pipe disk
    done
    print_pipe
    rm -f "$memory"/st* "$memory"/out* "$disk"/st* "$disk"/out*
}

# ---- a small run against a large store ----

# Fresh copies of what the first $nknown lines left, as every round changes them.
restore() {
    for file in st st.image anew; do
        [ ! -e "$disk/known.$file" ] || cp "$disk/known.$file" "$disk/$file"
    done
    rm -f "$disk/out"
}

run_incremental() {
    restore
    timed unseen "$unseen" -s "$disk/st" <"$disk/new" >"$disk/out"
    require "$(wc -l <"$disk/out")" "$nadded" "lines printed by unseen"
    restore
    timed unseen-check "$unseen" check "$disk/st" <"$disk/new" >"$disk/out"
    require "$(wc -l <"$disk/out")" "$nadded" "lines printed by unseen check"
    if [ -n "$has_anew" ]; then
        restore
        timed anew anew "$disk/anew" <"$disk/new" >"$disk/out"
        require "$(wc -l <"$disk/out")" "$nadded" "lines printed by anew"
    fi
    if [ -n "$has_bloom" ]; then
        timed bloom-check bloom check "$disk/known.bloom" <"$disk/new" >"$disk/out"
    fi
}

incremental() {
    has_anew=$(command -v anew || true)
    has_bloom=$(command -v bloom || true)
    make_known
    cp "$memory/new" "$disk/new"
    cp "$memory/known" "$disk/known.anew"
    "$unseen" -s "$disk/known.st" <"$memory/known" >/dev/null
    [ -z "$has_bloom" ] || {
        bloom create -p 1e-4 -n "$nknown" "$disk/known.bloom"
        bloom insert "$disk/known.bloom" <"$memory/known" >/dev/null
    }
    local set
    set=$("$unseen" info --json "$disk/known.st" | python3 -c \
        'import json, sys; print(json.load(sys.stdin)["memory_bytes"] / 2**20)')
    echo
    echo "incremental: $nknown known, $((2 * nadded)) lines of which half are new; all files on" \
        "disk, in the kernel's cache; medians of $rounds"
    for _ in $(seq "$rounds"); do
        run_incremental
    done
    printf '%-14s %8s %8s %8s %10s\n' tool 'CPU s' 'wall s' MiB '/ unseen'
    for name in unseen unseen-check anew bloom-check; do
        [ -e "$memory/$name.times" ] || {
            printf '%-14s not installed\n' "$name"
            continue
        }
        printf '%-14s %8.4f %8.4f %8.1f %10.2f\n' "$name" "$(column "$name" 1 | median)" \
            "$(column "$name" 2 | median)" "$(column "$name" 3 | median)" "$(ratio "$name" unseen 1)"
    done
    awk -v set="$set" -v peak="$(column unseen 3 | median)" \
        'BEGIN { printf "set %.1f MiB; unseen at its peak %.1f MiB more\n", set, peak - set }'
    rm -f "$disk"/*
}

# The known lines, and $nadded of them with as many that are new, in turns.
make_known() {
    [ ! -e "$memory/known" ] || return 0
    "$build/bench/make_urls" $((nknown + nadded)) $((nknown + nadded)) "$seed" >"$memory/all"
    head -n "$nknown" "$memory/all" >"$memory/known"
    paste -d '\n' <(awk 'NR % 100 == 0' "$memory/known") <(tail -n "$nadded" "$memory/all") \
        >"$memory/new"
    rm "$memory/all"
}

# ---- what people use instead ----

peers() {
    make_known
    head -n $((nknown / 10)) "$memory/known" >"$memory/tenth"
    local names
    names=$("$build/bench/store_peers" --list)
    echo
    echo "peers: $nlines lines, $nknown distinct, on disk, a durable transaction every 8192 lines;" \
        "grep: $((nknown / 10)) known, $((2 * nadded)) lines; medians of $peer_rounds"
    for _ in $(seq "$peer_rounds"); do
        rm -f "$disk"/*
        timed unseen-s "$unseen" -s "$disk/st" <"$memory/input" >"$disk/out"
        for name in $names; do
            rm -f "$disk/db"*
            timed "$name" "$build/bench/store_peers" "$name" "$disk/db" <"$memory/input" \
                >"$disk/out-db"
            cmp -s "$disk/out" "$disk/out-db" || {
                echo "error: $name prints other lines" >&2
                exit 1
            }
            size_of "$disk/db" >"$memory/$name.size"
        done
        rm -f "$disk"/db*
        timed grep grep -vxFf "$memory/tenth" <"$memory/new" >"$disk/out"
        "$unseen" -s "$disk/tenth" <"$memory/tenth" >/dev/null
        timed unseen-tenth "$unseen" -s "$disk/tenth" <"$memory/new" >"$disk/out-tenth"
        cmp -s "$disk/out" "$disk/out-tenth" || {
            echo "error: grep prints other lines" >&2
            exit 1
        }
    done
    echo $(($(size_of "$disk/st") + $(size_of "$disk/st.image"))) >"$memory/unseen-s.size"
    printf '%-14s %9s %9s %12s %8s %10s %9s\n' tool 'CPU s' 'wall s' 'lines/s CPU' MiB \
        'bytes/URL' '/ unseen'
    for name in unseen-s $names; do
        print_peer "$name" "$nlines" unseen-s \
            "$(awk -v n="$nknown" '{ printf "%.1f", $1 / n }' "$memory/$name.size")"
    done
    local text
    text=$(awk -v n=$((nknown / 10)) -v size="$(size_of "$memory/tenth")" \
        'BEGIN { printf "%.1f", size / n }')
    print_peer unseen-tenth $((2 * nadded)) unseen-tenth -
    print_peer grep $((2 * nadded)) unseen-tenth "$text"
    rm -f "$disk"/*
}

# print_peer NAME NLINES BASE BYTES
print_peer() {
    awk -v name="$1" -v cpu="$(column "$1" 1 | median)" -v wall="$(column "$1" 2 | median)" \
        -v mib="$(column "$1" 3 | median)" -v n="$2" -v ratio="$(ratio "$1" "$3" 1)" -v bytes="$4" \
        'BEGIN { printf "%-14s %9.3f %9.3f %12.0f %8.1f %10s %9.1f\n", name, cpu, wall, n / cpu,
            mib, bytes, ratio }'
}

opening() {
    echo
    "$build/bench/bench_store" 1e8 "$memory"
}

echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores," \
    "cores $cores used"
echo "disk:     $(stat -f -c %T "$disk"); memory: $(stat -f -c %T "$memory")"
echo "commit:   $(git rev-parse --short HEAD 2>/dev/null || echo unknown); seed $seed;" \
    "$("$unseen" --version | head -n 1); load at the start: $(cut -d ' ' -f 1 /proc/loadavg)"
case $sections in
*pipe* | *peers*) "$build/bench/make_urls" "$nlines" "$nknown" "$seed" >"$memory/input" ;;
esac
for section in $sections; do
    case $section in
    open) opening ;;
    *) "$section" ;;
    esac
done
