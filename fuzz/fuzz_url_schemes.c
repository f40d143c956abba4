/* SPDX-License-Identifier: MIT
 *
 * The schemes "scrapy" (under each of its rules) and "safebrowsing", and the expressions. For any
 * input: the fast path declines or gives the slow path's answer, on every SIMD level; the answer is
 * its own canonical form; nothing is written behind the bound; expressions are parts of the
 * canonical form. The first byte chooses profile and rules. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <unseen.h>

#include "target.h"
#include "url/safebrowsing.h"

enum {
    CANARY = 64
};

static struct unseen_url *create(unsigned choice, enum unseen_cpu cpu)
{
    static const char *const names[] = {"keep-fragment", "drop-blank-values", "split-semicolons"};
    const char *rules[3];
    struct unseen_url_options options = {.size = sizeof(options),
                                         .profile = choice & 1 ? "safebrowsing" : "scrapy",
                                         .rules = rules,
                                         .cpu = cpu};
    for (unsigned i = 0; i < 3 && !(choice & 1); i++) {
        if (choice & 2u << i) {
            rules[options.nrules++] = names[i];
        }
    }
    struct unseen_url *url = NULL;
    const enum unseen_status status = unseen_url_create(&url, &options, NULL);
    require(status == UNSEEN_OK || status == UNSEEN_ERR_UNSUPPORTED);
    return url;
}

static bool same(const struct unseen_canon *a, const struct unseen_canon *b)
{
    return a->form == b->form && a->bytes.len == b->bytes.len &&
           (a->bytes.len == 0 || memcmp(a->bytes.data, b->bytes.data, a->bytes.len) == 0);
}

/* A buffer of the bound of len bytes with canaries behind it. */
static char *buffer(size_t len)
{
    const size_t bound = unseen_url_bound(len, 0);
    char *const buf = malloc(bound + CANARY);
    require(buf != NULL);
    memset(buf + bound, 0x5a, CANARY);
    return buf;
}

static void release(char *buf, size_t len)
{
    const size_t bound = unseen_url_bound(len, 0);
    for (size_t i = 0; i < CANARY; i++) {
        require(buf[bound + i] == 0x5a);
    }
    free(buf);
}

/* The canonical form whose parts the expressions are is that of the slow path for what
 * browsers read. */
static void check_expressions(const struct unseen_url *url, const char *in, size_t len)
{
    char *const buf = buffer(len);
    char *const canon_buf = buffer(len);
    struct unseen_canon canon;
    struct unseen_bytes expressions[UNSEEN_EXPRESSIONS_MAX];
    size_t n;
    unseen__url_safebrowsing_browsed(url, in, len, canon_buf, unseen_url_bound(len, 0), &canon);
    require(unseen_url_expressions(url, in, len, buf, unseen_url_bound(len, 0), expressions, &n) ==
            UNSEEN_OK);
    require((n == 0) == (canon.form == UNSEEN_URL_FAILED) && n <= UNSEEN_EXPRESSIONS_MAX);
    for (size_t i = 0; i < n; i++) {
        require(expressions[i].data > buf &&
                expressions[i].data + expressions[i].len <= buf + canon.bytes.len);
    }
    release(canon_buf, len);
    release(buf, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const char *const in = (const char *)data + 1;
    const size_t len = size - 1;
    for (int cpu = UNSEEN_CPU_PORTABLE; cpu <= UNSEEN_CPU_AVX512; cpu++) {
        struct unseen_url *const url = create(data[0], (enum unseen_cpu)cpu);
        if (!url) {
            continue;
        }
        char *const slow_buf = buffer(len);
        char *const buf = buffer(len);
        struct unseen_canon slow;
        struct unseen_canon canon;
        url->slow(url, in, len, slow_buf, unseen_url_bound(len, 0), &slow);
        require(unseen_url_canon(url, in, len, NULL, buf, unseen_url_bound(len, 0), &canon) ==
                UNSEEN_OK);
        require(same(&slow, &canon));
        if (canon.form != UNSEEN_URL_FAILED) {
            const size_t again_len = canon.bytes.len;
            char *const again_buf = buffer(again_len);
            struct unseen_canon again;
            require(unseen_url_canon(url, canon.bytes.data, again_len, NULL, again_buf,
                                     unseen_url_bound(again_len, 0), &again) == UNSEEN_OK);
            require(again.form == UNSEEN_URL_UNCHANGED && again.bytes.len == again_len);
            release(again_buf, again_len);
        }
        if (data[0] & 1) {
            check_expressions(url, in, len);
        }
        release(slow_buf, len);
        release(buf, len);
        unseen_url_free(url);
    }
    return 0;
}
