# The tool as a client of a server: the same output as with the file, by several pipes at once.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
. "$TESTS/cli/lib/served.bash"

urls 20000 12000 5 > some
"$UNSEEN" --seed 1 -s file.unseen some > want
# The store has an older version of the profile, which -p crawl means then.
"$UNSEEN" add --seed 1 -p crawl/1 served.unseen /dev/null
listening serve served.unseen --listen unix:sock

like_own_set unix:sock
like_one_set unix:sock

# What cannot be.
run -p none -s unix:sock new
expect 2 '' 'unseen: error: the store at unix:sock has the profile crawl/1, not none/1\nunseen: hint: unseen -s unix:sock FILE\n'
run -p crawl/2 -s unix:sock new
expect 2 '' 'unseen: error: the store at unix:sock has the profile crawl/1, not crawl/2\nunseen: hint: unseen -s unix:sock FILE\n'
run -s unix:sock -o lines new
expect 2 '' 'unseen: error: -o needs the store itself, to have each line in lines exactly once\nunseen: hint: unseen -s unix:sock FILE >> lines\n'
holds [ ! -e lines ]
run -s unix:sock -x new some
expect 2 '' 'unseen: error: -x and a server cannot be asked in one run\nunseen: hint: unseen -x new FILE | unseen -s unix:sock\n'
for settings in '--filter bloom --capacity 10' '--like other.unseen'; do
    run $settings -s unix:sock new
    expect 2 '' 'unseen: error: unix:sock is a server: its store has its settings already\nunseen: hint: unseen -s unix:sock FILE\n'
done
run -z -s unix:sock new
expect 2 '' '*'
run info unix:sock
expect 2 '' 'unseen: error: unix:sock is a server: this command needs the file of the store\nunseen: hint: unseen -s unix:sock FILE and unseen check unix:sock FILE ask a server\n'
run -s unix:nobody new
expect 2 '' 'unseen: error: cannot connect to unix:nobody: No such file or directory\nunseen: hint: unseen serve STORE --listen unix:nobody starts a server there\n'
printf '{"u":"a\\nb"}\n' > json
run -k .u -s unix:sock json
expect 2 '' '*'
holds grep -q 'a key has a newline in it' err

# A server that ends: what was printed is all that was answered.
mkfifo slow
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
echo 'a token that is another' > wrong
run --token-file wrong -s "127.0.0.1:$port" port
expect 2 '' '*'
holds grep -q 'the token is wrong' err
stop_listening
run serve served.unseen --listen 0.0.0.0:0
expect 2 '' '*'
holds grep -q -- '--token-file FILE' err
finish
