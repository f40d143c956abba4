# examples/alerts: two programs and a server that is killed, by a clock that the test drives. The run is in example_alerts.py.
# Label: once
. "$(dirname "$0")/lib/common.bash"
. "$TESTS/cli/lib/examples.bash"

needs python3
python_example example_alerts.py
finish
