# -x: lists and stores that count as seen, and are not written to.
. "$(dirname "$0")/lib/common.bash"

keys_of() { "$UNSEEN" info --json "$1" | sed -E 's/.*"keys":([0-9]+).*/\1/'; }

printf 'http://a/\nhttp://b/\n' | "$UNSEEN" add a.unseen
printf 'http://c/\n' | "$UNSEEN" add --seed 9 --key-bits 96 --fpr 1e-6 c.unseen
printf 'http://d/\n' > d.list
cp a.unseen a.before
cp c.unseen c.before
printf 'http://%s/\n' a b c d e f e > in
printf 'HTTP://A:80/#x\n' >> in
for j in 1 2; do
    run -j "$j" -x a.unseen
    expect 0 'http://c/\nhttp://d/\nhttp://e/\nhttp://f/\n' ''
    run -j "$j" -x a.unseen -x c.unseen -x d.list
    expect 0 'http://e/\nhttp://f/\n' ''
    run -j "$j" -x d.list -x c.unseen -x a.unseen -v
    expect 0 'http://a/\nhttp://b/\nhttp://c/\nhttp://d/\nhttp://e/\nHTTP://A:80/#x\n' ''
    run -j "$j" -n -x d.list -x a.unseen
    expect 0 'http://c/\nhttp://e/\nhttp://f/\nhttp://e/\n' ''
    run -j "$j" -x a.unseen --mark -m 1
    expect 0 '0\thttp://a/\n0\thttp://b/\n1\thttp://c/\n' ''
    run -j "$j" -x a.unseen --canonical
    expect 0 'http://c/\nhttp://d/\nhttp://e/\nhttp://f/\n' ''
    run -j "$j" -c -x a.unseen --shard 1/1
    expect 0 '4\n' ''
    # With -s the store remembers what is new, and not what the lists have.
    rm -f v.unseen
    run -j "$j" -s v.unseen -x a.unseen -x d.list -x c.unseen
    expect 0 'http://e/\nhttp://f/\n' ''
    holds [ "$(keys_of v.unseen)" = 2 ]
    run -j "$j" -s v.unseen -x d.list
    expect 0 'http://a/\nhttp://b/\nhttp://c/\n' ''
    run -j "$j" -s v.unseen
    expect 0 'http://d/\n' ''
    rm v.unseen
    run -j "$j" -s v.unseen -x d.list -m 1
    expect 0 'http://a/\n' ''
    holds [ "$(keys_of v.unseen)" = 1 ]
    run -j "$j" -n -s v.unseen -x d.list
    expect 0 'http://b/\nhttp://c/\nhttp://e/\nhttp://f/\nhttp://e/\n' ''
done
same a.unseen a.before
same c.unseen c.before
holds [ ! -e a.unseen.image ]
printf 'x,http://a/\ny,http://e/\n' > in
run -x a.unseen -k 2 -t ,
expect 0 'y,http://e/\n' ''
printf '{"u":"http://b/"}\n{"u":"http://e/"}\n' > in
run -x a.unseen -x d.list -k .u
expect 0 '{"u":"http://e/"}\n' ''
# -k says nothing about lists; they may be compressed.
printf 'http://e/ x\nhttp://e/\n' | gzip > e.gz
run -x a.unseen -x e.gz -k .u
expect 0 '' ''
run -s v2.unseen -x e.gz -k .u
expect 0 '{"u":"http://b/"}\n' ''

# Many lines, against what sort and comm say.
urls 60000 50000 1 > lines
urls 30000 50000 2 > one
urls 30000 50000 3 > two
"$UNSEEN" add --seed 1 one.unseen one
awk '!seen[$0]++' lines > distinct
cat one two | sort -u > known
sort distinct | comm -23 - known > want
rm in
for j in 1 2; do
    "$UNSEEN" --seed 2 -j "$j" -x one.unseen -x two lines | sort > out
    same out want
    rm -f w.unseen*
    "$UNSEEN" --seed 2 -j "$j" -s w.unseen -x one.unseen -x two lines | sort > out
    same out want
    holds [ "$(keys_of w.unseen)" = "$(wc -l < want)" ]
    # Dirty spellings of them are the same URLs.
    sed 's/^http:/HTTP:/; s/$/#top/' lines | "$UNSEEN" --seed 2 -j "$j" --canonical -x one.unseen -x two | sort > out
    same out want
done

# Another profile.
"$UNSEEN" add -p whatwg w3.unseen one
run -x w3.unseen one
expect 2 '' 'unseen: error: w3.unseen has the profile whatwg/1, the run has crawl/1\nunseen: hint: unseen --profile whatwg/1 -x w3.unseen one\n'
run -p whatwg/1 -x w3.unseen one
expect 0 '' ''
run -s one.unseen -x w3.unseen one
expect 2 '' 'unseen: error: w3.unseen has the profile whatwg/1, one.unseen has crawl/1\nunseen: hint: unseen --profile whatwg/1 -x w3.unseen one\n'
run -x missing one
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\nunseen: hint: to make an empty list: touch missing\n'
run -x one.unseen -x - -
expect 2 '' 'unseen: error: -x - and the input are both standard input\nunseen: hint: unseen -x - FILE\n'
head -c 17200 one.unseen > cut.unseen
printf XXXXXXXX | dd of=cut.unseen bs=1 seek=16384 conv=notrunc 2> /dev/null
run -x cut.unseen two
[ "$status" = 2 ] || [ "$status" = 0 ] || complain "a store that is cut: $status"
finish
