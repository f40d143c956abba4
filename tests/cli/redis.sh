# The tool with a set in a Redis server: the output of the file, and what can go wrong.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
. "$TESTS/cli/lib/redis.bash"
. "$TESTS/cli/lib/served.bash"
type redis-server > /dev/null 2>&1 && [ -e "${MODULE-}" ] || exit 77
if "$UNSEEN" -c -s redis+unix:none < /dev/null 2>&1 | grep 'without hiredis' > /dev/null; then exit 77; fi

urls 20000 12000 5 > some
"$UNSEEN" --seed 1 some > want
redis one --loadmodule "$MODULE"
set='redis+unix:one.sock?key=crawl'

like_own_set "$set"
holds [ "$(at one UNSEEN.EXISTS crawl http://NEW.example:80/)" = 1 ]
run -m 1 -s $set -- some new
expect 0 '' ''

# Any bytes: a newline in a key, a NUL behind each line.
printf 'a\0b\nc\0a\0' > in
run -z -p none --fpr 1e-6 -s redis+unix:one.sock?key=bytes
expect 0 'a\0b\nc\0' ''
rm in
printf '{"u":"a\\nb"}\n{"u":"a\\nb"}\n{"u":"c"}\n' > json
run -p none -k .u -s 'redis+unix:one.sock?key=a%2Fb' json
expect 0 '{"u":"a\\nb"}\n{"u":"c"}\n' ''
holds [ "$(at one EXISTS a/b)" = 1 ]
run -p none -c -s 'redis+unix:one.sock?key=crawl&db=3' new
expect 0 '2\n' ''
holds [ "$(at one -n 3 KEYS '*')" = crawl ]

like_one_set "$set"

# The other commands on a store; a rate and a profile make a set.
changes_like_file 'redis+unix:one.sock?key=changed'
run add -p none --fpr 1e-6 'redis+unix:one.sock?key=rated' some
expect 0 '' ''
run info 'redis+unix:one.sock?key=rated'
expect 0 '*' ''
holds grep -qx 'profile      none/1' out
run add -p none --fpr 1e-12 'redis+unix:one.sock?key=rated' some
expect 2 '' '*'
holds grep -q 'key=rated promises .*, not 1e-12' err
printf 'a\0b\nc\0a\0' > in
run add -z -p none 'redis+unix:one.sock?key=rated'
expect 0 '' ''
run remove -z 'redis+unix:one.sock?key=rated'
expect 0 '' ''
rm in

# A line that comes alone is answered at once.
mkfifo slow
rm -f printed # of the run before
"$UNSEEN" -s redis+unix:one.sock?key=slow < slow > printed 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually grep -q last.example/1 printed
exec 8>&-
wait "$client"

# What cannot be.
run -p none -s $set new
expect 2 '' "unseen: error: the store at $set has the profile crawl/1, not none/1\nunseen: hint: unseen -s '$set' new\n"
run -n -s redis+unix:one.sock?key=missing new
expect 2 '' 'unseen: error: there is no set at redis+unix:one.sock?key=missing yet\nunseen: hint: to make it: unseen -s '\''redis+unix:one.sock?key=missing'\'' FILE\n'
holds [ "$(at one EXISTS missing)" = 0 ]
run --fpr 1e-9 -s redis+unix:one.sock?key=bytes -p none new
expect 2 '' '*'
holds grep -q 'key=bytes promises .*, not 1e-09' err
run --filter bloom --capacity 10 -s $set new
expect 2 '' "unseen: error: a set at $set has a profile and a rate, and no other settings\nunseen: hint: unseen -s '$set' new\n"
run -s $set -o lines new
expect 2 '' "unseen: error: -o needs the store itself, to have each line in lines exactly once\nunseen: hint: unseen -s '$set' new >> lines\n"
run -s $set -x new some
expect 2 '' "unseen: error: -x and a server cannot be asked in one run\nunseen: hint: unseen -x new some | unseen -s '$set'\n"
no_file() { # WORD... HINT: the words, at the set, are refused
    local hint="${*: -1}"
    set -- "${@:1:$#-1}"
    run "$@"
    expect 2 '' '*'
    holds grep -q "^unseen: error: $set is a server: .* needs a file$" err
    holds grep -q "^unseen: hint: .*$hint" err
}
no_file merge new.unseen $set UNSEEN.MERGE
no_file merge --into $set some UNSEEN.MERGE
no_file count some $set 'unseen info'
no_file import --format anew $set some 'unseen add'
no_file -x $set some 'unseen check -v'
for words in verify repair rewrite serve recheck 'bits add' 'build --from' '-s new.unseen --like'; do
    no_file $words $set 'take a server'
