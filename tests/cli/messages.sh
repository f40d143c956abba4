# What comes from outside does not steer a terminal through a message: U+0000 to U+001F and U+007F to
# U+009F, which a terminal obeys, and bytes that are no UTF-8, which one with 8-bit characters obeys.
. "$(dirname "$0")/lib/common.bash"

# The bytes in question, all but NUL and newline; and characters that stay.
evil=$(printf 'e\033[2J\177\302\200\302\233\302\237\200\233\237\377\303\355\240\200')
evil_shown='e?[2J????????????'
fine=$(printf 'f\302\240\303\251\342\202\254\360\237\230\200')

# clean FILE: no byte of it can steer anything, whatever the terminal takes them for.
clean() {
    tests_run=$((tests_run + 1))
    [ -s "$1" ] || complain "$last: there is no message"
    ! LC_ALL=C grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" || complain "$last: $(cat -v "$1")"
    iconv -f UTF-8 -t UTF-32 "$1" > /dev/null 2>&1 || complain "$last: not UTF-8: $(cat -v "$1")"
}

run "$evil"
expect 2 '' "unseen: error: cannot open $evil_shown: No such file or directory\n"
run "$fine"
expect 2 '' "unseen: error: cannot open $fine: No such file or directory\n"
long=$(printf '\342\202\254%.0s' $(seq 3000))
run "$long" # is cut within a character
clean err

# Whatever an argument is.
head -c 100 /dev/zero > zeros
printf 'http://e.com/\n' > one
unseen build known.list one
unseen add known.unseen one
mkdir "$evil.d"
cp known.list "$evil.list"
cp known.unseen "$evil.unseen"
printf 'x' >> "$evil.unseen"
cp zeros "$evil.zeros"
: > "$evil.empty"
while IFS= read -r arguments; do
    eval "run $arguments"
    clean err
done << 'END'
-s "$evil" -p "$evil" one
-s "$evil.zeros" one
-s "$evil.d/x/y" one
-s "$evil.d" one
-s "$evil.unseen" --fpr 1e-3 one
-s "$evil.unseen" -p none one
-s "$evil.unseen" --mode 640 one
-x "$evil" one
-x "$evil.d" one
-x known.list -o "$evil.d" one
-o "$evil.d/x/y" one
-D "$evil.d" one
-p "$evil" one
-p "crawl+$evil" one
--rule "$evil" one
--filter "$evil" one
--fpr "$evil" one
--mode "$evil" -s x one
--seed-file "$evil" one
--capacity "$evil" one
--max-line "$evil" one
"--$evil" one
-k "$evil" one
-k ".$evil" one
--shard "$evil" one
"$evil.unseen"
"$evil.list"
"$evil" "$evil.d"
check "$evil" one
check "$evil.zeros" one
check known.unseen "$evil"
add "$evil.list" one
add known.unseen "$evil"
remove "$evil" one
merge "$evil" "$evil"
merge x.unseen "$evil.zeros" known.unseen
info "$evil"
info "$evil.d"
verify "$evil"
verify "$evil.zeros"
repair "$evil.zeros"
rewrite "$evil"
rewrite --fpr 1e-30 "$evil.unseen"
import "$evil.list" one
import --format "$evil" x one
recheck "$evil" one
build "$evil.zeros" one
build "$evil.d" one
build x.list "$evil"
build --kind "$evil" x.list one
build --from "$evil" x.list one
build --known-good "$evil" x.list one
allow "$evil" one
allow "$evil.unseen" one
allow known.list "$evil"
update "$evil" --add one
update known.list --add "$evil"
update known.list "$evil"
sort "$evil"
count "$evil"
count --by "$evil" one
serve "$evil.list" -s
serve --protocol "$evil" known.list
serve --protocol squid --listen "$evil" known.list
plan --capacity "$evil"
plan --svg "$evil.d" --capacity 100 --fpr 0.1
explain -p "$evil" http://e.com/
canon -p "$evil" one
help "$evil"
END

# Lines.
printf '%s\n' "$evil" > evil.txt
printf '{"a":"%s"}\n{%s\n' "$evil" "$evil" > evil.jsonl
while IFS= read -r arguments; do
    eval "run $arguments"
    clean err
done << 'END'
-k 7 evil.txt
-k .b evil.jsonl
-k 7 "$evil.list" evil.txt
build --kind ip x.list evil.txt
build --kind mail x.list evil.txt
build --kind phone x.list evil.txt
build -k 7 x.list evil.txt
update known.list -k 7 --add evil.txt
sort evil.txt
import --format requests.seen x.unseen evil.txt
END

# What info prints for people.
run info "$evil.list"
clean out
last='info'
holds grep -qF "list         $evil_shown" out

# There is no other way to a terminal: all else that writes to standard error has numbers only.
others=$(cd "$TESTS/../cli" && grep -rlE 'stderr|STDERR_FILENO|perror|[^_]err\(' --include=*.c . | sort | tr '\n' ' ')
[ "$others" = './main.c ./options/help.c ./print/message.c ./print/progress.c ' ] ||
    complain "messages from elsewhere: $others"
finish
