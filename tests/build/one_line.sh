# src/ compiles with one line and no configure step: the library with a small program by clang, the tool by
# the compiler of the system. Without optimisation: the stages of tools/test.sh compile the same with it, and
# here it would take two minutes.
# Label: all
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

cc=clang-14
command -v $cc >/dev/null || cc=cc
$cc -O0 -Iinclude -Isrc src/*/*.c tests/build/consumer/main.c -lidn2 -lsodium -lm -pthread -o "$work/main" ||
    fail "$cc: library"
"$work/main" || fail "$cc: the program with the library in it"

# The tool, as C11 without extensions of the language.
# redis_absent.c is for a tool without hiredis, decode_isal.c for a tool with ISA-L.
shopt -s extglob
cc -std=c11 -D_GNU_SOURCE -O0 -Iinclude -Isrc -Icli -I. src/*/*.c cli/*.c cli/*/!(redis_absent|decode_isal).c leases/*.c -lidn2 -lsodium -lm \
    -lz -lzstd -llzma -lbz2 -lhiredis -pthread -o "$work/unseen" || fail "the tool"
[ "$(printf 'a\nb\na\n' | "$work/unseen" | tr '\n' ' ')" = "a b " ] || fail "the tool's output"
