# unseen count: distinct lines, in all and by groups, against sort -u and awk.
. "$(dirname "$0")/lib/common.bash"

printf 'http://a.com/1\nhttp://A.com:80/1\nhttp://a.com/2\nx\nx\nX\n' > in
run count
expect 0 '4\n' ''
run count -p none
expect 0 '5\n' ''
run count --rule upper in
expect 2 '' '*'
run count in in
expect 0 '4\n' ''
gzip -nc in > in.gz
run count in.gz in
expect 0 '4\n' ''
run count -o result in
expect 0 '' ''
holds grep -qx 4 result
: > in
run count
expect 0 '0\n' ''
run count --by 1
expect 0 '' ''
printf 'a' > in
run count
expect 0 '1\n' ''

# By groups, in the order in which they come.
printf 'http://a.com/1\ttue\nhttp://A.com:80/1\ttue\nhttp://a.com/1\tmon\nhttp://b.com\ttue\nx\ttue\n' > in
run count -k 1 --by 2
expect 0 '3\ttue\n1\tmon\n' ''
run count -k 2 --by 1 -p none
expect 0 '2\thttp://a.com/1\n1\thttp://A.com:80/1\n1\thttp://b.com\n1\tx\n' ''
run count --by 2
expect 0 '3\ttue\n1\tmon\n' '' # whole lines are the keys; a URL loses its tabs
run count -k 1 --by host
expect 0 '1\ta.com\n1\tb.com\n1\t\n' ''
printf 'a,g\nb,\nc\nd\na,g\n' > in
run count -p none --by 2 -t ,
expect 0 '1\tg\n3\t\n' 'unseen: warning: 2 lines without --by 2 are counted under no name\n'
printf 'a\0g\nb\0h\na\0g\n' > in
run count -p none -k 1 --by 2 -t '\0'
expect 0 '1\tg\n1\th\n' ''
printf 'a\tg\0b\tg\0a\tg\n\0' > in
run count -p none -k 1 --by 2 -z
expect 0 '2\tg\0001\tg\n\0' ''
printf '{"u":"a","d":{"x":"p"}}\n{"u":"a","d":{"x":"q"}}\n{"u":"b","d":{"x":"p"}}\n{"u":"b","d":{}}\n' > in
for j in 1 2; do
    run count -j "$j" -p none -k .u --by .d.x
    expect 0 '2\tp\n1\tq\n1\t\n' 'unseen: warning: 1 lines without --by .d.x are counted under no name\n'
done
printf 'u@a.com\nhttp://u:p@E.com:81/x@y\nhttp://e.com\nhttp://[::1]:8080/?a\nhttps://[::1]/\nmailto:a@b\nhttp://f.com?@g\n' > in
run count --by host
expect 0 '2\t\n2\te.com\n2\t[::1]\n1\tf.com\n' ''

# A line that is the name of its group, and pairs the other way round, are kept apart.
for i in $(seq 1 200); do for j in $(seq 1 20); do echo "$i	$j"; done; done > in
run count -p none -k 1 --by 2
expect 0 '*' ''
for j in $(seq 1 20); do echo "200	$j"; done > want
same out want
awk '{ print $1 "\t" $1 }' in > same_fields
run count -p none -k 1 --by 2 same_fields
expect 0 '*' ''
for i in $(seq 1 200); do echo "1	$i"; done > want
same out want

# Many lines, many groups; the sum over the groups of one line each.
urls 60000 40000 1 > in
sort -u in | wc -l | tr -d ' ' > want
for options in '-j 1' '-j 2' '-j 1 --fpr 1e-6' '-j 1 --capacity 1e6'; do
    run count -p none --seed 1 $options
    same out want
done
awk '{ print $0 "\tg" NR % 20000 }' in > grouped
awk -F '\t' '{ if (!($2 in n)) order[++m] = $2; if (!seen[$0]++) n[$2]++ }
    END { for (i = 1; i <= m; i++) print n[order[i]] "\t" order[i] }' grouped > want
for j in 1 2; do
    run count -j "$j" -p none --seed 1 -k 1 --by 2 grouped
    expect 0 '*' ''
    same out want
