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

# What is no URL keeps its bytes: letter case, blanks, CR and all. One CR is part of a line end.
printf 'foo\nFOO\nfoo \n foo\nfoo\r\nfoo\r\r\n/a/../b\n/b\nmailto\nhttp://\nhttp:///\nHTTP://\n\nfoo\n' > in
cat in > want
run -D rep --stats=json
expect 0 'foo\nFOO\nfoo \n foo\nfoo\r\r\n/a/../b\n/b\nmailto\nhttp://\nhttp:///\nHTTP://\n\n' '*'
holds grep -q '"not_urls":14,' err
holds [ "$(cat -A rep)" = "$(printf 'foo^M$\nfoo$')" ]
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
expect 0 'http://e.com/\n3\nfoo\n' "unseen: warning: standard input:3: no key 2 in '3': taken whole\n"
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

# Profiles and rules have versions, which need not be said. Stores, lists and sets keep to one identity.
printf 'http://e.com/?igsh=1\nhttp://e.com/?fbclid=1\nhttp://e.com/\n' > in
for profile in aggressive aggressive/1 crawl+strip-trackers crawl/1+strip-trackers/1; do
    run -p "$profile"
    expect 0 'http://e.com/?igsh=1\n' ''
done
run -p crawl --rule strip-trackers/1
expect 0 'http://e.com/?igsh=1\n' ''
run -p aggressive/1 -s one.unseen
expect 0 'http://e.com/?igsh=1\n' ''
printf 'http://f.com/?igsh=1\nhttp://f.com/\nhttp://e.com/\n' > in
run -p aggressive -s one.unseen
expect 0 'http://f.com/?igsh=1\n' ''
run -p crawl -s one.unseen
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, not crawl/1\nunseen: hint: unseen -s one.unseen\n'
run --rule strip-trackers -s rule.unseen
expect 0 'http://f.com/?igsh=1\nhttp://e.com/\n' ''
run merge --into one.unseen rule.unseen
expect 2 '' 'unseen: error: rule.unseen has the profile crawl/1+strip-trackers, one.unseen has aggressive/1\nunseen: hint: to add the URLs of this one again: unseen add one.unseen FILE\nunseen: hint: to make a store that can be merged: unseen add --like one.unseen NEW FILE\n'
run count one.unseen rule.unseen
expect 2 '' 'unseen: error: rule.unseen has the profile crawl/1+strip-trackers, one.unseen has aggressive/1\nunseen: hint: only stores made with the same -p and --seed-file can be counted together\n'
run add --like one.unseen like.unseen in
run merge --into one.unseen like.unseen
expect 0 '' ''
run -x one.unseen
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, the run has crawl/1\nunseen: hint: unseen --profile aggressive/1 -x one.unseen\n'
run -p aggressive/1 -x one.unseen
expect 0 '' ''
run -p aggressive -x one.unseen -x rule.unseen
expect 2 '' 'unseen: error: rule.unseen has the profile crawl/1+strip-trackers, the run has aggressive/1\nunseen: hint: unseen --profile crawl/1+strip-trackers -x one.unseen -x rule.unseen\n'
run -s new.unseen -p whatwg -x one.unseen in
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, new.unseen has whatwg/1\nunseen: hint: unseen --profile aggressive/1 -s new.unseen -x one.unseen in\n'
holds [ ! -e new.unseen ]
run -p aggressive/1 -s new.unseen -x one.unseen in
expect 0 '*' ''
run -s rule.unseen -x one.unseen in
expect 2 '' 'unseen: error: one.unseen has the profile aggressive/1, rule.unseen has crawl/1+strip-trackers\nunseen: hint: unseen --profile aggressive/1 -x one.unseen in\n'
# scrapy: dot segments and escapes as w3lib 2.5 has them.
printf 'http://e.com/a/../b\nhttp://e.com/b\nhttp://e.com/a%%3Bb\nhttp://e.com/a;b\n' > spiders
run -p scrapy -s spider.unseen spiders
expect 0 'http://e.com/a/../b\nhttp://e.com/a%%3Bb\nhttp://e.com/a;b\n' ''
printf 'http://e.com/a%%3bb\nhttp://e.com/./b\n' > spiders
run -p scrapy/1 -s spider.unseen spiders
expect 0 '' ''
# A list that is built from an older one has its profile.
run build -p aggressive one.list in
expect 0 '*' '*'
run build --from one.list two.list in
expect 0 '*' '*'
run info --json two.list
holds grep -q '"profile":"aggressive/1"' out
run build -p crawl --from one.list three.list in
expect 2 '' '*'
holds grep -qx 'unseen: error: one.list has the profile aggressive/1, not crawl/1' err
# Names as browsers read them: U+1E030 is a letter of Unicode 15.
printf 'http://\360\236\200\260.com/#a\nhttp://\320\260.com/\n' > in
head -n 1 in > first
run
same out first
run -p crawl/77
expect 2 '' 'unseen: error: this version of unseen has no profile "crawl/77"\nunseen: hint: unseen help profiles\n'
run --rule strip-trackers/77
expect 2 '' 'unseen: error: this version of unseen has no rule "strip-trackers/77"\nunseen: hint: unseen help rules\n'
run -p crawler/1
expect 2 '' "unseen: error: no profile 'crawler/1'\nunseen: hint: unseen --profile crawl\n"

