#!/bin/bash
# The Debian packages: lintian accepts them, and in a Debian 12 that has nothing else they install, run,
# link and answer through the units of systemd. Needs root, for chroot. Called by tools/test.sh packages.
. "$(dirname "$0")/common.bash"
cleanup_more() {
    umount "$work/bare/proc" 2>/dev/null || true
}

tools/deb.sh
lintian --allow-root --fail-on error,warning --suppress-tags new-package-should-close-itp-bug build/deb/*.deb build/deb/*.dsc ||
    fail "lintian"
passed "lintian"

# A container may forbid what a bare Debian is made with.
mkdir "$work/may"
if ! mount --bind "$work/may" "$work/may" 2>"$work/log" || ! umount "$work/may" || ! chroot / true; then
    echo "no mount or chroot here: $(cat "$work/log")"
    echo "Test: packages/bare ......***Skipped"
    finish
    exit 0
fi

# The same Debian, from the same place as this one's packages. The index stays: apt is asked again below.
bare=$work/bare
sources=$(ls /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources 2>/dev/null || true)
mmdebstrap --quiet --variant=minbase --skip=cleanup/apt/lists bookworm "$bare" $sources >"$work/log" 2>&1 ||
    fail "mmdebstrap: $(cat "$work/log")"
mount --bind /proc "$bare/proc"
cp build/deb/*.deb "$bare/root/"
inside() {
    chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}
apt_install() {
    inside sh -c "exec apt-get install -y -q --no-install-recommends $*" >"$work/log" 2>&1 || fail "apt: $(cat "$work/log")"
}

began=$(date +%s%N)
apt_install '/root/unseen_*.deb'
echo "installed in $((($(date +%s%N) - began) / 1000000)) ms"
printf 'http://e.com/a\nHTTP://E.com:80/a#top\nhttp://e.com/b\n' >"$bare/root/urls"
[ "$(inside unseen /root/urls)" = "$(printf 'http://e.com/a\nhttp://e.com/b')" ] || fail "the tool"
[ "$(inside unseen -s /root/s.unseen -c /root/urls)" = 2 ] || fail "a store"
inside unseen --version | grep "^unseen $(dpkg-deb -f build/deb/unseen_*.deb Version)$" >/dev/null || fail "the version"
passed "the tool"
inside test -e /usr/share/man/man1/unseen-serve.1.gz || fail "no manual page"

apt_install '/root/unseen-server_*.deb'
inside getent passwd unseen | grep ':/var/lib/unseen:' >/dev/null || fail "no user unseen"
[ "$(inside stat -c '%U %G %a' /var/lib/unseen)" = 'unseen unseen 750' ] || fail "/var/lib/unseen"
passed "the server's user and folder"

# The module, in the server that Debian 12 has: redis-tools has its binary under another name.
apt_install '/root/redis-unseen_*.deb' redis-tools
inside ln -s /usr/bin/redis-check-rdb /root/redis-server
inside sh -c '/root/redis-server --port 0 --unixsocket /root/redis.sock --save "" \
    --loadmodule /usr/lib/redis/modules/unseen.so dialect valkey >/root/redis.log 2>&1 &
    for _ in $(seq 3000); do [ -S /root/redis.sock ] && break; sleep 0.1; done
    redis-cli -s /root/redis.sock UNSEEN.ADD crawl http://e.com/ HTTP://E.com:80/#x | paste -s
    redis-cli -s /root/redis.sock SHUTDOWN NOSAVE' >"$work/log" 2>&1 || true
grep -x "1$(printf '\t')0" "$work/log" >/dev/null || fail "the module: $(cat "$work/log" "$bare/root/redis.log")"
passed "the module"

apt_install '/root/python3-unseen_*.deb'
[ "$(inside python3 -c 'import unseen; s = unseen.Set(); print(s.add("http://e.com/a"), s.add("HTTP://E.com:80/a#x"))')" = \
    'True False' ] || fail "the Python package"
passed "the Python package"

# All files that a manual page names are there with unseen-doc.
apt_install '/root/unseen-doc_*.deb'
zcat "$bare"/usr/share/man/man1/unseen*.1.gz "$bare"/usr/share/man/man7/unseen*.7.gz | sed -n 's@^\.Pa \(/usr/share/[^ ]*\).*@\1@p' | sort -u >"$work/named"
[ -s "$work/named" ] || fail "no page names a document"
while read -r file; do
    [ -e "$bare$file" ] || fail "a manual page names $file, which is not installed"
done <"$work/named"
passed "$(wc -l <"$work/named") documents that pages name"

# A program, with the shared library, and without any.
apt_install '/root/libunseen*.deb' gcc libc6-dev pkg-config libunistring-dev
cp tests/build/consumer/main.c "$bare/root/"
inside sh -c 'cc /root/main.c $(pkg-config --cflags --libs unseen) -o /root/shared && /root/shared' ||
    fail "with the shared library"
inside ldd /root/shared | grep 'libunseen.so.0.1 => /' >/dev/null || fail "not linked with the shared library"
inside sh -c 'cc -static /root/main.c $(pkg-config --static --cflags --libs unseen) -o /root/static && /root/static' ||
    fail "without a shared library"
passed "programs that use the library"

# The units, as systemd reads them, and the socket that it passes on.
units=$work/units
mkdir "$units"
for kind in socket service; do
    sed "s@/usr/bin/unseen @$bare/usr/bin/unseen @; s@/var/lib/unseen@$work@; s@/run/unseen@$work@" \
        "$bare/lib/systemd/system/unseen@.$kind" >"$units/unseen@.$kind"
done
# It knows the user, and the page, of this machine only.
systemd-analyze verify "$units/unseen@test.socket" "$units/unseen@test.service" 2>&1 |
    grep -v -e 'Command .man ' -e "Failed to resolve user" >"$work/log" || true
[ ! -s "$work/log" ] || fail "systemd-analyze: $(cat "$work/log")"
command=$(sed -n 's/^ExecStart=//p' "$units/unseen@.service" | sed 's/%i/test/')
systemd-socket-activate -l "$work/test.sock" $command 2>"$work/log" &
server=$!
for _ in $(seq 3000); do
    [ -S "$work/test.sock" ] && break
    sleep 0.1
done
chmod 600 "$work/test.sock"
[ "$("$bare/usr/bin/unseen" -s "unix:$work/test.sock" -c "$bare/root/urls")" = 2 ] || fail "the served store"
[ "$("$bare/usr/bin/unseen" -s "unix:$work/test.sock" -c "$bare/root/urls")" = 0 ] || fail "the served store, again"
status=0
stop_server || status=$?
# In order, and then by the signal.
[ "$status" = 143 ] || fail "the server ended with status $status: $(cat "$work/log")"
"$bare/usr/bin/unseen" verify "$work/test.unseen" >"$work/log" && grep -q ": good, 2 added and 0 removed" "$work/log" ||
    fail "the store of the unit: $(cat "$work/log")"
passed "the units"

inside apt-get purge -y -q unseen unseen-server redis-unseen python3-unseen libunseen0.1 libunseen-dev unseen-doc >"$work/log" 2>&1 || fail "purge: $(cat "$work/log")"
left=$(inside sh -c 'find / -xdev -name "*unseen*" ! -path "/root/*" ! -path "/proc/*" ! -path "/run/*" ! -path "/var/lib/unseen*" ! -path "/var/log/*" ! -path "/var/cache/*"')
[ -z "$left" ] || fail "purge leaves $left"
passed "purge"
finish
