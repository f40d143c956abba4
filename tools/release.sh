#!/bin/bash
# Makes all files of a release, in build/release-VERSION. Nothing is uploaded.
#
#     tools/release.sh                  from a clean tree at the tag vVERSION
#     tools/release.sh --untagged       from any commit, to try it: changes that are not committed stay away
#     tools/release.sh --check          tries what was made (tests/packages/release.sh)
#
# The files:
#
#     unseen-VERSION-source.tar.gz         the source; builds and passes its tests without git
#     unseen-VERSION.tar.gz                the Python package, as source
#     unseen-VERSION-cp310-abi3-*.whl      the Python package for glibc 2.28 and musl 1.2, on x86-64 and aarch64
#     unseen-static-VERSION-ARCH           the tool without any shared library
#     unseen-module-VERSION-ARCH.so        the module for Redis and Valkey, for glibc 2.28
#     *.deb, *.dsc, *.tar.xz               the packages for Debian 12 and their source
#     planner.html, unseen-VERSION-site.tar.gz
#     NOTES.md, unseen-VERSION.spdx.json, SHA256SUMS
#
# All of it is built from the source archive, outside of git, so the archive is complete. The same commit makes the same
# bytes. Compilers and libraries for the other systems come from tools/cross.sh.
set -eu -o pipefail
export LC_ALL=C.UTF-8 TZ=UTC PIP_DISABLE_PIP_VERSION_CHECK=1
umask 022
cd "$(dirname "$0")/.."
. tools/packages.sh
top=$PWD
version=$(sed -n 's/^#define UNSEEN_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/unseen.h | paste -s -d .)
out=$top/build/release-$version
work=$top/build/release-work
source=$work/unseen-$version

case ${1-} in
--check) exec tests/packages/release.sh "$out" ;;
--untagged) ;;
'')
    if [ "$(git describe --exact-match --tags 2>/dev/null)" != "v$version" ] || [ -n "$(git status --porcelain)" ]; then
        echo "error: this is not a clean tree at the tag v$version: tag the commit, or try it with --untagged" >&2
        exit 1
    fi
    ;;
*)
    echo "usage: tools/release.sh [--untagged | --check]" >&2
    exit 2
    ;;
esac
install_missing $cross_packages $planner_packages $deb_packages mandoc \
    python3-venv libunistring-dev qemu-user
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

# built NAME COMMAND...: its output is kept, and shown if it fails.
built() {
    local name=$1 began=$SECONDS status=0
    shift
    (set -e; "$@") >"$work/$name.log" 2>&1 || status=$?
    if [ $status != 0 ]; then
        tail -n 30 "$work/$name.log" >&2
        echo "error: $name failed; all of its output is in $work/$name.log" >&2
        exit 1
    fi
    echo "built $name in $((SECONDS - began)) s"
}

# pack FOLDER ARCHIVE: the same bytes for the same files.
pack() {
    tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --mode=u=rwX,go=rX --format=ustar -c "$(basename "$1")" | gzip -9n >"$2"
}

make_source() {
    mkdir -p "$source/build"
    git archive --prefix="unseen-$version/" HEAD | tar -x -C "$work"
    rmdir "$source/build"
    pack "$source" "$out/unseen-$version-source.tar.gz"
    # Its scripts find the compilers here.
    mkdir -p "$source/build" "$top/build/cross"
    ln -s "$top/build/cross" "$source/build/cross"
}

make_sdist() {
    /usr/bin/python3 -m venv "$work/tools"
    "$work/tools/bin/pip" install -q --no-compile build 'setuptools>=77' wheel
    mkdir "$work/sdist"
    "$work/tools/bin/python" -m build --no-isolation --sdist --outdir "$work/sdist" "$source/bindings/python"
    tar -x -f "$work/sdist/unseen-$version.tar.gz" -C "$work/sdist"
    pack "$work/sdist/unseen-$version" "$out/unseen-$version.tar.gz"
}

# make_wheel TARGET PLATFORM: from the sdist. What it brings along has licences of its own: they are in the wheel.
make_wheel() {
    local target=$1 platform=$2 tree=$work/wheel-$1 library
    local cc=$top/build/cross/$target/cc
    ! command -v ccache >/dev/null || cc="ccache $cc"
    cp -r "$work/sdist/unseen-$version" "$tree"
    for library in libsodium libidn2 libunistring xxhash; do
        cp "/usr/share/doc/$(case $library in xxhash) echo libxxhash ;; *) echo $library ;; esac)-dev/copyright" "$tree/LICENSE.$library"
    done
    sed -i 's/^license = "MIT"$/license = "MIT AND ISC AND BSD-2-Clause AND (LGPL-3.0-or-later OR GPL-2.0-or-later)"/' \
        "$tree/pyproject.toml"
    CC=$cc LDSHARED="${cc#ccache } -shared -Wl,-O1,-s,--exclude-libs,ALL" CFLAGS="-ffile-prefix-map=$tree=." \
        _PYTHON_HOST_PLATFORM="linux-${target%-*}" \
        "$work/tools/bin/python" -m build --no-isolation --wheel --outdir "$out" \
        --config-setting=--build-option=--plat-name="$platform" "$tree"
}

