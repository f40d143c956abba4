# Byte order marks and UTF-16: read as what they mark, printed as UTF-8; and what is no text.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

# a file of UTF-16 from UTF-8: le16 TEXT > FILE, be16 TEXT > FILE
le16() { printf '\377\376'; printf "$1" | python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode().encode("utf-16-le"))'; }
be16() { printf '\376\377'; printf "$1" | python3 -c 'import sys; sys.stdout.buffer.write(sys.stdin.buffer.read().decode().encode("utf-16-be"))'; }

text='http://a/\r\nhttp://b/\nname\303\251\342\202\254\360\237\230\200\nhttp://a/\n'
want='http://a/\r\nhttp://b/\nname\303\251\342\202\254\360\237\230\200\n'
printf "$text" > utf8
{ printf '\357\273\277'; cat utf8; } > mark
le16 "$text" > le
be16 "$text" > be
for file in mark le be; do
    gzip -nc $file > $file.gz
    for j in 1 2; do
        run -j "$j" $file
        expect 0 "$want" ''
        run -j "$j" $file.gz utf8
        expect 0 "$want" ''
        cat $file | "$UNSEEN" -j "$j" > out
        printf "$want" > want
        same out want
        run -j "$j" -x $file utf8
        expect 0 '' ''
        run -j "$j" -p none utf8 $file $file
        expect 0 "$want" ''
    done
    rm -f s.unseen
    run add s.unseen $file
    run check s.unseen utf8
    expect 0 "$text" ''
    run count $file utf8
    expect 0 '3\n' ''
    # Bytes that come one at a time.
    python3 -c '
import os, sys, time
for b in open(sys.argv[1], "rb").read(): os.write(1, bytes([b])); time.sleep(0.001)' $file | "$UNSEEN" > out
    same out want
done
# Each file has its own mark; one further inside is a character.
printf '\357\273\277x\n' > one
printf 'x\n\357\273\277x\n' > two
run one two one
expect 0 'x\n\357\273\277x\n' ''
# Marks alone, and files that end within a mark.
printf '\357\273\277' > utf8.empty
printf '\377\376' > le.empty
printf '\376\377' > be.empty
run utf8.empty le.empty be.empty
expect 0 '' ''
printf '\357\273' > in
run
expect 0 '\357\273\n' ''
printf '\377\n' > in
run
expect 0 '\377\n' ''
rm -f in

# JSON lines, integers, entries of lists, what other programs keep.
printf '\357\273\277{"u":"x"}\r\n{"u":"x"}\n' > json
run -k .u json
expect 0 '{"u":"x"}\r\n' ''
le16 '3\r\n1\r\n2' > integers
run sort integers
expect 0 '1\n2\n3\n' ''
printf '\357\273\277jo@evil.example\r\n' > senders
run build --kind mail m.list senders
expect 0 '' '*'
printf 'jo@evil.example\n' > in
run check m.list
expect 0 'jo@evil.example\n' ''
le16 'jo@evil.example\n' > undo
run allow m.list undo
expect 0 '' '*'
run check m.list
expect 1 '' ''
printf '\357\273\277%040d\r\n' 7 > requests.seen
run import --format requests.seen r.unseen requests.seen
expect 0 '' ''
rm -f in

# Damage: half a pair, and an end within a character. What comes before is done.
printf '\377\376a\0\n\0\0\330b\0\n\0' > half
run half utf8
expect 2 "a\n$want" 'unseen: error: half: damaged UTF-16 text: half a surrogate pair
unseen: hint: *\n'
printf '\376\377\334\0\0a' > half
run half
expect 2 '' 'unseen: error: half: damaged UTF-16 text: half a surrogate pair
unseen: hint: *\n'
for bytes in 'a\0\n\0b' 'a\0\n\0\0\330' 'a\0\n\0\0\330\0'; do
    printf "\377\376$bytes" > cut16
    run cut16
    expect 2 'a\n' 'unseen: error: cut16: the UTF-16 text ends within a character\n'
done

# Every character, in pieces of all sizes.
python3 - << 'END'
text = "\n".join(chr(c) for c in range(0x20, 0x110000, 7) if not 0xd800 <= c < 0xe000) + "\n"
open("all8", "wb").write(text.encode())
open("all16", "wb").write(b"\xfe\xff" + text.encode("utf-16-be"))
open("all16l", "wb").write(b"\xff\xfe" + text.encode("utf-16-le"))
END
for file in all16 all16l; do
    run -p none $file
    expect 0 '*' ''
    same out all8
done

