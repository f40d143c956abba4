# An output has lines: a name such as new.txt.gz is refused, with the command that compresses them.
. "$(dirname "$0")/lib/common.bash"

urls 3000 1000 5 > a.txt
awk '!seen[$0]++' a.txt > want
hinted() { # NAME HINT ARGUMENT...
    local name=$1 hint=$2
    shift 2
    run "$@"
    expect 2 '' "unseen: error: $name would be lines, not what its name says\nunseen: hint: $hint\n"
    holds [ ! -e "$name" ]
}
for pair in 'gz gzip' 'zst zstd' 'xz xz' 'bz2 bzip2' 'GZ gzip' 'lz4 lz4'; do
    name=new.txt.${pair% *}
    program=${pair#* }
    hinted "$name" "unseen a.txt | $program > $name" -o "$name" a.txt
    if command -v "$program" > /dev/null; then
        (PATH=$(dirname "$UNSEEN"):$PATH && eval "$(sed -n 's/^unseen: hint: //p' err)")
        "$program" -dc < "$name" > out
        same out want
        rm "$name"
    fi
done

# The hint is the command of the user.
printf 'http://e.com/a\n' | "$UNSEEN" add s.unseen
hinted n.gz 'unseen | gzip > n.gz' -o n.gz
hinted n.gz 'unseen a.txt a.txt | gzip > n.gz' -o n.gz a.txt a.txt
hinted n.gz 'unseen check s.unseen a.txt | gzip > n.gz' check s.unseen -o n.gz a.txt
hinted n.gz 'unseen canon a.txt | gzip > n.gz' canon -o n.gz a.txt
hinted n.gz 'unseen count a.txt | gzip > n.gz' count -o n.gz a.txt
hinted n.gz 'unseen sort a.txt | gzip > n.gz' sort -o n.gz a.txt
hinted n.gz 'unseen bits list b.bits | gzip > n.gz' bits list -o n.gz b.bits
# A store continues its output: it is compressed when the run is over.
hinted n.gz 'unseen -o LINES -s s.unseen a.txt && gzip < LINES > n.gz' -s s.unseen -o n.gz a.txt
run info --json s.unseen
holds grep -q '"keys":1,' out
hinted n.gz 'unseen -D NEW a.txt' -D n.gz a.txt
# Archives hold several files.
for name in a.zip a.ZIP a.Tar.GZ a.tar a.tgz a.tar.gz a.tar.zst a.7z; do
    hinted "$name" 'unseen -o NEW a.txt' -o "$name" a.txt
done
for name in gz .gz a.gz.txt agz; do
    run -o $name a.txt
    expect 0 '' ''
    same $name want
done
finish
