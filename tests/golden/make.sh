#!/bin/sh
# Makes the golden files anew, in this folder, with build/release/tests/test_golden. README.md says
# when.
set -eu
cd "$(dirname "$0")"
../../build/release/tests/test_golden --make .
chmod 644 ./*[!h] # stores are made for their owner only; git keeps no such rights
