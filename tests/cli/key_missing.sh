# Lines without the key: --missing, and files of which no line has the key.
. "$(dirname "$0")/lib/common.bash"

printf '{"u":"a"}\n{"v":"b"}\n{"u":"c"}\n{"u":null}\n' > some
printf '{"u":"a"}\n{"u":"c"}\n' > all
printf '{"v":"b"}\n{"w":1}\n' > none

for j in 1 2 3; do
    # Without a store: taken whole, with a warning.
    run -j "$j" -p none -k .u some
    cp some want
    same out want
    expect 0 '*' "unseen: warning: some:2: no key .u in '{\"v\":\"b\"}': taken whole
unseen: warning: 2 lines without the key were taken whole\n"
    run -j "$j" -p none -k .u --missing=skip some
    expect 0 '{"u":"a"}\n{"u":"c"}\n' "unseen: warning: some:2: no key .u in '{\"v\":\"b\"}': left out
unseen: warning: 2 lines without the key were left out\n"
    run -j "$j" -p none -k .u --missing=skip -c --stats=json some
    expect 0 '2\n' '*'
    holds grep -q '"lines":4,.*"without_key":2,' err
    run count -j "$j" -p none -k .u --missing=skip --stats=json some
    expect 0 '2\n' '*'
    holds grep -q '"lines":4,.*"without_key":2,' err
    run -j "$j" -p none -k .u --missing=fail all some all
    expect 2 '{"u":"a"}\n{"u":"c"}\n' "unseen: error: some:2: no key .u in '{\"v\":\"b\"}'
unseen: hint: *
unseen: hint: *\n"
    # A file that is not read to its end gets no verdict: all its lines may have the key.
    head -n 1 none > short
    run -j "$j" -p none -k .u --missing=fail short all
    expect 2 '' "unseen: error: short:1: no key .u in '{\"v\":\"b\"}'
unseen: hint: *
unseen: hint: *\n"
    rm -f pipe s.unseen
    mkfifo pipe
    "$UNSEEN" -j "$j" -p none -k .u --missing=skip -s s.unseen - < pipe > out 2> err &
    exec 3> pipe
    printf '{"v":"b"}\n' >&3
    eventually grep -q 'no key .u' err
    kill -TERM $!
    wait $!
    exec 3>&-
    lacks 'no line has the key' err

    # With a store the run ends: nothing but keys is remembered, and what came before is.
    rm -f s.unseen
    run -j "$j" -p none -k .u -s s.unseen some
    expect 2 '{"u":"a"}\n' "unseen: error: some:2: no key .u in '{\"v\":\"b\"}'
unseen: hint: *
unseen: hint: *\n"
    run -j "$j" -k .u -s s.unseen --missing=skip some
    expect 0 '{"u":"c"}\n' '*'
    run info --json s.unseen
    holds grep -q '"keys":2,' out
    run add -j "$j" -k .u s.unseen none
    expect 2 '' "unseen: error: none:1: no key .u in '{\"v\":\"b\"}'
unseen: hint: *
unseen: hint: *\n"
    run remove -j "$j" -k .u s.unseen none
    expect 2 '' '*'
    run info --json s.unseen
    holds grep -q '"keys":2,' out
    run add -j "$j" -k .u --missing=whole s.unseen some
    expect 0 '' '*'
    run info --json s.unseen
    holds grep -q '"keys":4,' out
    run check -j "$j" -k .u -c s.unseen some
    expect 0 '4\n' '*'
    run -n -j "$j" -k .u -c -s s.unseen some
    expect 0 '0\n' '*'

    # No line of a file has the key: an error, and the other files are read.
    run -j "$j" -p none -k .u none all
    expect 2 '{"v":"b"}\n{"w":1}\n{"u":"a"}\n{"u":"c"}\n' "unseen: warning: none:1: no key .u in '{\"v\":\"b\"}': taken whole
unseen: error: none: no line has the key .u
unseen: warning: 2 lines without the key were taken whole\n"
    run -j "$j" -p none -k .u all none
    expect 2 '*' '*'
    holds grep -qx 'unseen: error: none: no line has the key .u' err
    run -j "$j" -k .u --missing=skip -s s.unseen none
    expect 2 '' '*'
    holds grep -qx 'unseen: error: none: no line has the key .u' err
    run -j "$j" -k .u -q none
    expect 0 '' '*'
    run count -j "$j" -k .U all
    expect 2 '' '*'
    holds grep -qx 'unseen: error: all: no line has the key .U' err
    run count -j "$j" --by .U all
    expect 2 '' 'unseen: error: no line has the value .U, by which --by groups\n'
    run check -j "$j" -k 9 s.unseen all
    expect 2 '' '*'
    holds grep -qx 'unseen: error: all: no line has the key 9' err
    run recheck -j "$j" -k .U s.unseen all
    expect 2 '*' '*'
    run canon -j "$j" -k .U all
    expect 2 '*' '*'
