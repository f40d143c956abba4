# unseen merge: all or nothing, into a new store or into one that exists.
. "$(dirname "$0")/lib/common.bash"

keys_of() { "$UNSEEN" info "$1" | sed -n 's/^keys  *//p'; }

urls 120000 100000 3 > lines1
urls 30000 20000 4 > lines2
urls 5000 4000 5 > lines3
for i in 1 2 3; do
    "$UNSEEN" add --seed 42 "part$i.unseen" "lines$i"
done
"$UNSEEN" add other.unseen lines3

# The target was forgotten: the first part is not changed.
cp part1.unseen before
run merge part?.unseen
expect 2 '' 'unseen: error: part1.unseen exists: the first name is that of the new store\nunseen: hint: to make a new one: unseen merge NEW.unseen part1.unseen part2.unseen part3.unseen\nunseen: hint: to add to it: unseen merge --into part1.unseen part2.unseen part3.unseen\n'
same part1.unseen before
run merge --into all.unseen part1.unseen
expect 2 '' 'unseen: error: all.unseen does not exist\nunseen: hint: to make it: unseen merge all.unseen part1.unseen\n'
run merge --into part1.unseen --into part2.unseen part3.unseen
expect 2 '' 'unseen: error: --into is given twice: part1.unseen and part2.unseen\nunseen: hint: unseen merge --into part1.unseen part3.unseen\n'
run merge --into part1.unseen part1.unseen
expect 2 '' 'unseen: error: part1.unseen is both the output and an input\nunseen: hint: it keeps its URLs: unseen merge --into part1.unseen OTHER...\n'
run merge --into part1.unseen
expect 2 '' '*'
holds grep -q '^Usage: unseen merge ' err
printf 'mine\n' > mine
run merge mine part1.unseen
expect 2 '' '*'
holds [ "$(cat mine)" = mine ]

# An error at a later input: nothing is left, and the corrected command works.
for wrong in other.unseen missing.unseen lines1; do
    run merge all.unseen part1.unseen part2.unseen $wrong
    expect 2 '' '*'
    holds [ -z "$(ls all.unseen* 2> /dev/null)" ]
