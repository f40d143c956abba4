/* SPDX-License-Identifier: MIT
 *
 * The WHATWG parser against another implementation: node's new URL(), on mutated URLs and
 * references, where node is installed. Node 20 is older than the standard implemented here; its
 * known drifts are told apart below. */
#include "folder_check.h"
#include "url_data.h"

static const char *const seeds[] = {
    "http://example.com/a/b/../c?q=1#f",
    "https://user:pa@ss@www.example.org:8080/x/%2e%2E/y;z?a=b&c='d'#e`f",
    "ftp://1.2.3.4:21/a\\b",
    "ws://0x7f.0.1:80/",
    "wss://[2001:db8::ff00:42:8329]:443/p",
    "http://[::ffff:1.2.3.4]/",
    "http://256.0x10.010/",
    "file:///C:/a/../../b",
    "file://localhost/C|/x",
    "file:\\\\host\\share\\..\\f",
    "file:c:\\foo\\bar.html",
    "/..//localhost//pork",
    "mailto:a@b.c ?subject=x y#z",
    "javascript:alert(1) ",
    "data:text/plain,a  #b",
    "non-special://h:99999/a b?c'd#e",
    "non-special:/..//p",
    "web+demo:/.//not-a-host/../..//a",
    "foo://///////bar.com/",
    "foo://a%b:1/%zz\"<>^`{}|",
    "http:\\\\x:/y/./..",
    "//server/file",
    "../a/./b/.",
    "?x#y",
    "#frag",
    "",
    "C|/foo",
    "///C:/",
    "http://a_b.c-d.e/%41%7e?%7e#%7e",
    "http://ex%41mple.com%2e/",
    "http://xn--bcher-kva.de/",
    ("http://b\xc3\xbc"
     "cher.de/\xc3\xa9?\xc3\xa9#\xc3\xa9"),
    "blob:https://a.com/x",
    "about:blank",
};
enum {
    NSEEDS = sizeof(seeds) / sizeof(seeds[0]),
    TEXT = 512,
    BUF = 1 << 16
};

static const char script[] =
    "const lines = require('fs').readFileSync(process.argv[1], 'latin1').split('\\n');"
    "const text = h => Buffer.from(h, 'hex').toString();"
    "lines.pop();"
    "process.stdout.write(lines.map(l => {"
    "  const [input, base] = l.split(' ');"
    "  try { return Buffer.from((base === '-' ? new URL(text(input))"
    "                            : new URL(text(input), text(base))).href).toString('hex'); }"
    "  catch (e) { return '-'; }"
    "}).join('\\n') + '\\n');";

/* A seed with ASCII edits; multi-byte characters stay whole. */
static size_t make_text(char *text, uint64_t *seed)
{
    static const char bytes[] = "\t\n !\"#$%&'()*+,-./:;<=>?@AZ[\\]^_`az{|}~\x7f"
                                "0189xX%.//..:";
    const char *const from = seeds[test_random(seed) % NSEEDS];
    size_t len = strlen(from);
    memcpy(text, from, len);
    for (uint64_t edits = test_random(seed) % 5; edits; edits--) {
        const uint64_t r = test_random(seed);
        const size_t at = (size_t)(r >> 24) % (len + 1);
        const char c = bytes[(r >> 8) % (sizeof(bytes) - 1)];
        if (at < len && (text[at] & 0x80)) {
            continue;
        }
        if (r % 3 == 0 || at == len) {
            memmove(text + at + 1, text + at, len - at);
            text[at] = c;
            len++;
        } else if (r % 3 == 1) {
            text[at] = c;
        } else {
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
        }
    }
    return len;
}

static void print_hex(FILE *file, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        fprintf(file, "%02x", (unsigned char)text[i]);
    }
}

