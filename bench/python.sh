#!/bin/bash
# What a call from Python costs, beside the C library's batch and single add, set.add, rbloom and w3lib: ratios of CPU
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

# The loop in C whose calls have one item each, as single calls from Python have.
cc -O2 -shared -fPIC -Iinclude -x c - -o "$work/one_at_a_time.so" <<'END'
#include <unseen.h>
int add_each(enum unseen_status (*add)(struct unseen_set *, const struct unseen_bytes *, size_t, uint8_t *, size_t *),
             struct unseen_set *set, const struct unseen_bytes *items, size_t n)
{
    uint8_t verdict;
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        status = add(set, &items[i], 1, &verdict, NULL);
    }
    return status;
}
END

echo "machine:  $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2 | sed 's/^ //'), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "commit:   $(git rev-parse --short HEAD), Python $("$python" -c 'import platform; print(platform.python_version())')," \
    "$("$work/bin/pip" list 2>/dev/null | grep -E '^(pyarrow|rbloom|w3lib) ' | tr -s ' ' | paste -sd ,)"
taskset -c 1 "$python" bench/python_calls.py build/release/libunseen.so "$work/one_at_a_time.so" "$urls" "$rounds"
