/* SPDX-License-Identifier: MIT */
#include "serve/protocol.h"

#include <stdio.h>
#include <string.h>

static const struct protocol *const protocols[] = {
    &line_protocol,      &squid_protocol,     &squid_rewrite_protocol, &postfix_policy_protocol,
    &tcp_table_protocol, &socketmap_protocol, &http_auth_protocol,
};

enum {
    NPROTOCOLS = sizeof(protocols) / sizeof(protocols[0])
};

const struct protocol *protocol_find(const char *name)
{
    for (size_t i = 0; i < NPROTOCOLS; i++) {
        const char *has = protocols[i]->name;
        if (has && name ? strcmp(has, name) == 0 : has == name) {
            return protocols[i];
        }
    }
    return NULL;
}

void protocol_names(char *text, size_t cap)
{
    size_t len = 0;
    for (size_t i = 0; i < NPROTOCOLS && len < cap; i++) {
        if (protocols[i]->name) {
            len += (size_t)snprintf(text + len, cap - len, "%s%s", len ? ", " : "",
                                    protocols[i]->name);
        }
    }
}
