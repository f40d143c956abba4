#!/bin/bash
# A blacklist of real malware names as a file that is asked: unseen build and check, and what people
# use instead. Bytes on disk, CPU and wall time of building and of asking, wrong answers.
#
# usage: bench/list_peers.sh [real] [half] [sites]
#     real    all malware names are listed; asked are real URLs, their hosts, and home pages
#     half    every second one is listed; asked are all, half of which are not listed
#     sites   the hosts among them are listed, with all below them (--expressions); asked are the real
#             URLs, which is what a blacklist is for
#
# Variables: BUILD (build/release), ROUNDS (3), SEED (1), CORES (all), WORK (/dev/shm), WAYS (all; the
# first is what the others are compared with), DATA (../shared/data; without the files named below it
# says "skipped").
# Every way gets the same lines and compares them as bytes (unseen with -p none), as the others know
# nothing of URLs; "unseen, URLs" is the same with URL identity. What is right is what comm(1) finds
# in the sorted files, and for "unseen, URLs" what it finds in the canonical forms. "missed": listed
# lines that are not printed; "wrong": printed ones that are not listed.
# Peers that are not installed are left out and named: bloom (Debian: golang-github-dcso-bloom-cli),
# libbloom (libbloom-dev, when the benchmarks were built). grep keeps no file but the text itself;
# "store, bloom" is a store of this tool with a Bloom filter, and its log.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-3}
seed=${SEED:-1}
cores=${CORES:-0-$(($(nproc) - 1))}
data=${DATA:-../shared/data}
unseen=$build/unseen
peer=$build/bench/list_peers
rate=1e-4

sections=
for argument in "$@"; do
    case $argument in
    real | half | sites) sections="$sections $argument" ;;
    *)
        sed -n '/^# usage/,/^# Peers/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done
sections=${sections:-real half sites}
for file in maltrail_all.txt.zst debian_homepage.txt.zst urls_links.txt.gz urls_requests.txt.gz; do
    [ -f "$data/$file" ] || {
        echo "skipped: there is no $data/$file"
        exit 0
    }
done
for program in unseen bench/list_peers bench/measure; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
work=$(mktemp -d "${WORK:-/dev/shm}/unseen-list.XXXXXX")
trap 'rm -rf "$work"' EXIT

# timed TIMES COMMAND...: one run; appends "CPU wall MiB" to the file. The status is the command's.
timed() {
    "$build/bench/measure" "$work/$1" taskset -c "$cores" "${@:2}"
}

# column FILE COLUMN: the values of all rounds. median: of the values read.
column() {
    awk -v column="$2" '{ print $column }' "$work/$1"
}
median() {
    sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'
}

# ---- the ways ----
# build_NAME TIMES makes $work/made/list from $work/entries; ask_NAME TIMES prints the lines of
# $work/questions that are listed.

build_list() {
    timed "$1" "$unseen" build --force --dangerous --skip-invalid --fpr $rate --seed "$seed" "${@:2}" "$work/made/list" "$work/entries"
}
build_peer() { timed "$1" "$peer" "$2" build "$work/made/list" "$nentries" <"$work/entries"; }
ask_unseen() { timed "$1" "$unseen" check "$work/made/list" "$work/questions"; }
ask_peer() { timed "$1" "$peer" "$2" check "$work/made/list" "$nentries" <"$work/questions"; }

build_list_bytes() { build_list "$1" -p none; }
ask_list_bytes() { ask_unseen "$1"; }
build_list_urls() { build_list "$1"; }
ask_list_urls() { ask_unseen "$1"; }
build_list_sites() { build_list "$1" --expressions; }
ask_list_sites() { ask_unseen "$1"; }
build_store() {
    timed "$1" "$unseen" add -p none --filter bloom --fpr $rate --capacity "$nentries" \
        --seed "$seed" "$work/made/list" "$work/entries"
}
ask_store() { ask_unseen "$1"; }
build_textbook() { build_peer "$1" textbook; }
ask_textbook() { ask_peer "$1" textbook; }
build_libbloom() { build_peer "$1" libbloom; }
ask_libbloom() { ask_peer "$1" libbloom; }
build_dcso() {
    bloom create -p $rate -n "$nentries" "$work/made/list" >"$work/created"
    timed "$1" bloom insert "$work/made/list" <"$work/entries"
}
ask_dcso() { timed "$1" bloom check "$work/made/list" <"$work/questions"; }
build_grep_x() { timed "$1" cp "$work/entries" "$work/made/list"; }
ask_grep_x() { timed "$1" grep -xFf "$work/made/list" "$work/questions"; }
build_grep() { build_grep_x "$1"; }
ask_grep() { timed "$1" grep -Ff "$work/made/list" "$work/questions"; }
build_comm() { timed "$1" sort -o "$work/made/list" "$work/entries"; }
ask_comm() { timed "$1" sh -c "sort '$work/questions' | comm -12 - '$work/made/list'"; }

declare -A title=([list_bytes]='unseen' [list_urls]='unseen, URLs' [list_sites]='unseen, sites'
    [store]='store, bloom' [textbook]='textbook Bloom' [libbloom]='libbloom' [dcso]='DCSO bloom'
    [grep_x]='grep -xFf' [grep]='grep -Ff' [comm]='sort, comm')
ways="list_bytes list_urls store textbook"
missing=
if "$peer" 2>&1 | grep -q libbloom; then ways="$ways libbloom"; else missing="$missing libbloom"; fi
if command -v bloom >/dev/null; then ways="$ways dcso"; else missing="$missing bloom"; fi
ways=${WAYS:-$ways grep_x grep comm}

# right_of WAY: which answers are right, sorted.
right_of() {
    case $1 in
    list_urls) echo "$work/right_urls" ;;
    *) echo "$work/right" ;;
    esac
}

