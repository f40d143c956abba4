# recheck finds what a filter has dropped wrongly, by the full keys of the log.
# Time: long
. "$(dirname "$0")/lib/common.bash"

# A rate of wrong answers so high that there are some.
for j in 1 2; do
    rm -f v.unseen*
    urls 300000 300000 1 > first
    "$UNSEEN" -j "$j" --seed 1 -s v.unseen --filter bloom --fpr 0.01 --capacity 2e5 -D dropped first > new
    awk '!seen[$0]++' first > distinct
    "$UNSEEN" recheck -j "$j" v.unseen dropped > wrong 2> err
    holds [ $? = 0 ]
    holds grep -qx "unseen: hint: to have them answered new: unseen recheck -j $j v.unseen dropped | unseen allow v.unseen" err
    # Exactly those: distinct lines that were not printed.
    awk 'NR == FNR { new[$0] = 1; next } !($0 in new)' new distinct > want
    same wrong want
    # As many as the rate and the filling up of the filter explain: at full size one in 100.
    nwrong=$(wc -l < wrong)
    holds [ "$nwrong" -gt 100 ]
    holds [ "$nwrong" -lt 2000 ]
done
printf '%s of %s lines were dropped wrongly\n' "$nwrong" "$(wc -l < distinct)"

# Each is printed once, in input order, as it came; what was printed as new never.
cat wrong dropped wrong new > all
run recheck v.unseen all
expect 0 '*' '*'
same out wrong
run recheck v.unseen new
expect 1 '' ''
run recheck -o found v.unseen wrong new
expect 0 '' 'unseen: hint: to have them answered new: unseen allow v.unseen found\n'
same found wrong
run recheck v.unseen missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
# A filter that can remove. What was never asked is not in it, and what was removed is not, until it is added again.
rm -f v.unseen*
"$UNSEEN" add v.unseen new
head -n 3 new > some
run remove v.unseen some
run recheck v.unseen some
expect 0 '*' ''
same out some
"$UNSEEN" -s v.unseen some > again
same again some
run recheck v.unseen some
expect 1 '' ''
printf 'x,http://nowhere/\n' > in
run recheck -k 2 -t , v.unseen
expect 0 'x,http://nowhere/\n' ''
printf 'http://nowhere/a\0http://NOWHERE/a\0' > in
run recheck -z v.unseen
expect 0 'http://nowhere/a\0' ''

# More lines than go into one reading of the log.
awk 'BEGIN { for (i = 0; i < 1200000; i++) print "http://e/" i }' > many
rm in
"$UNSEEN" add w.unseen many
{ echo http://e/x; cat many; echo http://e/x; } > twice
run recheck w.unseen twice
expect 0 'http://e/x\n' ''
# ... and after rewrite, with keys of each width.
for bits in 96 128; do
    rm -f w.unseen*
    "$UNSEEN" add --key-bits $bits w.unseen first
    run rewrite w.unseen
    run recheck w.unseen first
    expect 1 '' ''
done
finish
