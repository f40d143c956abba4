#!/bin/bash
# Builds the documents as a site of static files that open from disk, with the planner page: pandoc makes the
# pages, mandoc the manual pages, into which the tool has written its options (build/release).
#
# usage: tools/site.sh [FOLDER]      (build/site, which is emptied first)
#
# The Debian packages it needs are pandoc, mandoc, python3 and those of tools/planner.sh.
set -eu
cd "$(dirname "$0")/.."
for program in pandoc mandoc python3; do
    command -v $program >/dev/null || {
        echo "error: no $program; Debian: apt install pandoc mandoc python3" >&2
        exit 2
    }
done
tools/planner.sh build/planner.html
[ -e build/release/build.ninja ] || cmake --preset release > /dev/null
cmake --build build/release --target manual_pages > /dev/null
exec python3 tools/site/site.py "${1:-build/site}" build/planner.html
