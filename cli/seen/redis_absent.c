/* SPDX-License-Identifier: MIT
 *
 * A tool that is built without hiredis has this file in place of redis.c, redis_dump.c,
 * redis_link.c and redis_shards.c. It reports that the tool cannot ask a Redis or Valkey server. */
#include "seen/redis.h"

#include "print/message.h"
#include "seen/redis_dump.h"

static bool report_absent(const char *address)
{
    message_error("cannot ask %s: this tool was built without hiredis", address);
    message_hint("the tool of the Debian package can; so can one that is built where "
                 "libhiredis-dev is installed, without UNSEEN_STATIC");
    return false;
}

bool redis_dump(const char *address, const char *password, redis_dump_take *take, void *context)
{
    (void)password;
    (void)take;
    (void)context;
    return report_absent(address);
}

struct redis_set_client *redis_open(const char *address, const char *password, double wait)
{
    (void)password;
    (void)wait;
    (void)report_absent(address);
    return NULL;
}

/* Nothing below is ever called, as redis_open opens nothing. */

const char *redis_profile(const struct redis_set_client *r)
{
    (void)r;
    return "";
}

bool redis_make(struct redis_set_client *r, const char *profile, double fpr)
{
    (void)r;
    (void)profile;
    (void)fpr;
    return false;
}

bool redis_put(struct redis_set_client *r, const struct unseen_bytes *items, size_t n)
{
    (void)r;
    (void)items;
    (void)n;
    return false;
}

bool redis_ask(struct redis_set_client *r, enum server_question question, uint8_t *verdicts)
{
    (void)r;
    (void)question;
    (void)verdicts;
    return false;
}

bool redis_info(struct redis_set_client *r, struct redis_info *info_out)
{
    (void)r;
    (void)info_out;
    return false;
}

void redis_close(struct redis_set_client *r)
{
    (void)r;
}
