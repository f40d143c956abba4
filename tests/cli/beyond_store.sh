# --memory with a store that is larger: its lines, its log and its image are those of runs without the option.
. "$(dirname "$0")/lib/common.bash"
export TMPDIR=$scratch/tmp
mkdir tmp

# An image of 3,300,000 lines takes more than half of 32M. 300,000 of the lines of `others` are new, some of them twice.
seq 3300000 > known
{ seq 3200001 2 3600000; seq 3400000 3450000; seq 3200000 3600000; } > others
seq 3590000 3610000 > last
"$UNSEEN" -s a.unseen --seed 1 known > /dev/null
cp a.unseen b.unseen
cp a.unseen.image b.unseen.image
cp a.unseen start
cp a.unseen.image start.image
again() { # b.unseen is as it was
    cp start b.unseen
    cp start.image b.unseen.image
}

# A reader follows, while the new image takes the place of the one that it reads.
hold_time
answered() { # N: so many lines
    [ "$(wc -l < answers)" -ge "$1" ]
}
mkfifo asks
"$UNSEEN" check b.unseen < asks > answers 2> err3 &
reader=$!
exec 3> asks
echo 5 >&3
eventually answered 1
"$UNSEEN" -s a.unseen others > want
run -s b.unseen --memory 32M others
expect 0 '*' ''
same out want
pass_time 2000
seq 3599999 3600001 >&3
eventually answered 3
exec 3>&-
wait "$reader"
printf '5\n3599999\n3600000\n' | same answers /dev/stdin
same err3 /dev/null

# Not all of the headers are the same, as the commits are others.
tail -c +4097 a.unseen.image > pages
tail -c +4097 b.unseen.image > pages1
same pages pages1
all_is_there() { # STORE FILES...
    run verify "$1"
    expect 0 '*' ''
    run check -v "$@"
    expect 1 '' ''
}
all_is_there b.unseen known others

# Both ways: what a run without the option has added is known, from the log alone, and the other way about.
"$UNSEEN" -s a.unseen --memory 32M last > want
"$UNSEEN" -s b.unseen last > out
same out want
[ "$(wc -l < want)" = 10000 ] || complain "$(wc -l < want) new lines"
for store in a b; do
    run -s $store.unseen --memory 32M last others
    expect 0 '' ''
    all_is_there $store.unseen known others last
done

# Without an image, through a pipe, to an output, from no store to one that is too large.
rm b.unseen.image
seq 3600000 3620000 | "$UNSEEN" -s b.unseen --memory 32M - > piped
seq 3610001 3620000 | same piped /dev/stdin
all_is_there b.unseen known others last piped
{ seq 3400000; seq 3000000; } > much
run -s c.unseen --memory 32M -o new much
expect 0 '' ''
seq 3400000 | same new /dev/stdin
all_is_there c.unseen much
[ -z "$(ls -A tmp)" ] || complain 'files are left in TMPDIR'

# A pipe that waits is answered line by line, a few lines of a file are too, and a reader: no new image is written.
again
mkfifo lines
"$UNSEEN" -s b.unseen --memory 32M < lines > answers 2> err3 &
writer=$!
exec 3> lines
for i in 1 2 3; do
    printf '5\n%s\n%s\n' $((3600000 + i)) $((3600000 + i - 1)) >&3
    eventually answered $((i + 1))
done
exec 3>&-
wait "$writer"
printf '%s\n' 3600001 3600000 3600002 3600003 | same answers /dev/stdin
same err3 /dev/null
same b.unseen.image start.image
printf '3600003\n3600004\n' > few
run -s b.unseen --memory 32M few
expect 0 '3600004
' ''
run check -v --memory 32M b.unseen few others
[ "$(wc -l < out)" = 500000 ] || complain "check says $(wc -l < out) lines"
same b.unseen.image start.image

# A server that only asks reads pages, too, for a single question and for a batch. One that adds would have to wait.
{
    printf 'C %s\n' 5 3600003 9999999
    printf 'B 4 C\n'
    printf '%s\n' 1 9999998 3600004 3600005
} > in
run serve -n b.unseen
mv out want
run serve -n --memory 32M b.unseen
expect 0 "$(cat want)
" ''
run serve --memory 32M b.unseen
rm in
expect 2 '' 'unseen: error: --memory is for a server that only asks: while a new image is written, nobody would get an answer
unseen: hint: unseen serve -n --memory 32M b.unseen
'

