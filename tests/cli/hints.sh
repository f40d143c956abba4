# A command that a hint shows does what the user meant, typed as it stands: each case runs a command that
# is wrong, takes the command out of its first hint, and runs that in a shell. And no hint has an option or
# a value that the command does not take.
. "$(dirname "$0")/lib/common.bash"

mkdir bin
ln -s "$UNSEEN" bin/unseen
export PATH=$scratch/bin:$PATH

# command_of FILE: the command of the first hint, which stands behind "hint: " or behind the last colon.
command_of() {
    sed -n 's/^unseen: hint: //p' "$1" | head -n 1 | sed -E 's/^such as //; s/^.*: ((unseen|mkdir|chmod|touch|cat|iconv|sort|mv|sed|z?grep) )/\1/'
}

# hint OUT ARG...: the hint of `unseen ARG...` prints OUT (in printf's notation; '*' is anything).
hint() {
    local out=$1
    shift
    run "$@"
    [ "$status" -ne 0 ] || [ -s err ] || complain "$last: no error and no hint"
    follow "$out"
}

# follow OUT [STATUS]: the hint of the last run ends with STATUS (0) and prints OUT.
follow() {
    local command
    command=$(command_of err)
    last="the hint of $last: $command"
    [ -n "$command" ] || complain "$last: there is none in: $(cat err)"
    if [ -e in ]; then
        sh -c "$command" < in > out 2> err
    else
        sh -c "$command" < /dev/null > out 2> err
    fi
    status=$?
    expect "${2:-0}" "$1" '*'
}

# no_hint ARG...: it is not known what was meant.
no_hint() {
    run "$@"
    tests_run=$((tests_run + 1))
    [ "$status" = 2 ] && [ -s err ] && [ -z "$(command_of err | grep '^unseen')" ] ||
        complain "$last: leads to: $(cat err)"
}

# A name that a shell would take apart, in each of them.
odd="it's a \$file; b"
printf 'http://e.com/a\nHTTP://e.com/a\nhttp://e.com/b\n' > "$odd"
cp "$odd" urls
printf 'url,n\nhttp://e.com/a,1\nhttp://e.com/b,2\n' > f.csv
printf '{"url":"http://e.com/a","n":1}\n{"url":"http://e.com/a","n":2}\n' > f.jsonl
printf 'com,e)/a 20240101 {"url":"http://e.com/a"}\ncom,e)/a 20250101 {"url":"http://e.com/a"}\n' > f.cdxj

