# The tool as a client of a server: the same output as with the file, by several pipes at once.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
. "$TESTS/cli/lib/served.bash"

urls 20000 12000 5 > some
"$UNSEEN" --seed 1 -s file.unseen some > want
"$UNSEEN" add --seed 1 -p crawl/1 served.unseen /dev/null
listening serve served.unseen --listen unix:sock

like_own_set unix:sock
like_one_set unix:sock

# The other commands on a store. The server has the same figures as the file.
first=$server
listening serve changed.unseen --listen unix:changed
changes_like_file unix:changed
stop_listening
run add -p none --seed 1 one.unseen some
"$UNSEEN" add --seed 1 -p 'crawl' --drop-params 'a*,b' other.unseen some
for store in one.unseen other.unseen; do
    "$UNSEEN" info "$store" | tail -n +2 > wanted
    "$UNSEEN" info --json "$store" > wanted.json
    listening serve "$store" -n --listen unix:told
    run info unix:told
    expect 0 '*' ''
    holds [ "$(head -n 1 out)" = 'store        unix:told' ]
    tail -n +2 out > got
    same got wanted
    run info --json unix:told
    expect 0 '*' ''
    same out wanted.json
    run add unix:told some
    expect 2 '' '*'
    holds grep -q 'only answers questions' err
    stop_listening
done
printf 'http://bad.example/\nhttp://worse.example/a\n' | "$UNSEEN" build --seed 1 bad.list
"$UNSEEN" info bad.list | tail -n +2 > wanted
listening serve bad.list --listen unix:told
run info unix:told
expect 0 '*' ''
holds [ "$(head -n 1 out)" = 'list         unix:told' ]
tail -n +2 out > got
same got wanted
run add unix:told some
expect 2 '' '*'
stop_listening
"$UNSEEN" add --filter bloom --capacity 30000 bloom.unseen some
listening serve bloom.unseen --listen unix:bloom
run remove unix:bloom some
expect 2 '' 'unseen: error: the server at unix:bloom could not remove a line: the filter of its store may not be able to, or the server only answers questions\nunseen: hint: clients of a port change the store with --token-file FILE; for the filter: unseen info unix:bloom\n'
stop_listening
server=$first

# What cannot be.
run -p none -s unix:sock new
expect 2 '' 'unseen: error: the store at unix:sock has the profile crawl/1, not none/1\nunseen: hint: unseen -s unix:sock new\n'
run -p whatwg -s unix:sock new
expect 2 '' 'unseen: error: the store at unix:sock has the profile crawl/1, not whatwg/1\nunseen: hint: unseen -s unix:sock new\n'
run -s unix:sock -o lines new
expect 2 '' 'unseen: error: -o needs the store itself, to have each line in lines exactly once\nunseen: hint: unseen -s unix:sock new >> lines\n'
holds [ ! -e lines ]
run -s unix:sock -x new some
expect 2 '' 'unseen: error: -x and a server cannot be asked in one run\nunseen: hint: unseen -x new some | unseen -s unix:sock\n'
for settings in '--filter bloom --capacity 10' '--like other.unseen'; do
    run $settings -s unix:sock new
    expect 2 '' 'unseen: error: unix:sock is a server: its store has its settings already\nunseen: hint: unseen -s unix:sock new\n'
done
run -z -s unix:sock new
expect 2 '' '*'
run rewrite unix:sock
expect 2 '' 'unseen: error: unix:sock is a server: this command needs a file\nunseen: hint: the commands that take a server are check, add, remove, info and unseen -s\n'
run merge new.unseen unix:sock
expect 2 '' 'unseen: error: unix:sock is a server: this command needs a file\nunseen: hint: stop the server, and name the file of its store\n'
run add --filter bloom --capacity 10 unix:sock new
expect 2 '' 'unseen: error: unix:sock is a server: its store has its settings already\nunseen: hint: unseen add unix:sock new\n'
run add -z unix:sock new
expect 2 '' 'unseen: error: a server takes lines that end in newline\nunseen: hint: unseen add unix:sock new\n'
run -s unix:nobody new
expect 2 '' 'unseen: error: cannot connect to unix:nobody: No such file or directory\nunseen: hint: to start a server there: unseen serve STORE --listen unix:nobody\n'
printf '{"u":"a\\nb"}\n' > json
run -k .u -s unix:sock json
expect 2 '' '*'
holds grep -q 'a key has a newline in it' err

# A server that ends: what was printed is all that was answered.
mkfifo slow
rm -f out # of the run before
"$UNSEEN" -s unix:sock < slow > out 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually grep -q last.example/1 out
stop_listening
holds [ "$server_status" = 143 ]
printf 'http://last.example/2\n' >&8
exec 8>&-
wait "$client"
status=$?
expect 2 'http://last.example/1\n' 'unseen: error: the server at unix:sock has gone away\nunseen: hint: nothing is lost that was not printed: run this again when the server is back\n'

