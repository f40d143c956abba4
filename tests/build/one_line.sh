# src/ compiles with one line and no configure step: the library with a small program, and with
# the tool. As C11 without extensions, too.
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

ncompilers=0
for cc in gcc clang-14 clang; do
    command -v $cc >/dev/null || continue
    # clang is often clang-14 by another name: one of the two is enough.
    case $cc in clang) [ $ncompilers -lt 2 ] || continue ;; esac
    ncompilers=$((ncompilers + 1))
    $cc -O2 -Iinclude -Isrc src/*/*.c tests/build/consumer/main.c -lidn2 -lm -pthread \
        -o "$work/main" || fail "$cc: library"
    "$work/main" || fail "$cc: the program with the library in it"
done
[ $ncompilers -gt 0 ] || fail "no compiler"

cc -std=c11 -O2 -Iinclude -Isrc src/*/*.c cli/*.c -lidn2 -lm -lz -lzstd -ljansson -pthread \
    -o "$work/unseen" || fail "the tool"
[ "$(printf 'a\nb\na\n' | "$work/unseen" | tr '\n' ' ')" = "a b " ] || fail "the tool's output"
