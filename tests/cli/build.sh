# unseen build: lists from lines.
# Label: threads
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # the syncs would take minutes on a busy disk
. "$(dirname "$0")/lib/common.bash"

listed() { # LIST FILE: the lines of FILE that LIST has
    "$UNSEEN" check "$1" "$2"
}

stat_of() { # NAME: of --stats in err
    sed -n "s/^$1  *//p" err
}

# ---- entries in, entries out ---------------------------------------------------------------------
printf 'http://a.example/\nhttp://B.example:80/x/../y\nhttp://a.example/\n' > in.txt
run build --stats a.list in.txt
expect 0 '' '*'
holds [ "$(stat_of lines) $(stat_of entries) $(stat_of distinct)" = '3 3 2' ]
holds [ "$(stat_of kind) $(stat_of profile)" = 'url crawl/1' ]
holds [ ! -e a.list.building ]
holds [ "$(listed a.list in.txt | wc -l)" = 3 ]
printf 'http://b.example/y\nhttp://c.example/\n' > in
run check a.list
expect 0 'http://b.example/y\n' ''
rm in

urls 40000 30000 7 > big.txt
awk '{ print "not." $0 }' big.txt > others.txt
run build --seed 3 --stats=json big.list big.txt
expect 0 '' '*'
holds grep -q '"lines":40000,"entries":40000,' err
holds [ "$(listed big.list big.txt | wc -l)" = 40000 ]
holds [ "$(listed big.list others.txt | wc -l)" -lt 30 ]

# The same entries give the same file: from any source, any number of threads, any order.
gzip -c big.txt > big.gz
zstd -q -c big.txt > big.zst
head -n 15000 big.txt > part1.txt
tail -n +15001 big.txt | gzip -c > part2.gz
tac big.txt > tac.txt
tr '\n' '\0' < big.txt > zero.txt
awk '{ print "x," $0 ",y" }' big.txt > fields.csv
awk '{ print "{\"a\":{\"b\":\"" $0 "\"}}" }' big.txt > lines.jsonl
same_list() { # ARG...: builds other.list, which must be as big.list
    run build --seed 3 "$@"
    expect 0 '' ''
    same other.list big.list
}
same_list other.list big.gz
same_list other.list big.zst
same_list other.list part1.txt part2.gz
same_list other.list tac.txt
same_list -j 1 other.list big.txt
same_list -j 5 other.list big.txt
same_list -0 other.list zero.txt
same_list -k 2 -t , other.list fields.csv
same_list -k .a.b -j 3 other.list lines.jsonl
same_list --memory 1M other.list big.txt
cp big.txt in
same_list other.list
same_list other.list -
cp big.gz in
same_list other.list
rm in
printf '%s' "$(cat big.txt)" > unfinished.txt
same_list other.list unfinished.txt
# A random seed makes another one.
run build other.list big.txt
expect 0 '' ''
holds [ "$(cmp -s other.list big.list; echo $?)" = 1 ]

# Rates and their bits; a rate is of a question, which may have several texts.
for rate in 1e-2 1e-4 1e-6; do
    run build --fpr $rate --stats rate.list big.txt
    expect 0 '' '*'
    holds awk -v want=$rate -v has="$(stat_of wrong)" 'BEGIN { exit !(has <= want && has > want / 2) }'
done
run build --fpr 0.5 rate.list big.txt
expect 2 '' '*'
holds grep -q '^unseen: error: --fpr 0.5: ' err
run build --fpr 1e-12 rate.list big.txt
expect 2 '' '*'
holds grep -q '^unseen: error: --fpr 1e-12: ' err
holds [ ! -e rate.list.building ]

# ---- kinds -------------------------------------------------------------------------------------
printf 'evil.example/\nhttp://bad.example/folder/\n' > sites.txt
run build --expressions sites.list sites.txt
expect 0 '' ''
printf 'http://www.evil.example/any/page?x\nhttp://bad.example/\nhttp://bad.example/folder/page\n' > in
run check sites.list
expect 0 'http://www.evil.example/any/page?x\nhttp://bad.example/folder/page\n' ''
printf 'Jo@Spam.example\nevil.example\n' > in
run build --kind mail mail.list
expect 0 '' ''
printf 'jo@spam.example\nal@spam.example\nx@mail.evil.example\n' > in
run check mail.list
expect 0 'jo@spam.example\nx@mail.evil.example\n' ''
printf '192.0.2.0/24\n2001:db8::/32\n' > in
run build --kind ip ip.list
expect 0 '' ''
printf '192.0.2.77\n192.0.3.1\n2001:db8::1\n' > in
run check ip.list
expect 0 '192.0.2.77\n2001:db8::1\n' ''
printf '+49 (0) 123-4567\n' > in
run build --kind phone phone.list
expect 0 '' ''
printf 'a\377b\n' > in
run build -p none bytes.list
expect 0 '' ''
run check bytes.list
expect 0 'a\377b\n' ''
rm in
run build --kind mail --expressions x.list sites.txt
expect 2 '' 'unseen: error: --expressions is for URLs, not for the kind mail\nunseen: hint: unseen build --expressions x.list sites.txt\n'
run build --kind ip -p crawl x.list sites.txt
expect 2 '' 'unseen: error: entries of the kind ip need no profile\nunseen: hint: unseen build --kind ip x.list sites.txt\n'
run build --kind urls x.list sites.txt
expect 2 '' '*'
holds grep -q "'urls' is not url, expressions, mail, ip or phone" err

