# What is wrong with a store is said in one sentence, with the command that would work.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

wrong() { # WANT_STATUS WANT_ERROR WANT_HINT ARG...
    want_status=$1
    want_error=$2
    want_hint=$3
    shift 3
    run "$@"
    expect "$want_status" '' "unseen: error: $want_error\nunseen: hint: $want_hint\n"
}
# put FILE OFFSET: standard input over what is there.
put() { dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null; }

printf 'http://a/\nhttp://b/\n' > one
"$UNSEEN" -s v.unseen one > /dev/null
cp v.unseen good

# Another setting than the store's.
"$UNSEEN" -s s.unseen -p scrapy --rule keep-fragment --key-bits 96 --fpr 1e-6 --seed 5 one > /dev/null
for how in '-s v.unseen' 'add v.unseen'; do
    called="unseen ${how% *}"
    wrong 2 'v.unseen has the profile crawl/1, not whatwg/1' "unseen $how one" $how -p whatwg one
    wrong 2 'v.unseen has the profile crawl/1, not crawl/1+strip-www' "unseen $how one" $how --rule strip-www one
    wrong 2 'v.unseen has the rate 5e-09, not 1e-06' 'unseen rewrite --fpr 1e-06 v.unseen' $how --fpr 1e-6 one
    wrong 2 'v.unseen has the rate 5e-09, not 1e-12' "unseen $how one" $how --filter exact one
    wrong 2 'v.unseen keeps 64 bits of each key, not 96' "unseen $how one" $how --key-bits 96 one
    wrong 2 'v.unseen was made with another seed' "unseen $how one" $how --seed 1 one
    wrong 2 'v.unseen has a log' "unseen $how one" $how --no-log one
    wrong 2 'v.unseen has the mode 600, not 640' 'chmod 640 v.unseen' $how --mode 640 one
done
wrong 2 's.unseen has the profile scrapy/1+keep-fragment, not crawl/1' 'unseen -s s.unseen one' -s s.unseen -p crawl one
wrong 2 's.unseen keeps 96 bits of each key, not 64' 'unseen rewrite --key-bits 64 s.unseen' -s s.unseen --key-bits 64 one
same v.unseen good
# The hints work, and what is not given is the store's; so do all settings as they are.
run -s v.unseen -p crawl/1 one
expect 0 '' ''
run -s s.unseen -p scrapy/1+keep-fragment one
expect 0 '' ''
run -s s.unseen --rule keep-fragment -p scrapy --key-bits 96 --fpr 1e-6 --seed 5 --filter compact one
expect 0 '' ''
printf 'http://a/#x\nhttp://a/?b&a\nhttp://a/?a&b\n' > scrapy
run -s s.unseen scrapy
expect 0 'http://a/#x\nhttp://a/?b&a\n' ''
run rewrite --key-bits 64 s.unseen
expect 0 '' ''
run rewrite --fpr 2e-6 s.unseen
expect 0 '' ''
run -s s.unseen --key-bits 64 --fpr 2e-6 scrapy
expect 0 '' ''
wrong 2 '--fpr 1e-13: the filter promises no false-positive rate this low' 'unseen --fpr 1e-12 -s new.unseen one' -s new.unseen --fpr 1e-13 one
wrong 2 '--filter nothing: no such name' 'unseen help filters' -s new.unseen --filter nothing one
wrong 2 'new.unseen: out of memory' 'the set grows as needed: unseen -s new.unseen one' -s new.unseen --capacity 1e18 one
wrong 2 "no profile 'crwl'" 'unseen --profile crawl -s new.unseen one' -s new.unseen -p crwl one
wrong 2 "--key-bits: '65' is not 64, 96 or 128" 'such as --key-bits 96' -s new.unseen --key-bits 65 one
for mode in 64 0640x 888 0440 700 641 1640 77777 '' -1 u=rw; do
    wrong 2 "--mode: '$mode' is not a 6 for the owner, then 0, 2, 4 or 6 for the group and for others" 'such as --mode 640' -s new.unseen --mode "$mode" one
done
wrong 2 '--mode has no meaning without -s' 'unseen -s STORE --mode 640 one' --mode 640 one
wrong 2 '--no-log has no meaning without -s' 'unseen -s STORE --no-log one' --no-log one
wrong 2 '--key-bits has no meaning without -s' 'unseen -s STORE --key-bits 96 one' --key-bits 96 one
wrong 2 '-t has no meaning without -k' 'unseen check -k 1 -t , v.unseen one' check -t , v.unseen one
wrong 2 'unknown option -p' 'unseen check --help' check -p crawl v.unseen one
holds [ ! -e new.unseen ]

