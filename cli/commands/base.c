/* SPDX-License-Identifier: MIT */
#include "commands/base.h"

#include <stdlib.h>
#include <string.h>

#include <unseen.h>

#include "print/message.h"

bool base_check(const struct key_options *key, const char *called)
{
    const char *base = key->base;
    if (!base) {
        return true;
    }
    const size_t len = strlen(base);
    const size_t cap = unseen_url_bound(len, len);
    char *buf = cap ? malloc(cap) : NULL;
    if (!buf) {
        return message_no_memory();
    }
    struct unseen_url *url = NULL;
    struct unseen_canon canon = {UNSEEN_URL_FAILED, {NULL, 0}};
    const struct unseen_url_options options = {.size = sizeof(options), .profile = "whatwg"};
    enum unseen_status status = unseen_url_create(&url, &options, NULL);
    if (status == UNSEEN_OK) {
        status = unseen_url_canon(url, base, len, buf, cap, &canon);
    }
    unseen_url_free(url);
    free(buf);
    if (status != UNSEEN_OK) {
        message_error("--base: %s", unseen_status_string(status));
        return false;
    }
    if (canon.form == UNSEEN_URL_FAILED) {
        message_error("--base: '%s' is not a URL", base);
        message_hint("%s --base http://e.com/a/", called);
        return false;
    }
    return true;
}