done
sed '1s/^/1/' want > other
cmp -s other out && complain "a wrong count was not noticed"
# A group costs a counter and its name.
if ! sanitized; then
    awk 'BEGIN { for (i = 0; i < 300000; i++) print "x\tg" i % 100000 }' > many
    holds bash -c 'ulimit -v 60000; exec "$0" count -j 1 -p none -k 1 --by 2 many > out' "$UNSEEN"
    holds [ "$(grep -c '^1	g' out)" = 100000 ]
fi

# Trouble: no count is better than one of a part.
printf 'a\nb\n' > one
run count one missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
echo kept > result
run count -o result one missing
expect 2 '' '*'
holds grep -qx kept result
run count --max-line 1 one
expect 0 '2\n' ''
printf 'abc\nd\n' > long
run count --max-line 1 long
expect 2 '' 'unseen: error: long:1: line of 3 bytes left out: --max-line is 1\n'
run count -o one one
expect 2 '' 'unseen: error: one is both input and output\nunseen: hint: unseen count -o NEW one && mv NEW one\n'
run count --by x one
expect 2 '' "unseen: error: --by: 'x' is not a field number, a .path or host\nunseen: hint: unseen count --by .x one\n"
run count --by hst one
expect 2 '' "unseen: error: --by: 'hst' is not a field number, a .path or host\nunseen: hint: unseen count --by host one\n"
run count --by 12,2 one
expect 2 '' "unseen: error: --by: '12,2' is not a field number, a .path or host\nunseen: hint: unseen count --by 12 one\n"
run count --by 1 --by 2 one
expect 2 '' 'unseen: error: --by is given twice: 1 and 2\nunseen: hint: unseen count --by 1 one\n'
run count -t , one
expect 2 '' '*'
run count -v one
expect 2 '' '*'
run count --fpr 1e-13 one
expect 2 '' '*'
"$UNSEEN" count one > /dev/full 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot write standard output: No space left on device' err

# The union of stores: whoever is in two of them counts once, who was removed does not.
seq 1000 > first
seq 500 1500 > second
"$UNSEEN" add -p none --seed 7 a.unseen first
"$UNSEEN" add -p none --seed 7 b.unseen second
"$UNSEEN" add -p none --seed 7 --key-bits 128 wide.unseen second
"$UNSEEN" add -p none other.unseen second
run count a.unseen b.unseen
expect 0 '1500\n' ''
run count -o result b.unseen
expect 0 '' ''
holds grep -qx 1001 result
seq 10 | "$UNSEEN" remove a.unseen
run count a.unseen b.unseen a.unseen
expect 0 '1490\n' ''
run count a.unseen other.unseen
expect 2 '' '*'
holds grep -q 'seed id' err
run count a.unseen wide.unseen
expect 2 '' '*'
holds grep -q 'wide.unseen has keys of 128 bits' err
run count a.unseen first
expect 2 '' 'unseen: error: first is not a store, but others are\nunseen: hint: to make a store of it: unseen add NEW.unseen first\n'
run count -k 1 a.unseen
expect 2 '' '*'
# Other files with sets of unseen.
seq 3 | "$UNSEEN" bits add b.bits
run count b.bits
expect 2 '' 'unseen: error: b.bits is a bitmap of integers\nunseen: hint: unseen bits count b.bits\n'
run count --both b.bits b.bits
expect 2 '' 'unseen: error: b.bits is a bitmap of integers\nunseen: hint: unseen bits and NEW b.bits b.bits\n'
run count first b.bits
expect 2 '' '*'
# --stats: the figures beside the count.
printf 'http://a/\nhttp://a/\nHTTP://A/\nx\n' > stats.txt
run count --stats=json stats.txt
expect 0 '2\n' '*'
holds grep -q '^{"lines":4,"new":2,"seen":2,.*"not_urls":1,.*"bytes":32,"keys":2,.*"profile":"crawl/1",' err
run count --stats --by host stats.txt
expect 0 '*' '*'
holds grep -qx 'lines        4' err
holds grep -qx 'new          2' err
unseen add --seed 1 stats1.unseen stats.txt
unseen add --seed 1 stats2.unseen stats.txt
run count --stats=json stats1.unseen stats2.unseen
expect 0 '2\n' '*'
holds grep -q '^{"lines":4,"new":2,"seen":2,.*"bytes":32,"keys":2,.*"profile":"crawl/1",' err

