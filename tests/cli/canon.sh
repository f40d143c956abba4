# unseen canon: the canonical form of each line.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

printf 'HTTP://E.com:80/a/../b?x#f\nhttp://e.com/\nfoo\n\nhttp://e.com/ y\nhttp://e.com/\r\n\200\377' > in
for j in 1 2; do
    run canon -j "$j"
    expect 0 'http://e.com/b?x\nhttp://e.com/\nfoo\n\nhttp://e.com/%%20y\nhttp://e.com/\n\200\377\n' ''
    cp in file
    run canon -j "$j" file - /dev/null
    cat out out > twice
    "$UNSEEN" canon -j "$j" file > once
    cat once once > twice
    same out twice
    run canon -j "$j" -p whatwg
    expect 0 'http://e.com/b?x#f\nhttp://e.com/\nfoo\n\nhttp://e.com/%%20y\nhttp://e.com/\n\200\377\n' ''
    run canon -j "$j" -p none
    expect 0 'HTTP://E.com:80/a/../b?x#f\nhttp://e.com/\nfoo\n\nhttp://e.com/ y\nhttp://e.com/\n\200\377\n' ''
    run canon -j "$j" --line-buffered
    expect 0 'http://e.com/b?x\nhttp://e.com/\nfoo\n\nhttp://e.com/%%20y\nhttp://e.com/\n\200\377\n' ''
    run canon -j "$j" -o new
    expect 0 '' ''
    holds [ "$(head -n 1 new)" = 'http://e.com/b?x' ]
done
printf 'http://e.com/?b=2&a=1\nhttp://www.e.com/?utm_source=x&b\n' > in
run canon -p scrapy < in
expect 0 'http://e.com/?a=1&b=2\nhttp://www.e.com/?b=&utm_source=x\n' ''
run canon -p aggressive
expect 0 'http://e.com/?a=1&b=2\nhttp://e.com/?b\n' ''
run canon --rule strip-www,sort-query --rule no-sort-query
expect 0 'http://e.com/?b=2&a=1\nhttp://e.com/?utm_source=x&b\n' ''
: > in
run canon
expect 0 '' ''
run canon --json
expect 0 '' ''
printf 'http://E.com\n' | gzip -nc > in
run canon in
expect 0 'http://e.com/\n' ''

# -z: records may hold newlines, which a URL does not keep.
printf 'http://E.com/a\nb\0x\ny\0last' > in
run canon -z
expect 0 'http://e.com/ab\0x\ny\0last\0' ''
run canon -0 --json
expect 0 '{"input":"http://E.com/a\\nb","status":"rewritten","canonical":"http://e.com/ab"}
{"input":"x\\ny","status":"failed","canonical":null}
{"input":"last","status":"failed","canonical":null}\n' ''

