# unseen build: killed at any moment, interrupted, out of disk, it is gone on with, and the list is
# the same in the end, byte by byte.
#
#     build_resume.sh [ROUNDS]       rounds of kills, 6 unless told otherwise
#
# Label: threads
# Syncs are what takes time here, and what a killed program has written is not lost with it: memory
# is as good as a disk.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
# Time: long
. "$(dirname "$0")/lib/common.bash"
rounds=${1:-6}
disk=$scratch/disk
building=
cleanup_more() {
    umount "$disk" 2> /dev/null
    [ -z "$building" ] || kill -KILL "$building" 2> /dev/null
}

urls 30000 30000 7 > one.txt
urls 30000 30000 77 | gzip -c > two.gz
urls 30000 30000 777 | zstd -q -c > three.zst
urls 30000 30000 7777 > four.txt
inputs='one.txt two.gz three.zst four.txt'
run build --seed 9 want.list $inputs
expect 0 '' ''

# start ARG...: a build in the background that can be interrupted. stop SIGNAL [SECONDS]: ends it so
# much later, unless it has ended then, and waits for it: $status.
start() {
    env --default-signal=INT "$UNSEEN" build "$@" < /dev/null &
    building=$!
}
stop() {
    sleep "${2:-0}"
    kill "-$1" "$building" 2> /dev/null
    wait "$building" 2> /dev/null
    status=$?
    building=
}

# ---- kills ---------------------------------------------------------------------------------------
# Each round kills runs until one comes through, later and later. With a checkpoint after each batch
# of lines there is always something to go on with.
nkills=0
nresumed=0
: > places
for round in $(seq "$rounds"); do
    rm -rf got.list got.list.building
    for try in $(seq 200); do
        seconds=$(awk -v r=$RANDOM -v t="$try" 'BEGIN { printf "%.3f", (0.002 + 0.01 * t) * r / 32768 }')
        start --checkpoint 0.0001 -j "$((round % 3 + 1))" --seed 9 got.list $inputs 2>> places
        stop KILL "$seconds"
        [ "$status" = 137 ] || break
        nkills=$((nkills + 1))
    done
    [ "$status" = 0 ] || complain "round $round: no run came through: $(tail -n 2 places)"
    same got.list want.list
    holds [ ! -e got.list.building ]
done
holds [ "$nkills" -ge "$rounds" ]
nresumed=$(grep -c '^unseen: going on after ' places)
lacks 'error' places
# In more than one input. Where a kill hits is chance.
holds awk '/going on after/ { in_file[int($5 / 30000)] = 1 }
    END { for (i in in_file) n++; exit !(n > 1) }' places
printf '%s kills, %s times gone on with\n' "$nkills" "$nresumed"

# ---- signals -------------------------------------------------------------------------------------
for signal in INT TERM HUP; do
    rm -rf got.list
    for try in $(seq 50); do
        start --checkpoint 0.0001 --seed 9 got.list $inputs 2> err
        eventually [ -s got.list.building/state ]
        stop $signal
        [ "$status" = 0 ] || break
        rm got.list
    done
    holds [ "$status" = $((128 + $(kill -l $signal))) ]
    holds grep -q '^unseen: interrupted after [0-9]* lines; the same command goes on from there$' err
    holds [ ! -e got.list ]
    run build --seed 9 got.list $inputs
    expect 0 '' '*'
    holds grep -q '^unseen: going on after [0-9]* lines of an interrupted build$' err
    same got.list want.list
done

# The list is built but not in its place: known good lines never end, and then cannot be read.
mkfifo good
rm got.list
start --known-good good --seed 9 got.list $inputs 2> err
exec 7<> good
echo http://good.example/ >&7
eventually [ -s got.list.building/list ]
stop TERM
exec 7>&-
holds [ "$status" = 143 ]
holds grep -q 'the same command goes on from there$' err
holds [ -s got.list.building/state ]
gzip -c one.txt | head -c 20000 > torn.gz
run build --known-good torn.gz --seed 9 got.list $inputs
expect 2 '' '*'
holds grep -q '^unseen: going on after 120000 lines of an interrupted build$' err
holds grep -q '^unseen: hint: when the cause is gone, the same command goes on' err
holds [ ! -e got.list ]
run build --seed 9 got.list $inputs
expect 0 '' '*'
holds grep -q '^unseen: going on after 120000 lines of an interrupted build$' err
same got.list want.list
holds [ ! -e got.list.building ]

interrupted() { # leaves a build in other.list.building
    rm -rf other.list other.list.building
    for try in $(seq 100); do
        start --checkpoint 0.0001 --seed 9 other.list one.txt four.txt 2> /dev/null
        eventually [ -s other.list.building/state -o -e other.list ]
        stop KILL
        [ -s other.list.building/state ] && return
        rm -rf other.list other.list.building
    done
    complain 'there was no interrupted build'
}

