# What is wrong is said in one sentence, with the way out; what can be done is done.
. "$(dirname "$0")/lib/common.bash"

# A file that cannot be read among several.
printf 'a\nb\n' > one
printf 'b\nc\n' > two
mkdir dir
for j in 1 2 3; do
    run -j "$j" one missing two
    expect 2 'a\nb\nc\n' 'unseen: error: cannot open missing: No such file or directory\n'
    run -j "$j" one dir two
    expect 2 'a\nb\nc\n' 'unseen: error: cannot read dir: Is a directory\n'
    run -j "$j" missing
    expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'
    run -j "$j" -c one missing
    expect 2 '2\n' '*'
    run -j "$j" -q missing one
    expect 0 '' '*'
    run -j "$j" -q missing
    expect 2 '' '*'
    run -j "$j" -m 1 one missing
    expect 0 'a\n' '*' # another thread may have tried the second file already
    [ "$j" -gt 1 ] || expect 0 'a\n' ''
    run -j "$j" -m 1 missing one
    expect 2 'a\n' 'unseen: error: cannot open missing: No such file or directory\n'
done
cp one locked
chmod 0 locked
if [ ! -r locked ]; then
    run locked two
    expect 2 'b\nc\n' 'unseen: error: cannot open locked: Permission denied\n'
else
    printf 'skipped: a file without permission, this user may read it\n'
fi
# Names that would steer a terminal.
run "$(printf 'x\033[31m\ny')"
expect 2 '' 'unseen: error: cannot open x?[31m?y: No such file or directory\n'

# Options.
wrong() { # WANT_ERROR WANT_HINT ARG...
    want_error=$1
    want_hint=$2
    shift 2
    run "$@"
    expect 2 '' "unseen: error: $want_error\nunseen: hint: $want_hint\n"
}
wrong 'unknown option --uniqe' 'unseen --help' --uniqe
wrong 'unknown option --ouput' 'unseen --output x' --ouput=x
wrong 'unknown option --counts' 'unseen --count' --counts
# Names are written out: a beginning must not reach an option that empties a file.
cp one precious
wrong 'unknown option --rep' 'unseen --repeats precious' --rep precious
wrong 'unknown option --outp' 'unseen --output precious' --outp=precious
same one precious
wrong 'unknown option -Q' 'unseen --help' -Q
wrong 'unknown option -Q' 'unseen --help' -vQc
wrong '--count takes no value' 'unseen --count' --count=3
wrong '--max needs a value: N' 'such as --max 1000' -m
run one --output
expect 2 '' 'unseen: error: --output needs a value: FILE\n'
for value in x -1 1.5 1e30 1e 0x10 5Q 5KK '' ' 1' 18446744073709551616; do
    wrong "--max: '$value' is not a number of lines" 'such as --max 1000' -m "$value"
done
for value in 0 1 2 -1 1e x 1%% nan inf 0x1p-4 ''; do
    wrong "--fpr: '$value' is not a rate above 0 and below 1" 'such as --fpr 1e-6' --fpr "${value/\%\%/%}"
done
wrong '--fpr 1e-13: the filter promises no false-positive rate this low' 'unseen --fpr 1e-12' --fpr 1e-13
wrong '--filter nothing: no such name' 'unseen help filters' --filter nothing
for seed in '' 0x 0X 0x1 0xabc 0xgg "0x12 "; do
    wrong "--seed: its value is not a text, or 0x and pairs of hexadecimal digits" 'such as --seed 0x$(openssl rand -hex 32)' --seed "$seed"
done
wrong "--max-line: '-1' is not a number of bytes" 'such as --max-line 64K' --max-line -1
for value in 40 32 9 x ''; do
    wrong "--long: '$value' is not a number from 10 to 31" 'such as --long=31' --long="$value"
done
for value in 0/2 3/2 1 1/ /2 1/0 a/b 1/2/3 1/1000001; do
    wrong "--shard: '$value' is not a share I/N with I from 1 to N" 'such as --shard 1/4' --shard "$value"
done
for value in 0 -1 x 1025; do
    wrong "--threads: '$value' is not auto or a number from 1 to 64" 'such as --threads 2' -j "$value"
