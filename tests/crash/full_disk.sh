# A full disk: the tool runs on a file system that is too small for its work, at many sizes, in each
# of four ways: with -o, to standard output, as rewrite, and with a window. It must end with status 2 and say so; then the file system is made larger, and the
# same command must bring everything to a good end: each URL once with -o, none lost otherwise.
#
#     full_disk.sh TOOL SHIM [PLANT]
#
# With the plant swallow-full (shim.c) the writes that find no space say that they have been done,
# which must be noticed. Mounting needs rights; where they are missing this is skipped (77).
set -u
export LC_ALL=C
tool=$1
shim=$2
plant=${3-}
scale=${UNSEEN_CRASH_SCALE:-1}
work=$(mktemp -d) || exit 2
disk=$work/disk
nfailed=0
ncases=0
nfull=0
trap 'umount "$disk" 2> /dev/null; rm -rf "$work"' EXIT
mkdir "$disk"
store=$disk/s
ways="file standard rewrite window"
if [ -n "$plant" ]; then # where the loss itself shows: the keys have room, their lines have not
    store=$work/s
    ways=standard
fi

if ! mount -t tmpfs -o size=64k tmpfs "$disk" 2> "$work/err"; then
    echo "skipped: no right to mount a file system"
    exit 77
fi
umount "$disk"

wrong() {
    nfailed=$((nfailed + 1))
    echo "$way, $size KiB: $*" >&2
    head -n 3 "$work/err" >&2
}

# run ARG...: the tool, with the fault if one is planted.
run() {
    if [ -n "$plant" ]; then
        LD_PRELOAD=$shim UNSEEN_CRASH_DIR=$disk UNSEEN_CRASH_PLANT=$plant "$tool" "$@" 2> "$work/err"
    else
        "$tool" "$@" 2> "$work/err"
    fi
}

dedup() {
    case $way in
    file | rewrite) run -s "$store" --seed 7 -o "$disk/out" "$work/in" ;;
    standard) run -s "$store" --seed 7 "$work/in" >> "$disk/out" ;;
    window) dedup_window ;;
    esac
}

# Lines with times go on behind what was committed: what is behind it in the output is cut off first.
dedup_window() {
    local options=(-s "$store" --seed 7 -p none --key-bits 128 --window 500 -k 1 -t ' ' --time 2 -o "$disk/out")
    if [ -e "$disk/out" ]; then
        run "${options[@]}" /dev/null || return
    fi
    tail -n "+$(($(cat "$disk/out" 2> /dev/null | wc -l) + 1))" "$work/lines" > "$work/rest"
    run "${options[@]}" "$work/rest"
}

# What there must be in the end. A line that was torn may be there in part.
judge() {
    if [ "$way" = standard ]; then
        sort -u "$disk/out" | comm -23 "$work/sorted" - > "$work/lost"
        [ ! -s "$work/lost" ] || wrong "$(wc -l < "$work/lost") URLs are lost"
    elif [ "$way" = window ]; then
        cmp -s "$work/lines" "$disk/out" || wrong "the output is not each line once"
        [ "$(du -k "$store" | cut -f 1)" -lt "$(($(wc -c < "$store") / 1024))" ] || wrong "there is no hole in the log"
    else
        cmp -s "$work/in" "$disk/out" || wrong "the output is not each URL once"
    fi
    run verify "$store" > /dev/null || wrong "verify finds damage"
}

try() {
    ncases=$((ncases + 1))
    mount -t tmpfs -o "size=${size}k" tmpfs "$disk" || exit 2
    if [ "$way" = rewrite ]; then # the store fits, its copy may not
        mount -o remount,size=64m "$disk"
        dedup || wrong "the run with room enough fails"
        rm "$disk/out"
        mount -o "remount,size=$(($(du -k "$store" | cut -f 1) + size / 8))k" "$disk" 2> /dev/null
        run rewrite "$store"
    else
        dedup
    fi
    status=$?
    case $status in
    0) ;;
    2)
        nfull=$((nfull + 1))
        grep -q '^unseen: error: .*No space left on device' "$work/err" ||
            wrong "the message is another"
        ;;
    *) wrong "status $status" ;;
    esac
    mount -o remount,size=64m "$disk"
    if [ "$way" = rewrite ]; then
        run check -v "$store" "$work/in" > "$work/lost"
        [ ! -s "$work/lost" ] || wrong "$(wc -l < "$work/lost") URLs are forgotten"
        run rewrite "$store" || wrong "rewrite with room enough fails"
        run verify "$store" > /dev/null || wrong "verify finds damage"
    else
        dedup || wrong "the run with room enough fails"
        judge
    fi
    umount "$disk"
}

# 20,000 URLs: about 1 MiB of output and 160 KiB of log.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "http://h%d.example/%d/some/path/of/a/page\n", i % 7, i }' > "$work/in"
sort "$work/in" > "$work/sorted"
# And as many lines, of which the last fifth is in the window at the end.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%d %.0f\n", i, 4000000000 + int(i / 8) }' > "$work/lines"
for way in $ways; do
    for ((i = 1; i <= 16 * scale; i++)); do
        size=$((4 * (1 + (i * 320 / (16 * scale)))))
        try
        [ -z "$plant" ] || [ $nfailed = 0 ] || break 2
    done
done

# A set larger than memory: the folder of its temporary files is too small for the keys, and for the
# lines of a pipe.
from_file() {
    TMPDIR=$disk "$tool" --seed 7 --memory 32M "$work/many"
}
from_pipe() {
    TMPDIR=$disk "$tool" --seed 7 --memory 32M < <(cat "$work/many")
}
larger() { # COMMAND
    for size in 64 4096; do
        ncases=$((ncases + 1))
        mount -t tmpfs -o "size=${size}k" tmpfs "$disk" || exit 2
        "$@" > "$work/out" 2> "$work/err"
        [ $? = 2 ] || wrong "the status is another"
        grep -q "^unseen: error: cannot write a temporary file in $disk: No space left on device$" "$work/err" ||
            wrong "the message is another"
        cmp -s -n "$(wc -c < "$work/out")" "$work/out" "$work/many" || wrong "lines are wrong"
        umount "$disk"
    done
}
if [ -z "$plant" ]; then
    way=larger
    seq 4500000 > "$work/many"
    larger from_file
    larger from_pipe
fi

echo "$ncases cases, $nfull met a full disk, $nfailed failed"
if [ -n "$plant" ]; then
    [ $nfailed -gt 0 ] && echo "planted: $plant: noticed" && exit 0
    echo "planted: $plant: NOT noticed"
    exit 1
fi
[ $nfailed = 0 ] && [ $nfull -gt 0 ]