# ---- what is refused ---------------------------------------------------------------------------
printf 'http://ok.example/\n/\nhttp://fine.example/\n' > root.txt
run build x.list in.txt root.txt
expect 2 '' "unseen: error: root.txt:2: '/' is the root of everything or a bare top-level domain, not a page\nunseen: error: nothing was built\nunseen: hint: *\n"
holds [ ! -e x.list ] && holds [ ! -e x.list.building ]
printf 'evil.example/\n/\ncom\nfine.example\n' > dangerous.txt
run build --expressions x.list dangerous.txt
expect 2 '' '*'
holds grep -q '^unseen: error: dangerous.txt:2: ' err
holds grep -q "^unseen: error: dangerous.txt:3: 'com' " err
lacks 'dangerous.txt:[14]' err
run build --expressions --dangerous --skip-invalid x.list dangerous.txt
expect 0 '' '*'
holds grep -q "^unseen: warning: dangerous.txt:3: taken: 'com' " err
rm x.list
printf 'com\nevil.example\n' > domains.txt
run build --kind mail x.list domains.txt
expect 2 '' '*'
run build --kind mail --dangerous x.list domains.txt
expect 0 '' '*'
holds grep -q '^unseen: warning: 1 lines with dangerous entries were taken$' err
printf 'a@x.com\na@x.org\n' > in
run check x.list
expect 0 'a@x.com\n' ''
rm in x.list
# Line numbers far into a file, and no more than ten of them.
awk 'NR % 3000 == 0 { print "," $0; next } { print "x," $0 }' big.txt | sed 's/^,.*/x,/' > holes.txt
run build -k 2 -t , x.list holes.txt
expect 2 '' '*'
holds [ "$(grep -c ' is empty$' err)" = 10 ]
holds grep -q '^unseen: error: holes.txt:30000: ' err
holds grep -q '^unseen: error: 3 more such lines$' err
gzip -c holes.txt > holes.gz
run build -k 2 -t , -j 4 x.list holes.gz
holds grep -q '^unseen: error: holes.gz:3000: ' err
run build -k 2 -t , --skip-invalid --stats x.list holes.txt
expect 0 '' '*'
holds grep -q '^unseen: warning: 13 lines that are not entries were left out$' err
holds [ "$(stat_of entries)" = 39987 ]
printf 'a\nb,http://b.example/\n' > short.csv
run build -k 2 -t , x.list short.csv
expect 2 '' '*'
holds grep -q "^unseen: error: short.csv:1: 'a' has no field 2$" err
printf '{"u":"http://e.example/"}\n{"v":1}\n' > short.jsonl
run build -k .u y.list short.jsonl
expect 2 '' '*'
holds grep -q "short.jsonl:2: .* has no value .u$" err
printf 'http://%0100d.example/\nhttp://b.example/\n' 1 > long.txt
run build --max-line 50 y.list long.txt
expect 2 '' '*'
holds grep -q '^unseen: error: nothing was built$' err
holds [ ! -e y.list ]
: > nothing.txt
run build y.list nothing.txt
expect 2 '' '*'
holds grep -q 'no entries' err
run build --force y.list nothing.txt
expect 0 '' ''
run check y.list in.txt
expect 1 '' ''

# ---- files that are something else ---------------------------------------------------------------
run build text.list in.txt
cp in.txt keep.txt
run build keep.txt big.txt
expect 2 '' 'unseen: error: keep.txt is not a list, and is not replaced\nunseen: hint: unseen build NEW.list keep.txt big.txt\n'
same keep.txt in.txt
"$UNSEEN" add s.unseen in.txt
run build s.unseen big.txt
expect 2 '' '*'
holds grep -q 's.unseen is a store, and is not replaced' err
run build y.list s.unseen
expect 2 '' '*'
holds grep -q 's.unseen is a store, not a file of lines' err
run build y.list a.list
expect 2 '' '*'
holds grep -q 'a.list is a list, not a file of lines' err
run build y.list missing.txt
expect 2 '' 'unseen: error: cannot open missing.txt: No such file or directory\n'
run build y.list .
expect 2 '' 'unseen: error: cannot read .: Is a directory\n'
run build no/such/folder.list in.txt
expect 2 '' '*'
holds grep -q 'cannot make .*no/such/folder.list.building' err
# A list has a name.
cp in.txt in
for name in '' -; do
    run build "$name"
    expect 2 '' "unseen: error: the list needs a file name, and '$name' is not one\nunseen: hint: *\n"
    run build --force "$name" big.txt
    expect 2 '' '*'
