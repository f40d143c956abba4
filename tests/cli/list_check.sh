# Asking lists: check, -x, info and verify, lists of every kind, and what the other commands say of one.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf 'http://evil.example/a\nHTTP://Evil.example:80/x/../b\nhttp://evil.example/c\n' > in
run build --seed 1 url.list
expect 0 '' ''
printf 'evil.example/\ngood.example/bad/\n' > in
run build --seed 1 --expressions sites.list
expect 0 '' ''
printf 'evil.example\nbad@corp.example\n' > in
run build --seed 1 --kind mail mail.list
expect 0 '' ''
printf '192.0.2.0/24\n2001:db8::/32\n' > in
run build --seed 1 --kind ip ip.list
expect 0 '' ''
printf '+1 555 0100\n' > in
run build --seed 1 --kind phone phone.list
expect 0 '' ''
echo 'http://evil.example/c' > in
run allow url.list
expect 0 '' ''
echo 'evil.example/fine/' > in
run allow sites.list
expect 0 '' ''

# ---- check ----------------------------------------------------------------------------------------
printf 'http://evil.example/%s\n' a d b c './a#top' > in
listed='http://evil.example/a\nhttp://evil.example/b\nhttp://evil.example/./a#top\n'
others='http://evil.example/d\nhttp://evil.example/c\n'
for j in 1 2; do
    run check -j "$j" url.list
    expect 0 "$listed" ''
    run check -j "$j" -v url.list
    expect 0 "$others" ''
    run check -j "$j" -c url.list
    expect 0 '3\n' ''
    run check -j "$j" -cv url.list
    expect 0 '2\n' ''
    run check -j "$j" -q url.list
    expect 0 '' ''
    run check -j "$j" -m 2 url.list
    expect 0 'http://evil.example/a\nhttp://evil.example/b\n' ''
    run check -j "$j" --mark url.list
    expect 0 "1\thttp://evil.example/a\n0\thttp://evil.example/d\n1\thttp://evil.example/b\n0\thttp://evil.example/c\n1\thttp://evil.example/./a#top\n" ''
    run check -j "$j" --canonical url.list
    expect 0 'http://evil.example/a\nhttp://evil.example/b\nhttp://evil.example/a\n' ''
    run check -j "$j" -o to url.list
    expect 0 '' ''
    printf "$listed" > want
    same want to
done
run check --stats=json url.list
holds grep -q '"new":2,"seen":3,.*"keys":3,.*"profile":"crawl/1","filter":"list"' err
holds "$UNSEEN" check --stats url.list in 2> err > out
holds grep -q '^profile  *crawl/1$' err
printf '1,http://evil.example/a\n2,x\n' > in
run check -k 2 -t , url.list
expect 0 '1,http://evil.example/a\n' ''
printf '{"u":"http://evil.ex\\u0061mple/a"}\n{"u":"x"}\n' > in
run check -k .u url.list
expect 0 '{"u":"http://evil.ex\\u0061mple/a"}\n' ''
printf 'http://evil.example/a\0x\0' > in
run check -0 url.list
expect 0 'http://evil.example/a\0' ''
printf 'http://evil.example/a' | gzip > in
run check url.list
expect 0 'http://evil.example/a\n' ''
echo http://good.example/ > in
run check url.list
expect 1 '' ''
: > in
run check url.list
expect 1 '' ''

# The other kinds.
printf '%s\n' http://evil.example/x?y https://www.evil.example:8443/ http://good.example/ http://a.good.example/bad/x \
    http://evil.example/fine/p no-url > in
run check sites.list
expect 0 'http://evil.example/x?y\nhttps://www.evil.example:8443/\nhttp://a.good.example/bad/x\n' ''
run check -v sites.list
expect 0 'http://good.example/\nhttp://evil.example/fine/p\nno-url\n' ''
printf '%s\n' Jo@Mail.Evil.example bad@corp.example good@corp.example evil.example 192.0.2.1 > in
run check mail.list
expect 0 'Jo@Mail.Evil.example\nbad@corp.example\nevil.example\n' ''
printf '%s\n' 192.0.2.7 192.0.3.7 2001:DB8::1 ::ffff:192.0.2.9 192.0.2.128/25 x > in
run check ip.list
expect 0 '192.0.2.7\n2001:DB8::1\n::ffff:192.0.2.9\n192.0.2.128/25\n' ''
printf '%s\n' +1-555-0100 '001 (555) 0100' +1-555-0101 > in
run check phone.list
expect 0 '+1-555-0100\n001 (555) 0100\n' ''

# Many lines: each listed or not as it should be, whatever the others are; no wrong answer with this seed.
urls 30000 20000 5 > many
sort -u many > distinct
awk 'NR % 3 == 0' distinct > entries
holds unseen build --seed 1 --fpr 1e-9 many.list entries
awk 'NR == FNR { has[$0]; next } $0 in has' entries many > want
for j in 1 2; do
    holds unseen check -j "$j" many.list many > out
    same want out
    holds unseen check -j "$j" -v many.list many > out
    awk 'NR == FNR { has[$0]; next } !($0 in has)' entries many > want_others
    same want_others out
done

