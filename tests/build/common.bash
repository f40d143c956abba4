# Sourced by the tests of this folder. They get the checkout in SOURCE and the build in BUILD,
# work in a folder of their own, exit 0 (passed), 1 (failed) or 77 (skipped).
set -eu
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "failed: $*" >&2
    exit 1
}

skip() {
    echo "skipped: $*"
    exit 77
}