static bool contains(struct unseen_bytes text, const char *what)
{
    const size_t len = strlen(what);
    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(text.data + i, what, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Does the text have a drive letter's start as a segment that is longer than a drive letter? */
static bool has_long_drive(const char *text)
{
    for (; (text = strchr(text, '/')) != NULL; text++) {
        if (((text[1] | 0x20) >= 'a' && (text[1] | 0x20) <= 'z') &&
            (text[2] == ':' || text[2] == '|') && text[3] && !strchr("/?#", text[3])) {
            return true;
        }
    }
    return false;
}

/* Where node 20 is known to differ, first by the age of its standard, then by its own mistakes:
 * - ^ in a path is escaped since 2025
 * - a bad xn-- label in an ASCII host is no failure any more
 * - a space before ? or # in an opaque path stays, as %20
 * - node loses the empty query of a base, takes some opaque bases for others, takes a segment that
 *   only starts like a drive letter for one, leaves dot segments behind one such as .a, and
 *   leaves no / where .. emptied a path that is not special */
static bool is_known_drift(const char *ours, const char *theirs, struct unseen_bytes in,
                           struct unseen_bytes base)
{
    const bool ours_failed = strcmp(ours, "-") == 0;
    const bool theirs_failed = strcmp(theirs, "-") == 0;
    if (contains(in, "^") || contains(base, "^")) {
        return true;
    }
    if (theirs_failed) {
        return contains(in, "--") || contains(base, "--");
    }
    if (ours_failed) {
        const char *colon = base.len ? memchr(base.data, ':', base.len) : NULL;
        return colon && (colon + 1 == base.data + base.len || colon[1] != '/');
    }
    return strstr(ours, "%20?") || strstr(ours, "%20#") || strstr(ours, "?#") ||
           ((contains(in, "/.") || contains(base, "/.")) && strlen(theirs) > strlen(ours)) ||
           (strncmp(ours, "file:", 5) == 0 && has_long_drive(theirs)) ||
           ((contains(in, "..") || contains(base, "..")) && strlen(ours) == strlen(theirs) + 1);
}

struct pair {
    char in[TEXT];
    size_t in_len;
    char base[TEXT];
    size_t base_len;
    bool has_base;
};

static void write_pairs(const char *path, struct pair *pairs, size_t n)
{
    uint64_t seed = 42;
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        struct pair *pair = &pairs[i];
        pair->in_len = make_text(pair->in, &seed);
        pair->has_base = test_random(&seed) % 2;
        pair->base_len = pair->has_base ? make_text(pair->base, &seed) : 0;
        print_hex(file, pair->in, pair->in_len);
        fputc(' ', file);
        if (pair->has_base) {
            print_hex(file, pair->base, pair->base_len);
        } else {
            fputc('-', file);
        }
        fputc('\n', file);
    }
    if (fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

/* Reads "-" or the bytes of a line of hexadecimal digits. */
static bool read_line(FILE *file, char *text, size_t cap)
{
    size_t n = 0;
    int c = fgetc(file);
    if (c == EOF) {
        return false;
    }
    if (c == '-') {
        strcpy(text, "-");
        return fgetc(file) == '\n';
    }
    for (; c != '\n'; c = fgetc(file)) {
        const char digits[3] = {(char)c, (char)fgetc(file), '\0'};
        if (n + 1 >= cap) {
            return false;
        }
        text[n++] = (char)strtoul(digits, NULL, 16);
    }
    text[n] = '\0';
    return true;
}

static void our_answer(const struct unseen_url *url, const struct pair *pair, char *text)
{
    static char buf[BUF];
    struct unseen_canon canon;
    const struct unseen_bytes base = {pair->base, pair->base_len};
    const enum unseen_status status = unseen_url_canon(
        url, pair->in, pair->in_len, pair->has_base ? &base : NULL, buf, BUF, &canon);
    CHECK(status == UNSEEN_OK);
    const bool failed = canon.form == UNSEEN_URL_FAILED;
    snprintf(text, 4 * TEXT, "%.*s", failed ? 1 : (int)canon.bytes.len,
             failed ? "-" : canon.bytes.data);
}

static void compare(const struct unseen_url *url, FILE *answers, struct pair *pairs, size_t n)
{
    size_t ndrifts = 0;
    for (size_t i = 0; i < n; i++) {
        char ours[4 * TEXT];
        char theirs[4 * TEXT];
        if (!CHECK(read_line(answers, theirs, sizeof(theirs)))) {
            break;
        }
        our_answer(url, &pairs[i], ours);
        if (strcmp(ours, theirs) == 0) {
            continue;
        }
        const struct unseen_bytes in = {pairs[i].in, pairs[i].in_len};
        const struct unseen_bytes base = {pairs[i].base, pairs[i].base_len};
        const bool drift = is_known_drift(ours, theirs, in, base);
        ndrifts += drift;
        if (!CHECK(drift)) {
            fprintf(stderr, "<%.*s> at <%.*s>\n  ours %s\n  node %s\n", (int)in.len, in.data,
                    (int)base.len, pairs[i].has_base ? base.data : "-", ours, theirs);
        }
    }
    printf("%zu URLs and references, %zu known drifts\n", n, ndrifts);
    /* Drifts must stay the exception, or they would hide everything else. */
    CHECK(ndrifts * 5 < n);
}

int main(void)
{
    test_start();
    if (system("node --version >/dev/null 2>&1") != 0) {
        printf("skipped: no node\n");
        return 77;
    }
    const size_t n = 20000 * (size_t)test_scale();
    struct pair *pairs = calloc(n, sizeof(*pairs));
    char folder[200];
    char path[sizeof(folder) + 8];
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = "whatwg", .cpu = test_cpu};
    if (!pairs || unseen_url_create(&url, &options, NULL) != UNSEEN_OK) {
        perror("test_url_node");
        return 2;
    }
    test_folder_make(folder, sizeof(folder), "node");
    snprintf(path, sizeof(path), "%s/pairs", folder);
    write_pairs(path, pairs, n);
    char command[sizeof(script) + sizeof(path) + 20];
    snprintf(command, sizeof(command), "node -e \"%s\" '%s'", script, path);
    FILE *answers = popen(command, "r");
    if (!answers) {
        perror("node");
        return 2;
    }
    compare(url, answers, pairs, n);
    CHECK(pclose(answers) == 0);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
    unseen_url_free(url);
    free(pairs);
    return test_end();
}
