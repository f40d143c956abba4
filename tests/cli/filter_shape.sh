# --bits and --hashes: a Bloom filter of exactly this shape, in memory and in a store, and its rate.
. "$(dirname "$0")/lib/common.bash"

field() {
    sed -n "s/^$1  *//p" out
}
wrong=1000000
seq 200000 > keys
seq 1000001 $((1000000 + wrong)) > others

# measure BITS HASHES LOW HIGH: of 10^6 other keys, from LOW to HIGH are taken for seen, with the
# image and without it, and by a filter in memory.
measure() {
    rm -f s.unseen*
    run add -p none --seed 1 --filter bloom --bits "$1" --hashes "$2" --capacity 200000 s.unseen keys
    expect 0 '' ''
    run check -c s.unseen others
    expect 0 '*' ''
    cp out found
    holds [ "$(cat found)" -ge "$3" ]
    holds [ "$(cat found)" -le "$4" ]
    rm s.unseen.image
    run check -c s.unseen others
    expect 0 "$(cat found)\n" ''
    run info s.unseen
    expect 0 '*' ''
    holds [ "$(field hashes)" = "$2" ]
    holds [ "$(field bits)" = "$1 per key of the capacity" ]
    run info --json s.unseen
    holds grep -q "\"bits_per_key_asked\":$1,\"hashes\":$2," out
    nkeys=$(grep -oE '"keys":[0-9]+' out | cut -d : -f 2)
    run -c -p none --seed 1 --filter bloom --bits "$1" --hashes "$2" --capacity 200000 keys
    expect 0 '*' ''
    holds [ $(($(cat out) - nkeys)) -le $((nkeys / 200)) ]
    holds [ $((nkeys - $(cat out))) -le $((nkeys / 200)) ]
}
# (1 - e^(-10/20))^10 = 8.894e-5 and 1 - e^(-1/8) = 0.1175, 4.8 standard deviations either way.
measure 20 10 44 134
measure 8 1 115900 119100

# A store keeps the shape; another one is refused, with the command that makes it.
run -p none -s s.unseen --bits 8 --hashes 1 -c keys
expect 0 '0\n' ''
run -p none -s s.unseen --bits 9 keys
expect 2 '' 'unseen: error: s.unseen has 8 bits per key, not 9\nunseen: hint: unseen rewrite --bits 9 s.unseen\n'
run -p none -s s.unseen --bits 8 --hashes 3 keys
expect 2 '' 'unseen: error: s.unseen has the number of hashes 1, not 3\nunseen: hint: unseen rewrite --bits 8 --hashes 3 s.unseen\n'
run rewrite --bits 9 s.unseen
expect 0 '' ''
run info s.unseen
holds [ "$(field bits) $(field hashes)" = '9 per key of the capacity 1' ]
run rewrite --fpr 1e-3 s.unseen
expect 0 '' ''
run info s.unseen
holds [ "$(field bits) $(field hashes)" = ' 10' ]
run -p none -s s.unseen --bits 20 keys
expect 2 '' 'unseen: error: s.unseen was made for the rate 0.001, not with 20 bits per key\nunseen: hint: unseen rewrite --bits 20 s.unseen\n'
run -p none -s s.unseen --hashes 4 keys
expect 2 '' 'unseen: error: s.unseen was made with the best number of hashes, not with 4\nunseen: hint: unseen rewrite --hashes 4 s.unseen\n'
run rewrite --bits 20 --hashes 10 s.unseen
run rewrite --filter compact s.unseen
expect 0 '' ''
run info --json s.unseen
lacks 'hashes\|asked' out

# Hashes beside a rate: the bits follow.
run -c -p none --seed 1 --filter bloom --fpr 1e-3 --hashes 3 --capacity 200000 --stats=json keys
expect 0 '*' '*'
plan=$("$UNSEEN" plan --json --filter bloom --fpr 1e-3 --hashes 3 --capacity 200000 | grep -oE '"bytes":[0-9]+' | cut -d : -f 2)
memory=$(grep -oE '"memory":[0-9]+' err | cut -d : -f 2)
holds [ "$memory" -ge "$plan" ]
holds [ "$memory" -le $((plan + plan / 20)) ]

# The command that plan prints is the one that makes the filter.
run plan --bits 12 --filter bloom --capacity 200000
expect 0 '*' ''
holds grep -qx 'unseen --filter bloom --bits 12 --hashes 8 --capacity 200000 FILE makes it.' out
command=$(sed -n 's/^unseen \(.*\) FILE makes it.$/\1/p' out)
rm -f s.unseen*
# shellcheck disable=SC2086
run -c -p none -s s.unseen $command keys
expect 0 '*' ''
run info s.unseen
holds [ "$(field bits) $(field hashes)" = '12 per key of the capacity 8' ]

# What cannot be.
hint='unseen: hint: *\n'
run --bits 20 keys
expect 2 '' "unseen: error: the filter compact takes no bits per key, bloom does\n$hint"
run --filter block --hashes 3 --capacity 1000 keys
expect 2 '' "unseen: error: the filter block takes no number of hashes, bloom does\n$hint"
run --filter bloom --bits 0.01 --capacity 1000 keys
expect 2 '' "unseen: error: the filter bloom would answer \"seen\" to every key, with so few bits per key as 0.01\n$hint"
run --filter bloom --bits 20 --hashes 65 --capacity 1000 keys
expect 2 '' "unseen: error: the filter bloom has at most 64 hashes, not 65\n$hint"
run --filter bloom --bits 20 --fpr 1e-3 --capacity 1000 keys
expect 2 '' "unseen: error: --bits sets the rate, and so does --fpr\n$hint"
run --filter bloom --bits 20 --hashes 10 keys
expect 2 '' 'unseen: error: --filter bloom needs --capacity: it does not grow\nunseen: hint: unseen --capacity 1e7 --filter bloom --bits 20 --hashes 10 keys\n'
run add --bits 20 t.unseen keys
expect 2 '' 'unseen: error: t.unseen: the filter compact takes no bits per key, bloom does\nunseen: hint: unseen add --filter bloom --bits 20 --hashes 10 --capacity 1e6 t.unseen keys\n'
holds [ ! -e t.unseen ]
run --filter bloom --fpr 1e-9 --hashes 1 --capacity 1000 keys
expect 2 '' 'unseen: error: --hashes 1: for a rate of 1e-9 the filter would be too large\nunseen: hint: unseen --fpr 1e-9 --filter bloom --capacity 1000 keys\n'
finish
