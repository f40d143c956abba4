# An empty file, as mktemp makes it, becomes a store. One that was a store does not.
. "$(dirname "$0")/lib/common.bash"

printf 'http://e.com/\n' > in
touch s.unseen
run -s s.unseen
expect 0 'http://e.com/\n' ''
run -s s.unseen
expect 0 '' ''
holds [ "$(stat -c %a s.unseen)" = 600 ]

# Only who makes stores.
touch asked
run check asked
expect 2 '' '*'
holds grep -q 'asked is not a store: it is empty' err
holds [ ! -s asked ]
run -n -s asked
expect 2 '' '*'
holds [ ! -s asked ]

# A store that somebody has emptied: its image is still there.
cp s.unseen emptied
: > emptied
touch emptied.image
run -s emptied
expect 2 '' '*'
holds grep -q 'emptied is not a store: it is empty' err
holds [ ! -s emptied ]
# A link stays a link, and a file with a byte a file.
touch target
ln -s target link
run -s link
expect 2 '' '*'
holds [ -L link ]
printf x > byte
run -s byte
expect 2 '' '*'
holds [ "$(cat byte)" = x ]

# Several at once: one makes the store, the others wait for it, and nothing is lost.
rm in
touch many.unseen
writers=
for i in 1 2 3 4; do
    seq -f "http://e.com/$i/%g" 500 | "$UNSEEN" --wait -s many.unseen > "out.$i" 2> "err.$i" &
    writers="$writers $!"
done
wait $writers
holds [ "$(cat out.1 out.2 out.3 out.4 | wc -l)" = 2000 ]
holds [ "$(cat out.1 out.2 out.3 out.4 | "$UNSEEN" check -c many.unseen)" = 2000 ]

# One that has seen the empty file finds there what another one has made meanwhile. It stands still
# when it has closed the file, until the other one has closed the store.
if command -v strace > /dev/null && strace -o trace true 2> /dev/null; then
    : > late.unseen
    : > trace
    printf 'http://first/\nhttp://late/\n' > one
    ASAN_OPTIONS=detect_leaks=0 strace -D -f -o trace -P late.unseen -e trace=flock,close \
        -e inject=close:signal=STOP:when=1 "$UNSEEN" -s late.unseen one > late.out 2> late.err &
    slow=$!
    eventually grep -q 'stopped by SIGSTOP' trace
    holds grep -q LOCK_UN trace
    printf 'http://first/\n' > in
    run -s late.unseen
    expect 0 'http://first/\n' ''
    kill -CONT "$slow"
    holds wait $slow
    printf 'http://late/\n' > want
    same late.out want
else
    printf 'skipped: who comes late, strace cannot run here\n'
fi
finish
