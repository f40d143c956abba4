#!/bin/bash
# Each URL of many files once: files of URLs are parted into shards, and each shard is deduplicated by itself, several at
# a time. The same command again goes on after a crash, and takes only what is new of further files.
#
# usage: batch.sh [-n SHARDS] [-p PROCESSES] FOLDER FILE...
#
#     FOLDER/parts/FILE/7     lines of FILE that belong to shard 7, until the shard has taken them
#     FOLDER/shard/7.unseen   the set of the shard
#     FOLDER/new/7.txt        each URL of the shard, once
#
# The number of shards is fixed by the first run. A FILE is known by its name, without the folder.
set -euo pipefail
shards=40
processes=2
while getopts n:p: option; do
    case $option in
    n) shards=$OPTARG ;;
    p) processes=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ $# -ge 2 ] || { echo "usage: batch.sh [-n SHARDS] [-p PROCESSES] FOLDER FILE..." >&2 && exit 2; }
export folder=$1 shards
shift
twice=$(basename -a "$@" | sort | uniq -d)
[ -z "$twice" ] || { echo "batch.sh: two files have one name: $twice" >&2 && exit 2; }

# All processes of a run hold the lock: a new run waits for those that a killed one has left.
mkdir -p "$folder"/{parts,shard,new}
exec 9>"$folder/lock"
flock 9

if ! [ -e "$folder/seed" ]; then
    (umask 077 && od -An -N 32 -tx1 /dev/urandom | tr -d ' \n' >"$folder/seed.new")
    echo "$shards" >"$folder/shards"
    sync "$folder"/{seed.new,shards}
    mv "$folder/seed.new" "$folder/seed"
fi
if [ "$(cat "$folder/shards")" != "$shards" ]; then
    echo "batch.sh: $folder has $(cat "$folder/shards") shards: -n $(cat "$folder/shards")" >&2
    exit 2
fi

# The parts of a file get their name when all of them are on the disk.
part() {
    local name
    name=$(basename "$1")
    ! [ -d "$folder/parts/$name" ] || return 0
    mkdir "$folder/drafts/$name"
    unseen dedup -- "$1" | unseen canon --shard "$shards" |
        awk -v to="$folder/drafts/$name/" '{ tab = index($0, "\t"); print substr($0, tab + 1) > (to substr($0, 1, tab - 1)) }'
    sync "$folder/drafts/$name"/* "$folder/drafts/$name"
    mv "$folder/drafts/$name" "$folder/parts/"
    sync "$folder/parts"
}

# unseen writes each line exactly once, also if it is killed and started again. Parts are removed when it has them all.
take() {
    local parts=("$folder"/parts/*/"$1")
    [ ${#parts[@]} -gt 0 ] || return 0
    unseen -s "$folder/shard/$1.unseen" --seed-file "$folder/seed" -o "$folder/new/$1.txt" "${parts[@]}"
    rm "${parts[@]}"
}

export -f part take
each() { # FUNCTION: with each line of standard input, several at a time
    xargs -d '\n' -P "$processes" -I '{}' bash -euo pipefail -O nullglob -c "$1"' "$1"' _ '{}'
}
rm -rf "$folder/drafts"
mkdir "$folder/drafts"
printf '%s\n' "$@" | each part
seq "$shards" | each take
