# The commands of docs/bloom-filters.md, and of its Chinese edition, print what the pages say.
# Label: once
# Time: long
. "$(dirname "$0")/lib/common.bash"

docs=$TESTS/../docs
mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH

# prints_what_it_says PAGE: in a folder of its own.
prints_what_it_says() {
    rm -rf work
    mkdir work
    (cd work && ln -s "$TESTS/../bench" . && python3 "$TESTS/cli/docs_commands.py" "$1") > said
}

for page in "$docs"/bloom-filters.md "$docs"/*/bloom-filters.md; do
    [ -e "$page" ] || continue
    prints_what_it_says "$page" || complain "$(cat said)"
    holds [ "$(grep -c '^ *\$ ' "$page")" -gt 10 ]
done

# A number that the tool does not print is noticed.
sed 's/8\.89e-5   0\.0102/8.90e-5   0.0102/' "$docs/bloom-filters.md" > planted.md
holds [ "$(cmp "$docs/bloom-filters.md" planted.md | wc -l)" = 1 ]
holds [ "$(prints_what_it_says "$PWD/planted.md"; echo $?)" = 1 ]
holds grep -qE 'planted.md: [0-9]+ commands, 1 differ' said
finish
