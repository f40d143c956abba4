# Many programs on one set: unseen serve --listen with unseen's own protocol. The clients are in
# serve_clients.py.
. "$(dirname "$0")/lib/common.bash"

holds python3 "$TESTS/cli/serve_clients.py" "$UNSEEN" "${UNSEEN_CRASH_SEED:-1}" > out
finish
