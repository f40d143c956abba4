# What is printed: -v, -D, --mark, -c, -q, -m.
. "$(dirname "$0")/lib/common.bash"

printf 'a\nb\na\na\nc\nb\nd\n' > in
for j in 1 2; do
    run -j "$j" -v
    expect 0 'a\na\nb\n' ''
    run -j "$j" --invert
    expect 0 'a\na\nb\n' ''
    run -j "$j" -D rep
    expect 0 'a\nb\nc\nd\n' ''
    printf 'a\na\nb\n' > want
    same rep want
    run -j "$j" -o new --repeats -
    expect 0 'a\na\nb\n' ''
    printf 'a\nb\nc\nd\n' > want
    same new want
    run -j "$j" --mark
    expect 0 '1\ta\n1\tb\n0\ta\n0\ta\n1\tc\n0\tb\n1\td\n' ''
    run -j "$j" --mark -D rep
    expect 0 '1\ta\n1\tb\n0\ta\n0\ta\n1\tc\n0\tb\n1\td\n' ''
    run -j "$j" -c
    expect 0 '4\n' ''
    run -j "$j" -cv
    expect 0 '3\n' ''
    run -j "$j" --count -D rep -o num
    expect 0 '' ''
    holds [ "$(cat num)" = 4 ]
    holds [ "$(wc -l < rep)" -eq 3 ]

    run -j "$j" -q
    expect 0 '' ''
    run -j "$j" -qv
    expect 0 '' ''
    run -j "$j" -q -x in
    expect 1 '' ''
    run -j "$j" -q /dev/null
    expect 1 '' ''

    run -j "$j" -m 3
    expect 0 'a\nb\nc\n' ''
    run -j "$j" -m3
    expect 0 'a\nb\nc\n' ''
    run -j "$j" --max=1
    expect 0 'a\n' ''
    run -j "$j" -m 0
    expect 0 '' ''
    run -j "$j" -c -m 0
    expect 0 '0\n' ''
    run -j "$j" -m 100
    expect 0 'a\nb\nc\nd\n' ''
    run -j "$j" -v -m 2
    expect 0 'a\na\n' ''
    run -j "$j" -c -m 2
    expect 0 '2\n' ''
    run -j "$j" -m 3 --mark
    expect 0 '1\ta\n1\tb\n0\ta\n0\ta\n1\tc\n' ''
    run -j "$j" -m 3 -D rep
    expect 0 'a\nb\nc\n' ''
    printf 'a\na\n' > want
    same rep want
done

# -m stops exactly there: what comes behind has not been counted as seen.
run -m 3 --stats=json
expect 0 'a\nb\nc\n' '*'
holds grep -q '"lines":5,"new":3,"seen":2,.*"bytes":10,"keys":3,' err

# The same in the middle of many lines.
urls 50000 20000 1 > in
awk '!seen[$0]++' in > all
for m in 1 511 512 513 7777; do
    head -n "$m" all > want
    for j in 1 2; do
        run -j "$j" -m "$m" --stats=json
        expect 0 '*' '*'
        same out want
        holds grep -q "\"new\":$m,.*\"keys\":$m," err
    done
done

# -q and -m end a run whose input does not end.
(while printf 'x\ny\nz\n'; do :; done) 2> /dev/null | unseen -m 3 > out
printf 'x\ny\nz\n' > want
same out want
(while printf 'x\n'; do :; done) 2> /dev/null | unseen -q
holds [ "$?" = 0 ]
mkfifo idle
sleep 60 > idle &
sleeper=$!
for j in 1 2; do
    printf 'a\n' > one
    run -j "$j" -q one idle
    expect 0 '' ''
    run -j "$j" -m 1 one idle
    expect 0 'a\n' ''
done
kill "$sleeper"

# Each line is written by itself.
printf 'a\nb\na\nc\n' > in
for j in 1 2; do
    run -j "$j" --line-buffered
    expect 0 'a\nb\nc\n' ''
    run -j "$j" --line-buffered --mark
    expect 0 '1\ta\n1\tb\n0\ta\n1\tc\n' ''
done
if command -v strace > /dev/null && strace -o trace true 2> /dev/null; then
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=write "$UNSEEN" -j 1 --line-buffered in > out
    holds [ "$(grep -c 'write(1, ".\\n", 2)' trace)" = 3 ]
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=write "$UNSEEN" -j 1 in > out
    holds [ "$(grep -c 'write(1, ' trace)" = 1 ]
    "$UNSEEN" add known.unseen in
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=write "$UNSEEN" check -j 1 --json --line-buffered known.unseen in > out
    holds [ "$(grep -c 'write(1, ' trace)" = 4 ]
fi
# A number ends as lines do.
tr '\n' '\0' < in > nul
run -z -c nul
expect 0 '3\0' ''
run count -z nul
expect 0 '3\0' ''
"$UNSEEN" add known.unseen in
run check -z -c known.unseen nul
expect 0 '4\0' ''

# Options that contradict each other.
refused() {
    run "$@" in
    expect 2 '' '*'
    holds grep -q '^unseen: hint: unseen ' err
}
refused --mark -v
refused --mark -c
refused -q -c
refused -q --mark
refused -q -o file
refused -q -D file
refused -v -D file
holds [ ! -e file ]
finish