# ---- -x -------------------------------------------------------------------------------------------
printf 'http://evil.example/%s\n' a b c c fine/x > in
echo http://new.example/ >> in
run -x url.list
expect 0 'http://evil.example/c\nhttp://evil.example/fine/x\nhttp://new.example/\n' ''
run -x sites.list
expect 0 'http://evil.example/fine/x\nhttp://new.example/\n' ''
echo http://new.example/ | "$UNSEEN" add -p crawl seen.unseen
echo http://evil.example/c > lines
run -x url.list -x seen.unseen -x lines
expect 0 'http://evil.example/fine/x\n' ''
run -s visited.unseen -x url.list -x sites.list
expect 0 'http://evil.example/fine/x\nhttp://new.example/\n' ''
holds [ "$("$UNSEEN" info --json visited.unseen | sed 's/.*"keys":\([0-9]*\).*/\1/')" = 2 ]
# Whatever the identity of the run is, a list is asked by its own.
run -p none -x url.list
expect 0 'http://evil.example/c\nhttp://evil.example/fine/x\nhttp://new.example/\n' ''
run -v -x url.list
expect 0 'http://evil.example/a\nhttp://evil.example/b\nhttp://evil.example/c\n' ''
printf '1 a@evil.example\n2 a@good.example\n3 192.0.2.1\n' > in
run -k 2 -t ' ' -x mail.list -x ip.list
expect 0 '2 a@good.example\n' ''

# ---- info and verify ------------------------------------------------------------------------------
rm in
run info sites.list
expect 0 '*' ''
holds grep -q '^kind  *expressions$' out
holds grep -q '^entries  *2 of 2 given$' out
holds grep -q '^changes  *0 added, 0 removed, 1 allowed$' out
run info --json many.list
expect 0 '*' ''
holds grep -qE '"kind":"url","profile":"crawl/1","entries":[0-9]+,.*"fpr":1e-09,.*"key_bits":64}$' out
if command -v python3 > /dev/null; then
    holds python3 -c 'import json, sys
i = json.load(open("out"))
assert i["entries"] == int(sys.argv[1]) == i["given"] and i["allowed"] == i["added"] == i["removed"] == 0
assert i["bytes"] == int(sys.argv[2]) and i["fpr_estimate"] <= 1e-9
' "$(wc -l < entries)" "$(stat -c %s many.list)"
else
    skip 'no python3'
fi
run info url.list sites.list
expect 2 '' 'unseen: error: one store or list at a time\nunseen: hint: unseen info url.list\n'
run verify many.list sites.list
expect 0 "many.list: good, $(wc -l < entries) entries, 0 added, 0 removed, 0 allowed
sites.list: good, 2 entries, 0 added, 0 removed, 1 allowed\n" ''
run verify visited.unseen many.list
expect 0 '*' ''
# A byte of a page, of the header, of a change: each is found.
for at in 5000 20 change last; do
    case $at in
    change | last) cp sites.list damaged.list ;;
    *) cp many.list damaged.list ;;
    esac
    case $at in
    change) place=$(($(stat -c %s damaged.list) - 48 - 40)) ;; # in front of the record of the end
    last) place=$(($(stat -c %s damaged.list) - 40)) ;;
    *) place=$at ;;
    esac
    flip damaged.list "$place"
    run verify damaged.list
    if [ "$at" = last ]; then
        # the end of a file is what a crash leaves: it is not obeyed, and no damage
        expect 0 'damaged.list: good, 2 entries, 0 added, 0 removed, 1 allowed; an unfinished change of 48 bytes at its end\n' ''
    else
        expect 1 '' '*'
        holds grep -q '^unseen: error: damaged.list' err
        holds grep -q '^unseen: hint: to make it anew: unseen build damaged.list FILE' err
    fi
done
run verify many.list missing.list
expect 2 '*' '*'
head -c 3000 many.list > cut.list
run check cut.list
expect 2 '' '*'
holds grep -q '^unseen: hint: to make it anew: unseen build cut.list FILE$' err
run verify cut.list
expect 1 '' '*'

# ---- What works on stores only --------------------------------------------------------------------
# refuses HINT COMMAND [ARG]...
refuses() {
    local hint=$1
    shift
    cp url.list before
    run "$@"
    expect 2 '' "unseen: error: url.list is a list, not a store\nunseen: hint: $hint\n"
    same before url.list
}
echo http://x/ > in
refuses 'unseen update url.list --add -' add url.list
refuses 'unseen update url.list --add -' import --format anew url.list
refuses 'unseen update url.list --remove -' remove url.list
refuses 'unseen check url.list' recheck url.list
refuses 'unseen build --from url.list NEW FILE' rewrite url.list
refuses 'unseen build --from url.list NEW FILE' merge all.unseen url.list
refuses 'unseen build --from url.list NEW FILE' merge --into url.list visited.unseen
refuses 'to make it anew: unseen build url.list FILE' repair url.list
refuses 'unseen -x url.list' -s url.list
run count url.list
expect 2 '' 'unseen: error: url.list is a list, which does not keep its entries\nunseen: hint: for how many it has: unseen info url.list\n'
run url.list
expect 2 '' 'unseen: error: url.list is a list, not a file of lines\nunseen: hint: unseen -x url.list\n'
run add new.unseen url.list
expect 2 '' 'unseen: error: url.list is a list, not a file of lines\n'
run -o url.list in
expect 2 '' 'unseen: error: url.list is a list, it cannot be written to\nunseen: hint: unseen -o NEW in\n'
same before url.list
holds [ ! -e all.unseen ]
finish
