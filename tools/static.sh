#!/bin/bash
# Static analysis of the whole tree, which must find nothing:
#
#     src, cli, module and the Python binding by cppcheck
#     the same by clang-tidy: clang's analyser and bug patterns (.clang-tidy says which)
#     all scripts by shellcheck
#
# usage: tools/static.sh [FILE.c...]     these files by clang-tidy only
#        tools/static.sh TOOL...         cppcheck, shellcheck, clang_tidy
#
# clang-tidy takes most of the time. A file that it found nothing in is not looked at again while the
# file, the headers and the configuration stay as they are (build/static).
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
install_missing $build_packages $static_packages

build=build/static
mkdir -p $build/clean
cmake -G Ninja -B $build -DCMAKE_BUILD_TYPE=Debug -DUNSEEN_TESTS=OFF -DUNSEEN_BENCH=OFF \
    -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_COMPILER=clang-14 >/dev/null

# One configuration of the macros, that of x86-64: the others are compiled by the portable stage.
# - uninitvar, ctuuninitvar, memleak, selfAssignment: all reports were wrong (arrays filled by a callee through a
#   pointer, a buffer that realloc has kept, a byte swap that is empty on x86); AddressSanitizer, the
#   compilers and clang's analyser look for the same.
run_cppcheck() {
    cppcheck_on cppcheck -Isrc -Icli -Imodule -I. src cli module leases &&
        cppcheck_on cppcheck_binding -Ibindings/python/src bindings/python/src
}
cppcheck_on() { # FOLDER [cppcheck argument]...
    mkdir -p "$build/$1"
    cppcheck -q -j 2 --std=c11 --max-configs=1 -D__x86_64__=1 -D__GNUC__=12 -DUNSEEN_BUILD \
        --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
        --suppress=uninitvar --suppress=ctuuninitvar --suppress=memleak --suppress=selfAssignment \
        --cppcheck-build-dir="$build/$1" -Iinclude "${@:2}"
}

# A stamp for each file that was clean: its text, the headers and the configuration.
run_clang_tidy() {
    local common stamp file files=()
    common=$(cat .clang-tidy include/*.h src/*/*.h cli/*.h cli/*/*.h module/*.h module/*/*.h leases/*.h bindings/python/src/*.h | sha256sum)
    for file in "$@"; do
        stamp=$build/clean/$({ echo "$common" && cat "$file"; } | sha256sum | cut -d ' ' -f 1)
        [ -e "$stamp" ] || files+=("$file=$stamp")
    done
    [ ${#files[@]} -gt 0 ] || return 0
    # setup.py compiles the binding, so its flags are in no build folder.
    printf '%s\n' "${files[@]}" |
        build=$build binding="$(/usr/bin/python3-config --includes) -Iinclude -std=c11 -DPy_LIMITED_API=0x030A0000" \
            xargs -P 2 -I '{}' sh -c '
                pair="{}"
                flags=
                case $pair in bindings/*) flags="-- $binding" ;; esac
                clang-tidy-14 -p "$build" --quiet --warnings-as-errors="*" "${pair%%=*}" $flags 2>/dev/null &&
                    : >"${pair#*=}"'
}

# - SC1091: the sourced files are given to shellcheck by name, too.
# - SC2154, SC2034: variables come from and go to the script that sources, or is sourced.
# - SC2086, SC2046: words are split on purpose where a list of words is kept in a variable or made by
#   a command (sh has no arrays).
# - SC2164: these scripts end at the first command that fails (set -e, in the file that they source).
# - SC2016, SC2059, SC2094: patterns for other programs, formats in variables, and files that are
#   read and written by a tool that is made for it, are what these tests are about.
# The rest below is style: info and notes do not count.
run_shellcheck() {
    tree_files | grep -zE '\.(ba)?sh$|^\.ci/run$' |
        xargs -0 shellcheck -s bash -S warning -e SC1091,SC2154,SC2034,SC2086,SC2046,SC2164,SC2016,SC2059,SC2094
}

case ${1-} in
*.c)
    run_clang_tidy "$@"
    exit
    ;;
'') set -- cppcheck clang_tidy shellcheck ;;
esac
nfailed=0
for tool in "$@"; do
    began=$SECONDS
    status=clean
    if [ "$tool" = clang_tidy ]; then
        run_clang_tidy $(git ls-files 'src/*.c' 'cli/*.c' 'module/*.c' 'leases/*.c' 'bindings/python/src/*.c') || status=FAILED
    else
        "run_$tool" || status=FAILED
    fi
    [ $status = clean ] || nfailed=$((nfailed + 1))
    echo "Test #0: static/$tool ... $status $((SECONDS - began)) sec"
done
echo "$((100 * ($# - nfailed) / $#))% tests passed, $nfailed tests failed out of $#"
[ $nfailed = 0 ]