done
holds [ ! -e "$set" ]
run $set
expect 2 '' "unseen: error: $set is not a file; lines come from files or from standard input\nunseen: hint: unseen -s '$set'\n"
run explain redis://127.0.0.1/crawl
expect 0 '*' '' # a URL like others
for words in info remove check; do
    run $words redis+unix:one.sock?key=missing $([ $words = info ] || echo new)
    expect 2 '' '*'
    holds grep -q 'there is no set at redis+unix:one.sock?key=missing yet' err
done
holds [ "$(at one EXISTS missing)" = 0 ]
run add -p none $set new
expect 2 '' "unseen: error: the store at $set has the profile crawl/1, not none/1\nunseen: hint: unseen add '$set' new\n"
run add --filter bloom --capacity 10 $set new
expect 2 '' "unseen: error: a set at $set has a profile and a rate, and no other settings\nunseen: hint: unseen add '$set' new\n"
run -s "$set" --window 90m new
expect 2 '' "unseen: error: a set at $set has the window that its key was made with\nunseen: hint: redis-cli UNSEEN.RESERVE KEY WINDOW 90m, then unseen -s '$set' new\n"
"$UNSEEN" add part.unseen new
run add $set part.unseen
expect 2 '' "unseen: error: part.unseen is a store, not a file of lines\nunseen: hint: a server takes lines, and a store keeps none\n"
run -s redis+unix:nobody?key=crawl new
expect 2 '' 'unseen: error: cannot connect to redis+unix:nobody?key=crawl: No such file or directory\nunseen: hint: redis-server --loadmodule unseen.so starts such a server\n'
run -s redis+unix:one.sock new
expect 2 '' 'unseen: error: redis+unix:one.sock names a server and no key\nunseen: hint: redis+unix:one.sock?key=crawl\n'
wrong() { # ADDRESS SENTENCE
    run -s "$1" new
    expect 2 '' '*'
    holds [ "$(cat err)" = "unseen: error: $1: $2" ]
}
wrong redis://localhost/0 'a number alone is a database: the key follows it, as in redis://HOST/0/KEY'
wrong rediss://localhost/crawl 'TLS is not spoken here: let stunnel listen on 127.0.0.1, and use redis://'
wrong redis://:x:1/crawl 'an address is redis://HOST:PORT/KEY; in a password write / as %2F, and @ as %40'
wrong redis://localhost/crawl?shards=3 'shards is a power of 2 from 1 to 1024'
wrong redis://localhost/crawl?ssl=1 'behind the question mark stands shards=N'
wrong redis://localhost/cr%zz 'the key is too long, or has a wrong percent sign'
wrong redis+unix:?key=crawl 'the path of the socket is missing, or too long'

# Errors of the server, each with a way out.
refused() { # ADDRESS ANSWER HINT
    run -s "$1" new
    expect 2 '' '*'
    if ! grep -F "unseen: error: the server at $1 answers: $2" err > /dev/null || ! grep "unseen: hint: .*$3" err > /dev/null; then
        complain "$1: it said: $(cat err)"
    fi
}
redis two
refused redis+unix:two.sock?key=crawl 'ERR unknown command' 'loadmodule unseen.so'
at one SET text x > all
refused redis+unix:one.sock?key=text 'WRONGTYPE' 'another key'
at one BF.ADD bloom x > all
refused redis+unix:one.sock?key=bloom 'WRONGTYPE' 'BF\.'
refused 'redis+unix:one.sock?key=crawl&db=99' 'ERR DB index' 'database'
at one CONFIG SET maxmemory 1 > all
refused $set 'OOM' maxmemory
at one CONFIG SET maxmemory 0 > all
at one REPLICAOF 127.0.0.1 1 > all
refused $set 'READONLY' primary
at one REPLICAOF NO ONE > all
at one ACL SETUSER reader on nopass '~crawl' +unseen.info +unseen.exists > all
run -s 'redis+unix:one.sock?key=crawl&user=reader' new
expect 0 '' '*' # without a password the user stays the default one
redis_port --loadmodule "$MODULE" --requirepass 'p/w@x:y'
there=redis://127.0.0.1:$redis_port/crawl
refused "$there" 'NOAUTH' token-file
for words in info 'add --stats' remove check; do
    run $words "$there" $([ "$words" = info ] || echo new)
    expect 2 '' '*'
    holds grep -q 'answers: NOAUTH' err
