/* SPDX-License-Identifier: MIT
 *
 * URL identity: millions of URLs a second from bytes to a 128-bit key, in batches, for each profile
 * and SIMD level, and the same with libcurl's URL API and uriparser where they are installed, all
 * in one run on one core. What identity takes above hashing the bytes, for URLs that are canonical,
 * beside the goal. Also the slow path alone, on links of which every one was made to need it, and
 * the expressions of Safe Browsing.
 *
 *     bench_url [FILE]...      lists of URLs, one a line (gzip is unpacked)
 *
 * Without FILE the real lists beside the checkout are used, links and requests. Each figure is the
 * median of 7 rounds of about half a million URLs. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#include "bench.h"
#include "url_data.h"

#include "url/url.h"

#ifdef HAVE_CURL
#include <curl/curl.h>
#endif
#ifdef HAVE_URIPARSER
#include <uriparser/Uri.h>
#endif

enum {
    SEED = 1,
    ROUNDS = 7,
    ROUNDS_BY_TURNS = 21,
    URLS_PER_ROUND = 500000,
    TEXT_MAX = 1 << 16,
    BUF = 8 * TEXT_MAX + 1024
};

static const double GOAL_ABOVE = 12; /* ns */

static char buf[BUF];

/* Keeps the compiler from dropping the work. */
static uint64_t total;

/* Makes the keys of what is canonicalised one by one. */
static struct unseen_set *keys_of;

static void add_key(const char *data, size_t len)
{
    total += unseen_set_identity_key(keys_of, data, len).lo;
}

/* ---- What is measured -------------------------------------------------------------------------*/

typedef void run_fn(void *object, const struct unseen_bytes *urls, size_t n);

static void run_keys(void *object, const struct unseen_bytes *urls, size_t n)
{
    const struct unseen_set *set = object;
    struct unseen_key keys[BENCH_BATCH];
    for (size_t at = 0; at < n; at += BENCH_BATCH) {
        const size_t count = n - at < BENCH_BATCH ? n - at : BENCH_BATCH;
        bench_check(unseen_set_keys(set, urls + at, count, keys, NULL));
        total += keys[0].lo;
    }
}

static void run_canon(void *object, const struct unseen_bytes *urls, size_t n)
{
    const struct unseen_url *url = object;
    for (size_t i = 0; i < n; i++) {
        struct unseen_canon canon;
        bench_check(unseen_url_canon(url, urls[i].data, urls[i].len, NULL, buf, BUF, &canon));
        add_key(canon.bytes.data, canon.bytes.len);
    }
}

static void run_slow(void *object, const struct unseen_bytes *urls, size_t n)
{
    const struct unseen_url *url = object;
    for (size_t i = 0; i < n; i++) {
        struct unseen_canon canon;
        url->slow(url, urls[i].data, urls[i].len, buf, BUF, &canon);
        add_key(canon.bytes.data, canon.bytes.len);
    }
}

/* Expressions are looked up one by one, so each gets its key. */
static void run_expressions(void *object, const struct unseen_bytes *urls, size_t n)
{
    const struct unseen_url *url = object;
    for (size_t i = 0; i < n; i++) {
        struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
        size_t nexpressions;
        bench_check(unseen_url_expressions(url, urls[i].data, urls[i].len, buf, BUF, expressions,
                                           &nexpressions));
        total += nexpressions;
    }
}

#ifdef HAVE_CURL
/* The flags with which libcurl gets most web-platform cases right. */
static void run_curl(void *object, const struct unseen_bytes *urls, size_t n)
{
    (void)object;
    for (size_t i = 0; i < n; i++) {
        memcpy(buf, urls[i].data, urls[i].len);
        buf[urls[i].len] = '\0';
        CURLU *handle = curl_url();
        char *text = NULL;
        if (handle &&
            curl_url_set(handle, CURLUPART_URL, buf,
                         CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE) == 0 &&
            curl_url_get(handle, CURLUPART_URL, &text, CURLU_NO_DEFAULT_PORT) == 0) {
            add_key(text, strlen(text));
        } else {
            add_key(urls[i].data, urls[i].len);
        }
        curl_free(text);
        curl_url_cleanup(handle);
    }
}
#endif

#ifdef HAVE_URIPARSER
static void run_uriparser(void *object, const struct unseen_bytes *urls, size_t n)
{
    (void)object;
    for (size_t i = 0; i < n; i++) {
        UriUriA uri;
        const char *error;
        const char *const end = urls[i].data + urls[i].len;
        int written = 0;
        if (uriParseSingleUriExA(&uri, urls[i].data, end, &error) != URI_SUCCESS) {
            add_key(urls[i].data, urls[i].len);
            continue;
        }
        if (uriNormalizeSyntaxA(&uri) == URI_SUCCESS &&
            uriToStringA(buf, &uri, BUF, &written) == URI_SUCCESS && written > 0) {
            add_key(buf, (size_t)written - 1);
        }
        uriFreeUriMembersA(&uri);
    }
}
#endif

