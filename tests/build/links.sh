# The links between the documents, and to files of the tree, lead somewhere.
. "$(dirname "$0")/common.bash"
export LC_ALL=C.UTF-8
command -v python3 >/dev/null || skip "no python3"

python3 "$SOURCE/tests/build/links.py" "$SOURCE" || fail "see above"

# Planted: a file that is not there, a heading that is not there, and links in code, which are none.
mkdir "$work/tree"
cat >"$work/tree/a.md" <<'END'
# One & two
[there](b.md#drei-vier) [here](#one--two) [gone](c.md) [no heading](b.md#five) ![](d.svg)
`[code](e.md)`

    [code](f.md)
END
echo '## Drei `vier`' >"$work/tree/b.md"
if python3 "$SOURCE/tests/build/links.py" "$work/tree" >"$work/said"; then
    fail "broken links were not noticed"
fi
[ "$(cut -d ' ' -f 2 "$work/said" | head -n 3 | tr '\n' ' ')" = "c.md: b.md#five: d.svg: " ] ||
    fail "noticed: $(cat "$work/said")"

# Planted: a page that nothing leads to.
mkdir "$work/tree/docs"
echo '[a](../a.md)' >"$work/tree/docs/README.md"
echo '[a](a.md)' >"$work/tree/lost.md"
python3 "$SOURCE/tests/build/links.py" "$work/tree" >"$work/said" || :
[ "$(grep 'not reached' "$work/said")" = "lost.md: not reached from docs/README.md" ] || fail "noticed: $(cat "$work/said")"
