# Made-up URLs, and the lists of real ones that may stand beside the checkout: as plain bytes against
# awk, and what the profiles merge.
# Time: long
. "$(dirname "$0")/lib/common.bash"

data=${UNSEEN_TEST_DATA:-$TESTS/../../shared/data}
plain() {
    case $1 in
    *.gz) gzip -dc "$1" ;;
    *.zst) zstd -qdc "$1" ;;
    esac
}

# against_awk FILE: the same lines are new, and the same are repeats.
against_awk() {
    plain "$1" > list || return
    awk '!seen[$0]++' list > want
    for j in 1 2; do
        run -j "$j" -p none --seed 1 "$1"
        expect 0 '*' ''
        same out want
    done
    run -p none --seed 1 list
    same out want
    run -c -p none --seed 1 "$1"
    holds [ "$(cat out)" -eq "$(wc -l < want)" ]
    awk 'seen[$0]++' list > want
    run -v -p none --seed 1 list
    same out want
}

# The made-up URLs come with their canonical forms, from the program that made them.
"$PRINT_URLS" urls 100000 1 > made || exit 2
"$PRINT_URLS" canon 100000 1 > canonical || exit 2
gzip -c made > made.gz
zstd -q -c made > made.zst
for file in made.gz made.zst "$data"/*.txt.gz "$data"/*.txt.zst; do
    [ ! -f "$file" ] || against_awk "$file"
done

for j in 1 2; do
    run canon -p whatwg -j "$j" made
    same out canonical
done
run canon -p whatwg canonical
same out canonical
# One URL of each canonical form is new, the first one.
paste canonical made | awk -F '\t' '!seen[$1]++' | cut -f 2- > want
awk '!seen[$0]++' canonical > want_canonical
holds [ "$(wc -l < want)" -lt 60000 ]
for j in 1 2; do
    run -p whatwg --seed 1 -j "$j" made
    expect 0 '*' ''
    same out want
    run -p whatwg --seed 1 -j "$j" --canonical made.gz
    same out want_canonical
done
sed 's/#.*//' canonical | awk '!seen[$0]++' > want_canonical
run -c --seed 1 made # crawl, which drops the fragment, is what is done without -p
expect 0 "$(wc -l < want_canonical)\n" ''

# merges PROFILE LIST LINES MERGED: of so many distinct lines so many are the same as another one.
merges() {
    [ -f "$data/$2" ] || return 0
    run -p none -c --seed 1 "$data/$2"
    expect 0 "$3\n" ''
    run -p "$1" -c --seed 1 "$data/$2"
    expect 0 "$(($3 - $4))\n" ''
}
merges whatwg urls_links.txt.gz 19033 138
merges whatwg urls_requests.txt.gz 15181 0
merges crawl urls_links.txt.gz 19033 366
merges crawl urls_requests.txt.gz 15181 403
merges scrapy urls_links.txt.gz 19033 366
merges aggressive urls_links.txt.gz 19033 487
merges aggressive urls_requests.txt.gz 15181 1007

# whole LIST: the tool prints whole lines. Their canonical forms are all different, and those that it
# leaves out have the canonical form of one of them.
whole() {
    for j in 1 2; do
        run --seed 1 -j "$j" "$1"
        "$UNSEEN" canon -j "$j" out > canon
        run --seed 1 -j "$j" --canonical "$1"
        same out canon
        "$UNSEEN" canon "$1" | awk '!seen[$0]++' > want
        same out want
    done
    cp want all
    : > parts
    for i in 1 2 3; do
        run --seed 1 --shard "$i/3" --canonical "$1"
        cat out >> parts
    done
    sort parts > sorted
    sort all > want
    same sorted want
}
whole made.gz
if [ -f "$data/urls_links.txt.gz" ]; then
    run -c --seed 1 "$data/urls_links.txt.gz"
    expect 0 "$((19033 - 366))\n" ''
    whole "$data/urls_links.txt.gz"
fi
finish
