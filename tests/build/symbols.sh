# What the built libraries show and need: the shared one exports the public functions and nothing
# else, the static one defines no name outside unseen_, neither has writable globals, and neither
# calls what a library must not: printing, exiting, the environment, the clock, memory that is not
# the allocator's (qsort may take some; posix_memalign is the default allocator's own).
. "$(dirname "$0")/common.bash"
command -v nm >/dev/null || skip "no nm"

# A linker's own symbols, which are no business of ours.
exported() {
    nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort
}

# Names that the objects in $1 need from elsewhere and must not.
forbidden() {
    nm -u "$1" | awk 'NF == 2 { print $2 }' | sed 's/@.*//' | sort -u | grep -xE \
        '(__)?(v?d?f?printf|putc|putchar|fput[cs]|puts|fwrite|perror|v?syslog)(_chk)?|std(in|out|err)|(_|_E|quick_)?[eE]xit|abort|(secure_)?getenv|(set|put|unset)env|time|gettimeofday|clock(_gettime)?|localtime(_r)?|s?rand(om)?|[mc]alloc|realloc(array)?|strn?dup|qsort' ||
        true
}

# Writable variables; tables of constant pointers (.data.rel.ro) become read-only at load time.
writable() {
    objdump -t "$1" | awk '$NF !~ /^\./ && / (\.data|\.bss|\*COM\*|\.tdata|\.tbss)[^ \t]*\t/ &&
        !/\.data\.rel\.ro/ { print $NF }' | sort
}

cat "$SOURCE"/include/*.h | tr '\n' ' ' | grep -oE 'UNSEEN_API [^(;]*\(' |
    grep -oE 'unseen_[a-z0-9_]+\($' | tr -d '(' | sort >"$work/declared"
[ -s "$work/declared" ] || fail "no function found in include/"
exported "$BUILD/libunseen.so" >"$work/exported"
diff "$work/declared" "$work/exported" || fail "declared (<) and exported (>) functions differ"

nm -g --defined-only "$BUILD/libunseen.a" | awk 'NF == 3 { print $3 }' | sort >"$work/global"
grep -v '^unseen_' "$work/global" && fail "global names of the static library outside unseen_"

found=$(forbidden "$BUILD/libunseen.a")
[ -z "$found" ] || fail "the library calls: $found"
found=$(writable "$BUILD/libunseen.a")
[ -z "$found" ] || fail "the library has writable globals: $found"

cat >"$work/planted.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
static int counter;
int planted = 7;
int planted_function(const char *s)
{
    if (getenv(s)) {
        exit(fprintf(stderr, "%s %d\n", s, counter++));
    }
    return planted++;
}
void *planted_memory(void)
{
    return malloc(1);
}
END
cc -O2 -fPIC -c "$work/planted.c" -o "$work/planted.o"
[ "$(forbidden "$work/planted.o" | tr '\n' ' ')" = "exit fprintf getenv malloc stderr " ] ||
    fail "a forbidden call was not noticed: $(forbidden "$work/planted.o")"
[ "$(writable "$work/planted.o" | tr '\n' ' ')" = "counter planted " ] ||
    fail "a global was not noticed: $(writable "$work/planted.o")"
