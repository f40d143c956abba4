# examples/crawler: a crawler in Python and in Go, on one site of 1,000 pages (10,000 with
# UNSEEN_CRASH_SCALE=10), killed at random and at the worst places. The crawls are in example_crawler.py.
# Label: once all
# Time: long
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3
go_example crawler crawler
python_example example_crawler.py "$go_program"
finish
