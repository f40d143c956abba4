# Values inside JSON: any record whose key can be found is used, numbers and other values have one text,
# paths reach every member, and several parts can be one key.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

# key PATH LINE TEXT: the text that is compared in LINE, both in printf's notation; '' : none.
key() {
    printf "$2\n" > in
    printf '%b\n' "$3" > want
    run canon -p none -k "$1"
    if [ -n "$3" ]; then
        expect 0 '*' ''
        same out want
    else
        expect 2 '*' '*'
        holds grep -q '^unseen: error: standard input: no line has the key ' err
    fi
}

# What strict parsers refuse, each beside a good key. docs/man/unseen.1 has this list.
key .u '{"t":"\\ud83d","u":"x"}' x                              # a surrogate without its other half
key .u '{"t":"\\udc00\\ud83d","u":"x"}' x
key .u '{"n":123456789012345678901234567890,"u":"x"}' x         # an integer of any size
key .u '{"n":-9223372036854775809,"u":"x"}' x
key .u '{"n":1e400,"m":[NaN,Infinity,-Infinity],"u":"x"}' x     # numbers that no double has
key .u '{"t":"\377\300\200","u":"x"}' x                         # bytes that are not UTF-8
key .u '\357\273\277{"u":"x"}' x                                # a byte order mark
key .u '{"t":"a\tb\001","u":"x"}' x                             # control characters in a string
key .u '{"t":"\\q\\u12","\\q":1,"u":"x"}' x                     # escapes that do not exist
key .u '{"n":01,"m":+1,"o":.5,"p":nope,"q":None,"u":"x"}' x     # words and numbers that do not exist
key .u '{"a\\u0000b":1,"u":"x"}' x                              # a byte 0 in a name
key .u '{"a":[1,2,],"b":{1:2},"c":[{]},"u":"x"}' x              # damage inside a value off the path
{
    printf '{"t":'
    head -c 200000 /dev/zero | tr '\0' '['
    head -c 200000 /dev/zero | tr '\0' ']'
    printf ',"u":"x"}\n'
} > in # nesting of any depth
run canon -p none -k .u
expect 0 'x\n' ''

# A record that was cut has no key, wherever it was cut; nor has what is not one record.
record='{"u":"x","a":[{"b":"\\\\\\""},-1.5],"t":true}'
printf "$record" > whole
size=$(stat -c %s whole)
for ((i = 1; i < size; i++)); do
    head -c "$i" whole
    echo
done > in
run -c -p none -k .u
expect 2 "$((size - 1))\n" '*'
holds grep -q '^unseen: error: standard input: no line has the key .u' err
key .u "$record" x
key .u '{"u":"x"}{"u":"y"}' ''
key .u '{"u":"x"},' ''
key .u '{"u":"x"} y' ''
key .u '["u","x"]' ''
key .u '{"u" "x"}' ''
key .u '{"u":"x" "v":1}' ''
key .u '{u:"x"}' ''
key .u '{"u":"x",}' ''
key .u '"u"' ''
key .u '{"u":}' ''
key .u '  ' ''

# A JSON array is not a record a line, however its records stand in it: nothing of it is taken.
records='{"u":"http://e.com/a"},%s{"u":"http://E.com/a"},%s{"u":"http://e.com/b"}'
for layout in "[\n$(printf "$records" '\n' '\n')\n]" "[$(printf "$records" '\n ' '\n ')]" "[$(printf "$records" '' '')]" \
    "\xef\xbb\xbf [ \r\n$(printf "$records" '\r\n' '\r\n')\r\n]"; do
    printf "$layout\n" > items.json
    for j in 1 2 3; do
        for how in '' '--missing=whole' '--missing=skip' "-s items.unseen"; do
            # shellcheck disable=SC2086 # an option, or none
            run -j "$j" -k .u $how items.json
            expect 2 '' "unseen: error: items.json is a JSON array: its records are not a line each
unseen: hint: jq -c '.[]' FILE makes a line of each record, for this command to read\n"
        done
    done