done
run --stats=xml
expect 2 '' "unseen: error: --stats: 'xml' is not text or json\n"
run --progress=maybe
expect 2 '' "unseen: error: --progress: 'maybe' is not auto, always or never\n"
wrong "--stats: 'jsn' is not text or json" 'unseen --stats=json one' --stats=jsn one
wrong "no help on 'chek'" 'unseen help check' help chek
wrong "no profile 'crwl'" 'unseen --profile crawl' -p crwl
wrong "no profile 'url'" 'unseen help profiles' --profile url
wrong "no profile 'Crawl'" 'unseen canon --profile crawl' canon -p Crawl
wrong "no profile ''" 'unseen help profiles' -p ''
wrong "no rule 'strip-ww'" 'unseen --rule strip-www' --rule strip-ww
wrong "no rule 'no-strip-ww'" 'unseen explain --rule strip-www,no-strip-www u' explain --rule strip-www,no-strip-ww u
wrong "no rule 'sort'" 'unseen help rules' --rule sort-query --rule sort
wrong 'the profile scrapy does not have the rule strip-www' 'unseen --profile crawl --rule keep-fragment,strip-www' -p scrapy \
    --rule keep-fragment,strip-www
wrong 'the profile crawl does not have the rule drop-blank-values' \
    'unseen --profile scrapy --rule drop-blank-values' --rule drop-blank-values
wrong 'the profile none does not have the rule strip-www' 'unseen --profile crawl --rule strip-www' -p none --rule strip-www
for value in '' ',' 'a,' ',a' a,,b; do
    wrong "--rule: '$value' is not a list of rules" 'such as --rule strip-www' --rule "$value"
done
wrong '--profile needs a value: NAME' 'such as --profile crawl' -p
wrong 'unknown option -v' 'unseen canon --help' canon -v
wrong 'unknown option --jsno' 'unseen canon --json' canon --jsno
wrong 'unknown option --stats' 'unseen canon --help' canon --stats=json
wrong 'unknown option -0' 'unseen explain --help' explain -0
wrong "--base: 'x/y' is not a URL" 'unseen canon --base http://e.com/a/' canon --base x/y
run --capacity 1e18
expect 2 '' '*'
holds grep -q '^unseen: hint: ' err

# An option behind a file is the one that is named, in every command; so is the nearest one.
wrong 'unknown option --foo' 'unseen --help' one --foo
wrong 'unknown option --ouput' 'unseen --output FILE one two' one two --ouput
wrong 'unknown option --ouput' 'unseen --output x one two' one --ouput=x two
wrong 'unknown option --counts' 'unseen check --count s.unseen one' check s.unseen one --counts
wrong 'unknown option --foo' 'unseen build --help' build x.list one --foo
wrong '--count takes no value' 'unseen --count one' one --count=3
wrong 'unknown option --rep' 'unseen --repeats precious one' one --rep precious
# Letters that changed places are near; another short word is not.
wrong 'unknown option --sotre' 'unseen --store STORE' --sotre
for option in --foo --url --fop --xyz; do
    wrong "unknown option $option" 'unseen --help' "$option"
done
wrong '--sort is not an option of this tool: the order is always that of the input' 'unseen | sort' --sort
wrong '--head is not an option of this tool: it has another name here' 'unseen -m N FILE' --head
wrong '--json is not an option of this tool: lines are printed as they came' \
    'JSON lines are read with -k .url, and --stats=json prints figures' --json
wrong '--seed is not an option of unseen merge: NEW gets the seed of the first IN' \
    'the inputs must be made with one --seed-file' merge --seed 42 a b
wrong '--seed is not an option of unseen rewrite: a store keeps the seed that it was made with' \
    'to make another store: unseen add --seed-file seed.key NEW.unseen FILE' rewrite --seed 42 a

