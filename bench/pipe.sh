#!/bin/bash
# Compares whole programs that print each line the first time only: file in memory to file in
# memory, one core (-j2: two), CPU time. Rounds are interleaved, so that a slow minute of the
# machine hits everyone; the table has the medians.
#
# usage: bench/pipe.sh [--install-peers] [main] [repeats] [flat]
#     main      10 M lines, 5 M distinct (the default, with repeats)
#     repeats   5.5 M lines, 93 % repeats
#     flat      5 M against 50 M distinct (10 and 100 M lines), unseen and the floor only, output
#               to /dev/null: 6 GB of new pages for a file in memory cost more than the work itself
#
# Variables: BUILD (build/release), ROUNDS (5), CORE (1), SEED (1), WORK (/dev/shm/unseen-bench),
# UNSEEN_FLAGS (more options for every run of unseen).
# Peers that are not in PATH are left out. --install-peers builds huniq with cargo.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-5}
seed=${SEED:-1}
core=${CORE:-$(($(nproc) > 1 ? 1 : 0))}
work=${WORK:-/dev/shm/unseen-bench}
unseen="$build/unseen ${UNSEEN_FLAGS-}"
huniq_version=2.7.0

sections=
for argument in "$@"; do
    case $argument in
    --install-peers)
        cargo install --quiet --root build/peers huniq --version $huniq_version
        ;;
    main | repeats | flat) sections="$sections $argument" ;;
    *)
        sed -n '/^# usage/,/^# Peers/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
    esac
done
sections=${sections:-main repeats}
PATH=$PWD/build/peers/bin:$PATH
for program in unseen bench/floor bench/make_urls bench/measure; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

cat >"$work/set.py" <<'END'
import sys
seen = set()
for line in sys.stdin.buffer:
    if line not in seen:
        seen.add(line)
        sys.stdout.buffer.write(line)
END
echo 'while (<STDIN>) { print unless $seen{$_}++ }' >"$work/set.pl"
echo '!seen[$0]++' >"$work/set.awk"

# Every tool reads standard input. Those of one core and those of two.
declare -A command
names=
add_tool() {
    command -v "${2%% *}" >/dev/null || return 0
    names="$names $1"
    command[$1]=$2
}
add_tools() {
    names=
    add_tool floor "$build/bench/floor"
    add_tool floor-xxh3 "$build/bench/floor --xxh3"
    add_tool unseen "$unseen"
    [ "$1" = all ] || return 0
    add_tool unseen-none "$unseen -p none"
    add_tool unseen-2e-6 "$unseen --fpr 2e-6"
    [ "$(nproc)" -lt 2 ] || add_tool unseen-j2 "$unseen -j 2"
    add_tool huniq huniq
    add_tool python3-set "python3 $work/set.py"
    add_tool perl-hash "perl $work/set.pl"
    add_tool mawk-hash "mawk -f $work/set.awk"
    add_tool sort-u "sort -u"
    add_tool wc-l "wc -l"
}

# run_tool NAME INPUT: one measured run; the output stays in $work/NAME.out, or goes to /dev/null.
run_tool() {
    output=$work/$1.out
    [ "$keep_output" = yes ] || output=/dev/null
    cores=$core
    [ "$1" != unseen-j2 ] || cores=0,1
    rm -f "$work/$1.out"
    "$build/bench/measure" "$work/$1.times" taskset -c "$cores" ${command[$1]} \
        <"$2" >"$output" 2>"$work/$1.err" || {
        echo "error: $1 failed: $(cat "$work/$1.err")" >&2
        exit 1
    }
}

# check_output NAME: the same bytes as unseen's output; what cannot be is said in the table.
check_output() {
    if [ "$keep_output" = no ]; then
        echo "-"
        return
    fi
    case $1 in
    floor | floor-xxh3 | wc-l) echo "-" ;;
    unseen) echo "$(wc -l <"$work/unseen.out") lines" ;;
    sort-u)
        if cmp -s "$work/sort-u.out" <(sort "$work/unseen.out"); then
            echo "same, sorted"
        else
            echo "DIFFERENT"
        fi
        ;;
    *)
        if cmp -s "$work/$1.out" "$work/unseen.out"; then
            echo "same"
        elif [ "$1" = unseen-2e-6 ]; then
            echo "$(($(wc -l <"$work/unseen.out") - $(wc -l <"$work/$1.out"))) lines fewer"
        else
            echo "DIFFERENT"
        fi
        ;;
    esac
}

