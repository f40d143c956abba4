# unseen build: what is taken over from an old list, and what must never be listed.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # the syncs would take minutes on a busy disk
. "$(dirname "$0")/lib/common.bash"
building=
allowing=
cleanup_more() {
    [ -z "$building$allowing" ] || kill -KILL $building $allowing 2> /dev/null
}

stat_of() { # NAME: of --stats in err
    sed -n "s/^$1  *//p" err
}

# ---- --from --------------------------------------------------------------------------------------
urls 2000 2000 7 > urls.txt
sort -u urls.txt > sorted.txt
head -n 5 sorted.txt > allowed.txt
sed -n 6,15p sorted.txt > removed.txt
printf 'http://added.example/1\nhttp://added.example/2\n' > added.txt
sort allowed.txt removed.txt > gone.txt
comm -23 sorted.txt gone.txt | cat - added.txt | sort > left.txt

run build --fpr 1e-3 --seed 1 -p whatwg old.list urls.txt
expect 0 '' ''
run allow old.list allowed.txt
expect 0 '' '*'
run update old.list --add added.txt --remove removed.txt
expect 0 '' '*'
"$UNSEEN" check old.list sorted.txt added.txt | sort > has
same has left.txt

# Rate, kind and profile are those of the old list; what was changed still holds.
run build --from old.list --stats new.list urls.txt
expect 0 '' '*'
holds [ "$(stat_of profile)" = whatwg/1 ]
holds [ "$(stat_of removed)" = "$(grep -cxFf removed.txt urls.txt)" ]
lacks hint err
holds [ "$(stat_of allowed)" = 5 ]
holds [ "$(stat_of distinct)" = "$(($(wc -l < sorted.txt) - 10 + 2))" ]
holds awk -v has="$(stat_of wrong)" 'BEGIN { exit !(has < 1e-3 && has > 5e-4) }'
"$UNSEEN" check new.list sorted.txt added.txt | sort > has
same has left.txt
"$UNSEEN" allow --list new.list | sort > has
sort allowed.txt > want
same has want

# In place, night after night: nothing is lost, nothing comes back.
for _ in 1 2 3; do
    run build --from old.list old.list urls.txt
    expect 0 '' ''
    "$UNSEEN" check old.list sorted.txt added.txt | sort > has
    same has left.txt
done
"$UNSEEN" check old.list allowed.txt > has
holds [ ! -s has ]

# A change that the lines agree with is none any more.
grep -vxFf removed.txt urls.txt > agreed.txt
# With this seed none of the removed ones is a false hit, which would have to stay a change.
run build --seed 2 --from old.list agreed.list agreed.txt added.txt
expect 0 '' ''
changes=$("$UNSEEN" info --json agreed.list)
holds [ "$(echo "$changes" | sed -E 's/.*"added":([0-9]+).*/\1/')" = 0 ]
holds [ "$(echo "$changes" | sed -E 's/.*"removed":([0-9]+).*/\1/')" = 0 ]
"$UNSEEN" check agreed.list sorted.txt added.txt | sort > has
same has left.txt

run build --from new.list x.list
expect 2 '' '*'
holds grep -q 'a list does not keep its entries' err
run build --from new.list -p crawl x.list urls.txt
expect 2 '' '*'
holds grep -q 'new.list has the profile whatwg/1, not crawl/1' err
run build --from new.list --kind ip x.list urls.txt
expect 2 '' '*'
holds grep -q 'new.list has the kind url, not ip' err
run build --from urls.txt x.list urls.txt
expect 2 '' '*'
run build --from missing.list x.list urls.txt
expect 2 '' '*'
holds [ ! -e x.list ] && holds [ ! -e x.list.building ]

# Whoever builds without --from is told what will be gone.
run build new.list urls.txt
expect 0 '' '*'
holds grep -q '^unseen: warning: 17 changes of new.list ' err
holds grep -q '^unseen: hint: to take them over: unseen build --from new.list ' err
run build new.list urls.txt
expect 0 '' ''

# What is changed while the list is built is not lost.
run build --seed 1 live.list urls.txt
mkfifo fifo
"$UNSEEN" build --from live.list live.list < fifo - 2> build_err &
building=$!
exec 7<> fifo
cat urls.txt >&7
eventually [ -d live.list.building ]
run allow live.list allowed.txt
expect 0 '' '*'
run update live.list --add added.txt --remove removed.txt
expect 0 '' '*'
exec 7>&-
wait "$building"
holds [ $? = 0 ]
building=
"$UNSEEN" check live.list sorted.txt added.txt | sort > has
same has left.txt

