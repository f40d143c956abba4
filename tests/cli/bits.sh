# bits: bitmaps that are kept; import of Redis' and Java's.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

# Against the dumbest correct one: files of sorted integers.
seq 0 3 200000 > threes
seq 0 5 200000 > fives
printf '%s\n' 1099511627775 549755813888 7 >> threes
for name in threes fives; do
    shuf --random-source=<(yes) $name > in
    run bits add $name.bits
    expect 0 '' ''
    rm in
    run bits list $name.bits
    same out <(sort -n $name)
    run bits count $name.bits
    expect 0 "$(wc -l < $name)\n" ''
done
run bits and and.bits threes.bits fives.bits
expect 0 '' ''
run bits list and.bits
same out <(comm -12 <(sort threes) <(sort fives) | sort -n)
run bits or or.bits threes.bits fives.bits and.bits
expect 0 '' ''
run bits list or.bits
same out <(sort -nu threes fives)
run bits andnot andnot.bits threes.bits fives.bits
expect 0 '' ''
run bits list andnot.bits
same out <(comm -23 <(sort threes) <(sort fives) | sort -n)
# Under the name of a link the file itself is changed, by one process at a time.
seq 5 | "$UNSEEN" bits add linked.bits
mkdir -p elsewhere
ln -s ../linked.bits elsewhere/link
echo 100 | "$UNSEEN" bits add elsewhere/link
echo 200 | "$UNSEEN" bits add linked.bits
holds [ -L elsewhere/link ]
run bits list elsewhere/link
expect 0 '1\n2\n3\n4\n5\n100\n200\n' ''
mkfifo integers
"$UNSEEN" bits remove linked.bits < integers &
removing=$!
exec 3> integers
printf '100\n200\n' >&3
eventually [ -e linked.bits.unseen-new ]
run bits add --wait=0.1 elsewhere/link threes
expect 2 '' '*'
holds grep -q 'linked.bits.unseen-new is being written to by' err
exec 3>&-
wait $removing
run bits list elsewhere/link
expect 0 '1\n2\n3\n4\n5\n' ''
# A bitmap that exists is replaced; the same may be both.
run bits and or.bits or.bits fives.bits
expect 0 '' ''
run bits list or.bits
same out fives
printf '%s\n' 4 9 12 1099511627775 0009 > asked
run bits check threes.bits asked
expect 0 '9\n12\n1099511627775\n0009\n' ''
run bits check -v threes.bits asked
expect 0 '4\n' ''
run bits check -c threes.bits asked
expect 0 '4\n' ''
printf '1\n2\n' > asked
run bits check threes.bits asked
expect 1 '' ''
run bits count threes.bits 0-8 7 200000-1099511627775
expect 0 '0-8\t4\n7\t1\n200000-1099511627775\t2\n' ''
run bits list threes.bits 6-9 549755813888 0-3 7-9 2 1099511627775
expect 0 '6\n7\n9\n549755813888\n0\n3\n7\n9\n1099511627775\n' ''
run bits list threes.bits 1000-199999
same out <(seq 0 3 200000 | awk '$1 >= 1000')
run bits remove threes.bits threes
expect 0 '' ''
run bits list threes.bits
expect 0 '' ''
printf '1\n5\n' | gzip > one.gz
printf '2\r\n' > two
run bits add day.bits one.gz two
expect 0 '' ''
run bits list -z day.bits
holds [ "$(tr '\0' ' ' < out)" = '1 2 5 ' ]
# Few integers are a small file.
holds [ "$(wc -c < day.bits)" -lt 200 ]

# Wrong lines and files: a sentence, and nothing changes.
cp day.bits before
printf '7\nx\n' > wrong
run bits add day.bits wrong
expect 2 '' "unseen: error: wrong:2: 'x' is not an integer from 0 to 1099511627775\n"
same day.bits before
holds [ ! -e day.bits.unseen-new ]
echo 1099511627776 > wrong
run bits add day.bits wrong
expect 2 '' "unseen: error: wrong:1: '1099511627776' is not an integer from 0 to 1099511627775\n"
run bits add two one.gz
expect 2 '' 'unseen: error: two: the file was not written by unseen\nunseen: hint: a bitmap is a file that unseen bits or unseen import made: unseen bits add NEW.bits FILE\n'
run bits list none.bits
expect 2 '' 'unseen: error: cannot open none.bits: No such file or directory\nunseen: hint: to make it: unseen bits add none.bits FILE\n'
run bits and day.bits none.bits
expect 2 '' 'unseen: error: cannot open none.bits: No such file or directory\nunseen: hint: to make it: unseen bits add none.bits FILE\n'
same day.bits before
run bits or new.bits
expect 2 '' 'unseen: error: the bitmaps to combine are missing\nunseen: hint: *\n'
for range in x 5-4 1-2x 1099511627776 18446744073709551616 0-18446744073709551615 -1 1- '5- 9' '5 -9' ' 5' '5-+9' ''; do
    for verb in count list; do
        run bits $verb day.bits -- 1-2 "$range"
        expect 2 '' "unseen: error: '$range' is not a range of integers below 2^40\nunseen: hint: *\n"
    done
