#!/bin/sh
# Builds the unit tests for another processor, statically, and runs them under qemu: the portable
# code, on aarch64 and on s390x, which is big endian. The golden files prove that both write the same
# bytes as x86-64.
#
#     tools/portable.sh ARCH [ctest argument]...      ARCH: aarch64 or s390x
#
# The libraries of that processor come from Debian's packages, unpacked into build/ARCH/root:
# nothing is installed for them, and apt's own lists stay as they are.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

arch=$1
shift
case $arch in
aarch64) debian=arm64 ;;
s390x) debian=s390x ;;
*)
    echo "error: no such processor here: $arch" >&2
    exit 2
    ;;
esac
install_missing $build_packages qemu-user gcc-$arch-linux-gnu libc6-dev-$debian-cross

build=$PWD/build/$arch
root=$build/root
if [ ! -e "$root/complete" ]; then
    rm -rf "$root"
    unpack_packages "$root" $debian "$debian_suite" libsodium-dev libidn2-dev libunistring-dev libxxhash-dev libjansson-dev
    : >"$root/complete"
fi

export PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_LIBDIR="$root/usr/lib/$arch-linux-gnu/pkgconfig"
cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DUNSEEN_WERROR=ON -DUNSEEN_CLI=OFF \
    -DUNSEEN_BENCH=OFF -DUNSEEN_INSTALL=OFF -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=$arch -DCMAKE_C_COMPILER=$arch-linux-gnu-gcc \
    -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-$arch -DCMAKE_C_FLAGS="-isystem $root/usr/include" \
    -DCMAKE_EXE_LINKER_FLAGS="-static -L$root/usr/lib/$arch-linux-gnu" \
    -DCMAKE_C_STANDARD_LIBRARIES="-lunistring"
began=$(date +%s)
# Only what will run.
tests=$(ctest --test-dir "$build" -N "$@" | sed -n 's,^.*: unit/\([^/]*\)/.*,test_\1,p')
# shellcheck disable=SC2086 # a word for each program
cmake --build "$build" -j 2 --target $tests
echo "built $arch in $(($(date +%s) - began)) s"
exec ctest --test-dir "$build" -j 2 --output-on-failure --no-tests=error "$@"
