# What a set that a server has must do like a set of one's own, whatever the server. Before it, the file `some` has
# lines, and `want` what a run prints of them.

# like_own_set ADDRESS: the same lines in the same order; then none.
like_own_set() {
    run -s "$1" some
    expect 0 '*' ''
    same out want
    run -s "$1" some
    expect 0 '' ''
    run -c -s "$1" some
    expect 0 '0\n' ''
    run check -c "$1" some
    expect 0 "$(wc -l < some)\\n" ''
    printf 'http://new.example/\nHTTP://NEW.example:80/#x\n' > new
    run -n -s "$1" new
    expect 0 'http://new.example/\nHTTP://NEW.example:80/#x\n' ''
    run check "$1" new
    expect 1 '' ''
    run --canonical -s "$1" new
    expect 0 'http://new.example/\n' ''
    run -p crawl --stats=json -s "$1" new
    expect 0 '' '*'
    holds grep -q '"seen": *2' err
    run --shard 1/2 -c -v -s "$1" some
    local one
    one=$(cat out)
    run --shard 2/2 -c -v -s "$1" some
    holds [ $((one + $(cat out))) = "$(wc -l < some)" ]
}

# like_one_set ADDRESS: several pipes at once get each URL once, in one of them.
like_one_set() {
    local i pipes=
    urls 30000 20000 6 | sed s/site/other/ > again
    "$UNSEEN" again | sort > want
    for i in 1 2 3 4; do
        shuf again --random-source=<(yes $i) | "$UNSEEN" -s "$1" > "out.$i" 2> "err.$i" &
        pipes="$pipes $!"
    done
    wait $pipes
    sort out.1 out.2 out.3 out.4 > all
    "$UNSEEN" -c all > count
    holds [ "$(cat count)" = "$(wc -l < all)" ]
    holds [ "$(cat count)" = "$(wc -l < want)" ]
    holds [ ! -s err.1 ]
}