done
# It is refused before a file is emptied.
echo kept > kept
run bits list -o kept day.bits 5-4
expect 2 '' '*'
holds [ "$(cat kept)" = kept ]
run bits
expect 2 '' '*'
holds grep -q '^Usage: unseen bits' err
run bits walk day.bits
expect 2 '' "unseen: error: 'walk' is not add, remove, check, list, count, and, or or andnot\nunseen: hint: *\n"

# -o, where nothing is printed, would only empty a file.
cp day.bits a.bits
for verb in and or andnot; do
    run bits $verb -o new.bits a.bits fives.bits
    expect 2 '' "unseen: error: unseen bits $verb prints nothing, -o has no meaning\nunseen: hint: *\n"
done
for verb in add remove; do
    run bits $verb -o kept a.bits one.gz
    expect 2 '' "unseen: error: unseen bits $verb prints nothing, -o has no meaning\nunseen: hint: *\n"
done
same a.bits day.bits
holds [ ! -e new.bits ]
holds [ "$(cat kept)" = kept ]
run bits list -o a.bits a.bits
expect 2 '' 'unseen: error: a.bits is a bitmap, it cannot be written to\nunseen: hint: unseen bits -o NEW list a.bits\n'
"$UNSEEN" bits list a.bits >> a.bits 2> err
holds grep -qx 'unseen: error: a.bits is both input and output' err
same a.bits day.bits
run bits count -z a.bits 0-9 5
expect 0 '0-9\t3\0005\t1\0' ''
run bits count -z a.bits
expect 0 '3\0' ''
# Only add makes a bitmap of integers.
run bits remove missing.bits a.bits
expect 2 '' 'unseen: error: cannot open missing.bits: No such file or directory\nunseen: hint: to make it: unseen bits add missing.bits FILE\n'
holds [ ! -e missing.bits ]
holds [ ! -e missing.bits.unseen-new ]
# Nothing is emptied before the bitmap is there.
run bits list missing.bits -o kept
expect 2 '' '*'
holds [ "$(cat kept)" = kept ]
run bits list -o kept a.bits 2-9
expect 0 '' ''
holds [ "$(cat kept)" = "$(printf '2\n5')" ]

run bits list -v day.bits
expect 2 '' 'unseen: error: -v and -c belong to unseen bits check\nunseen: hint: unseen bits list day.bits\n'
head -c -1 day.bits > cut.bits
run bits list cut.bits
expect 2 '' 'unseen: error: cut.bits: damaged at byte 110\nunseen: hint: to make it anew, from what it was made of: unseen bits add NEW.bits FILE\n'
for command in check '-p none -s' add; do
    run $command day.bits two
    expect 2 '' 'unseen: error: day.bits is not a store\nunseen: hint: it is a bitmap: unseen bits list day.bits\n'
done
run -x day.bits two
expect 2 '' 'unseen: error: day.bits is a bitmap, which has integers and no lines\nunseen: hint: unseen bits check -v day.bits two\n'

# Two at once: no edit is lost.
rm -f both.bits
for i in 1 2 3 4; do
    seq $((1000 * i)) $((1000 * i + 999)) | "$UNSEEN" bits add --wait both.bits &
done
wait
run bits count both.bits
expect 0 '4000\n' ''

