# The tool with a set in a cluster of three nodes: it follows the keys to their nodes, also while they move,
# and spreads a set over several keys.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
. "$TESTS/cli/lib/redis.bash"
. "$TESTS/cli/lib/served.bash"
type redis-server > /dev/null 2>&1 && [ -e "${MODULE-}" ] || exit 77
if "$UNSEEN" -c -s redis+unix:none < /dev/null 2>&1 | grep 'without hiredis' > /dev/null; then exit 77; fi

ports=
for i in 1 2 3; do
    redis_port --cluster-enabled yes --cluster-node-timeout 60000 --appendonly no --loadmodule "$MODULE" || exit 1
    ports="$ports $redis_port"
done
set -- $ports
made=$(redis-cli --cluster create "127.0.0.1:$1" "127.0.0.1:$2" "127.0.0.1:$3" --cluster-yes)
holds [ "${made##*All 16384 slots covered}" != "$made" ]
for port in $ports; do
    eventually eval "redis-cli -p $port CLUSTER INFO | grep cluster_state:ok > /dev/null"
done
urls 20000 12000 5 > some
"$UNSEEN" --seed 1 some > want

# Whichever node is named, the command goes to that of the key.
owner() { # KEY: the port of its node
    local slot
    slot=$(redis-cli -p "$1" CLUSTER KEYSLOT "$2")
    redis-cli -p "$1" CLUSTER NODES | awk -v slot="$slot" '{
        for (i = 9; i <= NF; i++) { n = split($i, ends, "-"); if (n <= 2 && ends[1] + 0 <= slot && slot <= ends[n] + 0) { split($2, at, /[:@]/); print at[2] } } }'
}
for port in $ports; do
    run -s "redis://127.0.0.1:$port/crawl$port" some
    expect 0 '*' ''
    same out want
    run -c -s "redis://127.0.0.1:$1/crawl$port" some
    expect 0 '0\n' ''
    holds [ "$(redis-cli -p "$(owner "$1" "crawl$port")" EXISTS "crawl$port")" = 1 ]
done

# A set over 16 keys: all nodes have some, each key has some of the URLs, and the output is the same.
run -s "redis://127.0.0.1:$1/wide?shards=16" some
expect 0 '*' ''
same out want
run check -c "redis://127.0.0.1:$2/wide?shards=16" some
expect 0 "$(wc -l < some)\\n" ''
keys=0
urls=0
for port in $ports; do
    here=$(redis-cli -p "$port" KEYS 'wide:{*}' | grep -c wide)
    holds [ "$here" -ge 4 ]
    keys=$((keys + here))
    for key in $(redis-cli -p "$port" KEYS 'wide:{*}'); do
        n=$(redis-cli -p "$port" UNSEEN.INFO "$key" | sed -n 2p)
        holds [ "$n" -gt 300 ]
        urls=$((urls + n))
    done
done
holds [ "$keys" = 16 ]
holds [ "$urls" = "$(wc -l < want)" ]
run -s "redis://127.0.0.1:$3/wide?shards=16" --stats=json some
expect 0 '' '*'
holds grep -q "\"keys\": *$urls" err
run -p none -s "redis://127.0.0.1:$1/wide?shards=16" some
expect 2 '' '*'
holds grep -q 'has the profile crawl/1, not none/1' err

# The other commands on a store: over many keys, and from a node that has not the key.
changes_like_file "redis://127.0.0.1:$2/changed?shards=16"
run info "redis://127.0.0.1:$1/changed?shards=16"
holds grep -qx 'shards       16' out
for port in $ports; do
    changes_like_file "redis://127.0.0.1:$port/changed$port"
done
run info "redis://127.0.0.1:$3/wide?shards=16"
expect 0 '*' ''
holds grep -qx "keys         $urls" out

# Every spelling of a URL has the key of the URL.
seq -f 'http://spelled.example/%.0f' 200 > plain
seq -f 'HTTP://Spelled.example:80/x/../%.0f#top' 200 > spelled
run -c -s "redis://127.0.0.1:$1/wide?shards=16" plain
expect 0 '200\n' ''
run -c -s "redis://127.0.0.1:$2/wide?shards=16" spelled
expect 0 '0\n' ''

# A slot that moves: its key is not on the old node any more (ASK), and then the new node has it (MOVED).
slot=$(redis-cli -p "$1" CLUSTER KEYSLOT moving)
from=$(owner "$1" moving)
to=$1
[ "$to" != "$from" ] || to=$2
id() { redis-cli -p "$1" CLUSTER MYID; }
redis-cli -p "$to" CLUSTER SETSLOT "$slot" IMPORTING "$(id "$from")" > all
redis-cli -p "$from" CLUSTER SETSLOT "$slot" MIGRATING "$(id "$to")" > all
mkfifo slow
rm -f printed # of the run before
"$UNSEEN" -s "redis://127.0.0.1:$from/moving" < slow > printed 2> err &
client=$!
exec 8> slow
head -n 9000 some >&8
eventually eval '[ "$(wc -l < printed)" -gt 1000 ]'
for port in $ports; do
    redis-cli -p "$port" CLUSTER SETSLOT "$slot" NODE "$(id "$to")" > all
done
tail -n +9001 some >&8
exec 8>&-
wait "$client"
status=$?
cp printed out
last='unseen, the slot moved'
expect 0 '*' ''
same out want
holds [ "$(redis-cli -p "$to" EXISTS moving)" = 1 ]

# A node that dies: the others answered, and the run says what is not known.
redis-cli -p "$1" CONFIG SET cluster-require-full-coverage no > all
rm -f printed # of the run before
"$UNSEEN" -s "redis://127.0.0.1:$1/late?shards=16" < slow > printed 2> err &
client=$!
exec 8> slow
printf 'http://last.example/1\n' >&8
eventually grep -q last.example/1 printed
stop_process "${running%% *}" KILL # the third
cat some >&8 2> cat.err
exec 8>&-
wait "$client"
status=$?
cp printed out
last='unseen, a node killed'
expect 2 '*' '*'
holds grep -q '^unseen: error: the connection to redis://.* is lost: ' err
"$UNSEEN" -c printed > count
holds [ "$(cat count)" = "$(wc -l < printed)" ]
finish
