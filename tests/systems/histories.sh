#!/bin/bash
# examples/histories: read histories in one store of the tool, and as small sets in LMDB. Killed while it remembers; a
# user who reads more than a small set has room for. Called by tools/test.sh systems; HISTORIES_USERS=100000 for more.
. "$(dirname "$0")/../packages/common.bash"
build=${BUILD:-build/release}
users=${HISTORIES_USERS:-5000}
kills=${HISTORIES_KILLS:-5}

compile() { # NAME SOURCE
    cc -std=c11 -O2 -Wall -Wextra -Wshadow -Wconversion -Werror -Iinclude "$2" -o "$work/$1" $build/libunseen.a \
        -llmdb -lidn2 -lsodium -lm -pthread
}
compile histories examples/histories/histories.c
tool=$work/histories
db=$work/db

awk -v n="$users" -v reads="$work/reads" -v read="$work/read" -v unread="$work/unread" 'BEGIN {
    srand(1)
    for (u = 0; u < n; u++)
        for (i = 0; i < 55; i++) {
            line = "user-" u "\tarticle-" int(rand() * 300) * 55 + i
            print line > (i < 50 ? reads : unread)
            if (i < 2) print line > read
        }
}'
shuf --random-source="$work/reads" "$work/reads" -o "$work/reads"

# What is read is never shown, what is not read seldom hidden: 1e-3 of it and six standard deviations.
answers() { # SHOWN-OF-READ SHOWN-OF-UNREAD
    [ ! -s "$1" ] || fail "$(wc -l <"$1") read articles are shown: $(head -n 1 "$1")"
    hidden=$((5 * users - $(wc -l <"$2")))
    awk -v h=$hidden -v n=$((5 * users)) 'BEGIN { m = n / 1000; exit !(h <= m + 6 * sqrt(m)) }' || fail "$hidden hidden"
}
"$tool" "$db" read <"$work/reads"
"$tool" "$db" unread <"$work/read" >"$work/a"
"$tool" "$db" unread <"$work/unread" >"$work/b"
answers "$work/a" "$work/b"
"$tool" "$db" sizes >"$work/sizes"
bytes=$(sed -nE "s/^$users sets, ([0-9]+) bytes, .*/\1/p" "$work/sizes")
[ "$bytes" -le $((users * 95)) ] || fail "$(cat "$work/sizes")"
passed "small sets: $((bytes / users)) bytes a user of 50 articles, $hidden of $((5 * users)) hidden"

# The same by the tool, in one store.
"$build/unseen" add -p none "$work/one.unseen" "$work/reads"
"$build/unseen" check -v "$work/one.unseen" "$work/read" >"$work/a" || [ $? = 1 ]
"$build/unseen" check -v "$work/one.unseen" "$work/unread" >"$work/b"
answers "$work/a" "$work/b"
head -n 3 "$work/read" | sed 's/^/C /' | "$build/unseen" serve "$work/one.unseen" >"$work/served"
[ "$(tail -n 3 "$work/served" | tr -d '\n')" = 111 ] || fail "serve: $(cat "$work/served")"
passed "one store: $hidden of $((5 * users)) hidden"

# A user is forgotten, and only that user.
echo user-7 | "$tool" "$db" forget
grep -P '^user-[78]\t' "$work/reads" >"$work/two" || true
"$tool" "$db" unread <"$work/two" >"$work/a"
[ "$(wc -l <"$work/a")" = 50 ] && ! grep -v -P '^user-7\t' "$work/a" >/dev/null || fail "forgotten: $(wc -l <"$work/a") lines"
passed "a user is forgotten"

# Killed while it remembers, then given the same input: as if undisturbed.
rm -r "$db"
for i in $(seq "$kills"); do
    "$tool" "$db" read <"$work/reads" &
    server=$!
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    kill -9 $server 2>/dev/null || true
    wait $server 2>/dev/null || true
    server=
done
"$tool" "$db" read <"$work/reads"
"$tool" "$db" unread <"$work/read" >"$work/a"
"$tool" "$db" unread <"$work/unread" >"$work/b"
answers "$work/a" "$work/b"
passed "killed $kills times"

# One user reads more than a small set has room for: the last 21,000 at least are remembered, in 73 KB.
many() { # PROGRAM
    rm -rf "$db"
    seq 70000 | sed 's/^/robot\t/' | "$work/$1" "$db" read
    "$work/$1" "$db" sizes >"$work/sizes"
    seq 49001 70000 | sed 's/^/robot\t/' | "$work/$1" "$db" unread >"$work/a"
    bytes=$(sed -nE 's/^2 sets, ([0-9]+) bytes, .*/\1/p' "$work/sizes")
    [ ! -s "$work/a" ] && [ "$bytes" -le $((73 * 1024)) ]
}
many histories || fail "a user of 70,000 articles: $(cat "$work/sizes"), $(wc -l <"$work/a") shown again"
passed "a user of 70,000 articles takes $bytes bytes"
for fault in 's/old < 2 \&\& !\*found/old < 1 \&\& !*found/' 's/save\(h, \(struct name\)\{name.user, 1\}, set\)/true/'; do
    sed -E "$fault" examples/histories/histories.c >"$work/wrong.c"
    ! cmp -s "$work/wrong.c" examples/histories/histories.c || fail "nothing was changed: $fault"
    compile wrong "$work/wrong.c"
    ! many wrong || fail "not noticed: $fault"
done
passed "two planted faults, the old set is not asked or not kept, are found"

# Wrong lines say so, and nothing of their group is remembered.
status=0
printf 'a\t1\nb\n' | "$tool" "$db" read 2>"$work/err" || status=$?
[ $status = 2 ] && grep -x 'histories: line 2: not USER TAB ARTICLE' "$work/err" >/dev/null || fail "$(cat "$work/err")"
[ "$(printf 'a\t1\n' | "$tool" "$db" unread | wc -l)" = 1 ] || fail "half a group was remembered"
passed "wrong lines"
finish
