# What the tests of packages start with: the root of the checkout as the working directory, a scratch
# folder $work, and
#
#     fail WORD...      ends the test
#     passed WORD...    counts a check
#     stop_server       ends the process $server in order; its exit status
#     finish            the last line of a test
#
# Pipes end in `grep ... >/dev/null`, not in `grep -q`: that one ends at its first hit, and a command that
# still writes then fails by SIGPIPE, which pipefail reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
server=
checks=0
cleanup_more() { :; }
cleanup() {
    [ -z "$server" ] || kill "$server" || true
    cleanup_more
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

passed() {
    checks=$((checks + 1))
    echo "ok: $*"
}

stop_server() {
    local status=0
    kill "$server"
    wait "$server" || status=$?
    server=
    return $status
}

finish() {
    echo "100% tests passed, 0 tests failed out of $checks"
}
