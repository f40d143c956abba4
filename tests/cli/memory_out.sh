# No memory: allocations fail once, and all from each one on. The tool says so and ends with
# status 2, or has done without; what it has written is right as far as it goes.
#
# Of the allocations with one call stack (fail_alloc.c counts them) the first two fail, and of the
# others each 16th, beginning elsewhere each day. With UNSEEN_TEST_SCALE above 1 each of them fails.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$(dirname "$0")/lib/fail_alloc.bash"

# is_prefix FILE OF: whole lines from the start of another file.
is_prefix() {
    head -c "$(wc -c < "$1")" "$2" | cmp -s - "$1"
}

scale=${UNSEEN_TEST_SCALE:-1}
day=$(($(date +%s) / 86400))

# allocations COMMAND...: the numbers of those that are to fail in the command, which is run once.
allocations() {
    rm -f census
    FAIL_CENSUS=census LD_PRELOAD=./fail.so "$@" > /dev/null 2> /dev/null < /dev/null
    holds [ "$(wc -l < census)" -gt 3 ]
    awk -v all=$((scale > 1)) -v day="$day" 'all || $2 < 2 || ($1 + day) % 16 == 0 { print $1 }' census
}

# The number may not come in a run with threads, whose allocations have no order.
sweep() {
    "$UNSEEN" "$@" > want 2> /dev/null
    reached=0
    numbers=$(allocations "$UNSEEN" "$@")
    for on in once after; do
        for n in $numbers; do
            rm -f failed
            FAIL_AT=$n FAIL_ON=$on FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" "$@" > out 2> err
            status=$?
            last="unseen $* with allocation $n failing ($on)"
            [ -e failed ] || continue
            reached=$((reached + 1))
            case $status in
            0) same out want ;;
            2)
                is_prefix out want || complain "$last: wrong output; $(cat err)"
                grep -q 'memory' err || complain "$last: said $(cat err)"
                tests_run=$((tests_run + 1))
                ;;
            *) complain "$last: exit status $status" ;;
            esac
        done
    done
    holds [ "$reached" -gt 6 ]
}

urls 20000 15000 1 > plain
gzip -nc plain > plain.gz
head -c 700000 /dev/zero | tr '\0' x > long
printf '{"k":"a"}\n{"k":"b"}\n{"k":"a"}\n' > json
echo x > list
sweep -j 1 plain
sweep -j 2 plain
sweep -j 3 plain
sweep -j 1 plain.gz
sweep -j 1 long
sweep -j 1 -x list -D rep list
# The set cannot grow in the middle of a batch: with -x, too, each line up to there has its own verdict,
# and no line behind it has one. The set has all that were new. From a pipe: for a file the set gets room in
# advance, and goes on without it.
urls 60000 50000 1 > growing
"$UNSEEN" add -p crawl listed.unseen list
sweep -j 1 --seed 1 --mark -x listed.unseen growing
stops=0
for n in $(seq 1 60); do
    rm -f failed
    FAIL_AT=$n FAIL_ON=once FAIL_MARK=failed LD_PRELOAD=./fail.so \
        "$UNSEEN" -j 1 --seed 1 --mark --stats -x listed.unseen > out 2> err < <(cat growing)
    last="allocation $n failing with -x"
    [ -e failed ] || break
    if grep -q 'cannot remember' err; then
        stops=$((stops + 1))
        new=$(grep -c ^1 out)
        holds grep -qx "lines  *$(wc -l < out)" err
        holds grep -qx "new  *$new" err
        holds grep -qx "keys  *$new" err
    fi
