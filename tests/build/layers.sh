# The arrows of docs/architecture.md, read from the #include lines:
#
#     base <- {lines, url, hash} <- {filter, bitmap, log, kind} <- {set, list} <- store <- unseen.h's users
#
# url and filter never know each other, a program includes <unseen.h> and its own headers only,
# and nothing in src/ so much as mentions printing, exiting, the environment or the clock.
. "$(dirname "$0")/common.bash"

# The layers that a file of layer $1 may include.
may_include() {
    case $1 in
    base) echo "base" ;;
    lines | url | hash) echo "base $1" ;;
    filter) echo "base hash filter" ;;
    bitmap) echo "base hash bitmap" ;;
    log) echo "base hash log" ;;
    kind) echo "base url kind" ;;
    set) echo "base url hash filter set" ;;
    list) echo "base url hash kind list" ;;
    store) echo "base url hash filter log set store" ;;
    *) fail "src/$1 is not a layer: add it to this test and to docs/architecture.md" ;;
    esac
}

# The quoted includes of file $1, one a line.
quoted() {
    sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1/p' "$1"
}

# The text of file $1 without comments; directives are not executed.
without_comments() {
    cc -fpreprocessed -dD -E -P -x c "$1" 2>/dev/null
}

# Prints every violation in the tree $1.
violations() {
    tree=$1
    for file in "$tree"/src/*/*.[ch]; do
        layer=$(basename "$(dirname "$file")")
        allowed=" $(may_include "$layer") "
        for name in $(quoted "$file"); do
            case $name in
            unseen.h | unseen_list.h | unseen_bitmap.h | unseen_arrow.h) continue ;;
            ../* | */../*) echo "$file: $name leaves its folder" ;;
            */*) ;;
            *) echo "$file: $name: write the layer, too" ;;
            esac
            case $allowed in
            *" ${name%%/*} "*) ;;
            *) echo "$file: $layer must not include $name" ;;
            esac
        done
        without_comments "$file" | grep -nE \
            '\b(v?f?printf|puts|fputs|putchar|perror|syslog|_?exit|abort|(secure_)?getenv|setenv|time|clock|clock_gettime|gettimeofday) *\(' |
            sed "s|^|$file: forbidden call: |"
    done
    for program in cli module; do
        for file in "$tree/$program"/*.[ch] "$tree/$program"/*/*.[ch]; do
            [ -f "$file" ] || continue
            for name in $(quoted "$file"); do
                [ -f "$tree/$program/$name" ] && [ "${name#*..}" = "$name" ] ||
                    echo "$file: a program must not include $name"
            done
        done
    done
}

found=$(violations "$SOURCE")
[ -z "$found" ] || fail "$found"

# Each fault planted in a copy must be noticed, and nothing else. One file each, so that the lines
# can be told apart.
mkdir "$work/tree"
cp -r "$SOURCE/src" "$SOURCE/cli" "$work/tree"
plant() { # FILE TEXT
    mkdir -p "$work/tree/$(dirname "$1")"
    echo "$2" >"$work/tree/$1"
    echo "$1" >>"$work/planted"
}
plant src/base/planted1.h '#include "hash/key.h"'
plant src/filter/planted2.c '#include "url/url.h"'
plant src/url/planted3.c '#include "filter/filter.h"'
plant src/lines/planted4.c '# include "set/set.h"'
plant src/hash/planted5.c '#include "./../set/set.h"'
plant cli/planted6.c '#include "base/bytes.h"'
plant src/base/planted7.c 'void f(void) { fprintf(stderr, "no"); }'
plant src/store/planted8.c 'long f(void) { return time(NULL); }'
echo '/* printf("in a comment") */ int snprintf_is_fine;' >"$work/tree/src/store/harmless.c"
violations "$work/tree" | sed -E "s|^$work/tree/([^:]*):.*|\1|" | sort -u >"$work/noticed"
sort "$work/planted" | diff - "$work/noticed" || fail "planted (<) and noticed (>) faults differ"
