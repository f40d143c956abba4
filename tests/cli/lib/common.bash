# What every test of the tool starts with: a scratch folder as the working directory, and
#
#     run ARG...                       runs the tool; standard input is the file `in` if there is one
#     expect STATUS STDOUT STDERR      what it must have done; both texts in printf's notation
#     same FILE FILE                   two files must be equal
#     holds COMMAND..., lacks PATTERN FILE, eventually COMMAND..., sanitized, brief
#     hold_time; pass_time SECONDS     the time that the tool sees stands still; it goes on by SECONDS
#     finish                           the last line of a test
#
# Tests with some 10,000 lines and more give a seed: with a random one, a wrong answer of the set
# would be rare, but not impossible. A text of '*' is not looked at, nor is that of a hint: hints.sh
# follows hints. The first difference of each failed check is shown.
set -u
export LC_ALL=C TERM=dumb
unset NO_COLOR POSIXLY_CORRECT PYTHONUNBUFFERED
tests_failed=0
tests_run=0
scratch=$(mktemp -d) || exit 2
trap 'cleanup' EXIT
cleanup_more() { :; }
# A tool that reads nothing must not end the test, but fail its checks. What the test runs has the
# default again.
trap ':' PIPE
# A subshell that a signal ends before it is a program of its own runs this, too.
main_pid=$BASHPID
cleanup() {
    [ "$BASHPID" = "$main_pid" ] || return 0
    cleanup_more
    cd / && rm -rf "$scratch"
}
cd "$scratch" || exit 2
: "${UNSEEN:?the path of the tool}"
: "${TESTS:?the folder of the tests}"
# Some tests would wait long for what another program never says.
case $("$UNSEEN" --version 2> /dev/null) in
'unseen '*) ;;
*)
    printf '%s is not the tool\n' "$UNSEEN" >&2
    exit 1
    ;;
esac

unseen() {
    "$UNSEEN" "$@"
}

run() {
    last="unseen $*"
    if [ -e in ]; then
        "$UNSEEN" "$@" < in > out 2> err
    else
        "$UNSEEN" "$@" < /dev/null > out 2> err
    fi
    status=$?
}

complain() {
    tests_failed=$((tests_failed + 1))
    printf '%s:%s: %s\n' "$(basename "$0")" "${BASH_LINENO[1]}" "$*" >&2
}

# Standard error, without the texts of hints if WANT does not say them.
said() { # WANT
    case $1 in
    *'hint: *'*) sed 's/^unseen: hint: .*/unseen: hint: */' err ;;
    *) cat err ;;
    esac
}

expect() {
    tests_run=$((tests_run + 1))
    [ "$status" = "$1" ] || complain "$last: exit status $status, not $1; it said: $(head -c 300 err)"
    if [ "$2" != '*' ] && ! printf "$2" | cmp -s - out; then
        complain "$last: standard output differs:"
        printf "$2" | diff -a - out | head -n 10 >&2
    fi
    if [ "$3" != '*' ] && ! printf "$3" | cmp -s - <(said "$3"); then
        complain "$last: standard error differs:"
        printf "$3" | diff -a - <(said "$3") | head -n 10 >&2
    fi
}

same() {
    tests_run=$((tests_run + 1))
    cmp -s "$1" "$2" || complain "$1 and $2 differ: $(cmp "$1" "$2" 2>&1)"
}

# Changes a byte. One that is random may already be whatever else a test would put there.
flip() { # FILE OFFSET
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %o $((byte ^ 255)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# The command must succeed.
holds() {
    tests_run=$((tests_run + 1))
    "$@" || complain "not true: $*; it said: $(head -c 300 err 2> /dev/null)"
}

# No line of FILE may match PATTERN.
lacks() {
    tests_run=$((tests_run + 1))
    ! grep -q -e "$1" "$2" || complain "$2 has a line with '$1'"
}

# How often to look again, every 10 ms: for 100 s and more; for 1 s where a check has failed already, so
# that a test of a broken tool comes to its end.
patience() {
    [ "$tests_failed" -gt 0 ] && seq 100 || seq 10000
}

# Waits for a command to succeed.
eventually() {
    tests_run=$((tests_run + 1))
    for _ in $(patience); do
        "$@" && return 0
        sleep 0.01
    done
    complain "never true: $*"
    return 1
}

# What the tool waits for by its clock (cli/clock.h) comes when the test lets it, however slow the machine is.
hold_time() {
    export UNSEEN_TEST_CLOCK=${1:-$scratch/clock}
    echo 1000 > "$UNSEEN_TEST_CLOCK"
}

# The file is replaced by another one, so that nobody reads half of a number.
pass_time() {
    awk -v by="$1" '{ printf "%.1f\n", $1 + by }' "$UNSEEN_TEST_CLOCK" > "$UNSEEN_TEST_CLOCK.new"
    mv "$UNSEEN_TEST_CLOCK.new" "$UNSEEN_TEST_CLOCK"
}

# True for a tool with a sanitizer, which has its own allocator, takes terabytes of addresses, and
# starts in an emulator after a minute and more.
sanitized() {
    case $(
        ldd "$UNSEEN" 2> /dev/null
        nm -D "$UNSEEN" 2> /dev/null
    ) in
    *libasan* | *libtsan* | *__asan_* | *__tsan_*) return 0 ;;
    esac
    return 1
}

# True in the usual run of tools/test.sh, which leaves what takes long to its `all`.
brief() {
    [ -n "${UNSEEN_TEST_BRIEF-}" ]
}

skip() {
    printf 'skipped: %s\n' "$*"
    [ "$tests_run" -gt 0 ] || exit 77
}

finish() {
    printf '%s checks, %s failed\n' "$tests_run" "$tests_failed"
    [ "$tests_failed" -eq 0 ] && [ "$tests_run" -gt 0 ]
    exit
}

# urls N DISTINCT SEED: N lines, about DISTINCT of them different, the same on every machine.
urls() {
    awk -v n="$1" -v d="$2" -v s="$3" 'BEGIN {
        x = s
        for (i = 0; i < n; i++) {
            x = (x * 16807) % 2147483647
            k = x % d
            printf "http://www.site%d.example/%s/page-%d.html%s\n", k % 97, k % 3 ? "a" : "section/b", k,
                   k % 5 ? "" : "?q=" k * k
        }
    }'
}
