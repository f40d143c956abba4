#!/bin/bash
# What people do instead, in one run on the same lines: memory for each URL, lines a second, wrong
# answers. The lines are the real ones in ../shared/data, where they are, and made-up ones behind.
#
# usage: bench/instead.sh [NLINES [NDISTINCT]]       of the made-up lines (1000000, 500000)
#
# Variables: BUILD (build/release), CORES (all), WORK (/dev/shm/unseen-instead), PYTHON (python3),
# SVG (a file: draw memory and speed there).
# SQLite comes with Python; PostgreSQL (Debian: postgresql, python3-psycopg2) and Redis (redis-server)
# are started here, on sockets in WORK, and stopped again; what is not installed is left out and said.
# Everything is in memory, the databases' files too, and nothing waits for a disk.
#
# lines/s: lines by CPU time of the process and, for databases, of the server. Bytes per URL: of
# programs that keep the URLs themselves, peak memory less that of the same program which keeps
# nothing; of databases, what they say of the table or the set; of unseen, --stats. Wrong: new lines
# that are not printed, and repeats that are, against a list that is exact.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
work=${WORK:-/dev/shm/unseen-instead}
cores=${CORES:-0-$(($(nproc) - 1))}
python=${PYTHON:-python3}
nlines=${1:-1000000}
ndistinct=${2:-500000}
unseen=$build/unseen
for program in unseen bench/make_urls bench/measure bench/one_hash bench/plot; do
    [ -x "$build/$program" ] || {
        echo "error: there is no $build/$program: build the release preset" >&2
        exit 2
    }
done
mkdir -p "$work"
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

{
    for file in ../shared/data/urls_links.txt.gz ../shared/data/urls_requests.txt.gz; do
        [ ! -f "$file" ] || gzip -dc "$file"
    done
    "$build/bench/make_urls" "$nlines" "$ndistinct"
} >"$work/input"
awk '!seen[$0]++' "$work/input" >"$work/want"
total=$(wc -l <"$work/input")
distinct=$(wc -l <"$work/want")

# cpu_of PID: CPU seconds of a process and of its children that have ended.
cpu_of() {
    sed 's/.*) //' "/proc/$1/stat" |
        awk -v hz="$(getconf CLK_TCK)" '{ print ($12 + $13 + $14 + $15) / hz }'
}

# bytes_of NAME HOW: what the URLs took. HOW is "rss", "said" or a number.
base_mib=0
bytes_of() {
    case $2 in
    rss) awk -v base="$base_mib" '{ print ($3 - base) * 1048576 }' "$work/$1.times" ;;
    said) sed -n 's/^bytes //p' "$work/$1.err" ;;
    stats) sed -n 's/.*"memory":\([0-9]*\).*/\1/p' "$work/$1.err" ;;
    *) echo "$2" ;;
    esac
}

# way NAME WHAT HOW COMMAND...: one measured run and its row.
way() {
    local name=$1 what=$2 how=$3 before=0 after=0
    shift 3
    [ -z "$server" ] || before=$(cpu_of "$server")
    "$build/bench/measure" "$work/$name.times" taskset -c "$cores" "$@" \
        <"$work/input" >"$work/$name.out" 2>"$work/$name.err" || {
        echo "error: $name failed: $(head -n 3 "$work/$name.err")" >&2
        exit 1
    }
    sleep 0.2 # a database's process for the connection ends after it
    [ -z "$server" ] || after=$(cpu_of "$server")
    local lost extra
    lost=$(sort "$work/$name.out" | comm -13 - "$work/want.sorted" | wc -l)
    extra=$(sort "$work/$name.out" | comm -23 - "$work/want.sorted" | wc -l)
    awk -v name="$name" -v what="$what" -v lines="$total" -v urls="$distinct" -v lost="$lost" \
        -v extra="$extra" -v bytes="$(bytes_of "$name" "$how")" -v server="$(awk "BEGIN { print $after - $before }")" '{
            cpu = $1 + server
            printf "%-15s\t%7.1f\t%7.3f\t%7.3f\t%7.2f\t%7d\t%7d\t%s\n", name, bytes / urls,
                lines / cpu / 1e6, cpu, $2, lost, extra, what
            print name "\t" bytes / urls "\t" lines / cpu / 1e6 > "/dev/stderr"
        }' "$work/$name.times" 2>>"$work/points"
    rm -f "$work/$name.out"
}

