# The formats of lists that unseen build reads: hosts files, dnsmasq, unbound, response policy zones, rules
# of ad blockers, ranges and netmasks. Each line is an entry, an allowed entry, a comment or wrong, and nothing
# else; a list made of one line says which.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # the syncs would take minutes on a busy disk
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

# ---- one line each -------------------------------------------------------------------------------
# verdict LINE KIND: how the line counts beside an entry, which every list needs
verdict() {
    local kind=${2:-expressions}
    case $kind in
    ip) printf '203.0.113.255\n%b\n' "$1" > line.txt ;;
    *) printf 'beside.invalid\n%b\n' "$1" > line.txt ;;
    esac
    run build --kind "$kind" --skip-invalid --skip-dangerous --force --stats=json one.list line.txt
    [ "$status" = 0 ] || complain "$1: $(cat err)"
    sed -n 's/.*"entries":\([0-9]*\),"distinct":[0-9]*,"comments":\([0-9]*\),"dangerous":0,"left_out":\([0-9]*\),"not_taken":\([0-9]*\),.*"allowed":\([0-9]*\),.*/\1 \2 \3 \4 \5/p' err |
        while read -r entries comments wrong rules allowed; do
            printf 'entry%d comment%d wrong%d rule%d allowed%d' $((entries - 1)) "$comments" "$wrong" "$rules" "$allowed"
        done
    rm -f one.list
}
# is WHAT LINES... : each line is one WHAT, and nothing else
is() {
    local what=$1 line got
    shift
    for line in "$@"; do
        tests_run=$((tests_run + 1))
        got=$(verdict "$line" "${kind:-expressions}" | tr ' ' '\n' | grep -v '0$' | tr '\n' ' ')
        [ "$got" = "$what " ] || complain "${kind:-expressions}: '$line' is $got, not $what"
    done
}
is entry1 'a.example' 'A.EXAMPLE' ' a.example \t\r' '*.a.example' '.a.example' 'a.example # why' 'a.example\t;why' \
    '0.0.0.0 a.example' '0 A.example' ':: a.example # x' '127.0.0.1\ta.example#x' '127.0.0.1 localhost a.example' \
    '||a.example^' '||A.example^' '||a.example' '||a.example^|' '||a.example^*' '||*.a.example^' '||a.example/x/' \
    '||a.example/x/*' '||a.example/x^' '||a.example^$important' '||a.example^$all,important' '||192.0.2.7^' \
    'address=/a.example/' 'address=/.a.example/0.0.0.0' 'address=/a.example/::' 'address=/a.example/#' \
    'server=/a.example/' 'local=/a.example/' 'local-zone: "a.example." always_nxdomain' \
    "local-zone: 'a.example' STATIC # x" 'local-zone: a.example. redirect' '  local-zone: "a.example" refuse' \
    'local-data: "a.example A 0.0.0.0"' "local-data: 'a.example. 3600 IN AAAA ::'" 'a.example CNAME .' \
    '*.a.example CNAME .' 'a.example 60 IN CNAME *. ; x' 'a.example IN 1h CNAME rpz-drop.' 'a.example A 127.0.0.1' \
    '2001:db8::7' '192.0.2.7' 'http://3221225991/' 'b\xc3\xbccher.example' 'a.example/x,y' 'my_host.example'
is entry2 'address=/a.example/b.example/' 'address=/a.example/b.example/0.0.0.0' '0.0.0.0 a.example b.example'
is allowed1 '@@||a.example^' '@@||a.example^|' '@@||a.example^$important' '@@||a.example/x/' 'server=/a.example/#' \
    'local-zone: "a.example" always_transparent' 'a.example CNAME rpz-passthru.'
is comment1 '# x' '; x' '! x' '  ! x' '##.ad' '[Adblock Plus 2.0]' '[uBlock Origin]' '::1 localhost' '0.0.0.0 0.0.0.0' \
    '127.0.0.1 localhost.localdomain # x' '$TTL 2h' '$ORIGIN rpz.example.' '@ IN SOA a. b. 1 1h 15m 30d 2h' \
    '@ SOA a. b. (' '\t2026112701 ; serial' '\t1w' '\t3600 )' ')' '\tIN NS localhost.' '@ NS localhost.' 'server:'
