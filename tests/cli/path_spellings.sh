# Lists of sites cannot be evaded by the spelling of a path: a URL is listed if a browser, or a server that
# decodes once or twice, opens a listed folder or page, and is allowed only if all of them open what is
# allowed. The spellings and what they open are made by path_spellings.py: 10,000, and
# 100,000 in the long tests (UNSEEN_CRASH_SCALE=10).
. "$(dirname "$0")/lib/common.bash"

command -v python3 > /dev/null || {
    skip 'no python3'
    finish
}
printf '%s\n' shop.example/bad/ shop.example/a/bad/ shop.example/dir/sub/bad/ shop.example/page > bad.txt
holds unseen build --expressions --seed 1 bad.list bad.txt
holds python3 "$TESTS/cli/path_spellings.py" urls expected $((10000 * ${UNSEEN_CRASH_SCALE:-1}))
echo shop.example/bad/good/ | unseen allow bad.list
# The verdict of a line is that of its whole question, so what is neither listed nor allowed is new.
unseen check bad.list urls > listed
grep -n ^listed expected | cut -d: -f1 > rows
awk 'NR == FNR { wanted[$1]; next } FNR in wanted' rows urls > expected_lines
holds cmp listed expected_lines
diff listed expected_lines | head -20 >&2

# A line that is allowed has all its readings allowed, now or at the build; and loses them again.
echo 'http://shop.example/bad/x;v=1/..%2f..%2fa/bad/y' > line
holds unseen check bad.list line > out
holds unseen allow bad.list line
unseen check bad.list line > out
holds [ ! -s out ]
holds unseen allow --remove bad.list line
holds unseen check bad.list line > out
holds unseen build --expressions --seed 1 --known-good line good.list bad.txt 2> err
unseen check good.list line > out
holds [ ! -s out ]

# The same rule for an address that programs read in two ways.
echo 192.0.2.10 | unseen build --kind ip --seed 1 ip.list
echo 192.0.2.8 | unseen allow ip.list
holds [ "$(echo 192.0.2.010 | unseen check ip.list)" = 192.0.2.010 ]
echo 192.0.2.10 | unseen allow ip.list
holds [ -z "$(echo 192.0.2.010 | unseen check ip.list)" ]
finish