# JSON: whatever the bytes are.
printf 'http://e.com/\nHTTP://e.com/\nfoo\n\n"\\/\b\f\r\t\001\037\177\0\ná\xe2\x82\xac\xf0\x9f\x98\x80\n' > in
for j in 1 2; do
    run canon -j "$j" --json
    expect 0 '{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/"}
{"input":"HTTP://e.com/","status":"rewritten","canonical":"http://e.com/"}
{"input":"foo","status":"failed","canonical":null}
{"input":"","status":"failed","canonical":null}
{"input":"\\"\\\\/\\b\\f\\r\\t\\u0001\\u001f\177\\u0000","status":"failed","canonical":null}
{"input":"á€😀","status":"failed","canonical":null}\n' ''
done
# Not UTF-8: lone bytes, overlong forms, surrogates, above U+10FFFF, cut short; byte by byte.
printf '\200a\377\n\300\200\n\340\237\277\n\355\240\200\n\364\220\200\200\n\370\n\342\202\n\342\202x\n\360\237\230\n' > in
run canon -p none --json
expect 0 '{"input":"\\udc80a\\udcff","status":"unchanged","canonical":"\\udc80a\\udcff"}
{"input":"\\udcc0\\udc80","status":"unchanged","canonical":"\\udcc0\\udc80"}
{"input":"\\udce0\\udc9f\\udcbf","status":"unchanged","canonical":"\\udce0\\udc9f\\udcbf"}
{"input":"\\udced\\udca0\\udc80","status":"unchanged","canonical":"\\udced\\udca0\\udc80"}
{"input":"\\udcf4\\udc90\\udc80\\udc80","status":"unchanged","canonical":"\\udcf4\\udc90\\udc80\\udc80"}
{"input":"\\udcf8","status":"unchanged","canonical":"\\udcf8"}
{"input":"\\udce2\\udc82","status":"unchanged","canonical":"\\udce2\\udc82"}
{"input":"\\udce2\\udc82x","status":"unchanged","canonical":"\\udce2\\udc82x"}
{"input":"\\udcf0\\udc9f\\udc98","status":"unchanged","canonical":"\\udcf0\\udc9f\\udc98"}\n' ''
if command -v python3 > /dev/null; then
    # Random bytes, and text that holds what is special at every place of a word of 8 bytes.
    python3 - > in << 'END'
import random, sys
r = random.Random(7)
out = sys.stdout.buffer
pieces = [b'"', b'\\', b'\x1f', b'\x20', b'\x7f', b'\x80', 'é'.encode(), '€'.encode(), '😀'.encode(), b'\xed\xa0\x80']
for i in range(40):
    for p in pieces:
        out.write(b'a' * i + p + b'b' * (i % 17) + b'\0')
for i in range(5000):
    out.write(bytes(r.randrange(1, 256) for _ in range(r.randrange(40))) + b'\0')
END
    cat > back.py << 'END'
import json, sys
out = sys.stdout.buffer
for line in open(sys.argv[1], encoding="utf-8", newline="\n"):
    out.write(json.loads(line)["input"].encode("utf-8", "surrogateescape") + b"\0")
END
    run canon -z --json
    expect 0 '*' ''
    python3 back.py out > back
    same back in
else
    printf 'skipped: reading JSON back, no python3\n'
fi

# Expressions: those of each line, then an empty line.
printf 'http://a.b.c/1/2.html?param=1\nfoo bar\nhttp://E.com\nhttp://\nhttp://1.2.3.4/a\n' > in
run canon -p safebrowsing --expressions
expect 0 'a.b.c/1/2.html?param=1\na.b.c/1/2.html\na.b.c/\na.b.c/1/\nb.c/1/2.html?param=1\nb.c/1/2.html\nb.c/\nb.c/1/

foo%%20bar/

e.com/


1.2.3.4/a\n1.2.3.4/\n\n' ''
cp out want
run canon --expressions
same out want
run canon -p crawl --expressions
same out want
run canon -p none --expressions
same out want
printf 'http://E.com/x\n' > in
printf 'http://E.com/x\0foo.com\0' > in
run canon --expressions -z
expect 0 'e.com/x\0e.com/\0\0foo.com/\0\0' ''
run canon --expressions --json -z
expect 0 '{"input":"http://E.com/x","status":"rewritten","canonical":"http://e.com/x","expressions":["e.com/x","e.com/"]}
{"input":"foo.com","status":"rewritten","canonical":"http://foo.com/","expressions":["foo.com/"]}\n' ''
printf 'http://E.com/#x\nfoo\n' > in
run canon -p crawl --expressions --json
expect 0 '{"input":"http://E.com/#x","status":"rewritten","canonical":"http://e.com/","expressions":["e.com/"]}
{"input":"foo","status":"failed","canonical":null,"expressions":["foo/"]}\n' ''

# SURT keys.
printf 'http://www.Example.com:8080/A/?b=2&a=1#x\nfoo bar\nmailto:a\n\n' > in
for j in 1 2; do
    run canon -j "$j" --surt
    expect 0 'com,example:8080)/a?a=1&b=2\nfoo%%20bar)/\nmailto:a\n\n' ''
    run canon -j "$j" --surt --keep-www
    expect 0 'com,example,www:8080)/a?a=1&b=2\nfoo%%20bar)/\nmailto:a\n\n' ''
    run canon -j "$j" --surt --json
    expect 0 '{"input":"http://www.Example.com:8080/A/?b=2&a=1#x","status":"rewritten","canonical":"http://www.example.com:8080/A/?b=2&a=1","surt":"com,example:8080)/a?a=1&b=2"}
{"input":"foo bar","status":"failed","canonical":null,"surt":"foo%%20bar)/"}
{"input":"mailto:a","status":"unchanged","canonical":"mailto:a","surt":null}
{"input":"","status":"failed","canonical":null,"surt":null}\n' ''
done
printf '../x\n' > in
run canon --surt --base http://E.com/a/b/
expect 0 'com,e)/a/x\n' ''
run canon --surt -p crawl
expect 2 '' 'unseen: error: --surt prints keys by rules of its own, -p says which spellings are one URL\nunseen: hint: unseen canon --surt\n'
run canon --keep-www
expect 2 '' 'unseen: error: --keep-www has no meaning without --surt\nunseen: hint: unseen canon --surt --keep-www\n'
run canon --surt --expressions
expect 2 '' 'unseen: error: --surt prints keys by rules of its own, --expressions prints several lines for a URL\nunseen: hint: unseen canon --surt\n'

# References.
printf '../x\n//F.com\n?q\n#f\nhttp://G.com\nmailto:a\n\nhttp://\n' > in
for j in 1 2; do
    run canon -j "$j" --base http://E.com/a/b/c?d#e
    expect 0 'http://e.com/a/x\nhttp://f.com/\nhttp://e.com/a/b/c?q\nhttp://e.com/a/b/c?d\nhttp://g.com/\nmailto:a\nhttp://e.com/a/b/c?d\nhttp://\n' ''
done
printf '../x\n/y#1\nhttp://e.com/z\n//\n' > in
run canon --base=http://e.com/a/b/c --json -p whatwg
expect 0 '{"input":"../x","status":"rewritten","canonical":"http://e.com/a/x"}
{"input":"/y#1","status":"rewritten","canonical":"http://e.com/y#1"}
{"input":"http://e.com/z","status":"unchanged","canonical":"http://e.com/z"}
{"input":"//","status":"failed","canonical":null}\n' ''
run canon --base http://e.com/a/ --expressions
expect 0 'e.com/x\ne.com/\n\ne.com/y\ne.com/\n\ne.com/z\ne.com/\n\n\n' ''
run canon --base mailto:x
expect 0 '../x\n/y#1\nhttp://e.com/z\n//\n' ''
run canon --base nothing
expect 2 '' "unseen: error: --base: 'nothing' is not a URL\nunseen: hint: unseen canon --base http://e.com/a/\n"

# -k: the canonical form of the key only.
printf '1,http://E.com\n2\n3,foo\n' > in
run canon -k 2 -t ,
expect 0 'http://e.com/\n2\nfoo\n' "unseen: warning: standard input:2: no key 2 in '2': taken whole\n"
run canon -k 2 -t , --json
expect 0 '{"input":"http://E.com","status":"rewritten","canonical":"http://e.com/"}
{"input":"2","status":"failed","canonical":null}
{"input":"foo","status":"failed","canonical":null}\n' '*'
printf '{"u":"http:\\/\\/E.com"}\n{"u":"http://e.com/"}\n{"u":"a\\nb"}\n{"v":1}\n{"u":"http://e.com/#é"}\n' > in
for j in 1 2; do
    run canon -j "$j" -k .u
    expect 0 'http://e.com/\nhttp://e.com/\na\nb\n{"v":1}\nhttp://e.com/\n' '*'
    run canon -j "$j" -k .u --json
    expect 0 '{"input":"http://E.com","status":"rewritten","canonical":"http://e.com/"}
{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/"}
{"input":"a\\nb","status":"failed","canonical":null}
{"input":"{\\"v\\":1}","status":"failed","canonical":null}
{"input":"http://e.com/#é","status":"rewritten","canonical":"http://e.com/"}\n' '*'
    run canon -j "$j" -k .u --expressions
    expect 0 'e.com/\n\ne.com/\n\nab/\n\n{"v"/\n\ne.com/\n\n' '*'
done

# Much data, long lines, one thread or two.
long() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ urls 30000 30000 1 | sed 's/^http:..www/HTTP:\/\/WWW/; n; s/$/#x/; n'
  printf 'http://e.com/'; long 300000 ' '; echo x; long 700000 x; echo; printf 'http://e.com/'; long 70000 '\377'; echo; } > in
{ urls 30000 30000 1
  printf 'http://e.com/'; long 300000 ' ' | sed 's/ /%20/g'; echo x; long 700000 x; echo
  printf 'http://e.com/'; long 70000 x | sed 's/x/%FF/g'; echo; } > want
for j in 1 2; do
    run canon -j "$j"
    expect 0 '*' ''
    same out want
    run canon -j "$j" want
    same out want # canonical forms are canonical
    cat in | "$UNSEEN" canon -j "$j" > out
    same out want
done

# Trouble.
printf 'http://E.com\n' > one
run canon one missing
expect 2 'http://e.com/\n' 'unseen: error: cannot open missing: No such file or directory\n'
run canon --max-line 5 one
expect 2 '' 'unseen: error: one:1: line of 12 bytes left out: --max-line is 5\n'
run canon -o one one
expect 2 '' 'unseen: error: one is both input and output\nunseen: hint: unseen canon -o NEW one && mv NEW one\n'
holds [ -s one ]
for option in '' --json --expressions; do
    "$UNSEEN" canon $option one > /dev/full 2> err
    holds [ $? = 2 ]
    holds grep -qx 'unseen: error: cannot write standard output: No space left on device' err
done
"$UNSEEN" canon want 2> err | head -n 1 > out
holds [ "${PIPESTATUS[0]}" = 141 ]
holds [ ! -s err ]

# What has arrived is answered before more is waited for.
mkfifo ask answer
for j in 1 2; do
    "$UNSEEN" canon -j "$j" < ask > answer &
    pid=$!
    exec 3> ask 4< answer
    for i in 1 2 3; do
        printf 'http://E.com/%d\n' "$i" >&3
        read -r -t 20 reply <&4
        holds [ "$reply" = "http://e.com/$i" ]
    done
    exec 3>&-
    wait "$pid"
    holds [ $? = 0 ]
    exec 4<&-
done

# Our own cases, and those of the web platform where they stand beside the checkout.
if ! command -v python3 > /dev/null; then
    printf 'skipped: no python3\n'
    finish
fi
cat > wpt.py << 'END'
import json, re, subprocess, sys

def text(s):
    """A lone surrogate is no character: a browser makes it U+FFFD."""
    return s.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()

def own_cases(path):
    """Rows of vectors/whatwg.tsv. What is not UTF-8 is left out: JSON cannot hold it."""
    letters = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}
    def byte(escape):
        return chr(int(escape[1], 16)) if escape[1] else letters[escape[2]]

    for line in open(path, encoding="ascii"):
        if line.startswith("#"):
            continue
        row = [re.sub(r"\\(?:x(..)|(.))", byte, c) for c in line.rstrip("\n").split("\t")]
        try:
            row = [column.encode("latin-1").decode() for column in row]
        except UnicodeDecodeError:
            continue
        yield {"input": row[0], "base": row[2] if len(row) > 2 else None,
               "failure": row[1] == "!", "href": row[1]}

