# examples/shards: 20 machines with a store each, URLs routed by unseen canon --shard; one machine is killed and
# started again. The run is in example_shards.py; UNSEEN_CRASH_SCALE=10 makes it ten times as long.
# Label: once
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3
mkdir bin
ln -s "$UNSEEN" bin/unseen
PATH=$PWD/bin:$PATH
python_example example_shards.py
finish