done
run add -k .u items.unseen items.json
expect 2 '' '*'
run count -k .u items.json
expect 2 '*' '*'
# Arrays a line, whose first element is wanted, are records.
printf '[{"u":"a"},{"u":"b"}]\n[{"u":"a"}]\n' > arrays
run -p none -k '.[0].u' -c arrays
expect 0 '1\n' ''
# An array behind the first line is a line without the key.
printf '{"u":"a"}\n[{"u":"b"}]\n' > arrays
run -p none -k .u -c arrays
expect 0 '2\n' '*'

# Runs of backslashes in front of a quote, at every offset, in front of the key and behind it.
awk 'BEGIN {
    for (pad = 0; pad < 150; pad++) {
        for (run = 0; run < 6; run++) {
            text = sprintf("%*s", pad, "")
            for (i = 0; i < run; i++) {
                text = text "\\\\"
            }
            text = text (run % 3 == 1 ? "\\\"" : "")
            printf "{\"t\":\"%s\",\"u\":\"a%d-%d\"}\n{\"u\":\"b%d-%d\",\"t\":\"%s\"}\n", text, pad, run, pad, run, text
        }
    }
}' > in
run -p none -k .u -c --missing=fail
expect 0 '1800\n' ''

# Of members with one name the last one counts, whatever it is; names match by what they mean.
key .u '{"u":"x","u":"y"}' y
key .u '{"u":"x","u":null}' ''
key .u.v '{"u":{"v":"x"},"u":{}}' ''
key .u.v '{"u":{"v":"x"},"u":{"v":"y"},"v":"z"}' y
key .u '{"\\u0075":"x"}' x
key .u '{"u":"x","\\u0075":"y"}' y
key .uu '{"u\\u0075":"x","u\\\\u0075":"z"}' x
key .é '{"\\u00e9":"x"}' x
key .u '{"u\\"":1,"\\"u":2,"u\\\\":3}' ''
key .u '{"t":"\\"u\\":\\"y\\",","u" : "x" }\r' x

# Texts of strings, numbers and other values.
printf '{"u":""}\n' > in
run canon -p none -k .u
expect 0 '\n' ''
key .u '{"u":"\\"\\\\\\/\\b\\f\\r\\t"}' '"\\/\b\f\r\t'
key .u '{"u":"\\u00e9\\u4e2d\\ud83d\\ude00"}' '\0303\0251\0344\0270\0255\0360\0237\0230\0200'
key .u '{"u":"\\ud83d!"}' '\0355\0240\0275!'
key .u '{"u":"\\udc00"}' '\0355\0260\0200'
key .u '{"u":"\377"}' '\0377'
key .u '{"u":"\\q"}' ''
key .u '{"u":"\\u12"}' ''
key .u '{"u":7}' 7
key .u '{"u":-0}' 0
key .u '{"u":18446744073709551616}' 18446744073709551616
key .u '{"u":-123456789012345678901234567890}' -123456789012345678901234567890
key .u '{"u":1.0}' 1.0
key .u '{"u":1e2}' 100.0
key .u '{"u":0.1}' 0.10000000000000001
key .u '{"u":1E+23}' 9.9999999999999992e22
key .u '{"u":5e-7}' 4.9999999999999998e-7
key .u '{"u":-0.0}' -0.0
key .u '{"u":1e-999}' 0.0
key .u '{"u":1e400}' 1e400
for word in null NaN Infinity -Infinity nope 01 1. 1.e3 1e +1 0x1 - True; do
    key .u "{\"u\":$word}" ''
done
key .u '{"u":true}' true
key .u '{"u":false}' false

# An object or an array is not a key: the line lacks the key, and the message says why.
key .u '{"u":{"id":1}}' ''
key .u '{"u":[]}' ''
key .u '{"u":1,"u":[1]}' ''
key .u '{"u":[1],"u":1}' 1
printf '{"u":1}\n{"u":{"id":7}}\n{"u":null}\n{"u":1}\n' > in
for j in 1 2 3; do
    run -j "$j" -p none -k .u in
    expect 0 '{"u":1}\n{"u":{"id":7}}\n{"u":null}\n' "unseen: warning: in:2: .u is an object in '{\"u\":{\"id\":7}}': taken whole
