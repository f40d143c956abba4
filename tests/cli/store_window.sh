# A store with a window: unseen -s STORE --window, info, rewrite --window, serve, and --time.
. "$(dirname "$0")/lib/common.bash"

keys_of() {
    "$UNSEEN" info "$1" | awk '$1 == "keys" { print $2 }'
}

# ---- the time of day ----

hold_time
printf 'a\nb\na\n' > first
printf 'b\nc\n' > second
run -p none -s s.unseen --window 1h first
expect 0 'a\nb\n' ''
pass_time 3599
run -p none -s s.unseen second # the window belongs to the store
expect 0 'c\n' ''
pass_time 2
run -p none -s s.unseen first
expect 0 'a\nb\n' ''
run check -v s.unseen second
expect 1 '' ''
pass_time 3602
run check s.unseen first second
expect 1 '' ''
run verify s.unseen
expect 0 '*' ''
run -p none -s s.unseen first
expect 0 'a\nb\n' ''

# What is not committed does not count, and a clock that was set back does not either.
pass_time -7000
run -p none -s s.unseen second
expect 0 'c\n' '*'
holds grep -q '^unseen: warning: s.unseen: its clock is at 1970-01-01T0.*Z, but the time of day is 1970-01-01T0.*Z: ' err
pass_time 7000

# ---- info ----

pass_time 3300
run info s.unseen
holds grep -q '^window *1h; the oldest key is of 1970-01-01T0' out
holds grep -q '^leaving *3 keys within the next tenth of the window$' out
run info --json s.unseen
holds grep -q '"window_ms":3600000,"oldest_ms":[0-9]*,"clock_ms":[0-9]*,"leaving":3,' out

# ---- lines without a time ----

# The first time that is known counts for the lines before it.
printf 'x a\n5 b\nx a\n5 b\n17 a\n' > lines
run -p none -s untimed.unseen --window 10 --time 1 -k 2 -t ' ' --missing whole lines
expect 0 'x a\n5 b\n17 a\n' '*'
# Where lines are remembered, one without a time ends the run unless --missing says something else.
for bad in now:'is not a time' -1:'is before 1970' 4102444800:'is after 2100'; do
    rm -f ends.unseen*
    printf '5 a\n%s b\n' "${bad%%:*}" > lines
    run -p none -s ends.unseen --window 10 --time 1 -k 2 -t ' ' lines
    expect 2 '5 a\n' '*'
    holds grep -q "error: lines:2: the time 1 ${bad#*:} in '${bad%%:*} b'" err
done
head -c 0 /dev/null | "$UNSEEN" -s empty.unseen --window 10
run info empty.unseen
holds grep -q '^window *10s$' out

# ---- another window ----

run -p none -s s.unseen --window 2h first
expect 2 '' "unseen: error: s.unseen has a window of 3600 s, not of 7200 s
unseen: hint: unseen rewrite --window 2h s.unseen\n"
run -p none -s s.unseen --window 1234569 first
expect 2 '' "unseen: error: s.unseen has a window of 3600 s, not of 1234569 s
unseen: hint: unseen rewrite --window 1234569s s.unseen\n"
run rewrite --window 2h s.unseen
expect 0 '' ''
run -p none -s s.unseen --window 2h first
expect 0 '' ''
pass_time 3600
run -p none -s s.unseen first
expect 0 '' ''
run rewrite --window 30m s.unseen
expect 0 '' ''
holds [ "$(keys_of s.unseen)" = 0 ]
run -p none -s s.unseen first
expect 0 'a\nb\n' ''
run rewrite --window none s.unseen
expect 0 '' ''
pass_time 100000
run -p none -s s.unseen first
expect 0 '' ''
run -p none -s s.unseen --window 10m first
expect 2 '' "unseen: error: s.unseen has no window
unseen: hint: unseen rewrite --window 10m s.unseen\n"
run rewrite --window 10m s.unseen # its keys count from the time in them
expect 0 '' ''
run -p none -s s.unseen first
expect 0 'a\nb\n' ''

# ---- the clock of the lines ----

printf '%s\n' '1764268200 a' '1764268201 b' '1764268799 a' '1764268801 a' '1764268802 b' '1764268100 d' > lines
for parts in 6 1; do
    rm -f t.unseen* out.all
    split -l $parts lines part.
    for part in part.*; do
        "$UNSEEN" -p none -s t.unseen --window 10m --time 1 -k 2 -t ' ' "$part" >> out.all 2> err ||
            complain "a part failed: $(cat err)"
    done
    rm part.*
    printf '1764268200 a\n1764268201 b\n1764268801 a\n1764268802 b\n' > want
    [ $parts = 6 ] || echo '1764268100 d' >> want # late is a line only behind later ones of its run
    same out.all want