tool, path = sys.argv[1:]
groups = {}
cases = json.load(open(path, encoding="utf-8")) if path.endswith(".json") else own_cases(path)
for case in cases:
    if isinstance(case, dict):
        groups.setdefault(case.get("base"), []).append(case)
ncases = nbases = 0
for base, cases in groups.items():
    nbases += base is not None
    for nul in (False, True):  # what holds a NUL is no record, but may stand in JSON
        these = [c for c in cases if (b"\0" in text(c["input"])) == nul]
        inputs = [text(c["input"]) for c in these]
        fed = [json.dumps({"u": i.decode()}).encode() for i in inputs] if nul else inputs
        command = [tool, "canon", "-p", "whatwg", "--json", "-z"] + ["-k", ".u"] * nul
        command += [] if base is None else ["--base", text(base)]
        done = subprocess.run(command, input=b"".join(i + b"\0" for i in fed), capture_output=True)
        ncases += len(these)
        if done.returncode == 2 and b"is not a URL" in done.stderr:
            assert all(c.get("failure") for c in these), base
            continue
        assert done.returncode == 0, done.stderr
        answers = [json.loads(line) for line in done.stdout.decode().split("\n")[:-1]]
        assert len(answers) == len(these)
        for case, given, answer in zip(these, inputs, answers):
            want = None if case.get("failure") else case["href"]
            status = "failed" if want is None else "unchanged"
            if want is not None and want.encode() != given:
                status = "rewritten"
            if answer != {"input": given.decode(), "status": status, "canonical": want}:
                sys.exit(f"base {base!r}: {case}: {answer}")