is rule1 'a.example##.ad' 'a.example#@#.ad' 'a.example#?#div:has(.x)' 'a.example#$#body { x }' 'a.example#%#//scriptlet()' \
    'a.example#@?#.ad' 'a.example#@$#x' 'a.example,~b.example##.ad' 'a.example##' 'a.example## .x' 'a.example$$script[x]' \
    'a.example$@$script' '[$path=/x]a.example##.ad' '||a.example^$third-party' '||a.example^$important,third-party' \
    '||a.example$badfilter' '||a.example^$dnsrewrite=1.2.3.4' '@@||a.example^$document' '||a*.example^' '||a.example^x' \
    '||a.' '||a.example:8080^' '||' '|http://a.example/' '|https://a.example^|' '@@|http://a.example/' '@@/ads/' '/ads[0-9]+/' \
    '/a.example/' '/ads/*/x' 'address=/a.example/192.0.2.7' 'server=/a.example/192.0.2.1' 'local-zone: "a.example" inform' \
    'local-zone: "a.example" transparent' 'local-data: "a.example A 192.0.2.7"' 'a.example CNAME b.example.' \
    'a.example A 192.0.2.7' 'a.example.rpz.invalid. CNAME .' '24.0.2.0.192.rpz-ip CNAME .' 'ns.example.rpz-nsdname CNAME .'
is wrong1 '"a.example"' "'a.example'" 'a.example,malware' 'a.example, 2026' 'a.example;x' '"a.example","x"' 'a.example\tx' \
    'a.example x' '93.184.216.34 a.example' 'a.example^' 'a.example/*' 'ev*l.example' 'com' '.com' '0.0.0.0 com' '||com^' \
    'jo@a.example' '/' '/gate.php' '\\a.example' '2026112701' '0x7f000001' '192.0.2.1-192.0.2.9' '192.0.2.0/24' '192.0.2.0/255.255.255.0' \
    'address=//' 'address=/#/' 'address=a.example' 'local-zone: "a.example"' 'local-zone: a.example static x' 'a.example CNAME' \
    'a.example CNAME . x' 'a.example A team' 'a.example$third-party' 'server: x' '12:30:01 a.example' '[section]'
kind=mail
is entry1 'a.example' 'jo@a.example' '@a.example' '||a.example^' '0.0.0.0 a.example' 'jo@a.example # x' 'a.example CNAME .'
is allowed1 '@@||a.example^'
is wrong1 '"a.example"' 'a.example,x' 'jo@a.example,x' '"jo@a.example"' '||a.example/x/' 'Jo <jo@a.example>' 'com'
kind=ip
is entry1 '192.0.2.7' '192.0.2.0/24' '192.0.2.0/255.255.255.0' '192.0.2.7 # x' '192.0.2.0/24 ; SBL1' '2001:DB8::/32' \
    '192.0.2.7-192.0.2.7' '192.0.2.0-192.0.2.255' '2001:db8::-2001:db8::ff' '2001:db8::/ffff:ffff::'
is entry2 '192.0.2.1 - 192.0.2.3' '10.0.0.255-10.0.1.0' '2001:db8::f-2001:db8::10' '255.255.255.254-255.255.255.255\n192.0.2.7'
is wrong1 '192.0.2.9-192.0.2.1' '192.0.2.1-9' '192.0.2.1-' '-192.0.2.1' '192.0.2.1-2001:db8::1' '0.0.0.0-255.255.255.255' \
    '::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' '192.0.2.0/0.0.0.255' '192.0.2.0/255.0.255.0' '192.0.2.010-192.0.2.020' \
    '192.0.2.7,x' '"192.0.2.7"' '192.0.2.7 x' '0.0.0.0/0' '0.0.0.0 a.example' '192.0.2.0/24-192.0.3.0/24'
kind=url
is entry1 'http://a.example/x' 'http://a.example/x # why' 'http://a.example/x #top' '||a.example^' '0.0.0.0 a.example'
unset kind

# ---- what the entries cover ----------------------------------------------------------------------
cat > rules.txt << 'END_RULES'
||evil.example^
@@||good.evil.example^
||shop.example/free/
||third.example^$third-party
ads.example##.banner
@@||pages.shop.example/free/ok^
END_RULES
printf '%s\n' http://evil.example/x http://a.evil.example/ http://good.evil.example/x http://shop.example/ \
    http://shop.example/free/1 http://pages.shop.example/free/ok http://third.example/ http://ads.example/ > in