unseen: hint: *
unseen: warning: 2 lines without the key were taken whole\n"
done
run -p none -k .u --missing=skip in
expect 0 '{"u":1}\n' "unseen: warning: in:2: .u is an object in '{\"u\":{\"id\":7}}': left out
unseen: hint: *
unseen: warning: 2 lines without the key were left out\n"
run -p none -k .u -s object.unseen in
expect 2 '{"u":1}\n' "unseen: error: in:2: .u is an object in '{\"u\":{\"id\":7}}'
unseen: hint: *
unseen: hint: *
unseen: hint: *\n"
run info --json object.unseen
holds grep -q '"keys":1,' out
printf 'a\t{"l":[{"h":"x"}]}\n' > in
run -p none -k 2.l[0],2.l in
expect 2 '*' '*'
holds grep -qF "unseen: warning: in:1: 2.l[0] is an object in 'a" err
holds grep -qx 'unseen: hint: to compare the member id of it: unseen --key .2.l\[0\].id,2.l. .*' err
run -p none -k 1,2.l in
expect 2 '*' '*'
holds grep -qF "unseen: warning: in:1: 2.l is an array in 'a" err
holds grep -qx 'unseen: hint: to compare the first element of it: unseen --key .1,2.l\[0\]. .*' err
{ printf '{"u":'; head -c 200000 /dev/zero | tr '\0' '['; head -c 200000 /dev/zero | tr '\0' ']'; printf '}\n'; } > in
run -k .u in
expect 2 '*' '*'
holds grep -q '^unseen: warning: in:1: .u is an array in ' err

# Paths.
key '.a[0].b' '{"a":[{"b":"x"},1]}' x
key '.a.0.b' '{"a":[{"b":"x"},1]}' x
key '.a.0' '{"a":{"0":"x"}}' x
key '.a[0]' '{"a":{"0":"x"}}' ''
key '.a["0"]' '{"a":{"0":"x"}}' x
key '.a["0"]' '{"a":["x"]}' ''
key '.a[1]' '{"a":["x"]}' ''
key '."a.b"' '{"a.b":"x","a":{"b":"y"}}' x
key '.a."b,c"' '{"a":{"b,c":"x"}}' x
key '.["a b"]' '{"a b":"x"}' x
key '."\u0061\""' '{"a\\"":"x"}' x
key '.""' '{"":"x"}' x
key '.[1]' '["y","x"]' x
key '.1' '["y","x"]' x
key '.[1][0]' '["y",["x"]]' x

# Fields before JSON, which may hold the separator. CDXJ:
printf 'com,e)/ 20200101 {"url": "http://e.com/", "mime": "text/html"}\n' > in
run canon -k 3.url -t ' '
expect 0 'http://e.com/\n' ''
printf 'a\t{"u" :\t"x"}\tb\n' > in
run canon -p none -k 2.u
expect 0 'x\n' ''
run canon -p none -k '2["u"]'
expect 0 'x\n' ''
run canon -p none -k 3.u
expect 2 '*' '*'

# Several parts: URLs are compared as URLs, and no two rows of parts look the same.
printf '1,a,http://E.com:80/\n1,b,http://e.com/\n2,c,http://e.com/\n1,d,http://e.com/#x\n' > in
for j in 1 2; do
    run -j "$j" -t , -k 1,3
    expect 0 '1,a,http://E.com:80/\n2,c,http://e.com/\n' ''
