# Squid itself, with the configuration of docs/squid.md: on loopback, on ports that are free, with all its
# files in the scratch folder.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/programs.bash"

needs squid curl python3

# Squid gives up root for its own user, who must reach the list and the tool.
chmod 755 .
cp "$UNSEEN" unseen
cat > bad.txt << 'END'
evil.example
127.0.0.1/bad
127.0.0.1/folder/
127.0.0.1/a%20b
127.0.0.1/50%25
END
holds run_docs squid.md 1
web_server

# piece N: the N-th piece of configuration, with the files of this test, and without a memory of answers
# in Squid, so that each question is asked.
piece() {
    from_docs squid.md "$1" |
        sed -e "s,/usr/bin/unseen,$scratch/unseen," -e "s,/var/lib/unseen/,$scratch/," \
            -e 's/ttl=60 negative_ttl=60/ttl=0 negative_ttl=0/' \
            -e "s,http://127.0.0.1/blocked.html,http://127.0.0.1:$web/blocked.html,"
}

start_squid() {
    free_port
    proxy=$port
    {
        printf '%s\n' "http_port 127.0.0.1:$proxy" 'pid_filename none' 'cache deny all' \
            "access_log stdio:$scratch/access.log" "cache_log $scratch/cache.log" \
            "coredump_dir $scratch" 'shutdown_lifetime 1 seconds' 'acl localnet src 127.0.0.0/8'
        cat
        grep -q '^http_access' piece || echo 'http_access allow all'
    } > squid.conf
    rm -f access.log cache.log
    [ "$(id -u)" != 0 ] || chown proxy .
    program squid -N -f "$scratch/squid.conf"
    eventually answers "$proxy" || cat cache.log squid.out >&2
}

# get URL: the status of a page by way of Squid.
get() {
    curl -g -s -o body -w '%{http_code}' --max-time 20 -x "http://127.0.0.1:$proxy" "$1"
}
here=http://127.0.0.1:$web

# ---- The external ACL ------------------------------------------------------------------------------
piece 1 > piece
holds [ "$(wc -l < piece)" = 4 ]
start_squid < piece
holds [ "$(get "$here/good")" = 200 ]
holds [ "$(cat body)" = hello ]
for page in bad 'bad?x=1' folder/x/y 'a%20b' '50%25'; do
    holds [ "$(get "$here/$page")" = 403 ]
done
holds [ "$(get "$here/folder2")" = 404 ]
holds [ "$(get "$here/%22x%41zz?a=%2F&q=\"")" = 404 ]
holds [ "$(get http://www.evil.example/x)" = 403 ]
holds [ "$(get http://evil.example:8080/)" = 403 ]
curl -s -o body -w '%{http_connect}' --max-time 20 -x "http://127.0.0.1:$proxy" https://shop.evil.example/ > out
holds [ "$(cat out)" = 403 ]

# 2000 questions, 20 at a time: all are answered, and rightly.
seq 1000 | awk -v here="$here" '{ printf "url = \"%s/good?%d\"\noutput = \"/dev/null\"\nurl = \"%s/folder/%d\"\noutput = \"/dev/null\"\n", here, $1, here, $1 }' > requests
curl -s -Z --no-progress-meter --parallel-max 20 -w '%{http_code}\n' -x "http://127.0.0.1:$proxy" -K requests > codes 2> /dev/null
holds [ "$(sort codes | uniq -c | tr -s ' ')" = "$(printf ' 1000 200\n 1000 403')" ]

# What is allowed passes, while Squid runs; the rest of the list holds.
is_status() { [ "$(get "$1")" = "$2" ]; }
echo 127.0.0.1/bad > false-hits.txt
holds run_docs squid.md 2
eventually is_status "$here/bad" 200
holds [ "$(get "$here/folder/x")" = 403 ]
echo 127.0.0.1/bad | unseen allow --remove bad.list
eventually is_status "$here/bad" 403
echo 127.0.0.1/good | unseen update bad.list --add -
eventually is_status "$here/good" 403

