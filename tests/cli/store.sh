# -s: what was printed is remembered across runs, and only that.
# Label: threads
. "$(dirname "$0")/lib/common.bash"

keys_of() { "$UNSEEN" info --json "$1" | sed -E 's/.*"keys":([0-9]+).*/\1/'; }
# The keys of the committed records: those that a run after a crash would know.
committed_in() { "$UNSEEN" verify "$1" | sed -E 's/.*: good, ([0-9]+) added and ([0-9]+) removed.*/\1 \2/'; }
has_committed() { [ "$(committed_in "$1")" = "$2" ]; }
has_lines() { [ -e "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]; }

printf 'http://a/\nhttp://b/\nHTTP://A:80/\n' > one
printf 'http://b/#x\nhttp://c/\n' > two

# Across runs.
run -s v.unseen one
expect 0 'http://a/\nhttp://b/\n' ''
run -s v.unseen one two
expect 0 'http://c/\n' ''
run -s v.unseen one two
expect 0 '' ''
holds [ "$(keys_of v.unseen)" = 3 ]
run --store=v.unseen -c one
expect 0 '0\n' ''
run -n -s v.unseen -v one
expect 0 'http://a/\nhttp://b/\nHTTP://A:80/\n' ''
run -n -s none.unseen one
expect 2 '' 'unseen: error: cannot open none.unseen: No such file or directory\nunseen: hint: to make it: unseen add none.unseen FILE\n'
holds [ ! -e none.unseen ]
# A dry run asks, and changes nothing.
cp v.unseen before
printf 'http://d/\nhttp://d/\nhttp://a/\n' > three
run -n -s v.unseen three
expect 0 'http://d/\nhttp://d/\n' ''
same v.unseen before

# Each way of printing remembers the same; -j 1 and 2, the input a file or a pipe.
urls 20000 12000 5 > big
awk '!seen[$0]++' big > want
n=$(wc -l < want)
for j in 1 2; do
    for how in '' -v -c --mark '-D rep' --canonical --line-buffered '-k 1'; do
        rm -f w.unseen*
        run -j "$j" -s w.unseen $how big
        expect 0 '*' ''
        has_committed w.unseen "$n 0" || complain "-j $j $how: committed $(committed_in w.unseen), not $n 0"
        run -j "$j" -s w.unseen big
        expect 0 '' ''
    done
    rm -f w.unseen*
    cat big | "$UNSEEN" -j "$j" -s w.unseen > out
    same out want
    # -m: exactly these.
    rm -f w.unseen*
    run -j "$j" -s w.unseen -m 1000 big
    head -n 1000 want > part
    same out part
    holds has_committed w.unseen '1000 0'
    run -j "$j" -s w.unseen -m 1 -v big
    expect 0 "$(sed -n 1p want)\n" ''
    run -j "$j" -s w.unseen big
    tail -n +1001 want > part
    same out part
done
# -q ends at the first line that is found, so with a store it only asks.
cp w.unseen w.before
run -s w.unseen -q big
expect 2 '' 'unseen: error: -q ends at the first new line, so the store would have no other\nunseen: hint: unseen add w.unseen big\n'
run -n -s w.unseen -q big
expect 1 '' ''
run -n -s w.unseen -q <(echo http://new.example/)
expect 0 '' ''
same w.unseen w.before
# Shares of one store.
rm -f w.unseen*
for i in 1 2 3; do
    "$UNSEEN" -s w.unseen --shard $i/3 big
done | sort > out
sort want | cmp -s - out || complain 'shares of one store are not the whole'

# An idle pipe is committed, and what comes in is answered at once.
rm -f w.unseen*
for j in 1 2; do
    mkfifo q
    "$UNSEEN" -j "$j" -s w.unseen < q > out 2> err &
    pid=$!
    exec 3> q
    printf 'http://idle%d/\nhttp://idle%d/b\n' "$j" "$j" >&3
    eventually has_lines out 2
    eventually has_committed w.unseen "$((2 * j)) 0"
    kill -9 "$pid"
    wait "$pid" 2> /dev/null
    exec 3>&-
    rm q
done
run -c -s w.unseen two
expect 0 '2\n' ''

# A signal ends the run in order: what was printed is committed, and the status says what it was.
for signal in INT TERM HUP; do
    for j in 1 2; do
        rm -f w.unseen*
        mkfifo q
        # A shell starts what runs in its background with SIGINT ignored, nohup all with SIGHUP ignored.
        perl -e '$SIG{INT} = $SIG{HUP} = "DEFAULT"; exec @ARGV' "$UNSEEN" -j "$j" -s w.unseen < q > out 2> err &
        pid=$!
        exec 3> q
        cat big >&3
        printf 'half a line' >&3
        eventually has_lines out "$n"
        kill -"$signal" "$pid"
        wait "$pid" 2> /dev/null
        status=$?
        [ "$status" = $((128 + $(kill -l "$signal"))) ] ||
            complain "SIG$signal -j $j: status $status"
        exec 3>&-
        same out want
        holds [ ! -s err ]
        has_committed w.unseen "$n 0" || complain "SIG$signal -j $j: $(committed_in w.unseen), not $n"
        rm q
    done
done

# A signal ends the run within a line, too, however long the line is: the line is not kept, and reading a file
# never waits. A run that read on would report the line left out, or print the line that is taken.
has_open() { readlink "/proc/$1/fd/"* | grep -qx "$PWD/$2"; }
truncate -s 64G left_out
truncate -s 6G taken
echo first > want_first
for j in 1 2 3; do
    for file in left_out taken; do
        rm -f w.unseen*
        mkfifo q
        limit=1M
        [ "$file" = left_out ] || limit=0
        "$UNSEEN" -j "$j" --max-line "$limit" -s w.unseen - "$file" < q > out 2> err &
        pid=$!
        exec 3> q
        echo first >&3
        eventually has_lines out 1
        exec 3>&-
        eventually has_open "$pid" "$file"
        kill -TERM "$pid"
        wait "$pid" 2> /dev/null
        status=$?
        [ "$status" = 143 ] || complain "SIGTERM in a long line, -j $j: status $status"
        same out want_first
        holds [ ! -s err ]
        has_committed w.unseen '1 0' || complain "-j $j $file: $(committed_in w.unseen), not 1"
        rm q
    done
done
rm left_out taken

# A reader that goes away: what it was not given is not remembered.
set +o pipefail
urls 300000 300000 6 > huge
awk '!seen[$0]++' huge > want
for j in 1 2; do
    rm -f w.unseen*
    "$UNSEEN" --seed 7 -j "$j" -s w.unseen huge 2> err | head -n 10 > out
    holds [ "${PIPESTATUS[0]}" = 141 ]
    holds [ ! -s err ]
    "$UNSEEN" -j "$j" -s w.unseen huge > rest
    kept=$(($(wc -l < want) - $(wc -l < rest)))
    # A pipe holds 64 KiB; what head has read and what was lost in it are no more than that each.
    holds [ "$kept" -ge 10 ]
    holds [ "$kept" -lt 6000 ]
    tail -n +$((kept + 1)) want > part
    same rest part
    rm -f w.unseen*
    (trap '' PIPE; "$UNSEEN" --seed 7 -j "$j" -s w.unseen huge 2> err; echo $? > code) | head -n 1 > out
    holds [ "$(cat code)" = 2 ]
    holds [ "$(keys_of w.unseen)" -lt 6000 ]
done
# A full disk where the output is.
for j in 1 2; do
    rm -f w.unseen*
    "$UNSEEN" -j "$j" -s w.unseen huge > /dev/full 2> err
    holds [ $? = 2 ]
    holds grep -qx 'unseen: error: cannot write standard output: No space left on device' err
    holds [ ! -e w.unseen ] # it would have nothing
done

# kill -9 through a pipe: nothing is lost. A run that was killed late leaves few lines for the next one,
# which may end before it has printed 5000.
printed_enough() {
    has_lines "$1" 5000 || ! kill -0 "$2" 2> /dev/null
}
rm -f w.unseen* got*
for cycle in 1 2 3; do
    "$UNSEEN" --seed 7 -s w.unseen huge > "got$cycle" &
    pid=$!
    eventually printed_enough "got$cycle" "$pid"
    kill -9 "$pid" 2> /dev/null
    wait "$pid" 2> /dev/null
done
holds has_lines got1 5000
"$UNSEEN" -s w.unseen huge > got4
for file in got1 got2 got3 got4; do
    cat "$file"
    echo # the last line of a run that was killed may be cut
done | sort -u > got
sort want > sorted
comm -13 got sorted > lost
holds [ ! -s lost ]
finish
