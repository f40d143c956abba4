#!/bin/bash
# Installs what the tests need, then builds and runs every test:
#
#     release  gcc, warnings are errors: unit tests at each SIMD level, the tool, the replays of
#              the fuzz targets, the checks of the tree (layers, format, packaging, ...)
#     clang    the same with clang
#     asan     the tests of the code again, under AddressSanitizer and UBSan
#     tsan     the tests with threads, under ThreadSanitizer
#     fuzz     each fuzz target for a few seconds, starting from its corpus
#
# usage: tools/test.sh [quick]         quick: the release stage only
#        UNSEEN_FUZZ_SECONDS=60 tools/test.sh
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

case ${1-} in
'') stages="release clang asan tsan fuzz" ;;
quick) stages="release" ;;
*)
    echo "usage: tools/test.sh [quick]" >&2
    exit 2
    ;;
esac

# What the tests need beyond the build: the other compiler, its libFuzzer and formatter; and the
# programs that tests call.
install_missing $build_packages clang-14 libclang-rt-14-dev clang-format-14 binutils \
    zstd gzip strace util-linux bsdutils mount mandoc python3 redis-server sqlite3 \
    libsqlite3-dev liblmdb-dev golang-go default-jdk-headless nodejs squid postfix nginx-light curl

logs=build/test-logs
mkdir -p $logs
rm -f $logs/*.log # of stages that do not run now

# Sanitizers of this age may not find their address space where the kernel randomises all of it.
fixed="setarch $(uname -m) -R"
$fixed true 2>/dev/null || fixed=

# configure_build NAME [cmake argument]...: a preset's name, or a folder of the release preset.
configure_build() {
    name=$1
    shift
    cmake "$@" -B "build/$name" && cmake --build "build/$name" -j 2
}

stage_release() {
    configure_build release --preset release -DUNSEEN_WERROR=ON && ctest --preset release
}

stage_clang() {
    configure_build clang --preset release -DCMAKE_C_COMPILER=clang-14 -DUNSEEN_WERROR=ON &&
        ctest --test-dir build/clang -j 2 --output-on-failure --no-tests=error
}

stage_asan() {
    configure_build asan --preset asan && $fixed ctest --preset asan
}

stage_tsan() {
    configure_build tsan --preset tsan && $fixed ctest --preset tsan
}

# libFuzzer's own report ends a failing run with a non-zero status. Each target counts as a test.
stage_fuzz() {
    configure_build fuzz --preset fuzz || return 1
    found=$(mktemp -d)
    ntargets=0
    nbroken=0
    for target in build/fuzz/fuzz/fuzz_*; do
        [ -x "$target" ] || continue
        name=$(basename "$target")
        mkdir "$found/$name"
        ntargets=$((ntargets + 1))
        $fixed "$target" -max_total_time="${UNSEEN_FUZZ_SECONDS:-10}" -timeout=20 \
            -artifact_prefix="$logs/$name-" "$found/$name" "fuzz/corpus/${name#fuzz_}" ||
            nbroken=$((nbroken + 1))
    done
    rm -r "$found"
    closing_line $((ntargets - nbroken)) $ntargets
    [ $ntargets -gt 0 ] && [ $nbroken = 0 ]
}

# closing_line NPASSED NTESTS: in ctest's words.
closing_line() {
    echo "$(($2 ? 100 * $1 / $2 : 0))% tests passed, $(($2 - $1)) tests failed out of $2"
}

all=0
passed=0
summary=
failed_stages=
start=$SECONDS
for stage in $stages; do
    echo "== $stage"
    began=$SECONDS
    log=$logs/$stage.log
    status=passed
    if ! stage_$stage >"$log" 2>&1; then
        status=FAILED
        failed_stages="$failed_stages $stage"
        tail -n 100 "$log"
    fi
    # The counts as ctest printed them; a stage that got no further than its build is one failure.
    counts=$(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' \
        "$log" | tail -n 1)
    [ -n "$counts" ] || counts="1 1"
    nfailed=${counts% *}
    ntests=${counts#* }
    nskipped=$(grep -cE '\*\*\*Skipped' "$log" || true)
    all=$((all + ntests))
    passed=$((passed + ntests - nfailed))
    line=$(printf '%-8s %s: %d tests, %d failed, %d skipped, %d s' "$stage" $status "$ntests" \
        "$nfailed" "$nskipped" $((SECONDS - began)))
    echo "$line"
    summary="$summary$line
"
done

echo
printf '%s' "$summary"
skipped=$(cat $logs/*.log | grep -E '\*\*\*Skipped' | sed -E 's/^.*: ([^ ]+) \.*.*$/\1/' | sort -u)
[ -z "$skipped" ] || echo "skipped:" $skipped
echo "$((SECONDS - start)) s in all; logs in $logs"
[ -z "$failed_stages" ] || echo "FAILED:$failed_stages"
closing_line $passed $all
[ -z "$failed_stages" ]