# A pipe of many: the store writes new images on the way, from one that is too large or too small for parts.
# (unit/store_sweep has the latter in the usual run, too.)
for store in b $(brief || echo e); do
    seq 3300000 5300000 | "$UNSEEN" -s $store.unseen --seed 1 --memory 32M > piped
    [ "$(wc -l < piped)" -ge 1999990 ] || complain "$store: $(wc -l < piped) lines of a pipe"
    run check -v --memory 64M $store.unseen piped
    expect 1 '' ''
done
all_is_there b.unseen known piped few

# verify takes no more memory than it may, and says the same.
run verify b.unseen
mv out want
run verify --memory 32M b.unseen
expect 0 "$(cat want)
" ''
if (ulimit -v 10000 && "$UNSEEN" --version > /dev/null 2>&1); then
    holds bash -c 'ulimit -v 36000; "$0" verify b.unseen > out 2> err; [ $? = 2 ]' "$UNSEEN"
    holds bash -c 'ulimit -v 36000; exec "$0" verify --memory 32M b.unseen > out' "$UNSEEN"
    same out want
fi

# Killed in the sweep, killed when lines are printed: -o has each line once.
has_come() { # FILE: it is there, and not empty; or the run has ended before
    [ -s "$1" ] || ! kill -0 "$pid" 2> /dev/null
}
"$UNSEEN" -s d.unseen --seed 1 known > /dev/null
"$UNSEEN" -s d.unseen others > want
for file in b.unseen.image.unseen-new new; do
    again
    rm -f new b.unseen.image.unseen-new
    "$UNSEEN" -s b.unseen --memory 32M -o new others 2> err &
    pid=$!
    eventually has_come "$file"
    kill -9 "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
    run verify b.unseen
    expect 0 '*' '*'
    run -s b.unseen --memory 32M -o new others
    expect 0 '' '*'
    same new want
    all_is_there b.unseen known others
    [ ! -e b.unseen.image.unseen-new ] || complain 'half of an image is left'
done

# An image that is damaged in its middle: nothing is printed, nothing is written.
again
printf 'damage' | dd of=b.unseen.image bs=1 seek=9000000 conv=notrunc 2> /dev/null
run -s b.unseen --memory 32M others
expect 2 '*' 'unseen: error: cannot remember: b.unseen.image is damaged: it was changed or cut short since it was written
unseen: hint: unseen repair b.unseen
'
lacks unseen-new <(ls)
run verify --memory 32M b.unseen
expect 1 '*' 'unseen: error: b.unseen.image is damaged: it was changed or cut short since it was written
unseen: hint: unseen repair b.unseen
'

# What has to be there as a whole.
again
head -n 1 known > one
"$UNSEEN" remove b.unseen one
run -s b.unseen --memory 32M last
expect 2 '' 'unseen: error: b.unseen cannot be read part by part: lines were removed since its image was written, or are allowed
unseen: hint: unseen -s b.unseen last
'
"$UNSEEN" -s w.unseen --window 1d one > /dev/null
run -s w.unseen --memory 32M last
expect 2 '' 'unseen: error: w.unseen cannot be read part by part: it has a window
unseen: hint: unseen -s w.unseen last
'
run -s redis://127.0.0.1:1/x --memory 32M last
expect 2 '' '*'
holds grep -q '^unseen: error: --memory limits the set of a run or of a store' err

echo http://e.example/ > url
"$UNSEEN" build b.list url
run check --memory 32M b.list url
expect 2 '' 'unseen: error: --memory limits the set of a run or of a store, and b.list is a list
unseen: hint: unseen check b.list url
'
run check b.list url
expect 0 '*' ''

# What fits is as ever.
for i in 1 2; do
    run -s few.unseen --memory 32M one
    [ "$(wc -l < out)" = $((2 - i)) ] || complain "run $i of few lines"
done
finish
