#!/bin/sh
# Compares the binary interface of the shared library with the one that is kept in tools/unseen.abi:
# functions, types, sizes and places of fields. Any difference is reported, and ends with status 1.
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
case ${1-} in
'')
    if ! abidiff $kept $build/unseen.abi; then
        echo "error: the interface is not that of $kept; if that is meant: tools/abi.sh --update" >&2
        exit 1
    fi
    ;;
--update) cp $build/unseen.abi $kept ;;
*)
    echo "usage: tools/abi.sh [--update]" >&2
    exit 2
    ;;
esac
