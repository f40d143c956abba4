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
    # Parts of a line are joined here, each in its canonical form.
    printf 'ann\tHTTP://parts.example:80/\n' > ann
    printf 'bob\tHTTP://Parts.example/\nbob\thttp://parts.example/\nann\thttp://parts.example/\n' > parts
    run add -k 1,2 "$1" ann
    expect 0 '' ''
    run -k 1,2 -s "$1" parts
    expect 0 'bob\tHTTP://Parts.example/\n' ''
    run check -v -k 1,2 "$1" parts
    expect 1 '' ''
    run -k 1,2 -s "$1" ann
    expect 0 '' ''
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

# changes_like_file ADDRESS [OPTION]...: add, check, remove and info of a new set do what they do with a file.
# The options are for the server.
changes_like_file() {
    local address=$1 command
    shift
    awk 'NR % 2' some > half
    rm -f file.unseen*
    for command in add add 'remove half' 'remove half' 'check half' 'check -v half' 'check some' 'add half' \
        'check -q half' 'remove some' 'check some' 'check -q some'; do
        changed_like_file "$address" "$command" "$@"
    done
    run info "$@" "$address"
    expect 0 '*' ''
    holds grep -qx 'keys         0' out
    holds grep -qx 'profile      crawl/1' out
    run info --json "$@" "$address"
    expect 0 '*' ''
    holds python3 -c 'import json; i = json.load(open("out")); assert (i["keys"], i["profile"], i["fpr_promise"]) == (0, "crawl/1", 5e-9), i'
}

# changed_like_file ADDRESS "COMMAND [-FLAG] [FILE]" [OPTION]...
changed_like_file() {
    local address=$1 words=$2 command flags='' file=some word
    shift 2
    command=${words%% *}
    for word in ${words#"$command"}; do
        case $word in -*) flags=$word ;; *) file=$word ;; esac
    done
    run "$command" $flags --stats file.unseen "$file"
    cp out wanted
    head -n 5 err > wanted.err # lines, new, seen, bytes and keys
    local wanted=$status
    run "$command" $flags --stats "$@" "$address" "$file"
    expect "$wanted" '*' '*'
    same out wanted
    head -n 5 err > figures
    same figures wanted.err
}