done
: > empty
run -k .u empty all
expect 0 '*' ''

# The output of a store has each line exactly once, also in front of the line that ended a run.
seq 3000 | sed 's/.*/{"u":"&"}/' > many
sed -i '2000s/u/v/' many
run -p none -k .u -s m.unseen -o out.txt many
expect 2 '' '*'
holds grep -q '^unseen: error: many:2000: no key .u in ' err
holds [ "$(wc -l < out.txt)" = 1999 ]
run -k .u -s m.unseen -o out.txt --missing=skip many
expect 0 '' '*'
sed '2000d' many > want
same out.txt want

# Shares: a line without the key ends each of them, or is left out of each.
run -k .u --shard 1/2 --missing=fail some
expect 2 '*' '*'
for i in 1 2; do
    run -p none -k .u --shard $i/2 --missing=skip some
    cat out
done > parts
sort parts > sorted
same sorted all

# The key forgotten: if no line is a URL, and one holds a URL, the run fails, and a store is as it was.
printf '{"url":"http://e.com/a","n":1}\n{"n":2,"url":"http://e.com/b"}\n' > records
printf '[{"url":"http://e.com/a"}]\n' > array
printf 'id,link\n1,http://e.com/a\n2,http://e.com/b\n' > table.csv
printf 'id\tlink\n1\thttps://e.com/a\n' > table.tsv
printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.com/a\r\n\r\n' > pages.warc
printf '<loc>http://e.com/a</loc>\n' > map.xml
printf 'e.com\nwww.e.com\n' > hosts
{ seq 400; cat records; seq 400; } > many
forgotten() { # FILE WAY-OUT: how the hint goes on behind the command
    for j in 1 3; do
        rm -f f.unseen* f.out
        run -j "$j" -s f.unseen "$1"
        expect 2 '*' '*'
        holds grep -q "^unseen: error: no line is a URL; one is '" err
        holds grep -q -e "^unseen: hint: .*$2" err
        holds [ ! -e f.unseen ]
        run add -j "$j" f.unseen "$1"
        expect 2 '' '*'
        holds grep -q -e "^unseen: hint: .*$2" err
        holds [ ! -e f.unseen ]
        run add f.unseen urls
        cp f.unseen f.before
        for how in '' '-o f.out' -v -c '-n -c'; do
            # shellcheck disable=SC2086 # options
            run -j "$j" -s f.unseen $how "$1"
            expect 2 '*' '*'
            holds [ ! -s f.out ]
        done
        for how in "check -j $j" "add -j $j" "remove -j $j"; do
            # shellcheck disable=SC2086 # words
            run $how f.unseen "$1"
            expect 2 '' '*'
            holds grep -q -e "^unseen: hint: .*$2" err
        done
        holds [ "$("$UNSEEN" info --json f.unseen | grep -o '"keys":[0-9]*')" = '"keys":2' ]
        run -x f.unseen "$1"
        expect 2 '*' '*'
        run -x "$1" urls
        expect 2 '' '*'
        holds grep -q "^unseen: error: $1: no line is a URL; one is '" err
    done
    # A URL among them, a key or -p none: as it is meant.
    run -s g.unseen urls "$1"
    expect 0 '*' ''
    rm -f g.unseen*
    run -p none -s g.unseen "$1"
    expect 0 '*' ''
    rm -f g.unseen*
}
printf 'http://e.com/x\nhttp://e.com/y\n' > urls
forgotten records '--key .url '
forgotten array '--key .url '
forgotten table.csv '--separator , --key 2 '
forgotten table.tsv '--key 2 '
forgotten pages.warc "zgrep .* pages.warc | cut -d ' ' -f 2 | "
forgotten map.xml 'grep .* map.xml | '
forgotten hosts 'to take example.com for http://example.com: '
forgotten many '--key .url '
# A server would remember at once, so it is not asked: the same for all of the lines, also with a limit.
# shellcheck source=tests/cli/lib/listening.bash
. "$TESTS/cli/lib/listening.bash"
unseen add served.unseen urls
listening serve served.unseen --listen unix:sock
for file in records table.tsv pages.warc map.xml hosts many; do
    for how in 'add unix:sock' 'remove unix:sock' '-s unix:sock' '-m 3 -s unix:sock'; do
        # shellcheck disable=SC2086 # words
        run $how "$file"
        expect 2 '' '*'
        holds grep -q "^unseen: error: no line is a URL; one is '" err
        lacks 'profile none' err # the server has its own
    done
    run check unix:sock "$file"
    expect 2 '' '*'
