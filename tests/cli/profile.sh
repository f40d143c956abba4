# The identity of a URL: -p, --rule, --canonical.
. "$(dirname "$0")/lib/common.bash"

# By default the fragment and the spelling do not count, and lines are printed as they came.
printf 'http://e.com/b\nHTTP://E.com:80/a/../b#x\nhttps://e.com/b\nhttp://e.com/b?\nhttp://e.com/c#1\nhttp://e.com/c#2\n' > in
for j in 1 2; do
    run -j "$j"
    expect 0 'http://e.com/b\nhttps://e.com/b\nhttp://e.com/b?\nhttp://e.com/c#1\n' ''
    run -j "$j" -v
    expect 0 'HTTP://E.com:80/a/../b#x\nhttp://e.com/c#2\n' ''
    run -j "$j" -p crawl -c
    expect 0 '4\n' ''
    run -j "$j" --profile=none -c
    expect 0 '6\n' ''
    run -j "$j" -p whatwg -c
    expect 0 '6\n' ''
    run -j "$j" -p scrapy -c # keeps the port and the dots, drops the empty query
    expect 0 '4\n' ''
    run -j "$j" -p aggressive
    expect 0 'http://e.com/b\nhttp://e.com/c#1\n' ''
    run -j "$j" --rule fold-scheme,drop-empty-query
    expect 0 'http://e.com/b\nhttp://e.com/c#1\n' ''
    run -j "$j" --rule fold-scheme --rule=drop-empty-query --rule no-fold-scheme -c
    expect 0 '3\n' ''
    run -j "$j" -p whatwg --rule no-keep-fragment -c
    expect 0 '4\n' ''
    run -j "$j" -p aggressive --rule no-fold-scheme -c
    expect 0 '3\n' ''
done

# What is no URL keeps its bytes: letter case, blanks, CR and all.
printf 'foo\nFOO\nfoo \n foo\nfoo\r\n/a/../b\n/b\nmailto\nhttp://\nhttp:///\nHTTP://\n\nfoo\n' > in
cat in > want
run -D rep --stats=json
expect 0 'foo\nFOO\nfoo \n foo\nfoo\r\n/a/../b\n/b\nmailto\nhttp://\nhttp:///\nHTTP://\n\n' '*'
holds grep -q '"not_urls":13,' err
holds [ "$(cat rep)" = foo ]
# A carriage return at the end of a URL is none of it; the line is printed with it.
printf 'http://e.com/\r\nhttp://e.com/\n' > in
run
expect 0 'http://e.com/\r\n' ''
run --canonical
expect 0 'http://e.com/\n' ''

# --canonical, with everything that prints.
printf 'http://E.com\nfoo\nhttp://e.com/#a\nhttp://e.com/x#f\nfoo\nhttp://F.com/\n\n' > in
for j in 1 2; do
    run -j "$j" --canonical
    expect 0 'http://e.com/\nfoo\nhttp://e.com/x\nhttp://f.com/\n\n' ''
    run -j "$j" --canonical -v
    expect 0 'http://e.com/\nfoo\n' ''
    run -j "$j" --canonical -D rep
    expect 0 'http://e.com/\nfoo\nhttp://e.com/x\nhttp://f.com/\n\n' ''
    holds [ "$(cat rep)" = "$(printf 'http://e.com/\nfoo')" ]
    run -j "$j" --canonical --mark
    expect 0 '1\thttp://e.com/\n1\tfoo\n0\thttp://e.com/\n1\thttp://e.com/x\n0\tfoo\n1\thttp://f.com/\n1\t\n' ''
    run -j "$j" --canonical -c -D rep
    expect 0 '5\n' ''
    run -j "$j" --canonical -m 3 --stats=json
    expect 0 'http://e.com/\nfoo\nhttp://e.com/x\n' '*'
    holds grep -q '"lines":4,"new":3,.*"bytes":50,"keys":3,' err
    run -j "$j" --canonical --line-buffered
    expect 0 'http://e.com/\nfoo\nhttp://e.com/x\nhttp://f.com/\n\n' ''
    run -j "$j" --canonical -p none
    expect 0 'http://E.com\nfoo\nhttp://e.com/#a\nhttp://e.com/x#f\nhttp://F.com/\n\n' ''
done
printf 'http://E.com\0http://e.com/\0a\nb' > in
run -z --canonical
expect 0 'http://e.com/\0a\nb\0' ''

# -k: the whole record, or the canonical form of its key.
printf '1\thttp://E.com\n2\thttp://e.com/\n3\n4\tfoo\n' > in
run -k 2
expect 0 '1\thttp://E.com\n3\n4\tfoo\n' '*'
run -k 2 --canonical
expect 0 'http://e.com/\n3\nfoo\n' "unseen: warning: standard input: no such key in '3': taken whole\n"
cat > in << 'END'
{"u":"http://E.com","n":1}
{"u":"http:\/\/e.com\/","n":2}
{"u":"foo","n":3}
{"n":4}
{"u":"http://e.com/#x","n":5}
END
for j in 1 2; do
    run -j "$j" -k .u
    expect 0 '{"u":"http://E.com","n":1}\n{"u":"foo","n":3}\n{"n":4}\n' '*'
    run -j "$j" -k .u --canonical
    expect 0 'http://e.com/\nfoo\n{"n":4}\n' '*'
    run -j "$j" -k .u -v --canonical --stats=json
    expect 0 'http://e.com/\nhttp://e.com/\n' '*'
    holds grep -q '"without_key":1,"not_urls":2,' err
done

