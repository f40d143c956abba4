#!/bin/bash
# The visitors of a day. Reads visits, a visitor in each line, into DAY.unseen, and prints a line: the day, its visitors,
# how many of them had come on an earlier day, and how many the day before. Days are names that sort, as 2026-11-23.
# Given the same visits again, after a crash or by mistake, it prints the same.
#
# usage: day.sh DAY [FILE]...
export LC_ALL=C
set -euo pipefail
day=${1:?usage: day.sh DAY [FILE]...}
shift

# Stores can be counted together if one seed made their keys.
if ! [ -e seed ]; then
    (umask 077 && od -An -N 32 -tx1 /dev/urandom | tr -d ' \n' >seed.new)
    mv seed.new seed
fi
unseen add -p none --seed-file seed "$day.unseen" "$@"

earlier=()
for store in *.unseen; do
    [[ $store < $day.unseen ]] && earlier+=("$store")
done
visitors=$(unseen count "$day.unseen")
returning=0
yesterday=0
if [ ${#earlier[@]} -gt 0 ]; then
    # Who is new makes the sum of all days larger.
    before=$(unseen count "${earlier[@]}")
    returning=$((visitors + before - $(unseen count "${earlier[@]}" "$day.unseen")))
    yesterday=$(unseen count --both "${earlier[-1]}" "$day.unseen")
fi
printf '%s\t%d\t%d\t%d\n' "$day" "$visitors" "$returning" "$yesterday"
