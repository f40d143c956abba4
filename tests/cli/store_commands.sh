# The commands on a store: check, add, remove, merge, info, verify, repair, rewrite.
. "$(dirname "$0")/lib/common.bash"

keys_of() { "$UNSEEN" info --json "$1" | sed -E 's/.*"keys":([0-9]+).*/\1/'; }

# check: the lines that are there, each time, as they came; 1 when there are none.
printf 'http://a/\nhttp://b/\n' | "$UNSEEN" add v.unseen
printf 'HTTP://A:80/#x\nhttp://c/\nhttp://b/\nhttp://b/\n' > in
run check v.unseen
expect 0 'HTTP://A:80/#x\nhttp://b/\nhttp://b/\n' ''
run check -v v.unseen
expect 0 'http://c/\n' ''
run check --mark v.unseen
expect 0 '1\tHTTP://A:80/#x\n0\thttp://c/\n1\thttp://b/\n1\thttp://b/\n' ''
run check -c v.unseen in
expect 0 '3\n' ''
run check -vc v.unseen -
expect 0 '1\n' ''
run check -q v.unseen
expect 0 '' ''
run check --canonical -m 1 v.unseen
expect 0 'http://a/\n' ''
run check -o found v.unseen
expect 0 '' ''
holds [ "$(wc -l < found)" = 3 ]
run check -o found v.unseen
holds [ "$(wc -l < found)" = 3 ]
echo http://c/ > in
run check v.unseen
expect 1 '' ''
run check -c v.unseen
expect 1 '0\n' ''
run check -q v.unseen
expect 1 '' ''
run check --mark v.unseen
expect 1 '0\thttp://c/\n' ''
run check -v v.unseen
expect 0 'http://c/\n' ''
run check v.unseen missing in
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
printf 'x,http://a/\ny,http://c/\n' > log
run check -k 2 -t , v.unseen log
expect 0 'x,http://a/\n' ''
printf '{"u":"http://b/#"}\n{"u":"http://d/"}\n' > log
run check -k .u v.unseen log
expect 0 '{"u":"http://b/#"}\n' ''
printf 'http://a/\0http://c/\0' > in
run check -z v.unseen
expect 0 'http://a/\0' ''
holds [ "$(keys_of v.unseen)" = 2 ]
rm in

# add and remove: without a word.
printf 'http://c/\nhttp://a/\n' > in
run add --stats=json v.unseen
expect 0 '' '*'
holds grep -q '"lines":2,"new":1,"seen":1,' err
run add v.unseen
expect 0 '' ''
run check v.unseen
expect 0 'http://c/\nhttp://a/\n' ''
run remove --stats=json v.unseen
expect 0 '' '*'
holds grep -q '"lines":2,"new":0,"seen":2,' err
run check v.unseen
expect 1 '' ''
run remove v.unseen
expect 0 '' ''
run -s v.unseen
expect 0 'http://c/\nhttp://a/\n' ''
rm in
for j in 1 2; do
    rm -f w.unseen*
    urls 50000 40000 2 > big
    n=$(awk '!seen[$0]++' big | wc -l)
    run add --seed 1 -j "$j" w.unseen big
    expect 0 '' ''
    holds [ "$(keys_of w.unseen)" = "$n" ]
    run check -vc w.unseen big
    expect 1 '0\n' ''
    head -n 20000 big > gone
    run remove -j "$j" w.unseen gone
    expect 0 '' ''
    n=$((n - $(sort -u gone | wc -l)))
    holds [ "$(keys_of w.unseen)" = "$n" ]
    run check -c w.unseen gone
    expect 1 '0\n' ''
done
run add w.unseen missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'

# Not every filter can remove; the hint makes it one that can.
printf 'http://a/\nhttp://b/\n' > few
"$UNSEEN" add --filter bloom --capacity 1e4 --fpr 1e-3 b.unseen few
run remove b.unseen few
expect 2 '' 'unseen: error: b.unseen has the filter bloom, which cannot remove\nunseen: hint: unseen rewrite --filter compact b.unseen\n'
run rewrite --filter compact b.unseen
expect 0 '' ''
run remove b.unseen few
expect 0 '' ''
run check b.unseen few
expect 1 '' ''

