# A progress line appears on a terminal, or in a log that asks for it, and never in the way.
# Label: once
. "$(dirname "$0")/lib/common.bash"

# Nothing here depends on how fast the machine is: the time that the tool sees is the test's, the input goes on until
# the line is there, and a run that was too quick to show enough is run again.

# What is not a time stops the clock, and does nothing else.
mkfifo no_clock
printf 'nan\n' > nan_clock
for no_clock in no_clock nan_clock missing_clock; do
    last="a clock that is $no_clock"
    [ "$(echo 1 | UNSEEN_TEST_CLOCK=$no_clock timeout 20 "$UNSEEN" --progress=always 2> err)" = 1 ] || complain "$last"
    holds [ "$(grep -ci nan err)" = 0 ]
done

# Into a log or a pipe only if asked for: a line after a second, then every five.
printf '1\n' > one
unseen add s.unseen one
cp s.unseen add.unseen
feed() { # ERR: the lines 1, 2, 2, 2, ..., 0.3 s apart, until there are two lines of progress in ERR
    echo 1
    for _ in $(patience); do
        sleep 0.01
        pass_time 0.3
        echo 2
        [ "$(wc -l < "$1")" -lt 2 ] || break
    done
}
fed() { # NAME COMMAND...
    name=$1
    shift
    (
        hold_time "$scratch/$name.clock"
        : > "$name.err"
        feed "$name.err" | "$@" > "$name.out" 2> "$name.err"
        echo $? > "$name.status"
    ) &
}
quietly() { # NAME COMMAND...: for a minute
    name=$1
    shift
    (
        hold_time "$scratch/$name.clock"
        (echo 1; for _ in $(seq 20); do sleep 0.01; pass_time 3; echo 2; done) | "$@" > "$name.out" 2> "$name.err"
        echo $? > "$name.status"
    ) &
}
fed dedup "$UNSEEN" --progress=always
fed count "$UNSEEN" count --progress=always
fed sort "$UNSEEN" sort -u --progress=always
fed recheck "$UNSEEN" recheck --progress=always s.unseen
fed check "$UNSEEN" check --progress=always s.unseen
fed add "$UNSEEN" add --progress=always add.unseen
quietly dedup_auto "$UNSEEN" --progress=auto
quietly count_auto "$UNSEEN" count --progress=auto
wait
slowly() { # NAME STDOUT VERDICTS
    last=$1
    status=$(cat "$1.status")
    cp "$1.out" out
    cp "$1.err" err
    expect 0 "$2" '*'
    holds [ -s err ]
    holds awk -v verdicts="$3" '
        !match($0, "^unseen: [0-9]+ lines" verdicts ", [0-9.]+ s, [0-9]+ lines/s$") { bad = 1 }
        { time = $(NF - 3) + 0; bad = bad || time < 0.95 || (NR > 1 && time < before + 4.8); before = time }
        END { exit bad }' err
}
slowly dedup '1\n2\n' ', [12] new, [0-9]+ seen'
slowly count '2\n' ', [12] new, [0-9]+ seen'
slowly sort '1\n2\n' ''
slowly recheck '2\n' ''
slowly check '1\n' ', [0-9]+ new, 1 seen'
slowly add '' ', [01] new, [0-9]+ seen'
for name in dedup_auto count_auto; do
    last=$name
    status=$(cat $name.status)
    cp $name.err err
    expect 0 '*' ''
done

# Of files: the share, which file, and the time left, which grow and shrink as they should. SIGUSR1 asks often
# enough; the third file is compressed.
seq 1500000 > a.txt
cp a.txt b.txt
gzip -1 -c a.txt > c.gz
unseen add -p none --seed 1 a.unseen a.txt
cp a.unseen b.unseen
trap '' USR1 # for a child that does not listen yet
asked() { # SHOWN COMMAND...: until the command SHOWN says that err shows enough
    shown=$1
    shift
    last=$*
    for _ in $(seq 30); do
        "$@" > out 2> err &
        pid=$!
        while kill -USR1 "$pid" 2> /dev/null; do
            sleep 0.004
        done
        wait "$pid"
        status=$?
        $shown && break
    done
    holds $shown
}
# The lines of err with a share: each lies within its file, and none is below the one before.
in_files() { # FIRST-FILE-SIZE...
    holds awk -v sizes="$*" 'BEGIN { n = split(sizes, size, " "); for (i = 1; i <= n; i++) total += size[i]
            for (i = 1; i <= n; i++) { low[i] = done / total; done += size[i]; high[i] = done / total } }
        match($0, /file [0-9]+ of [0-9]+, [0-9.]+ %/) {
            split(substr($0, RSTART, RLENGTH), word, /[ ,]+/)
            if (word[4] != n || word[5] / 100 < low[word[2]] - 0.001 || word[5] / 100 > high[word[2]] + 0.001 ||
                word[5] < last) { print > "/dev/stderr"; bad = 1 }
            last = word[5]
        }
        END { exit bad }' err
}
different_shares() { # N: so many
    [ "$(grep -oE '[0-9.]+ %' err | sort -u | wc -l)" -ge "$1" ]
}
line='[0-9]+ lines, [0-9]+ new, [0-9]+ seen, [0-9.]+ s, [0-9]+ lines/s'
shape() { # LINE: every line of err is like that, and one tells the time left
    holds [ "$(grep -cvE "^unseen: $1, [0-9.]+ %(, [0-9]+ s left)?\$" err)" = 0 ]
    holds grep -qE ', [0-9]+ s left$' err
}
sizes=$(stat -c %s a.txt b.txt c.gz | tr '\n' ' ')
asked 'different_shares 5' "$UNSEEN" count -p none a.txt b.txt c.gz
expect 0 '1500000\n' '*'
sed -i '/0 lines, 0 new/d' err # before the first file is open
shape "$line, file [123] of 3"
in_files $sizes
asked 'different_shares 5' "$UNSEEN" -j 2 -p none a.txt b.txt c.gz
expect 0 '*' '*'
same out a.txt
in_files $sizes
asked 'different_shares 5' "$UNSEEN" sort -u a.txt b.txt c.gz
same out a.txt
in_files $sizes
asked 'different_shares 3' "$UNSEEN" count a.unseen b.unseen a.unseen
expect 0 '1500000\n' '*'
in_files 100 100 100
# merge moves within an input, too.
seq 1500001 3000000 > d.txt
unseen add -p none --seed 1 d.unseen d.txt
merged() {
    rm -f all.unseen*
    exec "$UNSEEN" merge all.unseen a.unseen d.unseen b.unseen
}
asked 'different_shares 8' merged
expect 0 '' '*'
shape "$line, file [123] of 3"
in_files $(stat -c %s a.unseen d.unseen b.unseen)
# One file has no number; a size that is not known, no share.
one_file() { grep -qE "^unseen: [0-9]+ lines, [0-9]+ new, 0 seen, [0-9.]+ s, [0-9]+ lines/s, [0-9.]+ %(, [0-9]+ s left)?\$" err; }
asked one_file "$UNSEEN" count -p none a.txt
redirected() { exec "$UNSEEN" count -p none < a.txt; }
asked one_file redirected
fifo() {
    rm -f fifo
    mkfifo fifo
    cat a.txt b.txt > fifo &
    exec "$UNSEEN" count -p none < fifo
}
any_line() { grep -q ' lines, ' err; }
asked any_line fifo
lacks '%' err

