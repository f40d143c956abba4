# What is removed is gone: for this process, for the next, with and without the image.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

# A store is a set, also with a filter that counts: what was added twice and removed once is gone, in this process and
# in the next, with the image and without it.
seq 70000 > once
cat once once > twice
for filter in 'counting --capacity 100000 --fpr 1e-6' compact exact; do
    rm -f set.unseen*
    # shellcheck disable=SC2086 # the options of a filter
    run add --seed 1 -p none --filter $filter set.unseen twice
    expect 0 '' ''
    holds [ -e set.unseen.image ]
    run remove --stats=json set.unseen once
    holds grep -q '"lines":70000,"new":0,"seen":70000,' err
    run check -c set.unseen once
    expect 1 '0\n' ''
    run verify set.unseen
    expect 0 '*' ''
    holds grep -q '^set.unseen: good, ' out
    holds [ "$(stat -c %s set.unseen)" -lt 1150000 ] # it was rewritten
    rm -f set.unseen.image
    run check -c set.unseen once
    expect 1 '0\n' ''
    printf 'A x\nA x\nR x\nC x\n' > requests
    holds [ "$("$UNSEEN" serve set.unseen < requests | tail -n +2 | tr '\n' ' ')" = '1 0 1 0 ' ]
    echo x > in
    run check set.unseen in
    expect 1 '' ''
done

# A line that was never added, and is taken for seen, takes no other line with it.
seq 100000 | "$UNSEEN" --seed 1 -p none --filter counting --capacity 100000 --fpr 0.01 -s half.unseen > members
seq 100001 400000 | "$UNSEEN" check half.unseen > false
nfalse=$(wc -l < false)
holds [ "$nfalse" -gt 500 ]
run remove --stats=json half.unseen false
expect 0 '' '*'
holds grep -q "\"lines\":$nfalse,\"new\":$nfalse,\"seen\":0," err
holds grep -q "^unseen: warning: $nfalse of the lines are not in half.unseen, but it takes them for seen" err
head -n 1000 members > thousand
tail -n +1001 members > rest
all=$(wc -l < rest)
cat false thousand thousand > mixed
run remove --stats=json half.unseen mixed
expect 0 '' '*'
holds grep -q "\"seen\":1000," err
run check -c half.unseen rest
expect 0 "$all\n" ''
sed 's/^/R /' false > requests
holds [ "$("$UNSEEN" serve half.unseen < requests | tail -n +2 | sort -u)" = 0 ]
run check -c half.unseen rest
expect 0 "$all\n" ''
rm half.unseen.image
run check -c half.unseen rest
expect 0 "$all\n" ''
# The way out that the warning names.
run rewrite --filter compact --fpr 1e-9 half.unseen
expect 0 "*" "*"
run check half.unseen false
expect 1 "" ""
run check -c half.unseen rest
expect 0 "$all\n" ""
# Line by line, while the input waits.
head -n 1 rest > one
mkfifo pipe
"$UNSEEN" remove half.unseen < pipe &
exec 3> pipe
cat one >&3
eventually sh -c '! "$1" check -q half.unseen one' - "$UNSEEN"
exec 3>&-
wait $!
holds [ $? = 0 ]
finish
