# A pipe is answered at once, and a loop through a fifo never stands still.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

has_lines() { [ "$(wc -l < "$1")" -ge "$2" ]; }

# Each line that arrives comes out before the next one is sent.
ping_pong() {
    mkfifo ask answer
    "$UNSEEN" "$@" < ask > answer 2> err &
    pid=$!
    exec 3> ask 4< answer
    for i in 1 2 3; do
        printf 'line %d\nline %d\npart' "$i" "$((i - 1))" >&3
        read -r -t 20 reply <&4
        holds [ "$reply" = "$want_first$i" ]
        if [ "$i" = 1 ]; then
            read -r -t 20 reply <&4
            holds [ "$reply" = "${want_first}0" ]
        fi
        printf ' of line %d\n' "$i" >&3
        read -r -t 20 reply <&4
        holds [ "$reply" = "${want_first/line/part of line}$i" ]
    done
    exec 3>&-
    wait "$pid"
    holds [ $? = 0 ]
    exec 4<&-
    rm ask answer
}
for j in 1 2 3; do
    want_first='line '
    ping_pong -j "$j"
done

# The same with gzip, flushed after each line; perl has the compressor.
if perl -MCompress::Raw::Zlib -e 1 2> /dev/null; then
    cat > talk.pl << 'END'
use Compress::Raw::Zlib;
open my $out, '>', 'ask' or die;
open my $in, '<', 'answer' or die;
select $out;
$| = 1;
my ($z, $status) = Compress::Raw::Zlib::Deflate->new(-WindowBits => WANT_GZIP, -AppendOutput => 1);
for my $i (1 .. 3) {
    my $bytes = '';
    $z->deflate("line $i\nline 1\n", $bytes);
    $z->flush($bytes, Z_SYNC_FLUSH);
    print $out $bytes;
    my $reply = <$in>;
    $reply eq "line $i\n" or die "got $reply";
}
my $bytes = '';
$z->flush($bytes, Z_FINISH);
print $out $bytes;
close $out;
exit(defined <$in> ? 1 : 0);
END
    for j in 1 2 3; do
        mkfifo ask answer
        timeout 60 perl talk.pl &
        "$UNSEEN" -j "$j" < ask > answer
        wait $!
        holds [ $? = 0 ]
        rm ask answer
    done
fi

# A crawl of a made-up web in a loop through a fifo: page N links to 2N, 2N+1 and back to its
# parent. The fetcher reads our output and writes our input; 1..2000 come out once each.
cat > fetch << 'END'
while read -r n; do
    echo "$n" >&3
    [ $((2 * n + 1)) -gt 2000 ] || printf '%s\n' $((2 * n)) $((2 * n + 1)) $((n / 2 + 1)) "$n"
    [ "$n" -ne 1000 ] || echo 2000
done
END
for j in 1 2 3; do
    mkfifo q
    timeout 60 "$UNSEEN" --seed 1 -j "$j" -m 2000 < q 2> err | timeout 60 bash fetch > q 3> visited &
    loop=$!
    exec 5> q
    echo 1 >&5
    wait "$loop"
    exec 5>&-
    holds [ ! -s err ]
    sort -n visited > sorted
    seq 2000 > want
    same sorted want
    rm q
done

# A page with more links than both pipes hold: the fetcher writes 2 MB before it reads again. A
# filter that waited for its reader would stand still here for ever.
cat > fetch_page << 'END'
read -r first
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "http://www.example/page-%d\n", i }'
cat > seen_by_fetcher
END
for j in 1 2 3; do
    mkfifo q
    timeout 60 "$UNSEEN" --seed 1 -j "$j" -m 100001 < q 2> err | timeout 60 bash fetch_page > q &
    loop=$!
    exec 5> q
    echo start >&5
    wait "$loop"
    holds [ $? = 0 ]
    exec 5>&-
    holds [ ! -s err ]
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "http://www.example/page-%d\n", i }' > want
    same seen_by_fetcher want
    rm q
done

# The same loop with a store: killed in the middle and started again, it visits each page once more
# at most, and none is forgotten.
mkfifo q
timeout 60 "$UNSEEN" -s loop.unseen -m 2000 < q 2> err | timeout 60 bash fetch > q 3> visited &
loop=$!
exec 5> q
echo 1 >&5
wait "$loop"
exec 5>&-
holds [ ! -s err ]
sort -n visited > sorted
seq 2000 > want
same sorted want
seq 2000 > all
"$UNSEEN" check -vc loop.unseen all > out
holds [ "$(cat out)" = 0 ]
rm q
# Written to a reader that is slow, what is not written yet is not remembered.
mkfifo q slow
urls 60000 60000 7 > pages
"$UNSEEN" --seed 1 -s behind.unseen q > slow 2> err &
pid=$!
exec 6< slow
cat pages > q # returns when all has been read, though nothing is taken from the output
kill -9 "$pid"
wait "$pid" 2> /dev/null
cat <&6 > taken
exec 6<&-
"$UNSEEN" -s behind.unseen pages > rest
{ cat taken; echo; cat rest; } | sort -u > got
sort -u pages | comm -13 got - > lost
holds [ ! -s lost ]
holds [ $(($(sort -u pages | wc -l) - $(wc -l < rest))) -lt 5000 ] # what a pipe holds
rm q slow

# What is waiting in memory still comes out at the end of the input, and in order.
mkfifo q
urls 60000 50000 4 > big
awk '!seen[$0]++' big > want
cat big > q &
"$UNSEEN" --seed 1 q | { sleep 0.5; cat; } > out
same out want
# ... and when the reader goes away, so does the tool.
cat big > q 2> /dev/null &
"$UNSEEN" --seed 1 q 2> err | head -n 1 > out
holds [ "${PIPESTATUS[0]}" = 141 ]
holds [ "$(cat out)" = "$(head -n 1 want)" ]
wait

# Output of an earlier file is not held back while a fifo has no writer yet.
mkfifo late
printf 'a\nb\n' > one
for j in 1 2 3; do
    "$UNSEEN" -j "$j" one late > out &
    pid=$!
    eventually has_lines out 2
    printf 'b\nc\n' > late
    wait "$pid"
    holds [ "$(cat out)" = "$(printf 'a\nb\nc')" ]
done
finish
