#!/bin/bash
# What the module costs in a Redis server: CPU of the server for each URL as ratios to an empty command, the longest
# command, bits and rate of sets that grow, and a key in a full sync.
#
# usage: bench/module.sh [N]     N: URLs of the growing set (10000000)
#        SERVER=valkey-server bench/module.sh
set -eu
cd "$(dirname "$0")/.."
tools/module.sh none >/dev/null # makes the Python with a client
export MODULE=${MODULE:-$PWD/build/release/unseen.so}
echo "$(git rev-parse --short HEAD), $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2), ${SERVER:-redis-server}"
exec build/module/python/bin/python bench/module.py "${1:-10000000}"
