# unseen sort: integers in order, as sort -n, sort -n -u and uniq -c have them.
# Time: long
. "$(dirname "$0")/lib/common.bash"

printf '5\n3\n1099511627775\n5\n0\n10000\n9999\n5\n3' > in
run sort
expect 0 '0\n3\n3\n5\n5\n5\n9999\n10000\n1099511627775\n' ''
run sort -u
expect 0 '0\n3\n5\n9999\n10000\n1099511627775\n' ''
run sort --unique
expect 0 '0\n3\n5\n9999\n10000\n1099511627775\n' ''
run sort -c
expect 0 '1\t0\n2\t3\n3\t5\n1\t9999\n1\t10000\n1\t1099511627775\n' ''
run sort -o sorted
expect 0 '' ''
holds [ "$(wc -l < sorted)" = 9 ]
printf '007\n00000000000000000000000000000000012\n000\n1000000000\n99999999\n100000000\n' > in
run sort
expect 0 '0\n7\n12\n99999999\n100000000\n1000000000\n' ''
: > in
run sort
expect 0 '' ''
printf '7\0001\0003' > in
run sort -z
expect 0 '1\0003\0007\000' ''
printf '2\n1\n' > a
printf '1\n3\n' | gzip -n > b.gz
run sort a b.gz
expect 0 '1\n1\n2\n3\n' ''
run sort -u a - # the NUL-separated standard input is no integer
expect 2 '' '*'

# Every length around powers of ten, and of two.
{ for i in $(seq 0 12); do echo "$((10 ** i - 1)) $((10 ** i)) $((10 ** i + 1))"; done
  for i in $(seq 0 39); do echo "$((2 ** i - 1)) $((2 ** i))"; done; } | tr ' ' '\n' > in
sort -n in > want
run sort
same out want
sort -n -u in > want
run sort -u
same out want
sort -n in | uniq -c | awk '{ print $1 "\t" $2 }' > want
run sort -c
same out want

# Random ones: dense, thin, and few distinct ones that come often.
numbers() { # N MAX SEED
    awk -v n="$1" -v max="$2" -v s="$3" 'BEGIN {
        x = s
        for (i = 0; i < n; i++) {
            x = (x * 16807) % 2147483647
            y = (y + x * 69069 + 1) % 4294967296
            printf "%.0f\n", (x * 1024 + y % 1024) % max
        }
    }'
}
for max in 7 1000 200000 30000000 1099511627776; do
    numbers 200000 "$max" 1 > in
    sort -n in > want
    run sort
    expect 0 '*' ''
    same out want
    cat in | "$UNSEEN" sort > out
    same out want
    uniq want > want_u
    run sort -u
    same out want_u
    uniq -c want | awk '{ print $1 "\t" $2 }' > want_c
    run sort -c
    same out want_c
    sort -n -r in > down
    run sort down
    same out want
done
# The comparison can fail.
sed '$d' want > less
cmp -s less out && complain "a missing line was not noticed"

# What is no integer below 2^40: named, and nothing is printed or cut.
refused() { # TEXT SHOWN LINE
    printf "1\n2\n$1\n3\n" > wrong
    echo kept > sorted
    run sort -o sorted wrong
    expect 2 '' "unseen: error: wrong:$3: '$2' is not an integer from 0 to 1099511627775\nunseen: hint: sort -n FILE also takes other numbers\n"
    holds grep -qx kept sorted
}
for text in x -1 +1 1.5 1e3 ' 1' '1 ' 1099511627776 99999999999999999999 0x10 12345678a a2345678 \
    123456789a 1a3456789 ''; do
    refused "$text" "$text" 3
done
refused 'a\r' 'a?' 3
refused '4\n5\n/' / 5
refused "4\\n:" : 4
refused "$(printf '1%.0s' {1..60})" "$(printf '1%.0s' {1..40})..." 3
head -c 300000 /dev/zero | tr '\0' 1 > wrong
run sort wrong
expect 2 '' "unseen: error: wrong:1: '1111111111111111111111111111111111111111...' is not an integer from 0 to 1099511627775\nunseen: hint: sort -n FILE also takes other numbers\n"
# A decoder of UTF-16 puts no part of a character: a line that leaves it less room is too long, too.
{ printf '\376\377'; yes 1 | tr -d '\n' | head -c 300000 | sed 's/1/\x001/g'; } > wrong16
last='unseen sort wrong16'
timeout 60 "$UNSEEN" sort wrong16 > out 2> err < /dev/null
status=$?
expect 2 '' "unseen: error: wrong16:1: '1111111111111111111111111111111111111111...' is not an integer from 0 to 1099511627775\nunseen: hint: sort -n FILE also takes other numbers\n"
run sort a missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
printf '1\n2' | gzip -nc | head -c 12 > cut.gz
run sort cut.gz
expect 2 '' 'unseen: error: cut.gz: the compressed data ends too early\n'
echo kept > sorted
run sort -o a a
expect 2 '' 'unseen: error: a is both input and output\nunseen: hint: unseen sort -o NEW a && mv NEW a\n'
run sort -u -c a
expect 2 '' 'unseen: error: -c prints each integer once, and so does -u\nunseen: hint: unseen sort -c a\n'
run sort -k 1 a
expect 2 '' '*'
"$UNSEEN" sort a > /dev/full 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot write standard output: No space left on device' err
"$UNSEEN" sort want 2> err | head -n 1 > out
holds [ ! -s err ]

# Memory does not grow with repeats.
if [ -r /proc/self/status ] && ! sanitized; then
    yes 123456789 | head -n 3000000 > in
    holds bash -c 'ulimit -v 60000; exec "$0" sort -c in > out' "$UNSEEN"
    holds grep -qx "3000000	123456789" out
    # Without memory there is no result, and it says so.
    numbers 300000 1099511627776 5 > in
    ulimit_status=$(bash -c 'ulimit -v 20000; "$0" sort in > out 2> err; echo $?' "$UNSEEN")
    holds [ "$ulimit_status" = 2 ]
    holds grep -q 'out of memory for the integers' err
    holds [ ! -s out ]
fi
# The CR of a CRLF line end is no part of the integer; another CR is, and so is the CR of a line that ends in NUL.
printf '5\r\n3\r\n0000000000000000000004\r\n12' > in
run sort
expect 0 '3\n4\n5\n12\n' ''
printf '5\n3\r\r\n' > in
run sort
expect 2 '' "unseen: error: standard input:2: '3??' is not an integer from 0 to 1099511627775
unseen: hint: sort -n FILE also takes other numbers\n"
printf '5\r\0003\r\0' > in
run sort -z
expect 2 '' "unseen: error: standard input:1: '5?' is not an integer from 0 to 1099511627775
unseen: hint: sort -n FILE also takes other numbers\n"
finish
