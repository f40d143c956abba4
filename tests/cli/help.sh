# The help, the manual pages that are made from the same tables, and the examples in them.
# Label: once
. "$(dirname "$0")/lib/common.bash"

run --help
expect 0 '*' ''
cp out help
holds grep -q '^Usage: unseen ' help
holds grep -q '^Examples$' help
holds [ "$(awk 'length > 80' help)" = '' ]
for how in 'dedup --help' help 'help dedup'; do
    run $how
    expect 0 '*' ''
    same out help
done
run --version
expect 0 '*' ''
holds grep -qE '^unseen [0-9]+\.[0-9]+\.[0-9]+$' out
holds grep -qE '^SIMD level: [a-z0-9]+ \(this processor has portable(, avx2)?(, avx512)?\)$' out
holds grep -qE '^libraries: zlib [0-9.]+, zstd [0-9.]+' out
cp out version
run -V
expect 0 '*' ''
same out version
UNSEEN_CPU=portable run --version
same out version

# Both forms of a command that has two.
run merge -h
expect 0 '*' ''
holds [ "$(head -n 2 out)" = 'Usage: unseen merge [OPTION]... NEW IN...
       unseen merge [OPTION]... --into STORE IN...' ]
# No row of a short help leans on a row that is not there, and a name that can be given is named.
for command in $(unseen -h | sed -n '/^Commands$/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    run "$command" -h
    lacks 'the same, read' out
done
run --help
for filter in $(unseen help filters | sed -n 's/^  \([a-z-]*\)  *[a-zA-Z].*/\1/p'); do
    holds grep -qw -e "$filter" out
done

# The short help fits on a screen, and has a line for each command; so has the long one.
sed -n '/^Commands$/,/^$/s/^  \([a-z]*\)  *[a-z].*/\1/p' help > commands
sed -n '/^Commands$/,/^$/p' help > command_lines
holds [ "$(wc -l < commands)" -ge 21 ]
run -h
expect 0 '*' ''
holds grep -q '^Usage: unseen ' out
same <(sed -n '/^Commands$/,/^$/p' out) command_lines
# info names all that it takes.
for kind in store list filter bitmap server; do
    holds grep -qw "^  info .* $kind" command_lines
done
while IFS= read -r command; do
    [ "$command" = help ] && continue
    run "$command" -h
    expect 0 '*' ''
    holds grep -q '^Usage: unseen ' out
    holds grep -q '^All options' out
    holds [ "$(wc -l < out)" -le 40 ]
    holds [ "$(awk 'length > 80' out)" = '' ]
done < commands

# The manual pages: the tool has written its commands and options into them. Each command has a page of its name,
# which has the options of the help.
mkdir -p man/man1
for page in "$TESTS"/../docs/man/*.1; do
    "$UNSEEN" __man "$page" > "man/man1/$(basename "$page")"
    holds [ $? = 0 ]
done
lacks '^\.\\" [A-Z]* ' <(grep -v SPDX man/man1/*)
same <(sed -n '/^\.Ss Commands/,/^\.El/s/^\.It Cm //p' man/man1/unseen.1) commands
sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' man/man1/unseen.1 > synopsis
sed -n '/^\.Sh SEE ALSO/,/^\.Sh CAVEATS/p' man/man1/unseen.1 > see_also
while IFS= read -r command; do
    page=man/man1/unseen-$command.1
    holds grep -qE "^\.(Op )?Cm (.* \| )?$command( |\$)" synopsis
    if grep -q '^\.so ' "$page"; then
        page=man/$(sed -n 's/^\.so //p' "$page")
    else
        holds grep -q "^\.Dt UNSEEN-${command^^} 1" "$page"
        holds grep -q "^\.Xr unseen-$command 1" see_also
    fi
    "$UNSEEN" "$command" --help | grep -oE '^  (-.,|   ) --[a-z-]+' | sed 's/.*--/Fl Fl /' > options
    [ "$command" = help ] || holds [ -s options ]
    while IFS= read -r option; do
        holds grep -qE "^\.It .*$option( |\$)" "$page"
    done < options
done < commands
if command -v mandoc > /dev/null; then
    for page in $(grep -L '^\.so ' man/man1/*); do
        holds mandoc -T lint -W warning "$page"
    done
    while IFS= read -r command; do
        holds sh -c "man -M man unseen-$command 2> /dev/null | grep -q 'unseen'"
    done < commands
else
    printf 'skipped: mandoc -T lint\n'
fi
printf '.\\" OPTIONS check chek\n' > page
run __man page
expect 2 '*' 'unseen: error: cannot print page: Invalid argument\n'
run __man missing
expect 2 '' 'unseen: error: cannot print missing: No such file or directory\n'

# The examples run.
printf 'http://a/\nhttp://b/\nhttp://a/\n' > urls.txt
cp urls.txt a.txt
cp urls.txt b.txt
cp urls.txt in.txt
cp urls.txt emails.txt
printf 'http://b/\n' > visited.txt
printf '1,x\n2,x\n' > log.csv
printf '{"link":{"url":"x"}}\n' > pages.jsonl
gzip -c urls.txt > crawl.gz
gzip -c urls.txt > found.txt.zst
fetcher() { cat; }
sed -n '/^Examples$/,/^$/s/^  \(\(zcat\|unseen\) .*[^ ]\)   *.*/\1/p' help > examples
holds [ "$(wc -l < examples)" -ge 6 ]
while IFS= read -r example; do
    holds eval "$example > example_out"
done < examples
holds [ "$(cat new.txt)" = "$(printf 'http://a/\nhttp://b/')" ]
holds [ "$(cat again.txt)" = 'http://a/' ]

# Each command: the long help.
while IFS= read -r command; do
    [ "$command" = help ] && continue
    run "$command" --help
    expect 0 '*' ''
    cp out help
    holds grep -q '^Usage: unseen ' help
    called=unseen
    [ "$command" = dedup ] || called="unseen $command"
    holds grep -q "^  $called " help # an example of what help_usage says
    holds grep -q '^Exit status: ' help
    holds [ "$(awk 'length > 80' help)" = '' ]
    run help "$command"
    same out help
    run "$command" -V
    same out version
done < commands

# The examples of the commands on a store run, one after the other.
cp urls.txt anew.txt
cp urls.txt new.txt
printf '%040d\n' 1 > requests.seen
printf '\001\003\000\000\000\001aaaaaaaa' > filter.bin
redis-cli() { echo http://a/; }
rm -f visited.unseen* part*.unseen*
echo 'a seed' > seed.key
"$UNSEEN" add --seed-file seed.key part2.unseen urls.txt
"$UNSEEN" add --seed-file seed.key part3.unseen urls.txt
"$UNSEEN" build bad.list urls.txt
for command in add check remove merge info verify repair rewrite import recheck; do
    run help "$command"
    sed -n '/^Examples$/,/^$/s/^  \(\(redis-cli\|unseen\) .*[^ ]\)/\1/p' out | sed 's/   .*//' > examples
    holds [ "$(wc -l < examples)" -ge 1 ]
    while IFS= read -r example; do
        eval "$example" > example_out
        holds [ $? -lt 2 ]
    done < examples
done
unset -f redis-cli

# The examples of the other commands run, too.
printf '../b\n' > links.txt
for command in canon explain plan; do
    run help "$command"
    sed -n '/^Examples$/,/^$/s/^  \(unseen .*[^ ]\)/\1/p' out | sed 's/   .*//' > examples
    holds [ "$(wc -l < examples)" -ge 3 ]
    while IFS= read -r example; do
        eval "$example" > example_out
        holds [ $? -lt 2 ]
        holds [ -s example_out ]
    done < examples
done

# Profiles and rules, with what they do.
for topic in profiles rules filters; do
    run help "$topic"
    expect 0 '*' ''
    holds [ "$(awk 'length > 80' out)" = '' ]
done
run help count
holds [ "$(awk 'length > 80' out)" = '' ]
run help profiles
expect 0 '*' ''
for profile in none whatwg crawl scrapy safebrowsing aggressive; do
    holds grep -qE "^  $profile  +[a-zA-Z]" out
    run -p "$profile" /dev/null
    expect 0 '' ''
    run help profiles
done
run help rules
expect 0 '*' ''
sed -nE 's/^  ([a-z-]+)  +[a-z].*/\1/p' out > rules
holds [ "$(wc -l < rules)" -ge 23 ]
while IFS= read -r rule; do
    on=$rule
    case $rule in *-params) on="$rule(a,b*)" ;; esac
    run --rule "$on,no-$rule" /dev/null
    [ "$status" = 0 ] || run -p scrapy --rule "$on,no-$rule" /dev/null
    expect 0 '' ''
done < rules
for topic in profiles rules; do
    run help "$topic"
    expect 0 '*' ''
    holds [ -z "$(grep -E '.{81}' out)" ]
done
run help --help
expect 0 '*' ''
holds grep -q '^Usage: unseen ' out
run help profils
expect 2 '' "unseen: error: no help on 'profils'\nunseen: hint: unseen help profiles\n"
run help something
expect 2 '' "unseen: error: no help on 'something'\nunseen: hint: unseen help\n"
run help canon explain
expect 2 '' 'unseen: error: help takes one topic\nunseen: hint: unseen help canon\n'
for topic in '' profiles rules canon; do
    "$UNSEEN" help $topic > /dev/full 2> err
    holds [ $? = 2 ]
    holds grep -qx 'unseen: error: cannot write standard output' err
done
finish
