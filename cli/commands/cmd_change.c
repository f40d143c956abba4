/* SPDX-License-Identifier: MIT
 *
 * `unseen add` and `unseen remove` of lines. Nothing is printed, so no line has to be handed over
 * before a commit: each batch is committed at once. */
#include "address.h"
#include "commands/change.h"
#include "commands/change_server.h"
#include "commands/commands.h"
#include "lines/batch.h"
#include "lines/feed.h"
#include "lines/identity.h"
#include "print/message.h"
#include "seen/stores.h"

static bool change_take_batch(void *context, const struct batch *b)
{
    struct change *c = context;
    change_count(c, b);
    report_poll();
    return !url_watch_stops(&c->watch) && change_keys(c, b->keys, b->n);
}

static void change_before_wait(void *context)
{
    (void)change_kept(context);
}

static void change_read_lines(struct change *c)
{
    struct output none = {.fd = -1};
    struct identity identity = {.url = stores_info(c->store).url,
                                .set = unseen_store_set(c->store),
                                .key = &c->o->key,
                                .delimiter = c->o->input.delimiter};
    struct feed feed = {
        .input = &c->o->input,
        .identity = &identity,
        .out = &none,
        .take = change_take_batch,
        .poll = change_before_wait,
        .context = c,
    };
    feed_run(&feed);
    c->failed = c->failed || feed.failed;
}

int change_run(const struct options *o, enum unseen_cpu cpu)
{
    struct change c;
    if (address_is_server(o->seen.path)) {
        return change_server_run(o, cpu);
    }
    if (change_start(&c, o, cpu)) {
        change_read_lines(&c);
    }
    return change_finish(&c);
}
