# What can stand in the way of a server that many programs use, each with the sentence that its user gets: two
# servers on one store, an address in use, a file in the way, missing folders, tokens, profiles, a full disk.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"

# refused ERROR HINT ARG...: the tool must end with these words; an empty hint is none.
refused() {
    error=$1
    hint=$2
    shift 2
    run "$@"
    expect 2 '' '*'
    { printf 'unseen: error: %s\n' "$error"; [ -z "$hint" ] || printf 'unseen: hint: %s\n' "$hint"; } > want
    same want err
    cmp -s want err || cat err >&2
}

echo http://e.com/ > urls

# ---- A store that is served ------------------------------------------------------------------------
listening serve served --listen unix:sock
refused "served is being written to by process $server" \
    'to wait until it has ended: unseen serve --wait --listen unix:other served' \
    serve served --wait=0 --listen unix:other
holds [ ! -e other ]
refused 'cannot listen on unix:sock: Address already in use' \
    'another server listens there; to ask it: unseen -s unix:sock FILE' serve second --listen unix:sock
# The first is as it was.
run -s unix:sock urls
expect 0 'http://e.com/\n' ''
refused 'the store at unix:sock has the profile crawl/1, not none/1' 'unseen -s unix:sock urls' \
    -s unix:sock -p none urls
refused 'the store at unix:sock has the profile crawl/1, not whatwg/1' 'unseen -n -s unix:sock urls' \
    -n -s unix:sock -p whatwg urls
stop_listening
holds [ "$server_status" = 143 ]
refused 'served has the profile crawl/1, not none/1' 'unseen serve --listen unix:other served' \
    serve -p none served --listen unix:other

# ---- What is in the way of the socket ---------------------------------------------------------------
echo keep > plain
refused 'cannot listen on unix:plain: plain is there, and is not a socket' \
    '--listen unix:PATH with the name of a file that does not exist' serve served --listen unix:plain
holds [ "$(cat plain)" = keep ]
mkdir folder
refused 'cannot listen on unix:folder: folder is there, and is not a socket' \
    '--listen unix:PATH with the name of a file that does not exist' serve served --listen unix:folder
refused 'cannot listen on unix:missing/sock: No such file or directory' 'mkdir -p missing' \
    serve served --listen unix:missing/sock
refused 'cannot listen on unix:other: there is no group nobody-has-this' '' \
    serve served --listen unix:other --group nobody-has-this
holds [ ! -e other ]
# In a folder that others may write to, a link may take the socket's place before the socket has its rights.
if command -v strace > /dev/null && strace -o trace -e inject=bind:signal=STOP true 2> /dev/null; then
    echo secret > victim
    chmod 600 victim
    # It stands still behind its bind until the link is there.
    ASAN_OPTIONS=detect_leaks=0 strace -D -o trace -e trace=bind -e inject=bind:signal=STOP:when=1 \
        "$UNSEEN" serve served --listen unix:swapped --mode 666 < /dev/null > out 2> err &
    server=$!
    running="$server $running"
    eventually grep -q 'stopped by SIGSTOP' trace
    holds [ -S swapped ]
    rm swapped
    ln -s victim swapped
    kill -CONT "$server"
    eventually [ -s err ]
    stop_process "$server"
    holds [ "$(stat -c %a victim)" = 600 ]
    same err - << 'END'
unseen: error: cannot listen on unix:swapped: Operation not supported
END
else
    printf 'skipped: a link in the place of a socket, strace cannot run here\n'
fi
for mode in 600 666 640; do
    listening serve served --listen unix:moded --mode "$mode"
    holds [ "$(stat -c %a moded)" = "$mode" ]
    stop_listening
done
# A socket that a killed server has left is not.
listening serve served --listen unix:sock
stop_process "$server" KILL
holds [ -S sock ]
listening serve served --listen unix:sock
run check unix:sock urls
expect 0 'http://e.com/\n' ''
stop_listening

