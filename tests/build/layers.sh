# The arrows of docs/architecture.md, read from the #include lines:
#
#     base <- {lines, url, hash, small} <- {filter, bitmap, layer, log, kind} <- {set, list} <- store <- programs
#
# url and filter never know each other, and nothing in src/ so much as mentions printing, exiting, the
# environment or the clock. A program includes the headers of include/ and its own only. The rooms of the
# tool:
#
#     helpers <- print <- lines <- seen <- commands <- {build, serve} <- options <- main.c
#
# helpers are the files in cli/ itself, but for main.c. The table of leases (leases/) is for serve and the module; it
# includes nothing of them. The planner page is a second front end of one command: it
# includes the headers of that command's plans and numbers, and no other.
#
# A file with a header of its name includes that header first. No two files of src and cli have one name.
. "$(dirname "$0")/common.bash"

# The layers that a file of layer $1 may include.
may_include() {
    case $1 in
    base) echo "base" ;;
    lines | url | hash | small) echo "base $1" ;;
    filter) echo "base hash small filter" ;;
    bitmap) echo "base hash bitmap" ;;
    layer) echo "base hash layer" ;;
    log) echo "base hash log" ;;
    kind) echo "base url kind" ;;
    set) echo "base url hash small filter set" ;;
    list) echo "base url hash kind list" ;;
    store) echo "base url hash filter log set store" ;;
    *) fail "src/$1 is not a layer: add it to this test and to docs/architecture.md" ;;
    esac
}

# The rooms that a file of the tool's room $1 may include.
room_may_include() {
    case $1 in
    helpers) echo "helpers" ;;
    print) echo "$(room_may_include helpers) print" ;;
    lines) echo "$(room_may_include print) lines" ;;
    seen) echo "$(room_may_include lines) seen" ;;
    commands) echo "$(room_may_include seen) commands" ;;
    build) echo "$(room_may_include commands) build" ;;
    serve) echo "$(room_may_include commands) serve leases" ;;
    options) echo "$(room_may_include serve) build options" ;;
    main) room_may_include options ;;
    *) fail "cli/$1 is not a room: add it to this test and to docs/architecture.md" ;;
    esac
}

# Sets room to that of the tool's file $1, as its path or an #include has it.
room_of() {
    case $1 in
    main.c) room=main ;;
    */*) room=${1%%/*} ;;
    *) room=helpers ;;
    esac
}

# Prints "FILE NAME" for each quoted include of the files $2... in folder $1.
quoted() {
    (cd "$1" && shift && grep -HE '^[ \t]*#[ \t]*include[ \t]*"' "$@" /dev/null) |
        sed -E 's/^([^:]*):[^"]*"([^"]*)".*/\1 \2/'
}

forbidden='\b(v?f?printf|puts|fputs|putchar|perror|syslog|_?exit|abort|(secure_)?getenv|setenv|time|clock|clock_gettime|gettimeofday) *\('

# Prints every violation in the tree $1.
violations() {
    tree=$1
    for folder in "$tree"/src/*; do
        layer=${folder##*/}
        allowed=" $(may_include "$layer") "
        quoted "$tree" "src/$layer" -r --include='*.[ch]' | while read -r file name; do
            case $name in
            unseen.h | unseen_list.h | unseen_bitmap.h | unseen_layer.h | unseen_small.h) continue ;;
            ../* | */../*) echo "$file: $name leaves its folder" ;;
            */*) ;;
            *) echo "$file: $name: write the layer, too" ;;
            esac
            case $allowed in
            *" ${name%%/*} "*) ;;
            *) echo "$file: $layer must not include $name" ;;
            esac
        done
    done
    # Comments may say such words: the few files with one are read again without them; directives are not executed.
    (cd "$tree" && grep -rlE --include='*.[ch]' "$forbidden" src || true) | while read -r file; do
        cc -fpreprocessed -dD -E -P -x c "$tree/$file" 2>/dev/null | grep -nE "$forbidden" |
            sed "s|^|$file: forbidden call: |"
    done
    for program in cli module leases; do
        quoted "$tree" "$program" -r --include='*.[ch]' | while read -r file name; do
            [ "$name" = leases/lease_table.h ] || [ -f "$tree/$program/$name" ] && [ "${name#*..}" = "$name" ] ||
                echo "$file: a program must not include $name"
        done
    done
    quoted "$tree" planner -r --include='*.c' | while read -r file name; do
        case $name in
        commands/plan_solve.h | options/options.h) ;;
        *) echo "$file: the planner must not include $name" ;;
        esac
    done
    from=
    quoted "$tree" cli -r --include='*.[ch]' | while read -r file name; do
        room_of "${file#cli/}"
        if [ "$room" != "$from" ]; then
            from=$room
            allowed=" $(room_may_include "$from") "
        fi
        room_of "$name"
        case $allowed in
        *" $room "*) ;;
        *) echo "$file: $from must not include $name" ;;
        esac
    done
    # So that no header needs what another one includes.
    (cd "$tree" && grep -rHE --include='*.c' '^#include' src cli leases | grep -v '"base/posix.h"') |
        awk -F: '!seen[$1]++ { print $1, $2 }' | while read -r file _ first; do
        header=${file%.c}.h
        [ ! -f "$tree/$header" ] || [ "$first" = "\"${header#*/}\"" ] || [ "$first" = "\"$header\"" ] ||
            echo "$file: its own header comes first"
    done
    (cd "$tree" && find src cli -name '*.[ch]' | LC_ALL=C sort) |
        awk -F/ 'seen[$NF]++ { print $0 ": another file has this name" }'
}

found=$(violations "$SOURCE")
[ -z "$found" ] || fail "$found"

# Each fault planted in a copy must be noticed, and nothing else. One file each, so that the lines
# can be told apart.
mkdir "$work/tree"
cp -r "$SOURCE/src" "$SOURCE/cli" "$SOURCE/module" "$SOURCE/leases" "$SOURCE/planner" "$work/tree"
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
plant cli/planted9.c '#include "print/message.h"'
plant cli/print/planted10.c '#include "lines/text.h"'
plant cli/lines/planted11.h '#include "seen/seen_options.h"'
plant cli/seen/planted12.c '#include "commands/commands.h"'
plant cli/commands/planted13.c '# include "options/help.h"'
plant cli/build/planted14.c '#include "serve/names.h"'
plant cli/serve/planted15.c '#include "build/build_old.h"'
plant cli/options/planted16.c '#include "main.c"'
plant cli/seen/planted19.c '#include "leases/lease_table.h"'
plant leases/planted20.c '#include "serve/leases.h"'
plant module/planted21.c '#include "base/bytes.h"'
plant planner/planted17.c '#include "filter/rate.h"'
echo '/* a header */' >"$work/tree/src/url/planted18.h"
plant src/url/planted18.c '#include <string.h>
#include "url/planted18.h"'
plant src/set/output.h '/* there is cli/print/output.h */'
echo '#include "stop.h"' >"$work/tree/cli/print/harmless.c"
echo '/* printf("in a comment") */ int snprintf_is_fine;' >"$work/tree/src/store/harmless_call.c"
violations "$work/tree" | sed -E "s|^([^:]*):.*|\1|" | sort -u >"$work/noticed"
sort "$work/planted" | diff - "$work/noticed" || fail "planted (<) and noticed (>) faults differ"