done
run verify t.unseen
expect 0 '*' ''

# ---- a server ----

run add -p none --window 100 v.unseen first
expect 0 '' ''
run info v.unseen
holds grep -q '^window *100s;' out
"$UNSEEN" serve v.unseen --listen unix:v.sock 2> serve.err &
pid=$!
eventually test -S v.sock
nfiles=$(ls "/proc/$pid/fd" | wc -l)
run -s unix:v.sock first
expect 0 '' ''
pass_time 101
run -s unix:v.sock first
expect 0 'a\nb\n' ''
run -s unix:v.sock --window 10m first
expect 2 '' '*'
holds grep -q 'is a server: its store has its settings already' err
run info unix:v.sock
holds grep -q '^window *100s' out
run info --json unix:v.sock
holds grep -q '"window_ms":100000,"oldest_ms":1[0-9]*,"clock_ms":[0-9]*,"allowed":0,' out # it does not count what is leaving
# A server that only reads says what is there now, too.
"$UNSEEN" serve -n v.unseen --listen unix:r.sock 2> reader.err &
reader=$!
eventually test -S r.sock
says() { # SERVER KEYS OLDEST
    run info --json "unix:$1.sock"
    holds grep -q "\"keys\":$2,.*\"oldest_ms\":$3,\"clock_ms\":$(awk '{ print $1 * 1000 }' "$UNSEEN_TEST_CLOCK")," out
}
says r 2 '1[0-9]*'
pass_time 101
says r 0 0
says v 0 0
run add unix:v.sock first
says v 2 '1[0-9]*'
# They forget also when nobody asks: their memory shrinks.
if ! sanitized; then
    resident() { awk '$1 == "VmRSS:" { print $2 }' /proc/$1/status; }
    is_small() { [ $(($(resident "$1") + 3000)) -lt "$2" ]; }
    has_all() { [ "$(keys_of "$1")" = 1000002 ]; }
    has_no_client() { [ "$(ls "/proc/$pid/fd" | wc -l)" = "$nfiles" ]; }
    seq 1000000 | "$UNSEEN" add unix:v.sock || complain "the server takes no lines"
    eventually has_no_client # which is noticed before the time passes
    eventually has_all v.unseen # the server has written all
    pass_time 2                 # a reader looks once a second
    eventually has_all unix:r.sock
    full=$(resident $pid)
    full_reader=$(resident $reader)
    # The time of day is set back meanwhile, and the servers see that.
    awk '{ print $1, $1 - 500 }' "$UNSEEN_TEST_CLOCK" > clock.new
    mv clock.new "$UNSEEN_TEST_CLOCK"
    holds [ "$(keys_of unix:v.sock) $(keys_of unix:r.sock)" = '1000002 1000002' ]
    pass_time 102
    eventually is_small $pid "$full"
    eventually is_small $reader "$full_reader"
fi
kill $pid $reader
wait $pid $reader
run verify v.unseen
expect 0 '*' ''

# ---- clocks ----

# A time in the far future, once.
printf '1000 a\n4000000000 b\n' > future
run -p none -s f.unseen --window 10 --time 1 -k 2 -t ' ' future
expect 0 '1000 a\n4000000000 b\n' ''
run -p none -s f.unseen first
expect 0 'a\n' '*'
holds grep -q 'its clock is at 2096-10-02T07:06:40.*Z, but the time of day is 1970-01-0' err
holds grep -q '^unseen: hint: to set it to the time of day: unseen rewrite --reset-clock f.unseen$' err
run rewrite --reset-clock f.unseen
expect 0 '' '*'
run -p none -s f.unseen first
expect 0 '' ''
pass_time 11
run -p none -s f.unseen first
expect 0 'a\nb\n' ''
run info f.unseen
holds grep -q '^clock *1970-01-0' out

# The time of day is set ahead while a server runs.
run -p none -s j.unseen --window 100 first
"$UNSEEN" serve j.unseen --listen unix:j.sock 2> serve.err &
pid=$!
eventually test -S j.sock
run -s unix:j.sock first
expect 0 '' ''
awk '{ print $1 + 1, $1 + 1000 }' "$UNSEEN_TEST_CLOCK" > clock.new
mv clock.new "$UNSEEN_TEST_CLOCK"
run -s unix:j.sock first
expect 0 'a\nb\n' ''
kill $pid
wait $pid
holds grep -q 'the time of day was set from 1970-01-0.*Z to 1970-01-0.*Z, which is more than the window' serve.err
hold_time