done
holds [ "$("$UNSEEN" info --json unix:sock | grep -o '"keys":[0-9]*')" = '"keys":2' ]
run add unix:sock records urls
expect 0 '' ''
holds [ "$("$UNSEEN" info --json unix:sock | grep -o '"keys":[0-9]*')" = '"keys":4' ]

# A list.
for file in records table.csv pages.warc map.xml; do
    run build new.list "$file"
    expect 2 '' '*'
    holds [ ! -e new.list ]
    holds grep -q '^unseen: hint: to .*: .*unseen build .*new.list' err
    run build --force new.list "$file"
    expect 0 '' '*'
    rm new.list
done
run build new.list hosts
expect 2 '' '*'
holds grep -qx 'unseen: hint: to take names for sites: unseen build --expressions new.list hosts' err
run build new.list pages.warc
sh -c "$(sed -n 's/^unseen: hint: [^:]*: \(zgrep\)/\1/p' err | sed "s,unseen,'$UNSEEN',")"
holds [ "$("$UNSEEN" check new.list urls -c)" = 0 ]
holds [ "$(echo http://e.com/a | "$UNSEEN" check -c new.list)" = 1 ]

# What the hints say.
run -s g.unseen -k .url records
expect 0 '*' ''
rm -f g.unseen*
run -s g.unseen -t , -k 2 <(tail -n +2 table.csv)
expect 0 '*' ''
rm -f g.unseen*
# Lines of another kind are no mistake.
for line in word 'two words' 10.5 jo@e.example '' /path; do
    printf '%s\n' "$line" > in
    run -s g.unseen in
    expect 0 '*' ''
    rm -f g.unseen*
done
# While nobody knows, lines are answered but not remembered; a URL makes up for it.
rm -f pipe
mkfifo pipe
"$UNSEEN" -s g.unseen --line-buffered < pipe > out 2> err &
exec 3> pipe
cat records >&3
eventually grep -q n.:2 out
holds [ "$("$UNSEEN" info --json g.unseen | grep -o '"keys":[0-9]*')" = '"keys":0' ]
echo http://e.com/a >&3
exec 3>&-
wait $!
holds [ $? = 0 ]
holds [ "$("$UNSEEN" info --json g.unseen | grep -o '"keys":[0-9]*')" = '"keys":3' ]
# It does not read for ever.
yes '{"url":"http://e.com/a"}' | timeout 60 "$UNSEEN" -s h.unseen > out 2> err
holds [ $? = 2 ]
holds [ ! -e h.unseen ]

run --missing=skip all
expect 2 '' 'unseen: error: --missing has no meaning without -k or --time\nunseen: hint: unseen -k 1 --missing skip all\n'
# A part that is null or not there is an empty text; one that is an object is not.
printf '%s\n' '{"u":"http://e.com/","m":"GET","b":null}' '{"m":"GET","u":"http://E.com"}' '{"u":"http://e.com/","m":"GET","b":""}' \
    '{"u":"http://e.com/","m":"GET","b":"x"}' '{"u":"http://e.com/","b":"GET"}' > parts.jsonl
for j in 1 2 3; do
    run -j "$j" -k .u,.m,.b --missing=empty parts.jsonl
    expect 0 "$(sed -n '1p;4p;5p' parts.jsonl)\n" ''
    rm -f p.unseen
    run add -j "$j" -k .u,.m,.b --missing=empty --stats=json p.unseen parts.jsonl
    expect 0 '' '*'
    holds grep -q '"lines":5,"new":3,"seen":2,' err
    printf '{"x":1}\n' > no-part
    run add -j "$j" -k .u,.m,.b --missing=empty p.unseen no-part
    expect 2 '' '*'
    holds grep -q 'no-part:1: no key .u,.m,.b in' err
    printf '{"u":"a","b":{"n":1}}\n{"u":"a","b":{"n":2}}\n' > objects
    run -j "$j" -k .u,.m,.b --missing=empty -p none objects
    same out objects
done
run -k 1,3 --missing=empty -t , -p none -c <(printf 'a,b\na,c,\na\n')
expect 0 '1\n' ''
run -k .u --missing=empty all
expect 2 '' 'unseen: error: --missing=empty is for a key of several parts\nunseen: hint: unseen -k .u all\n'
run -k .u --missing=no all
expect 2 '' "unseen: error: --missing: 'no' is not whole, skip, fail or empty\n"
finish
