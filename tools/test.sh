#!/bin/bash
# Installs what the tests need, then builds and runs them: some 20 minutes on 2 quiet cores. `all` runs what else there
# is: more stages, and in the stages what follows a plus sign here.
#
#     release   gcc, warnings are errors: unit tests (those of kernels at each SIMD level), the tool, the crash
#               harnesses, the checks of the tree (layers, format, packaging, ...)
#               + the planted faults of the crash harnesses, two to four times their cases, more cases in some
#               tests of the tool, tests with the label "all", the benchmarks, the replays of the fuzz targets
#     asan      clang, warnings are errors, AddressSanitizer and UBSan: unit tests at the best SIMD level, the crash
#               harnesses that call the library, the tests of the tool with the label "bytes"
#               + all tests of the tool, all SIMD levels, unit tests of what others run through, long ones of
#               stores, failing allocations, and the sizes and rates that the release build has
#     tsan      the tests with threads, under ThreadSanitizer
#               + unit/list, unit/list_spill and unit/store, which take minutes there, and more options
#     fuzz      each fuzz target for a second in the build of asan, starting from its corpus
#               + for two
#     portable  unit tests as s390x (big endian), under qemu
#               + as aarch64, filters, windows, spellings of sites, and of stores more than their files
#               (unit/golden)
#     static    cppcheck, shellcheck (tools/static.sh)
#               + clang-tidy
#     python    the Python package from a wheel of its sdist (tools/python.sh)
#               + from the checkout, and with three older versions of Scrapy
#     module    the module in a Redis server, and under AddressSanitizer (tools/module.sh)
#               + in two Valkey servers, and steps under AddressSanitizer
#   in all only:
#     clang     all of it compiled by clang for a release: unit tests, the replays
#     packages  the Debian packages, checked by lintian and used in a bare Debian 12; the static tool
#     pages     the planner page in a headless Chromium, and the documents as a site
#     systems   examples in front of stores that need heavy packages: LMDB, RocksDB, LevelDB; of a cache and
#               a database (tests/systems)
#
# usage: tools/test.sh [all] [STAGE...]     these stages only
#        tools/test.sh quick                the release stage only
#        tools/test.sh long                 what takes hours: kills, power cuts, flipped bits, failing calls,
#                                           forged files, fuzzing, 10^9 keys (docs/runs.md)
#
# Stages that wait more than they compute run beside the others: python, packages, pages, systems and module.
#
# Each stage ends with its seconds for building and for testing, the processor seconds of both, and its slowest tests.
#
# A stage that has passed is not run again while its inputs stay as they are: the files that paths_of names, the
# compilers and the processor. UNSEEN_TEST_AGAIN=1 runs it all the same.
#
# UNSEEN_FUZZ_SECONDS=60: for each fuzz target (1 or 2 from one seed, long: 3600 from a new one).
# UNSEEN_LONG_SCALE=0.01: a long run that is cut to that part, to try it.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
script_start=$SECONDS

# What a fresh login has, or less if the hard limit is less, so that the tests find what fails for users.
ulimit -Sn 1024 || true
ulimit -Ss 8192 || true

long_stages="long_crash long_serve long_systems long_module long_python long_asan long_forged long_fuzz long_keys"
default_stages="release asan tsan fuzz portable static python module"
all_stages="$default_stages clang packages pages systems"
# These wait more than they compute: they run one after the other beside the rest, in this order. Fuzzing counts
# seconds, so it comes last.
beside_stages="python module packages pages systems"
main_stages="release asan clang tsan portable static fuzz"

all=
stages=$default_stages
if [ "${1-}" = all ]; then
    all=1
    stages=$all_stages
    shift
fi
export UNSEEN_TEST_BRIEF=1
[ -z "$all" ] || unset UNSEEN_TEST_BRIEF
case "$all${1-}" in
'' | 1) ;;
quick) stages="release" ;;
long)
    stages=$long_stages
    unset UNSEEN_TEST_BRIEF
    export UNSEEN_TEST_SECONDS=86400
    ;;
*)
    stages=$*
    for stage in $stages; do
        case " $all_stages $long_stages " in
        *" $stage "*) ;;
        *)
            echo "usage: tools/test.sh [quick | long | [all] [STAGE...]] (stages: $all_stages)" >&2
            exit 2
            ;;
        esac
    done
    ;;
esac