# The time of day is set back while a server runs: its clock stands, and nobody has to ask for keys to leave when the
# time of day has come by it again. Until then nothing leaves, however long the server is up.
run add -p none --window 100 b.unseen first
"$UNSEEN" serve b.unseen --listen unix:b.sock 2> serve.err &
pid=$!
eventually test -S b.sock
set_clock() { # UP DAY
    echo "$1 $2" > clock.new
    mv clock.new "$UNSEEN_TEST_CLOCK"
}
keys_are() { [ "$(keys_of unix:b.sock)" = "$1" ]; }
set_clock 1001 500
eventually keys_are 2
set_clock 1600 1099
eventually keys_are 2
set_clock 1700 1102
eventually keys_are 0
kill $pid
wait $pid
lacks warning serve.err
hold_time

# `add` takes lines for long: each comes at its own time.
mkfifo pipe
"$UNSEEN" add -p none --window 100 l.unseen pipe 2> err &
pid=$!
exec 9> pipe
echo a >&9
eventually test -s l.unseen
pass_time 60
echo b >&9
exec 9>&-
wait $pid
pass_time 60
run -p none -s l.unseen first
expect 0 'a\n' ''

# ---- merge ----

"$UNSEEN" -p none -s m1.unseen --seed 1 --window 100 first > /dev/null
pass_time 50
"$UNSEEN" -p none -s m2.unseen --seed 1 --window 100 second > /dev/null
"$UNSEEN" -p none -s m3.unseen --seed 1 --window 1h second > /dev/null
"$UNSEEN" -p none -s m4.unseen --seed 1 second > /dev/null
run merge m.unseen m2.unseen m1.unseen
expect 0 '' ''
run merge --into m1.unseen m2.unseen
expect 0 '' ''
for merged in m m1; do
    run verify $merged.unseen
    expect 0 '*' ''
    holds [ "$(keys_of $merged.unseen)" = 3 ]
done
pass_time 51
for merged in m m1; do # a line that both have stays for as long as in the store where it is newer
    run -p none -s $merged.unseen first
    expect 0 'a\n' ''
done
pass_time 50
run -p none -s m.unseen second
expect 0 'b\nc\n' ''
run merge q.unseen m2.unseen m3.unseen
expect 2 '' '*'
holds grep -q '^unseen: error: the windows differ: m3.unseen has 1h, m2.unseen has 100s$' err
holds grep -q '^unseen: hint: to say which one counts: unseen merge .*--window 100s' err
run merge --window 1h q.unseen m4.unseen m3.unseen
expect 0 '' ''
run info q.unseen
holds grep -q '^window *1h; the oldest' out
holds [ "$(keys_of q.unseen)" = 2 ]
run merge --window none p.unseen m3.unseen m4.unseen
expect 0 '' ''
run info p.unseen
holds [ -z "$(grep '^window' out)" ]
run merge --window 2h --into q.unseen m4.unseen
expect 2 '' '*'
holds grep -q 'unseen rewrite --window 2h q.unseen' err

# ---- refused ----

run -p none -s n.unseen --no-log --window 10m first
expect 2 '' '*'
holds grep -q 'a store without a log has no window' err
run -p none -s n.unseen --filter block --capacity 1000 --fpr 1e-4 --window 10m first
expect 2 '' '*'
holds grep -q 'the filter block cannot remove, so it has no window' err
holds [ ! -e n.unseen ]
for bad in 0 0.5s 101y 1mo; do
    for command in 'add n.unseen' 'serve n.unseen' 'rewrite s.unseen'; do
        run $command --window $bad
        expect 2 '' '*'
        holds grep -q "error: --window: '$bad' is not a time from 1s to 100y" err
    done
done
holds [ ! -e n.unseen ]
run serve -n v.unseen --window 100
expect 2 '' "unseen: error: -n only reads, and makes no store
unseen: hint: options of a store belong to the command that makes it: unseen serve -n v.unseen\n"
for command in add serve; do
    run $command v.unseen --window 10m
    expect 2 '' "unseen: error: v.unseen has a window of 100 s, not of 600 s
unseen: hint: unseen rewrite --window 10m v.unseen\n"
done
finish