sort "$work/want" >"$work/want.sorted"
echo "machine:  $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), cores $cores"
echo "commit:   $(git rev-parse --short HEAD 2>/dev/null || echo unknown); $($unseen --version | head -n 1);" \
    "$($python --version)"
echo "input:    $total lines, $distinct distinct, $(($(stat -c %s "$work/input") / total)) bytes a line"
echo
printf '%-15s\t%7s\t%7s\t%7s\t%7s\t%7s\t%7s\t%s\n' way bytes M/s 'CPU s' 'wall s' lost again what

"$build/bench/measure" "$work/nothing.times" "$python" bench/instead.py nothing <"$work/input" >/dev/null
base_mib=$(awk '{ print $3 }' "$work/nothing.times")
way set-url 'Python set of URLs' rss "$python" bench/instead.py set-url
way set-md5 'Python set of MD5' rss "$python" bench/instead.py set-md5
way set-sha1 'Python set of SHA-1' rss "$python" bench/instead.py set-sha1
base_mib=2
way awk 'awk !seen[$0]++' rss awk '!seen[$0]++'
way sort-u 'sort -u: the order is lost' rss sort -u
way sqlite-unique 'SQLite, INSERT OR IGNORE' said "$python" bench/instead.py sqlite-unique "$work/unique.db"
way sqlite-exists 'SQLite, SELECT, then INSERT' said "$python" bench/instead.py sqlite-exists "$work/exists.db"
rm -f "$work"/*.db

# PostgreSQL does not run as root.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
as=
[ "$(id -u)" != 0 ] || as="runuser -u postgres --"
if [ -n "$bin" ] && /usr/bin/python3 -c 'import psycopg2' 2>/dev/null && $as true 2>/dev/null; then
    mkdir "$work/pg"
    [ -z "$as" ] || chown postgres "$work/pg"
    $as "$bin/initdb" -D "$work/pg/data" -U postgres -A trust >"$work/initdb.log" 2>&1
    $as "$bin/postgres" -D "$work/pg/data" -k "$work/pg" -h '' >"$work/postgres.log" 2>&1 &
    for _ in $(seq 100); do
        "$bin/pg_isready" -q -h "$work/pg" -U postgres && break
        sleep 0.1
    done
    server=$(head -n 1 "$work/pg/data/postmaster.pid")
    way postgres-unique 'PostgreSQL, ON CONFLICT DO NOTHING' said /usr/bin/python3 bench/instead.py postgres-unique "$work/pg"
    PGUSER=postgres "$bin/psql" -q -h "$work/pg" -d postgres -c 'DROP TABLE seen'
    way postgres-exists 'PostgreSQL, SELECT, then INSERT' said /usr/bin/python3 bench/instead.py postgres-exists "$work/pg"
    kill -INT "$server"
    wait
    server=
else
    echo "postgres         not installed (Debian: postgresql, python3-psycopg2)"
fi
if command -v redis-server >/dev/null; then
    redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --appendonly no \
        --dir "$work" >"$work/redis.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        [ -S "$work/redis.sock" ] && break
        sleep 0.1
    done
    way redis-set 'Redis SADD, pipelined' said "$python" bench/instead.py redis-set "$work/redis.sock"
    kill "$server"
    wait
    server=
else
    echo "redis            not installed (Debian: redis-server)"
fi

way one-hash '1 bit per URL, one hash' $((distinct / 8)) "$build/bench/one_hash" "$distinct"
way one-hash-8 '8 bits per URL, one hash' "$distinct" "$build/bench/one_hash" $((distinct * 8))
way unseen-bloom 'unseen -p none --filter bloom, 1e-4' stats "$unseen" -p none --filter bloom --fpr 1e-4 --capacity "$distinct" --stats=json
way unseen-block 'unseen -p none --filter block, 1e-4' stats "$unseen" -p none --filter block --fpr 1e-4 --capacity "$distinct" --stats=json
way unseen-small 'unseen -p none --fpr 2e-6' stats "$unseen" -p none --fpr 2e-6 --stats=json
way unseen 'unseen -p none' stats "$unseen" -p none --stats=json
way unseen-store 'unseen -p none -s STORE' stats "$unseen" -p none -s "$work/store" --stats=json
ls -l "$work"/store* | awk -v n="$distinct" '{ sum += $5 } END { printf "%-15s\t%7.1f\ton disk\n", "unseen-store", sum / n }'
if [ -n "${SVG-}" ]; then
    "$build/bench/plot" points 'Memory and speed of ways to know what was seen' 'bytes per URL' \
        'M lines/s' <"$work/points" >"$SVG"
fi
