#!/bin/sh
# Builds the Debian packages unseen, unseen-server, redis-unseen, python3-unseen, libunseen0.1, libunseen-dev and
# unseen-doc and their source package from the files of the checkout, into build/deb. Install them with:
# apt install ./build/deb/*.deb
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
install_missing $deb_packages

version=$(sed -n 's/^#define UNSEEN_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/unseen.h | paste -s -d .)
out=build/deb
source=$out/unseen-$version
rm -rf "$out"
mkdir -p "$source"
# With changes that are not committed.
tree_files | xargs -0 cp -d --parents -t "$source"
cp -r "$source/packaging/debian" "$source/debian"
cp "$source/packaging/systemd/sysusers.conf" "$source/debian/unseen-server.sysusers"
cp "$source/packaging/systemd/tmpfiles.conf" "$source/debian/unseen-server.tmpfiles"
date=$(git log -1 --format=%cD 2>/dev/null || date -R -u ${SOURCE_DATE_EPOCH:+-d @$SOURCE_DATE_EPOCH})
cat >"$source/debian/changelog" <<END
unseen ($version) unstable; urgency=medium

  * The package unseen-doc has CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $date
END
(cd "$source" && dpkg-buildpackage -us -uc) >"$out/log" 2>&1 || {
    cat "$out/log" >&2
    echo "error: the packages could not be built, see above" >&2
    exit 1
}
rm -rf "$source" "$out"/*-dbgsym_*.deb "$out"/*.buildinfo "$out"/*.changes
ls "$out"/*.deb
