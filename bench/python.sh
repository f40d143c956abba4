#!/bin/bash
# What a call from Python costs, beside the C library's batch add, set.add, rbloom and w3lib: ratios of CPU
# time, each with its goal. Installs the package, and the peers from the registry, into build/bench-python.
#
# usage: bench/python.sh [ROUNDS] (default 5). The URLs for the canonical forms are
# ../shared/data/urls_links.txt.gz, or those that URLS names (plain text, one a line).
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
rounds=${1:-5}
work=build/bench-python
python=$work/bin/python
mkdir -p "$work"
[ -x "$python" ] || /usr/bin/python3 -m venv "$work"
export PIP_DISABLE_PIP_VERSION_CHECK=1
! command -v ccache >/dev/null || export CC="ccache gcc"
"$work/bin/pip" install -q ./bindings/python pyarrow rbloom w3lib
urls=${URLS:-$work/urls.txt}
[ -n "${URLS-}" ] || zcat ../shared/data/urls_links.txt.gz >"$urls"
cmake --preset release >/dev/null
cmake --build --preset release --target unseen_shared >/dev/null

echo "machine:  $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2 | sed 's/^ //'), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "commit:   $(git rev-parse --short HEAD), Python $("$python" -c 'import platform; print(platform.python_version())')," \
    "$("$work/bin/pip" list 2>/dev/null | grep -E '^(pyarrow|rbloom|w3lib) ' | tr -s ' ' | paste -sd ,)"
taskset -c 1 "$python" bench/python_calls.py build/release/libunseen.so "$urls" "$rounds"