# What the tests need beyond the build: the other compiler, its libFuzzer, analyser and formatter; the
# programs that tests call; other processors; the analysers.
install_missing $build_packages clang-14 libclang-rt-14-dev clang-format-14 binutils \
    zstd gzip xz-utils bzip2 strace util-linux bsdutils mount mandoc python3 redis-server sqlite3 \
    libjansson-dev libsqlite3-dev liblmdb-dev golang-go default-jdk-headless nodejs nginx-light curl zsh fish \
    git iproute2 $portable_packages $static_packages abigail-tools libunistring-dev python3-dev python3-venv \
    python3-pip golang-github-dcso-bloom-cli libguava-java
[ -z "$all" ] || install_missing $database_packages squid postfix gcc-aarch64-linux-gnu libc6-dev-arm64-cross
# Two stages that run at once must not install at once.
case " $stages " in *" packages "*) install_missing $lint_packages ;; esac
case " $stages " in *" pages "*) install_missing $pages_packages ;; esac
case " $stages " in *" systems "*) install_missing $systems_packages ;; esac

logs=build/test-logs
green=$logs/green
mkdir -p $green

# Sanitizers of this age may not find their address space where the kernel randomises all of it.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=

# What does not end, ends the stage. What it has started ends with the script: it stays in the process group.
limited="timeout --foreground --kill-after=10 3000"

# ---- stages --------------------------------------------------------------------------------------

# built NAME COMMAND...: a build, whose seconds go to the report of the stage.
built() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" || status=$?
    echo "built $name in $((SECONDS - began)) s"
    return $status
}

# configure_build NAME TARGET... -- [cmake argument]...: NAME is a preset's, or a folder's.
configure_build() {
    local name=$1 targets=()
    shift
    while [ "$1" != -- ]; do
        targets+=("$1")
        shift
    done
    shift
    mkdir -p build
    (
        flock 9 # a stage beside this one may build in the same folder
        cmake "$@" -B "build/$name" && built "$name" cmake --build "build/$name" -j 2 --target "${targets[@]}"
    ) 9>"build/$name.lock"
}

# timed NAME COMMAND...: a test that ctest does not run, with a line as ctest prints it.
timed() {
    local name=$1 began=$SECONDS status=0
    shift
    "$@" || status=$?
    echo "Test #0: $name ... $((SECONDS - began)) sec"
    return $status
}

# A Python with the w3lib that Scrapy installs today, for cli/scrapy_peer, which is skipped without it:
# that of Debian is too old.
w3lib_python() {
    if ! [ -d build/w3lib/bin ] && ! { python3 -m venv build/w3lib && build/w3lib/bin/pip install -q w3lib==2.5.0; } >&2; then
        rm -rf build/w3lib
        echo python3
        return
    fi
    echo "$PWD/build/w3lib/bin/python"
}

# The usual run has the stage fuzz for each corpus, and measures nothing.
parts=ON
[ -z "${UNSEEN_TEST_BRIEF-}" ] || parts=OFF
release="--preset release -DUNSEEN_WERROR=ON -DUNSEEN_BENCH=$parts -DUNSEEN_REPLAYS=$parts"

# What `all` adds to a stage has the label "all".
not_in_all=
[ -n "$all" ] || not_in_all='-LE ^all$'

stage_release() {
    configure_build release all -- $release &&
        UNSEEN_SCRAPY_PYTHON=$(w3lib_python) ctest --preset release $not_in_all
}

# The crash harnesses are about the order of system calls, and the tests of the tool about what it says,
# which are the same for every compiler.
stage_clang() {
    configure_build clang all -- --preset release -DCMAKE_C_COMPILER=clang-14 -DUNSEEN_WERROR=ON &&
        ctest --test-dir build/clang -j 2 --output-on-failure --no-tests=error --timeout 300 \
            -LE once -R '^(unit|fuzz)/'
}

build_asan() {
    configure_build asan "$@" -- --preset asan -DUNSEEN_WERROR=ON
}

# The replays of the fuzz targets are part of the fuzz stage. A planted fault tests its harness, not the code.
# crash/list takes four minutes here: long_asan has it.
stage_asan() {
    local status=0 scripts='-L ^bytes$' slow='^unit/(chain|key_attack|list_spill|order|rate|set|site_spellings'
    slow="$slow|store_filters|store_refresh|store_sweep)/|^crash/alloc\$"
    [ -z "$all" ] || scripts='-R ^cli/ -LE ^once$' slow='^$'
    build_asan unseen unit_tests crash_tests print_urls || return 1
    $fixed ctest --preset asan -R '^(unit|crash)/' -E "^crash/.*/|^crash/list\$|$slow" $not_in_all || status=1
    $fixed ctest --preset asan $scripts || status=1
    return $status
}

