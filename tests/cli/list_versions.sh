# A list of sites that was built before URLs were read as browsers read them: it is asked in its old
# way, with a warning, and builds a new list.
. "$(dirname "$0")/lib/common.bash"

warns() { # LIST: what each command says of the old one
    printf 'unseen: warning: %s has the older kind expressions/1: some spellings of what it lists are not found\nunseen: hint: unseen build --from %s %s FILE builds it anew from its entries\n' "$1" "$1" "$1"
}

printf '%s\n' evil.example 'bad.example/a\b' shop.example/free/ a.b.c.d.deep.example > sites.txt
cat > spelt.txt <<'END'
http://www.evil.example/
http:\\evil.example\login
http:/evil.example/
http:evil.example
http:///evil.example/
http://evil.example\@good.example/
http://good.example%2f@evil.example/
http://good.example/\evil.example/
http://evil.example%2f@good.example/
http://bad.example/a/b
http://shop.example/x/..\free\1
http://x.y.a.b.c.d.deep.example/
//evil.example
evil.example\login
http://shop.example/
END
head -n 7 spelt.txt > found.txt
printf '%s\n' http://bad.example/a/b 'http://shop.example/x/..\free\1' \
    http://x.y.a.b.c.d.deep.example/ //evil.example 'evil.example\login' >> found.txt

run build --expressions new.list sites.txt
expect 0 '' ''
run check new.list spelt.txt
expect 0 "$(sed 's/\\/\\\\/g; s/%/%%/g' found.txt)\n" ''
holds [ "$(unseen info new.list | sed -n 's/^kind  *//p')" = expressions ]

# The kind can be named; the program of old built this one.
run build --kind expressions/1 old.list sites.txt
expect 0 '' ''
holds cmp -s <(dd if=old.list bs=1 skip=144 count=32 2> dd_err) <(printf 'expressions%021d' 0 | tr 0 '\0')
run check old.list spelt.txt
expect 0 'http://www.evil.example/\nhttp://evil.example%%2f@good.example/\n//evil.example\n' "$(warns old.list)\n"
run info old.list
expect 0 '*' "$(warns old.list)\n"
holds grep -q '^kind  *expressions/1$' out
run update old.list --add <(echo more.example) --remove <(echo evil.example)
expect 0 '' "$(warns old.list)\n"
run allow old.list <(echo 'bad.example/a\b')
expect 0 '' "$(warns old.list)\n"
run serve --protocol squid --expressions old.list < /dev/null
expect 0 '' "$(warns old.list)\n"

# Built anew it has the new kind, and the changes of the old one, read in the new way.
run build --from old.list old.list sites.txt
expect 0 '' ''
holds [ "$(unseen info old.list 2>&1 | sed -n 's/^kind  *//p')" = expressions ]
run allow --list old.list
expect 0 'bad.example/a/b\n' ''
printf 'http:\\\\more.example\\\nhttp:\\\\evil.example\\\nhttp:\\\\bad.example\\a/b\nhttp:\\\\shop.example\\free/\n' > in
run check --mark old.list in
expect 0 '1\thttp:\\\\more.example\\\n0\thttp:\\\\evil.example\\\n0\thttp:\\\\bad.example\\a/b\n1\thttp:\\\\shop.example\\free/\n' ''
run build --kind mail --from old.list x.list sites.txt
expect 2 '' 'unseen: error: old.list has the kind expressions, not mail\nunseen: hint: unseen build --from old.list x.list FILE, without --kind\n'
