/* SPDX-License-Identifier: MIT
 *
 * Finds the server's functions by name. */
#include "server/server.h"

#include <string.h>

struct server_api server;

typedef int get_api(const char *name, void *function_out);

const char *server_bind(struct server_ctx *ctx)
{
    get_api *get;
    memcpy(&get, (const void *)ctx, sizeof(get)); /* the first word of the context */
#define SERVER_BIND(result, name, parameters)                                                      \
    if (get("RedisModule_" #name, (void *)&server.name) != SERVER_OK) {                            \
        return #name;                                                                              \
    }
    SERVER_FUNCTIONS(SERVER_BIND)
#undef SERVER_BIND
#define SERVER_BIND(result, name, parameters)                                                      \
    if (get("RedisModule_" #name, (void *)&server.name) != SERVER_OK) {                            \
        server.name = NULL;                                                                        \
    }
    SERVER_OPTIONAL(SERVER_BIND)
#undef SERVER_BIND
    return NULL;
}