wrong '-o is not an option of unseen merge: the new store is the first name' 'unseen merge a b' merge -o a b
wrong '-o is not an option of unseen build: the list is the first name' 'unseen build a b' build -o a b
wrong '-n is not an option of unseen sort: integers are sorted by their value anyway' 'unseen sort one' sort -n one
wrong '-c is not an option of unseen count: it counts anyway' 'unseen count one' count -c one
wrong '--add is not an option of unseen allow: the lines of the input are allowed' 'unseen allow bad.list one' allow bad.list --add one
wrong 'unknown protocol nginx: it is one of squid, squid-rewrite, postfix-policy, tcp-table, socketmap, http-auth' \
    'unseen serve --protocol http-auth bad.list' serve bad.list --protocol nginx
wrong 'unknown protocol squit: it is one of squid, squid-rewrite, postfix-policy, tcp-table, socketmap, http-auth' \
    'unseen serve --protocol squid bad.list' serve bad.list --protocol squit
wrong '--port is not an option of unseen serve: it has another name here' 'unseen serve STORE --listen 8080' serve s --port 80
wrong '--explain is not an option of unseen check: it has another name here' 'unseen check --why s' check --explain s
wrong "--by: 'domain' is not a field number, a .path or host" 'unseen count --by host one' count --by domain one

# A command that does not exist. Its name alone is taken for one: not a path, not a name with a dot.
unseen add s.unseen one
wrong 'no file and no command chek; did you mean check?' 'unseen check s.unseen one' chek s.unseen one
wrong 'no file and no command rm; did you mean remove?' 'unseen remove s.unseen one' rm s.unseen one
wrong 'no file and no command stat; did you mean info?' 'unseen info s.unseen' stat s.unseen
wrong 'no file and no command query; did you mean check?' 'unseen check s.unseen one' query s.unseen one
wrong 'no file and no command explian; did you mean explain?' 'unseen explain http://e.com/' explian http://e.com/
wrong 'no file and no command list' 'a store keeps keys of lines, not the lines; for what is in it: unseen info STORE' list s.unseen
wrong 'no file and no command export' 'a store keeps keys of lines, not the lines; for what is in it: unseen info STORE' export s.unseen
wrong 'no file and no command foo' 'for the commands: unseen -h' foo
wrong 'no file and no command diff' 'for the lines of NEW that OLD lacks: unseen -x OLD NEW' diff one two
wrong 'no file and no command blacklist; did you mean build?' 'unseen build one' blacklist one
wrong 'no file and no command version' 'unseen --version' version
wrong 'no file and no command foo' 'for the commands: unseen -h' foo one --mark
wrong 'no file and no command compact; did you mean rewrite?' 'unseen rewrite s.unseen' compact s.unseen
wrong "no help on 'compact'" 'unseen help rewrite' help compact
wrong "no help on 'rm'" 'unseen help remove' help rm
for name in foo.txt ./foo foo1 Foo; do
    run "$name" one
    expect 2 'a\nb\n' "unseen: error: cannot open $name: No such file or directory\n"
done
cp one chek
run chek
expect 0 'a\nb\n' ''
run -q foo one # behind an option it is a file
expect 0 '' '*'

# A line where a file belongs.
not_a_file='is not a file; lines come from files or from standard input'
wrong "http://e.com/ $not_a_file" "echo http://e.com/ | unseen" http://e.com/
wrong "http://e.com/ $not_a_file" "echo http://e.com/ | unseen check s.unseen" check s.unseen http://e.com/
wrong "http://e.com/ $not_a_file" "echo http://e.com/ | unseen add s.unseen one -" add s.unseen one http://e.com/
wrong "jo@e.example $not_a_file" "echo jo@e.example | unseen check s.unseen" check s.unseen jo@e.example
wrong "192.0.2.7 $not_a_file" "echo 192.0.2.7 | unseen check s.unseen" check s.unseen 192.0.2.7
wrong "10.0.0.0/8 $not_a_file" "echo 10.0.0.0/8 | unseen allow n.list" allow n.list 10.0.0.0/8
# A server that is named where a number belongs, and files that are sockets.
wrong 'localhost:7999: the address of a server is in numbers' 'such as 127.0.0.1:7999, or, if it is the name of a file, ./localhost:7999' \
    -s localhost:7999 one
