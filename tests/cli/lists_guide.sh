# The commands of docs/lists.md, run as they stand there, in order and in one folder: what they print
# must be what the page shows. A file that is shown before it exists is made from the page.
. "$(dirname "$0")/lib/common.bash"

page=$TESTS/../docs/lists.md
ln -s "$UNSEEN" unseen
PATH=$scratch:$PATH
mkdir run
cd run || exit 2

# check_command: runs the command in $command and compares, both outputs together.
check_command() {
    [ -n "$command" ] || return 0
    case $command in
    'cat '*) [ -e "${command#cat }" ] || cp ../want "${command#cat }" ;;
    esac
    bash -c "$command" > ../got 2>&1 < /dev/null
    tests_run=$((tests_run + 1))
    cmp -s ../got ../want || {
        complain "docs/lists.md: $command"
        diff -a ../want ../got | head -n 10 >&2
    }
}

command=
: > ../want
while IFS= read -r line; do
    case $line in
    '    $ '*)
        check_command
        command=${line#'    $ '}
        : > ../want
        ;;
    '    '*) [ -z "$command" ] || printf '%s\n' "${line#'    '}" >> ../want ;;
    *)
        check_command
        command=
        ;;
    esac
done < "$page"
check_command
holds [ "$tests_run" -gt 20 ]
finish
