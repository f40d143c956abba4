# The programs of examples/c, and that of docs/c.md, compile as a user's do, with the public headers and the library,
# and do what they say.
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

sed -n '/^```c$/,/^```$/p' docs/c.md | sed '/^```/d' >"$work/smallest.c"
for program in examples/c/*.c "$work/smallest.c"; do
    cc -std=c11 -O1 -pedantic -Wall -Wextra -Werror -Iinclude "$program" "$BUILD/libunseen.a" -lidn2 -lsodium -lm -pthread \
        -o "$work/$(basename "$program" .c)" || fail "$program does not compile"
done
cd "$work"

# blacklist: a page of a listed site is found in any spelling, and a line that is not a site is refused.
printf 'evil.example\ngood.example/bad/\n' >sites.txt
printf '%s\n' http://evil.example/a https://WWW.EVIL.example:8443/ http://good.example/ http://good.example/./bad/x?y >urls.txt
./blacklist build sites.list <sites.txt || fail "blacklist build"
[ "$(./blacklist ask sites.list <urls.txt | tr '\n' ' ')" = \
    "http://evil.example/a https://WWW.EVIL.example:8443/ http://good.example/./bad/x?y " ] || fail "blacklist ask"
if printf 'evil.example\ncom\n' | ./blacklist build other.list 2>err || [ -e other.list ]; then
    fail "blacklist takes a bare top-level domain"
fi
grep -q "'com'" err || fail "blacklist does not say what is wrong: $(cat err)"

[ "$(./smallest | tr '\n' ' ')" = 'new  http://e.com/a new  http://e.com/b seen HTTP://E.com/a ' ] || fail smallest

# dedup and store: a line once, in any spelling; a store remembers.
printf '%s\n' http://e.com/a HTTP://E.com:80/a#top http://e.com/b http://e.com/a >urls.txt
[ "$(./dedup <urls.txt | tr '\n' ' ')" = 'http://e.com/a http://e.com/b ' ] || fail dedup
[ "$(./store visited <urls.txt | tr '\n' ' ')" = 'http://e.com/a http://e.com/b ' ] || fail store
printf '%s\n' http://e.com/b# http://e.com/c >urls.txt
[ "$(./store visited <urls.txt)" = http://e.com/c ] || fail "store forgets"
printf 'not a store\n' >other
if ./store other <urls.txt 2>err; then fail "store takes a file that is not a store"; fi
grep -q other err || fail "store does not say what is wrong: $(cat err)"
