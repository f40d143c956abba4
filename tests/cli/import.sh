# import: what other programs remember.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

keys_of() { "$UNSEEN" info --json "$1" | sed -E 's/.*"keys":([0-9]+).*/\1/'; }

# Lines, and anew's files, which are lines.
printf 'http://a/\nHTTP://A/\nhttp://b/\n' > list
for how in '' '--format lines' '--format anew' '-j 1'; do
    rm -f v.unseen
    run import $how v.unseen list
    expect 0 '' ''
    holds [ "$(keys_of v.unseen)" = 2 ]
done
gzip -c list > list.gz
rm -f v.unseen
run import -p none --stats=json v.unseen list.gz
expect 0 '' '*'
holds grep -q '"lines":3,"new":3,"seen":0,' err
run import --format lines v.unseen missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
run import --format csv v.unseen list
expect 2 '' "unseen: error: --format: 'csv' is not lines, anew, requests.seen, redis-set, guava, dcso, redis-bitmap or java-bitset\n"

# Scrapy's fingerprints.
for i in 1 2 3; do
    printf 'http://%s/' "$i" | sha1sum | cut -c1-40
done > requests.seen
for j in 1 2; do
    rm -f s.unseen
    run import -j "$j" --format requests.seen s.unseen requests.seen
    expect 0 '' ''
    run check -v s.unseen requests.seen
    expect 1 '' ''
    holds [ "$(keys_of s.unseen)" = 3 ]
