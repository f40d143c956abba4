/* SPDX-License-Identifier: MIT
 *
 * Test data of URL identity: our own vectors (tests/vectors/), which are in every checkout, and
 * vectors and real lists that may stand beside the checkout (in ../shared/data, or in the folder
 * that UNSEEN_TEST_DATA names). If the latter are missing, a test says "skipped" for that part and
 * goes on: our own vectors test the same things. */
#ifndef UNSEEN_TESTS_URL_DATA_H
#define UNSEEN_TESTS_URL_DATA_H

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include <limits.h>

#include "test.h"

#include "vectors/made_urls.h"

/* Loaded data stays loaded. It is reachable from here, so it is not a leak. */
static void *data_kept[64];
static size_t data_nkept;

static inline void *data_keep(void *ptr)
{
    if (!ptr || data_nkept == sizeof(data_kept) / sizeof(data_kept[0])) {
        abort();
    }
    data_kept[data_nkept++] = ptr;
    return ptr;
}

/* The canonicaliser of a profile with these rules, for the level under test. */
static inline struct unseen_url *data_url(const char *profile, const char *const *rules,
                                          size_t nrules)
{
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {.size = sizeof(options),
                                               .profile = profile,
                                               .rules = rules,
                                               .nrules = nrules,
                                               .cpu = test_cpu};
    if (unseen_url_create(&url, &options, NULL) != UNSEEN_OK) {
        fprintf(stderr, "cannot create %s\n", profile);
        exit(2);
    }
    return url;
}

/* A whole file or list in memory; data is NULL if the file is missing. Never freed. */
struct data_file {
    char *data;
    size_t len;
};

/* The path of a data file. "vectors/NAME" stands in tests/ of the checkout, as this header does;
 * any other name with a slash is a path by itself. */
static inline bool data_path(const char *name, char *path, size_t cap)
{
    const char *folder = getenv("UNSEEN_TEST_DATA");
    char beside[PATH_MAX];
    int n = 0;
    (void)snprintf(beside, sizeof(beside), "../../shared/data/%s", name);
    if (strncmp(name, "vectors/", 8) == 0) {
        n = test_path(path, cap, name) ? 1 : 0;
    } else if (strchr(name, '/')) {
        n = snprintf(path, cap, "%s", name);
    } else if (folder) {
        n = snprintf(path, cap, "%s/%s", folder, name);
    } else {
        n = test_path(path, cap, beside) ? 1 : 0;
    }
    return n > 0 && (size_t)n < cap && access(path, R_OK) == 0;
}

static inline struct data_file data_read(FILE *file)
{
    struct data_file out = {NULL, 0};
    size_t cap = (size_t)1 << 16;
    for (size_t n = 1; n > 0; out.len += n) {
        if (!out.data || out.len == cap) {
            cap *= 2;
            out.data = realloc(out.data, cap);
            if (!out.data) {
                abort();
            }
        }
        n = fread(out.data + out.len, 1, cap - out.len, file);
    }
    data_keep(out.data);
    return out;
}

