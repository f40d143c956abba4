# Many programs on one set: unseen serve --listen with unseen's own protocol. The clients are in
# serve_clients.py.
. "$(dirname "$0")/lib/common.bash"

export PYTHONDONTWRITEBYTECODE=1
holds python3 "$TESTS/cli/serve_clients.py" > out
finish