# Parameters by name: in the identity text, so stores, lists and programs that ask know them.
printf 'http://e.com/?id=1&utm_x=2\nhttp://e.com/?utm_y&id=1\nhttp://news.example/?page=1\nhttp://www.news.example/?page=2\nhttp://news.example/\n' > in
for j in 1 2; do
    run -j "$j" --drop-params 'utm_*,ref,news.example:page'
    expect 0 'http://e.com/?id=1&utm_x=2\nhttp://news.example/?page=1\nhttp://www.news.example/?page=2\n' ''
    run -j "$j" --drop-params 'utm_*' --drop-params=ref --rule 'drop-params(news.example:page),strip-www' --canonical
    expect 0 'http://e.com/?id=1\nhttp://news.example/\n' ''
done
run canon --only-params 'id,news.example:sku'
expect 0 'http://e.com/?id=1\nhttp://e.com/?id=1\nhttp://news.example/\nhttp://www.news.example/\nhttp://news.example/\n' ''
run canon --only-params 'news.example:sku'
expect 0 'http://e.com/?id=1&utm_x=2\nhttp://e.com/?utm_y&id=1\nhttp://news.example/\nhttp://www.news.example/\nhttp://news.example/\n' ''
run canon --rule strip-query
expect 0 'http://e.com/\nhttp://e.com/\nhttp://news.example/\nhttp://www.news.example/\nhttp://news.example/\n' ''
run --drop-params 'ref,utm_*' -s params.unseen
expect 0 'http://e.com/?id=1&utm_x=2\nhttp://news.example/?page=1\nhttp://www.news.example/?page=2\nhttp://news.example/\n' ''
run info --json params.unseen
holds grep -qF '"profile":"crawl/1+drop-params(ref,utm_*)"' out
printf 'http://e.com/?utm_z=7&id=1\nhttp://e.com/?id=2&ref=x\n' > in
run -s params.unseen
expect 0 'http://e.com/?id=2&ref=x\n' ''
run --drop-params 'utm_*,ref,utm_x' -s params.unseen
expect 0 '' ''
run --drop-params 'utm_*' -s params.unseen
expect 2 '' 'unseen: error: params.unseen has the profile crawl/1+drop-params(ref,utm_*), not crawl/1+drop-params(utm_*)\nunseen: hint: unseen -s params.unseen\n'
run -x params.unseen
expect 2 '' "unseen: error: params.unseen has the profile crawl/1+drop-params(ref,utm_*), the run has crawl/1\nunseen: hint: unseen --profile 'crawl/1+drop-params(ref,utm_*)' -x params.unseen\n"
run -p 'crawl/1+drop-params(ref,utm_*)' -x params.unseen
expect 0 '' ''
run --drop-params ref -s other.unseen
expect 0 '*' ''
run merge --into params.unseen other.unseen
expect 2 '' '*'
holds grep -qxF 'unseen: error: other.unseen has the profile crawl/1+drop-params(ref), params.unseen has crawl/1+drop-params(ref,utm_*)' err
printf 'C http://e.com/?ref=9&id=2\nC http://e.com/?id=3\n' > in
run serve params.unseen
holds [ "$(sed 's/key=.*//' out | tr '\n' ' ')" = 'unseen 1 profile=crawl/1+drop-params(ref,utm_*)  1 0 ' ]
printf 'http://e.com/?id=2&ref=x\n' > in
run build --only-params id params.list in
expect 0 '*' '*'
printf 'http://e.com/?id=2&x=y\nhttp://e.com/?id=3\n' > in
run check --mark params.list
expect 0 '1\thttp://e.com/?id=2&x=y\n0\thttp://e.com/?id=3\n' ''
run explain --drop-params 'utm_*' 'http://e.com/?utm_a=1' http://e.com/
expect 0 'http://e.com/?utm_a=1
  drop-params: drop the parameters that option --drop-params names
    ?utm_a=1 -> (nothing)
  = http://e.com/
http://e.com/
  = http://e.com/
same under crawl/1+drop-params(utm_*), by drop-params
' ''
run --drop-params 'a*b' /dev/null
expect 2 '' 'unseen: error: drop-params: "a*b" is not a pattern: * may stand only at its end, write %%2A for the character\n'
run --drop-params id --only-params id /dev/null
expect 2 '' 'unseen: error: only-params keeps "id", and drop-params drops it\n'
run --drop-params id --rule strip-query /dev/null
expect 2 '' 'unseen: error: strip-query drops every parameter, so drop-params has nothing left to choose from\n'
run -p scrapy --drop-params id /dev/null
expect 2 '' "unseen: error: the profile scrapy does not have the rule drop-params\nunseen: hint: unseen --profile crawl --drop-params id /dev/null\n"
run --rule drop-params /dev/null
expect 2 '' 'unseen: error: "drop-params" names no parameters; write drop-params(ref,utm_*)\n'
for value in '' 'a)' '(b'; do
    run --drop-params "$value" /dev/null
    expect 2 '' '*'
    holds grep -q 'a list of names of parameters' err
done
run --drop-params "$(awk 'BEGIN { for (i = 0; i < 900; i++) printf "%sn%04d", i ? "," : "", i }')" /dev/null
expect 2 '' 'unseen: error: the profile and its rules make a text of more than 4095 bytes\n'

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