# Lists and shares know the same identity.
printf 'HTTP://E.com/b#1\nfoo\n' > list
printf 'http://e.com/b\nfoo\nbar\n' > in
run -x list
expect 0 'bar\n' ''
run -p none -x list
expect 0 'http://e.com/b\nbar\n' ''
run -x list --canonical -v
expect 0 'http://e.com/b\nfoo\n' ''
awk 'BEGIN { for (i = 0; i < 3000; i++) { n = i % 1000; print (i % 2 ? "HTTP://E" : "http://e") n ".com" (i % 3 ? "/" : ":80/#" i) } }' > in
run --seed 1
expect 0 '*' ''
holds [ "$(wc -l < out)" = 1000 ]
sort out > all
: > parts
for i in 1 2 3; do
    run --seed 1 -j "$((i % 2 + 1))" --shard "$i/3"
    expect 0 '*' ''
    holds [ "$(wc -l < out)" -gt 250 ]
    cat out >> parts
done
sort parts > sorted
same sorted all

# Long lines, and a URL whose canonical form is far longer than the line; -j1 = -j2.
long() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ printf 'http://e.com/'; long 300000 ' '; echo x; printf 'http://e.com/'; long 3000 '\377'; echo
  printf 'http://E.com/'; long 1000000 a; echo; long 100000 x; echo; echo http://E.com/; } > in
{ printf 'http://e.com/'; long 300000 ' ' | sed 's/ /%20/g'; echo x; printf 'http://e.com/'
  long 3000 x | sed 's/x/%FF/g'; echo
  printf 'http://e.com/'; long 1000000 a; echo; long 100000 x; echo; echo http://e.com/; } > want
for j in 1 2; do
    run -j "$j" --canonical
    expect 0 '*' ''
    same out want
    run -j "$j" --canonical --mark
    sed 's/^1.//' out > unmarked
    same unmarked want
    run -j "$j"
    expect 0 '*' ''
    same out in
done

# Profiles and rules have versions. A name alone means the newest; a store keeps the version that it has.
printf 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\nhttp://e.com/\n' > in
run -p aggressive
expect 0 'http://e.com/?igsh=1\n' ''
run -p aggressive/1
expect 0 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\n' ''
run -p crawl --rule strip-trackers/1
expect 0 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\n' ''
run -p crawl/1+strip-trackers
expect 0 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\n' ''
run -p aggressive/1 -s one.unseen
expect 0 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\n' ''
printf 'http://f.com/?igsh=1\nhttp://f.com/\nhttp://e.com/\n' > in
run -p aggressive -s one.unseen
expect 0 'http://f.com/?igsh=1\nhttp://f.com/\n' ''
run -p aggressive/2 -s one.unseen
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, not aggressive/2\nunseen: hint: unseen -s one.unseen FILE\n'
run -p aggressive -s two.unseen
expect 0 'http://f.com/?igsh=1\nhttp://e.com/\n' ''
run merge one.unseen two.unseen
expect 2 '' '*'
holds grep -qx 'unseen: error: two.unseen has the profile aggressive/2, one.unseen has aggressive/1' err
run --rule strip-trackers/1 -s rule.unseen
expect 0 'http://f.com/?igsh=1\nhttp://f.com/\nhttp://e.com/\n' ''
printf 'http://f.com/?igsh=2\n' > in
run --rule strip-trackers -s rule.unseen
expect 0 'http://f.com/?igsh=2\n' ''
run -p aggressive -x one.unseen
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, the run has aggressive/2\nunseen: hint: unseen -p aggressive/1 -x one.unseen FILE\n'
run -p aggressive/1 -x one.unseen
expect 0 'http://f.com/?igsh=2\n' ''
# So do lists, also when they are built anew from an older one.
run build -p aggressive/1 one.list in
expect 0 '*' '*'
run build -p aggressive --from one.list two.list in
expect 0 '*' '*'
run info --json two.list
holds grep -q '"profile":"aggressive/1"' out
run build -p aggressive/2 --from one.list three.list in
expect 2 '' '*'
holds grep -qx 'unseen: error: one.list has the profile aggressive/1, not aggressive/2' err
run -p crawl/77
expect 2 '' 'unseen: error: this version of unseen has no profile "crawl/77"\nunseen: hint: unseen help profiles\n'
run --rule strip-trackers/77
expect 2 '' 'unseen: error: this version of unseen has no rule "strip-trackers/77"\nunseen: hint: unseen help rules\n'
run -p crawler/1
expect 2 '' "unseen: error: no profile 'crawler/1'\nunseen: hint: unseen -p crawl\n"

# Much data: the forms of what is printed are those that canon prints, in both mixes of verdicts.
awk 'BEGIN { for (i = 0; i < 60000; i++) { n = (i * 7919) % 40000; printf "http://%s%d.com/%s\n", i % 3 ? "h" : "H", n % 500, (i % 5 ? "p" : "./p") n (i % 7 ? "" : "#f") } }' > in
"$UNSEEN" canon in | awk '!seen[$0]++' > want
"$UNSEEN" canon in | awk 'seen[$0]++' > want_v
for j in 1 2; do
    run --seed 1 -j "$j" --canonical -D rep
    expect 0 '*' ''
    same out want
    same rep want_v
    run --seed 1 -j "$j"
    "$UNSEEN" canon out > forms
    same forms want
done
for level in portable avx2 avx512; do
    UNSEEN_CPU=$level run --seed 1 --canonical
    if [ "$status" = 0 ]; then
        same out want
    else
        holds grep -q '^unseen: error: ' err
    fi
done
finish
