# Makes fail.so, with which allocations fail on demand (fail_alloc.c); ends the test as skipped where
# that cannot work.
if sanitized; then
    skip 'a sanitizer has its own allocator'
    finish
fi

if ! cc -shared -fPIC -O1 -o fail.so "$TESTS/cli/lib/fail_alloc.c" -ldl 2> cc_err; then
    skip 'no C compiler'
    finish
fi
