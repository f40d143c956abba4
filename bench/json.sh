#!/bin/bash
# The distinct URLs of JSON lines, one core, CPU time, files in memory: `unseen -c -k .url`, a Python
# loop of json.loads and a set, and `jq -r .url`. Records of 2 KB and of 440 bytes. The numbers of URLs
# are compared. Needs jq and python3 (Debian packages).
#
# usage: bench/json.sh [NRECORDS]        (100000 of 2 KB and 5 times as many of 440 bytes; 1 minute)
#
# Variables: BUILD (build/release), ROUNDS (5), CORE (1), WORK (/dev/shm/unseen-json).
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
rounds=${ROUNDS:-5}
core=${CORE:-$(($(nproc) > 1 ? 1 : 0))}
work=${WORK:-/dev/shm/unseen-json}
n=${1:-100000}
for program in jq python3; do
    command -v $program >/dev/null || {
        echo "error: $program is missing: apt-get install $program" >&2
        exit 2
    }
done
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

cat >"$work/make.py" <<'END'
import json, random, sys
kind, n = sys.argv[1], int(sys.argv[2])
random.seed(1)
words = 'the quick "brown" fox jumps over a lazy dog, and pages\n have na\u00efve text in them'.split(" ")
def text(size):
    out = ""
    while len(out) < size:
        out += random.choice(words) + " "
    return out[:size]
def url(i):
    return "http://www.site%d.example/section/page-%d.html" % (i % 97, random.randrange(n // 2 + 1))
for i in range(n):
    if kind == "long":
        record = {"url": url(i), "text": text(1900)}
    else:
        record = {"id": i, "url": url(i), "status": 200, "mime": "text/html", "digest": "%040x" % random.getrandbits(160),
                  "length": random.randrange(100000), "languages": ["eng", "deu"],
                  "meta": {"charset": "UTF-8", "score": random.random(), "tags": ["a", "b"]},
                  "title": text(80), "truncated": None}
    print(json.dumps(record))
END
cat >"$work/loop.py" <<'END'
import json, sys
seen = set()
for line in sys.stdin:
    seen.add(json.loads(line)["url"])
print(len(seen))
END

# run NAME COMMAND...: appends the figures to $work/NAME.times; the output is $work/NAME.out.
run() {
    name=$1
    shift
    "$build/bench/measure" "$work/$name.times" taskset -c "$core" "$@" <"$work/in" >"$work/$name.out"
}

median() {
    sort -g "$work/$1.times" | awk '{ t[NR] = $1 } END { print t[int((NR + 1) / 2)] }'
}

# report NAME GOAL: the ratio to unseen.
report() {
    awk -v name="$1" -v goal="$2" -v t="$(median "$1")" -v u="$(median unseen)" 'BEGIN {
        printf "  %-22s %8.3f CPU s %6.1f x unseen%s\n", name, t, t / u,
            goal ? sprintf("   goal %d: %s", goal, t / u >= goal ? "met" : "MISSED") : "" }'
}

# compare KIND N GOAL_PYTHON GOAL_JQ
compare() {
    rm -f "$work"/*.times
    python3 "$work/make.py" "$1" "$2" >"$work/in"
    for _ in $(seq "$rounds"); do
        run unseen "$build/unseen" -c -j1 -p none -k .url
        run python python3 "$work/loop.py"
        run jq jq -r .url
        run lines "$build/unseen" -c -j1 -p none
        rm -f "$work/x.list"
        run build "$build/unseen" build -j1 -p none -k .url "$work/x.list" -
        rm -f "$work/x.list"
        run build-extracted "$build/unseen" build -j1 -p none "$work/x.list" "$work/jq.out"
    done
    cmp "$work/unseen.out" "$work/python.out"
    [ "$(sort -u "$work/jq.out" | wc -l)" = "$(cat "$work/unseen.out")" ]
    echo "$2 records, $(($(stat -c %s "$work/in") / $2)) bytes each; medians of $rounds"
    report unseen ''
    report python "$3"
    report jq "$4"
    report lines ''
    report build ''
    report build-extracted ''
}

echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); core $core;" \
    "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown); $(jq --version), $(python3 --version)"
compare long "$n" 6 12
compare short "$((5 * n))" 4 8
