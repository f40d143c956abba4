# Where the output goes, and what happens when it cannot.
. "$(dirname "$0")/lib/common.bash"

printf 'a\nb\na\n' > in
printf 'a\nb\n' > want
printf 'old\nold\nold\nold\n' > new
run -o new
expect 0 '' ''
same new want
run --output=new in
same new want
run -o - in
expect 0 'a\nb\n' ''
run -o /dev/null in
expect 0 '' ''
run -o nodir/new in
expect 2 '' 'unseen: error: cannot open nodir/new: No such file or directory\n'
run -D nodir/rep in
expect 2 '' 'unseen: error: cannot open nodir/rep: No such file or directory\n'

# An output that is an input as well would be cut, or would never end.
cp in file
run -o file file
expect 2 '' 'unseen: error: file is both input and output\nunseen: hint: unseen -o NEW file && mv NEW file\n'
same file in
ln -s file link
ln file hard
run -o link file
expect 2 '' '*'
run -o hard in file
expect 2 '' '*'
run -D file file
expect 2 '' '*'
run -x file -o file in # which has no line that the file lacks
expect 0 '' ''
same file in
"$UNSEEN" file >> file 2> err
holds [ $? = 2 ]
same file in
"$UNSEEN" < file >> file 2> err
holds [ $? = 2 ]
holds grep -q 'standard input is both input and output' err
same file in
run -o file -D file in
expect 2 '' '*'
run -o new -D ./new in
expect 2 '' 'unseen: error: new lines and repeats both go to ./new\nunseen: hint: *\n'
run -D - in
expect 2 '' 'unseen: error: new lines and repeats both go to standard output\nunseen: hint: *\n'
same new want
run -o /dev/null -D /dev/null in
expect 0 '' ''

# A full disk.
full='unseen: error: cannot write standard output: No space left on device\n'
urls 100000 100000 9 > big
for j in 1 2 3; do
    for file in in big; do
        "$UNSEEN" -j "$j" "$file" > /dev/full 2> err
        status=$?
        last="unseen -j $j $file > /dev/full"
        : > out
        expect 2 '' "$full"
    done
    run -j "$j" -o /dev/full big
    expect 2 '' 'unseen: error: cannot write /dev/full: No space left on device\n'
    run -j "$j" -D /dev/full in
    expect 2 '*' 'unseen: error: cannot write /dev/full: No space left on device\n'
    "$UNSEEN" -c in > /dev/full 2> err
    holds [ $? = 2 ]
done
"$UNSEEN" --help > /dev/full 2> err
holds [ $? = 2 ]
"$UNSEEN" --version > /dev/full 2> err
holds [ $? = 2 ]
# It is noticed even while the input is silent.
mkfifo idle
for j in 1 2 3; do
    sleep 60 > idle &
    sleeper=$!
    run -j "$j" -o /dev/full in idle
    expect 2 '' '*'
    kill "$sleeper"
    wait "$sleeper" 2> /dev/null
done

# A disk that fills up on the way: what is there is a prefix of the whole.
awk '!seen[$0]++' big > whole
cleanup_more() { [ ! -d "$scratch/small" ] || umount "$scratch/small" 2> /dev/null; }
mkdir small
if mount -t tmpfs -o size=256k tmpfs small 2> /dev/null; then
    for j in 1 2 3; do
        run --seed 1 -j "$j" -o small/new big
        expect 2 '' 'unseen: error: cannot write small/new: No space left on device\n'
        holds [ "$(wc -c < small/new)" -gt 200000 ]
        head -c "$(wc -c < small/new)" whole > prefix
        same small/new prefix
        rm small/new
    done
    umount small
else
    printf 'skipped: a small tmpfs, mount is not allowed\n'
fi
(ulimit -f 100; exec "$UNSEEN" --seed 1 -o limited big 2> err)
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot write limited: File too large' err
head -c "$(wc -c < limited)" whole > prefix
same limited prefix

# A reader that goes away: killed by SIGPIPE as other filters are; where that signal is ignored, a
# silent end.
set +o pipefail
for j in 1 2 3; do
    "$UNSEEN" -j "$j" big 2> err | head -n 1 > out
    holds [ "${PIPESTATUS[0]}" = 141 ]
    holds [ ! -s err ]
    holds [ "$(wc -l < out)" = 1 ]
    (trap '' PIPE; "$UNSEEN" -j "$j" big 2> err; echo $? > code) | head -n 1 > out
    holds [ "$(cat code)" = 2 ]
    holds [ ! -s err ]
done

# Closed descriptors.
"$UNSEEN" in 2> err >&-
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot write standard output: Bad file descriptor' err
"$UNSEEN" -o new in <&- 2> err
holds [ $? = 0 ]
same new want
"$UNSEEN" <&- > out 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot read standard input: Bad file descriptor' err
"$UNSEEN" in 2>&- > out
holds [ $? = 0 ]
same out want
"$UNSEEN" -o new in >&- 2>&- <&-
holds [ $? = 0 ]
same new want

# Descriptors that do not block, and interrupted or failing system calls.
if command -v perl > /dev/null; then
    nonblock='use Fcntl; fcntl(STDIN, F_SETFL, O_RDONLY|O_NONBLOCK); fcntl(STDOUT, F_SETFL, O_WRONLY|O_NONBLOCK); exec @ARGV'
    for j in 1 2 3; do
        { sleep 0.1; cat big; sleep 0.1; } | perl -e "$nonblock" "$UNSEEN" --seed 1 -j "$j" | { sleep 0.2; cat; } > out
        same out whole
    done
fi
if command -v strace > /dev/null && strace -o trace -e inject=getppid:error=EPERM:when=1 true 2> /dev/null; then
    inject() { # FILE WHAT STATUS STDERR
        ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$1" -e "inject=$2" "$UNSEEN" --seed 1 -j "$j" file > out 2> err
        status=$?
        last="unseen -j $j with $2"
        expect "$3" '*' "$4"
    }
    cat big in > file
    # A message that a signal interrupts is written all the same.
    ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$PWD/err" -e inject=write:error=EINTR:when=1 \
        "$UNSEEN" --stats file > out 2> err
    holds grep -q '^lines  ' err
    awk '!seen[$0]++' file > want
    for j in 1 2 3; do
        inject "$PWD/file" read:error=EINTR:when=2+2 0 ''
        same out want
        inject "$PWD/out" write:error=EINTR:when=1+2 0 ''
        same out want
        inject "$PWD/file" read:error=EIO:when=4 2 '*'
        holds grep -qx 'unseen: error: cannot read file: Input/output error' err
        holds grep -qE '^unseen: error: file:[0-9]+: unfinished line of [0-9]+ bytes left out$' err
        head -n "$(wc -l < out)" want > part
        holds [ "$(wc -l < part)" -gt 1000 ]
        same out part
        inject "$PWD/out" write:error=EIO:when=2 2 'unseen: error: cannot write standard output: Input/output error\n'
        inject "$PWD/out" close:error=EIO:when=1 2 'unseen: error: cannot write standard output: Input/output error\n'
        # A named output is emptied when the first input is open.
        echo old > named
        ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -P "$PWD/named" -e inject=ftruncate:error=EIO:when=1 \
            "$UNSEEN" -j "$j" -o named file > out 2> err
        status=$?
        last="unseen -j $j -o with a failing ftruncate"
        expect 2 '' 'unseen: error: cannot write named: Input/output error\n'
        holds [ "$(cat named)" = old ]
    done
else
    printf 'skipped: injected errors, strace cannot run here\n'
fi
finish
