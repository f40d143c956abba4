/* SPDX-License-Identifier: MIT
 *
 * The address of a set in a Redis or Valkey server, as people write it:
 *
 *     redis://[USER[:PASSWORD]@]HOST[:PORT]/[DB/]KEY[?shards=N]
 *     redis+unix:PATH?key=KEY[&user=USER][&db=DB][&shards=N]
 *
 * In USER, PASSWORD, PATH and KEY %XX is a byte. A password is taken out of the text before
 * anything else reads the text, so no message can show it. */
#ifndef UNSEEN_CLI_REDIS_URL_H
#define UNSEEN_CLI_REDIS_URL_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REDIS_PORT = 6379,
    REDIS_SHARDS_MAX = 1024
};

struct redis_url {
    char host[256]; /* a name or a number; "": a local socket */
    char path[256]; /* of the local socket */
    unsigned port;
    char user[256]; /* "": the default user */
    char key[512];  /* "": not named */
    unsigned db;
    unsigned nshards; /* 1, or the power of 2 over whose keys the set is spread */
};

/* Whether the text is meant as such an address. */
bool redis_url_is(const char *text);

/* Reads an address from which the password was taken. Returns false if the text is no
 * such address; *why then says in a sentence what is wrong. */
bool redis_url_read(struct redis_url *url, const char *text, const char **why);

/* Writes the address of a key, in any bytes, of the server at HOST:PORT. Returns what snprintf
 * does. */
int redis_url_make(char *text, size_t cap, const char *server, const char *key);

/* Takes the password out of an argument of the command line that has such an address in it, and
 * closes the gap. The caller frees *password_out, which is NULL if the argument has no password.
 * Returns false without memory, or if the password may have a / or ?, where the address would end:
 * the address is then wiped, and *why says in a sentence what is wrong. */
bool redis_url_take_password(char *argument, char **password_out, const char **why);

#endif
