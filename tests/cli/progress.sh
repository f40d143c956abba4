# A progress line appears on a terminal only, and never in the way.
# Label: once
. "$(dirname "$0")/lib/common.bash"

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

# Never to a file or a pipe, even if asked for.
(printf 'a\n'; sleep 1.2; printf 'b\n'; sleep 0.3) | "$UNSEEN" --progress=always -o out 2> err
holds [ ! -s err ]
same out <(printf 'a\nb\n')

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