# rewrite: without what was removed; another rate, keys of fewer bits.
size=$(wc -c < w.unseen)
run rewrite w.unseen
expect 0 '' ''
holds [ "$(wc -c < w.unseen)" -lt "$((size * 2 / 3))" ]
holds [ "$(keys_of w.unseen)" = "$n" ]
tail -n +20001 big | awk 'NR == FNR { gone[$0] = 1; next } !($0 in gone)' gone - > left
run check -vc w.unseen left
expect 1 '0\n' ''
run rewrite --fpr 2e-6 w.unseen
expect 0 '' ''
run info --json w.unseen
holds grep -q '"fpr":2e-06,' out
run check -vc w.unseen left
expect 1 '0\n' ''
run add --key-bits 128 --seed 4 long.unseen left
run rewrite --key-bits 64 --capacity 1e6 long.unseen
expect 0 '' ''
run info --json long.unseen
holds grep -q '"key_bits":64,' out
run check -vc long.unseen left
expect 1 '0\n' ''
run rewrite --key-bits 96 long.unseen
expect 2 '' '*'
# A rate too low for the keys: they cannot get longer, so the way out is another rate.
bits='keys of 64 bits allow no rate as low as 1e-12'
for how in '--fpr 1e-12' '--filter exact'; do
    filter=
    [ "$how" = '--fpr 1e-12' ] || filter=' --filter compact'
    run rewrite $how long.unseen
    expect 2 '' "unseen: error: long.unseen: $bits\nunseen: hint: *\n"
    run $(sed -n 's/^unseen: hint: unseen //p' err)
    expect 0 '' ''
done
run check -vc long.unseen left
expect 1 '0\n' ''
run add --fpr 1e-12 --seed 4 low.unseen left
run rewrite --key-bits 64 low.unseen
expect 2 '' "unseen: error: low.unseen: $bits\nunseen: hint: unseen rewrite --fpr 1e-9 --key-bits 64 low.unseen\n"
for count in 'merge both.unseen low.unseen long.unseen' 'count low.unseen long.unseen' \
    'count long.unseen low.unseen'; do
    run $count
    holds grep -q '^unseen: hint: unseen rewrite --key-bits 64 --fpr 1e-9 ' err
done
run merge both.unseen low.unseen long.unseen
run $(sed -n 's/^unseen: hint: unseen \(.*\) && .*/\1/p' err)
expect 0 '' ''
run merge both.unseen low.unseen long.unseen
expect 0 '' ''
run check -vc both.unseen left
expect 1 '0\n' ''
run rewrite w.unseen long.unseen
expect 2 '' 'unseen: error: one store at a time\nunseen: hint: unseen rewrite w.unseen\n'

# merge: sets of several machines, of unequal sizes and grown.
urls 100000 90000 3 > part1
urls 5000 4000 4 > part2
: > part3
for i in 1 2 3; do
    "$UNSEEN" add --seed 42 "part$i.unseen" "part$i"
done
for i in 1 2 3; do
    cp "part$i.unseen" "before$i"
done
for order in '1 2 3' '3 2 1' '2 1'; do
    rm -f all.unseen*
    run merge all.unseen $(printf 'part%s.unseen ' $order)
    expect 0 '' ''
    holds [ "$(keys_of all.unseen)" = "$(sort -u part1 part2 | wc -l)" ]
    run check -vc all.unseen part1 part2
    expect 1 '0\n' ''
    run verify all.unseen
    expect 0 '*' ''
done
for i in 1 2 3; do
    same "part$i.unseen" "before$i"
