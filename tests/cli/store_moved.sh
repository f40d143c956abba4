# -s with -o, a crash, and then the files are elsewhere: each URL still comes once, or the run is refused.
. "$(dirname "$0")/lib/common.bash"

# interrupted DIR: a run there was killed; its output has a, b and then x and a part, not committed.
interrupted() {
    rm -rf "$1"
    mkdir -p "$1"
    mkfifo "$1/fifo"
    "$UNSEEN" -s "$1/s.unseen" -o "$1/out" < "$1/fifo" &
    local pid=$!
    exec 3> "$1/fifo"
    printf 'http://a/\nhttp://b/\n' >&3
    eventually has "$1/s.unseen" http://b/
    kill -9 "$pid"
    wait "$pid" 2> /dev/null
    exec 3>&-
    rm "$1/fifo"
    printf 'http://x/\nhttp' >> "$1/out"
}

has() { echo "$2" | "$UNSEEN" check -q "$1" 2> /dev/null; }

# cut STORE OUT: goes on, cuts the end off, and says so; x comes again.
cut_and_done() {
    run -s "$1" -o "$2" again
    expect 0 '' "unseen: warning: $2 was cut from 34 to 20 bytes: the rest was not committed, its lines are new again; it is in $2.cut\n"
    same "$2" want
    printf 'http://x/\nhttp' | cmp -s - "$2.cut" || complain "$2.cut is not what was cut"
    run -s "$1" -o "$2" again
    expect 0 '' ''
    same "$2" want
}

printf 'http://b/\nhttp://x/\nhttp://c/\n' > again
printf 'http://a/\nhttp://b/\nhttp://x/\nhttp://c/\n' > want

# A moved folder, a moved output, both under other names.
interrupted k1
mv k1 k2
cut_and_done k2/s.unseen k2/out
interrupted k1
mv k1/out renamed
cut_and_done k1/s.unseen renamed
interrupted k1
mv k1/s.unseen t.unseen
cut_and_done t.unseen k1/out
interrupted k1
mv k1/s.unseen t.unseen
rm -rf deep
mkdir deep
mv k1/out deep/other
cut_and_done t.unseen deep/other
# As often as you like, and before the first run that goes on.
interrupted k1
rm -rf k2
mv k1 k2
: | "$UNSEEN" -s k2/s.unseen -o k2/out 2> err
rm -rf k1
mv k2 k1
printf 'http://x/\n' | "$UNSEEN" -s k1/s.unseen -o k1/out
mv k1/out k1/out2
run -s k1/s.unseen -o k1/out2 again
expect 0 '' ''
same k1/out2 want

# A copied folder. The other one is not touched, and goes on by itself.
interrupted k1
rm -rf k2
cp -r k1 k2
cp k1/out before
cut_and_done k2/s.unseen k2/out
same k1/out before
lacks k2/out k1/s.unseen
cut_and_done k1/s.unseen k1/out
# After the store was written anew it is still known which it is.
interrupted k1
"$UNSEEN" rewrite k1/s.unseen
mv k1/out k1/out2
cut_and_done k1/s.unseen k1/out2
interrupted k1
rm -rf k2
cp -r k1 k2
"$UNSEEN" rewrite k2/s.unseen
cut_and_done k2/s.unseen k2/out
# A copy of a copy.
interrupted k1
rm -rf k2 k3
cp -r k1 k2
cp -r k2 k3
rm -rf k1 k2
cut_and_done k3/s.unseen k3/out

# Mounted elsewhere.
interrupted k1
mkdir elsewhere
export -f run expect same complain cut_and_done said
export tests_run tests_failed
if unshare -m true 2> /dev/null && unshare -m mount --bind k1 elsewhere 2> /dev/null; then
    # shellcheck disable=SC2016
    holds unshare -m bash -c 'mount --bind k1 elsewhere && cut_and_done elsewhere/s.unseen elsewhere/out &&
        [ "$tests_failed" = 0 ]'
    run -s k1/s.unseen -o k1/out again
    expect 0 '' ''
    same k1/out want
else
    printf 'skipped: another mount, mount is not allowed\n'
fi

# Another file is never cut, and a file that was changed is not either.
untouched() { # STORE OUT TEXT...: refused, and the file is as it was
    cp "$2" before
    run -s "$1" -o "$2" again
    expect 2 '' "$3"
    same "$2" before
    holds [ ! -e "$2.cut" ]
}
here=$PWD
interrupted k1
printf 'http://a/\nhttp://b/\nhttp://precious/\n' > other
untouched k1/s.unseen other "unseen: error: $here/k1/out is not finished: the run that wrote it was interrupted, and bytes from 20 on are not committed\nunseen: hint: unseen -s k1/s.unseen -o $here/k1/out < /dev/null && unseen -s k1/s.unseen -o other again\n"
# The hint works, word for word.
run -s k1/s.unseen -o "$here/k1/out"
expect 0 '' '*'
cp other before
run -s k1/s.unseen -o other again
expect 0 '' ''
(cat before; printf 'http://x/\nhttp://c/\n') | cmp -s - other || complain 'other was not appended to'
# The output is gone, and this begins as it did: it is another file, or a copy.
interrupted k1
printf 'http://a/\nhttp://b/\nhttp://precious/\n' > other
rm k1/out
maybe() { printf 'unseen: error: %s may be %s, which an interrupted run wrote, or another file\\n' "$here/$1" "$here/$2"
    printf 'unseen: hint: if it is that file: truncate -s %s %s && unseen -s %s -o %s again\\n' "$4" "$1" "$3" "$1"
    printf 'unseen: hint: if it is not: unseen --output NEW -s %s again\\n' "$3"; }
