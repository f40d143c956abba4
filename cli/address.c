/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "redis_url.h"

static const char unix_prefix[] = "unix:";

static bool is_local(const char *text)
{
    return strncmp(text, unix_prefix, sizeof(unix_prefix) - 1) == 0;
}

static bool read_local(struct address *a, const char *path)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const size_t size = strlen(path) + 1;
    if (size > sizeof(local.sun_path) || size == 1) {
        errno = size == 1 ? EINVAL : ENAMETOOLONG;
        return false;
    }
    memcpy(local.sun_path, path, size);
    memcpy(&a->bytes, &local, sizeof(local));
    a->len = sizeof(local);
    a->path = path;
    return true;
}

/* Splits "ADDRESS:PORT"; false if the text is something else. */
static bool split(const char *text, char host[64], const char **port_out)
{
    const char *colon = strrchr(text, ':');
    const char *begin = text;
    size_t len = colon ? (size_t)(colon - text) : 0;
    *port_out = colon ? colon + 1 : text;
    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        begin++;
        len -= 2;
    }
    if (len >= 64 || !**port_out || (*port_out)[strspn(*port_out, "0123456789")]) {
        return false;
    }
    snprintf(host, 64, "%.*s", len ? (int)len : 9, len ? begin : "127.0.0.1");
    return strtoul(*port_out, NULL, 10) <= UINT16_MAX; /* some libraries take any */
}

/* Reads an IPv4 or IPv6 address, no names: a program that is linked statically can look up none. */
static bool read_numbers(struct address *a, const char *host, const char *port)
{
    const in_port_t number = htons((uint16_t)strtoul(port, NULL, 10));
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = number};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = number};
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        memcpy(&a->bytes, &four, sizeof(four));
        a->len = sizeof(four);
    } else if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        memcpy(&a->bytes, &six, sizeof(six));
        a->len = sizeof(six);
    }
    return a->len > 0;
}

bool address_read(struct address *a, const char *text)
{
    char host[64];
    const char *port = NULL;
    *a = (struct address){.path = NULL};
    if (is_local(text)) {
        return read_local(a, text + sizeof(unix_prefix) - 1);
    }
    if (!split(text, host, &port) || !read_numbers(a, host, port)) {
        errno = EINVAL;
        return false;
    }
    return true;
}

bool address_is_server(const char *text)
{
    struct address a;
    return is_local(text) || redis_url_is(text) ||
           (strrchr(text, ':') && !strchr(text, '/') && access(text, F_OK) != 0 &&
            address_read(&a, text));
}

bool address_is_named(const char *text, const char **port_out)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    struct address a;
    char host[64];
    const char *colon = strrchr(text, ':');
    return colon && colon > text && text + strspn(text, letters) == colon &&
           split(text, host, port_out) && strlen(*port_out) >= 3 && !address_read(&a, text);
}

bool address_is_remote(const struct address *a)
{
    if (a->path) {
        return false;
    }
    if (a->bytes.ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&a->bytes;
        return !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    }
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&a->bytes;
    return ntohl(four->sin_addr.s_addr) >> 24 != 127;
}
