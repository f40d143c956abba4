#!/bin/bash
# Installs what the tests need, then builds and runs every test:
#
#     release   gcc, warnings are errors: unit tests (those of kernels at each SIMD level), the tool,
#               the crash harnesses, the replays of the fuzz targets, the checks of the tree (layers,
#               format, packaging, ...)
#     clang     all of it compiled by clang: unit tests, the replays
#     asan      unit tests, the tool, the crash harnesses under AddressSanitizer and UBSan
#     tsan      the tests with threads, under ThreadSanitizer
#     fuzz      each fuzz target for a few seconds under AddressSanitizer, starting from its corpus
#     portable  unit tests as aarch64 and as s390x (big endian), under qemu
#     packages  the Debian packages, checked by lintian and used in a bare Debian 12; the static tool
#     pages     the planner page in a headless Chromium, and the documents as a site
#     static    cppcheck, clang-tidy, shellcheck (tools/static.sh)
#     systems   examples in front of stores that need heavy packages: LMDB, RocksDB, LevelDB; of a cache and
#               a database (tests/systems)
#     python    the Python package, from the checkout and from its sdist (tools/python.sh)
#     module    the module in Redis and Valkey servers (tools/module.sh)
#
# usage: tools/test.sh [quick]         quick: the release stage only
#        tools/test.sh STAGE...        these stages only
#        tools/test.sh long            what takes hours: kills, power cuts, flipped bits, failing calls,
#                                      forged files, fuzzing, 10^9 keys (docs/runs.md)
#
# Stages that wait more than they compute run beside the others: python, packages, pages, systems and module.
#
# A stage that has passed is not run again while its inputs stay as they are: the files of the
# checkout, the compilers and the processor. UNSEEN_TEST_AGAIN=1 runs it all the same.
#
# UNSEEN_FUZZ_SECONDS=60: for each fuzz target (5 from one seed, long: 3600 from a new one).
# UNSEEN_LONG_SCALE=0.01: a long run that is cut to that part, to try it.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

long_stages="long_crash long_serve long_systems long_module long_python long_asan long_forged long_fuzz long_keys"
all_stages="release clang asan tsan fuzz portable python module packages pages systems static"
# These wait more than they compute: they run one after the other beside the rest, in this order, as soon as the
# builds that they use are made, and those of nobody else. Fuzzing counts seconds, so it comes last.
beside_stages="python packages pages systems module"
main_stages="release asan clang tsan portable static fuzz"
case ${1-} in
'') stages=$all_stages ;;
quick) stages="release" ;;
long) stages=$long_stages ;;
*)
    stages=$*
    for stage in $stages; do
        case " $all_stages $long_stages " in
        *" $stage "*) ;;
        *)
            echo "usage: tools/test.sh [quick | long | STAGE...] (stages: $all_stages)" >&2
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
    libjansson-dev libsqlite3-dev liblmdb-dev golang-go default-jdk-headless nodejs squid postfix nginx-light curl zsh fish \
    lintian mmdebstrap debhelper dpkg-dev systemd \
    postgresql python3-psycopg2 golang-github-lib-pq-dev git iproute2 $portable_packages $static_packages abigail-tools libunistring-dev \
    python3-dev python3-venv python3-pip golang-github-dcso-bloom-cli libguava-java
# Two stages that run at once must not install at once.
case " $stages " in *" pages "*) install_missing $pages_packages ;; esac
case " $stages " in *" systems "*) install_missing $systems_packages ;; esac

logs=build/test-logs
green=$logs/green
mkdir -p $green

# Sanitizers of this age may not find their address space where the kernel randomises all of it.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=

# ---- stages --------------------------------------------------------------------------------------

# configure_build NAME TARGET... -- [cmake argument]...: NAME is a preset's, or a folder's.
configure_build() {
    local name=$1 targets=()
    shift
    while [ "$1" != -- ]; do
        targets+=("$1")
        shift
    done
    shift
    cmake "$@" -B "build/$name" && cmake --build "build/$name" -j 2 --target "${targets[@]}"
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

# run_ctest BUILD ARGUMENT...: tests of the tool (cli/) run servers, leases and kills side by side. A busy
# machine may be too late for one. Up to two of them run once more, alone. The last lines of the whole run
# name them, and the log has the first failure: such a test, or what it has found, is to be mended. All other
# tests have no second chance.
run_ctest() {
    local build=build/$1 failed
    shift
    rm -f "$build/Testing/Temporary/LastTestsFailed.log"
    $fixed ctest "$@" && return
    failed=$(cut -d : -f 2 "$build/Testing/Temporary/LastTestsFailed.log" 2>/dev/null)
    case $(printf '%s\n' "$failed" | grep -c '^cli/')/$(printf '%s\n' "$failed" | grep -c -v '^cli/') in
    1/0 | 2/0) ;;
    *) return 1 ;;
    esac
    printf 'again, alone: %s\n' $failed
    $fixed ctest --test-dir "$build" --rerun-failed -j 1 --timeout 600 --output-on-failure --no-tests=error
}

