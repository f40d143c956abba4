#!/bin/bash
# examples/lmdb and examples/rocksdb: the guard in front of the real stores. It is never behind its store: programs
# that write and rebuild are killed by SIGKILL, at random and at the worst places; a copy that writes in the wrong
# order is found out. Called by tools/test.sh systems; GUARD_KILLS=200 kills more.
. "$(dirname "$0")/../packages/common.bash"
build=build/release
kills=${GUARD_KILLS:-12}

# compile NAME STORE FOLDER: the program of a store from (a copy of) the examples.
compile() {
    cc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude "$3/guard/main.c" "$3/guard/guard.c" "$3/$2/store.c" -o "$work/$1" \
        $build/libunseen.a -l"$2" -lidn2 -lsodium -lm -pthread
}

# variant NAME STORE FILE SED: the same, with a change that must apply.
variant() {
    rm -rf "$work/copy"
    mkdir "$work/copy"
    cp -r examples/guard "examples/$2" "$work/copy/"
    sed -i -E "$4" "$work/copy/$3"
    ! cmp -s "$work/copy/$3" "examples/$3" || fail "$1: nothing was changed"
    sed -i '1i #define _GNU_SOURCE 1\n#include <signal.h>' "$work/copy/$3"
    sed -i '/^#define _POSIX_C_SOURCE/d' "$work/copy/$3"
    compile "$1" "$2" "$work/copy"
}

pairs() { # FROM TO
    seq "$1" "$2" | sed 's/.*/key &\tvalue of &/'
}

check() { # PROGRAM
    "$work/$1" "$work/db" check >"$work/checked"
}

# Two threads rebuild at once: the second one waits.
cc -std=c11 -O2 -Wall -Wextra -Werror -Iinclude -Iexamples/guard tests/systems/guard_rebuilds.c examples/guard/guard.c \
    -o "$work/rebuilds" $build/libunseen.a -lidn2 -lsodium -lm -pthread
"$work/rebuilds" "$work/rebuilt" || fail 'two rebuilds at once'
passed 'two rebuilds at once'

