# unseen explain: each step, the verdict, and what would make URLs the same.
# Label: bytes
. "$(dirname "$0")/lib/common.bash"

run explain 'http://E.com:80/a/../b?x=1#f' 'http://e.com/b?x=1'
expect 0 "http://E.com:80/a/../b?x=1#f
  host-case: upper and lower case are the same in a host
    E.com -> e.com
  port: the scheme's own port, an empty one and leading zeros go
    :80 -> (nothing)
  dot-segments: the segments . and .. are resolved
    /a/../b -> /b
  no-keep-fragment: the fragment is not sent to the server
    #f -> (nothing)
  = http://e.com/b?x=1
http://e.com/b?x=1
  = http://e.com/b?x=1
same under crawl/1, by host-case, port, dot-segments, no-keep-fragment
" ''

# One URL is explained and not compared.
run explain http://e.com
expect 0 'http://e.com\n  empty-path: an empty path is /\n    (nothing) -> /\n  = http://e.com/\n' ''
# Why something is not a URL.
refused() { # URL, REASON AND PART
    run explain -- "$1"
    printf '%s\n%s\n  not a URL: its bytes are its identity\n' "$1" "$2" > wanted
    holds [ "$status" = 0 ]
    same out wanted
}
refused foo '  no-scheme: it has no scheme, such as http:
    foo'
refused -x '  no-scheme: it has no scheme, such as http:
    -x'
refused /a/b '  no-scheme: it has no scheme, such as http:
    /a/b'
refused http://e.com:99999/a '  port-range: a port is at most 65535
    :99999'
refused http://e.com:8o/a '  port-digits: a port is a number
    :8o'
refused 'http://e .com/' '  bad-host: a host has no blank, no control character and none of # % / : < > ? @ [ \ ] ^ |
    e .com'
refused 'http://e%20a.com/' '  bad-host: a host has no blank, no control character and none of # % / : < > ? @ [ \ ] ^ |
    e%20a.com'
refused 'http://e%zz.com/' '  bad-host: a host has no blank, no control character and none of # % / : < > ? @ [ \ ] ^ |
    e%zz.com'
refused http://1.2.3.256/ '  bad-ipv4: a host whose last part is a number is an IPv4 address, and this is none
    1.2.3.256'
