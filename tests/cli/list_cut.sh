# A list that is cut short or written over while it is asked: the command says so and ends with 2. What
# it had answered holds, and nothing is answered after that.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"
asking=
cleanup_more() {
    [ -z "$asking" ] || kill -KILL "$asking" 2> /dev/null
}
seq 50000 | sed 's#^#http://e.com/#' > listed.txt
seq 60000 | sed 's#^#http://e.com/#' > lines.txt
sed -n 2,40000p lines.txt > rest.txt
seq 50000 | sed 's#^#http://f.com/#' > other.txt
unseen build --seed 1 whole.list listed.txt
unseen build --seed 1 other.list other.txt
mkfifo lines

cut_off() { : > bad.list; }
cut_in_page() { truncate -s 5000 bad.list; }
cut_header() { truncate -s 100 bad.list; }
write_over() { cat other.list > bad.list; }

# hurt HOW WANT ARG...: asks bad.list about a line, does HOW to the list, and asks on.
hurt() {
    how=$1
    want=$2
    shift 2
    cp whole.list bad.list
    rm -f out # the shell opens the fifo first, and until then the output of the last run would be there
    "$UNSEEN" "$@" < lines > out 2> err &
    asking=$!
    last="unseen $* ($how)"
    {
        head -n 1 lines.txt
        if [ "$want" = '' ]; then
            eventually grep -q 'bad\.list' "/proc/$asking/maps"
        else
            eventually [ -s out ]
        fi
        "$how"
        cat rest.txt
    } > lines 2> /dev/null
    wait "$asking"
    status=$?
    asking=
    expect 2 "$want" 'unseen: error: bad.list was written over or cut short while it was asked\nunseen: hint: build the new one beside it, or copy it there, and rename it: mv NEW bad.list\n'
}

for how in cut_off cut_in_page cut_header write_over; do
    hurt $how 'http://e.com/1\n' check --line-buffered bad.list
    hurt $how '1\thttp://e.com/1\n' check --mark bad.list
    hurt $how '' check -c bad.list
    sed -i '1s#.*#http://new.example/#' lines.txt
    hurt $how 'http://new.example/\n' -x bad.list
    hurt $how 'http://new.example/\n' check -v bad.list
    rm -f store
    hurt $how 'http://new.example/\n' -s store -x bad.list
    holds [ "$(unseen check -c store < lines.txt)" = 1 ]
    sed -i '1s#.*#http://e.com/1#' lines.txt
done

# A change of a list that is no more is no change.
for how in cut_off cut_in_page cut_header write_over; do
    cp whole.list bad.list
    "$UNSEEN" update --remove - bad.list < lines > out 2> err &
    asking=$!
    {
        eventually grep -q 'bad\.list' "/proc/$asking/maps"
        "$how"
        cat rest.txt
    } > lines 2> /dev/null
    wait "$asking"
    status=$?
    asking=
    last="unseen update ($how)"
    expect 2 '' '*'
    holds grep -q '^unseen: error: bad\.list was written over or cut short while it was' err
    holds [ "$(wc -c < bad.list)" -le "$(wc -c < whole.list)" ]
done

# A file that is renamed over it is what is good practice; changes are not a cut.
cp whole.list bad.list
"$UNSEEN" check -c bad.list < lines > out 2> err &
asking=$!
{
    head -n 1 lines.txt
    eventually grep -q 'bad\.list' "/proc/$asking/maps"
    echo http://new.example/ | unseen update --add - bad.list
    cp other.list next.list
    mv next.list bad.list
    sed 1d listed.txt
} > lines
wait "$asking"
status=$?
asking=
last='unseen check, with another file renamed over the list'
expect 0 '50000\n' ''
finish
