# -s with -o: the file has each URL exactly once, whatever happened in between.
# Time: long
. "$(dirname "$0")/lib/common.bash"

has_lines() { [ -e "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]; }
has_committed() { echo "$2" | "$UNSEEN" check -q "$1" 2> /dev/null; }

printf 'http://a/\nhttp://b/\n' > one
printf 'http://b/\nhttp://c/\n' > two

# Continued, never emptied.
printf 'before\n' > queue
for j in 1 2; do
    rm -f v.unseen
    printf 'before\n' > queue
    run -j "$j" -s v.unseen -o queue one
    expect 0 '' ''
    run -j "$j" -s v.unseen -o ./queue one two
    expect 0 '' ''
    printf 'before\nhttp://a/\nhttp://b/\nhttp://c/\n' > want
    same queue want
    # Lines that are not remembered, or a number, would be in the file more than once, or no line.
    run -n -s v.unseen -v -o queue two
    expect 2 '' 'unseen: error: -o with -s has each line exactly once, and with -n those lines come again\nunseen: hint: unseen -n -s v.unseen -v two > NEW\n'
    run -s v.unseen -c -o queue one
    expect 2 '' 'unseen: error: -o with -s has each line exactly once, and -c prints a number\nunseen: hint: unseen -s v.unseen -c one > NEW\n'
    same queue want
    # What a run writes that prints no new lines, or all, is added too.
    run -s v.unseen -v -o queue one
    expect 0 '' ''
    run -s v.unseen --mark -o queue two
    expect 0 '' ''
    printf 'http://a/\nhttp://b/\n0\thttp://b/\n0\thttp://c/\n' >> want
    same queue want
    # Between runs the file is its owner's.
    head -n 1 want > queue
    printf 'http://d/\n' | "$UNSEEN" -s v.unseen -o queue
    printf 'before\nhttp://d/\n' > want
    same queue want
    rm queue
    printf 'http://e/\n' | "$UNSEEN" -s v.unseen -o queue
    printf 'http://e/\n' > want
    same queue want
done
run -s v.unseen -o /dev/null one two
expect 0 '' ''
run -s v.unseen -o nodir/queue one
expect 2 '' 'unseen: error: cannot open nodir/queue: No such file or directory\n'
# One file has one writer at a time, whatever store remembers its lines.
mkfifo held
"$UNSEEN" -s first.unseen -o shared held &
writer=$!
exec 9> held
printf 'http://first/1\n' >&9
eventually has_lines shared 1
printf 'http://second/1\n' > in
run --wait=0 -s second.unseen -o shared
expect 2 '' "unseen: error: $PWD/shared is being written to by process $writer\nunseen: hint: to wait until it has ended: unseen --wait -s second.unseen -o shared\n"
"$UNSEEN" --wait -s second.unseen -o shared in 2> waiting 9>&- &
second=$!
eventually grep -q '^unseen: waiting: ' waiting
printf 'http://first/2\n' >&9
exec 9>&-
wait "$writer" "$second"
holds [ $? = 0 ]
printf 'http://first/1\nhttp://first/2\nhttp://second/1\n' > want
same shared want
rm in held
# Not through a fifo, and not for what the reader did not take.
mkfifo pipe
cat pipe > got &
run -s p.unseen -o pipe one
expect 0 '' ''
wait
same got one

# A line that is not complete is ended before the first one, whatever is printed.
for flag in '' --mark -v; do
    printf 'http://old/1' > torn
    rm -f t.unseen*
    [ "$flag" != -v ] || "$UNSEEN" add t.unseen one
    run -s t.unseen $flag -o torn one
    expect 0 '' ''
    holds [ "$(head -n 1 torn)" = http://old/1 ]
    holds [ "$(wc -l < torn)" = "$(($(wc -l < one) + 1))" ]
done
rm -f t.unseen* torn
# No command writes into what is not made of lines, whoever else uses it.
printf 'http://e.com/a\nhttp://e.com/b\n' > lines
printf '1\n5\n' > ids
"$UNSEEN" add kept.unseen lines
"$UNSEEN" bits add kept.bits ids
"$UNSEEN" build kept.list lines 2> err
printf 'a secret of the keys\n' > seed.key
ln -s kept.unseen link.unseen
mkdir saved
cp kept.unseen kept.bits kept.list seed.key saved
for output in kept.unseen ./kept.unseen link.unseen kept.unseen.image kept.bits kept.list; do
    for call in 'recheck kept.unseen lines' 'canon lines' 'sort ids' 'count lines' 'count kept.unseen' lines \
        'check kept.unseen lines' '-s kept.unseen lines' '-s new.unseen lines' 'bits list kept.bits' 'bits check kept.bits ids'; do
        run $call -o $output
        expect 2 '' '*'
        holds grep -q "^unseen: error: $output is .*, it cannot be written to$" err
    done
    run -D $output lines
    expect 2 '' '*'
    run plan --capacity 1e6 --fpr 1e-4 --svg $output
    expect 2 '' '*'
    for file in saved/*; do
        same "$file" "${file#saved/}"
    done
    holds [ ! -e kept.unseen.image ]
done
for call in lines 'canon lines' 'count lines'; do
    run --seed-file seed.key -o seed.key lines
    expect 2 '' 'unseen: error: seed.key is the file of the seed, it cannot be written to\nunseen: hint: *\n'
    same saved/seed.key seed.key
done
run -s new.unseen -D new.unseen.image lines
expect 2 '' 'unseen: error: new.unseen.image is the image of a store, it cannot be written to\nunseen: hint: unseen -D NEW -s new.unseen lines\n'
run recheck kept.unseen -o kept.unseen lines
expect 2 '' 'unseen: error: kept.unseen is a store, it cannot be written to\nunseen: hint: unseen recheck -o NEW kept.unseen lines\n'
holds [ ! -e new.unseen ]
rm -rf saved kept.* link.unseen lines ids seed.key

# -o is another name for the store, or for the input.
run -s v.unseen -o v.unseen one
expect 2 '' 'unseen: error: v.unseen is a store, it cannot be written to\nunseen: hint: *\n'
run -s new.unseen -o new.unseen one
expect 2 '' '*'
run -s v.unseen -o one one
expect 2 '' 'unseen: error: one is both input and output\nunseen: hint: *\n'
run -s no.unseen --no-log -o queue one
expect 2 '' 'unseen: error: -o with -s is written exactly once, for which a store needs its log\nunseen: hint: unseen -s no.unseen -o queue one\n'
run -s no.unseen --no-log one
expect 0 'http://a/\nhttp://b/\n' ''
run -s no.unseen -o queue two
expect 2 '' 'unseen: error: no.unseen cannot keep the length of an output: it has no log\nunseen: hint: unseen -s no.unseen two >> queue\n'

# kill -9 at any time, and again: exactly once.
urls 300000 250000 9 > big
awk '!seen[$0]++' big > want
sort want > sorted
for j in 1 2; do
    rm -f w.unseen* queue
    ncut=0
    for pause in 0.01 0.02 0.03 0.05 0.08; do
        # A slow writer, so that there is something to kill.
        (head -n 100000 big; sleep "$pause"; tail -n +100001 big) |
            "$UNSEEN" --seed 3 -j "$j" -s w.unseen -o queue 2> err &
        pid=$!
        eventually has_lines queue 1
        sleep "$pause"
        kill -9 "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
        ! grep -q '^unseen: warning: queue was cut from [0-9]* to [0-9]* bytes: ' err || ncut=$((ncut + 1))
    done
    "$UNSEEN" -j "$j" -s w.unseen -o queue big 2> err
    holds [ $? = 0 ]
    same queue want
    sort -u queue | cmp -s - sorted || complain "-j $j: not each URL once"
done

# The end of a killed run that was not committed is cut off, and comes again.
rm -f w.unseen* queue
printf 'http://a/\n' | "$UNSEEN" -s w.unseen -o queue
mkfifo q
"$UNSEEN" -s w.unseen -o queue < q &
pid=$!
exec 3> q
echo http://b/ >&3
eventually has_lines queue 2
eventually has_committed w.unseen http://b/
kill -9 "$pid"
wait "$pid" 2> /dev/null
exec 3>&-
size=$(wc -c < queue)
printf 'http://x/\nhttp' >> queue
printf 'http://b/\nhttp://c/\n' > in
# Where the end goes may be a name that somebody else has made.
printf 'precious\n' > precious
cp queue before
rm -f queue.cut
ln -s precious queue.cut
run -s w.unseen -o queue
expect 2 '' "unseen: error: $PWD/queue.cut is in the way: it is a symbolic link\nunseen: hint: move queue.cut away: the lines cut from queue go to a file of that name\n"
holds [ "$(cat precious)" = precious ]
same queue before
rm queue.cut
run -s w.unseen -o queue
expect 0 '' "unseen: warning: queue was cut from $((size + 14)) to $size bytes: the rest was not committed, its lines are new again; it is in queue.cut\n"
printf 'http://a/\nhttp://b/\nhttp://c/\n' > want
same queue want
holds [ "$(stat -c %a queue.cut)" = 600 ]
rm in
# A file that was changed in between is left alone.
for change in 'printf y > queue' 'sed -i 1s/a/X/ queue'; do
    rm -f w.unseen* queue
    "$UNSEEN" -s w.unseen -o queue < q &
    pid=$!
    exec 3> q
    echo http://b/a >&3
    eventually has_lines queue 1
    eventually has_committed w.unseen http://b/a
    kill -9 "$pid"
    wait "$pid" 2> /dev/null
    exec 3>&-
    eval "$change"
    cp queue changed
    run -s w.unseen -o queue one
    expect 2 '' '*'
    holds grep -q '^unseen: error: .*queue is ' err
    holds grep -qx 'unseen: hint: move queue away: the next run begins a new file, with the URLs that are new from then on' err
    same queue changed
    cp w.unseen copy.unseen
    run -s copy.unseen -o other one
    expect 0 '' '*'
    [ "$(stat -c %s queue)" = 11 ] || holds grep -qx "unseen: warning: .*/queue, which an interrupted run wrote, is changed: its lines behind byte 11 come again" err
    rm copy.unseen* other
    mv queue away
    run -s w.unseen -o queue one
    expect 0 '' "unseen: warning: $PWD/queue, which an interrupted run wrote, is gone: its lines behind byte 11 come again\n"
    same queue one
done

# Somebody has left a part of a line at the end: the first new line is not glued to it.
rm -f w.unseen* queue*
run -s w.unseen -o queue one
printf 'by hand' >> queue
run -s w.unseen -o queue two
expect 0 '' ''
(cat one; printf 'by hand\n'; comm -13 one two) > want
same queue want
printf 'by hand' >> queue
run -s w.unseen -o queue two
run -s w.unseen -o queue two
expect 0 '' ''
printf 'by hand\n' >> want
same queue want
run verify w.unseen
expect 0 '*' '*'

# A file system that is full: cut behind the last complete line that is remembered, and continued.
cleanup_more() { [ ! -d "$scratch/small" ] || umount "$scratch/small" 2> /dev/null; }
mkdir small
awk '!seen[$0]++' big > want
if mount -t tmpfs -o size=256k tmpfs small 2> /dev/null; then
    for j in 1 2; do
        rm -f w.unseen*
        run --seed 3 -j "$j" -s w.unseen -o small/queue big
        expect 2 '' 'unseen: error: cannot write small/queue: No space left on device\n'
        mount -o remount,size=64m small
        head -c "$(wc -c < small/queue)" want | cmp -s - small/queue || complain "-j $j: not a part of all"
        run -j "$j" -s w.unseen -o small/queue big
        expect 0 '' ''
        same small/queue want
        rm small/queue
        mount -o remount,size=256k small
    done
    umount small
else
    printf 'skipped: a small tmpfs, mount is not allowed\n'
fi

# Standard output into a file: at least once, and its file is synced before the keys are.
for how in '>' '>>'; do
    rm -f w.unseen*
    : > file
    eval "\"\$UNSEEN\" -s w.unseen one $how file"
    eval "\"\$UNSEEN\" -s w.unseen one two $how file"
    [ "$how" = '>' ] && printf 'http://c/\n' > want || printf 'http://a/\nhttp://b/\nhttp://c/\n' > want
    same file want
done
if command -v strace > /dev/null && strace -o trace true 2> /dev/null; then
    rm -f w.unseen*
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=write,pwrite64,fdatasync,fsync "$UNSEEN" -s w.unseen one > file
    first_sync=$(grep -nE 'f(data)?sync\(1[ )]' trace | head -n 1 | cut -d: -f1)
    output=$(grep -nE 'write\(1, ' trace | head -n 1 | cut -d: -f1)
    keys=$(grep -nE 'UNSR' trace | tail -n 1 | cut -d: -f1)
    holds [ "$output" -lt "$first_sync" ]
    holds [ "$first_sync" -lt "$keys" ]
else
    printf 'skipped: the order of system calls, strace cannot run here\n'
fi
finish