done
holds [ "$stops" -gt 3 ]
sweep -j 1 --shard 1/2 -k 1 plain
sweep -j 1 -k .k json
printf '{"k":"\\u0061","l":[1.5,{"b":1,"a":"\\n"}]}\n{"k":"b","l":2}\n' > json
sweep -j 1 -k .k json
sweep -j 1 -k .k,.l json
sweep -j 1 --canonical -k .l json
sweep count -j 1 -k .k --by .l json
sed 's/^http/HTTP/; s/$/#x/' plain > dirty
sweep -j 1 dirty
sweep -j 1 -p aggressive --canonical -D rep --shard 1/2 dirty
sweep -j 2 --canonical dirty
sweep canon -j 1 dirty
sweep canon -j 2 dirty
sweep canon -j 1 long
head -n 5 dirty > few
sweep canon -j 1 --json --expressions -p crawl --rule strip-www,sort-query few
sweep canon -j 1 --base http://e.com/ --expressions few
sweep explain --json http://E.com/#x http://e.com/ http://e.com/b
if command -v zstd > /dev/null; then
    zstd -qc plain > plain.zst
    sweep -j 1 plain.zst
fi

# With a store: what was printed before is remembered, or comes again; the next run prints the rest.
# sweep_store ARG...: the store is w.unseen, in a state that is copied from start.unseen if that exists.
sweep_store() {
    reached=0
    rm -f w.unseen*
    [ ! -e start.unseen ] || cp start.unseen w.unseen
    "$UNSEEN" "$@" > want 2> /dev/null
    rm -f w.unseen*
    [ ! -e start.unseen ] || cp start.unseen w.unseen
    numbers=$(allocations "$UNSEEN" "$@")
    for on in once after; do
        for n in $numbers; do
            rm -f failed w.unseen*
            [ ! -e start.unseen ] || cp start.unseen w.unseen
            FAIL_AT=$n FAIL_ON=$on FAIL_MARK=failed LD_PRELOAD=./fail.so "$UNSEEN" "$@" > out 2> err
            status=$?
            last="unseen $* with allocation $n failing ($on)"
            [ -e failed ] || continue
            reached=$((reached + 1))
            case $status in
            0) same out want ;;
            2)
                is_prefix out want || complain "$last: wrong output; $(cat err)"
                grep -q 'memory\|no room' err || complain "$last: said $(cat err)"
                "$UNSEEN" "$@" > rest 2> err || complain "$last: then $(cat err)"
                cat out rest | sort -u > got
                sort -u want | cmp -s - got || complain "$last: lost lines"
                tests_run=$((tests_run + 1))
                ;;
            *) complain "$last: exit status $status" ;;
            esac
        done
    done
    holds [ "$reached" -gt 6 ]
}
head -n 600 dirty > some
sweep_store -j 1 -s w.unseen some
sweep_store -j 2 -s w.unseen some
"$UNSEEN" add start.unseen few
sweep_store -j 1 -s w.unseen -x list -x start.unseen some
sweep_store check -j 1 w.unseen some
sweep_store recheck -j 1 w.unseen some
sweep_store add -j 1 w.unseen some
sweep_store remove -j 1 w.unseen few
sweep_store import --format redis-set w.unseen few
sweep_store info --json start.unseen # no copy: it says when it was written
sweep_store verify w.unseen
sweep_store rewrite w.unseen

# The set cannot grow: all that was answered is there. Where so much memory is enough, all lines are.
urls 1400000 1200000 2 > big
awk '!seen[$0]++' big > whole
if (ulimit -v 10000 && "$UNSEEN" --version > /dev/null 2>&1); then
    refused=0
    for kilobytes in 20000 13000 12000 11000; do
        (ulimit -v "$kilobytes"; exec "$UNSEEN" --seed 1 -j 1 big > out 2> err)
        status=$?
        last="unseen -j 1 big in $kilobytes kB"
        if [ "$status" = 0 ]; then
            same out whole
            continue
        fi
        refused=$((refused + 1))
        expect 2 '*' '*'
        holds grep -qx 'unseen: error: cannot remember more lines: out of memory' err
        holds grep -q '^unseen: hint: .*: unseen --shard 1/2 ' err
        holds [ "$(wc -l < out)" -gt 100000 ]
        holds [ "$(wc -l < out)" -lt "$(wc -l < whole)" ]
        holds is_prefix out whole
    done
    holds [ "$refused" -gt 0 ]
fi
finish
