# unseen plan: known values of the formulas, both ways round, and that a set so planned comes out.
# Time: long
. "$(dirname "$0")/lib/common.bash"

# value FILTER COLUMN: a word of a row of the table, from 1.
value() {
    awk -v f="$1" -v c="$2" '$1 == f { print $c }' out
}

# about WANTED FOUND PERCENT
about() {
    holds awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { exit !(b >= a * (1 - p / 100) && b <= a * (1 + p / 100)) }'
}

# json FILTER KEY: a number of the JSON object.
json() {
    tr '{' '\n' < out | awk -v f="\"filter\":\"$1\"" -v k="\"$2\":" '
        index($0, "\"filter\"") { mine = index($0, f) } mine && (at = index($0, k)) {
            print substr($0, at + length(k)) + 0; exit }'
}

names=$("$UNSEEN" help filters | sed -nE 's/^  ([a-z-]+)  *[^ ].*/\1/p' | grep -v '^can')

# The check value of the textbooks: k = 10 and m = 20 n.
run plan --bits 20 --hashes 10
expect 0 '*' ''
holds [ "$(value bloom 7)" = 8.89e-5 ]
holds grep -qE '^compact +the rate does not follow from the bits$' out
run plan --bits 20 --hashes 10 --filter bloom
expect 0 '20 bits per key, 10 hashes

                          rate at
filter     bits  bytes  k     10 %%     50 %%    100 %%    200 %% can
bloom     20.00      - 10 7.61e-14   2.8e-7  8.89e-5   0.0102 --m

bits: per key. can: g grow, r remove, m merge.

unseen --filter bloom --bits 20 --hashes 10 --capacity N FILE makes it.
' ''
# p = (1 - e^(-k n / m))^k at each load, and k = 1: the one-hash bitmap.
# The bytes that a filter would take are told where they are known, and only if they are the reason.
run plan --json --memory 64
holds grep -qF '{"filter":"block","error":"too little memory"}' out
holds grep -qE '\{"filter":"list","kind":"url","bytes":[0-9]+,"error":"too little memory"\}' out
holds grep -qF '{"filter":"list","kind":"mail","error":"promises no rate this low"}' out
run plan --bits 8 --hashes 1 --json --filter bloom
about "$(awk 'BEGIN { print 1 - exp(-1 / 8) }')" "$(json bloom 100)" 0.01
about "$(awk 'BEGIN { print 1 - exp(-2 / 8) }')" "$(json bloom 200)" 0.01
# The other textbook values: 10^6 keys at 1 % take about 1.2 MB, and 1.44 log2(1/p) bits a key.
run plan --capacity 1e6 --fpr 0.01 --json
expect 0 '*' ''
about 1198132 "$(json bloom bytes)" 0.5
about 9.585 "$(json bloom bits_per_key)" 0.5

# Every filter is there, with sizes that are what a set takes, and rates that rise.
run plan --capacity 1e6 --fpr 1e-4
expect 0 '*' ''
for name in $names; do
    holds grep -qE "^$name +[0-9.]+ +[0-9.]+[KMG]" out
done
holds grep -q 'log2(1/rate) = 13.29 bits per key' out
holds [ "$(awk 'length > 80' out)" = '' ]
about 22 "$(value block 2)" 10
cp out table
run plan --capacity 1e6 --fpr 1e-4 --json
expect 0 '*' ''
holds [ "$(wc -l < out)" = 1 ]
for name in $names; do
    for load in 10 50 100 200; do
        holds [ -n "$(json "$name" "$load")" ]
    done
    about "$(awk -v f="$name" '$1 == f { print $2 }' table)" "$(json "$name" bits_per_key)" 0.1
    holds awk -v a="$(json "$name" 100)" -v b="$(json "$name" 200)" 'BEGIN { exit !(a <= 1e-4 && b >= a) }'
done
if command -v python3 > /dev/null; then
    holds python3 -c 'import json, sys; d = json.load(open("out")); assert len(d["filters"]) >= 5'
