# unseen allow, unseen update: what is said of a list after it was built.
. "$(dirname "$0")/lib/common.bash"

stat_of() { # NAME: of --stats in err
    sed -n "s/^$1  *//p" err
}
changes() { # LIST: what info tells of it
    "$UNSEEN" info "$1" | sed -n 's/^changes  *//p'
}

urls 9000 4000 5 | sort -u > listed.txt
sed 's/^/not./' listed.txt | sed 's/not.http:/http:/; s/www/other/' > others.txt
"$UNSEEN" build --seed 2 --fpr 1e-9 bad.list listed.txt 2> /dev/null || complain 'no list'
cp bad.list built.list

# ---- allow ---------------------------------------------------------------------------------------
head -n 3 listed.txt > hits.txt
run allow bad.list hits.txt
expect 0 '' ''
run check bad.list hits.txt
expect 1 '' ''
run check -v bad.list hits.txt
expect 0 "$(cat hits.txt)\n" ''
run check -c bad.list listed.txt
expect 0 "$(($(wc -l < listed.txt) - 3))\n" ''
run allow --list bad.list
expect 0 "$(cat hits.txt)\n" ''
holds [ "$(changes bad.list)" = '0 added, 0 removed, 3 allowed' ]
run verify bad.list
expect 0 '*' ''

# In any form of the URL, from standard input, compressed, as a field, twice.
url=$(sed -n 4p listed.txt)
echo "${url/http:\/\/www/HTTP://WWW}" | sed 's,/\([^/]*\)$,/./\1,' > in
run allow --stats bad.list
expect 0 '' '*'
holds [ "$(stat_of lines) $(stat_of changed) $(stat_of allowed)" = '1 1 4' ]
rm in
run check bad.list <(echo "$url")
expect 1 '' ''
run allow --stats=json bad.list hits.txt
expect 0 '' '*'
holds grep -q '^{"lines":3,"changed":0,"not_there":0,"comments":0,"dangerous":0,"left_out":0,"allowed":4,"added":0,"removed":0,"changes_bytes":[0-9]*}$' err
size=$(stat -c %s bad.list)
run allow bad.list hits.txt
expect 0 '' ''
holds [ "$(stat -c %s bad.list)" = "$size" ]
sed -n 5,6p listed.txt | sed 's/.*/x\t&\ty/' | gzip -c > more.gz
run allow -k 2 bad.list more.gz
expect 0 '' ''
sed -n 7p listed.txt | sed 's/.*/{"u":{"r":"&"}}/' > more.jsonl
run allow -k .u.r bad.list more.jsonl
expect 0 '' ''
sed -n 8,9p listed.txt | tr '\n' '\0' > more.zero
run allow -z bad.list more.zero
expect 0 '' ''
run allow -z --list bad.list
tr '\0' '\n' < out > allowed.txt
head -n 9 listed.txt > want.txt
same allowed.txt want.txt

run allow --remove bad.list hits.txt
expect 0 '' ''
run allow --remove bad.list hits.txt
expect 0 '' 'unseen: warning: 3 of the 3 lines were not allowed\n'
run allow --list bad.list
sed -n 4,9p listed.txt > want.txt
same out want.txt
run check -c bad.list hits.txt
expect 0 '3\n' ''

# What was allowed without being listed stays allowed when it is added.
head -n 1 others.txt > one.txt
run allow bad.list one.txt
expect 0 '' ''
run update bad.list --add one.txt
expect 0 '' ''
run check bad.list one.txt
expect 1 '' ''
run allow --remove bad.list one.txt
expect 0 '' ''
run check bad.list one.txt
expect 0 "$(cat one.txt)\n" ''

# ---- update --------------------------------------------------------------------------------------
cp built.list bad.list
head -n 20 others.txt > more.txt
tail -n 30 listed.txt > gone.txt
run update --stats bad.list --add more.txt --remove gone.txt
expect 0 '' '*'
holds [ "$(stat_of lines) $(stat_of changed) $(stat_of added) $(stat_of removed)" = '50 50 20 30' ]
run check bad.list more.txt
same out more.txt
run check bad.list gone.txt
expect 1 '' ''
run check -c bad.list listed.txt
expect 0 "$(($(wc -l < listed.txt) - 30))\n" ''
holds [ "$(changes bad.list)" = '20 added, 30 removed, 0 allowed' ]
# each undoes the other, in the order given
run update bad.list --remove more.txt --add more.txt --add gone.txt
expect 0 '' ''
run check -c bad.list more.txt gone.txt
expect 0 '50\n' ''
run update bad.list --add more.txt --remove more.txt
expect 0 '' ''
run check bad.list more.txt
expect 1 '' ''
run update bad.list --add - --remove -
expect 2 '' '*'
run update bad.list --remove others.txt
run update bad.list --remove others.txt
expect 0 '' '*'
n=$(wc -l < others.txt)
holds grep -q "^unseen: warning: $n of the $n lines were not in the list\$" err
cp others.txt in
run update bad.list --add -
expect 0 '' '*'
# so many that a new list is better
holds grep -q '^unseen: hint: there are [0-9]* changes now; .*: unseen build --from bad.list bad.list FILE' err
rm in
run check bad.list others.txt
same out others.txt
cp built.list bad.list

