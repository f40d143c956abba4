#!/bin/bash
# The files of a release (tools/release.sh): checksums, what registries ask of a package, and each file used where it
# would run: the wheel in every Python of this machine, and as aarch64 under qemu; wheels and modules with the C
# libraries that they are for; the tools; the source archive, without git.
#
#     tests/packages/release.sh [FOLDER]     FOLDER has the files; without it they are made twice, and must be the same
. "$(dirname "$0")/common.bash"
. tools/packages.sh
export PIP_DISABLE_PIP_VERSION_CHECK=1 LC_ALL=C.UTF-8
top=$PWD
install_missing $cross_packages qemu-user redis-tools python3-venv

files=${1-}
if [ -z "$files" ]; then
    tools/release.sh --untagged | tee "$work/said"
    files=$(sed -n 's/^[0-9]* files in \(.*\); try.*/\1/p' "$work/said")
    cp "$files/SHA256SUMS" "$work/first"
    tools/release.sh --untagged >"$work/said"
    diff "$work/first" "$files/SHA256SUMS" || fail "the second time other bytes came out"
    passed "the same bytes twice"
fi
[ -e "$files/SHA256SUMS" ] || fail "there is nothing in $files: tools/release.sh makes it"
version=$(sed -n 's/^#define UNSEEN_VERSION_[A-Z]* \([0-9]*\)$/\1/p' include/unseen.h | paste -s -d .)
(cd "$files" && sha256sum --quiet -c SHA256SUMS) || fail "checksums"
[ "$(find "$files" -type f ! -name SHA256SUMS | wc -l)" = "$(wc -l <"$files/SHA256SUMS")" ] || fail "SHA256SUMS lacks a file"
passed "checksums"

python3 -c 'import json, sys; d = json.load(open(sys.argv[1]));
ids = {d["SPDXID"]} | {x["SPDXID"] for kind in ("packages", "files") for x in d[kind]}
assert all(r[k] in ids for r in d["relationships"] for k in ("spdxElementId", "relatedSpdxElement"))' \
    "$files/unseen-$version.spdx.json" || fail "the SPDX list"
passed "the list of what is linked in"

