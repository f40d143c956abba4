# What is compared: -k with -t and --format.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf '1\tx\tA\n2\ty\tA\n3\tx\tB\n4\t\tB\n5\t\tC\n' > in
for j in 1 2; do
    run -j "$j" -k 2
    expect 0 '1\tx\tA\n2\ty\tA\n4\t\tB\n' ''
    run -j "$j" --key=3
    expect 0 '1\tx\tA\n3\tx\tB\n5\t\tC\n' ''
    run -j "$j" -k1
    expect 0 '1\tx\tA\n2\ty\tA\n3\tx\tB\n4\t\tB\n5\t\tC\n' ''
    run -j "$j" -v -k 3
    expect 0 '2\ty\tA\n4\t\tB\n' ''
done
printf 'a,b\nc,b\na,,b\n' > in
run -k 2 -t ,
expect 0 'a,b\na,,b\n' ''
run -k 2 --separator=, --format lines
expect 0 'a,b\na,,b\n' ''
printf 'a\0b\nc\0b\n' > in
run -k 2 -t '\0'
expect 0 'a\0b\n' ''
printf 'a\tb\nc\tb\n' > in
run -k 2 -t '\t'
expect 0 'a\tb\n' ''

# A line without the field is taken whole, never dropped; the first is shown, all are counted.
printf 'a b\nonly\nx b\nonly\nother\n' > in
run -k 2 -t ' '
expect 0 'a b\nonly\nother\n' "unseen: warning: standard input:2: no key 2 in 'only': taken whole
unseen: warning: 3 lines without the key were taken whole\n"
run -k 2 -t ' ' --stats=json in
expect 0 '*' '*'
holds grep -q '"without_key":3,' err
printf 'a b\nonly\n' > in
run -k 2 -t ' ' in
expect 0 'a b\nonly\n' "unseen: warning: in:2: no key 2 in 'only': taken whole\n"

# JSON lines: the value counts, not its spelling; the record is printed as it came.
cat > in << 'END'
{"url":"http://a/","n":1}
{"n":2, "url" : "http:\/\/\u0061\/"}
{"url":"http://b/","link":{"to":"x"}}
{"link":{"to":"x"},"url":"http://a/"}
END
for j in 1 2; do
    run -j "$j" -k .url
    expect 0 '{"url":"http://a/","n":1}\n{"url":"http://b/","link":{"to":"x"}}\n' ''
    run -j "$j" --format jsonl -k .url
    expect 0 '{"url":"http://a/","n":1}\n{"url":"http://b/","link":{"to":"x"}}\n' ''
done
run -v -k .link.to
expect 0 '{"link":{"to":"x"},"url":"http://a/"}\n' '*'
holds grep -q 'taken whole' err

cat > in << 'END'
{"l":[{"u":"p"},{"u":"q"}]}
{"l":[{"u":"r"},{"u":"q"}]}
END
run -c -k .l.1.u
expect 0 '1\n' ''
run -c -k .l.0.u
expect 0 '2\n' ''
run -c -k .l.2.u
expect 2 '2\n' '*'

# Values that are no strings have a form; null, missing, broken and foreign lines are taken whole.
printf '{"k":1}\n{"k": 1 }\n{"k":true}\n' > in
run -c -k .k
expect 0 '2\n' ''
printf '{"k":null}\n{"j":1}\n{"k":null}\n{"k":\nhello\n[1]\n\377\n{"k":"\\u0000"}\n{"k":""}\n' > in
run -k .k
expect 0 '{"k":null}\n{"j":1}\n{"k":\nhello\n[1]\n\377\n{"k":"\\u0000"}\n{"k":""}\n' \
    "unseen: warning: standard input:1: no key .k in '{\"k\":null}': taken whole
unseen: warning: 7 lines without the key were taken whole\n"

# Share and list work on the same key.
printf '{"k":"b"}\n{"k":"c"}\n' > in
echo b > list
run -k .k -x list
expect 0 '{"k":"c"}\n' ''
run -k .k --shard 1/2
cp out parts
run -k .k --shard 2/2
cat out >> parts
sort parts > sorted
same sorted in

wrong() {
    run "$@" in
    expect 2 '' '*'
    holds grep -q '^unseen: error: ' err
    [ "$1" = --format ] || holds grep -q '^unseen: hint: ' err
}
# Two keys: the last would win.
run -k 1 -k 2 in
expect 2 '' 'unseen: error: --key is given twice: 1 and 2\nunseen: hint: unseen -k 1,2 in\n'
run build -k 1 -k 2 key.list in
expect 2 '' 'unseen: error: --key is given twice: 1 and 2\nunseen: hint: unseen build -k 1 key.list in\n'
wrong -k 0
wrong -k x
wrong -k -1
wrong -k .
wrong -k .a..b
wrong -k .a.
wrong -t , 
wrong -t ab -k 1
wrong -t '' -k 1
wrong -t , -k .a
wrong --format jsonl
wrong --format jsonl -k 1
wrong --format lines -k .a
wrong --format xml -k 1
# A record of a million parts.
{ printf '{"a":['; head -c 3000000 /dev/zero | sed 's/\x00\x00\x00/{},/g'; printf '{}],"u":"x"}\n{"u":"x"}\n'; } > in
for j in 1 2; do
    run -j "$j" -k .u -c
    expect 0 '1\n' ''
done
finish