stage_release() {
    configure_build release all -- --preset release -DUNSEEN_WERROR=ON &&
        fixed='' UNSEEN_SCRAPY_PYTHON=$(w3lib_python) run_ctest release --preset release
}

# The crash harnesses are about the order of system calls, and the tests of the tool about what it says,
# which are the same for every compiler.
stage_clang() {
    configure_build clang all -- --preset release -DCMAKE_C_COMPILER=clang-14 -DUNSEEN_WERROR=ON &&
        ctest --test-dir build/clang -j 2 --output-on-failure --no-tests=error --timeout 300 \
            -LE once -R '^(unit|fuzz)/'
}

# The replays of the fuzz targets are part of the fuzz stage, under the same sanitizers. A planted
# fault tests its harness, not the code. crash/list takes four minutes here: long_asan has it.
stage_asan() {
    configure_build asan unseen unit_tests crash_tests print_urls -- --preset asan &&
        run_ctest asan --preset asan -LE once -E '^fuzz/|^crash/.*/|^crash/list$'
}

stage_tsan() {
    configure_build tsan unseen thread_tests print_urls -- --preset tsan && run_ctest tsan --preset tsan
}

# Each target, two at a time, for $1 seconds. libFuzzer's own report ends a failing run with a non-zero
# status. Each target counts as a test. The same inputs come in each run: what fails here has been broken
# by a change. New inputs are the work of the stage long_fuzz. (-use_cmp=0, as libFuzzer takes operands of
# comparisons for its inputs, and addresses are not the same in each run.)
stage_fuzz() {
    configure_build fuzz fuzzers -- --preset fuzz || return 1
    run_fuzzers "${UNSEEN_FUZZ_SECONDS:-5}" -seed=1 -use_cmp=0
}