# What other programs open: an error with the command, through files, pipes and -x, and nothing is
# stored.
foreign() { # FILE WHAT COMMAND
    run "$1" utf8
    expect 2 "$want" "unseen: error: $1 is $2, not lines that can be read\nunseen: hint: $3 | unseen - utf8\n"
    cat "$1" | "$UNSEEN" -c > out 2> err
    status=$?
    last="unseen -c < $1"
    expect 2 '*' "unseen: error: standard input is $2, not lines that can be read\nunseen: hint: ${3/"$1"/FILE} | unseen -c\n"
    run -x "$1" utf8
    expect 2 '' '*'
    rm -f s.unseen
    run add s.unseen "$1"
    expect 2 '' '*'
    holds [ ! -e s.unseen ]
    run count "$1"
    expect 2 '' '*'
    run sort "$1"
    expect 2 '' '*'
    run build new.list "$1"
    expect 2 '' '*'
    holds [ ! -e new.list ]
}
python3 - << 'END'
import sqlite3, tarfile, zipfile
zipfile.ZipFile("l.zip", "w").write("utf8")
zipfile.ZipFile("empty.zip", "w").close()
with tarfile.open("l.tar", "w", format=tarfile.GNU_FORMAT) as t: t.add("utf8")
with tarfile.open("pax.tar", "w", format=tarfile.PAX_FORMAT) as t: t.add("utf8")
with tarfile.open("l.tgz", "w:gz") as t: t.add("utf8")
db = sqlite3.connect("l.db"); db.execute("create table t(u)"); db.commit()
open("l.32", "wb").write(b"\xff\xfe\0\0" + "http://a/\n".encode("utf-32-le"))
open("b.32", "wb").write(b"\0\0\xfe\xff" + "http://a/\n".encode("utf-32-be"))
END
printf '\004\042\115\030d@\247\013' > l.lz4
printf '\002\041\114\030abc' > old.lz4
printf '\037\235\220abc' > l.Z
printf '7z\274\257\047\034\0\004' > l.7z
printf 'Rar!\032\007\001\0' > l.rar
printf 'LZIP\001\014' > l.lz
printf '\170\001\001' > l1.zz
printf '\170\234\313' > l6.zz
printf '\170\332\113' > l9.zz
printf '\170\332\313' > m9.zz
printf '\135\0\0\200\0\377\377\377\377\377\377\377\377\0' > l.lzma
printf '\211LZO\0\015\012\032\012' > l.lzo
printf '\377\006\0\0sNaPpY' > l.sz
printf 'PAR1\025\004' > l.parquet
printf '{"a":1}\n' | gzip -nc | gzip -nc > twice.gz
foreign l.zip 'a zip archive' 'unzip -p l.zip'
foreign empty.zip 'an empty zip archive' 'unzip -p empty.zip'
foreign l.tar 'a tar archive' 'tar -xOf l.tar'
foreign pax.tar 'a tar archive' 'tar -xOf pax.tar'
foreign l.tgz 'a tar archive in gzip data' 'tar -xOf l.tgz'
foreign l.lz4 'lz4 data' 'lz4 -dc l.lz4'
foreign old.lz4 'lz4 data' 'lz4 -dc old.lz4'
foreign l.Z 'data of compress' 'gzip -dc l.Z'
foreign l.7z 'a 7z archive' '7z x -so l.7z'
foreign l.rar 'a rar archive' 'unrar p -inul l.rar'
foreign l.lz 'lzip data' 'lzip -dc l.lz'
for name in l1 l6 l9 m9; do
    foreign $name.zz 'zlib data' "pigz -dc $name.zz"
done
foreign l.lzma 'lzma data' 'xz -dc l.lzma'
foreign l.lzo 'lzop data' 'lzop -dc l.lzo'
foreign l.sz 'snappy data' 'snzip -dc l.sz'
foreign l.db 'an SQLite database' "sqlite3 l.db 'SELECT url FROM table'"
foreign l.parquet 'a Parquet file' "duckdb -csv -noheader -c \"SELECT url FROM 'l.parquet'\""
foreign l.32 'text in UTF-32' 'iconv -f UTF-32 -t UTF-8 l.32'
foreign b.32 'text in UTF-32' 'iconv -f UTF-32 -t UTF-8 b.32'
foreign twice.gz 'gzip data in gzip data' 'gzip -dc twice.gz'
# The commands print the lines.
for command in 'tar -xOf l.tar' 'tar -xOf l.tgz' 'gzip -dc twice.gz | gzip -dc' 'iconv -f UTF-32 -t UTF-8 l.32'; do
    bash -c "$command" > out
    holds [ -s out ]
done
# A store or a list that comes through a pipe.
unseen add s.unseen utf8
for file in s.unseen m.list; do
    cat $file | "$UNSEEN" -c > out 2> err
    status=$?
    last="unseen -c < $file"
    expect 2 '0\n' 'unseen: error: standard input is a store or a list of unseen, not lines that can be read
unseen: hint: unseen info FILE\n'
done
seq 3 > in
unseen bits add b.bits in
rm in
foreign_bitmap='not lines that can be read\nunseen: hint: *\n'
for command in canon count sort 'add s.unseen' '-s s.unseen -c'; do
    cat b.bits | "$UNSEEN" $command > out 2> err
    status=$?
    last="cat b.bits | unseen $command"
    expect 2 '*' "unseen: error: standard input is a bitmap of unseen, $foreign_bitmap"
done
run canon b.bits
expect 2 '' "unseen: error: b.bits is a bitmap of unseen, $foreign_bitmap"

# Lines that begin like such files are lines.
printf 'UNBH\nUNFH\nUNBH http://e.com/a-line-that-is-long/\n' > in
run
expect 0 'UNBH\nUNFH\nUNBH http://e.com/a-line-that-is-long/\n' ''
printf 'PK\nRar!\n\037\235\n' > in
run
expect 0 'PK\nRar!\n\037\235\n' ''
printf 'x\332\200\nx^\n' > in # letters of UTF-8
run
expect 0 'x\332\200\nx^\n' ''
{ head -c 400 /dev/zero | tr '\0' x; printf ustar; head -c 400 /dev/zero | tr '\0' x; echo; } > in
run -c
expect 0 '1\n' ''
# The line in front of a pause is answered, whatever it begins like.
rm -f in
mkfifo q
"$UNSEEN" < q > out &
pid=$!
exec 3> q
printf 'P\n' >&3
holds eventually grep -qx P out
exec 3>&-
wait $pid
finish
