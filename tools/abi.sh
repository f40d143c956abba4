#!/bin/sh
# Compares the binary interface of the shared library with the one that is kept in tools/unseen.abi:
# functions, types, sizes and places of fields. Any difference is reported, and ends with status 1. The symbols are in
# the Debian package, too, each with the version that brought it.
#
#     tools/abi.sh             compare
#     tools/abi.sh --update    keep the present interface: for a change that is meant, in the same
#                              commit; from 1.0 on only functions may be added, and fields at the end
#                              of a struct that carries its size
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh

kept=tools/unseen.abi
build=build/abi
install_missing $build_packages abigail-tools
{
    cmake -G Ninja -B $build -DCMAKE_BUILD_TYPE=Debug -DUNSEEN_CLI=OFF -DUNSEEN_TESTS=OFF \
        -DUNSEEN_BENCH=OFF -DUNSEEN_INSTALL=OFF
    cmake --build $build -j 2 --target unseen_shared
} >$build.log 2>&1 || {
    cat $build.log >&2
    exit 2
}
# Nothing of this machine or of the private parts belongs in the file.
abidw --headers-dir include --drop-private-types --no-comp-dir-path --no-corpus-path --no-show-locs \
    --exported-interfaces-only $build/libunseen.so | sed "s|path='$PWD/|path='|" >$build/unseen.abi
symbols=$(echo packaging/debian/libunseen*.symbols)
sed -n "s/^ *<elf-symbol name='\([^']*\)'.*/ \1@Base/p" $build/unseen.abi | LC_ALL=C sort >$build/symbols
case ${1-} in
'')
    if ! abidiff $kept $build/unseen.abi; then
        echo "error: the interface is not that of $kept; if that is meant: tools/abi.sh --update" >&2
        exit 1
    fi
    if ! sed '1d; s/ [0-9.]*$//' "$symbols" | diff - $build/symbols; then
        echo "error: the symbols are not those of $symbols; if that is meant: tools/abi.sh --update" >&2
        exit 1
    fi
    ;;
--update)
    cp $build/unseen.abi $kept
    version=$(sed -n 's/^#define UNSEEN_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/unseen.h | paste -s -d .)
    # Those that are known keep their version.
    while read -r name; do
        grep "^ $name " "$symbols" || echo " $name $version"
    done <$build/symbols >$build/versions
    { head -n 1 "$symbols" && cat $build/versions; } >$build/new && cp $build/new "$symbols"
    ;;
*)
    echo "usage: tools/abi.sh [--update]" >&2
    exit 2
    ;;
esac
