# --help, the manual page and the program agree.
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

# The short help fits on a screen, and has a line for each command; so have the long one and the page.
sed -n '/^Commands$/,/^$/s/^  \([a-z]*\)  *[a-z].*/\1/p' help > commands
sed -n '/^Commands$/,/^$/p' help > command_lines
holds [ "$(wc -l < commands)" -ge 21 ]
for command in dedup canon explain check add remove merge info verify repair rewrite import recheck allow update sort bits \
    serve count build plan help; do
    holds grep -qx "$command" commands
done
run -h
expect 0 '*' ''
cp out short
holds grep -q '^Usage: unseen ' short
same <(sed -n '/^Commands$/,/^$/p' short) command_lines
# info names all that it takes.
for kind in store list filter bitmap server; do
    holds grep -qw "^  info .* $kind" command_lines
done
page=$TESTS/../docs/man/unseen.1
while IFS= read -r command; do
    [ "$command" = help ] || run "$command" -h
    [ "$command" = help ] || expect 0 '*' ''
    cat out >> short
    holds [ "$(wc -l < out)" -le 40 ]
    holds [ "$(awk 'length > 80' out)" = '' ]
    [ "$command" = dedup ] || holds grep -q '^Usage: unseen ' out
    # As the page writes it: without its markup, and in one line.
    summary=$(sed -n "s/^  $command  *//p" command_lines)
    holds [ "$(sed -n "/^\\.It Cm $command\$/,/^\\.\(It\|El\)/p" "$page" | grep -v '^\.' | tr '\n' ' ' |
        sed 's/ $//')" = "$summary" ]
done < commands
# Each option of a short help has its line; no table names one that does not exist.
while read -r command options; do
    run "$command" -h
    for option in $options; do
        holds grep -qE "^  (-.,|   ) --$option( |=|\[|$)" out
    done
done << 'END'
dedup store exclude key
canon json profile
check invert count quiet key
add profile key seed-file
remove key
rewrite fpr filter
import format profile seed-file
allow remove list
update add remove
sort unique count
bits invert count
serve protocol listen dry-run
count by key profile
build kind expressions fpr known-good from
plan capacity fpr memory
END

# Every command has a manual page of its own name.
while IFS= read -r command; do
    other=$TESTS/../docs/man/unseen-$command.1
    holds [ -f "$other" ]
    if grep -q '^\.so ' "$other"; then
        same <(sed -n 's/^\.so man1\///p' "$other") <(cd "$TESTS/../docs/man" &&
            ls "$(sed -n 's/^\.so man1\///p' "$other")")
    else
        holds grep -q "^\.Dt UNSEEN-${command^^} 1" "$other"
    fi
done < commands
if command -v mandoc > /dev/null; then
    mkdir -p man/man1
    cp "$TESTS"/../docs/man/*.1 man/man1
    while IFS= read -r command; do
        holds sh -c "man -M man unseen-$command 2> /dev/null | grep -q 'unseen'"
    done < commands
fi
# The synopsis has each command, and SEE ALSO each page.
sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$page" > synopsis
sed -n '/^\.Sh SEE ALSO/,/^\.Sh CAVEATS/p' "$page" > see_also
while IFS= read -r command; do
    holds grep -qE "^\.(Op )?Cm (.* \| )?$command( |\$)" synopsis
done < commands
for other in "$TESTS"/../docs/man/unseen-*.1; do
    grep -q '^\.so ' "$other" || holds grep -q "^\.Xr $(basename "$other" .1) 1" see_also
done

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

# Each command: every option stands in both, and each that stands there is known to the program.
for command in dedup canon explain serve build allow update count plan sort bits; do
    page=$TESTS/../docs/man/unseen-$command.1
    [ "$command" = dedup ] && page=$TESTS/../docs/man/unseen.1
    holds [ -f "$page" ]
    run "$command" --help
    expect 0 '*' ''
    cp out help
    holds grep -q '^Usage: unseen ' help
    holds grep -q '^Examples$' help
    holds grep -q '^Exit status: ' help
    holds [ "$(awk 'length > 80' help)" = '' ]
    run help "$command"
    same out help
    run "$command" -V
    same out version
    grep -oE '^  (-.,|   ) --[a-z-]+' help | grep -oE -- '--[a-z-]+' | sort -u > in_help
    grep -oE '^\.It .*' "$page" | grep -oE 'Fl Fl [a-z-]+' | sed 's/Fl Fl /--/' | sort -u > in_page
    same in_help in_page
    grep -oE '^  -.,' help | tr -d ' ,' | sort -u > in_help_short
    grep -oE '^\.It Fl [a-zA-Z] ' "$page" | sed -E 's/.It Fl (.) /-\1/' | sort -u > in_page_short
    same in_help_short in_page_short
    while IFS= read -r option; do
        run "$command" "$option"
        lacks 'unknown option' err
    done < <(cat in_help in_help_short)
    if command -v mandoc > /dev/null; then
        holds mandoc -T lint -W warning "$page"
    else
        printf 'skipped: mandoc -T lint\n'
    fi
done

# The commands on a store share a page.
page=$TESTS/../docs/man/unseen-store.1
: > all_help
for command in check add remove merge info verify repair rewrite import recheck; do
    run "$command" --help
    expect 0 '*' ''
    cp out help
    holds grep -q "^Usage: unseen $command " help
    holds grep -q '^Examples$' help
    holds grep -q '^Exit status: ' help
    holds [ "$(awk 'length > 80' help)" = '' ]
    run help "$command"
    same out help
    holds grep -q "^\.Ss unseen $command\$" "$page"
    holds grep -q "^\.Cm $command\$" "$page"
    grep -oE '^  (-.,|   ) --[a-z-]+' help | grep -oE -- '--[a-z-]+' > in_help
    grep -oE '^  -.,' help | tr -d ' ,' >> in_help
    cat in_help >> all_help
    while IFS= read -r option; do
        run "$command" "$option"
        lacks 'unknown option' err
    done < in_help
done
sort -u all_help > in_help
{
    grep -oE '^\.It .*' "$page" | grep -oE 'Fl Fl [a-z-]+' | sed 's/Fl Fl /--/'
    grep -oE '^\.It Fl [a-zA-Z] ' "$page" | sed -E 's/.It Fl (.) /-\1/'
} | sort -u > in_page
same in_help in_page
if command -v mandoc > /dev/null; then
    holds mandoc -T lint -W warning "$page"
fi
# Their examples run, one after the other.
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
