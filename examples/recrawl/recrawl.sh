#!/bin/bash
# Fetches those pages of a list that were not fetched within a window. Start it again and again, by cron say, and after
# any crash.
#
# usage: recrawl.sh FOLDER WINDOW < PAGES        such as: recrawl.sh shop 7d < pages.txt
#
#     FOLDER/queue.txt     a line for each fetch
#     FOLDER/pages/17      what the server answered to line 17
set -euo pipefail
[ $# = 2 ] || { echo "usage: recrawl.sh FOLDER WINDOW < PAGES" >&2 && exit 2; }
mkdir -p "$1/pages"
cd "$1"

# All processes of a run hold the lock: a new run waits for those that a killed one has left.
exec 9>lock
flock 9

# The queue gets each page that is new, or new again, exactly once.
unseen -s visited.unseen --window "$2" -o queue.txt

# Pages are stored in the order of the queue. A page that a killed run did not come to, and that is in the queue once more
# by now, is fetched once.
stored=$(find pages -name '[0-9]*' -printf '%f\n' | sort -n | tail -n 1)
awk -v stored="${stored:-0}" 'NR > stored { last[$0] = NR } END { for (url in last) print last[url], url }' queue.txt |
    sort -n |
    while read -r number url; do
        if curl -sS -g -m 60 -- "$url" >new; then
            sync new
            mv new "pages/$number"
        else
            unseen remove visited.unseen <<<"$url" # the next run tries again
        fi
    done
