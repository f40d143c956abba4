# Many programs on one set: unseen serve --listen with unseen's own protocol. The clients are in
# serve_clients.py.
# Label: threads
. "$(dirname "$0")/lib/common.bash"

# ThreadSanitizer writes what it finds, also of servers that are killed.
case $(nm -D "$UNSEEN" 2> /dev/null) in
*__tsan_*) export UNSEEN_SANITIZED=1 TSAN_OPTIONS="log_path=$scratch/race" ;;
*__asan_*) export UNSEEN_SANITIZED=1 ;;
esac
export PYTHONDONTWRITEBYTECODE=1
holds python3 "$TESTS/cli/serve_clients.py" > out
for race in race.*; do
    [ ! -e "$race" ] || holds false "$(head -n 30 "$race" >&2)"
done
finish