wrong 'example.com:8080: the address of a server is in numbers' \
    'such as 127.0.0.1:8080, or, if it is the name of a file, ./example.com:8080' check example.com:8080 one
run -s visited-10:30 one
expect 0 'a\nb\n' ''
holds [ ! -e localhost:7999 ]
run -s ./localhost:7999 one
expect 0 'a\nb\n' ''
run -s localhost:7999 one # it is a file now
expect 0 '' ''
wrong 'cannot listen on localhost:7999: Invalid argument' 'an address in numbers: unseen serve --listen 127.0.0.1:7999 s.unseen' \
    serve s.unseen --listen localhost:7999
wrong 'cannot listen on run/x.sock: Invalid argument' 'unseen serve --listen unix:run/x.sock s.unseen' serve s.unseen --listen run/x.sock
wrong 'cannot listen on unix:run/x.sock: No such file or directory' 'mkdir -p run' serve s.unseen --listen unix:run/x.sock
run serve s.unseen --listen unix:x.sock --group no-such-group
expect 2 '' 'unseen: error: cannot listen on unix:x.sock: there is no group no-such-group\n'
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("left.sock")'
wrong 'left.sock is not a store: it is not a regular file' 'it is the socket of a server: unix:left.sock' -s left.sock one

# The line in front of the store.
wrong 'http://e.com/ is a URL: the first name is that of the store' "echo http://e.com/ | unseen check s.unseen" check http://e.com/ s.unseen
wrong 'http://e.com/ is a URL: the first name is that of the store' "echo http://e.com/ | unseen add STORE" add http://e.com/
wrong 'http://e.com/ is a URL: the first name is that of the list' "echo http://e.com/ | unseen allow LIST" allow http://e.com/
cp one 192.0.2.7
run 192.0.2.7
expect 0 'a\nb\n' ''
run check s.unseen missing
expect 2 '' 'unseen: error: cannot open missing: No such file or directory\n'

# Twice is not last.
wrong '--store is given twice: a.unseen and b.unseen' \
    'unseen -s a.unseen -x b.unseen one' -s a.unseen --store=b.unseen one
wrong '--output is given twice: a and b' 'unseen one | tee a > b' -o a -o b one
wrong '--repeats is given twice: a and b' 'unseen -D a one && cp a b' -D a -D b one
holds [ ! -e a -a ! -e b -a ! -e a.unseen -a ! -e b.unseen ]
run -s s.unseen -s s.unseen one
expect 0 '' ''
for option in store output; do
    run --$option '' one
    expect 2 '' "unseen: error: --$option: '' is not a file name\n"
done
wrong 'the name of the store is empty' 'unseen check [OPTION]... STORE [FILE]...' check '' one

# What is no store: the command that makes one of it.
wrong 'one is not a store' \
    'unseen -x one two\nunseen: hint: to make a store of the lines: unseen import --format anew NEW.unseen one' -s one two
run info dir
expect 2 '' '*'
holds grep -qx 'unseen: hint: it is a folder: name a file in it' err
mkdir ro
chmod 555 ro
if ! touch ro/x 2> /dev/null; then
    run -s ro/new.unseen one
    holds grep -qx 'unseen: hint: unseen --store OTHER-FOLDER/new.unseen one' err
fi

# A processor level that this one lacks.
export UNSEEN_CPU=avx1024
wrong 'UNSEEN_CPU=avx1024: no such processor level' 'UNSEEN_CPU=portable, avx2 or avx512' one
unset UNSEEN_CPU
if command -v qemu-x86_64 > /dev/null && ! sanitized && qemu-x86_64 -cpu Nehalem "$UNSEEN" -V > out 2> err; then
    holds grep -qx 'SIMD level: portable (this processor has portable)' out
    UNSEEN_CPU=avx512 qemu-x86_64 -cpu Nehalem "$UNSEEN" one > out 2> err
    status=$?
    expect 2 '' 'unseen: error: UNSEEN_CPU=avx512: this processor lacks that level\nunseen: hint: UNSEEN_CPU=portable is its best level, and the default\n'
fi