# make_module ARCH
make_module() {
    local arch=$1 cross=$top/build/cross/$1-gnu build=$work/module-$1
    PKG_CONFIG_SYSROOT_DIR=$cross/root PKG_CONFIG_LIBDIR=$cross/root/usr/lib/$arch-linux-gnu/pkgconfig \
        cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DUNSEEN_CLI=OFF -DUNSEEN_TESTS=OFF \
        -DUNSEEN_BENCH=OFF -DUNSEEN_INSTALL=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" \
        -DCMAKE_C_COMPILER="$cross/cc" -DCMAKE_C_FLAGS="-ffile-prefix-map=$source=." -DCMAKE_MODULE_LINKER_FLAGS=-s
    cmake --build "$build" -j 2 --target unseen_module
    cp "$build/unseen.so" "$out/unseen-module-$version-$arch.so"
    chmod 755 "$out/unseen-module-$version-$arch.so"
}

# The command of the container file. For aarch64 with the libraries of Debian's packages for it.
make_static() {
    local arch=$1 build=$work/static-$1 root=$top/build/cross/aarch64-static command
    command=$(sed -n 's/^RUN \(cmake -S .*\)$/\1/p' "$source/packaging/Containerfile")
    export LDFLAGS=-s
    if [ "$arch" != x86_64 ]; then
        if [ ! -e "$root/complete" ]; then
            rm -rf "$root"
            unpack_packages "$root" arm64 "$debian_suite" libsodium-dev libidn2-dev libunistring-dev libxxhash-dev \
                zlib1g-dev libzstd-dev liblzma-dev libbz2-dev
            : >"$root/complete"
        fi
        cat >"$work/$arch.cmake" <<-CMAKE
			set(CMAKE_SYSTEM_NAME Linux)
			set(CMAKE_SYSTEM_PROCESSOR $arch)
			set(CMAKE_C_COMPILER $arch-linux-gnu-gcc)
			set(CMAKE_C_LIBRARY_ARCHITECTURE $arch-linux-gnu)
			set(CMAKE_LIBRARY_ARCHITECTURE $arch-linux-gnu)
			set(CMAKE_FIND_ROOT_PATH $root)
		CMAKE
        export CMAKE_TOOLCHAIN_FILE=$work/$arch.cmake CFLAGS="-isystem $root/usr/include"
        export LDFLAGS="-s -L$root/usr/lib/$arch-linux-gnu"
        export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$arch-linux-gnu/pkgconfig
    fi
    (cd "$source" && eval "${command//\/build/$build}")
    cp "$build/unseen" "$out/unseen-static-$version-$arch"
}

make_deb() {
    (cd "$source" && tools/deb.sh)
    find "$source/build/deb" -maxdepth 1 -type f ! -name log -exec cp -t "$out" {} +
}

make_pages() {
    (cd "$source" && tools/site.sh)
    cp "$source/build/planner.html" "$out/"
    mv "$source/build/site" "$work/unseen-$version-site"
    pack "$work/unseen-$version-site" "$out/unseen-$version-site.tar.gz"
}

make_notes() {
    awk -v heading="## $version" 'index($0, "## ") == 1 { on = index($0, heading) == 1; next } on' CHANGELOG.md >"$out/NOTES.md"
    [ -s "$out/NOTES.md" ]
}

# What is linked into the files: SPDX 2.3.
make_spdx() {
    python3 tools/release_spdx.py "$version" "$SOURCE_DATE_EPOCH" "$out" >"$work/spdx.json"
    mv "$work/spdx.json" "$out/unseen-$version.spdx.json"
}

rm -rf "$out" "$work"
mkdir -p "$out" "$work"
built source make_source
export GIT_CEILING_DIRECTORIES=$work
built cross tools/cross.sh
built sdist make_sdist
for arch in x86_64 aarch64; do
    built "wheel-$arch-gnu" make_wheel "$arch-gnu" "manylinux_2_28_$arch"
    built "wheel-$arch-musl" make_wheel "$arch-musl" "musllinux_1_2_$arch"
    built "module-$arch" make_module "$arch"
    built "static-$arch" make_static "$arch"
done
built deb make_deb
built pages make_pages
built notes make_notes
built spdx make_spdx
(cd "$out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
if grep -q '@example\.org' SECURITY.md packaging/debian/control bindings/python/pyproject.toml; then
    echo "Before this is uploaded: the address and the home page are still those of example.org, which nobody reads:"
    grep -l 'example\.org' SECURITY.md packaging/debian/control bindings/python/pyproject.toml | sed 's/^/    /'
fi
echo "$(wc -l <"$out/SHA256SUMS") files in $out; try them with: tools/release.sh --check"
