/* SPDX-License-Identifier: MIT
 *
 * Prints each URL of its input once: a set in memory.
 *
 *     cc dedup.c -lunseen -o dedup && ./dedup < urls.txt > new.txt */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include <unseen.h>

int main(void)
{
    struct unseen_set *set = NULL;
    struct unseen_error error;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int failed = 0;

    /* No options: the profile crawl, so that http://E.com:80/a#b and http://e.com/a are one URL. */
    if (unseen_set_create(&set, NULL, &error) != UNSEEN_OK) {
        fprintf(stderr, "dedup: %s\n", error.text);
        return 2;
    }
    while (!failed && (len = getline(&line, &cap, stdin)) >= 0) {
        const size_t end = len > 0 && line[len - 1] == '\n';
        const struct unseen_bytes url = {line, (size_t)len - end};
        uint8_t verdict;
        const enum unseen_status status = unseen_set_add(set, &url, 1, &verdict, NULL);
        if (status != UNSEEN_OK) {
            fprintf(stderr, "dedup: %s\n", unseen_status_string(status));
            failed = 1;
        } else if (verdict == UNSEEN_NEW) {
            fwrite(line, 1, (size_t)len, stdout);
        }
    }
    failed = failed || ferror(stdin) || fflush(stdout) != 0;
    free(line);
    unseen_set_free(set);
    return failed ? 2 : 0;
}
