# Lists of real URLs, where they stand beside the checkout, against awk.
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
        run -j "$j" --seed 1 "$file"
        expect 0 '*' ''
        same out want
    done
    run --seed 1 list
    same out want
    run -c --seed 1 "$file"
    holds [ "$(cat out)" -eq "$(wc -l < want)" ]
    awk 'seen[$0]++' list > want
    run -v --seed 1 list
    same out want
done
finish