/* ---- Measuring --------------------------------------------------------------------------------*/

/* Prints and returns the median of URLs per second. */
static double measure(const char *what, const char *cpu, run_fn *run, void *object,
                      const struct data_lines *urls)
{
    double rates[ROUNDS];
    const size_t npasses = URLS_PER_ROUND / urls->n + 1;
    run(object, urls->lines, urls->n);
    for (size_t round = 0; round < ROUNDS; round++) {
        const double start = bench_cpu();
        for (size_t pass = 0; pass < npasses; pass++) {
            run(object, urls->lines, urls->n);
        }
        rates[round] = (double)(npasses * urls->n) / (bench_cpu() - start);
    }
    const double rate = bench_median(rates, ROUNDS);
    printf("%-34.34s %-9s %8.2f M/s %8.1f ns\n", what, cpu, rate / 1e6, 1e9 / rate);
    fflush(stdout);
    return rate;
}

static struct unseen_url *create(const char *profile, enum unseen_cpu cpu)
{
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .cpu = cpu};
    return unseen_url_create(&url, &options, NULL) == UNSEEN_OK ? url : NULL;
}

static struct unseen_set *create_set(const char *profile, enum unseen_cpu cpu)
{
    struct unseen_set *set = NULL;
    const struct unseen_set_options options = {
        .size = sizeof(options), .seed = "1", .seed_len = 1, .profile = profile, .cpu = cpu};
    return unseen_set_create(&set, &options, NULL) == UNSEEN_OK ? set : NULL;
}

static double measure_profile(const char *profile, enum unseen_cpu cpu, const char *cpu_name,
                              const struct data_lines *urls)
{
    char what[64];
    struct unseen_set *set = create_set(profile, cpu);
    if (!set) {
        return 0;
    }
    snprintf(what, sizeof(what), "%s, to a key", profile);
    const double rate = measure(what, cpu_name, run_keys, set, urls);
    unseen_set_free(set);
    return rate;
}

static double mean_len(const struct data_lines *urls)
{
    double sum = 0;
    for (size_t i = 0; i < urls->n; i++) {
        sum += (double)urls->lines[i].len;
    }
    return sum / (double)urls->n;
}

/* Canonical URLs: what identity takes above hashing the bytes, both by turns. Prints the least time
 * of all rounds, because a busy machine only ever adds to a time. */
static void measure_above(const char *profile, enum unseen_cpu cpu, const char *cpu_name,
                          const struct data_lines *urls)
{
    struct unseen_set *const sets[2] = {create_set("none", cpu), create_set(profile, cpu)};
    double least[2] = {1, 1};
    const size_t npasses = URLS_PER_ROUND / urls->n + 1;
    for (size_t round = 0; round < ROUNDS_BY_TURNS && sets[0] && sets[1]; round++) {
        for (size_t k = 0; k < 2; k++) {
            const double start = bench_cpu();
            for (size_t pass = 0; pass < npasses; pass++) {
                run_keys(sets[k], urls->lines, urls->n);
            }
            const double time = (bench_cpu() - start) / (double)(npasses * urls->n);
            least[k] = time < least[k] ? time : least[k];
        }
    }
    if (sets[0] && sets[1]) {
        const double above = (least[1] - least[0]) * 1e9;
        printf("%-12s %-9s bytes %6.1f ns, identity %6.1f ns: %5.1f above, %.2f x; goal %.0f: %s\n",
               profile, cpu_name, least[0] * 1e9, least[1] * 1e9, above, least[1] / least[0],
               GOAL_ABOVE, above <= GOAL_ABOVE ? "met" : "MISSED");
        fflush(stdout);
    }
    unseen_set_free(sets[0]);
    unseen_set_free(sets[1]);
}

/* The URLs that are their own canonical form. */
static struct data_lines only_canonical(const char *profile, const struct data_lines *urls)
{
    struct data_lines out = {data_keep(calloc(urls->n, sizeof(*out.lines))), 0};
    struct unseen_url *url = create(profile, UNSEEN_CPU_AUTO);
    for (size_t i = 0; url && i < urls->n; i++) {
        struct unseen_canon canon;
        bench_check(
            unseen_url_canon(url, urls->lines[i].data, urls->lines[i].len, NULL, buf, BUF, &canon));
        if (canon.form == UNSEEN_URL_UNCHANGED) {
            out.lines[out.n++] = urls->lines[i];
        }
    }
    unseen_url_free(url);
    return out;
}

/* How many URLs the fast path does not answer. */
static double slow_share(const char *profile, const struct data_lines *urls)
{
    size_t nslow = 0;
    struct unseen_url *url = create(profile, UNSEEN_CPU_AUTO);
    for (size_t i = 0; url && i < urls->n; i++) {
        struct unseen_canon canon;
        nslow += !url->fast ||
                 !url->fast(url, urls->lines[i].data, urls->lines[i].len, buf, BUF, &canon);
    }
    unseen_url_free(url);
    return (double)nslow / (double)urls->n;
}