# No store there.
for command in remove repair rewrite recheck; do
    wrong 2 'cannot open none.unseen: No such file or directory' 'to make it: unseen add none.unseen FILE' $command none.unseen
done
for command in check info verify; do
    wrong 2 'cannot open none.unseen: No such file or directory' \
        'to make a list: unseen build none.unseen FILE, or a store: unseen add none.unseen FILE' $command none.unseen
done
run -s nodir/v.unseen one
expect 2 '' '*'
holds grep -qE '^unseen: error: cannot create nodir/v\.unseen[^ ]*: No such file or directory$' err
holds grep -qx 'unseen: hint: mkdir -p nodir' err
# Something else.
printf 'http://a/\n' > list
: > empty
mkdir folder
wrong 2 'list is not a store' 'unseen -x list one\nunseen: hint: to make a store of the lines: unseen import --format anew NEW.unseen list' \
    -s list one
wrong 2 'list is not a store' 'unseen -n -v -x list one' check list one
wrong 2 'list is not a store' 'to make a store of a list of lines: unseen add NEW.unseen list' info list
for file in empty folder /dev/null; do
    for command in -s check add remove info verify repair rewrite recheck; do
        case $file$command in empty-s | emptyadd) continue ;; esac # cli/store_empty
        run $command $file one
        [ "$status" = 2 ] && grep -q '^unseen: error: ' err || complain "$last: status $status, said $(cat err)"
    done
done
holds [ ! -s empty ]
run list v.unseen
expect 2 '' 'unseen: error: v.unseen is a store, not a file of lines\nunseen: hint: *\n'
run -s s.unseen one v.unseen
expect 2 '' '*'
run add s.unseen v.unseen
expect 2 '' 'unseen: error: v.unseen is a store, not a file of lines\nunseen: hint: unseen merge --into s.unseen v.unseen\n'
run -s v.unseen -x v.unseen one
expect 2 '' 'unseen: error: -s and -x both name v.unseen\nunseen: hint: what it has is a repeat anyway: unseen -s v.unseen one\n'
"$UNSEEN" < v.unseen > out 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: standard input is a store, not a file of lines' err
"$UNSEEN" add s.unseen < v.unseen > out 2> err
holds [ $? = 2 ]
"$UNSEEN" -s v.unseen one >> v.unseen 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: v.unseen would be overwritten with lines' err
run -s fresh.unseen -o ./fresh.unseen one
expect 2 '' 'unseen: error: ./fresh.unseen is a store, it cannot be written to\nunseen: hint: unseen -o NEW -s fresh.unseen one\n'
holds [ ! -e fresh.unseen ]
ln -s fresh.unseen link.unseen
run -s fresh.unseen -D link.unseen one
expect 2 '' '*'
run -s v.unseen -o v.unseen.image one
expect 2 '' '*'
holds [ ! -e v.unseen.image ]
same v.unseen good

# A newer version, and features that nobody knows yet. Either header copy alone is not enough.
newer() { # OFFSET BYTES
    cp good n.unseen
    printf "$2" | put n.unseen "$1"
    printf "$2" | put n.unseen $(($1 + 8192))
}
version=$("$UNSEEN" --version | head -n 1)
newer 8 '\x03'
for command in -s check add info; do
    run $command n.unseen one
    expect 2 '' '*'
    [ "$command" = info ] || holds grep -q '^unseen: error: ' err
done

# Damage.
cp good d.unseen
printf 'XXXX' | put d.unseen 16384
"$UNSEEN" -s d2.unseen one > /dev/null
echo http://c/ | "$UNSEEN" -s d2.unseen > /dev/null
echo http://d/ | "$UNSEEN" -s d2.unseen > /dev/null
cp d2.unseen d.unseen
flip d.unseen 16436
for command in -s check add remove info recheck rewrite; do
    case $command in
    info | rewrite) run $command d.unseen ;;
    *) run $command d.unseen one ;;
    esac
    expect 2 '' '*'
    holds grep -q '^unseen: error: d.unseen is damaged' err
    holds grep -qx 'unseen: hint: unseen repair d.unseen' err