# An error that passes costs nothing: too few files may be open, then enough.
interrupted
cksum other.list.building/* > before
(
    exec 2> err 3>&- && ulimit -n 4 &&
        exec "$UNSEEN" build --checkpoint 0.0001 --seed 9 other.list one.txt four.txt
)
holds [ $? = 2 ]
holds grep -q 'Too many open files' err
holds grep -q '^unseen: hint: when the cause is gone, the same command goes on' err
cksum other.list.building/* > after
same after before
run build --seed 9 other.list one.txt four.txt
expect 0 '' '*'
holds grep -q '^unseen: going on after ' err
rm -f other.list

# With standard input there is nothing to go on with.
mkfifo fifo
"$UNSEEN" build --checkpoint 0.0001 --seed 9 got.list < fifo 2> err &
building=$!
exec 7<> fifo
cat one.txt >&7
eventually [ -d got.list.building ]
stop TERM
holds [ "$status" = 143 ]
exec 7>&-
holds [ ! -e got.list.building ]
same got.list want.list

# ---- another command, other files ----------------------------------------------------------------
refuses() { # PATTERN ARG...
    pattern=$1
    shift
    run build "$@"
    expect 2 '' '*'
    holds grep -q "$pattern" err
    holds grep -q '^unseen: hint: .*unseen build --restart other.list FILE' err
    holds [ -s other.list.building/state ]
    holds [ ! -e other.list ]
}
interrupted
refuses 'was begun with another' --fpr 1e-5 --seed 9 other.list one.txt four.txt
refuses "'--seed given', now '--seed random'" other.list one.txt four.txt
refuses 'was begun with another' --kind mail --seed 9 other.list one.txt four.txt
refuses "'--key none', now '--key 2'" -k 2 --seed 9 other.list one.txt four.txt
refuses "'one.txt ([^']*', now 'four.txt (" --seed 9 other.list four.txt one.txt
refuses "now 'two.gz (" --seed 9 other.list one.txt four.txt two.gz
echo http://one.more.example/ >> four.txt
refuses "'four.txt (.* bytes, .*', now 'four.txt (" --seed 9 other.list one.txt four.txt
# Standard input and pipes are other inputs, too, and throw nothing away.
once='other.list.building holds the work of an interrupted build'
before=$(cksum other.list.building/*)
cp four.txt in
refuses "$once" --seed 9 other.list
refuses "$once" --seed 9 other.list one.txt -
rm in
cat one.txt > fifo &
writer=$!
refuses "$once" --seed 9 other.list fifo four.txt
kill "$writer" 2> /dev/null
wait "$writer" 2> /dev/null
holds [ "$(cksum other.list.building/*)" = "$before" ]
# What may be another one: threads, memory.
sed -i '$d' four.txt
interrupted
run build -j 3 --memory 8M --seed 9 other.list one.txt four.txt
expect 0 '' '*'
holds grep -q '^unseen: going on after' err
run build --seed 9 want2.list one.txt four.txt
same other.list want2.list
interrupted
run build --restart --seed 9 --fpr 1e-3 other.list one.txt
expect 0 '' ''
run build --seed 9 --fpr 1e-3 want3.list one.txt
same other.list want3.list
interrupted
cp one.txt in
run build --restart --seed 9 --fpr 1e-3 other.list
expect 0 '' ''
same other.list want3.list
rm in
# Damage is noticed, never built in.
interrupted
printf 'x' | dd of=other.list.building/state bs=1 seek=100 conv=notrunc 2> /dev/null
refuses 'cannot go on with what is in .*other.list.building' --seed 9 other.list one.txt four.txt

# ---- no disk left ---------------------------------------------------------------------------------
mkdir "$disk"
if ! mount -t tmpfs -o size=64k tmpfs "$disk" 2> /dev/null; then
    skip 'no right to mount a file system'
    finish
fi
# Before anything is read: it is foreseen.
run build --seed 9 "$disk/full.list" $inputs
expect 2 '' '*'
holds grep -q 'needs about 0.00[0-9]* GB, and there are ' err
room=$(($(stat -f -c '%a * %S' "$disk")))
holds awk -v room="$room" '/ needs about / { gb = $(NF - 1); exit !(gb > room * 0.9e-9 && gb < room * 1.1e-9) }' err
holds [ ! -e "$disk/full.list.building" ]
# In the middle, at several sizes; with room again it goes on, and the list that was there stays.
nfull=0
nkept=0
for size in 64 512 1024 2500 3000 3500; do
    [ "$size" -lt 2000 ] && often= || often='--checkpoint 0.0001'
    mount -o "remount,size=64m" "$disk"
    run build --seed 1 "$disk/full.list" one.txt
    expect 0 '' ''
    before=$(cksum < "$disk/full.list")
    mount -o "remount,size=$((size + $(du -k "$disk/full.list" | cut -f 1)))k" "$disk"
    run build --force $often --seed 9 "$disk/full.list" $inputs
    if [ "$status" = 2 ]; then
        nfull=$((nfull + 1))
        holds grep -q '^unseen: error: .*\(space\|disk\)' err
        # What cannot be gone on with does not keep the disk full.
        if grep -q '^unseen: hint: when the cause is gone, the same command goes on' err; then
            nkept=$((nkept + 1))
            holds [ -e "$disk/full.list.building/state" ]
        else
            holds [ ! -e "$disk/full.list.building" ]
        fi
        holds [ "$(cksum < "$disk/full.list")" = "$before" ]
    fi
    mount -o "remount,size=64m" "$disk"
    [ "$status" = 0 ] || run build --force $often --seed 9 "$disk/full.list" $inputs
    expect 0 '' '*'
    same "$disk/full.list" want.list
    holds [ ! -e "$disk/full.list.building" ]
done
holds [ "$nfull" -ge 3 ]
holds [ "$nkept" -ge 1 ]

finish