/* Every URL written so that only the slow path can answer, and has to work: scheme and host in
 * upper case, the scheme's own port, a step up and down the tree. */
static struct data_lines make_dirty(const struct data_lines *urls)
{
    struct data_lines out = {data_keep(calloc(urls->n, sizeof(*out.lines))), urls->n};
    char *text = data_keep(malloc((size_t)(mean_len(urls) + 33) * urls->n));
    for (size_t i = 0; i < urls->n; i++) {
        const struct unseen_bytes url = urls->lines[i];
        size_t host = 0;
        size_t n = 0;
        while (host + 1 < url.len && !(url.data[host] == '/' && url.data[host + 1] == '/')) {
            host++;
        }
        size_t end = host + 2 < url.len ? host + 2 : url.len;
        while (end < url.len && !strchr("/?#:", url.data[end])) {
            end++;
        }
        for (; n < end; n++) {
            const char c = url.data[n];
            text[n] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
        }
        const bool has_port = end < url.len && url.data[end] == ':';
        const char *const more = has_port                            ? ""
                                 : url.len > 5 && url.data[4] == 's' ? ":443/a/.."
                                                                     : ":80/a/..";
        n += (size_t)sprintf(text + n, "%s", more);
        memcpy(text + n, url.data + end, url.len - end);
        out.lines[i] = (struct unseen_bytes){text, n + url.len - end};
        text += n + url.len - end;
    }
    return out;
}

static void measure_peers(const struct data_lines *urls, double crawl)
{
#ifdef HAVE_CURL
    printf("%45s crawl is %.1f x as fast\n", "",
           crawl / measure("libcurl " LIBCURL_VERSION, "", run_curl, NULL, urls));
#else
    printf("libcurl: not in this build\n");
#endif
#ifdef HAVE_URIPARSER
    printf("%45s crawl is %.1f x as fast\n", "",
           crawl / measure("uriparser " URI_VER_ANSI, "", run_uriparser, NULL, urls));
#else
    printf("uriparser: not in this build\n");
#endif
    (void)urls;
    (void)crawl;
}

static void measure_list(const char *name, const struct data_lines *urls)
{
    static const struct {
        const char *name;
        enum unseen_cpu cpu;
    } levels[] = {{"portable", UNSEEN_CPU_PORTABLE},
                  {"avx2", UNSEEN_CPU_AVX2},
                  {"avx512", UNSEEN_CPU_AVX512}};
    static const char *const profiles[] = {
        "crawl",
        "whatwg",
        "scrapy",
        "safebrowsing",
        "aggressive",
        "crawl/1+sort-query",
        "crawl+drop-params(utm_*,ref,page,news.example:page)",
        "crawl+only-params(id,p,q,shop.example:sku)",
    };
    printf("\n%s: %zu URLs, mean %.1f bytes\n", name, urls->n, mean_len(urls));
    for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
        struct unseen_set *set = create_set("none", levels[k].cpu);
        if (set) {
            measure("key of the bytes (profile none)", levels[k].name, run_keys, set, urls);
        }
        unseen_set_free(set);
    }
    const struct data_lines canonical = only_canonical("crawl", urls);
    printf("canonical URLs: %zu\n", canonical.n);
    for (size_t k = 0; canonical.n > 0 && k < sizeof(levels) / sizeof(levels[0]); k++) {
        measure_above("crawl", levels[k].cpu, levels[k].name, &canonical);
    }
    double crawl = 0;
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        printf("%s: %.2f %% by the slow path\n", profiles[i], 100 * slow_share(profiles[i], urls));
        for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
            const double rate = measure_profile(profiles[i], levels[k].cpu, levels[k].name, urls);
            crawl = i == 0 && rate > 0 ? rate : crawl;
        }
    }
    struct unseen_url *url = create("crawl", UNSEEN_CPU_AUTO);
    if (!url) {
        bench_die("crawl");
    }
    const struct data_lines dirty = make_dirty(urls);
    measure("crawl, slow path alone", "", run_slow, url, urls);
    measure("crawl, every URL made dirty", "", run_canon, url, &dirty);
    measure("expressions", "", run_expressions, url, urls);
    unseen_url_free(url);
    measure_peers(urls, crawl);
}

int main(int argc, char **argv)
{
    bench_heading("URL identity", SEED);
    keys_of = create_set("none", UNSEEN_CPU_AUTO);
    if (!keys_of) {
        bench_die("set");
    }
    for (int i = 1; i < argc; i++) {
        const struct data_lines urls = data_load_lines(argv[i], NULL);
        measure_list(argv[i], &urls);
    }
    if (argc == 1) {
        const struct data_lines all = data_load_lines("urls_links.txt.gz", "urls_requests.txt.gz");
        const struct data_lines links = data_load_lines("urls_links.txt.gz", NULL);
        if (all.n == 0) {
            printf("usage: bench_url FILE...\n");
            return 2;
        }
        measure_list("links + requests", &all);
        measure_list("links", &links);
    }
    return total == 0;
}
