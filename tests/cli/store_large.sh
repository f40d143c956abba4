# The image of a large store is read piece by piece. Whoever meets a damaged piece says so, and prints
# nothing that may be wrong; the hint makes the store whole.
. "$(dirname "$0")/lib/common.bash"

seq 1 1600000 > lines
seq 1600001 1700000 > later
hold_time
"$UNSEEN" -s v.unseen -p none --seed 1 --window 1d lines > /dev/null
run check -c v.unseen lines
expect 0 '1600000\n' ''
cp v.unseen.image good

damage() { # a piece in the middle
    cp good v.unseen.image
    printf 'damage' | dd of=v.unseen.image bs=1 seek=5000000 conv=notrunc 2> /dev/null
}
unread='unseen: error: v.unseen is damaged: a part of its image cannot be read\nunseen: hint: unseen repair v.unseen\n'

# Who does not need the damaged piece does not notice. With it there is no answer.
damage
head -n 1 later > one
run check v.unseen one
expect 1 '' ''
run check -v v.unseen lines
expect 2 '' "$unread"
run -p none -x v.unseen later
expect 2 '*' "$unread"
unremembered() { # the run before says what helps
    expect 2 '*' '*'
    holds grep -q '^unseen: error: cannot remember: v.unseen.image is damaged' err
    holds grep -qx 'unseen: hint: unseen repair v.unseen' err
}
run -s v.unseen later
unremembered
for command in add remove; do
    run $command v.unseen lines
    unremembered
done
# A merge into it, by time, and into a store without a window, behind what is there.
"$UNSEEN" -s w.unseen -p none --seed 1 lines > /dev/null
cp w.unseen small.unseen
printf 'damage' | dd of=w.unseen.image bs=1 seek=5000000 conv=notrunc 2> /dev/null
for into in 'v.unseen --window 1d' w.unseen; do
    run merge --into $into small.unseen
    expect 2 '' "unseen: error: ${into%% *}.image is damaged: it was changed or cut short since it was written
unseen: hint: unseen repair ${into%% *}
"
done
run verify v.unseen
expect 1 '*' '*'
holds grep 'v.unseen.image' err

# Cut short, the image is not used.
truncate -s 5000000 v.unseen.image
run check -c v.unseen lines
expect 0 '1600000\n' '*'

damage
run repair v.unseen
expect 0 '*' '*'
run check -c v.unseen lines
expect 0 '1600000\n' ''

# Keys that leave need it, too. Nothing is forgotten by halves.
damage
pass_time 86402
run -s v.unseen one
unremembered

# A server that ends writes a log anew of which most is dead. Damage in it is no matter of a slower start.
seq 200000 | "$UNSEEN" add -p none --seed 1 s.unseen
mkfifo ask
"$UNSEEN" serve s.unseen < ask > answers 2> err &
server=$!
exec 3> ask
seq 100000 | sed 's/^/R /' >&3
answered() { [ "$(wc -l < answers)" = 100001 ]; }
eventually answered
printf 'damage' | dd of=s.unseen bs=1 seek=20000 conv=notrunc 2> /dev/null
exec 3>&-
wait $server
holds [ $? = 2 ]
holds grep -q '^unseen: error: s.unseen is damaged: bytes ' err
holds [ "$(grep hint: err)" = 'unseen: hint: unseen repair s.unseen' ]
finish
