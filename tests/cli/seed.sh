# --seed and --seed-file: the same keys from the same bytes, however they are given; refusals in words;
# the seed itself is never shown.
. "$TESTS/cli/lib/common.bash"
printf 'http://a/\nhttp://b/\n' > one
id() { "$UNSEEN" info --json "$1" | sed -E 's/.*"seed_id":"([0-9a-f]+)".*/\1/'; }
made() { # NAME OPTION...: makes a store and prints its seed's id
    "$UNSEEN" add "${@:2}" "$1" one && id "$1"
}
secret='Sesame, open'
printf '%s' "$secret" > bare
printf '%s\n' "$secret" > line
printf '%s\r\n' "$secret" > dos
printf '0x%s\n' "$(printf '%s' "$secret" | od -An -tx1 | tr -d ' \n')" > hex
want=$(made text.unseen --seed "$secret")
holds [ "${#want}" = 16 ]
for file in bare line dos hex; do
    holds [ "$(made "$file.unseen" --seed-file "$file")" = "$want" ]
done
holds [ "$(made upper.unseen --seed "0X$(sed 's/^0x//' hex | tr a-f A-F)")" = "$want" ]
for other in "$secret " "${secret%?}" 0x00; do
    holds [ "$(made other.unseen --seed "$other")" != "$want" ]
    rm other.unseen*
done
holds [ "$(made r1.unseen)" != "$(made r2.unseen)" ]

# What was made with one seed belongs together, and only that.
run merge all.unseen text.unseen hex.unseen
expect 0 '' ''
run merge --into all.unseen r1.unseen
expect 2 '' '*'
run -s text.unseen --seed-file line one
expect 0 '' ''
run -s text.unseen --seed 'Sesame, shut' one
expect 2 '' 'unseen: error: text.unseen was made with another seed\nunseen: hint: unseen -s text.unseen one\n'

# The seed, or what is made of it but its id, is in no message.
for command in "info text.unseen" "info --json text.unseen" "verify text.unseen" "check text.unseen one" \
    "merge --into all.unseen r1.unseen" "-s text.unseen --seed Nosy one" "add -v text.unseen one"; do
    run $command
    lacks "$secret\|Nosy" out
    lacks "$secret\|Nosy" err
done
printf 'I\n' | "$UNSEEN" serve text.unseen > out
lacks "$secret" out
holds grep -q "$want" out

# Refused in words, without a word of the seed.
run --seed 0x5ecre7 one
expect 2 '' '*'
lacks 5ecre7 err
run --seed "$secret" --seed-file line one
expect 2 '' 'unseen: error: --seed-file says the seed, and so does --seed\nunseen: hint: unseen --seed-file line one\n'
run --seed-file missing one
expect 2 '' 'unseen: error: --seed-file missing: No such file or directory\n'
run --seed-file . one
expect 2 '' 'unseen: error: --seed-file .: Is a directory\n'
head -c 4097 /dev/zero > long
printf x > cr
printf 'x\r' > cr2
holds [ "$(made cr.unseen --seed-file cr)" != "$(made cr2.unseen --seed-file cr2)" ]
{ head -c 4096 /dev/zero; echo; } > full
run --seed-file full one
expect 0 'http://a/\nhttp://b/\n' ''
run --seed-file long one
expect 2 '' 'unseen: error: --seed-file long has more than 4096 bytes\nunseen: hint: (umask 077; openssl rand -hex 32 > seed.key)\n'
head -c 4096 /dev/zero > longest
run --seed-file longest one
expect 0 'http://a/\nhttp://b/\n' ''
for text in '' '\n' '0x' '0x1\n' '0xabc\n' '0xzz\n'; do
    printf "$text" > bad
    run --seed-file bad one
    expect 2 '' 'unseen: error: --seed-file bad is empty, or begins with 0x and has no pairs of hexadecimal digits\nunseen: hint: (umask 077; openssl rand -hex 32 > seed.key)\n'
done
# A set with the seed of the shares has no worse rate on its share.
seq 40000 > many
run -c -p none --shard 1/16 --seed 'unseen shards' --filter block --capacity 2500 --fpr 1e-4 many
holds [ "$(cat out)" -gt 2400 ]
finish
