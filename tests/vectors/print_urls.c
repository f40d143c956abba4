/* SPDX-License-Identifier: MIT
 *
 * Prints made-up URLs (made_urls.h) for the tests of the tool, always the same for a seed:
 *
 *     print_urls urls N SEED     one a line, without those that have a line end in them
 *     print_urls canon N SEED    the canonical forms of the same
 *     print_urls names N SEED    what lists of bad sites have: names, addresses, some URLs; a few
 *                               lines that are none of them */
#include "made_urls.h"

static void print_url(const struct made_url *u, bool canon)
{
    const struct made_text *t = canon ? &u->canon : &u->spelled;
    fwrite(t->data, 1, t->len, stdout);
    putchar('\n');
}

static bool is_line(const struct made_url *u)
{
    return !memchr(u->spelled.data, '\n', u->spelled.len) &&
           !memchr(u->spelled.data, '\r', u->spelled.len);
}

static void print_name(struct made_url *u, uint64_t *seed)
{
    static const char *const ends[] = {"com", "ru", "top", "info", "xyz", "cn", "duckdns.org"};
    const uint64_t number = test_random(seed);
    switch (made_below(seed, 20)) {
    case 0:
        printf("%u.%u.%u.%u\n", 1 + (unsigned)(number & 127), (unsigned)(number >> 8 & 255),
               (unsigned)(number >> 16 & 255), (unsigned)(number >> 24 & 255));
        break;
    case 1:
        printf("%s.example.com/%s/%llx.php\n", made_word(seed), made_word(seed),
               (unsigned long long)number & 0xffff);
        break;
    case 2:
        u->spelled.len = u->canon.len = 0;
        made_special_url(u, seed);
        if (is_line(u)) {
            print_url(u, false);
        }
        break;
    default:
        printf("%s%llx-%llx.%s\n", made_once_in(seed, 3) ? "www." : "",
               (unsigned long long)number & 0xfffff, (unsigned long long)number >> 48,
               MADE_CHOOSE(seed, ends));
    }
}

int main(int argc, char **argv)
{
    static struct made_url u;
    if (argc != 4) {
        fprintf(stderr, "usage: print_urls urls|canon|names N SEED\n");
        return 2;
    }
    uint64_t seed = strtoull(argv[3], NULL, 10);
    for (unsigned long long n = strtoull(argv[2], NULL, 10); n > 0; n--) {
        if (strcmp(argv[1], "names") == 0) {
            print_name(&u, &seed);
            continue;
        }
        /* Pages link to the same pages again and again: half of the lines come from 3 n / 8
         * seeds. */
        uint64_t again = made_once_in(&seed, 2) ? 1 + made_below(&seed, 1 + n / 8) : seed;
        made_url(&u, &again);
        (void)test_random(&seed);
        if (is_line(&u)) {
            print_url(&u, strcmp(argv[1], "canon") == 0);
        }
    }
    return ferror(stdout) || fflush(stdout) != 0 ? 1 : 0;
}