stage_tsan() {
    local slow='^unit/(list|list_spill|store)/'
    [ -z "$all" ] || slow='^$'
    configure_build tsan unseen thread_tests print_urls -- --preset tsan &&
        $fixed ctest --preset tsan $not_in_all -E "$slow"
}

# Each target, two at a time, for $1 seconds. libFuzzer's own report ends a failing run with a non-zero
# status. Each target counts as a test. The same inputs come in each run: what fails here has been broken
# by a change. New inputs are the work of the stage long_fuzz. (-use_cmp=0, as libFuzzer takes operands of
# comparisons for its inputs, and addresses are not the same in each run.)
stage_fuzz() {
    build_asan fuzzers || return 1
    run_fuzzers "${UNSEEN_FUZZ_SECONDS:-$([ -n "$all" ] && echo 2 || echo 1)}" -seed=1 -use_cmp=0
}

# run_fuzzers SECONDS [OPTION]... The corpus is given in the order of its names: that of a folder is not
# the same on every machine.
# A sanitizer that does not find its address space ends the program before libFuzzer says its seed: the
# run begins anew. The last lines name the targets that failed, with the end of what each said.
run_fuzzers() {
    local found ntargets nbroken name seconds=$1
    shift
    found=$(mktemp -d)
    printf '%s\n' build/asan/fuzz/fuzz_* | grep -v '\.' |
        LC_ALL=C seconds=$seconds options=$* found=$found fixed=$fixed logs=$logs xargs -P 2 -I '{}' sh -c '
            name=$(basename "{}")
            mkdir "$found/$name"
            printf "%s," fuzz/corpus/"${name#fuzz_}"/* | sed "s/,\$//" >"$found/$name.inputs"
            for attempt in 1 2 3; do
                status=0
                $fixed "{}" $options -max_total_time="$seconds" -timeout=20 -print_final_stats=1 \
                    -artifact_prefix="$logs/$name-" -seed_inputs="@$found/$name.inputs" "$found/$name" \
                    >"$found/$name.log" 2>&1 || status=$?
                [ $status != 0 ] || break
                ! grep -q "^INFO: Seed: " "$found/$name.log" || break
                echo "$name: attempt $attempt did not start"
            done
            [ $status = 0 ] || echo "$name" >>"$found/broken"
            echo "== $name: status $status"
            cat "$found/$name.log"' || true
    ntargets=$(find "$found" -name 'fuzz_*' -type d | wc -l)
    nbroken=$(sort -u "$found/broken" 2>/dev/null | wc -l)
    for name in $(sort -u "$found/broken" 2>/dev/null); do
        echo "== $name failed"
        grep -a -E '^==[0-9]+==|SUMMARY|^artifact|^Base64|ERROR|    #[0-9]+ ' "$found/$name.log" | head -n 25
        tail -n 10 "$found/$name.log"
    done
    rm -r "$found"
    closing_line $((ntargets - nbroken)) "$ntargets"
    [ "$ntargets" -gt 0 ] && [ "$nbroken" = 0 ]
}

# Not the tests that take minutes under qemu, nor those of a machine's memory, nor the one that counts work.
stage_portable() {
    local slow='bitmap|block|key_attack|limits|list|list_changes|list_page|list_parts|list_spill|order|rate'
    slow="$slow|reserve|set|store|store_filters|store_refresh|url_fast|url_node"
    [ -n "$all" ] || slow="$slow|chain|compact|counting|list_pitfalls|parts|scrapy|site_spellings|stash|store_allow"
    [ -n "$all" ] || slow="$slow|store_fetch|store_sweep|store_window|union|window"
    slow="^unit/($slow)/"
    local status=0 arch
    for arch in s390x ${all:+aarch64}; do
        tools/portable.sh $arch -R '/portable$' -E "$slow" || status=1
    done
    return $status
}

stage_packages() {
    local status=0
    timed packages/deb $limited tests/packages/deb.sh || status=1
    timed packages/static $limited tests/packages/static.sh || status=1
    return $status
}

stage_systems() {
    local status=0 test
    configure_build release unseen unseen_static unseen_module -- $release || return 1
    for test in tests/systems/*.sh; do
        timed "systems/$(basename "$test" .sh)" "$test" || status=1
    done
    return $status
}

stage_pages() {
    local nfailed=0
    configure_build release unseen -- $release || return 1
    timed pages/planner $limited tests/pages/planner.sh || nfailed=$((nfailed + 1))
    timed pages/site $limited tests/pages/site.sh || nfailed=$((nfailed + 1))
    closing_line $((2 - nfailed)) 2
    [ $nfailed = 0 ]
}

stage_static() {
    tools/static.sh cppcheck shellcheck ${all:+clang_tidy}
}

stage_python() {
    configure_build release unseen unseen_module -- $release &&
        $limited tools/python.sh ${all:+checkout} wheel ${all:+scrapy}
}

stage_module() {
    configure_build release unseen_module -- $release && build_asan unseen_module &&
        $limited tools/module.sh redis70 ${all:+valkey80 valkey9} asan
}

# closing_line NPASSED NTESTS: in ctest's words.
closing_line() {
    echo "$(($2 ? 100 * $1 / $2 : 0))% tests passed, $(($2 - $1)) tests failed out of $2"
}

# ---- long stages ---------------------------------------------------------------------------------

# scaled NUMBER: cut to UNSEEN_LONG_SCALE, at least 1.
scaled() {
    awk -v n="$1" -v part="${UNSEEN_LONG_SCALE:-1}" 'BEGIN { n *= part; print int(n < 1 ? 1 : n) }'
}

# long_build PRESET TARGET...: its tests may take a day.
long_build() {
    local preset=$1
    shift
    configure_build "$preset" "$@" -- --preset "$preset" -DUNSEEN_TEST_SECONDS=86400
}

# long_test BUILD VARIABLE SCALE REGEX: tests of a build with so many times the cases.
long_test() {
    env "$2=$(scaled "$3")" $fixed ctest --test-dir "build/$1" -j 2 --output-on-failure \
        --no-tests=error --timeout 86400 -R "$4"
}

# The harnesses of tests/crash, without those of their planted faults.
stage_long_crash() {
    local status=0
    long_build release all || return 1
    long_test release UNSEEN_CRASH_SCALE 100 '^crash/(kill|flips|list)$' || status=1
    long_test release UNSEEN_CRASH_SCALE 50 '^crash/power$' || status=1
    long_test release UNSEEN_CRASH_SCALE 10 '^crash/(faults|alloc|access|edits)$' || status=1
    long_test release UNSEEN_CRASH_SCALE 2 '^crash/syncs$' || status=1
    return $status
}

# Kills of servers and clients, sessions of strangers, spellings of paths, and the worked systems.
stage_long_serve() {
    long_build release unseen || return 1
    long_test release UNSEEN_CRASH_SCALE 10 '^cli/(serve_clients|path_spellings|example_(batch|crawler|spiders|cms|shards))$'
}

# The cache guard with 200,000 rows and a million requests for absent keys.
stage_long_systems() {
    configure_build release unseen unseen_module -- $release || return 1
    CACHE_GUARD_SCALE=$(scaled 10) tests/systems/cache_guard.sh
}

# Clusters under load, with failovers, on each server; damaged and forged payloads.
stage_long_module() {
    local status=0
    long_build release unseen unseen_module || return 1
    long_build asan unseen_module || return 1
    MODULE_CLUSTER_SECONDS=$(scaled 60) MODULE_CHANGES=$(scaled 1500) MODULE_KILLS=$(scaled 25) \
        tools/module.sh redis70 valkey80 valkey9 || status=1
    tools/module.sh redis82 valkey81 clients || status=1
    PAYLOADS=$(scaled 100000) tools/module.sh asan || status=1
    return $status
}

# Crawls of Scrapy that are killed: 30 kills on 10,000 pages; 10^7 rows in Spark; the wheel in Debian 13.
stage_long_python() {
    local status=0
    long_build release unseen unseen_module || return 1
    UNSEEN_CRASH_SCALE=$(scaled 10) tools/python.sh checkout wheel || status=1
    tools/python_debian13.sh || status=1
    return $status
}

stage_long_asan() {
    long_build asan all || return 1
    long_test asan UNSEEN_CRASH_SCALE 10 '^crash/(flips|alloc|access|list)$'
}

# Damaged and forged lists and exports, killed writers, and every model test, with more cases.
stage_long_forged() {
    long_build release all || return 1
    long_test release UNSEEN_TEST_SCALE 25 '^unit/|^cli/memory_out$'
}

stage_long_fuzz() {
    # libFuzzer takes operands of comparisons for its inputs: what each comparison calls costs the other runs a third.
    configure_build asan fuzzers -- --preset asan -DUNSEEN_TEST_SECONDS=86400 \
        -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1 -fsanitize-coverage=trace-cmp,trace-div,trace-gep" || return 1
    run_fuzzers "${UNSEEN_FUZZ_SECONDS:-$(scaled 3600)}"
}

# 10^9 keys in a list, from text to answers: 7 GB of disk, 2 GB of memory; in a set and its rate: 10 GB.
stage_long_keys() {
    local npassed=0 n
    n=$(scaled 1000000000)
    long_build release all || return 1
    MEMORY=1G FLAGS="--capacity $n" bench/ten_billion.sh "$n" && npassed=$((npassed + 1))
    build/release/bench/bench_growth "$n" && npassed=$((npassed + 1))
    build/release/bench/bench_rate "$n" && npassed=$((npassed + 1))
    closing_line $npassed 3
    [ $npassed = 3 ]
}

# ---- all -----------------------------------------------------------------------------------------

# The files that a stage depends on, as patterns of git: all but those that it never reads. A new folder counts.
paths_of() {
    local others=":!bindings/python/unseen :!bindings/python/tests :!tests/module :!tests/systems :!tests/pages"
    others="$others :!tests/packages :!tests/mutants :!tools/site"
    local programs="$others :!docs :!*.md :!planner :!packaging :!tests/build"
    local unread=":!tests/unit :!tests/crash :!tests/build :!tests/mutants :!fuzz :!bench :!planner :!packaging"
    case $1 in
    release) echo ". $others" ;;
    asan | tsan | clang | fuzz) echo ". $programs :!examples :!completions" ;;
    portable) echo ". $programs :!examples :!completions :!cli :!module :!bench :!tests/cli :!tests/crash" ;;
    static) echo ". :!docs :!*.md :!*.py :!fuzz :!bench/*.c :!tests/*.c" ;;
    python) echo ". $unread :!tests/module" ;;
    # It reads docs/server.md, so only other pages are left out.
    module) echo ". $unread :!bindings :(exclude,glob)docs/[!s]*/** :(exclude,glob)*.md :!examples" ;;
    systems) echo ". $unread :!bindings :!docs :!*.md :!tests/module" ;;
    *) echo . ;;
    esac
}

