# CRLF is one line end wherever lines come in: the CR is not compared, and the bytes are printed as
# they came.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf 'ecom\nfcom\n' > lf
printf 'ecom\r\nfcom\r\n' > crlf
said='*' # a hint that no line is a URL
for profile in crawl none; do
    [ $profile = crawl ] || said=''
    for j in 1 2; do
        run -j "$j" -p $profile lf crlf
        expect 0 'ecom\nfcom\n' "$said"
        run -j "$j" -p $profile crlf lf crlf
        expect 0 'ecom\r\nfcom\r\n' "$said"
        run -j "$j" -p $profile -v crlf lf
        expect 0 'ecom\nfcom\n' "$said"
        run -j "$j" -p $profile -x crlf lf
        expect 0 '' "$said"
        run -j "$j" -p $profile -x lf crlf
        expect 0 '' "$said"
        run -j "$j" -p $profile --canonical crlf
        expect 0 'ecom\nfcom\n' "$said"
        run -j "$j" -p $profile --shard 1/1 crlf lf
        expect 0 'ecom\r\nfcom\r\n' "$said"
    done
    run count -p $profile crlf lf
    expect 0 '2\n' "$said"
    run canon -p $profile crlf
    expect 0 'ecom\nfcom\n' "$said"
    rm -f s.unseen
    run add -p $profile s.unseen crlf
    expect 0 '' "$said"
    run check s.unseen lf
    expect 0 'ecom\nfcom\n' "$said"
    run check s.unseen crlf
    expect 0 'ecom\r\nfcom\r\n' "$said"
    run recheck s.unseen crlf lf
    expect 1 '' "$said"
    run -s s.unseen lf
    expect 0 '' "$said"
    run import s.unseen crlf
    expect 0 '' "$said"
    run info --json s.unseen
    holds grep -q '"keys":2[,}]' out
done
rm -f s.unseen
run add s.unseen lf
run remove s.unseen crlf
run check s.unseen lf
expect 1 '' '*'

# Fields, values and groups behind which the line ends.
printf '1,e.com\r\n2,e.com\n3,f.com\r\n' > in
run -t , -k 2
expect 0 '1,e.com\r\n3,f.com\r\n' '*'
run count -t , -k 1 --by 2
expect 0 '2\te.com\n1\tf.com\n' '*'
printf '{"u":"x"}\r\nnone\r\nnone\n{"u":"x"}\n' > in
run -k .u
expect 0 '{"u":"x"}\r\nnone\r\n' '*'
holds grep -q "no key .u in 'none': taken whole" err

# A CR at the end of the input ends the line; of two one is text; a CR within a line is text.
printf 'a\r\na\r' > in
run
expect 0 'a\r\n' '*'
printf 'a\r\r\na\r\na\nb\rc\nb\nb\rc\r\n\r\n\n' > in
run
expect 0 'a\r\r\na\r\nb\rc\nb\n\r\n' '*'
# Lines that end in NUL: a CR is a byte.
printf 'a\r\0a\0a\r\0' > in
run -z
expect 0 'a\r\0a\0' '*'
run -z -x crlf
expect 0 'a\r\0a\0' '*'

# Across the blocks in which files are read.
for n in 262143 262144 262145; do
    { head -c $((n - 2)) /dev/zero | tr '\0' x; printf '\r\nq\r\nq\n'; } > in
    run
    holds [ "$(tail -c 4 out | od -An -c | tr -d ' ')" = '\nq\r\n' ]
    run -c
    expect 0 '2\n' "$said"
done

# Lists: entries and questions, changes, known-good lines.
rm -f in
for kind in url mail; do
    case $kind in
    url) printf 'http://e.com/x\r\nf.com/y\r\n' > entries ;;
    mail) printf 'jo@e.com\r\n@f.com\r\n' > entries ;;
    esac
    tr -d '\r' < entries > plain
    rm -f l.list
    run build --kind $kind l.list entries
    expect 0 '' '*'
    run check l.list plain
    expect 0 '*' ''
    same out plain
    run check l.list entries
    expect 0 '*' ''
    same out entries
    run allow l.list entries
    expect 0 '' '*'
    run check l.list plain
    expect 1 '' ''
    rm -f l.list
    run build --kind $kind --known-good plain l.list entries
    expect 0 '' '*'
    run check l.list entries
    expect 1 '' ''
done
finish
