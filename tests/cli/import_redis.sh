# import --from-redis: a filter of RedisBloom out of its server, as a foreign filter. The server is import_redis.py.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/listening.bash"
if "$UNSEEN" -c -s redis+unix:none < /dev/null 2>&1 | grep 'without hiredis' > /dev/null; then exit 77; fi

seq -f 'http://e.com/%.0f/x' 8000 > members
seq -f 'http://other.example/%.0f' 10000 > others

bloom() { # [FAULT]: starts a server: $port
    [ -z "${server-}" ] || stop_process "$server"
    rm -f port
    FAULT=${1-} CHUNK=${2-1000} python3 "$TESTS/cli/import_redis.py" port members others want 2> server.err &
    server=$!
    running="$server $running"
    eventually [ -e port ]
    port=$(cat port)
}
figure() { "$UNSEEN" info --json "$1" | sed -E "s/.*\"$2\":([^,}]+).*/\1/"; }

# Every member is found, and the other answers are those of the filter, in chunks of any size.
for chunk in 1000 7 16777216; do
    bloom '' $chunk
    run import --from-redis "127.0.0.1:$port" old.filter crawl
    expect 0 '' ''
    run check -c old.filter members
    expect 0 '8000\n' ''
    run check old.filter others
    same out want
    [ $chunk != 1000 ] || cp old.filter first.filter
    same old.filter first.filter
done
holds [ "$(wc -l < want)" -gt 5 ]
holds [ "$(figure old.filter keys_said)" = 8000 ]
run verify old.filter
expect 0 'old.filter: good\n' ''
cat members others > all
"$UNSEEN" -p none -c -x old.filter all > count
holds [ "$(cat count)" = $((10000 - $(wc -l < want))) ]
run import --from-redis "redis://localhost:$port/0/crawl" url.filter
expect 0 '' ''
same url.filter first.filter

# Users and passwords, which no message shows.
bloom auth
run import --from-redis "127.0.0.1:$port" new.filter crawl
expect 2 '' '*'
holds grep -q "the server at redis://127.0.0.1:$port/crawl answers: NOAUTH" err
holds [ ! -e new.filter ]
run import --from-redis "redis://ann:wr%6Fng@127.0.0.1:$port/crawl" new.filter
expect 2 '' '*'
holds grep -q WRONGPASS err
holds [ "$(grep -c 'wr.*ng@' err)" = 0 ]
run import --from-redis "redis://ann:p%2Fw@127.0.0.1:$port/crawl" new.filter
expect 0 '' ''
same new.filter first.filter
rm new.filter
echo p/w > password
run import --token-file password --from-redis "127.0.0.1:$port" new.filter crawl
expect 0 '' ''
run import --from-redis "ann:p/w@127.0.0.1:$port" other.filter crawl
expect 2 '' 'unseen: error: a user and a password stand in an address that begins with redis://\nunseen: hint: unseen import --from-redis redis://USER:PASSWORD@HOST/KEY other.filter\n'

# What a strange server says. Nothing is left of a filter that is not whole.
rm -f new.filter
refused() { # FAULT ERROR
    bloom "$1"
    run import --from-redis "127.0.0.1:$port" new.filter crawl
    expect 2 '' '*'
    if ! grep "^unseen: error: .*$2" err > /dev/null; then complain "$1: it said: $(cat err)"; fi
    holds [ ! -e new.filter ]
}
refused links 'its number of links cannot be'
refused nolinks 'its number of links cannot be'
refused bits 'its numbers of bits and of bytes do not fit'
refused bytes 'its numbers of bits and of bytes do not fit'
refused hashes 'its number of bits or of hashes cannot be'
refused old 'its hashes have 32 bits'
refused cut 'is not a filter of RedisBloom'
refused short 'it ends too early'
refused long 'it goes on behind its bits'
refused circle 'does not answer as RedisBloom does'
refused shape 'does not answer as RedisBloom does'
refused command 'has no BF.SCANDUMP, so it is not RedisBloom'
refused type 'the key of the server at .* is no Bloom filter'
holds grep -q '^unseen: hint: .*a cuckoo filter (CF' err
refused lost 'the connection to .* is lost'
bloom
run import --from-redis "127.0.0.1:$port" new.filter nothing
expect 2 '' '*'
holds grep -q 'has no such filter' err

# What cannot be asked for.
run import --from-redis "127.0.0.1:$port" new.filter
expect 2 '' "unseen: error: 127.0.0.1:$port names a server and no key\nunseen: hint: *\n"
run import --from-redis "redis://127.0.0.1:$port/crawl" new.filter crawl
expect 2 '' "unseen: error: redis://127.0.0.1:$port/crawl has the key already\nunseen: hint: unseen import --from-redis redis://127.0.0.1:$port/crawl new.filter\n"
run import --from-redis "127.0.0.1:$port" --format guava --funnel utf8 new.filter crawl
expect 2 '' '*'
run import -p crawl --from-redis "127.0.0.1:$port" new.filter crawl
expect 2 '' '*'
run import --from-redis "127.0.0.1:$port" members crawl
expect 2 '' '*'
holds grep -q 'members is not a foreign filter' err
finish
