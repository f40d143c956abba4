# How the tool asks a server: by a server of the test's own, which sees each question.
. "$(dirname "$0")/lib/common.bash"
python3 "$TESTS/cli/remote_batches.py" > log 2>&1 || complain "$(cat log)"
tests_run=$((tests_run + 1))
finish
