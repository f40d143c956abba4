# A progress line appears on a terminal, or in a log that asks for it, and never in the way.
# Label: once
. "$(dirname "$0")/lib/common.bash"

# Into a log or a pipe only if asked for: a line after a second, then every five.
printf '1\n' > one
unseen add s.unseen one
cp s.unseen add.unseen
slow() { # NAME ARG...: with lines that come slowly, beside the others
    name=$1
    shift
    ( (printf '1\n'; sleep 1.2; printf '2\n'; sleep 0.4; printf '2\n'; sleep 0.3) | "$UNSEEN" "$@" > "$name.out" 2> "$name.err"
     echo $? > "$name.status") &
}
slow dedup --progress=always
slow count count --progress=always
slow sort sort --progress=always
slow recheck recheck --progress=always s.unseen
slow check check --progress=always s.unseen
slow add add --progress=always add.unseen
slow dedup_auto --progress=auto
slow count_auto count --progress=auto
wait
slowly() { # NAME STATUS STDOUT PATTERN
    last=$1
    status=$(cat "$1.status")
    cp "$1.out" out
    cp "$1.err" err
    expect "$2" "$3" '*'
    holds grep -qE "^unseen: [12] lines$4, [12]\.[0-9] s, [0-9]+ lines/s\$" err
    holds [ "$(wc -l < err)" = 1 ]
}
slowly dedup 0 '1\n2\n' ', [12] new, 0 seen'
slowly count 0 '2\n' ', [12] new, 0 seen'
slowly sort 0 '1\n2\n2\n' ''
slowly recheck 0 '2\n' ''
slowly check 0 '1\n' ', [01] new, 1 seen'
slowly add 0 '' ', [01] new, 1 seen'
holds [ ! -s dedup_auto.err ]
holds [ ! -s count_auto.err ]

# Of files: the share, which file, and the time left, which grow and shrink as they should. SIGUSR1 asks often
# enough; the third file is compressed.
seq 1500000 > a.txt
cp a.txt b.txt
gzip -1 -c a.txt > c.gz
unseen add -p none --seed 1 a.unseen a.txt
cp a.unseen b.unseen
trap '' USR1 # for a child that does not listen yet
asked() { # COMMAND...
    last=$*
    "$@" > out 2> err &
    pid=$!
    while kill -USR1 "$pid" 2> /dev/null; do
        sleep 0.004
    done
    wait "$pid"
    status=$?
}
sizes=$(stat -c %s a.txt b.txt c.gz | tr '\n' ' ')
between() { # FIRST-FILE-SIZE...: the share of each line lies within its file, and moves in it
    holds awk -v sizes="$*" 'BEGIN { n = split(sizes, size, " "); for (i = 1; i <= n; i++) total += size[i]
            for (i = 1; i <= n; i++) { low[i] = done / total; done += size[i]; high[i] = done / total } }
        match($0, /file [0-9]+ of [0-9]+, [0-9.]+ %/) {
            split(substr($0, RSTART, RLENGTH), word, /[ ,]+/)
            if (word[4] != n || word[5] / 100 < low[word[2]] - 0.001 || word[5] / 100 > high[word[2]] + 0.001 ||
                word[5] < last) { print > "/dev/stderr"; bad = 1 }
            values += word[5] > last
            last = word[5]
        }
        END { exit bad || values < n + 2 }' err
}
left=' lines/s, file [123] of 3, [0-9.]+ %(, [0-9]+ s left)?$'
asked "$UNSEEN" count -p none a.txt b.txt c.gz
expect 0 '1500000\n' '*'
holds grep -qE "^unseen: [0-9]+ lines, [0-9]+ new, [0-9]+ seen, [0-9.]+ s, [0-9]+$left" err
holds grep -qE ', [0-9]+ s left$' err
between $sizes
asked "$UNSEEN" -j 2 -p none a.txt b.txt c.gz
expect 0 '*' '*'
same out a.txt
between $sizes
asked "$UNSEEN" sort -u a.txt b.txt c.gz
same out a.txt
between $sizes
asked "$UNSEEN" count a.unseen b.unseen a.unseen
expect 0 '1500000\n' '*'
between 100 100 100
seq 1500001 3000000 > d.txt
unseen add -p none --seed 1 d.unseen d.txt
for i in 1 2 3; do
    cp d.unseen "d$i.unseen"
done
asked "$UNSEEN" merge all.unseen a.unseen d1.unseen d2.unseen d3.unseen
expect 0 '' '*'
holds grep -qE '^unseen: (15|30|45)00000 lines, [0-9]+ new, [0-9]+ seen, [0-9.]+ s, [0-9]+ lines/s, file [234] of 4, [2-7][0-9]\.[0-9] %(, [0-9]+ s left)?$' err
# One file has no number; a size that is not known, no share.
asked "$UNSEEN" count -p none a.txt
holds grep -qE '^unseen: [0-9]+ lines, [0-9]+ new, 0 seen, [0-9.]+ s, [0-9]+ lines/s, [0-9.]+ %(, [0-9]+ s left)?$' err
last=redirected
"$UNSEEN" count -p none < a.txt > out 2> err &
pid=$!
while kill -USR1 "$pid" 2> /dev/null; do
    sleep 0.004
done
wait "$pid"
holds grep -qE ' lines/s, [0-9.]+ %' err
(cat a.txt; cat b.txt) | (asked "$UNSEEN" count -p none a.txt -)
lacks '%' err

command -v script > /dev/null || { skip 'no script(1)'; finish; }
script -qec true typescript < /dev/null > /dev/null 2>&1 || { skip 'script(1) cannot run here'; finish; }

# terminal COMMAND: runs it with a terminal as standard error (and input, output unless redirected).
terminal() {
    script -qec "$1" typescript < /dev/null > terminal_out 2>&1
    status=$?
}
printf 'a\nb\na\n' > in
feed='(printf "a\nb\n"; sleep 1.6; printf "a\nc\n"; sleep 1.2)'

# To a file: after a second a line, wiped out at the end.
terminal "$feed | $UNSEEN > out"
holds grep -qE '2 lines, 2 new, 0 seen|4 lines, 3 new, 1 seen' terminal_out
holds [ "$(cat out)" = "$(printf 'a\nb\nc')" ]
holds grep -q "$(printf '\r\033\\[K')\$" terminal_out

# Not where it was turned off, not in a pipe unless asked for, not in a short run.
terminal "$feed | $UNSEEN --progress=never > out"
holds [ ! -s terminal_out ]
terminal "$feed | $UNSEEN | cat > out"
holds [ ! -s terminal_out ]
terminal "$feed | $UNSEEN --progress | cat > out"
holds grep -q 'lines, ' terminal_out
terminal "$UNSEEN in > out"
lacks 'lines, ' terminal_out

# Of count and sort, whose output comes at the end, also where the output is a terminal.
terminal "(printf '1\n'; sleep 1.6; printf '1\n'; sleep 0.3) | $UNSEEN count"
holds grep -qE '[12] lines, 1 new, [01] seen' terminal_out
terminal "(printf '1\n'; sleep 1.6; printf '1\n'; sleep 0.3) | $UNSEEN sort"
holds grep -qE '[12] lines, 1\.' terminal_out
terminal "(printf '1\n'; sleep 1.6; printf '1\n'; sleep 0.3) | $UNSEEN count --progress=never"
holds [ "$(tr -d '\r' < terminal_out)" = 1 ]

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
