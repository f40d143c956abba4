# --help, the manual page and the program agree.
. "$(dirname "$0")/lib/common.bash"

run --help
expect 0 '*' ''
cp out help
holds grep -q '^Usage: unseen ' help
holds grep -q '^Examples$' help
holds [ "$(awk 'length > 80' help)" = '' ]
for how in -h 'dedup --help' help 'help dedup'; do
    run $how
    expect 0 '*' ''
    same out help
done
run --version
expect 0 '*' ''
holds grep -qE '^unseen [0-9]+\.[0-9]+\.[0-9]+$' out
run -V
expect 0 '*' ''

# The examples run.
printf 'http://a/\nhttp://b/\nhttp://a/\n' > urls.txt
cp urls.txt a.txt
cp urls.txt b.txt
cp urls.txt in.txt
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

# Every option stands in both, and each that stands there is known to the program.
page=$TESTS/../docs/man/unseen.1
holds [ -f "$page" ]
grep -oE '^  (-.,|   ) --[a-z-]+' help | grep -oE -- '--[a-z-]+' | sort -u > in_help
grep -oE '^\.It .*' "$page" | grep -oE 'Fl Fl [a-z-]+' | sed 's/Fl Fl /--/' | sort -u > in_page
same in_help in_page
grep -oE '^  -.,' help | tr -d ' ,' | sort -u > in_help
grep -oE '^\.It Fl [a-zA-Z] ' "$page" | sed -E 's/.It Fl (.) /-\1/' | sort -u > in_page
same in_help in_page
while IFS= read -r option; do
    run "$option" < /dev/null
    lacks 'unknown option' err
done < in_page
if command -v mandoc > /dev/null; then
    holds mandoc -T lint -W warning "$page"
else
    printf 'skipped: mandoc -T lint\n'
fi
finish
