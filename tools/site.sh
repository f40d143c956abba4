#!/bin/bash
# Builds the documents as a site of static files that open from disk: the pages of the tree and the manual pages, into
# which the tool has written its options (build/release), the reference of the Python package from its docstrings, and
# the planner page. Sphinx makes the pages; pip takes it from the registry.
#
# usage: tools/site.sh [FOLDER]      (build/site, which is emptied first)
#
# The Debian packages it needs are mandoc, python3-venv and those of tools/planner.sh and of the build.
set -eu
cd "$(dirname "$0")/.."
for program in mandoc python3; do
    command -v $program >/dev/null || {
        echo "error: no $program; Debian: apt install mandoc python3 python3-venv" >&2
        exit 2
    }
done
to=${1:-build/site}
work=build/site-work
tools/planner.sh build/planner.html
[ -e build/release/build.ninja ] || cmake --preset release >/dev/null
cmake --build build/release --target manual_pages >/dev/null
if [ ! -e $work/ready ]; then
    rm -rf $work
    python3 -m venv $work/python
    $work/python/bin/pip install -q 'sphinx<10' 'myst-parser<6' 'furo<2027' 'sphinx-copybutton<1' linkify-it-py
    : >$work/ready
fi
$work/python/bin/pip install -q --force-reinstall --no-deps ./bindings/python
python3 tools/site/stage.py $work/pages
rm -rf "$to"
UNSEEN_PLANNER=$PWD/build/planner.html $work/python/bin/python -m sphinx -q -W --keep-going -d $work/doctrees -c tools/site $work/pages "$to"
echo "$to: $(find "$to" -name '*.html' | wc -l) pages"
