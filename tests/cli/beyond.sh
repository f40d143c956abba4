# --memory: the set of a run may be larger than memory. The lines, their order, the messages, the counts and
# the exit status are those of the same run without the option.
. "$(dirname "$0")/lib/common.bash"
export TMPDIR=$scratch/tmp
mkdir tmp

# The set reaches half of 32M at about 2.9 million lines: the lines of `many` that are new come from both
# sides of that, and so do the first ones of repeats on the other side.
# Each of the 256 parts gets three buffers of keys, and the start of a fourth.
{ seq 3200000; seq -f %.0f 2600000 3 3300000; seq -f %.0f 1 2 3200000; seq -f %.0f 1 3 3200000; seq -f %.0f 3200001 2 3300000; } > many
"$UNSEEN" --seed 1 many > want

# limited ARG...: the run with the limit does what the run without it does.
limited() {
    "$UNSEEN" --seed 1 "$@" > out1 2> err1
    local expected=$?
    run --seed 1 --memory 32M "$@"
    [ "$status" = "$expected" ] || complain "$last: exit status $status, not $expected; it said: $(head -c 300 err)"
    same out out1
    same err err1
}

limited -o new -D repeats --tee many
same out want
same new want
"$UNSEEN" --seed 1 -v many > out1
same repeats out1
[ -z "$(ls -A tmp)" ] || complain "files are left in TMPDIR"

# Pipes, compressed files, a missing one, and standard input that is a file and is read from its middle.
gzip -1c many > many.gz
head -n 3000000 many > first
tail -n +3000001 many > second
{
    head -c 6888896 > begin # lines of the file up to there
    "$UNSEEN" --seed 1 --memory 32M -j 3 begin <(gzip -1c second) - missing . many.gz > out 2> err
    status=$?
} < first
"$UNSEEN" --seed 1 begin second many > want1
expect 2 '*' 'unseen: error: cannot open missing: No such file or directory\nunseen: error: cannot read .: Is a directory\n'
same out want1

# A pipe is kept from the moment on at which its lines are not answered at once.
mkfifo idle
"$UNSEEN" --memory 32M idle > out &
pid=$!
exec 3> idle
echo first >&3
eventually [ -s out ]
lacks deleted <(ls -l "/proc/$pid/fd")
exec 3>&-
wait "$pid"

# Keys in JSON, lines without them and lines that are too long: what a reading says is said once, and counts
# are those of one reading.
sed 's|.*|{"u":"http://e.com/&"}|; s|.*/.*77777".*|none|; s|.*[1-9]88888".*|{"u":"http://e.com/a/long/line"}|' > json < <(seq 3000000; seq 2750000 3050000)
stats() { # OPTIONS...
    for limit in '' '--memory 32M'; do
        "$UNSEEN" --seed 1 --stats $limit "$@" 2> said > "out$limit" < <(cat json)
        echo "status $?" >> said
        grep -v '^memory \|^seconds \|^wrong seen ' said > "err$limit"
    done
    same 'out--memory 32M' out
    same 'err--memory 32M' err
}
stats --mark -k .u --missing=skip --max-line 30 -
brief || stats -v -j 1 --canonical -k .u --missing=whole json
head -n 100000 json > json1
stats -k .u json1 # ends at a line without the key

# A count: of lines, and of the keys of stores, of which one is asked by pages.
counted() { # ARG...
    "$UNSEEN" count --stats --seed 1 "$@" 2> said > want1
    grep -v '^memory \|^seconds \|^wrong seen ' said > err1
    run count --stats --seed 1 --memory 32M "$@"
    holds [ "$status" = 0 ]
    same out want1
    same <(grep -v '^memory \|^seconds \|^wrong seen ' err) err1
}
counted many.gz second
brief || counted -k .u --missing=skip json
"$UNSEEN" add --seed 1 s.unseen many
"$UNSEEN" add --seed 1 t.unseen second
counted s.unseen t.unseen
seq 3299990 3300010 > asked
"$UNSEEN" recheck s.unseen asked > want1
run recheck --memory 32M s.unseen asked
holds [ "$status $(wc -l < out)" = '0 14' ]
same out want1
# A page that cannot be read is no answer, with the limit and without it.
dd if=/dev/zero of=s.unseen.image bs=64K seek=1 count=200 conv=notrunc 2> /dev/null
for limit in '' '--memory 32M'; do
    run recheck $limit s.unseen asked
    expect 2 '*' '*'
    holds grep -q '^unseen: hint: unseen repair s.unseen$' err
done
rm s.unseen* t.unseen*

# What fits, and nothing at all.
head -n 1000 many > few
limited few
: > empty
limited empty
limited

# A file that changes between the readings: the run says so, and prints no wrong line.
cp many moving
mkfifo slow
"$UNSEEN" --seed 1 --memory 32M moving slow > out 2> err &
pid=$!
exec 3> slow
eventually [ "$(wc -c < out)" -gt 1000000 ]
echo 1 >> moving
exec 3>&-
wait "$pid"
status=$?
expect 2 '*' 'unseen: error: moving has changed: it must stay as it is while it is read twice\n'
head -n "$(wc -l < out)" want | cmp -s - out || complain 'lines of a file that changed are wrong'

# Limits that cannot be, and what has to be in memory.
run --memory 31M few
expect 2 '' "unseen: error: --memory: '31M' is not a number of bytes from 32M up\nunseen: hint: *\n"
run --memory 900T few
expect 2 '' '*'
holds grep -q '^unseen: error: --memory: this machine has [0-9]* MiB$' err
for option in '-s s.unseen --time 1 -k 1' '-s s.unseen -n' '-s s.unseen --no-log' '-s s.unseen --window 10m' '-x few' '--window 10m' '--capacity 1e6' '--filter bloom --capacity 1e6'; do
    run --memory 32M $option few
    expect 2 '' '*'
    holds grep -q '^unseen: error: .*--memory' err
    lacks ' s.unseen$' <(ls)
done

# A disk without room, and a folder that is not there: the lines up to there are right.
(ulimit -f 1000 && exec "$UNSEEN" --seed 1 --memory 32M many 2> err) | cat > out
status=${PIPESTATUS[0]}
expect 2 '*' '*'
holds grep -q '^unseen: error: cannot write a temporary file in .*/tmp: File too large$' err
holds grep -q '^unseen: hint: about 2[4-9] MiB are needed' err
head -n "$(wc -l < out)" want | cmp -s - out || complain 'wrong lines in front of a full disk'
TMPDIR=$scratch/missing run --memory 32M many
expect 2 '*' 'unseen: error: cannot write a temporary file in '"$scratch"'/missing: No such file or directory\nunseen: hint: *\n'
TMPDIR=$scratch/missing run count --memory 32M many
expect 2 '' 'unseen: error: cannot write a temporary file in '"$scratch"'/missing: No such file or directory\nunseen: hint: *\n'
for option in '--by 1' '--both few' '--capacity 1e6'; do
    run count --memory 32M $option few
    expect 2 '' '*'
    holds grep -q '^unseen: error: .*--memory' err
done
(ulimit -f 1000 && exec "$UNSEEN" count --memory 32M many 2> err) > out
status=$?
expect 2 '' '*'
holds grep -q '^unseen: error: cannot write a temporary file in .*/tmp: File too large$' err
TMPDIR=$scratch/missing run --memory 32M few
expect 0 '*' ''
finish
