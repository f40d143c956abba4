/* SPDX-License-Identifier: MIT
 *
 * Writes NLINES made-up URLs of which exactly NDISTINCT are different, about 62 bytes each with
 * the newline, always the same ones for the same arguments.
 *
 *     make_urls NLINES NDISTINCT [SEED] > FILE
 *
 * URL number id is a function of id and the seed, so nothing is remembered: some fifty pages to a
 * host, one to three folders, and the id in base 36 as the last word, which makes it unique.
 * Whether a line is a new URL is drawn so that exactly NDISTINCT come out (selection sampling,
 * [Knuth97], 3.4.2, algorithm S); a repeat is any earlier URL with the same probability, which is
 * the hardest case for a set's memory accesses. */
#include "test.h"

static const char *const words[] = {
    "about",   "account", "archive", "article", "autumn",  "basket",   "blue",    "board",
    "book",    "bridge",  "broker",  "camera",  "carbon",  "castle",   "city",    "cloud",
    "coast",   "coffee",  "corner",  "daily",   "desert",  "digital",  "dragon",  "early",
    "east",    "editor",  "energy",  "event",   "family",  "field",    "finance", "forest",
    "forum",   "garden",  "global",  "green",   "guide",   "harbour",  "health",  "history",
    "home",    "image",   "index",   "island",  "journal", "kitchen",  "lake",    "letter",
    "library", "local",   "market",  "media",   "metal",   "mountain", "music",   "nature",
    "network", "news",    "north",   "ocean",   "office",  "orange",   "paper",   "people",
    "photo",   "planet",  "player",  "product", "profile", "project",  "quiet",   "radio",
    "recipe",  "record",  "report",  "review",  "river",   "road",     "school",  "science",
    "season",  "shop",    "silver",  "simple",  "small",   "society",  "spring",  "station",
    "stone",   "story",   "street",  "summer",  "sunday",  "team",     "theatre", "topic",
    "travel",  "update",  "valley",  "video",   "village", "weather",  "winter",  "world"};
static const char *const domains[] = {".com", ".com", ".com", ".org", ".net", ".de", ".co.uk"};
static const char *const prefixes[] = {"https://www.", "https://www.", "https://", "http://www."};
static const char *const leaves[] = {"/%s-%s-%s\n", "/%s-%s-%s/\n", "/%s-%s-%s.html\n",
                                     "/%s/%s?id=%s\n"};

#define PICK(list, random) ((list)[(random) % (sizeof(list) / sizeof(*(list)))])

enum {
    PAGES_PER_HOST = 50,
    URL_MAX_BYTES = 256
};

/* The number in base 36, at the end of text, which has 14 bytes. */
static const char *base36(char *text, uint64_t number)
{
    char *p = text + 13;
    *p = '\0';
    do {
        *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    } while (number);
    return p;
}

static size_t append(char *url, size_t len, const char *text)
{
    size_t n = strlen(text);
    memcpy(url + len, text, n);
    return len + n;
}

/* The URL number id, with a newline; its length. */
static size_t make_url(char *url, uint64_t id, uint64_t seed)
{
    uint64_t host_state = seed ^ (id / PAGES_PER_HOST) * 0x9e3779b97f4a7c15u;
    uint64_t host = test_random(&host_state);
    uint64_t path_state = ~seed ^ id * 0xd1342543de82ef95u;
    uint64_t path = test_random(&path_state);
    size_t len = append(url, 0, PICK(prefixes, host));
    len = append(url, len, PICK(words, host >> 8));
    len = append(url, len, PICK(words, host >> 24));
    len = append(url, len, PICK(domains, host >> 40));
    for (uint64_t folders = 1 + path % 3; folders; folders--) {
        path = test_random(&path_state);
        url[len++] = '/';
        len = append(url, len, PICK(words, path >> 8));
    }
    path = test_random(&path_state);
    char number[14];
    return len + (size_t)snprintf(url + len, URL_MAX_BYTES - len, PICK(leaves, path),
                                  PICK(words, path >> 8), PICK(words, path >> 24),
                                  base36(number, id));
}

int main(int argc, char **argv)
{
    uint64_t nlines = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t ndistinct = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (ndistinct == 0 || ndistinct > nlines) {
        fprintf(stderr, "usage: make_urls NLINES NDISTINCT [SEED]   (1 <= NDISTINCT <= NLINES)\n");
        return 2;
    }
    uint64_t state = seed;
    uint64_t ids = 0;
    static char buffer[1 << 18];
    size_t len = 0;
    for (uint64_t line = 0; line < nlines; line++) {
        uint64_t id;
        if (ids == 0 || test_random(&state) % (nlines - line) < ndistinct - ids) {
            id = ids++;
        } else {
            id = test_random(&state) % ids;
        }
        len += make_url(buffer + len, id, seed);
        if (len > sizeof(buffer) - URL_MAX_BYTES || line + 1 == nlines) {
            if (fwrite(buffer, 1, len, stdout) != len) {
                perror("make_urls");
                return 2;
            }
            len = 0;
        }
    }
    if (fflush(stdout) != 0) {
        perror("make_urls");
        return 2;
    }
    return 0;
}
