#!/bin/bash
# examples/leveldb: the filter policy in a real LevelDB. Every key is found, after compaction, after kills, without the
# seed; the filters are smaller than LevelDB's Bloom filters of the same rate. Called by tools/test.sh systems.
. "$(dirname "$0")/../packages/common.bash"
build=${BUILD:-build/release}
kills=${GUARD_KILLS:-8}
cc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude examples/guard/main.c examples/guard/guard.c examples/leveldb/store.c \
    examples/leveldb/policy.c -o "$work/kv" $build/libunseen.a -lleveldb -lidn2 -lsodium -lm -pthread
tool=$work/kv
db=$work/db

pairs() { # FROM TO
    seq "$1" "$2" | sed 's/.*/key &\tvalue of &/'
}
found() { # FROM TO [OPTION...]
    pairs "$1" "$2" | cut -f 1 | "$tool" "${@:3}" "$db" get 2>/dev/null | cmp - <(pairs "$1" "$2")
}

pairs 1 200000 | "$tool" --fast --batch 1000 "$db" put >"$work/out"
[ "$(wc -l <"$work/out")" = 200000 ] || fail "put"
"$tool" "$db" rebuild
found 1 200000 || fail "keys in compacted files"
found 1 200000 --filter empty || fail "keys without filters"
[ -z "$(seq 20000 | sed 's/^/other /' | "$tool" "$db" get 2>/dev/null)" ] || fail "absent keys"
passed "put, compact and get"

# Another secret: the old filters are not used, and no key is lost.
mv "$db/unseen.seed" "$work/seed"
found 1 200000 || fail "keys with another seed"
mv "$work/seed" "$db/unseen.seed"
found 1 200000 || fail "keys with the seed again"
! "$tool" --filter unseen:0.0084 "$work/nowhere/db" get </dev/null 2>"$work/err" || fail "a folder that is not there"
passed "a lost seed costs filters, not keys"

rm -rf "$db"
: >"$work/durable"
next=1
for i in $(seq "$kills"); do
    pairs $next $((next + 100000000)) 2>/dev/null | "$tool" --batch 50 "$db" put >"$work/out" 2>/dev/null &
    server=$!
    sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
    kill -9 $server 2>/dev/null || fail "it has ended by itself"
    wait $server 2>/dev/null || true
    server=
    n=$(wc -l <"$work/out")
    head -n "$n" "$work/out" >>"$work/durable"
    next=$((next + n + 50))
    [ $((i % 2)) = 0 ] || "$tool" "$db" rebuild
done
"$tool" "$db" get <"$work/durable" 2>/dev/null | cut -f 1 >"$work/found"
cmp "$work/found" "$work/durable" || fail "a durable key is lost"
passed "$kills kills, $(wc -l <"$work/durable") durable keys"

# At the rate of LevelDB's Bloom filters with 10 bits, 0.84 %.
bench() { # FILTER: bytes of the files, blocks read
    rm -rf "$db"
    "$tool" --fast --filter "$1" "$db" bench-load 300000
    bytes=$(cat "$db"/*.ldb | wc -c)
    "$tool" --filter "$1" "$db" bench 300000 >"$work/bench" || fail "$1: $(cat "$work/bench")"
    blocks=$(sed -nE 's/^nine in ten absent .* ([0-9]+) blocks read.*/\1/p' "$work/bench")
}
bench empty
none=$bytes
all=$blocks
bench bloom:10
bloom=$((bytes - none))
bloom_blocks=$blocks
bench unseen:0.0084
ours=$((bytes - none))
[ $((4 * ours)) -le $((3 * bloom)) ] || fail "$ours bytes of filters, Bloom $bloom"
# 6,000 keys are there, in 9,000 blocks; of 54,000 absent keys 454 are expected to be looked for.
[ "$blocks" -lt $((all * 6 / 10)) ] && [ $((100 * blocks)) -le $((103 * bloom_blocks)) ] ||
    fail "$blocks blocks read, Bloom $bloom_blocks, without $all"
passed "$((8 * ours / 3000)) hundredths of a bit a key, Bloom $((8 * bloom / 3000)); blocks read $blocks, Bloom $bloom_blocks, without $all"
finish
