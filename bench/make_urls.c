/* SPDX-License-Identifier: MIT
 *
 * Writes made-up URLs, always the same ones for the same arguments.
 *
 *     make_urls NLINES NDISTINCT [SEED] > FILE
 *
 * writes NLINES of which exactly NDISTINCT are different, about 62 bytes each with the newline.
 * Whether a line is a new URL is drawn so that exactly NDISTINCT come out (selection sampling,
 * [Knuth97], 3.4.2, algorithm S); a repeat is any earlier URL with the same probability, which is
 * the hardest case for a set's memory accesses.
 *
 *     make_urls range FIRST COUNT [SEED [STEP]] > FILE
 *
 * writes the URLs FIRST, FIRST + STEP, ..., COUNT of them (1e9 and the like are understood), each
 * of at most 64 bytes without the newline: so a sample of a stream that is too long to be kept can
 * be made again.
 *
 * URL number id is a function of id and the seed, so nothing is remembered: some fifty pages to a
 * host, one to three folders, and the id in base 36 as the last word, which makes it unique. */
#include "test.h"

enum {
    WORD_BYTES = 16, /* of every text below, so that appending one is a copy of that size */
    PAGES_PER_HOST = 50,
    NUMBER_BYTES = 13, /* of 2^64 in base 36 */
    RANGE_BYTES = 64,
    URL_MAX_BYTES = 256
};

struct word {
    unsigned char len;
    char text[WORD_BYTES];
};

/* clang-format off */
#define WORD(text) {sizeof(text) - 1, text}
static const struct word words[] = {
    WORD("about"), WORD("account"), WORD("archive"), WORD("article"), WORD("autumn"),
    WORD("basket"), WORD("blue"), WORD("board"), WORD("book"), WORD("bridge"), WORD("broker"),
    WORD("camera"), WORD("carbon"), WORD("castle"), WORD("city"), WORD("cloud"), WORD("coast"),
    WORD("coffee"), WORD("corner"), WORD("daily"), WORD("desert"), WORD("digital"), WORD("dragon"),
    WORD("early"), WORD("east"), WORD("editor"), WORD("energy"), WORD("event"), WORD("family"),
    WORD("field"), WORD("finance"), WORD("forest"), WORD("forum"), WORD("garden"), WORD("global"),
    WORD("green"), WORD("guide"), WORD("harbour"), WORD("health"), WORD("history"), WORD("home"),
    WORD("image"), WORD("index"), WORD("island"), WORD("journal"), WORD("kitchen"), WORD("lake"),
    WORD("letter"), WORD("library"), WORD("local"), WORD("market"), WORD("media"), WORD("metal"),
    WORD("mountain"), WORD("music"), WORD("nature"), WORD("network"), WORD("news"), WORD("north"),
    WORD("ocean"), WORD("office"), WORD("orange"), WORD("paper"), WORD("people"), WORD("photo"),
    WORD("planet"), WORD("player"), WORD("product"), WORD("profile"), WORD("project"),
    WORD("quiet"), WORD("radio"), WORD("recipe"), WORD("record"), WORD("report"), WORD("review"),
    WORD("river"), WORD("road"), WORD("school"), WORD("science"), WORD("season"), WORD("shop"),
    WORD("silver"), WORD("simple"), WORD("small"), WORD("society"), WORD("spring"), WORD("station"),
    WORD("stone"), WORD("story"), WORD("street"), WORD("summer"), WORD("sunday"), WORD("team"),
    WORD("theatre"), WORD("topic"), WORD("travel"), WORD("update"), WORD("valley"), WORD("video"),
    WORD("village"), WORD("weather"), WORD("winter"), WORD("world"),
};
static const struct word domains[] = {
    WORD(".com"), WORD(".com"), WORD(".com"), WORD(".org"), WORD(".net"), WORD(".de"), WORD(".co.uk")};
static const struct word prefixes[] = {
    WORD("https://www."), WORD("https://www."), WORD("https://"), WORD("http://www.")};

/* The last part of a path: a word, a word, the id, between and behind them these. */
static const struct {
    struct word second, third, end;
} leaves[] = {
    {WORD("-"), WORD("-"), WORD("\n")},
    {WORD("-"), WORD("-"), WORD("/\n")},
    {WORD("-"), WORD("-"), WORD(".html\n")},
    {WORD("/"), WORD("?id="), WORD("\n")}};
/* clang-format on */

#define PICK(list, random) (&(list)[(random) % (sizeof(list) / sizeof(*(list)))])

/* Makes the URLs of a seed; remembers the host it made last. */
struct maker {
    uint64_t seed;
    size_t max_len; /* of a URL and its newline */
    uint64_t host_number;
    size_t host_len;
    char host[URL_MAX_BYTES];
};

static size_t append(char *url, size_t len, const struct word *word)
{
    memcpy(url + len, word->text, WORD_BYTES);
    return len + word->len;
}

/* The number in base 36. */
static struct word base36(uint64_t number)
{
    char text[NUMBER_BYTES + WORD_BYTES] = {0};
    size_t first = NUMBER_BYTES;
    do {
        text[--first] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    } while (number);
    struct word word = {.len = (unsigned char)(NUMBER_BYTES - first)};
    memcpy(word.text, text + first, WORD_BYTES);
    return word;
}

