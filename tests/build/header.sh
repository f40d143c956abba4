# The public headers are plain C11 and C++17, each of their functions that can fail says its errors, threads
# and time, and every header of src/ compiles by itself.
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

for header in include/*.h; do
    echo "#include <${header#include/}>"
done >"$work/public.c"
cp "$work/public.c" "$work/public.cpp"
strict='-pedantic-errors -Wall -Wextra -Wconversion -Werror -Iinclude -fsyntax-only'
for cc in gcc clang-14; do
    command -v $cc >/dev/null || continue
    $cc -std=c11 $strict -Wshadow -Wstrict-prototypes "$work/public.c" || fail "$cc, C11"
    # Both of them need the C++ front end, which is a package of its own.
    if echo 'int main() {}' | $cc -x c++ -fsyntax-only - 2>/dev/null; then
        # No -Wshadow: gcc takes a function named like a struct (as stat) for a hidden constructor.
        $cc -x c++ -std=c++17 $strict "$work/public.cpp" || fail "$cc, C++17"
    fi
done

# Functions that stand together, without an empty line, share the comment in front of the first. Other functions
# say only what is not so by the conventions on top of unseen.h.
unsaid() { # HEADER...
    awk '/^\/\*/ { text = "" }
        /^(\/| )\*/ { text = text $0 "\n" }
        /^$/ { text = "" }
        /^UNSEEN_API enum unseen_status/ {
            split("Errors Threads Time", words)
            for (i in words)
                if (text !~ ("\n \\* " words[i] "[:,]")) print FILENAME ":" FNR ": no " words[i]
        }
        /^ \* Errors: none/ { print FILENAME ":" FNR ": the conventions say this" }' "$@"
}
[ -z "$(unsaid include/*.h)" ] || fail "$(unsaid include/*.h)"
for word in Errors Threads Time; do
    sed "/^ \* $word:/d" include/unseen.h >"$work/planted.h"
    [ -n "$(unsaid "$work/planted.h")" ] || fail "functions that do not say their $word were not noticed"
done
printf '/* Frees it.\n *\n * Errors: none. */\nUNSEEN_API void f(void);\n' >"$work/planted.h"
[ -n "$(unsaid "$work/planted.h")" ] || fail "a function that says what the conventions say was not noticed"

for header in src/*/*.h; do
    # Without a guard it is the body of a kernel, compiled by the file of each level.
    grep -q '^#ifndef UNSEEN_.*_H$' "$header" || continue
    echo "#include \"${header#src/}\"" >"$work/private.c"
    cc -std=c11 -Wall -Wextra -Werror -Iinclude -Isrc -fsyntax-only "$work/private.c" ||
        fail "$header needs another header before it"
done
