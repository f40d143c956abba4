# Those who come from anew: what they type is answered or hinted at, and --tee is anew's other half.
. "$(dirname "$0")/lib/common.bash"

printf 'http://a/\nhttp://b/\n' > known.txt
printf 'http://b/\nhttp://c/\n' > new.txt

# program | unseen known.txt: standard input is not read. A hint, while lines wait there; only a hint.
hint='unseen: hint: standard input was not read, because a file is named; its lines that known.txt lacks: unseen -x known.txt -o known.txt --tee\n'
waiting() { # ARG...: with lines in a pipe
    last="unseen $*"
    rm -f filled
    (cat new.txt; : > filled) | (eventually [ -e filled ]; "$UNSEEN" "$@" > out 2> err)
    status=$?
}
waiting known.txt
expect 0 'http://a/\nhttp://b/\n' "$hint"
waiting -q known.txt
expect 0 '' "$hint"
# Not where both are read, or a file was meant.
waiting -x known.txt
expect 0 'http://c/\n' ''
waiting known.txt -
expect 0 'http://a/\nhttp://b/\nhttp://c/\n' ''
waiting known.txt known.txt
expect 0 'http://a/\nhttp://b/\n' ''
waiting -s s.unseen known.txt
expect 0 'http://a/\nhttp://b/\n' ''
waiting check s.unseen known.txt
expect 0 'http://a/\nhttp://b/\n' ''
"$UNSEEN" known.txt < new.txt > out 2> err
expect 0 'http://a/\nhttp://b/\n' ''
: | "$UNSEEN" known.txt > out 2> err
expect 0 'http://a/\nhttp://b/\n' ''

# What the hint and the README say.
cp known.txt s.txt
waiting -x s.txt
"$UNSEEN" -x s.txt < new.txt | tee -a s.txt > out
same out <(printf 'http://c/\n')
same s.txt <(printf 'http://a/\nhttp://b/\nhttp://c/\n')
cp s.txt before
"$UNSEEN" -x s.txt new.txt >> s.txt 2> err
holds grep -qx 'unseen: hint: unseen -o s.txt --tee -x s.txt new.txt' err
same s.txt before
# In one command: the file is continued, and first its last line gets an end.
for words in '-o s.txt' '-o ./s.txt' '-j 3 -o s.txt' '-x new.txt -o s.txt'; do
    printf 'http://a/\nhttp://b/' > s.txt
    # shellcheck disable=SC2086 # words
    printf 'HTTP://b\nhttp://c/\nhttp://c/\n' | "$UNSEEN" -x s.txt $words --tee > out 2> err
    status=$?
    want='http://c/'
    [ "${words#-x}" = "$words" ] || want=
    expect 0 "${want:+$want\n}" ''
    same s.txt <(printf 'http://a/\nhttp://b/\n'; [ -z "$want" ] || echo "$want")
done
run -x s.txt -o s.txt new.txt
expect 0 '' ''
run -x s.txt -o s.txt new.txt
expect 0 '' ''
same s.txt <(printf 'http://a/\nhttp://b/\nhttp://c/\n')
run -z -x zero -o zero -p none <(printf 'a\0b\0')
expect 0 '' ''
same zero <(printf 'a\0b\0')
printf c >> zero
run -z -x zero -o zero -p none <(printf 'b\0d\0c\0')
same zero <(printf 'a\0b\0c\0d\0')
# What would write something else into it is refused, and it is as it was.
gzip -c s.txt > packed
printf '\377\376a\0\n\0' > wide
cp s.txt before
appends='unseen: error: -o appends new lines to s.txt, which -x reads, and nothing else\nunseen: hint: unseen -x s.txt -o s.txt new.txt\n'
for words in -v --mark -c; do
    run -x s.txt $words -o s.txt new.txt
    expect 2 '' "$appends"
done
run -x s.txt -o s.txt -k 1 new.txt
expect 2 '' '*'
run -x s.txt -D s.txt new.txt
expect 2 '' 'unseen: error: s.txt is both input and output\nunseen: hint: *\n'
run -x s.txt -o s.txt s.txt
expect 2 '' '*'
same s.txt before
for name in packed wide; do
    cp $name before
    run -x $name -o $name new.txt
    expect 2 '' '*'
    holds grep -q "^unseen: error: $name is compressed or UTF-16: no lines can be appended to it" err
    same $name before
done
unseen add -p none some.unseen new.txt
cp some.unseen before
run -p none -x some.unseen -o some.unseen new.txt
expect 2 '' '*'
same some.unseen before
# A pipe may lead to tee -a: the file is not ended then, and a warning says so.
printf 'http://a/' > s.txt
"$UNSEEN" -x s.txt new.txt 2> err | cat > out
same err <(printf 'unseen: warning: the last line of s.txt has no end: what is appended continues it\nunseen: hint: to end it and append the new lines: unseen --output s.txt --tee -x s.txt new.txt\n')
"$UNSEEN" -x packed new.txt 2> err | cat > out
holds [ ! -s err ]