# Addresses of IPv6 stand in brackets. Nobody listens there, if there is IPv6 at all.
run -s '[::1]:1' new
expect 2 '' '*'
holds grep -q '^unseen: error: cannot connect to \[::1\]:1: ' err

# What answers may be another program. It must neither fill the memory nor make a new line look seen.
other() { # ANSWERS: each is written when something has come; the last one again and again if it has no newline
    rm -f fake
    python3 - "$@" << 'END' &
import os, socket, sys
answers = [text.encode().decode("unicode_escape").encode() for text in sys.argv[1:]]
listener = socket.socket(socket.AF_UNIX)
listener.bind("fake.new")
listener.listen()
os.rename("fake.new", "fake")
connection = listener.accept()[0]
try:
    for answer in answers:
        connection.sendall(answer)
        while not answer.endswith(b"\n"):
            connection.sendall(answer * 100000)
        connection.recv(1 << 16)
except OSError:
    pass
END
    server=$!
    running="$server $running"
    eventually [ -S fake ]
}
greeting='unseen 1 profile=none/1 key=64 items=0 batch=65536\n'
printf '1\n2\n3\n' > three
other "$greeting" '1Z0\n'
run -s unix:fake -p none three
expect 2 '1\n' 'unseen: error: the server at unix:fake answers: 1Z0\n'
stop_process "$server"
for answer in '' 111; do
    if [ -n "$answer" ]; then other "$greeting" "$answer"; else other HTTP; fi
    run -s unix:fake -p none three
    expect 2 '' 'unseen: error: what listens at unix:fake is not unseen serve: its answer does not end\n'
    stop_process "$server"
done

# Figures that are none.
for answer in 'E no\n' '{"keys":1}\n' '[]\n'; do
    other "$greeting" "$answer"
    run info unix:fake
    expect 2 '' '*'
    holds grep -q '^unseen: error: ' err
    stop_process "$server"
done
other "$greeting" '{"store":"a","keys":"many","filter":7,"profile":"\\u001b","fpr":[]}\n'
run info unix:fake
expect 0 '*' ''
holds grep -qx 'keys         0' out
lacks "$(printf '\033')" out
stop_process "$server"

# A client that a signal ends prints all that it was answered. Its input does not end, so that it cannot end by itself.
listening serve stopped.unseen --listen unix:stop
mkfifo endless
for site in 1 2 3 4 5; do
    awk -v site=$site 'BEGIN { for (i = 0; i < 400000; i++) print "http://stop.example/" site "/" i }' > many
    : > printed
    "$UNSEEN" -s unix:stop < endless > printed 2> err &
    client=$!
    exec 8> endless
    cat many >&8 2> /dev/null &
    feeder=$!
    eventually [ -s printed ]
    kill -TERM "$client"
    wait "$client" 2> /dev/null
    holds [ $? = 143 ]
    exec 8>&-
    wait "$feeder" 2> /dev/null
    run check -c unix:stop many
    expect 0 "$(wc -l < printed)\\n" ''
done
stop_listening

# A port: only with the token.
echo 'a token of some length' > token
listening serve --token-file token served.unseen --listen 127.0.0.1:0
run -s "127.0.0.1:$port" new
expect 2 '' '*'
holds grep -q 'token-file' err
run check -c "127.0.0.1:$port" new
expect 0 '2\n' ''
echo http://port.example/ > port
run --token-file token -s "127.0.0.1:$port" port
expect 0 'http://port.example/\n' ''
run add "127.0.0.1:$port" new
expect 2 '' '*'
holds grep -q 'token-file' err
run add --token-file token --stats "127.0.0.1:$port" port
expect 0 '' '*'
holds grep -qx 'seen         1' err
run remove --token-file token --stats "127.0.0.1:$port" port
expect 0 '' '*'
holds grep -qx 'seen         1' err
run check "127.0.0.1:$port" port
expect 1 '' ''
run info "127.0.0.1:$port"
expect 0 '*' ''
holds [ "$(head -n 1 out)" = "store        127.0.0.1:$port" ]
# A short token: nothing overwrites the file, and only the server's is made anew.
echo short > short
run --token-file short -s "127.0.0.1:$port" port
expect 2 '' "unseen: error: the first line of short has to have 16 to 1024 bytes\nunseen: hint: take the file that the server's --token-file names\n"
run serve --token-file short --listen 127.0.0.1:0 short.unseen
expect 2 '' 'unseen: error: the first line of short has to have 16 to 1024 bytes\nunseen: hint: (umask 077; head -c 24 /dev/urandom | base64 > NEW.token) makes one\n'
echo 'a token that is another' > wrong
run --token-file wrong -s "127.0.0.1:$port" port
expect 2 '' '*'
holds grep -q 'the token is wrong' err
stop_listening
run serve served.unseen --listen 0.0.0.0:0
expect 2 '' '*'
holds grep -q -- '--token-file FILE' err
finish
