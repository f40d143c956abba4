#!/bin/bash
# unseen.scrapy beside Scrapy's own filter and scheduler: ratios of CPU time and of memory in one run, each with its
# goal. Installs the package and Scrapy into build/bench-scrapy.
#
# usage: bench/scrapy.sh [ROUNDS [PAGES [SEEN]]]   (default 5 rounds, crawls of 2000 pages, a restart with 10^7 seen requests)
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
work=build/bench-scrapy
python=$work/bin/python
[ -x "$python" ] || /usr/bin/python3 -m venv "$work"
export PIP_DISABLE_PIP_VERSION_CHECK=1
! command -v ccache >/dev/null || export CC="ccache gcc"
"$work/bin/pip" install -q ./bindings/python Scrapy==2.19.0
cmake --preset release >/dev/null
cmake --build --preset release --target unseen >/dev/null

echo "machine:  $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2 | sed 's/^ //'), $(nproc) cores, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "commit:   $(git rev-parse --short HEAD), Python $("$python" -c 'import platform; print(platform.python_version())')," \
    "$("$work/bin/pip" list 2>/dev/null | grep -E '^(Scrapy|w3lib|Twisted) ' | tr -s ' ' | paste -sd ,)"
UNSEEN=build/release/unseen "$python" bench/scrapy_costs.py "${1:-5}" "${2:-2000}" "${3:-10000000}"