done
run verify d.unseen d2.unseen
expect 1 '*' '*'
holds grep -qE '^d.unseen: damaged, 2 added and 0 removed, intact commits: 2, damaged places: 1, bytes lost: [0-9]+$' out
holds grep -qE '^d2.unseen: good, 4 added and 0 removed, intact commits: 3$' out
holds grep -qx 'unseen: hint: unseen repair d.unseen' err
run verify none d2.unseen
expect 2 '*' '*'
run repair d.unseen
expect 0 '*' '*'
holds grep -qE '^d.unseen: usable again; kept what 2 intact commits say, forgot [0-9]+ bytes of damaged ones, whose lines will be new again$' out
holds grep -qx 'd.unseen.damaged is the store as it was' out
run -s d.unseen one
expect 0 'http://a/\nhttp://b/\n' ''
printf 'http://c/\nhttp://d/\n' > in
run -s d.unseen
expect 0 '' ''
rm in
run repair d.unseen
expect 0 '*' ''
lacks damaged out
run verify d.unseen
expect 0 '*' ''

# What is mended is said.
cp d2.unseen t.unseen
head -c 20 /dev/urandom >> t.unseen
run check t.unseen one
expect 0 'http://a/\nhttp://b/\n' 'unseen: warning: t.unseen: an unfinished commit of 20 bytes at its end is not read: another process writes it, or was interrupted\n'
run verify t.unseen
expect 0 '*' ''
holds grep -q '; an unfinished commit of 20 bytes at its end, as a crash or a change of the last bytes leaves it$' out
run -s t.unseen one
expect 0 '' 'unseen: warning: t.unseen: an unfinished commit of 20 bytes was cut off; its lines will be new again\n'
same t.unseen d2.unseen
for place in 0 8192; do
    cp d2.unseen t.unseen
    flip t.unseen $((place + 20))
    run check t.unseen one
    expect 0 'http://a/\nhttp://b/\n' 'unseen: warning: t.unseen: one of its two headers is damaged, the other is good\n'
    run -x t.unseen one
    expect 0 '' '*'
    run -s t.unseen one
    expect 0 '' 'unseen: warning: t.unseen: one of its two headers was damaged, the other is good\n'
    same t.unseen d2.unseen
done

# One writer.
mkfifo q
"$UNSEEN" -s v.unseen < q > out2 &
pid=$!
exec 3> q
echo http://x/ >&3
has_lines() { [ "$(wc -l < "$1")" -ge "$2" ]; }
eventually has_lines out2 1
wrong 2 "v.unseen is being written to by process $pid" 'to wait until it has ended: unseen --wait -s v.unseen one' --wait=0 -s v.unseen one
for command in add remove; do
    run $command --wait=0 v.unseen one
    expect 2 '' '*'
    holds grep -q "by process $pid" err
done
run rewrite v.unseen
expect 2 '' '*'
holds grep -q "by process $pid" err
# Readers do not mind.
run check v.unseen one
expect 0 'http://a/\nhttp://b/\n' ''
run -n -s v.unseen one
expect 0 '' ''
run verify v.unseen
expect 0 '*' ''
run info v.unseen
expect 0 '*' ''
exec 3>&-
wait "$pid"

# A folder and a file that may not be written to.
mkdir locked
cp good locked/v.unseen
chmod 0555 locked
chmod 0444 locked/v.unseen
as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
[ "$(id -u)" = 0 ] || as_user=
chmod 755 "$scratch"
if $as_user test -x "$UNSEEN" && ! $as_user test -w locked; then
    UNSEEN_AS() { $as_user "$UNSEEN" "$@"; }
    UNSEEN_AS -s locked/v.unseen one > out 2> err
    status=$? last='-s in a locked folder'
    expect 2 '' '*'
    holds grep -qx 'unseen: hint: a copy in another folder can be written; this only asks: unseen --dry-run -s locked/v.unseen .*' err
    UNSEEN_AS -s locked/new.unseen one > out 2> err
    status=$? last='-s of a new store in a locked folder'
    expect 2 '' '*'
    holds grep -q 'unseen: hint: unseen .*--store OTHER-FOLDER/' err
    UNSEEN_AS -n -s locked/v.unseen one > out 2> err
    status=$? last='-n -s in a locked folder'
    expect 0 '' ''
    UNSEEN_AS check locked/v.unseen one > out 2> err
    status=$? last='check in a locked folder'
    expect 0 'http://a/\nhttp://b/\n' ''
else
    printf 'skipped: a folder without permission\n'
fi