command -v script > /dev/null || { skip 'no script(1)'; finish; }
script -qec true typescript < /dev/null > /dev/null 2>&1 || { skip 'script(1) cannot run here'; finish; }

# terminal COMMAND: runs it with a terminal as standard error (and input, output unless redirected).
terminal() {
    script -qec "$1" typescript < /dev/null > terminal_out 2>&1
    status=$?
}
printf 'a\nb\na\n' > in
hold_time
export SHELL=$BASH # of script(1)
export -f pass_time
feed='(printf "a\nb\n"; for i in $(seq 20); do sleep 0.01; pass_time 1; printf "a\nc\n"; done)'
# repeated LINE LINE: the first, then the second until there is a line of progress
repeated() {
    printf '(echo %s; for i in $(seq 6000); do sleep 0.01; pass_time 0.3; echo %s; ! grep -q "lines, " terminal_out || break; done)' "$1" "$2"
}

# To a file: after a second a line, wiped out at the end.
terminal "$(repeated a b) | $UNSEEN > out"
holds grep -qE '[0-9]+ lines, [12] new, [0-9]+ seen' terminal_out
holds [ "$(cat out)" = "$(printf 'a\nb')" ]
holds grep -q "$(printf '\r\033\\[K')\$" terminal_out

# Not where it was turned off, not in a pipe unless asked for, not in a short run.
terminal "$feed | $UNSEEN --progress=never > out"
holds [ ! -s terminal_out ]
terminal "$feed | $UNSEEN | cat > out"
holds [ ! -s terminal_out ]
terminal "$(repeated a b) | $UNSEEN --progress | cat > out"
holds grep -q 'lines, ' terminal_out
terminal "$UNSEEN in > out"
lacks 'lines, ' terminal_out

# Of count and sort, whose output comes at the end, also where the output is a terminal.
terminal "$(repeated 1 1) | $UNSEEN count"
holds grep -qE '[0-9]+ lines, 1 new, [0-9]+ seen' terminal_out
terminal "$(repeated 1 1) | $UNSEEN sort"
holds grep -qE '[0-9]+ lines, [0-9]+\.' terminal_out
terminal "$feed | $UNSEEN count --progress=never"
holds [ "$(tr -d '\r' < terminal_out)" = 3 ]

# Standard input a terminal and no FILE: usage.
terminal "$UNSEEN"
holds [ "$status" = 2 ]
holds grep -q '^Usage: unseen' terminal_out
terminal "$UNSEEN -c"
holds [ "$status" = 2 ]
holds grep -q '^Usage: unseen' terminal_out
terminal "$UNSEEN in | cat"
holds [ "$(tr -d '\r' < terminal_out)" = "$(printf 'a\nb')" ]

# Colour on a terminal only.
red=$(printf '\033\\[1;31m')
terminal "TERM=xterm $UNSEEN missing.txt"
holds grep -q "$red" terminal_out
terminal "TERM=xterm NO_COLOR=1 $UNSEEN missing.txt"
lacks "$red" terminal_out
terminal "TERM=xterm $UNSEEN --color=never missing.txt"
lacks "$red" terminal_out
terminal "TERM=dumb $UNSEEN missing.txt"
lacks "$red" terminal_out
run --color=always missing.txt
holds grep -q "$red" err
run --color missing.txt
holds grep -q "$red" err
run missing.txt
expect 2 '' 'unseen: error: cannot open missing.txt: No such file or directory\n'
finish
