# --stats counts right, on standard error, in either form.
. "$(dirname "$0")/lib/common.bash"

printf 'aa\nb\naa\nc' > in
seq 100 > numbers
for j in 1 2; do
    run -j "$j" --shard 1/3 --stats=json numbers
    expect 0 '*' '*'
    mine=$(wc -l < out)
    holds [ "$mine" -gt 0 ]
    holds grep -qF "{\"lines\":100,\"new\":$mine,\"seen\":0,\"too_long\":0,\"other_shares\":$((100 - mine))," err
done
for j in 1 2; do
    run -j "$j" --stats --seed 1
    expect 0 'aa\nb\nc\n' '*'
    sed -E 's/^(memory +)[0-9]+/\1M/; s/^(wrong seen +)[0-9.e-]+/\1R/; s/^(seconds +)[0-9.]+/\1S/' err > text
    cat > want << 'END'
lines        4
new          3
seen         1
not a URL    4
bytes        10
keys         3
memory       M
profile      crawl/1
wrong seen   R (at most 5e-09)
seconds      S
END
    same text want
    run -j "$j" --stats=text -v --seed 1
    expect 0 'aa\n' '*'
    holds grep -qx 'new          3' err

    run -j "$j" --stats=json --fpr 1e-5
    expect 0 'aa\nb\nc\n' '*'
    holds [ "$(wc -l < err)" = 1 ]
    holds grep -qE '^\{"lines":4,"new":3,"seen":1,"too_long":0,"other_shares":0,"without_key":0,"not_urls":4,"excluded_by":0,"late":0,"bytes":10,"keys":3,"memory":[0-9]+,"fpr_estimate":[0-9.e-]+,"fpr_promise":[0-9.e-]+,"profile":"crawl/1","filter":"compact","cpu":"[a-z0-9]+","seconds":[0-9.]+\}$' err
    if command -v python3 > /dev/null; then
        holds python3 -c 'import json, sys; d = json.load(open("err")); sys.exit(d["keys"] != 3)'
    fi

    printf 'aa\nbbbbb\naa\n' > long
    run -j "$j" --stats=json --max-line 4 long missing
    expect 2 'aa\n' '*'
    holds grep -q '"lines":3,"new":1,"seen":1,"too_long":1,.*"bytes":12,' err
    run -j "$j" --stats=json -q in
    expect 0 '' '*'
    holds grep -q '"lines":1,"new":1,"seen":0,.*"bytes":3,"keys":1,' err
    # What is no URL is counted exactly as far as lines were answered, and not for plain bytes.
    printf 'http://a/\nx\nhttp://b/\nx\ny\nz\n' > lines
    run -j "$j" --stats=json -m 3 lines
    expect 0 'http://a/\nx\nhttp://b/\n' '*'
    holds grep -q '"lines":3,.*"not_urls":1,.*"profile":"crawl/1",' err
    run -j "$j" --stats=json -p none lines
    expect 0 'http://a/\nx\nhttp://b/\ny\nz\n' '*'
    holds grep -q '"lines":6,.*"not_urls":0,.*"profile":"none/1",' err
    run -j "$j" --stats=json --rule strip-www,no-strip-www --rule sort-query lines
    holds grep -q '"not_urls":4,.*"profile":"crawl/1+sort-query",' err

    run -j "$j" --stats=json /dev/null
    expect 0 '' '*'
    holds grep -q '^{"lines":0,"new":0,"seen":0,.*"bytes":0,"keys":0,' err
done
finish
