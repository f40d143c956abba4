# examples/visitors and examples/attendance: the commands of their pages print what the pages say, and that is what
# sort, comm and awk say.
. "$(dirname "$0")/lib/common.bash"
examples=$TESTS/../examples
command -v python3 > /dev/null || skip "no python3"
mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH
export PYTHONDONTWRITEBYTECODE=1

# prints_what_it_says PAGE FOLDER: in the folder, which is new.
prints_what_it_says() {
    mkdir "$2" && cp "$examples/visitors/day.sh" "$2"
    (cd "$2" && python3 "$TESTS/cli/docs_commands.py" "$1") > said
}

prints_what_it_says "$examples/visitors/README.md" visitors || complain "$(cat said)"
prints_what_it_says "$examples/attendance/README.md" attendance || complain "$(cat said)"
tests_run=2

# A day that is given again, also one that later days follow, is the same; the seed is its owner's.
cd visitors
cut -f 2 visits.tsv | head -n 20000 > first
./day.sh 2026-11-01 first > out 2> err
status=$?
last=day.sh
expect 0 '2026-11-01\t14243\t0\t0\n' ''
sed -n 40001,60000p visits.tsv | cut -f 2 | gzip > third.gz
./day.sh 2026-11-03 third.gz > out 2> err
status=$?
expect 0 '2026-11-03\t14185\t10134\t6873\n' ''
holds [ "$(stat -c %a seed)" = 600 ]
./day.sh > out 2> err
holds [ $? != 0 ]
holds grep -q 'usage: day.sh DAY' err
: > nothing
./day.sh 2026-11-08 nothing > out 2> err
status=$?
expect 0 '2026-11-08\t0\t0\t0\n' ''

# Against sort and comm.
for d in 1 2 3 4 5 6 7; do
    grep "^2026-11-0$d" visits.tsv | cut -f 2 | sort -u > day.$d
    ndays=$(cat day.[1-$d] | sort -u | wc -l)
    nbefore=$([ $d = 1 ] && echo 0 || cat day.[1-$((d - 1))] | sort -u | wc -l)
    nyesterday=$([ $d = 1 ] && echo 0 || comm -12 day.$((d - 1)) day.$d | wc -l)
    n=$(wc -l < day.$d)
    printf '2026-11-0%d\t%d\t%d\t%d\n' $d $n $((n + nbefore - ndays)) "$nyesterday"
done > want
sed -n 's/^    \(2026-11-0[1-7]\t[0-9]*\t[0-9]*\t[0-9]*\)$/\1/p' "$examples/visitors/README.md" > page
same page want
awk -F '\t' '{ print $2 "\t" $3 "\t" $1 }' want > by
sed -n 's/^    \([0-9]*\t[0-9]*\t2026-11-0[1-7]\)$/\1/p' "$examples/visitors/README.md" > page
same page by
cd ../attendance
for day in mon tue wed thu fri; do grep "^$day" door.tsv | cut -f 3 | sort -u > $day; done
cat mon tue wed thu fri | sort | uniq -c | awk '$1 == 5 { print $2 }' | sort -n > want
unseen bits list every-day.bits > all
same all want
seq 1 40 | sort | comm -23 - mon | sort -n > want
unseen bits list not-on-monday.bits > all
same all want
cd ..

# A page that says something else is noticed.
sed 's/10134/10135/' "$examples/visitors/README.md" > planted.md
prints_what_it_says "$PWD/planted.md" planted
holds [ $? = 1 ]
holds grep -q 'commands, 2 differ' said
finish