done
run canon -t , -k 1,3
expect 0 '1:113:http://e.com/\n1:113:http://e.com/\n1:213:http://e.com/\n1:113:http://e.com/\n' ''
run -t , -k 1,3 --canonical --stats=json
expect 0 '1:113:http://e.com/\n1:213:http://e.com/\n' '*'
holds grep -q '"not_urls":0' err
printf '{"user":"bob","url":"u"}\n{"url":"\\u0075","user":"bob"}\n{"user":"bobu","url":""}\n{"user":"bob"}\n' > in
run -p none -k .user,.url
expect 0 '{"user":"bob","url":"u"}\n{"user":"bobu","url":""}\n{"user":"bob"}\n' \
    "unseen: warning: standard input:4: no key .user,.url in '{\"user\":\"bob\"}': taken whole\n"
run -p none -k .user,.url --missing=skip -s several.unseen
expect 0 '{"user":"bob","url":"u"}\n{"user":"bobu","url":""}\n' '*'
run check -p none -k .user,.url --missing skip several.unseen
expect 2 '' '*'
run check -k .user,.url --missing skip -c several.unseen
expect 0 '3\n' '*'
printf 'a 1\nb 2\n' > one
run -k 1,2 -t ' ' -x one one
expect 2 '' 'unseen: error: one has single texts, -k 1,2 names several parts of a line
unseen: hint: to remember them together: unseen add -k 1,2 STORE FILE\n'
for option in --surt --fingerprint --expressions; do
    run canon -k 1,2 -t ' ' $option one
    expect 2 '' "unseen: error: $option takes one URL, -k names several parts\nunseen: hint: *\n"
done
run count -k 1,2 -t ' ' --by host one
expect 2 '' 'unseen: error: --by host takes one URL, -k names several parts\nunseen: hint: *\n'
run build -k 1,2 -t ' ' x.list one
expect 2 '' 'unseen: error: an entry of a list is one text, -k names several
unseen: hint: *\n'

# What other tools write as a path.
wrong() { # TEXT HINT
    run -k "$1" one
    expect 2 '' "unseen: error: --key: '$1' is not a field number (from 1) or a .path\nunseen: hint: $2\n"
}
wrong url "unseen --key .url one"
wrong '$.url' "unseen --key .url one"
wrong '$.a[0].b' "unseen --key '.a[0].b' one"
wrong '$["a"]' "unseen --key '.[\"a\"]' one"
wrong '.[].url' "unseen --key .url one"
wrong '.a[].b' "unseen --key '.a[0].b' one"
wrong 'a.b' "unseen --key .a.b one"
wrong .a..b 'such as --key 2'
wrong . 'such as --key 2'
wrong '."a' 'such as --key 2'
wrong '.a[-1]' 'such as --key 2'
wrong '.a[x]' 'such as --key 2'
wrong 1, 'such as --key 2'
wrong ,1 'such as --key 2'
wrong 0 'such as --key 2'
wrong 99999999999999999999 'such as --key 2'
wrong "$(seq -s , 17)" 'such as --key 2'

# An entry of a list is quoted as its field or value, not as the whole line.
printf 'x\tno mail\tmore\n' > one
run build --kind mail -k 2 x.list one
expect 2 '' '*'
holds grep -q "one:1: 'no mail' " err
printf '{"t":"long","u":"no\\u0020mail"}\n' > one
run build --kind mail -k .u x.list one
holds grep -q "one:1: 'no mail' " err

# Without memory for a value the run ends, and prints nothing that it has not compared. (Sanitizers
# want more address space than that.)
if (ulimit -v 33000 && "$UNSEEN" --version > /dev/null 2>&1); then
    {
        echo '{"a":"x"}'
        printf '{"a":"'
        yes '\n' | head -n 7800000 | tr -d '\n'
        printf '"}\n{"a":"y"}\n'
    } > few
    bash -c 'ulimit -v 33000; "$0" -j 1 -p none -k .a --mark few > out 2> err; echo $?' "$UNSEEN" > status
    holds diff <(echo 2) status
    holds diff <(echo 'unseen: error: few:2: cannot go on: out of memory') err
    holds cmp <(printf '1\t{"a":"x"}\n') out
fi
finish
