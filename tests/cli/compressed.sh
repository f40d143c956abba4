# Compressed input, known by its bytes; damaged input, whose good part is still used.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf 'a\nb\na' > one
printf 'c\nb\n' > two
gzip -nc one > one.gz
gzip -nc two > two.gz
cat one.gz two.gz > members.gz
for j in 1 2; do
    run -j "$j" one.gz
    expect 0 'a\nb\n' ''
    run -j "$j" members.gz
    expect 0 'a\nb\nac\n' '' # one text, as zcat has it: the first member does not end its line
    cp members.gz in
    run -j "$j"
    expect 0 'a\nb\nac\n' ''
    "$UNSEEN" -j "$j" < <(cat members.gz) > out
    printf 'a\nb\nac\n' > want
    same out want
    run -j "$j" one.gz two one
    expect 0 'a\nb\nc\n' ''
done
cp one.gz plain.name
run plain.name
expect 0 'a\nb\n' ''
: | gzip -nc > empty.gz
run empty.gz
expect 0 '' ''
cat empty.gz one.gz empty.gz two.gz empty.gz > members.gz
run members.gz
expect 0 'a\nb\nac\n' ''
{ cat one.gz; head -c 1000 /dev/zero; } > padded.gz
run padded.gz
expect 0 'a\nb\n' ''
{ cat one.gz; echo garbage; } > garbage.gz
run garbage.gz
expect 2 'a\nb\n' 'unseen: error: garbage.gz: garbage after the gzip data
unseen: error: garbage.gz:3: unfinished line of 1 bytes left out\n'

# Not gzip, though it starts like it.
printf '\037' > in
run
expect 0 '\037\n' ''
printf '\037\213\n(\265\nP\nP*M\n' > in
run
expect 0 '\037\213\n(\265\nP\nP*M\n' ''

# Bytes that come one at a time.
dribble() { perl -e '$| = 1; while (read STDIN, $c, 1) { print $c; select undef, undef, undef, 0.002 }' < "$1"; }
for file in one.gz two; do
    dribble "$file" | "$UNSEEN" -j 1 > out
    case $file in
    one.gz) printf 'a\nb\n' > want ;;
    two) printf 'c\nb\n' > want ;;
    esac
    same out want
done

# Much data, cut and damaged.
urls 60000 20000 5 > big
awk '!seen[$0]++' big > want
gzip -nc big > big.gz
for j in 1 2; do
    run -j "$j" big.gz
    expect 0 '*' ''
    same out want
done
head -c 200000 big.gz > cut.gz
gzip -dc cut.gz 2> /dev/null > part
holds [ "$(wc -l < part)" -gt 1000 ]
head -n "$(wc -l < part)" part | awk '!seen[$0]++' > want_part
for j in 1 2; do
    run -j "$j" cut.gz
    expect 2 '*' '*'
    holds grep -qx 'unseen: error: cut.gz: the compressed data ends too early' err
    holds [ "$(wc -l < out)" -ge "$(wc -l < want_part)" ]
    head -n "$(wc -l < out)" want > some
    same out some
    run -j "$j" cut.gz two
    expect 2 '*' '*'
    holds [ "$(tail -n 2 out)" = "$(printf 'c\nb')" ]
done
{ head -c 100000 big.gz; printf 'XXXXXXXXXXXXXXXX'; tail -c +100017 big.gz; } > bad.gz
run bad.gz
expect 2 '*' '*'
holds grep -q '^unseen: error: bad.gz: damaged gzip data: ' err
printf '\037\213\010' > in
run
expect 2 '' 'unseen: error: standard input: the compressed data ends too early\n'

# Cut within the bytes by which it is known. What could be text is text: one byte, the beginnings of bzip2
# data and of a skippable frame, and whatever a newline ends.
for cut in '\037\213' '(\265' '(\265/' '\3757' '\3757z' '\3757zX' '\3757zXZ'; do
    printf "$cut" > part.c
    for j in 1 2; do
        run -j "$j" part.c one
        expect 2 'a\nb\n' 'unseen: error: part.c: the compressed data ends too early\n'
    done
    "$UNSEEN" < <(cat part.c) > out 2> err
    status=$?
    last="unseen, with '$cut' in a pipe"
    expect 2 '' 'unseen: error: standard input: the compressed data ends too early\n'
