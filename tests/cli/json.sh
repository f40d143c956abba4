# --json of check, count, merge, verify and repair: an object in a line for each thing, and a message for people beside it.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

seq 3000 | sed 's#^#http://e.com/#' > urls.txt
head -n 2000 urls.txt | unseen add --seed 1 s.unseen
tail -n 1000 urls.txt | unseen add s.unseen # a commit behind the one that is damaged below
unseen build --seed 1 l.list urls.txt
# parses: every line of standard output is an object that another parser reads
parses() {
    holds python3 -c 'import json, sys
for line in open("out"): assert isinstance(json.loads(line), dict)'
}

# ---- check ---------------------------------------------------------------------------------------
printf 'http://e.com/1\nx"y\\\nHTTP://E.com/2\n\n\377\n' > asked
for set in s.unseen l.list; do
    run check --json $set asked
    expect 0 '{"input":"http://e.com/1","found":true}\n{"input":"x\\"y\\\\","found":false}\n{"input":"HTTP://E.com/2","found":true}\n{"input":"","found":false}\n{"input":"\\udcff","found":false}\n' ''
    parses
    run check --json --canonical $set asked
    holds grep -qx '{"input":"http://e.com/2","found":true}' out
done
printf 'none\n' > none
run check --json s.unseen none
expect 1 '{"input":"none","found":false}\n' ''

# ---- count ---------------------------------------------------------------------------------------
run count --json urls.txt urls.txt
expect 0 '{"count":3000}\n' ''
run count --json s.unseen s.unseen
expect 0 '{"count":3000}\n' ''
printf 'a\t1"2\na\t1"2\nb\t1"2\na\tz\na\n' > groups
run count -p none --json -k 1 --by 2 groups
expect 0 '{"group":"1\\"2","count":2}\n{"group":"z","count":1}\n{"group":"","count":1}\n' '*'
parses
run count --json missing.txt
expect 2 '' '*'

# ---- merge ---------------------------------------------------------------------------------------
head -n 2000 urls.txt > less.txt
(tail -n 1500 urls.txt; echo x) > more.txt
unseen add --seed 1 less.unseen less.txt
unseen add --seed 1 more.unseen more.txt
run merge --json 'all"1.unseen' less.unseen more.unseen
expect 0 '{"store":"all\\"1.unseen","inputs":2,"new":3001,"seen":500,"keys":3001}\n' ''
run merge --json --into less.unseen more.unseen
expect 0 '{"store":"less.unseen","inputs":1,"new":1001,"seen":500,"keys":3001}\n' ''
run merge --json x.unseen no.unseen
expect 2 '' '*'
run merge y.unseen less.unseen
expect 0 '' ''
"$UNSEEN" merge --json z.unseen less.unseen > /dev/full 2> err
holds [ $? = 2 ]

# ---- verify and repair ---------------------------------------------------------------------------
good='{"store":"s.unseen","errors":\[\],"good":true,"added":3000,"removed":0,"commits":[0-9]+,"damages":0,"lost_bytes":0,"torn_bytes":0}'
list='{"list":"l.list","errors":\[\],"good":true,"entries":3000,"added":0,"removed":0,"allowed":0,"torn_bytes":0}'
run verify --json s.unseen l.list
expect 0 '*' ''
parses
holds grep -qxE "$good" out
holds grep -qxE "$list" out
cp s.unseen torn.unseen
printf 'unfinished' >> torn.unseen
run verify --json torn.unseen
holds grep -qE '"good":true,.*"torn_bytes":10}$' out

# Damage is in the object and in the message, and the exit status is the worst of all.
cp s.unseen 'd"1.unseen'
printf 'xxxx' | dd of='d"1.unseen' bs=1 seek=20000 conv=notrunc 2> /dev/null
cp l.list m.list
flip m.list 5000
run verify --json 'd"1.unseen' m.list s.unseen
expect 1 '*' '*'
parses
holds grep -qE '^\{"store":"d\\"1.unseen","errors":\["d\\"1.unseen is damaged: bytes [0-9]+ to [0-9]+"\],"good":false,"added":[0-9]+,"removed":0,"commits":[0-9]+,"damages":1,"lost_bytes":[1-9][0-9]*,"torn_bytes":0}$' out
holds grep -qE '^\{"list":"m.list","errors":\["m.list is damaged at byte [0-9]+"\],"good":false}$' out
holds grep -qxE "$good" out
holds grep -q '^unseen: error: d"1.unseen is damaged: ' err
holds grep -q '^unseen: error: m.list is damaged ' err
run verify --json s.unseen no.unseen
expect 2 '*' '*'
parses
holds grep -qx '{"store":"no.unseen","errors":\["cannot open no.unseen: No such file or directory"\],"good":null}' out

run repair --json 'd"1.unseen'
expect 0 '*' '*'
parses
holds grep -qE '"good":false,.*"damages":1,.*"rewritten":true}$' out
holds [ -e 'd"1.unseen.damaged' ]
run repair --json s.unseen
expect 0 '*' ''
holds grep -qxE "${good%\}},\"rewritten\":false}" out
run repair --json no.unseen
expect 2 '' '*'
"$UNSEEN" verify --json s.unseen > /dev/full 2> err
holds [ $? = 2 ]
finish
