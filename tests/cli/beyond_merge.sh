# merge --memory: the merged store has the keys that it has without the option, and is there as a whole or not at all.
. "$(dirname "$0")/lib/common.bash"
export TMPDIR=$scratch/tmp
mkdir tmp

# The first store takes more than half of 32M. Lines 3000001 to 3200000 and 3499000 to 3500000 are in two of them.
seq 3200000 > lines1
seq 3000001 3500000 > lines2
seq 3499000 3600000 > lines3
for i in 1 2 3; do
    "$UNSEEN" add --seed 42 part$i.unseen lines$i
done
"$UNSEEN" add other.unseen lines3
cp part1.unseen base.unseen
cp part1.unseen.image base.unseen.image
nothing_else() {
    [ -z "$(ls -A tmp)" ] || complain 'files are left in TMPDIR'
    [ -z "$(ls ./*.unseen-new* 2> /dev/null)" ] || complain 'something is left'
}
has_all() { # STORE KEYS LINES...
    local store=$1 keys=$2
    shift 2
    run verify --memory 32M "$store"
    expect 0 '*' ''
    holds grep -q "^$store: good, $keys added and 0 removed, " out
    run check -vc "$store" "$@"
    expect 1 '0
' ''
    run check -c "$store" <(seq 3600001 3700000)
    expect 1 '0
' ''
    nothing_else
}

# A new store: its set reaches half of the limit on the way.
run merge --memory 32M --stats=json all.unseen part1.unseen part2.unseen part3.unseen
expect 0 '' '*'
holds grep -q '"lines":3801001,"new":3600000,"seen":201001,' err
has_all all.unseen 3600000 lines1 lines2 lines3

# One that is there, in parts from the beginning; a store that has no image; and again, which adds nothing.
rm part2.unseen.image
run merge --memory 32M --into base.unseen part2.unseen part3.unseen
expect 0 '' ''
has_all base.unseen 3600000 lines1 lines2 lines3
cp base.unseen before
run merge --memory 32M --json --into base.unseen part2.unseen part1.unseen
expect 0 '{"store":"base.unseen","inputs":2,"new":0,"seen":3700000,"keys":3600000}
' ''
has_all base.unseen 3600000 lines3

# Removed lines stay removed, what was added meanwhile is not there twice, and what fits is as ever.
tail -n 100 lines3 > few
"$UNSEEN" remove part3.unseen few
run merge --memory 32M some.unseen part3.unseen
expect 0 '' ''
run check -c some.unseen few
expect 1 '0
' ''

# What is wrong is said as without the option, and nothing has changed.
cp part1.unseen base.unseen
cp part1.unseen.image base.unseen.image
"$UNSEEN" add --seed 42 --window 1d window.unseen few
for wrong in other missing lines1; do
    [ $wrong = lines1 ] || wrong=$wrong.unseen
    run merge --into base.unseen part3.unseen $wrong
    mv err want
    run merge --memory 32M --into base.unseen part3.unseen $wrong
    expect 2 '' '*'
    sed 's/ --memory 32M//' err | same want /dev/stdin
    same base.unseen part1.unseen
    same base.unseen.image part1.unseen.image
    nothing_else
done
run merge --memory 32M new.unseen window.unseen part3.unseen
expect 2 '' 'unseen: error: window.unseen cannot be read part by part: it has a window
unseen: hint: unseen merge new.unseen window.unseen part3.unseen
'
nothing_else

# kill -9 in the sweep, and when the log is written: all or nothing, and the next merge is not in the way of what is left.
has_come() { # FILE: it is there; or the merge has ended before
    [ -e "$1" ] || ! kill -0 "$pid" 2> /dev/null
}
for into in '' --into; do
    for file in all.unseen.image.unseen-new all.unseen; do
        rm -f all.unseen*
        [ -z "$into" ] || cp part1.unseen all.unseen
        [ -z "$into" ] || cp part1.unseen.image all.unseen.image
        "$UNSEEN" merge --memory 32M $into all.unseen part1.unseen part2.unseen part3.unseen &
        pid=$!
        eventually has_come "$file"
        kill -9 "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
        if [ -e all.unseen ]; then
            n=$("$UNSEEN" info all.unseen | sed -n 's/^keys  *//p')
            holds [ "$n" = 3599900 -o "$n$into" = 3200000--into ]
            run verify all.unseen
            expect 0 '*' ''
        fi
        [ -e all.unseen ] && into_now=--into || into_now=
        run merge --memory 32M $into_now all.unseen part1.unseen part2.unseen part3.unseen
        expect 0 '' ''
        has_all all.unseen 3599900 lines1 lines2
    done
done

# The capacity of the first input decides nothing.
echo a | "$UNSEEN" add --capacity 50000000 roomy.unseen -
echo b | "$UNSEEN" add --like roomy.unseen small.unseen -
run merge --memory 32M two.unseen roomy.unseen small.unseen
expect 0 '' ''
finish
