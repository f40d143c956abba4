/* SPDX-License-Identifier: MIT
 *
 * Changes of a list: what questions cost without any and with many, and what opening, committing
 * and memory cost.
 *
 *     bench_list_changes [NENTRIES [PATH]]     (1e7 bench-changes.list)
 *
 * The list is of NENTRIES texts. Questions are texts in batches of 1024, made before: others, which
 * neither the list nor a change has, and the changed ones. The list is read into memory. */
#include "bench.h"

#include <sys/stat.h>
#include <unseen_list.h>

enum {
    ASKED = 1 << 19, /* questions of one measurement */
    AT_ONCE = 1024,
    TEXT_MAX = 40
};

static char room[ASKED][TEXT_MAX];
static struct unseen_bytes questions[ASKED];
static uint8_t verdicts[ASKED];
static const char *path;

static void check(enum unseen_status status, const struct unseen_error *error)
{
    if (status != UNSEEN_OK) {
        fprintf(stderr, "error: %s\n", error->text);
        exit(2);
    }
}

/* Texts of a kind, which is their first letter. */
static struct unseen_bytes text_of(char kind, uint64_t i, char to[TEXT_MAX])
{
    const int len =
        snprintf(to, TEXT_MAX, "http://%c.example/%llu", kind, (unsigned long long)bench_mix(i));
    return (struct unseen_bytes){to, (size_t)len};
}

static void build(uint64_t n)
{
    struct unseen_error error;
    struct unseen_list_build *b = NULL;
    const uint64_t seed = 1;
    const struct unseen_list_build_options options = {
        .size = sizeof(options), .seed = &seed, .seed_len = sizeof(seed), .profile = "none"};
    check(unseen_list_build_create(&b, path, &options, &error), &error);
    for (uint64_t at = 0; at < n; at += AT_ONCE) {
        const size_t count = n - at < AT_ONCE ? (size_t)(n - at) : AT_ONCE;
        for (size_t i = 0; i < count; i++) {
            questions[i] = text_of('e', at + i, room[i]);
        }
        check(unseen_list_build_add_texts(b, questions, count, &error), &error);
    }
    check(unseen_list_build_finish(b, NULL, NULL, &error), &error);
    unseen_list_build_free(b);
}

/* Changes number `from` to `to`: every second one adds, the others allow. Returns the seconds. */
static double change(uint64_t from, uint64_t to)
{
    struct unseen_error error;
    struct unseen_list_edit *edit = NULL;
    char text[TEXT_MAX];
    const double start = bench_cpu();
    check(unseen_list_edit_open(&edit, path, NULL, &error), &error);
    for (uint64_t i = from; i < to; i++) {
        const struct unseen_bytes item = text_of('c', i, text);
        check(unseen_list_edit_change_texts(edit, i % 2 ? UNSEEN_LIST_ADD : UNSEEN_LIST_ALLOW,
                                            &item, 1, NULL, &error),
              &error);
    }
    check(unseen_list_edit_commit(edit, &error), &error);
    unseen_list_edit_close(edit);
    return bench_cpu() - start;
}

/* ns for a question. */
static double ask(const struct unseen_list *list, char kind, uint64_t n)
{
    double ns[BENCH_ROUNDS];
    for (size_t i = 0; i < ASKED; i++) {
        questions[i] = text_of(kind, n > 0 ? bench_mix(i + 7) % n : i, room[i]);
    }
    for (size_t round = 0; round < BENCH_ROUNDS; round++) {
        const double start = bench_cpu();
        for (size_t at = 0; at < ASKED; at += AT_ONCE) {
            unseen_list_contains_texts(list, questions + at, AT_ONCE, verdicts + at);
        }
        ns[round] = (bench_cpu() - start) / ASKED * 1e9;
    }
    return bench_median(ns, BENCH_ROUNDS);
}

static void *count_alloc(void *context, size_t size, size_t align)
{
    size_t *live = context;
    void *ptr = NULL;
    *live += size;
    return posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? ptr
                                                                                            : NULL;
}

static void count_free(void *context, void *ptr, size_t size)
{
    size_t *live = context;
    *live -= size;
    free(ptr);
}

static size_t memory_of(double *seconds_out)
{
    struct unseen_error error;
    struct unseen_list *list = NULL;
    size_t live = 0;
    const struct unseen_allocator allocator = {count_alloc, count_free, &live};
    const struct unseen_list_options options = {
        .size = sizeof(options), .access = UNSEEN_LIST_MAP, .allocator = &allocator};
    const double start = bench_cpu();
    check(unseen_list_open(&list, path, &options, &error), &error);
    *seconds_out = bench_cpu() - start;
    const size_t result = live;
    unseen_list_close(list);
    return result;
}

int main(int argc, char **argv)
{
    static const uint64_t steps[] = {0, 1000, 10000, 100000, 1000000};
    const uint64_t n = argc > 1 ? (uint64_t)strtod(argv[1], NULL) : 10000000;
    double seconds = 0;
    uint64_t nchanges = 0;
    path = argc > 2 ? argv[2] : "bench-changes.list";
    bench_heading("changes of a list", 1);
    build(n);
    const size_t memory = memory_of(&seconds);
    printf("%llu entries; ns for a question of about 35 bytes, in batches of 1024, median of %d\n",
           (unsigned long long)n, BENCH_ROUNDS);
    printf("%9s %8s %8s %10s %10s %9s %9s\n", "changes", "others", "changed", "commit ns",
           "open ns", "memory B", "file B");
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct unseen_error error;
        struct unseen_list *list = NULL;
        struct unseen_list_info info = {.size = sizeof(info)};
        const struct unseen_list_options options = {.size = sizeof(options),
                                                    .access = UNSEEN_LIST_READ};
        const double committing = steps[i] > 0 ? change(nchanges, steps[i]) : 0;
        const double each = steps[i] > 0 ? (double)steps[i] : 1;
        const size_t more = memory_of(&seconds) - memory;
        check(unseen_list_open(&list, path, &options, &error), &error);
        bench_check(unseen_list_info(list, &info));
        printf("%9llu %8.1f", (unsigned long long)steps[i], ask(list, 'o', 0));
        if (steps[i] > 0) {
            printf(" %8.1f %10.0f %10.0f %9.1f %9.1f", ask(list, 'c', steps[i]),
                   committing / (double)(steps[i] - nchanges) * 1e9, seconds / each * 1e9,
                   (double)more / each, (double)info.changes_bytes / each);
        }
        printf("\n");
        nchanges = steps[i];
        unseen_list_close(list);
    }
    return unlink(path) == 0 ? 0 : 2;
}