# Redis' bits, from the highest in each byte; Java's, from the lowest.
printf '\200\001\000\201' > bytes
run import --format redis-bitmap redis.bits bytes
expect 0 '' ''
run bits list redis.bits
expect 0 '0\n15\n24\n31\n' ''
run import --format java-bitset java.bits bytes
expect 0 '' ''
run bits list java.bits
expect 0 '7\n8\n24\n31\n' ''
run import -p crawl --format redis-bitmap redis.bits bytes
expect 2 '' 'unseen: error: a bitmap has integers, and no profile, filter or seed\nunseen: hint: unseen import --format redis-bitmap redis.bits bytes\n'
# Bytes that would be a byte order mark, or gzip's, are bits.
printf '\377\376\037\213' > bytes
run import --format redis-bitmap marks.bits bytes
run bits count marks.bits
expect 0 '24\n' ''

# Real ones.
if command -v redis-server > /dev/null && command -v redis-cli > /dev/null; then
    redis-server --port 0 --unixsocket "$scratch/redis.sock" --save '' --daemonize yes \
        --pidfile "$scratch/redis.pid" --dir "$scratch" > /dev/null
    cleanup_more() { redis-cli -s "$scratch/redis.sock" SHUTDOWN NOSAVE > /dev/null 2>&1; }
    is_up() { [ "$(redis-cli -s "$scratch/redis.sock" PING 2> /dev/null)" = PONG ]; }
    if eventually is_up; then
        sed 's/.*/SETBIT days & 1/' fives | redis-cli -s redis.sock > /dev/null
        redis-cli -s redis.sock --raw GET days | head -c -1 > bytes
        rm -f redis.bits
        run import --format redis-bitmap redis.bits bytes
        expect 0 '' ''
        run bits list redis.bits
        same out fives
    fi
else
    printf 'skipped: a real Redis, redis-server is not installed\n'
fi
if command -v javac > /dev/null; then
    cat > Bits.java << 'END'
public class Bits {
    public static void main(String[] arguments) throws Exception {
        java.util.BitSet bits = new java.util.BitSet();
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Paths.get("fives"))) {
            bits.set(Integer.parseInt(line));
        }
        java.nio.file.Files.write(java.nio.file.Paths.get("bytes"), bits.toByteArray());
    }
}
END
    holds javac Bits.java
    holds java Bits
    rm -f java.bits
    run import --format java-bitset java.bits bytes
    expect 0 '' ''
    run bits list java.bits
    same out fives
else
    printf 'skipped: Java is not installed\n'
fi

# info and verify, of integers at both ends, of none, of damaged bytes.
rm -f ends.bits in
printf '%s\n' 1099511627775 0 77 | "$UNSEEN" bits add ends.bits
run info ends.bits
expect 0 '*' ''
for line in 'bitmap       ends.bits' 'integers     3' 'first        0' 'last         1099511627775' \
    "disk         $(wc -c < ends.bits) bytes, .* bits per integer"; do
    holds grep -qx "$line" out
done
run info --json ends.bits
expect 0 '*' ''
holds grep -q '^{"bitmap":"ends.bits","integers":3,"first":0,"last":1099511627775,"memory_bytes":[0-9]*,"written":"2' out
holds grep -q "\"disk_bytes\":$(wc -c < ends.bits)}\$" out
echo 1099511627775 | "$UNSEEN" bits remove ends.bits
run info ends.bits
holds grep -qx 'last         77' out
for top in 0 1 2 3 4 5 1023 65536; do
    rm -f last.bits
    echo "$top" | "$UNSEEN" bits add last.bits
    run info last.bits
    holds grep -qx "last         $top" out
done
run verify ends.bits fives.bits
expect 0 "ends.bits: good, 2 integers\nfives.bits: good, 40001 integers\n" ''
run verify --json ends.bits
expect 0 '{"bitmap":"ends.bits","errors":[],"good":true}\n' ''
"$UNSEEN" bits add none.bits < /dev/null
run info --json none.bits
holds grep -q '^{"bitmap":"none.bits","integers":0,"memory_bytes"' out
run verify none.bits
expect 0 'none.bits: good, 0 integers\n' ''
for offset in 20 100 $(($(wc -c < fives.bits) - 1)); do
    cp fives.bits hurt.bits
    flip hurt.bits "$offset"
    run verify ends.bits hurt.bits
    expect 1 'ends.bits: good, 2 integers\n' '*'
    holds grep -q '^unseen: error: hurt.bits' err
    holds grep -qx 'unseen: hint: to make it anew, from what it was made of: unseen bits add NEW.bits FILE' err
    run info hurt.bits
    expect 2 '' '*'
done
run verify --json hurt.bits
expect 1 '*' '*'
holds grep -q '"good":false}$' out
finish
