#!/bin/bash
# The tool without any shared library: runs in a folder that has nothing else. Needs root, for chroot. It is built by the
# command of the container file.
# Called by tools/test.sh packages.
. "$(dirname "$0")/common.bash"

build=$(sed -n 's/^RUN \(cmake -S .*\)$/\1/p' packaging/Containerfile | sed 's|/build |build/static_tool |g')
bash -c "${build/-G Ninja/-G Ninja -DUNSEEN_WERROR=ON}" >"$work/log" || fail "the build: $build: $(cat "$work/log")"
# The linker says of a function that would load a module of the name service.
! grep -q 'warning: Using' "$work/log" || fail "the name service: $(grep -A1 'warning: Using' "$work/log")"
[ "$(readelf -d build/static_tool/unseen | grep -c NEEDED)" = 0 ] || fail "it needs a shared library"
passed "linked"

root=$work/root
mkdir -p "$root/etc"
cp build/static_tool/unseen "$root/"
printf 'http://e.com/a\nHTTP://E.com:80/a#top\nhttp://b\303\274cher.example/\n' >"$root/urls"
gzip -k "$root/urls"
printf 'root:x:0:\nreaders:x:4321:\n' >"$root/etc/group"
tool() {
    chroot "$root" /unseen "$@"
}
[ "$(tool -c /urls.gz)" = 2 ] || fail "lines"
[ "$(tool canon /urls | tail -n 1)" = http://xn--bcher-kva.example/ ] || fail "IDNA"
[ "$(tool -s /s.unseen -c /urls)" = 2 ] || fail "a store"
passed "it runs alone"

chroot "$root" /unseen serve /s.unseen --listen unix:/sock --mode 660 --group readers 2>"$work/log" &
server=$!
for _ in $(seq 3000); do
    [ -S "$root/sock" ] && break
    sleep 0.1
done
[ "$(stat -c '%g %a' "$root/sock")" = '4321 660' ] || fail "the group: $(stat -c '%g %a' "$root/sock") $(cat "$work/log")"
[ "$(tool -s unix:/sock -c /urls)" = 0 ] || fail "the server"
stop_server || true
! tool serve /s.unseen --listen unix:/sock --group nobody-has-it 2>"$work/log" || fail "a group that is none"
grep -q 'there is no group nobody-has-it' "$work/log" || fail "$(cat "$work/log")"
passed "--group reads the file"
finish
