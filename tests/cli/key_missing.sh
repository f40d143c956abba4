# Lines without the key: --missing, and files of which no line has the key.
. "$(dirname "$0")/lib/common.bash"

printf '{"u":"a"}\n{"v":"b"}\n{"u":"c"}\n{"u":null}\n' > some
printf '{"u":"a"}\n{"u":"c"}\n' > all
printf '{"v":"b"}\n{"w":1}\n' > none

for j in 1 2 3; do
    # Without a store: taken whole, with a warning.
    run -j "$j" -p none -k .u some
    cp some want
    same out want
    expect 0 '*' "unseen: warning: some:2: no key .u in '{\"v\":\"b\"}': taken whole
unseen: warning: 2 lines without the key were taken whole\n"
    run -j "$j" -p none -k .u --missing=skip some
    expect 0 '{"u":"a"}\n{"u":"c"}\n' "unseen: warning: some:2: no key .u in '{\"v\":\"b\"}': left out
unseen: warning: 2 lines without the key were left out\n"
    run -j "$j" -p none -k .u --missing=skip -c --stats=json some
    expect 0 '2\n' '*'
    holds grep -q '"lines":4,.*"without_key":2,' err
    run count -j "$j" -p none -k .u --missing=skip --stats=json some
    expect 0 '2\n' '*'
    holds grep -q '"lines":4,.*"without_key":2,' err
    run -j "$j" -p none -k .u --missing=fail all some all
    expect 2 '{"u":"a"}\n{"u":"c"}\n' "unseen: error: some:2: no key .u in '{\"v\":\"b\"}'
unseen: hint: --missing=skip leaves such lines out, --missing=whole compares the whole line\n"
    # A file that is not read to its end gets no verdict: all its lines may have the key.
    head -n 1 none > short
    run -j "$j" -p none -k .u --missing=fail short all
    expect 2 '' "unseen: error: short:1: no key .u in '{\"v\":\"b\"}'
unseen: hint: --missing=skip leaves such lines out, --missing=whole compares the whole line\n"
    rm -f pipe s.unseen
    mkfifo pipe
    "$UNSEEN" -j "$j" -p none -k .u --missing=skip -s s.unseen - < pipe > out 2> err &
    exec 3> pipe
    printf '{"v":"b"}\n' >&3
    eventually grep -q 'no key .u' err
    kill -TERM $!
    wait $!
    exec 3>&-
    lacks 'no line has the key' err

    # With a store the run ends: nothing but keys is remembered, and what came before is.
    rm -f s.unseen
    run -j "$j" -p none -k .u -s s.unseen some
    expect 2 '{"u":"a"}\n' "unseen: error: some:2: no key .u in '{\"v\":\"b\"}'
unseen: hint: --missing=skip leaves such lines out, --missing=whole compares the whole line\n"
    run -j "$j" -k .u -s s.unseen --missing=skip some
    expect 0 '{"u":"c"}\n' '*'
    run info --json s.unseen
    holds grep -q '"keys":2,' out
    run add -j "$j" -k .u s.unseen none
    expect 2 '' "unseen: error: none:1: no key .u in '{\"v\":\"b\"}'
unseen: hint: --missing=skip leaves such lines out, --missing=whole compares the whole line\n"
    run remove -j "$j" -k .u s.unseen none
    expect 2 '' '*'
    run info --json s.unseen
    holds grep -q '"keys":2,' out
    run add -j "$j" -k .u --missing=whole s.unseen some
    expect 0 '' '*'
    run info --json s.unseen
    holds grep -q '"keys":4,' out
    run check -j "$j" -k .u -c s.unseen some
    expect 0 '4\n' '*'
    run -n -j "$j" -k .u -c -s s.unseen some
    expect 0 '0\n' '*'

    # No line of a file has the key: an error, and the other files are read.
    run -j "$j" -p none -k .u none all
    expect 2 '{"v":"b"}\n{"w":1}\n{"u":"a"}\n{"u":"c"}\n' "unseen: warning: none:1: no key .u in '{\"v\":\"b\"}': taken whole
unseen: error: none: no line has the key .u
unseen: warning: 2 lines without the key were taken whole\n"
    run -j "$j" -p none -k .u all none
    expect 2 '*' '*'
    holds grep -qx 'unseen: error: none: no line has the key .u' err
    run -j "$j" -k .u --missing=skip -s s.unseen none
    expect 2 '' '*'
    holds grep -qx 'unseen: error: none: no line has the key .u' err
    run -j "$j" -k .u -q none
    expect 0 '' '*'
    run count -j "$j" -k .U all
    expect 2 '' '*'
    holds grep -qx 'unseen: error: all: no line has the key .U' err
    run count -j "$j" --by .U all
    expect 2 '' 'unseen: error: no line has --by .U\n'
    run check -j "$j" -k 9 s.unseen all
    expect 2 '' '*'
    holds grep -qx 'unseen: error: all: no line has the key 9' err
    run recheck -j "$j" -k .U s.unseen all
    expect 2 '*' '*'
    run canon -j "$j" -k .U all
    expect 2 '*' '*'
done
: > empty
run -k .u empty all
expect 0 '*' ''

# The output of a store has each line exactly once, also in front of the line that ended a run.
seq 3000 | sed 's/.*/{"u":"&"}/' > many
sed -i '2000s/u/v/' many
run -p none -k .u -s m.unseen -o out.txt many
expect 2 '' '*'
holds grep -q '^unseen: error: many:2000: no key .u in ' err
holds [ "$(wc -l < out.txt)" = 1999 ]
run -k .u -s m.unseen -o out.txt --missing=skip many
expect 0 '' '*'
sed '2000d' many > want
same out.txt want

# Shares: a line without the key ends each of them, or is left out of each.
run -k .u --shard 1/2 --missing=fail some
expect 2 '*' '*'
for i in 1 2; do
    run -p none -k .u --shard $i/2 --missing=skip some
    cat out
done > parts
sort parts > sorted
same sorted all

run --missing=skip all
expect 2 '' 'unseen: error: --missing has no meaning without -k\nunseen: hint: unseen --missing skip -k 1 FILE\n'
run -k .u --missing=no all
expect 2 '' "unseen: error: --missing: 'no' is not whole, skip or fail\nunseen: hint: unseen --missing skip\n"
finish