static void make_host(struct maker *maker, uint64_t number)
{
    uint64_t state = maker->seed ^ number * 0x9e3779b97f4a7c15u;
    const uint64_t host = test_random(&state);
    size_t len = append(maker->host, 0, PICK(prefixes, host));
    len = append(maker->host, len, PICK(words, host >> 8));
    len = append(maker->host, len, PICK(words, host >> 24));
    maker->host_len = append(maker->host, len, PICK(domains, host >> 40));
    maker->host_number = number;
}

/* The URL number id, with a newline; its length. Of one that would be too long some folders are
 * left out, and if that is not enough the words before the id. */
static size_t make_url(struct maker *maker, char *url, uint64_t id)
{
    if (id / PAGES_PER_HOST != maker->host_number) {
        make_host(maker, id / PAGES_PER_HOST);
    }
    memcpy(url, maker->host, URL_MAX_BYTES / 4);
    uint64_t state = ~maker->seed ^ id * 0xd1342543de82ef95u;
    uint64_t path = test_random(&state);
    const uint64_t nfolders = 1 + path % 3;
    size_t ends[4] = {maker->host_len};
    for (uint64_t i = 0; i < nfolders; i++) {
        path = test_random(&state);
        url[ends[i]] = '/';
        ends[i + 1] = append(url, ends[i] + 1, PICK(words, path >> 8));
    }
    path = test_random(&state);
    const struct word *second = PICK(words, path >> 8);
    const struct word *third = PICK(words, path >> 24);
    const struct word number = base36(id);
    const size_t leaf = path % 4;
    const size_t leaf_len = 1u + second->len + leaves[leaf].second.len + third->len +
                            leaves[leaf].third.len + number.len + leaves[leaf].end.len;
    uint64_t kept = nfolders;
    while (kept > 0 && ends[kept] + leaf_len > maker->max_len) {
        kept--;
    }
    size_t len = ends[kept];
    url[len++] = '/';
    if (len - 1 + leaf_len <= maker->max_len) {
        len = append(url, len, second);
        len = append(url, len, &leaves[leaf].second);
        len = append(url, len, third);
        len = append(url, len, &leaves[leaf].third);
    }
    len = append(url, len, &number);
    return append(url, len, &leaves[leaf].end);
}

static char buffer[1 << 18];

/* Writes the buffer when there is no room for one more URL, and at the end; what is left in it. */
static size_t write_full(size_t len, bool at_end)
{
    if (len <= sizeof(buffer) - URL_MAX_BYTES && !at_end) {
        return len;
    }
    if (fwrite(buffer, 1, len, stdout) != len || (at_end && fflush(stdout) != 0)) {
        perror("make_urls");
        exit(2);
    }
    return 0;
}

static void write_lines(struct maker *maker, uint64_t nlines, uint64_t ndistinct)
{
    uint64_t state = maker->seed;
    uint64_t ids = 0;
    size_t len = 0;
    for (uint64_t line = 0; line < nlines; line++) {
        uint64_t id;
        if (ids == 0 || test_random(&state) % (nlines - line) < ndistinct - ids) {
            id = ids++;
        } else {
            id = test_random(&state) % ids;
        }
        len = write_full(len + make_url(maker, buffer + len, id), false);
    }
    write_full(len, true);
}

static void write_range(struct maker *maker, uint64_t first, uint64_t count, uint64_t step)
{
    size_t len = 0;
    for (uint64_t i = 0; i < count; i++) {
        len = write_full(len + make_url(maker, buffer + len, first + i * step), false);
    }
    write_full(len, true);
}

static uint64_t number_of(const char *text)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number < 0x1p63)) {
        fprintf(stderr, "make_urls: not a number: %s\n", text);
        exit(2);
    }
    return number < 0x1p53 ? (uint64_t)number : strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
    const bool range = argc > 1 && strcmp(argv[1], "range") == 0;
    char **arguments = argv + (range ? 2 : 1);
    const int n = argc - (range ? 2 : 1);
    uint64_t numbers[4] = {0, 0, 1, 1};
    for (int i = 0; i < n && i < 4; i++) {
        numbers[i] = number_of(arguments[i]);
    }
    if (n < 2 || n > (range ? 4 : 3) || (!range && (numbers[1] == 0 || numbers[1] > numbers[0]))) {
        fprintf(stderr, "usage: make_urls NLINES NDISTINCT [SEED]   (1 <= NDISTINCT <= NLINES)\n"
                        "       make_urls range FIRST COUNT [SEED [STEP]]\n");
        return 2;
    }
    struct maker maker = {.seed = numbers[2],
                          .max_len = range ? RANGE_BYTES + 1 : URL_MAX_BYTES,
                          .host_number = UINT64_MAX};
    if (range) {
        write_range(&maker, numbers[0], numbers[1], numbers[3]);
    } else {
        write_lines(&maker, numbers[0], numbers[1]);
    }
    return 0;
}
