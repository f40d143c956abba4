/* SPDX-License-Identifier: MIT
 *
 * Addresses of sets in a Redis server. Any text is harmless. The password is taken out of an
 * argument whatever it has, and neither the rest of the argument nor what was behind it shows it. A
 * key and a password that are written with percent signs come back unchanged: the input before the
 * first zero byte is the password, the rest the key. */
#include "target.h"

#include "../cli/redis_url.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MAX = 300
};

static void any_text(const uint8_t *data, size_t len)
{
    struct redis_url url;
    const char *why = NULL;
    char *text = malloc(len + 1);
    require(text != NULL);
    memcpy(text, data, len);
    text[len] = '\0';
    char *password = NULL;
    if (!redis_url_take_password(text, &password, &why)) {
        require(why != NULL && password == NULL);
        why = NULL;
    }
    require(strlen(text) <= len);
    if (redis_url_read(&url, text, &why)) {
        require(redis_url_is(text) && (url.host[0] != '\0') == (url.path[0] == '\0'));
        require(url.nshards >= 1 && url.nshards <= REDIS_SHARDS_MAX);
    } else {
        require(why != NULL);
    }
    free(password);
    free(text);
}

static void put_coded(char *to, const uint8_t *data, size_t len)
{
    to += strlen(to);
    for (size_t i = 0; i < len; i++) {
        to += snprintf(to, 4, "%%%02X", data[i]);
    }
}

static void whole_address(const uint8_t *data, size_t len)
{
    struct redis_url url;
    char text[8 * TEXT_MAX] = "-sredis://ann:";
    const uint8_t *zero = memchr(data, 0, len);
    const size_t npassword = zero ? (size_t)(zero - data) : 0;
    const char *why = NULL;
    if (!zero || memchr(zero + 1, 0, len - npassword - 1) || len == npassword + 1) {
        return;
    }
    put_coded(text, data, npassword);
    strcat(text, "@e.com:77/2/");
    put_coded(text, zero + 1, len - npassword - 1);
    const size_t before = strlen(text);
    char *password = NULL;
    require(redis_url_take_password(text, &password, &why));
    require(password && strlen(password) == npassword && memcmp(password, data, npassword) == 0);
    require(strlen(text) == before - 3 * npassword - 1);
    for (size_t i = strlen(text); i < before; i++) {
        require(text[i] == '\0');
    }
    require(redis_url_read(&url, text + 2, &why));
    require(strcmp(url.user, "ann") == 0 && strcmp(url.host, "e.com") == 0 && url.port == 77);
    require(url.db == 2 && strlen(url.key) == len - npassword - 1 &&
            memcmp(url.key, zero + 1, strlen(url.key)) == 0);
    free(password);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len <= TEXT_MAX) {
        any_text(data, len);
        whole_address(data, len);
    }
    return 0;
}