for store in lmdb rocksdb; do
    compile $store $store examples
    tool=$work/$store
    db=$work/db
    forget() { rm -rf "$db" "$db.guard"; }

    # What is put is found, from the guard's log and from its list; what is not there is not asked for.
    forget
    pairs 1 5000 | "$tool" "$db" put >"$work/out"
    [ "$(wc -l <"$work/out")" = 5000 ] || fail "$store: put"
    for when in 'from the log' 'from the list'; do
        pairs 1 5000 | cut -f 1 | "$tool" "$db" get 2>/dev/null | cmp - <(pairs 1 5000) || fail "$store: get $when"
        seq 20000 | sed 's/^/other /' | "$tool" "$db" get >"$work/out" 2>"$work/err"
        asked=$(sed -nE 's/^20000 keys, ([0-9]+) asked of the store$/\1/p' "$work/err")
        [ ! -s "$work/out" ] && [ "$asked" -le 15 ] || fail "$store: $asked absent keys were asked for $when"
        "$tool" "$db" rebuild
    done
    pairs 1 5000 | cut -f 1 | "$tool" --rate 0 "$db" get 2>/dev/null | cmp - <(pairs 1 5000) || fail "$store: no guard"
    passed "$store: put, get and rebuild"

    # A deleted key is not found; it can come back, also when the list does not know it any more.
    echo 'key 7' | "$tool" "$db" delete
    [ -z "$(echo 'key 7' | "$tool" "$db" get 2>/dev/null)" ] || fail "$store: a deleted key"
    "$tool" "$db" rebuild
    pairs 7 7 | "$tool" "$db" put >/dev/null
    [ "$(echo 'key 7' | "$tool" "$db" get 2>/dev/null)" = "$(pairs 7 7)" ] || fail "$store: it came back"
    check $store || fail "$store: $(cat "$work/checked")"
    passed "$store: deletes"

    # A part of a large image that is damaged gives no answers: the store is asked then, and the guard lacks no key.
    forget
    "$tool" "$db" rebuild
    pairs 1 2000000 | "$tool" --fast --batch 10000 "$db" put >/dev/null
    image=$(find "$db" "$db.guard" -name 'recent.*.image' 2>/dev/null || true)
    [ "$(stat -c %s "$image")" -gt 8388608 ] || fail "$store: the image is read at once"
    head -c 4096 /dev/zero | dd of="$image" bs=4096 seek=1024 conv=notrunc status=none
    check $store || fail "$store: a damaged image: $(cat "$work/checked")"
    passed "$store: a damaged image"

    # Killed at random, while it writes and while it rebuilds.
    forget
    : >"$work/durable"
    next=1
    for i in $(seq "$kills"); do
        pairs $next $((next + 100000000)) 2>/dev/null | "$tool" --batch 20 "$db" put >"$work/out" 2>/dev/null &
        server=$!
        sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
        kill -9 $server 2>/dev/null || fail "$store: it has ended by itself"
        wait $server 2>/dev/null || true
        if [ $((i % 3)) = 0 ]; then
            "$tool" "$db" rebuild &
            server=$!
            sleep "0.0$((RANDOM % 10))"
            kill -9 $server 2>/dev/null || true
            wait $server 2>/dev/null || true
        fi
        server=
        # The last line may be torn; a key without its newline was not said to be durable.
        n=$(wc -l <"$work/out")
        head -n "$n" "$work/out" >>"$work/durable"
        next=$((next + n + 20))
        check $store || fail "$store: kill $i: $(cat "$work/checked")"
    done
    "$tool" "$db" get <"$work/durable" 2>/dev/null | cut -f 1 | cmp - "$work/durable" || fail "$store: a durable key is lost"
    passed "$store: $kills kills, $(wc -l <"$work/durable") durable keys, $(cat "$work/checked")"

    # At the worst places: between the guard's log and the store; when the new list has its name, and the old logs
    # are still there.
    write=$([ $store = lmdb ] && echo put_all || echo write_all)
    right="guard_add\(s->guard, keys, n\) && $write\(s, keys, values, n\)"
    kill='({ static int calls; if (++calls == 3) { raise(SIGKILL); } true; })'
    variant killed_$store $store $store/store.c "s/$right/guard_add(s->guard, keys, n) \&\& $kill \&\& $write(s, keys, values, n)/"
    variant wrong_$store $store $store/store.c "s/$right/$write(s, keys, values, n) \&\& $kill \&\& guard_add(s->guard, keys, n)/"
    variant rebuilt_$store $store guard/guard.c 's/^    change_lists\(g, list, ndone\);/    raise(SIGKILL);\n&/'
    # The first one is of a start that makes the list of an empty store.
    forget
    "$tool" "$db" rebuild
    pairs 1 1000 | "$work/killed_$store" "$db" put >"$work/out" 2>/dev/null && fail "$store: it was not killed" || true
    check $store || fail "$store: killed between the two: $(cat "$work/checked")"
    [ "$(wc -l <"$work/out")" = 200 ] || fail "$store: killed elsewhere"
    "$work/rebuilt_$store" "$db" rebuild 2>/dev/null && fail "$store: the rebuild was not killed" || true
    check $store || fail "$store: killed in a rebuild: $(cat "$work/checked")"
    pairs 1 200 | cut -f 1 | "$tool" "$db" get 2>/dev/null | cmp - <(pairs 1 200) || fail "$store: a key is lost"
    passed "$store: killed at the worst places"

    forget
    "$tool" "$db" rebuild
    pairs 1 1000 | "$work/wrong_$store" "$db" put >/dev/null 2>&1 && fail "$store: it was not killed" || true
    ! check $store || fail "$store: the wrong order was not noticed"
    grep '^300 keys in the store, the guard lacks 100$' "$work/checked" >/dev/null || fail "$store: $(cat "$work/checked")"
    passed "$store: a planted fault, the store first, is found"

    # Figures: the store's reads are those of present keys and of false positives, and the guard is smaller.
    forget
    filter=$([ $store = lmdb ] || echo '--filter bloom:10')
    "$tool" --fast --rate 0.0095 $filter "$db" bench-load 300000
    "$tool" --rate 0.0095 $filter "$db" bench 300000 >"$work/bench"
    asked=$(sed -nE 's/^nine in ten absent .* ([0-9]+) asked,.*/\1/p' "$work/bench")
    # 6,000 present, 54,000 absent: at most 513 expected at 0.95 %, and six standard deviations.
    [ "$asked" -ge 6000 ] && [ "$asked" -le 6651 ] || fail "$store: $asked questions: $(cat "$work/bench")"
    bits=$(sed -nE 's/^guard +([0-9.]+) bits a key.*/\1/p' "$work/bench")
    awk -v b="$bits" 'BEGIN { exit !(b > 6 && b < 7.5) }' || fail "$store: $bits bits a key"
    passed "$store: $asked questions asked of the store for 6,000 present of 60,000; $bits bits a key"
done

# RocksDB's own filters at their rates, in the same run.
rm -rf "$work/db" "$work/db.guard"
for filter in bloom:10 ribbon:10; do
    rm -rf "$work/db" "$work/db.guard"
    "$work/rocksdb" --fast --rate 0.0095 --filter $filter "$work/db" bench-load 300000
    "$work/rocksdb" --rate 0.0095 --filter $filter "$work/db" bench 300000 >"$work/bench"
    bits=$(sed -nE 's/^guard +([0-9.]+) bits a key.*/\1/p' "$work/bench")
    own=$(sed -nE "s/^the store's filters +([0-9.]+) bits a key.*/\1/p" "$work/bench")
    share=$([ $filter = bloom:10 ] && echo 0.75 || echo 1.03)
    awk -v b="$bits" -v o="$own" -v s=$share 'BEGIN { exit !(b <= s * o) }' || fail "$filter: $bits bits, its own $own"
    passed "guard $bits bits a key, RocksDB's $filter $own"
done
finish
