# What a line is: any bytes up to the delimiter, and what no line is lost or changed by.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf 'b\na\nb\nc\na\n' > in
run
expect 0 'b\na\nc\n' ''
run dedup
expect 0 'b\na\nc\n' ''
run -
expect 0 'b\na\nc\n' ''
run dedup -- -
expect 0 'b\na\nc\n' ''

# Nothing, and next to nothing.
: > in
run
expect 0 '' ''
printf '\n' > in
run
expect 0 '\n' ''
printf '\n\n\nx\n\n' > in
run
expect 0 '\nx\n' ''

# A last line without a newline is a line, the same as with one.
printf 'a\nb\na' > in
run
expect 0 'a\nb\n' ''
printf 'a\nb' > in
run
expect 0 'a\nb\n' ''

# Each file ends its last line.
printf 'x\ny' > one
printf 'y\nz' > two
run one two
expect 0 'x\ny\nz\n' ''
printf 'q\nx' > in
run one - two
expect 0 'x\ny\nq\nz\n' ''
run one one /dev/null one
expect 0 'x\ny\n' ''

# Bytes are bytes: NUL, 0x80-0xFF, invalid UTF-8, trailing blanks, letter case.
printf 'a\r\na\na\0b\na\0c\na\0b\n\200\377\n\300\200\n\200\377\nA\na \n' > in
run
expect 0 'a\r\na\0b\na\0c\n\200\377\n\300\200\nA\na \n' '' # a CR before the newline is no part of the line
run -z
expect 0 'a\r\na\na\0b\na\0c\na\0b\n\200\377\n\300\200\n\200\377\nA\na \n\0' ''
printf 'a\0b\nc\0a\0b\nc' > in
run -z
expect 0 'a\0b\nc\0' ''
run -0
expect 0 'a\0b\nc\0' ''
run --null
expect 0 'a\0b\nc\0' ''

# Every single byte as a line.
for j in 1 2; do
    awk 'BEGIN { for (r = 0; r < 3; r++) for (i = 0; i < 256; i++) if (i != 10) printf "%c\n", i }' > in
    awk 'BEGIN { for (i = 0; i < 256; i++) if (i != 10) printf "%c\n", i }' > want
    run -j "$j"
    expect 0 '*' ''
    same out want
done

# Long lines: one of 10 MB, several around the size of a block, and one without an end.
long() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ long 10000000 x; echo; echo short; long 10000000 x; echo; long 9999999 x; echo y; long 262143 a; echo
  long 262144 a; echo; long 262145 a; echo; long 262143 a; echo; long 262144 a; echo; long 524288 b; } > in
{ long 10000000 x; echo; echo short; long 9999999 x; echo y; long 262143 a; echo
  long 262144 a; echo; long 262145 a; echo; long 524288 b; echo; } > want
for j in 1 2; do
    run -j "$j"
    expect 0 '*' ''
    same out want
    cat in | "$UNSEEN" -j "$j" > out
    same out want
done

# Many lines at every offset of a block's end.
for j in 1 2; do
    for pad in 0 1 2 3 61 62 63 64 65; do
        { long "$pad" p; echo; urls 12000 5000 "$pad"; } > in
        awk '!seen[$0]++' in > want
        run -j "$j"
        expect 0 '*' ''
        same out want
    done
done

# Short lines fill many batches of one block.
awk 'BEGIN { for (i = 0; i < 300000; i++) print i % 1000 }' > in
seq 0 999 > want
run
expect 0 '*' ''
same out want

# --max-line: longer lines are reported and left out, the rest is done; exit 2.
printf 'aaa\nbbbb\nccccc\naaa\nddd' > in
run --max-line 4 in
expect 2 'aaa\nbbbb\nddd\n' 'unseen: error: in:3: line of 5 bytes left out: --max-line is 4\n'
printf 'aaa\nddddd' > in
run --max-line 4
expect 2 'aaa\n' 'unseen: error: standard input:2: line of 5 bytes left out: --max-line is 4\n'
{ echo a; long 3000000 x; echo; echo b; long 300000 y; } > in
for j in 1 2; do
    run -j "$j" --max-line 1K in
    expect 2 'a\nb\n' 'unseen: error: in:2: line of 3000000 bytes left out: --max-line is 1024
unseen: error: in:4: line of 300000 bytes left out: --max-line is 1024\n'
done
awk 'BEGIN { for (i = 0; i < 25; i++) print "toolong" i }' > in
run --max-line 5 in
expect 2 '' '*'
holds [ "$(grep -c 'line of' err)" = 10 ]
holds grep -qx 'unseen: error: 15 more lines over --max-line left out' err

# Without --max-line it is 16 MiB, for every command that reads lines; 0 is no limit.
max=$((16 << 20))
{ echo a; long "$max" x; echo; } > fits
{ echo a; long $((max + 1)) x; echo; echo b; } > over
left="over:2: line of $((max + 1)) bytes left out: --max-line is $max
unseen: hint: *"
for j in 1 2; do
    run -j "$j" -p none fits
    expect 0 '*' ''
    same out fits
    run -j "$j" -p none over
    expect 2 'a\nb\n' "unseen: error: $left\n"
    run -j "$j" -p none --max-line 0 over
    expect 0 '*' ''
    same out over
    run -j "$j" -p none --max-line 17M over
    expect 0 '*' ''
    same out over
done
run count -p none over
expect 2 '' "unseen: error: $left\n"
run canon -p none over
expect 2 'a\nb\n' "unseen: error: $left\n"
echo b > in
run -p none -x over
expect 2 '' "unseen: error: $left\n"
rm in
run -p none -s max.unseen over
expect 2 'a\nb\n' "unseen: error: $left\n"
run check max.unseen over
expect 2 '*' "unseen: error: $left\n"
run add max.unseen over
expect 2 '' "unseen: error: $left\n"
run import max.unseen over
expect 2 '' "unseen: error: $left\n"
run import --max-line 0 max.unseen over
expect 0 '' ''
run recheck max.unseen over
expect 2 '*' '*'
holds grep -qF "unseen: error: $(head -n 1 <<< "$left")" err
run build -p none max.list over
expect 2 '*' '*'
holds grep -qF "unseen: error: $(head -n 1 <<< "$left")" err
lacks . out
run build -p none max.list fits
expect 0 '' '*'
for change in 'allow max.list' 'update max.list --add'; do
    run $change over
    expect 2 '' '*'
    holds grep -qF "unseen: error: $(head -n 1 <<< "$left")" err
    run $change --max-line 17M over
    lacks 'left out' err
done
finish
