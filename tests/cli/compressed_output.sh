# -o NAME.gz, .zst, .xz and .bz2 write that format, or say no.
. "$(dirname "$0")/lib/common.bash"

urls 15000 5000 5 > big
awk '!seen[$0]++' big > want
awk 'seen[$0]++' big > want_repeats
for pair in 'gz gzip' 'zst zstd' 'xz xz' 'bz2 bzip2'; do
    suffix=${pair% *}
    program=${pair#* }
    if ! command -v $program > /dev/null; then
        skip "no $program"
        continue
    fi
    # What another program makes of it, and what unseen makes of it.
    for j in 1 2; do
        run -j "$j" -o "new.$suffix" -D "repeats.$suffix" big
        expect 0 '' ''
        $program -dc "new.$suffix" > out
        same out want
        $program -dc "repeats.$suffix" > out
        same out want_repeats
    done
    holds $program -tq "new.$suffix"
    run "new.$suffix"
    expect 0 '*' ''
    same out want
    holds [ "$(stat -c %s "new.$suffix")" -lt $(($(stat -c %s want) / 2)) ]
    # A shorter output, and an empty one, are all that the file holds then.
    for text in 'a\n' ''; do
        printf "$text" > in
        run -o "new.$suffix"
        expect 0 '' ''
        $program -dc "new.$suffix" > out
        status=$?
        expect 0 "$text" '*'
    done
    rm -f in
    # Lines that do not fit a buffer, and each line by itself.
    { head -c 3M /dev/zero | tr '\0' x; echo; echo a; } > long
    run --line-buffered -o "new.$suffix" long
    expect 0 '' ''
    $program -dc "new.$suffix" > out
    same out long
    # Beside the file, lines can go to standard output; other commands have -o, too.
    run canon -o "canon.$suffix" want
    expect 0 '' ''
    $program -dc "canon.$suffix" > out
    "$UNSEEN" canon want > want_canon
    same out want_canon
    seq 5 | "$UNSEEN" sort -o "sorted.$suffix"
    $program -dc "sorted.$suffix" > out
    status=$?
    last='unseen sort'
    expect 0 '1\n2\n3\n4\n5\n' '*'
    # A disk without room is an error, also in the last bytes.
    if [ -w /dev/full ]; then
        ln -sf /dev/full "full.$suffix"
        run -o "full.$suffix" big
        expect 2 '' "unseen: error: cannot write full.$suffix: No space left on device\n"
    fi
    # Nothing is written into a run that does not happen.
    run -o "new.$suffix" -x missing big
    expect 2 '' '*'
    $program -dc "new.$suffix" > out
    same out long
    # An input is not an output.
    run -o "new.$suffix" "new.$suffix"
    expect 2 '' '*'
    holds grep -q 'is both input and output' err
    # An output that is continued has no place in it where a frame could be cut.
    run -s "s.unseen" -o "all.$suffix" big
    expect 2 '' "unseen: error: all.$suffix would be compressed, but with -s an output is continued line by line
unseen: hint: -o NAME without that ending; compress the file when the run is over\n"
    holds [ ! -e "all.$suffix" ]
    "$UNSEEN" add t.unseen want
    run check t.unseen -o "found.$suffix" big
    expect 0 '' ''
    $program -dc "found.$suffix" > out
    same out big
    rm -f ./*.unseen*
done
# Names of other formats.
for name in a.zip a.ZIP a.Tar.GZ a.tar a.tgz a.tar.gz a.tar.zst a.lz4 a.Z a.7z; do
    run -o $name big
    expect 2 '' "unseen: error: $name would be lines, not what its name says
unseen: hint: names in .gz, .zst, .xz and .bz2 are compressed; -o - writes to another program\n"
    holds [ ! -e $name ]
done
run -o CAPITALS.GZ big
expect 0 '' ''
gzip -dc < CAPITALS.GZ > out
same out want
for name in gz .gz a.gz.txt agz; do
    printf 'a\n' > in
    run -o $name
    expect 0 '' ''
    holds [ "$(cat $name)" = a ]
done
finish