run_way() {
    local way=$1 status=0
    rm -rf "$work/made"
    mkdir "$work/made"
    "build_$way" "$way.build" >"$work/out" 2>"$work/errors" &&
        "ask_$way" "$way.ask" >"$work/out" 2>"$work/errors" || status=$?
    [ "$status" -le 1 ] || { # 1: nothing is listed, as grep says it
        echo "error: ${title[$way]}: $(head -n 3 "$work/errors")" >&2
        exit 1
    }
    cat "$work"/made/* | wc -c >"$work/$way.bytes"
    sort "$work/out" >"$work/answers"
    comm -13 "$work/answers" "$(right_of "$way")" | wc -l >"$work/$way.missed"
    comm -23 "$work/answers" "$(right_of "$way")" | wc -l >"$work/$way.wrong"
}

print_way() {
    local way=$1
    awk -v title="${title[$way]}" -v bytes="$(cat "$work/$way.bytes")" -v n="$nentries" \
        -v base="$(column "${ways%% *}.ask" 1 | median)" -v build="$(column "$way.build" 1 | median)" \
        -v build_wall="$(column "$way.build" 2 | median)" -v ask="$(column "$way.ask" 1 | median)" \
        -v ask_wall="$(column "$way.ask" 2 | median)" -v mib="$(column "$way.ask" 3 | median)" \
        -v missed="$(cat "$work/$way.missed")" -v wrong="$(cat "$work/$way.wrong")" 'BEGIN {
            printf "%-15s %10d %8.2f %8.3f %8.3f %8.3f %8.3f %8.2f %8.1f %7d %7d\n", title, bytes,
                8 * bytes / n, build, build_wall, ask, ask_wall, ask / base, mib, missed, wrong }'
}

# canonical FILE: its lines and their canonical forms, tab between.
canonical() {
    "$unseen" canon "$1" | paste "$1" -
}

# What is listed among the questions, into $work/right and, by canonical forms, $work/right_urls.
find_right() {
    sort "$work/entries" >"$work/sorted"
    sort "$work/questions" | comm -12 - "$work/sorted" >"$work/right"
    canonical "$work/entries" | cut -f 2 | sort -u >"$work/sorted_urls"
    canonical "$work/questions" | sort -t "$(printf '\t')" -k 2,2 |
        join -t "$(printf '\t')" -1 2 -2 1 -o 1.1 - "$work/sorted_urls" | sort >"$work/right_urls"
}

find_right_sites() {
    awk 'NR == FNR { listed[$0]; next }
        {
            host = tolower($0)
            sub(/^[a-z]+:\/\//, "", host)
            sub(/[\/?#].*/, "", host)
            sub(/.*@/, "", host)
            sub(/:[0-9]*$/, "", host)
            sub(/[.]$/, "", host)
            for (found = host in listed; !found && host !~ /^[0-9.]+$/ && sub(/^[^.]*[.]/, "", host);) {
                found = host in listed
            }
            if (found) {
                print
            }
        }' "$work/entries" "$work/questions" | sort >"$work/right"
    cp "$work/right" "$work/right_urls"
}

compare() {
    nentries=$(wc -l <"$work/entries")
    rm -f "$work"/*.build "$work"/*.ask
    echo
    echo "$1: $nentries listed, $(wc -l <"$work/questions") asked, of which listed:" \
        "$(wc -l <"$work/right"), as URLs $(wc -l <"$work/right_urls"); medians of $rounds"
    printf '%-15s %10s %8s %8s %8s %8s %8s %8s %8s %7s %7s\n' way bytes bits/key build wall ask \
        wall /first 'ask MiB' missed wrong
    for _ in $(seq "$rounds"); do
        for way in $ways; do
            run_way "$way"
        done
    done
    for way in $ways; do
        print_way "$way"
    done
}

# Lines without a tab that are not blank, each once, in an order that is no order.
once() {
    grep -v -e "$(printf '\t')" -e '^ *$' | sort -u | shuf --random-source="$work/random"
}

make_real() {
    cp "$work/malware" "$work/entries"
    sed -n 's|^[a-z]*://\([^/?#:]*\).*|\1|p' "$work/urls" >"$work/hosts"
    zstd -dcq "$data/debian_homepage.txt.zst" | cat - "$work/urls" "$work/hosts" | once >"$work/questions"
    find_right
}

make_half() {
    sort "$work/malware" | awk 'NR % 2' | shuf --random-source="$work/random" >"$work/entries"
    cp "$work/malware" "$work/questions"
    find_right
}

make_sites() {
    tr 'A-Z' 'a-z' <"$work/malware" | grep -x '[a-z0-9_-][a-z0-9_.-]*[.][a-z0-9-]*[a-z0-9]' |
        once >"$work/entries"
    once <"$work/urls" >"$work/questions"
    find_right_sites
    ways="list_sites grep"
}

echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores," \
    "cores $cores used; load $(cut -d ' ' -f 1 /proc/loadavg)"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
echo "compiler: $("$compiler" --version | head -n 1)"
echo "commit:   $(git rev-parse --short HEAD 2>/dev/null || echo unknown); seed $seed;" \
    "$("$unseen" --version | head -n 1); $(grep --version | head -n 1)"
echo "times:    build and ask are CPU seconds, beside them wall; rate $rate"
[ -z "$missing" ] || echo "not here:$missing"
"$build/bench/make_urls" range 0 1000000 "$seed" >"$work/random"
gzip -dc "$data/urls_links.txt.gz" "$data/urls_requests.txt.gz" >"$work/urls"
zstd -dcq "$data/maltrail_all.txt.zst" | once >"$work/malware"
for section in $sections; do
    "make_$section"
    compare "$section"
done
