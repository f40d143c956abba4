#!/bin/bash
# The wheel that tools/python.sh has made, in Python 3.13 of a Debian 13 tree. pip takes the partners of the tests from
# the registry, out here. Needs root, for chroot.
#
# usage: tools/python_debian13.sh    (UNSEEN: the tool, build/release/unseen)
set -eu
cd "$(dirname "$0")/.."
top=$PWD
work=$top/build/python13
tree=$work/tree
tool=${UNSEEN:-$top/build/release/unseen}
pip=$top/build/python/checkout/bin/pip
export PIP_DISABLE_PIP_VERSION_CHECK=1
umount "$tree/proc" 2>/dev/null || true
rm -rf --one-file-system "$work" # a mount that a killed run has left stays
mkdir -p "$work"
trap 'umount "$tree/proc" 2>/dev/null || true' EXIT

# From the same place as this machine's packages.
sed '/security/d; s/bookworm/trixie/g' $(ls /etc/apt/sources.list 2>/dev/null) >"$work/sources.list"
[ ! -e /etc/apt/sources.list.d/debian.sources ] ||
    awk 'BEGIN { RS = ""; ORS = "\n\n" } !/security/ { gsub("bookworm", "trixie"); print }' \
        /etc/apt/sources.list.d/debian.sources >"$work/debian.sources"
mmdebstrap --quiet --variant=minbase trixie "$tree" "$work/sources.list" \
    $(ls "$work/debian.sources" 2>/dev/null) \
    --include=python3,python3-venv \
    >"$work/mmdebstrap.log" 2>&1 || { cat "$work/mmdebstrap.log" && exit 1; }
mount --bind /proc "$tree/proc"

mkdir -p "$tree/root/wheels" "$tree/root/unseen/bindings/python"
"$pip" download -q -d "$tree/root/wheels" --only-binary=:all: --python-version 3.13 \
    pyarrow polars duckdb w3lib Scrapy==2.19.0
cp "$top"/build/python/repaired/unseen-*.whl "$tree/root/wheels/"
# The tool, with its libraries, which have other names in Debian 13.
mkdir "$tree/opt/unseen"
cp "$tool" "$tree/opt/unseen/unseen"
cp -L $(ldd "$tool" | awk '$2 == "=>" && $1 !~ /^(libc|libm)\.so/ { print $3 }') "$tree/opt/unseen/"
printf '#!/bin/sh\nLD_LIBRARY_PATH=/opt/unseen exec /opt/unseen/unseen "$@"\n' >"$tree/usr/local/bin/unseen"
chmod 755 "$tree/usr/local/bin/unseen"
mkdir "$tree/root/unseen/tests"
cp -r "$top/tests/vectors" "$tree/root/unseen/tests/"
cp -r "$top/docs" "$tree/root/unseen/"
cp -r "$top/bindings/python/tests" "$top/bindings/python/README.md" "$tree/root/unseen/bindings/python/"

inside() {
    chroot "$tree" env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/root LC_ALL=C.UTF-8 UNSEEN=/usr/local/bin/unseen "$@"
}

log=$work/tests.log
status=0
inside python3 -m venv /root/python
inside /root/python/bin/pip install -q --no-index --find-links /root/wheels unseen pyarrow polars duckdb w3lib Scrapy
inside sh -c 'cd /root && exec python/bin/python -W error -m unittest discover -s unseen/bindings/python/tests -v' \
    >"$log" 2>&1 || status=1
n=$(sed -nE 's/^Ran ([0-9]+) tests? in .*/\1/p' "$log")
[ $status = 0 ] || grep -vE '\.\.\. (ok|skipped)' "$log" | tail -n 60
echo "$((status ? 0 : 100))% tests passed, $status tests failed out of ${n:-1}"
exit $status
