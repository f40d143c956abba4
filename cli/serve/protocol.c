/* SPDX-License-Identifier: MIT */
#include "serve/protocol.h"

#include <string.h>

/* clang-format off */
static const struct protocol protocols[] = {
    {.name = NULL, .longest = 1 << 20, .take = line_take, .begin = line_begin, .end = line_end,
     .synced = line_synced, .may_be_evicted = line_may_be_evicted},
    {.name = "squid", .longest = REQUEST_LONGEST, .take = squid_take,
     .finds = FIND_URL | FIND_HOST},
    {.name = "squid-rewrite", .longest = REQUEST_LONGEST, .take = squid_take,
     .finds = FIND_URL, .has_redirect = true},
    {.name = "postfix-policy", .longest = REQUEST_LONGEST, .take = postfix_policy_take,
     .finds = FIND_SENDER | FIND_CLIENT, .has_reply = true},
    {.name = "tcp-table", .longest = 4096, .take = tcp_table_take,
     .finds = FIND_KEY, .has_reply = true},
    {.name = "socketmap", .longest = 100000, .take = socketmap_take,
     .finds = FIND_KEY, .has_reply = true},
    {.name = "http-auth", .longest = REQUEST_LONGEST, .take = http_auth_take,
     .finds = FIND_URL},
};
/* clang-format on */

const char protocol_names[] =
    "squid, squid-rewrite, postfix-policy, tcp-table, socketmap, http-auth";

const struct protocol *protocol_at(size_t i)
{
    return i < sizeof(protocols) / sizeof(protocols[0]) ? &protocols[i] : NULL;
}

const struct protocol *protocol_find(const char *name)
{
    for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
        const char *has = protocols[i].name;
        if (has && name ? strcmp(has, name) == 0 : has == name) {
            return &protocols[i];
        }
    }
    return NULL;
}
