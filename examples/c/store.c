/* SPDX-License-Identifier: MIT
 *
 * Prints each URL of its input that no earlier run has printed: a store, which lasts.
 *
 *     cc store.c -lunseen -o store && ./store visited.unseen < urls.txt > new.txt
 *
 * First the lines are handed over, then their changes are committed. So a crash may print a URL
 * once more, and never loses one. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include <unseen.h>

enum {
    EVERY = 1000 /* lines between two commits */
};

/* Everything that was printed so far is remembered, whatever happens now. */
static enum unseen_status hand_over(struct unseen_store *store, struct unseen_error *error)
{
    if (fflush(stdout) != 0) {
        perror("store");
        exit(2);
    }
    return unseen_store_commit(store, error);
}

int main(int argc, char **argv)
{
    const struct unseen_store_options options = {.size = sizeof(options),
                                                 .mode = UNSEEN_STORE_CREATE};
    struct unseen_store *store = NULL;
    struct unseen_error error = {.status = UNSEEN_OK};
    enum unseen_status status = UNSEEN_OK;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (argc != 2) {
        fprintf(stderr, "usage: store STORE < URLS > NEW\n");
        return 2;
    }
    if (unseen_store_open(&store, argv[1], &options, &error) != UNSEEN_OK) {
        fprintf(stderr, "store: %s\n", error.text);
        return 2;
    }
    for (unsigned n = 1; status == UNSEEN_OK && (len = getline(&line, &cap, stdin)) >= 0; n++) {
        const size_t end = len > 0 && line[len - 1] == '\n';
        const struct unseen_bytes url = {line, (size_t)len - end};
        uint8_t verdict = UNSEEN_SEEN;
        status = unseen_store_add(store, &url, 1, &verdict, NULL);
        if (verdict == UNSEEN_NEW) {
            fwrite(line, 1, (size_t)len, stdout);
        }
        if (status == UNSEEN_OK && n % EVERY == 0) {
            status = hand_over(store, &error);
        }
    }
    if (status == UNSEEN_OK) {
        status = hand_over(store, &error);
    }
    free(line);
    const enum unseen_status closed =
        unseen_store_close(store, status == UNSEEN_OK ? &error : NULL);
    status = status == UNSEEN_OK ? closed : status;
    /* IMAGE: everything is committed, and only the next opening takes longer. */
    if (status != UNSEEN_OK && status != UNSEEN_ERR_IMAGE) {
        fprintf(stderr, "store: %s\n",
                error.status != UNSEEN_OK ? error.text : unseen_status_string(status));
        return 2;
    }
    return ferror(stdin) ? 2 : 0;
}