refused 'http://[::1/' '  bad-ipv6: an address in brackets is an IPv6 address with its ] and a port at most behind it
    [::1'
refused http:// '  no-host: it has no host
    (nothing)'
refused http://:80/ '  no-host: it has no host
    :80'
refused http://u@/ '  no-host: it has no host
    (nothing)'
refused "http://$(printf '\342\200\250').com/" "  bad-name: IDNA has no such name
    $(printf '\342\200\250').com"
refused "$(printf '\357\273\277http://e.com/')" "  byte-order-mark: it begins with a byte order mark, and so has no scheme
    $(printf '\357\273\277')http://e.com/"
refused file://a:b/ '  bad-host: a host has no blank, no control character and none of # % / : < > ? @ [ \ ] ^ |
    a:b'
run explain -p safebrowsing mailto:a
expect 0 'mailto:a
  not-read: the profile does not read it: it has no host, or is of another kind
    mailto:a
  not a URL: its bytes are its identity
' ''
run explain --json foo
expect 0 '{"profile":"crawl/1","urls":[{"input":"foo","status":"failed","canonical":null,"steps":[{"rule":"no-scheme","sentence":"it has no scheme, such as http:","before":"foo","after":""}]}]}\n' ''
# An empty text is its own canonical form, which is empty, too, and not missing.
run explain -p none --json ''
expect 0 '{"profile":"none/1","urls":[{"input":"","status":"unchanged","canonical":"","steps":[]}]}\n' ''
run explain -p none ''
expect 0 '\n  = \n' ''

# References.
run explain --base http://e.com/a/b ../c#x http://e.com/c
expect 0 '../c#x
  base: a reference is resolved against the base
    ../c#x -> http://e.com/c#x
  no-keep-fragment: the fragment is not sent to the server
    #x -> (nothing)
  = http://e.com/c
http://e.com/c
  = http://e.com/c
same under crawl/1, by base, no-keep-fragment
' ''
run explain --base mailto:x y
expect 0 'y
  base: the base does not resolve it
    y
  not a URL: its bytes are its identity
' ''
run explain -p none --base http://e.com/ y
expect 2 '' '*'
run explain --base nothing y
expect 2 '' "unseen: error: --base: 'nothing' is not a URL\nunseen: hint: unseen explain --base http://e.com/a/ y\n"
run explain -p scrapy ' http://E.com/%7ea?b&a#c'
expect 0 " http://E.com/%%7ea?b&a#c
  outer-space: spaces and control characters around a URL do not count
     http://E.com/%%7ea?b&a#c -> http://E.com/%%7ea?b&a#c
  host: a host is lower case and IDNA
    E.com -> e.com
  path: escapes in a path are written one way, and an empty path is /
    /%%7ea -> /~a
  query: parameters are sorted and their escapes written one way; a name alone gets =
    ?b&a -> ?a=&b=
  fragment: a fragment is not sent to the server
    #c -> (nothing)
  = http://e.com/~a?a=&b=
" ''
run explain -p safebrowsing 'u@E.com:81//a/./%2541'
expect 0 "u@E.com:81//a/./%%2541
  scheme: a scheme is lower case; without one it is http
    (nothing) -> http
  userinfo: user and password are not looked up
    u@ -> (nothing)
  host: a host is decoded and lower case, and has one dot between names; an address has one form
    E.com -> e.com
  port: a port is not looked up
    :81 -> (nothing)
  path: escapes in a path are decoded until none is left, then . and .. and // are resolved
    //a/./%%2541 -> /a/A
  = http://e.com/a/A
" ''

# A step that all of them take did not make them the same.
run explain 'HTTP://e.com/a' 'HTTP://e.com/a#1' 'HTTP://e.com/./a'
expect 0 '*' ''
holds [ "$(tail -n 1 out)" = 'same under crawl/1, by no-keep-fragment, dot-segments' ]
run explain http://e.com/ http://e.com/
holds [ "$(tail -n 1 out)" = 'same under crawl/1, as they are' ]
run explain foo foo
expect 0 '*' ''
run explain -p none http://e.com/ http://e.com/
expect 0 '*' ''

# Not the same: which rule or profile would do.
run explain http://www.e.com/ http://e.com/
expect 1 'http://www.e.com/
  = http://www.e.com/
http://e.com/
  = http://e.com/
not the same under crawl/1
the same with --rule strip-www
the same under -p aggressive, by strip-www
' ''
answer() { # LINES OF THE ANSWER, then arguments
    want=$1
    shift
    run explain "$@"
    expect 1 '*' ''
    sed -n '/^not the same/,$p' out > answered
    printf "$want" > wanted
    same answered wanted
}
answer 'not the same under crawl/1\nthe same with --rule fold-scheme,strip-www\nthe same under -p aggressive, by fold-scheme, strip-www\n' \
    https://www.e.com/ http://e.com/
answer 'not the same under crawl/1+strip-www\nthe same with --rule fold-scheme\nthe same under -p aggressive, by fold-scheme, strip-www\n' \
    --rule strip-www https://www.e.com/ http://e.com/
answer 'not the same under whatwg/1
the same with --rule no-keep-fragment
the same under -p crawl, by no-keep-fragment
the same under -p scrapy, by fragment
the same under -p safebrowsing, by fragment
the same under -p aggressive, by no-keep-fragment\n' -p whatwg http://e.com/#a http://e.com/#b
answer 'not the same under crawl/1\nnor under any other profile, nor with all rules together\n' http://e.com/a http://e.com/b
answer 'not the same under crawl/1\nnor under any other profile, nor with all rules together\n' foo bar
answer 'not the same under crawl/1\nnor under any other profile, nor with all rules together\n' \
    http://e.com/ http://e.com/ http://e.com/b
answer 'not the same under crawl/1+keep-fragment\nthe same with --rule no-keep-fragment
the same under -p crawl, by no-keep-fragment\nthe same under -p scrapy, by fragment\nthe same under -p safebrowsing, by fragment
the same under -p aggressive, by no-keep-fragment\n' --rule keep-fragment http://e.com/#a http://e.com/
# If no single rule is enough: a set of which none can be left out.
answer 'not the same under crawl/1\nthe same with --rule fold-scheme,strip-www,strip-index\n' \
    https://www.e.com/index.html http://e.com/
answer 'not the same under crawl/1\nthe same with --rule strip-index,strip-slash\n' http://e.com/b/index.html http://e.com/b
answer 'not the same under aggressive/1\nthe same with --rule strip-query\n' \
    -p aggressive 'http://e.com/?a' 'http://e.com/?b'
answer 'not the same under whatwg/1\nthe same with --rule no-keep-fragment,strip-trackers
the same under -p aggressive, by no-keep-fragment, strip-trackers\n' -p whatwg 'http://e.com/?gclid=1#a' http://e.com/
answer 'not the same under crawl/1+drop-params(a)\nthe same with --rule fold-scheme,strip-slash
the same under -p aggressive, by fold-scheme, strip-slash\n' --drop-params a https://e.com/a/ http://e.com/a
run explain --json https://www.e.com/index.html http://e.com/
expect 1 '*' ''
holds grep -qF '"same_with":[{"option":"--rule fold-scheme,strip-www,strip-index","by":["fold-scheme","strip-www","strip-index"]}]}' out
# What it advises is true.
run explain --rule fold-scheme,strip-www,strip-index https://www.e.com/index.html http://e.com/
expect 0 '*' ''
for advice in '--rule strip-www' '-p aggressive'; do
    run explain $advice http://www.e.com/ http://e.com/
    expect 0 '*' ''
done

# Bytes that could steer a terminal.
run explain "$(printf 'http://e.com/\033[31m\377\302\233\303\251\177')"
expect 0 'http://e.com/\\x1b[31m\\xff\\xc2\\x9bé\\x7f
  escape: what may not stand in a URL as it is is escaped
    /\\x1b[31m\\xff\\xc2\\x9bé\\x7f -> /%%1B[31m%%FF%%C2%%9B%%C3%%A9%%7F
  = http://e.com/%%1B[31m%%FF%%C2%%9B%%C3%%A9%%7F
' ''

# The same as JSON.
run explain --json http://E.com/ http://e.com/
expect 0 '{"profile":"crawl/1","urls":[{"input":"http://E.com/","status":"rewritten","canonical":"http://e.com/","steps":[{"rule":"host-case","sentence":"upper and lower case are the same in a host","before":"E.com","after":"e.com"}]},{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/","steps":[]}],"same":true,"by":["host-case"]}\n' ''
run explain --json https://www.e.com/ http://e.com/
expect 1 '{"profile":"crawl/1","urls":[{"input":"https://www.e.com/","status":"unchanged","canonical":"https://www.e.com/","steps":[]},{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/","steps":[]}],"same":false,"same_with":[{"option":"--rule fold-scheme,strip-www","by":["fold-scheme","strip-www"]},{"option":"-p aggressive","by":["fold-scheme","strip-www"]}]}\n' ''
run explain --json http://www.e.com/ http://e.com/
expect 1 '*' ''
holds grep -qF '"same_with":[{"option":"--rule strip-www","by":["strip-www"]},{"option":"-p aggressive","by":["strip-www"]}]}' out
run explain --json foo bar
expect 1 '*' ''
holds grep -qF '"same":false,"same_with":[]}' out

# A version of a rule means the rule.
run explain -p crawl/1+strip-trackers/1 'http://e.com/?igsh=1' http://e.com/
expect 0 '*' ''
holds [ "$(tail -n 1 out)" = 'same under crawl/1+strip-trackers, by strip-trackers' ]

# Long URLs and many of them.
long=$(head -c 100000 /dev/zero | tr '\0' 'x')
run explain "http://E.com/$long" "http://e.com/$long"
expect 0 '*' ''
run explain $(awk 'BEGIN { for (i = 0; i < 500; i++) print "http://e.com:80/#" i }')
expect 0 '*' ''
holds [ "$(tail -n 1 out)" = 'same under crawl/1, by no-keep-fragment' ]

run explain
expect 2 '' '*'
holds grep -q '^Usage: unseen explain' err
"$UNSEEN" explain http://e.com/ > /dev/full 2> err
holds [ $? = 2 ]
holds grep -qx 'unseen: error: cannot write standard output: No space left on device' err
finish