done
run merge all.unseen part1.unseen part2.unseen
expect 0 '' ''
holds [ "$(keys_of all.unseen)" = "$(sort -u lines1 lines2 | wc -l)" ]
cp all.unseen before
cp all.unseen.image before.image
for wrong in other.unseen missing.unseen lines1; do
    run merge --into all.unseen part3.unseen $wrong
    expect 2 '' '*'
    same all.unseen before
    same all.unseen.image before.image
    holds [ "$(ls all.unseen*)" = 'all.unseen
all.unseen.image' ]
done
# The capacity in the header of an input takes no memory in the merged store.
for filter in compact exact; do
    "$UNSEEN" add --seed 1 --filter $filter --capacity 1e7 roomy.unseen lines3
    run merge --stats=json roomier.unseen roomy.unseen roomy.unseen
    expect 0 '' '*'
    holds [ "$(sed -n 's/.*"memory":\([0-9]*\).*/\1/p' err)" -lt 2000000 ]
    holds [ "$(keys_of roomier.unseen)" = "$(keys_of roomy.unseen)" ]
    rm roomy.unseen* roomier.unseen*
done
# A filter that is too small for all of them: keys would be lost, so nothing is merged, and the hint works.
seq 500 > few
seq 501 1000 > others
for i in few others; do
    "$UNSEEN" add --seed 1 --filter bloom --capacity 500 --fpr 1e-3 $i.unseen $i
done
full='unseen: error: the bloom filter has 9[0-9][0-9] keys and was made for 500: now it takes a new line for a repeat with a probability of 0.0[0-9]+, not 1e-3'
run merge both.unseen few.unseen others.unseen
expect 2 '' '*'
holds grep -qxE "$full" err
holds grep -qx 'unseen: hint: nothing was merged: unseen rewrite --capacity 2000 few.unseen && unseen merge .*' err
holds [ -z "$(ls both.unseen* 2> /dev/null)" ]
cp few.unseen before.few
run merge --into few.unseen others.unseen
expect 2 '' '*'
holds grep -qxE "$full" err
same few.unseen before.few
# rewrite to less than there is says so; nothing is lost by it.
run rewrite --capacity 10 few.unseen
expect 2 '' '*'
holds grep -qE '^unseen: error: the bloom filter has [0-9]+ keys and was made for 10: now it takes a new line for a repeat ' err
holds grep -qxE 'unseen: hint: unseen rewrite --capacity (500|510) .*few.unseen' err
run rewrite --capacity 2000 few.unseen
expect 0 '' ''
run merge both.unseen few.unseen others.unseen
expect 0 '' ''
run check -vc both.unseen few others
expect 1 '0\n' ''
chmod 640 all.unseen
run merge --stats=json --into all.unseen part3.unseen part1.unseen
expect 0 '' '*'
holds python3 -c 'import json
s = json.load(open("err"))
new = len(set(open("lines3")) - set(open("lines1")) - set(open("lines2")))
part = [len(set(open("lines%d" % i))) for i in (1, 3)]
assert s["new"] == new and s["lines"] == sum(part) and s["seen"] == s["lines"] - new, s
assert s["keys"] == len(set(open("lines1")) | set(open("lines2")) | set(open("lines3"))), s'
run check -vc all.unseen lines1 lines2 lines3
expect 1 '0\n' ''
run verify all.unseen
expect 0 '*' ''
holds [ "$(stat -c %a all.unseen)" = 640 ]
# Through a link the store itself is replaced, not the link.
mkdir real
"$UNSEEN" add --seed 42 real/s.unseen lines2
ln -s real/s.unseen link
run merge --into link part3.unseen
expect 0 '' ''
holds [ -L link ]
run check -vc real/s.unseen lines2 lines3
expect 1 '0\n' ''
# What was removed stays removed; a store without a log; an exactly-once output goes on.
head -n 100 lines3 | sort -u > few
"$UNSEEN" remove part3.unseen few
run merge some.unseen part3.unseen
run check some.unseen few
expect 1 '' ''
"$UNSEEN" add --seed 42 --no-log nolog.unseen lines2
cp nolog.unseen.image before.image
run merge --into nolog.unseen part3.unseen other.unseen
expect 2 '' '*'
same nolog.unseen.image before.image
run merge --into nolog.unseen part3.unseen
expect 0 '' ''
holds [ "$(keys_of nolog.unseen)" = "$(sort -u lines2 lines3 | comm -23 - few | cat - <(sort lines2) | sort -u | wc -l)" ]

# A store with an interrupted output still knows it after a merge.
mkfifo fifo
"$UNSEEN" --seed 42 -s out.unseen -o queue < fifo &
pid=$!
exec 3> fifo
printf 'http://a/\nhttp://b/\n' >&3
has() { echo "$2" | "$UNSEEN" check -q "$1" 2> /dev/null; }
eventually has out.unseen http://b/
kill -9 "$pid"
wait "$pid" 2> /dev/null
exec 3>&-
printf 'http://x/\n' >> queue
"$UNSEEN" merge --into out.unseen part2.unseen
mkdir elsewhere
cp queue elsewhere/queue
run -s out.unseen -o elsewhere/queue lines1
expect 2 '' '*'
holds grep -q "^unseen: error: $PWD/queue is not finished: " err
same queue elsewhere/queue
mv queue moved
printf 'http://x/\n' | "$UNSEEN" -s out.unseen -o moved 2> err
holds grep -q '^unseen: warning: moved was cut from 30 to 20 bytes' err
printf 'http://a/\nhttp://b/\nhttp://x/\n' | cmp -s - moved || complain 'moved does not have each URL once'

# While it merges, no other process can write, and who asks sees the store as it was. kill -9 at any
# time leaves all or nothing, and the next merge is not in the way of what was left.
urls 1000000 900000 6 > lines4
"$UNSEEN" add --seed 42 part4.unseen lines4
"$UNSEEN" add --seed 42 base.unseen lines1
few=$(keys_of base.unseen)
cp base.unseen all.unseen
"$UNSEEN" merge --into all.unseen part4.unseen part2.unseen
all=$(keys_of all.unseen)
nnothing=0
for pause in 0.01 0.02 0.03 0.05 0.08 0.1 0.15 0.2; do
    for into in '' --into; do
        rm -f all.unseen all.unseen.image
        [ -z "$into" ] || cp base.unseen all.unseen
        "$UNSEEN" merge $into all.unseen $([ -n "$into" ] || echo base.unseen) part4.unseen part2.unseen &
        pid=$!
        sleep "$pause"
        kill -9 "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
        if [ ! -e all.unseen ]; then
            holds [ -z "$into" ]
            nnothing=$((nnothing + 1))
        else
            n=$(keys_of all.unseen)
            holds [ "$n" = "$all" -o "$n$into" = "$few--into" ]
            run verify all.unseen
            expect 0 '*' ''
        fi
    done
done
holds [ "$nnothing" -gt 0 ]
rm -f all.unseen all.unseen.image
run merge all.unseen base.unseen part4.unseen part2.unseen
expect 0 '' ''
holds [ "$(keys_of all.unseen)" = "$all" ]
holds [ -z "$(ls ./*.unseen-new 2> /dev/null)" ]
finish
