# examples/batch: 40 shards, several processes, killed in the middle of every step, and merges, killed too. The run is in
# example_batch.py; UNSEEN_CRASH_SCALE=10 makes it ten times as large.
# Label: once
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3 flock xargs awk
python_example example_batch.py
finish