done
run merge --into all.unseen part1.unseen
expect 0 '' ''
holds [ "$(keys_of all.unseen)" = "$(sort -u part1 part2 | wc -l)" ]
# What was removed from a part is not in it.
head -n 10 part2 | sort -u > few
"$UNSEEN" remove part2.unseen few
rm -f all.unseen*
run merge all.unseen part2.unseen
run check all.unseen few
expect 1 '' ''
# Both values and the way out.
"$UNSEEN" add --seed 43 other.unseen few
"$UNSEEN" add --seed 42 -p whatwg whatwg.unseen few
"$UNSEEN" add --seed 42 --key-bits 128 wide.unseen few
cp all.unseen before
id() { "$UNSEEN" info --json "$1" | sed -E 's/.*"seed_id":"([0-9a-f]+)".*/\1/'; }
run merge --into all.unseen other.unseen
expect 2 '' "unseen: error: other.unseen has the seed id $(id other.unseen), all.unseen has $(id all.unseen)\nunseen: hint: to add the URLs of this one again: unseen add all.unseen FILE\nunseen: hint: to make a store that can be merged: unseen add --like all.unseen NEW FILE\n"
run merge new.unseen all.unseen other.unseen
expect 2 '' "unseen: error: other.unseen has the seed id $(id other.unseen), all.unseen has $(id all.unseen)\nunseen: hint: to add the URLs of this one again: unseen add all.unseen FILE\nunseen: hint: to make a store that can be merged: unseen add --like all.unseen NEW FILE\n"
run merge --into all.unseen whatwg.unseen
expect 2 '' 'unseen: error: whatwg.unseen has the profile whatwg/1, all.unseen has crawl/1\nunseen: hint: to add the URLs of this one again: unseen add all.unseen FILE\nunseen: hint: to make a store that can be merged: unseen add --like all.unseen NEW FILE\n'
run merge --into wide.unseen all.unseen
expect 2 '' 'unseen: error: all.unseen keeps 64 bits of each key, wide.unseen keeps 128\nunseen: hint: unseen rewrite --key-bits 64 wide.unseen && unseen merge --into wide.unseen all.unseen\n'
same all.unseen before
run merge --into all.unseen wide.unseen
expect 0 '' ''
run check -c all.unseen few
expect 0 "$(wc -l < few)\n" ''
run merge all.unseen
expect 2 '' 'unseen: error: nothing to merge into all.unseen\nunseen: hint: unseen merge all.unseen IN.unseen IN.unseen\n'
run merge --into all.unseen all.unseen
expect 2 '' 'unseen: error: all.unseen is both the output and an input\nunseen: hint: it keeps its URLs: unseen merge --into all.unseen OTHER...\n'
run merge new.unseen missing.unseen
expect 2 '' '*'
holds [ ! -e new.unseen ]

# info.
run info v.unseen
expect 0 '*' ''
for name in store keys filter 'wrong seen' fill memory disk log image profile 'key bits' 'seed id' written; do
    holds grep -q "^$name  *[^ ]" out
done
holds grep -qE '^keys +3$' out
run info --json v.unseen
holds python3 -c 'import json, re, sys
info = json.load(open("out"))
assert info["keys"] == 3 and info["filter"] == "compact" and info["profile"] == "crawl/1"
assert info["key_bits"] == 64 and info["log"] is True and re.fullmatch("[0-9a-f]{16}", info["seed_id"])
assert info["log_bytes"] > 16384 and 0 < info["fill"] < 1 and 0 < info["fpr_estimate"] < 5e-9
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", info["written"])'
holds [ "$(id part1.unseen)" = "$(id part2.unseen)" ]
holds [ "$(id part1.unseen)" != "$(id other.unseen)" ]
# The seed itself is never shown.
lacks '"seed"' out
run info v.unseen w.unseen
expect 2 '' 'unseen: error: one store or list at a time\nunseen: hint: unseen info v.unseen\n'

# No arguments: what it is about.
for command in check add remove import recheck info verify repair rewrite merge; do
    run $command
    expect 2 '' '*'
    holds grep -q "^Usage: unseen $command " err
done

# A store without a log.
rm -f v.unseen* w.unseen*
printf 'http://a/\n' > in
run -s v.unseen --no-log
expect 0 'http://a/\n' ''
run -s v.unseen
expect 0 '' ''
run info --json v.unseen
holds grep -q '"log":false' out
run recheck v.unseen
expect 2 '' '*'
run rewrite v.unseen
expect 2 '' '*'
run verify v.unseen
expect 0 '*' ''

# A killed rewrite leaves a new log, and a killed close an image. The next writer takes them away; a reader and a writer
# that has to wait do not: the files may be in use.
echo http://left.example/ > one
run add left.unseen one
mkfifo held
"$UNSEEN" add left.unseen held 2> holder_err &
holder=$!
exec 3> held
waits() { "$UNSEEN" add left.unseen one 2>&1 | grep -q 'is being written to'; }
eventually waits
touch left.unseen.unseen-new left.unseen.image.unseen-new
run add left.unseen one
expect 2 '' '*'
run check left.unseen one
expect 0 '*' ''
holds [ -e left.unseen.unseen-new ]
holds [ -e left.unseen.image.unseen-new ]
exec 3>&-
wait $holder
run add left.unseen one
expect 0 '' ''
holds [ ! -e left.unseen.unseen-new ]
holds [ ! -e left.unseen.image.unseen-new ]
finish
