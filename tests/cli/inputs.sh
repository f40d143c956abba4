# Compressed files, one and many, are decoded ahead by threads: lines, messages and exit status are those of one thread.
# Label: threads
. "$(dirname "$0")/lib/common.bash"

threads='1 2 8'
! brief || threads='1 8'
! sanitized || threads=8
formats='gzip'
for tool in zstd xz bzip2; do
    ! command -v $tool > /dev/null || formats="$formats $tool"
done
urls 30000 15000 9 > all
awk '!seen[$0]++' all > want
split -n l/40 -d all part.

# pack TOOL FILE NAME: in two members, frames or streams; xz also in blocks.
pack() {
    local how='-c'
    [ "$1" != xz ] || how='-c --block-size=200000'
    head -c $(($(stat -c %s "$2") / 3)) "$2" > first
    { $1 $how < first; tail -c +$(($(stat -c %s first) + 1)) "$2" | $1 $how; } > "$3"
}

for tool in $formats; do
    pack $tool all "all.$tool"
    for part in part.??; do
        pack $tool "$part" "$tool.$part"
    done
    $tool -c < all > "one.$tool"
    for j in $threads; do
        for files in "all.$tool" "one.$tool" "$(echo $tool.part.*)"; do
            run --seed 1 -j "$j" $files
            expect 0 '*' ''
            same out want
        done
    done
done

# All formats in turn, with text between them, and a file from a pipe.
set --
i=0
for part in part.??; do
    i=$((i % 5 + 1))
    tool=$(echo $formats | cut -d ' ' -f $i)
    set -- "$@" "${tool:+$tool.}$part"
done
for j in $threads; do
    run --seed 1 -j "$j" "$@"
    expect 0 '*' ''
    same out want
    "$UNSEEN" --seed 1 -j "$j" "${@:1:9}" <(cat "${10}") "${@:11}" > out
    same out want
    rm -f v.unseen*
    for _ in 1 2; do
        "$UNSEEN" --seed 1 -j "$j" -s v.unseen "$@" > "out$_"
    done
    same out1 want
    holds [ ! -s out2 ]
    "$UNSEEN" --seed 1 -j "$j" --memory 32M "$@" > out
    same out want
done

# File 7 fails in its middle, another one cannot be opened, and one has text of another kind: the same messages as with
# one
# thread, whose order with threads does not count, and all lines in front of the fault.
: | gzip -c > none.gz
tar -cf - part.00 | gzip -c > tar.gz
for tool in $formats; do
    head -c $(($(stat -c %s "one.$tool") * 2 / 3)) "one.$tool" > "cut.$tool"
    { cat "one.$tool"; echo garbage; } > "behind.$tool"
    for bad in cut behind; do
        faulty="${*:1:6} $bad.$tool ${*:8:30} missing none.gz tar.gz ${*:38}"
        run --seed 1 -j 1 $faulty
        mv out want_bad
        sort err > want_err
        holds grep -q "error: $bad\.$tool: " want_err
        for j in ${threads#1 }; do
            run --seed 1 -j "$j" $faulty
            expect 2 '*' '*'
            same out want_bad
            sort err > sorted
            same sorted want_err
        done
    done
done

# A window that would take more than its share, behind decoded bytes: the file waits for its turn.
if command -v zstd > /dev/null; then
    { cat one.zstd; zstd -qc --long=25 < all; } > wide.zst
    run --seed 1 -j 8 none.gz wide.zst one.zstd
    expect 0 '*' ''
    same out want
fi

# A file that nobody writes holds up what comes after it only. That is decoded meanwhile; text is not
# opened, nor is anything with one thread.
mkfifo held
has_open() { readlink "/proc/$pid/fd"/* | grep -q "/$1\$"; }
has_all() { [ "$(wc -l < out)" = "$1" ]; }
head -n 100 all | awk '!seen[$0]++' > few
gzip -c few > few.gz
for files in 2:all.gzip 2:all 1:all.gzip; do
    "$UNSEEN" --seed 1 -j "${files%:*}" few.gz few.gz held "${files#*:}" "${files#*:}" > out 2> err &
    pid=$!
    eventually has_all "$(wc -l < few)"
    case $files in
    2:all.gzip) eventually has_open all.gzip ;;
    *) holds [ "$(has_open few.gz && echo open)$(has_open "${files#*:}" && echo open)" = '' ] ;;
    esac
    : > held
    wait "$pid"
    holds [ $? = 0 ]
    same out want
done

# A signal ends a run whose files are decoded ahead.
"$UNSEEN" few.gz held -j 8 all.gzip all.gzip > out 2> err &
pid=$!
eventually has_all "$(wc -l < few)"
ended() {
    kill "$pid" 2> /dev/null
    ! kill -0 "$pid" 2> /dev/null
}
eventually ended
wait "$pid"
holds [ $? = 143 ]

# A file that was opened ahead and has grown, or is another one, at its turn is read as it is then.
for change in '>>' '> other && mv other'; do
    rm -f turn
    mkfifo turn
    echo begin | gzip > later.gz
    "$UNSEEN" -j 2 turn later.gz > out &
    pid=$!
    exec 3> turn
    echo first >&3
    eventually [ -s out ]
    eval "echo end | gzip $change later.gz"
    exec 3>&-
    wait "$pid"
    holds grep -qx end out
done
finish
