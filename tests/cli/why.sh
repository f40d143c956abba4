# check --why: which entry of a list covers a line, whether it was built in, added or allowed, and what a store has.
. "$(dirname "$0")/lib/common.bash"

row() { # TEXT HOW SET LINE
    printf '%s\t%s\t%s\t%s\n' "$@"
}

# ---- Sites ---------------------------------------------------------------------------------------
printf 'evil.example/\nevil.example/deep/\ngood.example/bad/\n' > in
run build --seed 1 --expressions sites.list
echo evil.example/fine/ > in
run allow sites.list
printf 'added.example\nevil.example/deep/\n' > in
run update sites.list --add -
expect 0 '' ''
printf '%s\n' 'http://www.evil.example/x?y' http://no.example/ http://evil.example/fine/p HTTP:\\\\X.added.example \
    http://evil.example/deep/1 no-url > in
run check --why sites.list
row evil.example/ built sites.list 'http://www.evil.example/x?y' > want
row added.example/ added sites.list 'HTTP:\\X.added.example' >> want
row evil.example/ built sites.list http://evil.example/deep/1 >> want
row evil.example/deep/ added sites.list http://evil.example/deep/1 >> want
expect 0 '*' ''
same out want
run check --why -v sites.list
row '' none sites.list http://no.example/ > want
row evil.example/ built sites.list http://evil.example/fine/p >> want
row evil.example/fine/ allowed sites.list http://evil.example/fine/p >> want
row '' none sites.list no-url >> want
expect 0 '*' ''
same out want
run check --why --json sites.list
expect 0 '{"input":"http://www.evil.example/x?y","found":true,"in":"sites.list","kind":"expressions","why":[{"text":"evil.example/","how":"built"}]}
{"input":"http://no.example/","found":false,"in":"sites.list","kind":"expressions","why":[]}
{"input":"http://evil.example/fine/p","found":false,"in":"sites.list","kind":"expressions","why":[{"text":"evil.example/","how":"built"},{"text":"evil.example/fine/","how":"allowed"}]}
{"input":"HTTP:\\\\\\\\X.added.example","found":true,"in":"sites.list","kind":"expressions","why":[{"text":"added.example/","how":"added"}]}
{"input":"http://evil.example/deep/1","found":true,"in":"sites.list","kind":"expressions","why":[{"text":"evil.example/","how":"built"},{"text":"evil.example/deep/","how":"added"}]}
{"input":"no-url","found":false,"in":"sites.list","kind":"expressions","why":[]}\n' ''
run check --why -m 1 sites.list
expect 0 'evil.example/\tbuilt\tsites.list\thttp://www.evil.example/x?y\n' ''
echo evil.example/ > in
run update sites.list --remove -
echo http://evil.example/x > in
run check --why sites.list
expect 1 '' ''

# ---- Other kinds: the text that hit, not the line --------------------------------------------------
echo evil.example > in
run build --seed 1 --kind mail mail.list
echo 'Jo <jo@News.Evil.example>' > in
run check --why mail.list
expect 0 'evil.example\tbuilt\tmail.list\tJo <jo@News.Evil.example>\n' ''
echo 192.0.2.0/24 > in
run build --seed 1 --kind ip ip.list
echo 0300.0.2.7 > in
run check --why ip.list
expect 0 '192.0.2.0/24\tbuilt\tip.list\t0300.0.2.7\n' ''
echo http://evil.example/b > in
run build --seed 1 url.list
printf 'x,HTTP://evil.example:80/a/../b#top\r\nx,y\r\n' > in
run check --why -k 2 -t , url.list
expect 0 'http://evil.example/b\tbuilt\turl.list\tx,HTTP://evil.example:80/a/../b#top\r\n' ''
run check --why --canonical -k 2 -t , url.list
expect 0 'http://evil.example/b\tbuilt\turl.list\thttp://evil.example/b\n' ''
printf 'x\0http://evil.example/./b\0' > in
run check --why -z url.list
expect 0 'http://evil.example/b\tbuilt\turl.list\thttp://evil.example/./b\0' ''

# ---- Stores and servers --------------------------------------------------------------------------
printf 'http://e.com/a\nplain\n' > in
run add --seed 1 s.unseen
printf 'HTTP://E.com:80/a#x\nno\nplain' > in
run check --why s.unseen
expect 0 'http://e.com/a\tstored\ts.unseen\tHTTP://E.com:80/a#x\nplain\tstored\ts.unseen\tplain\n' ''
run check --why -v s.unseen
expect 0 '\tnone\ts.unseen\tno\n' ''
run check --why --json s.unseen
expect 0 '{"input":"HTTP://E.com:80/a#x","found":true,"in":"s.unseen","kind":"store","why":[{"text":"http://e.com/a","how":"stored"}]}
{"input":"no","found":false,"in":"s.unseen","kind":"store","why":[]}
{"input":"plain","found":true,"in":"s.unseen","kind":"store","why":[{"text":"plain","how":"stored"}]}\n' ''
"$UNSEEN" serve s.unseen --listen unix:sock 2> server_err &
server=$!
eventually grep -q listening server_err
run check --why unix:sock
expect 0 'http://e.com/a\tstored\tunix:sock\tHTTP://E.com:80/a#x\nplain\tstored\tunix:sock\tplain\n' ''
kill "$server"
wait "$server"

# ---- Many lines, in one thread and two: as check says --------------------------------------------
seq 40000 | awk '{ print "http://h" $1 % 500 ".example/" $1 }' > in
seq 0 3 499 | sed 's/.*/h&.example/' > entries
unseen build --seed 1 --expressions many.list entries
unseen check many.list in > want
for j in 1 2; do
    run check -j "$j" --why many.list
    cut -f 4 out > lines
    same lines want
    holds awk -F '\t' '{ split($4, part, "/"); if ($1 != part[3] "/") exit 1 }' out
done

# ---- What contradicts it -------------------------------------------------------------------------
run check --why -c s.unseen
expect 2 '' 'unseen: error: --why prints the lines that are found, -c prints a number\nunseen: hint: unseen check --why s.unseen\n'
run check --why -q s.unseen
expect 2 '' 'unseen: error: --why prints the lines that are found, -q prints nothing\nunseen: hint: unseen check --why s.unseen\n'
run check --why --mark s.unseen
expect 2 '' 'unseen: error: --mark prints every line, --why prints the lines that are found\nunseen: hint: unseen check --json --why s.unseen\n'
run --why s.txt
expect 2 '' '*'
finish
