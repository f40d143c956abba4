#!/bin/bash
# Builds the planner page: `unseen plan` in a browser, in one file that opens from disk. The formulas are
# the library's own C, compiled to WebAssembly by clang-14 with wasi-libc, and embedded, packed by gzip, as base64.
#
# usage: tools/planner.sh [OUTPUT]      (build/planner.html; the module is written beside it)
#
# The Debian packages it needs are in tools/packages.sh: planner_packages.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
out=${1:-build/planner.html}
most=300000 # bytes

if ! printf 'int main(void){return 0;}' | clang-14 --target=wasm32-wasi -x c - -o /dev/null 2>/dev/null; then
    . tools/packages.sh
    echo "error: no compiler for WebAssembly; Debian: apt install $(echo $planner_packages)" >&2
    exit 2
fi

objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

# Small before fast, but for the formulas. What the system lacks is in planner/wasi. Functions that the
# planner never calls (of files, URLs, host names) are left out: the module imports them, and the page gives it
# functions that fail.
flags="--target=wasm32-wasi -std=c11 -D_GNU_SOURCE -D_WASI_EMULATED_MMAN -ffunction-sections -fdata-sections
    -mnontrapping-fptoint -Wall -Wextra -Werror -isystem planner/wasi -Iinclude -Isrc -Icli"
for source in planner/*.c planner/wasi/*.c src/base/{cpu,error,memory,pages,sized,status}.c \
    src/{bits,tags,hash,kind,set,url}/*.c src/list/{geometry,plan}.c \
    cli/commands/plan_{solve,print}.c cli/options/number.c cli/print/{abilities,chart}.c; do
    case $source in
    src/bits/rate.c | src/list/geometry.c) level=-O2 ;;
    *) level=-Oz ;;
    esac
    clang-14 $flags $level -c "$source" -o "$objects/$(echo "$source" | tr / _).o"
done
mkdir -p "$(dirname "$out")"
module=${out%.html}.wasm
clang-14 --target=wasm32-wasi -O2 -mexec-model=reactor "$objects"/*.o -lwasi-emulated-mman \
    -Wl,--gc-sections,--strip-all,--allow-undefined -o "$module"

{
    sed '/@MODULE@/,$d' planner/page.html
    printf '<script type="text/plain" id="module">'
    gzip -9 -n <"$module" | base64 -w 0
    printf '</script>\n'
    sed '1,/@MODULE@/d' planner/page.html
} >"$out"
size=$(stat -c %s "$out")
if [ "$size" -gt $most ]; then
    echo "error: $out has $size bytes, more than $most" >&2
    exit 1
fi
echo "$out: $size bytes, the module $(stat -c %s "$module")"
