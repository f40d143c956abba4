# A filter that cannot remove, kept as what it is: --no-log with bloom and block.
. "$(dirname "$0")/lib/common.bash"

seq 1 3000 > one
seq 2001 5000 > two
seq 3001 5000 > rest
for filter in 'bloom --capacity 10000' 'block --capacity 10000'; do
    rm -f bits*
    # shellcheck disable=SC2086 # the options of a filter
    run -s bits --seed 1 --no-log --fpr 1e-6 --filter $filter -p none one
    expect 0 '*' ''
    same one out
    run verify bits
    expect 0 '*' ''
    holds [ "$(stat -c %s bits)" -lt 17000 ]

    # A run that is killed is forgotten; the bits are those of the run before.
    mkfifo pipe
    "$UNSEEN" -s bits < pipe > got &
    tool=$!
    exec 9> pipe
    cat two >&9
    eventually cmp -s rest got
    kill -KILL "$tool"
    wait "$tool" 2> killed
    exec 9>&-
    rm pipe killed
    run verify bits
    expect 0 '*' ''
    run check -c bits two
    expect 0 '1000\n' ''

    # So is a run whose lines could not be handed over: it says so, and no line is lost.
    "$UNSEEN" -s bits two > /dev/full 2> err
    status=$?
    holds [ "$status" = 2 ]
    holds grep -q 'No space left on device' err
    run -s bits two
    expect 0 '*' ''
    same rest out
    run -s bits two
    expect 0 '' ''
done

# The bits of 10,000 lines at 1e-4 take 24 KB; the log alone would be 80 KB more.
rm -f bits*
seq 1 10000 > many
run add -p none --no-log --filter bloom --capacity 10000 --fpr 1e-4 bits many
expect 0 '' ''
holds [ "$(stat -c %s bits.image)" -lt 32000 ]
finish