# Habits from uniq, sort and anew that mean something else here.
for option in -d -u -i -f -w -r -a -l --unique --repeated --ignore-case --head --sort --json --skip-fields --zero-terminated \
    --field-separator --max-count; do
    run $option one
    expect 2 '' '*'
    holds grep -q "^unseen: error: $option is not an option of this tool: " err
    holds grep -q '^unseen: hint: ' err
    holds [ "$(wc -l < err)" = 2 ]
done

run -i one
expect 2 '' 'unseen: error: -i is not an option of this tool: the case of scheme and host never matters in a URL, but paths differ by it\nunseen: hint: unseen one\n'

# Numbers as people write them.
for value in 2 2e0 0.002K 2K 2k 1e3 2M 1G 1T; do
    run -m "$value" one
    expect 0 'a\nb\n' ''
done
run -j auto -m 1e9 --capacity 1.5K --max-line=1M one
expect 0 'a\nb\n' ''
for long in 10 31; do
    run --long=$long one
    expect 0 'a\nb\n' ''
done

# Bundles, options behind files, the end of options.
run one -cx two
expect 0 '1\n' ''
cp one ./-c
run -- -c
expect 0 'a\nb\n' ''
cp one dedup
run ./dedup
expect 0 'a\nb\n' ''
run dedup dedup
expect 0 'a\nb\n' ''
# A password with a / or ? that is not encoded is shown nowhere.
for url in redis://:pa/ss@127.0.0.1/k redis://ann:pa?ss@127.0.0.1/k redis://:p@a/ss@127.0.0.1/k; do
    for words in "check $url" "-s $url" "--store=$url" "info -x $url"; do
        REDISCLI_AUTH=other run $words in
        expect 2 '' 'unseen: error: an @ stands behind a / or ?: in a password write / as %%2F and ? as %%3F, in a key @ as %%40\n'
    done
done
run explain redis://127.0.0.1/a@b
expect 0 '*' ''
# A command behind an option is no file, and nothing is printed before.
echo http://line/ > lines
for words in '-p none canon lines' 'lines canon' '-v lines canon'; do
    run $words
    expect 2 '' 'unseen: error: no file canon, which is the name of a command\nunseen: hint: the command comes first: unseen canon [OPTION]... [FILE]...\n'
done
cp lines canon
run lines ./canon canon
expect 0 'http://line/\n' ''
rm canon

