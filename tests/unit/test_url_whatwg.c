/* SPDX-License-Identifier: MIT
 *
 * The WHATWG parser against the web-platform tests, and against a table that is always here. */
#include "url_data.h"

#include <jansson.h>

static struct unseen_url *whatwg;

static struct unseen_url *create(const char *profile)
{
    struct unseen_url *url = NULL;
    const struct unseen_url_options options = {
        .size = sizeof(options), .profile = profile, .cpu = test_cpu};
    if (unseen_url_create(&url, &options) != UNSEEN_OK) {
        fprintf(stderr, "cannot create %s\n", profile);
        exit(2);
    }
    return url;
}

static void *need(void *ptr)
{
    if (!ptr) {
        abort();
    }
    return ptr;
}

/* expected NULL: a failure. */
static bool check_canon(struct unseen_bytes in, const struct unseen_bytes *base,
                        const struct unseen_bytes *expected)
{
    const size_t cap = base ? unseen_url_bound_base(in.len, base->len) : unseen_url_bound(in.len);
    char *buf = need(malloc(cap));
    struct unseen_canon canon;
    const enum unseen_status status =
        base ? unseen_url_canon_base(whatwg, in.data, in.len, base->data, base->len, buf, cap,
                                     &canon)
             : unseen_url_canon(whatwg, in.data, in.len, buf, cap, &canon);
    bool good = status == UNSEEN_OK;
    if (good && expected) {
        good = canon.form != UNSEEN_URL_FAILED && canon.bytes.len == expected->len &&
               memcmp(canon.bytes.data, expected->data, expected->len) == 0;
    } else if (good) {
        good = canon.form == UNSEEN_URL_FAILED && canon.bytes.data == in.data &&
               canon.bytes.len == in.len;
    }
    if (!good) {
        fprintf(stderr, "<%.*s> against <%.*s>: expected <%.*s>, got <%.*s> (form %d)\n",
                (int)in.len, in.data, base ? (int)base->len : 0, base ? base->data : "",
                expected ? (int)expected->len : 7, expected ? expected->data : "failure",
                (int)canon.bytes.len, canon.bytes.data, (int)canon.form);
    }
    free(buf);
    return good;
}

static struct unseen_bytes string_bytes(const json_t *string)
{
    return (struct unseen_bytes){json_string_value(string), json_string_length(string)};
}

static void test_vectors(void)
{
    struct data_file file = data_load("wpt_urltestdata.json");
    if (!file.data) {
        return;
    }
    data_fix_surrogates(file);
    json_error_t error;
    json_t *cases = json_loadb(file.data, file.len, JSON_ALLOW_NUL, &error);
    if (!CHECK(json_is_array(cases))) {
        fprintf(stderr, "%s\n", error.text);
        return;
    }
    size_t i;
    json_t *item;
    unsigned ncases = 0;
    json_array_foreach(cases, i, item)
    {
        const json_t *const input = json_object_get(item, "input");
        if (!json_is_object(item) || !input) {
            continue;
        }
        const json_t *const base = json_object_get(item, "base");
        const json_t *const href = json_object_get(item, "href");
        const struct unseen_bytes base_bytes = string_bytes(base);
        const struct unseen_bytes expected = string_bytes(href);
        CHECK(check_canon(string_bytes(input), json_is_string(base) ? &base_bytes : NULL,
                          json_is_true(json_object_get(item, "failure")) ? NULL : &expected));
        ncases++;
    }
    printf("%u web-platform cases\n", ncases);
    json_decref(cases);
}

int main(void)
{
    test_start();
    whatwg = create("whatwg");
    test_vectors();
    unseen_url_free(whatwg);
    return test_end();
}
