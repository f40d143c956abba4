# What unseen build makes of the lines that lists have beside their entries, and of files that are not
# lists at all: comments, hosts files, dangerous and invalid lines, error pages, feeds cut short.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # the syncs would take minutes on a busy disk
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

refused='unseen: error: nothing was built\n'

# ---- comments and blank lines --------------------------------------------------------------------
printf '# a feed\n; of today\n  ! and this\n\n \t \r\nevil.example\n' > feed.txt
for how in --expressions '--kind mail'; do
    run build $how --stats feed.list feed.txt
    expect 0 '' '*'
    holds grep -q '^comments     5$' err
    holds grep -q '^entries      1$' err
    rm feed.list
done
run build --kind mail --stats=json feed.list feed.txt
expect 0 '' '*'
holds grep -q '"entries":1,"distinct":1,"comments":5,"dangerous":0,"left_out":0,' err
rm feed.list
# In a list of bytes any line may be an entry.
printf '#tag\n;x\n\n' > tags.txt
run build -p none tags.list tags.txt
expect 0 '' ''
run check tags.list tags.txt
expect 0 '#tag\n;x\n' ''
run build -p none --comments '#' one.list tags.txt
expect 0 '' ''
run check one.list tags.txt
expect 0 ';x\n' ''
# The bytes can be chosen: then the others are no comments any more.
printf '%% of others\n#jo@evil.example\n' > percent.txt
run build --kind mail --comments % percent.list percent.txt
expect 0 '' ''
run check percent.list percent.txt
expect 0 '#jo@evil.example\n' ''
run build --kind mail --comments '' x.list percent.txt
expect 2 '' "unseen: error: percent.txt:1: '%% of others' is not an e-mail address or a domain\n${refused}unseen: hint: *\n"
# A field that is empty is not a blank line.
printf 'a,http://a.example/\nb,,\n' > fields.csv
run build -k 2 -t , x.list fields.csv
expect 2 '' "unseen: error: fields.csv:2: '' is empty\n${refused}unseen: hint: *\n"
# allow and update read lines the same way.
printf '# good ones\n\nok.example\n' > good.txt
run allow --stats percent.list good.txt
expect 0 '' '*'
holds grep -q '^comments     2$' err
run allow --list percent.list
expect 0 'ok.example\n' ''
run update --stats=json percent.list --add feed.txt
expect 0 '' '*'
holds grep -q '"comments":5,"dangerous":0,"left_out":0,' err

# ---- hosts files ---------------------------------------------------------------------------------
cat > hosts << 'END_HOSTS'
# Title: a list of bad hosts
127.0.0.1 localhost
127.0.0.1 localhost.localdomain
255.255.255.255 broadcasthost
::1 localhost
fe80::1%lo0 localhost
ff02::1 ip6-allnodes
0.0.0.0 0.0.0.0

0.0.0.0 evil.example
0.0.0.0	bad.example www.bad.example # two of them
127.0.0.1   worse.example#no-comment
127.0.0.1 LOCALHOST worst.example
plain.example
END_HOSTS
sed -i 's/#no-comment//' hosts
printf '%s\n' http://a.evil.example/x http://bad.example/ http://www.bad.example/ \
    http://worse.example/ http://worst.example/ http://plain.example/ > hit
printf '%s\n' http://localhost/ http://0.0.0.0/ http://two/ http://of/ http://127.0.0.1/ > miss
run build --expressions --stats hosts.list hosts
expect 0 '' '*'
holds grep -q '^entries      6$' err
holds grep -q '^comments     9$' err
cat hit miss > in
run check hosts.list
expect 0 "$(cat hit)\n" ''
rm in
run build --kind mail mail.list hosts
expect 0 '' ''
printf 'a@x.evil.example\nb@www.bad.example\nroot@localhost\n' > in
run check mail.list
expect 0 'a@x.evil.example\nb@www.bad.example\n' ''
rm in
# Many names in each line: more entries than a batch has lines.
awk 'BEGIN { for (i = 0; i < 600; i++) { printf "0.0.0.0"; for (j = 0; j < 9; j++) printf " h%d.x%d.example", j, i; print "" } }' > wide
tr ' ' '\n' < wide | grep -v 0.0.0.0 | sed 's,.*,http://&/,' > wide_urls
run build --expressions wide.list wide
expect 0 '' ''
run check -c wide.list wide_urls
expect 0 '5400\n' ''
# Any other address is not a hosts file's way to block; one bad name is an error of its line.
printf '93.184.216.34 evil.example\n0.0.0.0 com evil.example b@d\n' > odd
run build --expressions x.list odd
expect 2 '' '*'
holds grep -q "^unseen: error: odd:1: '93.184.216.34 evil.example' " err
holds grep -q "^unseen: error: odd:2: '0.0.0.0 com evil.example b@d' " err
holds grep -q 'unseen build --skip-invalid ' err