# What the Python registry and its users ask.
/usr/bin/python3 -m venv "$work/tools"
"$work/tools/bin/pip" install -q --no-compile twine abi3audit auditwheel >"$work/log" 2>&1 || fail "$(cat "$work/log")"
"$work/tools/bin/twine" check --strict "$files/unseen-$version.tar.gz" "$files"/*.whl >"$work/log" || fail "$(cat "$work/log")"
"$work/tools/bin/abi3audit" --strict "$files"/*.whl >"$work/log" 2>&1 || fail "abi3audit: $(cat "$work/log")"
for wheel in "$files"/*-manylinux*.whl "$files"/*-musllinux*.whl; do
    platform=$(basename "$wheel" .whl | sed 's/.*-//')
    # It knows musl only where musl is the C library of the machine.
    case $platform in
    manylinux*) "$work/tools/bin/auditwheel" show "$wheel" >"$work/log" 2>&1 || fail "auditwheel: $(cat "$work/log")" ;;
    *) echo "\"$platform\"" >"$work/log" ;;
    esac
    mkdir -p "$work/$platform"
    python3 -m zipfile -e "$wheel" "$work/$platform"
    for licence in LICENSE LICENSE.libsodium LICENSE.libidn2 LICENSE.libunistring LICENSE.xxhash; do
        find "$work/$platform" -path "*/licenses/$licence" -size +500c | grep . >/dev/null || fail "$wheel has no $licence"
    done
    passed "$platform: $(tr '\n' ' ' <"$work/log" | grep -oE '"(many|musl)linux[^"]*"' | sort -u | paste -s -d ' ')"
done

! CC="gcc -nostdinc" "$work/tools/bin/pip" wheel -q --no-deps -w "$work" "$files/unseen-$version.tar.gz" >"$work/log" 2>&1 ||
    fail "the sdist was built without headers"
grep '^ *error: unseen cannot be compiled here.* apt install gcc libc6-dev python3-dev libidn2-dev libsodium-dev libxxhash-dev$' \
    "$work/log" >/dev/null || fail "headers that are missing: $(cat "$work/log")"
passed "headers that are missing"

# loads TARGET FILE: every symbol that FILE needs is found in the C library of TARGET; those of Python are made up.
loads() {
    local target=$1 file=$2 arch=${1%-*} symbol loader run
    local root=$top/build/cross/$1/root
    tools/cross.sh "$target"
    {
        echo '#include <dlfcn.h>'
        echo '#include <stdio.h>'
        "$arch-linux-gnu-nm" -D --undefined-only "$file" | sed -nE 's/^ +U (_?Py[A-Za-z_0-9]+)$/char \1[512];/p'
        echo 'int main(int n, char **a) { (void)n; if (dlopen(a[1], RTLD_NOW)) return 0; puts(dlerror()); return 1; }'
    } >"$work/loader.c"
    build/cross/"$target"/cc -rdynamic "$work/loader.c" -o "$work/loader" -ldl
    case $target in
    *-gnu) loader=$(find "$root/lib" -name 'ld-2.31.so') run="--library-path $root/lib/$arch-linux-gnu" ;;
    *) loader=$(find "$root/lib" -name libc.so -type f) run='' ;;
    esac
    qemu-"$arch" -L "$root" "$loader" $run "$work/loader" "$file" || fail "$file does not load with $target"
}
for arch in x86_64 aarch64; do
    loads "$arch-gnu" "$work/manylinux_2_28_$arch/unseen/_unseen.abi3.so"
    loads "$arch-musl" "$work/musllinux_1_2_$arch/unseen/_unseen.abi3.so"
    loads "$arch-gnu" "$files/unseen-module-$version-$arch.so"
    for file in "$work/manylinux_2_28_$arch/unseen/_unseen.abi3.so" "$files/unseen-module-$version-$arch.so"; do
        newest=$("$arch-linux-gnu-objdump" -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
        [ "$(printf 'GLIBC_2.28\n%s\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || fail "$file needs $newest"
    done
    passed "$arch: the files load with glibc 2.31 and need none newer than 2.28; with musl"
done

# The sessions of the documents. The tool is the static one.
mkdir "$work/bin"
cp "$files/unseen-static-$version-x86_64" "$work/bin/unseen"
sessions() { # COMMAND...: a Python
    (cd "$work" && UNSEEN=$work/bin/unseen "$@" -W error "$top/tests/run_unittest.py" sessions "$work/sessions.log" \
        discover -s "$top/bindings/python/tests" -p test_docs.py -k Sessions) >"$work/log" 2>&1 ||
        fail "sessions in $1: $(cat "$work/log")"
}
npythons=0
for python in $(ls -d /usr/bin/python3.1[0-9] "$HOME"/.pyenv/versions/3.1[0-9].*/bin/python3 2>/dev/null || true); do
    "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info)' || continue
    name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    rm -rf "$work/venv"
    "$python" -m venv "$work/venv" && "$work/venv/bin/pip" install -q --no-compile "$files"/*manylinux*x86_64.whl
    sessions "$work/venv/bin/python"
    npythons=$((npythons + 1))
    passed "the wheel in Python $name"
done
[ $npythons -gt 0 ] || fail "there is no Python"

# As aarch64, in the Python of this Debian.
arm=$top/build/cross/aarch64-python
if [ ! -e "$arm/complete" ]; then
    rm -rf "$arm"
    unpack_packages "$arm" arm64 "$debian_suite" libc6 libpython3.11-minimal libpython3.11-stdlib python3.11-minimal \
        zlib1g libexpat1 libffi8 libssl3 libbz2-1.0 liblzma5 libuuid1 libcrypt1 libtirpc3 libnsl2
    : >"$arm/complete"
fi
PYTHONHOME=$arm/usr PYTHONPATH=$work/manylinux_2_28_aarch64 sessions qemu-aarch64 -L "$arm" "$arm/usr/bin/python3.11"
passed "the wheel in Python 3.11 on aarch64"

printf 'http://e.com/a\nHTTP://E.com:80/a#top\nhttp://b\303\274cher.example/\n' >"$work/urls"
for arch in x86_64 aarch64; do
    tool=$files/unseen-static-$version-$arch
    [ "$(readelf -d "$tool" | grep -c NEEDED)" = 0 ] || fail "$tool needs a shared library"
    [ "$(qemu-$arch "$tool" -c "$work/urls")" = 2 ] || fail "$tool"
    [ "$(qemu-$arch "$tool" -s "$work/$arch.unseen" -c "$work/urls")" = 2 ] || fail "$tool: a store"
done
[ "$("$work/bin/unseen" -s "$work/aarch64.unseen" -c "$work/urls")" = 0 ] || fail "a store from aarch64"
passed "the tools"

# redis-tools has the server under another name.
ln -s /usr/bin/redis-check-rdb "$work/redis-server"
(cd "$work" && exec ./redis-server --port 0 --unixsocket "$work/redis.sock" --save "" \
    --loadmodule "$files/unseen-module-$version-x86_64.so" >redis.log 2>&1) &
server=$!
for _ in $(seq 3000); do
    [ -S "$work/redis.sock" ] && break
    sleep 0.1
done
[ "$(redis-cli -s "$work/redis.sock" UNSEEN.ADD crawl http://e.com/ HTTP://E.com:80/#x | paste -s -d ' ')" = '1 0' ] ||
    fail "the module: $(cat "$work/redis.log")"
stop_server || true
passed "the module"

mkdir "$work/source"
tar -x -f "$files/unseen-$version-source.tar.gz" -C "$work/source"
(cd "$work/source/unseen-$version" && tools/test.sh quick) >"$work/quick.log" 2>&1 || fail "$(tail -n 40 "$work/quick.log")"
passed "the source archive: $(tail -n 1 "$work/quick.log")"
finish