# What a stage depends on, as a checksum.
inputs_of() {
    local paths
    read -r -a paths <<<"$(paths_of "$1")"
    {
        git ls-files -z -co --exclude-standard -- "${paths[@]}" | sort -z | xargs -0 sha256sum 2>&1
        gcc --version
        clang-14 --version
        uname -m
        grep -m 1 ^flags /proc/cpuinfo
        ls ../shared/data 2>/dev/null
        env | grep '^UNSEEN_' | grep -v '^UNSEEN_TEST_\(AGAIN\|BRIEF\)=' | sort
    } | sha256sum | cut -d ' ' -f 1
}

# The counts of a log: tests, failed, skipped, as ctest printed them in all its runs, and the seconds of builds.
# A stage that got no further than its build is one failure.
counts_of() {
    awk '/^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$/ { n += $NF; failed += $4 }
        /\*\*\*Skipped/ { skipped++ }
        /^built .* in [0-9]+ s$/ { built += $(NF - 1) }
        END { print n ? n : 1, n ? failed + 0 : 1, skipped + 0, built + 0 }' "$1"
}

# The ten slowest tests of a log, each with its seconds.
slowest_of() {
    sed -nE 's/^.*Test +#[0-9]+: ([^ ]+) .* ([0-9.]+) sec.*$/\2 \1/p' "$1" | sort -rn | head -n 10 |
        awk '{ printf "%s%s %.0f s", (NR > 1 ? ", " : ""), $2, $1 } END { if (NR) print "" }'
}

