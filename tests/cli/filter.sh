# --filter NAME: each kind of filter gives the same answers within its rate, says what it needs, and
# warns when it has become too small.
. "$(dirname "$0")/lib/common.bash"

names=$("$UNSEEN" help filters | sed -nE 's/^  ([a-z-]+)  *[^ ].*/\1/p' | grep -v '^can')
holds [ "$(echo "$names" | wc -l)" -ge 6 ]
grows() {
    "$UNSEEN" help filters | grep -A1 "^  $1 " | grep -q 'can:.* grow'
}

# Never a repeat too many; new lines lost: none at this rate, with this seed.
urls 30000 20000 7 > in
awk '!seen[$0]++' in > want
for name in $names; do
    serves=$name
    case $name in exact | scalable*) serves=compact ;; esac
    for j in 1 2; do
        run -j $j -p none --seed 1 --filter $name --fpr 1e-5 --capacity 20000
        expect 0 '*' ''
        same out want
    done
    run -p none --seed 1 --filter $name --fpr 1e-5 --capacity 20000 --stats=json
    holds grep -q "\"filter\":\"$serves\"" err
    rm -f $name.unseen
    run -p none --seed 1 --filter $name --fpr 1e-5 --capacity 20000 -s $name.unseen
    expect 0 '*' ''
    same out want
    run -p none -s $name.unseen
    expect 0 '' ''
    run check -c $name.unseen
    expect 0 '30000\n' ''
    run info $name.unseen
    holds grep -qE "^filter +$serves\$" out
done
# A rate that is high is a rate that is seen: fewer lines, and never a wrong one.
for name in bloom block counting; do
    run -p none --seed 1 --filter $name --fpr 0.1 --capacity 20000
    expect 0 '*' ''
    holds [ "$(wc -l < out)" -lt "$(wc -l < want)" ]
    holds [ "$(wc -l < out)" -gt $(($(wc -l < want) * 9 / 10)) ]
    holds [ -z "$(comm -23 <(sort out) <(sort want))" ]
done

# Past the capacity: an error that names the rate and the way out.
for name in $names; do
    run -p none --seed 1 --filter $name --fpr 1e-3 --capacity 5000
    if grows $name; then
        expect 0 '*' ''
    else
        expect 2 '*' '*'
        holds grep -qE "^unseen: error: the $name filter has 1[0-9]+ keys and was made for 5000: now it takes a new line for a repeat with a probability of [0-9.e-]+, not 1e-3\$" err
        holds grep -qx 'unseen: hint: with a filter that grows: unseen --filter compact ...' err # the seed is not shown
        holds [ "$(wc -l < err)" = 3 ]
        run -p none --seed 1 --fpr 1e-3 --filter $name $(sed -nE 's/^unseen: hint: unseen (--capacity [0-9]+) ...$/\1/p' err)
        holds [ ! -s err ]
        # Far past it few keys fit: the advice is of the lines that were read.
        run -p none --seed 1 --filter $name --fpr 1e-3 --capacity 100
        expect 2 '*' '*'
        holds grep -qx 'unseen: hint: unseen --capacity 30000 ...' err
        run -c -p none --seed 1 --filter $name --fpr 1e-3 --capacity 30000
        expect 0 '*' ''
        holds [ $(($(cat out) + 100)) -gt "$(wc -l < want)" ]
    fi
done
# The same for a store, and its hint makes it well again.
head -n 5000 in > part
cp part in
run -p none --seed 1 --filter bloom --fpr 1e-3 --capacity 5000 -s full.unseen
expect 0 '*' ''
urls 30000 20000 7 > in
cp in all
run -s full.unseen -p none
expect 2 '*' '*'
holds grep -q '^unseen: error: the bloom filter has ' err
run add full.unseen
expect 2 '' '*'
holds grep -q '^unseen: error: the bloom filter has ' err
run check -c full.unseen
expect 2 '*' '*'
holds grep -q '^unseen: hint: after that, .*: unseen recheck full.unseen$' err
hint=$(sed -n 's/^unseen: hint: \(unseen rewrite\)/\1/p' err)
holds [ "${hint% [0-9]*}" = 'unseen rewrite --capacity' ]
rm in
run ${hint#unseen }
expect 0 '' ''
run -s full.unseen -p none
expect 0 '' ''
# What was taken for a repeat is found, and can be added now.
run recheck full.unseen all
expect 0 '*' ''
holds [ "$(wc -l < out)" -gt 0 ]
cp out lost
run add full.unseen lost
expect 0 '' ''
run recheck full.unseen lost
holds [ "$(wc -l < out)" -lt $(($(wc -l < lost) / 10 + 2)) ]

# What is missing or wrong.
echo x > one
for name in $names; do
    run --filter $name one
    if grows $name; then
        expect 0 'x\n' ''
    else
        rate=
        [ $name != counting ] || rate=' --fpr 1e-4'
        error="unseen: error: --filter $name needs --capacity: it does not grow\n"
        expect 2 '' "${error}unseen: hint: unseen --capacity 1e7$rate --filter $name one\n"
        run -s new.unseen --filter $name one
        expect 2 '' "${error}unseen: hint: unseen --capacity 1e7$rate -s new.unseen --filter $name one\n"
        run add --filter $name new.unseen one
        expect 2 '' "${error}unseen: hint: unseen add --capacity 1e7$rate --filter $name new.unseen one\n"
        holds [ ! -e new.unseen ]
    fi
done
# A hint is a command that works, whatever else was given.
run --filter counting --capacity 1e3 one
hint=$(sed -n 's/^unseen: hint: unseen //p' err)
run $hint one
expect 0 'x\n' ''
# No memory for what cannot grow: to leave out --capacity would not help.
run --filter block --capacity 1e15 one
expect 2 '' 'unseen: error: --filter block: no memory for 1000000000000000 keys\nunseen: hint: for how much each filter takes: unseen plan --capacity 1000000000000000\n'
run --filter blom one
expect 2 '' 'unseen: error: --filter blom: no such name\nunseen: hint: unseen --filter bloom one\n'
run -s new.unseen --filter Bloom one
expect 2 '' 'unseen: error: --filter Bloom: no such name\nunseen: hint: unseen --filter bloom -s new.unseen one\n'
# A low rate needs long keys: a store takes them, unless it is told otherwise.
seq 10 > ten
run -s low.unseen --filter exact -p none -o /dev/null ten
run info low.unseen
holds grep -qx 'key bits     96' out
holds grep -qx 'filter       compact' out
run -s low.unseen --filter compact --fpr 1e-12 -p none ten
expect 0 '' ''
run -s narrow.unseen --fpr 1e-12 --key-bits 64 -p none ten
expect 2 '' '*'
holds grep -q 'keys of 64 bits allow no rate as low as 1e-12$' err
holds grep -qx 'unseen: hint: unseen --key-bits 96 -s narrow.unseen --fpr 1e-12 -p none ten' err
run --filter exact --fpr 1e-13 ten
expect 2 '' 'unseen: error: --filter exact: it promises no rate as low as 1e-13\nunseen: hint: unseen --fpr 1e-12 --filter exact ten\n'

finish