printf '0.0.0.0 com b@d evil.example\n' > odd # an error stays one behind a dangerous entry that is taken
run build --expressions --dangerous x.list odd
expect 2 '' '*'
holds [ ! -e x.list ]

# ---- what each switch takes, and nothing else ----------------------------------------------------
printf 'evil.example\ncom\n' > dangerous.txt
printf 'evil.example\nnot an entry\n' > invalid.txt
run build --kind mail x.list dangerous.txt
expect 2 '' "unseen: error: dangerous.txt:2: 'com' is a bare top-level domain or a name without a dot\n${refused}unseen: hint: *\n"
run build --kind mail --skip-invalid x.list dangerous.txt
expect 2 '' '*'
run build --kind mail --force x.list dangerous.txt
expect 2 '' '*'
run build --kind mail --dangerous x.list dangerous.txt
expect 0 '' "unseen: warning: dangerous.txt:2: taken: 'com' is a bare top-level domain or a name without a dot\nunseen: warning: 1 lines with dangerous entries were taken\n"
rm x.list
run build --kind mail x.list invalid.txt
expect 2 '' '*'
run build --kind mail --dangerous x.list invalid.txt
expect 2 '' '*'
run build --kind mail --force x.list invalid.txt
expect 2 '' '*'
run build --kind mail --skip-invalid x.list invalid.txt
expect 0 '' "unseen: warning: invalid.txt:2: left out: 'not an entry' is not an e-mail address or a domain\nunseen: warning: 1 lines that are not entries were left out\n"
run update x.list --add dangerous.txt
expect 2 '' "unseen: error: dangerous.txt:2: 'com' is a bare top-level domain or a name without a dot\nunseen: error: nothing was changed\nunseen: hint: *\n"
run update --skip-invalid x.list --add dangerous.txt
expect 2 '' '*'
run update --dangerous --stats=json x.list --add dangerous.txt
expect 0 '' '*'
holds grep -q '"dangerous":1,"left_out":0' err
printf '# header\n0.0.0.0/0\n' > all.txt
for switch in '' --skip-invalid --force; do
    run build --kind ip $switch n.list all.txt
    expect 2 '' '*'
    holds [ ! -e n.list ]
done

# ---- an error page never becomes a list ----------------------------------------------------------
page='<html><body>503 Service Unavailable</body></html>'
printf '%s\n' "$page" > feed.html
printf '%s\n' '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">' 'evil.example' > doctype.html
printf '<?xml version="1.0"?>\n<Error><Code>NoSuchKey</Code></Error>\n' > s3.xml
printf '503 Service Unavailable\n' > plain.html
printf '%s\n' one.example two.example > senders.txt
for how in '' --expressions '--kind mail' '--kind ip' '--kind phone' '-p none'; do
    for file in feed.html doctype.html s3.xml; do
        for switch in '' --skip-invalid --dangerous --force '--force --dangerous --skip-invalid'; do
            run build $how $switch page.list senders.txt "$file"
            [ "$status" = 2 ] || complain "build $how $switch $file: $status"
            holds [ ! -e page.list ]
        done
    done
    [ "$how" = '-p none' ] && continue
    for switch in '' --skip-invalid --dangerous; do
        run build $how $switch page.list plain.html
        [ "$status" = 2 ] || complain "build $how $switch plain.html: $status"
        holds [ ! -e page.list ]
    done