untouched k1/s.unseen other "$(maybe other k1/out k1/s.unseen 20)"
truncate -s 20 other
run -s k1/s.unseen -o other again
expect 0 '' ''
same other want
# The same where nothing is committed yet. A new file may get the inode number of the one that is gone.
empty() { # the store of a run that was killed before its first commit
    rm -rf k1
    mkdir k1
    mkfifo k1/fifo
    "$UNSEEN" -s k1/s.unseen -o k1/out < k1/fifo &
    local pid=$!
    exec 3> k1/fifo
    eventually is_named
    kill -9 "$pid"
    wait "$pid" 2> /dev/null
    exec 3>&-
    printf 'http://x/\n' >> k1/out
}
is_named() { [ -e k1/s.unseen ] && [ "$(stat -c %s k1/s.unseen)" -gt 16384 ]; }
empty
rm k1/out other
printf 'http://precious/\n' > other
untouched k1/s.unseen other "$(maybe other k1/out k1/s.unseen 0)"
empty
rm -rf k2
mv k1 k2
run -s k2/s.unseen -o k2/out again
expect 0 '' 'unseen: warning: k2/out was cut from 10 to 0 bytes: the rest was not committed, its lines are new again; it is in k2/out.cut\n'
same k2/out again
empty
rm -rf k2
cp -r k1 k2
untouched k2/s.unseen k2/out "$(maybe k2/out k1/out k2/s.unseen 0)"
interrupted k1
rm -rf k2
cp -r k1 k2
mv k2/out k2/other
untouched k2/s.unseen k2/other "$(maybe k2/other k1/out k2/s.unseen 20)"
# Nothing of another file is like it: not cut, but what was lost comes again, and that is said.
gone() { printf 'unseen: warning: %s, which an interrupted run wrote, is gone: its lines behind byte 20 come again\\n' "$1"; }
printf 'http://precious/of/another/list\n' > other
for out in other new; do
    interrupted k1
    rm k1/out
    run -s k1/s.unseen -o $out again
    expect 0 '' "$(gone "$here/k1/out")"
    run -s k1/s.unseen -o $out again
    expect 0 '' ''
done
printf 'http://precious/of/another/list\nhttp://x/\nhttp://c/\n' | cmp -s - other || complain 'other was not appended to'
printf 'http://x/\nhttp://c/\n' | cmp -s - new || complain 'new is not what is new'
# The same name, but the file is gone.
interrupted k1
mv k1/out taken
run -s k1/s.unseen -o k1/out again
expect 0 '' "$(gone "$here/k1/out")"
same k1/out new
# Everything was committed: another file may follow without a word.
interrupted k1
truncate -s 20 k1/out
rm new
run -s k1/s.unseen -o new again
expect 0 '' ''
printf 'http://x/\nhttp://c/\n' | cmp -s - new || complain 'new is not what is new'
# Beside a copy of the store, a file of the same name that is another one.
for text in 'http://a/\nhttp://B/\nhttp://precious/\n' 'short\n'; do
    interrupted k1
    rm -rf k2
    cp -r k1 k2
    printf "$text" > k2/out
    untouched k2/s.unseen k2/out '*'
    holds grep -qE "^unseen: error: $here/k2/out is (not what was written last time|shorter than it was): " err
    holds grep -qx 'unseen: hint: move k2/out away: the next run begins a new file, with the URLs that are new from then on' err
done
# A moved output that was changed.
interrupted k1
mv k1/out moved
printf H | dd of=moved conv=notrunc status=none
untouched k1/s.unseen moved "unseen: error: $here/moved is not what was written last time: it differs before byte 20\nunseen: hint: move moved away: the next run begins a new file, with the URLs that are new from then on\n"

# committed STORE LEN: the log is longer than LEN, and this or an earlier run has committed lines.
committed() { [ -e "$1" ] && [ "$(stat -c %s "$1")" -gt "$2" ] && has "$1" "$first"; }

# Killed at any time, and moved, copied or renamed after each.
urls 300000 250000 9 > big
awk '!seen[$0]++' big > want
first=$(head -n 1 big)
rm -rf run*
mkdir run0
out=out
for i in 1 2 3 4 5 6; do
    len=$(stat -c %s "run$((i - 1))/s.unseen" 2> /dev/null || echo 0)
    (head -n 100000 big; sleep 0.0$i; tail -n +100001 big) |
        "$UNSEEN" --seed 3 -s "run$((i - 1))/s.unseen" -o "run$((i - 1))/$out" 2> err &
    pid=$!
    # A run must get that far: an output that was copied and then renamed is not known, nor is a copy
    # of an output without a committed line.
    eventually committed "run$((i - 1))/s.unseen" "$len"
    sleep "0.0$i"
    kill -9 "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
    case $i in
    1 | 4) cp -r "run$((i - 1))" "run$i" ;;
    2 | 5) mv "run$((i - 1))" "run$i" ;;
    *)
        mv "run$((i - 1))" "run$i"
        mv "run$i/$out" "run$i/$out$i"
        out=$out$i
        ;;
    esac
done
run -s run6/s.unseen -o "run6/$out" big
holds [ "$status" = 0 ]
same "run6/$out" want
finish