# Another list is taken up; what its predecessor allowed and had added goes or stays, as it is built.
echo 127.0.0.1/bad | unseen allow bad.list
printf '127.0.0.1/bad\n127.0.0.1/other\n' > bad.txt
holds unseen build --from bad.list bad.list bad.txt 2> build_err
eventually is_status "$here/other" 403
holds [ "$(get "$here/bad")" = 200 ]
holds [ "$(get "$here/good")" = 403 ]
holds [ "$(get "$here/folder/x")" = 404 ]

# A list that is written over cannot be asked: nothing passes.
cp bad.list whole.list
: > bad.list
eventually is_status "$here/folder/x" 403
holds [ "$(get "$here/other")" = 403 ]
mv whole.list bad.list
eventually is_status "$here/folder/x" 404
stop_program

# ---- Attacks --------------------------------------------------------------------------------------
# The server behind Squid says what it was asked for.
cat > echo.py << 'END'
import http.server, sys
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        target = self.raw_requestline.split(b" ")[1]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"target=<" + target + b">\n")
    def log_message(*_):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 100
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Echo).serve_forever()
END
free_port
behind=$port
program python3 echo.py "$behind"
eventually answers "$behind"
echo 127.0.0.1/folder/ > bad.txt
holds unseen build --expressions --force bad.list bad.txt
piece 1 > piece
start_squid < piece
holds python3 "$TESTS/cli/raw_http.py" "$proxy" "$((1000 * ${UNSEEN_CRASH_SCALE:-1}))" folder "127.0.0.1:$behind" absolute > attacks
cat attacks >&2
stop_program
stop_program

# ---- The external ACL for clients -----------------------------------------------------------------
echo 127.0.0.0/8 | unseen build --kind ip clients.list
piece 2 > piece
holds [ "$(wc -l < piece)" = 4 ]
start_squid < piece
holds [ "$(get "$here/bad")" = 403 ]
echo 127.0.0.1 | unseen allow clients.list
eventually is_status "$here/bad" 200
: > clients.list
eventually is_status "$here/bad" 403
stop_program

# ---- The rewriter ---------------------------------------------------------------------------------
printf '127.0.0.1/good\n127.0.0.1/folder/\n' | unseen build --expressions bad.list 2> /dev/null
piece 3 > piece
holds [ "$(wc -l < piece)" = 3 ]
start_squid < piece
holds [ "$(get "$here/bad")" = 200 ]
redirection() { curl -g -s -o body -w '%{http_code} %{redirect_url}' --max-time 20 -x "http://127.0.0.1:$proxy" "$1"; }
holds [ "$(redirection "$here/good")" = "302 http://127.0.0.1:$web/blocked.html" ]
holds [ "$(redirection "$here/folder/x")" = "302 http://127.0.0.1:$web/blocked.html" ]
echo 127.0.0.1/good | unseen allow bad.list
eventually is_status "$here/good" 200
holds [ "$(redirection "$here/folder/x")" = "302 http://127.0.0.1:$web/blocked.html" ]
: > bad.list
eventually is_status "$here/folder/x" 404
rm bad.list
stop_program

# ---- A store --------------------------------------------------------------------------------------
printf 'evil.example/\n127.0.0.1/bad\n127.0.0.1/folder/\n' > bad.txt
# make_store NAME: Squid's user may read it, by its group.
make_store() {
    holds unseen add -p none --mode 640 "$1" bad.txt
    [ "$(id -u)" != 0 ] || chgrp proxy "$1"
}
make_store bad.unseen
of_store() { sed -e "s,$scratch/bad.list,--expressions $scratch/bad.unseen,"; }
piece 1 | of_store > piece
holds grep -q -e '--expressions .*/bad.unseen$' piece
start_squid < piece
holds [ "$(get "$here/good")" = 200 ]
for page in bad 'bad?x=1' folder/x/y; do
    holds [ "$(get "$here/$page")" = 403 ]
done
holds [ "$(get http://www.evil.example/x)" = 403 ]
printf '127.0.0.1/good\n' > bad.txt
make_store bad.new
mv bad.new bad.unseen
eventually is_status "$here/good" 403
holds [ "$(get "$here/folder/x")" = 404 ]
stop_program
piece 3 | of_store > piece
start_squid < piece
holds [ "$(get "$here/bad")" = 200 ]
holds [ "$(redirection "$here/good")" = "302 http://127.0.0.1:$web/blocked.html" ]
stop_program
finish