# ---- kinds ---------------------------------------------------------------------------------------
printf 'evil.example/\nother.example/bad/\n' > sites.txt
"$UNSEEN" build --expressions sites.list sites.txt 2> /dev/null || complain 'no list'
printf 'http://a.evil.example/x/y\nhttp://evil.example/good/page\nhttp://new.example/z\n' > asked.txt
printf 'evil.example/good/\n' > good.txt
printf 'NEW.example\n' > new.txt
run allow sites.list good.txt
expect 0 '' ''
run update sites.list --add new.txt
expect 0 '' ''
run check sites.list asked.txt
expect 0 'http://a.evil.example/x/y\nhttp://new.example/z\n' ''
run allow --list sites.list
expect 0 'evil.example/good/\n' ''
printf '192.0.2.0/24\n' > nets.txt
"$UNSEEN" build --kind ip nets.list nets.txt 2> /dev/null || complain 'no list'
printf '192.0.2.77\n' > host.txt
run allow nets.list host.txt
expect 0 '' ''
printf '192.0.2.76\n192.0.2.77\n' > in
run check nets.list
expect 0 '192.0.2.76\n' ''
rm in

# ---- what is refused: nothing is changed then ----------------------------------------------------
cp nets.list before.list
printf '198.51.100.1\n192.0.2.300\nno address\n0.0.0.0/0\n198.51.100.2\n' > wrong.txt
for how in 'allow nets.list wrong.txt' 'update nets.list --add wrong.txt' \
    'update nets.list --add host.txt --add wrong.txt'; do
    run $how
    expect 2 '' '*'
    holds [ "$(grep -c '^unseen: error: wrong.txt:[234]: ' err)" = 3 ]
    holds grep -q '^unseen: error: nothing was changed$' err
    holds grep -q '^unseen: hint: .*: unseen [a-z]* --skip-dangerous --skip-invalid ' err
    same nets.list before.list
done
run allow --dangerous --skip-invalid nets.list wrong.txt
expect 0 '' '*'
holds [ "$(grep -c '^unseen: warning: wrong.txt:[234]: ' err)" = 3 ]
run allow --list nets.list
expect 0 '192.0.2.77\n198.51.100.1\n0.0.0.0/0\n198.51.100.2\n' ''
# What is dangerous can be taken out without --dangerous.
printf '0.0.0.0/0\n' > all.txt
run allow --remove nets.list all.txt
expect 0 '' ''
yes nonsense | head -n 15 > many.txt
run allow nets.list many.txt
expect 2 '' '*'
holds [ "$(grep -c 'many.txt:' err)" = 10 ]
holds grep -q '^unseen: error: 5 more such lines$' err
# A line that --max-line leaves out counts, whether it is short or of many blocks.
for size in 300 500000; do
    { head -c $size /dev/zero | tr '\0' 9; printf '\n192.0.2.1\r\nno address\r\n'; } > long.txt
    for how in 'allow nets.list' 'update nets.list --add'; do
        run $how long.txt --max-line 100
        expect 2 '' '*'
        holds grep -q "^unseen: error: long.txt:1: line of $size bytes left out: " err
        holds grep -q '^unseen: error: long.txt:3: ' err
        lacks 'long.txt:2: ' err
    done
done

wrong() { # WANT_ERROR WANT_HINT ARG...
    want_error=$1
    want_hint=$2
    shift 2
    run "$@"
    expect 2 '' "unseen: error: $want_error\nunseen: hint: $want_hint\n"
}
"$UNSEEN" add some.unseen listed.txt
wrong 'some.unseen is a store, not a list' 'a store takes lines with unseen add, and loses them with unseen remove' \
    update some.unseen --add hits.txt
