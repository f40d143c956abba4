# unseen build: killed at any moment, interrupted, out of disk, it leaves the list that was there as it
# was; and the next build of the list makes the right one, and removes what the killed one has left.
#
#     build_killed.sh [ROUNDS]       rounds of kills, 6 unless told otherwise, 3 in the usual run
#
# Label: once
# Syncs are what takes time here, and what a killed program has written is not lost with it: memory
# is as good as a disk.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm
# Time: long
. "$(dirname "$0")/lib/common.bash"
rounds=${1:-$(brief && echo 3 || echo 6)}
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
# So little memory that keys go to the disk, too: the lists are the same.
small='--memory 1M'
seq 1200000 | sed "s#^#http://large.example/#" > large.txt
run build --seed 9 large.list large.txt
run build --seed 1 old.list one.txt
expect 0 '' ''

# start ARG...: a build in the background that can be interrupted, under nohup, too. stop SIGNAL [SECONDS]: ends it so
# much later, unless it has ended then, and waits for it: $status.
start() {
    env --default-signal=INT,HUP "$UNSEEN" build "$@" < /dev/null &
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
# Each round kills runs until one comes through, later and later.
nkills=0
nleft=0
for round in $(seq "$rounds"); do
    cp old.list got.list
    for try in $(seq 200); do
        seconds=$(awk -v r=$RANDOM -v t="$try" 'BEGIN { printf "%.3f", (0.002 + 0.03 * t) * r / 32768 }')
        start $small -j "$((round % 3 + 1))" --seed 9 got.list large.txt 2>> errors
        stop KILL "$seconds"
        [ "$status" = 137 ] || break
        nkills=$((nkills + 1))
        nleft=$((nleft + $(ls got.list.building 2> /dev/null | wc -l)))
        # In the moment between the rename and its end, a killed build has done its work.
        cmp -s got.list large.list || same got.list old.list
    done
    [ "$status" = 0 ] || complain "round $round: no run came through: $(tail -n 2 errors)"
    same got.list large.list
    holds [ ! -e got.list.building ]
done
holds [ "$nkills" -ge "$rounds" ]
holds [ ! -s errors ]
printf '%s kills, %s files left behind by them\n' "$nkills" "$nleft"

# Whatever the moment was: the files of a build go, and others stay.
mkdir -m 700 got.list.building
cp old.list got.list
echo torn > got.list.building/.unseen-list
echo torn > got.list.building/.unseen-list.new
echo torn > got.list.building/.unseen-1-0.spill
run build --seed 9 got.list $inputs
expect 0 '' ''
same got.list want.list
holds [ ! -e got.list.building ]
mkdir -m 700 got.list.building
echo torn > got.list.building/.unseen-list.new
echo mine > got.list.building/notes.txt
cp old.list got.list.building/list # a list of the user, in a folder that happens to have this name
run build --force --seed 1 got.list one.txt
expect 0 '' '*'
holds grep -q '^unseen: warning: .*got.list.building stays: ' err
holds [ "$(ls -A got.list.building | tr '\n' ' ')" = 'list notes.txt ' ]
same got.list old.list
rm -r got.list.building

# What a build that is at work has in its folder is not touched by another one.
mkfifo fifo
"$UNSEEN" build --seed 9 got.list < fifo 2> first_err &
building=$!
exec 7<> fifo
cat one.txt >&7
eventually [ -d got.list.building ]
echo mine > got.list.building/.unseen-list.new
run build --seed 9 got.list $inputs
expect 2 '' '*'
holds grep -q 'another process is building .*got.list' err
holds [ "$(cat got.list.building/.unseen-list.new)" = mine ]
rm got.list.building/.unseen-list.new

# ---- signals -------------------------------------------------------------------------------------
# While it reads.
stop TERM
exec 7>&-
holds [ "$status" = 143 ]
holds [ ! -e got.list.building ]
holds [ ! -s first_err ]
same got.list old.list
# While the list is built but not in its place: known good lines never end, and then cannot be read.
mkfifo good
for signal in INT TERM HUP; do
    start --known-good good --seed 9 got.list $inputs 2> err
    exec 7<> good
    echo http://good.example/ >&7
    eventually [ -s got.list.building/.unseen-list ]
    stop $signal
    exec 7>&-
    holds [ "$status" = $((128 + $(kill -l $signal))) ]
    holds [ ! -e got.list.building ]
    same got.list old.list
done
gzip -c one.txt | head -c 20000 > torn.gz
run build --known-good torn.gz --seed 9 got.list $inputs
expect 2 '' '*'
holds [ ! -e got.list.building ]
same got.list old.list
run build --seed 9 got.list $inputs
expect 0 '' ''
same got.list want.list

# ---- what there is no longer ---------------------------------------------------------------------
for option in --restart --resume '--checkpoint 60'; do
    run build $option got.list one.txt
    expect 2 '' '*'
    holds grep -q "^unseen: error: ${option%% *} is not an option of unseen build: .* begins anew$" err
    holds grep -q '^unseen: hint: unseen build ' err
done

# ---- no disk left ---------------------------------------------------------------------------------
mkdir "$disk"
if ! mount -t tmpfs -o size=64k tmpfs "$disk" 2> /dev/null; then
    skip 'no right to mount a file system'
    finish
fi
# Before anything is read it is foreseen: what the list takes, or what the keys take beyond memory.
foreseen() { # BYTES ARG...
    bytes=$1
    shift
    run build --seed 9 "$disk/full.list" "$@"
    expect 2 '' '*'
    holds grep -q 'needs about [0-9.]* GB, and there are ' err
    holds awk -v b="$bytes" '/ needs about / {
        for (i = 1; i < NF; i++) if ($i == "about") gb = $(i + 1)
        exit !(gb > b * 0.9e-9 && gb < b * 1.1e-9) }' err
    holds [ ! -e "$disk/full.list.building" ]
}
foreseen "$(stat -c %s large.list)" large.txt
foreseen "$((1200000 * 7 - (1 << 18)))" $small large.txt
# In the middle, at several sizes: the list that was there stays, and with room again it is made.
nfull=0
for size in $(brief && echo 64 1024 2200 5000 || echo 64 512 1024 2200 5000 7000); do
    mount -o "remount,size=64m" "$disk"
    run build --force --seed 1 "$disk/full.list" one.txt
    expect 0 '' '*'
    same "$disk/full.list" old.list
    mount -o "remount,size=$((size + $(du -k "$disk/full.list" | cut -f 1)))k" "$disk"
    run build --force $small --seed 9 "$disk/full.list" large.txt
    if [ "$status" = 2 ]; then
        nfull=$((nfull + 1))
        holds grep -q '^unseen: error: .*\(space\|disk\)' err
        holds [ ! -e "$disk/full.list.building" ]
        same "$disk/full.list" old.list
    fi
    mount -o "remount,size=64m" "$disk"
    [ "$status" = 0 ] || run build --force $small --seed 9 "$disk/full.list" large.txt
    expect 0 '' '*'
    same "$disk/full.list" large.list
    holds [ ! -e "$disk/full.list.building" ]
done
holds [ "$nfull" -ge 3 ]

finish
