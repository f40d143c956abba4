/* SPDX-License-Identifier: MIT
 *
 * What a program that uses the library looks like: it finds out that a URL comes twice. */
#include <stdio.h>
#include <string.h>
#include <unseen.h>

int main(void)
{
    static const char *const urls[] = {"http://a.example/", "http://b.example/",
                                       "http://a.example/"};
    struct unseen_set *set;
    if (unseen_set_create(&set, NULL, NULL) != UNSEEN_OK) {
        return 2;
    }
    int nnew = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct unseen_bytes url = {urls[i], strlen(urls[i])};
        uint8_t verdict;
        if (unseen_set_add(set, &url, 1, &verdict, NULL) != UNSEEN_OK) {
            return 2;
        }
        nnew += verdict == UNSEEN_NEW;
    }
    unseen_set_free(set);
    printf("unseen %s: %d new of 3\n", unseen_version(), nnew);
    return nnew == 2 ? 0 : 1;
}