done
for text in '\037' '(' '\375' 'P*M' 'BZh91AY&S' '\037\213\n' '(\265/\n' '\3757zXZ\n'; do
    printf "$text" > in
    run
    expect 0 "${text%'\n'}\n" ''
done
rm in

# xz and bzip2: streams in a row, padding, garbage, cuts, damage, as for gzip.
for tool in xz bzip2; do
    if ! command -v $tool > /dev/null; then
        skip "no $tool"
        continue
    fi
    $tool -c one > one.c
    $tool -c two > two.c
    : | $tool -c > empty.c
    cat empty.c one.c empty.c two.c empty.c > streams.c
    for j in 1 2; do
        run -j "$j" one.c
        expect 0 'a\nb\n' ''
        run -j "$j" streams.c
        expect 0 'a\nb\nac\n' ''
    done
    "$UNSEEN" < <(cat streams.c) > out
    printf 'a\nb\nac\n' > want_streams
    same out want_streams
    run empty.c
    expect 0 '' ''
    { cat one.c; head -c 1000 /dev/zero; cat two.c; } > padded.c
    run padded.c
    expect 0 'a\nb\nac\n' ''
    { cat one.c; echo garbage; } > garbage.c
    run garbage.c
    expect 2 'a\nb\n' "unseen: error: garbage.c: garbage after the $tool data
unseen: error: garbage.c:3: unfinished line of 1 bytes left out\n"
    $tool -c big > big.c
    for j in 1 2; do
        run -j "$j" big.c
        expect 0 '*' ''
        same out want
    done
    dribble one.c | "$UNSEEN" -j 1 > out
    printf 'a\nb\n' > some
    same out some
    size=$(stat -c %s big.c)
    head -c $((size - 20)) big.c > cut.c
    run cut.c two
    expect 2 '*' '*'
    holds grep -qx 'unseen: error: cut.c: the compressed data ends too early' err
    holds [ "$(tail -n 2 out)" = "$(printf 'c\nb')" ]
    head -n "$(($(wc -l < out) - 2))" want > some
    head -n -2 out > part
    same part some
    { head -c $((size / 2)) big.c; printf 'XXXXXXXXXXXXXXXX'; tail -c +$((size / 2 + 17)) big.c; } > bad.c
    run bad.c two
    expect 2 '*' '*'
    holds grep -q "^unseen: error: bad.c: damaged $tool data: wrong data or checksum" err
    run -x bad.c two
    expect 2 '' '*'
    # A forged beginning of the second stream.
    { cat one.c; head -c 4 two.c; printf 'XXXXXXXXXXXX'; } > forged.c
    run forged.c
    expect 2 'a\nb\n' '*'
    holds grep -q "^unseen: error: forged.c: damaged $tool data: " err
    holds grep -qx 'unseen: error: forged.c:3: unfinished line of 1 bytes left out' err
done
if command -v xz > /dev/null; then
    # A dictionary is memory, which has the limit of a window. These say that they take 128 MiB,
    # 256 MiB and 4 GiB, and hold four bytes.
    python3 - << 'END'
import lzma, zlib
for name, size in ("dict27", 30), ("dict28", 32), ("dict32", 40):
    b = bytearray(lzma.compress(b"a\nb\n", lzma.FORMAT_XZ))
    assert b[14] == 0x21
    b[16] = size
    end = 12 + b[12] * 4
    b[end:end + 4] = zlib.crc32(bytes(b[12:end])).to_bytes(4, "little")
    open(name + ".xz", "wb").write(b)
END
    run dict27.xz
    expect 0 'a\nb\n' ''
    for file in dict28.xz dict32.xz; do
        run $file one
        expect 2 'a\nb\n' "unseen: error: $file: this xz data takes a window of more than 128 MiB of memory
unseen: hint: *\n"
    done
    for long in --long --long=28; do
        run $long dict28.xz
        expect 0 'a\nb\n' ''
    done
    run --long=27 dict28.xz
    expect 2 '' "unseen: error: dict28.xz: this xz data takes a window of more than 128 MiB of memory
