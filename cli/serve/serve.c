/* SPDX-License-Identifier: MIT
 *
 * From the command line to a running server. Only this file of serve/ knows the options. */
#include "serve/serve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "lines/profile.h"
#include "memory/stores.h"
#include "print/message.h"
#include "serve/loop.h"
#include "stop.h"

/* ---- What was asked for ---------------------------------------------------------------------- */

/* Whether there are options that only a new store has a use for. */
static bool makes_store(const struct options *o)
{
    return o->filter || o->fpr > 0 || o->capacity > 0 || o->seed.len || o->key_bits || o->no_log ||
           o->file_mode || o->profile || o->nrules > 0;
}

/* No byte may end a line, a string or a message of some protocol. */
static bool check_text(const char *option, const char *text)
{
    bool is_plain = true;
    for (const char *c = text; c && *c; c++) {
        is_plain = is_plain && (unsigned char)*c >= 0x20 && !strchr("\x7f\"\\", *c);
    }
    if (text && (!is_plain || !*text || strlen(text) > 1024)) {
        message_error("--%s must be one line of at most 1024 bytes, without quotes and backslashes",
                      option);
        return false;
    }
    return true;
}

static bool check_line_protocol(const struct options *o)
{
    if (o->nfiles > 0) {
        message_error("one file is served, and requests come from standard input");
        message_hint("unseen serve %s < FILE", o->store);
    } else if (o->listen || o->reply || o->redirect || o->expressions) {
        message_error("--%s needs --protocol", o->listen     ? "listen"
                                               : o->reply    ? "reply"
                                               : o->redirect ? "redirect"
                                                             : "expressions");
        message_hint("unseen serve --protocol NAME %s", o->store);
    } else {
        return true;
    }
    return false;
}

static bool check_protocol(const struct options *o, const struct protocol *protocol)
{
    const char *name = o->protocol;
    if (o->nfiles > 0) {
        message_error("one file is served");
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else if (!protocol) {
        message_error("unknown protocol %s", name);
        message_hint("one of %s", protocol_names);
    } else if (makes_store(o)) {
        message_error("--protocol only asks, and makes no store");
        message_hint("unseen build [OPTION]... %s FILE, then unseen serve --protocol %s %s",
                     o->store, name, o->store);
    } else if (o->redirect && !protocol->has_redirect) {
        message_error("--redirect is for --protocol squid-rewrite");
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else if (protocol->has_redirect && !o->redirect) {
        message_error("--protocol %s needs a page to show instead", name);
        message_hint("unseen serve --protocol %s --redirect http://127.0.0.1/blocked.html %s", name,
                     o->store);
    } else if (o->reply && !protocol->has_reply) {
        message_error("the protocol %s has no place for --reply", name);
        message_hint("unseen serve --protocol %s %s", name, o->store);
    } else {
        return check_text("reply", o->reply) && check_text("redirect", o->redirect);
    }
    return false;
}

/* ---- The file that is served ----------------------------------------------------------------- */

bool serve_open_to_read(const struct service *s, struct unseen_store **store_out)
{
    return stores_open_to_read(store_out, s->path, s->options, s->cpu);
}

void serve_report_commit(const struct service *s, const struct unseen_error *error)
{
    stores_report_commit(s->path, s->options, error);
}

static bool open_store(struct service *s)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    if (s->read_only
            ? !serve_open_to_read(s, &s->store)
            : !stores_open(&s->store, s->path, UNSEEN_STORE_CREATE, s->options, NULL, s->cpu)) {
        return false;
    }
    (void)unseen_store_info(s->store, &info); /* fails for a wrong size only */
    s->no_log = info.no_log;
    return true;
}

static bool open_service(struct service *s)
{
    const struct options *o = s->options;
    const bool is_list = stores_kind_of(s->path) == STORES_LIST;
    if (!s->protocol->finds && !is_list) {
        return open_store(s);
    }
    if (!s->protocol->finds && makes_store(o)) {
        message_error("%s is a list: it is served as it was built", s->path);
        message_hint("unseen serve %s", s->path);
        return false;
    }
    return (!o->expressions || profile_create(&s->expressions, o, "safebrowsing", s->cpu)) &&
           service_open_list(s);
}

/* Changes whose answers were written become durable; the others are forgotten. */
static bool close_service(struct service *s)
{
    bool durable = true;
    if (!s->protocol->finds && s->store) {
        durable = service_commit_wait(s) && stores_close(s->store, s->path, s->options);
        if (s->broken) {
            (void)unseen_store_close(s->store, NULL); /* the cause has been reported */
        }
        s->store = NULL;
    }
    service_close_list(s);
    unseen_url_free(s->expressions);
    return durable;
}

static bool close_output(void)
{
    if (close(STDOUT_FILENO) != 0 && errno != EINTR) {
        message_error("cannot write standard output: %s", strerror(errno));
        return false;
    }
    return true;
}

int serve_run(const struct options *o, enum unseen_cpu cpu)
{
    struct service s = {.options = o,
                        .protocol = protocol_find(o->protocol),
                        .path = o->store,
                        .cpu = cpu,
                        .reply = o->reply ? o->reply : "REJECT listed",
                        .redirect = o->redirect,
                        .read_only = o->dry_run,
                        .find = service_find};
    bool reader_gone = false;
    if (!(o->protocol ? check_protocol(o, s.protocol) : check_line_protocol(o))) {
        return EXIT_TROUBLE;
    }
    loop_block_signals();
    bool done = open_service(&s) && loop_run(&s, o->listen, &reader_gone);
    done = close_service(&s) && done;
    /* The end of the output tells the client that all is durable: it comes last. */
    done = done && (o->listen || close_output());
    stop_die(reader_gone);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
