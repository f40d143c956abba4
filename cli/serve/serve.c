/* SPDX-License-Identifier: MIT
 *
 * From the command line to a running server. Only this file of serve/ knows the options. */
#include "commands/commands.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lines/profile.h"
#include "print/message.h"
#include "seen/stores.h"
#include "serve/loop.h"
#include "stop.h"

/* ---- What was asked for ---------------------------------------------------------------------- */

/* Whether there are options that only a new store has a use for. */
static bool makes_store(const struct options *o)
{
    return o->seen.filter || o->seen.fpr > 0 || o->seen.capacity > 0 || o->seen.seed.len ||
           o->seen.key_bits || o->seen.no_log || o->seen.file_mode || o->profile.name ||
           o->profile.nrules > 0;
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
    if (o->input.nfiles > 0) {
        message_error("one file is served, and requests come from standard input");
        message_hint("unseen serve %s < FILE", o->seen.path);
    } else if (o->serve.listen || o->serve.reply || o->serve.redirect || o->serve.expressions) {
        message_error("--%s needs --protocol", o->serve.listen     ? "listen"
                                               : o->serve.reply    ? "reply"
                                               : o->serve.redirect ? "redirect"
                                                                   : "expressions");
        message_hint("unseen serve --protocol NAME %s", o->seen.path);
    } else {
        return true;
    }
    return false;
}

static bool check_protocol(const struct options *o, const struct protocol *protocol)
{
    const char *name = o->serve.protocol;
    if (o->input.nfiles > 0) {
        message_error("one file is served");
        message_hint("unseen serve --protocol %s %s", name, o->seen.path);
    } else if (!protocol) {
        message_error("unknown protocol %s", name);
        message_hint("one of %s", protocol_names);
    } else if (makes_store(o)) {
        message_error("--protocol only asks, and makes no store");
        message_hint("unseen build [OPTION]... %s FILE, then unseen serve --protocol %s %s",
                     o->seen.path, name, o->seen.path);
    } else if (o->serve.redirect && !protocol->has_redirect) {
        message_error("--redirect is for --protocol squid-rewrite");
        message_hint("unseen serve --protocol %s %s", name, o->seen.path);
    } else if (protocol->has_redirect && !o->serve.redirect) {
        message_error("--protocol %s needs a page to show instead", name);
        message_hint("unseen serve --protocol %s --redirect http://127.0.0.1/blocked.html %s", name,
                     o->seen.path);
    } else if (o->serve.reply && !protocol->has_reply) {
        message_error("the protocol %s has no place for --reply", name);
        message_hint("unseen serve --protocol %s %s", name, o->seen.path);
    } else {
        return check_text("reply", o->serve.reply) && check_text("redirect", o->serve.redirect);
    }
    return false;
}

/* ---- The file that is served ----------------------------------------------------------------- */

bool serve_open_to_read(const struct service *s, struct unseen_store **store_out)
{
    return stores_open_to_read(store_out, s->path, &s->options->seen, s->cpu);
}

void serve_report_commit(const struct service *s, const struct unseen_error *error)
{
    stores_report_commit(s->path, &s->options->seen, error);
}

static bool open_store(struct service *s)
{
    struct unseen_store_info info = {.size = sizeof(info)};
    if (s->read_only ? !serve_open_to_read(s, &s->store)
                     : !stores_open(&s->store, s->path, UNSEEN_STORE_CREATE, &s->options->seen,
                                    &s->options->profile, s->cpu)) {
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
    return (!o->serve.expressions ||
            profile_create(&s->expressions, &o->profile, "safebrowsing", s->cpu)) &&
           service_open_list(s);
}

/* Changes whose answers were written become durable; the others are forgotten. */
static bool close_service(struct service *s)
{
    bool durable = true;
    if (!s->protocol->finds && s->store) {
        durable = service_commit_wait(s) && stores_close(s->store, s->path, &s->options->seen);
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
                        .protocol = protocol_find(o->serve.protocol),
                        .path = o->seen.path,
                        .cpu = cpu,
                        .reply = o->serve.reply ? o->serve.reply : "REJECT listed",
                        .redirect = o->serve.redirect,
                        .read_only = o->seen.dry_run,
                        .find = service_find};
    bool reader_gone = false;
    if (!(o->serve.protocol ? check_protocol(o, s.protocol) : check_line_protocol(o))) {
        return EXIT_TROUBLE;
    }
    loop_block_signals();
    bool done = open_service(&s) && loop_run(&s, o->serve.listen, &reader_gone);
    done = close_service(&s) && done;
    /* The end of the output tells the client that all is durable: it comes last. */
    done = done && (o->serve.listen || close_output());
    stop_die(reader_gone);
    return done ? EXIT_DONE : EXIT_TROUBLE;
}
