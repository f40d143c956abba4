/* SPDX-License-Identifier: MIT
 *
 * The entry point of URL identity: unseen_url_canon (fast path, else slow path; references are
 * resolved against their base first). */
#include <string.h>

#include "base/bytes.h"
#include "base/macros.h"
#include "url/whatwg.h"

static size_t bound_of(size_t len)
{
    size_t bound;
    if (!size_mul(len, UNSEEN__URL_BOUND_FACTOR, &bound) ||
        bound > SIZE_MAX - UNSEEN__URL_BOUND_EXTRA) {
        return 0;
    }
    return bound + UNSEEN__URL_BOUND_EXTRA;
}

/* The buffer for a reference has the canonical form, and behind it the resolved reference and the
 * base. */
size_t unseen_url_bound(size_t len, size_t base_len)
{
    size_t n;
    if (base_len == 0) {
        return bound_of(len);
    }
    if (len > SIZE_MAX - base_len || !size_mul(len + base_len, 4, &n) || n > SIZE_MAX - 512) {
        return 0;
    }
    return bound_of(n + 512);
}

/* Is cap enough for n bytes of input? */
static bool has_room(size_t n, size_t cap)
{
    const size_t bound = bound_of(n);
    return bound != 0 && cap >= bound;
}

void unseen__url_answer(struct unseen_canon *out, const char *in, size_t len, const char *text,
                        size_t text_len)
{
    const bool same = len == text_len && (len == 0 || memcmp(in, text, len) == 0);
    out->form = same ? UNSEEN_URL_UNCHANGED : UNSEEN_URL_REWRITTEN;
    out->bytes.data = same ? in : text;
    out->bytes.len = text_len;
}

void unseen__url_fail(struct unseen_canon *out, const char *in, size_t len)
{
    *out = (struct unseen_canon){UNSEEN_URL_FAILED, {in, len}};
}

void unseen__url_none(const struct unseen_url *url, const char *in, size_t len, char *buf,
                      size_t cap, struct unseen_canon *out)
{
    (void)url;
    (void)buf;
    (void)cap;
    *out = (struct unseen_canon){UNSEEN_URL_UNCHANGED, {in, len}};
}

enum unseen_status unseen__url_canon_slowly(const struct unseen_url *url, const void *data,
                                            size_t len, void *buf, size_t cap,
                                            struct unseen_canon *canon_out)
{
    if (url->slow != unseen__url_none && !has_room(len, cap)) {
        return UNSEEN_ERR_SPACE;
    }
    url->slow(url, data, len, buf, cap, canon_out);
    return UNSEEN_OK;
}

/* Resolves the reference by the WHATWG standard. The result is a text, with its fragment, which the
 * profile then canonicalises like any input. The buffer:
 *
 *     [ output, scratch ........ resolved text | base ] */
static enum unseen_status canon_reference(const struct unseen_url *url, const void *data,
                                          size_t len, struct unseen_bytes base, void *buf,
                                          size_t cap, struct unseen_canon *canon_out)
{
    const size_t bound = unseen_url_bound(len, base.len);
    if (bound == 0 || cap < bound) {
        return UNSEEN_ERR_SPACE;
    }
    if (url->slow == unseen__url_none) {
        unseen__url_none(url, data, len, buf, cap, canon_out);
        return UNSEEN_OK;
    }
    if (base.len == 0) {
        unseen__url_fail(canon_out, data, len); /* an empty base is not a URL */
        return UNSEEN_OK;
    }
    struct unseen__url_record base_record;
    if (!unseen__url_parse(base.data, base.len, NULL, 0, buf, bound, NULL, &base_record)) {
        unseen__url_fail(canon_out, data, len);
        return UNSEEN_OK;
    }
    size_t room = bound - base_record.len;
    base_record.text = memmove((char *)buf + room, base_record.text, base_record.len);
    struct unseen__url_record record;
    if (!unseen__url_parse(data, len, &base_record, UNSEEN__RULE_KEEP_FRAGMENT, buf, room, NULL,
                           &record)) {
        unseen__url_fail(canon_out, data, len);
        return UNSEEN_OK;
    }
    room -= record.len;
    const char *const text = memmove((char *)buf + room, record.text, record.len);
    url->slow(url, text, record.len, buf, room, canon_out);
    if (canon_out->form == UNSEEN_URL_UNCHANGED) {
        unseen__url_answer(canon_out, data, len, text, record.len);
    } else if (canon_out->form == UNSEEN_URL_FAILED) {
        unseen__url_fail(canon_out, data, len);
    }
    return UNSEEN_OK;
}

enum unseen_status unseen_url_canon(const struct unseen_url *url, const void *data, size_t len,
                                    const struct unseen_bytes *base, void *buf, size_t cap,
                                    struct unseen_canon *canon_out)
{
    return base ? canon_reference(url, data, len, *base, buf, cap, canon_out)
                : unseen__url_canon(url, data, len, buf, cap, canon_out);
}