# processor_seconds FILE: of the commands that have ended, from what `times` of the stage's own shell has put there:
# the first one also counts what ran beside it.
processor_seconds() {
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); s += 60 * part[1] + part[2] } printf "%.0f", s }' "$1"
}

table='%-9s %-13s %6s %7s %8s %8s %7s %12s\n'

# Runs a stage. Its row of the summary goes to a file.
run_stage() {
    local stage=$1 began=$SECONDS log=$logs/$1.log inputs status ntests nfailed nskipped nbuilt ncpu=0 took=0
    echo "== $stage"
    : >"$results/$stage.times"
    inputs=$(git rev-parse --is-inside-work-tree >/dev/null 2>&1 && inputs_of "$stage" || echo none)
    case $inputs/$(cat "$green/$stage" 2>/dev/null) in
    none/*) status=new ;;
    "$inputs/$inputs all") status=as-before ;;
    "$inputs/$inputs") status=${all:+new} && status=${status:-as-before} ;;
    *) status=new ;;
    esac
    if [ "${UNSEEN_TEST_AGAIN-}" != 1 ] && [ $status = as-before ] && [ -e "$log" ]; then
        echo "$stage has passed before, and nothing has changed"
    elif rm -f "$green/$stage" && (
        code=0
        stage_"$stage" || code=$?
        times >"$results/$stage.times"
        exit $code
    ) >"$log" 2>&1; then
        status=passed
        echo "$inputs${all:+ all}" >"$green/$stage"
    else
        status=FAILED
        tail -n 100 "$log"
    fi
    read -r ntests nfailed nskipped nbuilt <<<"$(counts_of "$log")"
    # A build that failed between two runs of ctest.
    if [ "$status" = FAILED ] && [ "$nfailed" = 0 ]; then
        ntests=$((ntests + 1))
        nfailed=1
    fi
    if [ $status = as-before ]; then
        nbuilt=0
    else
        ncpu=$(processor_seconds "$results/$stage.times")
        took=$((SECONDS - began - nbuilt))
        echo "$stage $status: built in $nbuilt s, tested in $took s; the slowest: $(slowest_of "$log")"
    fi
    echo "$ntests $nfailed $status" >"$results/$stage.counts"
    printf "$table" "$stage" "$status" "$ntests" "$nfailed" "$nskipped" "$nbuilt" "$took" "$ncpu" >"$results/$stage.row"
}

# those_of "STAGE...": the stages that were asked for among these, in this order.
those_of() {
    local stage
    for stage in $1; do
        case " $stages " in *" $stage "*) echo "$stage" ;; esac
    done
}

run_beside() {
    local stage
    for stage in $(those_of "$beside_stages"); do
        run_stage "$stage"
    done
}

results=$(mktemp -d)
beside=
end_beside() {
    [ -z "$beside" ] || kill -- "-$beside" 2>/dev/null || true
    rm -rf "$results"
}
trap end_beside EXIT
trap 'exit 130' INT TERM
start_beside() {
    [ -n "$(those_of "$beside_stages")" ] || return 0
    set -m # a process group, which can be ended as a whole
    run_beside </dev/null &
    beside=$!
    set +m
}

start=$SECONDS
start_beside
for stage in $(those_of "$long_stages") $(those_of "$main_stages"); do
    run_stage "$stage"
done
[ -z "$beside" ] || wait "$beside" || true

all_tests=0
passed=0
rows=
failed_stages=
logs_used=
for stage in $stages; do
    # A stage without a result has ended this script, or was ended.
    read -r ntests nfailed status <<<"$(cat "$results/$stage.counts" 2>/dev/null || echo "1 1 FAILED")"
    [ "$status" != FAILED ] || failed_stages="$failed_stages $stage"
    all_tests=$((all_tests + ntests))
    passed=$((passed + ntests - nfailed))
    rows="$rows$(cat "$results/$stage.row" 2>/dev/null || echo "$stage FAILED: it did not end")
"
    [ ! -e "$logs/$stage.log" ] || logs_used="$logs_used $logs/$stage.log"
done

echo
printf "$table" stage result tests failed skipped "build s" "test s" "processor s"
printf '%s' "$rows"
skipped=$(cat /dev/null $logs_used | grep -E '\*\*\*Skipped' | sed -E 's/^.*: ([^ ]+) \.*.*$/\1/' | sort -u)
[ -z "$skipped" ] || echo "skipped:" $skipped
echo "$((start - script_start)) s of installing, $((SECONDS - start)) s of stages; logs in $logs"
[ -z "$failed_stages" ] || echo "FAILED:$failed_stages"
closing_line $passed $all_tests
[ -z "$failed_stages" ]
