# The arrows of docs/architecture.md, read from the #include lines:
#
#     base <- {lines, url, hash, small} <- {filter <- {tags, bits}, bitmap, foreign, log, kind} <- {set, list} <- store
#     <- programs
#
# url and filters never know each other, and nothing in src/ so much as mentions printing, exiting, the
# environment or the clock. A program includes the headers of include/ and its own only. The rooms of the
# tool:
#
#     helpers <- print <- lines <- seen <- commands <- {build, import, serve} <- options <- main.c
#
# helpers are the files in cli/ itself, but for main.c. The rooms of the module:
#
#     server <- value <- keys <- commands <- start
#
# start are the files in module/ itself. The table of leases (leases/) is for serve and the module, and includes
# nothing of them. The planner page is a second front end of one command: it includes the headers of that command's
# plans and numbers, and no other. The Python package includes its own headers and, in <>, those of include/.
#
# A file with a header of its name includes that header first. No two files of src and cli have one name, and no two
# files of the module.
. "$(dirname "$0")/common.bash"

# The layers that a file of layer $1 may include.
may_include() {
    case $1 in
    base) echo "base" ;;
    lines | url | hash | small) echo "base $1" ;;
    filter) echo "filter" ;;
    tags | bits) echo "base hash filter $1" ;;
    bitmap) echo "base hash bitmap" ;;
    foreign) echo "base hash foreign" ;;
    log) echo "base hash log" ;;
    kind) echo "base url kind" ;;
    set) echo "base url hash small filter tags bits set" ;;
    list) echo "base url hash kind list" ;;
    store) echo "base url hash tags log set store" ;;
    *) fail "src/$1 is not a layer: add it to this test and to docs/architecture.md" ;;
    esac
}

# The rooms that a file of the room $1 of a program may include.
room_may_include() {
    case $1 in
    cli/helpers) echo "helpers" ;;
    cli/print) echo "$(room_may_include cli/helpers) print" ;;
    cli/lines) echo "$(room_may_include cli/print) lines" ;;
    cli/seen) echo "$(room_may_include cli/lines) seen" ;;
    cli/commands) echo "$(room_may_include cli/seen) commands" ;;
    cli/build) echo "$(room_may_include cli/commands) build" ;;
    cli/import) echo "$(room_may_include cli/commands) import" ;;
    cli/serve) echo "$(room_may_include cli/commands) serve leases" ;;
    cli/options) echo "$(room_may_include cli/serve) build import options" ;;
    cli/main) room_may_include cli/options ;;
    module/server) echo "server" ;;
    module/value) echo "$(room_may_include module/server) value leases" ;;
    module/keys) echo "$(room_may_include module/value) keys" ;;
    module/commands) echo "$(room_may_include module/keys) commands" ;;
    module/start) echo "$(room_may_include module/commands) start" ;;
    leases/leases) echo "leases" ;;
    *) fail "$1 is not a room: add it to this test and to docs/architecture.md" ;;
    esac
}