print(ncases, "cases,", nbases, "bases")
END
holds python3 wpt.py "$UNSEEN" "$TESTS/vectors/whatwg.tsv"
data=${UNSEEN_TEST_DATA:-$TESTS/../../shared/data}/wpt_urltestdata.json
if [ -f "$data" ]; then
    holds python3 wpt.py "$UNSEEN" "$data"
else
    printf 'skipped: web-platform cases\n'
fi

# Shares: those of --shard I/N, from 1, whatever the spelling.
i=0
while [ $i -lt 300 ]; do
    printf 'http://E.com/%s#x\n%s\n' "$i" "$i"
    i=$((i + 1))
done > in
for n in 1 2 20; do
    run canon --shard $n in
    expect 0 '*' ''
    cut -f2- out > forms
    run canon in
    same out forms
    run canon --shard $n in
    i=1
    while [ $i -le $n ]; do
        awk -F'\t' -v i=$i '$1 == i { print $2 }' out > want
        "$UNSEEN" --canonical --shard $i/$n in > got
        same got want
        i=$((i + 1))
    done
done
# They stay for ever: machines that run different versions must agree.
printf 'http://e.com/\nHTTP://E.com/#x\nhttp://e.com/2\nfoo\n' > in
run canon --shard 20
expect 0 '3\thttp://e.com/\n3\thttp://e.com/\n8\thttp://e.com/2\n14\tfoo\n' ''
run canon --shard 1000000 --json
expect 0 '{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/","shard":148188}
{"input":"HTTP://E.com/#x","status":"rewritten","canonical":"http://e.com/","shard":148188}
{"input":"http://e.com/2","status":"unchanged","canonical":"http://e.com/2","shard":350243}
{"input":"foo","status":"failed","canonical":null,"shard":656024}\n' ''
run canon --shard 20 --expressions
expect 2 '' 'unseen: error: --shard prints the share of each line, --expressions prints several lines for a URL\nunseen: hint: unseen canon --shard 20\n'
for value in 0 1/20 1000001 x; do
    run canon --shard $value
    expect 2 '' "unseen: error: --shard: '$value' is not a number of shares from 1 to 1000000\nunseen: hint: such as --shard 20\n"
