# unseen explain: each step, the verdict, and what would make URLs the same.
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
run explain foo
expect 0 'foo\n  not a URL: its bytes are its identity\n' ''
run explain -- -x
expect 0 "\055x\n  not a URL: its bytes are its identity\n" ''
run explain -p scrapy 'http://E.com/?b&a'
expect 0 "http://E.com/?b&a
  scrapy: w3lib 2.4 canonicalize_url, as Scrapy's duplicate filter
    http://E.com/?b&a -> http://e.com/?a=&b=
  = http://e.com/?a=&b=
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
answer 'not the same under crawl/1\nthe same under -p aggressive, by fold-scheme, strip-www\n' \
    https://www.e.com/ http://e.com/
answer 'not the same under crawl/1+strip-www\nthe same with --rule fold-scheme\nthe same under -p aggressive, by fold-scheme, strip-www\n' \
    --rule strip-www https://www.e.com/ http://e.com/
answer 'not the same under whatwg/1
the same with --rule no-keep-fragment
the same under -p crawl, by no-keep-fragment
the same under -p scrapy
the same under -p safebrowsing
the same under -p aggressive, by no-keep-fragment\n' -p whatwg http://e.com/#a http://e.com/#b
answer 'not the same under crawl/1\nnor under any other profile, nor with any one rule more\n' http://e.com/a http://e.com/b
answer 'not the same under crawl/1\nnor under any other profile, nor with any one rule more\n' foo bar
answer 'not the same under crawl/1\nnor under any other profile, nor with any one rule more\n' \
    http://e.com/ http://e.com/ http://e.com/b
answer 'not the same under crawl/1+keep-fragment\nthe same with --rule no-keep-fragment
the same under -p crawl, by no-keep-fragment\nthe same under -p scrapy\nthe same under -p safebrowsing
the same under -p aggressive, by no-keep-fragment\n' --rule keep-fragment http://e.com/#a http://e.com/
# What it advises is true.
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
expect 1 '{"profile":"crawl/1","urls":[{"input":"https://www.e.com/","status":"unchanged","canonical":"https://www.e.com/","steps":[]},{"input":"http://e.com/","status":"unchanged","canonical":"http://e.com/","steps":[]}],"same":false,"same_with":[{"option":"-p aggressive","by":["fold-scheme","strip-www"]}]}\n' ''
run explain --json http://www.e.com/ http://e.com/
expect 1 '*' ''
holds grep -qF '"same_with":[{"option":"--rule strip-www","by":["strip-www"]},{"option":"-p aggressive","by":["strip-www"]}]}' out
run explain --json foo
expect 0 '{"profile":"crawl/1","urls":[{"input":"foo","status":"failed","canonical":null,"steps":[]}]}\n' ''
run explain --json foo bar
expect 1 '*' ''
holds grep -qF '"same":false,"same_with":[]}' out

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
