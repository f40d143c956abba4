# A set that forgets by time: --window, and --time for the clock of the lines.
. "$(dirname "$0")/lib/common.bash"

# ---- the clock of the run ----

hold_time
mkfifo pipe
"$UNSEEN" -p none --window 10 - < pipe > out 2> err &
pid=$!
exec 3> pipe
is_out()
{
    printf '%b' "$want" | cmp -s - out
}
# What comes before and after each pass_time of the clock. A repeat does not prolong the window.
step()
{
    printf '%b' "$1" >&3
    want=$want$2
    eventually is_out
}
want=
step 'a\nb\na\n' 'a\nb\n'
pass_time 9
step 'a\nc\n' 'c\n'
pass_time 1.1
step 'a\nc\nd\n' 'a\nd\n'
pass_time 9
step 'c\nd\nb\ne\n' 'c\nb\ne\n'
exec 3>&-
wait $pid || complain "the run failed"
unset UNSEEN_TEST_CLOCK

# What -x has is never forgotten, and beside a list of lines the input has its own set.
printf 'x\n' > old
printf '0 x\n0 a\n100 x\n100 a\n' > lines
run -p none --window 10 --time 1 -k 2 -t ' ' -x old lines
expect 0 '0 a\n100 a\n' ''

# ---- the clock of the lines ----

# The horizon, to the step: seen up to the end of the window, new at the end.
printf '%s\n' '0 a' '9.999 a' '10 a' '19 a' '20.0 a' > lines
run -p none --window 10s --time 1 -k 2 -t ' ' lines
expect 0 '0 a\n10 a\n20.0 a\n' ''

# One moment in all ways to write it, and a moment a window later.
for t in 1764268200 1764268200.0 1764268200000 1764268200000.25 2025-11-27T18:30:00Z 2025-11-27T20:30:00.000+02:00 \
    '"2025-11-27t10:30:00-08:00"' '"1764268200"' 1764268200e0; do
    case $t in *-* | *:*) q=\"${t//\"/}\" ;; *) q=$t ;; esac
    printf '{"ts":%s,"id":1}\n{"ts":1764268799,"id":1}\n{"ts":"2025-11-27T18:40:00Z","id":1}\n' "$q" > lines
    run -p none --window 10m --time .ts -k .id lines
    sed -n '1p;3p' lines > want
    same out want
    expect 0 '*' ''
done

# A double has no such fraction, but its text is read as it was meant.
printf '{"ts":%s,"id":1}\n' 1764268200.123 '"1764268210.122"' 1764268210.123 > lines
run -p none --window 10 --time .ts -k .id lines
sed -n '1p;3p' lines > want
same out want

# The latest time counts. What comes a window or more after its time is late.
printf '%s\n' '100 a' '95 b' '109 a' '90 c' '99 c' '110 a' '100 d' '100 e' > lines
for j in 1 2 3; do
    run -j "$j" -p none --window 10 --time 1 -k 2 -t ' ' --stats lines
    expect 0 '100 a\n95 b\n110 a\n' '*'
    holds grep -q '^unseen: warning: lines:4: its time, 1970-01-01T00:01:30.000Z, is a window or more before 1970-01-01T00:01:49.000Z, the latest so far: such lines count as seen' err
    holds grep -q '^late  *4$' err
    holds [ "$(grep -c warning err)" = 1 ]
done

# Without a time.
printf '{"ts":1,"id":"a"}\n{"id":"b"}\n{"ts":"now","id":"c"}\n{"ts":-1,"id":"d"}\n{"ts":4102444800,"id":"e"}\n' > lines
run -p none --window 10 --time .ts -k .id lines
cp lines want
same out want
expect 0 '*' "unseen: warning: lines:2: the time .ts is missing in '{\"id\":\"b\"}': taken at the latest time
unseen: warning: 4 lines without the time were taken at the latest time\n"
run -p none --window 10 --time .ts -k .id --missing skip lines
expect 0 '{"ts":1,"id":"a"}\n' "unseen: warning: lines:2: the time .ts is missing in '{\"id\":\"b\"}': left out
unseen: warning: 4 lines without the time were left out\n"
for line in 3:'is not a time' 4:'is before 1970' 5:'is after 2100'; do
    sed -n "1p;${line%%:*}p" lines > two
    run -p none --window 10 --time .ts -k .id --missing fail two
    expect 2 '{"ts":1,"id":"a"}\n' '*'
    holds grep -q "^unseen: error: two:2: the time .ts ${line#*:} in '{" err
    holds [ "$(grep -c 'hint: .*--missing=' err)" = 2 ]