done

# Scrapy's fingerprints, as Scrapy 2.19 made them.
cat > vectors << 'END'
dc40d67a6c7378c96645f2ecc0be237755c66398	http://e.com/
669570b66fc48ac84d00b98f24045830d563f1ab	HTTP://E.com?b=2&a=1#x
a5bf302d22348a2cd3c5c0e00ea479c210287664	http://www.example.com/a/../b
2c1cc0241d36913ff746925aca22001fd95db9cc	http://e.com/100%25/x
dffe6edd942b4ddc0efe4d11f64dcdac1392b7bf	http://e.com/a%3bb;c
012c3d4250b8d351f08dc60adc12b13c58d1c5b2	https://[2001:DB8:0:0::1]:8080/
32112dcd379fc0e1f7f0cb1f4afc1152af55bb95	http://bücher.de/
663e4bbe3a2f16abda6ba5d39f465c2039429fe8	http://u:p@e.com:80/?q=a+b%20c&é
bc6fcf174d161176379975ef08ccc77443d40391	http://e.com/a"b\c<>^
b6cf9f17195af868b8cceb1c961f3b37919a5600	http://.bücher.de/
d55516db19cff5a6e4cdfc0b0bf872e2a0db5173	http://.💩.de/
9f14903be2665c14e1c6f69adc6702cffafa2c7a	http://a b .com/
039b3b6b8eeb8f3cd1953ed205648f82a46185ad	http://. ́.com/
82380db33d4134718e68f201883e74ebab8b72b2	http://e.com/
b817dfb28655b4d3a1b7241bd2487b6d3dd0ff3d	about:blank
1fabfbee8c4b218039f50368a5ccdb51f8179d27	data:,x
c065c780018f5c5fcc403e4085a8d315a2bf4f84	http://e.com/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
4e5de082e263d2bc0205fba000ebc021c9eb1333	http://e.com/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
29f384f90d288717d4c07ef0e25d3c12b120b8f1	#http://e.com/
f1a2f85dfcb3378b96009ae9a82b721655e8f158	e?q=http://e.com/
22277fc72034ef76937cc8b410c78567c223524c	http:\\e.com\a
7a11fc9b3e64ac6a2f1621bd0284b7b9eaa2fbea	http://e.com/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
END
cut -f1 vectors > want
cut -f2- vectors > urls
for j in 1 2; do
    run canon -j "$j" --fingerprint urls
    expect 0 '*' ''
    same out want
