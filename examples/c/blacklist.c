/* SPDX-License-Identifier: MIT
 *
 * A blacklist of sites: built once from a file of text, then asked by any number of programs.
 *
 *     blacklist build sites.list < sites.txt
 *     blacklist ask sites.list < urls.txt         prints the URLs that are on a listed site
 *
 * What an entry covers is said once, when the list is built: by the kind. The file remembers it, so
 * that a question finds its entry in any spelling. */
#include <stdio.h>
#include <string.h>

#include <unseen_list.h>

enum {
    LINE_CAP = 65536
};

static int fail(const struct unseen_error *error)
{
    fprintf(stderr, "blacklist: %s\n", error->text);
    return 2;
}

/* The next line of standard input, without its line end; false at the end. */
static bool next_line(char line[LINE_CAP], struct unseen_bytes *bytes)
{
    if (!fgets(line, LINE_CAP, stdin)) {
        return false;
    }
    *bytes = (struct unseen_bytes){line, strcspn(line, "\r\n")};
    return true;
}

static int build(const char *path)
{
    struct unseen_list_build *list = NULL;
    struct unseen_error error;
    struct unseen_bytes entry;
    char line[LINE_CAP];
    const struct unseen_list_build_options options = {.size = sizeof(options),
                                                      .kind = UNSEEN_KIND_EXPRESSIONS};
    enum unseen_status status = unseen_list_build_create(&list, path, &options, &error);
    if (status != UNSEEN_OK) {
        return fail(&error);
    }
    /* Without an array for what is wrong with an entry, such an entry is an error. */
    while (status == UNSEEN_OK && next_line(line, &entry)) {
        status = unseen_list_build_add(list, &entry, 1, NULL, &error);
    }
    if (status == UNSEEN_OK) {
        status = unseen_list_build_finish(list, NULL, NULL, &error);
    }
    unseen_list_build_free(list);
    return status == UNSEEN_OK ? 0 : fail(&error);
}

static int ask(const char *path)
{
    struct unseen_list *list = NULL;
    struct unseen_error error;
    struct unseen_bytes url;
    char line[LINE_CAP];
    enum unseen_status status = unseen_list_open(&list, path, NULL, &error);
    if (status != UNSEEN_OK) {
        return fail(&error);
    }
    while (next_line(line, &url)) {
        uint8_t verdict;
        status = unseen_list_covers(list, &url, 1, &verdict);
        if (status != UNSEEN_OK) {
            fprintf(stderr, "blacklist: %s\n", unseen_status_string(status));
            break;
        }
        if (verdict == UNSEEN_SEEN) {
            printf("%.*s\n", (int)url.len, url.data);
        }
    }
    unseen_list_close(list);
    return status == UNSEEN_OK ? 0 : 2;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "build") == 0) {
        return build(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "ask") == 0) {
        return ask(argv[2]);
    }
    fprintf(stderr, "usage: blacklist build|ask LIST\n");
    return 2;
}