done
run build --kind mail senders.list senders.txt
expect 0 '' ''
before=$(cksum < senders.list)
run build --kind mail --skip-invalid senders.list feed.html
expect 2 '' "unseen: error: feed.html:1: '$page' begins a web page, not a file of entries\n${refused}unseen: hint: get the file again: a server sent an error page in its place\n"
holds [ "$(cksum < senders.list)" = "$before" ]
run update --skip-invalid senders.list --add feed.html
expect 2 '' '*'
holds [ "$(cksum < senders.list)" = "$before" ]
# Lines that are no URLs, in a list of URLs.
run build url.list plain.html
expect 2 '' 'unseen: warning: plain.html:1: taken: '\''503 Service Unavailable'\'' is not a URL: only a question of the same bytes matches it\nunseen: error: 1 of 1 entries are not URLs, and only a question of the same bytes would match them: nothing was built\nunseen: hint: *\nunseen: hint: *\n'
holds [ ! -e url.list ] && holds [ ! -e url.list.building ]
run build --force url.list plain.html
expect 0 '' 'unseen: warning: plain.html:1: taken: '\''503 Service Unavailable'\'' is not a URL: only a question of the same bytes matches it\nunseen: warning: 1 of 1 entries are not URLs: only a question of the same bytes matches them\n'

# ---- an empty list, and one that shrinks ---------------------------------------------------------
printf '# nothing today\n' > nothing.txt
run build --kind mail none.list nothing.txt
expect 2 '' 'unseen: error: there are no entries: nothing was built\nunseen: hint: to make an empty list: unseen build --force --kind mail none.list nothing.txt\n'
holds [ ! -e none.list ]
run build --kind mail --skip-invalid senders.list nothing.txt
expect 2 '' '*'
holds [ "$(cksum < senders.list)" = "$before" ]
run build --kind mail --force none.list nothing.txt
expect 0 '' ''
urls 2000 1000 9 > all.urls
sort -u all.urls | head -n 100 > hundred.urls
head -n 50 hundred.urls > fifty.urls
head -n 49 hundred.urls > less.urls
cat less.urls less.urls less.urls > again.urls # 147 lines, 49 entries
run build old.list hundred.urls
expect 0 '' ''
cp old.list keep.list
for file in less.urls again.urls; do
    run build old.list "$file"
    expect 2 '' 'unseen: error: 49 entries are less than half of the 100 of old.list, which stays as it is\nunseen: hint: *\n'
    same old.list keep.list
    holds [ ! -e old.list.building ]
    run build --from old.list new.list "$file"
    expect 2 '' 'unseen: error: 49 entries are less than half of the 100 of old.list, which stays as it is\nunseen: hint: *\n'
    holds [ ! -e new.list ] && holds [ ! -e new.list.building ]
done
run build --from old.list old.list fifty.urls
expect 0 '' ''
run build --force old.list less.urls
expect 0 '' ''
run check -c old.list hundred.urls
expect 0 '49\n' ''
# Entries that were removed one by one are not missing.
run build old.list hundred.urls
expect 0 '' ''
tail -n 60 hundred.urls > gone.urls
run update old.list --remove gone.urls
expect 0 '' ''
head -n 40 hundred.urls > forty.urls
run build --from old.list old.list forty.urls
expect 0 '' ''

# ---- words people use for the kinds --------------------------------------------------------------
for pair in email:mail e-mail:mail senders:mail site:expressions sites:expressions domain:expressions \
    host:expressions Hosts:expressions cidr:ip network:ip ipv4:ip telephone:phone urls:url; do
    run build --kind "${pair%:*}" x.list senders.txt
    expect 2 '' "unseen: error: --kind: '${pair%:*}' is not url, expressions, mail, ip or phone\nunseen: hint: *\n"
done

# ---- a folder that is not there ------------------------------------------------------------------
run build --kind mail no/such/senders.list senders.txt
expect 2 '' 'unseen: error: cannot make no/such/senders.list.building: No such file or directory\nunseen: hint: mkdir -p no/such\n'
finish