# Sets room to that of the file $2 of the program $1, as its path below the program or an #include has it.
room_of() {
    case $1/$2 in
    cli/main.c) room=main ;;
    */*/*) room=${2%%/*} ;;
    cli/*) room=helpers ;;
    module/*) room=start ;;
    *) room=leases ;;
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
            unseen.h | unseen_list.h | unseen_bitmap.h | unseen_foreign.h | unseen_small.h) continue ;;
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
        from=
        quoted "$tree" "$program" -r --include='*.[ch]' | while read -r file name; do
            [ -f "$tree/$program/$name" ] || [ "$name" = leases/lease_table.h ] && [ "${name#*..}" = "$name" ] ||
                echo "$file: a program must not include $name"
            room_of "$program" "${file#*/}"
            if [ "$room" != "$from" ]; then
                from=$room
                allowed=" $(room_may_include "$program/$from") "
            fi
            room_of "$program" "$name"
            case $allowed in
            *" $room "*) ;;
            *) echo "$file: $from must not include $name" ;;
            esac
        done
    done
    quoted "$tree" planner -r --include='*.c' | while read -r file name; do
        case $name in
        commands/plan_solve.h | options/options.h) ;;
        *) echo "$file: the planner must not include $name" ;;
        esac
    done
    quoted "$tree" bindings/python/src -r --include='*.[ch]' | while read -r file name; do
        case $name in
        */*) echo "$file: the Python package must not include $name" ;;
        *) [ -f "$tree/bindings/python/src/$name" ] || echo "$file: the Python package must not include $name" ;;
        esac
    done
    # So that no header needs what another one includes.
    (cd "$tree" && grep -rHE --include='*.c' '^#include' src cli module leases | grep -v '"base/posix.h"') |
        awk -F: '!seen[$1]++ { print $1, $2 }' | while read -r file _ first; do
        header=${file%.c}.h
        [ ! -f "$tree/$header" ] || [ "$first" = "\"${header#*/}\"" ] || [ "$first" = "\"$header\"" ] ||
            echo "$file: its own header comes first"
    done
    for places in "src cli" module; do
        # shellcheck disable=SC2086 # the places are words
        (cd "$tree" && find $places -name '*.[ch]' | LC_ALL=C sort) |
            awk -F/ 'seen[$NF]++ { print $0 ": another file has this name" }'
    done
}

found=$(violations "$SOURCE")
[ -z "$found" ] || fail "$found"

# Each fault planted in a copy must be noticed, and nothing else. One file each, so that the lines
# can be told apart.
mkdir "$work/tree"
cp -r "$SOURCE/src" "$SOURCE/cli" "$SOURCE/module" "$SOURCE/leases" "$SOURCE/planner" "$work/tree"
mkdir -p "$work/tree/bindings/python"
cp -r "$SOURCE/bindings/python/src" "$work/tree/bindings/python"
plant() { # FILE TEXT
    mkdir -p "$work/tree/$(dirname "$1")"
    echo "$2" >"$work/tree/$1"
    echo "$1" >>"$work/planted"
}
plant src/base/planted1.h '#include "hash/key.h"'
plant src/tags/planted2.c '#include "url/url.h"'
plant src/url/planted3.c '#include "filter/filter.h"'
plant src/bits/planted28.c '#include "tags/compact.h"'
plant src/filter/planted29.h '#include "bits/rate.h"'
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
plant cli/import/planted30.c '#include "build/build_old.h"'
plant cli/serve/planted15.c '#include "build/build_old.h"'
plant cli/options/planted16.c '#include "main.c"'
plant planner/planted17.c '#include "bits/rate.h"'
echo '/* a header */' >"$work/tree/src/url/planted18.h"
plant src/url/planted18.c '#include <string.h>
#include "url/planted18.h"'
plant cli/seen/planted19.c '#include "leases/lease_table.h"'
plant leases/planted20.c '#include "serve/leases.h"'
plant module/server/planted21.c '#include "value/settings.h"'
plant module/value/planted22.h '#include "keys/keys.h"'
plant module/keys/planted23.c '#include "commands/items.h"'
plant module/commands/planted24.c '#include "command_table.h"'
plant module/value/planted25.c '#include "base/bytes.h"'
plant module/keys/planted26.c '#include "leases/../src/base/bytes.h"'
plant module/value/planted27.c '#include "server/server.h"
#include "value/planted27.h"'
echo '/* a header */' >"$work/tree/module/value/planted27.h"
plant bindings/python/src/planted31.c '#include "base/bytes.h"'
plant bindings/python/src/planted32.h '#include "bytes.h"'
plant bindings/python/src/planted33.c '#include "../../../src/base/bytes.h"'
plant module/value/server.h "/* there is module/server/server.h */"
plant src/set/output.h '/* there is cli/print/output.h */'
echo '#include "stop.h"' >"$work/tree/cli/print/harmless.c"
echo '/* printf("in a comment") */ int snprintf_is_fine;' >"$work/tree/src/store/harmless_call.c"
violations "$work/tree" | sed -E "s|^([^:]*):.*|\1|" | sort -u >"$work/noticed"
sort "$work/planted" | diff - "$work/noticed" || fail "planted (<) and noticed (>) faults differ"
