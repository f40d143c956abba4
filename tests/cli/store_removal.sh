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
finish
