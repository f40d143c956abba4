# A line that was not written must not be remembered, however the writing failed: the next run prints
# it. Lines are put in ways of their own: each by itself, long ones, canonical ones.
. "$(dirname "$0")/lib/common.bash"

# check WHAT A B: both are equal.
check() {
    tests_run=$((tests_run + 1))
    [ "$2" = "$3" ] || complain "$1: $2, not $3"
}

# Prints how many of the lines of FILE come out of neither the run whose output is in part nor the
# next one.
lost() {
    "$UNSEEN" -s r.unseen "$1" >rest || return 1
    cat part rest | sort -u >both
    sort -u "$1" | comm -23 - both | wc -l
}

seq 20000 | sed 's|^|http://e.com/|' >short
{ head -c 300000 /dev/zero | tr '\0' a; echo; cat short; } >long
seq 6000 | sed 's|^|http://e.com/ä|' >foreign

# the reader is gone before the first line (what a pipe has taken is out of our hands)
for options in '' --line-buffered '--line-buffered -j1' -j2; do
    for file in short long; do
        rm -f r.unseen
        : >part
        { sleep 0.3; cat $file; } | "$UNSEEN" -s r.unseen $options 2>/dev/null | true
        check "broken pipe, $file $options" "$(lost $file)" 0
    done
done

# no room
for file in short long; do
    for options in '' --line-buffered; do
        rm -f r.unseen part
        : >part
        "$UNSEEN" -s r.unseen $options $file >/dev/full 2>/dev/null && complain "full device, $file"
        check "full device, $file $options" "$(lost $file)" 0
    done
done

# no room after some of it
for file in short long foreign; do
    for options in '' --line-buffered --canonical; do
        [ $file = foreign ] || [ "$options" != --canonical ] || continue
        rm -f r.unseen part out
        (ulimit -f 64; "$UNSEEN" -s r.unseen $options -o out $file 2>/dev/null) && complain "limit, $file"
        "$UNSEEN" -s r.unseen $options -o out $file || complain "after the limit, $file"
        lines=$(sort -u $file | wc -l)
        check "limit, $file $options: each" "$(sort -u out | wc -l)" "$lines"
        check "limit, $file $options: once" "$(wc -l <out)" "$lines"
    done
done
finish