# Options that do not go together, or not without another one: the words, the error, the hint.
echo a seed > k
unseen add s one
while IFS='|' read -r words error hint; do
    error=${error# }
    run $words
    expect 2 '' "unseen: error: ${error% }\nunseen: hint:$hint\n"
done << 'END'
sort -c -u f | -c prints each integer once, and so does -u | unseen sort -c f
--mark -v f | --mark prints every line, -v prints the repeats | unseen --mark f
check --mark -v s f | -v prints what is not in the store, --mark prints every line | unseen check --mark s f
-c --mark f | -c prints a number, --mark prints every line | unseen -c f
-q -c f | -c prints a number, -q prints nothing | unseen -c f
-q --mark f | -q prints nothing, --mark prints every line | unseen -q f
check -q --mark s f | -q prints nothing, --mark prints every line | unseen check -q s f
-q -o x f | -q prints nothing, -o writes lines | unseen -q f
check -q -o x s f | -q prints nothing, -o writes lines | unseen check -q s f
-q -D x f | -D prints the repeats, -q prints nothing | unseen -o NEW -D x f
-v -D x f | -D prints the repeats, and so does -v | unseen -o NEW -D x f
check --json -v s f | --json prints an object for each line, -v prints what is not in the store | unseen check --json s f
check --json --mark s f | --json prints an object for each line, --mark prints every line | unseen check --json s f
check --json -c s f | --json prints an object for each line, -c prints a number | unseen check --json s f
check --json -q s f | --json prints an object for each line, -q prints nothing | unseen check --json s f
check --why -c s f | --why prints the lines that are found, -c prints a number | unseen check --why s f
check --why -q s f | --why prints the lines that are found, -q prints nothing | unseen check --why s f
check --why --mark s f | --mark prints every line, --why prints the lines that are found | unseen check --json --why s f
--tee f | --tee has no meaning without -o | unseen -o NEW --tee f
-c --tee -o x f | -c prints a number, --tee prints lines | unseen -c -o x f
--no-log f | --no-log has no meaning without -s | unseen -s STORE --no-log f
--key-bits 96 f | --key-bits has no meaning without -s | unseen -s STORE --key-bits 96 f
--mode 640 f | --mode has no meaning without -s | unseen -s STORE --mode 640 f
--token-file x f | --token-file has no meaning without -s | unseen -s ADDR:PORT --token-file x f
--wait f | --wait has no meaning without -s | unseen -s STORE --wait f
--like s f | --like has no meaning without -s | unseen -s NEW --like s f
-n f | -n has no meaning without -s or -x | unseen -s STORE -n f
add --like s --seed 1 n f | --like takes seed, profile and key bits from a store, --seed says the seed | unseen add --like s n f
add --like s --seed-file k n f | --like takes seed, profile and key bits from a store, --seed-file says the seed | unseen add --like s n f
add --like s -p crawl n f | --like takes seed, profile and key bits from a store, -p says which spellings are one URL | unseen add --like s n f
add --like s --rule strip-www n f | --like takes seed, profile and key bits from a store, --rule says which spellings are one URL | unseen add --like s n f
add --like s --drop-params a n f | --like takes seed, profile and key bits from a store, --drop-params says which spellings are one URL | unseen add --like s n f
add --like s --only-params a n f | --like takes seed, profile and key bits from a store, --only-params says which spellings are one URL | unseen add --like s n f
add --like s --key-bits 96 n f | --like takes seed, profile and key bits from a store, --key-bits says how long keys are | unseen add --like s n f
-s n --like s --seed 1 f | --like takes seed, profile and key bits from a store, --seed says the seed | unseen -s n --like s f
serve --like s --key-bits 96 n | --like takes seed, profile and key bits from a store, --key-bits says how long keys are | unseen serve --like s n
-s s --no-log -o x f | -o with -s is written exactly once, for which a store needs its log | unseen -s s -o x f
-s s -n -o x f | -o with -s has each line exactly once, and with -n those lines come again | unseen -s s -n f > NEW
-s s -c -o x f | -o with -s has each line exactly once, and -c prints a number | unseen -s s -c f > NEW
-t , f | -t has no meaning without -k or --time | unseen -k 1 -t , f
canon -t , f | -t has no meaning without -k | unseen canon -k 1 -t , f
count -t , f | -t has no meaning without -k or --by | unseen count -k 1 -t , f
check -t , s f | -t has no meaning without -k | unseen check -k 1 -t , s f
build -t , l f | -t has no meaning without -k | unseen build -k 1 -t , l f
-t , -k .url f | -t has no meaning with a JSON path | unseen -k .url f
count --returning f | --returning has no meaning without --by | unseen count -k 1 --by 2 --returning f
count --both --by 1 f g | --both counts what files share, --by counts each group apart | unseen count --both f g
--missing skip f | --missing has no meaning without -k or --time | unseen -k 1 --missing skip f
check --missing skip s f | --missing has no meaning without -k | unseen check -k 1 --missing skip s f
build -k 1,2 l f | an entry of a list is one text, -k names several | unseen build -k 1 l f
count --by host -k 1,2 f | --by host takes one URL, -k names several parts | unseen count -k 1 --by host f
canon --surt -k 1,2 f | --surt takes one URL, -k names several parts | unseen canon -k 1 --surt f
canon --fingerprint -k 1,2 f | --fingerprint takes one URL, -k names several parts | unseen canon -k 1 --fingerprint f
canon --expressions -k 1,2 f | --expressions takes one URL, -k names several parts | unseen canon -k 1 --expressions f
--format jsonl f | --format jsonl needs a path: -k .PATH | unseen -k .url --format jsonl f
--format lines -k .url f | a line has numbered fields, not a path | unseen -k .url f
import --from-redis 127.0.0.1:1 --format anew s k | --from-redis reads a filter of RedisBloom, --format says what a file is | unseen import --from-redis 127.0.0.1:1 s k
-c --canonical f | -c prints a number, --canonical prints canonical forms | unseen -c f
-q --canonical f | -q prints nothing, --canonical prints canonical forms | unseen -q f
check -q --canonical s f | -q prints nothing, --canonical prints canonical forms | unseen check -q s f
--seed 1 --seed-file k f | --seed-file says the seed, and so does --seed | unseen --seed-file k f
build --seed 1 --seed-file k l f | --seed-file says the seed, and so does --seed | unseen build --seed-file k l f
count --seed 1 --seed-file k f | --seed-file says the seed, and so does --seed | unseen count --seed-file k f
canon --surt --expressions f | --surt prints keys by rules of its own, --expressions prints several lines for a URL | unseen canon --surt f
canon --surt -p crawl f | --surt prints keys by rules of its own, -p says which spellings are one URL | unseen canon --surt f
canon --surt --rule strip-www f | --surt prints keys by rules of its own, --rule says which spellings are one URL | unseen canon --surt f
canon --keep-www f | --keep-www has no meaning without --surt | unseen canon --surt --keep-www f
canon --fingerprint --surt f | --fingerprint prints fingerprints, --surt prints keys by rules of its own | unseen canon --fingerprint f
canon --fingerprint --expressions f | --fingerprint prints fingerprints, --expressions prints several lines for a URL | unseen canon --fingerprint f
canon --fingerprint -p crawl f | --fingerprint is Scrapy's, and needs -p scrapy | unseen canon --fingerprint f
canon --expressions --shard 20 f | --shard prints the share of each line, --expressions prints several lines for a URL | unseen canon --shard 20 f
--bits 20 --fpr 1e-4 f | --bits sets the rate, and so does --fpr | unseen --filter bloom --hashes 10 --capacity 1e6 --bits 20 f
canon --base http://e.com/ -p none f | -p none reads no URLs, --base has nothing to resolve | unseen canon --base http://e.com/ f
serve --group g s | --group has no meaning without --listen | unseen serve --listen unix:PATH --group g s
serve --max-clients 3 s | --max-clients has no meaning without --listen | unseen serve --listen unix:PATH --max-clients 3 s
serve --token-file x s | --token-file has no meaning without --listen | unseen serve --listen PORT --token-file x s
serve --reply x s | --reply has no meaning without --protocol | unseen serve --protocol tcp-table --reply x s
serve --redirect x s | --redirect has no meaning without --protocol | unseen serve --protocol squid-rewrite --redirect x s
serve --expressions s | --expressions has no meaning without --protocol | unseen serve --protocol squid --expressions s
END
rm k s
holds [ ! -e x ]
# Options that would change nothing.
for n in 0 65 1000; do
    run -j $n lines
    expect 2 '' "unseen: error: --threads: '$n' is not auto or a number from 1 to 64\nunseen: hint: such as --threads 2\n"
done
run -j 64 lines
expect 0 'http://line/\n' ''
run -n -x lines lines
expect 0 '' ''
# Options of clients, where there are none, or none that they are for.
refuses() { # ERROR HINT WORDS...
    run serve "${@:3}" clients.unseen
    expect 2 '' "unseen: error: $1\nunseen: hint: unseen serve $2\n"
}
refuses '--group is for a unix: socket, and 127.0.0.1:0 is not one' '--listen unix:PATH --group users clients.unseen' \
    --group users --listen 127.0.0.1:0
refuses '--token-file is for a port: who may open a unix: socket may change the store' \
    '--mode 660 --group GROUP --listen unix:x.sock clients.unseen' --token-file missing --listen unix:x.sock
refuses '--token-file lets clients change the store, which -n never does' \
    '-n --listen 127.0.0.1:0 clients.unseen' -n --token-file missing --listen 127.0.0.1:0
refuses '--token-file lets clients change the store, which --protocol never does' \
    '--protocol squid --listen 127.0.0.1:0 clients.unseen' --protocol squid --token-file missing --listen 127.0.0.1:0
holds [ ! -e clients.unseen ]
finish