run build --expressions rules.list rules.txt
expect 0 '' "unseen: warning: rules.txt:4: not taken: '||third.example^\$third-party' is a rule with options that a list cannot keep\nunseen: warning: rules.txt:5: not taken: 'ads.example##.banner' hides parts of pages, not a site\nunseen: warning: 2 rules that a list cannot keep were not taken\nunseen: 2 entries are allowed, and win over what is listed below them\n"
run check rules.list
expect 0 'http://evil.example/x\nhttp://a.evil.example/\nhttp://shop.example/free/1\n' ''
rm in
run allow --list rules.list
expect 0 'good.evil.example/\npages.shop.example/free/ok\n' ''
# In UTF-16, with CRLF, and of two files, each with a mark in front.
printf '\357\273\277||a.example^\r\n@@||b.a.example^\r\n' > dos.txt
{ printf '\377\376' && printf '||c.example^\r\n\r\n' | iconv -t UTF-16LE; } > wide.txt
run build --expressions --stats dos.list dos.txt wide.txt
expect 0 '' '*'
holds grep -q '^entries      2$' err
holds grep -q '^allowed      1$' err
printf 'http://a.example/\nhttp://b.a.example/\nhttp://x.c.example/\n' > in
run check dos.list
expect 0 'http://a.example/\nhttp://x.c.example/\n' ''
rm in
# Allowed entries of thousands of lines, from several threads, are all there.
awk 'BEGIN { for (i = 0; i < 20000; i++) print (i % 2 ? "@@||" : "||") "h" i ".example^" }' > many.txt
run build --expressions -j 4 many.list many.txt
expect 0 '' 'unseen: 10000 entries are allowed, and win over what is listed below them\n'
unseen allow --list many.list | sort > got
awk 'BEGIN { for (i = 1; i < 20000; i += 2) print "h" i ".example/" }' | sort > want
same got want
# A build with --from keeps what is allowed; update and allow read rules, too, and take them back.
run build --expressions --force --from rules.list next.list dos.txt
expect 0 '' '*'
run allow --list next.list
expect 0 'b.a.example/\ngood.evil.example/\npages.shop.example/free/ok\n' ''
printf '||new.example^\n@@||ok.new.example^\n||x.example^$popup\n' > more.txt
run update next.list --add more.txt
expect 0 '' "unseen: warning: more.txt:3: not taken: '||x.example^\$popup' is a rule with options that a list cannot keep\nunseen: warning: 1 rules that a list cannot keep were not taken\n"
printf 'http://new.example/\nhttp://ok.new.example/\nhttp://x.example/\n' > in
run check next.list
expect 0 'http://new.example/\n' ''
rm in
run update next.list --remove more.txt
expect 0 '' '*'
run allow --list next.list
expect 0 'b.a.example/\ngood.evil.example/\npages.shop.example/free/ok\n' ''
run allow next.list more.txt
expect 0 '' '*'
run allow --list next.list
expect 0 'b.a.example/\ngood.evil.example/\npages.shop.example/free/ok\nnew.example/\nok.new.example/\n' ''
# A file of nothing but rules that cannot be kept is no list.
printf 'a.example##.ad\n' > hiding.txt
run build --expressions none.list hiding.txt
expect 2 '' '*'
holds [ ! -e none.list ]
# With -k, a line is fields and nothing else.
printf 'x,||a.example^\n' > fields.csv
run build --expressions -k 2 -t , none.list fields.csv
expect 2 '' '*'

# ---- ranges --------------------------------------------------------------------------------------
# Every address in a range is listed and its neighbours are not: ranges apart, of random lengths.
awk 'BEGIN { srand(5); for (i = 0; i < 150; i++) { a = b + 2 + int(rand() * 9); b = a + int(exp(rand() * 5)) - 1; print a, b } }' > ends
while read -r a b; do
    printf '10.%d.%d.%d-10.%d.%d.%d\n' $((a >> 16)) $((a >> 8 & 255)) $((a & 255)) $((b >> 16)) $((b >> 8 & 255)) $((b & 255))
done < ends > ranges.txt
awk '{ for (i = $1; i <= $2; i++) print i }' ends | sort -nu |
    awk '{ printf "10.%d.%d.%d\n", int($1 / 65536), int($1 / 256) % 256, $1 % 256 }' > inside
awk 'BEGIN { for (i = 0; i < 9000; i++) printf "10.%d.%d.%d\n", int(i / 65536), int(i / 256) % 256, i % 256 }' > all
run build --kind ip --fpr 2e-7 --seed ranges ranges.list ranges.txt
expect 0 '' ''
run check ranges.list all
same out inside
# The fewest networks, up to the most that a range can need, and the last address there is.
printf '0.0.0.1-255.255.255.254\n' > most.txt
run build --kind ip --dangerous --stats=json most.list most.txt
expect 0 '' '*'
holds grep -q '"entries":62,' err
printf '::1-ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe\n' > most.txt
run build --kind ip --dangerous --stats=json most6.list most.txt
expect 0 '' '*'
holds grep -q '"entries":254,' err
printf '255.255.255.0-255.255.255.255\nffff::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\n' > last.txt
run build --kind ip --stats=json last.list last.txt
expect 0 '' '*'
holds grep -q '"entries":2,' err