# compare TITLE NLINES NDISTINCT all|two
compare() {
    add_tools "$4"
    keep_output=yes
    [ "$4" = all ] || keep_output=no
    input=$work/input
    rm -f "$work"/*.times
    "$build/bench/make_urls" "$2" "$3" "$seed" >"$input"
    for round in $(seq "$rounds"); do
        for name in $names; do
            run_tool "$name" "$input"
            [ "$round" != 1 ] || check_output "$name" >"$work/$name.check"
            [ "$name" = unseen ] || rm -f "$work/$name.out"
        done
    done
    echo
    echo "$1: $2 lines, $3 distinct, $(($(stat -c %s "$input") / $2)) bytes a line; medians of $rounds"
    printf '%-12s %8s %9s %8s %8s %8s %8s  %s\n' tool 'CPU s' 'M lines/s' 'wall s' 'MiB' \
        '/ floor' '/ unseen' output
    floor_cpu=$(median floor 1)
    unseen_cpu=$(median unseen 1)
    for name in $names; do
        awk -v name="$name" -v cpu="$(median "$name" 1)" -v wall="$(median "$name" 2)" \
            -v mib="$(median "$name" 3)" -v lines="$2" -v floor="$floor_cpu" \
            -v unseen="$unseen_cpu" -v check="$(cat "$work/$name.check")" 'BEGIN {
                printf "%-12s %8.3f %9.2f %8.3f %8.1f %8.2f %8.2f  %s\n", name, cpu,
                    lines / cpu / 1e6, wall, mib, cpu / floor, cpu / unseen, check }'
    done
    [ "$4" = two ] || print_goals
    rm "$input"
}

# print_goal WHAT RATIO least|most GOAL
print_goal() {
    awk -v what="$1" -v ratio="$2" -v how="$3" -v goal="$4" 'BEGIN {
        met = how == "most" ? ratio <= goal : ratio >= goal
        printf "%-44s %6.2f   at %s %.1f: %s\n", what, ratio, how, goal, met ? "met" : "MISSED" }'
}

# ratio NAME NAME COLUMN
ratio() {
    awk -v a="$(median "$1" "$3")" -v b="$(median "$2" "$3")" 'BEGIN { print a / b }'
}

# The goals of the set in a pipe. Wall times mean something on an idle machine only. The peak memory
# is that of 10 M lines; 3.5 MiB of it are the program and its libraries, and the median moves by 0.3.
print_goals() {
    print_goal "CPU of unseen -p none to the floor" "$(ratio unseen-none floor 1)" most 1.5
    print_goal "CPU of unseen to the floor" "$(ratio unseen floor 1)" most 1.7
    case " $names " in
    *" unseen-j2 "*)
        print_goal "wall time of unseen -j 2 to unseen" "$(ratio unseen-j2 unseen 2)" most 0.6
        print_goal "CPU of unseen -j 2 to unseen" "$(ratio unseen-j2 unseen 1)" most 1.1
        ;;
    esac
    case " $names " in
    *" huniq "*)
        print_goal "CPU of huniq to unseen -p none" "$(ratio huniq unseen-none 1)" least 8
        print_goal "CPU of huniq to unseen" "$(ratio huniq unseen 1)" least 7
        ;;
    esac
    print_goal "peak memory of unseen, MiB" "$(median unseen 3)" most 29.5
    print_goal "peak memory of unseen --fpr 2e-6, MiB" "$(median unseen-2e-6 3)" most 25
}

# median NAME COLUMN
median() {
    awk -v column="$2" '{ print $column }' "$work/$1.times" | sort -g |
        awk '{ value[NR] = $1 } END { print (value[int((NR + 1) / 2)] + value[int((NR + 2) / 2)]) / 2 }'
}

echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores;" \
    "core $core used"
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
echo "compiler: $("$compiler" --version | head -n 1)"
echo "commit:   $(git rev-parse --short HEAD 2>/dev/null || echo unknown); seed $seed;" \
    "$($build/unseen --version | head -n 1)"
for section in $sections; do
    case $section in
    main) compare "main" 10000000 5000000 all ;;
    repeats) compare "93 % repeats" 5500000 385000 all ;;
    flat)
        compare "5 M distinct" 10000000 5000000 two
        compare "50 M distinct" 100000000 50000000 two
        ;;
    esac
done
