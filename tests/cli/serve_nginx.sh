# nginx itself, with the configuration of docs/serve.md: on loopback, on ports that are free, with all its
# files in the scratch folder.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/programs.bash"

needs nginx curl python3
chmod 755 .
printf 'evil.example\nshop.example/bad/\n' > bad.txt
holds run_docs serve.md 1
web_server
# It is started again at this port, which so is none that the system gives to a client meanwhile.
for _ in 1 2 3 4 5 6 7 8 9; do
    free_port
    asked=$port
    listening serve --protocol http-auth --listen "127.0.0.1:$asked" bad.list && break
done
free_port
proxy=$port
mkdir tmp

# configure PORT: nginx by the page, with more sites than one, in front of that port.
configure() {
    {
        printf '%s\n' 'daemon off;' "pid $scratch/nginx.pid;" "error_log $scratch/error.log;" \
            'worker_processes 1;' 'events { }' 'http {' "access_log $scratch/access.log;"
        for kind in client_body proxy fastcgi uwsgi scgi; do
            echo "${kind}_temp_path $scratch/tmp/$kind;"
        done
        from_docs serve.md 1 | awk -v sites='good.example evil.example www.other.example' '
            /^    server [{]/ { n++ }
            n == 2 { block = block $0 "\n" }
            { print }
            END {
                n = split(sites, names, " ")
                for (i = 1; i <= n; i++) {
                    site = block
                    gsub("shop.example", names[i], site)
                    printf "%s", site
                }
            }' |
            sed -e "s/127.0.0.1:9996/127.0.0.1:$asked/" -e "s/127.0.0.1:8000/127.0.0.1:$1/" -e "s/listen 8080/listen 127.0.0.1:$proxy/"
        cat
        echo '}'
    } > nginx.conf
}
start_nginx() {
    program nginx -p "$scratch" -c "$scratch/nginx.conf" -e "$scratch/error.log"
    eventually answers "$proxy" || cat nginx.out error.log >&2
}
configure "$web" < /dev/null
holds grep -q "listen 127.0.0.1:$proxy" nginx.conf
start_nginx

# get HOST PATH [OPTION]...: the status.
get() {
    local url=http://127.0.0.1:$proxy$2 host=$1
    shift 2
    curl -g -s -o body -w '%{http_code}' --max-time 20 -H "Host: $host" "$@" "$url"
}
holds [ "$(get good.example /good)" = 200 ]
holds [ "$(cat body)" = hello ]
holds [ "$(get evil.example /good)" = 403 ]
holds [ "$(get Evil.example.:8080 /good)" = 403 ]
holds [ "$(get unknown.example /good)" = 404 ]
holds [ "$(get shop.example /good)" = 200 ]
holds [ "$(get shop.example '/bad/x?y=%zz')" = 403 ]
holds [ "$(get shop.example '/b%61d/')" = 403 ]
holds [ "$(get evil.example /good -X POST -d body)" = 403 ]
holds [ "$(get good.example /good -H 'X-Url: http://evil.example/')" = 200 ]
holds [ "$(get evil.example /good -H 'X-Url: http://good.example/')" = 403 ]

seq 500 | awk -v at="http://127.0.0.1:$proxy" '{ printf "url = \"%s/good?%d\"\noutput = \"/dev/null\"\n", at, $1 }' > requests
for host in good evil; do
    curl -s -Z --parallel-max 20 -w '%{http_code}\n' -H "Host: $host.example" -K requests > codes 2> /dev/null
    sort codes | uniq -c | tr -s ' ' >> all_codes
done
holds [ "$(cat all_codes)" = "$(printf ' 500 200\n 500 403')" ]

# What is allowed, before and now; and another list in its place.
is_status() { [ "$(get "$1" "$2")" = "$3" ]; }
holds is_status shop.example /bad/but-not-this/ 404 # of the pages behind nginx
echo evil.example/good | unseen allow bad.list
eventually is_status evil.example /good 200
holds is_status evil.example /bad/ 403
echo other.example > bad.txt
holds unseen build --expressions bad.list bad.txt 2> build_err
eventually is_status www.other.example /good 403
holds is_status evil.example /good 200
holds is_status shop.example /good 200

# When nobody answers, nothing is let through.
stop_listening
holds [ "$(get good.example /good)" = 500 ]

# A store does as well.
printf 'evil.example/\nshop.example/bad/\n' | unseen add -p none bad
listening serve --protocol http-auth --listen "127.0.0.1:$asked" --expressions bad
eventually is_status good.example /good 200
holds is_status evil.example /good 403
stop_listening

# Clients, by a list of addresses.
echo 127.0.0.0/8 | unseen build --kind ip clients.list
stop_program
listening serve --protocol http-auth --listen "127.0.0.1:$asked" clients.list
sed -i 's/X-Url .*;/X-Url $remote_addr;/' nginx.conf
start_nginx
eventually is_status good.example /good 403
echo 127.0.0.1 | unseen allow clients.list
eventually is_status good.example /good 200
stop_listening
stop_program

# ---- Attacks --------------------------------------------------------------------------------------
# nginx is the server behind, too, which says what it was asked for and what it would open.
printf 'shop.example/bad/\n' > bad.txt
holds unseen build --expressions --force sites.list bad.txt
listening serve --protocol http-auth --listen "127.0.0.1:$asked" sites.list
free_port
behind=$port
configure "$behind" << END
server {
    listen 127.0.0.1:$behind;
    location / { return 200 'target=<\$request_uri>\n'; }
    location /bad/ { return 200 'target=</bad/ as nginx reads \$request_uri>\n'; }
}
END
start_nginx
holds python3 "$TESTS/cli/raw_http.py" "$proxy" "$((1000 * ${UNSEEN_CRASH_SCALE:-1}))" bad shop.example > attacks
cat attacks >&2
stop_program
# The attacks find what is wrong with the client's word for the host.
configure "$behind" << END
server {
    listen 127.0.0.1:$behind;
    location / { return 200 'target=<\$request_uri>\n'; }
}
END
sed -i -e 's/\$server_name/$http_host/' -e "s/listen 127.0.0.1:$proxy default_server/listen 127.0.0.2:$proxy/" nginx.conf
start_nginx
lacks_attack() { ! python3 "$TESTS/cli/raw_http.py" "$proxy" 0 bad shop.example > attacks; }
holds lacks_attack
holds grep -q 'Host: other.example' attacks
finish
