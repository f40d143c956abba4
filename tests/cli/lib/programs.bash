# Other people's programs, in the background, in the scratch folder and on loopback:
#
#     needs PROGRAM...           the test is skipped where one is missing
#     free_port                  a port of 127.0.0.1 that nobody listens on: $port
#     answers PORT               whether somebody listens there
#     program COMMAND ARG...     starts one; its output goes to COMMAND.out
#     stop_program               ends the last that was started, and waits for it
#     from_docs FILE N           the N-th piece of configuration in docs/FILE that a test reads
#     run_docs FILE N            runs the N-th piece of commands there that a test runs, for the files of
#                                /var/lib/unseen in the scratch folder
#     web_server                 serves some pages from the folder www, on port $web
. "$TESTS/cli/lib/listening.bash"
PATH=$PATH:/usr/sbin:/sbin:/usr/lib/postfix/sbin

needs() {
    for needed in "$@"; do
        command -v "$needed" > /dev/null || {
            skip "no $needed"
            exit 77
        }
    done
}

answers() {
    (: < "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

# Below the ports that the system gives to those who do not ask for one.
free_port() {
    while port=$((20000 + RANDOM % 10000)) && answers "$port"; do :; done
}

program() {
    "$@" < /dev/null > "$(basename "$1").out" 2>&1 &
    running="$! $running"
}

stop_program() {
    stop_process "${running%% *}"
}

from_docs() {
    awk -v n="$2" -v mark="<!-- the test ${3:-reads} this -->" '$0 == mark { k++; next } k == n && /^    / { print }
        k == n && /^[^ ]/ { exit }' "$TESTS/../docs/$1"
}

run_docs() {
    from_docs "$1" "$2" runs | sed -e "s,/var/lib/unseen,$scratch,g" > commands
    [ -s commands ] && . ./commands
}

web_server() {
    mkdir -p www/folder
    echo hello > www/good
    echo blocked > www/blocked.html
    echo bad > www/bad
    cat > web.py << 'END'
import http.server, os, sys
os.chdir("www")
http.server.ThreadingHTTPServer.request_queue_size = 100
http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
END
    free_port
    web=$port
    program python3 web.py "$web"
    eventually answers "$web"
}