done
run -s "redis://:wr%6Fng@127.0.0.1:$redis_port/crawl" new
expect 2 '' '*'
holds grep -q "^unseen: error: the server at $there answers: WRONGPASS" err
holds [ "$(grep -c 'wr.*ng@' err)" = 0 ]

# The password is in no message and not among the words that ps shows.
run -s "redis://:p%2Fw%40x:y@127.0.0.1:$redis_port/crawl" new
expect 0 'http://new.example/\n' ''
redis-cli -p "$redis_port" -a 'p/w@x:y' ACL SETUSER ann on '>se%2Fcret' '~crawl' +unseen.add +unseen.exists +unseen.info > all 2>&1
run -c -s "redis://ann:se%252Fcret@localhost:$redis_port/crawl" new
expect 0 '0\n' ''
run --store="redis://ann:se%252Fcret@127.0.0.1:$redis_port/other" new
expect 2 '' '*'
holds grep -q 'answers: NOPERM' err
holds [ "$(grep -c 'se%' err)" = 0 ]
for words in '-o lines' '--filter bloom'; do
    run $words -s "redis://:p%2Fw%40x:y@127.0.0.1:$redis_port/crawl" new
    expect 2 '' '*'
    holds [ "$(grep -c 'p%2Fw' err)" = 0 ]
done
run "redis://:p%2Fw%40x:y@127.0.0.1:$redis_port/crawl"
expect 2 '' '*'
holds [ "$(grep -c 'p%2Fw' err)" = 0 ]
printf 'p/w@x:y\n' > password
run -c --token-file password -s "$there" new
expect 0 '0\n' ''
changes_like_file "redis://127.0.0.1:$redis_port/changed" --token-file password

# As redis-cli, the tool takes a password of the environment, unless the address has one; with the name of the
# address. A server without passwords is asked all the same.
REDISCLI_AUTH=p/w@x:y run -c -s "$there" new
expect 0 '0\n' ''
REDISCLI_AUTH=se%2Fcret run check -c "redis://ann@127.0.0.1:$redis_port/crawl" new
expect 0 '2\n' ''
REDISCLI_AUTH=wrong run info "redis://:p%2Fw%40x:y@127.0.0.1:$redis_port/crawl"
expect 0 '*' ''
REDISCLI_AUTH=wrong run -c -s "$there" new
expect 2 '' '*'
holds grep -q "^unseen: error: the server at $there answers: WRONGPASS" err
holds grep -q '^unseen: hint: .*REDISCLI_AUTH' err
REDISCLI_AUTH='' run -c -s "$there" new
expect 2 '' '*'
holds grep -q 'answers: NOAUTH' err
REDISCLI_AUTH=spare run check -c "$set" new
expect 0 '2\n' ''
printf '\n' > empty
run -c --token-file empty -s "$there" new
expect 2 '' 'unseen: error: the first line of empty has to have 1 to 1024 bytes\n'
rm -f printed # of the run before
"$UNSEEN" -s "redis://:p%2Fw%40x:y@127.0.0.1:$redis_port/crawl" < slow > printed 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually grep -q last.example/1 printed
tr '\0' '\n' < /proc/$client/cmdline > words
holds grep -q "^$there$" words
exec 8>&-
wait "$client"