fi
run plan --capacity 200000 --fpr 1e-3 --json
cp out plans
urls 60000 50000 1 > in
for name in bloom block counting; do
    "$UNSEEN" -j 1 -p none --seed 1 --filter $name --capacity 200000 --fpr 1e-3 --stats=json in \
        2>&1 > /dev/null | grep -oE '"memory":[0-9]+' | cut -d : -f 2 > memory
    cp plans out
    about "$(json $name bytes)" "$(cat memory)" 3
done
rm in

# A number too large is no crash, and no number made up.
run plan --capacity 1e18
expect 1 '*' ''
holds grep -qE '^bloom +too few bits, or a number out of its range$' out
# A filter that does not fit at all says which of the two is in the way.
run plan --memory 1G --fpr 1e-9
expect 0 '*' ''
holds grep -qE '^counting +promises no rate this low$' out
run plan --memory 64 --fpr 1e-4
holds grep -qE '^counting +too little memory$' out

# Too few bits: the rate is 1, in the table, in JSON and in the curves.
for how in '--memory 1M' '--bits 0.01' '--bits 0.02'; do
    run plan --capacity 1e9 $how
    expect 0 '*' ''
    for name in bloom block counting; do
        holds [ "$(awk -v f=$name '$1 == f { print $6, $7, $8 }' out)" = '1 1 1' ]
        holds awk -v r="$(value $name 5)" 'BEGIN { exit !(r > 0.99) }'
    done
    run plan --capacity 1e9 $how --json
    for load in 10 50 100 200; do
        about 1 "$(json bloom $load)" 1
    done
done
run plan --capacity 1e9 --memory 1M --filter bloom --plot
holds grep -qE '^ +1 \+ ?[*]+ bloom$' out

# Lists: of each kind, with the size that a list gets; and a store's log.
run plan --capacity 1e9 --fpr 1e-4
for kind in URLs mail sites ip; do
    holds grep -qE "^list of $kind +[0-9.]+ +[0-9.]+G  -" out
done
holds grep -qE "^a store's log +64.00  7.45G  on disk; its image" out
run plan --capacity 100000 --fpr 1e-4 --filter list --json
expect 0 '*' ''
tr '{' '\n' < out > planned
awk 'BEGIN { for (i = 0; i < 100000; i++) print i }' > numbers
sed 's/.*/x&.example/' numbers > names_in
sed 's,.*,+49891&,' numbers > phones
awk '{ printf "2001:db8:%x:%x::1\n", $1 / 65536, $1 % 65536 }' numbers > networks
for pair in url:numbers mail:names_in expressions:names_in ip:networks; do
    kind=${pair%:*}
    [ "$kind" = url ] && how='-p none' || how="--kind $kind"
    "$UNSEEN" build $how planned.list "${pair#*:}"
    about "$(stat -c %s planned.list)" "$(sed -n "s/.*\"kind\":\"$kind\".*\"bytes\":\([0-9]*\).*/\1/p" planned)" 2
    rm planned.list
done
run plan --filter list --bits 10
expect 2 '' 'unseen: error: a list is planned for a rate\nunseen: hint: unseen plan --capacity 1e9 --fpr 1e-4 --filter list\n'
run plan --filter list --memory 1M --fpr 1e-4 --json
about 600000 "$(grep -o '"capacity_of_memory":[0-9]*' out | head -n 1 | cut -d : -f 2)" 3

# Small sets: what a set takes, and not what its formula says of a share of it.
for n in 1 1000 30000; do
    seq $n > few
    run plan --capacity $n --fpr 1e-4 --json
    cp out plans
    for name in $names; do
        "$UNSEEN" -p none --seed 1 --filter $name --capacity $n --fpr 1e-4 --stats=json few 2>&1 > /dev/null |
            grep -oE '"memory":[0-9]+' | cut -d : -f 2 > memory
        about "$(cat memory)" "$(json $name bytes)" 6
    done
done
run plan --capacity 1
holds grep -qE '^compact +3\.1[78]e5 +3[89]\.[0-9]K ' out
holds [ "$(awk 'length > 80' out)" = '' ]

