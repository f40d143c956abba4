# Label: threads
# One thread or two: the same bytes, as awk has them, on every kind of input.
# Time: long
. "$(dirname "$0")/lib/common.bash"

numbers='1 2 3 8 auto'
! sanitized || numbers='2 8' # races show there; what comes out is the same for all in the release build
part=1
! sanitized || ! brief || { numbers=8; part=3; }

urls $((150000 / part)) $((60000 / part)) 7 > even
urls $((150000 / part)) 3000 8 > repeats
awk -v n=$((100000 / part)) 'BEGIN { for (i = 0; i < n; i++) { k = i % 7919; s = "k" k; while (k > 0 && length(s) < 3000) { s = s s; k = int(k / 10) - 40 } print s } }' > uneven
seq $((400000 / part)) > short
for file in even repeats uneven short; do
    awk '!seen[$0]++' "$file" > want
    awk 'seen[$0]++' "$file" > want_v
    for j in $numbers; do
        run --seed 1 -j "$j" "$file"
        expect 0 '*' ''
        same out want
        cat "$file" | "$UNSEEN" --seed 1 -j "$j" > out
        same out want
        run --seed 1 -j "$j" -D rep "$file"
        same rep want_v
    done
    dd if="$file" bs=777 2> /dev/null | "$UNSEEN" --seed 1 > out
    same out want
done
run --seed 1 -j 2 even repeats uneven short even
cat even repeats uneven short | awk '!seen[$0]++' > want
same out want
finish
