# Lists of real URLs, where they stand beside the checkout: as plain bytes against awk, and what the
# profiles merge.
. "$(dirname "$0")/lib/common.bash"

data=$TESTS/../../shared/data
[ -d "$data" ] || { skip 'no folder with real lists beside the checkout'; finish; }
plain() {
    case $1 in
    *.gz) gzip -dc "$1" ;;
    *.zst) zstd -qdc "$1" ;;
    esac
}
for file in "$data"/*.txt.gz "$data"/*.txt.zst; do
    [ -f "$file" ] || continue
    plain "$file" > list || continue
    awk '!seen[$0]++' list > want
    for j in 1 2; do
        run -j "$j" -p none --seed 1 "$file"
        expect 0 '*' ''
        same out want
    done
    run -p none --seed 1 list
    same out want
    run -c -p none --seed 1 "$file"
    holds [ "$(cat out)" -eq "$(wc -l < want)" ]
    awk 'seen[$0]++' list > want
    run -v -p none --seed 1 list
    same out want
done

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
if [ -f "$data/urls_links.txt.gz" ]; then
    run -c --seed 1 "$data/urls_links.txt.gz" # crawl is what is done without -p
    expect 0 "$((19033 - 366))\n" ''
    # The tool prints whole lines; their canonical forms are all different, and those that it leaves
    # out have the canonical form of one of them.
    for j in 1 2; do
        run --seed 1 -j "$j" "$data/urls_links.txt.gz"
        "$UNSEEN" canon -j "$j" out > canon
        run --seed 1 -j "$j" --canonical "$data/urls_links.txt.gz"
        same out canon
        "$UNSEEN" canon "$data/urls_links.txt.gz" | awk '!seen[$0]++' > want
        same out want
    done
    cp want all
    for i in 1 2 3; do
        run --seed 1 --shard "$i/3" --canonical "$data/urls_links.txt.gz"
        cat out >> parts
    done
    sort parts > sorted
    sort all > want
    same sorted want
fi
finish
