#!/bin/bash
# examples/cache-guard: services of several processes and many threads, a real Redis with unseen.so or without, a real
# PostgreSQL that counts the statements which reach it. The runs are in cache_guard.py. Called by tools/test.sh systems;
# CACHE_GUARD_SCALE=10 makes them ten times as long.
#
#     cache_guard.sh measure FILE.json     measures the picture of the page
. "$(dirname "$0")/../packages/common.bash"
export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off PYTHONDONTWRITEBYTECODE=1
[ -w "${HOME:-/none}" ] || export GOCACHE=$work/cache
server_binary=$(command -v redis-server || command -v valkey-server) || fail "no redis-server"
target=${2:+$(realpath "$2")}

cp -r examples/go examples/cache-guard "$work"
(cd "$work/cache-guard" && go mod edit -replace github.com/lib/pq=/usr/share/gocode/src/github.com/lib/pq &&
    go vet ./... && go build -o "$work/cache-guard.program" .)
export PROGRAM=$work/cache-guard.program MODULE=$PWD/build/release/unseen.so TOOL=$PWD/build/release/unseen SERVER=$server_binary
cd "$work"
/usr/bin/python3 "$OLDPWD/tests/systems/cache_guard.py" "${1:-test}" "$target" || fail "cache-guard"
checks=$(cat checks 2>/dev/null || echo 1)
finish
