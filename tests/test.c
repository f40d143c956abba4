/* SPDX-License-Identifier: MIT */
#include "test.h"

enum unseen_cpu test_cpu;
unsigned long test_nfailed;

static unsigned long nchecks;
static unsigned long nskipped;

/* Counts a check. True if it fails and is to be printed. */
static bool count_check(bool ok)
{
    __atomic_add_fetch(&nchecks, 1, __ATOMIC_RELAXED);
    return !ok && __atomic_add_fetch(&test_nfailed, 1, __ATOMIC_RELAXED) <= 20;
}

bool test_check(bool ok, const char *file, int line, const char *what)
{
    if (count_check(ok)) {
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
    }
    return ok;
}

bool test_check_eq(uint64_t a, uint64_t b, const char *file, int line, const char *what)
{
    if (count_check(a == b)) {
        fprintf(stderr, "%s:%d: failed: %s: %llu and %llu\n", file, line, what,
                (unsigned long long)a, (unsigned long long)b);
    }
    return a == b;
}

void test_start(void)
{
    const char *name = getenv("UNSEEN_CPU");
    enum unseen_cpu request = UNSEEN_CPU_AUTO;
    if (name && unseen_cpu_parse(name, &request) != UNSEEN_OK) {
        fprintf(stderr, "UNSEEN_CPU=%s: no such level\n", name);
        exit(2);
    }
    if (unseen__cpu_select(request, &test_cpu, NULL) != UNSEEN_OK) {
        printf("skipped: this processor has no %s\n", name);
        exit(77);
    }
}

void test_skip(const char *lacking)
{
    printf("skipped: no %s\n", lacking);
    nskipped++;
}

int test_end(void)
{
    printf("%lu checks, %lu failed (%s)\n", nchecks, test_nfailed, unseen__cpu_name(test_cpu));
    if (nskipped && !nchecks) {
        return 77;
    }
    return test_nfailed || !nchecks ? 1 : 0;
}

bool test_path(char *path, size_t cap, const char *name)
{
    const char *folder = getenv("TESTS");
    const char *slash = strrchr(__FILE__, '/');
    const int n = folder  ? snprintf(path, cap, "%s/%s", folder, name)
                  : slash ? snprintf(path, cap, "%.*s/%s", (int)(slash - __FILE__), __FILE__, name)
                          : snprintf(path, cap, "%s", name);
    return n > 0 && (size_t)n < cap;
}

uint64_t test_scale(void)
{
    const char *text = getenv("UNSEEN_TEST_SCALE");
    return text ? strtoull(text, NULL, 10) : 1;
}

bool test_brief(void)
{
#ifdef TEST_AGAIN
    return getenv("UNSEEN_TEST_BRIEF") != NULL;
#else
    return false;
#endif
}

char *test_guarded(const void *data, size_t len)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t body = (len + page - 1) / page * page;
    char *base =
        mmap(NULL, body + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + body, page, PROT_NONE) != 0) {
        perror("test_guarded");
        exit(2);
    }
    if (len) {
        memcpy(base + body - len, data, len);
    }
    return base + body - len;
}

void *test_alloc(void *context, size_t size, size_t align)
{
    struct test_allocator *a = context;
    a->nallocs++;
    if (a->fail_at && (a->nallocs == a->fail_at || (a->fail_after && a->nallocs > a->fail_at))) {
        return NULL;
    }
    void *ptr = NULL;
    if (posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) != 0) {
        return NULL;
    }
    a->nlive++;
    a->bytes += size;
    return memset(ptr, 0xA5, size);
}

void test_free(void *context, void *ptr, size_t size)
{
    struct test_allocator *a = context;
    a->nlive--;
    a->bytes -= size;
    free(ptr);
}
