/* SPDX-License-Identifier: MIT
 *
 * Clients of a server on a socket: unseen serve --listen, or a Redis server with a set, asked with
 * the same URLs in the same way. bench/serve.sh starts both and prints the ratios.
 *
 *     bench_serve unseen|redis ADDRESS PID CLIENTS BATCH ROUNDS SEED [durable]
 *
 * Each client sends ROUNDS batches of BATCH URLs and waits for each answer. Half of the URLs are
 * known: two clients draw the same. Prints the server's CPU time for each URL, URLs in a second,
 * and the 50th and 99th percentile of the time of a batch. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct run {
    bool is_redis;
    bool is_durable;
    const char *path;
    unsigned nclients;
    unsigned batch;
    unsigned rounds;
    uint64_t seed;
};

struct client {
    const struct run *run;
    unsigned number;
    pthread_t thread;
    double *times; /* of rounds, in seconds */
    uint64_t nnew;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_serve: %s: %s\n", what, strerror(errno));
    exit(2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* User and system time of a process, in seconds. */
static double cpu_of(long pid)
{
    char path[64];
    char line[1024];
    unsigned long user = 0;
    unsigned long system = 0;
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file)) {
        die(path);
    }
    fclose(file);
    const char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                        &system) != 2) {
        die(path);
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        die(path);
    }
    strcpy(address.sun_path, path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        die(path);
    }
    return fd;
}

static void send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0) {
            die("send");
        }
        data += n;
        len -= (size_t)n;
    }
}

/* Reads until so many newlines have come; counts the bytes '1' (Redis answers ":1\r\n"). */
static uint64_t read_answer(int fd, unsigned nlines, bool ends_at_newline)
{
    char buf[65536];
    uint64_t ones = 0;
    unsigned seen = 0;
    while (seen < nlines) {
        const ssize_t n = recv(fd, buf, sizeof(buf), 0);
        if (n <= 0) {
            die("recv");
        }
        for (ssize_t i = 0; i < n; i++) {
            ones += buf[i] == '1';
            seen += buf[i] == '\n';
        }
    }
    (void)ends_at_newline;
    return ones;
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static int make_url(char *url, const struct client *c, unsigned round, unsigned i)
{
    const struct run *r = c->run;
    const uint64_t pair = r->nclients > 1 ? c->number / 2 : c->number;
    const uint64_t id = mix(r->seed + ((pair * r->rounds + round) * (uint64_t)r->batch + i));
    return snprintf(url, 128,
                    "https://www.example-%" PRIu64 ".com/articles/%" PRIu64 "/page-%u.html",
                    id % 1000, id >> 20, (unsigned)(id % 97));
}

static size_t make_batch(char *out, const struct client *c, unsigned round)
{
    const struct run *r = c->run;
    char url[128];
    size_t len = 0;
    if (!r->is_redis) {
        len = (size_t)(r->batch > 1 ? sprintf(out, "B %u A\n", r->batch) : sprintf(out, "A "));
    }
    for (unsigned i = 0; i < r->batch; i++) {
        const int n = make_url(url, c, round, i);
        len +=
            (size_t)(r->is_redis ? sprintf(out + len,
                                           "*3\r\n$4\r\nSADD\r\n$1\r\ns\r\n$%d\r\n%s\r\n", n, url)
                                 : sprintf(out + len, "%s\n", url));
    }
    return len;
}

static void *run_client(void *context)
{
    struct client *c = context;
    const struct run *r = c->run;
    const int fd = connect_to(r->path);
    char *out = malloc((size_t)r->batch * 192 + 64);
    if (!out) {
        die("memory");
    }
    if (!r->is_redis) {
        (void)read_answer(fd, 1, true);
        if (r->is_durable) {
            send_all(fd, "O durable\n", 10);
            (void)read_answer(fd, 1, true);
        }
    }
    for (unsigned round = 0; round < r->rounds; round++) {
        const size_t len = make_batch(out, c, round);
        const double began = now();
        send_all(fd, out, len);
        c->nnew += read_answer(fd, r->is_redis ? r->batch : 1, true);
        c->times[round] = now() - began;
    }
    free(out);
    close(fd);
    return NULL;
}

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        fprintf(stderr,
                "usage: bench_serve unseen|redis SOCKET PID CLIENTS BATCH ROUNDS SEED [durable]\n");
        return 2;
    }
    const struct run run = {.is_redis = strcmp(argv[1], "redis") == 0,
                            .path = argv[2],
                            .nclients = (unsigned)atoi(argv[4]),
                            .batch = (unsigned)atoi(argv[5]),
                            .rounds = (unsigned)atoi(argv[6]),
                            .seed = strtoull(argv[7], NULL, 10),
                            .is_durable = argc > 8};
    const long pid = atol(argv[3]);
    const size_t ntimes = (size_t)run.nclients * run.rounds;
    double *times = calloc(ntimes, sizeof(times[0]));
    struct client *clients = calloc(run.nclients, sizeof(clients[0]));
    if (!times || !clients || run.batch < 1 || run.rounds < 1) {
        die("memory");
    }
    const double cpu = cpu_of(pid);
    const double began = now();
    for (unsigned i = 0; i < run.nclients; i++) {
        clients[i] =
            (struct client){.run = &run, .number = i, .times = times + (size_t)i * run.rounds};
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i]) != 0) {
            die("thread");
        }
    }
    uint64_t nnew = 0;
    for (unsigned i = 0; i < run.nclients; i++) {
        pthread_join(clients[i].thread, NULL);
        nnew += clients[i].nnew;
    }
    const double wall = now() - began;
    const double used = cpu_of(pid) - cpu;
    const double n = (double)ntimes * run.batch;
    qsort(times, ntimes, sizeof(times[0]), by_time);
    printf("%s clients %u batch %u urls %.0f new %" PRIu64
           " cpu_ns %.1f per_cpu_second %.0f per_second %.0f p50_us %.1f p99_us %.1f\n",
           argv[1], run.nclients, run.batch, n, nnew, used / n * 1e9, n / used, n / wall,
           times[ntimes / 2] * 1e6, times[ntimes * 99 / 100] * 1e6);
    free(times);
    free(clients);
    return 0;
}
