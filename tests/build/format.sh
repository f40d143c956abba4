# Every C file is formatted as .clang-format says. One version, because versions disagree. clang-format
# does not wrap comments: the public headers, which are mostly comments, are measured here.
. "$(dirname "$0")/common.bash"
command -v clang-format-14 >/dev/null || skip "no clang-format-14"
cd "$SOURCE"

find include src cli tests fuzz bench module bindings planner -name '*.[ch]' 2>/dev/null >"$work/files" || true
[ -s "$work/files" ] || fail "no files"
xargs clang-format-14 --dry-run --Werror <"$work/files" ||
    fail "run: clang-format-14 -i on the files above"

printf 'int  f( void ){return 1 ;}\n' >"$work/planted.c"
cp .clang-format "$work"
if clang-format-14 --dry-run --Werror "$work/planted.c" 2>/dev/null; then
    fail "a badly formatted file was not noticed"
fi

wide_lines() {
    awk 'length > 100 { print FILENAME ":" FNR ": " length " columns" }' "$@"
}
[ -z "$(wide_lines include/*.h)" ] || fail "more than 100 columns: $(wide_lines include/*.h)"
[ -n "$(printf '/* %098d */\n' 0 | wide_lines)" ] || fail "a line of 104 columns was not noticed"
