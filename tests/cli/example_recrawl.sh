# examples/recrawl: a site whose pages change, over four windows. Each is killed twice. The runs are in example_recrawl.py.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3 flock curl awk
python_example example_recrawl.py
finish