done
run info s.unseen
holds grep -q '^profile  *none/1$' out
sed 's/$/\r/' requests.seen > windows.seen
run import --format requests.seen --stats=json s.unseen windows.seen
expect 0 '' '*'
holds grep -q '"new":0,"seen":3,' err
# Python on Windows writes CR CR LF, and perhaps more of them.
sed 's/$/\r\r/; 2s/$/\r/' requests.seen > windows.seen
run import --format requests.seen --stats=json s.unseen windows.seen
expect 0 '' '*'
holds grep -q '"new":0,"seen":3,' err
# Nothing is dropped in silence, and what a terminal does not show is told in hex.
printf 'a\tb\r\xc3\xa9\\c\r\n' > bytes.seen
run import --format requests.seen s.unseen bytes.seen
expect 2 '' "unseen: error: bytes.seen:1: left out, not 40 hexadecimal digits: 'a\\\\x09b\\\\x0d\\\\xc3\\\\xa9\\\\x5cc\\\\x0d'\n"
{ head -n 1 requests.seen; echo http://a/; echo; sed -n 2p requests.seen | tr a-f A-F; tail -n 1 requests.seen | head -c 39; } > damaged.seen
rm s.unseen
run import --format requests.seen s.unseen requests.seen damaged.seen
expect 2 '' '*'
holds [ "$(keys_of s.unseen)" = 3 ]
holds [ "$(wc -l < err)" = 4 ]
holds grep -qx "unseen: error: damaged.seen:2: left out, not 40 hexadecimal digits: 'http://a/'" err
holds grep -qx "unseen: error: damaged.seen:3: left out, not 40 hexadecimal digits: ''" err
holds grep -q '^unseen: error: damaged.seen:4: left out' err
holds grep -q '^unseen: error: damaged.seen:5: left out' err
seq 30 > numbers
run import --format requests.seen s.unseen numbers
expect 2 '' '*'
holds grep -qx 'unseen: error: 20 more lines left out' err
holds [ "$(wc -l < err)" = 11 ]
# Newer versions write bytes, each fingerprint with its length in front.
python3 - << 'END'
lines = open("requests.seen").read().split()
packed = b"".join(bytes([0, 20]) + bytes.fromhex(line) for line in lines)
tricky = [b"\n" * 20, b"\0" * 20, b"\n\0" * 10, bytes(range(20)), b"x" * 19 + b"\n"]
open("bytes.seen", "wb").write(packed)
open("tricky.seen", "wb").write(b"".join(bytes([0, 20]) + f for f in tricky))
open("tricky", "w").write("".join(f.hex() + "\n" for f in tricky))
open("torn.seen", "wb").write(packed[:-3])
open("torn1.seen", "wb").write(packed[:-21])
open("short.seen", "wb").write(b"\0\1a\0\1b\0\1a")
open("empty.seen", "wb").write(b"\0\0" * 3)
open("wrong.seen", "wb").write(packed[:22] + b"\0\x13" + packed[24:])
END
for j in 1 2; do
    rm -f s.unseen
    run import -j "$j" --format requests.seen s.unseen bytes.seen tricky.seen
    expect 0 '' ''
    run check -vc s.unseen requests.seen tricky
    expect 1 '0\n' ''
    holds [ "$(keys_of s.unseen)" = 8 ]
done
rm s.unseen
run import --format requests.seen s.unseen torn.seen
expect 2 '' 'unseen: error: torn.seen: left out from byte 44 on: not a fingerprint of 20 bytes\n'
holds [ "$(keys_of s.unseen)" = 2 ]
run import --format requests.seen s.unseen torn1.seen
expect 2 '' 'unseen: error: torn1.seen: left out from byte 44 on: not a fingerprint of 20 bytes\n'
rm s.unseen
run import --format requests.seen s.unseen wrong.seen
expect 2 '' 'unseen: error: wrong.seen: left out from byte 22 on: not a fingerprint of 20 bytes\n'
holds [ "$(keys_of s.unseen)" = 1 ]
rm s.unseen
run import --format requests.seen s.unseen short.seen
expect 0 '' ''
holds [ "$(keys_of s.unseen)" = 2 ]
rm s.unseen
run import --format requests.seen s.unseen empty.seen
expect 2 '' 'unseen: error: empty.seen: left out from byte 0 on: not a fingerprint of 20 bytes\n'
# Fingerprints are no URLs.
"$UNSEEN" add urls.unseen list
cp urls.unseen before
run import --format requests.seen urls.unseen requests.seen
expect 2 '' 'unseen: error: urls.unseen has the profile crawl/1, not none/1\nunseen: hint: unseen import --format requests.seen NEW.unseen FILE\n'
same urls.unseen before
run import -p crawl --format requests.seen new.unseen requests.seen
expect 2 '' 'unseen: error: requests.seen holds fingerprints, which no profile reads as URLs\nunseen: hint: unseen import --profile none --format requests.seen new.unseen requests.seen\n'
holds [ ! -e new.unseen ]
# A big one, in one piece and through a pipe.
awk 'BEGIN { for (i = 0; i < 60000; i++) printf "%040x\n", i * 7919 }' > requests.big
for j in 1 2; do
    rm -f s.unseen
    cat requests.big | "$UNSEEN" import -j "$j" --format requests.seen s.unseen
    holds [ "$(keys_of s.unseen)" = 60000 ]
done

# Members of a Redis set: raw, quoted, and as the protocol has them.
cat > want << 'END'
http://a/
http://b/?q="x"\y
END
printf 'http://c/\tz\n' >> want
cp want raw
cat > quoted << 'END'
1) "http://a/"
2) "http://b/?q=\"x\"\\y"
3) "http://c/\tz"
END
{
    printf '*3\r\n'
    while IFS= read -r line; do
        printf '$%d\r\n%s\r\n' "${#line}" "$line"
    done < want
} > protocol
sed 's/^\*/~/' protocol > protocol3
for file in raw quoted protocol protocol3; do
    rm -f r.unseen
    run import -p none --format redis-set r.unseen $file
    expect 0 '' ''
    holds [ "$(keys_of r.unseen)" = 3 ]
    run check -v r.unseen want
    expect 1 '' ''
done
# Numbers are aligned from ten members on; bytes that cannot be printed are written in hexadecimal.
awk 'BEGIN { for (i = 1; i <= 12; i++) printf "%2d) \"\\x00\\xff\\n\\r\\a\\b%d\"\n", i, i }' > quoted
rm r.unseen
run import -p none --format redis-set r.unseen quoted
expect 0 '' ''
printf '\0\377\n\r\a\b12\0' > in
printf '\377\n\r\a\b12' > one
run check -z r.unseen in
holds [ "$(keys_of r.unseen)" = 12 ]
rm in
# A member with line ends in it, in the protocol; an empty one; no members.
printf '*2\r\n$7\r\na\r\nb\n\nc\r\n$0\r\n\r\n' > protocol
rm r.unseen
run import -p none --format redis-set r.unseen protocol
expect 0 '' ''
holds [ "$(keys_of r.unseen)" = 2 ]
printf 'a\r\nb\n\nc\0' > zero
run check -z r.unseen zero
expect 0 'a\r\nb\n\nc\0' ''
printf '*0\r\n' > none
printf '(empty array)\n' > empty
run import -p none --format redis-set --stats=json r.unseen none empty /dev/null
expect 0 '' '*'
holds grep -q '"new":0,"seen":0,' err
# Damaged ones: the rest is taken, what is not is named.
printf '1) "http://a/"\n2) "http://b\n4) "http://c/"\n3) "x\\q"\n2) "http://ok/"\n' > quoted
rm r.unseen
run import --format redis-set r.unseen quoted
expect 2 '' '*'
holds [ "$(keys_of r.unseen)" = 2 ]
holds grep -qx "unseen: error: quoted:2: left out, not part of a reply of SMEMBERS: '2) \"http://b'" err
holds [ "$(grep -c '^unseen: error: quoted:' err)" = 3 ]
for text in '*2\r\n$1\r\na\r\n' '*1\r\n$5\r\nabc\r\n' '*1\r\n$1\r\nabc\r\n' '*1\r\n' '*1\r\n$1\r\na\r\n$1\r\nb\r\n' \
    '*1\r\n:1\r\n' '*1\r\n$99999999999999999999\r\na\r\n'; do
    printf "$text" > protocol
    run import -p none --format redis-set r.unseen protocol
    [ "$status" = 2 ] && grep -q '^unseen: error: ' err || complain "$text: status $status"