# What cannot be, and by how much.
run plan --capacity 2e10 --fpr 1e-4 --memory 30G
expect 1 '*' ''
holds grep -q '^No structure can do this: it takes 33.2 GB (30.9G) at least, and there are$' out
holds grep -q '^32.2 GB (30G), 960M too few\.' out
holds grep -qE '^list of URLs +too little memory: it takes 31.5G$' out
holds [ "$(awk 'length > 80' out)" = '' ]
run plan --capacity 2e10 --fpr 1e-4 --memory 30G --json
expect 1 '*' ''
holds grep -q '"least_bytes":33219280949,.*"possible":false' out
run plan --capacity 2e10 --fpr 1e-4 --memory 32G
expect 0 '*' ''
lacks 'No structure' out
holds grep -qE '^list of URLs +13.5' out

# A compact set that does not fit: what it takes part by part.
run plan --capacity 1e11 --memory 16G
expect 0 '*' ''
holds grep -qxF 'unseen --memory 16G FILE reads its input twice; 757G of temporary files are' out
holds grep -qxF 'unseen -s STORE --memory 16G FILE keeps a log of 745G and an image of 522G, of' out
holds grep -qxF 'which a run with many new lines reads one and writes one: 37 min at 500 MB/s.' out
holds [ "$(awk 'length > 80' out)" = '' ]
run plan --capacity 1e10 --memory 1G --filter compact --json # the table of the image takes more than that
expect 1 '*' ''
holds grep -qF '"beyond_memory":{"temporary_bytes":81250000000,"image_bytes":56000000000,"log_bytes":80000000000,"least_memory":1642666667}' out
for how in '--capacity 1e9 --memory 30G' '--capacity 1e11 --memory 16G --filter block' '--capacity 1e11' '--memory 1G'; do
    run plan $how
    lacks 'larger than memory' out
done

# Memory: as a limit, and as what says the rate.
run plan --memory 4G --fpr 1e-4 --json
expect 0 '*' ''
about "$(awk 'BEGIN { print 4 * 2 ^ 30 * 8 / 19.1875 }')" "$(json bloom capacity)" 0.1
holds awk -v a="$(json bloom bytes)" 'BEGIN { exit !(a <= 4 * 2 ^ 30 * 1.00001 && a > 3.99 * 2 ^ 30) }'
run plan --memory 4G --fpr 1e-4 --capacity 1e6
expect 0 '*' ''
holds [ "$(value bloom 9)" = 1.79e9 ]
holds [ "$(awk 'length > 80' out)" = '' ]
run plan --memory 2G --capacity 1e9 --json
expect 0 '*' ''
about 2.6e-4 "$(json bloom fpr)" 1
run plan --memory 2G --bits 16 --json
expect 0 '*' ''
about 1073741824 "$(json bloom capacity)" 0.1
run plan --memory 1M
expect 0 '*' ''
holds grep -q '^1M of memory, at most a share of 5e-9' out
run plan --capacity 1e6
expect 0 '*' ''
holds grep -q '^1000000 keys\|^1e6 keys' out

# Pictures.
run plan --capacity 1e7 --fpr 1e-4 --plot
expect 0 '*' ''
holds grep -q '^Wrong answers as the filter fills$' out
holds grep -qE '^ +\|.*\*.* ' out
LC_ALL=C.UTF-8 "$UNSEEN" plan --capacity 1e7 --fpr 1e-4 --plot > utf8
lacks '\*' utf8
for name in $names; do # a name that compact serves has no curve of its own
    case $name in
    exact | scalable*) ;;
    *) holds grep -qE "^.{8} [+|].*[^a-z-]$name(,|\$)" out ;;
    esac
