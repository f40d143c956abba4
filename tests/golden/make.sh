#!/bin/sh
# Makes the golden files anew, in this folder. README.md says when.
#
#     tests/golden/make.sh      all files of the present formats, with build/release/tests/test_golden
#     tests/golden/make.sh v1   the files of format version 1, with the tool of commit 7668177, which
#                               is built in a temporary folder
set -eu
cd "$(dirname "$0")"
top=$(cd ../.. && pwd)

make_v1() {
    old=$(mktemp -d)
    trap 'rm -rf "$old"' EXIT
    git -C "$top" archive 7668177 | tar -x -C "$old"
    cmake -S "$old" -B "$old/build" -DCMAKE_BUILD_TYPE=Release -DUNSEEN_TESTS=OFF -DUNSEEN_BENCH=OFF
    cmake --build "$old/build" -j 2 --target unseen
    unseen=$old/build/unseen
    seq 100 | sed 's|^|http://e.example/|' >"$old/urls"
    rm -f v1-*
    "$unseen" --seed 1 -s v1-store "$old/urls" >/dev/null
    "$unseen" --seed 1 --no-log --filter exact -s v1-store-no-log "$old/urls" >/dev/null
    "$unseen" build --seed 1 v1-list "$old/urls"
    # An image is a head of 4,096 bytes and an exported set.
    tail -c +4097 v1-store-no-log.image >v1-set
}

case ${1-} in
'') "$top/build/release/tests/test_golden" --make . ;;
v1) make_v1 ;;
*)
    echo "usage: tests/golden/make.sh [v1]" >&2
    exit 2
    ;;
esac
chmod 644 ./*[!h] # stores are made for their owner only; git keeps no such rights
