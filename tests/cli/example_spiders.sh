# examples/spiders: several spiders, in Python and Go, on one site of 1,000 pages (10,000 with
# UNSEEN_CRASH_SCALE=10), killed at random. The crawls are in example_spiders.py.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3
go_example spiders spiders
python_example example_spiders.py "$go_program"
finish