# The disk is full where the store is: said, and once there is room nothing is lost.
cleanup_more() { [ ! -d "$scratch/small" ] || umount "$scratch/small" 2> /dev/null; }
mkdir small
urls 300000 250000 9 > big
awk '!seen[$0]++' big > want
if mount -t tmpfs -o size=256k tmpfs small 2> /dev/null; then
    for j in 1 2; do
        "$UNSEEN" --seed 3 -j "$j" -s small/w.unseen big > out 2> err
        holds [ $? = 2 ]
        printf '%s\n' 'unseen: error: cannot remember: cannot write small/w.unseen: No space left on device' \
            'unseen: hint: nothing is lost: when the disk can be written to again, the next run with -s small/w.unseen prints the lines since the last commit again' > said
        same err said
        mount -o remount,size=64m small
        "$UNSEEN" -j "$j" -s small/w.unseen big > out2 2> err
        holds [ $? = 0 ]
        cat out out2 | sort -u > got
        sort want > sorted
        same got sorted
        # The log has room, the image has not: nothing is lost, and that is said.
        rm small/*
        mount -o remount,size=2m small
        "$UNSEEN" --seed 3 -j "$j" -s small/w.unseen big > out 2> err
        holds [ $? = 2 ]
        holds grep -qE '^unseen: error: cannot write [^ ]*/small/w\.unseen\.image[^ ]*: No space left on device$' err
        holds grep -qx 'unseen: hint: nothing is lost: small/w.unseen has everything, the next run only takes longer to open it' err
        holds [ "$(wc -l < err)" = 2 ]
        same out want
        run -s small/w.unseen -c big
        expect 2 '0\n' '*'
        # Adding says it in its own words.
        rm small/*
        mount -o remount,size=256k small
        "$UNSEEN" add --seed 3 -j "$j" small/w.unseen big 2> err
        holds [ $? = 2 ]
        printf '%s\n' 'unseen: error: cannot remember: cannot write small/w.unseen: No space left on device' \
            'unseen: hint: nothing is lost: do the same again when the cause is gone' > said
        same err said
        rm small/*
        mount -o remount,size=256k small
    done
    umount small
else
    printf 'skipped: a small tmpfs, mount is not allowed\n'
fi

# ---- A run that fails leaves no store that it has made, and no store that was there is touched ----
cd "$scratch" && mkdir made && cd made || exit 2
rm -f in
printf 'a b\n' > lines
unseen add old.unseen /dev/null
cp old.unseen before
nothing_left() {
    rm -f out err
    holds [ "$(ls)" = "$(printf 'before\nlines\nold.unseen\n')" ]
    rm -f new.unseen*
}
for command in 'add new.unseen -k 5 lines' 'add new.unseen missing.txt' 'add --no-log new.unseen missing.txt' \
    'add --mode 640 new.unseen old.unseen missing.txt' 'import --format requests.seen new.unseen lines' \
    '-s new.unseen missing.txt' '-s new.unseen -k .url lines' '-s new.unseen -x missing.txt lines' \
    '-s new.unseen -o /nonexistent/out lines' '-s new.unseen -p whatwg -x old.unseen lines' \
    'serve new.unseen --listen unix:/nonexistent/socket' 'merge new.unseen missing.unseen'; do
    run $command
    expect 2 '*' '*'
    nothing_left
done
for command in 'add old.unseen -k 5 lines' '-s old.unseen missing.txt' 'serve old.unseen --listen unix:/nonexistent/socket'; do
    run $command
    expect 2 '*' '*'
    same old.unseen before
done
# What was remembered stays, and so does an empty store that was asked for.
run add new.unseen lines missing.txt
expect 2 '' '*'
run check new.unseen lines
expect 0 'a b\n' ''
run add empty.unseen /dev/null
expect 0 '' ''
holds [ -e empty.unseen ]
# A process that waits for the lock of a store that goes away makes another one.
mkfifo held
"$UNSEEN" add third.unseen held missing.txt 2> holder_err &
holder=$!
exec 3> held
eventually [ -e third.unseen ]
"$UNSEEN" add --wait third.unseen lines 2> waiter_err 3>&- &
waiter=$!
eventually grep -q 'waiting: third.unseen is being written to' waiter_err
exec 3>&-
wait "$holder"
holds [ $? = 2 ]
wait "$waiter"
holds [ $? = 0 ]
run check third.unseen lines
expect 0 'a b\n' ''
finish