# Without --from they are gone, and that is said; nobody changes a list that is being replaced.
"$UNSEEN" build live.list < fifo - 2> build_err &
building=$!
exec 7<> fifo
cat urls.txt >&7
eventually grep -q 'warning: 17 changes of live.list .* will be gone' build_err
echo http://one.more.example/ > more.txt
run update live.list --add more.txt
expect 0 '' '*'
exec 7>&-
wait "$building"
holds [ $? = 0 ]
building=
holds grep -q '^unseen: warning: 1 changes of live.list that were made meanwhile are gone$' build_err
mkfifo slowly
"$UNSEEN" allow live.list slowly &
allowing=$!
exec 7<> slowly
head -n 1 allowed.txt >&7
has_lock() { grep -qs '^lock:' "/proc/$1/fdinfo/"*; }
eventually has_lock "$allowing"
"$UNSEEN" build --from live.list live.list urls.txt 2> build_err 7>&- &
building=$!
eventually grep -q 'waiting for another process that is changing live.list' build_err
exec 7>&-
wait "$allowing"
holds [ $? = 0 ]
allowing=
wait "$building"
holds [ $? = 0 ]
building=
"$UNSEEN" allow --list live.list > has
head -n 1 allowed.txt > want
same has want

# ---- --known-good --------------------------------------------------------------------------------
# At a rate of 1e-2, 20,000 good lines would be listed by error 200 times.
awk 'BEGIN { for (i = 0; i < 20000; i++) print "http://good.example/" i }' > good.txt
run build --fpr 1e-2 --seed 5 rough.list urls.txt
"$UNSEEN" check rough.list good.txt > hits.txt
nhits=$(wc -l < hits.txt)
holds [ "$nhits" -gt 100 ] && holds [ "$nhits" -lt 300 ]
run build --fpr 1e-2 --seed 5 --stats --known-good good.txt rough.list urls.txt
expect 0 '' '*'
holds [ "$(stat_of 'known good') $(stat_of 'of them hit') $(stat_of allowed)" = "20000 $nhits $nhits" ]
run check rough.list good.txt
expect 1 '' ''
holds [ "$("$UNSEEN" check rough.list urls.txt | wc -l)" = 2000 ]
"$UNSEEN" allow --list rough.list | sort > has
sort hits.txt > want
same has want

# One that is an entry is allowed as well, several files and standard input do, and what was allowed
# before is not asked about.
gzip -c good.txt > good.gz
head -n 3 sorted.txt > in
cp in in.txt
run build --fpr 1e-2 --seed 5 --known-good good.gz --known-good - rough.list urls.txt
expect 0 '' '*'
holds grep -q "^unseen: $((nhits + 3)) of 20003 known good lines would be listed, and are allowed now$" err
holds [ "$("$UNSEEN" check rough.list urls.txt | wc -l)" = "$(grep -cvxFf in.txt urls.txt)" ]
rm in
run build --from rough.list --known-good good.txt --stats rough.list urls.txt
expect 0 '' '*'
holds [ "$("$UNSEEN" check rough.list urls.txt | wc -l)" = "$(grep -cvxFf in.txt urls.txt)" ]
run check rough.list good.txt
expect 1 '' ''

# A page of a listed site; lines that are nothing of the kind are passed over.
printf 'evil.example/\n' > sites.txt
printf 'http://evil.example/good/page.html\n\nhttp://other.example/\n' > pages.txt
run build --expressions --known-good pages.txt sites.list sites.txt
expect 0 '' '*'
printf 'http://evil.example/good/page.html\nhttp://evil.example/good/\nhttp://evil.example/\n' > in
run check sites.list
expect 0 'http://evil.example/good/\nhttp://evil.example/\n' ''
rm in
run build --known-good missing.txt x.list urls.txt
expect 2 '' 'unseen: error: cannot open missing.txt: No such file or directory\n'
run build --known-good rough.list x.list urls.txt
expect 2 '' '*'
holds [ ! -e x.list ] && holds [ ! -e x.list.building ]

finish
