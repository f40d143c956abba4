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
    seq -f "http://e.com/$i/%g" 500 | "$UNSEEN" -s many.unseen > "out.$i" 2> "err.$i" &
    writers="$writers $!"
done
wait $writers
holds [ "$(cat out.1 out.2 out.3 out.4 | wc -l)" = 2000 ]
holds [ "$(cat out.1 out.2 out.3 out.4 | "$UNSEEN" check -c many.unseen)" = 2000 ]
finish
