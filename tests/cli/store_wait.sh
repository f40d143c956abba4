# Several writers of one store: a writer waits for the one before it. And stores like another one.
. "$(dirname "$0")/lib/common.bash"

seq 300 | sed 's#^#http://a/#' > one
seq 200 500 | sed 's#^#http://a/#' > two
seq 400 700 | sed 's#^#http://a/#' > three

# As from xargs -P3: nothing is lost, nothing comes twice. The syncs of two writers may take a busy disk longer than
# the third one waits by itself.
for how in '--wait -s all.unseen' 'add --wait all.unseen'; do
    rm -f all.unseen* out.*
    printf '%s\n' one two three | xargs -P3 -I{} sh -c "\"$UNSEEN\" $how {} > out.{}"
    holds [ $? = 0 ]
    case $how in
    *-s*) holds [ "$(sort out.* | uniq -c | awk '{ n++; d += $1 > 1 } END { print n, d + 0 }')" = '700 0' ] ;;
    esac
    run check -vc all.unseen one two three
    expect 1 '0\n' ''
done

# hold: a writer that has the store until fd 3 is closed.
mkfifo q
hold() {
    "$UNSEEN" -s all.unseen < q > held &
    holder=$!
    exec 3> q
    echo http://held/ >&3
    eventually test -s held
}
release() {
    exec 3>&-
    wait "$holder"
    rm held
}

rm -f all.unseen*
hold
busy="unseen: error: all.unseen is being written to by process $holder\nunseen: hint: *\n"
cp all.unseen other.unseen
for command in '-s all.unseen one' 'add all.unseen one' 'remove all.unseen one' 'merge --into all.unseen other.unseen' \
    'import all.unseen one' 'serve all.unseen' 'rewrite all.unseen' 'repair all.unseen'; do
    run $command --wait=0
    expect 2 '' "$busy"
done
hold_time
"$UNSEEN" -s all.unseen --wait=0.3 one > out 2> err < /dev/null 3>&- &
waiter=$!
for passed in $(patience); do # tenths of a second
    kill -0 "$waiter" 2> /dev/null || break
    pass_time 0.1
    sleep 0.01
done
wait "$waiter"
status=$?
expect 2 '' "$busy"
holds [ "$passed" -gt 3 ]
unset UNSEEN_TEST_CLOCK
# Who only asks does not wait.
run -n -s all.unseen one
expect 0 '*' ''
# The default waits, and goes on when the writer has ended. Who has the file open is about to wait for its lock.
has_open() { readlink "/proc/$1/fd/"* | grep -qx "$PWD/$2"; }
for command in '-c -s all.unseen one' '--wait -c -s all.unseen two' 'add --wait=60 all.unseen three'; do
    "$UNSEEN" $command < /dev/null > counted 2> waited 3>&- &
    waiter=$!
    case $command in
    *--wait\ *) eventually [ -s waited ] ;;
    *) eventually has_open "$waiter" all.unseen ;;
    esac
    holds kill -0 "$waiter"
    release
    wait "$waiter"
    holds [ $? = 0 ]
    case $command in
    *--wait\ *) printf 'unseen: waiting: all.unseen is being written to by process %s\n' "$holder" | cmp -s - waited || complain 'not said what it waits for' ;;
    *) holds [ ! -s waited ] ;;
    esac
    rm -f all.unseen*
    hold
done
release
for wrong in -1 soon '' 5s; do
    run -s all.unseen "--wait=$wrong" one
    expect 2 '' '*'
    holds grep -q '^unseen: error: --wait' err
done
# check waits for a server only; who asks a file has nothing to wait for.
run check --wait all.unseen one
expect 1 '' ''

# --like: another secret than ours can be merged, without being known.
"$UNSEEN" add -p whatwg --fpr 2e-6 --key-bits 96 --filter scalable base.unseen one
run add --like base.unseen part.unseen two
expect 0 '' ''
run merge all.unseen base.unseen
run merge new.unseen base.unseen part.unseen
expect 0 '' ''
run check -vc new.unseen one two
expect 1 '0\n' ''
settings() { "$UNSEEN" info --json "$1" | python3 -c 'import json, sys
info = json.load(sys.stdin)
print([info[name] for name in ("filter", "profile", "key_bits", "fpr", "seed_id")])'; }
settings base.unseen > want
settings part.unseen > got
same got want
run --like base.unseen -s third.unseen three
expect 0 '*' ''
run merge --into new.unseen third.unseen
expect 0 '' ''
# A store that exists must be like it, and is not changed.
run add --like base.unseen part.unseen three
expect 0 '' ''
"$UNSEEN" add -p whatwg --key-bits 96 foreign.unseen one
cp foreign.unseen before
run add --like base.unseen foreign.unseen two
expect 2 '' '*'
holds grep -q '^unseen: error: foreign.unseen exists and is not made like base.unseen: ' err
same foreign.unseen before
# The hint of a merge that cannot be leads to one that can.
run merge --into base.unseen foreign.unseen
expect 2 '' '*'
holds grep -q '^unseen: hint: to make a store that can be merged: unseen add --like base.unseen NEW FILE' err
run add --like base.unseen again.unseen one
run merge --into base.unseen again.unseen
expect 0 '' ''
run add --like missing.unseen x.unseen one
expect 2 '' '*'
holds [ ! -e x.unseen ]
for also in '--seed 1' '-p none' '--rule strip-www' '--key-bits 64'; do
    run add --like base.unseen $also x.unseen one
    expect 2 '' '*'
    holds grep -q '^unseen: error: --like' err
    holds [ ! -e x.unseen ]
done
run --like base.unseen one
expect 2 '' 'unseen: error: --like has no meaning without -s\nunseen: hint: unseen -s NEW --like base.unseen one\n'
finish