# Options.
hint 'http://e.com/a\n' --onyl-params x -m 1 "$odd"
hint 'http://e.com/a\n' -m1 "$odd" --ouptut=/dev/stdout
hint '2\n' --count=3 "$odd"
hint '2\n' "$odd" --cuont
hint 'http://e.com/a\nhttp://e.com/b\n' -p carwl -- "$odd"
hint 'http://e.com/a\nHTTP://e.com/a\nhttp://e.com/b\n' -p none "$odd" -m 3 --filter compcat
hint 'http://e.com/a\nhttp://e.com/b\n' --rule strip-www,sort-qurey "$odd"
hint 'http://e.com/a\n' --fpr 1e-13 -m 1 "$odd"
hint 'http://e.com/a\n' --fpr 1e-13 -s narrow.unseen --key-bits 64 -m 1 "$odd"
hint 'http://e.com/a\nhttp://e.com/b\n' --filter bloom "$odd"
hint 'http://e.com/a\nhttp://e.com/b\n' --filter bloom --capacity 1e3 --hashes 10 --bits 20 --fpr 1e-3 "$odd"
no_hint -m x "$odd"
no_hint -m
no_hint --missing all -k .url f.jsonl
no_hint --format csv -k 1 f.csv
no_hint -k url -t , f.csv
no_hint -k url f.csv
no_hint build --kind thing x.list "$odd"
hint '{"url":"http://e.com/a","n":1}\n' -k '$.url' f.jsonl
hint '{"url":"http://e.com/a","n":1}\n' -k url f.jsonl
hint '{"url":"http://e.com/a","n":1}\n' -k .url --format lines f.jsonl
hint '{"url":"http://e.com/a","n":1}\n' -k .url -t , f.jsonl
hint '{"url":"http://e.com/a","n":1}\n' --format jsnol -k .url f.jsonl
hint 'com,e)/a 20240101 {"url":"http://e.com/a"}\n' -k .url f.cdxj
hint 'url,n\nhttp://e.com/a,1\nhttp://e.com/b,2\n' -k 2 f.csv
hint '*' count --by 2 --by 1 -t , f.csv
hint '' -o a -o b "$odd"
same a b
holds [ "$(wc -l < a)" = 2 ]
hint 'url,n\nhttp://e.com/a,1\nhttp://e.com/b,2\n' -k 1 -k 2 -t , f.csv
hint '' -v -D repeats "$odd"
holds [ "$(cat repeats)" = HTTP://e.com/a ]
hint '' -q --mark "$odd" -p crawl

# Files.
hint '' -o new.gz "$odd"
[ "$(gzip -dc new.gz | wc -l)" = 2 ] || complain 'a file of gzip'
cp "$odd" both
hint '' -o both both
holds [ "$(wc -l < both)" = 2 ]
hint '' -s no/such/folder/x.unseen "$odd"
[ -d no/such/folder ] || complain 'a folder is made'
hint 'http://e.com/b\n' http://e.com/b
gzip -c "$odd" > "$odd.gz"
zip -q lines.zip "$odd" 2> /dev/null && hint 'http://e.com/a\nhttp://e.com/b\n' lines.zip -p crawl
iconv -t UTF-16LE "$odd" > utf16
hint 'http://e.com/a\nhttp://e.com/b\n' utf16

# Stores.
unseen add "$odd.unseen" "$odd"
printf 'http://e.com/b\nhttp://e.com/c\n' > others
printf 'http://e.com/a\n' > bad
cp others in
hint 'http://e.com/c\n' "$odd.unseen" -s x.unseen
rm in
cp others lines
hint 'http://e.com/a\n' -s lines "$odd"
same others lines
hint 'http://e.com/b\n' check lines "$odd"
unseen build --expressions sites.list others
hint '' add sites.list bad
hint '' remove sites.list bad
[ "$(unseen info sites.list | grep -c '0 added\|1 removed')" = 1 ] || complain 'the list is not changed'
printf 'http://e.com/a\nhttp://f.com/\n' > in
hint 'http://e.com/a\nhttp://f.com/\n' -s sites.list
rm in
unseen add --key-bits 64 --fpr 1e-9 short.unseen urls
unseen add --fpr 1e-12 long.unseen urls
hint '' -s short.unseen --fpr 1e-12 urls
for filter in bloom counting block compact; do
    hint '' add --filter $filter short.unseen urls
    run add --filter $filter short.unseen urls
    expect 0 '' ''
done
hint '' add long.unseen --key-bits 64 urls
unseen info long.unseen > out
holds grep -q 'key bits *64' out
unseen add --fpr 1e-12 "wide 1.unseen" urls
hint 'http://e.com/c\n' -s "$odd.unseen" -p whatwg others
cp long.unseen to.unseen
hint '' merge to.unseen long.unseen
hint '*' sort "$odd.unseen"
hint '3\n' count -p crawl "$odd.unseen"
hint '*' cehck "$odd.unseen" "$odd"
hint '*' plan --filter bloom
hint '*' plan --filter blom --capacity 1e6
run plan --filter foo
expect 2 '' 'unseen: error: --filter foo: no such name\nunseen: hint: unseen help filters\n'
unseen bits add numbers.bits < /dev/null
hint '' numbers.bits
hint '' bits list numbers.bits -c

# Lists.
printf 'http://e.com/\nx y\ncom\n' > entries
hint '' build --expressions -j 1 new.list entries
holds test -e new.list
hint '' allow sites.list entries
hint '' update sites.list --add entries
hint '' update sites.list others
hint '' build urls others
cp urls out
: > empty
hint '' build e.list empty
hint '' build --from sites.list --expressions -p crawl again.list others
hint '' build --from sites.list --kind mail again.list others

# The key forgotten: each with a store that is made, with one that was there, and with a name that looks like an option.
printf '1\thttp://e.com/a\n' > f.tsv
printf 'n,url\n1,http://e.com/a\n' > n.csv
printf '%s\t"http://e.com/a"\n' x > f.log
printf 'WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://e.com/a\r\n\r\n' > f.warc
printf 'e.com\nE.com/\n' > hosts
cp f.jsonl "./-$odd"
for name in f.jsonl "-$odd" f.tsv n.csv f.log f.warc hosts; do
    for store in "new $odd" "-new $odd" "old $odd"; do
        unseen add "./old $odd" others
        hint '*' -s "$store" -- "$name"
        holds [ "$(grep -c e.com out)" = 1 ]
        holds [ "$(unseen info --json "./$store" | grep -o '"keys":[0-9]*')" != '"keys":0' ]
        rm -f ./*new* "old $odd"
    done
done

# Files of -x.
printf 'http://e.com/a' > "open $odd"
printf 'http://e.com/z\n' > one
unseen -x "open $odd" one 2> err | cat > out
follow 'http://e.com/z\n'
holds [ "$(cat "open $odd")" = "$(printf 'http://e.com/a\nhttp://e.com/z')" ]
for how in -v -c --mark; do
    cp urls "open $odd"
    hint '' -x "open $odd" -o "open $odd" $how one
    holds [ "$(tail -n 1 "open $odd")" = http://e.com/z ]
done
cp urls "open $odd"
hint '' -x "open $odd" -o "open $odd" -k .url f.jsonl
gzip -c urls > "open $odd"
hint '' -x "open $odd" -o "open $odd" one
holds [ "$(cat NEW)" = http://e.com/z ]
rm NEW
unseen add -- "-$odd.unseen" others
hint '' -x "-$odd.unseen" -o "-$odd.unseen" one
holds [ "$(cat NEW)" = http://e.com/z ]
rm NEW

# A folder that is not there; a name that looks like an option.
for folder in "no $odd" "-no $odd"; do
    hint '' -s "$folder/s" urls
    hint '' build -- "$folder 2/s" others
    timeout 5 "$UNSEEN" serve --listen "unix:$folder 3/s" "$odd.unseen" > out 2> err
    follow ''
    holds [ -d "./$folder" ]
    holds [ -d "./$folder 2" ]
    holds [ -d "./$folder 3" ]
done

# Removal: from a filter that cannot, and of lines that were never added.
unseen add --filter block --capacity 1000 --fpr 0.01 "block $odd" urls
hint '' remove "block $odd" urls
run remove "block $odd" urls
expect 0 '' ''
seq 100000 | unseen add --seed 1 -p none --filter counting --capacity 100000 --fpr 0.01 "half $odd"
seq 100001 200000 | unseen check "half $odd" > wrong
cp "half $odd" kept
run remove "half $odd" wrong
follow ''
cp kept "half $odd"
run recheck "half $odd" wrong
follow ''
run recheck "half $odd" wrong
holds [ ! -s err ]
seq 3 > three
hint '' allow "half $odd" three
run check "half $odd" three
expect 1 '' ''

# A store and its leases.
for store in "leased $odd" "-leased $odd"; do
    printf 'L 60 http://e.com/a\n' | unseen serve -- "$store" > out 2> err
    mv "./$store.leases" away
    run serve -- "$store"
    sed -i '/to put it there/d' err
    cp "./$store" kept
    follow '*'
    cp kept "./$store"
    head -c 200 /dev/zero > "./$store.leases"
    hint '*' serve -- "$store"
    cp kept "./$store"
    printf 'L 60 http://e.com/a\n' | unseen serve other.unseen > out 2> err
    cp other.unseen.leases "./$store.leases"
    hint '*' serve -- "$store"
    run serve -- "$store"
    expect 0 '*' ''
    cp kept "./$store"
    cp away "./$store.leases"
    run serve -- "$store"
    expect 0 '*' ''
    for n in '' .1; do
        flip "./$store.leases" 9
        cp "./$store.leases" before
        run repair -- "$store"
        expect 0 '*' '*'
        holds grep -qF "$store.leases.damaged$n is the file as it was" err
        same before "./$store.leases.damaged$n"
    done
done
hint '' rewrite "$odd.unseen" long.unseen
hint '*' repair --wait=1 "$odd.unseen" long.unseen

# No seed is shown, also if the rest of the line is.
run --seed secret --cuont "$odd"
expect 2 '' 'unseen: error: unknown option --cuont\nunseen: hint: unseen ...\n'

# An output that is not of lines.
for kind in image leases set; do
    case $kind in
    image) cp "$odd.unseen.image" t 2> /dev/null || continue ;;
    leases) printf '\x89UNE\r\n\x1a\n' > t ;;
    set) { printf 'UNSH\0\0\0\0' && head -c 16 /dev/zero && printf '\x89UNS\r\n\x1a\n'; } > t ;;
    esac
    cp t before
    hint '' -o t "$odd" -p crawl
    same t before
    rm -f NEW
done

# Each name with a typing error leads to a name that the command takes, or to the help.
typos() { # WORD
    local w=$1
    printf '%s\n' "${w%?}" "${w:0:1}$w" "${w:1:1}${w:0:1}${w:2}" "${w}x" "${w:0:2}${w:3}"
}
nth=0
# Each seventh in the usual run: all kinds by turns.
is_left_out() { brief && [ $((nth++ % 7)) != 0 ]; }
commands=$(unseen __complete '' | sed -n '2,$p' | cut -f 1 | grep -v '^help$')
for command in '' $commands; do
    names=$(unseen __complete $command -- | sed -n '2,$p' | cut -f 1 | grep '^--')
    for name in $names; do
        for typo in $(typos "${name#--}"); do
            [[ $'\n'$names$'\n' == *$'\n'"--$typo"$'\n'* ]] || is_left_out && continue
            run $command "--$typo"
            tests_run=$((tests_run + 1))
            [ "$status" = 2 ] || complain "$last: status $status"
            found=$(command_of err)
            found=${found#unseen}
            found=${found# $command}
            read -r found _ <<< "${found%%=*}"
            [ "$found" = '' ] || [ "$found" = STORE ] || [ "$found" = ... ] || grep -qxe "$found" <<< "$names" ||
                complain "$last: leads to $found: $(cat err)"
        done
    done
done

# So does each value.
while read -r command option values; do
    for value in $values; do
        for typo in $(typos "$value"); do
            case " $values " in *" $typo "*) continue ;; esac
            is_left_out && continue
            run $command "--$option=$typo"
            tests_run=$((tests_run + 1))
            [ "$status" = 2 ] || complain "$last: status $status"
            found=$(command_of err | sed -n "s/^unseen.* --${option}[ =]\([^ ]*\).*/\1/p")
            case " $values " in *" $found "* | *'  '*) ;; *) [ -z "$found" ] || complain "$last: leads to $found" ;; esac
        done
    done
done << 'END'
canon profile none whatwg crawl scrapy safebrowsing aggressive
dedup rule strip-www strip-index sort-query fold-scheme keep-routes
dedup filter compact bloom block counting exact
dedup stats text json
dedup color auto always never
dedup format auto lines jsonl
import format lines anew requests.seen redis-set guava dcso redis-bitmap java-bitset
import funnel bytes utf8 utf16
plan plot auto always never
END
finish
