# Three threads and more: the output, the messages and the exit status are those of one thread.
# Label: threads
. "$(dirname "$0")/lib/common.bash"

# agree ARG...: standard input is the file `in` if there is one. Two files at once may each have
# messages, of which the reader's come earlier with threads: so their order does not count.
agree() {
    run --seed 1 -j 1 "$@"
    mv out want
    sort err > want_err
    want_status=$status
    for j in $threads; do
        run --seed 1 -j "$j" "$@"
        same out want
        sort err > err_sorted
        same err_sorted want_err
        holds [ "$status" = "$want_status" ]
    done
}

threads='3 4 8 16'
! sanitized || ! brief || threads=4
urls 40000 25000 3 > urls
"$PRINT_URLS" urls 20000 5 > odd || exit 2
gzip -nc urls > urls.gz
: > none
printf 'a\nb\na' > torn
awk 'BEGIN { x = "x"; while (length(x) < 400000) x = x x; for (i = 0; i < 9; i++) { print i % 3 x; print "s" i % 4 } }' > long
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "%s{\"k\":\"http://e.com/%d\"}\n", i % 500 ? "" : "{} ", i % 7000 }' > json

nth=0
for how in '' -v -c --mark '-D rep' --canonical --line-buffered '-m 15000' '-n' '-x torn' '--shard 1/2' '--fpr 2e-6' \
    '--filter block --capacity 50000' '--capacity 50000' '-k 1'; do
    # ThreadSanitizer looks at what threads do: a quarter of the options is enough in the usual run.
    ! sanitized || ! brief || [ $((nth++ % 4)) = 0 ] || continue
    agree $how urls odd urls.gz
done
threads='3 8'
profiles='none crawl scrapy whatwg'
! sanitized || ! brief || { threads=8; profiles=crawl; }
for profile in $profiles; do
    agree -p "$profile" odd urls
done
agree none torn none urls
agree none
agree missing urls none/none torn
agree long torn
agree --max-line 1000 long urls
agree --max-line 1000 -k 1 long urls
agree -k .k json
agree -k .k --missing skip json torn urls
agree -k .k --missing fail json
agree -k .none --missing whole json urls
agree -k .none --missing skip torn json
agree -k .k,.k json
head -c 30000 urls.gz > torn.gz
agree torn.gz torn
# Input by pieces, and without a name.
cp urls in
agree
rm in
for j in 3 8; do
    dd if=odd bs=777 2> /dev/null | "$UNSEEN" --seed 1 -j "$j" > out
    run --seed 1 -j 1 odd
    "$UNSEEN" --seed 1 -j 1 odd > want
    same out want
done

# Other commands, and a store.
for j in 1 3 8; do
    rm -f v.unseen*
    "$UNSEEN" --seed 2 -j "$j" -s v.unseen urls odd > "out$j"
    "$UNSEEN" --seed 2 -j "$j" -s v.unseen odd >> "out$j"
    "$UNSEEN" check -j "$j" v.unseen urls json >> "out$j"
    "$UNSEEN" canon -j "$j" odd long >> "out$j"
    "$UNSEEN" count -j "$j" urls odd >> "out$j"
    same "out$j" out1
done

has_lines() { [ "$(wc -l < "$1")" = "$2" ]; }
# A line is answered before the next one comes, and the threads that were asked for are there.
exec 3> >(exec "$UNSEEN" -j 4 > out 2> err)
pid=$!
for line in a b a c; do
    echo "$line" >&3
done
eventually has_lines out 3
holds [ "$(ls "/proc/$pid/task" | wc -l)" -ge 4 ]
exec 3>&-
ended() { ! kill -0 "$pid" 2> /dev/null; }
eventually ended

# Nobody reads, or nothing can be written.
for j in 3 16; do
    "$UNSEEN" -j "$j" urls 2> err | head -n 1 > out
    head -n 1 urls > want
    same out want
    run -j "$j" -o /dev/full urls
    expect 2 '' '*'
done
finish