done
rm -f r.unseen
# A member that is too long is passed over, not collected.
printf '*3\r\n$1\r\na\r\n$12\r\nlong\nlong\nlo\r\n$1\r\nb\r\n' > protocol
run import -p none --format redis-set --max-line 10 r.unseen protocol
expect 2 '' 'unseen: error: protocol:7: member of 12 bytes left out: --max-line is 10\n'
holds [ "$(keys_of r.unseen)" = 2 ]
run import -p none --format redis-set --max-line 12 r.unseen protocol
expect 0 '' ''
holds [ "$(keys_of r.unseen)" = 3 ]
printf '*1\r\n$12\r\nlong\nlong\nlong\r\n' > protocol
run import -p none --format redis-set --max-line 10 r.unseen protocol
expect 2 '' '*'
rm -f r.unseen

# A real Redis.
if command -v redis-server > /dev/null && command -v redis-cli > /dev/null; then
    redis-server --port 0 --unixsocket "$scratch/redis.sock" --save '' --daemonize yes \
        --pidfile "$scratch/redis.pid" --dir "$scratch" > /dev/null
    cleanup_more() { redis-cli -s "$scratch/redis.sock" SHUTDOWN NOSAVE > /dev/null 2>&1; }
    is_up() { [ "$(redis-cli -s "$scratch/redis.sock" PING 2> /dev/null)" = PONG ]; }
    if eventually is_up; then
        urls 3000 2500 8 | sort -u > urls
        { cat urls; printf 'http://e/"quoted"\\\nhttp://e/\303\244\n'; } > members
        sed "s/[\\\\\"]/\\\\&/g; s/.*/SADD urls \"&\"/" members | redis-cli -s redis.sock > /dev/null
        redis-cli -s redis.sock SMEMBERS urls > raw
        redis-cli -s redis.sock --no-raw SMEMBERS urls > quoted
        holds [ "$(wc -l < raw)" = "$(wc -l < members)" ]
        holds grep -q '^ *1) "http:' quoted
        python3 - << 'END' > protocol
import socket, sys, os
s = socket.socket(socket.AF_UNIX)
s.connect("redis.sock")
s.sendall(b"SMEMBERS urls\r\nQUIT\r\n")
reply = b""
while True:
    piece = s.recv(65536)
    if not piece:
        break
    reply += piece
sys.stdout.buffer.write(reply[:-5])
END
        for file in raw quoted protocol; do
            for j in 1 2; do
                rm -f r.unseen
                run import -j "$j" -p none --format redis-set r.unseen $file
                expect 0 '' ''
                holds [ "$(keys_of r.unseen)" = "$(wc -l < members)" ]
                run check -vc r.unseen members
                expect 1 '0\n' ''
            done
        done
        redis-cli -s redis.sock SMEMBERS urls | "$UNSEEN" import --format redis-set piped.unseen
        holds [ "$(keys_of piped.unseen)" = "$(wc -l < members)" ]
        redis-cli -s redis.sock SMEMBERS nothing | "$UNSEEN" import --format redis-set piped.unseen
        redis-cli -s redis.sock --no-raw SMEMBERS nothing | "$UNSEEN" import --format redis-set piped.unseen
        holds [ $? = 0 ]
    fi
else
    printf 'skipped: a real Redis, redis-server is not installed\n'
fi
finish
