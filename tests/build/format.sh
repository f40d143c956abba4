# Every C file is formatted as .clang-format says. One version, because versions disagree.
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