done
run canon -p scrapy/1 --fingerprint urls
same out want
# A requests.seen of Scrapy can be asked with URLs.
head -n 5 want > requests.seen
run import --format requests.seen scrapy.unseen requests.seen
expect 0 '' ''
"$UNSEEN" canon --fingerprint urls > in
run check scrapy.unseen
expect 0 '*' ''
same out requests.seen
paste in urls > both
run check -k 1 scrapy.unseen both
expect 0 '*' ''
cut -f2- out > asked
head -n 5 urls > want
same asked want
# What Scrapy makes no request of.
printf 'foo\n/a\nhttp://e.com:x/\nmailto:a\n\n' > in
run canon --fingerprint
expect 0 'foo\n/a\nhttp://e.com:x/\nmailto:a\n/\n' ''
printf 'http://e.com/\nfoo\n' > in
run canon --fingerprint --json
expect 0 '{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/","fingerprint":"dc40d67a6c7378c96645f2ecc0be237755c66398"}
{"input":"foo","status":"unchanged","canonical":"foo","fingerprint":null}\n' ''
printf 'not url\n' > in
run canon --fingerprint
expect 0 'not%%20url\n' ''
run canon --fingerprint -p crawl
expect 2 '' "unseen: error: --fingerprint is Scrapy's, and needs -p scrapy\nunseen: hint: unseen canon --fingerprint\n"
run canon --fingerprint --surt
expect 2 '' 'unseen: error: --fingerprint prints fingerprints, --surt prints keys by rules of its own\nunseen: hint: unseen canon --fingerprint\n'
finish