done
rm in
holds [ ! -e ./- ] && holds [ ! -e ./-.building ] && holds [ ! -e .building ]
run build y.list - -
expect 2 '' '*'
holds grep -q 'standard input can be read only once' err
gzip -c big.txt | head -c 20000 > torn.gz
before=$(cksum < y.list)
run build y.list torn.gz
expect 2 '' '*'
holds grep -q 'torn.gz: the compressed data ends too early' err
holds [ "$(cksum < y.list)" = "$before" ]
holds [ ! -e y.list.building ]

# The new list has the rights of the one it replaces, and takes its place behind a symbolic link.
chmod 640 y.list
ln -s y.list link.list
run build link.list in.txt
expect 0 '' ''
holds [ -L link.list ]
holds [ "$(stat -c %a y.list)" = 640 ]
holds [ "$(listed y.list in.txt | wc -l)" = 3 ]

# Only one process builds a list; what else is in the folder stays.
mkdir z.list.building
echo mine > z.list.building/notes.txt
run build z.list in.txt
expect 0 '' '*'
holds grep -q 'warning: .*z.list.building stays' err
holds [ "$(cat z.list.building/notes.txt)" = mine ]
mkfifo fifo
"$UNSEEN" build busy.list < fifo 2> first_err &
first=$!
exec 7<> fifo
cat in.txt >&7
eventually [ -d busy.list.building ]
run build busy.list in.txt
expect 2 '' '*'
holds grep -q 'another process is building .*busy.list' err
exec 7>&-
wait "$first"
holds [ $? = 0 ]
holds [ "$(listed busy.list in.txt | wc -l)" = 3 ]

# ---- how far it is -------------------------------------------------------------------------------
"$UNSEEN" build --progress=always slow.list < fifo 2> slow_err &
slow=$!
exec 7<> fifo
cat in.txt >&7
eventually [ -d slow.list.building ]
asked_says() { kill -USR1 "$slow" && grep -qE "$1" slow_err; }
eventually asked_says '^unseen: reading: 3 lines, [0-9.]+ million/s$'
exec 7>&-
wait "$slow"
holds [ $? = 0 ]
# Of files, with the share and the time left; a large one is slow enough, or it is done again.
for i in $(seq "$(sanitized && echo 4 || echo 64)"); do cat big.txt; done > long.txt
for try in $(seq 10); do
    rm -f long.list
    "$UNSEEN" build -j 1 --progress=always long.list long.txt 2> slow_err &
    slow=$!
    eventually [ -d long.list.building -o -e long.list ]
    while kill -USR1 "$slow" 2> /dev/null; do
        grep -q 'reading: .*, [0-9.]* %' slow_err && break
        sleep 0.002
    done
    wait "$slow"
    holds [ $? = 0 ]
    grep -q 'reading: .*, [0-9.]* %' slow_err && break
done
holds grep -qE '^unseen: reading: [0-9]+ lines, [0-9.]+ million/s, [0-9.]+ %(, [0-9]+ s left)?$' slow_err

# ---- what was hardly meant -----------------------------------------------------------------------
printf 'evil.example\nbad.example\nhttp://fine.example/\n' > names.txt
run build names.list names.txt
expect 2 '' '*'
holds grep -q '^unseen: error: 2 of 3 entries are not URLs' err
holds grep -q '^unseen: hint: to take names for sites: unseen build --expressions' err
# The byte behind a field does not belong to the entry.
printf 'evil.example:x\nbad.example:y\n' > fields.txt
run build -k 1 -t : fields.list fields.txt
expect 2 '' '*'
holds grep -q '^unseen: error: 2 of 2 entries are not URLs' err
run build --force names.list names.txt
expect 0 '' '*'
holds grep -q '^unseen: warning: 2 of 3 entries are not URLs' err
run build -p none names.list names.txt
expect 0 '' ''
run build --expressions names.list names.txt
expect 0 '' ''

mkdir folder
run build --known-good folder x.list in.txt
expect 2 '' '*'
holds grep -q '^unseen: error: cannot read folder: Is a directory' err
holds [ ! -e x.list.building ]
printf 'x' > y.list.building
run build y.list in.txt
expect 2 '' '*'
holds grep -q '^unseen: hint: work files go there' err

finish
