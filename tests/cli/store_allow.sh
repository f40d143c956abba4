# unseen allow of a store: known false hits are new, through restarts, images, rewrites, merges and readers, until they
# are added. What was added stays seen.
. "$(dirname "$0")/lib/common.bash"

# What the store takes for seen by error: one in 100 of what it was never given.
make_store() {
    rm -f "$1" "$1".*
    seq 100000 | "$UNSEEN" -p none --seed 1 --filter "$2" --capacity 100000 --fpr 0.01 -s "$1" > members
    seq 100001 150000 | "$UNSEEN" check "$1" > false
    nmembers=$(wc -l < members)
    nfalse=$(wc -l < false)
    holds [ "$nfalse" -gt 300 ]
}
count() { "$UNSEEN" check -c "$1" "$2"; }
good() {
    run verify "$1"
    expect 0 '*' ''
}
allowed_of() { "$UNSEEN" info --json "$1" | sed -E 's/.*"allowed":([0-9]+).*/\1/'; }

for filter in counting bloom block; do
    make_store v.unseen "$filter"
    # The way there: what a run dropped by mistake.
    run recheck v.unseen false
    expect 0 '*' 'unseen: hint: to have them answered new: unseen recheck v.unseen false | unseen allow v.unseen\n'
    "$UNSEEN" recheck v.unseen false 2> err | "$UNSEEN" allow v.unseen
    holds [ "$(count v.unseen false)" = 0 ]
    holds [ "$(count v.unseen members)" = "$nmembers" ]
    holds [ "$(allowed_of v.unseen)" = "$nfalse" ]
    run info v.unseen
    holds grep -qx "allowed      $nfalse lines, new although the filter has them" out

    # With lines that were added, and lines that are new anyway: each is counted, and the false hits are allowed.
    make_store v.unseen "$filter"
    { head -n 10 members; cat false; seq 900001 900005; } | "$UNSEEN" check -v v.unseen > new
    { head -n 10 members; cat false; seq 900001 900005; } > mixed
    run allow --stats=json v.unseen mixed
    expect 2 '' "{\"lines\":$((nfalse + 15)),\"new\":$(wc -l < new),\"held\":10,\"allowed\":$((nfalse + 5 - $(wc -l < new)))}\nunseen: error: 10 of the $((nfalse + 15)) lines were added to v.unseen, so they are not allowed\nunseen: hint: to make them new again: unseen remove v.unseen mixed\n"
    holds [ "$(count v.unseen mixed)" = 10 ]
    run allow v.unseen false
    expect 0 '' ''
    holds [ "$(count v.unseen members)" = "$nmembers" ]

    # Each is printed by the next run, once, and is seen from then on: in this process, in the next, and without the
    # image. Then it is no longer allowed.
    head -n 20 false > twenty
    cat twenty twenty > twice
    "$UNSEEN" -s v.unseen twice > again
    same again twenty
    run -s v.unseen twice
    expect 0 '' ''
    rm -f v.unseen.image
    holds [ "$(count v.unseen twenty)" = 20 ]
    allowed=$(allowed_of v.unseen)
    run allow v.unseen twenty
    expect 2 '' '*'
    holds [ "$(allowed_of v.unseen)" = "$allowed" ]
    good v.unseen

    # What shrinks and joins stores keeps them.
    tail -n +21 false > rest
    run rewrite v.unseen
    holds [ "$(count v.unseen rest) $(count v.unseen twenty)" = '0 20' ]
    head -n 5 rest > five
    rm -f w.unseen*
    run add --like v.unseen w.unseen five
    run merge all.unseen v.unseen w.unseen
    expect 0 '*' '*'
    holds [ "$(count all.unseen rest) $(count all.unseen five) $(count all.unseen twenty)" = '5 5 20' ]
    run merge --into w.unseen v.unseen
    expect 0 '*' '*'
    holds [ "$(count w.unseen rest) $(count w.unseen five) $(count w.unseen twenty)" = '5 5 20' ]
    good w.unseen
    rm -f all.unseen*
done

# A line that is removed again is new again, and the lines that it was taken for take nothing with them.
make_store v.unseen counting
run allow v.unseen false
"$UNSEEN" add v.unseen twenty
run remove v.unseen members
holds [ "$(count v.unseen twenty)" = 20 ]
"$UNSEEN" add v.unseen members
run remove v.unseen twenty
holds [ "$(count v.unseen twenty) $(count v.unseen members)" = "0 $nmembers" ]
good v.unseen

# A server answers so, and the store has one writer.
make_store v.unseen bloom
head -n 20 false > twenty
run allow v.unseen twenty
sed 's/^/C /' twenty > requests
sed 's/^/A /' twenty >> requests
sed 's/^/C /' twenty >> requests
holds [ "$("$UNSEEN" serve v.unseen < requests | tail -n +2 | uniq -c | tr -s ' \n' ' ')" = ' 20 0 40 1 ' ]
mkfifo pipe
"$UNSEEN" add v.unseen < pipe &
exec 3> pipe
eventually sh -c '"$1" allow --wait=0 v.unseen twenty 2>&1 | grep -q "is being written to"' - "$UNSEEN"
run allow --wait=0 v.unseen twenty
expect 2 '' '*'
holds grep -qx 'unseen: hint: to wait until it has ended: unseen allow --wait v.unseen twenty' err
exec 3>&-
wait $!

# The key of a line, as for the other commands.
make_store v.unseen bloom
tail -n 5 false > five
sed 's/^/x,/; s/$/,y/' twenty > fields
run allow -k 2 -t , v.unseen fields
expect 0 '' ''
holds [ "$(count v.unseen twenty)" = 0 ]
tr '\n' '\0' < five > nulls
run recheck -z v.unseen nulls
expect 0 '*' 'unseen: hint: to have them answered new: unseen recheck -z v.unseen nulls | unseen allow -z v.unseen\n'

# What a store cannot do.
run allow --list v.unseen
expect 2 '' 'unseen: error: v.unseen is a store: it keeps keys, not lines, and cannot print what is allowed\nunseen: hint: how many lines it allows: unseen info v.unseen\n'
run allow --remove v.unseen twenty
expect 2 '' 'unseen: error: v.unseen is a store: it keeps keys, not lines, and a line is allowed until it is added\nunseen: hint: to have it seen: unseen add v.unseen twenty\n'
run allow v.unseen w.unseen
expect 2 '' 'unseen: error: w.unseen is a store, not a file of lines\nunseen: hint: unseen merge --into v.unseen w.unseen\n'
run allow v.unseen missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
seq 10 | "$UNSEEN" add --no-log n.unseen
run allow n.unseen twenty
expect 2 '' 'unseen: error: n.unseen has no log: nobody knows which lines it was given\n'
finish
