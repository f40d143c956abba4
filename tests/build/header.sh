# The public headers are plain C11 and C++17, and every header of src/ compiles by itself.
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

for header in src/*/*.h; do
    # Without a guard it is the body of a kernel, compiled by the file of each level.
    grep -q '^#ifndef UNSEEN_.*_H$' "$header" || continue
    echo "#include \"${header#src/}\"" >"$work/private.c"
    cc -std=c11 -Wall -Wextra -Werror -Iinclude -Isrc -fsyntax-only "$work/private.c" ||
        fail "$header needs another header before it"
done
