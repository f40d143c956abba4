#!/bin/bash
# The documents as a site: it is built, every link and anchor in it leads somewhere, and its search knows the pages. A
# planted link is noticed.
set -eu -o pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tools/site.sh "$work/site"
python3 tests/pages/site.py "$work/site"
for page in index planner docs/bloom-filters docs/man/unseen-plan.1 docs/api README.zh; do
    [ -s "$work/site/$page.html" ] || { echo "failed: there is no $page.html"; exit 1; }
done
grep -q '"docs/windows"' "$work/site/searchindex.js" || { echo "failed: the search does not know docs/windows"; exit 1; }

sed -i 's/href="bloom-filters.html/href="bloom-filters.html#nothing/' "$work/site/docs/choosing-a-filter.html"
if python3 tests/pages/site.py "$work/site" >"$work/said"; then
    echo "failed: a link that leads nowhere was not noticed"
    exit 1
fi
