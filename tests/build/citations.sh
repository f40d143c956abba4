# Every work that a comment or a document cites as [Name00] is in docs/references.bib.
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

# The keys cited in the files and folders that exist among the arguments.
cited() {
    grep -rhoE '\[[A-Z][A-Za-z]*[0-9]{2}\]' "$@" 2>/dev/null | tr -d '[]' | sort -u
}

sed -nE 's/^@[a-z]+\{([^,]+),$/\1/p' docs/references.bib | sort >"$work/known"
[ "$(uniq -d "$work/known")" = "" ] || fail "twice in references.bib: $(uniq -d "$work/known")"

cited include src cli module leases tests/unit fuzz bench docs README.md >"$work/cited"
[ -s "$work/cited" ] || fail "no citation found"
missing=$(comm -23 "$work/cited" "$work/known")
[ -z "$missing" ] || fail "not in references.bib: $missing"