done
holds [ "$(awk 'length > 80' out)" = '' ]
run plan --capacity 1e7 --fpr 1e-4
cp out plain
run plan --capacity 1e7 --fpr 1e-4 --plot=never --svg plan.svg
expect 0 '*' ''
same out plain
holds grep -q '^<svg ' plan.svg
holds grep -q '^</svg>$' plan.svg
lacks 'nan\|inf' plan.svg
if command -v python3 > /dev/null; then
    holds python3 -c 'import xml.dom.minidom as m; m.parse("plan.svg")'
fi
for name in $names; do # a name that compact serves has no curve of its own
    case $name in
    exact | scalable*) holds [ "$(grep -c ">$name</text>" plan.svg)" = 0 ] ;;
    *) holds grep -q ">$name</text>" plan.svg ;;
    esac
done
# A filter has one colour, in both pictures and whatever else is in them.
colours() { sed -nE "s,.*fill='(#[0-9a-f]*)'>([a-z-]+)</text>,\2 \1,p" "$@" | sort -u; }
"$UNSEEN" plan --capacity 1e9 --memory 2G --svg few.svg > /dev/null
"$UNSEEN" plan --capacity 1e9 --svg more.svg > /dev/null
"$UNSEEN" plan --filter exact --capacity 1e9 --svg one.svg > /dev/null
colours plan.svg few.svg more.svg one.svg "$TESTS"/../docs/img/*.svg | sed "s,^unseen-,," | grep -xE "($(echo $names list | tr " " "|")) #.*" | sort -u > coloured
holds [ "$(wc -l < coloured)" -ge 6 ]
holds [ "$(cut -d ' ' -f 1 coloured | sort | uniq -d)" = '' ]
holds [ "$(cut -d ' ' -f 2 coloured | sort | uniq -d)" = '' ]
# - is standard output, which then holds the picture only.
run plan --capacity 1e7 --fpr 1e-4 --svg -
expect 0 '*' ''
same out plan.svg
holds [ ! -e ./- ]
run plan --capacity 1e7 --svg missing/plan.svg
expect 2 '*' 'unseen: error: cannot open missing/plan.svg: No such file or directory\n'
if [ -c /dev/full ]; then
    run plan --capacity 1e7 --svg /dev/full
    expect 2 '*' 'unseen: error: cannot write /dev/full: No space left on device\n'
    "$UNSEEN" plan --capacity 1e7 > /dev/full 2> err
    holds [ $? = 2 ]
    holds grep -q 'cannot write standard output' err
fi

# Too little, too much, and what is none of it.
run plan
expect 2 '' '*'
holds grep -q '^Usage: unseen plan ' err
run plan --hashes 10
expect 2 '' 'unseen: error: --hashes alone says neither a rate nor a size\nunseen: hint: unseen plan --bits 20 --hashes 10\n'
run plan --bits 20 --fpr 0.1
expect 2 '' 'unseen: error: the rate follows from --bits, and the bits from --fpr: give one\nunseen: hint: unseen plan --fpr 0.1\n'
run plan --bits 20 --capacity 10 --memory 1M
expect 2 '' 'unseen: error: --memory follows from --capacity and --bits\nunseen: hint: unseen plan --bits 20 --capacity 10\n'
run plan --capacity 1e6 --filter blom
expect 2 '' "unseen: error: --filter blom: no such name\nunseen: hint: unseen plan --filter bloom --capacity 1e6\n"
run plan --capacity 1e6 file
expect 2 '' '*'
for wrong in '--bits 0' '--bits x' '--bits nan' '--fpr 1' '--fpr 0' '--capacity x' '--memory 0' '--hashes 0' '--hashes 2000' '--plot=x'; do
    run plan $wrong
    expect 2 '' '*'
    [ "$wrong" = --plot=x ] || holds grep -q '^unseen: hint: ' err
done
run plan --capacity 1e6 --fpr 1e-30
expect 1 '*' ''
holds grep -qE '^bloom +promises no rate this low$' out

# Help.
run help filters
expect 0 '*' ''
holds grep -qE '^  bloom  +[a-z]' out
holds [ "$(grep -c '^ *can: ' out)" = "$(echo "$names" | wc -l)" ]
holds [ "$(awk 'length > 80' out)" = '' ]
finish