/* Loads name, unpacked if it ends in .gz. */
static inline struct data_file data_load(const char *name)
{
    char path[PATH_MAX];
    char command[PATH_MAX + 32];
    if (!data_path(name, path, sizeof(path))) {
        test_skip(name);
        return (struct data_file){NULL, 0};
    }
    const size_t len = strlen(name);
    const bool packed = len > 3 && strcmp(name + len - 3, ".gz") == 0;
    snprintf(command, sizeof(command), "gzip -dc '%s'", path);
    FILE *file = packed ? popen(command, "r") : fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    const struct data_file out = data_read(file);
    if (packed ? pclose(file) != 0 : fclose(file) != 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    return out;
}

struct data_lines {
    struct unseen_bytes *lines;
    size_t n;
};

/* The lines of up to two lists, one after the other. */
static inline struct data_lines data_load_lines(const char *first, const char *second)
{
    struct data_lines out = {NULL, 0};
    const char *const names[2] = {first, second};
    for (size_t k = 0; k < 2 && names[k]; k++) {
        const struct data_file file = data_load(names[k]);
        const char *p = file.data;
        for (const char *end = p + file.len; p < end;) {
            const char *newline = memchr(p, '\n', (size_t)(end - p));
            const char *line_end = newline ? newline : end;
            if ((out.n & (out.n + 1)) == 0) {
                out.lines = realloc(out.lines, (2 * out.n + 2) * sizeof(*out.lines));
                if (!out.lines) {
                    abort();
                }
            }
            out.lines[out.n++] = (struct unseen_bytes){p, (size_t)(line_end - p)};
            p = line_end + 1;
        }
    }
    if (out.lines) {
        data_keep(out.lines);
    }
    return out;
}

/* n made-up URLs behind those of `lines`. */
static inline struct data_lines data_add_made(struct data_lines lines, size_t n)
{
    static struct made_url url;
    uint64_t seed = 1;
    struct data_lines out = {calloc(lines.n + n, sizeof(*lines.lines)), lines.n};
    char *texts = NULL;
    size_t cap = 0;
    data_keep(out.lines);
    if (lines.n) {
        memcpy(out.lines, lines.lines, lines.n * sizeof(*lines.lines));
    }
    for (; out.n < lines.n + n; out.n++) {
        made_url(&url, &seed);
        if (cap < url.spelled.len) {
            cap = (size_t)1 << 20;
            texts = data_keep(malloc(cap));
        }
        memcpy(texts, url.spelled.data, url.spelled.len);
        out.lines[out.n] = (struct unseen_bytes){texts, url.spelled.len};
        texts += url.spelled.len;
        cap -= url.spelled.len;
    }
    return out;
}

/* JSON may hold \uXXXX escapes of half a surrogate pair, which are not text. Like a browser, make
 * each U+FFFD, so that a strict JSON reader takes the file. */
static inline void data_fix_surrogates(struct data_file file)
{
    for (size_t i = 0; i + 6 <= file.len; i++) {
        if (file.data[i] == '\\' && file.data[i + 1] != 'u') {
            i++;
            continue;
        }
        if (file.data[i] != '\\') {
            continue;
        }
        unsigned high = 0;
        unsigned low = 0;
        sscanf(file.data + i + 2, "%4x", &high);
        if (i + 12 <= file.len && file.data[i + 6] == '\\' && file.data[i + 7] == 'u') {
            sscanf(file.data + i + 8, "%4x", &low);
        }
        if (high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
            i += 11;
        } else if (high >= 0xd800 && high < 0xe000) {
            memcpy(file.data + i + 2, "fffd", 4);
        }
    }
}

/* Makes 1 to 4 random edits of s[0..len), with a preference for bytes that mean something in a URL.
 * s has room for 4 more bytes. Returns the new length. */
static inline size_t data_mutate(char *s, size_t len, uint64_t *seed)
{
    static const char bytes[] =
        "\0\t\n\r !\"#$%&'()*+,-./:;<=>?@AZ[\\]^_`az{|}~\x7f\x80\xc3\xa9\xff"
        "09xX%.%2e%2E//..wW";
    for (uint64_t edits = 1 + test_random(seed) % 4; edits; edits--) {
        const uint64_t r = test_random(seed);
        const size_t at = len ? (size_t)(r >> 24) % len : 0;
        const char c = bytes[(r >> 8) % (sizeof(bytes) - 1)];
        switch (r % 4) {
        case 0:
            if (len) {
                s[at] = c;
            }
            break;
        case 1:
            if (len) {
                memmove(s + at, s + at + 1, len - at - 1);
                len--;
            }
            break;
        case 2:
            memmove(s + at + 1, s + at, len - at);
            s[at] = c;
            len++;
            break;
        default:
            if (len) {
                s[at] ^= 0x20;
            }
        }
    }
    return len;
}

#endif
