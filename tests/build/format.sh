# Every C file is formatted as .clang-format says. One version, because versions disagree. clang-format
# does not wrap comments: the length of lines is measured here.
. "$(dirname "$0")/common.bash"
command -v clang-format-14 >/dev/null || skip "no clang-format-14"
cd "$SOURCE"

find include src cli tests fuzz bench module leases bindings planner examples -name '*.[ch]' 2>/dev/null >"$work/files" || true
[ -s "$work/files" ] || fail "no files"
xargs clang-format-14 --dry-run --Werror <"$work/files" ||
    fail "run: clang-format-14 -i on the files above"

printf 'int  f( void ){return 1 ;}\n' >"$work/planted.c"
cp .clang-format "$work"
if clang-format-14 --dry-run --Werror "$work/planted.c" 2>/dev/null; then
    fail "a badly formatted file was not noticed"
fi

# Code that clang-format leaves alone, such as tables, may be wider.
wide_lines() { # prints the wide lines of the files that standard input names
    xargs awk 'FNR == 1 { off = 0 }
        /clang-format off/ { off = 1 }
        length > 100 && !off { print FILENAME ":" FNR ": " length " columns" }
        /clang-format on/ { off = 0 }'
}
wide_lines <"$work/files" >"$work/wide"
[ ! -s "$work/wide" ] || fail "more than 100 columns: $(cat "$work/wide")"

printf '/* %098d */\n' 0 >"$work/planted.c"
[ -n "$(echo "$work/planted.c" | wide_lines)" ] || fail "a line of 104 columns was not noticed"
