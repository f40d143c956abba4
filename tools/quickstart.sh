#!/bin/sh
# Installs what is missing (Debian packages), builds the tool, and runs its main job on URLs that
# every Debian machine has: the home pages of all packages, as the package index lists them.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

install_missing $build_packages
log=build/quickstart.log
mkdir -p build
if ! { cmake --preset release && cmake --build --preset release --target unseen; } >$log 2>&1; then
    cat $log >&2
    echo "error: the build failed, see above" >&2
    exit 1
fi
unseen=build/release/unseen

# The URLs. A machine without an index (not Debian, or never updated) gets a list of our own.
urls=build/quickstart-urls.txt
new=build/quickstart-new.txt
origin="the Homepage fields of this machine's package index"
{ apt-cache dumpavail 2>/dev/null || true; } | sed -n 's/^Homepage: *//p' >$urls
if [ ! -s $urls ]; then
    cp tools/example-urls.txt $urls
    origin="tools/example-urls.txt (there is no package index here)"
fi

echo "\$ $unseen --stats $urls > $new"
$unseen --stats $urls >$new

echo
echo "$(wc -l <$urls) URLs from $origin:"
echo "$(wc -l <$new) were new, each printed the first time only, in input order. The first three:"
head -n 3 $new | sed 's/^/    /'
echo
echo "The tool is $unseen. Next, try it in a pipe:"
echo "    cat $urls | $unseen --mark | head"
echo "or read: $unseen --help"