# --both: what is in each of the files, each line once; a file of one line, an empty one.
seq 1 3 3000 > threes
{ seq 1 2 3000; seq 1 2 100; } > twos
seq 500 2500 > middle
: > nothing
printf 7 > seven
rm -f in
both() { # FILE...: as uniq says it
    for file in "$@"; do sort -u "$file"; done | sort | uniq -c | awk -v n=$# '$1 == n' | wc -l
}
for files in 'twos threes' 'threes twos' 'threes twos middle' 'middle twos threes twos' 'seven twos' 'twos seven twos' \
    'twos nothing' 'nothing twos' 'twos nothing twos' 'seven seven'; do
    for j in 1 2; do
        run count --both -p none --seed 1 -j $j $files
        expect 0 "$(both $files)\n" ''
    done
done
awk '{ print $1 "\tmon" }' twos > mon.tsv
awk '{ print $1 "\ttue" }' threes > tue.tsv
run count --both -p none -k 1 mon.tsv tue.tsv
expect 0 '500\n' ''
cp threes in
run count --both --json -p none twos -
expect 0 '{"count":500}\n' ''
rm in
printf 'http://e.com/a#1\nhttp://e.com/b\n' > left
printf 'HTTP://e.com:80/a\nhttp://e.com/c\n' > right
run count --both --stats=json left right
expect 0 '1\n' '*'
holds grep -q '^{"lines":4,"new":1,"seen":3,' err
run count --both twos
expect 2 '' 'unseen: error: --both counts what is in each of several files\nunseen: hint: unseen count --both twos FILE\n'
run count --both twos - - < twos
expect 2 '' 'unseen: error: standard input can be read only once\nunseen: hint: give the others as files\n'
run count --both twos missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
run count --both -k 1 --by 2 mon.tsv tue.tsv
expect 2 '' 'unseen: error: --both counts what files share, --by counts each group apart\nunseen: hint: *\n'

# Of stores; who was removed is in none.
for name in twos threes middle; do
    "$UNSEEN" add -p none --seed 7 both-$name.unseen $name
done
run count --both both-twos.unseen both-threes.unseen
expect 0 '500\n' ''
run count --both both-threes.unseen both-middle.unseen both-twos.unseen
expect 0 "$(both threes middle twos)\n" ''
printf '1\n7\n' | "$UNSEEN" remove both-twos.unseen
run count --both both-twos.unseen both-threes.unseen
expect 0 '498\n' ''
run count --both both-twos.unseen
expect 2 '' '*'
run count --both both-twos.unseen other.unseen
expect 2 '' '*'
holds grep -q 'seed id' err

# --returning: those of a group who were in another before; the truth by awk.
awk 'BEGIN { for (d = 1; d <= 9; d++) for (i = 0; i < 4000; i++) { x = (x * 16807 + d) % 2147483647; print x % (500 * d) "\tday" d } }' > visits
shuf --random-source=visits visits > mixed
for visits in visits mixed; do
    awk -F '\t' '!pair[$0]++ { if (!($2 in n)) order[++m] = $2; n[$2]++; back[$2] += $1 in known; known[$1] }
        END { for (i = 1; i <= m; i++) print n[order[i]] "\t" back[order[i]] + 0 "\t" order[i] }' $visits > want
    for j in 1 2; do
        run count --returning -j $j --seed 1 -p none -k 1 --by 2 $visits
        same out want
    done
done
run count --returning --json -p none -k 1 --by 2 mon.tsv tue.tsv
expect 0 '{"group":"mon","count":1500,"returning":0}\n{"group":"tue","count":1000,"returning":500}\n' ''
run count --returning twos
expect 2 '' 'unseen: error: --returning has no meaning without --by\nunseen: hint: *\n'
run count --returning -k 1 --by 2 nothing
expect 0 '' ''
finish
