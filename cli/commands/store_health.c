/* SPDX-License-Identifier: MIT */
#include "commands/store_health.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print/message.h"

void health_report(void *context, const struct unseen_error *damage)
{
    (void)context;
    message_error("%s", damage->text);
}

void health_put(struct output *out, const char *path, const struct unseen_store_health *h)
{
    char text[600];
    char torn[100] = "";
    if (h->torn_bytes > 0) {
        snprintf(torn, sizeof(torn), "; an unfinished commit of %" PRIu64 " bytes at its end",
                 h->torn_bytes);
    }
    const int len = snprintf(text, sizeof(text),
                             ": %s, %" PRIu64 " added and %" PRIu64 " removed in %" PRIu64
                             " intact commits, %" PRIu64 " damages, %" PRIu64 " bytes lost%s\n",
                             h->ndamages > 0 ? "damaged" : "good", h->nadded, h->nremoved,
                             h->nrecords, h->ndamages, h->lost_bytes, torn);
    output_write(out, path, strlen(path));
    output_write(out, text, (size_t)len);
}