# Names without a scheme: three lines, unless told.
printf 'a.example.com\nA.EXAMPLE.com\na.example.com/\n' > names
scheme='unseen: hint: no line has a scheme, so no line is a URL; to take example.com for http://example.com: unseen --rule default-scheme names\n'
run names
expect 0 'a.example.com\nA.EXAMPLE.com\na.example.com/\n' "$scheme"
run --rule default-scheme names
expect 0 'a.example.com\n' ''
run -s names.unseen names
expect 2 '*' "unseen: error: no line is a URL; one is 'a.example.com'
unseen: hint: to take example.com for http://example.com: unseen --rule default-scheme -s names.unseen names
unseen: hint: to compare whole lines: unseen --profile none -s names.unseen names\n"
holds [ ! -e names.unseen ]
run -p none names
expect 0 '*' ''
run -p safebrowsing names
expect 0 '*' ''
# One URL among them, or lines of another kind: nothing is said.
(cat names; echo http://e.com/) > mixed
run mixed
expect 0 '*' ''
for line in 10.5 jo@e.example 'a b.c' word .hidden 'x.y z' ''; do
    printf '%s\n' "$line" > in
    run
    expect 0 '*' ''
done
rm -f in

# --tee: standard output gets what the file gets.
run --tee -o new.out known.txt new.txt
expect 0 'http://a/\nhttp://b/\nhttp://c/\n' ''
same out new.out
run -s t.unseen -o t.out --tee known.txt
expect 0 'http://a/\nhttp://b/\n' ''
same out t.out
run -s t.unseen -o t.out --tee new.txt
expect 0 'http://c/\n' ''
same t.out <(printf 'http://a/\nhttp://b/\nhttp://c/\n')
run -v --tee -o v.out known.txt new.txt
expect 0 'http://b/\n' ''
same out v.out
run --mark --line-buffered --tee -o m.out known.txt new.txt
expect 0 '*' ''
same out m.out
urls 200000 150000 1 > many
run --seed 1 --tee -o many.out many
same out many.out
holds [ "$(wc -l < out)" -gt 100000 ]
# At once, also while the input waits, and in a loop through a fifo.
(printf 'http://a/\n'; eventually grep -q a/ live; printf 'http://b/\n') | "$UNSEEN" --tee -o live.out > live
same live live.out
holds [ "$(wc -l < live)" = 2 ]
mkfifo loop
(echo http://0/; seq 3000 | sed 's#^#http://e.com/#') > loop & # is read, and printed, at its own pace
"$UNSEEN" --tee -o loop.out loop | (sleep 0.2; cat) > loop_printed
same loop_printed loop.out
holds [ "$(wc -l < loop.out)" = 3001 ]
# A reader that goes away, a full disk: as without --tee. What the store remembers, the file has.
"$UNSEEN" -s h.unseen --seed 1 -o h.out --tee many 2> err | head -n 1 > /dev/null
holds [ ! -s err ]
unseen -s h.unseen --seed 1 -o h.out many
same <(sort h.out) <(sort many.out)
"$UNSEEN" --tee -o f.out many > /dev/full 2> err
status=$?
expect 2 '*' 'unseen: error: cannot write standard output: No space left on device\n'
wrong() {
    want=$1
    shift
    run "$@"
    expect 2 '' "$want"
}
wrong 'unseen: error: --tee has no meaning without -o\nunseen: hint: unseen -o NEW --tee known.txt\n' --tee known.txt
wrong 'unseen: error: -c prints a number, --tee prints lines\nunseen: hint: unseen -c -o x known.txt\n' -c --tee -o x known.txt
wrong 'unseen: error: --tee prints to standard output, and so does -o\nunseen: hint: unseen known.txt\n' --tee -o - known.txt
wrong 'unseen: error: new lines and repeats both go to standard output\nunseen: hint: to tell them apart in one file: unseen --mark -o x known.txt\n' \
    --tee -o x -D - known.txt
"$UNSEEN" --tee -o same.out known.txt > same.out 2> err
holds grep -q '^unseen: error: --tee prints to standard output, and so does -o$' err
# Standard output counts as an output, too, whatever it is called.
cp known.txt kept.txt
"$UNSEEN" -o x --tee -D all.out known.txt known.txt > all.out 2> err
holds [ $? = 2 ]
holds grep -q '^unseen: error: new lines and repeats both go to all.out$' err
"$UNSEEN" -o x --tee -D /dev/stdout known.txt known.txt > all.out 2> err
holds [ $? = 2 ]
holds grep -q '^unseen: error: new lines and repeats both go to /dev/stdout$' err
timeout 120 "$UNSEEN" --mark -o x --tee known.txt >> known.txt 2> err
holds [ $? = 2 ]
holds grep -q '^unseen: error: known.txt is both input and output$' err
timeout 120 "$UNSEEN" -x known.txt -o x --tee many >> known.txt 2> err
holds [ $? = 2 ]
unseen add t.unseen known.txt
"$UNSEEN" -s t.unseen -o x --tee many >> t.unseen 2> err
holds [ $? = 2 ]
same known.txt kept.txt
finish
