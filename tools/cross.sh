#!/bin/bash
# Makes compilers for the programs of a release: for both processors, for an old glibc (that of Debian 11, so that what
# they make runs there, too) and for musl. With each come the libraries that the programs bring along, as static ones.
#
#     tools/cross.sh [ARCH-LIBC]...      x86_64-gnu, aarch64-gnu, x86_64-musl, aarch64-musl; all of them without an argument
#
# build/cross/ARCH-LIBC then has the compiler, cc, and its system, root/. What is there already is not made again.
# Nothing is installed for the targets.
#
# With glibc the libraries are those of this Debian, as it keeps them safe; only the C library is the older one.
# With musl they are compiled from this Debian's source packages.
set -eu
cd "$(dirname "$0")/.."
. tools/packages.sh
install_missing $cross_packages
cross=$PWD/build/cross
mkdir -p "$cross"
exec 8>"$cross/lock"
flock 8

# What a compiler of this Debian needs to make programs for $arch-$libc, in $root.
make_root() {
    local file link
    if [ "$libc" = gnu ]; then
        unpack_packages "$root" "$debian" "$debian_suite" libpython3.11-dev libxxhash-dev libsodium-dev libidn2-dev \
            libunistring-dev || return 1
        unpack_packages "$root" "$debian" bullseye libc6 libc6-dev libcrypt-dev linux-libc-dev || return 1
        # Links to absolute paths lead to the libraries of this machine.
        find "$root" -type l -lname '/*' | while read -r link; do
            ln -sfn "$root$(readlink "$link")" "$link"
        done
        # A program that asks for libidn2 gets what libidn2 needs, too.
        file=$root/usr/lib/$arch-linux-gnu/libidn2
        mv "$file.a" "${file}_alone.a"
        echo "GROUP ( -lidn2_alone -lunistring )" >"$file.a"
        find "$root/usr/lib/$arch-linux-gnu" -name 'libidn2.so*' -delete -o -name 'libsodium.so*' -delete -o -name 'libunistring.so*' -delete
    else
        unpack_packages "$root" "$debian" "$debian_suite" libpython3.11-dev libxxhash-dev musl musl-dev musl-tools \
            linux-libc-dev || return 1
        mv "$root/usr/include/$arch-linux-gnu/python3.11" "$root/usr/include/xxhash.h" "$root/usr/include/linux" \
            "$root/usr/include/asm-generic" "$root/usr/include/$arch-linux-gnu/asm" "$root/usr/include/$arch-linux-musl/"
        mkdir -p "$root/usr/include/$arch-linux-musl/$arch-linux-gnu"
        mv "$root/usr/include/$arch-linux-musl/python3.11" "$root/usr/include/$arch-linux-musl/$arch-linux-gnu/"
        ln -s "../../../lib/$arch-linux-musl/libc.so" "$root/usr/lib/$arch-linux-musl/libc.so"
        sed "s,/usr/,$root/usr/,g; s,/lib/ld-musl,/lib/ld-musl," "$root/usr/lib/$arch-linux-musl/musl-gcc.specs" >"$root/specs"
    fi
}

# make_library FOLDER [configure argument]...
make_library() {
    local source=$1 name prefix=$root/usr
    shift
    name=$(basename "$source")
    rm -rf "${to:?}/$name"
    mkdir "$to/$name"
    (
        cd "$to/$name"
        "$source/configure" --host="$arch-linux-musl" --prefix="$prefix" --includedir="$prefix/include/$arch-linux-musl" \
            --libdir="$prefix/lib/$arch-linux-musl" --enable-static --disable-shared --with-pic CC="$to/cc" \
            AR="$arch-linux-gnu-ar" RANLIB="$arch-linux-gnu-ranlib" CFLAGS="-O2 -g0" "$@"
        make -j 2 && make install
    ) >"$to/$name.log" 2>&1 || {
        tail -n 20 "$to/$name.log" >&2
        echo "error: $name cannot be built for $arch with musl" >&2
        exit 1
    }
    rm -r "${to:?}/$name"
}

[ $# -gt 0 ] || set -- x86_64-gnu aarch64-gnu x86_64-musl aarch64-musl
for target in "$@"; do
    to=$cross/$target root=$cross/$target/root
    arch=${target%-*} libc=${target#*-}
    case $arch in
    x86_64) debian=amd64 ;;
    aarch64) debian=arm64 ;;
    *)
        echo "error: no such processor here: $arch" >&2
        exit 2
        ;;
    esac
    [ ! -e "$to/complete" ] || continue
    rm -rf "$to"
    mkdir -p "$to"
    make_root || exit 1
    flags="--sysroot=$root -B$root/usr/lib/$arch-linux-gnu -L$root/usr/lib/$arch-linux-gnu"
    # glibc 2.29 has new versions of these; the old ones are in every glibc.
    for name in exp exp2 log log2 pow; do
        echo "__asm__(\".symver $name,$name@GLIBC_$([ "$arch" = x86_64 ] && echo 2.2.5 || echo 2.17)\");"
    done >"$to/old_math.h"
    [ "$libc" != gnu ] || flags="$flags -include $to/old_math.h"
    # gcc's own way to choose atomic instructions at run time asks glibc.
    [ "$libc" = gnu ] ||
        flags="-specs=$root/specs -L$root/usr/lib/$arch-linux-musl$([ "$arch" = x86_64 ] || echo " -mno-outline-atomics")"
    printf '#!/bin/sh\nexec %s-linux-gnu-gcc %s "$@"\n' "$arch" "$flags" >"$to/cc"
    chmod 755 "$to/cc"
    if [ "$libc" = musl ]; then
        if [ ! -e "$cross/sources/complete" ]; then
            rm -rf "$cross/sources"
            unpack_source "$cross/sources" libsodium libidn2
            (cd "$cross"/sources/libsodium-*[0-9] && autoreconf -fi) >"$cross/autoreconf.log" 2>&1
            : >"$cross/sources/complete"
        fi
        make_library "$(echo "$cross"/sources/libsodium-*[0-9])"
        # It brings the part of libunistring along that it needs.
        make_library "$(echo "$cross"/sources/libidn2-*[0-9])" --with-included-libunistring --disable-doc --disable-nls \
            --disable-rpath
    fi
    # Old names with versions, which a shared library cannot take in.
    "$arch-linux-gnu-objcopy" --wildcard --strip-symbol='*@IDN2*' \
        "$(find "$root/usr/lib" -name libidn2_alone.a -o -name libidn2.a | sort | tail -n 1)"
    : >"$to/complete"
done
