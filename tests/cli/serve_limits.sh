# A server at its limit of open files. The clients are in serve_limits.py.
# Label: once
. "$(dirname "$0")/lib/common.bash"
command -v python3 > /dev/null || { skip 'no python3'; finish; }
export PYTHONPATH=$TESTS/cli/lib PYTHONDONTWRITEBYTECODE=1

# accept.so: while the file `refuse` is there, accept fails with ACCEPT_ERROR, and `accepts` gets a byte.
cat > accept.c << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
    if (access("refuse", F_OK) != 0) {
        int (*next)(int, struct sockaddr *, socklen_t *, int);
        *(void **)&next = dlsym(RTLD_NEXT, "accept4");
        return next(fd, address, len, flags);
    }
    const int out = open("accepts", O_WRONLY | O_APPEND);
    if (write(out, ".", 1) != 1) {
        abort();
    }
    close(out);
    errno = atoi(getenv("ACCEPT_ERROR"));
    return -1;
}
END
if sanitized || ! cc -shared -fPIC -O1 -o accept.so accept.c -ldl 2> cc_err; then
    rm -f accept.so
    printf 'skipped: an accept that fails\n'
fi
holds python3 "$TESTS/cli/serve_limits.py"
finish
