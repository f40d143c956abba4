# The keys of docs/format.md and of tests/vectors/keys.tsv, made again by a second, slow implementation.
# unit/key compares the library with the same file.
. "$(dirname "$0")/common.bash"
cd "$SOURCE"

python3 tests/vectors/keys.py check >"$work/out" || fail "$(cat "$work/out")"
