# The commands of SECURITY.md for a secret that got out, as typed: the new store knows every line under another
# secret, nothing of the old secret is left, and the run with -o goes on.
. "$(dirname "$0")/lib/common.bash"

mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH
seq 300000 | sed 's,^,http://e.com/,' > urls # enough for an image
holds unseen -s visited.unseen -o seen.txt urls
holds test -e visited.unseen.image
old=$(unseen info visited.unseen | sed -n 's/^seed id *//p')

sed -n '/^## A secret that got out/,$s/^    \(unseen\|rm\|mv\) /\1 /p' "$TESTS/../SECURITY.md" > commands
holds [ "$(wc -l < commands)" = 5 ]
holds sh -e commands > said
holds grep -q 'new.unseen: good, 300000 added' said
holds [ "$old" != "$(unseen info visited.unseen | sed -n 's/^seed id *//p')" ]
holds test ! -e visited.unseen.image

echo http://e.com/new >> urls
holds unseen -s visited.unseen -o seen.txt urls
holds [ "$(wc -l < seen.txt)" = 300001 ]
finish