# ---- wrong lines are counted, and the first of each fault is shown ---------------------------------
{
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'a b%d\n' $i; done
    printf 'com\norg\na.example##.x\nb.example##.x\n||c.example^$popup\nfine.example\n'
} > wrong.txt
run build --expressions --skip-invalid --skip-dangerous wrong.list wrong.txt
expect 0 '' '*'
holds [ "$(grep -c '^unseen: warning: wrong.txt:[0-9]*: left out: ' err)" = 11 ]
holds grep -q "^unseen: warning: wrong.txt:13: left out: 'com' is a bare" err
holds [ "$(grep -c '^unseen: warning: wrong.txt:[0-9]*: not taken: ' err)" = 2 ]
tail -n 4 err > got
printf 'unseen: warning: 3 more such lines\nunseen: warning: 2 lines with dangerous entries were left out\nunseen: warning: 12 lines that are not entries were left out\nunseen: warning: 3 rules that a list cannot keep were not taken\n' > want
same got want
run build --expressions --skip-dangerous wrong.list wrong.txt
expect 2 '' '*'
run build --expressions --skip-dangerous --dangerous wrong.list wrong.txt
expect 2 '' 'unseen: error: --skip-dangerous leaves out dangerous entries, --dangerous takes dangerous entries\nunseen: hint: *\n'
printf '0.0.0.0/0\n192.0.2.7\n' > zero.txt
run build --kind ip --skip-dangerous --stats=json zero.list zero.txt
expect 0 '' '*'
holds grep -q '"entries":1,.*"dangerous":0,"left_out":1,' err
printf '0.0.0.0/0\n192.0.2.8\n' > zero.txt
run update --skip-dangerous zero.list --add zero.txt
expect 0 '' "unseen: warning: zero.txt:1: left out: '0.0.0.0/0' is a network so large that it is most likely a mistake\nunseen: warning: 1 lines with dangerous entries were left out\n"
printf '192.0.2.8\n198.51.100.1\n' > in
run check zero.list
expect 0 '192.0.2.8\n' ''
rm in

# ---- entries that only the same bytes meet ---------------------------------------------------------
printf 'http://a.example/\nevil.example\nhttp://b.example/\nworse.example\n' > half.txt
run build half.list half.txt
expect 0 '' "unseen: warning: half.txt:2: taken: 'evil.example' is not a URL: only a question of the same bytes matches it\nunseen: warning: 2 of 4 entries are not URLs: only a question of the same bytes matches them\n"
run update half.list --add half.txt
expect 0 '' "unseen: warning: half.txt:2: taken: 'evil.example' is not a URL: only a question of the same bytes matches it\nunseen: warning: 2 entries are not URLs: only a question of the same bytes matches them\n"
run update half.list --remove half.txt
expect 0 '' ''

# ---- phone numbers of a country ----------------------------------------------------------------------
printf '138 0013 8000\n+86 10 1234 5678\n(010) 8765 4321\n0049 89 123456\n110\n' > numbers.txt
run build --kind phone --country 86 numbers.list numbers.txt
expect 0 '' ''
printf '%s\n' +8613800138000 13800138000 '0086 138 0013 8000' 010-12345678 +861087654321 1087654321 +4989123456 \
    tel:+86110 110 > listed
printf '%s\n' 089123456 +113800138000 12345678 > in
cat listed >> in
run check numbers.list
same out listed
run serve numbers.list
rm in
run info --json numbers.list
holds grep -q '"kind":"phone","country":86,' out
run info numbers.list
holds grep -q '^country  *86$' out
run build --from numbers.list again.list numbers.txt
expect 0 '' ''
run check -c again.list listed
expect 0 '9\n' ''
run build --kind phone --from numbers.list again.list numbers.txt
expect 0 '' ''
run build --country 49 --from numbers.list again.list numbers.txt
expect 2 '' 'unseen: error: the country of numbers.list is 86, not 49\nunseen: hint: *\n'
run build --kind phone plain.list numbers.txt
expect 0 '' "unseen: warning: numbers.txt:1: taken: '138 0013 8000' has no country: only the same national number matches it (--country)\nunseen: warning: 3 of 5 entries have no country: only the same national number matches them (--country)\n"
run build --country 86 x.list numbers.txt
expect 2 '' 'unseen: error: --country is for phone numbers, not for the kind url\nunseen: hint: *\n'
for wrong in 0 1000 x +86 ''; do
    run build --kind phone --country "$wrong" x.list numbers.txt
    expect 2 '' '*'
done
printf '02 1234\n' > national
run update numbers.list --add national
expect 0 '' ''
printf '+8621234\n' > in
run check numbers.list
expect 0 '+8621234\n' ''
finish