# ---- The store --------------------------------------------------------------------------------------
run serve missing/store --listen unix:other
expect 2 '' '*'
holds grep -qE '^unseen: error: cannot create missing/store.*: No such file or directory$' err
holds grep -qx 'unseen: hint: mkdir -p missing' err
refused 'urls is not a store' 'to make a store of a list of lines: unseen add NEW.unseen urls' \
    serve urls --listen unix:other

# ---- Ports and tokens -------------------------------------------------------------------------------
listening serve served --listen 127.0.0.1:0
refused "cannot listen on 127.0.0.1:$port: Address already in use" \
    "another server listens there; to ask it: unseen -s 127.0.0.1:$port FILE" \
    serve second --listen "127.0.0.1:$port"
echo http://new.example/ > new
refused "the server at 127.0.0.1:$port could not take a line: it may be too long, or the server only answers questions" \
    '--token-file FILE lets clients of a port change the store; -n only asks' -s "127.0.0.1:$port" new
stop_listening
refused 'cannot open token: No such file or directory' '' serve served --listen 127.0.0.1:0 --token-file token
echo short > token
refused 'the first line of token has to have 16 to 1024 bytes' '(umask 077; head -c 24 /dev/urandom | base64 > NEW.token) makes one' \
    serve served --listen 127.0.0.1:0 --token-file token
echo 'a token of some length' > token
echo 'another token of some length' > wrong
listening serve served --listen 127.0.0.1:0 --token-file token
refused "the server at 127.0.0.1:$port answers: the token is wrong: it is the first line of the file that the server's --token-file names" \
    '' -s "127.0.0.1:$port" --token-file wrong new
run -s "127.0.0.1:$port" --token-file token new
expect 0 'http://new.example/\n' ''
stop_listening

# ---- A full disk ------------------------------------------------------------------------------------
# Of what was answered before, what an F has said is durable stays; the server says what has failed, and goes on
# answering questions.
mkdir small
if command -v python3 > /dev/null && mount -t tmpfs -o size=256k tmpfs small 2> /dev/null; then
    cleanup_disk() { umount -l small 2> /dev/null; }
    trap 'cleanup_disk; cleanup' EXIT
    listening serve small/store --listen unix:sock
    cat > fill.py << 'END'
import socket

def client(option=None):
    s = socket.socket(socket.AF_UNIX)
    s.connect("sock")
    file = s.makefile("rw", newline="\n")
    assert file.readline().startswith("unseen 1 ")
    if option:
        assert ask(file, "O " + option) == "OK"
    return file

def ask(file, text):
    file.write(text + "\n")
    file.flush()
    return file.readline().rstrip("\n")

durable, asker, batches = client("durable"), client(), []
while True:
    urls = ["http://full.example/%d/%d" % (len(batches), i) for i in range(500)]
    answer = ask(durable, "B 500 A\n" + "\n".join(urls))
    if answer != "1" * 500:
        break
    batches.append(urls)
assert answer == "E cannot write small/store: No space left on device", answer
assert durable.readline() == ""  # which answers are whose is not known any more
assert len(batches) > 10
for urls in batches:
    assert ask(asker, "B 500 C\n" + "\n".join(urls)) == "1" * 500
# Nothing can be added now.
assert ask(asker, "A http://later.example/") == "E cannot write small/store: No space left on device"
assert ask(asker, "F") == "E cannot write small/store: No space left on device"
assert ask(asker, "C http://later.example/") == "0"
print(500 * len(batches))
END
    holds python3 fill.py > durable
    stop_listening
    holds [ "$server_status" = 2 ]
    { echo 'unseen: listening on unix:sock'; echo 'unseen: error: cannot remember: cannot write small/store: No space left on device'; } > want
    head -n 2 listening.err > got
    same want got
    cmp -s want got || cat listening.err >&2
    # With room again it goes on where it was.
    holds mount -o remount,size=4m small
    run info --json small/store
    holds grep -q "\"keys\": *$(cat durable)\\b" out
    listening serve small/store --listen unix:sock
    echo http://later.example/ > later
    run -s unix:sock later
    expect 0 'http://later.example/\n' ''
    stop_listening
else
    printf 'skipped: a full disk, mount is not allowed or there is no python3\n'
fi
finish
