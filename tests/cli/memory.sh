# What counts as seen: -x, -n, --shard, and the settings of the set.
. "$(dirname "$0")/lib/common.bash"

printf 'b\nz\n' > list
printf 'c\n' > list2
printf 'a\nb\na\nc\nd' > in
run -x list
expect 0 'a\nc\nd\n' ''
run --exclude=list -x list2
expect 0 'a\nd\n' ''
run -v -x list
expect 0 'b\na\n' ''
run --mark -x list
expect 0 '1\ta\n0\tb\n0\ta\n1\tc\n1\td\n' ''
run -x /dev/null
expect 0 'a\nb\nc\nd\n' ''
run -x list --stats=json
expect 0 'a\nc\nd\n' '*'
holds grep -q '"excluded_by":2,' err
gzip -c list > list.gz
run -x list.gz
expect 0 'a\nc\nd\n' ''
run -x in in
expect 0 '' ''

# A list holds whole identities, whatever field of the input is compared.
printf '1\tb\n2\tz\n3\tq\n' > table
run -k 2 -x list table
expect 0 '3\tq\n' ''
printf 'b\0z' > list0
printf 'a\0b\0' > in0
run -z -x list0 in0
expect 0 'a\0' ''

# A list that cannot be read ends the run before anything is written.
echo old > new
run -x missing -o new in
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\nunseen: hint: to make an empty list: touch missing\n'
holds [ "$(cat new)" = old ]
run -x - -
expect 2 '' 'unseen: error: -x - and the input are both standard input\nunseen: hint: unseen -x - FILE\n'
cp in file
cp list in
run -x - file
expect 0 'a\nc\nd\n' ''

# -n asks only.
printf 'a\nb\na\n' > in
run -n
expect 2 '' 'unseen: error: -n has no meaning without -s or -x\nunseen: hint: unseen -s STORE -n\n'
run -n -x list
expect 0 'a\na\n' ''
run -n -x list -v
expect 0 'b\n' ''
run --dry-run -x list -c
expect 0 '2\n' ''

# Shares: each line in exactly one of them, repeats in the same one, the same on every run.
urls 20000 5000 3 > in
awk '!seen[$0]++' in | sort > all
for n in 1 2 3 7; do
    : > parts
    for i in $(seq "$n"); do
        run -j "$((i % 2 + 1))" --shard "$i/$n"
        expect 0 '*' ''
        cat out >> parts
        [ "$n" = 3 ] && cp out "part$i"
    done
    sort parts > sorted
    same sorted all
done
run --shard 2/3
same out part2
run --shard 2/3 --seed 12345
same out part2
awk '!seen[$0]++' in | grep -Fxf part2 > want
same out want # in input order
for i in 1 2 3; do
    holds [ "$(wc -l < "part$i")" -gt 1000 ]
done
run --shard 1/2 --stats=json
holds grep -q '"lines":20000,.*"other_shares":' err
shard_line=$(head -n 1 part1)
echo "$shard_line" > list
run --shard 1/3 -x list
tail -n +2 part1 > want
same out want

# The settings of the set change memory and speed, not the answer.
awk '!seen[$0]++' in > want
for options in '--fpr 1e-6' '--fpr 0.01' '--fpr=2e-6' '--capacity 1e5' '--capacity=10K' '--filter compact' \
    '--seed 1' '--seed 0xffffffffffffffff' '--seed 18446744073709551615' '--capacity 0'; do
    run $options --stats=json
    expect 0 '*' '*'
    [ "$options" = '--fpr 0.01' ] || same out want
done
run --fpr 2e-6 --stats
holds grep -q 'at most' err

for level in portable avx2 avx512; do
    UNSEEN_CPU=$level run
    if [ "$status" = 0 ]; then
        same out want
    else
        holds grep -q '^unseen: error: ' err
    fi
done
UNSEEN_CPU=portable run --stats=json
expect 0 '*' '*'
holds grep -q '"cpu":"portable"' err
UNSEEN_CPU=mmx run
expect 2 '' 'unseen: error: UNSEEN_CPU=mmx: no such processor level\nunseen: hint: UNSEEN_CPU=portable, avx2 or avx512\n'
finish