done
printf '2099-12-31T23:59:59.9999Z a\n4102444799.9999 a\n' > lines # not rounded up to 2100
run -p none -s end.unseen --window 10 --time 1 -k 2 -t ' ' lines
expect 0 '2099-12-31T23:59:59.9999Z a\n' ''
printf '5 a\n6 b\n' > lines # without a key as well, they are counted once
run -p none --window 10 --time 3 -k 4 lines
expect 2 '5 a\n6 b\n' '*'
holds grep -q 'error: lines: no line has the key 4' err
holds grep -q 'warning: 2 lines without the key' err
run -p none --window 10 --time 3 lines
expect 2 '5 a\n6 b\n' '*'
holds grep -q 'error: lines: no line has the time 3' err
for bad in 2025-02-29T00:00:00Z 2025-11-27 2025-11-27T24:00:00Z 1e9 12:30 ''; do
    printf '%s\tx\n' "$bad" > lines
    run -p none --window 10 --time 1 --missing fail lines
    expect 2 '' '*'
    holds grep -q '^unseen: error: lines:1: the time 1 is not a time in' err
done
while read -r bad why; do
    printf '%s\tx\n' "$bad" > lines
    run -p none --window 10 --time 1 --missing fail lines
    expect 2 '' '*'
    holds grep -q "^unseen: error: lines:1: the time 1 $why in '" err
done << 'END'
2025-11-27T18:30:00.5 has no offset, such as Z or +02:00,
2025-11-27T18:30:00+0200 is not a time
1764268200500000 is neither in seconds nor in milliseconds
1764268200500000000 is neither in seconds nor in milliseconds
4102444800000.5 is after 2100
END

# ---- the same answers as the dumbest program, whatever the threads and the batches ----

awk 'BEGIN { srand(4); t = 1e9
    for (i = 0; i < 40000; i++) {
        t += rand() < 0.5 ? int(rand() * 3) : 0
        printf "%d %d\n", t, rand() < 0.7 ? i % 3600 : int(rand() * 3000)
    } }' > lines
# Steps of a second are longer than a 2,000th of the window, so the horizon is exact.
awk '!($2 in new) || $1 - new[$2] >= 1800 { print; new[$2] = $1 }' lines > want
for j in 1 2 3; do
    run -j "$j" -p none --window 30m --time 1 -k 2 -t ' ' lines
    same out want
done
"$UNSEEN" -j 1 -p none --window 30m --time 1 -k 2 -t ' ' > out < <(while read -r -N 40000 part; do printf %s "$part"; done < lines; printf %s "$part")
same out want

# Fractions of a step: never early, at most a 1,000th late, and the same with all threads.
awk 'BEGIN { srand(5) } { printf "%d.%03d %s\n", $1, int(rand() * 1000), $2 }' lines | sort -n -k 1,1 -s > fine
run -j 1 -p none --window 30m --time 1 -k 2 -t ' ' fine
cp out one
awk '{ age = ($2 in new) ? $1 - new[$2] : 1e9 }
    FNR == NR { printed[$0 ":" ++n[$0]] = 1; next }
    { p = ($0 ":" ++m[$0]) in printed
      if (p && age < 1799.9999 || !p && age > 1801.8) { print "wrong: " $0, age; bad = 1 }
      if (p) new[$2] = $1 } END { exit bad }' one fine > wrong || complain "$(head -3 wrong)"
for j in 2 3; do
    run -j "$j" -p none --window 30m --time 1 -k 2 -t ' ' fine
    same out one
done

# ---- what is refused ----

for bad in 0 0.5s -5 10x 10ms '' m 1h30m 101y 1e3 1.2.3 36501d; do
    run --window "$bad" old
    expect 2 '' '*'
    holds grep -q 'is not a time from 1s to 100y' err
    holds grep -q 'hint: such as --window 10m' err
done
for good in 1 1s 1.5m 24h 30d 2w 1y 100y; do
    run -p none --window "$good" old
    expect 0 'x\n' ''
done
run --window 10m -n -x old old
expect 2 '' '*'
holds grep -q 'error: .*--window forgets' err
run --time 1 old
expect 2 '' "unseen: error: --time has no meaning without --window or -s
unseen: hint: unseen --window 10m --time 1 old\n"
run --window 10m --time 1,2 old
expect 2 '' '*'
holds grep -q 'is not a field number (from 1) or a .path' err
run --window 10m --refresh old
expect 2 '' "unseen: error: --refresh is not an option of this tool: a repeat does not prolong a window: a line is seen for the length of the window after it was last new
unseen: hint: *\n"
for filter in bloom block; do
    run --window 10m --filter $filter --capacity 1000 --fpr 1e-4 old
    expect 2 '' "unseen: error: cannot make a set: the filter $filter cannot remove, so it has no window; compact and counting have
unseen: hint: *\n"
    holds grep -q 'hint: .*--filter compact' err
done
run --window 10m --filter scalable-count old
expect 2 '' '*'
holds grep -q 'a set that counts has no window' err
run -p none --window 10m --filter counting --capacity 1000 --fpr 1e-4 old
expect 0 'x\n' ''
run -p none --window 10m --filter exact old
expect 0 'x\n' ''
run check --window 10m s.unseen old
expect 2 '' '*'
holds grep -q 'unknown option --window' err
finish