# run_fuzzers SECONDS [OPTION]... The corpus is given in the order of its names: that of a folder is not
# the same on every machine.
# A sanitizer that does not find its address space ends the program before libFuzzer says its seed: the
# run begins anew. The last lines name the targets that failed, with the end of what each said.
run_fuzzers() {
    local found ntargets nbroken name seconds=$1
    shift
    found=$(mktemp -d)
    printf '%s\n' build/fuzz/fuzz/fuzz_* | grep -v '\.' |
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

# Not the tests that take minutes under qemu, nor those of a machine's memory.
stage_portable() {
    local slow='bitmap|block|exact|key_attack|limits|list|list_changes|list_page|list_parts|list_resume'
    slow="^unit/($slow|order|rate|scalable|set|store|store_filters|store_refresh|url_fast|url_node)/"
    local status=0
    for arch in aarch64 s390x; do
        tools/portable.sh $arch -R '/portable$' -E "$slow" || status=1
    done
    return $status
}

stage_packages() {
    local status=0
    tests/packages/deb.sh || status=1
    tests/packages/static.sh || status=1
    return $status
}

stage_systems() {
    local status=0 test
    install_missing $systems_packages || return 1
    configure_build release unseen unseen_static unseen_module -- --preset release -DUNSEEN_WERROR=ON || return 1
    for test in tests/systems/*.sh; do
        "$test" || status=1
    done
    return $status
}

stage_pages() {
    local nfailed=0
    install_missing $pages_packages || return 1
    configure_build release unseen -- --preset release -DUNSEEN_WERROR=ON || return 1
    tests/pages/planner.sh || nfailed=$((nfailed + 1))
    tests/pages/site.sh || nfailed=$((nfailed + 1))
    closing_line $((2 - nfailed)) 2
    [ $nfailed = 0 ]
}

stage_static() {
    tools/static.sh
}

stage_python() {
    configure_build release unseen unseen_module -- --preset release -DUNSEEN_WERROR=ON && tools/python.sh
}

stage_module() {
    configure_build release unseen_module -- --preset release -DUNSEEN_WERROR=ON &&
        configure_build asan unseen_module -- --preset asan && tools/module.sh
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

# Kills of servers and clients, sessions of strangers, and the worked systems.
stage_long_serve() {
    long_build release unseen || return 1
    long_test release UNSEEN_CRASH_SCALE 10 '^cli/(serve_clients|example_(batch|crawler|spiders|cms|shards))$'
}

# The cache guard with 200,000 rows and a million requests for absent keys.
stage_long_systems() {
    configure_build release unseen unseen_module -- --preset release -DUNSEEN_WERROR=ON || return 1
    CACHE_GUARD_SCALE=$(scaled 10) tests/systems/cache_guard.sh
}

# Clusters under load, with failovers, on each server; damaged and forged payloads.
stage_long_module() {
    local status=0
    long_build release unseen_module || return 1
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
    UNSEEN_CRASH_SCALE=$(scaled 10) tools/python.sh || status=1
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
    long_build fuzz fuzzers || return 1
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

# What a stage depends on, as a checksum. Only the stages release, packages, python and pages
# depend on the documents.
inputs_of() {
    local pages=(':!*.md' ':!docs')
    case $1 in release | packages | python | pages) pages=() ;; esac
    {
        git ls-files -z -co --exclude-standard -- . "${pages[@]}" | sort -z | xargs -0 sha256sum 2>&1
        gcc --version
        clang-14 --version
        uname -m
        grep -m 1 ^flags /proc/cpuinfo
        ls ../shared/data 2>/dev/null
        env | grep '^UNSEEN_' | grep -v '^UNSEEN_TEST_AGAIN=' | sort
    } | sha256sum | cut -d ' ' -f 1
}

# The counts of a log: tests, failed, skipped, as ctest printed them in all its runs. A test that was run
# again counts as it ended. A stage that got no further than its build is one failure.
counts_of() {
    awk '/^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+$/ { n += $NF; failed += $4 }
        /^again, alone: / { n--; failed-- }
        /\*\*\*Skipped/ { skipped++ }
        END { print n ? n : 1, n ? failed + 0 : 1, skipped + 0 }' "$1"
}

# Runs a stage. Its line of the summary, and what the counts of all need, go to files.
run_stage() {
    local stage=$1 began=$SECONDS log=$logs/$1.log inputs status line ntests nfailed nskipped
    echo "== $stage"
    inputs=$(git rev-parse --is-inside-work-tree >/dev/null 2>&1 && inputs_of "$stage" || echo none)
    if [ "${UNSEEN_TEST_AGAIN-}" != 1 ] && [ "$inputs" != none ] && [ -e "$log" ] &&
        [ "$(cat "$green/$stage" 2>/dev/null)" = "$inputs" ]; then
        status="passed before, and nothing has changed"
    elif rm -f "$green/$stage" && stage_"$stage" >"$log" 2>&1; then
        status=passed
        echo "$inputs" >"$green/$stage"
    else
        status=FAILED
        tail -n 100 "$log"
    fi
    read -r ntests nfailed nskipped <<<"$(counts_of "$log")"
    # A build that failed between two runs of ctest.
    if [ "$status" = FAILED ] && [ "$nfailed" = 0 ]; then
        ntests=$((ntests + 1))
        nfailed=1
    fi
    line=$(printf '%-8s %s: %d tests, %d failed, %d skipped, %d s' "$stage" "$status" "$ntests" \
        "$nfailed" "$nskipped" $((SECONDS - began)))
    echo "$line"
    echo "$ntests $nfailed $status" >"$results/$stage.counts"
    echo "$line" >"$results/$stage.line"
}

# those_of "STAGE...": the stages that were asked for among these, in this order.
those_of() {
    local stage
    for stage in $1; do
        case " $stages " in *" $stage "*) echo "$stage" ;; esac
    done
}

# The module is tested in the build of asan, too, which may be under way.
run_beside() {
    local stage
    for stage in $(those_of "$beside_stages"); do
        while [ "$stage" = module ] && [ -e "$results/asan.running" ]; do sleep 1; done
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
    [ -z "$beside" ] && [ -n "$(those_of "$beside_stages")" ] || return 0
    set -m # a process group, which can be ended as a whole
    run_beside </dev/null &
    beside=$!
    set +m
}

start=$SECONDS
case " $(those_of "$main_stages" | paste -s -d ' ') " in *" asan "*) : >"$results/asan.running" ;; esac
for stage in $(those_of "$long_stages") $(those_of "$main_stages"); do
    [ "$stage" = release ] || start_beside
    run_stage "$stage"
    rm -f "$results/$stage.running"
done
start_beside
[ -z "$beside" ] || wait "$beside" || true
beside=

all=0
passed=0
summary=
failed_stages=
logs_used=
for stage in $stages; do
    # A stage without a result has ended this script, or was ended.
    read -r ntests nfailed status <<<"$(cat "$results/$stage.counts" 2>/dev/null || echo "1 1 FAILED")"
    [ "$status" != FAILED ] || failed_stages="$failed_stages $stage"
    all=$((all + ntests))
    passed=$((passed + ntests - nfailed))
    summary="$summary$(cat "$results/$stage.line" 2>/dev/null || echo "$stage FAILED: it did not end")
"
    [ ! -e "$logs/$stage.log" ] || logs_used="$logs_used $logs/$stage.log"
done

echo
printf '%s' "$summary"
skipped=$(cat /dev/null $logs_used | grep -E '\*\*\*Skipped' | sed -E 's/^.*: ([^ ]+) \.*.*$/\1/' | sort -u)
[ -z "$skipped" ] || echo "skipped:" $skipped
again=$(cat /dev/null $logs_used | sed -n 's/^again, alone: //p' | sort | uniq -c)
[ -z "$again" ] || echo "run again, alone, and to be mended:" $again
echo "$((SECONDS - start)) s in all; logs in $logs"
[ -z "$failed_stages" ] || echo "FAILED:$failed_stages"
closing_line $passed $all
[ -z "$failed_stages" ]
