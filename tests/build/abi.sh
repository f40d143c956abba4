# The shared library has the binary interface that is kept in tools/unseen.abi.
# Label: all
. "$(dirname "$0")/common.bash"
[ -e "$SOURCE/tools/unseen.abi" ] || skip "there is no tools/unseen.abi: tools/abi.sh --update makes it"
command -v abidiff >/dev/null || skip "no abidiff here"
"$SOURCE/tools/abi.sh" || fail "see above"