# MAXBYTES: what was printed is remembered, nothing else is, and the run says so.
at one UNSEEN.RESERVE small MAXBYTES 120000 > all
seq -f 'http://e.example/%.0f' 100000 > many
run -s redis+unix:one.sock?key=small many
expect 2 '*' '*'
holds grep -q 'answers: ERR the key has reached its MAXBYTES' err
holds grep -q 'hint: .*UNSEEN.MERGE' err
printed=$(wc -l < out)
holds [ "$printed" -gt 1000 ]
holds [ "$(at one UNSEEN.INFO small | sed -n 2p)" = "$printed" ]
cp out printed
run check -c redis+unix:one.sock?key=small printed
expect 0 "$printed\\n" ''
run info redis+unix:one.sock?key=small
expect 0 '*' ''
holds grep -qx 'at most      120000 bytes' out
run add --stats redis+unix:one.sock?key=small many
expect 2 '' '*'
holds grep -q 'answers: ERR the key has reached its MAXBYTES' err
run remove redis+unix:one.sock?key=small many
expect 0 '' ''
holds [ "$(at one UNSEEN.INFO small | sed -n 2p)" = 0 ]

# A server that dies: what was printed was answered, and the run says what may be missing.
redis three --loadmodule "$MODULE"
three=$server
rm -f printed # of the run before
"$UNSEEN" -s redis+unix:three.sock?key=crawl < slow > printed 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually grep -q last.example/1 printed
stop_process "$three" KILL
printf 'http://last.example/2\nhttp://last.example/3\n' >&8
exec 8>&-
wait "$client"
status=$?
cp printed out
last='unseen, the server killed'
expect 2 'http://last.example/1\n' '*'
holds grep -q '^unseen: error: the connection to redis+unix:three.sock?key=crawl is lost: ' err

# The same with add, which is simply run again.
redis four --loadmodule "$MODULE"
rm -f printed # of the run before
"$UNSEEN" add redis+unix:four.sock?key=crawl < slow > printed 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually eval '[ "$(at four UNSEEN.EXISTS crawl http://last.example/1)" = 1 ]'
stop_process "$server" KILL
printf 'http://last.example/2\n' >&8
exec 8>&-
wait "$client"
status=$?
cp printed out
last='unseen add, the server killed'
expect 2 '' '*'
holds grep -q '^unseen: error: the connection to redis+unix:four.sock?key=crawl is lost: ' err
holds [ "$(wc -l < err)" = 1 ]

# --wait: a server that comes later.
("$UNSEEN" --wait=60 -s redis+unix:late.sock?key=crawl new > printed 2> err; echo $? > late) &
sleep 0.2
redis late --loadmodule "$MODULE"
eventually [ -s late ]
holds [ "$(cat late)" = 0 ]
holds [ "$(cat printed)" = http://new.example/ ]

# What answers may be another program. Replies that cannot be are never taken for answers.
other() { # ANSWER...: each is written when something has come
    rm -f fake
    python3 - "$@" << 'END' &
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind("fake.new")
listener.listen()
os.rename("fake.new", "fake")
connection = listener.accept()[0]
try:
    for text in sys.argv[1:]:
        connection.recv(1 << 16)
        connection.sendall(text.encode().decode("unicode_escape").encode())
except OSError:
    pass
END
    server=$!
    running="$server $running"
    eventually [ -S fake ]
}
printf '1\n2\n3\n' > three
info='*4\r\n$7\r\nprofile\r\n$6\r\nnone/1\r\n$4\r\nurls\r\n:7\r\n'
fake='redis+unix:fake?key=crawl'
module="unseen: error: the server at $fake does not answer as the module of unseen does\\n"
for answer in '*3\r\n:1\r\n:2\r\n:1\r\n' '*2\r\n:1\r\n:1\r\n' '*3\r\n:1\r\n$1\r\n1\r\n:1\r\n' '+OK\r\n' '*-1\r\n' ':1\r\n' '*0\r\n'; do
    other "$info" "$answer"
    run -s $fake -p none three
    expect 2 '*' "$module"
    lacks 3 out
    stop_process "$server"
done
for answer in 'HTTP/1.1 400 no\r\n' '*99999999999999999999\r\n' '*3\r\n:1\r\n:'; do
    other "$info" "$answer"
    run -s $fake -p none three
    expect 2 '' '*'
    holds grep -q '^unseen: error: ' err
    stop_process "$server"
done
for answer in 'HTTP/1.1 400 no\r\n' '*0\r\n' '*2\r\n$7\r\nprofile\r\n$0\r\n\r\n' '*2\r\n$7\r\nprofile\r\n*0\r\n' '+OK\r\n'; do
    other "$answer"
    run -s $fake -p none three
    expect 2 '' '*'
    holds grep -q '^unseen: error: ' err
    stop_process "$server"
done
finish