wrong 'hits.txt is not a list' 'to make a list of its lines: unseen build NEW.list hits.txt' allow hits.txt hits.txt
wrong 'nothing to add or to remove' 'unseen update --add FILE bad.list' update bad.list
wrong 'hits.txt: is it to be added or removed?' 'unseen update bad.list --add hits.txt' update bad.list hits.txt
wrong '--list changes nothing, so it takes no lines' 'unseen allow --list bad.list' allow --list bad.list hits.txt
run allow bad.list bad.list
expect 2 '' 'unseen: error: bad.list is a list, not a file of lines\nunseen: hint: the input of unseen allow is a file of lines\nunseen: error: nothing was changed\n'
run update bad.list --add some.unseen
expect 2 '' 'unseen: error: some.unseen is a store, not a file of lines\nunseen: hint: the input of unseen update is a file of lines\nunseen: error: nothing was changed\n'
run allow missing.list hits.txt
expect 2 '' '*'
holds [ ! -e missing.list ]
# Without the list no other file is looked at.
wrong 'cannot open missing.list: No such file or directory' 'to make it: unseen build missing.list FILE' \
    allow missing.list some.unseen
# A file that cannot be read, or not to its end: the lines of the others are not taken either.
gzip -nc others.txt | head -c 20 > cut.gz
unread() { # WANT_ERROR FILE
    for how in 'allow bad.list' 'allow --remove bad.list' 'update bad.list --add' \
        'update bad.list --add one.txt --remove'; do
        run $how "$2"
        expect 2 '' "unseen: error: $1\nunseen: error: nothing was changed\n"
        same bad.list built.list
    done
}
unread 'cannot open missing.txt: No such file or directory' missing.txt
unread 'cannot read .: Is a directory' .
unread 'cut.gz: the compressed data ends too early' cut.gz
run allow bad.list hits.txt missing.txt one.txt
expect 2 '' 'unseen: error: cannot open missing.txt: No such file or directory\nunseen: error: nothing was changed\n'
same bad.list built.list
# It is said once, also if a line is refused, too.
run allow nets.list missing.txt wrong.txt
expect 2 '' '*'
holds [ "$(grep -c 'nothing was changed' err)" = 1 ]

# ---- one writer ----------------------------------------------------------------------------------
mkfifo lines
"$UNSEEN" allow bad.list lines &
writer=$!
exec 9> lines
echo http://held.example/ >&9
eventually eval '! flock -n bad.list true'
for command in 'allow --wait=0 bad.list hits.txt' 'update --wait=0.05 bad.list --add hits.txt'; do
    run $command
    expect 2 '' "unseen: error: bad.list is being written to by process $writer\nunseen: hint: *\n"
done
run check -c bad.list hits.txt # readers do not wait
expect 0 '3\n' ''
"$UNSEEN" allow --wait bad.list hits.txt 2> waiter 9>&- & # waits for the first, as long as it takes
second=$!
eventually grep -q "^unseen: waiting: bad.list is being written to by process $writer\$" waiter
exec 9>&-
wait "$writer"
holds [ $? = 0 ]
wait "$second"
holds [ $? = 0 ]
run allow --list bad.list
expect 0 "http://held.example/\n$(cat hits.txt)\n" ''

# Another list gets the name while lines come: they are in neither, and that is said.
"$UNSEEN" allow bad.list lines 2> err &
writer=$!
exec 9> lines
cp bad.list new.list
eventually eval '! flock -n bad.list true'
mv new.list bad.list
echo http://late.example/ >&9
exec 9>&-
wait "$writer"
status=$?
last='allow of a list that is replaced'
: > out
expect 2 '' 'unseen: error: bad.list was replaced by another file while it was being changed\nunseen: hint: unseen allow again with the same lines changes the new one\n'
run allow --list bad.list
expect 0 "http://held.example/\n$(cat hits.txt)\n" ''
cp built.list bad.list
head -n 1 others.txt > one.txt
run allow bad.list one.txt
expect 0 '' ''

# ---- an interrupted commit -----------------------------------------------------------------------
truncate -s -53 bad.list # and the 48 bytes that end the changes
run allow --list bad.list
expect 0 '' ''
run allow bad.list hits.txt
expect 0 '' ''
run allow --list bad.list
expect 0 "$(cat hits.txt)\n" ''

# A full disk: nothing is changed, and said so.
if command -v prlimit > /dev/null; then
    size=$(stat -c %s bad.list)
    cp bad.list before.list
    prlimit --fsize=$((size + 100)) "$UNSEEN" update bad.list --add others.txt > out 2> err
    status=$?
    last='update with a limit'
    expect 2 '' 'unseen: error: cannot write bad.list: File too large\n'
    same bad.list before.list
else
    skip 'no prlimit'
fi

finish