unseen: hint: *\n"
    run --long dict32.xz
    expect 2 '' 'unseen: error: dict32.xz: this xz data takes a window of more than 2 GiB of memory\n'
    # A check of a kind that nobody knows would not be checked.
    xz -c --check=crc32 one > check.xz
    python3 - << 'END'
import zlib
b = bytearray(open("check.xz", "rb").read())
b[7] = 2  # reserved, 4 bytes as CRC32
b[8:12] = zlib.crc32(bytes(b[6:8])).to_bytes(4, "little")
open("check.xz", "wb").write(b)
END
    run check.xz
    expect 2 '' 'unseen: error: check.xz: damaged xz data: its checksum is of an unknown kind\n'
fi

if ! command -v zstd > /dev/null; then
    skip 'no zstd'
    finish
fi
zstd -qc one > one.zst
zstd -qc two > two.zst
cat one.zst two.zst > frames.zst
for j in 1 2; do
    run -j "$j" frames.zst
    expect 0 'a\nb\nac\n' ''
done
printf '\120\052\115\030\003\0\0\0xyz' > skippable.zst
cat skippable.zst one.zst skippable.zst > frames.zst
run frames.zst
expect 0 'a\nb\n' ''
: | zstd -qc > empty.zst
run empty.zst
expect 0 '' ''
zstd -qc big > big.zst
run big.zst
expect 0 '*' ''
same out want
head -c 100000 big.zst > cut.zst
run cut.zst
expect 2 '*' '*'
holds grep -qx 'unseen: error: cut.zst: the compressed data ends too early' err
{ cat one.zst; echo garbage; } > bad.zst
run bad.zst
expect 2 'a\nb\n' '*'
holds grep -q '^unseen: error: bad.zst: damaged zstd data: ' err
# Files that fill the blocks in which they are read to the last byte.
for kib in 64 128 192 256 320 512 768 1024; do
    yes 0123456789abcde | head -c $((kib * 1024)) > exact
    zstd -q -c exact > exact.zst
    gzip -c exact > exact.gz
    run exact.zst exact.gz
    expect 0 '0123456789abcde\n' ''
done
run one.gz two.zst one
expect 0 'a\nb\nc\n' ''

# A little file is not much memory: a line that is too long is not kept, and the window has a limit.
bomb() { { echo a; head -c 128M /dev/zero | tr '\0' x; echo; echo b; } }
if (ulimit -v 60000 && "$UNSEEN" --version > /dev/null 2>&1); then
    bomb | zstd -qc > bomb.zst
    bomb | gzip -c > bomb.gz
    bomb | xz -1c > bomb.xz
    bomb | bzip2 -c > bomb.bz2
    for file in bomb.zst bomb.gz bomb.xz bomb.bz2; do
        status=$(bash -c 'ulimit -v 100000; "$0" -j 1 -p none "$1" > out 2> err; echo $?' "$UNSEEN" "$file")
        last="unseen $file"
        expect 2 'a\nb\n' "unseen: error: $file:2: line of 134217728 bytes left out: --max-line is 16777216
unseen: hint: *\n"
    done
fi
# A window of 128 MiB is taken, and a longer one with --long.
printf 'a\nb\n' > text
{ head -c 1M /dev/zero | tr '\0' x; echo; } > line
zstd -qc --long=27 < line > window27.zst
zstd -qc --long=28 < line > window28.zst
run -j 1 window27.zst
expect 0 '*' ''
same out line
run -j 1 window28.zst text
expect 2 'a\nb\n' "unseen: error: window28.zst: this zstd data takes a window of more than 128 MiB of memory
unseen: hint: *\n"
run -j 1 --long window28.zst
expect 0 '*' ''
same out line
run -j 1 --long=28 window28.zst
expect 0 '*' ''
same out line
run -j 1 --long=26 window27.zst
expect 2 '' "unseen: error: window27.zst: this zstd data takes a window of more than 64 MiB of memory
unseen: hint: *\n"
seq 5 | zstd -qc --long=28 > integers.zst
run sort integers.zst
expect 2 '' '*'
run sort --long integers.zst
expect 0 '1\n2\n3\n4\n5\n' ''
finish
