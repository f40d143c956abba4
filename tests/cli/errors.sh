# What is wrong is said in one sentence, with the way out; what can be done is done.
. "$(dirname "$0")/lib/common.bash"

# A file that cannot be read among several.
printf 'a\nb\n' > one
printf 'b\nc\n' > two
mkdir dir
for j in 1 2; do
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
    [ "$j" = 2 ] || expect 0 'a\n' ''
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
wrong 'unknown option --ouput' 'unseen --output' --ouput=x
wrong 'unknown option --counts' 'unseen --count' --counts
# Names are written out: a beginning must not reach an option that empties a file.
cp one precious
wrong 'unknown option --rep' 'unseen --repeats' --rep precious
wrong 'unknown option --outp' 'unseen --output' --outp=precious
same one precious
wrong 'unknown option -Q' 'unseen --help' -Q
wrong 'unknown option -Q' 'unseen --help' -vQc
wrong '--count takes no value' 'unseen --count' --count=3
wrong '--max needs a value: N' 'unseen --max 1000' -m
wrong '--output needs a value: FILE' 'unseen --output FILE' one --output
for value in x -1 1.5 1e30 1e 0x10 5Q 5KK '' ' 1' 18446744073709551616; do
    wrong "--max: '$value' is not a number of lines" 'unseen --max 1000' -m "$value"
done
for value in 0 1 2 -1 1e x 1%% nan inf 0x1p-4 ''; do
    wrong "--fpr: '$value' is not a rate above 0 and below 1" 'unseen --fpr 1e-6' --fpr "${value/\%\%/%}"
done
wrong '--fpr 1e-12: the filter promises no false-positive rate this low' 'unseen --fpr 5e-9' --fpr 1e-12
wrong '--filter nothing: no such name' 'unseen help filters' --filter nothing
for seed in '' 0x 0X 0x1 0xabc 0xgg "0x12 "; do
    wrong "--seed: its value is not a text, or 0x and pairs of hexadecimal digits" 'unseen --seed 0x$(openssl rand -hex 32)' --seed "$seed"
done
wrong "--max-line: '-1' is not a number of bytes" 'unseen --max-line 64K' --max-line -1
wrong '--long takes no value' 'unseen --long' --long=27
for value in 0/2 3/2 1 1/ /2 1/0 a/b 1/2/3 1/1000001; do
    wrong "--shard: '$value' is not a share I/N with I from 1 to N" 'unseen --shard 1/4' --shard "$value"
done
for value in 0 -1 x 1025; do
    wrong "--threads: '$value' is not a number of threads or auto" 'unseen --threads 2' -j "$value"
done
wrong "--stats: 'xml' is not text or json" 'unseen --stats=json' --stats=xml
wrong "--progress: 'maybe' is not auto, always or never" 'unseen --progress=never' --progress=maybe
wrong "no help on 'chek'" 'unseen help check' help chek
wrong "no profile 'crwl'" 'unseen -p crawl' -p crwl
wrong "no profile 'url'" 'unseen help profiles' --profile url
wrong "no profile 'Crawl'" 'unseen canon -p crawl' canon -p Crawl
wrong "no profile ''" 'unseen help profiles' -p ''
wrong "no rule 'strip-ww'" 'unseen --rule strip-www' --rule strip-ww
wrong "no rule 'no-strip-ww'" 'unseen explain --rule no-strip-www' explain --rule strip-www,no-strip-ww u
wrong "no rule 'sort'" 'unseen help rules' --rule sort-query --rule sort
wrong 'the profile scrapy does not have the rule strip-www' 'unseen -p crawl --rule strip-www' -p scrapy \
    --rule keep-fragment,strip-www
wrong 'the profile crawl does not have the rule drop-blank-values' \
    'unseen -p scrapy --rule drop-blank-values' --rule drop-blank-values
wrong 'the profile none does not have the rule strip-www' 'unseen -p crawl --rule strip-www' -p none --rule strip-www
for value in '' ',' 'a,' ',a' a,,b; do
    wrong "--rule: '$value' is not a list of rules" 'unseen --rule strip-www' --rule "$value"
done
wrong '--profile needs a value: NAME' 'unseen --profile crawl' -p
wrong '-c prints a number, --canonical lines' 'unseen -c FILE' -c --canonical
wrong '-q prints nothing, --canonical lines' 'unseen -q FILE' -q --canonical
wrong 'unknown option -v' 'unseen canon --help' canon -v
wrong 'unknown option --jsno' 'unseen canon --json' canon --jsno
wrong 'unknown option --json' 'unseen canon --json' --json
wrong 'unknown option --stats' 'unseen --stats' canon --stats=json
wrong 'unknown option -0' 'unseen explain --help' explain -0
wrong '-t has no meaning without -k' 'unseen canon -t , -k 1 FILE' canon -t ,
wrong "--base: 'x/y' is not a URL" 'unseen canon --base http://e.com/a/' canon --base x/y
wrong '-p none reads no URLs, --base has nothing to resolve' 'unseen canon --base URL FILE' canon -p none --base http://e.com/
run --capacity 1e18
expect 2 '' '*'
holds grep -q '^unseen: hint: ' err

# Habits from uniq, sort and anew that mean something else here.
for option in -d -u -i -f -w -r -a -l --unique --repeated --ignore-case --skip-fields --zero-terminated \
    --field-separator --max-count; do
    run $option one
    expect 2 '' '*'
    holds grep -q "^unseen: error: $option is not an option of this tool: " err
    holds grep -q '^unseen: hint: ' err
    holds [ "$(wc -l < err)" = 2 ]
done

# Numbers as people write them.
for value in 2 2e0 0.002K 2K 2k 1e3 2M 1G 1T; do
    run -m "$value" one
    expect 0 'a\nb\n' ''
done
run -j auto -m 1e9 --capacity 1.5K --max-line=1M one
expect 0 'a\nb\n' ''

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
finish
