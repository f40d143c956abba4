/* SPDX-License-Identifier: MIT
 *
 * Runs a program and reports what it took, to the microsecond: time(1) stops at 10 ms.
 *
 *     measure RESULT COMMAND [ARGUMENT]...
 *
 * appends a line "CPU-seconds wall-seconds peak-RSS-MiB" to the file RESULT and ends with the
 * command's status. CPU is user and system time of the command and of all it waited for. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure RESULT COMMAND [ARGUMENT]...\n");
        return 2;
    }
    struct timespec start;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        return 2;
    }
    if (pid == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (wait4(pid, &status, 0, &usage) != pid) {
        perror("wait4");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double wall =
        (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    FILE *result = fopen(argv[1], "a");
    if (!result ||
        fprintf(result, "%.6f %.6f %.1f\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall,
                (double)usage.ru_maxrss / 1024) < 0 ||
        fclose(result) != 0) {
        perror(argv[1]);
        return 2;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
