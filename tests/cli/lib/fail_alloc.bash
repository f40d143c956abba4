# Makes fail.so, with which allocations fail on demand (fail_alloc.c); ends the test as skipped where
# that cannot work.
case $(ldd "$UNSEEN" 2> /dev/null; nm -D "$UNSEEN" 2> /dev/null) in
*libasan* | *libtsan* | *__asan_* | *__tsan_*)
    skip 'a sanitizer has its own allocator'
    finish
    ;;
esac

if ! cc -shared -fPIC -O1 -o fail.so "$TESTS/cli/lib/fail_alloc.c" -ldl 2> cc_err; then
    skip 'no C compiler'
    finish
fi
